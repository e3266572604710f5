//! Runs a model, and compares what it gives with what was recorded.

use std::collections::HashMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use weftile::codegen_cpu::this_cpu;
use weftile::frontend::onnx::{MAIN, Model};
use weftile::interp;
use weftile::kernel::Target;
use weftile::lower::LowerProblem;
use weftile::pipeline::{self, CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{Checks, GpuError, Request, adapters, choose};
use weftile::support::tolerance::elements;
use weftile::tensor::Tensor;
use weftile::vm::{VirtualMachine, VmError};

/// What models run on.
pub(crate) enum Backend {
    Interp,
    Device(Device, Target),
}

/// What became of a test.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Outcome {
    Passed,
    /// Wrong numbers, or an error after the model was taken.
    Failed(String),
    /// Said so at import, or before it ran: the device lacks an element type.
    Unsupported(String),
    Crashed(String),
}

/// How far an element may be from the recorded one.
#[derive(Clone, Copy)]
pub(crate) struct Allowed {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
    /// Of the greatest recorded element of the tensor.
    pub(crate) of_largest: f64,
}

impl Backend {
    pub(crate) fn open(name: &str) -> Result<Self, Box<dyn Error>> {
        match name {
            "interp" => Ok(Self::Interp),
            "cpu" => Ok(Self::Device(Device::Cpu, Target::Cpu(this_cpu()))),
            "gpu" => {
                let adapters = adapters();
                let infos: Vec<_> = adapters.iter().map(|a| a.info().clone()).collect();
                let request = Request {
                    name: None,
                    allow_software: true,
                };
                let choice = choose(&infos, &request)?;
                let gpu = adapters[choice.index].open(Checks::default())?;
                let target = Target::Gpu(gpu.target().clone());
                Ok(Self::Device(Device::Gpu(gpu), target))
            }
            other => Err(format!("there is no device `{other}`: interp, cpu, gpu").into()),
        }
    }

    /// A model made ready to run.
    pub(crate) fn ready(&self, model: Model) -> Result<Ready, Box<dyn Error>> {
        match self {
            Self::Interp => Ok(Ready::Interp(Box::new(model))),
            Self::Device(device, target) => {
                let executable = compile(&model.module, &CompileOptions::new(target.clone()))?;
                let vm = VirtualMachine::new(executable, device.clone())?;
                Ok(Ready::Machine(Box::new(vm)))
            }
        }
    }
}

/// A model that can be called.
pub(crate) enum Ready {
    Interp(Box<Model>),
    Machine(Box<VirtualMachine>),
}

impl Ready {
    /// The results for these inputs.
    pub(crate) fn call(&mut self, inputs: Vec<Tensor>) -> Result<Vec<Tensor>, Box<dyn Error>> {
        let mut results = vec![];
        match self {
            Self::Interp(model) => {
                let inputs: Vec<_> = inputs.into_iter().map(interp::Value::Tensor).collect();
                let value = interp::run_module(&model.module, MAIN, &inputs, &HashMap::new())?;
                let items = match value {
                    interp::Value::Tuple(items) => items,
                    single => vec![single],
                };
                for item in items {
                    match item {
                        interp::Value::Tensor(tensor) => results.push(tensor),
                        _ => return Err("a result is no tensor".into()),
                    }
                }
            }
            Self::Machine(vm) => {
                let inputs: Vec<Value> = inputs.into_iter().map(Value::Tensor).collect();
                let value = vm.call(MAIN, &inputs)?;
                let items = match vm.to_host(value)? {
                    Value::Tuple(items) => items,
                    single => vec![single],
                };
                for item in items {
                    match item {
                        Value::Tensor(tensor) => results.push(tensor),
                        _ => return Err("a result is no tensor".into()),
                    }
                }
            }
        }
        Ok(results)
    }
}

/// What `f` gives, where a panic is a crash.
pub(crate) fn guarded(f: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome::Crashed(text.unwrap_or_default())
    })
}

