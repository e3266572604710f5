//! Schedules, step by step: two small programs, then a convolution that is padded and takes every step from the inlining of its
//! padding to vectors, threads and unrolled loops, until it is the program that is asked for. Every program runs before and after,
//! on the CPU and on a GPU.
//!
//! ```text
//! cargo run --release --example schedule_conv2d
//! cargo run --release --example schedule_conv2d -- --allow-software
//! ```

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "shared/command_line.rs"]
mod command_line;
#[path = "shared/devices.rs"]
mod devices;

use std::error::Error;
use std::process::ExitCode;

use command_line::{Options, Words};
use weftile::ir::{Func, Module, PrimFunc, alpha_eq};
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::relax::{BlockBuilder, Var};
use weftile::runtime::{Device, Value};
use weftile::sched::{Factor, Schedule};
use weftile::script::{parse, print_prim_func};
use weftile::tensor::Tensor;
use weftile::vm::VirtualMachine;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Default)]
struct Args {
    allow_software: bool,
}

impl Options for Args {
    const USAGE: &'static str = "\
Usage: cargo run --release --example schedule_conv2d -- [OPTIONS]

Options:
  --allow-software  GPUs in software count";

    fn take(&mut self, option: &str, _: &mut Words<'_>) -> std::result::Result<bool, String> {
        self.allow_software |= option == "--allow-software";
        Ok(option == "--allow-software")
    }
}

fn main() -> ExitCode {
    command_line::main(run_all)
}

fn run_all(args: Args) -> Result<()> {
    let devices = devices::devices(args.allow_software)?;

    println!("# compute_inline\n");
    let before = program(
        "before_inline",
        include_str!("schedule_conv2d/before_inline.py"),
    )?;
    let mut schedule = Schedule::new(before.clone());
    let block = schedule.get_block("B")?;
    schedule.compute_inline(block)?;
    show(schedule.func());
    compare(&devices, &before, schedule.func())?;

    println!("# fuse\n");
    let before = program(
        "before_fuse",
        include_str!("schedule_conv2d/before_fuse.py"),
    )?;
    let mut schedule = Schedule::new(before.clone());
    let block = schedule.get_block("B")?;
    let loops = schedule.get_loops(block)?;
    schedule.fuse(&loops)?;
    show(schedule.func());
    compare(&devices, &before, schedule.func())?;

    println!("# conv2d\n");
    // 4 images of 28 x 28 and 32 filters of 3 x 3, with a block for the padding, of which there is none.
    let before = program("conv2d", include_str!("schedule_conv2d/conv2d.py"))?;
    show(&before);
    let after = scheduled(&before)?;
    show(&after);
    expect_target(&after)?;
    println!("This is the program that is asked for.\n");
    compare(&devices, &before, &after)
}

/// Compares with the program that is asked for, up to names.
fn expect_target(after: &PrimFunc) -> Result<()> {
    let mut target = program("target_func", include_str!("schedule_conv2d/target.py"))?;
    // What the text says of the function besides its loops is not a matter of schedules.
    target.attrs.clone_from(&after.attrs);
    alpha_eq::prim_func(&target, after)
        .map_err(|e| format!("not the program that is asked for: {e}").into())
}

/// The listed steps.
fn scheduled(conv2d: &PrimFunc) -> Result<PrimFunc> {
    let mut sch = Schedule::new(conv2d.clone());
    // Step 1. Get blocks.
    let pad = sch.get_block("pad_temp")?;
    let conv = sch.get_block("conv2d_nchw")?;
    // Step 2. Inline the padding block.
    sch.compute_inline(pad)?;
    // Step 3. Get loops.
    let loops = sch.get_loops(conv)?;
    // Step 4. Organize the loops: tiles of 2 images, 4 filters, 2 x 2 pixels.
    let mut outer = vec![];
    let mut inner = vec![];
    for (&l, tile) in loops[..4].iter().zip([2, 4, 2, 2]) {
        let parts = sch.split(l, &[Factor::Infer, Factor::Of(tile)])?;
        outer.push(parts[0]);
        inner.push(parts[1]);
    }
    let order: Vec<_> = outer
        .iter()
        .chain(&loops[4..])
        .chain(&inner)
        .copied()
        .collect();
    sch.reorder(&order)?;
    // Step 5. Fuse, and bind to threads, unrolled code and vectors. Once the reduction is decomposed two blocks write one buffer, and
    // which of them comes first is no longer known to be a matter of each thread alone: so this comes before.
    let threads = sch.fuse(&outer)?;
    sch.parallel(threads)?;
    let rows = sch.fuse(&inner[..2])?;
    sch.unroll(rows)?;
    let pixels = sch.fuse(&inner[2..])?;
    sch.vectorize(pixels)?;
    // Step 6. Decompose the reduction.
    sch.decompose_reduction(conv, loops[4])?;
    Ok(sch.func().clone())
}

