//! `inline_private_functions`: calls of functions that only the module calls become what these compute (Relax:
//! `InlinePrivateFunctions`).

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

use super::PassError;
use super::bodies::for_each_body;
use super::canonicalize_bindings::canonical;
use super::dead_code_elimination::without_unused;
use super::normalize::join_alike;
use super::remove_unused_functions::callees;
use crate::ir::graph::dims::{Proof, bind_vars, is_base_of};
use crate::ir::graph::{
    Arg, BindingBlock, Body, Callee, Def, Function, Globals, Scope, Value, ValueId,
};
use crate::ir::{Func, Module, Origin};
use crate::support::Arena;

/// The module without private graph functions: each call of one is replaced by its bindings. Functions that call themselves,
/// directly or through others, functions that somebody uses as a value, and functions that
/// are pure only by declaration (`relax.force_pure`) beside others that are not, stay. Where it is not known that an argument is what
/// the parameter declares, a check (`R.match_cast`) takes the place of that at the call.
///
/// ```text
/// def f(x): y = R.exp(x); return y                y = R.exp(a)
/// b = f(a)                                  →     c = R.negative(y)
/// c = R.negative(b)
/// ```
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(super) fn inline_private_functions(module: &Module) -> Result<Module, PassError> {
    let mut inlined: IndexMap<String, Function> = module
        .functions()
        .filter(|(name, function)| {
            function.private && !calls_itself(module, name) && !hides_effects(module, function)
        })
        .map(|(name, function)| (name.to_owned(), function.clone()))
        .collect();
    if inlined.is_empty() {
        return Ok(module.clone());
    }
    let globals = Globals::of(module);
    let mut out = module.clone();
    // A function that is inlined holds no call of another such function, once these are inlined into it.
    let mut again = true;
    while again {
        again = false;
        let callees = inlined.clone();
        for function in inlined.values_mut() {
            again |= inline_calls(function, &callees, &globals);
        }
    }
    for (name, func) in &mut out.funcs {
        let Func::Graph(function) = func else {
            continue;
        };
        if !inlined.contains_key(name) && inline_calls(function, &inlined, &globals) {
            let mut new = without_unused(&canonical(function, &globals)?, &globals);
            for_each_body(&mut new, &mut join_alike);
            *function = new;
        }
    }
    let mut used = IndexSet::new();
    for (name, function) in out.functions() {
        if !inlined.contains_key(name) {
            callees(function, &mut used);
        }
    }
    // One that is used as a value stays, with what it calls: all that is inlined into it already.
    while let Some((at, name)) = next_used(&inlined, &used) {
        let function = inlined.shift_remove_index(at).map(|(_, function)| function);
        let function = function.expect("it was found there");
        let new = without_unused(&canonical(&function, &globals)?, &globals);
        callees(&new, &mut used);
        out.funcs.insert(name, Func::Graph(new));
    }
    for name in inlined.keys() {
        out.funcs.shift_remove(name);
    }
    Ok(out)
}

/// The first of these functions that somebody uses, and where it is.
fn next_used(
    functions: &IndexMap<String, Function>,
    used: &IndexSet<String>,
) -> Option<(usize, String)> {
    let at = functions.keys().position(|name| used.contains(name))?;
    let (name, _) = functions.get_index(at)?;
    Some((at, name.clone()))
}

/// Whether the function is pure only by declaration, where others are so by their bindings.
fn hides_effects(module: &Module, function: &Function) -> bool {
    let forced = |f: &Function| {
        let mark = f.attrs.get("relax.force_pure");
        mark.is_some_and(|mark| mark.as_int() == Some(1))
    };
    forced(function)
        && module
            .functions()
            .any(|(_, other)| other.pure && !forced(other))
}

fn calls_itself(module: &Module, name: &str) -> bool {
    let mut reached = IndexSet::new();
    let mut next = 0;
    let mut of = Some(name.to_owned());
    while let Some(name) = of {
        if let Some(function) = module.function(&name) {
            callees(function, &mut reached);
        }
        of = reached.get_index(next).cloned();
        next += 1;
    }
    reached.contains(name)
}

/// Replaces the calls of these functions. Whether there were any.
fn inline_calls(
    function: &mut Function,
    callees: &IndexMap<String, Function>,
    globals: &Globals,
) -> bool {
    let mut inliner = Inliner {
        callees,
        globals,
        around: vec![],
        changed: false,
    };
    inliner.function(function);
    inliner.changed
}

struct Inliner<'m> {
    callees: &'m IndexMap<String, Function>,
    globals: &'m Globals,
    /// Values of the functions around the one that is looked at.
    around: Vec<Arena<ValueId, Value>>,
    changed: bool,
}

