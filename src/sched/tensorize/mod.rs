//! `tensorize`: a block that computes what a tensor intrinsic describes is written as its implementation.
//!
//! ```text
//! with T.block("C_o"):                         with T.block("C_o"):
//!     vi_o, vj_o, vk_o = …                         vi_o, vj_o, vk_o = …
//!     T.reads(C[vi_o * 4:vi_o * 4 + 4, …], …)      T.reads(C[vi_o * 4:vi_o * 4 + 4, …], …)
//!     T.writes(C[vi_o * 4:vi_o * 4 + 4, …])        T.writes(C[vi_o * 4:vi_o * 4 + 4, …])
//!     for i, j, k in T.grid(4, 4, 4):              c = T.match_buffer(C[vi_o * 4:vi_o * 4 + 4, …], (4, 4))
//!         with T.block("C"):                       …
//!             …                                    the implementation, on c, a and b
//! ```
//!
//! Requires: a block, or a loop of which [`blockize`](Schedule::blockize) makes one, whose body is that of the description with its
//! buffers at the first element of the regions that the block uses, up to names and to simplification of indices. Meaning is kept:
//! the implementation computes what the description says.

mod intrin;
mod pattern;
mod wmma;

pub use self::intrin::{TensorIntrin, TensorIntrinError, TensorIntrins};
pub(in crate::sched) use self::wmma::ProductIntrins;

use super::blockize;
use super::body::remove_place;
use super::error::BlocksReason;
use super::{Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::iter_map::UnitIters;
use crate::ir::{
    BlockId, Buffer, BufferRegion, Definitions, Expr, MatchBuffer, Place, PrimFunc, Range, Rewrite,
    Substitution,
};

impl Schedule {
    /// Writes a block, or the block that `blockize` makes of a loop, as the implementation of a tensor intrinsic.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, or there is no such intrinsic.
    pub fn tensorize(
        &mut self,
        target: impl Into<Place>,
        intrin: &str,
        units: UnitIters,
    ) -> Result<(), ScheduleError> {
        let target = target.into();
        let found = self.intrins.get(intrin).ok_or_else(|| {
            let name = intrin.to_owned();
            BlocksReason::UnknownIntrin { name }.at([target])
        });
        let after = found.and_then(|intrin| tensorized(&self.func, target, intrin, units));
        let after = after.map_err(|refusal| refusal.of("tensorize"))?;
        let args = vec![target.into(), intrin.into(), units.into()];
        self.record("tensorize", args, |func| *func = after);
        Ok(())
    }
}

/// The function with the implementation in place of the block's body.
fn tensorized(
    func: &PrimFunc,
    target: Place,
    intrin: &TensorIntrin,
    units: UnitIters,
) -> Result<PrimFunc, Refusal> {
    let mut after = func.clone();
    let block = match target {
        Place::Loop(id) => blockize::Plan::check(func, id, units)?.apply(&mut after),
        Place::Block(id) => {
            attached_block(func, id)?;
            id
        }
    };
    let regions = pattern::regions(&after, block, intrin).map_err(|difference| {
        let reason = BlocksReason::IntrinMismatch {
            block: after.blocks[block].name.clone(),
            intrin: intrin.name().to_owned(),
            difference,
        };
        // The block of a loop is not there if the primitive is refused.
        reason.at([target])
    })?;
    put_in(&mut after, block, &intrin.implementation, &regions);
    Ok(after)
}

/// Puts the implementation into the block, on views of these regions.
fn put_in(
    func: &mut PrimFunc,
    block: BlockId,
    implementation: &PrimFunc,
    regions: &[BufferRegion],
) {
    for place in func.tree.children(block) {
        remove_place(func, place, None);
    }
    func.tree.take_body(block);
    let mut fresh = Substitution::new(Definitions::Fresh);
    let mut views = Vec::new();
    for (param, source) in implementation.buffer_params().zip(regions) {
        for var in vars_of(param) {
            fresh.define(&var);
        }
        let buffer = fresh.define_buffer(param);
        let source = source.clone();
        views.push(MatchBuffer { buffer, source });
    }
    func.import(implementation, block, &mut fresh);
    func.blocks[block].match_buffers.extend(views);
}

/// The variables that only the buffer names: strides, an offset.
fn vars_of(buffer: &Buffer) -> Vec<crate::ir::Var> {
    let node = buffer.node();
    let exprs = node.strides.iter().chain(&node.elem_offset);
    exprs.flat_map(Expr::free_vars).collect()
}

/// The region that a buffer of the intrinsic stands for, which starts at these indices of another buffer.
fn region_at(buffer: &Buffer, first: &[Expr], tile: &Buffer) -> BufferRegion {
    let outer = first.len() - tile.ndim();
    let range = |(at, min): (usize, &Expr)| match at.checked_sub(outer) {
        None => Range::point(min.clone()),
        Some(dim) => Range {
            min: min.clone(),
            extent: tile.shape()[dim].cast(min.dtype()),
        },
    };
    BufferRegion {
        buffer: buffer.clone(),
        region: first.iter().enumerate().map(range).collect(),
    }
}
