//! `cache_index`: what a block computes of its iter variables alone, as the indices at which it reads, is computed before, once for
//! all values.
//!
//! ```text
//! for y, x in T.grid(20, 20):                   for ax0 in range(20):
//!     with T.block("resize"):                       with T.block("index_0"):
//!         B[vy, vx] = A[vy * 8 // 20, vx * 8 // 20]         index_var_0[v0] = v0 * 8 // 20
//!                                               …
//!                                               for y, x in T.grid(20, 20):
//!                                                   with T.block("resize"):
//!                                                       B[vy, vx] = A[index_var_0[vy], index_var_1[vx]]
//! ```
//!
//! A *computation* is a largest expression without loads in a store of the block. One that occurs less often than the threshold is
//! taken apart, and its parts count for themselves.
//!
//! Requires: two computations or more, of iter variables alone; loops around the block in its scope from 0, whose extents use none of
//! them, of which the values of the iter variables are made. Meaning is kept: each value is computed from the same iter variables. The block does not declare that it reads them, as in
//! TVM; analysis finds them in its body.

use indexmap::IndexMap;

use super::analysis::facts_at;
use super::body::{insert_at, nest, position_of, rewrite_own};
use super::cache::storage_scope;
use super::{BufferReason, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Block, BlockId, Buffer, BufferNode, BufferRegion, Expr, ExprKind, IterKind, IterVar, Loop,
    LoopId, PrimFunc, Range, Scope, Stmt, Var,
};

impl Schedule {
    /// Computes what occurs at least `threshold` times in the block before it, into buffers of storage scope `scope`. Gives the blocks
    /// that do.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, or there is no such storage scope.
    pub fn cache_index(
        &mut self,
        block: BlockId,
        scope: &str,
        threshold: usize,
    ) -> Result<Vec<BlockId>, ScheduleError> {
        let plan = Plan::check(&self.func, block, scope, threshold)
            .map_err(|refusal| refusal.of("cache_index"))?;
        let args = vec![block.into(), scope.into(), threshold.into()];
        Ok(self.record("cache_index", args, |func| plan.apply(func)))
    }
}

/// A value that is computed before.
struct Computation {
    value: Expr,
    /// The iter variables in it, with the number of values that they take.
    iters: Vec<(Var, Expr)>,
    /// The loops that these are made of.
    loops: Vec<LoopId>,
    buffer: Buffer,
}

struct Plan {
    block: BlockId,
    scope: BlockId,
    position: usize,
    computations: Vec<Computation>,
}

