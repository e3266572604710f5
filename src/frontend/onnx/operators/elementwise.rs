//! Operators on single elements, and conversions.

use super::{Operator, fold};
use crate::frontend::onnx::call::{Call, Outputs, cast, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::frontend::onnx::value::Value;
use crate::ir::{AttrValue, Attrs};
use crate::relax::{self, Expr};
use crate::tensor::DType;

/// Versions of most unary operators.
const UNARY: &[i64] = &[1, 6, 13];
/// Versions of binary operators, from the one on that broadcasts as numpy does.
const BINARY: &[i64] = &[7, 13, 14];

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Abs", UNARY, |c| c.simple("abs", 1)).folds(fold::absolute),
    Operator::new("Acos", &[7, 22], |c| c.simple("acos", 1)),
    Operator::new("Acosh", &[9, 22], |c| c.simple("acosh", 1)),
    Operator::new("Add", BINARY, |c| c.simple("add", 2)).folds(fold::add),
    Operator::new("And", &[7], |c| c.simple("logical_and", 2)).folds(fold::and),
    Operator::new("Asin", &[7, 22], |c| c.simple("asin", 1)),
    Operator::new("Asinh", &[9, 22], |c| c.simple("asinh", 1)),
    Operator::new("Atan", &[7, 22], |c| c.simple("atan", 1)),
    Operator::new("Atanh", &[9, 22], |c| c.simple("atanh", 1)),
    Operator::new("BitCast", &[26], bit_cast),
    Operator::new("BitShift", &[11, 28], bit_shift),
    Operator::new("BitwiseAnd", &[18], |c| c.simple("bitwise_and", 2)),
    Operator::new("BitwiseNot", &[18], |c| c.simple("bitwise_not", 1)),
    Operator::new("BitwiseOr", &[18], |c| c.simple("bitwise_or", 2)),
    Operator::new("BitwiseXor", &[18], |c| c.simple("bitwise_xor", 2)),
    Operator::new("Cast", &[6, 9, 13, 19, 21, 23, 24, 25, 28], convert),
    Operator::new("CastLike", &[15, 19, 21, 23, 24, 25], convert_like),
    Operator::new("Ceil", UNARY, |c| c.simple("ceil", 1)).folds(fold::ceil),
    Operator::new("Clip", &[6, 11, 12, 13], clip),
    Operator::new("Cos", &[7, 22], |c| c.simple("cos", 1)),
    Operator::new("Cosh", &[9, 22], |c| c.simple("cosh", 1)),
    Operator::new("Div", BINARY, |c| c.simple("divide", 2)).folds(fold::divide),
    Operator::new("Equal", &[7, 11, 13, 19], |c| c.simple("equal", 2)).folds(fold::equal),
    Operator::new("Erf", &[9, 13], |c| c.simple("erf", 1)),
    Operator::new("Exp", UNARY, |c| c.simple("exp", 1)),
    Operator::new("Floor", UNARY, |c| c.simple("floor", 1)).folds(fold::floor),
    Operator::new("Greater", &[7, 9, 13], |c| c.simple("greater", 2)).folds(fold::greater),
    Operator::new("GreaterOrEqual", &[12, 16], |c| {
        c.simple("greater_equal", 2)
    })
    .folds(fold::greater_equal),
    Operator::new("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], identity),
    Operator::new("IsInf", &[10, 20], is_inf),
    Operator::new("IsNaN", &[9, 13, 20], |c| c.simple("isnan", 1)),
    Operator::new("Less", &[7, 9, 13], |c| c.simple("less", 2)).folds(fold::less),
    Operator::new("LessOrEqual", &[12, 16], |c| c.simple("less_equal", 2)).folds(fold::less_equal),
    Operator::new("Log", UNARY, |c| c.simple("log", 1)),
    Operator::new("Max", &[8, 12, 13], |c| combined(c, "maximum")).folds(fold::maximum),
    Operator::new("Mean", &[8, 13], mean),
    Operator::new("Min", &[8, 12, 13], |c| combined(c, "minimum")).folds(fold::minimum),
    Operator::new("Mod", &[10, 13, 28], modulo).folds(fold::floor_mod),
    Operator::new("Mul", BINARY, |c| c.simple("multiply", 2)).folds(fold::multiply),
    Operator::new("Neg", UNARY, |c| c.simple("negative", 1)).folds(fold::negative),
    Operator::new("Not", &[1], |c| c.simple("logical_not", 1)).folds(fold::not),
    Operator::new("Or", &[7], |c| c.simple("logical_or", 2)).folds(fold::or),
    Operator::new("Pow", &[7, 12, 13, 15], power),
    Operator::new("Reciprocal", UNARY, reciprocal),
    Operator::new("Round", &[11, 22], |c| c.simple("round", 1)),
    Operator::new("Sign", &[9, 13], |c| c.simple("sign", 1)),
    Operator::new("Sin", &[7, 22], |c| c.simple("sin", 1)),
    Operator::new("Sinh", &[9, 22], |c| c.simple("sinh", 1)),
    Operator::new("Sqrt", UNARY, |c| c.simple("sqrt", 1)),
    Operator::new("Sub", BINARY, |c| c.simple("subtract", 2)).folds(fold::subtract),
    Operator::new("Sum", &[8, 13], |c| combined(c, "add")).folds(sum_of_sizes),
    Operator::new("Tan", &[7, 22], |c| c.simple("tan", 1)),
    Operator::new("Tanh", UNARY, |c| c.simple("tanh", 1)),
    Operator::new("Where", &[9, 16], |c| c.simple("where", 3)).folds(fold::select),
    Operator::new("Xor", &[7], |c| c.simple("logical_xor", 2)),
];

fn sum_of_sizes(c: &mut Call<'_, '_>) -> Result<Option<Value>, Fault> {
    match c.inputs.len() {
        2 => fold::add(c),
        _ => Ok(None),
    }
}

fn identity(c: &mut Call<'_, '_>) -> Outputs {
    Ok(c.inputs.drain(..).take(1).collect())
}

/// The same bits as another type.
fn bit_cast(c: &mut Call<'_, '_>) -> Outputs {
    let to = wanted_type(c)?;
    let mut attributes = Attrs::new();
    attributes.insert("dtype".to_owned(), AttrValue::DType(to));
    let x = c.x(0)?;
    one(c.emit(relax::op_with("reinterpret", [x], attributes))?)
}

/// An amount below 0, or of as many bits as the type has, shifts all bits out: what is left is the sign, if that fills them up.
fn bit_shift(c: &mut Call<'_, '_>) -> Outputs {
    let left = c.attributes.one_of("direction", "", &["LEFT", "RIGHT"])? == "LEFT";
    let name = if left { "left_shift" } else { "right_shift" };
    let dtype = c.dtype(0)?;
    let signed = dtype.scalar.is_signed_int();
    let bits = i64::from(dtype.scalar.bits());
    let amounts = c.known(1).and_then(|known| known.ints());
    if amounts.is_some_and(|all| all.iter().all(|amount| (0..bits).contains(amount))) {
        return c.simple(name, 2);
    }
    let (x, amount) = (c.x(0)?, c.var(1)?);
    let mut inside = relax::op("less", [(&amount).into(), number(bits as f64, dtype)?]);
    if signed {
        let positive = relax::op("greater_equal", [(&amount).into(), number(0.0, dtype)?]);
        inside = relax::op("logical_and", [inside, positive]);
    }
    let inside = c.emit(inside)?;
    let most = number((bits - 1) as f64, dtype)?;
    let amount = relax::op("where", [(&inside).into(), (&amount).into(), most]);
    let shifted = relax::op(name, [x, amount]);
    if !left && signed {
        return one(c.emit(shifted)?);
    }
    one(c.op("where", [(&inside).into(), shifted, number(0.0, dtype)?])?)
}

/// An operator on pairs, of all operands: a tree, for there may be thousands.
fn combined(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let all = (0..c.inputs.len()).map(|index| c.x(index));
    let mut level = all.collect::<Result<Vec<Expr>, Fault>>()?;
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        for pair in level.chunks(2) {
            next.push(match pair {
                [a, b] => (&c.op(name, [a.clone(), b.clone()])?).into(),
                _ => pair[0].clone(),
            });
        }
        level = next;
    }
    let result = level.pop().ok_or(Fault::NoOperand(0))?;
    one(c.emit(result)?)
}

