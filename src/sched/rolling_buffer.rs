//! `rolling_buffer`: a buffer of which tiles overlap holds one tile; each tile computes only what the one before has not.
//!
//! ```text
//! B = T.alloc_buffer((66,))                     B = T.alloc_buffer((6,))
//! for i_0 in range(16):                         for i_0 in range(16):
//!     for ax0 in range(6):                          for ax0 in range(6):
//!         with T.block("B"):                            with T.block("B"):
//!             vi = T.axis.spatial(66, …)                    vi = T.axis.opaque(66, i_0 * 4 + ax0)
//!             B[vi] = A[vi] * 2                             T.where(i_0 < 1 or 2 <= ax0)
//!     for i_1 in range(4):                                  B[vi % 6] = A[vi] * 2
//!         with T.block("C"):                        for i_1 in range(4):
//!             C[vi] = B[vi] + B[vi + 2]                 with T.block("C"):
//!                                                           C[vi] = B[vi % 6] + B[(vi + 2) % 6]
//! ```
//!
//! The *rolling dimension* is that of the outermost loop that moves a tile by less than its extent: it gets the extent of a tile, and its
//! indices are taken modulo that. Iter variables in its place become opaque, in all blocks of the scope, as in TVM: what a
//! block computes depends on the iterations before.
//!
//! Requires: the block is no output, and depends on others, and others on it, only by values that are read; the nearest place around it
//! and all who use the buffer is a loop; the scope is a stage pipeline; what the block writes while this loop runs once
//! is a tile of constant extents at constants or multiples of a loop variable, of which at least one is a loop around with
//! overlapping tiles; the block writes single elements at its iter variables, one for each dimension. Meaning is kept: loops around
//! run one iteration after the other, from 0, so the overlap is what the iteration before has computed.

use super::analysis::{
    BlockScope, DependencyKind, check_not_output_block, check_stage_pipeline, facts_at,
    region_bound, relaxed_domains,
};
use super::body::rewrite_own;
use super::cache_read::region_of;
use super::{Reason, Refusal, RollingReason, Schedule, ScheduleError, attached_block};
use crate::arith::{Analyzer, IntSet, access_regions, eval_set};
use crate::ir::{
    BlockId, Buffer, BufferNode, BufferRegion, Expr, ExprKind, IterKind, LoopId, LoopKind, Place,
    PrimFunc, Range, Scope, Stmt, Var,
};
use crate::tensor::scalar::BinOp;

impl Schedule {
    /// Lets the buffer of the block's write region `index` hold one tile.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn rolling_buffer(&mut self, block: BlockId, index: usize) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, index)
            .map_err(|refusal| refusal.of("rolling_buffer"))?;
        let args = vec![block.into(), index.into()];
        self.record("rolling_buffer", args, |func| plan.apply(func));
        Ok(())
    }
}

/// A dimension in which tiles overlap.
struct Overlap {
    dim: usize,
    /// The loop that moves the tile.
    over: LoopId,
    /// How many elements of a tile are in the one before.
    extent: i64,
}

struct Plan {
    block: BlockId,
    scope: BlockId,
    old: Buffer,
    new: Buffer,
    /// The rolling dimension and the extent of a tile.
    rolling: (usize, Expr),
    predicate: Expr,
}

