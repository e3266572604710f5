//! Passes over modules and graph functions.
//!
//! A [`Pass`] has a name and takes a module to a module; [`PASSES`] lists them, pipelines pick from it by name, and a
//! [`PassContext`] says which of them run and who watches. What needs more than plain options, as tensors, is a function of its
//! own, as [`bind_params`].

mod add_variants;
mod adjust_matmul_order;
mod alter_op_impl;
mod attach_global_symbol;
mod bind_params;
mod bind_symbolic_vars;
mod bind_target;
mod bodies;
mod bundle_model_params;
mod canonicalize_bindings;
mod catalog;
mod combine_parallel_matmul;
mod composite;
mod compute_prim_value;
mod context;
mod convert_layout;
mod dataflow;
mod dataflow_use_inplace_calls;
mod dead_code_elimination;
mod decompose_attention;
mod decompose_conv_transpose;
mod decompose_ops;
mod early;
mod eliminate_common_subexpr;
mod error;
mod evaluate;
mod expand_matmul_of_sum;
mod expand_tuple_arguments;
mod fold_batchnorm_to_conv2d;
mod fold_constant;
mod fuse_ops;
mod fuse_ops_by_pattern;
mod fuse_reductions;
mod fuse_tir;
mod fuse_transpose_matmul;
mod gradient;
mod groups;
mod inline_private_functions;
mod insert_copies;
mod lambda_lift;
mod lazy_transform_params;
mod legalize_ops;
mod lift_transform_params;
mod memory;
mod merge_composite_functions;
mod normalize;
mod obligations;
mod only_called;
mod op_pattern;
mod optimize_layout_transform;
mod options;
mod pack_bytes;
mod pack_weights;
mod pass;
mod recognize_causal_masks;
mod recognize_ops;
mod remove_purity_checking;
mod remove_redundant_permute_dims;
mod remove_redundant_reshape;
mod remove_unused_functions;
mod remove_unused_outputs;
mod remove_unused_parameters;
mod reorder_permute_dims_after_concat;
mod reorder_take_after_matmul;
mod rewrite_call;
mod rewrite_dataflow_reshape;
mod run_codegen;
mod signature;
mod specialize;
mod split_concat;
mod to_mixed_precision;
mod topological_sort;
mod unbind_params;
mod unify_index_types;
mod unpacked_weights;
mod vdevice;
mod vm_shape_lower;
mod winograd;

pub use alter_op_impl::{OpImpl, alter_op_impl};
pub use bind_params::bind_params;
pub use bind_target::{is_of_host, run_on_host};
pub use catalog::PASSES;
pub use context::{Cx, Instrument, PassContext, PassTiming, Print, Sequential, Verify};
pub use error::PassError;
pub use evaluate::{Evaluate, Evaluated};
pub use fuse_ops_by_pattern::{
    Candidate, Codegen, FuseByPattern, FusionPattern, fuse_ops_by_pattern,
};
pub use gradient::GradientError;
pub use groups::Constants;
pub use legalize_ops::LegalizeOps;
pub use memory::{MemoryPlan, MemoryUsage, PlannedTensor, memory_plan, memory_usage};
pub use options::Options;
pub use pass::{Pass, PassDef, pass, pass_with};
pub use recognize_ops::{Declined, OpSite, Recognition, recognize_ops};
pub use rewrite_call::{Site, rewrite_call};
pub use run_codegen::Codegens;
use signature::{function, not_called};
pub use unbind_params::unbind_params;
pub use vm_shape_lower::shape_funcs;

#[cfg(test)]
pub(in crate::passes) mod tests {
    use super::*;
    use crate::ir::Module;
    use crate::kernel::{GpuTarget, Target};

    /// The module after passes.
    pub(in crate::passes) fn run_passes(module: &Module, names: &[&str]) -> Module {
        let cx = Cx::new(module, &Target::Gpu(GpuTarget::default()));
        names.iter().fold(module.clone(), |module, name| {
            let pass = pass(name).expect("a pass with this name");
            cx.run(&pass, &module).expect("it applies")
        })
    }
}