fn mean(c: &mut Call<'_, '_>) -> Outputs {
    let (count, dtype) = (c.inputs.len(), c.dtype(0)?);
    let sum = combined(c, "add")?;
    match (count, sum.as_slice()) {
        (2.., [Value::Var(sum)]) => {
            let count = number(count as f64, dtype)?;
            one(c.op("divide", [sum.into(), count])?)
        }
        _ => Ok(sum),
    }
}

fn modulo(c: &mut Call<'_, '_>) -> Outputs {
    match c.attributes.flag("fmod", false)? {
        true => c.simple("mod", 2),
        false => c.simple("floor_mod", 2),
    }
}

/// The result has the type of the base.
fn power(c: &mut Call<'_, '_>) -> Outputs {
    let (base, exponent) = (c.dtype(0)?, c.dtype(1)?);
    let (x, y) = (c.x(0)?, c.x(1)?);
    let result = match (base.is_float(), exponent.is_float()) {
        (false, true) => cast(relax::op("power", [cast(x, exponent), y]), base),
        _ if base != exponent => relax::op("power", [x, cast(y, base)]),
        _ => relax::op("power", [x, y]),
    };
    one(c.emit(result)?)
}

fn reciprocal(c: &mut Call<'_, '_>) -> Outputs {
    let unit = number(1.0, c.dtype(0)?)?;
    let x = c.x(0)?;
    one(c.op("divide", [unit, x])?)
}

