//! The structure of kernel IR: what is directly below an expression or statement, and what is built on that.

use super::{ArrayId, Expr, FRAGMENT_THREADS, FragmentOp, Kernel, Shuffle, Stmt, VarId};

impl Expr {
    /// The expressions directly below.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Int(..)
            | Self::Float(..)
            | Self::Var(_)
            | Self::BlockIdx(_)
            | Self::ThreadIdx(_) => vec![],
            Self::Cast(_, a)
            | Self::Bits(_, a)
            | Self::Not(a)
            | Self::Splat(a, _)
            | Self::Lane(a, _)
            | Self::Shuffle(_, a)
            | Self::Any(a) => vec![a],
            Self::Load {
                array: _,
                index,
                lanes: _,
                active,
            } => std::iter::once(index).chain(active).map(|e| &**e).collect(),
            Self::Binary(_, a, b) | Self::Ramp(a, b, _) => vec![a, b],
            Self::Select(a, b, c) => vec![a, b, c],
            Self::Call(_, items) | Self::Pack(items) => items.iter().collect(),
        }
    }

    /// The expression with `f` of each that is directly below.
    #[must_use]
    pub fn map_children(&self, f: &mut dyn FnMut(&Self) -> Self) -> Self {
        let mut boxed = |e: &Self| Box::new(f(e));
        match self {
            Self::Int(..)
            | Self::Float(..)
            | Self::Var(_)
            | Self::BlockIdx(_)
            | Self::ThreadIdx(_) => self.clone(),
            Self::Cast(ty, a) => Self::Cast(*ty, boxed(a)),
            Self::Bits(scalar, a) => Self::Bits(*scalar, boxed(a)),
            Self::Not(a) => Self::Not(boxed(a)),
            Self::Splat(a, lanes) => Self::Splat(boxed(a), *lanes),
            Self::Lane(a, lane) => Self::Lane(boxed(a), *lane),
            Self::Load {
                array,
                index,
                lanes,
                active,
            } => Self::Load {
                array: *array,
                index: boxed(index),
                lanes: *lanes,
                active: active.as_deref().map(boxed),
            },
            Self::Binary(op, a, b) => Self::Binary(*op, boxed(a), boxed(b)),
            Self::Ramp(a, b, lanes) => Self::Ramp(boxed(a), boxed(b), *lanes),
            Self::Select(c, a, b) => Self::Select(boxed(c), boxed(a), boxed(b)),
            Self::Call(intrin, args) => Self::Call(*intrin, args.iter().map(f).collect()),
            Self::Pack(items) => Self::Pack(items.iter().map(f).collect()),
            Self::Shuffle(from, a) => Self::Shuffle(*from, boxed(a)),
            Self::Any(a) => Self::Any(boxed(a)),
        }
    }

    /// Calls `f` on this expression and every one below, parents first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Self)) {
        f(self);
        self.children().into_iter().for_each(|child| child.walk(f));
    }

    /// Whether this expression or one below is such.
    pub fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self) || self.children().into_iter().any(|child| child.any(is))
    }

    /// Whether the expression reads an array.
    pub fn loads(&self) -> bool {
        self.any(&|e| matches!(e, Self::Load { .. }))
    }

    /// Whether the expression mentions the variable.
    pub fn uses(&self, var: VarId) -> bool {
        self.any(&|e| *e == Self::Var(var))
    }

    /// The expression with every part for which `f` gives another one replaced, parents first; replaced parts are not looked
    /// into.
    #[must_use]
    pub fn rewrite(&self, f: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        f(self).unwrap_or_else(|| self.map_children(&mut |child| child.rewrite(f)))
    }

    /// The expression with the variable replaced.
    #[must_use]
    pub fn substitute(&self, var: VarId, by: &Self) -> Self {
        self.rewrite(&mut |e| (*e == Self::Var(var)).then(|| by.clone()))
    }
}

impl Kernel {
    /// Whether it runs on cooperative matrices alone.
    pub fn has_fragments(&self) -> bool {
        self.fragments.iter().next().is_some()
    }

    /// How many threads a subgroup must have at least; 0 if nothing asks for subgroups.
    pub fn least_subgroup(&self) -> u32 {
        let mut least = match self.has_fragments() {
            true => FRAGMENT_THREADS,
            false => 0,
        };
        let shuffles = &mut |e: &Expr| {
            least = match e {
                Expr::Shuffle(Shuffle::Down(by) | Shuffle::Xor(by), _) => least.max(2 * by),
                Expr::Shuffle(Shuffle::First, _) => least.max(1),
                _ => least,
            };
        };
        self.body.iter().for_each(|stmt| stmt.walk_exprs(shuffles));
        least
    }
}

