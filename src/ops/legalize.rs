//! A call of an operator as a loop program of its own (TVM: `FLegalize`).

use std::ops::Deref;

use super::{Compute, def};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, InferError, Op, OpCall, OperandKind};
use crate::ir::{Expr, PrimFunc, ShapeInfo, StructInfo, TensorInfo};
use crate::te::{self, TeError, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{self, Scalar};
use crate::topi::Threads;

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
    /// A legalization that is not the operator's own gives another number of results, or a program with other parameters.
    #[error("R.{op}: its legalization gives {got} {what}, expected {expected}")]
    Count {
        /// The operator.
        op: &'static str,
        /// What there are too many or too few of.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A legalization that is not the operator's own gives a result of another type.
    #[error("R.{op}: its legalization gives {got}, expected {expected}")]
    Result {
        /// The operator.
        op: &'static str,
        /// What the operator gives.
        expected: Box<StructInfo>,
        /// What the legalization gives.
        got: Box<StructInfo>,
    },
}

/// What a call is computed by.
#[derive(Clone, Debug)]
pub enum Legalized {
    /// Tensor expressions: the results, made of the operands of the [`ComputeCall`].
    Tensors(Vec<Tensor>),
    /// A loop program. Its parameters are the tensors among the operands, those of tuples one by one, then the results.
    Program(Box<PrimFunc>),
}

impl From<Tensor> for Legalized {
    fn from(tensor: Tensor) -> Self {
        Self::Tensors(vec![tensor])
    }
}

impl From<Vec<Tensor>> for Legalized {
    fn from(tensors: Vec<Tensor>) -> Self {
        Self::Tensors(tensors)
    }
}

impl From<PrimFunc> for Legalized {
    fn from(program: PrimFunc) -> Self {
        Self::Program(Box::new(program))
    }
}

/// How an operator is computed where its definition is not wanted (Relax: `customize_legalize_map`).
pub type Legalization = dyn Fn(&ComputeCall<'_>) -> Result<Legalized, InferError> + Send + Sync;

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
    threads: Threads,
}

impl<'a> Deref for ComputeCall<'a> {
    type Target = OpCall<'a>;

    fn deref(&self) -> &OpCall<'a> {
        &self.call
    }
}

