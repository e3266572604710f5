//! Kernel IR to native code, by Cranelift.
//!
//! [`compile`] makes a [`NativeModule`] of kernels: machine code in memory of its own, freed with the module. Vectors of any
//! number of lanes are split into registers of 128 bits. Numbers are those of `tensor::scalar`, with two liberties: functions
//! of the math library are those of the host, and sums that accumulate in place are fused with their product where the machine
//! has FMA (see `emit::contract`).

mod backend;
mod binary;
mod cast;
mod emit;
mod error;
mod expr;
mod helpers;
mod intrin;
mod isa;
mod locals;
mod memory;
#[expect(
    unsafe_code,
    reason = "gives entries of generated code their type, frees its memory"
)]
mod module;
mod value;

pub use crate::codegen_common::KernelArgs;
pub(crate) use crate::codegen_common::streams::{LINE, is_streamed};
pub use backend::{Backend, UnknownBackend};
pub use error::CodegenError;
pub use isa::{Verify, host_target, this_cpu};
pub use module::{
    CompileOptions, NativeFn, NativeKernel, NativeModule, Segment, asm_text, clif_text, compile,
};

#[cfg(test)]
#[expect(unsafe_code, reason = "calls generated code")]
mod tests;
