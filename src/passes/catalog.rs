//! The list of passes.

use super::add_variants::add_variants;
use super::adjust_matmul_order::adjust_matmul_order;
use super::attach_global_symbol::attach_global_symbol;
use super::bind_symbolic_vars::{bind_symbolic_vars, binding};
use super::bind_target::bind_target;
use super::bundle_model_params::bundle_model_params;
use super::canonicalize_bindings::canonicalize_bindings;
use super::combine_parallel_matmul::combine_parallel_matmul;
use super::compute_prim_value::compute_prim_value;
use super::convert_layout::convert_layout;
use super::dataflow::{convert_to_dataflow, to_non_dataflow};
use super::dataflow_use_inplace_calls::dataflow_use_inplace_calls;
use super::dead_code_elimination::dead_code_elimination;
use super::decompose_attention::decompose_attention;
use super::decompose_conv_transpose::decompose_conv_transpose;
use super::decompose_ops::{
    decompose_batch_norm, decompose_ops_for_inference, decompose_ops_for_training,
};
use super::eliminate_common_subexpr::{Compared, eliminate_common_subexpr};
use super::expand_matmul_of_sum::expand_matmul_of_sum;
use super::expand_tuple_arguments::expand_tuple_arguments;
use super::fold_batchnorm_to_conv2d::{Reach, fold_batchnorm_to_conv2d};
use super::fold_constant::fold_constant;
use super::fuse_ops::{Limits, fuse_ops};
use super::fuse_reductions::fuse_reductions;
use super::fuse_tir::fuse_tir;
use super::fuse_transpose_matmul::fuse_transpose_matmul;
use super::gradient::{self, gradient};
use super::inline_private_functions::inline_private_functions;
use super::insert_copies::insert_copies;
use super::lambda_lift::lambda_lift;
use super::lazy_transform_params::{lazy_get_input, lazy_set_output};
use super::legalize_ops::LegalizeOps;
use super::lift_transform_params::{Shared, lift_transform_params};
use super::memory::{
    call_tir_rewrite, kill_after_last_use, lower_alloc_tensor, static_plan_block_memory,
};
use super::merge_composite_functions::merge_composite_functions;
use super::normalize::normalize;
use super::op_pattern::annotate_tir_op_pattern;
use super::optimize_layout_transform::optimize_layout_transform;
use super::pack_bytes::pack_bytes;
use super::pack_weights::{Weights, pack_weights};
use super::recognize_causal_masks::recognize_causal_masks;
use super::recognize_ops::recognize_ops;
use super::remove_purity_checking::remove_purity_checking;
use super::remove_redundant_permute_dims::remove_redundant_permute_dims;
use super::remove_redundant_reshape::remove_redundant_reshape;
use super::remove_unused_outputs::remove_unused_outputs;
use super::remove_unused_parameters::remove_unused_parameters;
use super::reorder_permute_dims_after_concat::reorder_permute_dims_after_concat;
use super::reorder_take_after_matmul::reorder_take_after_matmul;
use super::rewrite_dataflow_reshape::{Views, rewrite_dataflow_reshape};
use super::specialize::specialize;
use super::split_concat::split_concat;
use super::to_mixed_precision::to_mixed_precision;
use super::topological_sort::{Order, Start, topological_sort};
use super::unify_index_types::unify_index_types;
use super::vdevice::{realize_vdevice, update_vdevice};
use super::vm_shape_lower::{Contexts, vm_shape_lower};
use super::winograd::{When, winograd_conv2d};
use super::{Options, PassDef};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec};
use crate::ir::{AttrValue, VDevice};
use crate::kernel::Target;
use crate::tensor::DType;

/// The function that a pass works on; all, if it is empty.
const FUNC_NAME: &[AttrSpec] = &[AttrSpec {
    name: "func_name",
    kind: AttrKind::Str(&[]),
    default: AttrDefault::None,
}];

