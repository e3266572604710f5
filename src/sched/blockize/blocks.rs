//! Several blocks that follow each other as one block.

use super::cut::Cut;
use crate::arith::iter_map::UnitIters;
use crate::arith::{Analyzer, IntSet};
use crate::ir::{
    Block, BlockId, BufferRegion, Definitions, Expr, LoopId, Place, PrimFunc, Stmt, Substitution,
};
use crate::sched::affine::shape_facts;
use crate::sched::body::position_of;
use crate::sched::error::BlocksReason;
use crate::sched::{Reason, Refusal, attached_block};

/// Blocks that may become one.
pub(super) struct Plan {
    parts: Vec<Part>,
    /// The loop or block directly above their statements.
    place: Place,
    /// Position of the first of these statements.
    first: usize,
}

/// One of the blocks.
struct Part {
    block: BlockId,
    inner_loops: Vec<LoopId>,
    cut: Cut,
}

impl Plan {
    pub(super) fn check(
        func: &PrimFunc,
        blocks: &[BlockId],
        units: UnitIters,
    ) -> Result<Self, Refusal> {
        for &block in blocks {
            attached_block(func, block)?;
            if func.scope_block(block.into()).is_none() {
                return Err(Reason::RootBlock.at([block.into()]));
            }
        }
        let Some(&first) = blocks.first() else {
            return Err(BlocksReason::NoBlocks.at([]));
        };
        let not_consecutive = |block: BlockId| {
            let name = func.blocks[block].name.clone();
            BlocksReason::NotConsecutive { block: name }.at([block.into()])
        };
        let place = common_place(func, blocks).ok_or_else(|| not_consecutive(first))?;
        if matches!(place, Place::Block(scope) if func.scope_block(first.into()) != Some(scope)) {
            return Err(not_consecutive(first));
        }
        let body = func.tree.body(place);
        let mut start = None;
        let mut parts: Vec<Part> = Vec::new();
        for (nth, &block) in blocks.iter().enumerate() {
            let at = position_of(func, place, block.into());
            let at = at.ok_or_else(|| not_consecutive(block))?;
            let start = *start.get_or_insert(at);
            let item = match &body[at] {
                Stmt::Loop(id) => Place::Loop(*id),
                Stmt::Block(id) => Place::Block(*id),
                _ => return Err(not_consecutive(block)),
            };
            let alone = is_alone(func, item, block);
            if at != start + nth || !alone {
                return Err(not_consecutive(block));
            }
            if func.blocks[block].init.is_some() {
                let name = func.blocks[block].name.clone();
                return Err(BlocksReason::HasInit { block: name }.at([block.into()]));
            }
            let shared = parts.first().map(|part: &Part| &part.cut);
            let part = Part::check(func, block, place, units, shared)?;
            if let Some(shared) = shared
                && (shared.outer.len() != part.cut.outer.len()
                    || shared.outer_predicate != part.cut.outer_predicate)
            {
                let reason = BlocksReason::DifferentOuterIters {
                    first: func.blocks[first].name.clone(),
                    other: func.blocks[block].name.clone(),
                };
                return Err(reason.at([block.into(), first.into()]));
            }
            parts.push(part);
        }
        let first = start.unwrap_or_default();
        Ok(Self {
            parts,
            place,
            first,
        })
    }

