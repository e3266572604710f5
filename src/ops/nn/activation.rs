//! Activation functions and softmax.

use crate::ir::graph::{AttrDefault, AttrKind, AttrSpec, InferError, OpCall, OperandKind};
use crate::ir::{Expr, ShapeInfo};
use crate::ops::ComputeCall;
use crate::ops::def::{Computed, DATA, DTypes, Layout, OpDef, Pattern, X, attr, operand, tensor};
use crate::ops::rules;
use crate::te::{self, Tensor};
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};
use crate::topi::{self, activation as f};

const AXIS: AttrSpec = attr("axis", AttrKind::Int, AttrDefault::Int(-1));

const fn number(name: &'static str, default: f64) -> AttrSpec {
    attr(name, AttrKind::Float, AttrDefault::Float(default))
}

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
        .layout(Layout::Axes(&["axis"]))
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    activation("clip", "no less than min, no more than max", clip)
        .operands(&[
            tensor("x"),
            operand("min", OperandKind::Scalar),
            operand("max", OperandKind::Scalar),
        ])
        .dtypes(DTypes::Numeric)
        .layout(Layout::Fixed),
    activation(
        "nn.celu",
        "x, or alpha * (exp(x / alpha) - 1) below 0",
        |c| with(c, "alpha", f::celu),
    )
    .attrs(&[number("alpha", 1.0)]),
    activation("nn.elu", "x, or alpha * (exp(x) - 1) below 0", |c| {
        with(c, "alpha", f::elu)
    })
    .attrs(&[number("alpha", 1.0)]),
    activation("nn.gelu", "x * Phi(x), the normal distribution", |c| {
        map(c, f::gelu)
    }),
    activation("nn.gelu_tanh", "gelu by an approximation with tanh", |c| {
        map(c, f::gelu_tanh)
    }),
    activation(
        "nn.hardsigmoid",
        "alpha * x + beta, no less than 0 and no more than 1",
        |c| with_two(c, ["alpha", "beta"], f::hard_sigmoid),
    )
    .attrs(&[number("alpha", 1.0 / 6.0), number("beta", 0.5)]),
    activation("nn.hardswish", "x * hardsigmoid(x)", |c| {
        map(c, f::hard_swish)
    }),
    activation(
        "nn.hardtanh",
        "no less than min_val, no more than max_val",
        |c| {
            with_two(c, ["min_val", "max_val"], |x, low, high| {
                let number = |v| Expr::float(v, x.dtype());
                f::clip(x, number(low), number(high))
            })
        },
    )
    .attrs(&[number("min_val", -1.0), number("max_val", 1.0)]),
    activation("nn.leakyrelu", "x, or alpha * x below 0", |c| {
        with(c, "alpha", f::leaky_relu)
    })
    .operands(DATA)
    .attrs(&[number("alpha", 0.01)]),
    along_axis(
        "nn.log_softmax",
        "the logarithm of softmax, without overflow",
        |c| along(c, topi::nn::log_softmax),
    )
    .layout(Layout::Fixed),
    activation("nn.mish", "x * tanh(log(1 + exp(x)))", |c| map(c, f::mish)),
    activation("nn.prelu", "x, or alpha * x below 0", prelu)
        .operands(&[tensor("data"), tensor("alpha")])
        .attrs(&[attr("axis", AttrKind::Int, AttrDefault::Int(1))])
        .infer(prelu_type)
        .pattern(Pattern::Broadcast)
        .layout(Layout::Axes(&["axis"])),
    activation("nn.relu", "max(x, 0)", |c| map(c, |x| x.max(0))).dtypes(DTypes::Numeric),
    activation("nn.relu6", "no less than 0, no more than 6", |c| {
        map(c, |x| {
            let number = |v| Expr::constant(v, x.dtype());
            f::clip(x, number(0), number(6))
        })
    })
    .dtypes(DTypes::Numeric),
    activation(
        "nn.selu",
        "elu with the constants of self-normalising networks",
        |c| map(c, f::selu),
    ),
    activation(
        "nn.shrink",
        "x - bias above lambd, x + bias below -lambd, 0 between",
        |c| with_two(c, ["lambd", "bias"], f::shrink),
    )
    .attrs(&[number("lambd", 0.5), number("bias", 0.0)]),
    activation("nn.silu", "x * sigmoid(x)", |c| {
        map(c, |x| x * Expr::call(Intrin::Sigmoid, vec![x.clone()]))
    }),
    along_axis(
        "nn.softmax",
        "exp(x) divided by its sum along the axis",
        |c| along(c, topi::nn::softmax),
    ),
    activation(
        "nn.softplus",
        "log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold",
        |c| with_two(c, ["beta", "threshold"], f::softplus),
    )
    .operands(DATA)
    .attrs(&[number("beta", 1.0), number("threshold", 20.0)]),
    activation("nn.softsign", "x / (1 + |x|)", |c| map(c, f::softsign)),
    activation(
        "nn.thresholded_relu",
        "x where it is above alpha, else 0",
        |c| with(c, "alpha", f::thresholded_relu),
    )
    .attrs(&[number("alpha", 1.0)]),
];

