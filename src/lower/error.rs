//! Why a loop program has no kernel IR.

use crate::tensor::{DType, ScalarType};

/// Why lowering refused a function.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A loop nest of a GPU function that no loop binds to the launch.
    #[error(
        "`{func}`: the loops of block `{block}` are not bound to threads; did you forget a schedule?"
    )]
    NotBound {
        /// The function.
        func: String,
        /// A block in the nest.
        block: String,
    },
    /// A loop that runs on the host around a kernel, or a second launch inside a launch.
    #[error("`{func}`: loop `{var}` surrounds loops bound to blockIdx; only unit loops may")]
    LoopAroundLaunch {
        /// The function.
        func: String,
        /// The variable of the loop.
        var: String,
    },
    /// A loop inside another one that is bound to the same axis.
    #[error(
        "`{func}`: a loop bound to {axis} stands inside another one; each needs an axis of its own"
    )]
    NestedAxis {
        /// The function.
        func: String,
        /// The launch axis.
        axis: &'static str,
    },
    /// Loops that are written out to more code than anybody wants.
    #[error(
        "`{func}`: unrolled or vectorized loops, `{var}` among them, are written out to more than {limit} statements; \
         split them first"
    )]
    TooLong {
        /// The function.
        func: String,
        /// The variable of the loop.
        var: String,
        /// Most statements.
        limit: usize,
    },
    /// Two loops of one kernel bind the same axis with different extents.
    #[error("`{func}`: {axis} is bound with extents {first} and {second} in one kernel")]
    AxisExtent {
        /// The function.
        func: String,
        /// The launch axis.
        axis: &'static str,
        /// Extent of the first loop.
        first: String,
        /// Extent of the other one.
        second: String,
    },
    /// An extent that must be a constant (of a thread axis, a vectorized or unrolled loop, a local array).
    #[error("`{func}`: {what} needs a constant extent, got {extent}")]
    NotConstant {
        /// The function.
        func: String,
        /// Which extent.
        what: String,
        /// What it is.
        extent: String,
    },
    /// An extent of a launch, tensor or temporary that is no expression of the symbolic dims.
    #[error("`{func}`: {what} must follow from the symbolic dims, got {value}")]
    NotHost {
        /// The function.
        func: String,
        /// Which value.
        what: String,
        /// What it is.
        value: String,
    },
    /// More threads or shared memory than the device has.
    #[error("`{func}`: needs {needs} {what}, the device has {limit}")]
    DeviceLimit {
        /// The function.
        func: String,
        /// Of what.
        what: &'static str,
        /// How much is needed.
        needs: u64,
        /// How much there is.
        limit: u64,
    },
    /// More passes through loops than the device makes.
    #[error(
        "kernel `{kernel}`: a thread goes through loops {passes} times, but this software adapter ends every loop after {limit}; spread the reduction over threads, or run it on the CPU"
    )]
    LongLoops {
        /// The kernel.
        kernel: String,
        /// How many.
        passes: i64,
        /// How many there may be.
        limit: u32,
    },
    /// A loop of which nobody knows how often it runs, on a device with a limit.
    #[error(
        "kernel `{kernel}`: the iterations of a loop depend on data, and this software adapter ends every loop after {limit}; run it on the CPU"
    )]
    UnboundedLoop {
        /// The kernel.
        kernel: String,
        /// How many passes through loops there may be.
        limit: u32,
    },
    /// An element type that the target lacks.
    #[error("`{func}`: `{what}` has type {dtype}, which the target does not have")]
    DType {
        /// The function.
        func: String,
        /// The buffer or variable.
        what: String,
        /// Its type.
        dtype: DType,
    },
    /// Computation with `float64` or `bfloat16` values on a GPU.
    #[error(
        "`{func}`: {what} has type {dtype}, which the GPU does not compute with; use float32 there, or run it on the CPU"
    )]
    WideType {
        /// The function.
        func: String,
        /// The buffer that the value comes from, or the value.
        what: String,
        /// Its type.
        dtype: DType,
    },
    /// Index arithmetic with values that the index type does not hold.
    #[error(
        "`{func}`: `{expr}` {}, and GPUs compute indices in int32; run it on the CPU",
        .value.map_or("has no known bound".to_owned(), |value| format!("reaches {value}"))
    )]
    TooWide {
        /// The function.
        func: String,
        /// The arithmetic, as kernels print it.
        expr: String,
        /// The value furthest from 0, if there is a bound.
        value: Option<i64>,
    },
    /// A buffer whose number of elements does not fit the index type.
    #[error(
        "`{func}`: buffer `{buffer}` has {len} elements, more than an index of type {index} can name"
    )]
    TooLarge {
        /// The function.
        func: String,
        /// The buffer.
        buffer: String,
        /// Its number of elements.
        len: i64,
        /// The index type.
        index: ScalarType,
    },
    /// A barrier would be needed where not all threads of the workgroup come by.
    #[error(
        "`{func}`: threads exchange `{array}` under a condition or loop that differs between threads"
    )]
    DivergentBarrier {
        /// The function.
        func: String,
        /// The shared array.
        array: String,
    },
    /// A temporary in device memory that threads of one kernel exchange.
    #[error(
        "`{func}`: threads of one kernel exchange `{buffer}`, which fits neither registers nor shared memory"
    )]
    Exchange {
        /// The function.
        func: String,
        /// The buffer.
        buffer: String,
    },
    /// Memory of a thread or workgroup that several kernels use.
    #[error(
        "`{func}`: several kernels use `{buffer}`, but memory of scope \"{scope}\" is gone when a kernel ends; \
         move its blocks into one loop nest (compute_at, reverse_compute_at)"
    )]
    Scattered {
        /// The function.
        func: String,
        /// The buffer.
        buffer: String,
        /// Its scope.
        scope: String,
    },
    /// A reduction over threads of a form that has no lowering.
    #[error("`{func}`: block `{block}` reduces over threads, but {reason}")]
    ThreadReduction {
        /// The function.
        func: String,
        /// The block.
        block: String,
        /// What is not as it must be.
        reason: &'static str,
    },
    /// Something that kernels cannot say.
    #[error("`{func}`: {what} has no lowering")]
    Unsupported {
        /// The function.
        func: String,
        /// What it is.
        what: String,
    },
}
