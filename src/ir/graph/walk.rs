//! Walking graph functions: what a definition uses, the bindings in order, and rewriting of the expressions inside.

use std::collections::HashMap;

use super::{
    Arg, BindingBlock, Body, Callee, Def, DpsCallee, Function, Globals, Op, Value, ValueId,
};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo, Var};
use crate::support::Arena;

impl Arg {
    /// Calls `f` on the argument and, for a tuple, on everything inside, outermost first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Self)) {
        f(self);
        if let Self::Tuple(items) = self {
            items.iter().for_each(|item| item.walk(f));
        }
    }

    /// The argument with `f` applied to every part that is not a tuple.
    pub fn map_leaves(&self, f: &mut dyn FnMut(&Self) -> Self) -> Self {
        match self {
            Self::Tuple(items) => Self::Tuple(items.iter().map(|i| i.map_leaves(f)).collect()),
            Self::Value(_)
            | Self::Captured { depth: _, value: _ }
            | Self::Const(_)
            | Self::Omitted(_)
            | Self::Shape(_)
            | Self::Prim(_)
            | Self::Str(_)
            | Self::DType(_)
            | Self::Global(_)
            | Self::Extern(_) => f(self),
        }
    }

    /// The argument with `f` applied to every expression.
    pub fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        self.map_leaves(&mut |leaf| match leaf {
            Self::Shape(dims) => Self::Shape(dims.iter().map(&mut *f).collect()),
            Self::Prim(e) => Self::Prim(f(e)),
            Self::Tuple(_)
            | Self::Value(_)
            | Self::Captured { depth: _, value: _ }
            | Self::Const(_)
            | Self::Omitted(_)
            | Self::Str(_)
            | Self::DType(_)
            | Self::Global(_)
            | Self::Extern(_) => leaf.clone(),
        })
    }

    /// The values of its function inside, in order.
    pub fn values(&self) -> Vec<ValueId> {
        let mut out = vec![];
        self.walk(&mut |leaf| {
            if let Self::Value(value) = leaf {
                out.push(*value);
            }
        });
        out
    }

    /// The expressions inside.
    pub fn exprs(&self) -> Vec<&Expr> {
        let mut out = Vec::new();
        self.walk(&mut |leaf| match leaf {
            Self::Shape(dims) => out.extend(dims),
            Self::Prim(e) => out.push(e),
            _ => {}
        });
        out
    }
}

impl Callee {
    /// Whether a call has no side effect, by what is known of the callee. `values` are those of the function that calls.
    pub fn is_pure(&self, globals: &Globals, values: &Arena<ValueId, Value>) -> bool {
        let says = |sinfo: &StructInfo| match sinfo {
            StructInfo::Callable {
                params: _,
                ret: _,
                pure,
            } => *pure,
            _ => true,
        };
        match self {
            Self::Op(op) => op.schema().pure,
            Self::Packed(_) => false,
            Self::PurePacked(_) => true,
            Self::Global(name) => globals.signature(name).is_ok_and(|sinfo| says(&sinfo)),
            Self::Value(closure) => values.get(*closure).is_some_and(|v| says(&v.sinfo)),
        }
    }
}

impl Def {
    /// The arguments of the definition itself, not of bindings inside its branches or its function.
    pub fn args(&self) -> Vec<&Arg> {
        match self {
            Self::Param | Self::Function(_) => vec![],
            Self::Arg(arg) | Self::TupleItem(arg, _) | Self::MatchCast(arg, _) => vec![arg],
            Self::CallDps {
                callee: _,
                args,
                tir_vars: _,
                inplace: _,
                out: _,
            }
            | Self::Call {
                callee: _,
                args,
                attrs: _,
                sinfo_args: _,
            } => args.iter().collect(),
            Self::If {
                cond,
                then: _,
                otherwise: _,
            } => vec![cond],
        }
    }

    /// The attributes of a call.
    pub fn attrs(&self) -> Option<&Attrs> {
        match self {
            Self::Call {
                callee: _,
                args: _,
                attrs,
                sinfo_args: _,
            } => Some(attrs),
            _ => None,
        }
    }

