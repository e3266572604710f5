//! `call_tir_rewrite`: calls of loop programs get their memory before them (Relax: `CallTIRRewrite`).

use std::collections::{HashMap, HashSet};

use super::alloc_tensor;
use super::liveness::{Aliases, Liveness};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Function, Globals, GraphBuilder, ValueId, rewrite,
};
use crate::ir::{Attrs, Func, Module, StructInfo};
use crate::kernel::Target;
use crate::ops::{self, HOST_DEVICE};
use crate::passes::{PassError, is_of_host};

/// The module in which each call in destination-passing style is a call that writes memory, which is allocated before it
/// (`R.builtin.alloc_tensor`). A call that overwrites an input gets no memory for that output, but a copy of an input that is
/// read again. Functions have side effects then: run `to_non_dataflow` and `remove_purity_checking` before.
///
/// ```text
///                                                    alloc = R.builtin.alloc_tensor(R.shape([4]), …)
/// y = R.call_tir(exp, (x,), R.Tensor((4,), …))   →   exp(x, alloc)
///                                                    y = alloc
/// ```
///
/// A packed function of the host writes host memory: on a GPU its results are copied to the device
/// (`vm.builtin.to_device`).
///
/// # Errors
/// [`PassError::UnknownOutput`] if the shape or the element type of an output is not known.
pub(in crate::passes) fn call_tir_rewrite(
    module: &Module,
    target: &Target,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, func) in &mut out.funcs {
        let Func::Graph(function) = func else {
            continue;
        };
        let mut copied = HashMap::new();
        inputs_to_copy(function, &mut copied);
        *function = rewrite(function, &globals, &mut |rewriter, old| {
            let Def::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } = old.def
            else {
                return Ok(Become::Kept);
            };
            let (callee, on_host) = match callee {
                DpsCallee::Packed(name) if module.prim_func(name).is_none() => (
                    Callee::Packed(name.clone()),
                    matches!(target, Target::Gpu(_)),
                ),
                DpsCallee::Prim(name) | DpsCallee::Packed(name) => {
                    let of_host = module.prim_func(name).is_some_and(is_of_host);
                    let on_host = of_host && matches!(target, Target::Gpu(_));
                    (Callee::Global(name.clone()), on_host)
                }
            };
            // Others than packed functions leave their results there.
            let copied_back = on_host && matches!(callee, Callee::Packed(_));
            let address = std::ptr::from_ref(old.value) as usize;
            let mut call = Lowered {
                module,
                func: name,
                value: &old.value.name,
                builder: rewriter.builder(),
                on_host,
                operands: vec![],
                copied: copied.get(&address),
            };
            for arg in args {
                call.operand(arg);
            }
            let result = call.outputs(out, inplace.as_deref())?;
            let operands = call.operands;
            let builder = rewriter.builder();
            let nothing = match &callee {
                Callee::Packed(_) => StructInfo::Object,
                _ => StructInfo::Tuple(vec![]),
            };
            let (callee, args) = if tir_vars.is_empty() {
                (callee, operands)
            } else {
                let Callee::Global(name) = callee else {
                    unreachable!("packed functions take no sizes")
                };
                let mut operands = operands;
                operands.push(Arg::Shape(tir_vars.clone()));
                let args = vec![Arg::Global(name), Arg::Tuple(operands)];
                (Callee::Op(ops::op("vm.call_tir_dyn")), args)
            };
            builder.bind_as("_", call_of(callee, args), nothing);
            let result = match copied_back {
                true => to_device(builder, &result, out),
                false => result,
            };
            Ok(Become::Def(Def::Arg(result)))
        })?;
    }
    Ok(out)
}

/// A call while its operands are gathered.
struct Lowered<'a> {
    module: &'a Module,
    func: &'a str,
    value: &'a str,
    builder: &'a mut GraphBuilder,
    on_host: bool,
    operands: Vec<Arg>,
    /// Inputs that the call overwrites and others read.
    copied: Option<&'a HashSet<usize>>,
}

