//! Why `pad_einsum` and `decompose_padding` refuse.

/// A rule about padding that was broken.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaddingReason {
    /// TVM: `InvalidPaddingError`.
    #[error(
        "the padding of block `{block}` is a list of {iters} positive numbers, not {padding:?}"
    )]
    Sizes {
        /// The block's name.
        block: String,
        /// How many iter variables it has.
        iters: usize,
        /// What was asked for.
        padding: Vec<i64>,
    },
    /// TVM: `NonEinsumError`.
    #[error(
        "block `{block}` is no einsum: it does not use `{buffer}` once, with constants and variables as indices"
    )]
    NotEinsum {
        /// The block's name.
        block: String,
        /// The first buffer that it uses otherwise.
        buffer: String,
    },
    /// The padded copy would not hold the same elements; TVM does not look.
    #[error(
        "the iter variables of block `{block}` do not run over all of `{buffer}`, of which a padded copy is to be made"
    )]
    NotWholeBuffer {
        /// The block's name.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// The loop would get longer for what else is in it; TVM does not look.
    #[error(
        "loop `{var}` cannot get longer: `{block}` uses it for more than one iter variable that is padded"
    )]
    SharedLoop {
        /// The loop's variable.
        var: String,
        /// The block that does.
        block: String,
    },
    /// Another block of the nest would use the buffer while the padded copy is in use; TVM does not look.
    #[error(
        "block `{block}` of the same nest uses `{buffer}`, of which a padded copy is to be made"
    )]
    UsedMeanwhile {
        /// The other block's name.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// Padded elements would count; TVM does not look.
    #[error(
        "block `{block}` is not known to add nothing to its reduction where `{iter}` is past its domain"
    )]
    PaddingCounts {
        /// The block's name.
        block: String,
        /// The reduce iter variable.
        iter: String,
    },
    /// Padded elements would be divisors; TVM does not look.
    #[error("block `{block}` divides integers by what may be padding")]
    DividesByPadding {
        /// The block's name.
        block: String,
    },
    /// TVM: `PaddingPatternMatchError`.
    #[error("block `{block}` does not pad: {why}")]
    NotPadding {
        /// The block's name.
        block: String,
        /// What is not as in `B[i] = T.if_then_else(inside, A[i], constant)`.
        why: &'static str,
    },
}