    /// The operator that it calls, with arguments and attributes.
    pub fn op_call(&self) -> Option<(Op, &[Arg], &Attrs)> {
        match self {
            Self::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args: _,
            } => Some((*op, args, attrs)),
            _ => None,
        }
    }

    /// The name of the function of the module, or of the packed function, that it calls, or that an operator gets first: to call it, or to
    /// make a closure of it.
    pub fn callee(&self) -> Option<&str> {
        match self {
            Self::CallDps {
                callee: DpsCallee::Prim(name) | DpsCallee::Packed(name),
                args: _,
                tir_vars: _,
                inplace: _,
                out: _,
            }
            | Self::Call {
                callee: Callee::Global(name) | Callee::Packed(name) | Callee::PurePacked(name),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => Some(name),
            Self::Call {
                callee: Callee::Op(_),
                args,
                attrs: _,
                sinfo_args: _,
            } => match args.first() {
                Some(Arg::Global(name)) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// The values of its function that it uses: as arguments, as what it calls, as results of its branches, and those that a
    /// function in it captures. Each is there as often as it is used. What bindings of its branches use is theirs.
    pub fn used_values(&self) -> Vec<ValueId> {
        let mut out = vec![];
        let mut args = self.args();
        args.extend(self.bodies().into_iter().map(|body| &body.result));
        args.into_iter().for_each(|arg| out.extend(arg.values()));
        match self {
            Self::Call {
                callee: Callee::Value(closure),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => out.push(*closure),
            Self::Function(inner) => out.extend(inner.captured(1)),
            _ => {}
        }
        out
    }

    /// Whether both are written the same, with the same arguments. Branches and functions never are.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Arg(a), Self::Arg(b)) => a == b,
            (Self::TupleItem(a, i), Self::TupleItem(b, j)) => a == b && i == j,
            (Self::MatchCast(a, s), Self::MatchCast(b, t)) => a == b && s == t,
            (
                Self::CallDps {
                    callee: f,
                    args: xs,
                    tir_vars: vs,
                    inplace: i,
                    out: s,
                },
                Self::CallDps {
                    callee: g,
                    args: ys,
                    tir_vars: ws,
                    inplace: j,
                    out: t,
                },
            ) => f == g && xs == ys && vs == ws && i == j && s == t,
            (
                Self::Call {
                    callee: f,
                    args: xs,
                    attrs: p,
                    sinfo_args: ss,
                },
                Self::Call {
                    callee: g,
                    args: ys,
                    attrs: q,
                    sinfo_args: ts,
                },
            ) => f == g && xs == ys && p == q && ss == ts,
            _ => false,
        }
    }

    /// The branches.
    pub fn bodies(&self) -> Vec<&Body> {
        if let Self::If {
            cond: _,
            then,
            otherwise,
        } = self
        {
            vec![then, otherwise]
        } else {
            vec![]
        }
    }

    /// The expressions of the definition itself, not of bindings inside its branches or its function.
    pub fn exprs(&self) -> Vec<&Expr> {
        let mut out: Vec<_> = self.args().into_iter().flat_map(Arg::exprs).collect();
        match self {
            Self::CallDps {
                callee: _,
                args: _,
                tir_vars,
                inplace: _,
                out: info,
            } => {
                out.extend(tir_vars);
                out.extend(info.exprs());
            }
            Self::Call {
                callee: _,
                args: _,
                attrs,
                sinfo_args,
            } => {
                out.extend(attrs.values().flat_map(AttrValue::exprs));
                out.extend(sinfo_args.iter().flat_map(StructInfo::exprs));
            }
            Self::MatchCast(_, info) => out.extend(info.exprs()),
            Self::Param
            | Self::Arg(_)
            | Self::TupleItem(_, _)
            | Self::If {
                cond: _,
                then: _,
                otherwise: _,
            }
            | Self::Function(_) => {}
        }
        out
    }

    /// The definition with `leaf` applied to every part of its arguments that is not a tuple, and `expr` to every expression,
    /// also inside branches (only their results) and inside a nested function (only its expressions).
    pub fn map(
        &self,
        leaf: &mut dyn FnMut(&Arg) -> Arg,
        expr: &mut dyn FnMut(&Expr) -> Expr,
    ) -> Self {
        let mut arg =
            |a: &Arg, expr: &mut dyn FnMut(&Expr) -> Expr| a.map_leaves(leaf).map_exprs(expr);
        match self {
            Self::Param => Self::Param,
            Self::Arg(a) => Self::Arg(arg(a, expr)),
            Self::TupleItem(a, index) => Self::TupleItem(arg(a, expr), *index),
            Self::MatchCast(a, info) => Self::MatchCast(arg(a, expr), info.map_exprs(expr)),
            Self::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } => Self::CallDps {
                callee: callee.clone(),
                args: args.iter().map(|a| arg(a, expr)).collect(),
                tir_vars: tir_vars.iter().map(&mut *expr).collect(),
                inplace: inplace.clone(),
                out: out.map_exprs(expr),
            },
            Self::Call {
                callee,
                args,
                attrs,
                sinfo_args,
            } => Self::Call {
                callee: callee.clone(),
                args: args.iter().map(|a| arg(a, expr)).collect(),
                attrs: attrs
                    .iter()
                    .map(|(name, value)| (name.clone(), value.map_exprs(expr)))
                    .collect(),
                sinfo_args: sinfo_args.iter().map(|i| i.map_exprs(expr)).collect(),
            },
            Self::If {
                cond,
                then,
                otherwise,
            } => Self::If {
                cond: arg(cond, expr),
                then: Body {
                    blocks: then.blocks.clone(),
                    result: arg(&then.result, expr),
                },
                otherwise: Body {
                    blocks: otherwise.blocks.clone(),
                    result: arg(&otherwise.result, expr),
                },
            },
            Self::Function(inner) => Self::Function(Box::new(inner.map_exprs(expr))),
        }
    }
}

impl Body {
    /// All blocks in order, those inside branches directly after the block of the branch.
    fn collect_blocks<'a>(
        &'a self,
        values: &'a Arena<ValueId, Value>,
        out: &mut Vec<&'a BindingBlock>,
    ) {
        for block in &self.blocks {
            out.push(block);
            for id in &block.bindings {
                for body in values.get(*id).map_or(vec![], |v| v.def.bodies()) {
                    body.collect_blocks(values, out);
                }
            }
        }
    }
}

