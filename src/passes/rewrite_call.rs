//! `rewrite_call`: values that match a pattern are computed in another way (Relax: `rewrite_call`).

use std::collections::{HashMap, HashSet};

use super::PassError;
use super::bodies::pure_runs;
use super::canonicalize_bindings::canonical;
use super::dead_code_elimination::without_unused;
use super::eliminate_common_subexpr::without_common;
use super::groups::is_whole;
use crate::ir::graph::pattern::{DfPattern, Matches};
use crate::ir::graph::{
    Arg, Become, Def, Function, Globals, InferError, Old, Rewriter, Scope, Value, ValueId, rewrite,
};
use crate::ir::{Func, Module, alpha_eq};
use crate::support::Arena;

/// A value that matches a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The value.
    pub old: Old<'a>,
    /// What the parts of the pattern match, in the new function. The value itself is not bound there yet: it keeps its old handle.
    pub matches: &'a Matches,
    /// What the parts of the pattern match, in the function before.
    pub before: &'a Matches,
}

/// The function where `rewriter` has said what becomes of each value that matches. `rewriter` may bind values of its own, and
/// declines with [`Become::Kept`]. Values are tried in the order of the program, until nothing changes. After each change names for
/// other values, values that are computed twice and values that nothing uses go.
///
/// A match lies within a dataflow block, or within bindings without a branch or a side effect in between. It holds no value that
/// was rewritten in the same round.
///
/// ```
/// use weftile::ir::graph::pattern::{is_op, wildcard};
/// use weftile::ir::graph::{Arg, Become, Globals};
/// use weftile::passes::{PassError, rewrite_call};
/// use weftile::{ops, script};
///
/// let module = script::parse("main.py", r#"
/// @I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((4,), "float32")):
///         with R.dataflow():
///             y = R.negative(x)
///             z = R.negative(y)
///             R.output(z)
///         return z
/// "#)?;
/// let x = wildcard();
/// let inner = is_op(ops::op("negative"), [&x]);
/// let pattern = is_op(ops::op("negative"), [&inner]);
/// let main = module.function("main").expect("as written");
/// let new = rewrite_call(&pattern, main, &Globals::of(&module), &mut |_, site| {
///     Ok::<_, PassError>(Become::Arg(site.matches[&x].clone()))
/// })?;
/// assert_eq!(new.body.result, Arg::Value(new.params[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `rewriter`, and those of `canonicalize_bindings`.
pub fn rewrite_call<E: From<PassError>>(
    pattern: &DfPattern,
    function: &Function,
    globals: &Globals,
    rewriter: &mut dyn FnMut(&mut Rewriter<'_>, &Site<'_>) -> Result<Become, E>,
) -> Result<Function, E> {
    let mut function = function.clone();
    while let Some(new) = round(pattern, &function, globals, rewriter)? {
        let new = settled(new, globals)?;
        if alpha_eq::function(&function, &new).is_ok() {
            break;
        }
        function = new;
    }
    Ok(function)
}

/// What becomes of a value of this function that matches.
type Rewrite<'r> =
    dyn FnMut(&Function, &mut Rewriter<'_>, &Site<'_>) -> Result<Become, InferError> + 'r;

/// The module where matches in each function that is not computed as a whole are rewritten, as [`rewrite_call`] does.
///
/// # Errors
/// [`PassError::Type`] with what `rewriter` says.
pub(super) fn rewrite_each(
    module: &Module,
    pattern: &DfPattern,
    rewriter: &mut Rewrite<'_>,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        let new = rewrite_call(pattern, function, &globals, &mut |at, site| {
            rewriter(function, at, site).map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: site.old.value.name.clone(),
                error: Box::new(error),
            })
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

/// Gives the replacement of a definition's call, if there is one.
type Replace<'a> = dyn FnMut(&mut Rewriter<'_>, &Def) -> Result<Option<Def>, InferError> + 'a;

