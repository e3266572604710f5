//! What the weights of functions alone decide, of one function or the same in several.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};

use super::targets::Target;
use crate::ir::graph::{Arg, Callee, Def, ValueId};
use crate::ir::{StructInfo, Var};
use crate::ops;
use crate::passes::PassError;

/// Functions that share what is computed of their weights. Values of the first of them stand for those of all.
pub(super) struct Group<'t, 'm> {
    pub(super) members: Vec<Member<'t, 'm>>,
    /// Bindings of the first function that can be computed apart from inference, in order.
    pub(super) liftable: IndexSet<ValueId>,
    /// Weights and those of the bindings that need a weight.
    pub(super) of_weights: HashSet<ValueId>,
    /// What inference gets: weights, then bindings.
    pub(super) outputs: Vec<ValueId>,
    /// Symbolic dimensions that inference needs and nothing that it gets defines.
    pub(super) sizes: Vec<Var>,
}

/// A function of a group.
pub(super) struct Member<'t, 'm> {
    pub(super) target: &'t Target<'m>,
    /// Its weights and bindings by those of the first function.
    pub(super) own: IndexMap<ValueId, ValueId>,
    /// Its symbolic dimensions by those of the first function.
    pub(super) own_vars: HashMap<Var, Var>,
}

impl<'t, 'm> Group<'t, 'm> {
    /// # Errors
    /// If the functions take different weights.
    pub(super) fn new(targets: &'t [Target<'m>]) -> Result<Self, PassError> {
        let first = &targets[0];
        let mut liftable: IndexSet<ValueId> = liftable(first).into_iter().collect();
        let mut members = vec![];
        for target in targets {
            let mut member = Member::new(first, target)?;
            member.find(first, &liftable);
            members.push(member);
        }
        liftable.retain(|id| members.iter().all(|member| member.own.contains_key(id)));
        let mut group = Self {
            of_weights: of_weights(first, &liftable),
            members,
            liftable,
            outputs: vec![],
            sizes: vec![],
        };
        group.find_outputs();
        Ok(group)
    }

    pub(super) fn first(&self) -> &'t Target<'m> {
        self.members[0].target
    }

    /// Values of a member that inference does without: their values of the first function.
    pub(super) fn lifted(&self, at: usize) -> HashMap<ValueId, ValueId> {
        let member = &self.members[at];
        let lifted =
            |first: &ValueId| self.liftable.contains(first) && self.of_weights.contains(first);
        let pairs = member.own.iter().filter(|(first, _)| lifted(first));
        pairs.map(|(first, own)| (*own, *first)).collect()
    }

    fn find_outputs(&mut self) {
        let first = self.first();
        let weights = first.function.params[first.weights.clone()].to_vec();
        let mut needed: HashSet<ValueId> = HashSet::new();
        let mut sizes: IndexSet<Var> = IndexSet::new();
        for (at, member) in self.members.iter().enumerate() {
            let function = member.target.function;
            let lifted = self.lifted(at);
            let mut used = HashSet::new();
            let mut vars: HashSet<Var> = function.ret.free_vars().into_iter().collect();
            used.extend(function.body.result.values());
            for (id, value) in function.values.iter() {
                let param = function.params.iter().position(|param| *param == id);
                let is_weight = param.is_some_and(|at| member.target.weights.contains(&at));
                if lifted.contains_key(&id) || is_weight {
                    continue;
                }
                used.extend(value.def.used_values());
                vars.extend(value.sinfo.free_vars());
                vars.extend(value.def.exprs().into_iter().flat_map(|e| e.free_vars()));
                if let Def::Function(inner) = &value.def {
                    vars.extend(inner.symbolic_vars());
                }
            }
            let params = function.params.iter().enumerate();
            for (_, param) in params.filter(|(at, _)| !member.target.weights.contains(at)) {
                for var in function.values[*param].sinfo.defined_vars() {
                    vars.remove(&var);
                }
            }
            let own = member.own.iter().filter(|(_, own)| used.contains(*own));
            needed.extend(own.map(|(first, _)| *first));
            let own = member
                .own_vars
                .iter()
                .filter(|(_, own)| vars.contains(*own));
            sizes.extend(own.map(|(first, _)| first.clone()));
        }
        let lifted = self
            .liftable
            .iter()
            .filter(|id| self.of_weights.contains(*id));
        let candidates = weights.iter().chain(lifted);
        self.outputs = candidates
            .filter(|id| needed.contains(*id))
            .copied()
            .collect();
        let info = |id: &ValueId| &first.function.values[*id].sinfo;
        let outputs: Vec<&StructInfo> = self.outputs.iter().map(info).collect();
        sizes.extend(outputs.iter().flat_map(|info| info.free_vars()));
        let known: HashSet<Var> = outputs
            .iter()
            .flat_map(|info| info.defined_vars())
            .collect();
        let defined: IndexSet<Var> = weights
            .iter()
            .flat_map(|id| info(id).defined_vars())
            .collect();
        let wanted = |var: &Var| sizes.contains(var) && !known.contains(var);
        let inputs = first.function.params.iter().enumerate();
        let inputs = inputs.filter(|(at, _)| !first.weights.contains(at));
        let inputs: HashSet<Var> = inputs.flat_map(|(_, id)| info(id).defined_vars()).collect();
        let alone = self.members.len() == 1;
        self.sizes = defined
            .into_iter()
            .filter(|var| wanted(var) && !(alone && inputs.contains(var)))
            .collect();
    }
}

