//! `fuse_ops`: calls of loop programs that are computed together become functions of their own (Relax: `FuseOps`).
//!
//! `partition` decides what belongs together, `group` makes a function of each group, this file puts calls of these functions
//! in place of the groups. `fuse_tir` makes loop programs of the functions.

mod group;
mod partition;

use std::collections::HashMap;
use std::convert::Infallible;

use self::group::Group;
use self::partition::{Node, partition};
use super::bodies::for_each_body;
use super::op_pattern::stated;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, DpsCallee, Function, Globals, Old, Rewriter, ValueId,
    rewrite,
};
use crate::ir::{
    AttrValue, Attrs, Buffer, Func, Loop, LoopKind, Module, Param, PrimFunc, Scope, alpha_eq,
};
use crate::ops::Pattern;

/// The attribute of functions that were made here, or by patterns: they are computed as a whole.
pub(super) const PRIMITIVE: &str = "Primitive";

/// The module where groups of calls in dataflow blocks are calls of functions, which are private and have the attribute
/// `Primitive`. At most `max_depth` calls are joined. A level of 0 joins nothing.
///
/// ```text
/// with R.dataflow():                                  with R.dataflow():
///     a = R.call_tir(cls.matmul, (x, w), …)       →       b = cls.fused_matmul_relu(x, w)
///     b = R.call_tir(cls.relu, (a,), …)                   R.output(b)
///     R.output(b)
/// ```
pub(super) fn fuse_ops(module: &Module, level: i64, max_depth: usize) -> Module {
    if level == 0 {
        return module.clone();
    }
    let mut out = module.clone();
    for (name, function) in module.functions() {
        if is_whole(function) {
            continue;
        }
        let mut groups = Groups::of(module, function, max_depth);
        if groups.all.is_empty() {
            continue;
        }
        let ordered = groups.in_order(function);
        let globals = Globals::of(&out);
        let Ok(new) = rewrite::<Infallible>(&ordered, &globals, &mut |rewriter, old| {
            Ok(groups.replace(&mut out, rewriter, old))
        });
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    out
}

/// Whether the function was fused before, or is compiled by others.
pub(super) fn is_whole(function: &Function) -> bool {
    let set = |v: &AttrValue| v.as_int().is_some_and(|v| v != 0);
    function.attrs.get(PRIMITIVE).is_some_and(set) || function.attrs.contains_key("Codegen")
}

/// The groups of several values in the dataflow blocks of one function.
struct Groups<'m> {
    module: &'m Module,
    all: Vec<Group>,
    /// By value: its group.
    of: HashMap<ValueId, usize>,
}

impl<'m> Groups<'m> {
    fn of(module: &'m Module, function: &Function, max_depth: usize) -> Self {
        let mut groups = Self {
            module,
            all: vec![],
            of: HashMap::new(),
        };
        for block in function.blocks() {
            if let Some(outputs) = &block.dataflow {
                groups.block(function, &block.bindings, outputs, max_depth);
            }
        }
        groups
    }

    fn block(
        &mut self,
        function: &Function,
        bindings: &[ValueId],
        outputs: &[ValueId],
        max_depth: usize,
    ) {
        let position: HashMap<ValueId, usize> = bindings
            .iter()
            .enumerate()
            .map(|(at, id)| (*id, at))
            .collect();
        let mut nodes: Vec<Node> = bindings
            .iter()
            .map(|id| Node {
                pattern: self.pattern(function, *id),
                escapes: outputs.contains(id),
                users: vec![],
            })
            .collect();
        for (at, id) in bindings.iter().enumerate() {
            for used in function.values[*id].def.used_values() {
                if let Some(&producer) = position.get(&used) {
                    nodes[producer].users.push(at);
                }
            }
        }
        let roots = partition(&nodes, max_depth);
        let mut by_root: HashMap<usize, Vec<ValueId>> = HashMap::new();
        for (at, root) in roots.iter().enumerate() {
            by_root.entry(*root).or_default().push(bindings[at]);
        }
        for at in 0..roots.len() {
            let Some(members) = by_root.remove(&roots[at]).filter(|m| m.len() > 1) else {
                continue;
            };
            let index = self.all.len();
            self.of.extend(members.iter().map(|id| (*id, index)));
            let used_outside = |id: ValueId| {
                outputs.contains(&id)
                    || nodes[position[&id]]
                        .users
                        .iter()
                        .any(|user| roots[*user] != roots[at])
            };
            self.all.push(Group::new(function, members, &used_outside));
        }
    }

