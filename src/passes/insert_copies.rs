//! `insert_copies`: tensors are copied to where they are used, once for each crossing.

use std::collections::HashMap;
use std::convert::Infallible;

use super::bind_target::{is_of_host, is_on_host};
use super::bodies::{for_each_function, for_each_own_body};
use crate::ir::graph::{
    Arg, Become, BindingBlock, Body, Callee, Def, DpsCallee, Function, Globals, Op, Value, ValueId,
    rewrite,
};
use crate::ir::{AttrValue, Attrs, Func, Module, PrimFunc, StructInfo, TensorInfo, VDevice};
use crate::kernel::Target;
use crate::ops::{self, Compute};
use crate::support::Id;

/// Where a tensor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Device,
    Host,
}

/// The module in which the operands of loop programs are where these run, in a program for a GPU with programs of the host. A
/// tensor is copied after it is computed, if a program elsewhere uses it (`vm.builtin.to_host`, `vm.builtin.to_device`), once
/// whatever many use it; and so is what `R.to_vdevice` asks for. Parameters arrive on the device, and there is what other
/// functions take and give. Run `to_non_dataflow` before.
///
/// ```text
/// y = R.call_tir(exp_host, x, …)             x1 = R.call_pure_packed("vm.builtin.to_host", x)
/// z = R.call_tir(tanh, y, …)            →    y = R.call_tir(exp_host, x1, …)
/// w = R.call_tir(abs, y, …)                  y1 = R.call_pure_packed("vm.builtin.to_device", y)
///                                            z = R.call_tir(tanh, y1, …)
///                                            w = R.call_tir(abs, y1, …)
/// ```
pub(super) fn insert_copies(module: &Module, target: &Target) -> Module {
    let is_kernel = |func: &PrimFunc| is_of_host(func) && func.as_scalar().is_none();
    let has_host = module.prim_funcs().any(|(_, func)| is_kernel(func));
    if matches!(target, Target::Cpu(_)) || !has_host {
        return module.clone();
    }
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        let Ok(()) = for_each_function::<Infallible>(function, &mut |function| {
            Copies::of(module, function).insert(function);
            Ok(())
        });
        // Values in the order of the program again.
        let Ok(ordered) = rewrite::<Infallible>(function, &globals, &mut |_, _| Ok(Become::Kept));
        *function = ordered;
    }
    out
}

struct Copies<'m> {
    module: &'m Module,
    move_op: Op,
    places: HashMap<ValueId, Place>,
    /// By value that is used where it is not: its copy.
    copies: HashMap<ValueId, ValueId>,
}

impl<'m> Copies<'m> {
    /// The places of the values of a function.
    fn of(module: &'m Module, function: &Function) -> Self {
        let mut copies = Self {
            module,
            move_op: ops::op("to_vdevice"),
            places: HashMap::new(),
            copies: HashMap::new(),
        };
        for (id, value) in function.values.iter() {
            let place = copies.place_of(value);
            copies.places.insert(id, place);
        }
        copies
    }

    fn place(&self, arg: &Arg) -> Place {
        let values = arg.values();
        let place = values.first().and_then(|id| self.places.get(id));
        place.copied().unwrap_or(Place::Device)
    }

