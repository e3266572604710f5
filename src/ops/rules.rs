//! Types of results that many operators share.
//!
//! Where a symbolic extent cannot be decided the result says less (`ndim` instead of a shape); only what is wrong for every
//! value of the variables is an error.

use crate::arith::Analyzer;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::DType;

/// What inference gives.
pub(crate) type Inferred = Result<StructInfo, InferError>;

/// Nothing is known.
pub(crate) fn object(_: &OpCall<'_>) -> Inferred {
    Ok(StructInfo::Object)
}

/// Nothing is returned.
pub(crate) fn unit(_: &OpCall<'_>) -> Inferred {
    Ok(StructInfo::Tuple(vec![]))
}

/// A tensor with this shape and element type on the device of `like`.
pub(crate) fn tensor_like(like: &TensorInfo, shape: ShapeInfo, dtype: Option<DType>) -> StructInfo {
    StructInfo::Tensor(TensorInfo {
        shape,
        dtype,
        vdevice: like.vdevice.clone(),
    })
}

/// The same as the first operand, whatever it is.
pub(crate) fn identity(c: &OpCall<'_>) -> Inferred {
    Ok(c.operands[0].clone())
}

/// Checks that the element type of operand `index` is one that the operator takes.
///
/// # Errors
/// If it is known and is not.
pub(crate) fn check_dtype(c: &OpCall<'_>, index: usize) -> Result<(), InferError> {
    let Some(dtype) = c.tensor(index)?.and_then(|info| info.dtype) else {
        return Ok(());
    };
    let dtypes = super::def(c.op).dtypes;
    if dtypes.contains(dtype) {
        Ok(())
    } else {
        Err(c.bad_operand(index, dtypes.expected()))
    }
}

/// The same as the first operand, a tensor of the element types that the operator takes.
pub(crate) fn same(c: &OpCall<'_>) -> Inferred {
    check_dtype(c, 0)?;
    identity(c)
}

/// The shape of the first operand with elements of type `bool`.
pub(crate) fn predicate(c: &OpCall<'_>) -> Inferred {
    check_dtype(c, 0)?;
    Ok(match c.tensor(0)? {
        Some(info) => tensor_like(info, info.shape.clone(), Some(DType::BOOL)),
        None => StructInfo::Object,
    })
}

/// The shape and the element type that the operands from `first` on have in common after broadcasting. Scalars
/// (`R.prim_value`) count as tensors without dimensions.
pub(crate) fn broadcast_from(c: &OpCall<'_>, first: usize) -> Inferred {
    let mut shape = ShapeInfo::Known(vec![]);
    let mut dtype: Option<DType> = None;
    let mut vdevice = None;
    for (index, operand) in c.operands.iter().enumerate() {
        let (given, given_dtype) = match operand {
            StructInfo::Prim { dtype, value: _ } => (&ShapeInfo::Known(vec![]), Some(*dtype)),
            _ => match c.tensor(index)? {
                Some(info) => {
                    vdevice = vdevice.or_else(|| info.vdevice.clone());
                    (&info.shape, info.dtype)
                }
                None => return Ok(StructInfo::Object),
            },
        };
        shape = broadcast_shapes(c, &shape, given)?;
        if index < first {
            continue;
        }
        equal_types(c, dtype, given_dtype)?;
        dtype = dtype.or(given_dtype);
    }
    Ok(StructInfo::Tensor(TensorInfo {
        shape,
        dtype,
        vdevice,
    }))
}

/// Broadcast of all operands, in the element type that they share.
pub(crate) fn broadcast(c: &OpCall<'_>) -> Inferred {
    if c.operands[0].as_tensor().is_some() {
        check_dtype(c, 0)?;
    }
    broadcast_from(c, 0)
}

/// Broadcast of all operands, as `bool`.
pub(crate) fn compare(c: &OpCall<'_>) -> Inferred {
    Ok(match broadcast(c)? {
        StructInfo::Tensor(info) => StructInfo::Tensor(TensorInfo {
            dtype: Some(DType::BOOL),
            ..info
        }),
        other => other,
    })
}

/// What the obligations of a broadcast are about.
const BROADCAST: &str = "extents that broadcast";

