//! `reverse_compute_inline`: a consumer is computed where its producer stores, and is gone.
//!
//! ```text
//! for i in range(128):                    for i in range(128):
//!     with T.block("B"):                      with T.block("B"):
//!         vi = T.axis.spatial(128, i)             vi = T.axis.spatial(128, i)
//!         B[vi] = A[vi] * T.float32(2)            C[127 - vi] = A[vi] * T.float32(2) + T.float32(1)
//! for i in range(128):
//!     with T.block("C"):
//!         vi = T.axis.spatial(128, i)
//!         C[vi] = B[127 - vi] + T.float32(1)
//! ```
//!
//! Requires: a complete block without init or predicate, whose body is one store, and which reads one buffer that its scope
//! writes, always at the same indices, which are a bijective affine map of its iter variables; its only producer is a complete
//! block with one store as body, has no other consumer and is not an output; the scope is a stage pipeline; no domain of an iter
//! variable depends on a loop. Meaning is kept: the map is inverted, so each instance of the producer computes the one consumer
//! instance that read its value; a predicate drops producer instances that no consumer read.

use indexmap::IndexSet;

use super::analysis::{
    BlockScope, DependencyKind, check_complete_block, check_not_output_block, check_stage_pipeline,
    complete_block_violation, facts_at,
};
use super::body::{removal_of, remove_place};
use super::inline::{Store, drop_buffer, is_viewed, loads_of, only_store};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{BlockId, Buffer, Expr, ExprKind, Place, PrimFunc, Range, Stmt, Var};

impl Schedule {
    /// Inlines a block into its only producer.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn reverse_compute_inline(&mut self, block: BlockId) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block)
            .map_err(|refusal| refusal.of("reverse_compute_inline"))?;
        let args = vec![block.into()];
        self.record("reverse_compute_inline", args, |func| plan.apply(func));
        Ok(())
    }
}

struct Plan {
    scope: BlockId,
    producer: BlockId,
    /// Between the two; gone afterwards.
    buffer: Buffer,
    /// What the producer stores afterwards.
    store: Store,
    /// When it does.
    predicate: Expr,
    /// What goes away.
    removed: Place,
}

