//! `fuse_reduction_epilogue`: a block that adds to the result of a sum becomes the init of the sum, and is gone.
//!
//! ```text
//! for i, j, k in T.grid(20, 24, 16):            for i, j, k in T.grid(20, 24, 16):
//!     with T.block("matmul"):                       with T.block("matmul"):
//!         with T.init():                                with T.init():
//!             mm[vi, vj] = T.float32(0)                     out[vi, vj] = b[vj]
//!         mm[vi, vj] = mm[vi, vj] + …                   out[vi, vj] = out[vi, vj] + …
//! for i, j in T.grid(20, 24):
//!     with T.block("bias"):
//!         out[vi, vj] = mm[vi, vj] + b[vj]
//! ```
//!
//! Requires: a scope that is a stage pipeline; a reduction block that adds up from 0 in one buffer, which is no output and which
//! nothing but the epilogue reads; an epilogue that is a complete block without predicate, whose body stores the result, or a sum
//! of the result and what does not use it, at the indices of the result; both have the same domains, iter variable by iter variable, and
//! the epilogue runs for all of them; what the epilogue reads is there before the reduction, and nothing uses what it writes before
//! it. Meaning is kept: the terms of one sum are added in another order. TVM also takes epilogues that are no sums, and applies them to
//! every partial sum.

use super::analysis::{
    BlockScope, check_complete_block, check_not_output_block, check_reduction_block,
    check_stage_pipeline, facts_at, has_affine_bindings, relaxed_domains,
};
use super::body::{removal_of, remove_place};
use super::inline::{Store, only_store};
use super::{EpilogueReason, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::{IntSet, eval_set};
use crate::ir::{
    BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, IterVar, Place, PrimFunc, Scope, Stmt,
    Var,
};
use crate::tensor::scalar::BinOp;

impl Schedule {
    /// Lets the sums of a reduction block start with what the epilogue adds to them.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn fuse_reduction_epilogue(
        &mut self,
        reduction: BlockId,
        epilogue: BlockId,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, reduction, epilogue)
            .map_err(|refusal| refusal.of("fuse_reduction_epilogue"))?;
        let args = vec![reduction.into(), epilogue.into()];
        self.record("fuse_reduction_epilogue", args, |func| plan.apply(func));
        Ok(())
    }
}

#[derive(Clone)]
struct Plan {
    reduction: BlockId,
    /// The sums.
    buffer: Buffer,
    /// Where they are afterwards.
    output: Buffer,
    /// What they start with.
    start: Expr,
    /// What the epilogue reads besides the sums, in the iter variables of the reduction.
    reads: Vec<BufferRegion>,
    /// What goes away.
    removed: Place,
}