impl Lowered<'_> {
    /// Adds an input; a tuple by its elements.
    fn operand(&mut self, arg: &Arg) {
        let items = match (arg, self.builder.scope().arg(arg)) {
            (Arg::Tuple(items), _) => items.clone(),
            (_, StructInfo::Tuple(infos)) => {
                let items = infos.into_iter().enumerate().map(|(at, info)| {
                    let item = Def::TupleItem(arg.clone(), at);
                    Arg::Value(self.builder.bind_as("item", item, info))
                });
                items.collect()
            }
            _ => {
                let mut arg = arg.clone();
                let at = self.operands.len();
                if self.copied.is_some_and(|copied| copied.contains(&at)) {
                    let info = self.builder.scope().arg(&arg);
                    arg = builtin(self.builder, "copy", "vm.builtin.copy", &arg, &info);
                }
                self.operands.push(arg);
                return;
            }
        };
        items.iter().for_each(|item| self.operand(item));
    }

    /// What the call gives: new memory, or inputs that it overwrites.
    fn outputs(
        &mut self,
        out: &StructInfo,
        inplace: Option<&[Option<usize>]>,
    ) -> Result<Arg, PassError> {
        let StructInfo::Tuple(items) = out else {
            let overwritten = inplace.and_then(|list| list.first().copied().flatten());
            return self.output(out, overwritten);
        };
        let outputs = items.iter().enumerate().map(|(at, item)| match item {
            StructInfo::Tuple(_) => self.outputs(item, None),
            tensor => {
                let overwritten = inplace.and_then(|list| list.get(at).copied().flatten());
                self.output(tensor, overwritten)
            }
        });
        Ok(Arg::Tuple(outputs.collect::<Result<_, _>>()?))
    }

    fn output(&mut self, info: &StructInfo, overwritten: Option<usize>) -> Result<Arg, PassError> {
        if let Some(input) = overwritten {
            return Ok(self.operands[input].clone());
        }
        let device = info.as_tensor().and_then(|tensor| tensor.vdevice.as_ref());
        let index = match (self.on_host, device) {
            (true, _) => HOST_DEVICE,
            (false, None) => 0,
            (false, Some(device)) => {
                let known = self.module.vdevices.iter().position(|d| d == device);
                known.unwrap_or(0) as i64
            }
        };
        let scope = device.map_or("global", |device| device.scope.as_str());
        let memory = alloc_tensor(info, index, scope).ok_or_else(|| PassError::UnknownOutput {
            func: self.func.to_owned(),
            value: self.value.to_owned(),
        })?;
        let memory = Arg::Value(self.builder.bind_as("alloc", memory, info.clone()));
        self.operands.push(memory.clone());
        Ok(memory)
    }
}

/// The tensors of an output on the device.
fn to_device(builder: &mut GraphBuilder, output: &Arg, info: &StructInfo) -> Arg {
    match (output, info) {
        (Arg::Tuple(items), StructInfo::Tuple(infos)) => {
            let items = items.iter().zip(infos);
            Arg::Tuple(items.map(|(i, info)| to_device(builder, i, info)).collect())
        }
        _ => builtin(builder, "copy", "vm.builtin.to_device", output, info),
    }
}

fn builtin(
    builder: &mut GraphBuilder,
    name: &str,
    callee: &str,
    arg: &Arg,
    info: &StructInfo,
) -> Arg {
    let def = Def::Call {
        callee: Callee::PurePacked(callee.to_owned()),
        args: vec![arg.clone()],
        attrs: Attrs::new(),
        sinfo_args: vec![info.clone()],
    };
    Arg::Value(builder.bind_as(name, def, info.clone()))
}

fn call_of(callee: Callee, args: Vec<Arg>) -> Def {
    Def::Call {
        callee,
        args,
        attrs: Attrs::new(),
        sinfo_args: vec![],
    }
}

/// By the address of the value that a call overwriting inputs is: which of its inputs others read, as another argument of the
/// call, or after it. Functions inside count too.
fn inputs_to_copy(function: &Function, out: &mut HashMap<usize, HashSet<usize>>) {
    let live = Liveness::of(function);
    let aliases = Aliases::of(function);
    for (id, value) in function.values.iter() {
        match &value.def {
            Def::Function(inner) => inputs_to_copy(inner, out),
            Def::CallDps {
                args,
                inplace: Some(inplace),
                ..
            } => {
                let mut inputs = vec![];
                args.iter()
                    .for_each(|arg| leaves(function, arg, &mut inputs));
                let shared = |&input: &usize| match inputs.get(input) {
                    Some(Some(arg)) => is_shared(arg, id, &inputs, &live, &aliases),
                    _ => true,
                };
                let overwritten = inplace.iter().copied().flatten();
                let copied = overwritten.filter(shared).collect();
                out.insert(std::ptr::from_ref(value) as usize, copied);
            }
            _ => {}
        }
    }
}

/// The inputs that an argument is, without those that are elements of a value.
fn leaves(function: &Function, arg: &Arg, out: &mut Vec<Option<Arg>>) {
    match arg {
        Arg::Tuple(items) => items.iter().for_each(|item| leaves(function, item, out)),
        Arg::Value(id) => match &function.values[*id].sinfo {
            StructInfo::Tuple(items) => out.extend(items.iter().map(|_| None)),
            _ => out.push(Some(arg.clone())),
        },
        other => out.push(Some(other.clone())),
    }
}

fn is_shared(
    arg: &Arg,
    call: ValueId,
    inputs: &[Option<Arg>],
    live: &Liveness,
    aliases: &Aliases,
) -> bool {
    let given = inputs
        .iter()
        .flatten()
        .filter(|input| aliases.meet(arg, input));
    !aliases.has_memory(arg)
        || given.count() > 1
        || aliases.names(arg).any(|name| live.named_after(name, call))
}
