//! A call of an operator as a loop program of its own (TVM: `FLegalize`).

use std::ops::Deref;

use super::{Compute, def};
use crate::ir::graph::{Arg, InferError, OpCall};
use crate::ir::{Expr, PrimFunc, ShapeInfo, StructInfo, TensorInfo};
use crate::te::{self, TeError, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{self, Scalar};

/// Why a call of an operator is no loop program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LegalizeError {
    /// Operands or attributes that do not fit, or that the operator does not take here.
    #[error(transparent)]
    Call(#[from] InferError),
    /// An operand of which shape or element type is not known.
    #[error("R.{op}: shape and element type of operand {index} must be known, it is {got}")]
    UnknownOperand {
        /// The operator.
        op: &'static str,
        /// Which operand, from 0.
        index: usize,
        /// What is known of it.
        got: Box<StructInfo>,
    },
    /// A result of which shape or element type is not known before the operator has run.
    #[error("R.{op}: shape and element type of the result must be known, it is {got}")]
    UnknownResult {
        /// The operator.
        op: &'static str,
        /// What is known of it.
        got: Box<StructInfo>,
    },
    /// An operator that nothing here computes.
    #[error("R.{op} cannot run: {why}")]
    NotComputed {
        /// The operator.
        op: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// The definition of the operator is not sound.
    #[error("R.{op}: {error}")]
    Expression {
        /// The operator.
        op: &'static str,
        /// What is wrong.
        error: TeError,
    },
}

/// An operand as its definition sees it.
#[derive(Clone, Debug)]
enum Given {
    Tensor(Tensor),
    Tensors(Vec<Tensor>),
    /// A shape, a scalar, a function: read through [`OpCall`].
    Other,
}

/// A call that is being computed: the call itself, its operands as tensors, and the type of its result.
#[derive(Clone, Debug)]
pub struct ComputeCall<'a> {
    call: OpCall<'a>,
    operands: Vec<Given>,
    results: Vec<(Vec<Expr>, DType)>,
}

impl<'a> Deref for ComputeCall<'a> {
    type Target = OpCall<'a>;

    fn deref(&self) -> &OpCall<'a> {
        &self.call
    }
}

impl ComputeCall<'_> {
    /// The name that blocks get: that of the operator without its group.
    pub fn name(&self) -> &'static str {
        let name = self.op.name();
        name.rsplit('.').next().unwrap_or(name)
    }

    /// Operand `index` as a tensor. A scalar constant is a tensor without dimensions that takes no memory.
    ///
    /// # Panics
    /// If the schema says that it is something else.
    pub fn x(&self, index: usize) -> &Tensor {
        match &self.operands[index] {
            Given::Tensor(tensor) => tensor,
            Given::Tensors(_) | Given::Other => {
                panic!("operand {index} of {} is a tensor", self.op)
            }
        }
    }

    /// The tensors in the tuple of operand `index`.
    ///
    /// # Panics
    /// If the schema says that it is something else.
    pub fn xs(&self, index: usize) -> &[Tensor] {
        match &self.operands[index] {
            Given::Tensors(tensors) => tensors,
            Given::Tensor(_) | Given::Other => panic!("operand {index} of {} is a tuple", self.op),
        }
    }

    /// The extents of the result, or of result `index` of several.
    pub fn result_shape(&self, index: usize) -> &[Expr] {
        &self.results[index].0
    }

    /// The element type of the result, or of result `index` of several.
    pub fn result_dtype(&self, index: usize) -> DType {
        self.results[index].1
    }
}

/// A call of an operator as a loop program.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The program: the tensors among the operands, then the results, then scalars.
    pub func: PrimFunc,
    /// The tensors to call it with, in order.
    pub args: Vec<Operand>,
    /// The scalars to call it with.
    pub scalars: Vec<Expr>,
}

/// Where an argument of a kernel comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// This operand.
    Whole(usize),
    /// This item of the tuple that an operand is.
    Item(usize, usize),
}

