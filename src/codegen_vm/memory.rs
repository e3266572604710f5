//! The memory plan: which tensors take turns in one storage (TVM: `StaticPlanBlockMemory`).

use std::collections::{HashMap, HashSet};

use crate::artifact::Place;
use crate::ir::Expr;
use crate::ir::graph::{Arg, Def, Function, ValueId};

/// Size of a storage in bytes.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Size {
    Const(i64),
    Symbolic(Expr),
}

/// A storage that tensors take turns in.
struct Storage {
    reg: u32,
    size: Size,
    place: Place,
    /// The value that holds it.
    holder: Option<ValueId>,
}

/// Storages, and when values stop needing them.
pub(super) struct MemoryPlan {
    storages: Vec<Storage>,
    /// By value: position of its last use among the bindings.
    last_use: HashMap<ValueId, usize>,
    /// Values that something but a kernel refers to: they keep their storage.
    pinned: HashSet<ValueId>,
}

impl MemoryPlan {
    pub(super) fn new(func: &Function) -> Self {
        let mut plan = Self {
            storages: vec![],
            last_use: HashMap::new(),
            pinned: HashSet::new(),
        };
        let mut at = 0;
        func.for_each_binding(&mut |id, value| {
            // Only straight-line code takes turns; a branch may or may not run.
            let in_branch = !func
                .body
                .blocks
                .iter()
                .any(|block| block.bindings.contains(&id));
            let direct = matches!(value.def, Def::CallDps { inplace: None, .. });
            let mut used = Vec::new();
            value
                .def
                .args()
                .into_iter()
                .for_each(|arg| values_of(arg, &mut used));
            for body in value.def.bodies() {
                values_of(&body.result, &mut used);
            }
            for value in used {
                plan.last_use.insert(value, at);
                if !direct || in_branch {
                    plan.pinned.insert(value);
                }
            }
            if in_branch {
                plan.pinned.insert(id);
            }
            at += 1;
        });
        let mut results = Vec::new();
        values_of(&func.body.result, &mut results);
        plan.pinned.extend(results);
        plan
    }

    /// A storage of at least this size that is free before binding `at`; held by the value from now on.
    pub(super) fn reuse(
        &mut self,
        value: Option<ValueId>,
        size: &Size,
        place: Place,
        at: usize,
    ) -> Option<u32> {
        let value = value.filter(|v| !self.pinned.contains(v))?;
        let (last_use, pinned) = (&self.last_use, &self.pinned);
        let free = |holder: &Option<ValueId>| {
            holder.is_some_and(|v| {
                !pinned.contains(&v) && last_use.get(&v).is_none_or(|&last| last < at)
            })
        };
        let fits = |have: &Size| match (have, size) {
            (Size::Const(have), Size::Const(need)) => have >= need,
            (have, need) => have == need,
        };
        let storage = self
            .storages
            .iter_mut()
            .filter(|s| s.place == place && free(&s.holder) && fits(&s.size))
            .min_by_key(|s| {
                if let Size::Const(bytes) = s.size {
                    bytes
                } else {
                    0
                }
            })?;
        storage.holder = Some(value);
        Some(storage.reg)
    }

    /// A new storage in this register.
    pub(super) fn add(&mut self, reg: u32, value: Option<ValueId>, size: Size, place: Place) {
        self.storages.push(Storage {
            reg,
            size,
            place,
            holder: value,
        });
    }
}

fn values_of(arg: &Arg, out: &mut Vec<ValueId>) {
    arg.walk(&mut |leaf| {
        if let Arg::Value(id) = leaf {
            out.push(*id);
        }
    });
}