/// The only loop program of a text.
fn program(name: &str, text: &str) -> Result<PrimFunc> {
    let module = parse(name, text)?;
    let func = module.prim_funcs().next().map(|(_, func)| func.clone());
    func.ok_or_else(|| format!("{name} has no loop program").into())
}

fn show(func: &PrimFunc) {
    println!("{}", print_prim_func(func).text);
}

/// Runs both programs on every device, on the same numbers.
fn compare(devices: &[(Device, Target)], before: &PrimFunc, after: &PrimFunc) -> Result<()> {
    for (device, target) in devices {
        let want = run(device, target, before)?;
        let have = run(device, target, after)?;
        let difference = |(a, b): (&f32, &f32)| (a - b).abs();
        let error = want.iter().zip(&have).map(difference).fold(0.0, f32::max);
        println!(
            "{} on {device}: largest difference {error:.1e}",
            before.name
        );
        if want.len() != have.len() || error > 1e-5 {
            return Err("the schedule changes what is computed".into());
        }
    }
    println!();
    Ok(())
}

/// The last parameter after a call with numbers for the others.
fn run(device: &Device, target: &Target, func: &PrimFunc) -> Result<Vec<f32>> {
    let mut module = Module::default();
    module
        .funcs
        .insert(func.name.clone(), Func::Prim(func.clone()));
    let mut tensors: Vec<Var> = vec![];
    for buffer in func.buffer_params() {
        tensors.push(Var::tensor(
            buffer.name(),
            buffer.shape().to_vec(),
            buffer.dtype(),
        ));
    }
    let result = tensors.pop().ok_or("the program has no result")?;
    let mut bb = BlockBuilder::of(module);
    bb.function("main", &tensors.iter().collect::<Vec<_>>(), |bb| {
        let call = bb.call_tir(&func.name, &tensors, result.sinfo().clone());
        let result = bb.emit(call)?;
        bb.emit_func_output(&result)
    })?;
    let executable = compile(&bb.finish()?, &CompileOptions::new(target.clone()))?;
    let mut args: Vec<Value> = vec![];
    for buffer in func.buffer_params().take(tensors.len()) {
        let shape = buffer.shape().iter().map(|e| Some(e.as_int()? as usize));
        let shape: Vec<usize> = shape
            .collect::<Option<_>>()
            .ok_or("an extent is no constant")?;
        let numbers = 0..shape.iter().product();
        let numbers: Vec<f32> = numbers
            .map(|i: usize| (i * 37 % 101) as f32 / 50.0 - 1.0)
            .collect();
        args.push(Tensor::from_slice(&shape, &numbers)?.into());
    }
    let mut vm = VirtualMachine::new(executable, device.clone())?;
    let result = vm.call("main", &args)?;
    let result = vm.to_host(result)?.into_tensor()?;
    Ok(result.as_slice::<f32>()?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::command_line::Stop;
    use super::*;

    #[test]
    fn the_command_line_is_read_or_refused() {
        let read = |words: &[&str]| command_line::read::<Args>(words.iter().map(|w| w.to_string()));
        let read = |words| read(words).map(|args| args.allow_software);
        let unknown = |word| Err(Stop::Usage(format!("there is no option `{word}`")));
        assert_eq!(read(&[]), Ok(false));
        assert_eq!(read(&["--allow-software"]), Ok(true));
        assert_eq!(read(&["--allow-software", "-h"]), Err(Stop::Help));
        assert_eq!(read(&["--help"]), Err(Stop::Help));
        assert_eq!(read(&["software"]), unknown("software"));
    }

    #[test]
    fn the_steps_make_the_program_that_is_asked_for() -> Result<()> {
        let before = program("conv2d", include_str!("schedule_conv2d/conv2d.py"))?;
        assert!(expect_target(&before).is_err());
        expect_target(&scheduled(&before)?)
    }
}
