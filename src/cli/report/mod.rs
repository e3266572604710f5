//! `weftile report`: a page about a model on a device.
//!
//! One JSON is what `--json` prints and what the page draws with a script of its own, which loads nothing and makes text, never markup, of
//! names. Graphs are laid out here (`script/picture/layered.rs`), not in the page. Modules between passes are caught by an instrument
//! (`stages`), so nothing is compiled for the report alone but the two programs that measure the device.

mod data;
mod graphs;
mod memory;
mod page;
mod peaks;
mod stages;
mod steps;

use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;

use super::args::ReportArgs;
use super::device;
use super::entry::Entry;
use super::environment::Environment;
use super::error::CliError;
use super::inputs::gather;
use super::output::{Written, check_output};
use super::recognized::Sites;
use super::terminal::{Terminal, milliseconds};
use crate::artifact::Port;
use crate::codegen_cpu::clif_text;
use crate::frontend::SaveError;
use crate::pipeline::Compilation;
use crate::support::files::write_whole;
use crate::tensor::Tensor;
use crate::vm::{Profile, VirtualMachine};

use data::{Code, Input, Program, Report, Times};
use stages::{FUSED, PLANNED, Stages};

/// Calls that nobody watches, after one that makes plans.
const CALLS: usize = 9;
/// Watched calls, after one that makes plans.
const WATCHED: usize = 5;

pub(super) fn run(
    args: &ReportArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    if device::is_interpreter(&args.device.device) {
        return Err(CliError::InterpreterTimed);
    }
    if !args.json {
        check_output(&args.output, Written::File)?;
    }
    let report = report(args, environment)?;
    if args.json {
        terminal.json(&report)?;
        return Ok(());
    }
    let page = page::page(&report).map_err(std::io::Error::from)?;
    write_whole(&args.output, page.as_bytes()).map_err(|source| SaveError::Write {
        path: args.output.clone(),
        source,
    })?;
    let nodes = report.model_graph.nodes.iter();
    terminal.line(format!(
        "{}: {} nodes, {} kernels, {:.3} ms a call on {} ({})",
        terminal.bold(&args.output.display().to_string()),
        nodes.filter(|node| !node.places.is_empty()).count(),
        report
            .programs
            .iter()
            .map(|p| p.kernels.len())
            .sum::<usize>(),
        report.times.call_ms,
        report.device,
        report.reason,
    ))?;
    Ok(())
}

fn report(args: &ReportArgs, environment: &Environment) -> Result<Report, CliError> {
    let entry = Entry::read(&args.module, &args.inputs)?;
    let func = entry.func.as_str();
    let module = entry.module()?;
    let inputs = gather(&entry.signature, &entry.inputs)?;
    let function = module.function(func);
    let sizes = function.map_or_else(Vec::new, |function| memory::sizes(function, &inputs));
    let described = described(&entry, &inputs);
    let chosen = device::open(&args.device, &environment.pipelines)?;
    let (stages, recognized) = (Arc::new(Stages::default()), Arc::new(Sites::default()));
    let start = Instant::now();
    let mut compilation = environment.compile_watched(
        module,
        &chosen.target,
        "bytecode",
        stages.watching(&recognized),
    )?;
    let compile_ms = milliseconds(start.elapsed());
    let executable = compilation.executable.take();
    let executable = Arc::new(executable.expect("the last stage makes it"));
    let programs = programs(&compilation)?;
    let names = programs.iter().enumerate();
    let names: IndexMap<String, usize> = names.map(|(at, p)| (p.name.clone(), at)).collect();
    let fused = stages.after(FUSED).unwrap_or_else(|| module.clone());
    let graphs = graphs::graphs(module, &fused, func, &names)?;

    let start = Instant::now();
    let mut machine = VirtualMachine::new(Arc::clone(&executable), chosen.device.clone())?;
    let load_ms = milliseconds(start.elapsed());
    let call = called(&mut machine, func, inputs)?;
    let sites = steps::calls(&fused, func, &graphs.boxes);
    let planned = stages.after(PLANNED);
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        model: entry_name(args),
        func: func.to_owned(),
        inputs: described,
        times: Times {
            compile_ms,
            load_ms,
            call_ms: call.median_ms,
            calls: CALLS,
            watched: WATCHED,
        },
        model_graph: graphs.model,
        kernel_graph: graphs.kernels,
        steps: steps::steps(&call.profiles, &executable, &sites, func, &names),
        programs,
        memory: planned.and_then(|module| memory::memory(&module, func, &sizes)),
        recognized: recognized.found(),
        peaks: peaks::peaks(&chosen, environment)?,
        device: chosen.name,
        reason: chosen.reason,
    })
}

fn entry_name(args: &ReportArgs) -> String {
    let file = &args.module.file;
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

fn described(entry: &Entry, inputs: &[Tensor]) -> Vec<Input> {
    let ports = entry.signature.inputs.iter().zip(inputs);
    let input = |(port, tensor): (&Port, &Tensor)| Input {
        name: port.name.clone(),
        dtype: tensor.dtype().to_string(),
        shape: tensor.shape().to_vec(),
    };
    ports.map(input).collect()
}

/// The loop programs that have kernels, in the order of the module.
fn programs(compilation: &Compilation) -> Result<Vec<Program>, CliError> {
    let mut programs = vec![];
    for (name, lowered) in &compilation.lowered {
        let scheduled = &compilation.scheduled[name];
        let shaders = compilation.wgsl.get(name);
        let kernels = match shaders {
            Some(shaders) => shaders
                .iter()
                .map(|shader| Code {
                    name: shader.entry.clone(),
                    language: "wgsl",
                    text: shader.text.clone(),
                })
                .collect(),
            None => {
                let native = lowered.kernels.iter().map(|kernel| {
                    Ok(Code {
                        name: kernel.name.clone(),
                        language: "clif",
                        text: clif_text(kernel)?,
                    })
                });
                native.collect::<Result<_, CliError>>()?
            }
        };
        programs.push(Program {
            name: name.clone(),
            class: class(&scheduled.rules).to_owned(),
            rules: scheduled.rules.join(", "),
            trace: scheduled.schedule.trace().to_string(),
            kernels,
        });
    }
    Ok(programs)
}

/// The rule of most work among those that took the blocks of a program.
fn class(rules: &[&'static str]) -> &'static str {
    const HEAVIEST_FIRST: [&str; 5] = ["matmul", "reduction", "rows", "elementwise", "fallback"];
    let heaviest = HEAVIEST_FIRST.into_iter().find(|rule| rules.contains(rule));
    heaviest.or(rules.first().copied()).unwrap_or("as written")
}

/// Calls that were made.
struct Called {
    median_ms: f64,
    profiles: Vec<Profile>,
}

fn called(
    machine: &mut VirtualMachine,
    func: &str,
    inputs: Vec<Tensor>,
) -> Result<Called, CliError> {
    let mut values = vec![];
    for input in inputs {
        values.push(machine.to_device(input.into())?);
    }
    machine.call(func, &values)?;
    machine.wait()?;
    let mut times = vec![];
    for _ in 0..CALLS {
        let start = Instant::now();
        machine.call(func, &values)?;
        machine.wait()?;
        times.push(milliseconds(start.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    machine.profile(func, &values)?;
    let profiles = (0..WATCHED).map(|_| Ok(machine.profile(func, &values)?.1));
    Ok(Called {
        median_ms: times[times.len() / 2],
        profiles: profiles.collect::<Result<_, CliError>>()?,
    })
}