impl Inliner<'_> {
    fn function(&mut self, function: &mut Function) {
        let mut body = function.body.clone();
        self.body(function, &mut body);
        function.body = body;
    }

    fn body(&mut self, function: &mut Function, body: &mut Body) {
        let mut blocks = vec![];
        for block in std::mem::take(&mut body.blocks) {
            self.block(function, block, &mut blocks);
        }
        body.blocks = blocks;
        join_alike(body);
    }

    fn block(
        &mut self,
        function: &mut Function,
        block: BindingBlock,
        blocks: &mut Vec<BindingBlock>,
    ) {
        let is_dataflow = block.dataflow.is_some();
        // A value may be used in the blocks that this one falls into, so all are outputs.
        let cut = |bindings: Vec<ValueId>| BindingBlock {
            dataflow: is_dataflow.then(|| bindings.clone()),
            bindings,
        };
        let mut bindings = vec![];
        let mut was_cut = false;
        for id in block.bindings {
            match std::mem::replace(&mut function.values[id].def, Def::Param) {
                Def::If {
                    cond,
                    mut then,
                    mut otherwise,
                } => {
                    self.body(function, &mut then);
                    self.body(function, &mut otherwise);
                    function.values[id].def = Def::If {
                        cond,
                        then,
                        otherwise,
                    };
                }
                Def::Function(mut inner) => {
                    self.around.push(function.values.clone());
                    self.function(&mut inner);
                    self.around.pop();
                    function.values[id].def = Def::Function(inner);
                }
                Def::Call {
                    callee: Callee::Global(name),
                    args,
                    attrs: _,
                    sinfo_args: _,
                } if self.callees.contains_key(&name) => {
                    let callee = self.callees[&name].with_own_vars();
                    let (params, body) = self.splice(function, &callee, &args);
                    bindings.extend(params);
                    blocks.push(cut(std::mem::take(&mut bindings)));
                    blocks.extend(body.blocks);
                    function.values[id].def = Def::Arg(body.result);
                    (was_cut, self.changed) = (true, true);
                }
                def => function.values[id].def = def,
            }
            bindings.push(id);
        }
        blocks.push(if was_cut {
            cut(bindings)
        } else {
            BindingBlock {
                dataflow: block.dataflow,
                bindings,
            }
        });
    }

    /// Adds the values of `callee` to those of `function`. Gives the values that its parameters have become, and its body.
    fn splice(
        &self,
        function: &mut Function,
        callee: &Function,
        args: &[Arg],
    ) -> (Vec<ValueId>, Body) {
        let scope_args: Vec<_> = {
            let mut frames: Vec<_> = self.around.iter().collect();
            frames.push(&function.values);
            let scope = Scope {
                globals: self.globals,
                frames,
            };
            args.iter().map(|arg| scope.arg(arg)).collect()
        };
        let mut bound = IndexMap::new();
        for (param, given) in callee.params.iter().zip(&scope_args) {
            bind_vars(&callee.values[*param].sinfo, given, &mut bound);
        }
        let callee = callee.substitute(&|var| bound.get(var).cloned());
        let mut ids = HashMap::new();
        for (old, value) in callee.values.iter() {
            ids.insert(old, function.values.push(value.clone()));
        }
        for new in ids.values() {
            let value = &mut function.values[*new];
            value.def = moved(&value.def, 0, &ids);
        }
        let mut params = vec![];
        for ((param, arg), given) in callee.params.iter().zip(args).zip(&scope_args) {
            let value = &mut function.values[ids[param]];
            value.origin = Origin::Unknown;
            value.def = if is_base_of(&value.sinfo, given) == Proof::Yes {
                value.sinfo = given.clone();
                Def::Arg(arg.clone())
            } else {
                Def::MatchCast(arg.clone(), value.sinfo.clone())
            };
            params.push(ids[param]);
        }
        (params, moved_body(&callee.body, &ids))
    }
}

/// The definition, in a function `depth` functions inside of the one whose values have got other ids.
fn moved(def: &Def, depth: usize, ids: &HashMap<ValueId, ValueId>) -> Def {
    let mut leaf = |leaf: &Arg| match leaf {
        Arg::Value(id) if depth == 0 => Arg::Value(ids[id]),
        Arg::Captured { depth: out, value } if *out == depth => Arg::Captured {
            depth,
            value: ids[value],
        },
        other => other.clone(),
    };
    let mut def = def.map(&mut leaf, &mut Clone::clone);
    match &mut def {
        Def::Call {
            callee: Callee::Value(closure),
            args: _,
            attrs: _,
            sinfo_args: _,
        } if depth == 0 => *closure = ids[closure],
        Def::If {
            cond: _,
            then,
            otherwise,
        } if depth == 0 => {
            for branch in [then, otherwise] {
                // Results are moved already.
                let result = branch.result.clone();
                *branch = moved_body(branch, ids);
                branch.result = result;
            }
        }
        Def::Function(inner) => {
            let at: Vec<_> = inner.values.iter().map(|(id, _)| id).collect();
            for id in at {
                inner.values[id].def = moved(&inner.values[id].def, depth + 1, ids);
            }
            inner.body.result = moved_result(&inner.body.result, depth + 1, ids);
        }
        _ => {}
    }
    def
}

fn moved_result(result: &Arg, depth: usize, ids: &HashMap<ValueId, ValueId>) -> Arg {
    match moved(&Def::Arg(result.clone()), depth, ids) {
        Def::Arg(result) => result,
        _ => unreachable!("a name for an argument stays one"),
    }
}

fn moved_body(body: &Body, ids: &HashMap<ValueId, ValueId>) -> Body {
    let all = |old: &[ValueId]| old.iter().map(|id| ids[id]).collect::<Vec<_>>();
    let blocks = body.blocks.iter().map(|block| BindingBlock {
        dataflow: block.dataflow.as_deref().map(all),
        bindings: all(&block.bindings),
    });
    Body {
        blocks: blocks.collect(),
        result: body.result.map_leaves(&mut |leaf| match leaf {
            Arg::Value(id) => ids.get(id).map_or(leaf.clone(), |id| Arg::Value(*id)),
            other => other.clone(),
        }),
    }
}
