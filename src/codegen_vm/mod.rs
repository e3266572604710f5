//! Graph functions to bytecode.
//!
//! Each graph function becomes one bytecode function: its bindings, one after the other. Memory is written down in the function
//! (`R.memory.*`), and so are checks of values and arithmetic on symbolic dimensions (`vm.builtin.*` on a shape heap). On a GPU the
//! calls of packed functions are surrounded by explicit copies to and from the host.

mod assemble;
mod call;
mod closure;
mod error;
mod func;
mod memory;
mod operand;
mod pool;
mod shape_builtin;
mod shape_func;
mod signature;

pub use error::{GraphError, GraphProblem, ShapeProblem};
pub use signature::signature;

use crate::artifact::{Executable, KernelFunc};
use crate::ir::{Func, Module};
use crate::kernel::Target;
use closure::Unit;
use pool::Pool;

/// Compiles all graph functions of a module. `kernels` are its loop programs, lowered.
///
/// # Errors
/// If a function uses what bytecode cannot say, as an operator that was not legalized.
pub fn compile_graph(
    module: &Module,
    kernels: Vec<KernelFunc>,
    target: &Target,
) -> Result<Executable, GraphError> {
    let mut pool = Pool::new(Executable::new(target.clone()), module);
    pool.exec.kernels = kernels;
    let graphs = || module.funcs.values().filter_map(graph_function);
    // Functions may call each other in any order, so all have their numbers first.
    pool.functions = graphs().map(|f| f.name.clone()).collect();
    for function in graphs() {
        func::compile_function(&mut pool, &Unit::of(function))?;
        let signature = signature(function);
        pool.exec
            .signatures
            .insert(function.name.clone(), signature);
    }
    // Those inside of them come after, and those inside of these.
    while let Some(unit) = pool.closures.pop_front() {
        func::compile_function(&mut pool, &unit)?;
    }
    Ok(pool.exec)
}

fn graph_function(func: &Func) -> Option<&crate::ir::graph::Function> {
    match func {
        Func::Graph(function) => Some(function),
        Func::Prim(_) => None,
    }
}
