//! [`Executable`]: bytecode, kernels, constants and metadata as plain data; saved to and loaded from one file.

mod bytecode;
mod constants;
mod context;
mod error;
mod executable;
mod file;
mod signature;
mod text;
mod verify;

pub use bytecode::{
    Builtin, Callee, Constant, Function, Instr, MemorySpace, Operand, Pc, Reg, ShapeFunc, Slot,
    match_code, shape_code,
};
pub use context::ErrorContext;
pub use error::{ArtifactError, BytecodeError};
pub use executable::{Executable, KernelFunc};
pub use signature::{Port, PortKind, Signature};