impl ComputeCall<'_> {
    /// The name that blocks get: that of the program.
    pub fn name(&self) -> &'static str {
        def(self.op).program_name()
    }

    /// The threads of the machine that the call is computed on (TVM: `Target.current()`).
    pub fn threads(&self) -> Threads {
        self.threads
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
pub fn kernel(
    call: OpCall<'_>,
    result: &StructInfo,
    name: &str,
    threads: Threads,
) -> Result<Kernel, LegalizeError> {
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
    let (call, operands) = Operands::of(call, result, threads)?;
    let tensors = compute(&call)?;
    operands.kernel(&call, tensors, name)
}

/// The same with a legalization in place of the operator's definition.
///
/// # Errors
/// As [`kernel`], and if the results of the legalization are not those of the call.
pub fn kernel_by(
    call: OpCall<'_>,
    result: &StructInfo,
    name: &str,
    legalization: &Legalization,
    threads: Threads,
) -> Result<Kernel, LegalizeError> {
    let op = call.op.name();
    let (call, operands) = Operands::of(call, result, threads)?;
    let count = |what, expected, got| LegalizeError::Count {
        op,
        what,
        expected,
        got,
    };
    match legalization(&call)? {
        Legalized::Tensors(tensors) => {
            if tensors.len() != call.results.len() {
                return Err(count("results", call.results.len(), tensors.len()));
            }
            for (tensor, (shape, dtype)) in tensors.iter().zip(&call.results) {
                let analyzer = Analyzer::new();
                let pairs = tensor.shape().iter().zip(shape);
                let mut pairs = pairs.map(|(a, b)| (a.cast(DType::I64), b.cast(DType::I64)));
                let same = tensor.dtype() == *dtype
                    && tensor.shape().len() == shape.len()
                    && pairs.all(|(a, b)| analyzer.can_prove_equal(&a, &b));
                if !same {
                    return Err(LegalizeError::Result {
                        op,
                        expected: Box::new(StructInfo::tensor(shape.clone(), *dtype)),
                        got: Box::new(StructInfo::tensor(tensor.shape().to_vec(), tensor.dtype())),
                    });
                }
            }
            operands.kernel(&call, tensors, name)
        }
        Legalized::Program(func) => {
            let args = operands.all;
            let expected = args.len() + call.results.len();
            if func.params.len() != expected {
                return Err(count("parameters", expected, func.params.len()));
            }
            Ok(Kernel {
                func: *func,
                args,
                scalars: vec![],
            })
        }
    }
}

/// The tensors among the operands of a call.
struct Operands {
    /// Those that take memory, as parameters of the program.
    params: Vec<Tensor>,
    /// Where these come from.
    args: Vec<Operand>,
    /// All, with constants without dimensions.
    all: Vec<Operand>,
}

impl Operands {
    fn of<'a>(
        call: OpCall<'a>,
        result: &StructInfo,
        threads: Threads,
    ) -> Result<(ComputeCall<'a>, Self), LegalizeError> {
        let op = call.op.name();
        let (mut params, mut args, mut all, mut operands) = (vec![], vec![], vec![], vec![]);
        let folds = of_constants(&call);
        for (index, info) in call.operands.iter().enumerate() {
            let name = call.op.schema().operands.get(index).map_or("x", |o| o.name);
            let unknown = || LegalizeError::UnknownOperand {
                op,
                index,
                got: Box::new(info.clone()),
            };
            operands.push(match info {
                StructInfo::Tensor(info) => {
                    all.push(Operand::Whole(index));
                    let tensor = match call.args.get(index).and_then(constant) {
                        Some(value) if !(folds && index == 0) => te::scalar(value),
                        _ => {
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
                // A scalar that no program can be given.
                StructInfo::Prim {
                    dtype: _,
                    value: None,
                } if takes_tensor(call.op, index) => return Err(unknown()),
                StructInfo::Tuple(items) if is_tuple_of_tensors(items) => {
                    let mut tensors = vec![];
                    for (at, item) in items.iter().enumerate() {
                        let known = item.as_tensor().and_then(known);
                        let (shape, dtype) = known.ok_or_else(unknown)?;
                        let tensor = te::placeholder(format!("{name}_{at}"), shape, dtype);
                        params.push(tensor.clone());
                        args.push(Operand::Item(index, at));
                        all.push(Operand::Item(index, at));
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
            threads,
        };
        Ok((call, Self { params, args, all }))
    }

    /// The program that computes `tensors` of the operands.
    fn kernel(
        self,
        call: &ComputeCall<'_>,
        tensors: Vec<Tensor>,
        name: &str,
    ) -> Result<Kernel, LegalizeError> {
        let op = call.op.name();
        let block = call.name();
        // What only gives its shape is no operand of the program.
        let read = self.params.into_iter().zip(self.args);
        let read = read.filter(|(param, _)| te::is_read(param, &tensors));
        let (mut params, args): (Vec<_>, Vec<_>) = read.unzip();
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
}

/// Whether several constants without dimensions are all that the operator takes. Then the first one is an operand of the program, so
/// that the call is one that can be computed ahead.
fn of_constants(call: &OpCall<'_>) -> bool {
    let tensors = call
        .operands
        .iter()
        .filter(|info| info.as_tensor().is_some());
    let constants = call.args.iter().filter(|arg| constant(arg).is_some());
    tensors.count() > 1 && constants.count() == call.operands.len()
}

fn is_tuple_of_tensors(items: &[StructInfo]) -> bool {
    items.iter().all(|item| item.as_tensor().is_some())
}

/// Whether the schema says that the operand is a tensor.
fn takes_tensor(op: Op, index: usize) -> bool {
    let operand = op.schema().operands.get(index);
    operand.is_some_and(|operand| matches!(operand.kind, OperandKind::Tensor))
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