impl Plan {
    fn check(func: &PrimFunc, consumer: BlockId) -> Result<Self, Refusal> {
        let node = attached_block(func, consumer)?;
        let name = || node.name.clone();
        let here = [Place::Block(consumer)];
        if node.init.is_some() {
            return Err(Reason::HasInit { block: name() }.at(here));
        }
        let Some(scope) = func.scope_block(consumer.into()) else {
            return Err(Reason::RootBlock.at(here));
        };
        check_stage_pipeline(func, scope)?;
        let graph = BlockScope::of(func, scope.into());
        let read = node.reads.iter().map(|r| &r.buffer);
        let written: IndexSet<&Buffer> = read.filter(|b| !graph.writers(b).is_empty()).collect();
        let count = written.len();
        let Some(buffer) = written.into_iter().next().filter(|_| count == 1) else {
            let reason = Reason::NotSingleRead {
                block: name(),
                count,
            };
            return Err(reason.at(here));
        };
        check_complete_block(func, consumer, scope.into())?;
        let producer = only_producer(func, &graph, consumer, scope)?;
        check_not_output_block(func, producer, scope)?;
        let pattern = || Reason::BodyNotInlinable { block: name() }.at(here);
        let theirs = only_store(func, consumer).ok_or_else(pattern)?;
        let mine = only_store(func, producer)
            .filter(|store| store.buffer == *buffer)
            .ok_or_else(pattern)?;
        if node.predicate.as_bool() != Some(true) {
            return Err(pattern());
        }
        check_domains_kept(func, consumer)?;
        let values = consumer_iters(func, consumer, &theirs, &mine).ok_or_else(pattern)?;
        if !is_covered(func, producer, consumer, &values) {
            return Err(pattern());
        }
        let predicate = inlined_predicate(func, producer, consumer, &values)?;
        let removed = removal_of(func, consumer)?;
        if is_viewed(func, scope, buffer) {
            let buffer = buffer.name().to_owned();
            return Err(Reason::OpaqueAccess { buffer }.at([scope.into()]));
        }
        Ok(Self {
            scope,
            producer,
            buffer: buffer.clone(),
            store: moved_store(&theirs, &mine, &values),
            predicate,
            removed,
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        remove_place(func, self.removed, None);
        let Store {
            buffer,
            indices,
            value,
        } = self.store;
        let store = Stmt::Store {
            buffer,
            indices,
            value,
        };
        func.tree.set_body(self.producer, vec![store]);
        func.blocks[self.producer].predicate = self.predicate;
        // The buffers that the new body names, in its order, whatever order they had.
        func.blocks[self.producer].reads.clear();
        drop_buffer(func, self.scope, &self.buffer, &[]);
    }
}

/// Refuses a consumer whose domains depend on the loops around it, which the producer does not have.
fn check_domains_kept(func: &PrimFunc, consumer: BlockId) -> Result<(), Refusal> {
    let node = &func.blocks[consumer];
    for id in func.loops_above(consumer.into()) {
        let var = &func.loops[id].var;
        let depends = |range: &Range| range.min.uses(var) || range.extent.uses(var);
        if node.iters.iter().any(|iter| depends(&iter.dom)) {
            let reason = Reason::DomainDependsOnLoop {
                block: node.name.clone(),
                var: var.name().to_owned(),
            };
            return Err(reason.at([consumer.into(), id.into()]));
        }
    }
    Ok(())
}

/// The only block that the consumer depends on, if it is complete and has no other consumer.
fn only_producer(
    func: &PrimFunc,
    graph: &BlockScope,
    consumer: BlockId,
    scope: BlockId,
) -> Result<BlockId, Refusal> {
    let incoming: Vec<_> = graph
        .dependencies()
        .iter()
        .filter(|d| d.dst == consumer)
        .collect();
    let refuse = |at: BlockId| {
        let block = func.blocks[consumer].name.clone();
        Err(Reason::NonSingleProducer { block }.at([at.into()]))
    };
    let [only] = incoming[..] else {
        return refuse(consumer);
    };
    let producer = only.src;
    let alone = graph
        .dependencies()
        .iter()
        .all(|d| d.src != producer || d.dst == consumer);
    if only.kind != DependencyKind::ReadAfterWrite
        || !alone
        || complete_block_violation(func, producer, scope.into()).is_some()
    {
        return refuse(producer);
    }
    Ok(producer)
}

/// The iter variables of the consumer in terms of those of the producer: the indices at which it reads, inverted, at the indices
/// at which the producer stores.
fn consumer_iters(
    func: &PrimFunc,
    consumer: BlockId,
    theirs: &Store,
    mine: &Store,
) -> Option<Vec<(Var, Expr)>> {
    let loads: Vec<Vec<Expr>> = theirs
        .indices
        .iter()
        .chain([&theirs.value])
        .flat_map(|e| loads_of(e, &mine.buffer))
        .collect();
    let (first, rest) = loads.split_first()?;
    if rest.iter().any(|other| other != first) {
        return None;
    }
    let iters = &func.blocks[consumer].iters;
    let inputs: Vec<(Var, Range)> = iters
        .iter()
        .map(|iter| (iter.var.clone(), iter.dom.clone()))
        .collect();
    let mut facts = Analyzer::new();
    for (var, range) in &inputs {
        facts.bind(var, range);
    }
    let map = detect_iter_map(
        &facts,
        first,
        &inputs,
        &Expr::bool(true),
        IterMapLevel::Bijective,
        UnitIters::Preserve,
    )
    .ok()?;
    let mut values = map.invert(&facts, &mine.indices);
    for (var, range) in inputs {
        if !values.iter().any(|(v, _)| *v == var) {
            values.push((var, range.extent.is_one().then_some(range.min)?));
        }
    }
    Some(values)
}

/// Whether nothing says that the producer misses values of the consumer's iter variables.
fn is_covered(
    func: &PrimFunc,
    producer: BlockId,
    consumer: BlockId,
    values: &[(Var, Expr)],
) -> bool {
    let mut facts = Analyzer::new();
    let iters = &func.blocks[producer].iters;
    for iter in iters {
        facts.bind(&iter.var, &iter.dom);
    }
    let domain = |v: &Var| {
        let found = iters.iter().find(|iter| iter.var == *v);
        found.map(|iter| IntSet::from_range(&iter.dom))
    };
    func.blocks[consumer].iters.iter().all(|iter| {
        let value = values.iter().find(|(v, _)| *v == iter.var);
        let Some((_, value)) = value else {
            return false;
        };
        let set = eval_set(value, &domain, &facts);
        let last = &iter.dom.min + &iter.dom.extent - 1;
        let starts_late = set
            .min
            .is_some_and(|min| facts.can_prove(&iter.dom.min.lt(min)));
        let ends_early = set.max.is_some_and(|max| facts.can_prove(&max.lt(last)));
        !starts_late && !ends_early
    })
}

/// The predicate of the producer afterwards: the consumer's iter variables lie in their domains. It must imply the predicate
/// that the producer had.
fn inlined_predicate(
    func: &PrimFunc,
    producer: BlockId,
    consumer: BlockId,
    values: &[(Var, Expr)],
) -> Result<Expr, Refusal> {
    let node = &func.blocks[producer];
    let mut facts = facts_at(func, producer.into());
    for iter in &node.iters {
        facts.bind_iteration(&iter.var, &iter.dom);
    }
    let mut inside = Expr::bool(true);
    for iter in &func.blocks[consumer].iters {
        let Some((_, value)) = values.iter().find(|(v, _)| *v == iter.var) else {
            continue;
        };
        let end = &iter.dom.min + &iter.dom.extent;
        inside = inside.and(value.ge(&iter.dom.min)).and(value.lt(end));
    }
    let predicate = facts
        .simplify(&inside)
        .substitute(&|var| func.blocks[producer].binding_of(var).cloned());
    let mut after = facts.clone();
    after.assume(&predicate);
    if !after.can_prove(&node.predicate) {
        let reason = Reason::ProducerHasPredicate {
            block: node.name.clone(),
            predicate: node.predicate.clone(),
        };
        return Err(reason.at([producer.into()]));
    }
    Ok(predicate)
}

/// The consumer's store in terms of the producer's iter variables, with the value that the producer stored in place of the
/// loads.
fn moved_store(theirs: &Store, mine: &Store, values: &[(Var, Expr)]) -> Store {
    let iter = |v: &Var| {
        let found = values.iter().find(|(var, _)| var == v);
        found.map(|(_, value)| value.clone())
    };
    let moved = |e: &Expr| {
        // The loads go first: the value in their place is in the producer's variables already.
        let (e, holes) = punch(e, &mine.buffer);
        let e = e.substitute(&iter);
        e.substitute(&|v| (Some(v) == holes.as_ref()).then(|| mine.value.clone()))
    };
    Store {
        buffer: theirs.buffer.clone(),
        indices: theirs.indices.iter().map(moved).collect(),
        value: moved(&theirs.value),
    }
}

/// The expression with a variable in place of the loads of the buffer.
fn punch(e: &Expr, buffer: &Buffer) -> (Expr, Option<Var>) {
    let hole = Var::new("value", buffer.dtype());
    let mut found = false;
    let e = e.rewrite_bottom_up(&mut |e| match e.kind() {
        ExprKind::Load(b, _) if b == buffer => {
            found = true;
            hole.expr()
        }
        _ => e.clone(),
    });
    (e, found.then_some(hole))
}