/// The same as the operand, which has the axis.
fn same_along(c: &OpCall<'_>) -> rules::Inferred {
    if let Some(ndim) = c.tensor(0)?.and_then(|info| info.shape.ndim()) {
        c.axis(c.int("axis")?.unwrap_or(-1), ndim)?;
    }
    rules::same(c)
}

fn map(c: &ComputeCall<'_>, f: impl Fn(&Expr) -> Expr) -> Computed {
    Ok(vec![topi::map(c.name(), c.x(0), |x| f(&x))])
}

/// A function with one number.
fn with(c: &ComputeCall<'_>, name: &'static str, f: impl Fn(&Expr, f64) -> Expr) -> Computed {
    let value = c
        .float(name)?
        .ok_or_else(|| c.bad_attribute(name, "a number"))?;
    map(c, |x| f(x, value))
}

/// A function with two numbers.
fn with_two(
    c: &ComputeCall<'_>,
    names: [&'static str; 2],
    f: impl Fn(&Expr, f64, f64) -> Expr,
) -> Computed {
    let value = |name| {
        c.float(name)?
            .ok_or_else(|| c.bad_attribute(name, "a number"))
    };
    let (a, b) = (value(names[0])?, value(names[1])?);
    map(c, |x| f(x, a, b))
}

fn along(c: &ComputeCall<'_>, f: fn(&str, &Tensor, usize) -> Tensor) -> Computed {
    let axis = c.int("axis")?.unwrap_or(-1);
    let axis = c.axis(axis, c.x(0).ndim())?;
    Ok(vec![f(c.name(), c.x(0), axis)])
}

fn clip(c: &ComputeCall<'_>) -> Computed {
    let dtype = c.x(0).dtype();
    let bound = |index: usize| {
        let none: [Expr; 0] = [];
        within(&c.x(index).at(none), dtype)
    };
    let (low, high) = (bound(1), bound(2));
    map(c, |x| f::clip(x, low.clone(), high.clone()))
}

/// A number in a type, or what of the type is nearest to it.
fn within(value: &Expr, dtype: DType) -> Expr {
    let known = value.as_float().or(value.as_int().map(|v| v as f64));
    match (known, dtype.scalar.int_range()) {
        // Every number between is one of both types.
        (Some(known), _) if dtype.scalar == ScalarType::U64 => {
            // By its bits.
            let exact = value.as_int().map(|v| match value.dtype() == dtype {
                true => v,
                false => v.max(0),
            });
            let nearest = (known.round() as u64).cast_signed();
            Expr::int(exact.unwrap_or(nearest), dtype)
        }
        (Some(known), Some((low, high))) if !dtype.is_float() => {
            let exact = value.as_int().map(|v| v.clamp(low, high));
            let nearest = (known.round() as i64).clamp(low, high);
            Expr::int(exact.unwrap_or(nearest), dtype)
        }
        _ => value.cast(dtype),
    }
}

/// `alpha` belongs to the axis, or broadcasts to the data.
fn slope_axis(c: &OpCall<'_>, ndim: usize, alpha: usize) -> Result<Option<usize>, InferError> {
    let axis = c.int("axis")?.unwrap_or(1);
    match alpha {
        1 if ndim > 1 => c.axis(axis, ndim).map(Some),
        _ => Ok(None),
    }
}

fn prelu_type(c: &OpCall<'_>) -> rules::Inferred {
    rules::check_dtype(c, 0)?;
    let (Some(data), Some(alpha)) = (c.tensor(0)?, c.tensor(1)?) else {
        return rules::identity(c);
    };
    let (Some(x), Some(slopes)) = (data.shape.dims(), alpha.shape.dims()) else {
        return rules::identity(c);
    };
    match slope_axis(c, x.len(), slopes.len())? {
        Some(_) if slopes[0].is_one() => {}
        Some(axis) => {
            let what = "extents of the data along the axis and of alpha";
            rules::equal_extents(c, what, &x[axis], &slopes[0])?;
        }
        None => {
            let shape = rules::broadcast_shapes(c, &data.shape, &alpha.shape)?;
            let same = match &shape {
                ShapeInfo::Known(dims) => dims.len() == x.len() && grows_not(dims, x),
                _ => true,
            };
            if !same {
                return Err(c.bad_operand(1, "a tensor that broadcasts to the data"));
            }
        }
    }
    rules::identity(c)
}

/// Whether no extent of 1 became another one.
fn grows_not(dims: &[Expr], from: &[Expr]) -> bool {
    let mut pairs = dims.iter().zip(from);
    pairs.all(|(to, from)| !from.is_one() || to.is_one())
}

fn prelu(c: &ComputeCall<'_>) -> Computed {
    let (x, alpha) = (c.x(0), c.x(1));
    let axis = slope_axis(c, x.ndim(), alpha.ndim())?;
    Ok(vec![te::compute(c.name(), x.shape().to_vec(), |i| {
        let slope = match axis {
            Some(axis) => topi::element(alpha, &i[axis..=axis]),
            None => topi::element(alpha, i),
        };
        let value = x.at(i);
        let zero = Expr::float(0.0, value.dtype());
        let positive = Expr::binary(BinOp::Gt, &value, zero);
        Expr::select(positive, value.clone(), value * slope)
    })])
}
