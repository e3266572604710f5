//! Inference of `StructInfo`: what is known of a value from how it is computed.
//!
//! Where a symbolic extent cannot be decided the result says less (`ndim` instead of a shape); only what is wrong for every
//! value of the variables is an error.

use std::sync::Arc;

use indexmap::IndexMap;

use super::dims::{Proof, bind_vars, is_base_of};
use super::ops::{Rule, op_def};
use super::text::dim_text;
use super::{Arg, Callee, Def, DpsCallee, Function, Value, ValueId};
use crate::ir::{Attrs, Expr, Func, Module, Param, PrimFunc, ShapeInfo, StructInfo, TensorInfo};
use crate::support::Arena;
use crate::tensor::DType;

mod conv;
mod manipulate;
#[cfg(test)]
mod tests;

/// Arguments that do not fit what takes them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InferError {
    /// A call with too many or too few arguments.
    #[error("{callee} takes {expected} arguments, got {got}")]
    ArgumentCount {
        /// What is called.
        callee: String,
        /// Number of parameters.
        expected: usize,
        /// Number of arguments.
        got: usize,
    },
    /// An argument that can never be what the parameter says.
    #[error("argument {index} of {callee} must be {expected}, got {got}")]
    Argument {
        /// What is called.
        callee: String,
        /// Which argument, from 0.
        index: usize,
        /// What the parameter says.
        expected: Box<StructInfo>,
        /// What is known of the argument.
        got: Box<StructInfo>,
    },
    /// An output type that is not what the loop program writes.
    #[error("output {index} of {callee} is {expected}, declared as {got}")]
    Output {
        /// What is called.
        callee: String,
        /// Which output, from 0.
        index: usize,
        /// What the callee writes.
        expected: Box<StructInfo>,
        /// What the call declares.
        got: Box<StructInfo>,
    },
    /// An operand of the wrong kind.
    #[error("operand {index} of R.{op} must be {expected}, got {got}")]
    Operand {
        /// The operator.
        op: String,
        /// Which operand, from 0.
        index: usize,
        /// What it takes.
        expected: &'static str,
        /// What is known of the operand.
        got: Box<StructInfo>,
    },
    /// Shapes that do not broadcast.
    #[error("R.{op}: extents {lhs} and {rhs} of dimension {axis} do not broadcast", lhs = dim_text(lhs), rhs = dim_text(rhs))]
    Broadcast {
        /// The operator.
        op: String,
        /// Dimension of the result.
        axis: usize,
        /// Extent of the first.
        lhs: Expr,
        /// Extent of the second.
        rhs: Expr,
    },
    /// Extents that must be equal and are not.
    #[error("R.{op}: {what} must be equal, got {lhs} and {rhs}", lhs = dim_text(lhs), rhs = dim_text(rhs))]
    Extents {
        /// The operator.
        op: String,
        /// Which extents.
        what: &'static str,
        /// Extent of the first.
        lhs: Expr,
        /// Extent of the second.
        rhs: Expr,
    },
    /// Element types that must be equal and are not.
    #[error("R.{op}: element types must be equal, got {lhs} and {rhs}")]
    ElementTypes {
        /// The operator.
        op: String,
        /// Of the first.
        lhs: DType,
        /// Of the second.
        rhs: DType,
    },
    /// A dimension that the tensor does not have.
    #[error("R.{op}: axis {axis} is out of range for {ndim} dimensions")]
    Axis {
        /// The operator.
        op: String,
        /// The axis as written.
        axis: i64,
        /// Dimensions of the operand.
        ndim: usize,
    },
    /// An attribute that makes no sense.
    #[error("R.{op}: bad attribute {name}")]
    Attribute {
        /// The operator.
        op: String,
        /// The attribute.
        name: &'static str,
    },
    /// An item of something that is no tuple, or too small a tuple.
    #[error("{got} has no item {index}")]
    NoItem {
        /// Index asked for.
        index: usize,
        /// What is known of the value.
        got: Box<StructInfo>,
    },
    /// A call of something that is no function.
    #[error("{callee} is not a function, it is {got}")]
    NotCallable {
        /// What is called.
        callee: String,
        /// What is known of it.
        got: Box<StructInfo>,
    },
    /// A function that the module does not have.
    #[error("the module has no function {name}")]
    UnknownGlobal {
        /// Its name.
        name: String,
    },
}