impl Stmt {
    /// The expressions that the statement itself holds.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Let(_, value) => vec![value],
            Self::Store {
                array: _,
                index,
                value,
                active,
            } => [index, value].into_iter().chain(active).collect(),
            Self::For {
                var: _,
                min,
                extent,
                kind: _,
                body: _,
            } => vec![min, extent],
            Self::If {
                cond,
                then: _,
                otherwise: _,
            }
            | Self::While { cond, body: _ } => vec![cond],
            Self::Fragment(op) => op.memory().into_iter().map(|tile| &tile.index).collect(),
            Self::Barrier => vec![],
        }
    }

    /// The array that the statement itself writes.
    pub fn written(&self) -> Option<ArrayId> {
        match self {
            Self::Store { array, .. } => Some(*array),
            Self::Fragment(FragmentOp::Store(_, tile)) => Some(tile.array),
            _ => None,
        }
    }

    /// The array whose elements the statement itself reads, but in expressions.
    pub fn read(&self) -> Option<ArrayId> {
        match self {
            Self::Fragment(FragmentOp::Load(_, tile)) => Some(tile.array),
            _ => None,
        }
    }

    /// The lists of statements inside.
    pub fn nested(&self) -> Vec<&[Self]> {
        match self {
            Self::Let(..) | Self::Store { .. } | Self::Barrier | Self::Fragment(_) => vec![],
            Self::For { body, .. } | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// Calls `f` on this statement and every one inside, outer ones first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Self)) {
        f(self);
        let inside = self.nested().into_iter().flatten();
        inside.for_each(|stmt| stmt.walk(f));
    }

    /// Calls `f` on every expression of this statement and those inside, and every expression below.
    pub fn walk_exprs<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.walk(&mut |stmt| stmt.exprs().into_iter().for_each(|e| e.walk(f)));
    }

    /// The expressions that the statement itself holds, to be replaced.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Let(_, value) => vec![value],
            Self::Store {
                array: _,
                index,
                value,
                active,
            } => [index, value].into_iter().chain(active).collect(),
            Self::For {
                var: _,
                min,
                extent,
                kind: _,
                body: _,
            } => vec![min, extent],
            Self::If {
                cond,
                then: _,
                otherwise: _,
            }
            | Self::While { cond, body: _ } => vec![cond],
            Self::Fragment(op) => op
                .memory_mut()
                .into_iter()
                .map(|tile| &mut tile.index)
                .collect(),
            Self::Barrier => vec![],
        }
    }

    /// The lists of statements inside, to be replaced.
    pub fn nested_mut(&mut self) -> Vec<&mut Vec<Self>> {
        match self {
            Self::Let(..) | Self::Store { .. } | Self::Barrier | Self::Fragment(_) => vec![],
            Self::For { body, .. } | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// Replaces each list of statements inside by `f` of it.
    pub fn map_nested(&mut self, f: &mut dyn FnMut(Vec<Self>) -> Vec<Self>) {
        for body in self.nested_mut() {
            *body = f(std::mem::take(body));
        }
    }

    /// Replaces each expression that this statement and those inside hold by `f` of it.
    pub fn map_exprs(&mut self, f: &mut dyn FnMut(&Expr) -> Expr) {
        self.exprs_mut().into_iter().for_each(|e| *e = f(e));
        let inside = self.nested_mut().into_iter().flatten();
        inside.for_each(|stmt| stmt.map_exprs(f));
    }
}

impl Kernel {
    /// Calls `f` with the array, the index of the first element, the number of elements, and how many of them count, of every
    /// access.
    pub fn walk_accesses<'a>(
        &'a self,
        f: &mut dyn FnMut(ArrayId, &'a Expr, u16, Option<&'a Expr>),
    ) {
        for stmt in &self.body {
            stmt.walk(&mut |stmt| {
                if let Stmt::Store {
                    array,
                    index,
                    value,
                    active,
                } = stmt
                {
                    f(*array, index, self.ty(value).lanes, active.as_ref());
                }
            });
            stmt.walk_exprs(&mut |e| {
                if let Expr::Load {
                    array,
                    index,
                    lanes,
                    active,
                } = e
                {
                    f(*array, index, *lanes, active.as_deref());
                }
            });
        }
    }
}
