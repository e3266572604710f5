//! Functions of `float32` as arithmetic, so that all lanes of a vector are computed at once. Calls of the math library, lane by
//! lane, take some thirty times as long.
//!
//! Errors are in units in the last place of the result, against the true value, at one argument of thirty thousand, or at all
//! (`functions_are_exact_to_their_bounds`, `WEFTILE_EXHAUSTIVE=1`). Narrow floats are computed in `float32` and rounded once.

mod arc;
mod exp;
mod hyperbolic;
mod log;
mod power;
mod sigmoid;
mod trig;

use crate::kernel::{ArrayId, Expr, Kernel, Stmt, Ty, VarInfo};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// The function as arithmetic on its arguments, and how many units in the last place the result may be off.
type Function = (fn(&mut Writer<'_>, &[Expr]) -> Expr, f64);

/// The functions that are written out.
pub(crate) fn function(intrin: Intrin) -> Option<Function> {
    Some(match intrin {
        Intrin::Exp => (exp::exp, 2.0),
        Intrin::Exp2 => (power::exp2, 1.0),
        Intrin::Exp10 => (power::exp10, 1.0),
        Intrin::Expm1 => (hyperbolic::expm1, 2.0),
        Intrin::Sinh => (hyperbolic::sinh, 2.0),
        Intrin::Cosh => (hyperbolic::cosh, 1.0),
        Intrin::Asinh => (hyperbolic::asinh, 1.0),
        Intrin::Acosh => (hyperbolic::acosh, 1.0),
        Intrin::Atanh => (hyperbolic::atanh, 1.0),
        Intrin::Asin => (arc::asin, 3.0),
        Intrin::Acos => (arc::acos, 3.0),
        Intrin::Atan => (arc::atan, 3.0),
        Intrin::Erf => (sigmoid::erf, 3.0),
        Intrin::Tanh => (sigmoid::tanh, 3.0),
        Intrin::Sigmoid => (sigmoid::sigmoid, 3.0),
        Intrin::Log => (log::log, 2.0),
        Intrin::Log2 => (log::log2, 2.0),
        Intrin::Log10 => (log::log10, 2.0),
        Intrin::Log1p => (log::log1p, 2.0),
        Intrin::Sin => (trig::sin, 2.0),
        Intrin::Cos => (trig::cos, 2.0),
        Intrin::Tan => (trig::tan, 4.0),
        Intrin::Pow => (power::pow, 1.0),
        _ => return None,
    })
}

/// The statements with functions written out. Their arguments become variables, so that each is computed once.
pub(super) fn write_out(kernel: &mut Kernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        stmt.map_nested(&mut |body| write_out(kernel, body));
        if let Stmt::Let(_, value) | Stmt::Store { value, .. } = &mut stmt {
            *value = without_functions(kernel, value, &mut out);
        }
        out.push(stmt);
    }
    out
}

fn without_functions(kernel: &mut Kernel, e: &Expr, before: &mut Vec<Stmt>) -> Expr {
    let e = e.map_children(&mut |child| without_functions(kernel, child, before));
    let Expr::Call(intrin, args) = &e else {
        return e;
    };
    let (Some((write, _)), Some(first)) = (function(*intrin), args.first()) else {
        return e;
    };
    let ty = kernel.ty(first);
    if !matches!(
        ty.scalar,
        ScalarType::F32 | ScalarType::F16 | ScalarType::BF16
    ) {
        return e;
    }
    let mut writer = Writer {
        kernel,
        lanes: ty.lanes,
        out: before,
    };
    let args: Vec<Expr> = args
        .iter()
        .map(|arg| {
            let single = writer.cast(ScalarType::F32, arg.clone());
            writer.named("x", single)
        })
        .collect();
    let value = write(&mut writer, &args);
    writer.cast(ty.scalar, value)
}

/// Writes arithmetic on so many lanes, and statements before the one that takes its value.
pub(crate) struct Writer<'a> {
    /// Grows new variables and local arrays.
    kernel: &'a mut Kernel,
    lanes: u16,
    out: &'a mut Vec<Stmt>,
}

