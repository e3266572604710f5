//! Schedules. A [`Schedule`] rewrites the loops of one `PrimFunc` by primitives with TVM's names and rules.
//!
//! Each primitive has a file of its own and two halves: a `Plan::check` that proves every rule and writes nothing, and an
//! `apply` that cannot fail. A refused primitive has therefore changed nothing. What was accepted is recorded in the
//! [`Trace`], which prints and replays.
//!
//! References: Feng et al., "TensorIR: An Abstraction for Automatic Tensorized Program Optimization" (ASPLOS 2023), sections 3
//! and 4; Chen et al., "TVM" (OSDI 2018), section 4.

mod add_unit_loop;
mod affine;
pub mod analysis;
mod annotate;
mod bind;
mod blockize;
mod body;
mod cache;
mod cache_index;
mod cache_inplace;
mod cache_read;
mod cache_write;
mod compute_at;
mod compute_inline;
mod copy;
mod decompose_padding;
mod decompose_reduction;
mod error;
mod fuse;
mod fuse_reduction_epilogue;
mod index_types;
mod inline;
mod loop_kind;
mod loop_partition;
mod merge;
mod move_block;
mod pad_einsum;
mod parallel;
mod primitives;
mod query;
mod reindex;
mod reindex_cache;
mod reindex_cache_read;
mod reindex_cache_write;
mod render;
mod reorder;
mod reorder_block_iter_var;
mod reverse_compute_at;
mod reverse_compute_inline;
mod rewrite;
mod rfactor;
mod rolling_buffer;
pub mod rules;
mod set_scope;
mod split;
mod step;
mod storage_align;
mod tensorize;
mod trace;
mod trace_text;
mod transform_block_layout;
mod transform_layout;
mod unroll;
mod unsafe_hide_buffer_access;
mod unsafe_set_dtype;
mod vectorize;

pub use crate::arith::iter_map::UnitIters;
pub use error::{
    BlocksReason, BufferReason, EpilogueReason, LayoutReason, LoopReason, PaddingReason, Reason,
    ReductionReason, Refusal, RollingReason, ScheduleError,
};
pub use index_types::{has_mixed_index_types, widen_indices};
pub use move_block::InsertAt;
pub use primitives::{PRIMITIVES, Primitive, primitive};
pub use reindex::BufferAccess;
pub use split::Factor;
pub use step::{StepError, Steps, parse_step};
pub use tensorize::{TensorIntrin, TensorIntrinError, TensorIntrins};
pub use trace::{Arg, ResultKind, Step, StepResults, Trace};
pub use transform_layout::Injectivity;

#[cfg(test)]
mod tests;

use crate::ir::{BlockId, LoopId, Place, PrimFunc, attrs};

/// A loop program and the primitives applied to it.
#[derive(Clone, Debug)]
pub struct Schedule {
    func: PrimFunc,
    trace: Trace,
    intrins: TensorIntrins,
}

impl Schedule {
    /// A schedule of this function, with an empty trace.
    pub fn new(func: PrimFunc) -> Self {
        Self::with_intrins(func, TensorIntrins::default())
    }

    /// The same with tensor intrinsics, which [`tensorize`](Self::tensorize) finds by their names.
    pub fn with_intrins(func: PrimFunc, intrins: TensorIntrins) -> Self {
        Self {
            func,
            trace: Trace::default(),
            intrins,
        }
    }

    /// The function as it is now.
    pub fn func(&self) -> &PrimFunc {
        &self.func
    }

    /// The function, given away.
    pub fn into_func(self) -> PrimFunc {
        self.func
    }

    /// What was done so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The same schedule under the name of another program, which is equal but for names. Buffers and variables keep theirs.
    pub(crate) fn named_as(&self, func: &PrimFunc) -> Self {
        let mut named = self.clone();
        named.func.name.clone_from(&func.name);
        named.func.origin.clone_from(&func.origin);
        named.func.attrs.shift_remove(attrs::VARIANT_OF);
        if let Some(of) = func.attrs.get(attrs::VARIANT_OF) {
            named
                .func
                .attrs
                .insert(attrs::VARIANT_OF.to_owned(), of.clone());
        }
        named
    }

    /// Applies a checked plan and records it. The last half of every primitive: `args` are those of TVM's primitive in
    /// order, with handles as [`Arg::from`] makes them; they are named by earlier results before `apply` can remove them.
    pub(crate) fn record<R: StepResults>(
        &mut self,
        primitive: &'static str,
        args: Vec<Arg>,
        apply: impl FnOnce(&mut PrimFunc) -> R,
    ) -> R {
        let args = self.trace.name_handles(&self.func, args);
        let results = apply(&mut self.func);
        self.trace.push(primitive, args, results.places());
        results
    }
}

/// The loop, or the refusal of a handle that names none.
pub(crate) fn attached_loop(func: &PrimFunc, id: LoopId) -> Result<&crate::ir::Loop, Refusal> {
    let attached = func.tree.parent(id).is_some();
    func.loops
        .get(id)
        .filter(|_| attached)
        .ok_or_else(|| Reason::StaleLoop { loop_id: id }.at([]))
}

/// The block, or the refusal of a handle that names none.
pub(crate) fn attached_block(func: &PrimFunc, id: BlockId) -> Result<&crate::ir::Block, Refusal> {
    let attached = id == func.root || func.tree.parent(Place::Block(id)).is_some();
    func.blocks
        .get(id)
        .filter(|_| attached)
        .ok_or_else(|| Reason::StaleBlock { block: id }.at([]))
}
