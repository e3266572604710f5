//! Values that can be computed before a run, when the weights are there.

use std::collections::{HashMap, HashSet};

use crate::ir::graph::{Arg, Def, Function, Scope, Value, ValueId};
use crate::ir::{AttrValue, Expr, Var};
use crate::support::Arena;

/// Which values of a function under construction follow from the parameters after the first `num_input` ones alone.
pub(super) struct Early<'v> {
    values: &'v Arena<ValueId, Value>,
    /// Symbolic sizes that these parameters give.
    sizes: HashSet<Var>,
    known: HashMap<ValueId, bool>,
}

impl<'v> Early<'v> {
    /// Of the copy of `function` so far. Without the attribute `num_input` there are none, and none in functions inside of it.
    ///
    /// # Panics
    /// If no function is copied.
    pub(super) fn new(scope: &Scope<'v>, function: &Function) -> Self {
        let values = *scope.frames.last().expect("a function is copied");
        let inputs = function.attrs.get("num_input").and_then(AttrValue::as_int);
        let inputs = inputs.filter(|_| scope.frames.len() == 1);
        let inputs = inputs.map_or(usize::MAX, |inputs| inputs.max(0) as usize);
        let params = values.iter().filter(|(_, v)| matches!(v.def, Def::Param));
        let (mut sizes, mut known) = (HashSet::new(), HashMap::new());
        for (at, (id, value)) in params.enumerate() {
            known.insert(id, at >= inputs);
            if at >= inputs {
                sizes.extend(value.sinfo.defined_vars());
            }
        }
        Self {
            values,
            sizes,
            known,
        }
    }

    /// Whether the argument is such a value.
    pub(super) fn is(&mut self, arg: &Arg) -> bool {
        matches!(arg, Arg::Value(id) if self.is_value(*id))
    }

    fn is_value(&mut self, id: ValueId) -> bool {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let def = &self.values[id].def;
        let mut vars = def.exprs().into_iter().flat_map(Expr::free_vars);
        let early = !matches!(def, Def::If { .. } | Def::Function(_))
            && vars.all(|var| self.sizes.contains(&var))
            && def.used_values().into_iter().all(|id| self.is_value(id));
        self.known.insert(id, early);
        early
    }
}
