//! Loop programs that somebody wrote, run on each device and by the interpreter on the same numbers.

use std::fmt;

use half::{bf16, f16};
use weftile::arith::Analyzer;
use weftile::codegen_cpu::Backend;
use weftile::interp;
use weftile::ir::graph::{Arg, Def, DpsCallee, Globals, GraphBuilder};
use weftile::ir::{Buffer, Expr, Func, IterKind, Module, Place, PrimFunc, Stmt, StructInfo};
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::{back_ends, devices};

/// The graph function that calls the loop program.
const CALLER: &str = "run_in_place";
/// The value of every symbolic extent.
const EXTENT: i64 = 5;
/// Programs that run more statements take the interpreter too long.
const MOST_ITERATIONS: i64 = 250_000;
/// Tensors of more elements take too long.
const MOST_ELEMENTS: usize = 1 << 20;

/// Where programs run.
struct Machine {
    target: Target,
    device: Device,
    /// What makes native code.
    backend: Backend,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            Target::Cpu(_) => write!(f, "{} by {}", self.device, self.backend.name()),
            Target::Gpu(_) => write!(f, "{}", self.device),
        }
    }
}

fn machines(devices: Vec<(Target, Device)>) -> Vec<Machine> {
    let machine = |(target, device)| Machine {
        target,
        device,
        backend: Backend::default(),
    };
    devices.into_iter().map(machine).collect()
}

/// Why a program does not run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Skipped {
    /// It has elements that no device has.
    Elements,
    /// It has scalar parameters.
    Scalars,
    /// An extent of a parameter is no arithmetic of symbolic extents.
    UnknownExtent,
    /// It has too many iterations or elements for the interpreter.
    TooLong,
    /// The interpreter refuses it for this.
    Refused(String),
}

/// Runs the programs on all devices, and fails with those whose results differ from the interpreter's. Gives the number of
/// programs that ran: those with too many iterations, with scalar parameters, or that the interpreter refuses, do not.
#[track_caller]
pub(crate) fn all_agree(programs: impl Iterator<Item = PrimFunc>) -> usize {
    agree_on(&machines(devices()), programs)
}

/// The same on the CPU alone.
#[track_caller]
pub(crate) fn all_agree_on_cpu(programs: impl Iterator<Item = PrimFunc>) -> usize {
    let cpu = devices().into_iter();
    let cpu: Vec<_> = cpu
        .filter(|(target, _)| matches!(target, Target::Cpu(_)))
        .collect();
    agree_on(&machines(cpu), programs)
}

/// The same on the CPU with code by every back end whose code the machine runs, each with its own schedules.
#[track_caller]
pub(crate) fn all_agree_on_back_ends(
    programs: impl Iterator<Item = PrimFunc>,
    skipped: &mut dyn FnMut(&PrimFunc, Skipped),
) -> usize {
    let machine = |backend: Backend| Machine {
        target: Target::Cpu(backend.target(2)),
        device: Device::Cpu,
        backend,
    };
    let machines: Vec<_> = back_ends().map(machine).collect();
    agree(&machines, programs, skipped)
}

/// The same on GPUs that end loops after so few passes that most programs take several launches.
#[track_caller]
pub(crate) fn all_agree_in_short_launches(programs: impl Iterator<Item = PrimFunc>) -> usize {
    let short = |(target, device)| match target {
        Target::Gpu(gpu) => {
            let max_loop_passes = Some(64);
            let gpu = GpuTarget {
                max_loop_passes,
                ..gpu
            };
            Some((Target::Gpu(gpu), device))
        }
        Target::Cpu(_) => None,
    };
    let short: Vec<_> = devices().into_iter().filter_map(short).collect();
    agree_on(&machines(short), programs)
}

/// A module of the program, and of a graph function that calls it with tensors of the shapes of its parameters.
pub(crate) fn alone(func: &PrimFunc) -> Module {
    let (inputs, _) = interpreted(func).expect("the interpreter runs it");
    caller(func, &inputs)
}

#[track_caller]
fn agree_on(machines: &[Machine], programs: impl Iterator<Item = PrimFunc>) -> usize {
    agree(machines, programs, &mut |_, _| {})
}