impl Plan {
    fn check(func: &PrimFunc, block: BlockId, index: usize) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        let Some(write) = node.writes.get(index) else {
            let reason = Reason::BufferIndexOutOfRange {
                block: node.name.clone(),
                index,
                count: node.writes.len(),
            };
            return Err(reason.at([block.into()]));
        };
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_not_output_block(func, block, scope)?;
        let refuse = |why: &'static str| {
            let reason = RollingReason {
                block: node.name.clone(),
                buffer: write.buffer.name().to_owned(),
                why,
            };
            reason.at([block.into()])
        };
        let around = loop_around_users(func, block, scope).map_err(refuse)?;
        check_stage_pipeline(func, scope)?;
        if !writes_at_iters(func, block, write) {
            return Err(refuse(
                "it is not written at the iter variables of the block",
            ));
        }
        let (tile, overlaps) = overlaps(func, block, write, around)
            .ok_or_else(|| refuse("its tiles are not at multiples of a loop variable"))?;
        let dim = rolling_dimension(func, block, &overlaps).map_err(refuse)?;
        let extent = tile[dim].extent.clone();
        let mut shape = write.buffer.shape().to_vec();
        shape[dim] = extent.clone();
        let new = Buffer::from_node(BufferNode {
            shape,
            ..write.buffer.node().clone()
        });
        Ok(Self {
            block,
            scope,
            old: write.buffer.clone(),
            new,
            rolling: (dim, extent),
            predicate: predicate(func, block, &overlaps),
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        let (dim, extent) = &self.rolling;
        let rolled = |indices: &[Expr]| -> Vec<Expr> {
            let mut indices = indices.to_vec();
            indices[*dim] = indices[*dim].floor_mod(extent.cast(indices[*dim].dtype()));
            indices
        };
        let mut blocks = func.blocks_under(self.scope.into());
        blocks.retain(|&id| id != self.scope);
        for id in blocks.into_iter().rev() {
            if let Some(iter) = func.blocks[id].iters.get_mut(*dim) {
                iter.kind = IterKind::Opaque;
            }
            let mut load = |e: &Expr| {
                e.rewrite_bottom_up(&mut |e| match e.kind() {
                    ExprKind::Load(buffer, indices) if *buffer == self.old => {
                        Expr::load(&self.new, rolled(indices))
                    }
                    _ => e.clone(),
                })
            };
            rewrite_own(func, id, &mut load, &mut |stmt| match stmt {
                Stmt::Store {
                    buffer,
                    indices,
                    value,
                } if buffer == self.old => Stmt::Store {
                    buffer: self.new.clone(),
                    indices: rolled(&indices),
                    value,
                },
                other => other,
            });
            self.find_regions(func, id);
        }
        let node = &mut func.blocks[self.block];
        node.predicate = Analyzer::new().simplify(&node.predicate.and(&self.predicate));
        for buffer in &mut func.blocks[self.scope].alloc_buffers {
            if *buffer == self.old {
                *buffer = self.new.clone();
            }
        }
    }

    /// Declares what the block reads and writes of the new buffer in place of the old.
    fn find_regions(&self, func: &mut PrimFunc, block: BlockId) {
        let found = access_regions(func, block);
        let renewed = |old: &[BufferRegion], found: &[BufferRegion]| -> Vec<BufferRegion> {
            let renew = |region: &BufferRegion| match region.buffer == self.old {
                true => region_of(found, &self.new).unwrap_or(region).clone(),
                false => region.clone(),
            };
            old.iter().map(renew).collect()
        };
        let node = &mut func.blocks[block];
        node.reads = renewed(&node.reads, &found.reads);
        node.writes = renewed(&node.writes, &found.writes);
    }
}

/// The innermost loop around the block and all who use its buffers.
fn loop_around_users(
    func: &PrimFunc,
    block: BlockId,
    scope: BlockId,
) -> Result<LoopId, &'static str> {
    let graph = BlockScope::of(func, scope.into());
    let mut own = graph.dependencies().iter();
    let overwrites =
        own.any(|d| d.kind != DependencyKind::ReadAfterWrite && (d.src == block || d.dst == block));
    if overwrites {
        return Err("blocks overwrite what others read or wrote");
    }
    let mut users = graph.consumers(block);
    users.push(block);
    common_loop(func, &users).ok_or("no loop is around all blocks that use it")
}

/// The dimension in which the outermost loop moves tiles that overlap; the loops around must run in order.
fn rolling_dimension(
    func: &PrimFunc,
    block: BlockId,
    overlaps: &[Overlap],
) -> Result<usize, &'static str> {
    let above = func.loops_above(block.into());
    let outermost = above.iter().find_map(|id| {
        let found = overlaps.iter().find(|overlap| overlap.over == *id);
        found.map(|overlap| overlap.dim)
    });
    let in_order = |id: &LoopId| {
        let l = &func.loops[*id];
        l.extent.is_one() || matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled)
    };
    let from_zero = |overlap: &Overlap| func.loops[overlap.over].min.is_zero();
    if !above.iter().all(in_order) || !overlaps.iter().all(from_zero) {
        return Err("the loops around do not run in order, from 0");
    }
    outermost.ok_or("its tiles do not overlap")
}

