//! Kernel IR with some of its expressions replaced.

use super::{Expr, Stmt};

impl Expr {
    /// The expression with `f` of each expression below it in its place, parents first; where `f` gives nothing, what is
    /// below is looked at.
    pub(crate) fn rewrite(&self, f: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        if let Some(other) = f(self) {
            return other;
        }
        match self {
            Self::Int(..)
            | Self::Float(..)
            | Self::Var(_)
            | Self::BlockIdx(_)
            | Self::ThreadIdx(_) => self.clone(),
            Self::Cast(ty, a) => Self::Cast(*ty, Box::new(a.rewrite(f))),
            Self::Not(a) => Self::Not(Box::new(a.rewrite(f))),
            Self::Splat(a, lanes) => Self::Splat(Box::new(a.rewrite(f)), *lanes),
            Self::Lane(a, lane) => Self::Lane(Box::new(a.rewrite(f)), *lane),
            Self::Load {
                array,
                index,
                lanes,
            } => Self::Load {
                array: *array,
                index: Box::new(index.rewrite(f)),
                lanes: *lanes,
            },
            Self::Binary(op, a, b) => {
                Self::Binary(*op, Box::new(a.rewrite(f)), Box::new(b.rewrite(f)))
            }
            Self::Ramp(a, b, lanes) => {
                Self::Ramp(Box::new(a.rewrite(f)), Box::new(b.rewrite(f)), *lanes)
            }
            Self::Select(a, b, c) => Self::Select(
                Box::new(a.rewrite(f)),
                Box::new(b.rewrite(f)),
                Box::new(c.rewrite(f)),
            ),
            Self::Call(intrin, args) => {
                Self::Call(*intrin, args.iter().map(|a| a.rewrite(f)).collect())
            }
            Self::Pack(items) => Self::Pack(items.iter().map(|a| a.rewrite(f)).collect()),
        }
    }
}

impl Stmt {
    /// The statement with `f` of every expression that it and those inside hold.
    pub(crate) fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        let list = |stmts: &[Self], f: &mut dyn FnMut(&Expr) -> Expr| -> Vec<Self> {
            stmts.iter().map(|s| s.map_exprs(f)).collect()
        };
        match self {
            Self::Let(var, value) => Self::Let(*var, f(value)),
            Self::Store {
                array,
                index,
                value,
            } => Self::Store {
                array: *array,
                index: f(index),
                value: f(value),
            },
            Self::For {
                var,
                min,
                extent,
                kind,
                body,
            } => Self::For {
                var: *var,
                min: f(min),
                extent: f(extent),
                kind: *kind,
                body: list(body, f),
            },
            Self::If {
                cond,
                then,
                otherwise,
            } => Self::If {
                cond: f(cond),
                then: list(then, f),
                otherwise: list(otherwise, f),
            },
            Self::While { cond, body } => Self::While {
                cond: f(cond),
                body: list(body, f),
            },
            Self::Barrier => Self::Barrier,
        }
    }
}
