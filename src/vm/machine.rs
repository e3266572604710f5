//! `VirtualMachine`: an executable made ready for a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::VmError;
use super::backend::Backend;
use super::call::{Activation, Call};
use super::frame::Frame;
use super::instrument::Instrument;
use super::loaded::{Lease, NativeBackend};
use super::profile::{Clock, Profile, ProfileEntry, ProfileKind};
use super::program::{Code, Program};
use super::stateful::{IncludeReturn, Saved, Stateful};
use crate::artifact::{Constant, Executable, Reg};
use crate::runtime::{Closure, Device, PackedFunc, Registry, Value};
use crate::support::Id;
use crate::tensor::Recycler;

/// What changes from call to call.
pub(super) struct State {
    /// A number that no other machine has.
    pub(super) machine: u64,
    pub(super) backend: Backend,
    /// Constants, tensors on the device.
    pub(super) consts: Vec<Value>,
    /// Constants, tensors on the host.
    pub(super) host_consts: Vec<Value>,
    pub(super) packed: Vec<PackedFunc>,
    /// Arguments of a packed function, kept for their memory.
    pub(super) packed_args: Vec<Value>,
    /// A shape being made, kept for its memory.
    pub(super) shape: Vec<usize>,
    /// Memory of results that nobody holds any longer.
    pub(super) recycler: Recycler,
    pub(super) profile: Option<Profile>,
    pub(super) instrument: Option<Box<Instrument>>,
    /// The activations of the call that is under way, the innermost last.
    pub(super) stack: Vec<Activation>,
    /// By function: frames that no call uses.
    frames: Vec<Vec<Frame>>,
}

impl State {
    pub(super) fn frame(&mut self, index: usize, code: &Code) -> Frame {
        self.frames[index].pop().unwrap_or_else(|| Frame::new(code))
    }

    /// Keeps the frame of an activation that is over for the next one.
    pub(super) fn keep(&mut self, program: &Program, ended: Activation) {
        let Activation {
            function,
            mut frame,
            pc: _,
        } = ended;
        frame.reset(&program.codes[function]);
        self.frames[function].push(frame);
    }

    /// Ends all activations of the call that is under way.
    pub(super) fn give_up(&mut self, program: &Program) {
        while let Some(activation) = self.stack.pop() {
            self.keep(program, activation);
        }
    }

    /// The function of a closure, which takes what that captured after its arguments.
    pub(super) fn closure_code<'p>(
        &self,
        program: &'p Program,
        closure: &Closure,
    ) -> Result<&'p Code, VmError> {
        if closure.machine != self.machine {
            return Err(VmError::ForeignClosure(closure.name.clone()));
        }
        Ok(&program.codes[closure.function])
    }

    /// Whether somebody wants to know of every step.
    pub(super) fn is_watched(&self) -> bool {
        self.profile.is_some() || self.instrument.is_some()
    }
}

/// How many machines were made.
static MACHINES: AtomicU64 = AtomicU64::new(0);

/// A function of a machine, or a call saved in it, found once by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FuncId {
    /// The number of the machine.
    pub(super) machine: u64,
    /// Functions of the executable come first, then saved calls.
    pub(super) index: usize,
}

/// What a handle names: a function, and the values that it gets after the arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Callable<'a> {
    pub(super) index: usize,
    pub(super) code: &'a Code,
    pub(super) bound: &'a [Value],
    pub(super) include_return: IncludeReturn,
}

impl Callable<'_> {
    /// Names of the parameters that a call gives arguments for.
    pub(super) fn params(&self) -> &[String] {
        let params = &self.code.params;
        &params[..params.len() - self.bound.len()]
    }
}

/// An executable made ready to run on a device.
///
/// Calls take `&mut self`: the memory of one call is used by the next. Machines are cheap beside their executable, so threads
/// have one each. Machines of the same `Arc<Executable>` share what was compiled of it: only the first one compiles.
pub struct VirtualMachine {
    pub(super) lease: Lease,
    device: Device,
    pub(super) state: State,
    pub(super) saved: Vec<Saved>,
    /// By the index of a handle.
    pub(super) stateful: Vec<Stateful>,
}

impl std::fmt::Debug for VirtualMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.lease.program.codes.iter().map(|c| &c.name).collect();
        write!(f, "VirtualMachine({names:?} on {})", self.device)
    }
}

