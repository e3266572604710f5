//! Copies a graph function, old to new, while a rule says what each value becomes.
//!
//! Values that a rule replaces are not copied; the order of the others, dataflow blocks, branches, nested functions, names and
//! origins stay. What a rule binds itself stands before the value in its place.
//!
//! ```
//! use std::convert::Infallible;
//! use weftile::ir::graph::{Arg, Become, Def, Globals, rewrite};
//! # use weftile::ir::graph::Function;
//!
//! /// The function without names for arguments.
//! fn without_names(func: &Function) -> Function {
//!     let Ok(new) = rewrite(func, &Globals::default(), &mut |_, old| {
//!         Ok::<_, Infallible>(match old.def {
//!             Def::Arg(arg) => Become::Arg(arg.clone()),
//!             _ => Become::Kept,
//!         })
//!     });
//!     new
//! }
//! ```

use super::{Arg, Body, Callee, Def, Function, Globals, GraphBuilder, Scope, Value, ValueId};
use crate::support::SideTable;

/// A value of the function that is copied.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    /// Its handle there.
    pub id: ValueId,
    /// Its name, and what is known of it.
    pub value: &'a Value,
    /// Its definition with the arguments of the new function. Branches and nested functions in it are the old ones.
    pub def: &'a Def,
    /// In how many functions the one that it belongs to is nested.
    pub depth: usize,
}

/// What becomes of a value.
#[derive(Clone, Debug)]
pub enum Become {
    /// It stays.
    Kept,
    /// It gets this definition, whose arguments are those of the new function.
    Def(Def),
    /// Its users use this instead. A parameter vanishes from the signature.
    Arg(Arg),
    /// It stays, and its users use this instead.
    Unused(Arg),
    /// It goes: nothing that is kept uses it.
    Nothing,
}

/// A rule: what becomes of a value. It may bind values of its own.
pub type Rule<'r, E> = dyn FnMut(&mut Rewriter<'_>, Old<'_>) -> Result<Become, E> + 'r;

/// Copies a function under a rule. `globals` are the functions that the new one may call.
///
/// # Errors
/// Those of the rule.
pub fn rewrite<E>(
    func: &Function,
    globals: &Globals,
    rule: &mut Rule<'_, E>,
) -> Result<Function, E> {
    let mut rewriter = Rewriter { levels: vec![] };
    let builder = GraphBuilder::in_module(func.name.as_str(), globals.clone());
    rewriter.function(func, builder, rule)
}

/// One function, or one nested in it, while it is copied.
struct Level<'f> {
    old: &'f Function,
    builder: GraphBuilder,
    /// What stands for the old values.
    new: SideTable<ValueId, Option<Arg>>,
    /// New values for old ones that stay although their users use something else.
    unused: SideTable<ValueId, Option<ValueId>>,
}

/// The copy so far, from the outermost function to the one that is copied now.
pub struct Rewriter<'f> {
    levels: Vec<Level<'f>>,
}

impl<'f> Rewriter<'f> {
    /// Where values are bound before the one in question. Dataflow blocks and branches must be left as they were.
    pub fn builder(&mut self) -> &mut GraphBuilder {
        &mut self.level().builder
    }

