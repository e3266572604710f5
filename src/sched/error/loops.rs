//! Why `loop_partition`, `merge` and `reorder_block_iter_var` refuse.

use crate::ir::Expr;

/// A rule about the nest of a loop, or the iter variables of a block, that was broken.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopReason {
    /// TVM: `SymbolicShapeError`.
    #[error("the range of loop `{var}` is not known at compile time")]
    DynamicRange {
        /// The loop's variable.
        var: String,
    },
    /// TVM: `WrongFactorError`.
    #[error("parts of {total} iterations leave nothing of loop `{var}`, which has {extent}")]
    PartsTooLong {
        /// The loop's variable.
        var: String,
        /// The sum of the given parts.
        total: i64,
        /// The extent of the loop.
        extent: i64,
    },
    /// Only the nest around one block is copied; TVM looks for the block without end.
    #[error("loop `{var}` is not the nest around a single block")]
    NotOneBlock {
        /// The loop's variable.
        var: String,
    },
    /// The blocks inside of a block would have to change with it; TVM does not look.
    #[error(
        "block `{block}`, which holds blocks of its own, cannot be cut by loop `{var}` or moved there"
    )]
    HoldsBlocks {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// The regions of the block cannot be told from the domains of its iter variables.
    #[error("block `{block}` indexes `{buffer}` by `{index}`, which is none of its iter variables")]
    IndexNoIter {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
        /// The variable.
        index: String,
    },
    /// Each part would begin its sums anew; TVM does not look.
    #[error(
        "loop `{var}` chooses reduction iterations of block `{block}`, whose init would run in each part"
    )]
    CutReduction {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// `merge` of a single loop, or of a loop with itself.
    #[error("{count} loop(s) cannot be merged, it takes at least two different ones")]
    TooFewLoops {
        /// How many were given.
        count: usize,
    },
    /// TVM: "Expected the loops to be under the same block scope."
    #[error("loops `{first}` and `{other}` are in different blocks")]
    DifferentScopes {
        /// Variable of the loop given first.
        first: String,
        /// Variable of the other loop.
        other: String,
    },
    /// TVM: "Merge loop's nesting depth must be same, but not."
    #[error(
        "the nest down to loop `{first}` has {first_depth} loop(s), that down to loop `{other}` has {other_depth}"
    )]
    DifferentDepths {
        /// Variable of the loop given first.
        first: String,
        /// Number of loops from where the nests part.
        first_depth: usize,
        /// Variable of the other loop.
        other: String,
        /// Number of loops from where the nests part.
        other_depth: usize,
    },
    /// TVM: "Merge loop's `extent` must be same, but not."
    #[error("loop `{first}` has {first_extent:#} iterations, loop `{other}` has {other_extent:#}")]
    DifferentExtents {
        /// Variable of a loop of the first nest.
        first: String,
        /// Its extent.
        first_extent: Expr,
        /// Variable of the loop beside it.
        other: String,
        /// Its extent.
        other_extent: Expr,
    },
    /// Blocks that depend on each other would change places; TVM does not look.
    #[error(
        "block `{block}` would run on the wrong side of `{other}`, on which it depends, or which depends on it"
    )]
    WouldPass {
        /// The moved block's name.
        block: String,
        /// The other block's name.
        other: String,
    },
    /// TVM: `InvalidReorderIndex`.
    #[error("{order:?} is no order of the {iters} iter variables of block `{block}`")]
    NotAnOrder {
        /// The block's name.
        block: String,
        /// What was asked for.
        order: Vec<i64>,
        /// How many iter variables it has.
        iters: usize,
    },
}
