//! Last uses: after which binding of a function each value is not needed any more.

use std::collections::HashMap;

use super::closure::captured;
use crate::ir::graph::{Arg, Body, Callee, Def, Function, ValueId};

/// Positions of bindings in program order, and last uses.
pub(super) struct Liveness {
    position: HashMap<ValueId, usize>,
    /// By value: position of the last use of its memory; `usize::MAX` for what the function gives back.
    last: HashMap<ValueId, usize>,
    /// By value: position of the last binding that names it. What such a binding passes on is another value.
    named: HashMap<ValueId, usize>,
}

impl Liveness {
    pub(super) fn of(function: &Function) -> Self {
        let mut live = Self {
            position: HashMap::new(),
            last: HashMap::new(),
            named: HashMap::new(),
        };
        let mut order = Vec::new();
        live.number(function, &function.body, &mut order);
        live.use_arg(&function.body.result, usize::MAX);
        live.name(&function.body.result, usize::MAX);
        // Backwards, so that the uses of a name are known when those of what it names are noted.
        for (value, at) in order.into_iter().rev() {
            live.use_def(function, value, at);
            live.name_all(function, value, at);
        }
        live
    }

    /// Whether a binding after this one names the value.
    pub(super) fn named_after(&self, value: ValueId, binding: ValueId) -> bool {
        let at = self.position.get(&binding).copied().unwrap_or(0);
        self.named.get(&value).is_some_and(|named| *named > at)
    }

    /// Whether the memory of the value is not used after this binding.
    pub(super) fn dead_after(&self, value: ValueId, binding: ValueId) -> bool {
        let at = self.position.get(&binding).copied().unwrap_or(0);
        self.last.get(&value).copied().unwrap_or(0) <= at
    }

    /// Whether the function gives the value back.
    pub(super) fn is_result(&self, value: ValueId) -> bool {
        self.last.get(&value) == Some(&usize::MAX)
    }

    fn number(&mut self, function: &Function, body: &Body, order: &mut Vec<(ValueId, usize)>) {
        for &value in body.blocks.iter().flat_map(|block| &block.bindings) {
            if let Def::If {
                cond: _,
                then,
                otherwise,
            } = &function.values[value].def
            {
                self.number(function, then, order);
                self.number(function, otherwise, order);
            }
            let at = order.len() + 1;
            self.position.insert(value, at);
            order.push((value, at));
        }
    }

    fn use_def(&mut self, function: &Function, value: ValueId, at: usize) {
        // A name, a tuple or an element lives on in what it was made of.
        let passed_on = self.last.get(&value).copied().unwrap_or(at).max(at);
        match &function.values[value].def {
            Def::Param => {}
            Def::Arg(arg) | Def::TupleItem(arg, _) | Def::MatchCast(arg, _) => {
                self.use_arg(arg, passed_on);
            }
            Def::CallDps {
                callee: _,
                args,
                tir_vars: _,
                inplace,
                out: _,
            } => {
                let until = if inplace.is_some() { passed_on } else { at };
                args.iter().for_each(|arg| self.use_arg(arg, until));
            }
            // The result may be, or hold, an argument, or what a closure holds.
            Def::Call {
                callee,
                args,
                attrs: _,
                sinfo_args: _,
            } => {
                if let Callee::Value(closure) = callee {
                    self.use_arg(&Arg::Value(*closure), passed_on);
                }
                args.iter().for_each(|arg| self.use_arg(arg, passed_on));
            }
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                self.use_arg(cond, at);
                self.use_arg(&then.result, passed_on);
                self.use_arg(&otherwise.result, passed_on);
            }
            Def::Function(inner) => {
                let here = captured(inner, value).into_iter();
                here.filter(|(depth, _)| *depth == 1)
                    .for_each(|(_, captured)| self.use_arg(&Arg::Value(captured), passed_on));
            }
        }
    }

    fn name_all(&mut self, function: &Function, value: ValueId, at: usize) {
        let def = &function.values[value].def;
        def.args().into_iter().for_each(|arg| self.name(arg, at));
        match def {
            Def::If {
                cond: _,
                then,
                otherwise,
            } => {
                self.name(&then.result, at);
                self.name(&otherwise.result, at);
            }
            Def::Call {
                callee: Callee::Value(closure),
                ..
            } => self.name(&Arg::Value(*closure), at),
            Def::Function(inner) => captured(inner, value)
                .into_iter()
                .filter(|(depth, _)| *depth == 1)
                .for_each(|(_, captured)| self.name(&Arg::Value(captured), at)),
            _ => {}
        }
    }

    fn name(&mut self, arg: &Arg, at: usize) {
        arg.walk(&mut |leaf| {
            if let Arg::Value(value) = leaf {
                let named = self.named.entry(*value).or_insert(0);
                *named = (*named).max(at);
            }
        });
    }

    fn use_arg(&mut self, arg: &Arg, at: usize) {
        match arg {
            Arg::Value(value) => {
                let last = self.last.entry(*value).or_insert(0);
                *last = (*last).max(at);
            }
            Arg::Tuple(items) => items.iter().for_each(|item| self.use_arg(item, at)),
            Arg::Captured { depth: _, value: _ }
            | Arg::Const(_)
            | Arg::Omitted(_)
            | Arg::Shape(_)
            | Arg::Prim(_)
            | Arg::Str(_)
            | Arg::DType(_)
            | Arg::Global(_)
            | Arg::Extern(_) => {}
        }
    }
}