impl Plan {
    fn check(func: &PrimFunc, reduction: BlockId, epilogue: BlockId) -> Result<Self, Refusal> {
        let node = attached_block(func, reduction)?;
        let last = attached_block(func, epilogue)?;
        let Some(scope) = func.scope_block(epilogue.into()) else {
            return Err(Reason::RootBlock.at([epilogue.into()]));
        };
        check_stage_pipeline(func, scope)?;
        if node.writes.len() != 1 {
            let reason = Reason::NotSingleWrite {
                block: node.name.clone(),
                count: node.writes.len(),
            };
            return Err(reason.at([reduction.into()]));
        }
        check_reduction_block(func, reduction, scope.into())?;
        check_complete_block(func, epilogue, scope.into())?;
        check_not_output_block(func, reduction, scope)?;
        let refuse = |why: &'static str| {
            let reason = EpilogueReason {
                reduction: node.name.clone(),
                epilogue: last.name.clone(),
                why,
            };
            reason.at([reduction.into(), epilogue.into()])
        };
        let plan = Self::matching(func, reduction, epilogue).map_err(refuse)?;
        let buffers = (&plan.buffer, &plan.output);
        check_alone(func, scope, (reduction, epilogue), buffers).map_err(refuse)?;
        let plan = Self {
            removed: removal_of(func, epilogue)?,
            ..plan
        };
        let mut fused = func.clone();
        plan.clone().apply(&mut fused);
        check_stage_pipeline(&fused, scope)?;
        Ok(plan)
    }

    /// The plan for a reduction that writes one buffer and an epilogue; or why the epilogue is no part of the sum.
    fn matching(
        func: &PrimFunc,
        reduction: BlockId,
        epilogue: BlockId,
    ) -> Result<Self, &'static str> {
        let (node, last) = (&func.blocks[reduction], &func.blocks[epilogue]);
        let write = node.writes.first().ok_or("the reduction writes nothing")?;
        let buffer = &write.buffer;
        let sum =
            sum_from_zero(func, reduction, buffer).ok_or("the reduction does not add up from 0")?;
        let vars = paired(func, reduction, epilogue)
            .ok_or("their iter variables have different domains")?;
        let mine = |e: &Expr| {
            e.substitute(&|v| {
                let found = vars.iter().find(|(own, _)| own == v);
                found.map(|(_, theirs)| theirs.expr())
            })
        };
        let store = only_store(func, epilogue).ok_or("the body of the epilogue is no store")?;
        let at: Vec<Expr> = store.indices.iter().map(mine).collect();
        let start = without_result(&mine(&store.value), &sum, buffer)
            .ok_or("the epilogue stores no sum of the result and something else")?;
        if at != sum.indices || start.as_ref().is_some_and(|e| uses(e, buffer)) {
            return Err("the epilogue uses the result at other indices");
        }
        if last.predicate.as_bool() != Some(true) || !runs_for_all(func, epilogue) {
            return Err("the epilogue does not run for the whole result");
        }
        let output = store.buffer.clone();
        let others = last.reads.iter().filter(|read| read.buffer != *buffer);
        Ok(Self {
            reduction,
            buffer: buffer.clone(),
            start: start.unwrap_or_else(|| Expr::constant(0, output.dtype())),
            output,
            reads: others
                .map(|read| read.substitute(&|v| Some(mine(&v.expr()))))
                .collect(),
            removed: epilogue.into(),
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        remove_place(func, self.removed, None);
        let (buffer, output) = (&self.buffer, &self.output);
        let redirected = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(loaded, indices) if loaded == buffer => {
                    Expr::load(output, indices.clone())
                }
                _ => e.clone(),
            })
        };
        let store = |stmt: Stmt, value: &dyn Fn(&Expr) -> Expr| match stmt {
            Stmt::Store {
                buffer: stored,
                indices,
                value: old,
            } if stored == *buffer => Stmt::Store {
                buffer: output.clone(),
                value: value(&old),
                indices,
            },
            other => other,
        };
        let body = func.tree.take_body(self.reduction).into_iter();
        let body = body.map(|stmt| store(stmt, &redirected)).collect();
        func.tree.set_body(self.reduction, body);
        let node = &mut func.blocks[self.reduction];
        let init = node.init.take().unwrap_or_default().into_iter();
        node.init = Some(init.map(|s| store(s, &|_| self.start.clone())).collect());
        for write in &mut node.writes {
            write.buffer = output.clone();
        }
        let mut reads = self.reads;
        for read in std::mem::take(&mut node.reads) {
            if !reads.iter().any(|known| known.buffer == read.buffer) {
                reads.push(read);
            }
        }
        node.reads = reads;
    }
}

fn uses(e: &Expr, buffer: &Buffer) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(e.kind(), ExprKind::Load(loaded, _) if loaded == buffer);
        !found
    });
    found
}

/// The update of a block that adds up in the buffer, from 0.
fn sum_from_zero(func: &PrimFunc, block: BlockId, buffer: &Buffer) -> Option<Store> {
    let update = only_store(func, block).filter(|store| store.buffer == *buffer)?;
    let [
        Stmt::Store {
            buffer: initialised,
            indices,
            value,
        },
    ] = func.blocks[block].init.as_deref()?
    else {
        return None;
    };
    let zero = value.as_int() == Some(0) || value.as_float() == Some(0.0);
    let added = without_result(&update.value, &update, buffer)??;
    let begins = zero && initialised == buffer && *indices == update.indices;
    (begins && !uses(&added, buffer)).then_some(update)
}

