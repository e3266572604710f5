//! Calls of operators, each with what it must give, run together on every device.

use std::fmt::Write;

use weftile::artifact::Executable;
use weftile::codegen_cpu::Backend;
use weftile::interp;
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{self, Gpu};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, Element, ScalarType, Tensor};
use weftile::vm::{VirtualMachine, VmError};
use weftile::{codegen_cpu, script};

/// A tensor of these elements.
pub(crate) fn tensor<T: Element>(shape: &[usize], elements: &[T]) -> Tensor {
    Tensor::from_slice(shape, elements).expect("as many elements as the shape has")
}

/// A tensor of truth values.
pub(crate) fn bools(shape: &[usize], elements: &[bool]) -> Tensor {
    let bytes: Vec<u8> = elements.iter().map(|&v| v.into()).collect();
    Tensor::from_bytes(DType::BOOL, shape, &bytes).expect("as many elements as the shape has")
}

macro_rules! tensors {
    ($($name:ident $ty:ident),*) => { $(
        /// A tensor of these numbers.
        pub(crate) fn $name(shape: &[usize], elements: &[$ty]) -> Tensor {
            tensor(shape, elements)
        }
    )* };
}
tensors!(f32s f32, i8s i8, i32s i32, i64s i64, u8s u8);

/// One call.
struct Case {
    call: String,
    types: Vec<String>,
    inputs: Vec<(String, Tensor)>,
    expected: Vec<Tensor>,
    tolerance: Tolerance,
    gpu: bool,
}

/// One of so many calls runs by a back end of the CPU that is not the best.
const SAMPLED: usize = 3;

/// Calls that run as one module, each in a function of its own.
#[derive(Default)]
pub(crate) struct Cases {
    cases: Vec<Case>,
}

impl Cases {
    /// A call as text, as `R.add(x, y)`, with named inputs and its results: several if the call gives a tuple. The tolerance is
    /// that of the results' element type; see [`Cases::terms`].
    pub(crate) fn case(
        &mut self,
        call: &str,
        inputs: &[(&str, &Tensor)],
        expected: &[Tensor],
    ) -> &mut Self {
        let dims = |t: &Tensor| {
            let dims: String = t.shape().iter().map(|d| format!("{d}, ")).collect();
            format!("R.Tensor(({dims}), \"{}\")", t.dtype())
        };
        let types: Vec<String> = inputs.iter().map(|(_, t)| dims(t)).collect();
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        self.case_of(call, &types, inputs, expected)
    }

    /// The same with types of the inputs as text, as `R.Tensor(("n", 4), "float32")`.
    pub(crate) fn case_of(
        &mut self,
        call: &str,
        types: &[&str],
        inputs: &[(&str, &Tensor)],
        expected: &[Tensor],
    ) -> &mut Self {
        let tolerance = expected.iter().map(|t| Tolerance::of(t.dtype().scalar, 1));
        self.cases.push(Case {
            call: call.to_owned(),
            types: types.iter().map(|&t| t.to_owned()).collect(),
            inputs: inputs
                .iter()
                .map(|(n, t)| ((*n).to_owned(), (*t).clone()))
                .collect(),
            expected: expected.to_vec(),
            tolerance: tolerance.reduce(Tolerance::max).expect("a result"),
            gpu: true,
        });
        self
    }

    fn last(&mut self) -> &mut Case {
        self.cases.last_mut().expect("a case was added")
    }

    /// Every element of the last call's results combines so many terms.
    pub(crate) fn terms(&mut self, terms: usize) -> &mut Self {
        let case = self.last();
        let of = |t: &Tensor| Tolerance::of(t.dtype().scalar, terms);
        let tolerance = case.expected.iter().map(of).reduce(Tolerance::max);
        case.tolerance = tolerance.expect("a result");
        self
    }

    /// The tolerance of the last call as for results of this type: an operator that computes in a narrower type.
    pub(crate) fn as_precise_as(&mut self, ty: ScalarType) -> &mut Self {
        let case = self.last();
        case.tolerance = case.tolerance.max(Tolerance::of(ty, 1));
        self
    }

