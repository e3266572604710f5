//! The bytecode machine.
//!
//! [`VirtualMachine::new`] decodes the bytecode once (`decode`): names become indices, operands are checked, native code is
//! made, constants go to the device. A call then runs a dense list of operations over a frame of registers that is kept from
//! call to call, with the memory of its tensors: where shapes are those of a call before, nothing is allocated. Each launch
//! keeps the plans (`launch`) of the last few shapes it saw: values of the dims, scalars, grid. A tensor's memory is used
//! again only when its reference count says that nobody else holds it, so a result, or an input that a packed function
//! keeps, is never overwritten.

mod check;
mod decode;
mod error;
mod frame;
mod launch;
#[cfg(feature = "cpu")]
mod launch_cpu;
#[cfg(feature = "gpu")]
mod launch_gpu;
mod machine;
mod place;
mod profile;
mod run;
mod verify;

pub use error::VmError;
pub use machine::{FuncId, VirtualMachine};
pub use profile::{Profile, ProfileEntry, ProfileKind};
