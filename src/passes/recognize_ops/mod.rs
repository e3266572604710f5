//! `recognize_ops`: operators that a graph writes in primitives, as exporters do, become calls of the one operator.
//!
//! An [`Idiom`] is a way to write an operator: a pattern of its last value, and a check that says what is computed instead or why
//! the site is declined. Idioms are looked for from the last value of a dataflow block to the first, so that the longest one is
//! found first. [`OpSite`]s say what was found; `site` has the reasons.

mod attention;
mod gelu;
mod idiom;
mod norm;
mod power;
mod site;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

pub use site::{Declined, OpSite, Recognition};

use self::idiom::{Calls, Idiom, Match};
use super::dead_code_elimination::without_unused;
use super::groups::is_whole;
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, Function, Globals, InferError, Rewriter, Scope, Value,
    ValueId, rewrite,
};
use crate::ir::{Func, Module, Origin};
use crate::ops;

/// The module where gelu, layer and root-mean-square normalisation, attention, and small powers that dataflow blocks write in
/// primitives are calls of these operators; and the sites, also those that nearly are such an operator. Results are the same up to
/// rounding. A site is declined if anything else uses what it computes on the way: that would be computed twice.
///
/// ```text
/// a = R.divide(x, R.const(1.4142135))              e = R.nn.gelu(x)
/// b = R.erf(a)                                →
/// c = R.add(b, R.const(1.0))
/// d = R.multiply(x, c)
/// e = R.multiply(d, R.const(0.5))
/// ```
pub fn recognize_ops(module: &Module) -> Recognition {
    let idioms: Vec<Idiom> = [
        attention::idioms(),
        norm::idioms(),
        gelu::idioms(),
        power::idioms(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let globals = Globals::of(module);
    let mut recognition = Recognition {
        module: module.clone(),
        sites: vec![],
    };
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        let mut found = Found::default();
        for block in function.blocks() {
            found.look_in(function, block, &globals, &idioms);
        }
        if !found.instead.is_empty() {
            let new = found.written(function, &globals);
            recognition
                .module
                .funcs
                .insert(name.to_owned(), Func::Graph(new));
        }
        recognition.sites.extend(found.sites(function));
    }
    for site in &recognition.sites {
        log::debug!("{site}");
    }
    recognition
}

/// What was found in a function.
#[derive(Default)]
struct Found {
    /// By the last value of a site.
    instead: HashMap<ValueId, Recognized>,
    /// Values that sites compute.
    claimed: HashSet<ValueId>,
    declined: Vec<Refused>,
}

/// A site that is an operator.
struct Recognized {
    operator: &'static str,
    /// What is computed instead.
    calls: Calls,
    /// Everything that it computes, itself too.
    computed: Vec<ValueId>,
    core: ValueId,
}

/// A site that nearly is an operator.
struct Refused {
    operator: &'static str,
    value: ValueId,
    /// The value by which the site is known, however much around it matches.
    core: ValueId,
    reason: Declined,
}

impl Found {
    fn look_in(
        &mut self,
        function: &Function,
        block: &BindingBlock,
        globals: &Globals,
        idioms: &[Idiom],
    ) {
        let Some(outputs) = &block.dataflow else {
            return;
        };
        let scope = Scope {
            globals,
            frames: vec![&function.values],
        };
        let bindings: HashSet<ValueId> = block.bindings.iter().copied().collect();
        let mut users: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
        for &user in &block.bindings {
            for used in function.values[user].def.used_values() {
                users.entry(used).or_default().push(user);
            }
        }
        for &value in block.bindings.iter().rev() {
            for idiom in idioms {
                if self.claimed.contains(&value) {
                    break;
                }
                let within = |id: ValueId| bindings.contains(&id) && !self.claimed.contains(&id);
                let matches = idiom
                    .pattern
                    .matches_within(&Arg::Value(value), &scope, &within);
                let Some(matches) = matches else {
                    continue;
                };
                let Some(&Arg::Value(core)) = matches.get(&idiom.core) else {
                    continue;
                };
                let site = Match {
                    function,
                    scope: &scope,
                    matches: &matches,
                    value,
                    users: &users,
                    outputs,
                    bindings: &bindings,
                };
                let calls = site.used_inside().and_then(|()| (idiom.instead)(&site));
                match calls {
                    Ok(Some(calls)) => {
                        let computed = matches.computed();
                        self.claimed.extend(&computed);
                        let operator = idiom.operator;
                        let recognized = Recognized {
                            operator,
                            calls,
                            computed,
                            core,
                        };
                        self.instead.insert(value, recognized);
                    }
                    Ok(None) => {}
                    Err(reason) => self.declined.push(Refused {
                        operator: idiom.operator,
                        value,
                        core,
                        reason,
                    }),
                }
            }
        }
    }

    /// The function with the calls of operators. Those whose types do not fit are declined.
    fn written(&mut self, function: &Function, globals: &Globals) -> Function {
        let mut unfit = vec![];
        let Ok(new) = rewrite::<Infallible>(function, globals, &mut |rewriter, old| {
            let Some(recognized) = self.instead.get(&old.id).filter(|_| old.depth == 0) else {
                return Ok(Become::Kept);
            };
            let origins = recognized.computed.iter();
            let origins = origins.map(|id| &function.values[*id].origin);
            rewriter.builder().set_origin(Origin::of_all(origins));
            Ok(match bind(rewriter, &recognized.calls, old.value) {
                Ok(def) => Become::Def(def),
                Err(reason) => {
                    unfit.push((old.id, reason));
                    Become::Kept
                }
            })
        });
        for (value, reason) in unfit {
            if let Some(recognized) = self.instead.remove(&value) {
                self.declined.push(Refused {
                    operator: recognized.operator,
                    value,
                    core: recognized.core,
                    reason,
                });
            }
        }
        without_unused(&new, globals)
    }

    /// The sites in the order of the function; each declined one once, and none that is a part of a recognized one.
    fn sites(self, function: &Function) -> Vec<OpSite> {
        let recognized: HashSet<ValueId> = self
            .instead
            .values()
            .flat_map(|r| r.computed.iter().copied())
            .collect();
        let mut seen = HashSet::new();
        let declined = self.declined.into_iter().filter(|refused| {
            let key = (refused.operator, refused.core);
            !recognized.contains(&refused.core) && seen.insert(key)
        });
        let declined = declined.map(|r| (r.value, r.operator, Some(r.reason)));
        let found = self.instead.into_iter();
        let found = found.map(|(value, r)| (value, r.operator, None));
        let mut all: Vec<(ValueId, &'static str, Option<Declined>)> =
            declined.chain(found).collect();
        all.sort_by_key(|(value, operator, _)| (*value, *operator));
        all.into_iter()
            .map(|(value, operator, declined)| OpSite {
                function: function.name.clone(),
                value: function.values[value].name.clone(),
                origin: function.values[value].origin.clone(),
                operator,
                declined,
            })
            .collect()
    }
}

/// Binds all calls but the last, which is given if it has the type of the value in whose place it stands.
fn bind(rewriter: &mut Rewriter<'_>, calls: &Calls, value: &Value) -> Result<Def, Declined> {
    let mut made: Vec<Arg> = vec![];
    let (last, before) = calls.split_last();
    let complete = |call: &idiom::OpCall, made: &[Arg], rewriter: &Rewriter<'_>| {
        let op = ops::op(call.op);
        let args = call.args.iter().map(|arg| arg.of(made, rewriter));
        Ok::<_, InferError>(Def::Call {
            callee: Callee::Op(op),
            args: args.collect(),
            attrs: op.complete(call.attrs.clone())?,
            sinfo_args: vec![],
        })
    };
    for call in before {
        let def = complete(call, &made, rewriter)?;
        made.push(Arg::Value(rewriter.builder().bind("lv", def)?));
    }
    let def = complete(last, &made, rewriter)?;
    let info = rewriter.builder().infer(&def)?;
    match is_base_of(&value.sinfo, &info) {
        Proof::Yes => Ok(def),
        _ => Err(Declined::Shape { what: "the result" }),
    }
}
