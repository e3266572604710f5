//! Calls: of loop programs and packed functions, of graph functions; and the few operators that are instructions.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use super::operand::Bound;
use crate::artifact::{Builtin, Callee, Operand};
use crate::ir::graph::{Arg, Callee as GraphCallee, Op, ValueId};
use crate::ir::{Expr, StructInfo};
use crate::ops::{self, Compute, MachineOp, ShapeBuiltin};

impl Compiler<'_, '_> {
    /// On a GPU, the operand in host memory: constants are there already.
    pub(super) fn copy_to_host(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) if self.host.contains(&reg) => operand,
            Operand::Reg(_) => Operand::Reg(self.builtin(Builtin::ToHost, vec![operand])),
            other => other,
        }
    }

    pub(super) fn call(
        &mut self,
        value: ValueId,
        callee: &GraphCallee,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        match callee {
            GraphCallee::Op(op) => return self.call_op(value, *op, args),
            GraphCallee::Value(closure) => {
                return self.call_closure(value, &Arg::Value(*closure), args);
            }
            GraphCallee::Global(_) | GraphCallee::Packed(_) | GraphCallee::PurePacked(_) => {}
        }
        if let GraphCallee::Global(name) = callee
            && let Some(program) = self.pool.module.prim_func(name)
        {
            return match self.pool.kernel(name) {
                Some(kernel) => self.call_program(value, kernel, args),
                None if program.as_scalar().is_some() => {
                    let what = "a scalar of what is no size";
                    Err(self.error(value, GraphProblem::Unsupported(what)))
                }
                None => self.call_shape_func(value, program, args),
            };
        }
        if let GraphCallee::Packed(name) | GraphCallee::PurePacked(name) = callee {
            if let Some(builtin) = ShapeBuiltin::named(name) {
                return self.shape_builtin(value, builtin, args);
            }
            if let Some(builtin) = Builtin::named(name) {
                let operands = self.flat(args, value)?;
                return Ok(Bound::At(Operand::Reg(self.builtin(builtin, operands))));
            }
        }
        let mut operands = Vec::new();
        for arg in args {
            let bound = self.arg(arg, value)?;
            operands.push(self.operand(bound));
        }
        let (callee, packed) = match callee {
            GraphCallee::Global(name) => {
                let index = self.pool.function(name).ok_or_else(|| {
                    let problem = GraphProblem::UnknownFunction {
                        kind: "function",
                        name: name.clone(),
                    };
                    self.error(value, problem)
                })?;
                (Callee::Function(index), false)
            }
            GraphCallee::Packed(name) | GraphCallee::PurePacked(name) => {
                (Callee::Packed(name.clone()), true)
            }
            GraphCallee::Op(_) | GraphCallee::Value(_) => {
                unreachable!("both are compiled above")
            }
        };
        let on_host = self.gpu && packed;
        if on_host {
            operands = operands
                .into_iter()
                .map(|op| self.copy_to_host(op))
                .collect();
        }
        let callee = self.pool.callee(callee);
        let dst = self.reg();
        self.asm.call(Some(dst), callee, operands);
        let result = if on_host && self.used.contains(&value) {
            self.builtin(Builtin::ToDevice, vec![Operand::Reg(dst)])
        } else {
            dst
        };
        Ok(Bound::At(Operand::Reg(result)))
    }

    /// The operators that are instructions of the machine; all others are legalized before.
    fn call_op(&mut self, value: ValueId, op: Op, args: &[Arg]) -> Result<Bound, GraphError> {
        let builtin = match ops::def(op).compute {
            Compute::Machine(MachineOp::ShapeOf) => Builtin::ShapeOf,
            Compute::View(_) => return self.reshape(value, op, args),
            Compute::Machine(MachineOp::Forward) => return self.arg(&args[0], value),
            Compute::Machine(MachineOp::MakeClosure) => {
                return self.bound_function(value, op, args);
            }
            Compute::Machine(MachineOp::InvokeClosure) => {
                let [closure, Arg::Tuple(args)] = args else {
                    let why = "its arguments are not written as a tuple";
                    return Err(self.error(value, GraphProblem::Operator { op, why }));
                };
                return self.call_closure(value, closure, args);
            }
            Compute::Machine(MachineOp::CallProgram) => {
                let [Arg::Global(name), Arg::Tuple(args)] = args else {
                    let why =
                        "it names no loop program, or its arguments are not written as a tuple";
                    return Err(self.error(value, GraphProblem::Operator { op, why }));
                };
                let kernel = self.pool.kernel(name).ok_or_else(|| {
                    let (kind, name) = ("loop program", name.clone());
                    self.error(value, GraphProblem::UnknownFunction { kind, name })
                })?;
                return self.call_program(value, kernel, args);
            }
            Compute::Machine(MachineOp::Alloc) => {
                return Err(self.error(value, GraphProblem::Unplanned));
            }
            Compute::Machine(MachineOp::AllocStorage) => {
                return self.alloc_storage(value, op, args);
            }
            Compute::Machine(MachineOp::AllocTensor) => return self.alloc_tensor(value, op, args),
            Compute::Machine(MachineOp::Kill) => return self.kill(value, args),
            Compute::Machine(MachineOp::Scalar) => {
                let why = "it is not known of the tensor";
                return Err(self.error(value, GraphProblem::Operator { op, why }));
            }
            Compute::Machine(MachineOp::CallBuiltin) => {
                return self.alloc_shape_heap(value, args);
            }
            Compute::Machine(MachineOp::Null) => Builtin::NullValue,
            Compute::Kernel(_) | Compute::Host(_) => {
                let why = "it was not legalized";
                return Err(self.error(value, GraphProblem::Operator { op, why }));
            }
            Compute::Nothing(why) => {
                return Err(self.error(value, GraphProblem::Operator { op, why }));
            }
        };
        let operands = self.flat(args, value)?;
        Ok(Bound::At(Operand::Reg(self.builtin(builtin, operands))))
    }

    /// A reshape. The extents that a shape leaves open (-1, or 0 for that of the tensor) are those of the result.
    fn reshape(&mut self, value: ValueId, op: Op, args: &[Arg]) -> Result<Bound, GraphError> {
        let is_open = |dims: &[Expr]| dims.iter().any(|d| d.as_int().is_some_and(|d| d <= 0));
        let open = match &args[1] {
            Arg::Shape(dims) => is_open(dims),
            Arg::Value(shape) => match &self.function.values[*shape].sinfo {
                StructInfo::Shape(shape) => shape.dims().is_some_and(is_open),
                _ => false,
            },
            _ => false,
        };
        let operands = if open {
            let result = self.function.values[value].sinfo.as_tensor();
            let Some(dims) = result.and_then(|info| info.shape.dims()) else {
                let why =
                    "the shape of the tensor is not known, and the new shape leaves extents open";
                return Err(self.error(value, GraphProblem::Operator { op, why }));
            };
            let shape = Arg::Shape(dims.to_vec());
            self.flat(&[args[0].clone(), shape], value)?
        } else {
            self.flat(args, value)?
        };
        Ok(Bound::At(Operand::Reg(
            self.builtin(Builtin::Reshape, operands),
        )))
    }
}
