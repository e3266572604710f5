//! The bytecode machine.
//!
//! The first [`VirtualMachine`] of an executable decodes its bytecode (`decode`: names become indices, operands are checked, which gives a `program`),
//! compiles its kernels and copies its constants to the device; the others share all that (`loaded`). A call runs a dense list
//! of operations over a frame of registers that is kept from call to call, with the memory of its tensors: where shapes are
//! those of a call before, nothing is allocated. Each launch keeps the plans (`launch`) of the last few shapes it saw: values
//! of the dims, scalars, grid. A tensor's memory is used again only when its reference count says that nobody else holds it,
//! so a result, or an input that a packed function keeps, is never overwritten.

mod arenas;
mod asynchronous;
mod backend;
mod call;
mod check;
mod decode;
#[cfg(feature = "gpu")]
mod device_code;
mod error;
mod frame;
mod instrument;
mod launch;
#[cfg(feature = "cpu")]
mod launch_cpu;
#[cfg(feature = "gpu")]
mod launch_gpu;
mod loaded;
mod machine;
mod place;
mod profile;
mod program;
mod run;
mod stateful;
mod step;
mod time;
mod watch;

pub use error::VmError;
pub use instrument::{CallEvent, Verdict};
pub use machine::{FuncId, VirtualMachine};
pub use profile::{Clock, Profile, ProfileEntry, ProfileKind};
pub use stateful::IncludeReturn;
pub use time::{BenchmarkResult, TimeEvaluator, TimeOptions};
