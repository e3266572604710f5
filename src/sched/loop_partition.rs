//! `loop_partition`: a loop becomes several, one after the other, over parts of its range. Each part is a block of its own, all in one
//! block.
//!
//! ```text
//! for i in range(128):                        with T.block("B_i_common"):
//!     with T.block("B"):                          with T.block("B_i0_partition"):
//!         vi = T.axis.spatial(128, i)                 for i0 in range(2):
//!         T.reads(A[vi])                                  with T.block("B_i0"):
//!         T.writes(B[vi])                                     vi = T.axis.spatial(2, i0)
//!         B[vi] = A[vi] * T.float32(2)                        T.reads(A[0:2])
//!                                                             T.writes(B[0:2])
//!                                                             B[vi] = A[vi] * T.float32(2)
//!                                                 with T.block("B_i1_partition"):
//!                                                     for i1 in range(2, 128):
//!                                                         …
//! ```
//!
//! Requires: a loop from 0 of known extent without annotations and thread binding, which is the nest around a single block; positive
//! parts, one of which may be inferred, that do not reach the extent. The last part is what they leave. If the loop is the value
//! of an iter variable, this gets the domain of the part, and the regions that are indexed by iter variables alone become those of
//! the part. The loop does not choose reduction iterations of a block with an init, unless each part has all of them. The new
//! blocks around declare no regions, as in TVM. Meaning is kept: the same instances run in the same order.

use super::analysis::{facts_at, has_affine_bindings, relaxed_domains};
use super::copy::copy_stmts;
use super::split::check_plain;
use super::{Factor, LoopReason, Reason, Refusal, Schedule, ScheduleError, attached_loop};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Definitions, Expr, ExprKind, IterKind, Loop, LoopId,
    Place, PrimFunc, Range, Scope, Stmt, Substitution, Var,
};

impl Schedule {
    /// Cuts a loop into parts of these extents and what they leave; at most one is inferred, and then nothing else is left. Gives the
    /// loops of the parts.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn loop_partition(
        &mut self,
        target: LoopId,
        factors: &[Factor],
    ) -> Result<Vec<LoopId>, ScheduleError> {
        let plan = Plan::check(&self.func, target, factors)
            .map_err(|refusal| refusal.of("loop_partition"))?;
        let args = vec![target.into(), factors.into()];
        Ok(self.record("loop_partition", args, |func| plan.apply(func)))
    }
}

struct Plan {
    target: LoopId,
    /// Name of the block in the nest.
    name: String,
    /// First value and extent of each part.
    parts: Vec<(i64, i64)>,
}

impl Plan {
    fn check(func: &PrimFunc, target: LoopId, factors: &[Factor]) -> Result<Self, Refusal> {
        let l = attached_loop(func, target)?;
        let var = || l.var.name().to_owned();
        let here = [Place::Loop(target)];
        let Some(extent) = l.extent.as_int().filter(|_| l.min.as_int().is_some()) else {
            return Err(LoopReason::DynamicRange { var: var() }.at(here));
        };
        check_plain(func, target)?;
        let parts = parts(&var(), extent, factors).map_err(|reason| reason.at(here))?;
        let Some(block) = only_block(func, target.into()) else {
            return Err(LoopReason::NotOneBlock { var: var() }.at(here));
        };
        for id in func.blocks_under(target.into()) {
            check_block(func, target, id)?;
        }
        let plan = Self {
            target,
            name: func.blocks[block].name.clone(),
            parts,
        };
        plan.check_reductions(func)?;
        Ok(plan)
    }

    /// Refuses if a part would look like a whole reduction and is not one: its init would run in each part.
    fn check_reductions(&self, func: &PrimFunc) -> Result<(), Refusal> {
        let var = &func.loops[self.target].var;
        let reduces = |id: &BlockId| {
            let node = &func.blocks[*id];
            let mut iters = node.iters.iter().zip(&node.bindings);
            let chosen = iters.any(|(iter, e)| iter.kind != IterKind::Spatial && e.uses(var));
            chosen && node.init.is_some()
        };
        let mut blocks = func.blocks_under(self.target.into());
        blocks.retain(reduces);
        let Some(&block) = blocks.first().filter(|_| self.parts.len() > 1) else {
            return Ok(());
        };
        let refused = || {
            let reason = LoopReason::CutReduction {
                var: var.name().to_owned(),
                block: func.blocks[block].name.clone(),
            };
            Err(reason.at([self.target.into(), block.into()]))
        };
        let bound = |id: &BlockId| iter_at(&func.blocks[*id], var);
        let is_bound = |id: &BlockId| {
            bound(id).is_some_and(|at| func.blocks[*id].iters[at].kind != IterKind::Spatial)
        };
        if blocks.iter().any(is_bound) {
            return refused();
        }
        let mut cut = func.clone();
        for part in self.apply(&mut cut) {
            let mut blocks = cut.blocks_under(part.into()).into_iter();
            if blocks.any(|id| is_part_of_reduction(&cut, part, id)) {
                return refused();
            }
        }
        Ok(())
    }

