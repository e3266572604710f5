//! Whether a pattern matches an argument.
//!
//! Alternatives are tried from left to right, and the first that matches is taken: no later mismatch takes it back.

use std::ops::Index;

use super::{Args, Called, DfPattern, Kind};
use crate::ir::graph::dims::{Proof, compare_dims, is_base_of};
use crate::ir::graph::{Arg, Callee, Def, DpsCallee, Scope, ValueId};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo};

/// What patterns matched.
#[derive(Clone, Debug, Default)]
pub struct Matches(Vec<(DfPattern, Arg)>);

impl Matches {
    /// What the pattern matched, if it is a part of the pattern and was used for the match.
    pub fn get(&self, pattern: &DfPattern) -> Option<&Arg> {
        let found = self.0.iter().find(|(known, _)| known == pattern);
        found.map(|(_, arg)| arg)
    }

    /// The values whose computation the pattern describes: those of calls and items of tuples. What a wildcard or a variable matched
    /// is an input.
    pub fn computed(&self) -> Vec<ValueId> {
        let mut out = vec![];
        for (pattern, arg) in &self.0 {
            if let Arg::Value(id) = arg
                && pattern.computes()
                && !out.contains(id)
            {
                out.push(*id);
            }
        }
        out
    }

    /// How the value that the pattern matched is computed, in the function of the scope.
    pub fn def<'v>(&self, pattern: &DfPattern, scope: &Scope<'v>) -> Option<&'v Def> {
        let Arg::Value(id) = self.get(pattern)? else {
            return None;
        };
        Some(&scope.frames.last()?.get(*id)?.def)
    }

    /// The attributes of the call that the pattern matched, in the function of the scope.
    pub fn attrs<'v>(&self, pattern: &DfPattern, scope: &Scope<'v>) -> Option<&'v Attrs> {
        self.def(pattern, scope)?.attrs()
    }

    /// These matches with those of a pattern that matches this argument beside them.
    pub(super) fn extended(
        &self,
        pattern: &DfPattern,
        arg: &Arg,
        scope: &Scope<'_>,
        within: &dyn Fn(ValueId) -> bool,
    ) -> Option<Self> {
        let mut matcher = Matcher {
            scope,
            within,
            found: self.0.clone(),
            same_shape: vec![],
        };
        (matcher.matches(pattern, arg) && matcher.shapes_agree()).then_some(Self(matcher.found))
    }

    /// The same with `f` applied to every argument.
    #[must_use]
    pub fn map(&self, f: &mut dyn FnMut(&Arg) -> Arg) -> Self {
        Self(self.0.iter().map(|(p, arg)| (p.clone(), f(arg))).collect())
    }
}

impl Index<&DfPattern> for Matches {
    type Output = Arg;

    /// What the pattern matched.
    ///
    /// # Panics
    /// If the pattern is no part of the one that matched.
    fn index(&self, pattern: &DfPattern) -> &Arg {
        self.get(pattern)
            .expect("the pattern is a part of the one that matched")
    }
}

impl DfPattern {
    /// What the parts of the pattern match, if it matches the argument.
    pub fn matches(&self, arg: &Arg, scope: &Scope<'_>) -> Option<Matches> {
        self.matches_within(arg, scope, &|_| true)
    }

    /// What the parts of the pattern match, if it matches the argument where only the computations of these values are looked at.
    pub fn matches_within(
        &self,
        arg: &Arg,
        scope: &Scope<'_>,
        within: &dyn Fn(ValueId) -> bool,
    ) -> Option<Matches> {
        Matches::default().extended(self, arg, scope, within)
    }
}

struct Matcher<'a> {
    scope: &'a Scope<'a>,
    within: &'a dyn Fn(ValueId) -> bool,
    found: Vec<(DfPattern, Arg)>,
    /// Patterns whose matches must have one shape.
    same_shape: Vec<(DfPattern, DfPattern)>,
}

