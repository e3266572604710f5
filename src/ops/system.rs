//! Operators of the compiler itself: devices, memory, closures, communication.

use super::def::{MachineOp, OpDef, Pattern, attr, operand, optional, tensor};
use super::rules;
use crate::ir::graph::{Arg, AttrDefault, AttrKind, AttrSpec, OpCall, OperandKind};
use crate::ir::{AttrValue, StructInfo, TensorInfo, VDevice};
use crate::topi;

/// An attribute that is kept as it is written.
const fn any(name: &'static str) -> AttrSpec {
    attr(name, AttrKind::Any, AttrDefault::None)
}

pub(super) const OPS: &[OpDef] = &[
    OpDef::new(
        "assert_op",
        "fails with a message if the condition is false",
    )
    .variadic()
    .attrs(&[any("format")])
    .impure()
    .infer(rules::unit)
    .host_message("relax.run.assert_op", 1),
    OpDef::new("builtin.alloc_tensor", "memory for a tensor")
        .operands(&[
            operand("shape", OperandKind::Any),
            operand("dtype", OperandKind::Any),
            operand("runtime_device_index", OperandKind::Scalar),
            operand("storage_scope", OperandKind::Any),
        ])
        .infer(|c| alloc(c, 0, 1))
        .allocates()
        .machine(MachineOp::Alloc),
    OpDef::new(
        "builtin.stop_lift_params",
        "its operand, which LiftTransformParams leaves in the function",
    )
    .operands(&[operand("x", OperandKind::Any)])
    .infer(rules::identity)
    .machine(MachineOp::Forward),
    OpDef::new(
        "call_builtin_with_ctx",
        "a packed function that takes the virtual machine and a tuple of arguments",
    )
    .operands(&[
        operand("func", OperandKind::Packed),
        operand("args", OperandKind::Tuple),
    ])
    .impure()
    .machine(MachineOp::CallBuiltin),
    OpDef::new(
        "call_inplace_packed",
        "a packed function that overwrites some of its operands",
    )
    .variadic()
    .attrs(&[any("inplace_indices")]),
    OpDef::new(
        "call_tir_with_grad",
        "a loop program of which a gradient is known",
    )
    .operands(&[
        operand("gvar", OperandKind::Any),
        operand("args", OperandKind::Any),
        optional("tir_vars", OperandKind::Shape),
    ])
    .attrs(&[any("te_grad_name"), any("te_grad_kwargs")]),
    OpDef::new("ccl.allgather", "communication between devices")
        .operands(&[tensor("x")])
        .impure(),
    OpDef::new("ccl.allreduce", "communication between devices")
        .operands(&[tensor("x")])
        .attrs(&[any("op_type"), any("in_group")])
        .impure(),
    OpDef::new(
        "ccl.broadcast_from_worker0",
        "communication between devices",
    )
    .operands(&[tensor("x")])
    .impure(),
    OpDef::new("ccl.scatter_from_worker0", "communication between devices")
        .operands(&[tensor("x")])
        .attrs(&[any("num_workers"), any("axis")])
        .impure(),
    OpDef::new("dist.annotate_sharding", "communication between devices")
        .operands(&[tensor("input")]),
    OpDef::new("dist.call_tir_local_view", "communication between devices").operands(&[
        operand("func", OperandKind::Any),
        operand("args", OperandKind::Any),
    ]),
    OpDef::new("dist.redistribute", "communication between devices").operands(&[tensor("input")]),
    OpDef::new(
        "dist.redistribute_replica_to_shard",
        "communication between devices",
    )
    .operands(&[tensor("input")])
    .attrs(&[any("num_workers"), any("axis")]),
    OpDef::new("hint_on_device", "its operand, wanted on a device")
        .operands(&[operand("data", OperandKind::Any)])
        .attrs(&[
            any("dst_vdevice"),
            any("memory_scope"),
            any("device_type"),
            any("index"),
        ])
        .infer(rules::identity)
        .machine(MachineOp::Forward),
    OpDef::new("invoke_closure", "the call of a closure")
        .operands(&[
            operand("closure", OperandKind::Any),
            operand("args", OperandKind::Any),
        ])
        .impure()
        .machine(MachineOp::InvokeClosure),
    OpDef::new(
        "invoke_pure_closure",
        "the call of a closure without side effects",
    )
    .operands(&[
        operand("closure", OperandKind::Any),
        operand("args", OperandKind::Any),
    ])
    .machine(MachineOp::InvokeClosure),
    OpDef::new("make_closure", "a function with its last arguments bound")
        .operands(&[
            operand("func", OperandKind::Any),
            operand("args", OperandKind::Any),
        ])
        .machine(MachineOp::MakeClosure),
    OpDef::new("memory.alloc_storage", "memory")
        .operands(&[
            operand("total_space", OperandKind::Any),
            operand("virtual_device_index", OperandKind::Scalar),
            operand("storage_scope", OperandKind::Any),
            operand("dtype", OperandKind::Any),
        ])
        .allocates()
        .machine(MachineOp::AllocStorage),
    OpDef::new("memory.alloc_tensor", "a tensor in memory")
        .operands(&[
            operand("storage", OperandKind::Any),
            operand("offset", OperandKind::Scalar),
            operand("shape", OperandKind::Any),
            operand("dtype", OperandKind::Any),
            operand("runtime_device_index", OperandKind::Scalar),
        ])
        .infer(|c| alloc(c, 2, 3))
        .allocates()
        .machine(MachineOp::AllocTensor),
    OpDef::new(
        "memory.ensure_zero_offset",
        "its operand, which starts where its memory does",
    )
    .operands(&[tensor("x")])
    .infer(rules::identity)
    .machine(MachineOp::Forward),
    OpDef::new("memory.kill_storage", "gives memory back")
        .operands(&[operand("storage", OperandKind::Any)])
        .impure()
        .infer(rules::unit)
        .machine(MachineOp::Kill),
    OpDef::new("memory.kill_tensor", "ends the life of a tensor")
        .operands(&[operand("tensor", OperandKind::Any)])
        .impure()
        .infer(rules::unit)
        .machine(MachineOp::Kill),
    OpDef::new("memory.view", "the same bytes as another shape or type").operands(&[
        tensor("x"),
        operand("shape", OperandKind::Shape),
        operand("dtype", OperandKind::Any),
        operand("relative_byte_offset", OperandKind::Scalar),
    ]),
    OpDef::new("null_value", "nothing").machine(MachineOp::Null),
    OpDef::new("print", "prints its operands")
        .variadic()
        .attrs(&[any("format")])
        .impure()
        .infer(rules::unit)
        .host_message("relax.run.print", 0),
    OpDef::new(
        "to_vdevice",
        "its operand on another device: the host, or the one that is compiled for",
    )
    .operands(&[operand("data", OperandKind::Any)])
    .attrs(&[attr(
        "dst_vdevice",
        AttrKind::VDevice,
        AttrDefault::Required,
    )])
    .infer(to_vdevice)
    .machine(MachineOp::Forward),
    OpDef::new("vm.alloc_storage", "what the virtual machine of TVM calls")
        .operands(&[
            operand("size", OperandKind::Any),
            operand("dtype", OperandKind::Any),
            operand("runtime_device_index", OperandKind::Scalar),
            operand("storage_scope", OperandKind::Any),
        ])
        .allocates(),
    OpDef::new("vm.alloc_tensor", "what the virtual machine of TVM calls")
        .operands(&[
            operand("storage", OperandKind::Any),
            operand("offset", OperandKind::Scalar),
            operand("shape", OperandKind::Any),
            operand("dtype", OperandKind::Any),
            operand("runtime_device_index", OperandKind::Scalar),
        ])
        .allocates(),
    OpDef::new(
        "vm.call_tir_dyn",
        "a loop program called with memory for its results and, last, with sizes",
    )
    .operands(&[
        operand("func", OperandKind::Any),
        operand("args", OperandKind::Any),
    ])
    .impure()
    .infer(rules::unit)
    .machine(MachineOp::CallProgram),
    OpDef::new("vm.kill_object", "what the virtual machine of TVM calls")
        .operands(&[operand("obj", OperandKind::Any)])
        .impure()
        .infer(rules::unit)
        .machine(MachineOp::Kill),
    OpDef::new("wrap_param", "a parameter converted to another type")
        .operands(&[tensor("data")])
        .attrs(&[attr("dtype", AttrKind::DType, AttrDefault::Str("float32"))])
        .infer(rules::like_first)
        .compute(|c| {
            let dtype = c.result_dtype(0);
            Ok(vec![topi::astype("wrap_param", c.x(0), dtype)])
        })
        .pattern(Pattern::ElemWise),
];

fn to_vdevice(c: &OpCall<'_>) -> rules::Inferred {
    let Some(info) = c.tensor(0)? else {
        return Ok(StructInfo::Object);
    };
    let device = match c.attr("dst_vdevice") {
        Some(AttrValue::Str(text)) => VDevice::parse(&text),
        _ => None,
    };
    Ok(StructInfo::Tensor(TensorInfo {
        vdevice: Some(
            device.ok_or_else(|| c.bad_attribute("dst_vdevice", "a device, as \"cpu:0\""))?,
        ),
        ..info.clone()
    }))
}

/// A tensor whose shape and element type are operands.
fn alloc(c: &OpCall<'_>, shape: usize, dtype: usize) -> rules::Inferred {
    let dtype = match c.args.get(dtype) {
        Some(Arg::DType(dtype)) => Some(*dtype),
        _ => None,
    };
    Ok(StructInfo::Tensor(TensorInfo {
        shape: c.shape(shape),
        dtype,
        vdevice: None,
    }))
}
