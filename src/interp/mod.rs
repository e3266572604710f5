//! The interpreter of modules and loop programs: slow and obvious, the oracle of all tests.
//!
//! Loops of every kind run one iteration after the other, in order. That is a meaning that any legal schedule keeps: where two
//! loops are bound to one thread axis, the inner one runs in full for each iteration of the outer one, as a cooperative copy
//! into shared memory does. Only threads that use shared memory run otherwise: together, statement by statement
//! (`workgroup`). Reads of elements never written, indices out of range and unequal shapes are errors, not values.

mod calls;
mod compare;
mod error;
mod eval;
mod fragment;
mod matching;
mod memory;
mod module;
mod op;
mod placed;
mod prim_func;
mod shape_heap;
mod view;
mod workgroup;

pub use compare::{Mismatch, same_results};
pub use error::InterpError;
pub use module::{Packed, Value, run_module};
pub use placed::{Placed, Storage};
pub use prim_func::{call_prim_func, run_prim_func, run_prim_func_with};

#[cfg(test)]
mod tests;
