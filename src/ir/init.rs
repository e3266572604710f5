//! Where the init of a reduction can stand on its own: what `decompose_reduction` moves, and what runs for an empty sum.
//!
//! `T.init` runs where every reduce iter variable has its first value, also if there is no update: a sum over nothing is its init,
//! as in numpy. Schedules keep that instance the first of an element. (TVM leaves the element unwritten.) A loop program as written says so at the outermost loop that turns out empty.

use super::{BlockId, Expr, IterKind, LoopId, Place, PrimFunc};

/// The init of a reduction block, apart from its updates.
#[derive(Clone, Debug)]
pub struct InitNest {
    /// The loops from `before` inwards that it needs, outermost first.
    pub loops: Vec<LoopId>,
    /// The block's condition, as far as these loops and those outside decide it.
    pub predicate: Expr,
    /// Iter variables that must have their first value: the reduce ones that only loops outside are bound to.
    pub first: Vec<usize>,
}

impl PrimFunc {
    /// The init of a block, if it stood before a loop that is above it.
    pub fn init_nest(&self, block: BlockId, before: LoopId) -> InitNest {
        let node = &self.blocks[block];
        let loops = self.loops_above(block.into());
        let at = loops.iter().position(|&id| id == before);
        let inside = &loops[at.expect("the loop is above the block")..];
        let uses = |e: &Expr, ids: &[LoopId]| ids.iter().any(|&id| e.uses(&self.loops[id].var));
        let of_kind = |kind| {
            let iters = node.iters.iter().zip(&node.bindings).enumerate();
            iters.filter(move |(_, (iter, _))| iter.kind == kind)
        };
        let needed = |id: &LoopId| of_kind(IterKind::Spatial).any(|(_, (_, e))| uses(e, &[*id]));
        let (kept, dropped): (Vec<LoopId>, Vec<LoopId>) = inside.iter().partition(|id| needed(id));
        let decided = node.predicate.conjuncts().into_iter();
        InitNest {
            loops: kept,
            predicate: Expr::all(decided.filter(|cond| !uses(cond, &dropped))),
            first: of_kind(IterKind::Reduce)
                .filter(|(_, (_, e))| !uses(e, inside))
                .map(|(at, _)| at)
                .collect(),
        }
    }

    /// The inits that run if a loop has no iteration: those of the reduction blocks below for whose sum the loop counts. An
    /// element that the loop itself would choose, or a loop whose extent it would decide, does not exist then.
    pub fn inits_of_empty(&self, id: LoopId) -> Vec<(BlockId, InitNest)> {
        let var = &self.loops[id].var;
        let counts = |&block: &BlockId| {
            let node = &self.blocks[block];
            let mut iters = node.iters.iter().zip(&node.bindings);
            node.init.is_some()
                && iters.clone().any(|(_, binding)| binding.uses(var))
                && iters.all(|(iter, e)| iter.kind == IterKind::Reduce || !e.uses(var))
        };
        let blocks = self.child_blocks(Place::Loop(id)).into_iter();
        let nests = blocks
            .filter(counts)
            .map(|block| (block, self.init_nest(block, id)));
        nests
            .filter(|(block, nest)| {
                let above = self.loops_above(Place::Block(*block));
                let inside = &above[above.iter().position(|&l| l == id).unwrap_or(0)..];
                let gone = inside.iter().filter(|l| !nest.loops.contains(l));
                let gone: Vec<_> = gone.map(|&l| &self.loops[l].var).collect();
                nest.loops.iter().all(|&l| {
                    let l = &self.loops[l];
                    !gone.iter().any(|v| l.min.uses(v) || l.extent.uses(v))
                })
            })
            .collect()
    }
}
