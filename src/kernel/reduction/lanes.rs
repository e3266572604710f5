//! The values of an expression in neighbouring iterations, as the lanes of a vector.

use crate::kernel::poly::Scope;
use crate::kernel::{Expr, Kernel, Ty, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Kernel {
    /// The values of a scalar for `var` from `first` on, as a vector; `None` if no operation on vectors has them. Whether one has does
    /// not depend on `first` and `lanes`.
    pub(crate) fn lanes_of(
        &self,
        scope: &Scope,
        e: &Expr,
        var: VarId,
        first: &Expr,
        lanes: u16,
    ) -> Option<Expr> {
        let counter = self.vars[var].ty.scalar;
        let next = Expr::folded(BinOp::Add, Expr::Var(var), Expr::Int(1, counter));
        let counted = |first: Expr, ty: ScalarType| {
            let one = Expr::Int(1, ty);
            Some(Expr::Ramp(Box::new(first), Box::new(one), lanes))
        };
        let leaf = |e: &Expr| match e {
            Expr::Var(_) => counted(first.clone(), counter),
            // Numbers are cut off before they are counted.
            Expr::Cast(ty, a) if **a == Expr::Var(var) && ty.lanes == 1 && ty.scalar.is_int() => {
                counted(Expr::Cast(*ty, Box::new(first.clone())), ty.scalar)
            }
            Expr::Load {
                array,
                index,
                lanes: 1,
                active: None,
            } => {
                let after = index.substitute(var, &next);
                let apart = Expr::folded(BinOp::Sub, after, (**index).clone());
                let neighbours = scope.poly(self, &apart).as_constant() == Some(1);
                neighbours.then(|| Expr::load(*array, index.substitute(var, first), lanes))
            }
            _ => None,
        };
        lane_by_lane(e, lanes, &|e| e.uses(var), &leaf)
    }
}

/// An expression of scalars as one of vectors; `None` if it is no vector operation. What does not vary is the same in all lanes,
/// and `leaf` makes the vectors that are not made by an operation.
pub(super) fn lane_by_lane(
    e: &Expr,
    lanes: u16,
    varies: &dyn Fn(&Expr) -> bool,
    leaf: &dyn Fn(&Expr) -> Option<Expr>,
) -> Option<Expr> {
    if !varies(e) {
        return Some(Expr::Splat(Box::new(e.clone()), lanes));
    }
    if let Some(vector) = leaf(e) {
        return Some(vector);
    }
    let inner = |e: &Expr| Some(Box::new(lane_by_lane(e, lanes, varies, leaf)?));
    match e {
        Expr::Cast(ty, a) if ty.lanes == 1 => Some(Expr::Cast(
            Ty {
                scalar: ty.scalar,
                lanes,
            },
            inner(a)?,
        )),
        Expr::Binary(op, a, b) => Some(Expr::Binary(*op, inner(a)?, inner(b)?)),
        Expr::Not(a) => Some(Expr::Not(inner(a)?)),
        Expr::Select(c, a, b) => Some(Expr::Select(inner(c)?, inner(a)?, inner(b)?)),
        Expr::Call(intrin, args) => {
            let args = args.iter().map(|a| lane_by_lane(a, lanes, varies, leaf));
            Some(Expr::Call(*intrin, args.collect::<Option<_>>()?))
        }
        _ => None,
    }
}