/// What is known of the functions of a module, by name.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// Absent: nothing is known of the module, and every name is accepted.
    known: Option<Arc<IndexMap<String, StructInfo>>>,
}

impl Globals {
    /// These functions and no others.
    pub fn new(signatures: IndexMap<String, StructInfo>) -> Self {
        Self {
            known: Some(Arc::new(signatures)),
        }
    }

    /// The functions of a module.
    pub fn of(module: &Module) -> Self {
        let signature = |func: &Func| match func {
            Func::Prim(func) => prim_func_signature(func),
            Func::Graph(func) => func.signature(),
        };
        Self::new(
            module
                .funcs
                .iter()
                .map(|(name, func)| (name.clone(), signature(func)))
                .collect(),
        )
    }

    /// What is known of the function.
    ///
    /// # Errors
    /// [`InferError::UnknownGlobal`] if the module does not have it.
    pub fn signature(&self, name: &str) -> Result<StructInfo, InferError> {
        let Some(known) = &self.known else {
            return Ok(StructInfo::Callable {
                params: None,
                ret: Box::new(StructInfo::Object),
                pure: true,
            });
        };
        known
            .get(name)
            .cloned()
            .ok_or_else(|| InferError::UnknownGlobal {
                name: name.to_owned(),
            })
    }
}

/// What is known of a loop program as a graph value: it returns nothing and writes its last parameters.
pub fn prim_func_signature(func: &PrimFunc) -> StructInfo {
    let param = |param: &Param| match param {
        Param::Buffer { handle: _, buffer } => {
            StructInfo::tensor(buffer.shape().to_vec(), buffer.dtype())
        }
        Param::Scalar(var) => StructInfo::Prim {
            dtype: var.dtype(),
            value: Some(var.expr()),
        },
    };
    StructInfo::Callable {
        params: Some(func.params.iter().map(param).collect()),
        ret: Box::new(StructInfo::Tuple(vec![])),
        pure: false,
    }
}

/// Where arguments get their meaning.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// The functions of the module.
    pub globals: &'a Globals,
    /// Values of the functions around a closure, outermost first, and last those of the function itself.
    pub frames: Vec<&'a Arena<ValueId, Value>>,
}

impl Scope<'_> {
    /// What is known of an argument. A handle that names nothing is `Object`; the verifier reports it.
    pub fn arg(&self, arg: &Arg) -> StructInfo {
        let value = |depth: usize, id: &ValueId| {
            let frame = self.frames.len().checked_sub(depth + 1)?;
            Some(self.frames[frame].get(*id)?.sinfo.clone())
        };
        match arg {
            Arg::Value(id) => value(0, id).unwrap_or(StructInfo::Object),
            Arg::Captured { depth, value: id } => value(*depth, id).unwrap_or(StructInfo::Object),
            Arg::Const(tensor) => {
                let dims = tensor.shape().iter().map(|&d| Expr::i64(d as i64));
                StructInfo::tensor(dims.collect(), tensor.dtype())
            }
            Arg::Tuple(items) => StructInfo::Tuple(items.iter().map(|i| self.arg(i)).collect()),
            Arg::Shape(dims) => StructInfo::Shape(ShapeInfo::Known(dims.clone())),
            Arg::Prim(e) => StructInfo::Prim {
                dtype: e.dtype(),
                value: Some(e.clone()),
            },
            Arg::Str(_) | Arg::DType(_) => StructInfo::Object,
            Arg::Global(name) => self.globals.signature(name).unwrap_or(StructInfo::Object),
            Arg::Extern(_) => StructInfo::Callable {
                params: None,
                ret: Box::new(StructInfo::Object),
                pure: false,
            },
        }
    }
}

