//! Activation functions and softmax.

use crate::ir::Expr;
use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, OpCall};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DATA, DTypes, Layout, OpDef, Pattern, X, attr};
use crate::ops::rules;
use crate::te::Tensor;
use crate::tensor::scalar::Intrin;
use crate::topi;

const AXIS: AttrSpec = attr("axis", AttrKind::Int, AttrDefault::Int(-1));

const fn activation(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    OpDef::new(name, doc)
        .operands(X)
        .dtypes(DTypes::Float)
        .infer(rules::same)
        .compute(compute)
        .pattern(Pattern::ElemWise)
        .layout(Layout::Any)
}

const fn along_axis(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    activation(name, doc, compute)
        .operands(DATA)
        .attrs(&[AXIS])
        .infer(same_along)
        .pattern(Pattern::OutEWiseFusable)
        .layout(Layout::Axes("axis"))
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    activation("nn.gelu", "x * Phi(x), the normal distribution", |c| {
        map(c, gelu)
    }),
    along_axis(
        "nn.log_softmax",
        "the logarithm of softmax, without overflow",
        |c| along(c, topi::nn::log_softmax),
    ),
    activation("nn.relu", "max(x, 0)", |c| map(c, |x| x.max(0))).dtypes(DTypes::Numeric),
    activation("nn.silu", "x * sigmoid(x)", |c| {
        map(c, |x| x.clone() * Expr::call(Intrin::Sigmoid, vec![x]))
    }),
    along_axis(
        "nn.softmax",
        "exp(x) divided by its sum along the axis",
        |c| along(c, topi::nn::softmax),
    ),
];

/// The same as the operand, which has the axis.
fn same_along(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        c.axis(c.int("axis")?.unwrap_or(-1), ndim)?;
    }
    rules::same(c)
}

fn map(c: &ComputeCall<'_>, f: impl Fn(Expr) -> Expr) -> Computed {
    Ok(vec![topi::map(c.name(), c.x(0), f)])
}

fn along(c: &ComputeCall<'_>, f: fn(&str, &Tensor, usize) -> Tensor) -> Computed {
    let axis = c.int("axis")?.unwrap_or(-1);
    let axis = c.axis(axis, c.x(0).ndim())?;
    Ok(vec![f(c.name(), c.x(0), axis)])
}

/// `x * (0.5 + 0.5 * erf(x / sqrt(2)))`
fn gelu(x: Expr) -> Expr {
    let float = |v| Expr::float(v, x.dtype());
    let erf = Expr::call(
        Intrin::Erf,
        vec![x.clone() * float(std::f64::consts::FRAC_1_SQRT_2)],
    );
    x.clone() * (float(0.5) + erf * float(0.5))
}
