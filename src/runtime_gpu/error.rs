//! What can go wrong on a GPU.

use std::time::Duration;

use crate::tensor::{DType, TensorError};

/// Why the GPU did not do what it was asked to.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter at all.
    #[error("no GPU adapter was found")]
    NoAdapter,
    /// Only software adapters, and those were not allowed.
    #[error("the only adapter is `{0}`, which runs on the CPU; allow software adapters to use it")]
    OnlySoftware(String),
    /// No adapter has the name.
    #[error("no adapter is named `{name}`; there are: {}", .found.join(", "))]
    NoSuchAdapter {
        /// The name asked for.
        name: String,
        /// The names that there are.
        found: Vec<String>,
    },
    /// The adapter gave no device.
    #[error("`{adapter}` gave no device: {reason}")]
    NoDevice {
        /// The adapter.
        adapter: String,
        /// What it said.
        reason: String,
    },
    /// A buffer larger than the device has.
    #[error("a buffer of {bytes} bytes is more than the {limit} that the device allows")]
    TooLarge {
        /// Bytes asked for.
        bytes: u64,
        /// Most bytes of one buffer.
        limit: u64,
    },
    /// More immediates than the device has room for.
    #[error("`{kernel}` takes {bytes} bytes of immediates, the device has room for {limit}")]
    Immediates {
        /// The kernel.
        kernel: String,
        /// Bytes that it takes.
        bytes: u32,
        /// Bytes that there are.
        limit: u32,
    },
    /// Subgroups of the device may be smaller than the kernel was compiled for.
    #[error(
        "`{kernel}` was compiled for subgroups of at least {wanted} threads, those of {device} may have {least}; compile it for this device"
    )]
    Subgroup {
        /// The kernel.
        kernel: String,
        /// Threads of a subgroup that it takes for granted.
        wanted: u32,
        /// The device.
        device: String,
        /// Threads that a subgroup has at least; 0 if there are no subgroup operations.
        least: u32,
    },
    /// The device has no cooperative matrices.
    #[error(
        "`{kernel}` was compiled for cooperative matrices, which {device} does not have; compile it for this device"
    )]
    CooperativeMatrix {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
    },
    /// The device has no memory left.
    #[error("out of device memory while {during}")]
    OutOfMemory {
        /// What was being done.
        during: String,
    },
    /// The device was lost: reset, unplugged or crashed. Everything on it is gone; tensors on the host are not.
    #[error("the device was lost: {reason}")]
    Lost {
        /// What the driver said.
        reason: String,
    },
    /// The driver refused what we asked for.
    #[error("{during}: {problem}")]
    Rejected {
        /// What was being done.
        during: String,
        /// What the driver or its validation said.
        problem: String,
    },
    /// The device did not finish in time.
    #[error("the device did not finish within {0:?}")]
    Timeout(Duration),
    /// The device has no such element type.
    #[error("the device cannot hold {0}")]
    DType(DType),
    /// More workgroups than a dispatch can have.
    #[error(
        "kernel `{kernel}` needs {grid:?} workgroups, a dispatch takes {limit} in each dimension"
    )]
    Grid {
        /// The kernel.
        kernel: String,
        /// Workgroups asked for.
        grid: [u64; 3],
        /// Most in one dimension.
        limit: u32,
    },
    /// A kernel would write memory that it was given twice.
    #[error("kernel `{kernel}` writes its array {written}, which shares bytes with array {other}")]
    Overlap {
        /// The kernel.
        kernel: String,
        /// The array that is written, by its binding.
        written: usize,
        /// The other one.
        other: usize,
    },
    /// The tensor belongs to another device.
    #[error("the tensor lives on another device")]
    OtherDevice,
    /// The tensor does not exist.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}
