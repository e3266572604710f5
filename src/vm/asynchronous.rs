//! Calls for programs with an event loop: futures that wait for the device without a thread of the program's.

use std::future::Future;
use std::pin::Pin;

use super::VmError;
use super::machine::VirtualMachine;
use crate::runtime::{Device, Value};

/// A copy that is on its way.
pub(super) type Copying = Pin<Box<dyn Future<Output = Result<Value, VmError>> + Send>>;

impl VirtualMachine {
    /// Calls a function as [`call`](Self::call) does; done when the device has done its work. Any executor will do: a GPU has a
    /// thread that waits for it, which sleeps while no future waits.
    ///
    /// What the host does of the call, it does when the future is polled: it records kernels for a GPU, computes on the CPU, and calls
    /// packed functions. Where the program needs a value of the GPU on the host, as the condition of a branch or the argument of a
    /// packed function, the future waits for the copy and the thread does not. A future that is dropped ends the call there.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`].
    ///
    /// ```
    /// use weftile::codegen_cpu::host_target;
    /// use weftile::kernel::Target;
    /// use weftile::pipeline::{CompileOptions, compile};
    /// use weftile::runtime::Device;
    /// use weftile::tensor::Tensor;
    /// use weftile::vm::VirtualMachine;
    ///
    /// let text = r#"
    /// @I.ir_module
    /// class Module:
    ///     @R.function
    ///     def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    ///         return R.add(x, x)
    /// "#;
    /// let module = weftile::script::parse("twice.py", text)?;
    /// let target = Target::Cpu(host_target(1));
    /// let executable = compile(&module, &CompileOptions::new(target))?;
    /// let mut vm = VirtualMachine::new(executable, Device::Cpu)?;
    /// let twice = pollster::block_on(async {
    ///     let x = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0])?;
    ///     let y = vm.call_async("main", &[x.into()]).await?;
    ///     vm.read_async(y).await?.into_tensor().map_err(Box::<dyn std::error::Error>::from)
    /// })?;
    /// assert_eq!(twice.as_slice::<f32>()?, [2.0, 4.0, 6.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call_async(&mut self, name: &str, args: &[Value]) -> Result<Value, VmError> {
        let func = self.function(name)?;
        let result = self.start(func, args, &mut [])?.finish().await?;
        match self.device() {
            #[cfg(feature = "gpu")]
            Device::Gpu(gpu) => gpu.done_async()?.await?,
            Device::Cpu => {}
        }
        Ok(result)
    }

    /// The value with all tensors in host memory, as [`to_host`](Self::to_host) gives it. All its tensors are copied at the same
    /// time. It needs nothing of the machine, which can make other calls meanwhile; a future that is dropped calls the copies off.
    pub fn read_async(
        &self,
        value: Value,
    ) -> impl Future<Output = Result<Value, VmError>> + Send + use<> {
        let copying = copying(value);
        async move { copying?.await }
    }
}

/// Starts all copies of a value.
pub(super) fn copying(value: Value) -> Result<Copying, VmError> {
    Ok(match value {
        #[cfg(feature = "gpu")]
        Value::DeviceTensor(tensor) => {
            let copy = tensor.to_host_async()?;
            Box::pin(async move { Ok(Value::Tensor(copy.await?)) })
        }
        Value::Tuple(items) => {
            let copies = items.into_iter().map(copying);
            let copies = copies.collect::<Result<Vec<Copying>, _>>()?;
            Box::pin(async move {
                let mut items = Vec::with_capacity(copies.len());
                for copy in copies {
                    items.push(copy.await?);
                }
                Ok(Value::Tuple(items))
            })
        }
        other => Box::pin(std::future::ready(Ok(other))),
    })
}
