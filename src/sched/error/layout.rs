//! Why `transform_layout`, `reindex` and `set_scope` refused.

use crate::ir::Expr;
use crate::tensor::DType;

/// A broken rule of primitives that give a buffer another layout or place.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutReason {
    /// Threads would read memory of others; TVM does not look.
    #[error(
        "in storage scope \"{scope}\" each iteration of loop `{var}` has `{buffer}` for itself, but block `{block}` uses it \
         outside of the loop"
    )]
    NotSeen {
        /// The buffer.
        buffer: String,
        /// The storage scope.
        scope: String,
        /// Variable of a loop that is bound to the launch.
        var: String,
        /// A block that is not below it.
        block: String,
    },
    /// TVM: `BufferIsSubregionError`.
    #[error("`{buffer}` is a view, or its memory is used by its address")]
    Subregion {
        /// The buffer.
        buffer: String,
    },
    /// The buffer has a layout already; TVM keeps strides that no longer fit.
    #[error("`{buffer}` has strides or a layout of its own")]
    HasLayout {
        /// The buffer.
        buffer: String,
    },
    /// TVM: an internal check.
    #[error("the map `{map}` has {count} parameters, but `{buffer}` has {dimensions} dimensions")]
    MapDimensions {
        /// The map.
        map: String,
        /// How many parameters it has.
        count: usize,
        /// The buffer.
        buffer: String,
        /// How many dimensions it has.
        dimensions: usize,
    },
    /// TVM: an internal check, "could not parse mapping as sum of iterators".
    #[error(
        "the map `{map}` is not known to give each element of `{buffer}` a place of its own, from 0 on"
    )]
    NotInjective {
        /// The map.
        map: String,
        /// The buffer.
        buffer: String,
    },
    /// TVM: `TransformationIntroducesPaddingError`.
    #[error(
        "the map `{map}` leaves places of `{buffer}` without element, where {padding:#}, and no value for them is given"
    )]
    Padding {
        /// The map.
        map: String,
        /// The buffer.
        buffer: String,
        /// Where.
        padding: Expr,
    },
    /// TVM: `TransformationPaddingTypeError`.
    #[error("elements of `{buffer}` are {dtype}, but the value for padding is {pad}")]
    PaddingType {
        /// The buffer.
        buffer: String,
        /// Its element type.
        dtype: DType,
        /// That of the value.
        pad: DType,
    },
    /// TVM: `TransformationPaddingExpressionError`.
    #[error("the value for padding, {value:#}, is no constant")]
    PaddingValue {
        /// The value.
        value: Expr,
    },
    /// A symbolic extent would be known by no parameter; TVM does not look.
    #[error("the new shape of parameter `{buffer}` no longer gives `{var}` its value")]
    ExtentLost {
        /// The buffer.
        buffer: String,
        /// The extent.
        var: String,
    },
    /// TVM: `InvalidBufferAccessError` and `NotLeafBlockError`.
    #[error(
        "block `{block}` has blocks inside, or does not use `{buffer}` at the same single indices everywhere"
    )]
    NotSinglePoint {
        /// The block.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// TVM: an internal check.
    #[error("the loops around block `{block}` hold other statements, too")]
    NotAChain {
        /// The block.
        block: String,
    },
    /// The copy would read or write elements that the block does not; TVM does not look.
    #[error(
        "block `{block}` does not use all elements of `{buffer}` that its iter variables name, or some outside of it"
    )]
    NotAllUsed {
        /// The block.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// The copy would hold old values; TVM does not look.
    #[error("block `{block}` both reads and writes `{buffer}`")]
    ReadsAndWrites {
        /// The block.
        block: String,
        /// The buffer.
        buffer: String,
    },
    /// Several values would be copied to one element; TVM does not look.
    #[error(
        "block `{block}` does not write each element of `{buffer}` for one value of its iter variables only"
    )]
    WritesTwice {
        /// The block.
        block: String,
        /// The buffer.
        buffer: String,
    },
}