impl VirtualMachine {
    /// A machine whose packed functions are those registered for the process.
    ///
    /// # Errors
    /// As [`VirtualMachine::with_registry`].
    pub fn new(exec: impl Into<Arc<Executable>>, device: Device) -> Result<Self, VmError> {
        Self::with_registry(exec, device, &Registry::new())
    }

    /// A machine whose packed functions are those of this registry, and behind them those registered for the process.
    ///
    /// # Errors
    /// If the executable is not valid or not for this device, a packed function is not registered, or a kernel is refused.
    pub fn with_registry(
        exec: impl Into<Arc<Executable>>,
        device: Device,
        registry: &Registry,
    ) -> Result<Self, VmError> {
        Self::made(exec.into(), device, registry, NativeBackend::default())
    }

    /// A machine whose native code this back end makes, where others take [`Backend::default`](crate::codegen_cpu::Backend).
    /// The executable runs whichever back end it was compiled for ([`Backend::target`](crate::codegen_cpu::Backend::target)).
    ///
    /// # Errors
    /// As [`VirtualMachine::with_registry`]; [`VmError::NotHere`] if this machine cannot run the code.
    #[cfg(feature = "cpu")]
    pub fn with_backend(
        exec: impl Into<Arc<Executable>>,
        device: Device,
        backend: crate::codegen_cpu::Backend,
    ) -> Result<Self, VmError> {
        match backend.is_here() {
            true => Self::made(exec.into(), device, &Registry::new(), backend),
            false => Err(VmError::NotHere(backend.name())),
        }
    }

    fn made(
        exec: Arc<Executable>,
        device: Device,
        registry: &Registry,
        native: NativeBackend,
    ) -> Result<Self, VmError> {
        let lease = Lease::new(exec, native)?;
        let Program { codes, packed, .. } = &*lease.program;
        let packed = packed.iter().map(|name| {
            let found = registry.find(name).map_err(VmError::from);
            found.map_err(|error| match lease.exec.first_call(name) {
                Some(origin) => error.located(origin),
                None => error,
            })
        });
        let packed = packed.collect::<Result<_, _>>()?;
        let frames = codes.iter().map(|_| vec![]).collect();
        let backend = Backend::new(&lease.exec, &lease.loaded, &device)?;
        let host_consts: Vec<Value> = lease.exec.constants.iter().map(host_constant).collect();
        Ok(Self {
            state: State {
                machine: MACHINES.fetch_add(1, Ordering::Relaxed),
                consts: backend.constants(&host_consts),
                backend,
                host_consts,
                packed,
                packed_args: vec![],
                shape: vec![],
                recycler: Recycler::default(),
                profile: None,
                instrument: None,
                stack: vec![],
                frames,
            },
            lease,
            device,
            saved: vec![],
            stateful: vec![],
        })
    }

    /// What runs.
    pub fn executable(&self) -> &Arc<Executable> {
        &self.lease.exec
    }

    /// Where it runs.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many modules of native code were compiled for the executable so far, for all of its machines together. (Of shaders,
    /// [`Gpu::counters`](crate::runtime_gpu::Gpu::counters) tells.)
    #[cfg(feature = "cpu")]
    pub fn native_modules(&self) -> usize {
        self.lease.loaded.native.compiled()
    }

    /// How long the code generators of the CPU took for the executable so far, for all of its machines together.
    #[cfg(feature = "cpu")]
    pub fn native_timing(&self) -> crate::support::timing::Timing {
        self.lease.loaded.native.timing()
    }

    /// The function with this name; or the call saved under it.
    ///
    /// # Errors
    /// [`VmError::NoFunction`].
    pub fn function(&self, name: &str) -> Result<FuncId, VmError> {
        let codes = &self.lease.program.codes;
        let functions = codes.iter().map(|code| &*code.name);
        let mut names = functions.chain(self.saved.iter().map(|saved| saved.name.as_str()));
        let found = names.position(|known| known == name);
        let index = found.ok_or_else(|| VmError::NoFunction {
            name: name.to_owned(),
            functions: codes.iter().map(|c| c.name.to_string()).collect(),
        })?;
        let machine = self.state.machine;
        Ok(FuncId { machine, index })
    }