#[track_caller]
fn agree(
    machines: &[Machine],
    programs: impl Iterator<Item = PrimFunc>,
    skipped: &mut dyn FnMut(&PrimFunc, Skipped),
) -> usize {
    let mut failures = vec![];
    let mut count = 0;
    for func in programs {
        let (inputs, expected) = match interpreted(&func) {
            Ok(tensors) => tensors,
            Err(reason) => {
                skipped(&func, reason);
                continue;
            }
        };
        count += 1;
        let module = caller(&func, &inputs);
        for machine in machines {
            let exec = match compile(&module, &CompileOptions::new(machine.target.clone())) {
                Ok(exec) => exec,
                Err(error) if error.to_string().contains("float64") => continue,
                Err(error) => {
                    failures.push(format!("{machine}: {error}\n{}", text(&module)));
                    continue;
                }
            };
            let results = run(exec, machine, &inputs);
            if let Err(problem) = results.and_then(|got| compared(&func, &expected, &got)) {
                failures.push(format!("{machine}: {problem}\n{}", text(&module)));
            }
        }
    }
    crate::script::report(&failures, count);
    count
}

fn text(module: &Module) -> String {
    weftile::script::print(module)
}

/// Numbers for the parameters, and what the interpreter makes of them.
fn interpreted(func: &PrimFunc) -> Result<(Vec<Tensor>, Vec<Tensor>), Skipped> {
    let buffers: Vec<&Buffer> = func.buffer_params().collect();
    if buffers.len() != func.params.len() {
        return Err(Skipped::Scalars);
    }
    let mut scalars = buffers.iter().map(|buffer| buffer.dtype().scalar);
    if scalars.any(|scalar| matches!(scalar, ScalarType::Small(_))) {
        return Err(Skipped::Elements);
    }
    if iterations(func, func.tree.body(Place::Block(func.root))) > MOST_ITERATIONS {
        return Err(Skipped::TooLong);
    }
    let numbers = |(i, buffer): (usize, &&Buffer)| {
        let dims = buffer.shape().iter().map(extent);
        let dims =
            dims.map(|n| n.and_then(|n| usize::try_from(n).map_err(|_| Skipped::UnknownExtent)));
        let dims: Vec<usize> = dims.collect::<Result<_, _>>()?;
        let len: usize = dims.iter().product();
        match len <= MOST_ELEMENTS {
            true => Ok(tensor(buffer.dtype().scalar, &dims, i)),
            false => Err(Skipped::TooLong),
        }
    };
    let inputs: Vec<Tensor> = buffers
        .iter()
        .enumerate()
        .map(numbers)
        .collect::<Result<_, _>>()?;
    let mut expected: Vec<Tensor> = inputs.iter().map(copy).collect();
    let done = interp::run_prim_func(func, &mut expected);
    done.map_err(|error| Skipped::Refused(error.root().to_string()))?;
    Ok((inputs, expected))
}

fn copy(tensor: &Tensor) -> Tensor {
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes()).expect("fits")
}

fn extent(e: &Expr) -> Result<i64, Skipped> {
    let known = e.substitute(&|var| Some(Expr::int(EXTENT, var.dtype())));
    let known = Analyzer::default().simplify(&known);
    known.as_int().ok_or(Skipped::UnknownExtent)
}

/// How many statements run, if every condition holds, and a loop goes once of which only elements say how often it does.
fn iterations(func: &PrimFunc, stmts: &[Stmt]) -> i64 {
    let body = |place: Place| iterations(func, func.tree.body(place));
    let mut total = 0_i64;
    for stmt in stmts {
        let count = match stmt {
            Stmt::Loop(id) => {
                let extent = extent(&func.loops[*id].extent).unwrap_or(1).max(0);
                extent.saturating_mul(body(Place::Loop(*id)))
            }
            Stmt::Block(id) => body(Place::Block(*id)),
            other => {
                let nested = other.nested().into_iter();
                let counts = nested.map(|stmts| iterations(func, stmts));
                counts.fold(1, i64::saturating_add)
            }
        };
        total = total.saturating_add(count);
    }
    total
}

