//! Layer 6: graph functions to bytecode.
//!
//! Parameters are checked against what is declared of them, and symbolic dimensions go to the shape heap; what is computed from
//! them is computed once, at entry. Memory is planned: a tensor that only kernels use gives its storage to a later one. On a
//! GPU, tensors move between host and device by instructions of their own, so that a profile shows every copy.

mod error;
mod function;
mod memory;
mod shapes;

#[cfg(test)]
mod tests;

pub use error::CodegenVmError;

use indexmap::IndexMap;

use crate::artifact::{Callee, Constant, Executable, KernelFunc, ShapeFunc};
use crate::ir::Module;
use crate::kernel::Target;

/// Compiles the graph functions of a module. `kernels` are its loop programs, lowered and with their code, by name.
///
/// # Errors
/// If a function uses an operator that nothing has lowered, a closure, or a tensor whose shape is not known.
pub fn compile_graph(
    module: &Module,
    kernels: IndexMap<String, KernelFunc>,
    target: &Target,
) -> Result<Executable, CodegenVmError> {
    let mut builder = Builder {
        exec: Executable::new(target.clone()),
        kernels: kernels
            .keys()
            .cloned()
            .enumerate()
            .map(|(i, name)| (name, i as u32))
            .collect(),
        functions: module
            .functions()
            .enumerate()
            .map(|(i, (name, _))| (name.to_owned(), i as u32))
            .collect(),
        on_gpu: matches!(target, Target::Gpu(_)),
    };
    builder.exec.kernels = kernels.into_values().collect();
    for (name, func) in module.functions() {
        let function = function::compile(&mut builder, name, func)?;
        builder.exec.functions.push(function);
    }
    Ok(builder.exec)
}

/// What all functions of an executable share.
struct Builder {
    exec: Executable,
    kernels: IndexMap<String, u32>,
    functions: IndexMap<String, u32>,
    on_gpu: bool,
}

impl Builder {
    /// The entry of a callee in the table.
    fn callee(&mut self, callee: Callee) -> u32 {
        find_or_push(&mut self.exec.callees, callee)
    }

    /// The entry of a constant in the pool. Tensors are shared by identity of their memory, the rest by value.
    fn constant(&mut self, constant: Constant) -> u32 {
        let same = |other: &Constant| match (&constant, other) {
            (Constant::Tensor(a), Constant::Tensor(b)) => {
                a.bytes().as_ptr() == b.bytes().as_ptr()
                    && a.shape() == b.shape()
                    && a.dtype() == b.dtype()
            }
            (Constant::Tensor(_), _) | (_, Constant::Tensor(_)) => false,
            (a, b) => a == b,
        };
        let found = self.exec.constants.iter().position(same);
        found.unwrap_or_else(|| {
            self.exec.constants.push(constant);
            self.exec.constants.len() - 1
        }) as u32
    }

    fn shape_func(&mut self, outputs: Vec<(u32, crate::kernel::HostExpr)>) -> u32 {
        let index = self.exec.shape_funcs.len() as u32;
        let name = if index == 0 {
            "shape_func".to_owned()
        } else {
            format!("shape_func{index}")
        };
        self.exec.shape_funcs.push(ShapeFunc { name, outputs });
        self.callee(Callee::ShapeFunc(index))
    }
}

fn find_or_push(table: &mut Vec<Callee>, item: Callee) -> u32 {
    let found = table.iter().position(|other| *other == item);
    found.unwrap_or_else(|| {
        table.push(item);
        table.len() - 1
    }) as u32
}
