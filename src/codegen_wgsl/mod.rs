//! Kernel IR to WGSL text, and through naga to SPIR-V.
//!
//! The text is for readers: named after the loop program, commented with its blocks, register tiles as named variables. Arrays
//! in registers whose every index is a constant become variables of their own (scalar replacement), because drivers unroll
//! badly and spill arrays that a loop variable indexes.
//!
//! # Conventions of a launch
//! Bindings: the global arrays of the kernel, in order, are bindings 0, 1, … of group 0. Scalars: those of the kernel in
//! order, four bytes each, as immediates where they fit, else in a uniform buffer behind the arrays. A launch whose grid may
//! exceed the limit of one dimension is *folded*: the host dispatches [`folded_grid`](crate::kernel::folded_grid) and passes the three extents of the true
//! grid behind the kernel's scalars; the shader finds its place from the linear workgroup number.

mod constant;
mod emit;
mod error;
mod expr;
mod form;
mod fragment;
mod grid;
mod helper;
mod index;
mod intrin;
mod memory;
mod min_max;
mod names;
mod spirv;
mod stmt;
mod text;
mod wide;

#[cfg(test)]
mod tests;

pub use emit::{emit, emit_with_lines};
pub use error::WgslError;
pub use grid::needs_folding;
pub use spirv::{spirv, validate};
