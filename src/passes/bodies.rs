//! The bodies of a graph function: its own, those of branches, those of functions inside.

use crate::ir::graph::{Body, Def, Function, ValueId};
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