impl<'t, 'm> Member<'t, 'm> {
    /// With the weights alone.
    fn new(first: &Target<'m>, target: &'t Target<'m>) -> Result<Self, PassError> {
        let (ours, theirs) = (target.weights.len(), first.weights.len());
        if ours != theirs {
            return Err(PassError::WeightCount {
                first: first.name.to_owned(),
                second: target.name.to_owned(),
                expected: theirs,
                given: ours,
            });
        }
        let mut member = Self {
            target,
            own: IndexMap::new(),
            own_vars: HashMap::new(),
        };
        let weights = |t: &Target<'m>| t.function.params[t.weights.clone()].to_vec();
        let mut firsts: HashMap<Var, Var> = HashMap::new();
        for (theirs, ours) in weights(first).into_iter().zip(weights(target)) {
            let expected = &first.function.values[theirs].sinfo;
            let given = &target.function.values[ours];
            for (first, own) in expected
                .defined_vars()
                .into_iter()
                .zip(given.sinfo.defined_vars())
            {
                firsts.entry(own.clone()).or_insert_with(|| first.clone());
                member.own_vars.entry(first).or_insert(own);
            }
            let renamed = given
                .sinfo
                .substitute(&|var| firsts.get(var).map(Var::expr));
            if renamed != *expected || firsts.len() != member.own_vars.len() {
                return Err(PassError::WeightMismatch {
                    first: first.name.to_owned(),
                    second: target.name.to_owned(),
                    param: given.name.clone(),
                    expected: Box::new(expected.clone()),
                    given: Box::new(given.sinfo.clone()),
                });
            }
            member.own.insert(theirs, ours);
        }
        Ok(member)
    }

    /// Finds the bindings of the first function here.
    fn find(&mut self, first: &Target<'m>, liftable_of_first: &IndexSet<ValueId>) {
        if std::ptr::eq(first.function, self.target.function) {
            self.own
                .extend(liftable_of_first.iter().map(|&id| (id, id)));
            return;
        }
        let mut firsts: HashMap<ValueId, ValueId> =
            self.own.iter().map(|(first, own)| (*own, *first)).collect();
        let vars: HashMap<&Var, &Var> = self.own_vars.iter().map(|(f, own)| (own, f)).collect();
        let vars = |var: &Var| vars.get(var).map(|var| var.expr());
        for id in liftable(self.target) {
            let mut known = true;
            let mut leaf = |leaf: &Arg| match leaf {
                Arg::Value(id) => match firsts.get(id) {
                    Some(first) => Arg::Value(*first),
                    None => {
                        known = false;
                        leaf.clone()
                    }
                },
                other => other.clone(),
            };
            let def = &self.target.function.values[id].def;
            let def = def.map(&mut leaf, &mut |e| e.substitute(&vars));
            let same = |theirs: &&ValueId| {
                !self.own.contains_key(*theirs) && first.function.values[**theirs].def.is_same(&def)
            };
            if known && let Some(&theirs) = liftable_of_first.iter().find(same) {
                self.own.insert(theirs, id);
                firsts.insert(id, theirs);
            }
        }
    }
}

/// The bindings that weights alone decide, in order: those of dataflow blocks, whose values and symbolic dimensions are all of
/// weights, of such bindings, or of nothing. Functions inside stay, and so does what `R.builtin.stop_lift_params` holds back.
fn liftable(target: &Target<'_>) -> Vec<ValueId> {
    let function = target.function;
    let mut known: HashSet<ValueId> = HashSet::new();
    let mut vars: HashSet<Var> = HashSet::new();
    for &id in &function.params[target.weights.clone()] {
        known.insert(id);
        vars.extend(function.values[id].sinfo.defined_vars());
    }
    let stop = ops::op("builtin.stop_lift_params");
    let mut out = vec![];
    for block in function
        .blocks()
        .into_iter()
        .filter(|block| block.dataflow.is_some())
    {
        for &id in &block.bindings {
            let value = &function.values[id];
            let stays = match &value.def {
                Def::Param | Def::If { .. } | Def::Function(_) | Def::Arg(Arg::Extern(_)) => true,
                Def::Call { callee, .. } => match callee {
                    Callee::Op(op) => *op == stop,
                    Callee::Value(_) => true,
                    Callee::Global(_) | Callee::Packed(_) | Callee::PurePacked(_) => false,
                },
                Def::Arg(_) | Def::TupleItem(_, _) | Def::CallDps { .. } | Def::MatchCast(_, _) => {
                    false
                }
            };
            let used = value.def.used_values();
            let decided = !stays && used.iter().all(|id| known.contains(id));
            let exprs = value.def.exprs().into_iter().flat_map(|e| e.free_vars());
            let mut all = exprs.chain(value.sinfo.free_vars());
            if decided && all.all(|var| vars.contains(&var)) {
                known.insert(id);
                out.push(id);
            }
        }
    }
    out
}

/// The weights, and those of the bindings that need one.
fn of_weights(target: &Target<'_>, liftable: &IndexSet<ValueId>) -> HashSet<ValueId> {
    let function = target.function;
    let weights = &function.params[target.weights.clone()];
    let mut out: HashSet<ValueId> = weights.iter().copied().collect();
    for &id in liftable {
        let used = function.values[id].def.used_values();
        if used.iter().any(|id| out.contains(id)) {
            out.insert(id);
        }
    }
    out
}