/// The shape that two shapes broadcast to. Only an extent that is written as 1 broadcasts. Of two others, the call is obliged to
/// be given equal ones; the result has the constant, if one of them is a constant.
///
/// # Errors
/// If they do not for any values of the variables.
pub(crate) fn broadcast_shapes(
    c: &OpCall<'_>,
    a: &ShapeInfo,
    b: &ShapeInfo,
) -> Result<ShapeInfo, InferError> {
    let (Some(n), Some(m)) = (a.ndim(), b.ndim()) else {
        return Ok(ShapeInfo::Unknown);
    };
    let ndim = n.max(m);
    let (Some(a), Some(b)) = (a.dims(), b.dims()) else {
        return Ok(ShapeInfo::Ndim(ndim));
    };
    let at = |dims: &[Expr], axis: usize| {
        let index = (axis + dims.len()).checked_sub(ndim)?;
        Some(dims[index].clone())
    };
    let mut out = Vec::with_capacity(ndim);
    for axis in 0..ndim {
        let dim = match (at(a, axis), at(b, axis)) {
            (Some(d), None) | (None, Some(d)) => d,
            (Some(lhs), Some(rhs)) if lhs.is_one() => rhs,
            (Some(lhs), Some(rhs)) if rhs.is_one() => lhs,
            (Some(lhs), Some(rhs)) => match c.compare(BROADCAST, &rhs, &lhs) {
                Proof::No => {
                    return Err(InferError::Broadcast {
                        op: c.op.name().to_owned(),
                        axis,
                        lhs,
                        rhs,
                    });
                }
                Proof::Unknown if rhs.as_int().is_some() => rhs,
                Proof::Yes | Proof::Unknown => lhs,
            },
            (None, None) => unreachable!("the larger shape has every axis"),
        };
        out.push(dim);
    }
    Ok(ShapeInfo::Known(out))
}

/// Checks that two extents may be equal; the call is obliged to it where the values of variables decide.
///
/// # Errors
/// If they are not for any values of the variables; `what` says which extents they are.
pub(crate) fn equal_extents(
    c: &OpCall<'_>,
    what: &'static str,
    lhs: &Expr,
    rhs: &Expr,
) -> Result<(), InferError> {
    if c.compare(what, lhs, rhs) == Proof::No {
        return Err(InferError::Extents {
            op: c.op.name().to_owned(),
            what,
            lhs: lhs.clone(),
            rhs: rhs.clone(),
        });
    }
    Ok(())
}

/// Whether an extent is a multiple of another one, with an obligation like [`equal_extents`].
pub(crate) fn multiple_of(
    c: &OpCall<'_>,
    what: &'static str,
    extent: &Expr,
    factor: &Expr,
) -> Proof {
    if compare_dims(extent, factor) == Proof::Yes {
        return Proof::Yes;
    }
    let rest = simple(&extent.floor_mod(factor));
    c.compare(what, &rest, &Expr::i64(0))
}

/// Whether an extent is at least this number, with an obligation like [`equal_extents`].
pub(crate) fn at_least(c: &OpCall<'_>, what: &'static str, extent: &Expr, least: i64) -> Proof {
    let least = Expr::i64(least);
    let lower = extent.min(&least);
    match compare_dims(&simple(&lower), &least) {
        // The obligation names the extent as it is written.
        Proof::Unknown => c.compare(what, &lower, &least),
        known => known,
    }
}

/// Checks that an extent of the result is at least 0, with an obligation like [`equal_extents`].
///
/// # Errors
/// If it is less for all values of the variables.
pub(crate) fn not_negative(c: &OpCall<'_>, extent: &Expr) -> Result<(), InferError> {
    match at_least(c, "an extent of at least 0", extent, 0) {
        Proof::No => Err(InferError::NegativeExtent {
            op: c.op.name().to_owned(),
            extent: extent.clone(),
        }),
        Proof::Yes | Proof::Unknown => Ok(()),
    }
}

/// Checks that an extent is at most another one, with an obligation like [`equal_extents`].
///
/// # Errors
/// If it is larger for all values of the variables.
pub(crate) fn at_most(
    c: &OpCall<'_>,
    what: &'static str,
    extent: &Expr,
    limit: &Expr,
) -> Result<(), InferError> {
    let limit = simple(&extent.min(limit));
    equal_extents(c, what, extent, &limit)
}

/// Checks that indices lie within the data in all dimensions but the axis, in which they are positions.
///
/// # Errors
/// If they do not for all values of the variables.
pub(crate) fn indices_within(
    c: &OpCall<'_>,
    indices: &[Expr],
    data: &[Expr],
    axis: usize,
) -> Result<(), InferError> {
    let pairs = indices.iter().zip(data).enumerate();
    for (_, (index, extent)) in pairs.filter(|(at, _)| *at != axis) {
        at_most(
            c,
            "an extent of the indices, at most that of the data",
            index,
            extent,
        )?;
    }
    Ok(())
}

