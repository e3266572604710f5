//! `realize_vdevice` and `update_vdevice`: where tensors are (Relax: `RealizeVDevice`, `UpdateVDevice`).

use indexmap::IndexMap;

use super::PassError;
use super::bodies::for_each_function;
use crate::ir::graph::{Arg, Callee, Def, Function, Op, ValueId};
use crate::ir::{AttrValue, Attrs, Func, Module, StructInfo, VDevice};
use crate::ops;

/// The module in which tensors say on which device they are, as far as anything tells, and hints are copies
/// (`R.to_vdevice`) where a tensor is elsewhere. A device is told by types and by hints. What is computed from tensors of a device
/// is there, too, and so is what they are computed from; where this says nothing, the operand of a hint is where the last hint of it
/// wants it.
///
/// ```text
/// a = R.hint_on_device(x, R.device(7, 0))         x: R.Tensor(…, vdevice="vulkan:0")
/// b = R.exp(a)                               →    b = R.exp(x)
/// c = R.hint_on_device(b, R.device(1, 0))         c = R.to_vdevice(b, "llvm:0")
/// ```
///
/// A module that names no devices is for one, and stays.
///
/// # Errors
/// [`PassError::UnknownDevice`] if a hint names a device that the module does not have.
pub(super) fn realize_vdevice(module: &Module) -> Result<Module, PassError> {
    let mut out = module.clone();
    if module.vdevices.is_empty() {
        return Ok(out);
    }
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            for_each_function(function, &mut |function| {
                realize(function, &module.vdevices)
            })?;
        }
    }
    Ok(out)
}

fn realize(function: &mut Function, devices: &[VDevice]) -> Result<(), PassError> {
    let hint = ops::op("hint_on_device");
    let mut wanted: IndexMap<ValueId, VDevice> = IndexMap::new();
    for (id, value) in function.values.iter() {
        if let Some((_, attrs)) = call_of(&value.def, hint) {
            let device = hinted(attrs, devices).ok_or_else(|| PassError::UnknownDevice {
                func: function.name.clone(),
                value: format!("`{}`", value.name),
                devices: devices.iter().map(VDevice::to_string).collect(),
            })?;
            wanted.insert(id, device);
        }
    }
    let known = places(function, &wanted);
    for (&id, device) in &known {
        let value = function.values.get_mut(id).expect("it was visited");
        set_device(&mut value.sinfo, device);
        if let Def::CallDps { out, .. } = &mut value.def {
            set_device(out, device);
        }
    }
    for (id, device) in wanted {
        let value = function.values.get_mut(id).expect("it was visited");
        let Some((args, _)) = call_of(&value.def, hint) else {
            continue;
        };
        let operand = args[0].clone();
        let is_there = operand
            .values()
            .iter()
            .any(|v| known.get(v) == Some(&device));
        let def = match is_there {
            true => Def::Arg(operand),
            false => Def::Call {
                callee: Callee::Op(ops::op("to_vdevice")),
                args: vec![operand],
                attrs: Attrs::from_iter([(
                    "dst_vdevice".to_owned(),
                    AttrValue::Str(device.to_string()),
                )]),
                sinfo_args: vec![],
            },
        };
        function.values.get_mut(id).expect("it was visited").def = def;
    }
    let result = function.body.result.clone();
    set_result(&mut function.ret, &result, &known);
    Ok(())
}

/// The operands and attributes of a call of this operator.
fn call_of(def: &Def, op: Op) -> Option<(&[Arg], &Attrs)> {
    match def {
        Def::Call {
            callee: Callee::Op(callee),
            args,
            attrs,
            sinfo_args: _,
        } if *callee == op => Some((args, attrs)),
        _ => None,
    }
}

/// The device of the module that a hint names: by its own name, or by its kind and index as DLPack numbers them.
fn hinted(attrs: &Attrs, devices: &[VDevice]) -> Option<VDevice> {
    let named = match attrs.get("dst_vdevice") {
        Some(AttrValue::Str(text)) => return VDevice::parse(text).filter(|d| devices.contains(d)),
        Some(AttrValue::Dict(device)) => device,
        _ => attrs,
    };
    let kind = named.get("device_type").and_then(AttrValue::as_int)?;
    let index = named.get("index").map_or(Some(0), AttrValue::as_int)?;
    let scope = attrs.get("memory_scope").and_then(AttrValue::as_str);
    let found = devices.iter().find(|device| {
        dlpack_kind(device) == Some(kind)
            && usize::try_from(index) == Ok(device.index)
            && scope.is_none_or(|scope| scope == device.scope)
    });
    found.cloned()
}

/// What DLPack and TVM call a kind of device.
fn dlpack_kind(device: &VDevice) -> Option<i64> {
    Some(match device.target.as_str() {
        _ if device.is_host() => 1,
        "cuda" => 2,
        "opencl" => 4,
        "vulkan" => 7,
        "metal" => 8,
        "rocm" => 10,
        "webgpu" => 15,
        _ => return None,
    })
}

