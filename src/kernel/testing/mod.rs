//! Kernels by hand, and an evaluator of them, for the tests of passes and code generators.

pub(crate) mod build;
pub(crate) mod eval;
