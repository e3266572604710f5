//! Calls: of loop programs and packed functions, which write into memory that is allocated here; of graph functions; and the
//! few operators that are instructions.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use super::operand::Bound;
use super::storage::{Shared, Size};
use crate::artifact::{Builtin, Callee, MemorySpace, Operand, Reg};
use crate::ir::graph::{Arg, Callee as GraphCallee, DpsCallee, Op, ValueId};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::ops::{self, Compute, MachineOp};
use crate::support::Id;

impl Compiler<'_> {
    pub(super) fn call_dps(
        &mut self,
        value: ValueId,
        callee: &DpsCallee,
        args: &[Arg],
        tir_vars: &[Expr],
        inplace: Option<&[Option<usize>]>,
        out: &StructInfo,
    ) -> Result<Bound, GraphError> {
        let (kernel, name) = match callee {
            DpsCallee::Prim(name) | DpsCallee::Packed(name) => (self.pool.kernel(name), name),
        };
        if let (None, DpsCallee::Prim(name)) = (kernel, callee) {
            let problem = GraphProblem::UnknownFunction {
                kind: "loop program",
                name: name.clone(),
            };
            return Err(self.error(value, problem));
        }
        let on_host = self.gpu && kernel.is_none();
        let mut operands = self.flat(args, value)?;
        if on_host {
            operands = operands
                .into_iter()
                .map(|op| self.copy_to_host(op))
                .collect();
        }
        let place = if on_host {
            MemorySpace::Host
        } else {
            MemorySpace::Device
        };
        let inputs = operands.clone();
        let mut results = Vec::new();
        let infos: Vec<&StructInfo> = match out {
            StructInfo::Tuple(items) => items.iter().collect(),
            single => vec![single],
        };
        for (index, info) in infos.into_iter().enumerate() {
            let reused = inplace.and_then(|list| list.get(index).copied().flatten());
            let reg = match reused {
                Some(input) => match inputs.get(input) {
                    Some(operand @ Operand::Reg(reg))
                        if occurs_once(operand, &inputs) && !self.is_read_after(operand, value) =>
                    {
                        *reg
                    }
                    // The machine copies what others hold before it is written.
                    Some(shared) => {
                        let reg = self.builtin(Builtin::Copy, vec![*shared]);
                        operands[input] = Operand::Reg(reg);
                        reg
                    }
                    None => return Err(self.error(value, GraphProblem::Inplace(index))),
                },
                None => {
                    let reg = self.alloc(value, info, place)?;
                    operands.push(Operand::Reg(reg));
                    reg
                }
            };
            results.push(reg);
        }
        for var in tir_vars {
            let scalar = self.prim(var, value)?;
            operands.push(scalar);
        }
        let callee = match kernel {
            Some(index) => Callee::Kernel(index),
            None => Callee::Packed(name.clone()),
        };
        let callee = self.pool.callee(callee);
        self.asm.call(None, callee, operands);
        let results = results.into_iter().map(|reg| {
            if on_host {
                self.builtin(Builtin::ToDevice, vec![Operand::Reg(reg)])
            } else {
                reg
            }
        });
        let mut results: Vec<Bound> = results.map(|reg| Bound::At(Operand::Reg(reg))).collect();
        Ok(match out {
            StructInfo::Tuple(_) => Bound::Tuple(results),
            _ => results.pop().unwrap_or(Bound::Tuple(vec![])),
        })
    }

    /// Whether a binding after this one names a value that is in the register of the operand.
    fn is_read_after(&self, operand: &Operand, binding: ValueId) -> bool {
        let mut values = self.bound.iter();
        values.any(|(value, bound)| bound.holds(operand) && self.live.named_after(*value, binding))
    }

    /// On a GPU, the operand in host memory: constants are there already.
    pub(super) fn copy_to_host(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(_) => Operand::Reg(self.builtin(Builtin::ToHost, vec![operand])),
            other => other,
        }
    }

    /// A register with memory for an output.
    fn alloc(
        &mut self,
        value: ValueId,
        info: &StructInfo,
        place: MemorySpace,
    ) -> Result<Reg, GraphError> {
        let unknown = GraphProblem::UnknownOutput;
        let Some(TensorInfo {
            shape: ShapeInfo::Known(dims),
            dtype: Some(dtype),
            vdevice: _,
        }) = info.as_tensor()
        else {
            return Err(self.error(value, unknown));
        };
        let shape = self.shape(dims, value)?;
        let size = Size::of(dims, *dtype);
        let shared = if self.live.is_result(value) {
            Shared::No
        } else {
            Shared::Yes
        };
        let regs = &mut self.regs;
        let (index, new) = self.storages.take(size, place, shared, || {
            *regs += 1;
            Reg::from_index(*regs - 1)
        });
        if new {
            self.storage_funcs.push(self.shape_func);
            let size_reg = self.reg();
            self.asm.storage(index, size_reg);
        }
        self.owned.entry(value).or_default().push(index);
        let storage = Operand::Reg(self.storages.all[index].reg);
        let dtype = self.pool.dtype(*dtype);
        Ok(self.builtin(Builtin::AllocTensor, vec![storage, shape, dtype]))
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
        let mut operands = Vec::new();
        for arg in args {
            let bound = self.arg(arg, value)?;
            operands.push(self.operand(bound));
        }
        let (callee, packed) = match callee {
            GraphCallee::Global(name) => {
                let index = self.pool.function(name).ok_or_else(|| {
                    let problem = GraphProblem::UnknownFunction {
                        kind: "graph function",
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
        let result = if on_host {
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
            Compute::Machine(MachineOp::Scalar) => {
                let StructInfo::Prim {
                    dtype: _,
                    value: Some(scalar),
                } = &self.function.values[value].sinfo
                else {
                    let why = "it is not known of the tensor";
                    return Err(self.error(value, GraphProblem::Operator { op, why }));
                };
                let scalar = scalar.clone();
                return Ok(Bound::At(self.prim(&scalar, value)?));
            }
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
        let given = match &args[1] {
            Arg::Shape(dims) => Some(dims.as_slice()),
            Arg::Value(shape) => match &self.function.values[*shape].sinfo {
                StructInfo::Shape(shape) => shape.dims(),
                _ => None,
            },
            _ => None,
        };
        let is_open = |dims: &[Expr]| dims.iter().any(|d| d.as_int().is_some_and(|d| d <= 0));
        let operands = if given.is_some_and(is_open) {
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
        let result = self.builtin(Builtin::Reshape, operands);
        Ok(Bound::At(Operand::Reg(result)))
    }
}

/// Whether no other input is this operand too.
fn occurs_once(operand: &Operand, inputs: &[Operand]) -> bool {
    inputs.iter().filter(|input| *input == operand).count() == 1
}