impl Plan {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        scope_name: &str,
        threshold: usize,
    ) -> Result<Self, Refusal> {
        let memory = storage_scope(scope_name)?;
        let node = attached_block(func, block)?;
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        let mut values: Vec<Expr> = Vec::new();
        for stmt in func.tree.body(block) {
            for value in computations(stmt, threshold) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values.sort_by_key(|value| std::cmp::Reverse(nodes(value)));
        }
        if values.len() < 2 {
            let reason = BufferReason::NoIndices {
                block: node.name.clone(),
                count: values.len(),
            };
            return Err(reason.at([block.into()]));
        }
        let mut computations = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            let name = format!("index_var_{at}");
            let found = Computation::of(func, block, value.clone(), name, &memory);
            computations.push(found.ok_or_else(|| {
                let block_name = node.name.clone();
                let reason = BufferReason::NoIndexOfIters {
                    block: block_name,
                    value,
                };
                reason.at([block.into()])
            })?);
        }
        let position = position_of(func, scope.into(), block.into());
        Ok(Self {
            block,
            scope,
            position: position.expect("the block is in its scope"),
            computations,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> Vec<BlockId> {
        let facts = Analyzer::new();
        for computation in &self.computations {
            let indices: Vec<Expr> = computation.iters.iter().map(|(v, _)| v.expr()).collect();
            let load = Expr::load(&computation.buffer, indices);
            let mut replace = |e: &Expr| replaced(e, computation, &load, &facts);
            let init = func.blocks[self.block].init.clone();
            rewrite_own(func, self.block, &mut replace, &mut |store| store);
            func.blocks[self.block].init = init;
        }
        let mut blocks = Vec::new();
        let mut stmts = Vec::new();
        for (at, computation) in self.computations.iter().enumerate() {
            let (block, stmt) = computation.build(func, self.block, at);
            blocks.push(block);
            stmts.push(stmt);
        }
        for stmt in stmts.into_iter().rev() {
            insert_at(func, self.scope.into(), self.position, stmt);
        }
        let buffers = self.computations.into_iter().map(|c| c.buffer);
        func.blocks[self.scope].alloc_buffers.extend(buffers);
        blocks
    }
}

impl Computation {
    /// `None` if the value is not made of iter variables that are made of the loops around the block.
    fn of(
        func: &PrimFunc,
        block: BlockId,
        value: Expr,
        name: String,
        memory: &Scope,
    ) -> Option<Self> {
        let node = &func.blocks[block];
        let above = func.loops_above(block.into());
        let facts = facts_at(func, block.into());
        let mut loops: Vec<LoopId> = Vec::new();
        let domain = |v: &Var| {
            let l = above
                .iter()
                .map(|&id| &func.loops[id])
                .find(|l| l.var == *v)?;
            let (min, extent) = (l.min.clone(), l.extent.clone());
            Some(IntSet::from_range(&Range { min, extent }))
        };
        let mut iters = Vec::new();
        for var in in_post_order(&value) {
            let binding = node.binding_of(&var)?;
            for used in in_post_order(binding) {
                let is_var = |id: &&LoopId| func.loops[**id].var == used;
                let id = *above.iter().find(is_var)?;
                let l = &func.loops[id];
                let of_loops = |e: &Expr| above.iter().any(|id| e.uses(&func.loops[*id].var));
                if !l.min.is_zero() || of_loops(&l.extent) {
                    return None;
                }
                if !loops.contains(&id) {
                    loops.push(id);
                }
            }
            let last = eval_set(binding, &domain, &facts).max?;
            iters.push((var, facts.simplify(&(last + 1))));
        }
        let shape: Vec<Expr> = iters.iter().map(|(_, extent)| extent.clone()).collect();
        let dense = (shape.len() == 1).then(|| Expr::int(1, crate::tensor::DType::I32));
        let plain = Buffer::with_scope(name, shape, value.dtype(), memory.clone());
        let buffer = Buffer::from_node(BufferNode {
            strides: dense.into_iter().collect(),
            ..plain.node().clone()
        });
        (!iters.is_empty()).then_some(Self {
            value,
            iters,
            loops,
            buffer,
        })
    }

    /// The loops and the block that compute the value, detached.
    fn build(&self, func: &mut PrimFunc, user: BlockId, at: usize) -> (BlockId, Stmt) {
        let loops: Vec<(Var, Loop)> = (self.loops.iter().enumerate())
            .map(|(at, &id)| {
                let old = &func.loops[id];
                let (min, extent) = (old.min.clone(), old.extent.clone());
                let new = Loop::serial(format!("ax{at}"), Range { min, extent });
                (old.var.clone(), new)
            })
            .collect();
        let moved = |e: &Expr| {
            e.substitute(&|v| {
                let found = loops.iter().find(|(old, _)| old == v);
                found.map(|(_, new)| new.var.expr())
            })
        };
        let (mut iters, mut bindings, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (var, extent)) in self.iters.iter().enumerate() {
            let new = var.renamed(format!("v{at}"));
            values.push((var.clone(), new.expr()));
            let dom = Range::to(extent.cast(new.dtype()));
            let kind = IterKind::Spatial;
            let binding = func.blocks[user].binding_of(var);
            bindings.extend(binding.map(&moved));
            iters.push(IterVar {
                var: new,
                dom,
                kind,
            });
        }
        let indices: Vec<Expr> = values.iter().map(|(_, new)| new.clone()).collect();
        let value = self.value.substitute(&|v| {
            let found = values.iter().find(|(old, _)| old == v);
            found.map(|(_, new)| new.clone())
        });
        let block = func.blocks.push(Block {
            iters,
            bindings,
            writes: vec![BufferRegion::point(&self.buffer, &indices)],
            ..Block::named(format!("index_{at}"))
        });
        let store = Stmt::Store {
            buffer: self.buffer.clone(),
            indices,
            value,
        };
        func.tree.set_body(block, vec![store]);
        let loops = loops.into_iter().map(|(_, new)| new).collect();
        let stmt = nest(func, loops, Stmt::Block(block));
        (block, stmt)
    }
}

/// The number of nodes.
fn nodes(e: &Expr) -> usize {
    let mut count = 0;
    e.walk(&mut |_| {
        count += 1;
        true
    });
    count
}

/// The variables in the order of their first use.
fn in_post_order(e: &Expr) -> Vec<Var> {
    let mut vars: Vec<Var> = Vec::new();
    e.walk(&mut |e| {
        if let Some(var) = e.as_var()
            && !vars.contains(var)
        {
            vars.push(var.clone());
        }
        true
    });
    vars
}

/// Whether an expression computes something of variables and constants alone.
fn is_computation(e: &Expr) -> bool {
    let mut plain = !e.children().is_empty() && !e.is_data() && !e.dtype().is_vector();
    e.walk(&mut |e| {
        plain &= !matches!(
            e.kind(),
            ExprKind::Load(_, _)
                | ExprKind::External(_, _)
                | ExprKind::Data(_)
                | ExprKind::Str(_)
                | ExprKind::Let { .. }
        );
        plain
    });
    plain
}

/// The largest computations in an expression, itself included.
fn largest(e: &Expr, out: &mut Vec<Expr>) {
    if is_computation(e) {
        out.push(e.clone());
    } else {
        e.children()
            .into_iter()
            .for_each(|child| largest(child, out));
    }
}

/// The computations of a store that occur often enough, in the order in which they do.
fn computations(stmt: &Stmt, threshold: usize) -> Vec<Expr> {
    let Stmt::Store {
        buffer: _,
        indices,
        value,
    } = stmt
    else {
        let nested = stmt.nested().into_iter().flatten();
        return nested
            .flat_map(|stmt| computations(stmt, threshold))
            .collect();
    };
    let facts = Analyzer::new();
    // By their simplified form: as first written, and how often they occur.
    let mut counts: IndexMap<Expr, (Expr, usize)> = IndexMap::new();
    let mut found = Vec::new();
    indices
        .iter()
        .chain([value])
        .for_each(|e| largest(e, &mut found));
    for e in found {
        let entry = counts.entry(facts.simplify(&e));
        entry.or_insert((e, 0)).1 += 1;
    }
    let mut at = 0;
    while let Some((_, (e, count))) = counts.get_index(at) {
        at += 1;
        if *count < threshold {
            let (e, count) = (e.clone(), *count);
            let mut parts = Vec::new();
            e.children()
                .into_iter()
                .for_each(|child| largest(child, &mut parts));
            for part in parts {
                let entry = counts.entry(facts.simplify(&part));
                entry.or_insert((part, 0)).1 += count;
            }
        }
    }
    let mut out: Vec<Expr> = Vec::new();
    collect(value, &facts, &mut |simple| {
        if let Some((e, count)) = counts.get(simple)
            && *count >= threshold
            && !out.contains(e)
        {
            out.push(e.clone());
        }
    });
    out
}

/// Calls `f` with the simplified form of every computation in an expression, inner ones first.
fn collect(e: &Expr, facts: &Analyzer, f: &mut dyn FnMut(&Expr)) {
    e.children()
        .into_iter()
        .for_each(|child| collect(child, facts, f));
    if is_computation(e) {
        f(&facts.simplify(e));
    }
}

/// The expression with the load in place of the computation, also where it is written otherwise.
fn replaced(e: &Expr, computation: &Computation, load: &Expr, facts: &Analyzer) -> Expr {
    if is_computation(e) && facts.simplify(e) == facts.simplify(&computation.value) {
        return load.clone();
    }
    e.map_children(&mut |child| replaced(child, computation, load, facts))
}
