//! Constants that native code computes while a module is compiled.

use super::{CompileOptions, compile};
use crate::codegen_cpu::this_cpu;
use crate::interp;
use crate::ir::Module;
use crate::kernel::Target;
use crate::passes::{Evaluate, Evaluated};
use crate::runtime::{Device, Value, ValueError};
use crate::tensor::scalar::Scalar;
use crate::vm::VirtualMachine;

/// Compiles for the CPU and runs there, on all threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Native;

impl Evaluate for Native {
    fn evaluate(&self, module: &Module, func: &str) -> Evaluated {
        let mut options = CompileOptions::new(Target::Cpu(this_cpu()));
        // All of this module is constant, and runs once: to fold it would be to compile it again, and again.
        let unwanted = ["fold_constant", "winograd_conv2d", "pack_weights"].map(str::to_owned);
        options.passes.disabled.extend(unwanted);
        let executable = compile(module, &options)?;
        let mut machine = VirtualMachine::new(executable, Device::Cpu)?;
        match machine.call(func, &[])? {
            Value::Tuple(items) => Ok(items.into_iter().map(value).collect::<Result<_, _>>()?),
            other => Ok(vec![value(other)?]),
        }
    }
}

/// A value of the machine as one of the interpreter.
fn value(of_machine: Value) -> Result<interp::Value, ValueError> {
    Ok(match of_machine {
        Value::Tuple(items) => {
            let items: Result<_, _> = items.into_iter().map(value).collect();
            interp::Value::Tuple(items?)
        }
        Value::Shape(dims) => interp::Value::Shape(dims.to_vec()),
        Value::Int(number) => interp::Value::Scalar(Scalar::Int(number)),
        Value::Float(number) => interp::Value::Scalar(Scalar::Float(number)),
        other => interp::Value::Tensor(other.into_tensor()?),
    })
}
