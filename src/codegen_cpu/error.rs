//! Why a kernel has no native code.

use crate::kernel::{ArrayId, Ty, VarId};
use crate::tensor::{ScalarType, SmallType};

/// Why a kernel has no native code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodegenError {
    /// Cranelift does not know this machine.
    #[error("no native code for this machine: {reason}")]
    Host {
        /// In Cranelift's words.
        reason: &'static str,
    },
    /// A kernel for the GPU: it has a launch, thread indices, barriers or workgroup memory.
    #[error("kernel `{kernel}` is not for the CPU: it uses {what}")]
    NotForCpu {
        /// Name of the kernel.
        kernel: String,
        /// What only a GPU has.
        what: &'static str,
    },
    /// Operands do not have the type that the operation takes.
    #[error("kernel `{kernel}`: {what} takes {expected:?}, got {got:?}")]
    Type {
        /// Name of the kernel.
        kernel: String,
        /// The operation.
        what: &'static str,
        /// Type it takes.
        expected: Ty,
        /// Type of the operand.
        got: Ty,
    },
    /// The operation has no meaning for the type.
    #[error("kernel `{kernel}`: `{op}` is not defined for {ty}")]
    Undefined {
        /// Name of the kernel.
        kernel: String,
        /// The operation.
        op: String,
        /// Type of the operands.
        ty: ScalarType,
    },
    /// An element type that only storage has.
    #[error("kernel `{kernel}`: the CPU does not compute with {ty}")]
    SmallType {
        /// Name of the kernel.
        kernel: String,
        /// The type.
        ty: SmallType,
    },
    /// A variable is used where it has no value.
    #[error("kernel `{kernel}` uses {var} where it has no value")]
    Unbound {
        /// Name of the kernel.
        kernel: String,
        /// The variable.
        var: VarId,
    },
    /// The kernel names an array that it does not declare.
    #[error("kernel `{kernel}` does not declare {array}")]
    UnknownArray {
        /// Name of the kernel.
        kernel: String,
        /// The array.
        array: ArrayId,
    },
    /// The wrong number of arguments, lanes, or a lane that is not there.
    #[error("kernel `{kernel}`: {what} takes {expected}, got {got}")]
    Count {
        /// Name of the kernel.
        kernel: String,
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// Local arrays that do not fit the stack, or have no constant size.
    #[error("local array `{array}` of kernel `{kernel}` has no size that fits the stack")]
    LocalSize {
        /// Name of the kernel.
        kernel: String,
        /// Name of the array.
        array: String,
    },
    /// Cranelift refused the function.
    #[error("cannot compile kernel `{kernel}`")]
    Compile {
        /// Name of the kernel.
        kernel: String,
        /// Why.
        #[source]
        source: Box<cranelift_module::ModuleError>,
    },
    /// No memory for the code.
    #[error("cannot make the code executable")]
    Memory(#[source] Box<cranelift_module::ModuleError>),
    /// The system gives no memory for code.
    #[error("cannot make the code executable")]
    Map(#[source] std::io::Error),
}
