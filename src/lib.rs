//! weftile: a GPU-first tensor compiler.
//!
//! Program text (TVMScript) or builders become an [`ir::Module`]; schedules bind its loops to threads; the result runs as
//! WGSL compute shaders on the GPU and as native code on the CPU. `ARCHITECTURE.md` has the picture and the layers.

pub mod support;
pub mod tensor;

#[cfg(feature = "compiler")]
pub mod ir;
pub mod kernel;

#[cfg(feature = "compiler")]
pub mod arith;
pub mod artifact;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cpu")]
mod codegen_common;
#[cfg(feature = "cpu")]
pub mod codegen_cpu;
#[cfg(feature = "compiler")]
pub mod codegen_vm;
#[cfg(feature = "compiler")]
pub mod codegen_wgsl;
#[cfg(feature = "cpu")]
pub mod codegen_x86;
#[cfg(feature = "compiler")]
pub mod explain;
pub mod frontend;
#[cfg(feature = "compiler")]
pub mod interp;
#[cfg(feature = "compiler")]
pub mod lower;
#[cfg(feature = "compiler")]
pub mod ops;
#[cfg(feature = "compiler")]
pub mod passes;
#[cfg(feature = "compiler")]
pub mod pipeline;
#[cfg(feature = "compiler")]
pub mod relax;
pub mod runtime;
#[cfg(feature = "cpu")]
pub mod runtime_cpu;
#[cfg(feature = "gpu")]
pub mod runtime_gpu;
#[cfg(feature = "compiler")]
pub mod sched;
#[cfg(feature = "compiler")]
pub mod script;
pub mod session;
#[cfg(feature = "compiler")]
pub mod te;
#[cfg(feature = "compiler")]
pub mod topi;
pub mod vm;

#[cfg(feature = "compiler")]
pub use frontend::onnx;

/// The example of the README, kept true.
#[cfg(all(doctest, feature = "compiler", feature = "cpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