    /// Where a value is. What a branch gives is where its type says.
    fn place_of(&self, value: &Value) -> Place {
        match &value.def {
            Def::If { .. } if is_on_host(&value.sinfo) => Place::Host,
            Def::CallDps { callee, .. } => self.runs(callee),
            Def::Arg(arg) | Def::TupleItem(arg, _) | Def::MatchCast(arg, _) => self.place(arg),
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                ..
            } => match (
                self.moved_to(*op, attrs),
                ops::def(*op).compute,
                args.first(),
            ) {
                (Some(place), _, _) => place,
                (None, Compute::View(_) | Compute::Machine(_), Some(operand)) => {
                    self.place(operand)
                }
                _ => Place::Device,
            },
            _ => Place::Device,
        }
    }

    /// Where a loop program runs.
    fn runs(&self, callee: &DpsCallee) -> Place {
        let (DpsCallee::Prim(name) | DpsCallee::Packed(name)) = callee;
        match self.module.prim_func(name).is_some_and(is_of_host) {
            true => Place::Host,
            false => Place::Device,
        }
    }

    /// Where a tensor goes that is to be moved.
    fn moved_to(&self, op: Op, attrs: &Attrs) -> Option<Place> {
        let device = attrs.get("dst_vdevice").and_then(AttrValue::as_str);
        let device = device
            .filter(|_| op == self.move_op)
            .and_then(VDevice::parse)?;
        Some(match device.is_host() {
            true => Place::Host,
            false => Place::Device,
        })
    }

    /// Where a definition wants its operands; nothing if it takes them wherever they are.
    fn wanted(&self, def: &Def) -> Option<Place> {
        match def {
            Def::CallDps { callee, .. } => Some(self.runs(callee)),
            Def::Call {
                callee: Callee::Op(op),
                attrs,
                ..
            } => self.moved_to(*op, attrs),
            Def::Call {
                callee: Callee::Global(_) | Callee::Value(_),
                ..
            } => Some(Place::Device),
            _ => None,
        }
    }

    /// Copies the values that are used where they are not.
    fn insert(mut self, function: &mut Function) {
        let originals = function.values.bound();
        for id in (0..originals).map(ValueId::from_index) {
            let Some(value) = function.values.get(id) else {
                continue;
            };
            let wanted = self.wanted(&value.def);
            let place = self.places[&id];
            let mut def = value.def.clone();
            if let Some(wanted) = wanted {
                def = def.map(
                    &mut |leaf| self.moved(function, leaf, wanted),
                    &mut Clone::clone,
                );
            }
            match &mut def {
                Def::If {
                    cond: _,
                    then,
                    otherwise,
                } => {
                    for branch in [then, otherwise] {
                        let moved = &mut |leaf: &Arg| self.moved(function, leaf, place);
                        branch.result = branch.result.map_leaves(moved);
                    }
                }
                Def::Call {
                    callee: Callee::Op(op),
                    args,
                    ..
                } if *op == self.move_op => def = self.arrived(function, id, &args[0], place),
                _ => {}
            }
            function.values.get_mut(id).expect("it is there").def = def;
        }
        let params = function.params.clone();
        for_each_own_body(function, &mut |body| self.place_copies(body));
        let of_params = params
            .iter()
            .filter_map(|param| self.copies.get(param).copied());
        let of_params: Vec<ValueId> = of_params.collect();
        if !of_params.is_empty() {
            let block = BindingBlock {
                dataflow: None,
                bindings: of_params,
            };
            function.body.blocks.insert(0, block);
        }
    }

    /// What is left of a move when its operand is there: another name, unless types say that the operand was elsewhere.
    fn arrived(&self, function: &Function, id: ValueId, operand: &Arg, place: Place) -> Def {
        let sinfo = &function.values[id].sinfo;
        let says_so = match operand {
            Arg::Value(operand) => function.values[*operand].sinfo == *sinfo,
            _ => false,
        };
        match says_so {
            true => Def::Arg(operand.clone()),
            false => copy_to(place, operand.clone(), sinfo.clone()),
        }
    }

    /// The leaf of an argument at the place where it is wanted.
    fn moved(&mut self, function: &mut Function, leaf: &Arg, wanted: Place) -> Arg {
        let Arg::Value(id) = leaf else {
            return leaf.clone();
        };
        let value = &function.values[*id];
        let is_there = self.places.get(id).is_none_or(|place| *place == wanted);
        if is_there || !has_tensors(&value.sinfo) {
            return leaf.clone();
        }
        if let Some(copy) = self.copies.get(id) {
            return Arg::Value(*copy);
        }
        let mut devices = self.module.vdevices.iter();
        let device = devices.find(|device| device.is_host() == (wanted == Place::Host));
        let sinfo = on_device(&value.sinfo, device);
        let copy = Value {
            name: value.name.clone(),
            sinfo: sinfo.clone(),
            def: copy_to(wanted, leaf.clone(), sinfo),
            origin: value.origin.clone(),
        };
        let copy = function.values.push(copy);
        self.copies.insert(*id, copy);
        Arg::Value(copy)
    }

    /// Puts copies after what they copy.
    fn place_copies(&self, body: &mut Body) {
        for block in &mut body.blocks {
            let bindings = std::mem::take(&mut block.bindings);
            for binding in bindings {
                block.bindings.push(binding);
                block.bindings.extend(self.copies.get(&binding));
            }
        }
    }
}

/// The value at that place; itself, if it is there.
fn copy_to(place: Place, value: Arg, sinfo: StructInfo) -> Def {
    let callee = match place {
        Place::Device => "vm.builtin.to_device",
        Place::Host => "vm.builtin.to_host",
    };
    Def::Call {
        callee: Callee::PurePacked(callee.to_owned()),
        args: vec![value],
        attrs: Attrs::new(),
        sinfo_args: vec![sinfo],
    }
}

fn has_tensors(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(_) | StructInfo::Object => true,
        StructInfo::Tuple(items) => items.iter().any(has_tensors),
        _ => false,
    }
}

/// What is known of a value whose tensors are on this device.
fn on_device(info: &StructInfo, device: Option<&VDevice>) -> StructInfo {
    match info {
        StructInfo::Tensor(info) => StructInfo::Tensor(TensorInfo {
            vdevice: device.cloned(),
            ..info.clone()
        }),
        StructInfo::Tuple(items) => {
            StructInfo::Tuple(items.iter().map(|item| on_device(item, device)).collect())
        }
        other => other.clone(),
    }
}
