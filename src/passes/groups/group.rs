//! A group of values as a function: what it takes from outside are its parameters.

use std::collections::HashMap;

use super::PRIMITIVE;
use crate::ir::graph::{Arg, Callee, Def, DpsCallee, Function, GraphBuilder, ValueId};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo, Var};
use crate::tensor::Tensor;

/// What becomes of tensor constants that a group uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// They are arguments of the call.
    Passed,
    /// They stay in the function.
    Inside,
}

/// Values that are computed together, and the function that does.
pub(super) struct Group {
    /// In the order of the block.
    pub(super) members: Vec<ValueId>,
    /// Those that others use, with their names, in the order of the function's results.
    pub(super) outputs: Vec<(ValueId, String)>,
    /// The types of the outputs.
    pub(super) items: Vec<StructInfo>,
    /// The type of what a call gives.
    pub(super) ret: StructInfo,
    /// What the function is called if the name is free.
    pub(super) name: String,
    /// The function.
    pub(super) function: Function,
    /// The arguments of its call, in terms of the function around: an argument, or an element of a tuple.
    pub(super) args: Vec<(Arg, Option<usize>)>,
}

impl Group {
    pub(super) fn new(
        around: &Function,
        members: Vec<ValueId>,
        outputs: &[ValueId],
        attrs: Attrs,
        constants: Constants,
    ) -> Self {
        let callees = members
            .iter()
            .filter_map(|id| callee(&around.values[*id].def));
        let name = callees.fold("fused".to_owned(), |name, callee| name + "_" + &callee);
        let outputs: Vec<(ValueId, String)> = outputs
            .iter()
            .map(|id| (*id, around.values[*id].name.clone()))
            .collect();
        let items: Vec<StructInfo> = outputs
            .iter()
            .map(|(id, _)| around.values[*id].sinfo.clone())
            .collect();
        let ret = match items.as_slice() {
            [item] => item.clone(),
            items => StructInfo::Tuple(items.to_vec()),
        };
        let inputs = Inputs::of(around, &members, constants);
        let mut builder = GraphBuilder::new(name.clone());
        builder.set_private(true);
        *builder.attrs() = attrs;
        builder
            .attrs()
            .insert(PRIMITIVE.to_owned(), AttrValue::Bool(true));
        let mut new: HashMap<ValueId, Arg> = HashMap::new();
        let (mut params, mut args) = (vec![], vec![]);
        for input in inputs.all {
            let param = builder.param(input.name, input.sinfo);
            let item = match input.source {
                Source::Item(_, index) => Some(index),
                Source::Value(_) | Source::Const(_) => None,
            };
            params.push((input.source, param));
            args.push((input.arg, item));
        }
        let free = inputs.free_vars;
        if !free.is_empty() {
            let dims: Vec<Expr> = free.iter().map(Var::expr).collect();
            let shape = StructInfo::Shape(crate::ir::ShapeInfo::Known(dims.clone()));
            builder.param("tir_vars", shape);
            args.push((Arg::Shape(dims), None));
        }
        let param_of = |wanted: &Source| {
            let found = params.iter().find(|(source, _)| source.is(wanted));
            found.map(|(_, param)| Arg::Value(*param))
        };
        builder.begin_dataflow();
        for id in &members {
            let value = &around.values[*id];
            if let Def::TupleItem(Arg::Value(tuple), index) = &value.def
                && let Some(param) = param_of(&Source::Item(*tuple, *index))
            {
                new.insert(*id, param);
                continue;
            }
            let mut leaf = |arg: &Arg| match arg {
                Arg::Value(id) => new
                    .get(id)
                    .cloned()
                    .or_else(|| param_of(&Source::Value(*id)))
                    .or_else(|| fixed(around, *id).cloned())
                    .unwrap_or_else(|| arg.clone()),
                Arg::Const(tensor) => {
                    param_of(&Source::Const(tensor.clone())).unwrap_or_else(|| arg.clone())
                }
                other => other.clone(),
            };
            let def = value.def.map(&mut leaf, &mut Clone::clone);
            builder.set_origin(value.origin.clone());
            let made = builder.bind_as(value.name.as_str(), def, value.sinfo.clone());
            new.insert(*id, Arg::Value(made));
        }
        let results: Vec<Arg> = outputs.iter().map(|(id, _)| new[id].clone()).collect();
        let bound = results.iter().filter_map(|arg| match arg {
            Arg::Value(id) => Some(*id).filter(|id| !params.iter().any(|(_, param)| param == id)),
            _ => None,
        });
        builder.end_dataflow(bound.collect());
        let result = match results.as_slice() {
            [result] => result.clone(),
            results => Arg::Tuple(results.to_vec()),
        };
        let function = builder.finish_as(result, ret.clone());
        Self {
            members,
            outputs,
            items,
            ret,
            name,
            function,
            args,
        }
    }
}

