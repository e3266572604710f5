//! What stands for what: the values of a function that are other names for values or constants, and where values are used.

use std::collections::{HashMap, HashSet};

use crate::ir::StructInfo;
use crate::ir::graph::{
    Arg, BindingBlock, Body, Callee, Def, Function, Globals, Scope, Value, ValueId, infer,
};

/// A value of a function or of one nested in it, where ids do not tell them apart.
pub(super) type Key = usize;

/// The key of a value, which stays while the function is not copied.
pub(super) fn key(value: &Value) -> Key {
    std::ptr::from_ref(value) as usize
}

/// What becomes of the values of a function.
#[derive(Default)]
pub(super) struct Plan {
    /// Values that are other names, and for what.
    pub(super) aliases: HashMap<Key, Arg>,
    /// Values whose users use a constant.
    pub(super) constants: HashMap<Key, Arg>,
    /// Values of dataflow blocks that are used outside.
    pub(super) used_outside: HashSet<Key>,
    /// What follows from the operands of a value.
    pub(super) inferred: HashMap<Key, StructInfo>,
    /// Names that values get from outputs which they replace.
    pub(super) names: HashMap<Key, String>,
}

impl Plan {
    pub(super) fn of(function: &Function, globals: &Globals) -> Self {
        let mut planner = Planner {
            globals,
            frames: vec![],
            block: None,
            homes: HashMap::new(),
            outputs: HashSet::new(),
            known: HashMap::new(),
            alias_of: vec![],
            bound_to_constant: vec![],
            plan: Self::default(),
        };
        planner.function(function);
        planner.finish()
    }
}

/// How a value is computed, as far as tuples go.
#[derive(Clone)]
enum Known {
    /// It is that value.
    Value(Key, Arg),
    /// An element of a tuple with so many.
    Item {
        tuple: Box<Known>,
        index: usize,
        count: usize,
    },
    /// A tuple of these.
    Tuple(Vec<Known>),
    /// A constant.
    Const(Arg),
    /// In some other way, by the value with this key.
    Computed(Key),
    /// An argument of another kind.
    Other,
}

struct Planner<'f> {
    globals: &'f Globals,
    /// From the outermost function to the one that is looked at.
    frames: Vec<&'f Function>,
    /// The block that is looked at.
    block: Option<&'f BindingBlock>,
    /// The blocks that bind values.
    homes: HashMap<Key, &'f BindingBlock>,
    /// Outputs of dataflow blocks.
    outputs: HashSet<Key>,
    known: HashMap<Key, Known>,
    /// Values that are other names for values, with these and with their own names.
    alias_of: Vec<(Key, Key, &'f str)>,
    bound_to_constant: Vec<(Key, Arg)>,
    plan: Plan,
}

impl<'f> Planner<'f> {
    fn function(&mut self, function: &'f Function) {
        self.frames.push(function);
        let block = self.block.take();
        self.body(&function.body);
        self.block = block;
        self.frames.pop();
    }

    fn body(&mut self, body: &'f Body) {
        let around = self.block.take();
        let function = self.current();
        for block in &body.blocks {
            self.block = Some(block);
            let outputs = block.dataflow.iter().flatten();
            self.outputs
                .extend(outputs.map(|id| key(&function.values[*id])));
            for id in &block.bindings {
                self.binding(&function.values[*id], block);
            }
        }
        self.block = None;
        self.used(&body.result);
        self.block = around;
    }

