//! Why `blockize` and `tensorize` refused.

/// A broken rule of `blockize` or `tensorize`.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlocksReason {
    /// TVM: `NonSingleChildBlockError`.
    #[error("loop `{var}` has {count} child blocks, exactly one is required")]
    NotSingleChildBlock {
        /// The loop's variable.
        var: String,
        /// How many blocks are directly below it.
        count: usize,
    },
    /// TVM: `SubspaceNotDivisibleError`.
    #[error(
        "the bindings or the predicate of block `{block}` cannot be divided between the loops outside of and inside the new block"
    )]
    NotDivisible {
        /// Name of the block that is to be inside.
        block: String,
    },
    /// An init that runs once for the new block would run in another place; TVM does not look.
    #[error(
        "the init of reduction `{block}` cannot run before the loops inside the new block: they repeat elements, or their \
         predicate decides which are initialised"
    )]
    InitNotMovable {
        /// Name of the reduction.
        block: String,
    },
    /// No block is given.
    #[error("no block is given")]
    NoBlocks,
    /// TVM: internal checks, "Target blocks must not be nested with each other" and "must be consecutive".
    #[error(
        "block `{block}` does not stand alone in a statement that follows that of the block before: only such blocks can \
         become one"
    )]
    NotConsecutive {
        /// The block.
        block: String,
    },
    /// TVM: an internal check.
    #[error(
        "blocks `{first}` and `{other}` do not have the same iterations outside of the new block"
    )]
    DifferentOuterIters {
        /// Name of the first block.
        first: String,
        /// Name of the other one.
        other: String,
    },
    /// TVM: an internal check, for reductions alone; it drops other inits.
    #[error("block `{block}` has an init, so it cannot be put into one block with others")]
    HasInit {
        /// The block.
        block: String,
    },
    /// No tensor intrinsic has the name.
    #[error("there is no tensor intrinsic `{name}`")]
    UnknownIntrin {
        /// The name.
        name: String,
    },
    /// TVM: `TensorIntrinMismatchError`.
    #[error("block `{block}` is not what tensor intrinsic `{intrin}` describes: {difference}")]
    IntrinMismatch {
        /// The block.
        block: String,
        /// The intrinsic.
        intrin: String,
        /// The first difference.
        difference: String,
    },
}