/// Whether the device does not compute with an element type of the model.
fn lacks_type(error: &(dyn Error + 'static)) -> bool {
    let compiled = error.downcast_ref::<pipeline::Error>();
    let ran = error.downcast_ref::<VmError>();
    compiled.is_some_and(is_about_type) || matches!(ran, Some(VmError::Gpu(GpuError::DType(_))))
}

fn is_about_type(error: &pipeline::Error) -> bool {
    match error {
        pipeline::Error::Lower { error, .. } => matches!(
            *error.problem,
            LowerProblem::WideType { .. } | LowerProblem::DType { .. }
        ),
        pipeline::Error::WideType { .. } => true,
        pipeline::Error::From { source, .. } => is_about_type(source),
        pipeline::Error::Several(errors) => errors.iter().all(is_about_type),
        _ => false,
    }
}

/// An error with its causes, on one line.
pub(crate) fn line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text.replace('\n', " | ")
}

/// Whether a call gave what was recorded.
pub(crate) fn agrees(
    results: Result<Vec<Tensor>, Box<dyn Error>>,
    expected: &[Tensor],
    allowed: Allowed,
) -> Outcome {
    let results = match results {
        Ok(results) => results,
        Err(error) if lacks_type(&*error) => return Outcome::Unsupported(line(&*error)),
        Err(error) => return Outcome::Failed(line(&*error)),
    };
    let (wanted, given) = (expected.len(), results.len());
    if wanted != given {
        return Outcome::Failed(format!("{wanted} results expected, got {given}"));
    }
    let mut pairs = expected.iter().zip(&results).enumerate();
    let wrong = pairs.find_map(|(at, (expected, got))| {
        let why = differs(expected, got, allowed)?;
        Some(Outcome::Failed(format!("output {at}: {why}")))
    });
    wrong.unwrap_or(Outcome::Passed)
}

/// The same of a model that takes random numbers: its results have the types and shapes of those that were recorded.
pub(crate) fn agrees_in_type(
    results: Result<Vec<Tensor>, Box<dyn Error>>,
    expected: &[Tensor],
) -> Outcome {
    let zeros = |tensor: &Tensor| Tensor::zeros(tensor.dtype(), tensor.shape());
    let blank = |tensors: &[Tensor]| tensors.iter().map(zeros).collect::<Result<Vec<_>, _>>();
    let any = Allowed {
        relative: 0.0,
        absolute: 0.0,
        of_largest: 0.0,
    };
    match blank(expected) {
        Ok(expected) => agrees(
            results.and_then(|results| Ok(blank(&results)?)),
            &expected,
            any,
        ),
        Err(error) => Outcome::Failed(line(&error)),
    }
}

/// Why the tensors differ, if they do.
fn differs(expected: &Tensor, got: &Tensor, allowed: Allowed) -> Option<String> {
    if expected.shape() != got.shape() || expected.dtype() != got.dtype() {
        return Some(format!(
            "{} {:?} expected, got {} {:?}",
            expected.dtype(),
            expected.shape(),
            got.dtype(),
            got.shape()
        ));
    }
    let largest = elements(expected).map(|v| v.as_float().abs());
    let largest = largest.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let limit =
        |a: f64| allowed.absolute + allowed.relative * a.abs() + allowed.of_largest * largest;
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= limit(a);
    let wrong = |(a, b): (f64, f64)| !(a.is_nan() && b.is_nan() || close(a, b));
    let pairs = elements(expected).zip(elements(got));
    let pairs = pairs.map(|(a, b)| (a.as_float(), b.as_float()));
    let all: Vec<(f64, f64)> = pairs.collect();
    let count = all.iter().filter(|pair| wrong(**pair)).count();
    let first = all.iter().position(|pair| wrong(*pair))?;
    let (a, b) = all[first];
    Some(format!(
        "{count} of {} elements, the first at {first}: {a} expected, got {b}",
        all.len()
    ))
}
