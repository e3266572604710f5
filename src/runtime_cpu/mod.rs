//! Runs native kernels. [`CpuModule`] holds the code of lowered functions, [`Team`] the threads that share the
//! iterations of a parallel kernel.
//!
//! A warm launch allocates nothing, takes no lock unless it is parallel, and looks nothing up by name.

#[expect(unsafe_code, reason = "calls generated code with pointers to tensors")]
mod module;
#[expect(
    unsafe_code,
    reason = "lends a job on the caller's stack to other threads"
)]
mod team;

pub use module::{CpuModule, LaunchError, RawBuffer};
pub use team::Team;
