//! Functions of `float32` as arithmetic, so that all lanes of a vector are computed at once. Calls of the math library, lane by
//! lane, take some thirty times as long.
//!
//! Errors are in units in the last place of the result, against the true value, at one argument of thirty thousand, or at all
//! (`functions_are_exact_to_their_bounds`, `WEFTILE_EXHAUSTIVE=1`). `exp` is written by the code generators themselves.
//! Narrow floats are computed in `float32` and rounded once.

use super::{Optimizer, binary};
use crate::kernel::{Expr, Stmt, Ty, VarInfo};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// The function as arithmetic on its argument, and how many units in the last place the result may be off.
type Function = (fn(&Arithmetic, &Expr) -> Expr, f64);

/// The functions that are written out.
pub(crate) fn function(intrin: Intrin) -> Option<Function> {
    match intrin {
        Intrin::Erf => Some((erf, 3.0)),
        Intrin::Tanh => Some((tanh, 3.0)),
        Intrin::Sigmoid => Some((sigmoid, 3.0)),
        _ => None,
    }
}

impl Optimizer {
    /// The statements with functions written out. Their arguments become variables, so that each is computed once.
    pub(super) fn write_out_functions(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for mut stmt in stmts {
            stmt.map_nested(&mut |body| self.write_out_functions(body));
            if let Stmt::Let(_, value) | Stmt::Store { value, .. } = &mut stmt {
                *value = self.without_functions(value, &mut out);
            }
            out.push(stmt);
        }
        out
    }

    fn without_functions(&mut self, e: &Expr, before: &mut Vec<Stmt>) -> Expr {
        let e = e.map_children(&mut |child| self.without_functions(child, before));
        let Expr::Call(intrin, args) = &e else {
            return e;
        };
        let (Some((write, _)), [x]) = (function(*intrin), args.as_slice()) else {
            return e;
        };
        let ty = self.kernel.ty(x);
        let single = Ty {
            scalar: ScalarType::F32,
            ..ty
        };
        let x = match ty.scalar {
            ScalarType::F32 => x.clone(),
            ScalarType::F16 | ScalarType::BF16 => Expr::Cast(single, Box::new(x.clone())),
            _ => return e,
        };
        let var = self.kernel.vars.push(VarInfo {
            name: "x".to_owned(),
            ty: single,
        });
        before.push(Stmt::Let(var, x));
        let lanes = Arithmetic { lanes: ty.lanes };
        let value = write(&lanes, &Expr::Var(var));
        match ty == single {
            true => value,
            false => Expr::Cast(ty, Box::new(value)),
        }
    }
}

/// Writes arithmetic on so many lanes.
pub(crate) struct Arithmetic {
    lanes: u16,
}

impl Arithmetic {
    fn number(&self, value: f64) -> Expr {
        let number = Expr::Float(value, ScalarType::F32);
        match self.lanes {
            1 => number,
            lanes => Expr::Splat(Box::new(number), lanes),
        }
    }

    /// `c[0] * x^(n-1) + … + c[n-1]` by Horner's rule in the square of `x`, over pairs of terms that do not wait for each other. NaN where
    /// that square overflows.
    fn polynomial(&self, x: &Expr, coefficients: &[f64]) -> Expr {
        let (first, rest) = coefficients.split_at(coefficients.len() % 2);
        let square = binary(BinOp::Mul, x.clone(), x.clone());
        let (pairs, _) = rest.as_chunks();
        let pairs = pairs
            .iter()
            .map(|&[slope, constant]| fma(self.number(slope), x.clone(), self.number(constant)));
        let first = first.iter().map(|&c| self.number(c));
        let sum = first
            .chain(pairs)
            .reduce(|sum, pair| fma(sum, square.clone(), pair));
        sum.unwrap_or_else(|| self.number(0.0))
    }

    /// The positive value with the sign of `x`.
    fn with_sign(&self, value: Expr, x: &Expr) -> Expr {
        let negated = binary(BinOp::Sub, self.number(0.0), value.clone());
        let negative = binary(BinOp::Lt, x.clone(), self.number(0.0));
        select(negative, negated, value)
    }
}

