//! Integers of all threads of a workgroup at once.

use std::collections::HashMap;

use crate::kernel::{Expr, Kernel, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin, Scalar, eval_binary, wrap_int};

/// The value of an expression in each thread; `None` where memory or floats decide it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Lanes {
    /// The same in all threads.
    Same(Option<i64>),
    /// One for each thread.
    Each(Vec<Option<i64>>),
}

impl Lanes {
    pub(super) fn at(&self, thread: usize) -> Option<i64> {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values[thread],
        }
    }

    fn map(self, f: impl Fn(i64) -> Option<i64>) -> Self {
        match self {
            Self::Same(value) => Self::Same(value.and_then(f)),
            Self::Each(values) => Self::Each(values.into_iter().map(|v| v.and_then(&f)).collect()),
        }
    }

    pub(super) fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Self {
        let both = |a: Option<i64>, b: Option<i64>| f(a?, b?);
        match (self, other) {
            (Self::Same(a), Self::Same(b)) => Self::Same(both(*a, *b)),
            (Self::Same(a), Self::Each(b)) => Self::Each(b.iter().map(|b| both(*a, *b)).collect()),
            (Self::Each(a), Self::Same(b)) => Self::Each(a.iter().map(|a| both(*a, *b)).collect()),
            (Self::Each(a), Self::Each(b)) => {
                Self::Each(a.iter().zip(b).map(|(a, b)| both(*a, *b)).collect())
            }
        }
    }
}

/// What is known in one workgroup.
pub(super) struct Workgroup<'a> {
    kernel: &'a Kernel,
    group: [i64; 3],
    /// Coordinates of each thread.
    threads: [Vec<Option<i64>>; 3],
    vars: HashMap<VarId, Lanes>,
}

impl<'a> Workgroup<'a> {
    pub(super) fn new(kernel: &'a Kernel, group: [i64; 3], block: [u32; 3]) -> Self {
        let [x, y, z] = block.map(i64::from);
        let coordinate = |f: &dyn Fn(i64) -> i64| (0..x * y * z).map(|t| Some(f(t))).collect();
        Self {
            kernel,
            group,
            threads: [
                coordinate(&|t| t % x),
                coordinate(&|t| t / x % y),
                coordinate(&|t| t / (x * y)),
            ],
            vars: HashMap::new(),
        }
    }

    pub(super) fn set(&mut self, var: VarId, value: Lanes) {
        self.vars.insert(var, value);
    }

    pub(super) fn set_all(&mut self, values: &[(VarId, Lanes)]) {
        self.vars.extend(values.iter().cloned());
    }

    /// The value of an integer or a condition; nothing is known of other expressions.
    pub(super) fn eval(&self, e: &Expr) -> Lanes {
        let ty = self.kernel.ty(e);
        if ty.lanes != 1 || ty.scalar.is_float() {
            return Lanes::Same(None);
        }
        match e {
            Expr::Int(value, _) => Lanes::Same(Some(*value)),
            Expr::Var(var) => self.vars.get(var).cloned().unwrap_or(Lanes::Same(None)),
            Expr::BlockIdx(d) => Lanes::Same(Some(self.group[usize::from(*d)])),
            Expr::ThreadIdx(d) => Lanes::Each(self.threads[usize::from(*d)].clone()),
            Expr::Cast(to, a) => self.eval(a).map(|v| Some(wrap_int(v, to.scalar))),
            Expr::Call(Intrin::BitNot, args) => {
                let a = self.eval(&args[0]);
                a.map(|v| Some(wrap_int(!v, ty.scalar)))
            }
            Expr::Not(a) => self.eval(a).map(|v| Some(i64::from(v == 0))),
            Expr::Binary(op, a, b) => {
                let of = self.kernel.ty(a).scalar;
                let (a, b) = (self.eval(a), self.eval(b));
                a.zip(&b, |a, b| binary(*op, of, a, b))
            }
            Expr::Select(c, a, b) => {
                let chosen = [self.eval(a), self.eval(b)];
                match self.eval(c) {
                    Lanes::Same(Some(c)) => chosen[usize::from(c == 0)].clone(),
                    Lanes::Same(None) => Lanes::Same(None),
                    Lanes::Each(c) => {
                        let of =
                            |(t, c): (usize, &Option<i64>)| chosen[usize::from((*c)? == 0)].at(t);
                        Lanes::Each(c.iter().enumerate().map(of).collect())
                    }
                }
            }
            Expr::Float(..)
            | Expr::Bits(..)
            | Expr::Call(..)
            | Expr::Load { .. }
            | Expr::Splat(..)
            | Expr::Ramp(..)
            | Expr::Lane(..)
            | Expr::Pack(_)
            | Expr::Shuffle(..)
            | Expr::Any(_) => Lanes::Same(None),
        }
    }
}

fn binary(op: BinOp, ty: ScalarType, a: i64, b: i64) -> Option<i64> {
    let value = eval_binary(op, ty, Scalar::Int(a), Scalar::Int(b)).ok()?;
    Some(value.as_int())
}