impl<'a> Matcher<'a> {
    fn matches(&mut self, pattern: &DfPattern, arg: &Arg) -> bool {
        let arg = self.unwrapped(arg);
        if let Some((_, known)) = self.found.iter().find(|(known, _)| known == pattern) {
            return *known == arg;
        }
        let before = (self.found.len(), self.same_shape.len());
        let matches = self.kind(pattern, &arg);
        if matches {
            self.found.push((pattern.clone(), arg));
        } else {
            self.found.truncate(before.0);
            self.same_shape.truncate(before.1);
        }
        matches
    }

    fn kind(&mut self, pattern: &DfPattern, arg: &Arg) -> bool {
        match &*pattern.0 {
            Kind::Wildcard => true,
            Kind::Var(name) => self.is_var(name, arg),
            Kind::Const => matches!(arg, Arg::Const(_) | Arg::Omitted(_)),
            Kind::Shape(dims) => matches!(arg, Arg::Shape(given) if same_dims(dims, given)),
            Kind::Tuple(items) => match arg {
                Arg::Tuple(given) if given.len() == items.len() => self.all(items, given.iter()),
                _ => false,
            },
            Kind::UnorderedTuple(items) => match arg {
                Arg::Tuple(given) if given.len() == items.len() => {
                    self.unordered(items, &mut given.iter().collect())
                }
                _ => false,
            },
            Kind::TupleItem(tuple, index) => match self.def(arg) {
                Some(Def::TupleItem(of, at)) => {
                    index.is_none_or(|index| index == *at) && self.matches(tuple, of)
                }
                _ => false,
            },
            Kind::Call(called, args) => self.call(called, args, arg),
            Kind::Attrs(inner, attrs) => self.matches(inner, arg) && self.has_attrs(attrs, arg),
            Kind::DType(inner, dtype) => {
                let info = self.scope.arg(arg);
                info.as_tensor().is_some_and(|t| t.dtype == Some(*dtype))
                    && self.matches(inner, arg)
            }
            Kind::HasShape(inner, dims) => {
                let given = dims_of(&self.scope.arg(arg));
                given.is_some_and(|given| same_dims(dims, &given)) && self.matches(inner, arg)
            }
            Kind::HasInfo(inner, info) => {
                is_base_of(info, &self.scope.arg(arg)) == Proof::Yes && self.matches(inner, arg)
            }
            Kind::SameShape(inner, other) => {
                self.same_shape.push((inner.clone(), other.clone()));
                self.matches(inner, arg)
            }
            Kind::Or(left, right) => self.matches(left, arg) || self.matches(right, arg),
            Kind::And(left, right) => self.matches(left, arg) && self.matches(right, arg),
            Kind::Not(inner) => !self.matches(inner, arg),
        }
    }