/// What a sum adds to the result, if the result is one of its terms; nothing if it is all.
fn without_result(value: &Expr, sum: &Store, buffer: &Buffer) -> Option<Option<Expr>> {
    if let ExprKind::Load(loaded, indices) = value.kind() {
        return (loaded == buffer && *indices == sum.indices).then_some(None);
    }
    let (a, b) = value.as_binary(BinOp::Add)?;
    let rest = |kept: &Expr, left: Option<Expr>| match left {
        Some(left) => Some(left + kept),
        None => Some(kept.clone()),
    };
    match (uses(a, buffer), uses(b, buffer)) {
        (true, false) => Some(rest(b, without_result(a, sum, buffer)?)),
        (false, true) => Some(rest(a, without_result(b, sum, buffer)?)),
        (true, true) | (false, false) => None,
    }
}

/// The iter variables of the epilogue and the spatial ones of the reduction in the same places, if they have the same domains.
fn paired(func: &PrimFunc, reduction: BlockId, epilogue: BlockId) -> Option<Vec<(Var, Var)>> {
    let spatial = |block: BlockId| -> Vec<&IterVar> {
        let iters = func.blocks[block].iters.iter();
        iters
            .filter(|iter| iter.kind == IterKind::Spatial)
            .collect()
    };
    let (theirs, own) = (spatial(reduction), spatial(epilogue));
    let facts = facts_at(func, func.root.into());
    let same = |(a, b): (&&IterVar, &&IterVar)| {
        facts.can_prove_equal(&a.dom.min, &b.dom.min)
            && facts.can_prove_equal(&a.dom.extent, &b.dom.extent)
    };
    let alike = theirs.len() == own.len() && own.iter().zip(&theirs).all(same);
    let pairs = own.iter().zip(&theirs);
    alike.then(|| {
        pairs
            .map(|(own, theirs)| (own.var.clone(), theirs.var.clone()))
            .collect()
    })
}

/// Whether a block certainly runs for all values of its iter variables in its scope.
fn runs_for_all(func: &PrimFunc, block: BlockId) -> bool {
    let node = &func.blocks[block];
    let Some(scope) = func.scope_block(block.into()) else {
        return false;
    };
    let facts = facts_at(func, scope.into());
    let loops = relaxed_domains(func, block.into(), scope.into(), &Scope::Global);
    let domain = |v: &Var| {
        let found = loops.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    let mut iters = node.iters.iter().zip(&node.bindings);
    has_affine_bindings(func, block)
        && iters.all(|(iter, binding)| {
            eval_set(binding, &domain, &facts).covers(&IntSet::from_range(&iter.dom), &facts)
        })
}

/// Refuses if other blocks use the sums, or use what the epilogue writes before it is written.
fn check_alone(
    func: &PrimFunc,
    scope: BlockId,
    (reduction, epilogue): (BlockId, BlockId),
    (buffer, output): (&Buffer, &Buffer),
) -> Result<(), &'static str> {
    let graph = BlockScope::of(func, scope.into());
    if graph
        .readers(buffer)
        .iter()
        .any(|&b| b != epilogue && b != reduction)
    {
        return Err("another block uses the result of the reduction");
    }
    let rank = |id: BlockId| graph.blocks().iter().position(|&b| b == id);
    let mut readers = graph.readers(output).iter();
    if readers.any(|&reader| rank(reader) < rank(epilogue)) {
        return Err("the output is used before the epilogue");
    }
    let between = |id: BlockId| rank(reduction) < rank(id) && rank(id) < rank(epilogue);
    let mut reads = func.blocks[epilogue].reads.iter();
    if reads.any(|read| graph.writers(&read.buffer).iter().any(|&w| between(w))) {
        return Err("what the epilogue reads is written after the reduction began");
    }
    Ok(())
}