    fn pattern(&self, function: &Function, id: ValueId) -> Pattern {
        match &function.values[id].def {
            Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                tir_vars: _,
                inplace: None,
                out: _,
            } => {
                let program = self.module.prim_func(name);
                let tensors = args
                    .iter()
                    .all(|arg| matches!(arg, Arg::Value(_) | Arg::Const(_)));
                match program.filter(|program| tensors && is_plain(program)) {
                    Some(program) => stated(program),
                    None => Pattern::Opaque,
                }
            }
            Def::TupleItem(Arg::Value(tuple), _) if is_weights(function, *tuple) => Pattern::Opaque,
            Def::TupleItem(Arg::Value(_), _) => Pattern::Injective,
            _ => Pattern::Opaque,
        }
    }

    /// The function with the values of each group next to each other, after all that they use.
    fn in_order(&self, function: &Function) -> Function {
        let mut ordered = function.clone();
        let order = |bindings: &[ValueId]| {
            let mut sorted = vec![];
            for &id in bindings {
                self.place(function, bindings, id, &mut sorted);
            }
            sorted
        };
        for_each_body(&mut ordered, &mut |body| {
            for block in &mut body.blocks {
                if block.dataflow.is_some()
                    && block.bindings.iter().any(|id| self.of.contains_key(id))
                {
                    *block = BindingBlock {
                        bindings: order(&block.bindings),
                        dataflow: block.dataflow.clone(),
                    };
                }
            }
        });
        ordered
    }

    /// Adds a value with its group, after what they use.
    fn place(
        &self,
        function: &Function,
        bindings: &[ValueId],
        id: ValueId,
        sorted: &mut Vec<ValueId>,
    ) {
        if sorted.contains(&id) || !bindings.contains(&id) {
            return;
        }
        let members = match self.of.get(&id) {
            Some(&group) => self.all[group].members.clone(),
            None => vec![id],
        };
        for &member in &members {
            for used in function.values[member].def.used_values() {
                if !members.contains(&used) {
                    self.place(function, bindings, used, sorted);
                }
            }
        }
        sorted.extend(members);
    }

    /// The last value of a group becomes the call, the others vanish; other values get the items of its result.
    fn replace(&mut self, out: &mut Module, rewriter: &mut Rewriter<'_>, old: Old<'_>) -> Become {
        let group = self.of.get(&old.id).filter(|_| old.depth == 0);
        let Some(group) = group.map(|&index| &self.all[index]) else {
            return Become::Kept;
        };
        if group.members.last() != Some(&old.id) || group.outputs.is_empty() {
            return Become::Nothing;
        }
        let name = add_function(out, &group.name, &group.function);
        let mut args = vec![];
        for (arg, item) in &group.args {
            let arg = rewriter.arg(arg);
            let Some(index) = item else {
                args.push(arg);
                continue;
            };
            let item = rewriter.builder().bind("lv", Def::TupleItem(arg, *index));
            args.push(Arg::Value(
                item.expect("the group has this element of the tuple"),
            ));
        }
        let call = Def::Call {
            callee: Callee::Global(name),
            args,
            attrs: Attrs::new(),
            sinfo_args: vec![],
        };
        let ret = group.ret.clone();
        match group.outputs.as_slice() {
            [(output, name)] => {
                let call = rewriter.builder().bind_as(name.as_str(), call, ret);
                rewriter.replace(*output, Arg::Value(call));
            }
            outputs => {
                let call = rewriter.builder().bind_as("lv", call, ret);
                for (index, (output, name)) in outputs.iter().enumerate() {
                    let item = Def::TupleItem(Arg::Value(call), index);
                    let info = group.items[index].clone();
                    let item = rewriter.builder().bind_as(name.as_str(), item, info);
                    rewriter.replace(*output, Arg::Value(item));
                }
            }
        }
        Become::Nothing
    }
}

/// Whether the value is a tuple of weights that the function takes: fetching them joins nothing.
fn is_weights(function: &Function, tuple: ValueId) -> bool {
    let inputs = function.attrs.get("num_input").and_then(AttrValue::as_int);
    let at = function.params.iter().position(|param| *param == tuple);
    matches!((inputs, at), (Some(inputs), Some(at)) if at as i64 >= inputs)
}

/// Whether the tensors of the program lie in memory without gaps, as those of a graph do, and the program gives nothing else
/// and has no schedule of its own.
fn is_plain(program: &PrimFunc) -> bool {
    let dense = |buffer: &Buffer| {
        let node = buffer.node();
        node.strides.is_empty() && node.elem_offset.is_none() && node.scope == Scope::Global
    };
    let serial = |l: &Loop| l.kind == LoopKind::Serial;
    program.ret.is_none()
        && program.loops.iter().all(|(_, l)| serial(l))
        && program.params.iter().all(|param| match param {
            Param::Buffer { handle: _, buffer } => dense(buffer),
            Param::Scalar(_) => true,
        })
}

/// Adds a private function and gives its name: `name`, with a number if another function has it. An equal one that is there is
/// taken instead.
fn add_function(module: &mut Module, name: &str, function: &Function) -> String {
    let mut free = name.to_owned();
    let mut count = 0;
    loop {
        match module.funcs.get(&free) {
            None => break,
            Some(Func::Graph(other)) if alpha_eq::function(other, function).is_ok() => return free,
            Some(_) => {
                count += 1;
                free = format!("{name}{count}");
            }
        }
    }
    let mut function = function.with_own_vars();
    function.name.clone_from(&free);
    module.funcs.insert(free.clone(), Func::Graph(function));
    free
}