    fn all<'g>(&mut self, patterns: &[DfPattern], args: impl Iterator<Item = &'g Arg>) -> bool {
        let mut pairs = patterns.iter().zip(args);
        pairs.all(|(pattern, arg)| self.matches(pattern, arg))
    }

    /// Whether the patterns match the arguments that are left in some order.
    fn unordered(&mut self, patterns: &[DfPattern], left: &mut Vec<&Arg>) -> bool {
        let Some((first, others)) = patterns.split_first() else {
            return true;
        };
        for at in 0..left.len() {
            let before = (self.found.len(), self.same_shape.len());
            let arg = left.remove(at);
            if self.matches(first, arg) && self.unordered(others, left) {
                return true;
            }
            left.insert(at, arg);
            self.found.truncate(before.0);
            self.same_shape.truncate(before.1);
        }
        false
    }

    fn call(&mut self, called: &Called, args: &Args, arg: &Arg) -> bool {
        let Some(given) = self.def(arg).and_then(|def| called.args(def)) else {
            return false;
        };
        let patterns = match args {
            Args::All(patterns) if patterns.len() == given.len() => patterns,
            Args::First(patterns) if patterns.len() <= given.len() => patterns,
            Args::All(_) | Args::First(_) => return false,
        };
        let before = (self.found.len(), self.same_shape.len());
        if self.all(patterns, given.iter()) {
            return true;
        }
        self.found.truncate(before.0);
        self.same_shape.truncate(before.1);
        called.commutes() && self.all(patterns, given.iter().rev())
    }

    fn is_var(&self, name: &str, arg: &Arg) -> bool {
        let (depth, id) = match arg {
            Arg::Value(id) => (0, *id),
            Arg::Captured { depth, value } => (*depth, *value),
            _ => return false,
        };
        let frame = self.scope.frames.len().checked_sub(depth + 1);
        let value = frame.and_then(|frame| self.scope.frames[frame].get(id));
        self.def(arg).is_none() && value.is_some_and(|value| name.is_empty() || value.name == name)
    }

    fn has_attrs(&self, wanted: &Attrs, arg: &Arg) -> bool {
        let Some(attrs) = self.def(arg).and_then(Def::attrs) else {
            return false;
        };
        let is_none = |value: &AttrValue| matches!(value, AttrValue::None);
        wanted.iter().all(|(name, value)| match attrs.get(name) {
            Some(given) => given == value,
            None => is_none(value),
        })
    }

    /// The argument that this one is a name for.
    fn unwrapped(&self, arg: &Arg) -> Arg {
        match self.def(arg) {
            Some(Def::Arg(other)) => self.unwrapped(other),
            _ => arg.clone(),
        }
    }

    /// How the argument is computed, if that is looked at.
    fn def(&self, arg: &Arg) -> Option<&'a Def> {
        let Arg::Value(id) = arg else {
            return None;
        };
        let values = self.scope.frames.last()?;
        let def = &values.get(*id)?.def;
        (!matches!(def, Def::Param) && (self.within)(*id)).then_some(def)
    }

    fn shapes_agree(&self) -> bool {
        let dims = |pattern: &DfPattern| {
            let (_, arg) = self.found.iter().find(|(known, _)| known == pattern)?;
            dims_of(&self.scope.arg(arg))
        };
        let mut pairs = self.same_shape.iter();
        pairs.all(|(one, other)| match (dims(one), dims(other)) {
            (Some(one), Some(other)) => same_dims(&one, &other),
            _ => false,
        })
    }
}

impl Called {
    /// The arguments of the definition, if it is such a call.
    fn args<'d>(&self, def: &'d Def) -> Option<&'d [Arg]> {
        match (self, def) {
            (
                Self::Op(op),
                Def::Call {
                    callee: Callee::Op(given),
                    args,
                    attrs: _,
                    sinfo_args: _,
                },
            ) => (op == given).then_some(args),
            (
                Self::Global(name),
                Def::Call {
                    callee: Callee::Global(given),
                    args,
                    attrs: _,
                    sinfo_args: _,
                },
            )
            | (
                Self::Packed(name),
                Def::Call {
                    callee: Callee::Packed(given) | Callee::PurePacked(given),
                    args,
                    attrs: _,
                    sinfo_args: _,
                },
            )
            | (
                Self::Tir(name),
                Def::CallDps {
                    callee: DpsCallee::Prim(given),
                    args,
                    tir_vars: _,
                    inplace: None,
                    out: _,
                },
            )
            | (
                Self::DpsPacked(name),
                Def::CallDps {
                    callee: DpsCallee::Packed(given),
                    args,
                    tir_vars: _,
                    inplace: None,
                    out: _,
                },
            ) => given.contains(name.as_str()).then_some(args),
            _ => None,
        }
    }

    /// Whether the operands of the call may change places.
    fn commutes(&self) -> bool {
        matches!(self, Self::Op(op) if op.schema().commutative)
    }
}

/// The extents of a tensor or a shape.
fn dims_of(info: &StructInfo) -> Option<Vec<Expr>> {
    let shape = match info {
        StructInfo::Tensor(info) => &info.shape,
        StructInfo::Shape(shape) => shape,
        _ => return None,
    };
    shape.dims().map(<[Expr]>::to_vec)
}

fn same_dims(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| compare_dims(a, b) == Proof::Yes)
}