/// The devices of tensors, as far as anything tells.
fn places(function: &Function, wanted: &IndexMap<ValueId, VDevice>) -> IndexMap<ValueId, VDevice> {
    let together = together(function);
    let mut known: IndexMap<ValueId, VDevice> = IndexMap::new();
    for (id, value) in function.values.iter() {
        let said = value
            .sinfo
            .as_tensor()
            .and_then(|info| info.vdevice.clone());
        known.extend(
            said.or_else(|| wanted.get(&id).cloned())
                .map(|device| (id, device)),
        );
    }
    said_of_result(&function.ret, &function.body.result, &mut known);
    propagate(&mut known, &together, 0);
    let from = known.len();
    for (id, device) in wanted.iter().rev() {
        for arg in function.values[*id].def.args() {
            for operand in arg.values() {
                known.entry(operand).or_insert_with(|| device.clone());
            }
        }
    }
    propagate(&mut known, &together, from);
    known
}

/// By value: the values that are on the same device, since one is computed from the other.
fn together(function: &Function) -> IndexMap<ValueId, Vec<ValueId>> {
    let moves = [ops::op("hint_on_device"), ops::op("to_vdevice")];
    let mut out: IndexMap<ValueId, Vec<ValueId>> = IndexMap::new();
    let is_scalar = |id: ValueId| matches!(function.values[id].sinfo, StructInfo::Prim { .. });
    for (id, value) in function.values.iter() {
        if is_scalar(id) || moves.iter().any(|op| call_of(&value.def, *op).is_some()) {
            continue;
        }
        for used in value.def.used_values() {
            if !is_scalar(used) {
                out.entry(id).or_default().push(used);
                out.entry(used).or_default().push(id);
            }
        }
    }
    out
}

/// Takes the devices of the values from this one on to all that are together with them.
fn propagate(
    known: &mut IndexMap<ValueId, VDevice>,
    together: &IndexMap<ValueId, Vec<ValueId>>,
    from: usize,
) {
    let mut at = from;
    while let Some((id, device)) = known.get_index(at) {
        let (device, others) = (device.clone(), together.get(id));
        for other in others.into_iter().flatten() {
            known.entry(*other).or_insert_with(|| device.clone());
        }
        at += 1;
    }
}

/// What the declared result says of the values in it.
fn said_of_result(ret: &StructInfo, result: &Arg, known: &mut IndexMap<ValueId, VDevice>) {
    match (ret, result) {
        (StructInfo::Tensor(info), Arg::Value(id)) => {
            if let Some(device) = &info.vdevice {
                known.entry(*id).or_insert_with(|| device.clone());
            }
        }
        (StructInfo::Tuple(infos), Arg::Tuple(items)) => {
            let items = infos.iter().zip(items);
            items.for_each(|(info, item)| said_of_result(info, item, known));
        }
        _ => {}
    }
}

fn set_result(ret: &mut StructInfo, result: &Arg, known: &IndexMap<ValueId, VDevice>) {
    match (ret, result) {
        (StructInfo::Tuple(infos), Arg::Tuple(items)) => {
            let items = infos.iter_mut().zip(items);
            items.for_each(|(info, item)| set_result(info, item, known));
        }
        (info, Arg::Value(id)) => {
            if let Some(device) = known.get(id) {
                set_device(info, device);
            }
        }
        _ => {}
    }
}

/// Says of tensors that do not say it themselves where they are.
fn set_device(info: &mut StructInfo, device: &VDevice) {
    match info {
        StructInfo::Tensor(info) => {
            info.vdevice.get_or_insert_with(|| device.clone());
        }
        StructInfo::Tuple(items) => items.iter_mut().for_each(|item| set_device(item, device)),
        _ => {}
    }
}

/// The module with another device in place of its device number `index`, for all tensors that are there.
///
/// # Errors
/// [`PassError::UnknownDevice`] if the module has not so many devices.
pub(super) fn update_vdevice(
    module: &Module,
    new: &VDevice,
    index: i64,
) -> Result<Module, PassError> {
    let old = usize::try_from(index)
        .ok()
        .and_then(|index| module.vdevices.get(index));
    let old = old.cloned().ok_or_else(|| PassError::UnknownDevice {
        func: "module".to_owned(),
        value: format!("device {index}"),
        devices: module.vdevices.iter().map(VDevice::to_string).collect(),
    })?;
    let mut out = module.clone();
    for device in out.vdevices.iter_mut().filter(|device| **device == old) {
        device.clone_from(new);
    }
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        for_each_function(function, &mut |function| {
            for index in 0..function.values.bound() {
                let id = crate::support::Id::from_index(index);
                let Some(value) = function.values.get_mut(id) else {
                    continue;
                };
                replace_device(&mut value.sinfo, &old, new);
                match &mut value.def {
                    Def::CallDps { out, .. } => replace_device(out, &old, new),
                    Def::MatchCast(_, info) => replace_device(info, &old, new),
                    Def::Call {
                        attrs, sinfo_args, ..
                    } => {
                        sinfo_args
                            .iter_mut()
                            .for_each(|info| replace_device(info, &old, new));
                        for attr in attrs.values_mut() {
                            if *attr == AttrValue::Str(old.to_string()) {
                                *attr = AttrValue::Str(new.to_string());
                            }
                        }
                    }
                    _ => {}
                }
            }
            replace_device(&mut function.ret, &old, new);
            Ok::<_, PassError>(())
        })?;
    }
    Ok(out)
}

fn replace_device(info: &mut StructInfo, old: &VDevice, new: &VDevice) {
    match info {
        StructInfo::Tensor(info) if info.vdevice.as_ref() == Some(old) => {
            info.vdevice = Some(new.clone());
        }
        StructInfo::Tuple(items) => {
            items
                .iter_mut()
                .for_each(|item| replace_device(item, old, new));
        }
        _ => {}
    }
}
