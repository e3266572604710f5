//! `dead_code_elimination`: drops bindings that nothing uses and functions that nothing reaches (Relax: `DeadCodeElimination`).

use std::collections::HashSet;
use std::convert::Infallible;

use indexmap::IndexSet;

use super::remove_unused_functions::remove_unused_functions;
use crate::ir::graph::{Arg, Become, Body, Callee, Def, Function, Globals, ValueId, rewrite};
use crate::ir::{Func, Module};

/// The module without functions that none of the entries reaches, and without bindings whose values nothing uses. Checks
/// (`R.match_cast`) and calls with side effects stay.
///
/// ```text
/// a = R.exp(x)                 c = R.call_packed("print", x)
/// b = R.exp(a)             →   return x
/// c = R.call_packed("print", x)
/// return x
/// ```
pub(super) fn dead_code_elimination(module: &Module, entries: &IndexSet<String>) -> Module {
    let mut out = remove_unused_functions(module, entries);
    let globals = Globals::of(&out);
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            *function = without_unused(function, &globals);
        }
    }
    // A call that is gone may have been the last of its function.
    remove_unused_functions(&out, entries)
}

/// The function without bindings whose values nothing uses.
pub(super) fn without_unused(function: &Function, globals: &Globals) -> Function {
    let mut uses = Uses {
        globals,
        functions: vec![],
        kept: HashSet::new(),
    };
    uses.function(function);
    let kept = uses.kept;
    let Ok(mut new) = rewrite::<Infallible>(function, globals, &mut |_, old| {
        let address = std::ptr::from_ref(old.value) as usize;
        let stays = matches!(old.def, Def::Param) || kept.contains(&address);
        Ok(if stays { Become::Kept } else { Become::Nothing })
    });
    super::bodies::for_each_body(&mut new, &mut |body| {
        body.blocks.retain(|block| !block.bindings.is_empty());
    });
    new
}

/// Finds the bindings that stay, users before what they use.
struct Uses<'f> {
    globals: &'f Globals,
    /// From the outermost function to the one that is looked at: it, and its values that are used.
    functions: Vec<(&'f Function, HashSet<ValueId>)>,
    /// Addresses of the values that stay: values of nested functions have equal ids.
    kept: HashSet<usize>,
}

impl<'f> Uses<'f> {
    fn function(&mut self, function: &'f Function) {
        self.functions.push((function, HashSet::new()));
        self.body(&function.body);
        self.functions.pop();
    }

    fn body(&mut self, body: &'f Body) {
        self.used(&body.result);
        let function = self.current();
        for block in body.blocks.iter().rev() {
            for &id in block.bindings.iter().rev() {
                let value = &function.values[id];
                let used = self
                    .functions
                    .last()
                    .is_some_and(|(_, used)| used.contains(&id));
                if used || self.must_run(&value.def) {
                    self.kept.insert(std::ptr::from_ref(value) as usize);
                    self.def(&value.def);
                }
            }
        }
    }

    fn def(&mut self, def: &'f Def) {
        def.args().into_iter().for_each(|arg| self.used(arg));
        match def {
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
    }

    /// Whether the binding does something besides making its value.
    fn must_run(&self, def: &Def) -> bool {
        let function = self.current();
        match def {
            Def::MatchCast(_, _) => true,
            Def::Call {
                callee,
                args: _,
                attrs: _,
                sinfo_args: _,
            } => !callee.is_pure(self.globals, &function.values),
            Def::If {
                cond: _,
                then,
                otherwise,
            } => [then, otherwise].into_iter().any(|body| {
                let bindings = body.blocks.iter().flat_map(|block| &block.bindings);
                bindings
                    .into_iter()
                    .any(|&id| self.must_run(&function.values[id].def))
            }),
            _ => false,
        }
    }

    fn current(&self) -> &'f Function {
        self.functions.last().expect("a function is open").0
    }

    fn used(&mut self, arg: &Arg) {
        let last = self.functions.len() - 1;
        arg.walk(&mut |leaf| {
            let (depth, value) = match leaf {
                Arg::Value(value) => (0, *value),
                Arg::Captured { depth, value } => (*depth, *value),
                _ => return,
            };
            if let Some(at) = last.checked_sub(depth) {
                self.functions[at].1.insert(value);
            }
        });
    }
}
