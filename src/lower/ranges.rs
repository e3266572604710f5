//! Least and greatest values of integers of a kernel, in terms of the dims.

use std::collections::HashMap;

use super::cost::{product, sum};
use crate::kernel::{Array, ArrayId, Expr, HostExpr, Kernel, Launch, Space, Stmt, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Least and greatest values of the variables of a kernel, in terms of the dims.
pub(super) struct Ranges<'a> {
    pub(super) vars: HashMap<VarId, (HostExpr, HostExpr)>,
    /// Of the elements of arrays of integers.
    arrays: HashMap<ArrayId, (HostExpr, HostExpr)>,
    launch: &'a Launch,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(scalars: &[(VarId, HostExpr)], launch: &'a Launch) -> Self {
        let exact = |(var, value): &(VarId, HostExpr)| (*var, (value.clone(), value.clone()));
        Self {
            vars: scalars.iter().map(exact).collect(),
            arrays: HashMap::new(),
            launch,
        }
    }

    /// Learns the ranges of all variables of a kernel, and of its local arrays.
    pub(super) fn learn_kernel(&mut self, kernel: &Kernel) {
        let whole = |(id, array): (ArrayId, &Array)| Some((id, of_type(array.dtype)?));
        self.arrays = kernel.arrays.iter().filter_map(whole).collect();
        self.learn(&kernel.body);
        let stored = self.stored(kernel);
        self.arrays.extend(stored);
        self.learn(&kernel.body);
    }

    /// What local arrays of integers hold: zeros, and what is stored there, if all of that is bounded. A load has any value of its
    /// type here, so the ranges hold however often a loop stores what it has loaded.
    fn stored(&self, kernel: &Kernel) -> HashMap<ArrayId, (HostExpr, HostExpr)> {
        let zero = (HostExpr::Const(0), HostExpr::Const(0));
        let local = kernel.arrays.iter();
        let local = local.filter(|(_, array)| matches!(array.space, Space::Local));
        let mut arrays: HashMap<_, _> = local.map(|(id, _)| (id, Some(zero.clone()))).collect();
        let mut visit = |stmt: &Stmt| {
            if let Stmt::Store { array, value, .. } = stmt
                && let Some(known) = arrays.get_mut(array)
            {
                let scalar = kernel.arrays[*array].dtype;
                let range = self.range(value).filter(|_| of_type(scalar).is_some());
                let range = range.and_then(|range| cast_range(Some(range), scalar));
                let both = known.take().zip(range);
                *known = both.map(|(a, b)| (least(a.0, b.0), greatest(a.1, b.1)));
            }
        };
        kernel.body.iter().for_each(|stmt| stmt.walk(&mut visit));
        let known = arrays.into_iter();
        known.filter_map(|(id, range)| Some((id, range?))).collect()
    }

    /// Learns the ranges of all variables that statements define.
    pub(super) fn learn(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Let(var, value) => {
                    if let Some(range) = self.range(value) {
                        self.vars.insert(*var, range);
                    }
                }
                Stmt::For {
                    var,
                    min,
                    extent,
                    kind: _,
                    body,
                } => {
                    if let (Some((low, high)), Some((_, extent))) =
                        (self.range(min), self.range(extent))
                    {
                        let last = sum(extent, HostExpr::Const(-1));
                        self.vars.insert(*var, (low, sum(high, last)));
                    }
                    self.learn(body);
                }
                Stmt::If {
                    cond: _,
                    then,
                    otherwise,
                } => {
                    self.learn(then);
                    self.learn(otherwise);
                }
                Stmt::While { cond: _, body } => self.learn(body),
                Stmt::Store { .. } | Stmt::Barrier | Stmt::Fragment(_) => {}
            }
        }
    }

    /// Least and greatest value of an integer expression.
    pub(super) fn range(&self, e: &Expr) -> Option<(HostExpr, HostExpr)> {
        let constant = |v: i64| (HostExpr::Const(v), HostExpr::Const(v));
        Some(match e {
            Expr::Int(v, _) => constant(*v),
            Expr::Var(var) => self.vars.get(var)?.clone(),
            Expr::BlockIdx(dim) => {
                let extent = self.launch.grid[usize::from(*dim)].clone();
                (HostExpr::Const(0), sum(extent, HostExpr::Const(-1)))
            }
            Expr::ThreadIdx(dim) => {
                let last = i64::from(self.launch.block[usize::from(*dim)]) - 1;
                (HostExpr::Const(0), HostExpr::Const(last))
            }
            Expr::Cast(ty, a) => cast_range(self.range(a), ty.scalar)?,
            Expr::Binary(BinOp::Add | BinOp::Sub, ..)
                if let Some(range) = self.sum_with_remainder(e) =>
            {
                range
            }
            Expr::Binary(BinOp::Mod | BinOp::FloorMod, _, b) if is_unsigned(b) => {
                (HostExpr::Const(0), self.range(b)?.1)
            }
            Expr::Binary(op, a, b) => binary_range(*op, self.range(a), self.range(b)?)?,
            Expr::Select(_, a, b) => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                (least(a.0, b.0), greatest(a.1, b.1))
            }
            Expr::Load { array, .. } => self.arrays.get(array)?.clone(),
            Expr::Float(..)
            | Expr::Bits(..)
            | Expr::Not(_)
            | Expr::Call(..)
            | Expr::Splat(..)
            | Expr::Ramp(..)
            | Expr::Lane(..)
            | Expr::Pack(_)
            | Expr::Shuffle(..)
            | Expr::Any(_) => return None,
        })
    }

    /// The range of a sum that has `a - a / c * c` in it, in which both `a` and the multiple of `c` may be far from 0.
    fn sum_with_remainder(&self, e: &Expr) -> Option<(HostExpr, HostExpr)> {
        let mut terms = vec![];
        signed_terms(e, BinOp::Add, &mut terms);
        let pairs = (0..terms.len()).flat_map(|at| (0..terms.len()).map(move |other| (at, other)));
        let (at, other, (low, high)) = pairs.into_iter().find_map(|(at, other)| {
            let ((sign, a), (its, multiple)) = (terms[at], terms[other]);
            let range = remainder_range(a, multiple).filter(|_| sign != its)?;
            Some((at, other, range))
        })?;
        let (low, high) = match terms[at].0 {
            BinOp::Sub => (-high, -low),
            _ => (low, high),
        };
        let remainder = (HostExpr::Const(low), HostExpr::Const(high));
        let rest = (0..terms.len()).filter(|i| *i != at && *i != other);
        rest.map(|i| terms[i])
            .try_fold(remainder, |range, (sign, term)| {
                binary_range(sign, Some(range), self.range(term)?)
            })
    }
}