/// What the name of a group says of a call: Relax's name of the operator, or the name of the callee.
fn callee(def: &Def) -> Option<String> {
    let op = |name: &str| format!("relax_{}", name.replace('.', "_"));
    match def {
        Def::Call {
            callee: Callee::Op(callee),
            args: _,
            attrs: _,
            sinfo_args: _,
        } => Some(op(callee.name())),
        Def::CallDps {
            callee: DpsCallee::Packed(_),
            args: _,
            tir_vars: _,
            inplace: _,
            out: _,
        } => Some(op("call_dps_packed")),
        Def::Call {
            callee: Callee::Global(name),
            args: _,
            attrs: _,
            sinfo_args: _,
        } => Some(name.strip_prefix("fused_").unwrap_or(name).to_owned()),
        _ => def.callee().map(str::to_owned),
    }
}

/// What the value is a name for, if that is a shape or scalar without variables: the function of a group has a copy of it.
fn fixed(around: &Function, id: ValueId) -> Option<&Arg> {
    fn is_fixed(arg: &Arg) -> bool {
        match arg {
            Arg::Shape(dims) => dims.iter().all(|dim| dim.free_vars().is_empty()),
            Arg::Prim(scalar) => scalar.free_vars().is_empty(),
            Arg::Tuple(items) => items.iter().all(is_fixed),
            _ => false,
        }
    }
    match &around.values[id].def {
        Def::Arg(Arg::Value(other)) => fixed(around, *other),
        Def::Arg(arg) => Some(arg).filter(|arg| is_fixed(arg)),
        _ => None,
    }
}

/// Where a parameter comes from.
#[derive(Clone)]
enum Source {
    Value(ValueId),
    /// An element of a tuple of which the group uses nothing but elements.
    Item(ValueId, usize),
    Const(Tensor),
}

impl Source {
    /// Whether both are one thing. Constants are the same if they share their elements.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(a), Self::Value(b)) => a == b,
            (Self::Item(a, i), Self::Item(b, j)) => a == b && i == j,
            (Self::Const(a), Self::Const(b)) => {
                a.bytes().as_ptr() == b.bytes().as_ptr()
                    && a.shape() == b.shape()
                    && a.dtype() == b.dtype()
            }
            _ => false,
        }
    }
}

/// A parameter of the group's function.
struct Input {
    source: Source,
    name: String,
    sinfo: StructInfo,
    /// What the call gives for it, or the tuple that it is an element of.
    arg: Arg,
}

/// What a group takes from outside, in order of first use.
struct Inputs {
    all: Vec<Input>,
    /// Symbolic sizes that no parameter fixes.
    free_vars: Vec<Var>,
}

impl Inputs {
    fn of(around: &Function, members: &[ValueId], constants: Constants) -> Self {
        let mut inputs = Self {
            all: vec![],
            free_vars: vec![],
        };
        for id in members {
            let def = &around.values[*id].def;
            if let Def::TupleItem(Arg::Value(tuple), index) = def {
                if !members.contains(tuple) {
                    let whole = &around.values[*tuple];
                    inputs.add(
                        Source::Item(*tuple, *index),
                        format!("{}_{index}", whole.name),
                        around.values[*id].sinfo.clone(),
                        Arg::Value(*tuple),
                    );
                }
                continue;
            }
            for arg in def.args() {
                arg.walk(&mut |leaf| match leaf {
                    Arg::Value(value)
                        if !members.contains(value) && fixed(around, *value).is_none() =>
                    {
                        let node = &around.values[*value];
                        let (name, sinfo) = (node.name.clone(), node.sinfo.clone());
                        inputs.add(Source::Value(*value), name, sinfo, leaf.clone());
                    }
                    Arg::Const(tensor) if constants == Constants::Passed => {
                        let is_const = |input: &&Input| matches!(input.source, Source::Const(_));
                        let name = format!("param_{}", inputs.all.iter().filter(is_const).count());
                        let dims = tensor.shape().iter().map(|&dim| Expr::i64(dim as i64));
                        let sinfo = StructInfo::tensor(dims.collect(), tensor.dtype());
                        inputs.add(Source::Const(tensor.clone()), name, sinfo, leaf.clone());
                    }
                    _ => {}
                });
            }
        }
        let defined: Vec<Var> = inputs
            .all
            .iter()
            .flat_map(|input| input.sinfo.defined_vars())
            .collect();
        let params = inputs.all.iter().flat_map(|input| input.sinfo.free_vars());
        let inside = members.iter().flat_map(|id| {
            let value = &around.values[*id];
            let exprs = value.def.exprs().into_iter().flat_map(Expr::free_vars);
            exprs.chain(value.sinfo.free_vars()).collect::<Vec<_>>()
        });
        for var in params.chain(inside) {
            if !defined.contains(&var) && !inputs.free_vars.contains(&var) {
                inputs.free_vars.push(var);
            }
        }
        inputs
    }

    fn add(&mut self, source: Source, name: String, sinfo: StructInfo, arg: Arg) {
        if !self.all.iter().any(|input| input.source.is(&source)) {
            self.all.push(Input {
                source,
                name,
                sinfo,
                arg,
            });
        }
    }
}
