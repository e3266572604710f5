//! Loop programs that somebody wrote, run on each device and by the interpreter on the same numbers.

use half::f16;
use weftile::interp;
use weftile::ir::graph::{Arg, Def, DpsCallee, Globals, GraphBuilder};
use weftile::ir::{Buffer, Expr, Func, IterKind, Module, PrimFunc, StructInfo};
use weftile::kernel::{GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::devices;

/// The graph function that calls the loop program.
const CALLER: &str = "run_in_place";
/// The value of every symbolic extent.
const EXTENT: i64 = 5;
/// Programs of more iterations take the interpreter too long.
const MOST_ITERATIONS: i64 = 200_000;

/// Runs the programs on all devices, and fails with those whose results differ from the interpreter's. Gives the number of
/// programs that ran: those with too many iterations, with scalar parameters, or that the interpreter refuses, do not.
#[track_caller]
pub(crate) fn all_agree(programs: impl Iterator<Item = PrimFunc>) -> usize {
    agree_on(&devices(), programs)
}

/// The same on the CPU alone.
#[track_caller]
pub(crate) fn all_agree_on_cpu(programs: impl Iterator<Item = PrimFunc>) -> usize {
    let cpu = devices().into_iter();
    let cpu: Vec<_> = cpu
        .filter(|(target, _)| matches!(target, Target::Cpu(_)))
        .collect();
    agree_on(&cpu, programs)
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
    agree_on(&short, programs)
}

/// A module of the program, and of a graph function that calls it with tensors of the shapes of its parameters.
pub(crate) fn alone(func: &PrimFunc) -> Module {
    let (inputs, _) = interpreted(func).expect("the interpreter runs it");
    caller(func, &inputs)
}

#[track_caller]
fn agree_on(devices: &[(Target, Device)], programs: impl Iterator<Item = PrimFunc>) -> usize {
    let mut failures = vec![];
    let mut count = 0;
    for func in programs {
        let Some((inputs, expected)) = interpreted(&func) else {
            continue;
        };
        count += 1;
        let module = caller(&func, &inputs);
        for (target, device) in devices {
            let exec = match compile(&module, &CompileOptions::new(target.clone())) {
                Ok(exec) => exec,
                Err(error) if error.to_string().contains("float64") => continue,
                Err(error) => {
                    failures.push(format!("{device}: {error}\n{}", text(&module)));
                    continue;
                }
            };
            let results = run(exec, device, &inputs);
            if let Err(problem) = results.and_then(|got| agree(&func, &expected, &got)) {
                failures.push(format!("{device}: {problem}\n{}", text(&module)));
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
fn interpreted(func: &PrimFunc) -> Option<(Vec<Tensor>, Vec<Tensor>)> {
    let buffers: Vec<&Buffer> = func.buffer_params().collect();
    if buffers.len() != func.params.len() || iterations(func)? > MOST_ITERATIONS {
        return None;
    }
    let numbers = |(i, buffer): (usize, &&Buffer)| {
        let dims = buffer.shape().iter().map(extent);
        let dims: Vec<usize> = dims.map(|n| Some(n? as usize)).collect::<Option<_>>()?;
        let len: usize = dims.iter().product();
        (len <= 1 << 20).then(|| tensor(buffer.dtype().scalar, &dims, i))
    };
    let inputs: Vec<Tensor> = buffers
        .iter()
        .enumerate()
        .map(numbers)
        .collect::<Option<_>>()?;
    let mut expected: Vec<Tensor> = inputs.iter().map(copy).collect();
    interp::run_prim_func(func, &mut expected).ok()?;
    Some((inputs, expected))
}

fn copy(tensor: &Tensor) -> Tensor {
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes()).expect("fits")
}

fn extent(e: &Expr) -> Option<i64> {
    e.as_int().or_else(|| e.as_var().map(|_| EXTENT))
}

/// A bound of the iterations: the product of all loops around each block.
fn iterations(func: &PrimFunc) -> Option<i64> {
    let mut total = 0_i64;
    for (id, _) in func.blocks.iter() {
        let mut product = 1_i64;
        for l in func.loops_above(id.into()) {
            product = product.saturating_mul(extent(&func.loops[l].extent)?);
        }
        total = total.saturating_add(product);
    }
    Some(total)
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
    device: &Device,
    inputs: &[Tensor],
) -> Result<Vec<Tensor>, String> {
    let mut vm = VirtualMachine::new(exec, device.clone()).map_err(|e| e.to_string())?;
    let args: Vec<Value> = inputs.iter().map(|t| Value::Tensor(copy(t))).collect();
    let result = vm.call(CALLER, &args).map_err(|e| e.to_string())?;
    let results = match vm.to_host(result).map_err(|e| e.to_string())? {
        Value::Tuple(values) => values.to_vec(),
        value => vec![value],
    };
    let tensors = results.into_iter().map(Value::into_tensor);
    tensors.collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn agree(func: &PrimFunc, expected: &[Tensor], got: &[Tensor]) -> Result<(), String> {
    let reduction = |block: &weftile::ir::Block| -> usize {
        let reduced = block.iters.iter().filter(|i| i.kind == IterKind::Reduce);
        reduced
            .filter_map(|i| extent(&i.dom.extent))
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
