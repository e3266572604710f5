//! Expressions of the graph that several families need.

use serde_json::json;

use crate::frontend::onnx::call::{Call, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::{AttrValue, Attrs, Expr as Size};
use crate::relax::{self, Expr, Var};
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, Tensor};

/// Most elements of a constant that an operator becomes.
pub(super) const MOST_ELEMENTS: usize = 1 << 24;

/// The number of spatial dimensions of the first operand: those after batch and channels.
pub(super) fn spatial_dims(c: &Call<'_, '_>) -> Result<usize, Fault> {
    let dims = c.dims(0)?;
    let spatial = dims.len().saturating_sub(2);
    match spatial {
        1..=3 => Ok(spatial),
        _ => Err(c.bad(
            0,
            shown(&dims),
            "a tensor with one to three spatial dimensions",
        )),
    }
}

/// Zeros of this shape and type.
pub(super) fn zeros(dims: impl IntoIterator<Item = Size>, dtype: DType) -> Expr {
    let mut attributes = Attrs::new();
    attributes.insert("dtype".to_owned(), AttrValue::DType(dtype));
    relax::op_with("zeros", [relax::shape(dims)], attributes)
}

/// The elements of an axis from `begin` to before `end`; numbers below 0 count from the end.
pub(super) fn part(
    c: &mut Call<'_, '_>,
    x: &Var,
    axis: usize,
    begin: i64,
    end: i64,
) -> Result<Var, Fault> {
    let args = [
        x.into(),
        relax::shape([axis as i64]),
        relax::shape([begin]),
        relax::shape([end]),
    ];
    c.op("strided_slice", args)
}

/// The elements of an axis from `begin` to before `end`, both within its extent.
pub(super) fn part_between(
    c: &mut Call<'_, '_>,
    x: &Var,
    axis: usize,
    begin: &Size,
    end: &Size,
) -> Result<Var, Fault> {
    let args = [
        x.into(),
        relax::shape([axis as i64]),
        relax::shape([begin.clone()]),
        relax::shape([end.clone()]),
    ];
    c.op_with("strided_slice", args, &json!({"assume_inbound": true}))
}

/// A constant of floats, rounded to the type.
pub(super) fn floats(
    dtype: DType,
    shape: &[usize],
    values: impl IntoIterator<Item = f64>,
) -> Result<Tensor, Fault> {
    let make = || {
        let mut tensor = Tensor::zeros(dtype, shape)?;
        let elements = tensor.bytes_mut()?.chunks_exact_mut(dtype.bytes());
        for (element, value) in elements.zip(values) {
            encode(Scalar::Float(value), dtype.scalar, element);
        }
        Ok(tensor)
    };
    let made: Result<Tensor, crate::tensor::TensorError> = make();
    Ok(made.map_err(relax::BuildError::from)?)
}

/// The number of elements of a tensor of these extents.
pub(super) fn volume<'d>(dims: impl IntoIterator<Item = &'d Size>) -> Size {
    let dims = dims.into_iter();
    dims.fold(Size::i64(1), |volume, dim| volume * dim)
}

/// The extents of a value of the graph.
pub(super) fn dims_of(c: &Call<'_, '_>, x: &Var) -> Result<Vec<Size>, Fault> {
    let dims = x.sinfo().as_tensor().and_then(|info| info.shape.dims());
    let dims = dims.map(<[Size]>::to_vec);
    dims.ok_or_else(|| c.bad(0, x.sinfo(), "a tensor of known shape"))
}
