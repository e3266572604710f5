//! Layer 5: building graph functions in Rust (TVM: `relax.BlockBuilder`).
//!
//! A [`BlockBuilder`] makes a module function by function. Expressions may nest; what it emits is in A-normal form.
//!
//! ```
//! use weftile::relax::{self, BlockBuilder, Var};
//! use weftile::tensor::{DType, Tensor};
//! use weftile::te;
//!
//! let weight = Tensor::from_slice(&[2, 2], &[1.0f32, 0.0, 0.0, 1.0])?;
//! let mut bb = BlockBuilder::new();
//! let x = Var::tensor("x", [4, 2], DType::F32);
//! bb.function("main", &[&x], |bb| {
//!     let out = bb.dataflow(|bb| {
//!         let product = relax::op("matmul", [relax::expr(&x), relax::constant(weight.clone())]);
//!         let sum = bb.emit(product + relax::constant(Tensor::from_slice(&[2], &[0.5f32, -0.5])?))?;
//!         let relu = bb.emit_te("relu", [&sum], |t| {
//!             te::compute("B", t[0].shape().to_vec(), |i| te::max(t[0].at(i), 0))
//!         })?;
//!         bb.emit_output(&relu)
//!     })?;
//!     bb.emit_func_output(&out)
//! })?;
//! let module = bb.finish()?;
//! assert_eq!(module.funcs.keys().collect::<Vec<_>>(), ["relu", "main"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block_builder;
mod broadcast;
mod error;
mod expr;
#[cfg(test)]
mod tests;

pub use block_builder::{BlockBuilder, FunctionOptions};
pub use error::BuildError;
pub use expr::{
    Expr, Var, call, call_dps_packed, call_packed, constant, expr, item, op, op_with, shape, tuple,
};