impl Function {
    /// All blocks, also those inside branches; not those of nested functions.
    pub fn blocks(&self) -> Vec<&BindingBlock> {
        let mut out = Vec::new();
        self.body.collect_blocks(&self.values, &mut out);
        out
    }

    /// What bindings, branches and the function itself are made of, outermost arguments only; not of functions inside.
    pub fn args(&self) -> Vec<&Arg> {
        let mut out = vec![&self.body.result];
        for (_, value) in self.values.iter() {
            out.extend(value.def.args());
            out.extend(value.def.bodies().into_iter().map(|body| &body.result));
        }
        out
    }

    /// Calls `f` on every bound value in program order: a branch's bindings come before the `If` that holds them. Parameters
    /// and the values of nested functions are not visited.
    pub fn for_each_binding<'a>(&'a self, f: &mut dyn FnMut(ValueId, &'a Value)) {
        fn body<'a>(func: &'a Function, at: &'a Body, f: &mut dyn FnMut(ValueId, &'a Value)) {
            for id in at.blocks.iter().flat_map(|block| &block.bindings) {
                let Some(value) = func.values.get(*id) else {
                    continue;
                };
                value
                    .def
                    .bodies()
                    .into_iter()
                    .for_each(|b| body(func, b, f));
                f(*id, value);
            }
        }
        body(self, &self.body, f);
    }

    /// Calls `f` on every value, those of nested functions too.
    pub fn for_each_value<'a>(&'a self, f: &mut dyn FnMut(&'a Value)) {
        for (_, value) in self.values.iter() {
            f(value);
            if let Def::Function(inner) = &value.def {
                inner.for_each_value(f);
            }
        }
    }

    /// What is known of a parameter; of one that is missing in an ill-formed function nothing.
    fn param_sinfo(&self, param: ValueId) -> StructInfo {
        let value = self.values.get(param);
        value.map_or(StructInfo::Object, |value| value.sinfo.clone())
    }

    /// The values of the function `depth` functions out that this one and those inside use, each once, in order of first use.
    pub fn captured(&self, depth: usize) -> Vec<ValueId> {
        let mut out: Vec<ValueId> = vec![];
        let mut add = |arg: &Arg| {
            arg.walk(&mut |leaf| match leaf {
                Arg::Captured { depth: at, value } if *at == depth && !out.contains(value) => {
                    out.push(*value);
                }
                _ => {}
            });
        };
        let mut inside = vec![];
        self.for_each_binding(&mut |_, value| {
            value.def.args().into_iter().for_each(&mut add);
            let bodies = value.def.bodies().into_iter();
            bodies.for_each(|body| add(&body.result));
            if let Def::Function(inner) = &value.def {
                inside.push(inner);
            }
        });
        add(&self.body.result);
        for value in inside
            .into_iter()
            .flat_map(|inner| inner.captured(depth + 1))
        {
            if !out.contains(&value) {
                out.push(value);
            }
        }
        out
    }

    /// What is known of the function as a value.
    pub fn signature(&self) -> StructInfo {
        StructInfo::Callable {
            params: Some(self.params.iter().map(|p| self.param_sinfo(*p)).collect()),
            ret: Box::new(self.ret.clone()),
            pure: self.pure,
        }
    }

    /// The function with `f` applied to every expression, in nested functions too.
    pub fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        let mut values = self.values.clone();
        let ids: Vec<_> = values.iter().map(|(id, _)| id).collect();
        for id in ids {
            let value = &mut values[id];
            value.sinfo = value.sinfo.map_exprs(f);
            value.def = value.def.map(&mut Arg::clone, f);
        }
        Self {
            name: self.name.clone(),
            params: self.params.clone(),
            values,
            body: Body {
                blocks: self.body.blocks.clone(),
                result: self.body.result.map_exprs(f),
            },
            ret: self.ret.map_exprs(f),
            attrs: self.attrs.clone(),
            pure: self.pure,
            private: self.private,
        }
    }

    /// The symbolic variables that parameters and `match_cast` define, in nested functions too.
    pub fn defined_vars(&self) -> Vec<Var> {
        let mut out = vec![];
        self.for_each_value(&mut |value| match &value.def {
            Def::Param => out.extend(value.sinfo.defined_vars()),
            Def::MatchCast(_, sinfo) => out.extend(sinfo.defined_vars()),
            _ => {}
        });
        out
    }

    /// A copy with symbolic variables of its own, so that both can be in one module.
    #[must_use]
    pub fn with_own_vars(&self) -> Self {
        let vars = self.defined_vars().into_iter();
        let own: HashMap<_, _> = vars
            .map(|var| (var.clone(), Var::new(var.name(), var.dtype()).expr()))
            .collect();
        self.substitute(&|var| own.get(var).cloned())
    }

    /// The function with symbolic variables replaced.
    pub fn substitute(&self, map: &dyn Fn(&Var) -> Option<Expr>) -> Self {
        self.map_exprs(&mut |e| e.substitute(map))
    }

    /// The symbolic variables that occur anywhere, also in nested functions, in order of first use: parameters, then
    /// bindings, then the result.
    pub fn symbolic_vars(&self) -> Vec<Var> {
        let mut out = Vec::new();
        let mut add = |vars: Vec<Var>| {
            for var in vars {
                if !out.contains(&var) {
                    out.push(var);
                }
            }
        };
        for param in &self.params {
            add(self.param_sinfo(*param).free_vars());
        }
        self.for_each_binding(&mut |_, value| {
            for e in value.def.exprs() {
                add(e.free_vars());
            }
            if let Def::Function(inner) = &value.def {
                add(inner.symbolic_vars());
            }
            add(value.sinfo.free_vars());
        });
        for e in self.body.result.exprs() {
            add(e.free_vars());
        }
        add(self.ret.free_vars());
        out
    }
}
