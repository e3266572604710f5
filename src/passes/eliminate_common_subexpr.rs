//! `eliminate_common_subexpr`: what is computed twice is computed once (Relax: `EliminateCommonSubexpr`).

use std::collections::HashMap;

use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{Arg, Body, Callee, Def, Function, Globals, ValueId};
use crate::ir::{Func, Module};
use crate::ops;

/// Which bindings are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compared {
    /// All.
    All,
    /// Calls.
    Calls,
}

/// The module with other names for values where it computed them again. Two bindings are the same if they are written the
/// same, with arguments that are the same; checks must define the same symbolic variables. Calls with side effects, calls that
/// overwrite their arguments, allocations, branches and closures are never the same. A value of a dataflow block is not known
/// after it, and one of a branch not outside of it. Closures are looked at on their own.
///
/// ```text
/// a = R.add(x, y)              a = R.add(x, y)
/// b = R.add(x, y)         →    b = a
/// c = R.multiply(a, b)         c = R.multiply(a, a)
/// ```
pub(super) fn eliminate_common_subexpr(module: &Module, compared: Compared) -> Module {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            Common::new(&globals, compared).function(function);
        }
    }
    out
}

/// The function with other names for values where it computed them again.
pub(super) fn without_common(function: &Function, globals: &Globals) -> Function {
    let mut new = function.clone();
    Common::new(globals, Compared::All).function(&mut new);
    new
}

struct Common<'g> {
    globals: &'g Globals,
    compared: Compared,
    /// Values that can be used here, with their definitions.
    known: Vec<(Def, ValueId)>,
    /// What is used instead of a value.
    instead: HashMap<ValueId, ValueId>,
}

impl<'g> Common<'g> {
    fn new(globals: &'g Globals, compared: Compared) -> Self {
        Self {
            globals,
            compared,
            known: vec![],
            instead: HashMap::new(),
        }
    }

    fn function(&mut self, function: &mut Function) {
        let mut body = function.body.clone();
        self.body(function, &mut body);
        function.body = body;
    }

    fn body(&mut self, function: &mut Function, body: &mut Body) {
        for block in &body.blocks {
            let before = block.dataflow.as_ref().map(|_| self.instead.clone());
            for id in &block.bindings {
                self.binding(function, *id);
            }
            if let (Some(outputs), Some(before)) = (&block.dataflow, before) {
                let stays = |id: &ValueId| !block.bindings.contains(id) || outputs.contains(id);
                self.known.retain(|(_, id)| stays(id));
                self.instead = before;
            }
        }
        body.result = self.arg(&body.result);
    }

    fn binding(&mut self, function: &mut Function, id: ValueId) {
        let mut def = std::mem::replace(&mut function.values[id].def, Def::Param);
        match &mut def {
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                *cond = self.arg(cond);
                for branch in [then, otherwise] {
                    let outer = (self.known.clone(), self.instead.clone());
                    self.body(function, branch);
                    (self.known, self.instead) = outer;
                }
            }
            Def::Function(inner) => Self::new(self.globals, self.compared).function(inner),
            other => {
                *other = other.map(&mut |leaf| self.arg(leaf), &mut Clone::clone);
                if self.may_share(function, other) {
                    self.share(function, id, other);
                }
            }
        }
        function.values[id].def = def;
    }

    /// Makes `def`, which defines `id`, another name for a value with an equal definition, or notes that it is the first.
    fn share(&mut self, function: &Function, id: ValueId, def: &mut Def) {
        let first = self.known.iter().find(|(known, first)| {
            let [first, second] = [*first, id].map(|id| &function.values[id].sinfo);
            known.is_same(def) && is_base_of(second, first) == Proof::Yes
        });
        let first = first.map(|(_, first)| *first);
        // The first may be known in a dataflow block only.
        self.known.push((def.clone(), id));
        if let Some(first) = first {
            *def = Def::Arg(Arg::Value(first));
            self.instead.insert(id, first);
        }
    }

    fn may_share(&self, function: &Function, def: &Def) -> bool {
        match def {
            Def::Call {
                callee,
                args: _,
                attrs: _,
                sinfo_args: _,
            } => {
                let allocates = matches!(callee, Callee::Op(op) if ops::def(*op).allocates);
                !allocates && callee.is_pure(self.globals, &function.values)
            }
            Def::CallDps {
                callee: _,
                args: _,
                tir_vars: _,
                inplace,
                out: _,
            } => inplace.is_none(),
            _ => self.compared == Compared::All,
        }
    }

    fn arg(&self, arg: &Arg) -> Arg {
        arg.map_leaves(&mut |leaf| match leaf {
            Arg::Value(id) => Arg::Value(self.instead.get(id).copied().unwrap_or(*id)),
            other => other.clone(),
        })
    }
}
