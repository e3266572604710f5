//! `StructInfo`: what is known at compile time of a graph value (Relax, Lai et al., "Relax: Composable Abstractions for
//! End-to-End Dynamic Machine Learning").

use super::{Expr, VDevice};
use crate::tensor::DType;

/// What is known of the shape of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShapeInfo {
    /// Every extent, which may be symbolic (`int64`).
    Known(Vec<Expr>),
    /// Only the number of dimensions.
    Ndim(usize),
    /// Nothing.
    Unknown,
}

impl ShapeInfo {
    /// Number of dimensions, if known.
    pub fn ndim(&self) -> Option<usize> {
        match self {
            Self::Known(dims) => Some(dims.len()),
            Self::Ndim(n) => Some(*n),
            Self::Unknown => None,
        }
    }
}

/// What is known of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TensorInfo {
    /// Its shape.
    pub shape: ShapeInfo,
    /// Its element type, if known.
    pub dtype: Option<DType>,
    /// Where it lives, if said.
    pub vdevice: Option<VDevice>,
}

/// What is known of a graph value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StructInfo {
    /// Nothing (`R.Object`).
    Object,
    /// A scalar (`R.Prim`); its value where it is known.
    Prim {
        /// Type of the scalar.
        dtype: DType,
        /// Its value, if known.
        value: Option<Expr>,
    },
    /// A shape (`R.Shape`).
    Shape(ShapeInfo),
    /// A tensor (`R.Tensor`).
    Tensor(TensorInfo),
    /// A tuple (`R.Tuple`).
    Tuple(Vec<StructInfo>),
    /// A function (`R.Callable`); `params` is `None` if it may take anything.
    Callable {
        /// Types of the parameters.
        params: Option<Vec<StructInfo>>,
        /// Type of the result.
        ret: Box<StructInfo>,
        /// Whether it has no side effect.
        pure: bool,
    },
}

impl StructInfo {
    /// A tensor of which shape and element type are known.
    pub fn tensor(shape: Vec<Expr>, dtype: DType) -> Self {
        Self::Tensor(TensorInfo {
            shape: ShapeInfo::Known(shape),
            dtype: Some(dtype),
            vdevice: None,
        })
    }

    /// A function of which nothing is known.
    pub fn any_function() -> Self {
        Self::Callable {
            params: None,
            ret: Box::new(Self::Object),
            pure: false,
        }
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&TensorInfo> {
        if let Self::Tensor(info) = self {
            Some(info)
        } else {
            None
        }
    }

    /// Whether it has at most so many parts and nodes of expressions, those that are shared counted each time they are met.
    pub(crate) fn fits(&self, limit: usize) -> bool {
        let mut left = limit;
        self.take_from(&mut left).is_some()
    }

    fn take_from(&self, left: &mut usize) -> Option<()> {
        *left = left.checked_sub(1)?;
        let exprs = match self {
            Self::Object => &[],
            Self::Prim { dtype: _, value } => value.as_slice(),
            Self::Shape(shape) => shape.dims().unwrap_or_default(),
            Self::Tensor(info) => info.shape.dims().unwrap_or_default(),
            Self::Tuple(items) => return items.iter().try_for_each(|item| item.take_from(left)),
            Self::Callable {
                params,
                ret,
                pure: _,
            } => {
                let mut params = params.iter().flatten();
                params.try_for_each(|param| param.take_from(left))?;
                return ret.take_from(left);
            }
        };
        for e in exprs {
            let mut within = true;
            e.walk(&mut |_| {
                within &= *left > 0;
                *left = left.saturating_sub(1);
                within
            });
            within.then_some(())?;
        }
        Some(())
    }
}
