//! Why `unsafe_set_dtype`, `unsafe_hide_buffer_access` and the primitives that cache in new ways refuse.

use crate::ir::Expr;

/// A rule about the buffers that a block uses that was broken.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BufferReason {
    /// No element type has the name, or none that a buffer can have.
    #[error("`{name}` is no element type of buffers")]
    UnknownDType {
        /// What was asked for.
        name: String,
    },
    /// TVM: `BufTypeError`.
    #[error("a block has \"read\" and \"write\" regions, no \"{kind}\" regions")]
    AccessKind {
        /// What was asked for.
        kind: String,
    },
    /// TVM: `InvalidIndexError`.
    #[error("block `{block}` has {count} such regions, and none at {index}")]
    NoSuchRegion {
        /// The block's name.
        block: String,
        /// What was asked for.
        index: i64,
        /// How many there are.
        count: usize,
    },
    /// TVM: `NotReadWriteError`.
    #[error("block `{block}` does not both read and write `{buffer}`")]
    NotInPlace {
        /// The block's name.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// The copy back would overwrite elements with what was never copied; TVM does not look.
    #[error(
        "block `{block}` is not known to write `{buffer}` only where it reads, itself, or wholly"
    )]
    WritesElsewhere {
        /// The block's name.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// TVM: an internal check.
    #[error(
        "block `{block}` computes {count} value(s) of its iter variables often enough, it takes two"
    )]
    NoIndices {
        /// The block's name.
        block: String,
        /// How many.
        count: usize,
    },
    /// TVM: an internal check, or domains that are too small.
    #[error("`{value:#}` in block `{block}` is not made of loops around it that start from 0")]
    NoIndexOfIters {
        /// The block's name.
        block: String,
        /// The value.
        value: Expr,
    },
}