    fn binding(&mut self, value: &'f Value, block: &'f BindingBlock) {
        let key = key(value);
        self.homes.insert(key, block);
        let known = self.bound(value);
        match &known {
            Known::Value(to, arg) => {
                self.plan.aliases.insert(key, arg.clone());
                self.alias_of.push((key, *to, &value.name));
            }
            Known::Const(arg) => self.bound_to_constant.push((key, arg.clone())),
            _ => {}
        }
        self.known.insert(key, known);
        value.def.args().into_iter().for_each(|arg| self.used(arg));
        match &value.def {
            Def::Call {
                callee: Callee::Value(closure),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => self.used(&Arg::Value(*closure)),
            Def::If {
                cond: _,
                then,
                otherwise,
            } => {
                self.body(then);
                self.body(otherwise);
            }
            Def::Function(inner) => self.function(inner),
            _ => {}
        }
        if matches!(
            value.def,
            Def::Arg(_) | Def::TupleItem(_, _) | Def::Call { .. }
        ) && let Ok(inferred) = infer(&value.def, &self.scope())
        {
            self.plan.inferred.insert(key, inferred);
        }
    }

    /// What a value is bound to, seen through tuples.
    fn bound(&self, value: &'f Value) -> Known {
        let known = match &value.def {
            Def::Arg(arg) => self.of(arg),
            Def::TupleItem(tuple, index) => Known::Item {
                tuple: Box::new(self.of(tuple)),
                index: *index,
                count: match self.scope().arg(tuple) {
                    StructInfo::Tuple(items) => items.len(),
                    _ => 0,
                },
            },
            Def::MatchCast(arg, sinfo) if self.scope().arg(arg) == *sinfo => self.of(arg),
            _ => return Known::Computed(key(value)),
        };
        match &known {
            Known::Item {
                tuple,
                index,
                count: _,
            } => match self.resolved(tuple) {
                Known::Tuple(mut items) if *index < items.len() => items.swap_remove(*index),
                _ => known,
            },
            Known::Tuple(items) => self.source_of_all(items).unwrap_or(known),
            _ => known,
        }
    }

    /// The tuple of which the items are the elements, all and in order.
    fn source_of_all(&self, items: &[Known]) -> Option<Known> {
        let mut source = None;
        for (at, item) in items.iter().enumerate() {
            let Known::Item {
                tuple,
                index,
                count,
            } = self.resolved(item)
            else {
                return None;
            };
            let whole = self.resolved(&tuple);
            let (Known::Value(key, _) | Known::Computed(key)) = whole else {
                return None;
            };
            let other = source.as_ref().is_some_and(|(other, _)| *other != key);
            if index != at || count != items.len() || other {
                return None;
            }
            source = Some((key, whole));
        }
        source.map(|(_, whole)| whole)
    }

    fn resolved(&self, known: &Known) -> Known {
        let mut known = known.clone();
        while let Known::Value(key, _) = &known
            && let Some(next) = self.known.get(key)
        {
            known = next.clone();
        }
        known
    }

    fn of(&self, arg: &Arg) -> Known {
        match arg {
            Arg::Value(_) | Arg::Captured { .. } => match self.leaf(arg) {
                Some(value) => Known::Value(key(value), arg.clone()),
                None => Known::Other,
            },
            Arg::Tuple(items) => Known::Tuple(items.iter().map(|item| self.of(item)).collect()),
            Arg::Const(_) | Arg::Omitted(_) => Known::Const(arg.clone()),
            _ => Known::Other,
        }
    }

    fn leaf(&self, arg: &Arg) -> Option<&'f Value> {
        let (depth, id): (usize, ValueId) = match arg {
            Arg::Value(id) => (0, *id),
            Arg::Captured { depth, value } => (*depth, *value),
            _ => return None,
        };
        let at = self.frames.len().checked_sub(depth + 1)?;
        self.frames[at].values.get(id)
    }

    fn used(&mut self, arg: &Arg) {
        let mut outside = vec![];
        arg.walk(&mut |leaf| {
            let Some(value) = self.leaf(leaf) else {
                return;
            };
            let key = key(value);
            let captured = matches!(leaf, Arg::Captured { .. });
            let home = self.homes.get(&key);
            let at_home = match (home, self.block) {
                (Some(home), Some(block)) => std::ptr::eq(*home, block),
                _ => false,
            };
            if captured || !at_home {
                outside.push(key);
            }
        });
        self.plan.used_outside.extend(outside);
    }

    fn current(&self) -> &'f Function {
        self.frames.last().expect("a function is open")
    }

    fn scope(&self) -> Scope<'f> {
        Scope {
            globals: self.globals,
            frames: self.frames.iter().map(|f| &f.values).collect(),
        }
    }

    fn finish(mut self) -> Plan {
        let mut roots: HashMap<Key, Key> = HashMap::new();
        let mut replaced: HashSet<Key> = HashSet::new();
        for (alias, to, name) in &self.alias_of {
            let root = roots.get(to).copied().unwrap_or(*to);
            roots.insert(*alias, root);
            let is_output =
                |key: &Key| self.outputs.contains(key) && self.plan.used_outside.contains(key);
            let in_dataflow = self.homes.get(&root).is_some_and(|b| b.dataflow.is_some());
            if in_dataflow && !is_output(&root) && is_output(alias) && replaced.insert(root) {
                self.plan.names.insert(root, (*name).to_owned());
            }
        }
        for (value, constant) in self.bound_to_constant {
            let hidden = self.outputs.contains(&value) && !self.plan.used_outside.contains(&value);
            if !hidden && !replaced.contains(&value) {
                self.plan.constants.insert(value, constant);
            }
        }
        self.plan
    }
}