    fn apply(&self, func: &mut PrimFunc) -> Vec<LoopId> {
        let var = func.loops[self.target].var.clone();
        let common = format!("{}_{}", self.name, var.name());
        let body = func.tree.body(self.target).to_vec();
        let mut loops = Vec::new();
        let mut stmts = Vec::new();
        for (at, &(min, extent)) in self.parts.iter().enumerate() {
            let range = Range {
                min: Expr::int(min, var.dtype()),
                extent: Expr::int(extent, var.dtype()),
            };
            let part = Loop::serial(format!("{}{at}", var.name()), range.clone());
            let part_var = part.var.clone();
            let mut fresh = Substitution::new(Definitions::Fresh);
            fresh.set_var(&var, &part_var);
            let copies = copy_stmts(func, &body, &mut fresh);
            let id = func.loops.push(part);
            func.tree.set_body(id, copies);
            for block in func.blocks_under(id.into()) {
                narrow(func, block, &part_var, &range);
            }
            let block = Block::named(format!("{common}{at}_partition"));
            let block = func.blocks.push(block);
            func.tree.set_body(block, vec![Stmt::Loop(id)]);
            stmts.push(Stmt::Block(block));
            loops.push(id);
        }
        let all = func.blocks.push(Block::named(format!("{common}_common")));
        func.tree.set_body(all, stmts);
        func.tree.replace(self.target, vec![Stmt::Block(all)]);
        super::body::remove_detached(func, self.target.into());
        loops
    }
}

/// First value and extent of each part.
fn parts(var: &str, extent: i64, factors: &[Factor]) -> Result<Vec<(i64, i64)>, Reason> {
    let mut total: i64 = 0;
    let mut inferred = 0;
    for (index, &factor) in factors.iter().enumerate() {
        match factor {
            Factor::Infer => inferred += 1,
            Factor::Of(factor) if factor <= 0 => {
                return Err(Reason::NonPositiveFactor { factor, index });
            }
            Factor::Of(factor) => total = total.saturating_add(factor),
        }
    }
    if inferred > 1 {
        return Err(Reason::NotSingleInferFactor { count: inferred });
    }
    if total >= extent {
        let var = var.to_owned();
        return Err(LoopReason::PartsTooLong { var, total, extent }.into());
    }
    let rest = extent - total;
    let lengths = factors.iter().map(|factor| match factor {
        Factor::Infer => rest,
        Factor::Of(factor) => *factor,
    });
    let last = (inferred == 0).then_some(rest);
    let mut min = 0;
    let mut parts = Vec::new();
    for length in lengths.chain(last) {
        parts.push((min, length));
        min += length;
    }
    Ok(parts)
}

/// The block that a nest of loops is around, if it holds nothing else.
fn only_block(func: &PrimFunc, place: Place) -> Option<BlockId> {
    match func.tree.body(place) {
        [Stmt::Loop(id)] => only_block(func, (*id).into()),
        [Stmt::Block(id)] => Some(*id),
        _ => None,
    }
}

/// The position of the iter variable whose value is the variable.
fn iter_at(node: &Block, var: &Var) -> Option<usize> {
    node.bindings.iter().position(|e| e.as_var() == Some(var))
}

/// Refuses a block whose iter variable would get another domain, but whose regions cannot be told from the domains.
fn check_block(func: &PrimFunc, target: LoopId, block: BlockId) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    let var = &func.loops[target].var;
    let here = [Place::Loop(target), Place::Block(block)];
    if iter_at(node, var).is_none() {
        return Ok(());
    }
    if !func.child_blocks(block.into()).is_empty() {
        let (var, block) = (var.name().to_owned(), node.name.clone());
        return Err(LoopReason::HoldsBlocks { var, block }.at(here));
    }
    for region in node.reads.iter().chain(&node.writes) {
        let indices = plain_indices(func, block, &region.buffer);
        let is_iter = |v: &&Var| node.iters.iter().any(|iter| iter.var == **v);
        let other = indices.iter().flatten().find(|v| !is_iter(v));
        if let Some(other) = other {
            let reason = LoopReason::IndexNoIter {
                block: node.name.clone(),
                buffer: region.buffer.name().to_owned(),
                index: other.name().to_owned(),
            };
            return Err(reason.at(here));
        }
    }
    Ok(())
}

