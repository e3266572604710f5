//! Types of kernel expressions.

use super::{Expr, Kernel, Ty};
use crate::tensor::ScalarType;

impl Kernel {
    /// Type of an expression of this kernel.
    pub fn ty(&self, e: &Expr) -> Ty {
        match e {
            Expr::Int(_, scalar) | Expr::Float(_, scalar) => Ty::scalar(*scalar),
            Expr::Var(var) => self.vars[*var].ty,
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) => Ty::scalar(ScalarType::I32),
            Expr::Cast(ty, _) => *ty,
            Expr::Binary(op, a, b) => {
                let ty = self.ty(a);
                if op.is_comparison() {
                    Ty {
                        scalar: ScalarType::Bool,
                        lanes: ty.lanes.max(self.ty(b).lanes),
                    }
                } else {
                    ty
                }
            }
            Expr::Not(a) => self.ty(a),
            Expr::Select(_, a, _) => self.ty(a),
            Expr::Call(intrin, args) => {
                let ty = args
                    .first()
                    .map_or(Ty::scalar(ScalarType::F32), |a| self.ty(a));
                if intrin.is_predicate() {
                    Ty {
                        scalar: ScalarType::Bool,
                        lanes: ty.lanes,
                    }
                } else {
                    ty
                }
            }
            Expr::Load {
                array,
                index: _,
                lanes,
            } => Ty {
                scalar: self.arrays[*array].dtype,
                lanes: *lanes,
            },
            Expr::Splat(a, lanes) => Ty {
                scalar: self.ty(a).scalar,
                lanes: *lanes,
            },
            Expr::Ramp(base, _, lanes) => Ty {
                scalar: self.ty(base).scalar,
                lanes: *lanes,
            },
            Expr::Lane(a, _) => Ty::scalar(self.ty(a).scalar),
            Expr::Pack(items) => {
                let scalar = items.first().map_or(ScalarType::F32, |a| self.ty(a).scalar);
                Ty {
                    scalar,
                    lanes: items.len() as u16,
                }
            }
        }
    }
}

impl Expr {
    /// The expressions directly below.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Int(..)
            | Self::Float(..)
            | Self::Var(_)
            | Self::BlockIdx(_)
            | Self::ThreadIdx(_) => vec![],
            Self::Cast(_, a) | Self::Not(a) | Self::Splat(a, _) | Self::Lane(a, _) => vec![a],
            Self::Load {
                array: _,
                index,
                lanes: _,
            } => vec![index],
            Self::Binary(_, a, b) | Self::Ramp(a, b, _) => vec![a, b],
            Self::Select(a, b, c) => vec![a, b, c],
            Self::Call(_, items) | Self::Pack(items) => items.iter().collect(),
        }
    }

    /// Calls `f` on this expression and every one below, parents first.
    pub fn walk(&self, f: &mut dyn FnMut(&Self)) {
        f(self);
        self.children().into_iter().for_each(|child| child.walk(f));
    }
}

impl super::Stmt {
    /// Calls `stmt` on this statement and every one inside, and `expr` on every expression that they hold, parents first.
    pub fn walk(&self, stmt: &mut dyn FnMut(&Self), expr: &mut dyn FnMut(&Expr)) {
        stmt(self);
        let bodies: Vec<&Vec<Self>> = match self {
            Self::Let(_, value) => {
                value.walk(expr);
                vec![]
            }
            Self::Store {
                array: _,
                index,
                value,
            } => {
                index.walk(expr);
                value.walk(expr);
                vec![]
            }
            Self::For {
                var: _,
                min,
                extent,
                kind: _,
                body,
            } => {
                min.walk(expr);
                extent.walk(expr);
                vec![body]
            }
            Self::If {
                cond,
                then,
                otherwise,
            } => {
                cond.walk(expr);
                vec![then, otherwise]
            }
            Self::While { cond, body } => {
                cond.walk(expr);
                vec![body]
            }
            Self::Barrier => vec![],
        };
        for inner in bodies.into_iter().flatten() {
            inner.walk(stmt, expr);
        }
    }
}
