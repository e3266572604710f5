//! Why a kernel has no WGSL.

use crate::tensor::ScalarType;

/// Why a kernel cannot be written in WGSL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WgslError {
    /// The kernel has no launch.
    #[error("kernel `{kernel}` has no launch: it was lowered for the CPU")]
    NoLaunch {
        /// The kernel.
        kernel: String,
    },
    /// An element type that shaders do not have.
    #[error("kernel `{kernel}`: {what} has type {dtype}, which the GPU does not support{hint}")]
    DType {
        /// The kernel.
        kernel: String,
        /// Array or variable.
        what: String,
        /// Its type.
        dtype: ScalarType,
        /// What would help.
        hint: &'static str,
    },
    /// A vector of more than four lanes.
    #[error("kernel `{kernel}` uses a vector of {lanes} lanes; the GPU has 2, 3 and 4")]
    Lanes {
        /// The kernel.
        kernel: String,
        /// Lanes.
        lanes: u16,
    },
    /// A shared or local array of unknown size.
    #[error(
        "kernel `{kernel}`: array `{array}` in workgroup memory or registers needs a constant size"
    )]
    DynamicArray {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
    },
    /// naga refused the text: a bug of the emitter.
    #[error("the WGSL of `{kernel}` is invalid (a bug in weftile):\n{message}")]
    Invalid {
        /// The kernel.
        kernel: String,
        /// What naga said.
        message: String,
    },
}