    /// What a handle names.
    pub(super) fn callable(&self, func: FuncId) -> Result<Callable<'_>, VmError> {
        resolve(&self.lease.program, &self.saved, self.state.machine, func)
    }

    /// Calls a function. On a GPU, tensors of the host are copied to it, and the result stays there until asked for.
    ///
    /// # Errors
    /// If an argument is not what the function takes, or the device fails.
    pub fn call(&mut self, name: &str, args: &[Value]) -> Result<Value, VmError> {
        let func = self.function(name)?;
        self.call_func(func, args)
    }

    /// The same for a function found before.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`]; [`VmError::ForeignFunction`] if another machine found it.
    pub fn call_func(&mut self, func: FuncId, args: &[Value]) -> Result<Value, VmError> {
        self.enter(func, args, &mut [])
    }

    /// The same, with memory for the results: each tensor of the result is put into `outputs`, in the memory of the tensor
    /// that was there if that is large enough and not shared. After an error they are tensors of unspecified elements. A
    /// second call with arguments of the same shapes, and the outputs of the first, allocates nothing on the CPU, if all that
    /// the function does is to call loop programs of at most 16 arrays.
    ///
    /// # Errors
    /// As [`VirtualMachine::call_func`]; [`VmError::Arity`] if the number of results is another.
    pub fn call_into(
        &mut self,
        func: FuncId,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<(), VmError> {
        let result = self.enter(func, args, outputs)?;
        match result {
            Value::Tuple(items) if items.len() == outputs.len() => {
                outputs
                    .iter_mut()
                    .zip(items)
                    .for_each(|(out, item)| *out = item);
            }
            value if outputs.len() == 1 => outputs[0] = value,
            other => {
                let given = outputs.len();
                let count = other.as_tuple().map_or(1, <[Value]>::len);
                return Err(VmError::Arity {
                    func: format!("{}'s results", self.callable(func)?.code.name),
                    params: (0..count).map(|i| format!("output {i}")).collect(),
                    given,
                });
            }
        }
        Ok(())
    }

    /// Calls a closure that this machine made.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`]; [`VmError::ForeignClosure`] if another machine made it.
    pub fn invoke_closure(&mut self, closure: &Value, args: &[Value]) -> Result<Value, VmError> {
        let Value::Closure(closure) = closure else {
            return Err(VmError::NoClosure(closure.kind()));
        };
        let code = self.state.closure_code(&self.lease.program, closure)?;
        let takes = code.params.len() - closure.captured.len();
        if takes != args.len() {
            return Err(VmError::ClosureArguments {
                func: code.name.to_string(),
                expected: takes,
                given: args.len(),
            });
        }
        let func = FuncId {
            machine: self.state.machine,
            index: closure.function,
        };
        let captured = closure.captured.iter();
        let args: Vec<Value> = args.iter().chain(captured).cloned().collect();
        self.enter(func, &args, &mut [])
    }

    /// Calls a function and says what every step took. On a GPU each kernel is waited for, so the whole takes longer.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`].
    pub fn profile(&mut self, name: &str, args: &[Value]) -> Result<(Value, Profile), VmError> {
        let func = self.function(name)?;
        self.state.profile = Some(Profile::default());
        let start = Instant::now();
        let result = self.call_func(func, args);
        let mut profile = self.state.profile.take().unwrap_or_default();
        profile.total = start.elapsed();
        Ok((result?, profile))
    }

    /// The value with all tensors in host memory: waits for a GPU.
    ///
    /// # Errors
    /// If the device fails.
    pub fn to_host(&mut self, value: Value) -> Result<Value, VmError> {
        self.state.backend.copy_to_host(value)
    }

    /// The value with all tensors on the device, as weights that many calls use.
    ///
    /// # Errors
    /// If the device cannot hold them.
    pub fn to_device(&mut self, value: Value) -> Result<Value, VmError> {
        self.state.backend.copy_to_device(value)
    }

    /// The first arguments of a function with all tensors on the device, for calls that share them.
    ///
    /// # Errors
    /// [`VmError::ToDevice`] if the device cannot hold one, which it names.
    pub fn args_to_device(&mut self, func: &str, args: Vec<Value>) -> Result<Vec<Value>, VmError> {
        let exec = self.executable().clone();
        let params = exec.function(func).map(|function| &function.params);
        let args = args.into_iter().enumerate();
        let copied = args.map(|(index, arg)| {
            let param = params.and_then(|params| params.get(index));
            let param = param.map_or("", String::as_str);
            self.to_device(arg).map_err(|e| e.of_argument(func, param))
        });
        copied.collect()
    }

    /// Waits until the device has done all work of the calls so far.
    ///
    /// # Errors
    /// If the device fails.
    pub fn wait(&self) -> Result<(), VmError> {
        self.state.backend.wait()
    }

    fn enter(
        &mut self,
        func: FuncId,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<Value, VmError> {
        self.start(func, args, outputs)?.wait(outputs)
    }

    /// Starts a call, of which nothing has run yet.
    pub(super) fn start(
        &mut self,
        func: FuncId,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<Call<'_>, VmError> {
        let Self {
            lease,
            state,
            saved,
            ..
        } = self;
        let callable = resolve(&lease.program, saved, state.machine, func)?;
        if args.len() != callable.params().len() {
            return Err(VmError::Arity {
                func: callable.code.name.to_string(),
                params: callable.params().to_vec(),
                given: args.len(),
            });
        }
        Call::start(&lease.exec, &lease.program, state, callable, args, outputs)
    }
}

fn resolve<'a>(
    program: &'a Program,
    saved: &'a [Saved],
    machine: u64,
    func: FuncId,
) -> Result<Callable<'a>, VmError> {
    if func.machine != machine {
        return Err(VmError::ForeignFunction);
    }
    let codes = &program.codes;
    Ok(match func.index.checked_sub(codes.len()) {
        None => Callable {
            index: func.index,
            code: &codes[func.index],
            bound: &[],
            include_return: IncludeReturn::Yes,
        },
        Some(at) => Callable {
            index: saved[at].function,
            code: &codes[saved[at].function],
            bound: &saved[at].args,
            include_return: saved[at].include_return,
        },
    })
}