/// Small numbers, so that sums are exact in any order and integers are indices of small arrays.
fn tensor(dtype: ScalarType, shape: &[usize], seed: usize) -> Tensor {
    let len: usize = shape.iter().product();
    let at = |i: usize| (i * 7 + seed * 3) % 11;
    let float = |i: usize| at(i) as f32 / 4.0 - 1.0;
    macro_rules! of {
        ($ty:ty, $f:expr) => {
            Tensor::from_slice(shape, &(0..len).map($f).collect::<Vec<$ty>>()).expect("fits")
        };
    }
    match dtype {
        ScalarType::F32 => of!(f32, float),
        ScalarType::F64 => of!(f64, |i| float(i).into()),
        ScalarType::F16 => of!(f16, |i| f16::from_f32(float(i))),
        ScalarType::BF16 => of!(bf16, |i| bf16::from_f32(float(i))),
        ScalarType::I8 => of!(i8, |i| at(i) as i8 % 3),
        ScalarType::U8 => of!(u8, |i| at(i) as u8 % 3),
        ScalarType::I32 => of!(i32, |i| at(i) as i32 % 3),
        ScalarType::I64 => of!(i64, |i| at(i) as i64 % 3),
        ScalarType::Bool => {
            let bytes: Vec<u8> = (0..len).map(|i| u8::from(at(i) % 2 == 0)).collect();
            Tensor::from_bytes(dtype.into(), shape, &bytes).expect("fits")
        }
        other => Tensor::zeros(other.into(), shape).expect("fits"),
    }
}

/// The module of the program, and of a graph function that calls it in place of its arguments.
fn caller(func: &PrimFunc, inputs: &[Tensor]) -> Module {
    let mut module = Module::default();
    module
        .funcs
        .insert(func.name.clone(), Func::Prim(func.clone()));
    let mut builder = GraphBuilder::in_module(CALLER, Globals::of(&module));
    let mut args = vec![];
    let mut out = vec![];
    for (i, tensor) in inputs.iter().enumerate() {
        let dims = tensor.shape().iter().map(|&n| Expr::i64(n as i64));
        let sinfo = StructInfo::tensor(dims.collect(), tensor.dtype());
        args.push(Arg::Value(builder.param(format!("x{i}"), sinfo.clone())));
        out.push(sinfo);
    }
    let out = match out.len() {
        1 => out.remove(0),
        _ => StructInfo::Tuple(out),
    };
    let def = Def::CallDps {
        callee: DpsCallee::Prim(func.name.clone()),
        inplace: Some((0..args.len()).map(Some).collect()),
        args,
        tir_vars: vec![],
        out: out.clone(),
    };
    let result = builder.bind_as("results", def, out);
    let main = builder.finish(Arg::Value(result));
    module.funcs.insert(CALLER.to_owned(), Func::Graph(main));
    module
}

fn run(
    exec: weftile::artifact::Executable,
    machine: &Machine,
    inputs: &[Tensor],
) -> Result<Vec<Tensor>, String> {
    let vm = VirtualMachine::with_backend(exec, machine.device.clone(), machine.backend);
    let mut vm = vm.map_err(|e| e.to_string())?;
    let args: Vec<Value> = inputs.iter().map(|t| Value::Tensor(copy(t))).collect();
    let result = vm.call(CALLER, &args).map_err(|e| e.to_string())?;
    let results = match vm.to_host(result).map_err(|e| e.to_string())? {
        Value::Tuple(values) => values.to_vec(),
        value => vec![value],
    };
    let tensors = results.into_iter().map(Value::into_tensor);
    tensors.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn compared(func: &PrimFunc, expected: &[Tensor], got: &[Tensor]) -> Result<(), String> {
    let reduction = |block: &weftile::ir::Block| -> usize {
        let reduced = block.iters.iter().filter(|i| i.kind == IterKind::Reduce);
        reduced
            .filter_map(|i| extent(&i.dom.extent).ok())
            .product::<i64>() as usize
    };
    let terms = func.blocks.iter().map(|(_, block)| reduction(block));
    let terms = terms.max().unwrap_or(1).max(64);
    // Floats of a result may come from buffers of narrower ones: a sum in such a buffer is rounded in its order.
    let buffers = func.buffer_params().chain(func.allocated());
    let floats = buffers.map(|buffer| buffer.dtype().scalar);
    let narrowest = floats
        .filter(|dtype| dtype.is_float())
        .map(|dtype| Tolerance::of(dtype, terms))
        .fold(Tolerance::EXACT, Tolerance::max);
    for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
        let tolerance = match expected.dtype().scalar.is_float() {
            true => narrowest,
            false => Tolerance::EXACT,
        };
        compare(expected, got, tolerance).map_err(|e| format!("parameter {i}: {e}"))?;
    }
    Ok(())
}
