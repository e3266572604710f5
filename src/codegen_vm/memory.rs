//! Memory as it is written down (`R.memory.*`), and calls of loop programs that write into it.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use super::operand::Bound;
use crate::artifact::{Builtin, Callee, MemorySpace, Operand, Reg};
use crate::ir::StructInfo;
use crate::ir::graph::{Arg, Op, ValueId};
use crate::ops::HOST_DEVICE;

impl Compiler<'_, '_> {
    /// A loop program takes tensors, then scalars, in whatever order they are written.
    pub(super) fn call_program(
        &mut self,
        value: ValueId,
        kernel: u32,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let (mut tensors, mut scalars) = (vec![], vec![]);
        for arg in args {
            match arg {
                Arg::Shape(dims) => {
                    for dim in dims {
                        scalars.push(self.prim(dim, value)?);
                    }
                }
                Arg::Value(shape) if self.sizes.contains_key(shape) => {
                    scalars.extend(&self.sizes[shape]);
                }
                Arg::Value(shape)
                    if matches!(self.function.values[*shape].sinfo, StructInfo::Shape(_)) =>
                {
                    let what = "a launch with sizes that `vm.builtin.make_shape` does not make";
                    return Err(self.error(value, GraphProblem::Unsupported(what)));
                }
                arg if self.is_scalar(arg) => {
                    scalars.extend(self.flat(std::slice::from_ref(arg), value)?)
                }
                arg => tensors.extend(self.flat(std::slice::from_ref(arg), value)?),
            }
        }
        tensors.extend(scalars);
        let callee = self.pool.callee(Callee::Kernel(kernel));
        self.asm.call(None, callee, tensors);
        Ok(Bound::Tuple(vec![]))
    }

    fn is_scalar(&self, arg: &Arg) -> bool {
        match arg {
            Arg::Prim(_) => true,
            Arg::Value(id) => matches!(
                self.function.values[*id].sinfo,
                StructInfo::Prim { dtype: _, value: _ }
            ),
            _ => false,
        }
    }

    pub(super) fn alloc_storage(
        &mut self,
        value: ValueId,
        op: Op,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let [size, device, ..] = args else {
            let why = "it has no size";
            return Err(self.error(value, GraphProblem::Operator { op, why }));
        };
        let place = match device {
            Arg::Prim(index) if index.as_int() == Some(HOST_DEVICE) => MemorySpace::Host,
            _ => MemorySpace::Device,
        };
        let size = self.arg(size, value)?;
        let size = self.operand(size);
        let args = vec![Operand::Vm, size, Operand::Imm(place.imm())];
        let storage = self.builtin(Builtin::AllocStorage, args);
        self.keep(storage, place);
        Ok(Bound::At(Operand::Reg(storage)))
    }

    pub(super) fn alloc_tensor(
        &mut self,
        value: ValueId,
        op: Op,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let [storage, offset, shape, Arg::DType(dtype), ..] = args else {
            let why = "its element type is not written down";
            return Err(self.error(value, GraphProblem::Operator { op, why }));
        };
        let offset = self.arg(offset, value)?;
        let offset = self.operand(offset);
        let mut operands = self.flat(std::slice::from_ref(storage), value)?;
        let on_host =
            matches!(operands.first(), Some(Operand::Reg(reg)) if self.host.contains(reg));
        let shape = self.arg(shape, value)?;
        let shape = self.operand(shape);
        let dtype = self.pool.dtype(*dtype);
        operands.extend([offset, shape, dtype]);
        let tensor = self.builtin(Builtin::AllocTensor, operands);
        let place = if on_host {
            MemorySpace::Host
        } else {
            MemorySpace::Device
        };
        self.keep(tensor, place);
        Ok(Bound::At(Operand::Reg(tensor)))
    }

    fn keep(&mut self, reg: Reg, place: MemorySpace) {
        self.keeps.insert(reg);
        if place == MemorySpace::Host {
            self.host.insert(reg);
        }
    }

    /// The end of a life. Planned memory is kept for the next call, and what has another name lives on under that.
    pub(super) fn kill(&mut self, value: ValueId, args: &[Arg]) -> Result<Bound, GraphError> {
        for arg in args {
            let bound = self.arg(arg, value)?;
            if let Arg::Value(killed) = arg {
                self.bound.remove(killed);
            }
            let named = |operand| self.bound.values().any(|other| other.holds(operand));
            if let Bound::At(operand @ Operand::Reg(reg)) = &bound
                && !self.keeps.contains(reg)
                && !named(operand)
            {
                let callee = self.pool.builtin(Builtin::NullValue);
                self.asm.call(Some(*reg), callee, vec![]);
            }
        }
        Ok(Bound::Tuple(vec![]))
    }
}
