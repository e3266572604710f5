//! `reorder_block_iter_var`: the iter variables of a block are listed in another order. Changes no meaning: later primitives see
//! them in this order, as `blockize` and `transform_block_layout` do.
//!
//! ```text
//! with T.block("B"):                                   with T.block("B"):
//!     vi, vj, vk = T.axis.remap("SSR", [i, j, k])          vj, vk, vi = T.axis.remap("SRS", [j, k, i])
//! ```
//!
//! above with the order `[1, 2, 0]`.
//!
//! Requires: each position among the iter variables once.

use super::{LoopReason, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Definitions, PrimFunc, Substitution};

impl Schedule {
    /// Lists the iter variables of the block in this order of their positions.
    ///
    /// # Errors
    /// If `order` is no permutation of `0 .. n` for the `n` iter variables of the block.
    pub fn reorder_block_iter_var(
        &mut self,
        block: BlockId,
        order: &[i64],
    ) -> Result<(), ScheduleError> {
        let positions = check(&self.func, block, order)
            .map_err(|refusal| refusal.of("reorder_block_iter_var"))?;
        let args = vec![block.into(), order.into()];
        self.record("reorder_block_iter_var", args, |func| {
            let node = &mut func.blocks[block];
            node.iters = positions.iter().map(|&at| node.iters[at].clone()).collect();
            node.bindings = (positions.iter().map(|&at| node.bindings[at].clone())).collect();
            renew_iters(func, block);
        });
        Ok(())
    }
}

/// Gives the block new iter variables of the same names: sums are written in the order in which variables were made.
fn renew_iters(func: &mut PrimFunc, block: BlockId) {
    let mut fresh = Substitution::new(Definitions::Kept);
    for iter in &mut func.blocks[block].iters {
        let new = iter.var.renamed(iter.var.name());
        fresh.set_var(&iter.var, &new);
        iter.var = new;
    }
    func.map_below(block, &mut fresh);
}

/// The order as positions.
fn check(func: &PrimFunc, block: BlockId, order: &[i64]) -> Result<Vec<usize>, Refusal> {
    let node = attached_block(func, block)?;
    if block == func.root {
        return Err(Reason::RootBlock.at([block.into()]));
    }
    let iters = node.iters.len();
    let mut positions: Vec<usize> = Vec::with_capacity(iters);
    for &at in order {
        let position = usize::try_from(at).ok().filter(|&at| at < iters);
        positions.extend(position.filter(|at| !positions.contains(at)));
    }
    if positions.len() == iters && order.len() == iters {
        return Ok(positions);
    }
    let reason = LoopReason::NotAnOrder {
        block: node.name.clone(),
        order: order.to_vec(),
        iters,
    };
    Err(reason.at([block.into()]))
}