/// The module where other calls take the place of some: `instead` binds what they need, and gives the call for a definition, if there is
/// one. Nothing else changes.
///
/// # Errors
/// [`PassError::Type`] with what `instead` says.
pub(super) fn replace_calls(
    module: &Module,
    instead: &mut Replace<'_>,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut changed = false;
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let made = instead(rewriter, old.def).map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            })?;
            changed |= made.is_some();
            Ok::<_, PassError>(made.map_or(Become::Kept, Become::Def))
        })?;
        if changed {
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

/// The function after each value was tried once; `None` if none was rewritten.
fn round<E>(
    pattern: &DfPattern,
    function: &Function,
    globals: &Globals,
    rewriter: &mut dyn FnMut(&mut Rewriter<'_>, &Site<'_>) -> Result<Become, E>,
) -> Result<Option<Function>, E> {
    let mut runs = Runs::default();
    runs.function(function, globals, &[]);
    let mut rewritten = HashSet::new();
    let new = rewrite(function, globals, &mut |at, old| {
        let address = std::ptr::from_ref(old.value) as usize;
        let Some((run, id)) = runs.of.get(&address).map(|&run| (&runs.all[run], old.id)) else {
            return Ok(Become::Kept);
        };
        let scope = Scope {
            globals,
            frames: run.frames.clone(),
        };
        let values = run.frames.last().expect("the function is one of them");
        let within = |id: ValueId| {
            run.bindings.contains(&id)
                && !rewritten.contains(&(std::ptr::from_ref(&values[id]) as usize))
        };
        let arg = Arg::Value(id);
        let Some(before) = pattern.matches_within(&arg, &scope, &within) else {
            return Ok(Become::Kept);
        };
        // The value itself is not bound yet.
        let matches = before.map(&mut |leaf| {
            if *leaf == arg {
                arg.clone()
            } else {
                at.arg(leaf)
            }
        });
        let site = Site {
            old,
            matches: &matches,
            before: &before,
        };
        let becomes = rewriter(at, &site)?;
        if !matches!(becomes, Become::Kept) {
            rewritten.insert(address);
        }
        Ok(becomes)
    })?;
    Ok((!rewritten.is_empty()).then_some(new))
}

/// The function without names for other values, values that are computed twice, and values that nothing uses.
pub(super) fn settled(mut function: Function, globals: &Globals) -> Result<Function, PassError> {
    loop {
        let new = without_common(&canonical(&function, globals)?, globals);
        let new = without_unused(&new, globals);
        if alpha_eq::function(&function, &new).is_ok() {
            return Ok(new);
        }
        function = new;
    }
}

/// Bindings in a row without a branch or a side effect.
struct Run<'f> {
    bindings: HashSet<ValueId>,
    /// The values of the functions around, and of the function itself.
    frames: Vec<&'f Arena<ValueId, Value>>,
}

/// All runs of a function and the functions in it.
#[derive(Default)]
struct Runs<'f> {
    all: Vec<Run<'f>>,
    /// By the address of a value: its run. Values of nested functions have equal ids.
    of: HashMap<usize, usize>,
}

impl<'f> Runs<'f> {
    fn function(
        &mut self,
        function: &'f Function,
        globals: &Globals,
        around: &[&'f Arena<ValueId, Value>],
    ) {
        let mut frames = around.to_vec();
        frames.push(&function.values);
        for bindings in pure_runs(function, globals) {
            let address = |id: &ValueId| std::ptr::from_ref(&function.values[*id]) as usize;
            let index = self.all.len();
            self.of
                .extend(bindings.iter().map(|id| (address(id), index)));
            self.all.push(Run {
                bindings: bindings.into_iter().collect(),
                frames: frames.clone(),
            });
        }
        for (_, value) in function.values.iter() {
            if let Def::Function(inner) = &value.def {
                self.function(inner, globals, &frames);
            }
        }
    }
}
