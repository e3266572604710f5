//! Whether two loop programs with the same parameters compute the same: the oracle's answer for one seeded input.

use std::collections::HashMap;

use super::{InterpError, run_prim_func_with};
use crate::ir::{Expr, ExprKind, IterKind, Param, PrimFunc, Var};
use crate::support::tolerance::{Difference, Tolerance, compare};
use crate::tensor::scalar::{Scalar, encode, eval_binary};
use crate::tensor::{DType, ScalarType, Tensor};

/// Why two programs are not known to compute the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A shape is no arithmetic of dimensions.
    #[error("the shape of `{buffer}` is not known")]
    UnknownShape {
        /// The parameter.
        buffer: String,
    },
    /// The first program cannot run.
    #[error("the first program fails")]
    First(#[source] InterpError),
    /// The second program cannot run.
    #[error("the second program fails: {0}")]
    Second(InterpError),
    /// A parameter holds something else in the end.
    #[error("`{buffer}` differs: {difference}")]
    Result {
        /// The parameter.
        buffer: String,
        /// How.
        difference: Difference,
    },
}

/// Runs both programs on the same inputs, made from the seed, and compares all parameters afterwards, as closely as the element
/// types and the longest reduction allow.
///
/// # Errors
/// [`Mismatch`] if they differ or one cannot run.
pub fn same_results(first: &PrimFunc, second: &PrimFunc, seed: u64) -> Result<(), Mismatch> {
    let mut random = Random(seed | 1);
    let sizes = choose_sizes(first, &mut random);
    let inputs = make_inputs(first, &sizes, &mut random)?;
    let (mut want, mut have) = (deep_copy(&inputs), deep_copy(&inputs));
    let scalars = scalars_of(first, &sizes);
    run_prim_func_with(first, &mut want, &scalars).map_err(Mismatch::First)?;
    run_prim_func_with(second, &mut have, &scalars).map_err(Mismatch::Second)?;
    let terms = longest_reduction(first, &sizes);
    for ((buffer, want), have) in first.buffer_params().zip(&want).zip(&have) {
        let tolerance = Tolerance::of(buffer.dtype().scalar, terms);
        compare(want, have, tolerance).map_err(|difference| Mismatch::Result {
            buffer: buffer.name().to_owned(),
            difference,
        })?;
    }
    Ok(())
}

/// A small generator of pseudo-random numbers (xorshift), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

fn choose_sizes(func: &PrimFunc, random: &mut Random) -> HashMap<Var, i64> {
    let mut sizes = HashMap::new();
    let shapes = func.buffer_params().flat_map(|buffer| buffer.shape());
    for var in shapes.flat_map(Expr::free_vars) {
        sizes
            .entry(var)
            .or_insert_with(|| 5 + random.below(14) as i64);
    }
    sizes
}

fn evaluate(e: &Expr, sizes: &HashMap<Var, i64>) -> Option<i64> {
    match e.kind() {
        ExprKind::Int(v) => Some(*v),
        ExprKind::Var(v) => sizes.get(v).copied(),
        ExprKind::Cast(a) => evaluate(a, sizes),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (evaluate(a, sizes)?, evaluate(b, sizes)?);
            let value = eval_binary(*op, ScalarType::I64, Scalar::Int(a), Scalar::Int(b));
            value.ok().map(Scalar::as_int)
        }
        _ => None,
    }
}

fn make_inputs(
    func: &PrimFunc,
    sizes: &HashMap<Var, i64>,
    random: &mut Random,
) -> Result<Vec<Tensor>, Mismatch> {
    let make = |buffer: &crate::ir::Buffer| {
        let extent = |e: &Expr| usize::try_from(evaluate(e, sizes)?).ok();
        let shape: Option<Vec<usize>> = buffer.shape().iter().map(extent).collect();
        shape
            .and_then(|shape| fill(buffer.dtype(), &shape, random))
            .ok_or_else(|| Mismatch::UnknownShape {
                buffer: buffer.name().to_owned(),
            })
    };
    func.buffer_params().map(make).collect()
}

/// Floats between -1 and 1, integers from 0 to 7, which are valid indices in most programs.
fn fill(dtype: DType, shape: &[usize], random: &mut Random) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    let mut bytes = Vec::with_capacity(count * dtype.bytes());
    for _ in 0..count {
        let value = random.below(2001) as f64 / 1000.0 - 1.0;
        let small = random.below(8);
        match dtype.scalar {
            ScalarType::F64 => bytes.extend(value.to_le_bytes()),
            ScalarType::F32 => bytes.extend((value as f32).to_le_bytes()),
            ScalarType::F16 => bytes.extend(half::f16::from_f64(value).to_le_bytes()),
            ScalarType::BF16 => bytes.extend(half::bf16::from_f64(value).to_le_bytes()),
            ScalarType::Bool => bytes.push((small & 1) as u8),
            ScalarType::I8 | ScalarType::U8 => bytes.push(small as u8),
            ScalarType::I16 | ScalarType::U16 => bytes.extend((small as u16).to_le_bytes()),
            ScalarType::I32 | ScalarType::U32 => bytes.extend((small as u32).to_le_bytes()),
            ScalarType::I64 | ScalarType::U64 => bytes.extend(small.to_le_bytes()),
            ty @ ScalarType::Small(_) => {
                let element = if ty.is_float() {
                    Scalar::Float(value)
                } else {
                    Scalar::Int(small as i64)
                };
                let mut byte = [0];
                encode(element, ty, &mut byte);
                bytes.extend(byte);
            }
        }
    }
    Tensor::from_bytes(dtype, shape, &bytes).ok()
}

fn deep_copy(tensors: &[Tensor]) -> Vec<Tensor> {
    let copy = |t: &Tensor| {
        Tensor::from_bytes(t.dtype(), t.shape(), t.bytes())
            .expect("the bytes of a tensor fit its shape")
    };
    tensors.iter().map(copy).collect()
}

fn scalars_of(func: &PrimFunc, sizes: &HashMap<Var, i64>) -> Vec<Scalar> {
    let value = |param: &Param| match param {
        Param::Scalar(var) => Some(Scalar::Int(sizes.get(var).copied().unwrap_or(3))),
        Param::Buffer {
            handle: _,
            buffer: _,
        } => None,
    };
    func.params.iter().filter_map(value).collect()
}

/// The most instances that a block combines into one element.
fn longest_reduction(func: &PrimFunc, sizes: &HashMap<Var, i64>) -> usize {
    let length = |block: &crate::ir::Block| {
        let reduced = block.iters.iter().filter(|i| i.kind == IterKind::Reduce);
        let extent = |e: &Expr| evaluate(e, sizes).and_then(|v| usize::try_from(v).ok());
        reduced
            .map(|i| extent(&i.dom.extent).unwrap_or(64))
            .product::<usize>()
    };
    func.blocks
        .iter()
        .map(|(_, b)| length(b))
        .max()
        .unwrap_or(1)
}
