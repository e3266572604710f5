//! Symbolic variables whose values follow from checks.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{PassError, is_finer};
use crate::arith::Analyzer;
use crate::ir::graph::dims::{Proof, bind_vars, compare_dims};
use crate::ir::graph::{
    Arg, BindingBlock, Body, Def, Function, Globals, Scope, Value, ValueId, infer,
};
use crate::ir::{AttrValue, Expr, StructInfo, Var};
use crate::support::Arena;

/// The function with the values of symbolic variables in place of these, where a check (`R.match_cast`) of a value with known
/// extents says them. A variable that scalar arguments use stays there, and so do the check that defines it and checks of variables that
/// were defined before.
pub(super) fn known_extents(original: &Function, globals: &Globals) -> Result<Function, PassError> {
    let mut function = original.clone();
    let mut pass = Extents {
        globals,
        name: function.name.clone(),
        originals: vec![],
        around: vec![],
        known: HashMap::new(),
        simplified: RefCell::default(),
        defined: HashSet::new(),
        scalars: HashSet::new(),
    };
    pass.function(original, &mut function)?;
    Ok(function)
}

struct Extents<'f> {
    globals: &'f Globals,
    name: String,
    /// Values as they were, of the functions around and of the one that is looked at.
    originals: Vec<&'f Arena<ValueId, Value>>,
    /// Values of the functions around the one that is looked at.
    around: Vec<Arena<ValueId, Value>>,
    /// What variables are equal to, here.
    known: HashMap<Var, Expr>,
    /// Expressions with what is known here in place: most tensors have one of a few extents.
    simplified: RefCell<HashMap<Expr, Expr>>,
    /// Variables that are defined here.
    defined: HashSet<Var>,
    /// Variables of the function that scalar arguments use.
    scalars: HashSet<Var>,
}

impl<'f> Extents<'f> {
    fn function(
        &mut self,
        original: &'f Function,
        function: &mut Function,
    ) -> Result<(), PassError> {
        let outer = (
            self.known.clone(),
            self.defined.clone(),
            std::mem::replace(&mut self.scalars, scalar_vars(function)),
        );
        self.originals.push(&original.values);
        let mut by_params: HashSet<Var> = HashSet::new();
        for &param in &function.params {
            let value = &mut function.values[param];
            value.sinfo = self.sinfo(&value.sinfo);
            by_params.extend(value.sinfo.defined_vars());
        }
        self.defined.extend(by_params.iter().cloned());
        let mut body = function.body.clone();
        self.body(function, &mut body)?;
        function.body = body;
        // Callers know the variables of parameters, and no others.
        function.ret = function.ret.map_exprs(&mut |e| {
            let known_outside = e.free_vars().iter().all(|var| by_params.contains(var));
            if known_outside {
                e.clone()
            } else {
                self.expr(e)
            }
        });
        self.originals.pop();
        (self.known, self.defined, self.scalars) = outer;
        self.simplified.get_mut().clear();
        Ok(())
    }

    fn body(&mut self, function: &mut Function, body: &mut Body) -> Result<(), PassError> {
        for id in body.blocks.iter().flat_map(|block| &block.bindings) {
            self.binding(function, *id)?;
        }
        body.result = self.arg(&body.result);
        Ok(())
    }

    fn binding(&mut self, function: &mut Function, id: ValueId) -> Result<(), PassError> {
        let value = function.values[id].clone();
        let mut known_here = true;
        let def = match value.def {
            Def::MatchCast(arg, pattern) => {
                let given = self.scope(function).arg(&arg);
                known_here = self.learn(&value.name, &pattern, &given)?;
                self.defined.extend(pattern.defined_vars());
                let pattern = if known_here {
                    self.sinfo(&pattern)
                } else {
                    pattern
                };
                Def::MatchCast(self.arg(&arg), pattern)
            }
            Def::If {
                cond,
                mut then,
                mut otherwise,
            } => {
                let sinfo = self.sinfo(&value.sinfo);
                for branch in [&mut then, &mut otherwise] {
                    let outer = (self.known.clone(), self.defined.clone());
                    self.body(function, branch)?;
                    if self.known != outer.0 {
                        self.leave(function, branch, &sinfo);
                    }
                    (self.known, self.defined) = outer;
                    self.simplified.get_mut().clear();
                }
                Def::If {
                    cond: self.arg(&cond),
                    then,
                    otherwise,
                }
            }
            Def::Function(mut inner) => {
                let original = self.originals.last().map(|values| &values[id].def);
                if let Some(Def::Function(original)) = original {
                    self.around.push(function.values.clone());
                    self.function(original, &mut inner)?;
                    self.around.pop();
                }
                Def::Function(inner)
            }
            def => self.def(def),
        };
        let sinfo = match &def {
            Def::MatchCast(_, pattern) if !known_here => pattern.clone(),
            Def::Arg(_) | Def::TupleItem(_, _) | Def::Call { .. } if !self.known.is_empty() => {
                self.inferred(function, id, &def)
            }
            _ => self.sinfo(&value.sinfo),
        };
        let slot = &mut function.values[id];
        (slot.def, slot.sinfo) = (def, sinfo);
        Ok(())
    }

