//! `StructInfo`: what is known at compile time of a graph value (Relax, Lai et al., "Relax: Composable Abstractions for
//! End-to-End Dynamic Machine Learning").

use super::{Expr, VDevice, Var};
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

impl StructInfo {
    /// The expressions inside, in order.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Object
            | Self::Prim {
                dtype: _,
                value: None,
            } => vec![],
            Self::Prim {
                dtype: _,
                value: Some(value),
            } => vec![value],
            Self::Shape(shape)
            | Self::Tensor(TensorInfo {
                shape,
                dtype: _,
                vdevice: _,
            }) => shape.dims().unwrap_or_default().iter().collect(),
            Self::Tuple(items) => items.iter().flat_map(Self::exprs).collect(),
            Self::Callable {
                params,
                ret,
                pure: _,
            } => {
                let params = params.iter().flatten().flat_map(Self::exprs);
                params.chain(ret.exprs()).collect()
            }
        }
    }

    /// The same information with `f` applied to every expression.
    pub fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::Object => Self::Object,
            Self::Prim { dtype, value } => Self::Prim {
                dtype: *dtype,
                value: value.as_ref().map(f),
            },
            Self::Shape(shape) => Self::Shape(shape.map_exprs(f)),
            Self::Tensor(TensorInfo {
                shape,
                dtype,
                vdevice,
            }) => Self::Tensor(TensorInfo {
                shape: shape.map_exprs(f),
                dtype: *dtype,
                vdevice: vdevice.clone(),
            }),
            Self::Tuple(items) => Self::Tuple(items.iter().map(|i| i.map_exprs(f)).collect()),
            Self::Callable { params, ret, pure } => Self::Callable {
                params: params
                    .as_ref()
                    .map(|params| params.iter().map(|p| p.map_exprs(f)).collect()),
                ret: Box::new(ret.map_exprs(f)),
                pure: *pure,
            },
        }
    }

    /// The same information with symbolic variables replaced.
    pub fn substitute(&self, map: &dyn Fn(&Var) -> Option<Expr>) -> Self {
        self.map_exprs(&mut |e| e.substitute(map))
    }

    /// The symbolic variables inside, in order of first use.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut out = Vec::new();
        for var in self.exprs().into_iter().flat_map(Expr::free_vars) {
            if !out.contains(&var) {
                out.push(var);
            }
        }
        out
    }

    /// The symbolic variables that a value of this kind gives their values: those that are a whole extent, or a whole
    /// scalar. What a callable says of its parameters defines nothing.
    pub fn defined_vars(&self) -> Vec<Var> {
        match self {
            Self::Tuple(items) => items.iter().flat_map(Self::defined_vars).collect(),
            Self::Callable {
                params: _,
                ret: _,
                pure: _,
            } => vec![],
            Self::Object | Self::Prim { dtype: _, value: _ } | Self::Shape(_) | Self::Tensor(_) => {
                self.exprs()
                    .into_iter()
                    .filter_map(Expr::as_var)
                    .cloned()
                    .collect()
            }
        }
    }
}

impl ShapeInfo {
    /// The extents, if known.
    pub fn dims(&self) -> Option<&[Expr]> {
        if let Self::Known(dims) = self {
            Some(dims)
        } else {
            None
        }
    }

    fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::Known(dims) => Self::Known(dims.iter().map(f).collect()),
            Self::Ndim(n) => Self::Ndim(*n),
            Self::Unknown => Self::Unknown,
        }
    }
}