    /// The last call's results may differ by so much.
    pub(crate) fn within(&mut self, tolerance: Tolerance) -> &mut Self {
        self.last().tolerance = tolerance;
        self
    }

    /// The last call does not run on GPUs: its element type exists on the CPU only.
    pub(crate) fn not_on_gpus(&mut self) -> &mut Self {
        self.last().gpu = false;
        self
    }

    /// Of the calls so far only every `n`th runs on GPUs: the others are the same program with other numbers.
    pub(crate) fn on_gpus_every(&mut self, n: usize) {
        for (at, case) in self.cases.iter_mut().enumerate() {
            case.gpu &= at % n == 0;
        }
    }

    /// Runs all calls on all devices; reports every one that gives something else.
    pub(crate) fn run(&self) {
        let mut faults = Vec::new();
        let all: Vec<&Case> = self.cases.iter().collect();
        faults.extend(run_interp(&all));
        faults.extend(run_on_cpu(&all, Backend::default()));
        for (backend, cases) in self.of_back_ends() {
            faults.extend(run_on_cpu(&cases, backend));
        }
        if let Some(gpu) = gpu() {
            let on_gpu: Vec<&Case> = self.cases.iter().filter(|case| case.gpu).collect();
            if !on_gpu.is_empty() {
                let target = Target::Gpu(gpu.target().clone());
                let vm = |exec| VirtualMachine::new(exec, Device::Gpu(gpu));
                faults.extend(run_on(&on_gpu, "gpu", target, vm));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// The calls that code by the other back ends of the CPU computes, too: of three calls the first, by each back end in turn. Where
    /// that starts follows from the text of the first call, so that single calls come to all back ends.
    fn of_back_ends(&self) -> Vec<(Backend, Vec<&Case>)> {
        let is_other = |b: &Backend| b.is_here() && *b != Backend::default();
        let others: Vec<Backend> = Backend::ALL.into_iter().filter(is_other).collect();
        let period = SAMPLED * others.len().max(1);
        let first = self.cases.first().map_or(0, |case| case.call.len());
        let cases_of = |turn: usize| {
            let cases = self.cases.iter().skip((SAMPLED * turn + first) % period);
            cases.step_by(period).collect::<Vec<_>>()
        };
        let all = others.iter().enumerate();
        all.map(|(turn, &backend)| (backend, cases_of(turn)))
            .filter(|(_, cases)| !cases.is_empty())
            .collect()
    }
}

/// The first adapter; `None` where there is none and none is required.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn gpu() -> Option<Gpu> {
    match runtime_gpu::adapters().first() {
        Some(adapter) => Some(adapter.open(Default::default()).expect("opens")),
        None if std::env::var_os("WEFTILE_REQUIRE_GPU").is_some_and(|v| v != "0") => {
            panic!("WEFTILE_REQUIRE_GPU is set, but there is no adapter")
        }
        None => {
            eprintln!("skipped: no adapter");
            None
        }
    }
}

/// The CPU, and the first adapter if there is one.
pub(crate) fn devices() -> Vec<(Target, Device)> {
    let mut devices = vec![(Target::Cpu(codegen_cpu::host_target(2)), Device::Cpu)];
    if let Some(gpu) = gpu() {
        devices.push((Target::Gpu(gpu.target().clone()), Device::Gpu(gpu)));
    }
    devices
}

/// The module: a function for each case, `f0`, `f1`, ….
fn text(cases: &[&Case]) -> String {
    let mut text = "@I.ir_module\nclass Module:\n".to_owned();
    for (at, case) in cases.iter().enumerate() {
        let params = case.inputs.iter().zip(&case.types);
        let params: Vec<String> = params
            .map(|((name, _), ty)| format!("{name}: {ty}"))
            .collect();
        let call = &case.call;
        // A call may say extents of its operands.
        let is_extent = |name: &&&str| {
            case.types
                .iter()
                .any(|ty| ty.contains(&format!("\"{name}\"")))
        };
        let extents = ["n", "m", "k"];
        let extents = extents.iter().filter(is_extent);
        let extents: String = extents
            .map(|name| format!("        {name} = T.int64()\n"))
            .collect();
        write!(
            text,
            "    @R.function\n    def f{at}({}):\n{extents}        with R.dataflow():\n            gv = {call}\n            \
             R.output(gv)\n        return gv\n",
            params.join(", ")
        )
        .expect("a String takes all text");
    }
    text
}

fn check(device: &str, case: &Case, results: &[Tensor]) -> Vec<String> {
    let of_case = |what: String| {
        let shapes: Vec<_> = case
            .inputs
            .iter()
            .map(|(_, t)| t.shape().to_vec())
            .collect();
        format!("{device}: {} of {shapes:?}: {what}", case.call)
    };
    if results.len() != case.expected.len() {
        let (got, expected) = (results.len(), case.expected.len());
        return vec![of_case(format!("{got} results, expected {expected}"))];
    }
    let pairs = case.expected.iter().zip(results);
    let faults = pairs.filter_map(|(expected, got)| {
        let differ = compare(expected, got, case.tolerance).err()?;
        Some(of_case(differ.to_string()))
    });
    faults.collect()
}

fn run_interp(cases: &[&Case]) -> Vec<String> {
    let module = script::parse("cases.py", &text(cases)).unwrap_or_else(|e| panic!("{e}"));
    let run = |(at, case): (usize, &&Case)| {
        let args = case
            .inputs
            .iter()
            .map(|(_, t)| interp::Value::Tensor(t.clone()));
        let args: Vec<_> = args.collect();
        match interp::run_module(&module, &format!("f{at}"), &args, &Default::default()) {
            Ok(interp::Value::Tensor(result)) => check("interp", case, &[result]),
            Ok(interp::Value::Tuple(items)) => {
                let tensors = items.into_iter().map(|item| match item {
                    interp::Value::Tensor(tensor) => tensor,
                    other => panic!("{}: {other:?} is no tensor", case.call),
                });
                check("interp", case, &tensors.collect::<Vec<_>>())
            }
            Ok(other) => vec![format!("interp: {}: {other:?}", case.call)],
            Err(error) => vec![format!("interp: {}: {error}", case.call)],
        }
    };
    cases.iter().enumerate().flat_map(run).collect()
}

fn run_on_cpu(cases: &[&Case], backend: Backend) -> Vec<String> {
    let name = format!("cpu by {}", backend.name());
    let vm = |exec| VirtualMachine::with_backend(exec, Device::Cpu, backend);
    run_on(cases, &name, Target::Cpu(backend.target(2)), vm)
}

fn run_on(
    cases: &[&Case],
    name: &str,
    target: Target,
    machine: impl FnOnce(Executable) -> Result<VirtualMachine, VmError>,
) -> Vec<String> {
    let module = script::parse("cases.py", &text(cases)).unwrap_or_else(|e| panic!("{e}"));
    let mut options = CompileOptions::new(target);
    // Calls of constants run here, too.
    options.passes.disabled.insert("fold_constant".to_owned());
    let executable = match compile(&module, &options) {
        Ok(executable) => executable,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut vm = machine(executable).expect("the executable loads");
    let mut faults = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let args: Vec<_> = case
            .inputs
            .iter()
            .map(|(_, t)| Value::Tensor(t.clone()))
            .collect();
        let result = vm
            .call(&format!("f{at}"), &args)
            .and_then(|value| vm.to_host(value));
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                faults.push(format!("{name}: {}: {error}", case.call));
                continue;
            }
        };
        let tensors = match result.as_tuple() {
            Ok(items) => items.iter().map(|item| item.as_tensor().cloned()).collect(),
            Err(_) => result.into_tensor().map(|tensor| vec![tensor]),
        };
        match tensors {
            Ok(tensors) => faults.extend(check(name, case, &tensors)),
            Err(error) => faults.push(format!("{name}: {}: {error}", case.call)),
        }
    }
    faults
}
