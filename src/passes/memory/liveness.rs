//! Last uses: after which binding of a function the memory of each value is not needed any more.

use std::collections::HashMap;

use crate::ir::graph::{Arg, Body, Callee, Def, Function, ValueId};
use crate::ops::{self, Compute};

/// Bindings of a function numbered in program order, those of branches before the branch, and last uses by these numbers.
pub(in crate::passes) struct Liveness {
    position: HashMap<ValueId, usize>,
    /// By value: position of the last use of its memory; [`RESULT`] for what the function gives back.
    last: HashMap<ValueId, usize>,
    /// By value: position of the last binding that names it. What such a binding passes on is another value.
    named: HashMap<ValueId, usize>,
}

/// The position after all bindings.
const RESULT: usize = usize::MAX;

impl Liveness {
    pub(in crate::passes) fn of(function: &Function) -> Self {
        let mut live = Self {
            position: HashMap::new(),
            last: HashMap::new(),
            named: HashMap::new(),
        };
        let mut order = Vec::new();
        live.number(function, &function.body, &mut order);
        for value in function.body.result.values() {
            live.used(value, RESULT);
            live.named.insert(value, RESULT);
        }
        // Backwards, so that the uses of a name are known when those of what it names are noted.
        for (value, at) in order.into_iter().rev() {
            let def = &function.values[value].def;
            for used in def.used_values() {
                let named = live.named.entry(used).or_insert(0);
                *named = (*named).max(at);
            }
            live.uses(function, def, value, at);
        }
        live
    }

    /// The position of a binding.
    pub(in crate::passes) fn position(&self, binding: ValueId) -> usize {
        self.position.get(&binding).copied().unwrap_or(0)
    }

    /// Whether a binding after this one names the value.
    pub(in crate::passes) fn named_after(&self, value: ValueId, binding: ValueId) -> bool {
        let named = self.named.get(&value).copied().unwrap_or(0);
        named > self.position(binding)
    }

    /// Where the memory of the value, which this binding makes, is used last.
    pub(in crate::passes) fn last_use(&self, value: ValueId) -> usize {
        let last = self.last.get(&value).copied().unwrap_or(0);
        last.max(self.position(value))
    }

    /// Whether the function gives back the memory of the value.
    pub(in crate::passes) fn is_result(&self, value: ValueId) -> bool {
        self.last.get(&value) == Some(&RESULT)
    }

    fn number(&mut self, function: &Function, body: &Body, order: &mut Vec<(ValueId, usize)>) {
        for &value in body.blocks.iter().flat_map(|block| &block.bindings) {
            for branch in function.values[value].def.bodies() {
                self.number(function, branch, order);
            }
            let at = order.len() + 1;
            self.position.insert(value, at);
            order.push((value, at));
        }
    }

    fn uses(&mut self, function: &Function, def: &Def, value: ValueId, at: usize) {
        // A name, a tuple or an element lives on in what it was made of.
        let passed_on = self.last_use(value).max(at);
        let until = match def {
            Def::CallDps { inplace: None, .. } => at,
            Def::Call {
                callee: Callee::Op(op),
                ..
            } if matches!(ops::def(*op).compute, Compute::Kernel(_)) => at,
            // A result may be, or hold, an argument, or what a closure holds.
            Def::Arg(_)
            | Def::TupleItem(_, _)
            | Def::MatchCast(_, _)
            | Def::CallDps { .. }
            | Def::Call { .. }
            | Def::Function(_)
            | Def::If { .. }
            | Def::Param => passed_on,
        };
        let used = match def {
            // What binds in a branch is numbered itself; the condition is read and no more.
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                cond.values()
                    .into_iter()
                    .for_each(|cond| self.used(cond, at));
                [&then.result, &otherwise.result].map(Arg::values).concat()
            }
            // An element that is taken out says nothing of those beside it.
            Def::TupleItem(tuple, index) => {
                element(function, tuple, *index).map_or_else(|| def.used_values(), Arg::values)
            }
            def => def.used_values(),
        };
        used.into_iter().for_each(|used| self.used(used, until));
    }

    fn used(&mut self, value: ValueId, at: usize) {
        let last = self.last.entry(value).or_insert(0);
        *last = (*last).max(at);
    }
}