/// Puts memory for results where they will be made, and arguments into the first registers.
pub(super) fn fill<'v>(
    state: &mut State,
    code: &Code,
    frame: &mut Frame,
    args: impl Iterator<Item = &'v Value>,
    outputs: &mut [Value],
) -> Result<(), VmError> {
    if code.results.len() == outputs.len() {
        for (&(reg, storage), output) in code.results.iter().zip(outputs) {
            frame.regs[reg] = std::mem::take(output);
            frame.storages[storage].tenant = Some(reg);
        }
    }
    frame.begin(code, &state.backend);
    for (index, arg) in args.enumerate() {
        let reg = Reg::from_index(index);
        // To ask for the time takes about as long as the rest of this loop.
        let start = state.profile.is_some().then(Instant::now);
        let copied = state.backend.copy_to_device(arg.clone());
        frame.regs[reg] = copied.map_err(|e| e.of_argument(&code.name, &code.params[index]))?;
        if let (Some(profile), Some(start)) = (&mut state.profile, start)
            && let bytes @ 1.. = state.backend.bytes_to_device(arg)
        {
            profile.entries.push(ProfileEntry {
                func: code.name.to_string(),
                pc: code.start,
                name: format!("to_device {}", code.params[index]),
                kind: ProfileKind::Copy,
                seconds: start.elapsed().as_secs_f64(),
                clock: Clock::Host,
                launches: 0,
                bytes,
                flops: 0,
                code: None,
                why: Some("the argument is in host memory".to_owned()),
            });
        }
    }
    Ok(())
}

/// Gives memory for results back, where a call did not put any there.
pub(super) fn give_back(code: &Code, frame: &mut Frame, outputs: &mut [Value]) {
    if code.results.len() == outputs.len() {
        for (&(reg, storage), output) in code.results.iter().zip(outputs) {
            let tenant = frame.storages[storage].tenant.unwrap_or(reg);
            *output = frame.regs.take(tenant);
        }
    }
}

/// A constant as a value in host memory.
pub(super) fn host_constant(constant: &Constant) -> Value {
    match constant {
        Constant::Tensor(tensor) => Value::Tensor(tensor.clone()),
        Constant::Shape(dims) => Value::Shape(dims.as_slice().into()),
        Constant::Str(text) => Value::from(text.as_str()),
        Constant::DType(dtype) => Value::from(dtype.to_string().as_str()),
        Constant::Int(value) => Value::Int(*value),
        Constant::Float(value) => Value::Float(*value),
        Constant::Context(context) => Value::from(context.to_string().as_str()),
    }
}
