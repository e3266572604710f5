//! Operators that have a text and no meaning here yet: their operands and attributes are known, their result is not.

use super::def::{OpDef, attr, operand, optional, tensor};
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OperandKind};

/// An attribute that is kept as it is written.
const fn any(name: &'static str) -> AttrSpec {
    attr(name, AttrKind::Any, AttrDefault::None)
}

pub(super) const OPS: &[OpDef] = &[
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
    OpDef::new("vision.roi_pool", "for detection")
        .operands(&[tensor("data"), tensor("rois")])
        .attrs(&[any("pooled_size"), any("spatial_scale"), any("layout")]),
];
