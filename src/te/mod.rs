//! Layer 3: tensor expressions (TVM's `te`): tensors as functions of their indices, and loop programs made from them.
//!
//! A [`Tensor`] is a placeholder, or says for each of its elements how it follows from elements of other tensors. Tensors form
//! a DAG; [`create_prim_func`] writes it as a loop program with one block for each tensor that is computed.
//!
//! ```
//! use weftile::te;
//! use weftile::ir::{Expr, Var};
//! use weftile::tensor::DType;
//!
//! let n = Var::new("n", DType::I64);
//! let a = te::placeholder("A", [n.expr(), Expr::i64(64)], DType::F32);
//! let b = te::placeholder("B", [64, 32], DType::F32);
//! let k = te::reduce_axis("k", 64);
//! let c = te::compute("C", [n.expr(), Expr::i64(32)], |i| {
//!     te::sum(a.at([&i[0], &k.expr()]) * b.at([&k.expr(), &i[1]]), [&k])
//! });
//! let relu = te::compute("relu", c.shape().to_vec(), |i| te::max(c.at(i), 0));
//! let func = te::create_prim_func("matmul_relu", &[a, b, relu])?;
//! assert_eq!(func.params.len(), 3); // C is a temporary of the function
//! # Ok::<(), te::TeError>(())
//! ```
//!
//! # References
//! T. Chen et al., "TVM: An Automated End-to-End Optimizing Compiler for Deep Learning", OSDI 2018, section 4.1.

mod error;
mod prim_func;
mod reduce;
mod tensor;
#[cfg(test)]
mod tests;

pub use error::TeError;
pub use prim_func::{create_prim_func, create_prim_func_with, is_read, unbound_vars};
pub use reduce::{
    Bound, CommReducer, ReduceAxis, Reduction, comm_reducer, max, min, prod, reduce_axis, sum,
};
pub(crate) use reduce::{highest, lowest};
pub use tensor::{
    Body, Tensor, compute, compute_all, either, extern_, extern_each, placeholder, scalar,
};

use crate::ir::Expr;

/// `then` where the condition holds, else `otherwise`; only one of them is evaluated.
pub fn if_then_else(cond: Expr, then: impl Into<Expr>, otherwise: impl Into<Expr>) -> Expr {
    Expr::if_then_else(cond, then.into(), otherwise.into())
}

/// Whether all conditions hold.
pub fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    let all = conditions.into_iter().reduce(|a, b| a.and(b));
    all.unwrap_or_else(|| Expr::bool(true))
}