fn fma(a: Expr, b: Expr, c: Expr) -> Expr {
    Expr::Call(Intrin::Fma, vec![a, b, c])
}

fn call(intrin: Intrin, x: Expr) -> Expr {
    Expr::Call(intrin, vec![x])
}

fn select(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Select(Box::new(cond), Box::new(then), Box::new(otherwise))
}

/// `1 / (1 + e)` with `e = exp(-|x|)`, and `e / (1 + e)` for negative numbers: neither overflows.
fn sigmoid(on: &Arithmetic, x: &Expr) -> Expr {
    let size = call(Intrin::Abs, x.clone());
    let power = call(Intrin::Exp, binary(BinOp::Sub, on.number(0.0), size));
    let sum = binary(BinOp::Add, on.number(1.0), power.clone());
    let negative = binary(BinOp::Lt, x.clone(), on.number(0.0));
    let dividend = select(negative, power, on.number(1.0));
    binary(BinOp::Div, dividend, sum)
}

/// Up to 0.625 the odd polynomial of Cephes' `tanhf`, further out `1 - 2 / (exp(2 |x|) + 1)`.
fn tanh(on: &Arithmetic, x: &Expr) -> Expr {
    const NEAR: f64 = 0.625;
    const ODD: [f64; 5] = [
        -5.704_988_727_45e-3,
        2.063_908_879_54e-2,
        -5.373_971_555_31e-2,
        1.333_144_220_36e-1,
        -3.333_328_194_22e-1,
    ];
    let size = call(Intrin::Abs, x.clone());
    let doubled = binary(BinOp::Add, size.clone(), size.clone());
    let sum = binary(BinOp::Add, call(Intrin::Exp, doubled), on.number(1.0));
    let quotient = binary(BinOp::Div, on.number(2.0), sum);
    let far = binary(BinOp::Sub, on.number(1.0), quotient);
    let square = binary(BinOp::Mul, x.clone(), x.clone());
    let factor = fma(on.polynomial(&square, &ODD), square, on.number(1.0));
    let near = binary(BinOp::Mul, factor, x.clone());
    let is_far = binary(BinOp::Ge, size, on.number(NEAR));
    select(is_far, on.with_sign(far, x), near)
}

/// Two minimax polynomials: an odd one near 0, and `1 - exp(-p(|x|))` further out (N. Juffa's form of `erff`).
fn erf(on: &Arithmetic, x: &Expr) -> Expr {
    const NEAR: f64 = 0.921_875;
    const ODD: [f64; 6] = [
        -5.991_049_7e-4,
        4.993_395_9e-3,
        -2.676_667_3e-2,
        1.128_180_2e-1,
        -3.761_248_6e-1,
        1.283_791_5e-1,
    ];
    const EXPONENT: [f64; 7] = [
        1.729_489_3e-5,
        -3.832_086_8e-4,
        3.883_934_3e-3,
        -2.425_456e-2,
        1.067_778_5e-1,
        6.348_467e-1,
        1.287_175_1e-1,
    ];
    // From 4 on the result is 1, and terms of a larger number would be infinities of both signs.
    let size = binary(BinOp::Min, call(Intrin::Abs, x.clone()), on.number(4.0));
    let exponent = fma(on.polynomial(&size, &EXPONENT), size.clone(), size.clone());
    // No exponent is less than -19; that the power is a normal number can be seen by this.
    let exponent = binary(BinOp::Sub, on.number(0.0), exponent);
    let exponent = binary(BinOp::Max, exponent, on.number(-80.0));
    let far = binary(BinOp::Sub, on.number(1.0), call(Intrin::Exp, exponent));
    let square = binary(BinOp::Mul, x.clone(), x.clone());
    let near = fma(on.polynomial(&square, &ODD), x.clone(), x.clone());
    let is_far = binary(BinOp::Gt, size, on.number(NEAR));
    select(is_far, on.with_sign(far, x), near)
}