/// The loop program, called `name`, of a call whose result is `result`.
///
/// # Errors
/// If shapes or element types are not known, or nothing here computes the operator.
pub fn kernel(call: OpCall<'_>, result: &StructInfo, name: &str) -> Result<Kernel, LegalizeError> {
    let op = call.op.name();
    let compute = match def(call.op).compute {
        Compute::Kernel(compute) | Compute::View(compute) => compute,
        Compute::Machine(_) => {
            let why = "the virtual machine does it without a kernel";
            return Err(LegalizeError::NotComputed { op, why });
        }
        Compute::Host(_) => {
            let why = "the host does it without a kernel";
            return Err(LegalizeError::NotComputed { op, why });
        }
        Compute::Nothing(why) => return Err(LegalizeError::NotComputed { op, why }),
    };
    let (mut params, mut args, mut operands) = (vec![], vec![], vec![]);
    for (index, info) in call.operands.iter().enumerate() {
        let name = call.op.schema().operands.get(index).map_or("x", |o| o.name);
        let unknown = || LegalizeError::UnknownOperand {
            op,
            index,
            got: Box::new(info.clone()),
        };
        operands.push(match info {
            StructInfo::Tensor(info) => {
                let tensor = match call.args.get(index).and_then(constant) {
                    Some(value) => te::scalar(value),
                    None => {
                        let (shape, dtype) = known(info).ok_or_else(unknown)?;
                        let tensor = te::placeholder(name, shape, dtype);
                        params.push(tensor.clone());
                        args.push(Operand::Whole(index));
                        tensor
                    }
                };
                Given::Tensor(tensor)
            }
            StructInfo::Prim {
                dtype: _,
                value: Some(value),
            } => Given::Tensor(te::scalar(value.clone())),
            StructInfo::Tuple(items) if is_tuple_of_tensors(items) => {
                let mut tensors = vec![];
                for (at, item) in items.iter().enumerate() {
                    let known = item.as_tensor().and_then(known);
                    let (shape, dtype) = known.ok_or_else(unknown)?;
                    let tensor = te::placeholder(format!("{name}_{at}"), shape, dtype);
                    params.push(tensor.clone());
                    args.push(Operand::Item(index, at));
                    tensors.push(tensor);
                }
                Given::Tensors(tensors)
            }
            StructInfo::Object if matches!(call.args[index], Arg::Value(_)) => {
                return Err(unknown());
            }
            _ => Given::Other,
        });
    }
    let results = results(result).ok_or_else(|| LegalizeError::UnknownResult {
        op,
        got: Box::new(result.clone()),
    })?;
    let call = ComputeCall {
        call,
        operands,
        results,
    };
    let tensors = compute(&call)?;
    let block = call.name();
    for tensor in tensors {
        // A result that is an operand as it is needs elements of its own.
        let is_param = params.iter().any(|param: &Tensor| param.is(&tensor));
        let own = is_param || tensor.is_scalar();
        params.push(if own {
            te::compute(block, tensor.shape().to_vec(), |i| tensor.at(i))
        } else {
            tensor
        });
    }
    let scalars = te::unbound_vars(&params);
    let func = te::create_prim_func_with(name, &params, &scalars)
        .map_err(|error| LegalizeError::Expression { op, error })?;
    Ok(Kernel {
        func,
        args,
        scalars: scalars.iter().map(|var| var.expr()).collect(),
    })
}

fn is_tuple_of_tensors(items: &[StructInfo]) -> bool {
    items.iter().all(|item| item.as_tensor().is_some())
}

/// The value of a constant without dimensions.
fn constant(arg: &Arg) -> Option<Expr> {
    let Arg::Const(tensor) = arg else {
        return None;
    };
    if !tensor.shape().is_empty() {
        return None;
    }
    let dtype = tensor.dtype();
    Some(match scalar::decode(tensor.bytes(), dtype.scalar) {
        Scalar::Int(v) => Expr::int(v, dtype),
        Scalar::Float(v) => Expr::float(v, dtype),
    })
}

fn known(info: &TensorInfo) -> Option<(Vec<Expr>, DType)> {
    match (&info.shape, info.dtype) {
        (ShapeInfo::Known(dims), Some(dtype)) => Some((dims.clone(), dtype)),
        _ => None,
    }
}

fn results(result: &StructInfo) -> Option<Vec<(Vec<Expr>, DType)>> {
    match result {
        StructInfo::Tensor(info) => Some(vec![known(info)?]),
        StructInfo::Tuple(items) => items.iter().map(|item| known(item.as_tensor()?)).collect(),
        StructInfo::Object
        | StructInfo::Shape(_)
        | StructInfo::Prim { dtype: _, value: _ }
        | StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => None,
    }
}
