//! Calls of operators.

use super::InferError;
use crate::ir::graph::Arg;
use crate::ir::graph::dims::Proof;
use crate::ir::graph::ops::{Rule, op_def};
use crate::ir::{Attrs, Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::DType;

/// A call of an operator: what its rules look at.
pub(super) struct OpCall<'a> {
    pub(super) op: &'a str,
    pub(super) args: &'a [Arg],
    pub(super) operands: &'a [StructInfo],
    pub(super) attrs: &'a Attrs,
}

impl OpCall<'_> {
    pub(super) fn infer(&self) -> Result<StructInfo, InferError> {
        let Some(def) = op_def(self.op) else {
            return Ok(StructInfo::Object);
        };
        if def.operands != usize::MAX && def.operands != self.operands.len() {
            return Err(InferError::ArgumentCount {
                callee: format!("R.{}", self.op),
                expected: def.operands,
                got: self.operands.len(),
            });
        }
        match def.rule {
            Rule::Object => Ok(StructInfo::Object),
            Rule::Unit => Ok(StructInfo::Tuple(vec![])),
            Rule::Same => Ok(self.operands[0].clone()),
            Rule::Broadcast => self.broadcast(),
            Rule::Compare => self.compare(),
            Rule::Matmul => self.matmul(),
            Rule::PermuteDims => self.permute_dims(),
            Rule::Reshape => self.reshape(),
            Rule::Reduce => self.reduce(None),
            Rule::ArgReduce => self.reduce(Some(DType::I64)),
            Rule::AsType => self.as_type(),
            Rule::Fill => self.fill(),
            Rule::Concat => self.concat(),
            Rule::Split => self.split(),
            Rule::ExpandDims => self.expand_dims(),
            Rule::Conv2d => self.conv2d(),
            Rule::Pool2d => self.pool2d(),
            Rule::BatchNorm => self.batch_norm(),
            Rule::ToVDevice => self.to_vdevice(),
            Rule::Alloc(shape, dtype) => Ok(self.alloc(shape, dtype)),
        }
    }

    /// The tensor in operand `index`; `None` if nothing is known of it.
    pub(super) fn tensor(&self, index: usize) -> Result<Option<&TensorInfo>, InferError> {
        match &self.operands[index] {
            StructInfo::Tensor(info) => Ok(Some(info)),
            StructInfo::Object => Ok(None),
            got => Err(InferError::Operand {
                op: self.op.to_owned(),
                index,
                expected: "a tensor",
                got: Box::new(got.clone()),
            }),
        }
    }

    /// The shape and the element type that the operands have in common after broadcasting, with those of `where` from the
    /// last two. Scalars (`R.prim_value`) count as tensors without dimensions.
    pub(super) fn broadcast(&self) -> Result<StructInfo, InferError> {
        let mut shape = ShapeInfo::Known(vec![]);
        let mut dtype: Option<DType> = None;
        let mut vdevice = None;
        for (index, operand) in self.operands.iter().enumerate() {
            let (given, given_dtype) = match operand {
                StructInfo::Prim { dtype, value: _ } => (&ShapeInfo::Known(vec![]), Some(*dtype)),
                _ => match self.tensor(index)? {
                    Some(info) => {
                        vdevice = vdevice.or_else(|| info.vdevice.clone());
                        (&info.shape, info.dtype)
                    }
                    None => return Ok(StructInfo::Object),
                },
            };
            shape = self.broadcast_shapes(&shape, given)?;
            if self.op == "where" && index == 0 {
                continue;
            }
            if let (Some(lhs), Some(rhs)) = (dtype, given_dtype)
                && lhs != rhs
            {
                return Err(InferError::ElementTypes {
                    op: self.op.to_owned(),
                    lhs,
                    rhs,
                });
            }
            dtype = dtype.or(given_dtype);
        }
        Ok(StructInfo::Tensor(TensorInfo {
            shape,
            dtype,
            vdevice,
        }))
    }

    pub(super) fn compare(&self) -> Result<StructInfo, InferError> {
        Ok(match self.broadcast()? {
            StructInfo::Tensor(info) => StructInfo::Tensor(TensorInfo {
                dtype: Some(DType::BOOL),
                ..info
            }),
            other => other,
        })
    }

    pub(super) fn broadcast_shapes(
        &self,
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
        let mut out = Vec::with_capacity(ndim);
        for axis in 0..ndim {
            let at = |dims: &[Expr]| {
                (axis + dims.len())
                    .checked_sub(ndim)
                    .map(|i| dims[i].clone())
            };
            let dim = match (at(a), at(b)) {
                (Some(d), None) | (None, Some(d)) => d,
                (Some(lhs), Some(rhs)) => match crate::ir::graph::dims::compare_dims(&lhs, &rhs) {
                    Proof::Yes => lhs,
                    _ if lhs.is_one() => rhs,
                    _ if rhs.is_one() => lhs,
                    Proof::No => {
                        return Err(InferError::Broadcast {
                            op: self.op.to_owned(),
                            axis,
                            lhs,
                            rhs,
                        });
                    }
                    Proof::Unknown => return Ok(ShapeInfo::Ndim(ndim)),
                },
                (None, None) => unreachable!("the larger shape has every axis"),
            };
            out.push(dim);
        }
        Ok(ShapeInfo::Known(out))
    }

    pub(super) fn matmul(&self) -> Result<StructInfo, InferError> {
        let (Some(a), Some(b)) = (self.tensor(0)?, self.tensor(1)?) else {
            return Ok(StructInfo::Object);
        };
        let declared = self.dtype_attr("out_dtype")?;
        let info = |shape| {
            Ok(StructInfo::Tensor(TensorInfo {
                shape,
                dtype: declared.or(a.dtype),
                vdevice: a.vdevice.clone(),
            }))
        };
        let (Some(lhs), Some(rhs)) = (a.shape.dims(), b.shape.dims()) else {
            return info(match (a.shape.ndim(), b.shape.ndim()) {
                (Some(n @ 2..), Some(m @ 2..)) => ShapeInfo::Ndim(n.max(m)),
                _ => ShapeInfo::Unknown,
            });
        };
        let ([.., k], [_, ..]) = (lhs, rhs) else {
            let index = usize::from(!lhs.is_empty());
            return Err(InferError::Operand {
                op: self.op.to_owned(),
                index,
                expected: "at least a vector",
                got: Box::new(self.operands[index].clone()),
            });
        };
        let j = &rhs[rhs.len().saturating_sub(2)];
        if crate::ir::graph::dims::compare_dims(k, j) == Proof::No {
            return Err(InferError::Extents {
                op: self.op.to_owned(),
                what: "the extents of the reduction",
                lhs: k.clone(),
                rhs: j.clone(),
            });
        }
        let batch = |dims: &[Expr]| ShapeInfo::Known(dims[..dims.len().saturating_sub(2)].to_vec());
        let mut dims = match self.broadcast_shapes(&batch(lhs), &batch(rhs))? {
            ShapeInfo::Known(dims) => dims,
            _ => return info(ShapeInfo::Ndim(lhs.len().max(rhs.len()))),
        };
        if lhs.len() > 1 {
            dims.push(lhs[lhs.len() - 2].clone());
        }
        if rhs.len() > 1 {
            dims.push(rhs[rhs.len() - 1].clone());
        }
        info(ShapeInfo::Known(dims))
    }
}