    /// Where arguments of the new function get their meaning.
    pub fn scope(&self) -> Scope<'_> {
        self.levels
            .last()
            .expect("a function is open")
            .builder
            .scope()
    }

    /// An argument of the function that is copied, as one of the new function.
    pub fn arg(&self, arg: &Arg) -> Arg {
        arg.map_leaves(&mut |leaf| match leaf {
            Arg::Value(id) => self.of(0, *id),
            Arg::Captured { depth, value } => self.of(*depth, *value),
            other => other.clone(),
        })
    }

    /// What stands here for an old value of the function that is `depth` functions out. For one that is gone, which only what
    /// goes too may use, that is nothing.
    fn of(&self, depth: usize, id: ValueId) -> Arg {
        let at = self.levels.len() - 1 - depth;
        let Some(new) = &self.levels[at].new[id] else {
            return Arg::Tuple(vec![]);
        };
        new.map_leaves(&mut |leaf| match (leaf, depth) {
            (_, 0) => leaf.clone(),
            (Arg::Value(value), _) => Arg::Captured {
                depth,
                value: *value,
            },
            (Arg::Captured { depth: more, value }, _) => Arg::Captured {
                depth: depth + more,
                value: *value,
            },
            (other, _) => other.clone(),
        })
    }

    /// Says what the users of an old value of this function, which comes before them, use instead.
    pub fn replace(&mut self, id: ValueId, with: Arg) {
        self.set(id, with);
    }

    fn level(&mut self) -> &mut Level<'f> {
        self.levels.last_mut().expect("a function is open")
    }

    fn function<E>(
        &mut self,
        old: &'f Function,
        mut builder: GraphBuilder,
        rule: &mut Rule<'_, E>,
    ) -> Result<Function, E> {
        builder.attrs().clone_from(&old.attrs);
        builder.set_pure(old.pure);
        builder.set_private(old.private);
        self.levels.push(Level {
            old,
            builder,
            new: SideTable::new(),
            unused: SideTable::new(),
        });
        for &id in &old.params {
            let value = &old.values[id];
            let new = match self.ask(id, &Def::Param, rule)? {
                Become::Kept | Become::Def(_) => {
                    let builder = self.builder();
                    Arg::Value(builder.param(value.name.as_str(), value.sinfo.clone()))
                }
                Become::Arg(arg) => arg,
                Become::Unused(arg) => {
                    let builder = self.builder();
                    builder.param(value.name.as_str(), value.sinfo.clone());
                    arg
                }
                Become::Nothing => continue,
            };
            self.set(id, new);
        }
        self.blocks(&old.body, rule)?;
        let result = self.arg(&old.body.result);
        let level = self.levels.pop().expect("pushed above");
        Ok(level.builder.finish_as(result, old.ret.clone()))
    }

    fn ask<E>(&mut self, id: ValueId, def: &Def, rule: &mut Rule<'_, E>) -> Result<Become, E> {
        let depth = self.levels.len() - 1;
        let old: &'f Function = self.level().old;
        let value = &old.values[id];
        self.builder().set_origin(value.origin.clone());
        let old = Old {
            id,
            value,
            def,
            depth,
        };
        rule(self, old)
    }

    fn set(&mut self, id: ValueId, new: Arg) {
        *self.level().new.entry(id) = Some(new);
    }

    fn blocks<E>(&mut self, old: &'f Body, rule: &mut Rule<'_, E>) -> Result<(), E> {
        for block in &old.blocks {
            if block.dataflow.is_some() {
                self.builder().begin_dataflow();
            }
            for &id in &block.bindings {
                self.binding(id, rule)?;
            }
            if let Some(outputs) = &block.dataflow {
                let new = self.outputs(outputs);
                self.builder().end_dataflow(new);
            }
        }
        Ok(())
    }

    /// What stands for outputs of a dataflow block, as far as the new block binds it.
    fn outputs(&mut self, old: &[ValueId]) -> Vec<ValueId> {
        let bound = self.builder().bound_here().to_vec();
        let mut new = vec![];
        for &id in old {
            let level = self.level();
            let stands = match level.unused[id] {
                Some(kept) => Arg::Value(kept),
                None if level.new[id].is_some() => self.of(0, id),
                None => continue,
            };
            stands.walk(&mut |leaf| match leaf {
                Arg::Value(id) if bound.contains(id) && !new.contains(id) => new.push(*id),
                _ => {}
            });
        }
        new
    }

    fn binding<E>(&mut self, id: ValueId, rule: &mut Rule<'_, E>) -> Result<(), E> {
        let old: &'f Function = self.level().old;
        let value = &old.values[id];
        let def = self.operands(&value.def);
        let (def, instead) = match self.ask(id, &def, rule)? {
            Become::Arg(arg) => {
                self.set(id, arg);
                return Ok(());
            }
            Become::Nothing => return Ok(()),
            Become::Def(new) => (new, None),
            Become::Kept => (self.kept(id, def, rule)?, None),
            Become::Unused(arg) => (self.kept(id, def, rule)?, Some(arg)),
        };
        let builder = self.builder();
        let new = builder.bind_as(value.name.as_str(), def, value.sinfo.clone());
        if instead.is_some() {
            *self.level().unused.entry(id) = Some(new);
        }
        self.set(id, instead.unwrap_or(Arg::Value(new)));
        Ok(())
    }

    /// The definition of a value that stays, given with its new operands, with branches and functions inside copied too.
    fn kept<E>(&mut self, id: ValueId, def: Def, rule: &mut Rule<'_, E>) -> Result<Def, E> {
        let old: &'f Function = self.level().old;
        let value = &old.values[id];
        match (&value.def, def) {
            (
                Def::If {
                    cond: _,
                    then,
                    otherwise,
                },
                Def::If {
                    cond,
                    then: _,
                    otherwise: _,
                },
            ) => {
                let then = self.branch(then, rule)?;
                let otherwise = self.branch(otherwise, rule)?;
                self.builder().set_origin(value.origin.clone());
                Ok(Def::If {
                    cond,
                    then,
                    otherwise,
                })
            }
            (Def::Function(inner), _) => self.nested(id, value, inner, rule),
            (_, def) => Ok(def),
        }
    }

    fn branch<E>(&mut self, old: &'f Body, rule: &mut Rule<'_, E>) -> Result<Body, E> {
        self.builder().begin_branch();
        self.blocks(old, rule)?;
        let result = self.arg(&old.result);
        Ok(self.builder().end_branch(result))
    }

    /// A nested function, which may call itself: it is the next value of the function around it.
    fn nested<E>(
        &mut self,
        id: ValueId,
        value: &Value,
        old: &'f Function,
        rule: &mut Rule<'_, E>,
    ) -> Result<Def, E> {
        let own = self.builder().next_id();
        self.set(id, Arg::Value(own));
        let mut builder = self.builder().nested(old.name.as_str());
        builder.announce(value.name.as_str(), value.sinfo.clone());
        let inner = self.function(old, builder, rule)?;
        Ok(Def::Function(Box::new(inner)))
    }

    /// The definition with arguments of the new function. Branches and nested functions stay the old ones.
    fn operands(&mut self, def: &Def) -> Def {
        match def {
            Def::If {
                cond,
                then,
                otherwise,
            } => Def::If {
                cond: self.arg(cond),
                then: then.clone(),
                otherwise: otherwise.clone(),
            },
            Def::Function(_) => def.clone(),
            Def::Call {
                callee: Callee::Value(id),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => {
                let callee = self.closure(*id);
                let mut def = def.map(&mut |leaf| self.arg(leaf), &mut Clone::clone);
                if let Def::Call { callee: called, .. } = &mut def {
                    *called = callee;
                }
                def
            }
            _ => def.map(&mut |leaf| self.arg(leaf), &mut Clone::clone),
        }
    }

    /// What is called where an old closure was.
    fn closure(&mut self, id: ValueId) -> Callee {
        match self.of(0, id) {
            Arg::Value(id) => Callee::Value(id),
            Arg::Global(name) => Callee::Global(name),
            Arg::Extern(name) => Callee::Packed(name),
            other => {
                let value = &self.level().old.values[id];
                let (name, sinfo) = (value.name.clone(), value.sinfo.clone());
                Callee::Value(self.builder().bind_as(name, Def::Arg(other), sinfo))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::ir::{Attrs, Func, Module, alpha_eq, graph};
    use crate::script;

    /// Branches, a dataflow block, a closure that captures and calls itself, a packed call.
    const ALL: &str = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.add(x, x)
            b = R.multiply(a, x)
            R.output(b)
        @R.function
        def f(y: R.Tensor((4,), "float32"), d: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
            z = R.add(y, b)
            if d:
                u = f(z, d)
                v = u
            else:
                w = R.negative(z)
                v = w
            return v
        g = b
        if c:
            p = f(g, c)
            r = p
        else:
            r = R.abs(g)
        s = R.call_packed("print", r, sinfo_args=R.Tuple())
        return r
"#;

    fn parsed(text: &str) -> Module {
        script::parse("test.py", text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn rewritten(
        module: &Module,
        rule: &mut dyn FnMut(&mut Rewriter<'_>, Old<'_>) -> Become,
    ) -> Module {
        let globals = Globals::of(module);
        let mut out = module.clone();
        for func in out.funcs.values_mut() {
            if let Func::Graph(function) = func {
                let Ok(new) =
                    rewrite::<Infallible>(function, &globals, &mut |r, old| Ok(rule(r, old)));
                *function = new;
            }
        }
        graph::verify(&out).unwrap_or_else(|e| panic!("{e:?}\n{}", script::print(&out)));
        out
    }

    fn assert_same(expected: &Module, got: &Module) {
        if alpha_eq::module(expected, got).is_err() {
            panic!("{}", script::print(got));
        }
    }

    #[test]
    fn what_is_kept_is_the_same() {
        let module = parsed(ALL);
        assert_same(&module, &rewritten(&module, &mut |_, _| Become::Kept));
    }

    #[test]
    fn what_is_replaced_vanishes_also_where_it_is_captured() {
        let module = parsed(ALL);
        // `b` becomes `a + 1`, of which the constant is bound before it; other names for values go.
        let got = rewritten(
            &module,
            &mut |r, old| match (old.value.name.as_str(), old.def) {
                ("b", Def::Call { args, .. }) => {
                    let x = args[1].clone();
                    let (op, args) = (crate::ops::op("subtract"), vec![args[0].clone(), x]);
                    let both = r.builder().op("both", op, args, Attrs::new());
                    Become::Arg(Arg::Value(both.expect("of one shape")))
                }
                (_, Def::Arg(arg)) => Become::Arg(arg.clone()),
                _ => Become::Kept,
            },
        );
        let expected = ALL
            .replace("b = R.multiply(a, x)", "b = R.subtract(a, x)")
            .replace("        g = b\n", "")
            .replace("f(g, c)", "f(b, c)")
            .replace("R.abs(g)", "R.abs(b)");
        assert_same(&parsed(&expected), &got);
    }

    #[test]
    fn an_error_of_the_rule_ends_the_copy() {
        let module = parsed(ALL);
        let function = module.function("main").expect("it is there");
        let failed = rewrite(function, &Globals::of(&module), &mut |_, old| match old
            .value
            .name
            .as_str()
        {
            "w" => Err("in a branch of a closure"),
            _ => Ok(Become::Kept),
        });
        assert_eq!(failed.err(), Some("in a branch of a closure"));
    }
}
