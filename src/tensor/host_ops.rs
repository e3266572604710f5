//! Functions that the host runs: those of tensors whose results have extents that depend on elements, so that nobody knows the size
//! of what they give before, and those that make random numbers.
//!
//! The names are those under which programs call them as packed functions (`relax.run.unique`, as in TVM).

use super::nonzero::{nonzero, truths};
use super::scalar::{Scalar, decode};
use super::slices::Slices;
use super::unique::unique;
use super::{DType, Tensor, TensorError};

/// What a function of the host takes: tensors, and numbers after them. A shape is its extents.
#[derive(Clone, Debug, Default)]
pub struct HostArgs {
    /// The tensors, in order.
    pub tensors: Vec<Tensor>,
    /// The numbers, in order.
    pub numbers: Vec<i64>,
    /// The texts, in order.
    pub texts: Vec<String>,
}

/// What a function of the host gives.
#[derive(Clone, Debug)]
pub enum HostResult {
    /// One tensor.
    Tensor(Tensor),
    /// Several tensors.
    Tuple(Vec<Tensor>),
    /// A shape.
    Shape(Vec<i64>),
}

/// Why a function of the host failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// Fewer or other arguments than the function takes.
    #[error("expected {0}")]
    Arguments(&'static str),
    /// A number or an element that makes no sense there.
    #[error("{what} is {got}, expected {expected}")]
    Value {
        /// Which one.
        what: &'static str,
        /// What it is.
        got: i64,
        /// What it may be.
        expected: &'static str,
    },
    /// The condition of `R.assert_op` is false.
    #[error("assertion failed: {message}")]
    Assertion {
        /// What the program says of it.
        message: String,
    },
    /// A tensor that cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

/// A function of the host.
pub type HostOp = fn(&HostArgs) -> Result<HostResult, HostError>;

/// The functions by name.
pub const HOST_OPS: &[(&str, HostOp)] = &[
    ("relax.run.assert_op", super::message::assert),
    ("relax.run.compress", compress),
    ("relax.run.dynamic_strided_slice", strided_slice),
    (
        "relax.run.non_max_suppression",
        super::non_max_suppression::non_max_suppression,
    ),
    ("relax.run.nonzero", nonzero),
    ("relax.run.print", super::message::print),
    ("relax.run.shape_to_tensor", shape_to_tensor),
    ("relax.run.unique", unique),
    ("vm.builtin.tensor_to_shape", tensor_to_shape),
    (PACK_MEMORY, super::pack::pack_memory),
    ("weftile.random_normal", super::random::normal),
    ("weftile.random_uniform", super::random::uniform),
];

/// The function by which a program packs its tensors ([`super::pack`]).
pub const PACK_MEMORY: &str = "weftile.pack_memory";

/// The function with this name.
pub fn host_op(name: &str) -> Option<HostOp> {
    let found = HOST_OPS.iter().find(|(known, _)| *known == name);
    found.map(|(_, op)| *op)
}

/// No axis: the tensor in row-major order.
pub const NO_AXIS: i64 = i64::MIN;

impl HostArgs {
    pub(super) fn tensor(&self, index: usize) -> Result<&Tensor, HostError> {
        let tensor = self.tensors.get(index);
        tensor.ok_or(HostError::Arguments("another tensor"))
    }

    pub(super) fn number(&self, index: usize) -> Result<i64, HostError> {
        let number = self.numbers.get(index).copied();
        number.ok_or(HostError::Arguments("another number"))
    }
}

pub(super) fn element(x: &Tensor, at: usize) -> Scalar {
    let size = x.dtype().bytes();
    decode(&x.bytes()[at * size..(at + 1) * size], x.dtype().scalar)
}

fn integers(x: &Tensor) -> Result<Vec<i64>, HostError> {
    if !x.dtype().is_int() {
        return Err(HostError::Arguments("a tensor of integers"));
    }
    Ok((0..x.len()).map(|at| element(x, at).as_int()).collect())
}

pub(super) fn int64s(shape: &[usize], values: &[i64]) -> Result<Tensor, HostError> {
    Ok(Tensor::from_slice(shape, values)?)
}

/// The slices along an axis (or elements) whose condition is true. A short condition is false from its end on.
fn compress(args: &HostArgs) -> Result<HostResult, HostError> {
    let slices = Slices::of(args.tensor(0)?, args.number(0)?)?;
    let condition = args.tensor(1)?;
    let chosen = truths(condition).into_iter().take(slices.count);
    let chosen: Vec<usize> = chosen
        .enumerate()
        .filter_map(|(at, is_true)| is_true.then_some(at))
        .collect();
    Ok(HostResult::Tensor(slices.select(&chosen)?))
}

/// From begin to before end in steps, a number for each dimension; numbers below 0 count from the end.
fn strided_slice(args: &HostArgs) -> Result<HostResult, HostError> {
    let numbers = |index| integers(args.tensor(index)?);
    let (begin, end, strides) = (numbers(1)?, numbers(2)?, numbers(3)?);
    let mut x = args.tensor(0)?.clone();
    if [&begin, &end, &strides]
        .iter()
        .any(|list| list.len() != x.shape().len())
    {
        return Err(HostError::Arguments("a number for each dimension"));
    }
    for axis in 0..begin.len() {
        let extent = x.shape()[axis] as i64;
        let step = strides[axis];
        let (low, high) = if step > 0 {
            (0, extent)
        } else {
            (-1, extent - 1)
        };
        let place = |at: i64| {
            let at = if at < 0 {
                at.saturating_add(extent)
            } else {
                at
            };
            at.clamp(low, high)
        };
        let (from, to) = (place(begin[axis]), place(end[axis]));
        let chosen: Vec<usize> = match step {
            0 => {
                return Err(HostError::Value {
                    what: "a stride",
                    got: 0,
                    expected: "another number",
                });
            }
            1.. => (from..to).step_by(usize::try_from(step).unwrap_or(usize::MAX)),
            _ => (to + 1..from + 1).step_by(1),
        }
        .map(|at| at as usize)
        .collect();
        let chosen: Vec<usize> = match step {
            1.. => chosen,
            _ => {
                let step = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
                chosen.into_iter().rev().step_by(step).collect()
            }
        };
        x = Slices::of(&x, axis as i64)?.select(&chosen)?;
    }
    Ok(HostResult::Tensor(x))
}

fn shape_to_tensor(args: &HostArgs) -> Result<HostResult, HostError> {
    let shape = &args.numbers;
    Ok(HostResult::Tensor(int64s(&[shape.len()], shape)?))
}

fn tensor_to_shape(args: &HostArgs) -> Result<HostResult, HostError> {
    let x = args.tensor(0)?;
    if x.dtype() != DType::I64 || x.shape().len() != 1 {
        return Err(HostError::Arguments("a vector of int64"));
    }
    Ok(HostResult::Shape(integers(x)?))
}
