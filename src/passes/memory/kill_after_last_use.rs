//! `kill_after_last_use`: what a function needs no more it gives back at once (Relax: `KillAfterLastUse`).

use std::collections::{HashMap, HashSet};

use super::call;
use crate::ir::graph::{Arg, Body, Callee, Def, Function, Value, ValueId};
use crate::ir::{Func, Module, StructInfo};
use crate::ops::{self, Compute, MachineOp};
use crate::passes::PassError;
use crate::passes::bodies::for_each_own_body;
use crate::passes::canonicalize_bindings::canonicalize_bindings;
use crate::support::Id;

/// The module in which the life of a value ends after the last binding that uses it: `R.memory.kill_tensor` for tensors,
/// `R.memory.kill_storage` for storage, `R.vm.kill_object` for the rest. Parameters, constants, shapes, scalars and functions
/// take no memory, and what a body gives lives on. Bindings get canonical before.
///
/// ```text
/// storage = R.memory.alloc_storage(…)         storage = R.memory.alloc_storage(…)
/// a = R.memory.alloc_tensor(storage, …)   →   a = R.memory.alloc_tensor(storage, …)
/// exp(x, a)                                   R.memory.kill_storage(storage)
/// b = R.add(a, a)                             exp(x, a)
/// return b                                    b = R.add(a, a)
///                                             R.memory.kill_tensor(a)
///                                             return b
/// ```
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(in crate::passes) fn kill_after_last_use(module: &Module) -> Result<Module, PassError> {
    let mut out = canonicalize_bindings(module)?;
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            kill(function);
        }
    }
    Ok(out)
}

fn kill(function: &mut Function) {
    for index in 0..function.values.bound() {
        let value = function.values.get_mut(ValueId::from_index(index));
        if let Some(Def::Function(inner)) = value.map(|value| &mut value.def) {
            kill(inner);
        }
    }
    let mut kills: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    ends(function, &function.body, &mut kills);
    let kills: HashMap<ValueId, Vec<ValueId>> = kills
        .into_iter()
        .map(|(after, values)| {
            let ended = values.into_iter().map(|value| {
                let kill = end_of(&function.values[value], value);
                function.values.push(kill)
            });
            (after, ended.collect())
        })
        .collect();
    for_each_own_body(function, &mut |body| {
        for block in &mut body.blocks {
            let bindings = std::mem::take(&mut block.bindings);
            for binding in bindings {
                block.bindings.push(binding);
                block
                    .bindings
                    .extend(kills.get(&binding).into_iter().flatten());
            }
        }
    });
}

/// By binding of a body and its branches: the values whose lives end after it.
fn ends(function: &Function, body: &Body, kills: &mut HashMap<ValueId, Vec<ValueId>>) {
    let bindings = || body.blocks.iter().flat_map(|block| &block.bindings);
    let mut last: HashMap<ValueId, ValueId> = HashMap::new();
    let mut killed: HashSet<ValueId> = HashSet::new();
    for &binding in bindings() {
        let def = &function.values[binding].def;
        for branch in def.bodies() {
            ends(function, branch, kills);
        }
        if is_kill(def) {
            killed.extend(def.used_values());
        } else {
            let uses = uses(function, def);
            last.extend(uses.into_iter().map(|used| (used, binding)));
        }
    }
    let given: HashSet<ValueId> = body.result.values().into_iter().collect();
    for &value in bindings() {
        let takes_memory = !matches!(
            function.values[value],
            Value {
                def: Def::Arg(_) | Def::Function(_),
                ..
            } | Value {
                sinfo: StructInfo::Callable { .. } | StructInfo::Shape(_) | StructInfo::Prim { .. },
                ..
            }
        );
        if let Some(&after) = last.get(&value)
            && takes_memory
            && !given.contains(&value)
            && !killed.contains(&value)
        {
            let after = kills.entry(after).or_default();
            // Tensors first, then storage, then the rest.
            let rank = |value: ValueId| match &function.values[value] {
                value if is_storage(&value.def) => 1,
                value if value.sinfo.as_tensor().is_some() => 0,
                _ => 2,
            };
            let at = after.partition_point(|other| rank(*other) <= rank(value));
            after.insert(at, value);
        }
    }
}

/// The values of its function that a definition uses, those that its branches use included.
fn uses(function: &Function, def: &Def) -> Vec<ValueId> {
    let mut out = def.used_values();
    for body in def.bodies() {
        for &binding in body.blocks.iter().flat_map(|block| &block.bindings) {
            out.extend(uses(function, &function.values[binding].def));
        }
    }
    out
}

fn machine_op(def: &Def) -> Option<MachineOp> {
    match def {
        Def::Call {
            callee: Callee::Op(op),
            ..
        } => match ops::def(*op).compute {
            Compute::Machine(op) => Some(op),
            _ => None,
        },
        _ => None,
    }
}

fn is_kill(def: &Def) -> bool {
    machine_op(def) == Some(MachineOp::Kill)
}

fn is_storage(def: &Def) -> bool {
    machine_op(def) == Some(MachineOp::AllocStorage)
}

/// The binding that ends the life of a value.
fn end_of(value: &Value, id: ValueId) -> Value {
    let op = match value {
        value if is_storage(&value.def) => "memory.kill_storage",
        value if value.sinfo.as_tensor().is_some() => "memory.kill_tensor",
        _ => "vm.kill_object",
    };
    Value {
        name: "_".to_owned(),
        sinfo: StructInfo::Tuple(vec![]),
        def: call(op, vec![Arg::Value(id)], vec![]),
        origin: value.origin.clone(),
    }
}