impl Writer<'_> {
    fn splat(&self, e: Expr) -> Expr {
        match self.lanes {
            1 => e,
            lanes => Expr::Splat(Box::new(e), lanes),
        }
    }

    /// A number of `float32`.
    fn number(&self, value: f64) -> Expr {
        self.splat(Expr::Float(value, ScalarType::F32))
    }

    /// A number of `float64`.
    fn double(&self, value: f64) -> Expr {
        self.splat(Expr::Float(value, ScalarType::F64))
    }

    fn int(&self, value: i64, scalar: ScalarType) -> Expr {
        self.splat(Expr::Int(value, scalar))
    }

    /// The value in a variable, so that it is computed once.
    fn named(&mut self, name: &str, value: Expr) -> Expr {
        if matches!(value, Expr::Var(_)) {
            return value;
        }
        let ty = self.kernel.ty(&value);
        let var = self.kernel.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        });
        self.out.push(Stmt::Let(var, value));
        Expr::Var(var)
    }

    fn cast(&self, scalar: ScalarType, e: Expr) -> Expr {
        let to = Ty {
            scalar,
            lanes: self.lanes,
        };
        match self.kernel.ty(&e) == to {
            true => e,
            false => Expr::Cast(to, Box::new(e)),
        }
    }

    /// `c[0] * x^(n-1) + … + c[n-1]` by Horner's rule in the square of `x`, over pairs of terms that do not wait for each other. NaN where
    /// that square overflows.
    fn polynomial(&mut self, x: &Expr, coefficients: &[f64]) -> Expr {
        let scalar = self.kernel.ty(x).scalar;
        let square = self.named("square", times(x, x));
        let number = |value| self.splat(Expr::Float(value, scalar));
        let (first, rest) = coefficients.split_at(coefficients.len() % 2);
        let (pairs, _) = rest.as_chunks();
        let pairs = pairs
            .iter()
            .map(|&[slope, constant]| fma(number(slope), x.clone(), number(constant)));
        let first = first.iter().map(|&c| number(c));
        let sum = first
            .chain(pairs)
            .reduce(|sum, pair| fma(sum, square.clone(), pair));
        sum.unwrap_or_else(|| number(0.0))
    }

    /// `t + t^3 * p(t^2)`
    fn odd_polynomial(&mut self, t: &Expr, coefficients: &[f64]) -> Expr {
        let square = self.named("square", times(t, t));
        let factor = times(&self.polynomial(&square, coefficients), &square);
        let value = fma(factor, t.clone(), t.clone());
        self.named("odd", value)
    }

    /// The bit of the sign of `x`, which zeros have too, as a word.
    fn sign(&self, x: &Expr) -> Expr {
        let mask = self.int(i32::MIN.into(), ScalarType::I32);
        binary(BinOp::BitAnd, bits(ScalarType::I32, x), mask)
    }

    /// The value, which has no sign, with that of `x`.
    fn with_sign(&self, value: &Expr, x: &Expr) -> Expr {
        let word = binary(BinOp::BitOr, bits(ScalarType::I32, value), self.sign(x));
        bits(ScalarType::F32, &word)
    }

    /// What `rare` writes in all lanes if the condition holds in any, else what `usual` writes. Both are values of `float32`.
    fn branch(
        &mut self,
        cond: Expr,
        rare: impl FnOnce(&mut Self) -> Expr,
        usual: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        let lanes = self.lanes;
        let cell = self
            .kernel
            .new_local("value", ScalarType::F32, lanes.into());
        let then = self.aside(cell, rare);
        let otherwise = self.aside(cell, usual);
        let cond = match self.lanes {
            1 => cond,
            _ => Expr::Any(Box::new(cond)),
        };
        self.out.push(Stmt::If {
            cond,
            then,
            otherwise,
        });
        Expr::load(cell, Expr::Int(0, ScalarType::I64), lanes)
    }

    /// The statements that put a value into a cell.
    fn aside(&mut self, cell: ArrayId, write: impl FnOnce(&mut Self) -> Expr) -> Vec<Stmt> {
        let before = std::mem::take(self.out);
        let value = write(self);
        let mut stmts = std::mem::replace(self.out, before);
        stmts.push(assign(cell, value));
        stmts
    }
}

fn assign(cell: ArrayId, value: Expr) -> Stmt {
    Stmt::store(cell, Expr::Int(0, ScalarType::I64), value)
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::folded(op, a, b)
}

fn plus(a: &Expr, b: &Expr) -> Expr {
    binary(BinOp::Add, a.clone(), b.clone())
}

fn minus(a: &Expr, b: &Expr) -> Expr {
    binary(BinOp::Sub, a.clone(), b.clone())
}

fn times(a: &Expr, b: &Expr) -> Expr {
    binary(BinOp::Mul, a.clone(), b.clone())
}

fn compare(op: BinOp, a: &Expr, b: &Expr) -> Expr {
    binary(op, a.clone(), b.clone())
}

/// The bits as elements of another type.
fn bits(scalar: ScalarType, e: &Expr) -> Expr {
    Expr::Bits(scalar, Box::new(e.clone()))
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
