//! `Pool`: the executable in the making: constants and callees, each once.

use std::collections::VecDeque;

use super::closure::Unit;
use crate::artifact::{Builtin, Callee, Constant, Executable, Operand, ShapeFunc};
use crate::ir::Module;
use crate::tensor::DType;

pub(super) struct Pool<'m> {
    pub(super) exec: Executable,
    /// The functions that calls may call.
    pub(super) module: &'m Module,
    /// Names of the graph functions, by their numbers.
    pub(super) functions: Vec<String>,
    /// Closures that are numbered and not compiled yet, in the order of their numbers.
    pub(super) closures: VecDeque<Unit>,
}

impl<'m> Pool<'m> {
    pub(super) fn new(exec: Executable, module: &'m Module) -> Self {
        Self {
            exec,
            module,
            functions: vec![],
            closures: VecDeque::new(),
        }
    }

    /// Numbers a closure.
    pub(super) fn enqueue(&mut self, unit: impl FnOnce(u32) -> Unit) -> u32 {
        let index = self.functions.len() as u32;
        let unit = unit(index);
        self.functions.push(unit.name.clone());
        self.closures.push_back(unit);
        index
    }

    /// The position of the constant, which is added if it is new. Tensors are the same if they share their elements.
    pub(super) fn constant(&mut self, constant: Constant) -> Operand {
        let same = |other: &Constant| match (other, &constant) {
            (Constant::Tensor(a), Constant::Tensor(b)) => {
                a.bytes().as_ptr() == b.bytes().as_ptr()
                    && a.shape() == b.shape()
                    && a.dtype() == b.dtype()
            }
            (Constant::Float(a), Constant::Float(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        };
        let found = self.exec.constants.iter().position(same);
        let index = found.unwrap_or_else(|| {
            self.exec.constants.push(constant);
            self.exec.constants.len() - 1
        });
        Operand::Const(index as u32)
    }

    pub(super) fn dtype(&mut self, dtype: DType) -> Operand {
        self.constant(Constant::DType(dtype))
    }

    /// The position of the callee, which is added if it is new.
    pub(super) fn callee(&mut self, callee: Callee) -> u32 {
        let found = self.exec.callees.iter().position(|c| *c == callee);
        let index = found.unwrap_or_else(|| {
            self.exec.callees.push(callee);
            self.exec.callees.len() - 1
        });
        index as u32
    }

    /// The position of the shape function, which is added if it is new.
    pub(super) fn shape_func(&mut self, func: ShapeFunc) -> u32 {
        let found = self.exec.shape_funcs.iter().position(|f| *f == func);
        let index = found.unwrap_or_else(|| {
            self.exec.shape_funcs.push(func);
            self.exec.shape_funcs.len() - 1
        });
        index as u32
    }

    pub(super) fn builtin(&mut self, builtin: Builtin) -> u32 {
        self.callee(Callee::Builtin(builtin))
    }

    /// The lowered loop program with this name.
    pub(super) fn kernel(&self, name: &str) -> Option<u32> {
        let found = self.exec.kernels.iter().position(|k| k.func.name == name);
        found.map(|index| index as u32)
    }

    /// The graph function with this name.
    pub(super) fn function(&self, name: &str) -> Option<u32> {
        let found = self.functions.iter().position(|f| f == name);
        found.map(|index| index as u32)
    }
}
