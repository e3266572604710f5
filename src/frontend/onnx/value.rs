//! Values between nodes: what a graph computes, what the model holds, and small tensors of sizes, which are computed while the
//! model is imported.

use super::packed::Packed;
use crate::arith::Analyzer;
use crate::ir::{Expr, ExprKind};
use crate::relax::Var;
use crate::tensor::scalar::{BinOp, Scalar, decode, encode};
use crate::tensor::{DType, Tensor, TensorError};

/// A value of the model.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// What the graph computes, or gets.
    Var(Var),
    /// What the model holds.
    Const(Tensor),
    /// What the model holds in four bits a number.
    Packed(Packed),
    /// A few numbers, known as expressions of symbolic extents.
    Known(Known),
    /// A list of values (`Sequence`), known element for element.
    List(Vec<Value>),
    /// A list of tensors of one shape, as the rows of a tensor: the graph computes how many there are.
    Rows(Var),
    /// Nothing: an operand that is left out, or an optional value that is not there.
    Absent,
    /// What a node that cannot be imported would have made.
    Missing,
}

/// Most elements of a tensor that is computed while the model is imported.
pub(super) const MOST_KNOWN: usize = 1024;

/// A small tensor of which every element is known: a number, or an expression of symbolic extents.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    /// In row-major order.
    pub(super) elements: Vec<Expr>,
}

impl Known {
    /// A vector of int64.
    pub(super) fn vector(elements: Vec<Expr>) -> Self {
        Self {
            dtype: DType::I64,
            shape: vec![elements.len()],
            elements,
        }
    }

    /// One number without dimensions.
    pub(super) fn scalar(value: Expr) -> Self {
        Self {
            dtype: value.dtype(),
            shape: vec![],
            elements: vec![value],
        }
    }

    /// The elements of a small tensor of integers, bool or floats.
    pub(super) fn of(tensor: &Tensor) -> Option<Self> {
        let dtype = tensor.dtype();
        let plain = dtype.is_int() || dtype.is_bool() || dtype.is_float();
        if tensor.len() > MOST_KNOWN || !plain {
            return None;
        }
        let elements = tensor.bytes().chunks_exact(dtype.bytes());
        let elements = elements.map(|bytes| Expr::scalar(decode(bytes, dtype.scalar), dtype));
        Some(Self {
            dtype,
            shape: tensor.shape().to_vec(),
            elements: elements.collect(),
        })
    }

    /// The tensor, if every element is a number.
    pub(super) fn tensor(&self) -> Option<Result<Tensor, TensorError>> {
        let numbers: Option<Vec<Scalar>> = self.elements.iter().map(number).collect();
        let numbers = numbers?;
        let write = || {
            let mut tensor = Tensor::zeros(self.dtype, &self.shape)?;
            let bytes = tensor.bytes_mut()?.chunks_exact_mut(self.dtype.bytes());
            for (bytes, value) in bytes.zip(numbers) {
                encode(value, self.dtype.scalar, bytes);
            }
            Ok(tensor)
        };
        Some(write())
    }

    /// The elements as sizes, in int64; `None` if one is a float that is no size.
    pub(super) fn sizes(&self) -> Option<Vec<Expr>> {
        let size = |e: &Expr| match self.dtype.is_float() {
            true => Fraction::of(e)?.whole(),
            false => Some(e.cast(DType::I64)),
        };
        self.elements.iter().map(size).collect()
    }

    /// The elements as numbers, if all are.
    pub(super) fn ints(&self) -> Option<Vec<i64>> {
        self.elements.iter().map(Expr::as_int).collect()
    }

    /// The elements as floats, if all are numbers.
    pub(super) fn floats(&self) -> Option<Vec<f64>> {
        let float = |e: &Expr| e.as_float().or_else(|| e.as_int().map(|v| v as f64));
        self.elements.iter().map(float).collect()
    }