/// The values of an integer type that are no wider than indices of a GPU.
fn of_type(scalar: ScalarType) -> Option<(HostExpr, HostExpr)> {
    let (low, high) = scalar.int_range().filter(|_| scalar.bytes() <= 4)?;
    Some((HostExpr::Const(low), HostExpr::Const(high)))
}

fn is_unsigned(e: &Expr) -> bool {
    matches!(e, Expr::Cast(ty, _) if ty.scalar.int_range().is_some_and(|(least, _)| least == 0))
}

/// The range of a conversion: that of its operand if it lies in the type, else all of the type.
fn cast_range(
    operand: Option<(HostExpr, HostExpr)>,
    ty: ScalarType,
) -> Option<(HostExpr, HostExpr)> {
    let Some((low, high)) = operand else {
        return of_type(ty);
    };
    let Some((least, most)) = of_type(ty) else {
        // Eight bytes: a negative number of a signed type is another one without a sign.
        let same = ty != ScalarType::U64 || low.as_const().is_some_and(|n| n >= 0);
        return same.then_some((low, high));
    };
    let above = HostExpr::binary(BinOp::Ge, low.clone(), least.clone());
    let below = HostExpr::binary(BinOp::Le, high.clone(), most.clone());
    let fits = HostExpr::binary(BinOp::And, above, below);
    let choose = |own: HostExpr, bound| match fits.as_const() {
        _ if own == bound => own,
        Some(0) => bound,
        Some(_) => own,
        None => HostExpr::Select(Box::new(fits.clone()), Box::new(own), Box::new(bound)),
    };
    let low = match fits.as_const() {
        // What is derived from a bound that is known not to be negative is simpler, and divisions ask for one.
        None if least.as_const() == Some(0) => least,
        _ => choose(low, least),
    };
    Some((low, choose(high, most)))
}

fn least(a: HostExpr, b: HostExpr) -> HostExpr {
    HostExpr::binary(BinOp::Min, a, b)
}

fn greatest(a: HostExpr, b: HostExpr) -> HostExpr {
    HostExpr::binary(BinOp::Max, a, b)
}

fn difference(a: HostExpr, b: HostExpr) -> HostExpr {
    HostExpr::binary(BinOp::Sub, a, b)
}

/// The terms of a sum, each added or subtracted.
fn signed_terms<'e>(e: &'e Expr, sign: BinOp, out: &mut Vec<(BinOp, &'e Expr)>) {
    match e {
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            signed_terms(a, sign, out);
            let same = *op == BinOp::Add;
            let flipped = match sign {
                BinOp::Add => BinOp::Sub,
                _ => BinOp::Add,
            };
            signed_terms(b, if same { sign } else { flipped }, out);
        }
        _ => out.push((sign, e)),
    }
}

