//! Arithmetic on [`Expr`](crate::ir::Expr): simplification, bounds, proofs, affine iteration maps, regions.
//!
//! Index arithmetic (`int32`, `int64`) is taken not to overflow and divisors not to be 0, as in TVM; other types are folded only
//! where wrapping allows.

mod analyzer;
mod bound;
mod int_set;
pub mod iter_map;
mod models;
mod modular;
mod prove;
mod regions;
mod simplify;
mod specialize;

pub use analyzer::Analyzer;
pub use bound::IntBound;
pub use int_set::{IntSet, eval_set};
pub use modular::ModularSet;
pub use regions::access_regions;
pub use specialize::specialized;
