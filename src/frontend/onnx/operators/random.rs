//! Operators that take random numbers. The host makes them, anew for each call of the model; those of a seed are always the same.

use serde_json::json;

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one, shown};
use crate::frontend::onnx::error::{Fault, MAX_RANK};
use crate::frontend::onnx::tensor;
use crate::ir::{Expr as Size, StructInfo};
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Bernoulli", &[15, 22], bernoulli).impure(|_| true),
    Operator::new("Multinomial", &[7, 22], multinomial).impure(|_| true),
    Operator::new("RandomNormal", &[1, 22], |c| of_shape(c, NORMAL)).impure(|_| true),
    Operator::new("RandomNormalLike", &[1, 22], |c| like(c, NORMAL)).impure(|_| true),
    Operator::new("RandomUniform", &[1, 22], |c| of_shape(c, UNIFORM)).impure(|_| true),
    Operator::new("RandomUniformLike", &[1, 22], |c| like(c, UNIFORM)).impure(|_| true),
];

/// A function of the host that makes random numbers, and the attributes that say where they lie.
#[derive(Clone, Copy)]
struct Distribution {
    name: &'static str,
    /// The result for 0.
    origin: (&'static str, f64),
    /// The result for 1.
    end: (&'static str, f64),
    /// Whether the end is told as a distance.
    relative: bool,
}

const NORMAL: Distribution = Distribution {
    name: "weftile.random_normal",
    origin: ("mean", 0.0),
    end: ("scale", 1.0),
    relative: true,
};

const UNIFORM: Distribution = Distribution {
    name: "weftile.random_uniform",
    origin: ("low", 0.0),
    end: ("high", 1.0),
    relative: false,
};

/// Numbers of a function of the host, in float32, or in float64 if that is the type.
fn numbers(
    c: &mut Call<'_, '_>,
    name: &str,
    dims: &[Size],
    dtype: DType,
    seed: Option<u64>,
) -> Result<(Var, DType), Fault> {
    let dtype = match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let bits = i64::from(dtype.scalar.bits());
    let seeded = i64::from(seed.is_some());
    let seed = seed.map_or(0, |seed| seed as i64);
    let mut args = vec![relax::shape(dims.to_vec())];
    args.extend([bits, seeded, seed].map(|number| Expr::from(Size::i64(number))));
    let result = StructInfo::tensor(dims.to_vec(), dtype);
    Ok((c.emit(relax::call_packed(name, args, result))?, dtype))
}

/// The bits of the attribute `seed`.
fn seed(c: &Call<'_, '_>) -> Result<Option<u64>, Fault> {
    Ok(c.attributes.any_float("seed")?.map(f64::to_bits))
}

/// Uniform numbers from 0 to below 1.
pub(super) fn uniform(
    c: &mut Call<'_, '_>,
    dims: &[Size],
    dtype: DType,
    seed: Option<u64>,
) -> Result<(Var, DType), Fault> {
    numbers(c, UNIFORM.name, dims, dtype, seed)
}

/// Numbers of the distribution, moved to where the attributes say.
fn moved(c: &mut Call<'_, '_>, from: Distribution, dims: &[Size], to: DType) -> Outputs {
    if !to.is_float() {
        return Err(Fault::ElementType(to.to_string()));
    }
    let origin = c.attributes.float_or(from.origin.0, from.origin.1)?;
    let end = c.attributes.float_or(from.end.0, from.end.1)?;
    let width = if from.relative { end } else { end - origin };
    let seed = seed(c)?;
    let (x, dtype) = numbers(c, from.name, dims, to, seed)?;
    let y = &x * number(width, dtype)? + number(origin, dtype)?;
    one(c.emit(in_type(y, dtype, to))?)
}

/// The element type that the attribute `dtype` names.
fn wanted_type(c: &Call<'_, '_>) -> Result<Option<DType>, Fault> {
    let code = c.attributes.int("dtype")?;
    let dtype = code.map(|code| tensor::dtype(i32::try_from(code).unwrap_or(0)));
    dtype.transpose().map_err(Fault::ElementType)
}

fn of_shape(c: &mut Call<'_, '_>, from: Distribution) -> Outputs {
    let shape = c.attributes.ints("shape")?;
    let shape = shape.ok_or_else(|| Fault::NoAttribute("shape".to_owned()))?;
    if shape.len() > MAX_RANK {
        return Err(Fault::Rank(shape.len()));
    }
    if shape.iter().any(|&extent| extent < 0) {
        return Err(Fault::Attribute {
            name: "shape".to_owned(),
            given: format!("{shape:?}"),
            expected: "extents of at least 0".to_owned(),
        });
    }
    let to = wanted_type(c)?.unwrap_or(DType::F32);
    let dims: Vec<Size> = shape.into_iter().map(Size::i64).collect();
    moved(c, from, &dims, to)
}

fn like(c: &mut Call<'_, '_>, from: Distribution) -> Outputs {
    let dims = c.dims(0)?;
    let to = match wanted_type(c)? {
        Some(to) => to,
        None => c.dtype(0)?,
    };
    moved(c, from, &dims, to)
}

/// 1 with the probability that the operand is.
fn bernoulli(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    let to = wanted_type(c)?.unwrap_or(dtype);
    let seed = seed(c)?;
    let (drawn, wide) = uniform(c, &dims, dtype, seed)?;
    let probability = in_type(c.x(0)?, dtype, wide);
    let hit = relax::op("less", [(&drawn).into(), probability]);
    one(c.emit(cast(hit, to))?)
}

/// Classes of a batch, each with the exponential of its number as its weight.
fn multinomial(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    let [batch, classes] = dims.as_slice() else {
        return Err(c.bad(0, shown(&dims), "a tensor of shape (batch, classes)"));
    };
    let count = c.attributes.int_or("sample_size", 1)?;
    if count < 0 {
        return Err(Fault::Attribute {
            name: "sample_size".to_owned(),
            given: count.to_string(),
            expected: "at least 0".to_owned(),
        });
    }
    let to = wanted_type(c)?.unwrap_or(DType::I32);
    let (seed, shape) = (seed(c)?, [batch.clone(), Size::i64(count)]);
    let (drawn, wide) = uniform(c, &shape, dtype, seed)?;
    let weights = in_type(c.x(0)?, dtype, wide);
    let last = attrs(&json!({"axis": -1}));
    let shares = relax::op_with("nn.softmax", [weights], last);
    let sums = c.op_with("cumsum", [shares], &json!({"axis": 1}))?;
    // The class is the number of those before it, whose shares together are not above what was drawn.
    let sums = c.reshaped(&sums, [batch.clone(), Size::i64(1), classes.clone()])?;
    let drawn = c.reshaped(&drawn, [batch.clone(), Size::i64(count), Size::i64(1)])?;
    let before = cast(relax::op("less_equal", [&sums, &drawn]), DType::I64);
    let class = relax::op_with("sum", [before], attrs(&json!({"axis": [2]})));
    // All shares together may be a little below 1.
    let greatest = relax::op("shape_to_tensor", [relax::shape([classes - 1i64])]);
    let class = relax::op("minimum", [class, greatest]);
    one(c.emit(cast(class, to))?)
}
