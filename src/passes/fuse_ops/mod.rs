//! `fuse_ops`: calls of loop programs that are computed together become functions of their own (Relax: `FuseOps`).
//!
//! `partition` decides what belongs together, `groups` makes functions of it. `fuse_tir` makes loop programs of the functions.

mod partition;

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

pub(super) use self::partition::Limits;
use self::partition::{Node, partition};
use super::Cx;
use super::groups::{Constants, Groups, is_whole};
use super::op_pattern::stated;
use super::unpacked_weights::UnpackedWeights;
use crate::ir::graph::{Arg, BindingBlock, Def, DpsCallee, Function, ValueId};
use crate::ir::{AttrValue, Attrs, Buffer, Func, Loop, LoopKind, Module, Param, PrimFunc, Scope};
use crate::kernel::Target;
use crate::ops::Pattern;

/// How many calls are joined at most, unless the configuration says otherwise (TVM: 256). A loop program takes time to schedule
/// that grows with the square of its blocks, and saves little by more of them: it computes for far longer than it reads.
const DEEPEST: usize = 64;

impl Limits {
    /// The limits of the pass where it runs, and nothing where it does not.
    pub(super) fn of(cx: &Cx) -> Option<Self> {
        let runs = cx.context.opt_level > 0 && !cx.context.disabled.contains("fuse_ops");
        runs.then(|| Self::on(cx))
    }

    /// The limits of a run of the pass.
    pub(super) fn on(cx: &Cx) -> Self {
        let depth = cx.context.config.get("relax.FuseOps.max_depth");
        let depth = depth.and_then(AttrValue::as_int);
        Self {
            calls: depth.map_or(DEEPEST, |depth| depth.max(1) as usize),
            arrays: match &cx.target {
                Target::Gpu(gpu) => gpu.max_storage_buffers as usize,
                Target::Cpu(_) => usize::MAX,
            },
        }
    }
}

/// The module where groups of calls in dataflow blocks are calls of functions, which are private and have the attribute
/// `Primitive`, within these limits. A level of 0 joins nothing.
///
/// ```text
/// with R.dataflow():                                  with R.dataflow():
///     a = R.call_tir(cls.matmul, (x, w), …)       →       b = cls.fused_matmul_relu(x, w)
///     b = R.call_tir(cls.relu, (a,), …)                   R.output(b)
///     R.output(b)
/// ```
pub(super) fn fuse_ops(module: &Module, level: i64, limits: Limits, target: &Target) -> Module {
    if level == 0 {
        return module.clone();
    }
    let mut out = module.clone();
    for (name, function) in module.functions() {
        if is_whole(function) {
            continue;
        }
        let mut groups = Groups::new(function);
        let unpacked = UnpackedWeights::of(module, function, target, Some(limits));
        for block in function.blocks() {
            join(module, function, block, limits, &unpacked, &mut groups);
        }
        if !groups.is_empty() {
            let new = groups.replaced(&mut out);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    out
}

/// Makes groups of the values of a dataflow block that are computed together.
fn join(
    module: &Module,
    function: &Function,
    block: &BindingBlock,
    limits: Limits,
    unpacked: &UnpackedWeights,
    groups: &mut Groups<'_>,
) {
    let Some(outputs) = &block.dataflow else {
        return;
    };
    let bindings = &block.bindings;
    let position: HashMap<ValueId, usize> = bindings
        .iter()
        .enumerate()
        .map(|(at, id)| (*id, at))
        .collect();
    let mut nodes: Vec<Node> = bindings
        .iter()
        .map(|id| Node {
            pattern: pattern(module, function, *id),
            escapes: outputs.contains(id),
            of_weight: unpacked.is_part(*id),
            users: vec![],
            inputs: vec![],
        })
        .collect();
    let mut outside = Outside::default();
    for (at, id) in bindings.iter().enumerate() {
        for used in function.values[*id].def.used_values() {
            if let Some(&producer) = position.get(&used) {
                nodes[producer].users.push(at);
            }
        }
        for arg in function.values[*id].def.args() {
            arg.walk(&mut |leaf| {
                let own = match leaf {
                    Arg::Value(value) => position.get(value).copied(),
                    _ => None,
                };
                let input = own.or_else(|| outside.number(leaf).map(|n| bindings.len() + n));
                nodes[at].inputs.extend(input);
            });
        }
    }
    let roots = partition(&nodes, limits);
    let mut by_root: IndexMap<usize, Vec<ValueId>> = IndexMap::new();
    for (at, root) in roots.iter().enumerate() {
        by_root.entry(*root).or_default().push(bindings[at]);
    }
    for members in by_root.into_values().filter(|members| members.len() > 1) {
        groups.add(block, members, Attrs::new(), Constants::Passed);
    }
}

/// Tensors that a block does not compute: values from outside, and constants.
#[derive(Default)]
struct Outside {
    values: IndexSet<ValueId>,
    constants: usize,
}

impl Outside {
    /// The number of a value, the same each time; each constant is one of its own.
    fn number(&mut self, leaf: &Arg) -> Option<usize> {
        match leaf {
            Arg::Value(value) => Some(2 * self.values.insert_full(*value).0),
            Arg::Const(_) => {
                self.constants += 1;
                Some(2 * self.constants + 1)
            }
            _ => None,
        }
    }
}

/// How the value is computed.
pub(super) fn pattern(module: &Module, function: &Function, id: ValueId) -> Pattern {
    match &function.values[id].def {
        Def::CallDps {
            callee: DpsCallee::Prim(name),
            args,
            tir_vars: _,
            inplace,
            out: _,
        } => {
            let program = module.prim_func(name);
            let plain = args
                .iter()
                .all(|arg| matches!(arg, Arg::Value(_) | Arg::Const(_) | Arg::Prim(_)));
            let overwritten = inplace.iter().flatten().flatten();
            let mut operands = overwritten.map(|at| args.get(*at));
            let own = operands.all(|arg| arg.is_some_and(|arg| is_own(function, arg)));
            match program.filter(|program| plain && own && is_plain(program)) {
                Some(program) => stated(program),
                None => Pattern::Opaque,
            }
        }
        Def::TupleItem(Arg::Value(tuple), _) if is_weights(function, *tuple) => Pattern::Opaque,
        Def::TupleItem(Arg::Value(_), _) => Pattern::Injective,
        _ => Pattern::Opaque,
    }
}

/// Whether the function computes the value for one user alone, who may overwrite it wherever the call stands.
fn is_own(function: &Function, arg: &Arg) -> bool {
    let Arg::Value(id) = arg else {
        return false;
    };
    let used = |used: Vec<ValueId>| used.into_iter().filter(|used| used == id).count();
    let values = function.values.iter();
    let users: usize = values.map(|(_, value)| used(value.def.used_values())).sum();
    let computed = matches!(function.values[*id].def, Def::CallDps { .. });
    computed && users == 1 && used(function.body.result.values()) == 0
}

/// Whether the value is a tuple of weights that the function takes: fetching them joins nothing.
fn is_weights(function: &Function, tuple: ValueId) -> bool {
    let inputs = function.attrs.get("num_input").and_then(AttrValue::as_int);
    let at = function.params.iter().position(|param| *param == tuple);
    matches!((inputs, at), (Some(inputs), Some(at)) if at as i64 >= inputs)
}

/// Whether the tensors of the program lie in memory without gaps, as those of a graph do, and the program gives nothing else
/// and has no schedule of its own.
pub(super) fn is_plain(program: &PrimFunc) -> bool {
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
