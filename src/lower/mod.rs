//! A scheduled `PrimFunc` becomes kernel IR.
//!
//! `passes` has the list of passes, and what they work on is a `Lowering`. First it is a function: loops that a `break` ends run in
//! order (`launch_breaks`); it and its threads return at their ends alone (`thread_returns`, `returns`); its parameters become dense
//! (`layout`); the memory of each buffer is chosen (`storage`). Then each root-level nest loses its blocks (`nest`), with reductions
//! over threads written out (`thread_reduce`) and tiles allowed to run past the end where nobody can see it (`speculate`); arrays of
//! threads and workgroups shrink to what is touched (`compact`); where threads are iterations of a loop, that loop is split wherever
//! they meet (`thread_loops`), loops end with what they do (`trim`), and threads that would meet in device memory are refused
//! (`cross_thread`). Then kernels are emitted with flat indices (`emit`), loops split where a condition holds for all but the last
//! iterations (`partition`). For a GPU, loads are made before loops (`hoist`), common subexpressions named (`common_subexpr`), loops
//! kept within what the device allows (`loop_passes`, `relaunch`) and its driver compiles soon (`hidden_extents`), and barriers put in
//! (`barrier`). For the CPU, elements that loops accumulate in become local arrays (`promote`), and marked loops that are
//! no reductions run in order (`simd_reductions`). On the GPU each root-level nest is one
//! kernel; on the CPU neighbouring serial nests share one.
//!
//! Indices are `i32` on the GPU and `i64` on the CPU; where a symbolic buffer could outgrow `i32`, a
//! [`Requirement`](crate::kernel::Requirement) says so and is checked at launch. Dims may be 0: a loop that runs has iterations, so
//! inside it its extent is at least 1, and a launch without workgroups does not take place.

mod barrier;
mod common_subexpr;
mod compact;
mod cost;
mod cross_thread;
mod emit;
mod empty_sum;
mod error;
mod facts;
mod fragment;
mod hidden_extents;
mod hoist;
mod host;
mod jumps;
mod kernels;
mod lanes;
mod launch_breaks;
mod layout;
mod loop_passes;
mod lowering;
mod narrow;
mod nest;
mod nested_axis;
mod nests;
mod node;
mod part_tile;
mod partition;
mod passes;
mod prefetch;
mod print;
mod promote;
mod ranges;
mod relaunch;
mod requirements;
mod returns;
mod scalar_params;
mod signature;
mod simd_reductions;
mod speculate;
mod storage;
mod tail;
mod thread_loops;
mod thread_reduce;
mod thread_returns;
mod trim;
mod view;
mod widen;
mod wrapping_sum;
mod write_out;

#[cfg(test)]
mod tests;

use std::fmt::Display;

pub(crate) use error::wide_type_advice;
pub use error::{LowerError, LowerProblem};

use crate::ir::PrimFunc;
use crate::kernel::{LoweredFunc, Target};
use crate::tensor::ScalarType;
use lowering::Lowering;

/// How often a kernel may be launched whose loops are too long for the device, if their lengths are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launches {
    /// Once: loops that are too long are refused.
    One,
    /// As often as it takes.
    Many,
}

/// Makes kernels of a scheduled function, each launched as often as it takes.
///
/// # Errors
/// What no kernel can say, or the target does not have: see [`LowerProblem`].
pub fn lower(func: &PrimFunc, target: &Target) -> Result<LoweredFunc, LowerError> {
    lower_with(func, target, Launches::Many)
}

/// Makes kernels of a scheduled function.
///
/// # Errors
/// Those of [`lower`], and [`LowerProblem::LongLoops`] if a kernel had to be launched more often.
pub fn lower_with(
    func: &PrimFunc,
    target: &Target,
    launches: Launches,
) -> Result<LoweredFunc, LowerError> {
    lower_seen(func, target, launches, &mut |_, _| {})
}

/// The same; `see` gets the name of each pass that ran and, to be printed, what it made.
///
/// # Errors
/// Those of [`lower_with`].
pub fn lower_seen(
    func: &PrimFunc,
    target: &Target,
    launches: Launches,
    see: &mut dyn FnMut(&'static str, &dyn Display),
) -> Result<LoweredFunc, LowerError> {
    let mut lower = || {
        check_tiles(func)?;
        check_buffers(func)?;
        let mut lowering = Lowering::new(func, target, launches);
        passes::run(&mut lowering, &mut |name, lowering| see(name, lowering))?;
        lowering.finish()
    };
    lower().map_err(|error: LowerError| error.of(func))
}

/// Blocks that stand for tiles have no loops.
fn check_tiles(func: &PrimFunc) -> Result<(), LowerError> {
    match func.first_tiled() {
        Some(tiled) => Err(LowerProblem::Tiled(tiled).into()),
        None => Ok(()),
    }
}

/// No target computes with elements of at most eight bits.
fn check_buffers(func: &PrimFunc) -> Result<(), LowerError> {
    for buffer in func.buffer_params().chain(func.allocated()) {
        if let ScalarType::Small(_) = buffer.dtype().scalar {
            return Err(LowerProblem::DType {
                what: buffer.name().to_owned(),
                dtype: buffer.dtype(),
            }
            .into());
        }
    }
    Ok(())
}