/// What is known of the value of a definition.
///
/// # Errors
/// If the arguments can never fit what takes them.
pub fn infer(def: &Def, scope: &Scope<'_>) -> Result<StructInfo, InferError> {
    match def {
        Def::Param => Ok(StructInfo::Object),
        Def::Arg(arg) => Ok(scope.arg(arg)),
        Def::TupleItem(arg, index) => match scope.arg(arg) {
            StructInfo::Tuple(mut items) if *index < items.len() => Ok(items.swap_remove(*index)),
            StructInfo::Object => Ok(StructInfo::Object),
            got => Err(InferError::NoItem {
                index: *index,
                got: Box::new(got),
            }),
        },
        Def::CallDps {
            callee,
            args,
            tir_vars,
            inplace: _,
            out,
        } => infer_call_dps(callee, args, tir_vars, out, scope),
        Def::Call {
            callee,
            args,
            attrs,
            sinfo_args,
        } => infer_call(callee, args, attrs, sinfo_args, scope),
        Def::MatchCast(_, sinfo) => Ok(sinfo.clone()),
        Def::If {
            cond: _,
            then,
            otherwise,
        } => {
            let (then, otherwise) = (scope.arg(&then.result), scope.arg(&otherwise.result));
            Ok(common(&then, &otherwise))
        }
        Def::Function(inner) => Ok(inner.signature()),
    }
}

/// What is known of a value that is one of two (Relax: the least upper bound).
pub fn common(a: &StructInfo, b: &StructInfo) -> StructInfo {
    if is_base_of(a, b) == Proof::Yes {
        return a.clone();
    }
    if is_base_of(b, a) == Proof::Yes {
        return b.clone();
    }
    let shape = |a: &ShapeInfo, b: &ShapeInfo| match (a.ndim(), b.ndim()) {
        (Some(n), Some(m)) if n == m => ShapeInfo::Ndim(n),
        _ => ShapeInfo::Unknown,
    };
    match (a, b) {
        (StructInfo::Tensor(a), StructInfo::Tensor(b)) => StructInfo::Tensor(TensorInfo {
            shape: if is_base_of(
                &StructInfo::Shape(a.shape.clone()),
                &StructInfo::Shape(b.shape.clone()),
            ) == Proof::Yes
            {
                a.shape.clone()
            } else {
                shape(&a.shape, &b.shape)
            },
            dtype: a.dtype.filter(|_| a.dtype == b.dtype),
            vdevice: a.vdevice.clone().filter(|_| a.vdevice == b.vdevice),
        }),
        (StructInfo::Shape(a), StructInfo::Shape(b)) => StructInfo::Shape(shape(a, b)),
        (StructInfo::Tuple(a), StructInfo::Tuple(b)) if a.len() == b.len() => {
            StructInfo::Tuple(a.iter().zip(b).map(|(a, b)| common(a, b)).collect())
        }
        (
            StructInfo::Prim { dtype, value: _ },
            StructInfo::Prim {
                dtype: other,
                value: _,
            },
        ) if dtype == other => StructInfo::Prim {
            dtype: *dtype,
            value: None,
        },
        _ => StructInfo::Object,
    }
}

fn infer_call_dps(
    callee: &DpsCallee,
    args: &[Arg],
    tir_vars: &[Expr],
    out: &StructInfo,
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    let (name, params) = match callee {
        DpsCallee::Prim(name) => (name, scope.globals.signature(name)?),
        // A packed function of that name may be registered at run time instead.
        DpsCallee::Packed(name) => match scope.globals.signature(name) {
            Ok(signature) => (name, signature),
            Err(_) => return Ok(out.clone()),
        },
    };
    let params = match params {
        StructInfo::Callable {
            params: Some(params),
            ret,
            pure: _,
        } if *ret == StructInfo::Tuple(vec![]) => params,
        StructInfo::Callable {
            params: None,
            ret: _,
            pure: _,
        } => return Ok(out.clone()),
        got => {
            return Err(InferError::NotCallable {
                callee: format!("{name} as a loop program"),
                got: Box::new(got),
            });
        }
    };
    let inputs: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
    let outs = match out {
        StructInfo::Tuple(items) => items.clone(),
        single => vec![single.clone()],
    };
    let scalars = tir_vars.iter().map(|e| StructInfo::Prim {
        dtype: e.dtype(),
        value: Some(e.clone()),
    });
    let given: Vec<_> = inputs.iter().cloned().chain(outs).chain(scalars).collect();
    if given.len() != params.len() {
        return Err(InferError::ArgumentCount {
            callee: name.clone(),
            expected: params.len(),
            got: given.len(),
        });
    }
    check_arguments(name, &params, &given, inputs.len())?;
    Ok(out.clone())
}