/// Checks that two element types, where both are known, are the same.
///
/// # Errors
/// If they are not.
pub(crate) fn equal_types(
    c: &OpCall<'_>,
    lhs: Option<DType>,
    rhs: Option<DType>,
) -> Result<(), InferError> {
    match (lhs, rhs) {
        (Some(lhs), Some(rhs)) if lhs != rhs => Err(InferError::ElementTypes {
            op: c.op.name().to_owned(),
            lhs,
            rhs,
        }),
        _ => Ok(()),
    }
}

/// The extents of a tensor operand of `ndim` dimensions; `None` if they are not known.
///
/// # Errors
/// If it has another number of dimensions.
pub(crate) fn dims_of<'a>(
    c: &OpCall<'a>,
    index: usize,
    ndim: usize,
    expected: &'static str,
) -> Result<Option<&'a [Expr]>, InferError> {
    let Some(info) = c.tensor(index)? else {
        return Ok(None);
    };
    match info.shape.ndim() {
        Some(n) if n != ndim => Err(c.bad_operand(index, expected)),
        _ => Ok(info.shape.dims()),
    }
}

/// The scalar in operand `index`, or `default` where the call does not give it.
///
/// # Errors
/// If nothing is known of its value.
pub(crate) fn scalar_or(c: &OpCall<'_>, index: usize, default: i64) -> Result<Expr, InferError> {
    if !c.has(index) {
        return Ok(Expr::i64(default));
    }
    let value = c.scalar(index);
    value.ok_or_else(|| c.bad_operand(index, "a scalar whose value is known"))
}

/// The position that the attribute gives among `ndim` dimensions.
///
/// # Errors
/// If the attribute is absent, or there is no such dimension.
pub(crate) fn axis_of(
    c: &OpCall<'_>,
    name: &'static str,
    ndim: usize,
) -> Result<usize, InferError> {
    let axis = c
        .int(name)?
        .ok_or_else(|| c.bad_attribute(name, "an axis"))?;
    c.axis(axis, ndim)
}

/// The shape of the first operand in the element type of the attribute `dtype`, or of the operand.
pub(crate) fn like_first(c: &OpCall<'_>) -> Inferred {
    Ok(match c.tensor(0)? {
        Some(info) => tensor_like(info, info.shape.clone(), c.dtype("dtype")?.or(info.dtype)),
        None => StructInfo::Object,
    })
}

/// Checks that operand `index` has integer elements.
///
/// # Errors
/// If its element type is known and is none.
pub(crate) fn check_indices(c: &OpCall<'_>, index: usize) -> Result<(), InferError> {
    let dtype = match &c.operands[index] {
        StructInfo::Prim { dtype, value: _ } => Some(*dtype),
        _ => c.tensor(index)?.and_then(|info| info.dtype),
    };
    match dtype {
        Some(dtype) if !dtype.is_int() => Err(c.bad_operand(index, "a tensor of integers")),
        _ => Ok(()),
    }
}

/// An extent written as simply as it is when symbolic extents are at least 0.
pub(crate) fn simple(extent: &Expr) -> Expr {
    let mut analyzer = Analyzer::new();
    for var in extent.free_vars() {
        analyzer.bind_shape_var(&var);
    }
    analyzer.simplify(&extent.cast(DType::I64))
}

/// Checks that the operands at these places have the element type of the first one.
///
/// # Errors
/// If one is known to have another.
pub(crate) fn same_dtypes(
    c: &OpCall<'_>,
    others: impl IntoIterator<Item = usize>,
) -> Result<(), InferError> {
    let dtype = |index| Ok(c.tensor(index)?.and_then(|info| info.dtype));
    let first = dtype(0)?;
    for index in others {
        equal_types(c, first, dtype(index)?)?;
    }
    Ok(())
}

/// The extents of an operand with a batch, channels and so many spatial dimensions; `None` if they are not known.
///
/// # Errors
/// If it has another number of dimensions.
pub(crate) fn image_dims<'a>(
    c: &OpCall<'a>,
    index: usize,
    spatial: usize,
) -> Result<Option<&'a [Expr]>, InferError> {
    const EXPECTED: [&str; 3] = [
        "a tensor with 3 dimensions",
        "a tensor with 4 dimensions",
        "a tensor with 5 dimensions",
    ];
    dims_of(c, index, spatial + 2, EXPECTED[spatial - 1])
}
