//! Operators that have a text and no meaning here yet: their operands and attributes are known, their result is not.

use super::def::{OpDef, attr, operand, optional, tensor};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OperandKind};

/// An attribute that is kept as it is written.
const fn any(name: &'static str) -> AttrSpec {
    attr(name, AttrKind::Any, AttrDefault::None)
}

pub(super) const OPS: &[OpDef] = &[
    OpDef::new("arange", "")
        .operands(&[
            operand("start", OperandKind::Scalar),
            operand("end", OperandKind::Scalar),
            operand("step", OperandKind::Scalar),
        ])
        .attrs(&[any("dtype")]),
    OpDef::new("argsort", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis"), any("descending"), any("dtype")]),
    OpDef::new("bucketize", "").operands(&[tensor("input_tensor"), tensor("boundaries")]),
    OpDef::new("clip", "").operands(&[
        tensor("x"),
        operand("min", OperandKind::Scalar),
        operand("max", OperandKind::Scalar),
    ]),
    OpDef::new("collapse_sum_like", "").operands(&[tensor("data"), tensor("collapse_target")]),
    OpDef::new("collapse_sum_to", "")
        .operands(&[tensor("data"), operand("shape", OperandKind::Shape)]),
    OpDef::new("cumprod", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis"), any("dtype"), any("exclusive")]),
    OpDef::new("cumsum", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis"), any("dtype"), any("exclusive")]),
    OpDef::new("dequantize", "")
        .operands(&[tensor("data"), tensor("scale"), tensor("zero_point")])
        .attrs(&[any("out_dtype"), any("axis")]),
    OpDef::new("dynamic_strided_slice", "").operands(&[
        tensor("x"),
        tensor("begin"),
        tensor("end"),
        tensor("strides"),
    ]),
    OpDef::new("einsum", "")
        .operands(&[tensor("operands")])
        .attrs(&[any("subscripts")]),
    OpDef::new("eye", "")
        .operands(&[
            operand("n", OperandKind::Scalar),
            operand("m", OperandKind::Scalar),
            operand("k", OperandKind::Scalar),
        ])
        .attrs(&[any("dtype")]),
    OpDef::new("eye_like", "")
        .operands(&[tensor("x"), operand("k", OperandKind::Scalar)])
        .attrs(&[any("dtype")]),
    OpDef::new("flatten", "").operands(&[tensor("x")]),
    OpDef::new("flip", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis")]),
    OpDef::new("full_like", "")
        .operands(&[tensor("x"), tensor("fill_value")])
        .attrs(&[any("dtype")]),
    OpDef::new("gather_elements", "")
        .operands(&[tensor("data"), tensor("indices")])
        .attrs(&[any("axis")]),
    OpDef::new("gather_nd", "")
        .operands(&[tensor("data"), tensor("indices")])
        .attrs(&[any("batch_dims")]),
    OpDef::new("hamming_window", "")
        .operands(&[
            operand("window_size", OperandKind::Scalar),
            operand("periodic", OperandKind::Scalar),
            operand("alpha", OperandKind::Scalar),
            operand("beta", OperandKind::Scalar),
        ])
        .attrs(&[any("dtype")]),
    OpDef::new("image.affine_grid", "")
        .operands(&[tensor("data"), operand("size", OperandKind::Shape)])
        .attrs(&[any("align_corners")]),
    OpDef::new("image.grid_sample", "")
        .operands(&[tensor("data"), tensor("grid")])
        .attrs(&[
            any("method"),
            any("layout"),
            any("padding_mode"),
            any("align_corners"),
        ]),
    OpDef::new("image.resize2d", "")
        .operands(&[tensor("data"), operand("size", OperandKind::Shape)])
        .attrs(&[
            any("roi"),
            any("layout"),
            any("method"),
            any("coordinate_transformation_mode"),
            any("rounding_method"),
            any("cubic_alpha"),
            any("cubic_exclude"),
            any("extrapolation_value"),
            any("out_dtype"),
        ]),
    OpDef::new("image.resize3d", "")
        .operands(&[tensor("data"), operand("size", OperandKind::Shape)])
        .attrs(&[
            any("roi"),
            any("layout"),
            any("method"),
            any("coordinate_transformation_mode"),
            any("rounding_method"),
            any("cubic_alpha"),
            any("cubic_exclude"),
            any("extrapolation_value"),
            any("out_dtype"),
        ]),
    OpDef::new("index_put", "")
        .operands(&[tensor("data"), tensor("indices"), tensor("values")])
        .attrs(&[any("accumulate")]),
    OpDef::new("index_tensor", "")
        .operands(&[tensor("data"), operand("indices", OperandKind::Tensors)]),
    OpDef::new("layout_transform", "")
        .operands(&[tensor("x")])
        .attrs(&[any("index_map"), any("pad_value")]),
    OpDef::new("median", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis"), any("keepdims")]),
    OpDef::new("meshgrid", "")
        .operands(&[operand("tensors", OperandKind::Tensors)])
        .attrs(&[any("indexing")]),
    OpDef::new("multinomial_from_uniform", "")
        .operands(&[
            tensor("prob"),
            tensor("uniform_sample"),
            tensor("sample_indices"),
        ])
        .attrs(&[any("dtype")]),
    OpDef::new("nn.adaptive_avg_pool1d", "")
        .operands(&[tensor("data")])
        .attrs(&[any("output_size"), any("layout"), any("out_layout")]),
    OpDef::new("nn.adaptive_avg_pool2d", "")
        .operands(&[tensor("data")])
        .attrs(&[any("output_size"), any("layout"), any("out_layout")]),
    OpDef::new("nn.adaptive_avg_pool3d", "")
        .operands(&[tensor("data")])
        .attrs(&[any("output_size"), any("layout"), any("out_layout")]),
    OpDef::new("nn.attention", "")
        .operands(&[tensor("query"), tensor("key"), tensor("value")])
        .attrs(&[any("scale"), any("causal_mask"), any("window_size")]),
    OpDef::new("nn.attention_bias", "")
        .operands(&[
            tensor("query"),
            tensor("key"),
            tensor("value"),
            tensor("bias"),
        ])
        .attrs(&[any("scale"), any("causal_mask"), any("window_size")]),
    OpDef::new("nn.attention_var_len", "")
        .operands(&[
            tensor("query"),
            tensor("key"),
            tensor("value"),
            tensor("seqstart_q"),
            tensor("seqstart_k"),
            tensor("max_seqlen_q"),
            tensor("max_seqlen_k"),
        ])
        .attrs(&[any("scale"), any("causal_mask"), any("window_size")]),
    OpDef::new("nn.batch_flatten", "").operands(&[tensor("data")]),
    OpDef::new("nn.conv1d_transpose", "")
        .operands(&[tensor("data"), tensor("weight")])
        .attrs(&[
            any("strides"),
            any("padding"),
            any("output_padding"),
            any("dilation"),
            any("groups"),
            any("data_layout"),
            any("kernel_layout"),
            any("out_layout"),
            any("out_dtype"),
        ]),
    OpDef::new("nn.conv2d_transpose", "")
        .operands(&[tensor("data"), tensor("weight")])
        .attrs(&[
            any("strides"),
            any("padding"),
            any("output_padding"),
            any("dilation"),
            any("groups"),
            any("data_layout"),
            any("kernel_layout"),
            any("out_layout"),
            any("out_dtype"),
        ]),
    OpDef::new("nn.conv3d_transpose", "")
        .operands(&[tensor("data"), tensor("weight")])
        .attrs(&[
            any("strides"),
            any("padding"),
            any("output_padding"),
            any("dilation"),
            any("groups"),
            any("data_layout"),
            any("kernel_layout"),
            any("out_layout"),
            any("out_dtype"),
        ]),
    OpDef::new("nn.cross_entropy_with_logits", "")
        .operands(&[tensor("predictions"), tensor("labels")]),
    OpDef::new("nn.dropout", "")
        .operands(&[tensor("data")])
        .attrs(&[any("rate")]),
    OpDef::new("nn.gelu_tanh", "").operands(&[tensor("x")]),
    OpDef::new("nn.group_norm", "")
        .operands(&[tensor("data"), tensor("gamma"), tensor("beta")])
        .attrs(&[
            any("num_groups"),
            any("channel_axis"),
            any("axes"),
            any("epsilon"),
            any("center"),
            any("scale"),
        ]),
    OpDef::new("nn.instance_norm", "")
        .operands(&[tensor("data"), tensor("gamma"), tensor("beta")])
        .attrs(&[
            any("channel_axis"),
            any("axes"),
            any("epsilon"),
            any("center"),
            any("scale"),
        ]),
    OpDef::new("nn.layer_norm", "")
        .operands(&[tensor("data"), tensor("gamma"), tensor("beta")])
        .attrs(&[any("axes"), any("epsilon"), any("center"), any("scale")]),
    OpDef::new("nn.leakyrelu", "")
        .operands(&[tensor("data")])
        .attrs(&[any("alpha")]),
    OpDef::new("nn.nll_loss", "")
        .operands(&[
            tensor("predictions"),
            tensor("targets"),
            optional("weights", OperandKind::Any),
        ])
        .attrs(&[any("reduction"), any("ignore_index")]),
    OpDef::new("nn.pad", "")
        .operands(&[tensor("data")])
        .attrs(&[any("pad_width"), any("pad_value"), any("pad_mode")]),
    OpDef::new("nn.pixel_shuffle", "")
        .operands(&[tensor("data")])
        .attrs(&[any("upscale_factor")]),
    OpDef::new("nn.prelu", "")
        .operands(&[tensor("data"), tensor("alpha")])
        .attrs(&[any("axis")]),
    OpDef::new("nn.rms_norm", "")
        .operands(&[tensor("data"), tensor("weight")])
        .attrs(&[any("axes"), any("epsilon")]),
    OpDef::new("nn.selu", "").operands(&[tensor("x")]),
    OpDef::new("nn.softplus", "")
        .operands(&[tensor("data")])
        .attrs(&[any("beta"), any("threshold")]),
    OpDef::new("nonzero", "").operands(&[tensor("x")]),
    OpDef::new("one_hot", "")
        .operands(&[
            tensor("indices"),
            operand("on_value", OperandKind::Scalar),
            operand("off_value", OperandKind::Scalar),
        ])
        .attrs(&[any("depth"), any("axis")]),
    OpDef::new("ones_like", "")
        .operands(&[tensor("x")])
        .attrs(&[any("dtype")]),
    OpDef::new("outer", "").operands(&[tensor("x1"), tensor("x2")]),
    OpDef::new("quantize", "")
        .operands(&[tensor("data"), tensor("scale"), tensor("zero_point")])
        .attrs(&[any("out_dtype"), any("axis")]),
    OpDef::new("repeat", "")
        .operands(&[tensor("data")])
        .attrs(&[any("repeats"), any("axis")]),
    OpDef::new("reverse_sequence", "")
        .operands(&[tensor("data"), tensor("seq_lengths")])
        .attrs(&[any("seq_axis"), any("batch_axis")]),
    OpDef::new("scatter_elements", "")
        .operands(&[tensor("data"), tensor("indices"), tensor("updates")])
        .attrs(&[any("axis"), any("reduction")]),
    OpDef::new("scatter_nd", "")
        .operands(&[tensor("data"), tensor("indices"), tensor("updates")])
        .attrs(&[any("reduction")]),
    OpDef::new("slice_scatter", "")
        .operands(&[
            tensor("input"),
            tensor("src"),
            operand("start", OperandKind::Scalar),
            operand("end", OperandKind::Scalar),
            operand("step", OperandKind::Scalar),
        ])
        .attrs(&[any("axis")]),
    OpDef::new("sort", "")
        .operands(&[tensor("data")])
        .attrs(&[any("axis"), any("descending")]),
    OpDef::new("squeeze", "")
        .operands(&[tensor("x")])
        .attrs(&[any("axis")]),
    OpDef::new("stack", "")
        .operands(&[operand("tensors", OperandKind::Tensors)])
        .attrs(&[any("axis")]),
    OpDef::new("strided_slice", "")
        .operands(&[
            tensor("x"),
            operand("axes", OperandKind::Any),
            operand("begin", OperandKind::Any),
            operand("end", OperandKind::Any),
            optional("strides", OperandKind::Any),
        ])
        .attrs(&[any("assume_inbound")]),
    OpDef::new("take", "")
        .operands(&[tensor("x"), tensor("indices")])
        .attrs(&[any("axis"), any("mode")]),
    OpDef::new("tile", "")
        .operands(&[tensor("data")])
        .attrs(&[any("repeats")]),
    OpDef::new("topk", "").operands(&[tensor("data")]).attrs(&[
        any("k"),
        any("axis"),
        any("ret_type"),
        any("largest"),
        any("dtype"),
    ]),
    OpDef::new("tril", "").operands(&[tensor("x"), operand("k", OperandKind::Scalar)]),
    OpDef::new("triu", "").operands(&[tensor("x"), operand("k", OperandKind::Scalar)]),
    OpDef::new("unique", "").operands(&[
        tensor("x"),
        tensor("sorted"),
        tensor("return_index"),
        tensor("return_inverse"),
        tensor("return_counts"),
        tensor("axis"),
    ]),
    OpDef::new("zeros_like", "")
        .operands(&[tensor("x")])
        .attrs(&[any("dtype")]),
    OpDef::new("grad.avg_pool2d_backward", "for training")
        .operands(&[tensor("output_grad"), tensor("data")])
        .attrs(&[
            any("pool_size"),
            any("strides"),
            any("dilation"),
            any("padding"),
            any("ceil_mode"),
            any("count_include_pad"),
            any("layout"),
            any("out_layout"),
        ]),
    OpDef::new("grad.end_checkpoint", "for training").operands(&[operand("x", OperandKind::Any)]),
    OpDef::new("grad.max_pool2d_backward", "for training")
        .operands(&[tensor("output_grad"), tensor("data")])
        .attrs(&[
            any("pool_size"),
            any("strides"),
            any("dilation"),
            any("padding"),
            any("ceil_mode"),
            any("count_include_pad"),
            any("layout"),
            any("out_layout"),
        ]),
    OpDef::new("grad.nll_loss_backward", "for training")
        .operands(&[
            tensor("output_grad"),
            tensor("predictions"),
            tensor("targets"),
            optional("weights", OperandKind::Any),
        ])
        .attrs(&[any("reduction"), any("ignore_index")]),
    OpDef::new("grad.no_grad", "for training").operands(&[operand("x", OperandKind::Any)]),
    OpDef::new("grad.start_checkpoint", "for training").operands(&[operand("x", OperandKind::Any)]),
    OpDef::new("grad.take_backward", "for training")
        .operands(&[tensor("output_grad"), tensor("x"), tensor("indices")])
        .attrs(&[any("axis"), any("mode")]),
    OpDef::new("vision.all_class_non_max_suppression", "for detection")
        .operands(&[
            tensor("boxes"),
            tensor("scores"),
            tensor("max_output_boxes_per_class"),
            tensor("iou_threshold"),
            tensor("score_threshold"),
        ])
        .attrs(&[any("output_format")]),
    OpDef::new("vision.get_valid_counts", "for detection")
        .operands(&[tensor("data")])
        .attrs(&[any("score_threshold"), any("id_index"), any("score_index")]),
    OpDef::new("vision.multibox_transform_loc", "for detection")
        .operands(&[tensor("cls_pred"), tensor("loc_pred"), tensor("anchor")])
        .attrs(&[
            any("clip"),
            any("threshold"),
            any("variances"),
            any("keep_background"),
            any("apply_softmax"),
        ]),
    OpDef::new("vision.non_max_suppression", "for detection")
        .operands(&[tensor("data"), tensor("valid_count"), tensor("indices")])
        .attrs(&[
            any("max_output_size"),
            any("iou_threshold"),
            any("force_suppress"),
            any("top_k"),
            any("coord_start"),
            any("score_index"),
            any("id_index"),
            any("return_indices"),
            any("invalid_to_bottom"),
            any("soft_nms_sigma"),
            any("score_threshold"),
        ]),
    OpDef::new("vision.roi_align", "for detection")
        .operands(&[tensor("data"), tensor("rois")])
        .attrs(&[
            any("pooled_size"),
            any("spatial_scale"),
            any("sample_ratio"),
            any("aligned"),
            any("layout"),
            any("mode"),
        ]),
    OpDef::new("vision.roi_pool", "for detection")
        .operands(&[tensor("data"), tensor("rois")])
        .attrs(&[any("pooled_size"), any("spatial_scale"), any("layout")]),
];