    /// What is known of a value with this definition, more perhaps than before.
    fn inferred(&self, function: &Function, id: ValueId, def: &Def) -> StructInfo {
        let known = self.sinfo(&function.values[id].sinfo);
        let original = Scope {
            globals: self.globals,
            frames: self.originals.clone(),
        };
        let before = self.originals.last().map(|values| &values[id].def);
        let before = before.and_then(|def| infer(def, &original).ok());
        match infer(def, &self.scope(function)) {
            Ok(after) if before.as_ref() != Some(&after) && is_finer(&known, &after) => after,
            _ => known,
        }
    }

    /// A branch in which more is known of its result than after it ends in a check that says as much as is known after it.
    fn leave(&self, function: &mut Function, branch: &mut Body, sinfo: &StructInfo) {
        if self.scope(function).arg(&branch.result) == *sinfo {
            return;
        }
        let checked = function.values.push(Value {
            name: "checked".to_owned(),
            sinfo: sinfo.clone(),
            def: Def::MatchCast(branch.result.clone(), sinfo.clone()),
            origin: crate::ir::Origin::Unknown,
        });
        branch.blocks.push(BindingBlock {
            dataflow: None,
            bindings: vec![checked],
        });
        branch.result = Arg::Value(checked);
    }

    /// Takes in what a check of a value says. Whether the check defines and compares no
    /// variables that are needed.
    fn learn(
        &mut self,
        name: &str,
        pattern: &StructInfo,
        given: &StructInfo,
    ) -> Result<bool, PassError> {
        let mut bound = IndexMap::new();
        bind_vars(pattern, given, &mut bound);
        let mut need_not = true;
        for (var, value) in bound {
            if value.as_var() == Some(&var) {
                continue;
            }
            need_not &= !self.scalars.contains(&var);
            match self.known.get(&var) {
                Some(known) if compare_dims(known, &value) == Proof::No => {
                    return Err(PassError::Contradiction {
                        func: self.name.clone(),
                        value: name.to_owned(),
                        var: var.name().to_owned(),
                        known: format!("{known:#}"),
                        given: format!("{value:#}"),
                    });
                }
                Some(_) => {}
                // It says which values the variable may have, not which one it has.
                None if value.uses(&var) => need_not = false,
                None => {
                    need_not &= !self.defined.contains(&var);
                    let simplified = self.simplified.get_mut();
                    simplified.retain(|e, _| !e.free_vars().contains(&var));
                    self.known.insert(var, value);
                }
            }
        }
        Ok(need_not)
    }

    fn scope<'a>(&'a self, function: &'a Function) -> Scope<'a> {
        let mut frames: Vec<_> = self.around.iter().collect();
        frames.push(&function.values);
        Scope {
            globals: self.globals,
            frames,
        }
    }

    fn expr(&self, e: &Expr) -> Expr {
        if e.free_vars()
            .iter()
            .all(|var| !self.known.contains_key(var))
        {
            return e.clone();
        }
        if let Some(simplified) = self.simplified.borrow().get(e) {
            return simplified.clone();
        }
        let known = e.substitute(&|var| self.known.get(var).cloned());
        let simplified = Analyzer::new().simplify(&known);
        let mut all = self.simplified.borrow_mut();
        all.insert(e.clone(), simplified.clone());
        simplified
    }

    fn sinfo(&self, info: &StructInfo) -> StructInfo {
        info.map_exprs(&mut |e| self.expr(e))
    }

    fn arg(&self, arg: &Arg) -> Arg {
        arg.map_leaves(&mut |leaf| match leaf {
            Arg::Shape(dims) => Arg::Shape(dims.iter().map(|e| self.expr(e)).collect()),
            other => other.clone(),
        })
    }

    fn def(&self, def: Def) -> Def {
        let mut def = def.map(&mut |leaf| self.arg(leaf), &mut Clone::clone);
        match &mut def {
            Def::CallDps {
                callee: _,
                args: _,
                tir_vars,
                inplace: _,
                out,
            } => {
                tir_vars.iter_mut().for_each(|e| *e = self.expr(e));
                *out = self.sinfo(out);
            }
            Def::Call {
                callee: _,
                args: _,
                attrs,
                sinfo_args,
            } => {
                let mapped = |value: &AttrValue| value.map_exprs(&mut |e| self.expr(e));
                attrs.values_mut().for_each(|value| *value = mapped(value));
                let infos = sinfo_args.iter_mut();
                infos.for_each(|info| *info = self.sinfo(info));
            }
            _ => {}
        }
        def
    }
}

/// The variables that scalar arguments use.
fn scalar_vars(function: &Function) -> HashSet<Var> {
    let mut vars = HashSet::new();
    let mut add = |arg: &Arg| {
        arg.walk(&mut |leaf| {
            if let Arg::Prim(e) = leaf {
                vars.extend(e.free_vars());
            }
        });
    };
    function.for_each_value(&mut |value| {
        value.def.args().into_iter().for_each(&mut add);
        let bodies = value.def.bodies().into_iter();
        bodies.for_each(|body| add(&body.result));
        if let Def::Function(inner) = &value.def {
            add(&inner.body.result);
        }
    });
    add(&function.body.result);
    vars
}