    /// Puts the new block in and gives it.
    pub(super) fn apply(self, func: &mut PrimFunc) -> BlockId {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut name = String::from("outer_");
        let shared = &self.parts[0].cut;
        for part in &self.parts {
            part.cut.apply_inner(func, part.block, &shared.outer);
            let node = &func.blocks[part.block];
            name += &format!("{}_", node.name);
            reads.extend(part.cut.over_inner(func, &node.reads));
            writes.extend(part.cut.over_inner(func, &node.writes));
            let mut outside = Substitution::new(Definitions::Kept);
            for bound in &shared.outer {
                if let Some(var) = bound.binding.as_var() {
                    outside.set_var(var, bound.iter.var.expr());
                }
            }
            for &l in &part.inner_loops {
                let l = &mut func.loops[l];
                l.min = crate::ir::Rewrite::expr(&mut outside, &l.min);
                l.extent = crate::ir::Rewrite::expr(&mut outside, &l.extent);
            }
        }
        let facts = shape_facts(func);
        let block = func.blocks.push(Block {
            iters: shared.outer.iter().map(|b| b.iter.clone()).collect(),
            bindings: shared.outer.iter().map(|b| b.binding.clone()).collect(),
            predicate: shared.outer_predicate.clone(),
            reads: hulls(&reads, &facts),
            writes: hulls(&writes, &facts),
            ..Block::named(name)
        });
        let mut body = func.tree.take_body(self.place);
        let after = body.split_off(self.first + self.parts.len());
        let inside = body.split_off(self.first);
        body.push(Stmt::Block(block));
        body.extend(after);
        func.tree.set_body(block, inside);
        func.tree.set_body(self.place, body);
        block
    }
}

impl Part {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        place: Place,
        units: UnitIters,
        shared: Option<&Cut>,
    ) -> Result<Self, Refusal> {
        let loops = func.loops_above(block.into());
        let is_inner = |l: &LoopId| Place::Loop(*l) != place && func.tree.is_ancestor(place, *l);
        let (inner, outer): (Vec<LoopId>, Vec<LoopId>) = loops.iter().partition(|l| is_inner(l));
        let outer_iters = shared.map(|cut| &cut.outer[..]);
        let cut = Cut::check(func, block, &outer, &inner, units, outer_iters)?;
        let outer_iters = outer_iters.unwrap_or(&cut.outer);
        let replaced = |l: &LoopId| {
            let var = &func.loops[*l].var;
            let mut bindings = outer_iters.iter().map(|b| b.binding.as_var());
            bindings.any(|binding| binding == Some(var))
        };
        // Bounds may use loops outside that are iter variables of the new block.
        let lost: Vec<LoopId> = outer.iter().copied().filter(|l| !replaced(l)).collect();
        super::check_own_bounds(func, block, &lost, &inner)?;
        Ok(Self {
            block,
            inner_loops: inner,
            cut,
        })
    }
}

/// The innermost loop or block that is above all of these blocks.
fn common_place(func: &PrimFunc, blocks: &[BlockId]) -> Option<Place> {
    let mut at = func.tree.parent(*blocks.first()?)?;
    while !blocks
        .iter()
        .all(|&b| func.tree.is_ancestor(at, b) && at != Place::Block(b))
    {
        at = func.tree.parent(at)?;
    }
    Some(at)
}

/// Whether the item is the block, or loops that hold nothing but it.
fn is_alone(func: &PrimFunc, item: Place, block: BlockId) -> bool {
    match item {
        Place::Block(id) => id == block,
        Place::Loop(id) => match func.tree.body(id) {
            [Stmt::Loop(inner)] => is_alone(func, Place::Loop(*inner), block),
            [Stmt::Block(inner)] => *inner == block,
            _ => false,
        },
    }
}

/// One region for each buffer; TVM lists them in the order of a hash table, which turns a few around.
fn hulls(regions: &[BufferRegion], facts: &Analyzer) -> Vec<BufferRegion> {
    let mut out: Vec<BufferRegion> = Vec::new();
    for region in regions.iter().rev() {
        let Some(known) = out.iter_mut().find(|known| known.buffer == region.buffer) else {
            out.push(region.clone());
            continue;
        };
        let shape: Vec<Expr> = region.buffer.shape().to_vec();
        for ((range, other), extent) in known.region.iter_mut().zip(&region.region).zip(shape) {
            let both = IntSet::from_range(other).union(&IntSet::from_range(range), facts);
            *range = both
                .to_range(facts)
                .unwrap_or_else(|| crate::ir::Range::to(extent));
        }
    }
    out
}