    /// A tensor of these elements, each simplified; `None` if there are too many, or a float are neither numbers
    /// nor all [`Fraction`]s of sizes.
    pub(super) fn new(shape: Vec<usize>, elements: Vec<Expr>, arith: &Analyzer) -> Option<Self> {
        debug_assert_eq!(shape.iter().product::<usize>(), elements.len());
        let small = |e: &Expr| fits(e, &mut { MOST_NODES });
        if elements.len() > MOST_KNOWN || !elements.iter().all(small) {
            return None;
        }
        let dtype = elements.first().map_or(DType::I64, Expr::dtype);
        let elements: Vec<Expr> = elements.iter().map(|e| arith.simplify(e)).collect();
        let of_sizes = |e: &Expr| e.free_vars().iter().all(|v| v.dtype().is_int()) && !e.is_data();
        let exact = match dtype.is_float() {
            true => {
                elements.iter().all(|e| e.as_float().is_some())
                    || elements.iter().all(|e| Fraction::of(e).is_some())
            }
            false => elements.iter().all(of_sizes),
        };
        exact.then_some(Self {
            dtype,
            shape,
            elements,
        })
    }
}

/// Most nodes of an expression of sizes, those that are shared counted each time.
const MOST_NODES: usize = 500;

/// Whether an expression has no more nodes than are left.
fn fits(e: &Expr, left: &mut usize) -> bool {
    *left > 0 && {
        *left -= 1;
        e.children().into_iter().all(|child| fits(child, left))
    }
}

/// A float that is a size divided by a number: what sizes become where a model scales them.
pub(super) struct Fraction {
    /// In int64.
    pub(super) top: Expr,
    /// At least 1.
    pub(super) bottom: i64,
}

/// Largest number that sizes are multiplied or divided by: products with sizes are exact in float32 then.
const MOST_SCALE: i64 = 1 << 12;

impl Fraction {
    pub(super) fn new(top: Expr, bottom: i64) -> Self {
        Self { top, bottom }
    }

    /// The fraction that an expression is.
    pub(super) fn of(e: &Expr) -> Option<Self> {
        match e.kind() {
            ExprKind::Float(v) => Self::of_number(*v),
            ExprKind::Cast(inner) if inner.dtype().is_int() => {
                Some(Self::new(inner.cast(DType::I64), 1))
            }
            ExprKind::Binary(BinOp::Div, top, bottom) => {
                let (top, bottom) = (Self::of(top)?.whole()?, Self::of(bottom)?.whole()?);
                let bottom = bottom.as_int().filter(|&bottom| bottom > 0)?;
                Some(Self::new(top, bottom))
            }
            _ => None,
        }
    }

    /// A number of few binary digits.
    fn of_number(v: f64) -> Option<Self> {
        let (mut top, mut bottom) = (v, 1);
        while top.fract() != 0.0 && bottom < MOST_SCALE {
            top *= 2.0;
            bottom *= 2;
        }
        let most = match bottom {
            1 => f64::from(1 << 24),
            _ => MOST_SCALE as f64,
        };
        let exact = top.fract() == 0.0 && top.abs() < most;
        exact.then(|| Self::new(Expr::i64(top as i64), bottom))
    }

    /// The size, if nothing divides it.
    pub(super) fn whole(&self) -> Option<Expr> {
        (self.bottom == 1).then(|| self.top.clone())
    }

    /// The float; `None` if the number below is too large.
    pub(super) fn expr(self, dtype: DType) -> Option<Expr> {
        let top = self.top.cast(dtype);
        match self.bottom {
            1 => Some(top),
            bottom if bottom <= MOST_SCALE => Some(top / Expr::float(bottom as f64, dtype)),
            _ => None,
        }
    }
}

fn number(e: &Expr) -> Option<Scalar> {
    match e.kind() {
        ExprKind::Int(v) => Some(Scalar::Int(*v)),
        ExprKind::Float(v) => Some(Scalar::Float(*v)),
        _ => None,
    }
}