/// Whether a block looks like a reduction in this loop, but lacks reduction iterations there.
fn is_part_of_reduction(func: &PrimFunc, part: LoopId, block: BlockId) -> bool {
    let node = &func.blocks[block];
    if node.init.is_none() || !has_affine_bindings(func, block) {
        return false;
    }
    let facts = facts_at(func, part.into());
    let mut domains = relaxed_domains(func, block.into(), part.into(), &Scope::Global);
    let l = &func.loops[part];
    let (min, extent) = (l.min.clone(), l.extent.clone());
    let range = IntSet::from_range(&Range { min, extent });
    domains.push((l.var.clone(), range));
    let domain = |v: &Var| {
        let found = domains.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    node.iters
        .iter()
        .zip(&node.bindings)
        .any(|(iter, binding)| {
            let whole = || {
                let values = eval_set(binding, &domain, &facts);
                values.covers(&IntSet::from_range(&iter.dom), &facts)
            };
            iter.kind != IterKind::Spatial && binding.uses(&l.var) && !whole()
        })
}

/// Names the block after the part; if the loop of the part is the value of an iter variable, gives this the domain of the part, and
/// declares the regions for all of the domains.
fn narrow(func: &mut PrimFunc, block: BlockId, var: &Var, range: &Range) {
    let name = format!("{}_{}", func.blocks[block].name, var.name());
    func.blocks[block].name = name;
    let inside = |&at: &usize| {
        let dom = &func.blocks[block].iters[at].dom;
        let facts = Analyzer::new();
        let ends = (&range.min + &range.extent).cast(dom.min.dtype());
        facts.can_prove(&dom.min.le(range.min.cast(dom.min.dtype())))
            && facts.can_prove(&ends.le(&dom.min + &dom.extent))
    };
    let Some(at) = iter_at(&func.blocks[block], var).filter(inside) else {
        return;
    };
    let iter = &func.blocks[block].iters[at];
    let dtype = iter.var.dtype();
    func.blocks[block].iters[at].dom = Range {
        min: range.min.cast(dtype),
        extent: range.extent.cast(dtype),
    };
    let domains = |region: &BufferRegion| -> Option<Vec<Range>> {
        let node = &func.blocks[block];
        let domain = |v: Var| {
            let mut iters = node.iters.iter();
            iters
                .find(|iter| iter.var == v)
                .map(|iter| iter.dom.clone())
        };
        let indices = plain_indices(func, block, &region.buffer)?;
        indices.into_iter().map(domain).collect()
    };
    let widened = |regions: &[BufferRegion]| -> Vec<BufferRegion> {
        let widen = |old: &BufferRegion| BufferRegion {
            buffer: old.buffer.clone(),
            region: domains(old).unwrap_or_else(|| old.region.clone()),
        };
        regions.iter().map(widen).collect()
    };
    let node = &func.blocks[block];
    let (reads, writes) = (widened(&node.reads), widened(&node.writes));
    let node = &mut func.blocks[block];
    (node.reads, node.writes) = (reads, writes);
}

/// The indices of the first access of a buffer in the body of a block whose indices are all variables.
fn plain_indices(func: &PrimFunc, block: BlockId, buffer: &Buffer) -> Option<Vec<Var>> {
    fn plain(indices: &[Expr]) -> Option<Vec<Var>> {
        indices.iter().map(|e| e.as_var().cloned()).collect()
    }
    fn of_expr(e: &Expr, buffer: &Buffer) -> Option<Vec<Var>> {
        let mut found = None;
        e.walk(&mut |e| {
            if let ExprKind::Load(loaded, indices) = e.kind()
                && loaded == buffer
                && found.is_none()
            {
                found = plain(indices);
            }
            found.is_none()
        });
        found
    }
    fn of_stmts(func: &PrimFunc, stmts: &[Stmt], buffer: &Buffer) -> Option<Vec<Var>> {
        stmts.iter().find_map(|stmt| {
            let own = match stmt {
                Stmt::Store {
                    buffer: stored,
                    indices,
                    value: _,
                } if stored == buffer => plain(indices),
                _ => None,
            };
            let below = || match stmt {
                Stmt::Loop(id) => of_stmts(func, func.tree.body(*id), buffer),
                Stmt::Block(id) => of_stmts(func, func.tree.body(*id), buffer),
                other => {
                    let mut nested = other.nested().into_iter();
                    nested.find_map(|body| of_stmts(func, body, buffer))
                }
            };
            let mut exprs = stmt.exprs().into_iter();
            own.or_else(|| exprs.find_map(|e| of_expr(e, buffer)))
                .or_else(below)
        })
    }
    of_stmts(func, func.tree.body(block), buffer)
}