/// The element of a tuple that the function itself makes.
fn element<'f>(function: &'f Function, tuple: &'f Arg, index: usize) -> Option<&'f Arg> {
    match tuple {
        Arg::Tuple(items) => items.get(index),
        Arg::Value(id) => match &function.values[*id].def {
            Def::Arg(arg) | Def::MatchCast(arg, _) => element(function, arg, index),
            Def::TupleItem(arg, outer) => element(function, element(function, arg, *outer)?, index),
            _ => None,
        },
        _ => None,
    }
}

/// Which values of a function are other names for parts of others.
pub(in crate::passes) struct Aliases {
    parts: HashMap<ValueId, Part>,
}

/// What a value is made of, as far as names and tuples go.
#[derive(Clone, PartialEq)]
enum Part {
    /// An element of a value that is computed, by its place in each tuple inwards; the whole value, if there are none.
    Element(ValueId, Vec<usize>),
    Tuple(Vec<Part>),
    /// A constant, or something without memory.
    Other,
}

impl Part {
    /// Whether both have memory in common.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Element(a, p), Self::Element(b, q)) => {
                a == b && (p.starts_with(q) || q.starts_with(p))
            }
            (Self::Tuple(items), other) | (other, Self::Tuple(items)) => {
                items.iter().any(|item| item.meets(other))
            }
            (Self::Other, _) | (_, Self::Other) => false,
        }
    }
}

impl Aliases {
    pub(in crate::passes) fn of(function: &Function) -> Self {
        let mut aliases = Self {
            parts: HashMap::new(),
        };
        for (id, value) in function.values.iter() {
            let part = match &value.def {
                Def::Arg(arg) | Def::MatchCast(arg, _) => aliases.part(arg),
                Def::TupleItem(arg, index) => match aliases.part(arg) {
                    Part::Tuple(items) => items.get(*index).cloned().unwrap_or(Part::Other),
                    Part::Element(id, mut path) => {
                        path.push(*index);
                        Part::Element(id, path)
                    }
                    Part::Other => Part::Other,
                },
                _ => Part::Element(id, vec![]),
            };
            aliases.parts.insert(id, part);
        }
        aliases
    }

    fn part(&self, arg: &Arg) -> Part {
        match arg {
            Arg::Value(id) => match self.parts.get(id) {
                Some(part) => part.clone(),
                None => Part::Element(*id, vec![]),
            },
            Arg::Tuple(items) => Part::Tuple(items.iter().map(|item| self.part(item)).collect()),
            _ => Part::Other,
        }
    }

    /// The value whose memory the argument is, all of it.
    pub(in crate::passes) fn owner(&self, arg: &Arg) -> Option<ValueId> {
        match self.part(arg) {
            Part::Element(id, path) if path.is_empty() => Some(id),
            _ => None,
        }
    }

    /// Whether the argument is memory that a value has, and no constant.
    pub(in crate::passes) fn has_memory(&self, arg: &Arg) -> bool {
        matches!(self.part(arg), Part::Element(_, _))
    }

    /// Whether both arguments have memory in common.
    pub(in crate::passes) fn meet(&self, a: &Arg, b: &Arg) -> bool {
        self.part(a).meets(&self.part(b))
    }

    /// All values that have memory in common with the argument.
    pub(in crate::passes) fn names(&self, arg: &Arg) -> impl Iterator<Item = ValueId> {
        let part = self.part(arg);
        let named = self
            .parts
            .iter()
            .filter(move |(_, other)| part.meets(other));
        named.map(|(id, _)| *id)
    }
}
