//! `weftile compile`: a program into a file that runs without the compiler.

use std::time::Instant;

use serde::Serialize;

use super::args::CompileArgs;
use super::device;
use super::entry::Entry;
use super::environment::Environment;
use super::error::CliError;
use super::output::{Written, check_output};
use super::program::{ends_in, import};
use super::terminal::{Terminal, milliseconds};
use crate::artifact::{ArtifactError, Port};
use crate::frontend::SaveError;
use crate::ir::Module;
use crate::kernel::Target;
use crate::passes::PassContext;
use crate::runtime_gpu::PipelineCache;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    file: String,
    bytes: u64,
    device: String,
    func: String,
    compile_ms: f64,
    kernels: usize,
    inputs: Vec<NamedType>,
    outputs: Vec<NamedType>,
}

#[derive(Serialize)]
struct NamedType {
    name: String,
    kind: String,
}

pub(super) fn run(
    args: &CompileArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    check_output(&args.output, Written::File)?;
    let read = || Entry::read(&args.module, &args.shapes.inputs());
    let entry = environment.time("import", read)?;
    let mut chosen = device::open(&args.device, &PipelineCache::Off)?;
    if let Target::Gpu(gpu) = &mut chosen.target {
        // No file holds kernels on them.
        gpu.fragments.clear();
    }
    let start = Instant::now();
    let module = match args.no_weights {
        true => Some(apart(args, environment, &chosen.target)?),
        false => None,
    };
    let (module, weights) = match &module {
        Some((module, weights)) => (module, weights.as_slice()),
        None => (entry.module()?, &[][..]),
    };
    let compilation = environment.compile_until(module, &chosen.target, "bytecode")?;
    let compile_ms = milliseconds(start.elapsed());
    let mut executable = compilation.executable.expect("the last stage makes it");
    if args.no_weights {
        executable.set_weights(weights);
    }
    let saved = environment.time("save", || executable.save(&args.output));
    saved.map_err(|error| match error {
        ArtifactError::Io { path, source } => SaveError::Write { path, source }.into(),
        other => CliError::from(other),
    })?;
    let bytes = std::fs::metadata(&args.output).map_or(0, |file| file.len());
    let named = |port: &Port| NamedType {
        name: port.name.clone(),
        kind: entry.signature.shown(port).to_string(),
    };
    let report = Report {
        file: args.output.display().to_string(),
        bytes,
        device: chosen.name,
        func: entry.func.clone(),
        compile_ms,
        kernels: executable.kernels.len(),
        inputs: entry.signature.inputs.iter().map(named).collect(),
        outputs: entry.signature.outputs.iter().map(named).collect(),
    };
    if args.json {
        terminal.json(&report)?;
        return Ok(());
    }
    terminal.line(format!(
        "compiled for {} in {:.1} ms: {} kernels, {} bytes in {}",
        terminal.bold(&report.device),
        report.compile_ms,
        report.kernels,
        report.bytes,
        report.file
    ))?;
    for (what, ports) in [("input", &report.inputs), ("output", &report.outputs)] {
        for port in ports {
            let name = terminal.bold(&port.name);
            terminal.line(format!("{what} {name}: {}", port.kind))?;
        }
    }
    Ok(())
}

/// A model without its weights, and their names.
fn apart(
    args: &CompileArgs,
    environment: &Environment,
    target: &Target,
) -> Result<(Module, Vec<String>), CliError> {
    if !ends_in(&args.module.file, "onnx") {
        return Err(CliError::NoModel {
            path: args.module.file.clone(),
        });
    }
    let model = import(&args.module, &args.shapes.inputs())?;
    let options = environment.options(target, PassContext::default());
    Ok(model.without_weights(&options)?)
}