/// The innermost loop around all of these blocks, if it is what is nearest around them.
fn common_loop(func: &PrimFunc, blocks: &[BlockId]) -> Option<LoopId> {
    let mut place = func.tree.parent(*blocks.first()?)?;
    while !blocks.iter().all(|&id| func.tree.is_ancestor(place, id)) {
        place = func.tree.parent(place)?;
    }
    match place {
        Place::Loop(id) => Some(id),
        Place::Block(_) => None,
    }
}

/// Whether the region is one element, of which each index is the iter variable in its place.
fn writes_at_iters(func: &PrimFunc, block: BlockId, write: &BufferRegion) -> bool {
    let iters = &func.blocks[block].iters;
    let mut dims = write.region.iter().enumerate();
    dims.all(|(dim, range)| {
        let var = iters.get(dim).map(|iter| &iter.var);
        range.extent.is_one() && range.min.as_var() == var && var.is_some()
    })
}

/// What the block writes while the loop runs once, and the dimensions in which that overlaps with what is written when a loop ran
/// last; `None` if it is no tile.
fn overlaps(
    func: &PrimFunc,
    block: BlockId,
    write: &BufferRegion,
    around: LoopId,
) -> Option<(Vec<Range>, Vec<Overlap>)> {
    let place = Place::Loop(around);
    let facts = facts_at(func, place);
    let loops = func.loops_above(block.into());
    let mut tile = Vec::new();
    let mut found = Vec::new();
    let bounds = region_bound(func, block, write, place, &facts);
    for (dim, bound) in bounds.iter().enumerate() {
        let bound = unclipped(func, block, dim, place, &facts).unwrap_or_else(|| bound.clone());
        let range = bound.to_range(&facts)?;
        if range.min.as_int().is_none() {
            let (var, stride) = multiple(&range.min)?;
            let over = *loops.iter().find(|id| func.loops[**id].var == var)?;
            let extent = range.extent.as_int()? - stride;
            if extent > 0 {
                found.push(Overlap { dim, over, extent });
            }
        }
        tile.push(range);
    }
    Some((tile, found))
}

/// The values of the binding of an iter variable while the place runs once, also those outside of its domain.
fn unclipped(
    func: &PrimFunc,
    block: BlockId,
    at: usize,
    place: Place,
    facts: &Analyzer,
) -> Option<IntSet> {
    let binding = func.blocks[block].bindings.get(at)?;
    let loops = relaxed_domains(func, block.into(), place, &Scope::Global);
    let domain = |v: &Var| {
        let found = loops.iter().find(|(var, _)| var == v);
        found.map(|(_, set)| set.clone())
    };
    Some(eval_set(binding, &domain, facts).simplified(facts))
}

/// The variable and the stride of `v` or `v * c`.
fn multiple(e: &Expr) -> Option<(Var, i64)> {
    if let Some(var) = e.as_var() {
        return Some((var.clone(), 1));
    }
    let (var, stride) = e.as_binary(BinOp::Mul)?;
    Some((var.as_var()?.clone(), stride.as_int().filter(|&c| c > 0)?))
}

/// Holds where the block computes what the tiles before have not.
fn predicate(func: &PrimFunc, block: BlockId, overlaps: &[Overlap]) -> Expr {
    let facts = facts_at(func, block.into());
    let new = overlaps.iter().map(|overlap| {
        let var = &func.loops[overlap.over].var;
        let binding = &func.blocks[block].bindings[overlap.dim];
        let zero = Expr::int(0, var.dtype());
        let within = binding.substitute(&|v| (v == var).then(|| zero.clone()));
        let first = var.expr().lt(1);
        let beyond = within.ge(overlap.extent);
        Expr::binary(BinOp::Or, facts.simplify(&first), facts.simplify(&beyond))
    });
    Expr::all(new)
}