/// Whether parameters after `num_input` are weights, beside constants.
const PARAMETER: AttrSpec = AttrSpec {
    name: "parameters",
    kind: AttrKind::Bool,
    default: AttrDefault::Bool(false),
};

const PARAMETERS: &[AttrSpec] = &[PARAMETER];

fn weights(options: &Options) -> Weights {
    if options.bool("parameters") {
        Weights::Parameters
    } else {
        Weights::Constants
    }
}

/// All passes that a name and plain options describe, by name. Those that take functions or tensors are functions of this room.
pub const PASSES: &[PassDef] = &[
    PassDef {
        name: "add_variants",
        about: "beside a loop program of open sizes stand others for sizes for which default rules make a faster schedule",
        opt_level: 2,
        options: &[],
        run: |module, cx, _| Ok(add_variants(module, &cx.target)),
    },
    PassDef {
        name: "adjust_matmul_order",
        about: "of a product of three matrices the cheaper half is computed first",
        opt_level: 1,
        options: &[],
        run: |module, _, _| adjust_matmul_order(module),
    },
    PassDef {
        name: "annotate_tir_op_pattern",
        about: "says of each loop program how it reads what it computes from",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(annotate_tir_op_pattern(module)),
    },
    PassDef {
        name: "attach_global_symbol",
        about: "others may call every function",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(attach_global_symbol(module)),
    },
    PassDef {
        name: "bind_symbolic_vars",
        about: "symbolic dimensions get values",
        opt_level: 1,
        options: &[
            AttrSpec {
                name: "binding",
                kind: AttrKind::Any,
                default: AttrDefault::Required,
            },
            AttrSpec {
                name: "func_name",
                kind: AttrKind::Str(&[]),
                default: AttrDefault::None,
            },
        ],
        run: |module, _, options| {
            let func = options.get("func_name").and_then(AttrValue::as_str);
            let binding = binding(options.get("binding"))?;
            bind_symbolic_vars(module, &binding, func)
        },
    },
    PassDef {
        name: "bind_target",
        about: "loop programs are of the device that calls of them are on",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| Ok(bind_target(module, &cx.target)),
    },
    PassDef {
        name: "bundle_model_params",
        about: "the weights of a function become one tuple",
        opt_level: 1,
        options: &[AttrSpec {
            name: "param_tuple_name",
            kind: AttrKind::Str(&[]),
            default: AttrDefault::Str("model_params"),
        }],
        run: |module, _, options| {
            let name = options.get("param_tuple_name").and_then(AttrValue::as_str);
            bundle_model_params(module, name.unwrap_or("model_params"))
        },
    },
    PassDef {
        name: "call_tir_rewrite",
        about: "memory for what calls give is allocated before them",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| call_tir_rewrite(module, &cx.target),
    },
    PassDef {
        name: "canonicalize_bindings",
        about: "other names for values and checks that cannot fail go; dataflow blocks output what is used outside",
        opt_level: 1,
        options: &[],
        run: |module, _, _| canonicalize_bindings(module),
    },
    PassDef {
        name: "combine_parallel_matmul",
        about: "products of one matrix with several others become one product",
        opt_level: 0,
        options: &[],
        run: |module, _, _| combine_parallel_matmul(module),
    },
    PassDef {
        name: "compute_prim_value",
        about: "scalars that take arithmetic are computed by programs",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(compute_prim_value(module)),
    },
    PassDef {
        name: "convert_layout",
        about: "operators with layouts in their attributes get the layouts that are wanted",
        opt_level: 0,
        options: &[AttrSpec {
            name: "desired_layouts",
            kind: AttrKind::Any,
            default: AttrDefault::Required,
        }],
        run: |module, _, options| convert_layout(module, options),
    },
    PassDef {
        name: "convert_to_dataflow",
        about: "runs of bindings without branches and side effects become dataflow blocks",
        opt_level: 0,
        options: &[AttrSpec {
            name: "min_size",
            kind: AttrKind::Int,
            default: AttrDefault::Int(2),
        }],
        run: |module, _, options| {
            let min_size = options.int("min_size").map_or(2, |n| n.max(0) as usize);
            convert_to_dataflow(module, min_size)
        },
    },
    PassDef {
        name: "dataflow_use_inplace_calls",
        about: "elementwise programs overwrite what nobody needs any more",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| dataflow_use_inplace_calls(module, cx.threads()),
    },
    PassDef {
        name: "dead_code_elimination",
        about: "drops bindings that nothing uses and functions that nothing reaches",
        opt_level: 1,
        options: &[AttrSpec {
            name: "entry_functions",
            kind: AttrKind::Any,
            default: AttrDefault::None,
        }],
        run: |module, cx, options| {
            let mut entries = cx.entries_of(module);
            entries.extend(
                options
                    .texts("entry_functions")
                    .into_iter()
                    .map(str::to_owned),
            );
            Ok(dead_code_elimination(module, &entries))
        },
    },
    PassDef {
        name: "decompose_attention",
        about: "attention becomes two products with a softmax between them, for a GPU",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| match cx.target {
            Target::Gpu(_) => decompose_attention(module, cx.threads()),
            Target::Cpu(_) => Ok(module.clone()),
        },
    },
    PassDef {
        name: "decompose_conv_transpose",
        about: "a transposed convolution with strides becomes a convolution whose channels are the elements between two strides",
        opt_level: 0,
        options: &[],
        run: |module, _, _| decompose_conv_transpose(module),
    },
    PassDef {
        name: "decompose_ops_for_inference",
        about: "operators that are made of others become those, as they are where nothing is learnt",
        opt_level: 0,
        options: FUNC_NAME,
        run: |module, _, options| decompose_ops_for_inference(module, options.text("func_name")),
    },
    PassDef {
        name: "decompose_ops_for_training",
        about: "operators that are made of others become those, as they are where something is learnt",
        opt_level: 0,
        options: FUNC_NAME,
        run: |module, _, options| decompose_ops_for_training(module, options.text("func_name")),
    },
    PassDef {
        name: "eliminate_common_subexpr",
        about: "what is computed twice is computed once",
        opt_level: 1,
        options: &[AttrSpec {
            name: "call_only",
            kind: AttrKind::Bool,
            default: AttrDefault::Bool(false),
        }],
        run: |module, _, options| {
            let compared = if options.bool("call_only") {
                Compared::Calls
            } else {
                Compared::All
            };
            Ok(eliminate_common_subexpr(module, compared))
        },
    },
    PassDef {
        name: "expand_matmul_of_sum",
        about: "a product with a sum becomes a sum of products",
        opt_level: 1,
        options: &[],
        run: |module, _, _| expand_matmul_of_sum(module),
    },
    PassDef {
        name: "expand_tuple_arguments",
        about: "private functions take the elements of tuples",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| expand_tuple_arguments(module, &cx.entries_of(module)),
    },
    PassDef {
        name: "fold_batchnorm_to_conv2d",
        about: "batch normalisations after convolutions go into their weights",
        opt_level: 0,
        options: &[],
        run: |module, _, _| fold_batchnorm_to_conv2d(module, Weights::Constants, Reach::Relax),
    },
    PassDef {
        name: "fold_constant",
        about: "what depends on constants only is computed at compile time",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| fold_constant(module, cx),
    },
    PassDef {
        name: "fuse_ops",
        about: "calls of loop programs that are computed together become functions",
        opt_level: 0,
        options: &[AttrSpec {
            name: "fuse_opt_level",
            kind: AttrKind::Int,
            default: AttrDefault::Int(-1),
        }],
        run: |module, cx, options| {
            let level = match options.int("fuse_opt_level") {
                Some(level) if level >= 0 => level,
                _ => cx.context.opt_level.into(),
            };
            Ok(fuse_ops(module, level, Limits::on(cx), &cx.target))
        },
    },
    PassDef {
        name: "fuse_reductions",
        about: "reductions over rows and what is computed with their results become functions",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(fuse_reductions(module)),
    },
    PassDef {
        name: "fuse_tir",
        about: "functions that are computed as a whole become loop programs",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| fuse_tir(module, &cx.entries_of(module)),
    },
    PassDef {
        name: "fuse_transpose_matmul",
        about: "products of few rows read a matrix as it lies, instead of a transpose of it",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| Ok(fuse_transpose_matmul(module, cx)),
    },
    PassDef {
        name: "gradient",
        about: "a function more gives the derivatives of the result of a function by its parameters",
        opt_level: 0,
        options: &[
            AttrSpec {
                name: "func_name",
                kind: AttrKind::Str(&[]),
                default: AttrDefault::Required,
            },
            AttrSpec {
                name: "require_grads",
                kind: AttrKind::Any,
                default: AttrDefault::None,
            },
            AttrSpec {
                name: "target_index",
                kind: AttrKind::Int,
                default: AttrDefault::Int(0),
            },
        ],
        run: |module, _, options| gradient(module, &gradient::Target::of(options)),
    },
    PassDef {
        name: "inline_private_functions",
        about: "calls of functions that only the module calls become what these compute",
        opt_level: 0,
        options: &[],
        run: |module, _, _| inline_private_functions(module),
    },
    PassDef {
        name: "insert_copies",
        about: "tensors are copied to where they are used",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| Ok(insert_copies(module, &cx.target)),
    },
    PassDef {
        name: "kill_after_last_use",
        about: "the life of a value ends after its last use",
        opt_level: 0,
        options: &[],
        run: |module, _, _| kill_after_last_use(module),
    },
    PassDef {
        name: "lambda_lift",
        about: "functions inside of functions become functions of the module",
        opt_level: 1,
        options: &[],
        run: |module, _, _| Ok(lambda_lift(module)),
    },
    PassDef {
        name: "lazy_get_input",
        about: "weights are fetched when they are needed",
        opt_level: 0,
        options: &[],
        run: |module, _, _| lazy_get_input(module),
    },
    PassDef {
        name: "lazy_set_output",
        about: "results are handed on when they are there",
        opt_level: 0,
        options: &[],
        run: |module, _, _| lazy_set_output(module),
    },
    PassDef {
        name: "legalize_ops",
        about: "calls of operators become calls of loop programs",
        opt_level: 0,
        options: &[
            AttrSpec {
                name: "enable_warning",
                kind: AttrKind::Bool,
                default: AttrDefault::Bool(false),
            },
            AttrSpec {
                name: "skip_ops",
                kind: AttrKind::Any,
                default: AttrDefault::None,
            },
        ],
        run: |module, cx, options| {
            let mut legalize = LegalizeOps::default();
            if options.bool("enable_warning") {
                legalize = legalize.enable_warning();
            }
            for op in options.texts("skip_ops") {
                legalize = legalize.skip(op)?;
            }
            legalize.run(module, cx.threads())
        },
    },
    PassDef {
        name: "lift_transform_params",
        about: "what weights alone decide is computed once, by a function of its own",
        opt_level: 1,
        options: &[AttrSpec {
            name: "shared_transform",
            kind: AttrKind::Any,
            default: AttrDefault::None,
        }],
        run: |module, _, options| {
            let shared = Shared::of(options.get("shared_transform"))?;
            lift_transform_params(module, &shared)
        },
    },
    PassDef {
        name: "lower_alloc_tensor",
        about: "tensors without planned memory get memory of their own",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(lower_alloc_tensor(module)),
    },
    PassDef {
        name: "merge_composite_functions",
        about: "composite functions for one code generator that use each other become one",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| merge_composite_functions(module, &cx.entries_of(module)),
    },
    PassDef {
        name: "normalize",
        about: "blocks of one kind that stand next to each other become one",
        opt_level: 1,
        options: &[],
        run: |module, _, _| Ok(normalize(module)),
    },
    PassDef {
        name: "optimize_layout_transform",
        about: "changes of layout that undo each other go",
        opt_level: 0,
        options: &[],
        run: |module, _, _| optimize_layout_transform(module),
    },
    PassDef {
        name: "pack_bytes",
        about: "products of 8-bit integers take four bytes a word, on the CPU",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| pack_bytes(module, cx),
    },
    PassDef {
        name: "pack_weights",
        about: "weights are rewritten once to the layouts that schedules want",
        opt_level: 0,
        options: PARAMETERS,
        run: |module, cx, options| pack_weights(module, cx, weights(options)),
    },
    PassDef {
        name: "realize_vdevice",
        about: "tensors say on which device they are, and copies take them there",
        opt_level: 0,
        options: &[],
        run: |module, _, _| realize_vdevice(module),
    },
    PassDef {
        name: "recognize_causal_masks",
        about: "biases of attention that hide what comes later become causal masks, for a CPU",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| match cx.target {
            Target::Gpu(_) => Ok(module.clone()),
            Target::Cpu(_) => recognize_causal_masks(module),
        },
    },
    PassDef {
        name: "recognize_ops",
        about: "operators that are written in primitives become calls of the operators",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(recognize_ops(module).module),
    },
    PassDef {
        name: "remove_purity_checking",
        about: "calls need not be marked as pure any more",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(remove_purity_checking(module)),
    },
    PassDef {
        name: "remove_redundant_permute_dims",
        about: "of transposes one after the other one is left, or none",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(remove_redundant_permute_dims(module)),
    },
    PassDef {
        name: "remove_redundant_reshape",
        about: "of reshapes one after the other the last one is left, or none",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(remove_redundant_reshape(module)),
    },
    PassDef {
        name: "remove_unused_outputs",
        about: "private functions give only what somebody uses",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| remove_unused_outputs(module, &cx.entries_of(module)),
    },
    PassDef {
        name: "remove_unused_parameters",
        about: "private functions take only what they use",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(remove_unused_parameters(module)),
    },
    PassDef {
        name: "reorder_permute_dims_after_concat",
        about: "tensors are joined before their dimensions are permuted",
        opt_level: 1,
        options: &[],
        run: |module, _, _| reorder_permute_dims_after_concat(module),
    },
    PassDef {
        name: "reorder_take_after_matmul",
        about: "products are computed before their columns are taken",
        opt_level: 1,
        options: &[],
        run: |module, _, _| reorder_take_after_matmul(module),
    },
    PassDef {
        name: "rewrite_dataflow_reshape",
        about: "calls of loop programs in dataflow blocks that only reshape become views",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(rewrite_dataflow_reshape(module, Views::InDataflow)),
    },
    PassDef {
        name: "rewrite_reshape",
        about: "calls of loop programs that only reshape become views, results of functions too",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(rewrite_dataflow_reshape(module, Views::Everywhere)),
    },
    PassDef {
        name: "simplify_batchnorm",
        about: "batch normalisations with running statistics go into convolutions, or become arithmetic",
        opt_level: 0,
        options: PARAMETERS,
        run: |module, _, options| {
            let folded = fold_batchnorm_to_conv2d(module, weights(options), Reach::All)?;
            decompose_batch_norm(&folded)
        },
    },
    PassDef {
        name: "specialize",
        about: "loop programs that are called with constant sizes get copies for these sizes",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(specialize(module)),
    },
    PassDef {
        name: "split_concat",
        about: "concatenations of more tensors than a kernel of a GPU can bind become several",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| match &cx.target {
            Target::Gpu(gpu) => split_concat(module, gpu),
            Target::Cpu(_) => Ok(module.clone()),
        },
    },
    PassDef {
        name: "static_plan_block_memory",
        about: "tensors that are not needed together share memory",
        opt_level: 0,
        options: &[],
        run: |module, cx, _| static_plan_block_memory(module, &cx.target),
    },
    PassDef {
        name: "to_mixed_precision",
        about: "products of float32 are computed in float16, and what follows them as far as it may",
        opt_level: 0,
        options: &[
            AttrSpec {
                name: "out_dtype",
                kind: AttrKind::DType,
                default: AttrDefault::Str("float32"),
            },
            AttrSpec {
                name: "fp16_input_names",
                kind: AttrKind::Any,
                default: AttrDefault::None,
            },
        ],
        run: |module, _, options| {
            let out = options.dtype("out_dtype").unwrap_or(DType::F32);
            Ok(to_mixed_precision(
                module,
                out,
                &options.texts("fp16_input_names"),
            ))
        },
    },
    PassDef {
        name: "to_non_dataflow",
        about: "dataflow blocks become plain ones",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(to_non_dataflow(module)),
    },
    PassDef {
        name: "topological_sort",
        about: "bindings of dataflow blocks get another order",
        opt_level: 0,
        options: &[
            AttrSpec {
                name: "order",
                kind: AttrKind::Str(&["depth-first", "breadth-first"]),
                default: AttrDefault::Str("depth-first"),
            },
            AttrSpec {
                name: "direction",
                kind: AttrKind::Str(&["from-inputs", "from-outputs"]),
                default: AttrDefault::Str("from-inputs"),
            },
        ],
        run: |module, _, options| {
            let order = match options.text("order") {
                "breadth-first" => Order::BreadthFirst,
                _ => Order::DepthFirst,
            };
            let start = match options.text("direction") {
                "from-outputs" => Start::Outputs,
                _ => Start::Inputs,
            };
            Ok(topological_sort(module, order, start))
        },
    },
    PassDef {
        name: "unify_index_types",
        about: "loops of `int32` beside loops of `int64` become loops of `int64`",
        opt_level: 0,
        options: &[],
        run: |module, _, _| Ok(unify_index_types(module)),
    },
    PassDef {
        name: "update_vdevice",
        about: "a device of the module becomes another one",
        opt_level: 0,
        options: &[
            AttrSpec {
                name: "new_vdevice",
                kind: AttrKind::VDevice,
                default: AttrDefault::Required,
            },
            AttrSpec {
                name: "index",
                kind: AttrKind::Int,
                default: AttrDefault::Int(0),
            },
        ],
        run: |module, _, options| {
            let new = options.get("new_vdevice").and_then(AttrValue::as_str);
            let index = options.get("index").and_then(AttrValue::as_int);
            let new = new.and_then(VDevice::parse).expect("options are complete");
            update_vdevice(module, &new, index.expect("options are complete"))
        },
    },
    PassDef {
        name: "vm_shape_lower",
        about: "checks of values and arithmetic on symbolic dimensions are calls",
        opt_level: 0,
        options: &[AttrSpec {
            name: "emit_err_ctx",
            kind: AttrKind::Bool,
            default: AttrDefault::Bool(true),
        }],
        run: |module, _, options| {
            let contexts = if options.bool("emit_err_ctx") {
                Contexts::Written
            } else {
                Contexts::Empty
            };
            vm_shape_lower(module, contexts)
        },
    },
    PassDef {
        name: "winograd_conv2d",
        about: "convolutions by 3 x 3 weights take down to a quarter of the multiplications where that is faster",
        opt_level: 0,
        options: &[
            PARAMETER,
            AttrSpec {
                name: "always",
                kind: AttrKind::Bool,
                default: AttrDefault::Bool(false),
            },
        ],
        run: |module, cx, options| {
            let when = if options.bool("always") {
                When::Always
            } else {
                When::Faster
            };
            winograd_conv2d(module, cx, weights(options), when)
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_stand_in_the_order_of_their_names() {
        assert!(PASSES.is_sorted_by(|a, b| a.name < b.name));
    }
}