/// Least and greatest value of `a - multiple`, if the latter is `a / c * c`.
fn remainder_range(a: &Expr, multiple: &Expr) -> Option<(i64, i64)> {
    let Expr::Binary(BinOp::Mul, quotient, factor) = multiple else {
        return None;
    };
    let (Expr::Binary(op, dividend, divisor), Expr::Int(c, _)) = (&**quotient, &**factor) else {
        return None;
    };
    if **dividend != *a || divisor != factor || *c <= 0 {
        return None;
    }
    match op {
        BinOp::FloorDiv => Some((0, c - 1)),
        BinOp::Div => Some((1 - c, c - 1)),
        _ => None,
    }
}

/// The range of the result of an operator; that of the first operand does not matter for a remainder.
fn binary_range(
    op: BinOp,
    a: Option<(HostExpr, HostExpr)>,
    b: (HostExpr, HostExpr),
) -> Option<(HostExpr, HostExpr)> {
    let zero = || HostExpr::Const(0);
    // From -m to m, where no value of the range is further from 0 than m.
    let around = |(low, high): (HostExpr, HostExpr)| {
        let most = greatest(high, difference(zero(), low));
        (difference(zero(), most.clone()), most)
    };
    let positive = b.0.as_const().is_some_and(|n| n > 0);
    let not_negative = |e: &HostExpr| e.as_const().is_some_and(|n| n >= 0);
    match op {
        BinOp::BitAnd if b.0 == b.1 && not_negative(&b.0) => return Some((zero(), b.1)),
        BinOp::FloorMod if positive => return Some((zero(), sum(b.1, HostExpr::Const(-1)))),
        BinOp::Mod | BinOp::FloorMod => return Some(around(b)),
        _ => {}
    }
    let a = a?;
    Some(match op {
        BinOp::Add => (sum(a.0, b.0), sum(a.1, b.1)),
        BinOp::Sub => (difference(a.0, b.1), difference(a.1, b.0)),
        BinOp::Min => (least(a.0, b.0), least(a.1, b.1)),
        BinOp::Max => (greatest(a.0, b.0), greatest(a.1, b.1)),
        BinOp::Mul if not_negative(&a.0) && not_negative(&b.0) => {
            (product(a.0, b.0), product(a.1, b.1))
        }
        BinOp::Mul => {
            let [first, second] = [b.0.clone(), b.1.clone()]
                .map(|f| (product(a.0.clone(), f.clone()), product(a.1.clone(), f)));
            if b.0 == b.1 {
                let (x, y) = first;
                (least(x.clone(), y.clone()), greatest(x, y))
            } else {
                let ends = [first.0, first.1, second.0, second.1];
                (
                    ends.clone().into_iter().reduce(least)?,
                    ends.into_iter().reduce(greatest)?,
                )
            }
        }
        BinOp::Div | BinOp::FloorDiv if positive && b.0 == b.1 => (
            HostExpr::binary(op, a.0, b.0),
            HostExpr::binary(op, a.1, b.1),
        ),
        BinOp::Shr if b.0 == b.1 && not_negative(&b.0) => (
            HostExpr::binary(op, a.0, b.0),
            HostExpr::binary(op, a.1, b.1),
        ),
        BinOp::Div if not_negative(&a.0) && not_negative(&b.0) => (zero(), a.1),
        BinOp::Div | BinOp::FloorDiv => around(a),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Ty, VarInfo};
    use crate::support::Arena;

    /// `(blockIdx.x * 64 + 64) / n` without signs, as the second of several vectors of a thread asks for.
    #[test]
    fn quotients_without_signs_are_not_negative() {
        let mut vars: Arena<VarId, VarInfo> = Arena::new();
        let n = vars.push(VarInfo {
            name: "n".to_owned(),
            ty: Ty::scalar(ScalarType::I32),
        });
        let launch = Launch {
            grid: [HostExpr::Dim(0), HostExpr::Const(1), HostExpr::Const(1)],
            block: [64, 1, 1],
            times: HostExpr::Const(1),
        };
        let scalars = [(n, HostExpr::Dim(1))];
        let ranges = Ranges::new(&scalars, &launch);
        let int = |v| Expr::Int(v, ScalarType::I32);
        let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        let unsigned = |e| Expr::Cast(Ty::scalar(ScalarType::U32), Box::new(e));
        let at = binary(BinOp::Mul, Expr::BlockIdx(0), int(64));
        let at = binary(BinOp::Add, at, int(64));
        let quotient = binary(BinOp::Div, unsigned(at), unsigned(Expr::Var(n)));
        let (low, high) = ranges.range(&quotient).expect("it has a range");
        assert_eq!(low.as_const(), Some(0));
        assert_eq!(high.eval(&[3, 5]), Ok(192));
    }
}
