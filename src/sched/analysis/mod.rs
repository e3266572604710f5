//! Facts about blocks and scopes that the primitives' rules ask for, with TVM's definitions.
//!
//! - [`BlockScope`]: which child blocks of a scope depend on which, and why.
//! - [`complete_block_violation`], [`reduction_block_violation`]: the two kinds of blocks that primitives may move.
//! - [`check_stage_pipeline`]: whether every block of a scope reads only what blocks before it wrote.
//! - [`check_compact_dataflow`]: whether the blocks under a loop only depend on each other in ways that iterations may be
//!   reordered.
//! - [`check_independent_iterations`], [`check_inputs_outlive`], [`overwriter`]: whether iterations of a loop use or overwrite what others
//!   compute.
//! - [`check_only_blocks`]: whether anything stands outside of blocks, where no primitive looks.
//!
//! References: Feng et al., "TensorIR: An Abstraction for Automatic Tensorized Program Optimization" (ASPLOS 2023), section 3.

mod block_kind;
mod independence;
mod outside;
mod path;
mod scope;
mod stage_pipeline;

pub use block_kind::{
    check_compact_dataflow, check_complete_block, check_complete_or_reduction_block,
    check_not_output_block, check_reduction_block, complete_block_violation, has_affine_bindings,
    is_complete_block, is_output_block, is_reduction_block, reduction_block_violation,
    runs_in_any_order,
};
pub use independence::{
    check_independent_iterations, check_inputs_outlive, drives_reduction, is_apart, overwriter,
    writes_elements_apart,
};
pub use outside::check_only_blocks;
pub use path::{facts_at, facts_inside, is_private, loops_between, relaxed_domains, share_a_loop};
pub use scope::{BlockScope, Dependency, DependencyKind, accessing_blocks};
pub use stage_pipeline::{check_stage_pipeline, follows_from_domains, region_bound, writes_wholly};

#[cfg(test)]
mod tests;
