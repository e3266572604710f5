//! Functions that the host runs: those of tensors whose results have extents that depend on elements, so that nobody knows the size
//! of what they give before, and those that make random numbers.
//!
//! The names are those under which programs call them as packed functions (`relax.run.unique`, as in TVM).

use std::cmp::Ordering;

use super::scalar::{Scalar, decode};
use super::{DType, ScalarType, Tensor, TensorError};

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

    fn number(&self, index: usize) -> Result<i64, HostError> {
        let number = self.numbers.get(index).copied();
        number.ok_or(HostError::Arguments("another number"))
    }
}

fn element(x: &Tensor, at: usize) -> Scalar {
    let size = x.dtype().bytes();
    decode(&x.bytes()[at * size..(at + 1) * size], x.dtype().scalar)
}

fn integers(x: &Tensor) -> Result<Vec<i64>, HostError> {
    if !x.dtype().is_int() {
        return Err(HostError::Arguments("a tensor of integers"));
    }
    Ok((0..x.len()).map(|at| element(x, at).as_int()).collect())
}

fn int64s(shape: &[usize], values: &[i64]) -> Result<Tensor, HostError> {
    Ok(Tensor::from_slice(shape, values)?)
}

/// `[ndim, n]`: the indices of the elements that are not 0, in row-major order. A scalar counts as a vector.
fn nonzero(args: &HostArgs) -> Result<HostResult, HostError> {
    let x = args.tensor(0)?;
    let shape = if x.shape().is_empty() {
        vec![1]
    } else {
        x.shape().to_vec()
    };
    let found: Vec<usize> = (0..x.len())
        .filter(|&at| element(x, at).is_true())
        .collect();
    let mut indices = Vec::with_capacity(shape.len() * found.len());
    for axis in 0..shape.len() {
        let inner: usize = shape[axis + 1..].iter().product();
        let index = |at: &usize| (at / inner % shape[axis]) as i64;
        indices.extend(found.iter().map(index));
    }
    Ok(HostResult::Tensor(int64s(
        &[shape.len(), found.len()],
        &indices,
    )?))
}

/// A tensor as slices along an axis: `outer` blocks of `count` slices of `inner` elements.
struct Slices<'a> {
    x: &'a Tensor,
    axis: Option<usize>,
    outer: usize,
    count: usize,
    inner: usize,
}

impl<'a> Slices<'a> {
    fn of(x: &'a Tensor, axis: i64) -> Result<Self, HostError> {
        let shape = x.shape();
        if axis == NO_AXIS {
            return Ok(Self {
                x,
                axis: None,
                outer: 1,
                count: x.len(),
                inner: 1,
            });
        }
        let at = if axis < 0 {
            axis + shape.len() as i64
        } else {
            axis
        };
        let at = usize::try_from(at).ok().filter(|at| *at < shape.len());
        let at = at.ok_or(HostError::Value {
            what: "the axis",
            got: axis,
            expected: "a dimension of the tensor",
        })?;
        Ok(Self {
            x,
            axis: Some(at),
            outer: shape[..at].iter().product(),
            count: shape[at],
            inner: shape[at + 1..].iter().product(),
        })
    }

    /// Positions of the elements of a slice.
    fn positions(&self, slice: usize) -> impl Iterator<Item = usize> {
        let (inner, count) = (self.inner, self.count);
        (0..self.outer * inner).map(move |at| (at / inner * count + slice) * inner + at % inner)
    }

    /// Both slices in lexicographic order of their elements.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let scalar = self.x.dtype().scalar;
        let pairs = self.positions(a).zip(self.positions(b));
        let mut orders =
            pairs.map(|(a, b)| compare(element(self.x, a), element(self.x, b), scalar));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// These slices as a tensor.
    fn select(&self, slices: &[usize]) -> Result<Tensor, HostError> {
        let shape = match self.axis {
            None => vec![slices.len()],
            Some(axis) => {
                let mut shape = self.x.shape().to_vec();
                shape[axis] = slices.len();
                shape
            }
        };
        let size = self.x.dtype().bytes();
        let block = self.inner * size;
        let mut bytes = Vec::with_capacity(self.outer * slices.len() * block);
        for outer in 0..self.outer {
            for slice in slices {
                let start = (outer * self.count + slice) * block;
                bytes.extend_from_slice(&self.x.bytes()[start..start + block]);
            }
        }
        Ok(Tensor::from_bytes(self.x.dtype(), &shape, &bytes)?)
    }
}

/// NaN is greater than every number and equal to itself; both zeros are equal.
fn compare(a: Scalar, b: Scalar, ty: ScalarType) -> Ordering {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        },
        (a, b) if ty == ScalarType::U64 => (a.as_int() as u64).cmp(&(b.as_int() as u64)),
        (a, b) => a.as_int().cmp(&b.as_int()),
    }
}

/// The different slices along an axis (or elements), and as wanted the first position of each, for each slice which one it is,
/// and how often each occurs. Numbers: sorted, index, inverse, counts, and the axis if there is one.
fn unique(args: &HostArgs) -> Result<HostResult, HostError> {
    let axis = args.numbers.get(4).copied().unwrap_or(NO_AXIS);
    let slices = Slices::of(args.tensor(0)?, axis)?;
    let mut order: Vec<usize> = (0..slices.count).collect();
    order.sort_by(|&a, &b| slices.compare(a, b));
    // Equal slices are neighbours now, the first one in front.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for slice in order {
        match groups.last_mut() {
            Some(group) if slices.compare(group[0], slice).is_eq() => group.push(slice),
            _ => groups.push(vec![slice]),
        }
    }
    if args.number(0)? == 0 {
        groups.sort_by_key(|group| group[0]);
    }
    let firsts: Vec<usize> = groups.iter().map(|group| group[0]).collect();
    let mut results = vec![slices.select(&firsts)?];
    let count = groups.len();
    if args.number(1)? != 0 {
        let firsts: Vec<i64> = firsts.iter().map(|&at| at as i64).collect();
        results.push(int64s(&[count], &firsts)?);
    }
    if args.number(2)? != 0 {
        let mut inverse = vec![0; slices.count];
        for (which, group) in groups.iter().enumerate() {
            for &slice in group {
                inverse[slice] = which as i64;
            }
        }
        results.push(int64s(&[slices.count], &inverse)?);
    }
    if args.number(3)? != 0 {
        let counts: Vec<i64> = groups.iter().map(|group| group.len() as i64).collect();
        results.push(int64s(&[count], &counts)?);
    }
    Ok(match results.len() {
        1 => HostResult::Tensor(results.remove(0)),
        _ => HostResult::Tuple(results),
    })
}

/// The slices along an axis (or elements) whose condition is true. A short condition is false from its end on.
fn compress(args: &HostArgs) -> Result<HostResult, HostError> {
    let slices = Slices::of(args.tensor(0)?, args.number(0)?)?;
    let condition = args.tensor(1)?;
    let chosen = 0..slices.count.min(condition.len());
    let chosen: Vec<usize> = chosen
        .filter(|&at| element(condition, at).is_true())
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
