//! The bodies of a graph function: its own, those of branches, those of functions inside; and what leaves them.

use std::collections::HashSet;

use crate::ir::graph::{Arg, BindingBlock, Body, Def, Function, Globals, ValueId};
use crate::support::Id;

/// Calls `f` on every body, inner ones first.
pub(super) fn for_each_body(function: &mut Function, f: &mut dyn FnMut(&mut Body)) {
    for index in 0..function.values.bound() {
        let Some(value) = function.values.get_mut(ValueId::from_index(index)) else {
            continue;
        };
        match &mut value.def {
            Def::If {
                cond: _,
                then,
                otherwise,
            } => {
                f(then);
                f(otherwise);
            }
            Def::Function(inner) => for_each_body(inner, f),
            _ => {}
        }
    }
    f(&mut function.body);
}

/// Calls `f` on the function and those inside, inner ones first.
///
/// # Errors
/// The first of `f`.
pub(super) fn for_each_function<E>(
    function: &mut Function,
    f: &mut dyn FnMut(&mut Function) -> Result<(), E>,
) -> Result<(), E> {
    for index in 0..function.values.bound() {
        let value = function.values.get_mut(ValueId::from_index(index));
        if let Some(Def::Function(inner)) = value.map(|value| &mut value.def) {
            for_each_function(inner, f)?;
        }
    }
    f(function)
}

/// Calls `f` on the body of the function and those of its branches, not on those of functions inside.
pub(super) fn for_each_own_body(function: &mut Function, f: &mut dyn FnMut(&mut Body)) {
    for index in 0..function.values.bound() {
        let value = function.values.get_mut(ValueId::from_index(index));
        if let Some(Def::If {
            cond: _,
            then,
            otherwise,
        }) = value.map(|value| &mut value.def)
        {
            f(then);
            f(otherwise);
        }
    }
    f(&mut function.body);
}

/// Calls `f` with each block of the function and of those inside, and with the function that has the block.
pub(super) fn for_each_block<'f>(
    function: &'f Function,
    f: &mut dyn FnMut(&'f Function, &'f BindingBlock),
) {
    for block in function.blocks() {
        f(function, block);
    }
    for (_, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            for_each_block(inner, f);
        }
    }
}

/// Bindings in a row without a branch or a side effect, of the body of the function and those of its branches.
pub(super) fn pure_runs(function: &Function, globals: &Globals) -> Vec<Vec<ValueId>> {
    let mut runs = vec![];
    for block in function.blocks() {
        let mut run = vec![];
        for &id in &block.bindings {
            let ends = match &function.values[id].def {
                Def::If {
                    cond: _,
                    then: _,
                    otherwise: _,
                } => true,
                Def::Call {
                    callee,
                    args: _,
                    attrs: _,
                    sinfo_args: _,
                } => !callee.is_pure(globals, &function.values),
                _ => false,
            };
            if ends {
                runs.push(std::mem::take(&mut run));
            } else {
                run.push(id);
            }
        }
        runs.push(run);
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Adds the addresses of values that others than bindings of their dataflow block use. `functions` are the function in question,
/// last, and those around it.
pub(super) fn values_that_stay(functions: &mut Vec<&Function>, stay: &mut HashSet<usize>) {
    let Some(&function) = functions.last() else {
        return;
    };
    let address = |function: &Function, id: ValueId| {
        let value = function.values.get(id);
        value.map(|value| std::ptr::from_ref(value) as usize)
    };
    for block in function.blocks() {
        let outputs = block.dataflow.iter().flatten();
        stay.extend(outputs.filter_map(|&id| address(function, id)));
    }
    for arg in function.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Captured { depth, value } = leaf
                && let Some(at) = (functions.len() - 1).checked_sub(*depth)
            {
                stay.extend(address(functions[at], *value));
            }
        });
    }
    for (_, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            functions.push(inner);
            values_that_stay(functions, stay);
            functions.pop();
        }
    }
}
