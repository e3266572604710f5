//! Arguments of graph functions as operands of bytecode.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use crate::artifact::{Builtin, Constant, Operand, Reg};
use crate::ir::Expr;
use crate::ir::graph::{Arg, ValueId};

/// A value at compile time: where it is at run time, tuples by their parts.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// In a register or the constant pool, or an integer.
    At(Operand),
    /// A tuple that exists only if something asks for it whole.
    Tuple(Vec<Bound>),
}

impl Bound {
    /// Whether the value, or a part of it, is this operand.
    pub(super) fn holds(&self, operand: &Operand) -> bool {
        match self {
            Self::At(at) => at == operand,
            Self::Tuple(items) => items.iter().any(|item| item.holds(operand)),
        }
    }
}

impl Compiler<'_, '_> {
    /// The parts of an argument. `at` is where it is used, for errors.
    pub(super) fn arg(&mut self, arg: &Arg, at: ValueId) -> Result<Bound, GraphError> {
        Ok(match arg {
            Arg::Value(value) => match self.bound.get(value) {
                Some(bound) => bound.clone(),
                None => {
                    let problem =
                        GraphProblem::Unsupported("a value that is used before it is bound");
                    return Err(self.error(at, problem));
                }
            },
            Arg::Captured { depth, value } => self.captured(*depth, *value, at)?,
            Arg::Const(tensor) => Bound::At(self.pool.constant(Constant::Tensor(tensor.clone()))),
            Arg::Omitted(index) => {
                return Err(self.error(at, GraphProblem::OmittedConstant(*index)));
            }
            Arg::Tuple(items) => {
                let items = items.iter().map(|item| self.arg(item, at));
                Bound::Tuple(items.collect::<Result<_, _>>()?)
            }
            Arg::Shape(dims) => Bound::At(self.shape(dims, at)?),
            Arg::Prim(e) => Bound::At(self.prim(e, at)?),
            Arg::Str(text) => Bound::At(self.pool.constant(Constant::Str(text.clone()))),
            Arg::DType(dtype) => Bound::At(self.pool.dtype(*dtype)),
            Arg::Global(name) => self.function_value(name, at)?,
            Arg::Extern(_) => {
                let what = "a packed function as a value";
                return Err(self.error(at, GraphProblem::Unsupported(what)));
            }
        })
    }

    pub(super) fn item(&mut self, tuple: &Bound, index: usize) -> Bound {
        match tuple {
            Bound::Tuple(items) if index < items.len() => items[index].clone(),
            whole => {
                let tuple = self.operand(whole.clone());
                let args = vec![tuple, Operand::Imm(index as i64)];
                Bound::At(Operand::Reg(self.builtin(Builtin::TupleGetItem, args)))
            }
        }
    }

    /// The value as one operand; a tuple is made whole.
    pub(super) fn operand(&mut self, bound: Bound) -> Operand {
        match bound {
            Bound::At(operand) => operand,
            Bound::Tuple(items) => {
                let items = items.into_iter().map(|item| self.operand(item)).collect();
                Operand::Reg(self.builtin(Builtin::MakeTuple, items))
            }
        }
    }

    /// The value in a register.
    pub(super) fn in_register(&mut self, bound: Bound) -> Reg {
        match self.operand(bound) {
            Operand::Reg(reg) => reg,
            other => self.builtin(Builtin::Copy, vec![other]),
        }
    }

    /// All leaves of the arguments, in order.
    pub(super) fn flat(&mut self, args: &[Arg], at: ValueId) -> Result<Vec<Operand>, GraphError> {
        fn leaves(bound: Bound, out: &mut Vec<Operand>) {
            match bound {
                Bound::At(operand) => out.push(operand),
                Bound::Tuple(items) => items.into_iter().for_each(|item| leaves(item, out)),
            }
        }
        let mut out = Vec::new();
        for arg in args {
            leaves(self.arg(arg, at)?, &mut out);
        }
        Ok(out)
    }

    /// A shape of constant dimensions.
    pub(super) fn shape(&mut self, dims: &[Expr], at: ValueId) -> Result<Operand, GraphError> {
        let dims = dims.iter().map(|dim| {
            let unlowered = || self.error(at, GraphProblem::Unlowered(format!("{dim:#}")));
            dim.as_int().ok_or_else(unlowered)
        });
        let dims = dims.collect::<Result<_, _>>()?;
        Ok(self.pool.constant(Constant::Shape(dims)))
    }

    /// A constant scalar.
    pub(super) fn prim(&mut self, e: &Expr, at: ValueId) -> Result<Operand, GraphError> {
        match (e.as_int(), e.as_float()) {
            (Some(value), _) => Ok(Operand::Imm(value)),
            (None, Some(value)) => Ok(self.pool.constant(Constant::Float(value))),
            (None, None) => Err(self.error(at, GraphProblem::Unlowered(format!("{e:#}")))),
        }
    }
}
