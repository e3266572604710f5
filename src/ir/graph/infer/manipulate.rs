//! Results of operators that move, join, cut or reduce dimensions.

use super::InferError;
use super::op::OpCall;
use crate::ir::graph::Arg;
use crate::ir::graph::dims::{Proof, compare_dims, sum};
use crate::ir::{AttrValue, Expr, ShapeInfo, StructInfo, TensorInfo, VDevice};
use crate::tensor::DType;

/// More parts than any program cuts a tensor into; a bound on what a number in a text can make us allocate.
const MAX_PARTS: i64 = 1 << 16;

impl OpCall<'_> {
    /// The element type that an attribute names, if it is there and not `None` or `"void"`.
    pub(super) fn dtype_attr(&self, name: &'static str) -> Result<Option<DType>, InferError> {
        match self.attrs.get(name) {
            None | Some(AttrValue::None) => Ok(None),
            Some(AttrValue::DType(dtype)) => Ok(Some(*dtype)),
            Some(AttrValue::Str(text)) if text == "void" || text.is_empty() => Ok(None),
            Some(AttrValue::Str(text)) => {
                text.parse().map(Some).map_err(|_| self.bad_attribute(name))
            }
            Some(_) => Err(self.bad_attribute(name)),
        }
    }

    pub(super) fn bad_attribute(&self, name: &'static str) -> InferError {
        InferError::Attribute {
            op: self.op.to_owned(),
            name,
        }
    }

    /// A list of integers in an attribute, one integer counting as a list.
    pub(super) fn ints_attr(&self, name: &'static str) -> Result<Option<Vec<i64>>, InferError> {
        match self.attrs.get(name) {
            None | Some(AttrValue::None) => Ok(None),
            Some(AttrValue::List(items)) => items
                .iter()
                .map(|item| item.as_int().ok_or_else(|| self.bad_attribute(name)))
                .collect::<Result<_, _>>()
                .map(Some),
            Some(value) => match value.as_int() {
                Some(v) => Ok(Some(vec![v])),
                None => Err(self.bad_attribute(name)),
            },
        }
    }

    /// An integer in an attribute.
    pub(super) fn int_attr(&self, name: &'static str, default: i64) -> Result<i64, InferError> {
        match self.ints_attr(name)?.as_deref() {
            None => Ok(default),
            Some([value]) => Ok(*value),
            Some(_) => Err(self.bad_attribute(name)),
        }
    }

    /// The position of an axis, which may count from the end.
    pub(super) fn axis(&self, axis: i64, ndim: usize) -> Result<usize, InferError> {
        let at = if axis < 0 { axis + ndim as i64 } else { axis };
        usize::try_from(at)
            .ok()
            .filter(|&at| at < ndim)
            .ok_or_else(|| InferError::Axis {
                op: self.op.to_owned(),
                axis,
                ndim,
            })
    }

    /// The extents that an operand says: a shape, or a tuple of scalars.
    pub(super) fn shape_operand(&self, index: usize) -> ShapeInfo {
        match (&self.args[index], &self.operands[index]) {
            (Arg::Shape(dims), _) => ShapeInfo::Known(dims.clone()),
            (_, StructInfo::Shape(shape)) => shape.clone(),
            (_, StructInfo::Tuple(items)) => items
                .iter()
                .map(|item| match item {
                    StructInfo::Prim {
                        dtype: _,
                        value: Some(e),
                    } => Some(e.cast(DType::I64)),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map_or(ShapeInfo::Ndim(items.len()), ShapeInfo::Known),
            _ => ShapeInfo::Unknown,
        }
    }

    pub(super) fn permute_dims(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let Some(dims) = info.shape.dims() else {
            return Ok(StructInfo::Tensor(info.clone()));
        };
        let ndim = dims.len();
        let order = match self.ints_attr("axes")? {
            None => (0..ndim).rev().collect(),
            Some(axes) => axes
                .iter()
                .map(|&axis| self.axis(axis, ndim))
                .collect::<Result<Vec<_>, _>>()?,
        };
        if order.len() != ndim || (0..ndim).any(|axis| !order.contains(&axis)) {
            return Err(self.bad_attribute("axes"));
        }
        Ok(StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Known(order.iter().map(|&axis| dims[axis].clone()).collect()),
            ..info.clone()
        }))
    }

    pub(super) fn reshape(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let mut shape = self.shape_operand(1);
        if let ShapeInfo::Known(new) = &mut shape {
            let product = |dims: &[Expr]| {
                dims.iter()
                    .try_fold(1i64, |n, d| n.checked_mul(d.as_int()?))
            };
            let open = new.iter().position(|d| d.as_int() == Some(-1));
            let old = info.shape.dims().and_then(product);
            match (open, old, product(new)) {
                (Some(at), Some(old), Some(rest)) if rest != 0 && old % rest == 0 => {
                    new[at] = Expr::i64((old / rest).saturating_neg());
                }
                (Some(_), ..) => shape = ShapeInfo::Ndim(new.len()),
                (None, Some(lhs), Some(rhs)) if self.op == "reshape" && lhs != rhs => {
                    return Err(InferError::Extents {
                        op: self.op.to_owned(),
                        what: "the numbers of elements",
                        lhs: Expr::i64(lhs),
                        rhs: Expr::i64(rhs),
                    });
                }
                (None, ..) => {}
            }
        }
        Ok(StructInfo::Tensor(TensorInfo {
            shape,
            ..info.clone()
        }))
    }

    pub(super) fn reduce(&self, dtype: Option<DType>) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let keep = matches!(self.attrs.get("keepdims"), Some(v) if v.as_int() == Some(1));
        let axes = self.ints_attr("axis")?;
        let shape = match (&info.shape, &axes) {
            (ShapeInfo::Known(dims), axes) => {
                let axes = match axes {
                    None => (0..dims.len()).collect(),
                    Some(axes) => axes
                        .iter()
                        .map(|&axis| self.axis(axis, dims.len()))
                        .collect::<Result<Vec<_>, _>>()?,
                };
                let dims =
                    dims.iter()
                        .enumerate()
                        .filter_map(|(i, d)| match (axes.contains(&i), keep) {
                            (false, _) => Some(d.clone()),
                            (true, true) => Some(Expr::i64(1)),
                            (true, false) => None,
                        });
                ShapeInfo::Known(dims.collect())
            }
            (_, None) if !keep => ShapeInfo::Known(vec![]),
            (ShapeInfo::Ndim(n), _) if keep => ShapeInfo::Ndim(*n),
            (ShapeInfo::Ndim(n), Some(axes)) => ShapeInfo::Ndim(n.saturating_sub(axes.len())),
            _ => ShapeInfo::Unknown,
        };
        Ok(StructInfo::Tensor(TensorInfo {
            shape,
            dtype: dtype.or(info.dtype),
            vdevice: info.vdevice.clone(),
        }))
    }

    pub(super) fn as_type(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        Ok(StructInfo::Tensor(TensorInfo {
            dtype: self.dtype_attr("dtype")?,
            ..info.clone()
        }))
    }

    pub(super) fn to_vdevice(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let device = self.attrs.get("dst_vdevice").and_then(|v| v.as_str());
        let device = device.and_then(VDevice::parse);
        Ok(StructInfo::Tensor(TensorInfo {
            vdevice: Some(device.ok_or_else(|| self.bad_attribute("dst_vdevice"))?),
            ..info.clone()
        }))
    }

    pub(super) fn fill(&self) -> Result<StructInfo, InferError> {
        let value = match self.operands.get(1) {
            Some(_) => self.tensor(1)?.and_then(|info| info.dtype),
            None => None,
        };
        Ok(StructInfo::Tensor(TensorInfo {
            shape: self.shape_operand(0),
            dtype: self.dtype_attr("dtype")?.or(value),
            vdevice: None,
        }))
    }

    pub(super) fn concat(&self) -> Result<StructInfo, InferError> {
        let StructInfo::Tuple(items) = &self.operands[0] else {
            return match &self.operands[0] {
                StructInfo::Object => Ok(StructInfo::Object),
                got => Err(InferError::Operand {
                    op: self.op.to_owned(),
                    index: 0,
                    expected: "a tuple of tensors",
                    got: Box::new(got.clone()),
                }),
            };
        };
        let tensors: Option<Vec<_>> = items.iter().map(StructInfo::as_tensor).collect();
        let Some([first, rest @ ..]) = tensors.as_deref() else {
            return Ok(StructInfo::Object);
        };
        let Some(dims) = first.shape.dims() else {
            return Ok(StructInfo::Tensor((*first).clone()));
        };
        let axis = self.int_attr("axis", 0)?;
        let axis = self.axis(axis, dims.len())?;
        let mut dims = dims.to_vec();
        for info in rest {
            let Some(other) = info.shape.dims().filter(|other| other.len() == dims.len()) else {
                return Ok(StructInfo::Tensor(TensorInfo {
                    shape: ShapeInfo::Ndim(dims.len()),
                    ..(*first).clone()
                }));
            };
            for (at, (dim, other)) in dims.iter_mut().zip(other).enumerate() {
                if at == axis {
                    *dim = match (dim.as_int(), other.as_int()) {
                        (Some(a), Some(b)) => Expr::i64(a.saturating_add(b)),
                        _ => sum(dim, other),
                    };
                } else if compare_dims(dim, other) == Proof::No {
                    return Err(InferError::Extents {
                        op: self.op.to_owned(),
                        what: "extents that are not joined",
                        lhs: dim.clone(),
                        rhs: other.clone(),
                    });
                }
            }
        }
        Ok(StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Known(dims),
            ..(*first).clone()
        }))
    }

    pub(super) fn split(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let Some(dims) = info.shape.dims() else {
            return Ok(StructInfo::Object);
        };
        let axis = self.int_attr("axis", 0)?;
        let axis = self.axis(axis, dims.len())?;
        let Some(extent) = dims[axis].as_int() else {
            return Ok(StructInfo::Object);
        };
        let parts: Vec<i64> = match self.attrs.get("indices_or_sections") {
            Some(AttrValue::List(_)) => {
                let cuts = self.ints_attr("indices_or_sections")?.unwrap_or_default();
                let ends = cuts.iter().copied().chain([extent]);
                let starts = [0].into_iter().chain(cuts.iter().copied());
                starts
                    .zip(ends)
                    .map(|(a, b)| b.saturating_sub(a).max(0))
                    .collect()
            }
            Some(value) => {
                let sections = value
                    .as_int()
                    .filter(|n| (1..=MAX_PARTS).contains(n))
                    .ok_or_else(|| self.bad_attribute("indices_or_sections"))?;
                let part = extent.div_euclid(sections) + i64::from(extent % sections != 0);
                (0..sections)
                    .map(|i| part.min(extent.saturating_sub(i * part)).max(0))
                    .collect()
            }
            None => return Err(self.bad_attribute("indices_or_sections")),
        };
        let part = |part: &i64| {
            let mut dims = dims.to_vec();
            dims[axis] = Expr::i64(*part);
            StructInfo::Tensor(TensorInfo {
                shape: ShapeInfo::Known(dims),
                ..info.clone()
            })
        };
        Ok(StructInfo::Tuple(parts.iter().map(part).collect()))
    }

    pub(super) fn expand_dims(&self) -> Result<StructInfo, InferError> {
        let Some(info) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let axes = self
            .ints_attr("axis")?
            .ok_or_else(|| self.bad_attribute("axis"))?;
        let Some(dims) = info.shape.dims() else {
            return Ok(StructInfo::Object);
        };
        let ndim = dims.len() + axes.len();
        let axes = axes
            .iter()
            .map(|&axis| self.axis(axis, ndim))
            .collect::<Result<Vec<_>, _>>()?;
        let mut old = dims.iter().cloned();
        let new = (0..ndim).map(|at| {
            if axes.contains(&at) {
                Expr::i64(1)
            } else {
                old.next().unwrap_or_else(|| Expr::i64(1))
            }
        });
        Ok(StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Known(new.collect()),
            ..info.clone()
        }))
    }

    /// A tensor whose shape and element type are operands.
    pub(super) fn alloc(&self, shape: usize, dtype: usize) -> StructInfo {
        let dtype = match self.args.get(dtype) {
            Some(Arg::DType(dtype)) => Some(*dtype),
            _ => None,
        };
        StructInfo::Tensor(TensorInfo {
            shape: self.shape_operand(shape),
            dtype,
            vdevice: None,
        })
    }
}