fn clip(c: &mut Call<'_, '_>) -> Outputs {
    let dtype = c.dtype(0)?;
    let bound = |c: &mut Call<'_, '_>, name: &str, index: usize| match c.version {
        ..11 => {
            let value = c.attributes.float(name)?;
            value.map(|value| number(value, dtype)).transpose()
        }
        _ => c.optional(index),
    };
    let (low, high) = (bound(c, "min", 1)?, bound(c, "max", 2)?);
    let mut x = c.x(0)?;
    if let Some(low) = low {
        x = relax::op("maximum", [x, low]);
    }
    if let Some(high) = high {
        x = relax::op("minimum", [x, high]);
    }
    one(c.emit(x)?)
}

fn is_inf(c: &mut Call<'_, '_>) -> Outputs {
    let positive = c.attributes.flag("detect_positive", true)?;
    let negative = c.attributes.flag("detect_negative", true)?;
    let (x, dtype) = (c.x(0)?, c.dtype(0)?);
    if positive && negative {
        return one(c.op("isinf", [x])?);
    }
    let zero = number(0.0, dtype)?;
    let infinite = relax::op("isinf", [x.clone()]);
    let side = match (positive, negative) {
        (true, _) => relax::op("greater", [x, zero]),
        (_, true) => relax::op("less", [x, zero]),
        // No element is above itself.
        _ => relax::op("greater", [x.clone(), x]),
    };
    one(c.op("logical_and", [infinite, side])?)
}

/// The element type that the attribute `to` names.
fn wanted_type(c: &Call<'_, '_>) -> Result<DType, Fault> {
    let code = c.attributes.int("to")?;
    let code = code.ok_or_else(|| Fault::NoAttribute("to".to_owned()))?;
    tensor::dtype(i32::try_from(code).unwrap_or(0)).map_err(Fault::ElementType)
}

fn convert(c: &mut Call<'_, '_>) -> Outputs {
    let to = wanted_type(c)?;
    converted(c, to)
}

fn convert_like(c: &mut Call<'_, '_>) -> Outputs {
    let to = c.dtype(1)?;
    converted(c, to)
}

/// `saturate` and `round_mode` are about floats of eight bits, which are refused before.
fn converted(c: &mut Call<'_, '_>, to: DType) -> Outputs {
    c.attributes.ignore("saturate");
    c.attributes.ignore("round_mode");
    c.inputs.truncate(1);
    if let Some(value) = fold::cast(c, to) {
        return one(value);
    }
    let x: Expr = c.x(0)?;
    one(match c.dtype(0)? == to {
        true => c.emit(x)?,
        false => c.emit(cast(x, to))?,
    })
}
