//! Why primitives that take reductions apart refused.

use crate::ir::Expr;

/// A broken rule of `rfactor` or `decompose_reduction`.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReductionReason {
    /// The sum would be added to itself, once for each iteration; TVM does not look.
    #[error("loop `{var}` repeats the whole reduction of block `{block}`")]
    Repeated {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// TVM: `NotSerialLoopKindError`.
    #[error("loop `{var}` is not serial")]
    NotSerial {
        /// The loop's variable.
        var: String,
    },
    /// TVM: `FactorAxisOutOfRangeError`.
    #[error(
        "factor axis {axis} is out of range: `{buffer}` has {dimensions} dimension(s), so there are {} places for another one",
        dimensions + 1
    )]
    FactorAxisOutOfRange {
        /// The buffer that holds the sums.
        buffer: String,
        /// What was asked for.
        axis: i64,
        /// How many dimensions the buffer has.
        dimensions: usize,
    },
    /// TVM: `LoopPropertyError`, data parallel iter variables touch the loop.
    #[error("a spatial iter variable of block `{block}` depends on loop `{var}`")]
    SpatialLoop {
        /// The loop's variable.
        var: String,
        /// The reduction's name.
        block: String,
    },
    /// TVM: `LoopPropertyError`, a loop touched by both kinds of iter variables.
    #[error("spatial and reduce iter variables of block `{block}` both depend on loop `{var}`")]
    MixedLoop {
        /// The loop's variable.
        var: String,
        /// The reduction's name.
        block: String,
    },
    /// TVM: `LoopPropertyError`, not the first child block of the outermost loop.
    #[error(
        "block `{block}` is not the first block below loop `{var}`, the outermost loop around it"
    )]
    NotFirstChildBlock {
        /// The loop's variable.
        var: String,
        /// The reduction's name.
        block: String,
    },
    /// TVM: `LoopPropertyError`, an unbound loop under a reduction loop.
    #[error(
        "no iter variable of block `{block}` depends on loop `{var}`, which is below a loop that is summed over"
    )]
    UnboundLoop {
        /// The loop's variable.
        var: String,
        /// The reduction's name.
        block: String,
    },
    /// TVM: `RFactorNotApplicableError`.
    #[error(
        "block `{block}` is not of the form `B[i] = init; B[i] = B[i] op value`, for one element or for several that are chosen together: {why}"
    )]
    NotAnUpdate {
        /// The reduction's name.
        block: String,
        /// What it has instead.
        why: &'static str,
    },
    /// TVM: `NoMatchedReducerError`.
    #[error(
        "block `{block}` combines `{update:#}` from {init:#} on: not a sum, product, minimum or maximum from its identity on"
    )]
    NoMatchedReducer {
        /// The reduction's name.
        block: String,
        /// The first value.
        init: Expr,
        /// The updated value.
        update: Expr,
    },
    /// The init would run for elements that keep their value; TVM does not look.
    #[error(
        "the predicate of block `{block}` may leave out the iteration in which the init runs: {predicate:#}"
    )]
    FirstIterationLeftOut {
        /// The reduction's name.
        block: String,
        /// The condition that is not known to hold.
        predicate: Expr,
    },
    /// The partial sums of some iterations of the loop would not be written; TVM does not look.
    #[error(
        "the predicate of block `{block}` may leave out the first iteration of a partial sum, which would then have no init: \
         {predicate:#}"
    )]
    PartialSumWithoutInit {
        /// The reduction's name.
        block: String,
        /// The condition that is not known to hold.
        predicate: Expr,
    },
    /// The extent of the new dimension would be no size of a buffer; TVM does not look.
    #[error("loop `{var}` starts elsewhere than at 0, or its extent depends on another loop")]
    NotADimension {
        /// The loop's variable.
        var: String,
    },
    /// The partial sums would be computed before what they read is overwritten; TVM does not look.
    #[error(
        "block `{other}`, below the outermost loop around block `{block}`, writes what that reads"
    )]
    InputOverwritten {
        /// The reduction's name.
        block: String,
        /// The block that writes.
        other: String,
    },
}
