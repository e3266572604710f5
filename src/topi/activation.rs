//! Activation functions, as expressions of one element. Those that take several steps round narrow floats once.

use crate::ir::Expr;
use crate::tensor::scalar::{BinOp, Intrin};

fn number(v: f64, like: &Expr) -> Expr {
    Expr::float(v, like.dtype())
}

fn greater(a: &Expr, b: Expr) -> Expr {
    Expr::binary(BinOp::Gt, a, b)
}

/// `x` where it is positive, else `below`. NaN counts as not positive, so that `below` carries it on.
fn where_positive(x: &Expr, then: Expr, below: Expr) -> Expr {
    Expr::select(greater(x, number(0.0, x)), then, below)
}

/// A function of a narrow float, computed in `float32` and rounded once.
fn rounded_once(x: &Expr, f: impl FnOnce(&Expr) -> Expr) -> Expr {
    let wide = super::accumulator(x.dtype());
    match wide == x.dtype() {
        true => f(x),
        false => f(&x.cast(wide)).cast(x.dtype()),
    }
}

/// `exp(x) - 1`, which keeps its digits near 0: `tanh(x / 2) * (exp(x) + 1)`.
pub fn expm1(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        let tanh = Expr::call(Intrin::Tanh, vec![x * number(0.5, x)]);
        let exp = Expr::call(Intrin::Exp, vec![x.clone()]);
        // Beyond 20 the one is lost in the exponential, and infinity times one stays infinity.
        let near = tanh * (exp.clone() + number(1.0, x));
        Expr::select(greater(x, number(20.0, x)), exp, near)
    })
}

/// `x * (0.5 + 0.5 * erf(x / sqrt(2)))`
pub fn gelu(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        let scaled = x * number(std::f64::consts::FRAC_1_SQRT_2, x);
        let erf = Expr::call(Intrin::Erf, vec![scaled]);
        x * (number(0.5, x) + erf * number(0.5, x))
    })
}

/// `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))`
pub fn gelu_tanh(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        let square = x * x;
        let inner = x * (number(1.0, x) + square * number(0.044_715, x));
        let scale = number((2.0 / std::f64::consts::PI).sqrt(), x);
        let tanh = Expr::call(Intrin::Tanh, vec![inner * scale]);
        x * number(0.5, x) * (tanh + number(1.0, x))
    })
}

/// `x`, or `alpha * x` below 0.
pub fn leaky_relu(x: &Expr, alpha: f64) -> Expr {
    where_positive(x, x.clone(), x * number(alpha, x))
}

/// `x`, or `alpha * (exp(x) - 1)` below 0.
pub fn elu(x: &Expr, alpha: f64) -> Expr {
    rounded_once(x, |x| {
        where_positive(x, x.clone(), expm1(x) * number(alpha, x))
    })
}

/// `x`, or `alpha * (exp(x / alpha) - 1)` below 0.
pub fn celu(x: &Expr, alpha: f64) -> Expr {
    rounded_once(x, |x| {
        let below = expm1(&(x / number(alpha, x))) * number(alpha, x);
        where_positive(x, x.clone(), below)
    })
}

/// `scale * elu(x)` with the constants under which networks normalise themselves.
pub fn selu(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        elu(x, 1.673_263_242_354_377_2) * number(1.050_700_987_355_480_5, x)
    })
}

/// `log(1 + exp(beta * x)) / beta`; `x` itself where `beta * x` is above the threshold.
pub fn softplus(x: &Expr, beta: f64, threshold: f64) -> Expr {
    rounded_once(x, |x| {
        let scaled = x * number(beta, x);
        // log(1 + exp(v)) = max(v, 0) + log(1 + exp(-|v|)), which does not overflow.
        let away = Expr::call(Intrin::Abs, vec![scaled.clone()]) * number(-1.0, x);
        let exp = Expr::call(Intrin::Exp, vec![away]);
        let log = Expr::call(Intrin::Log1p, vec![exp]);
        let soft = (scaled.max(number(0.0, x)) + log) * number(1.0 / beta, x);
        Expr::select(greater(&scaled, number(threshold, x)), x.clone(), soft)
    })
}

/// `x / (1 + |x|)`
pub fn softsign(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        x / (Expr::call(Intrin::Abs, vec![x.clone()]) + number(1.0, x))
    })
}

/// `alpha * x + beta`, no less than 0 and no more than 1.
pub fn hard_sigmoid(x: &Expr, alpha: f64, beta: f64) -> Expr {
    rounded_once(x, |x| {
        clip(
            &(x * number(alpha, x) + number(beta, x)),
            number(0.0, x),
            number(1.0, x),
        )
    })
}

/// `x * hard_sigmoid(x)` with slope 1/6.
pub fn hard_swish(x: &Expr) -> Expr {
    rounded_once(x, |x| x * hard_sigmoid(x, 1.0 / 6.0, 0.5))
}

/// `x * tanh(log(1 + exp(x)))`
pub fn mish(x: &Expr) -> Expr {
    rounded_once(x, |x| {
        x * Expr::call(Intrin::Tanh, vec![softplus(x, 1.0, f64::INFINITY)])
    })
}

/// `x` where it is above the threshold, else 0, also for NaN.
pub fn thresholded_relu(x: &Expr, threshold: f64) -> Expr {
    let above = greater(x, number(threshold, x));
    Expr::select(above, x.clone(), number(0.0, x))
}

/// `x + bias` below `-lambda`, `x - bias` above `lambda`, else 0, also for NaN.
pub fn shrink(x: &Expr, lambda: f64, bias: f64) -> Expr {
    let above = greater(x, number(lambda, x));
    let below = x.lt(number(-lambda, x));
    let below = Expr::select(below, x + number(bias, x), number(0.0, x));
    Expr::select(above, x - number(bias, x), below)
}

/// No less than `low`, no more than `high`; `high` if the bounds cross. NaN stays NaN.
pub fn clip(x: &Expr, low: Expr, high: Expr) -> Expr {
    x.max(low).min(high)
}
