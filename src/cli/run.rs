//! `weftile run`: one call of a function.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::args::RunArgs;
use super::device;
use super::entry::Entry;
use super::environment::Environment;
use super::error::CliError;
use super::inputs::gather;
use super::program::Program;
use super::terminal::{Terminal, milliseconds};
use crate::frontend::save_npy;
use crate::support::tolerance::elements;
use crate::tensor::Tensor;

/// How many elements of a result are printed.
const SHOWN: usize = 10;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    device: String,
    reason: String,
    compile_ms: f64,
    load_ms: f64,
    run_ms: f64,
    outputs: Vec<Output>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: String,
    shape: Vec<usize>,
    /// Where it was written.
    file: Option<String>,
    /// The first elements.
    first: Vec<f64>,
}

pub(super) fn run(
    args: &RunArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let entry = Entry::read(&args.module, &args.inputs)?;
    let func = &entry.func;
    let inputs = gather(entry.function(), &entry.inputs)?;
    let chosen = device::open(&args.device)?;
    let mut program = Program::new(&entry.module, &chosen, environment)?;
    let values = program.upload(inputs)?;
    let start = Instant::now();
    let result = program.call(func, &values)?;
    let elapsed = start.elapsed();
    let tensors = program.tensors(func, result)?;
    let mut outputs = Vec::new();
    for (index, (name, tensor)) in tensors.iter().enumerate() {
        let name = entry.result_name(index, name);
        let file = args
            .output
            .as_deref()
            .map(|folder| save(folder, &name, tensor))
            .transpose()?;
        outputs.push(Output {
            name,
            dtype: tensor.dtype().to_string(),
            shape: tensor.shape().to_vec(),
            file,
            first: elements(tensor)
                .into_iter()
                .take(SHOWN)
                .map(|v| v.as_float())
                .collect(),
        });
    }
    let report = Report {
        device: chosen.name,
        reason: chosen.reason,
        compile_ms: milliseconds(program.compile),
        load_ms: milliseconds(program.load),
        run_ms: milliseconds(elapsed),
        outputs,
    };
    if args.json {
        terminal.json(&report)?;
        return Ok(());
    }
    print(terminal, &report, program.compile + program.load, elapsed)
}

fn print(
    terminal: &mut Terminal,
    report: &Report,
    ready: Duration,
    elapsed: Duration,
) -> Result<(), CliError> {
    terminal.line(format!(
        "on {} ({})",
        terminal.bold(&report.device),
        report.reason
    ))?;
    for output in &report.outputs {
        let shape: Vec<String> = output.shape.iter().map(usize::to_string).collect();
        let size: usize = output.shape.iter().product();
        let more = if size > SHOWN { ", …" } else { "" };
        let first: Vec<String> = output.first.iter().map(|v| format!("{v}")).collect();
        let name = terminal.bold(&output.name);
        terminal.line(format!("{name}: {} [{}]", output.dtype, shape.join(", ")))?;
        terminal.line(format!("  {}{more}", first.join(", ")))?;
        if let Some(file) = &output.file {
            terminal.line(format!("  written to {file}"))?;
        }
    }
    terminal.line(format!(
        "ready in {:.1} ms, ran in {:.3} ms",
        milliseconds(ready),
        milliseconds(elapsed)
    ))?;
    Ok(())
}

/// Writes a result into a folder, which is made if need be; returns the file's path.
fn save(folder: &Path, name: &str, tensor: &Tensor) -> Result<String, CliError> {
    std::fs::create_dir_all(folder).map_err(|source| CliError::Folder {
        path: folder.to_owned(),
        source,
    })?;
    let path = folder.join(format!("{name}.npy"));
    save_npy(&path, tensor)?;
    Ok(path.display().to_string())
}
