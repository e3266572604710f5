//! A kernel as WGSL: what the code generator writes, artifacts store and the runtime dispatches.

use serde::{Deserialize, Serialize};

/// How the scalars of a kernel reach its shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ScalarPassing {
    /// There are none.
    None,
    /// As immediates (push constants).
    Immediates,
    /// In a uniform buffer at this binding of group 0.
    Uniform {
        /// The binding.
        binding: u32,
    },
}

/// A compute shader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shader {
    /// The WGSL text.
    pub text: String,
    /// Name of the entry point.
    pub entry: String,
    /// How it takes its scalars, four bytes each: those of the kernel in order, as `i32`, `u32` or `f32` after the type of
    /// their variables; then, if it is folded, the three extents of the true grid, as `u32`.
    pub passing: ScalarPassing,
    /// Whether it must be dispatched with [`folded_grid`](super::folded_grid).
    pub folded: bool,
}