/// Checks arguments against parameters whose symbolic variables they bind. Those from `outputs` on are declared outputs.
fn check_arguments(
    callee: &str,
    params: &[StructInfo],
    given: &[StructInfo],
    outputs: usize,
) -> Result<IndexMap<crate::ir::Var, Expr>, InferError> {
    let mut bound = IndexMap::new();
    for (param, arg) in params.iter().zip(given) {
        bind_vars(param, arg, &mut bound);
    }
    for (index, (param, got)) in params.iter().zip(given).enumerate() {
        let expected = param.substitute(&|var| bound.get(var).cloned());
        if is_base_of(&expected, got) != Proof::No {
            continue;
        }
        let (callee, got) = (callee.to_owned(), Box::new(got.clone()));
        let expected = Box::new(expected);
        return Err(if index >= outputs {
            InferError::Output {
                callee,
                index: index - outputs,
                expected,
                got,
            }
        } else {
            InferError::Argument {
                callee,
                index,
                expected,
                got,
            }
        });
    }
    Ok(bound)
}

fn infer_call(
    callee: &Callee,
    args: &[Arg],
    attrs: &Attrs,
    sinfo_args: &[StructInfo],
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    let declared = || match sinfo_args {
        [] => StructInfo::Object,
        [single] => single.clone(),
        several => StructInfo::Tuple(several.to_vec()),
    };
    match callee {
        Callee::Packed(_) | Callee::PurePacked(_) => Ok(declared()),
        Callee::Global(name) => call_function(name, &scope.globals.signature(name)?, args, scope),
        Callee::Value(id) => {
            let frame = scope.frames.last().expect("the function itself is a frame");
            match frame.get(*id) {
                Some(value) => call_function(&value.name, &value.sinfo, args, scope),
                None => Ok(StructInfo::Object),
            }
        }
        Callee::Op(_) if !sinfo_args.is_empty() => Ok(declared()),
        Callee::Op(name) => {
            let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            OpCall {
                op: name,
                args,
                operands: &operands,
                attrs,
            }
            .infer()
        }
    }
}

fn call_function(
    callee: &str,
    signature: &StructInfo,
    args: &[Arg],
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    match signature {
        StructInfo::Object => Ok(StructInfo::Object),
        StructInfo::Callable {
            params,
            ret,
            pure: _,
        } => {
            let Some(params) = params else {
                return Ok((**ret).clone());
            };
            let given: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            if params.len() != given.len() {
                return Err(InferError::ArgumentCount {
                    callee: callee.to_owned(),
                    expected: params.len(),
                    got: given.len(),
                });
            }
            let bound = check_arguments(callee, params, &given, usize::MAX)?;
            Ok(ret.substitute(&|var| bound.get(var).cloned()))
        }
        got => Err(InferError::NotCallable {
            callee: callee.to_owned(),
            got: Box::new(got.clone()),
        }),
    }
}

/// A call of an operator: what its rules look at.
struct OpCall<'a> {
    op: &'a str,
    args: &'a [Arg],
    operands: &'a [StructInfo],
    attrs: &'a Attrs,
}

impl OpCall<'_> {
    fn infer(&self) -> Result<StructInfo, InferError> {
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
    fn tensor(&self, index: usize) -> Result<Option<&TensorInfo>, InferError> {
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
    fn broadcast(&self) -> Result<StructInfo, InferError> {
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

    fn compare(&self) -> Result<StructInfo, InferError> {
        Ok(match self.broadcast()? {
            StructInfo::Tensor(info) => StructInfo::Tensor(TensorInfo {
                dtype: Some(DType::BOOL),
                ..info
            }),
            other => other,
        })
    }

    fn broadcast_shapes(&self, a: &ShapeInfo, b: &ShapeInfo) -> Result<ShapeInfo, InferError> {
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
                (Some(lhs), Some(rhs)) => match super::dims::compare_dims(&lhs, &rhs) {
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

    fn matmul(&self) -> Result<StructInfo, InferError> {
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
        if super::dims::compare_dims(k, j) == Proof::No {
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

/// What is known of the result of a function's body, which may say more than its declaration.
pub fn infer_return(func: &Function, globals: &Globals) -> StructInfo {
    let scope = Scope {
        globals,
        frames: vec![&func.values],
    };
    scope.arg(&func.body.result)
}
