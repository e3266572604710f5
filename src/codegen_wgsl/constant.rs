//! Expressions of constants alone. A compiler of shaders evaluates such an expression where it stands and refuses one that overflows,
//! divides by zero or gives no number; so it is evaluated here, and written as what it gives.

use super::emit::Emitter;
use crate::kernel::{Expr, Ty};
use crate::tensor::scalar::{
    BinOp, Scalar, decode, encode, eval_binary, eval_cast, eval_intrin, wrap_int,
};

impl Emitter<'_> {
    /// The constant that an operation on constants gives. An undefined operation, such as a division of an integer by zero, is 0.
    /// So is a division of any value by zero; where only some lanes divide by zero, these divide by 1.
    pub(super) fn constant(&self, e: &Expr) -> Option<Expr> {
        if !matches!(
            e,
            Expr::Cast(..) | Expr::Bits(..) | Expr::Binary(..) | Expr::Not(_) | Expr::Call(..)
        ) {
            return None;
        }
        let ty = self.kernel.ty(e);
        if let Some(lanes) = self.lanes(e) {
            return Some(literal(lanes, ty));
        }
        match e {
            Expr::Binary(op, a, b) if ty.scalar.is_int() && divides(*op) => {
                let divisors = self.lanes(b)?;
                if divisors.iter().all(is_zero) {
                    return Some(literal(vec![Scalar::Int(0); ty.lanes.into()], ty));
                }
                divisors.iter().any(is_zero).then(|| {
                    let one = |value: &Scalar| match is_zero(value) {
                        true => Scalar::Int(1),
                        false => *value,
                    };
                    let divisors = divisors.iter().map(one).collect();
                    Expr::Binary(*op, a.clone(), Box::new(literal(divisors, ty)))
                })
            }
            _ => None,
        }
    }

    /// The lanes of an expression of constants.
    fn lanes(&self, e: &Expr) -> Option<Vec<Scalar>> {
        let of = |e: &Expr| self.kernel.ty(e).scalar;
        let zero = |ty: Ty| match ty.scalar.is_float() {
            true => Scalar::Float(0.0),
            false => Scalar::Int(0),
        };
        let each = |a: &Expr, f: &dyn Fn(Scalar) -> Scalar| -> Option<Vec<Scalar>> {
            Some(self.lanes(a)?.into_iter().map(f).collect())
        };
        match e {
            Expr::Int(value, ty) => Some(vec![Scalar::Int(wrap_int(*value, *ty))]),
            Expr::Float(value, _) => Some(vec![Scalar::Float(*value)]),
            Expr::Splat(a, lanes) => {
                let one = self.lanes(a)?;
                Some(vec![*one.first()?; (*lanes).into()])
            }
            Expr::Pack(items) => {
                let items = items.iter().map(|item| self.lanes(item));
                Some(items.collect::<Option<Vec<_>>>()?.concat())
            }
            Expr::Cast(to, a) => each(a, &|value| eval_cast(value, of(a), to.scalar)),
            Expr::Bits(to, a) => each(a, &|value| {
                let mut bits = [0; 8];
                encode(value, of(a), &mut bits);
                decode(&bits, *to)
            }),
            Expr::Not(a) => each(a, &|value| Scalar::Int((!value.is_true()).into())),
            Expr::Binary(op, a, b) => {
                let (ty, none) = (of(a), zero(self.kernel.ty(e)));
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                let value = |(a, b)| eval_binary(*op, ty, a, b).unwrap_or(none);
                Some(a.into_iter().zip(b).map(value).collect())
            }
            Expr::Call(intrin, args) => {
                let (ty, none) = (of(args.first()?), zero(self.kernel.ty(e)));
                let args = args.iter().map(|arg| self.lanes(arg));
                let args = args.collect::<Option<Vec<_>>>()?;
                let value = |lane: usize| {
                    let args: Vec<Scalar> = args.iter().map(|arg| arg[lane]).collect();
                    eval_intrin(*intrin, ty, &args).unwrap_or(none)
                };
                Some((0..args[0].len()).map(value).collect())
            }
            Expr::Var(_)
            | Expr::BlockIdx(_)
            | Expr::ThreadIdx(_)
            | Expr::Select(..)
            | Expr::Load { .. }
            | Expr::Ramp(..)
            | Expr::Lane(..)
            | Expr::Shuffle(..)
            | Expr::Any(_) => None,
        }
    }
}

fn divides(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod
    )
}

fn is_zero(value: &Scalar) -> bool {
    !value.is_true()
}

/// The expression of these lanes.
fn literal(lanes: Vec<Scalar>, ty: Ty) -> Expr {
    let one = |value: Scalar| match value {
        Scalar::Int(value) => Expr::Int(value, ty.scalar),
        Scalar::Float(value) => Expr::Float(value, ty.scalar),
    };
    match ty.lanes {
        1 => one(lanes[0]),
        _ => Expr::Pack(lanes.into_iter().map(one).collect()),
    }
}
