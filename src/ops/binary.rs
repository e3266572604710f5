//! Operators on two or three tensors, element by element, with broadcasting.

use super::broadcast::Broadcasting;
use super::def::{Computed, DTypes, Layout, OpDef, Pattern, X1_X2, tensor};
use super::{ComputeCall, rules};
use crate::ir::graph::OpCall;
use crate::ir::{Expr, StructInfo};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi;

const fn arithmetic(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    OpDef::new(name, doc)
        .operands(X1_X2)
        .compute(compute)
        .dtypes(DTypes::Numeric)
        .infer(rules::broadcast)
        .pattern(Pattern::Broadcast)
        .layout(Layout::Any)
        .broadcasting(Broadcasting::Elements)
}

const fn comparison(
    name: &'static str,
    doc: &'static str,
    compute: fn(&ComputeCall<'_>) -> Computed,
) -> OpDef {
    arithmetic(name, doc, compute)
        .dtypes(DTypes::All)
        .infer(rules::compare)
}

pub(super) const OPS: &[OpDef] = &[
    arithmetic("add", "x1 + x2", |c| binary(c, BinOp::Add)).commutative(),
    arithmetic("atan2", "the angle of the point (x2, x1)", |c| {
        intrinsic(c, Intrin::Atan2)
    })
    .dtypes(DTypes::Float),
    arithmetic("bitwise_and", "bits set in both", |c| {
        binary(c, BinOp::BitAnd)
    })
    .commutative()
    .dtypes(DTypes::IntOrBool),
    arithmetic("bitwise_or", "bits set in one", |c| binary(c, BinOp::BitOr))
        .commutative()
        .dtypes(DTypes::IntOrBool),
    arithmetic("bitwise_xor", "bits set in one and not in the other", |c| {
        binary(c, BinOp::BitXor)
    })
    .commutative()
    .dtypes(DTypes::IntOrBool),
    arithmetic("divide", "x1 / x2; integers towards zero", |c| {
        binary(c, BinOp::Div)
    }),
    comparison("equal", "x1 == x2", |c| binary(c, BinOp::Eq)).commutative(),
    arithmetic("floor_divide", "the floor of x1 / x2", |c| {
        binary(c, BinOp::FloorDiv)
    }),
    arithmetic(
        "floor_mod",
        "the remainder with the sign of x2, as numpy's mod",
        |c| binary(c, BinOp::FloorMod),
    ),
    comparison("greater", "x1 > x2", |c| ordered(c, BinOp::Gt)),
    comparison("greater_equal", "x1 >= x2", |c| ordered(c, BinOp::Ge)),
    arithmetic(
        "left_shift",
        "x1 << x2, with x2 modulo the bits of the type",
        |c| binary(c, BinOp::Shl),
    )
    .dtypes(DTypes::Int),
    comparison("less", "x1 < x2", |c| ordered(c, BinOp::Lt)),
    comparison("less_equal", "x1 <= x2", |c| ordered(c, BinOp::Le)),
    arithmetic(
        "log_add_exp",
        "log(exp(x1) + exp(x2)), without overflow",
        log_add_exp,
    )
    .commutative()
    .dtypes(DTypes::Float),
    arithmetic("logical_and", "x1 and x2", |c| binary(c, BinOp::And))
        .commutative()
        .dtypes(DTypes::Bool),
    arithmetic("logical_or", "x1 or x2", |c| binary(c, BinOp::Or))
        .commutative()
        .dtypes(DTypes::Bool),
    arithmetic("logical_xor", "x1 or x2, not both", |c| {
        binary(c, BinOp::Ne)
    })
    .commutative()
    .dtypes(DTypes::Bool),
    arithmetic("maximum", "the greater one; NaN if one is NaN", |c| {
        binary(c, BinOp::Max)
    })
    .commutative(),
    arithmetic("minimum", "the smaller one; NaN if one is NaN", |c| {
        binary(c, BinOp::Min)
    })
    .commutative(),
    arithmetic("mod", "the remainder with the sign of x1", |c| {
        binary(c, BinOp::Mod)
    }),
    arithmetic("multiply", "x1 * x2", |c| binary(c, BinOp::Mul)).commutative(),
    comparison("not_equal", "x1 != x2", |c| binary(c, BinOp::Ne)).commutative(),
    arithmetic(
        "power",
        "x1 to the power of x2; of integers the whole part, so 0 for a negative x2 unless x1 is 1 or -1",
        power,
    ),
    arithmetic(
        "right_shift",
        "x1 >> x2, with the sign of x1 and x2 modulo the bits of the type",
        |c| binary(c, BinOp::Shr),
    )
    .dtypes(DTypes::Int),
    arithmetic("subtract", "x1 - x2", |c| binary(c, BinOp::Sub)),
    OpDef::new("ewise_fma", "x1 * x2 + x3, rounded once")
        .operands(&[tensor("x1"), tensor("x2"), tensor("x3")])
        .dtypes(DTypes::Numeric)
        .infer(rules::broadcast)
        .compute(fma)
        .pattern(Pattern::ElemWise)
        .layout(Layout::Any)
        .broadcasting(Broadcasting::Elements),
    OpDef::new("where", "x1 where the condition holds, else x2")
        .operands(&[tensor("condition"), tensor("x1"), tensor("x2")])
        .dtypes(DTypes::Bool)
        .infer(choose)
        .compute(|c| Ok(vec![topi::select("where", c.x(0), c.x(1), c.x(2))]))
        .pattern(Pattern::Broadcast)
        .broadcasting(Broadcasting::Elements),
];

/// Broadcast of all operands, in the element type of the last two.
fn choose(c: &OpCall<'_>) -> rules::Inferred {
    if let StructInfo::Tensor(condition) = &c.operands[0]
        && condition.dtype.is_some_and(|dtype| dtype != DType::BOOL)
    {
        return Err(c.bad_operand(0, DTypes::Bool.expected()));
    }
    rules::broadcast_from(c, 1)
}

fn binary(c: &ComputeCall<'_>, op: BinOp) -> Computed {
    Ok(vec![topi::binary(c.name(), op, c.x(0), c.x(1))])
}

/// A comparison of less and greater: `False` is less than `True`.
fn ordered(c: &ComputeCall<'_>, op: BinOp) -> Computed {
    if !c.x(0).dtype().is_bool() {
        return binary(c, op);
    }
    let f = |a: Expr, b: Expr| match op {
        BinOp::Lt => a.not().and(b),
        BinOp::Gt => a.and(b.not()),
        BinOp::Le => Expr::binary(BinOp::Or, a.not(), b),
        _ => Expr::binary(BinOp::Or, a, b.not()),
    };
    Ok(vec![topi::compare(c.name(), c.x(0), c.x(1), f)])
}

fn intrinsic(c: &ComputeCall<'_>, intrin: Intrin) -> Computed {
    let f = |a, b| Expr::call(intrin, vec![a, b]);
    Ok(vec![topi::compare(c.name(), c.x(0), c.x(1), f)])
}

/// Of integers `x1 ** x2` truncated towards zero: a negative `x2` gives 0, or 1 or -1 for `x1` = 1 and -1; 0 gives 0.
fn power(c: &ComputeCall<'_>) -> Computed {
    let dtype = c.x(0).dtype();
    if !dtype.scalar.is_signed_int() {
        return intrinsic(c, Intrin::Pow);
    }
    let number = |value| Expr::constant(value, dtype);
    let f = |x: Expr, y: Expr| {
        let power = Expr::call(Intrin::Pow, vec![x.clone(), y.max(number(0))]);
        let odd = Expr::binary(BinOp::BitAnd, y.clone(), number(1)).equals(number(1));
        let sign = Expr::select(odd, number(-1), number(1));
        let fraction = Expr::select(x.equals(number(-1)), sign, number(0));
        let fraction = Expr::select(x.equals(number(1)), number(1), fraction);
        Expr::select(y.lt(number(0)), fraction, power)
    };
    Ok(vec![topi::compare(c.name(), c.x(0), c.x(1), f)])
}

/// `max + log1p(exp(min - max))`, which neither overflows nor loses the smaller one.
fn log_add_exp(c: &ComputeCall<'_>) -> Computed {
    let f = |a: Expr, b: Expr| {
        let (high, low) = (a.max(&b), a.min(&b));
        let below = Expr::call(Intrin::Exp, vec![low.clone() - &high]);
        // Equal infinities have no difference.
        let sum = high.clone() + Expr::call(Intrin::Log1p, vec![below]);
        Expr::select(
            high.equals(&low),
            high + Expr::float(std::f64::consts::LN_2, low.dtype()),
            sum,
        )
    };
    Ok(vec![topi::compare(c.name(), c.x(0), c.x(1), f)])
}

fn fma(c: &ComputeCall<'_>) -> Computed {
    let operands = [c.x(0), c.x(1), c.x(2)];
    Ok(vec![te::compute(
        c.name(),
        c.result_shape(0).to_vec(),
        |i| {
            let operands = operands.iter().map(|x| topi::element(x, i));
            Expr::call(Intrin::Fma, operands.collect())
        },
    )])
}
