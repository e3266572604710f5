//! `weftile run`: one call of a function.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::args::RunArgs;
use super::device;
use super::entry::Entry;
use super::environment::Environment;
use super::error::CliError;
use super::inputs::{gather, unnamed};
use super::output::{Written, check_output};
use super::program::{self, Program, interpret};
use super::terminal::{Terminal, milliseconds};
use crate::frontend::save_npy;
use crate::runtime::Value;
use crate::support::tolerance::elements;
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, ScalarType, Tensor};
use crate::vm::Profile;

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
    /// Inputs that nothing was said of, which got made-up numbers.
    made_up: Vec<String>,
    outputs: Vec<Output>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

/// A part of the result.
#[derive(Serialize)]
struct Output {
    name: String,
    #[serde(flatten)]
    value: Shown,
}

/// What is shown of a value.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shown {
    Tensor {
        dtype: String,
        shape: Vec<usize>,
        /// Where it was written.
        file: Option<String>,
        /// The first elements.
        first: Vec<Element>,
    },
    Shape {
        dims: Vec<i64>,
    },
    Integer {
        value: i64,
    },
    Float {
        value: f64,
    },
    Text {
        value: String,
    },
    /// A value without a text, as a closure.
    Other {
        what: &'static str,
    },
}

/// An element as it is shown: an integer exactly.
#[derive(Serialize)]
#[serde(untagged)]
enum Element {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl Element {
    fn of(value: Scalar, dtype: DType) -> Self {
        match value {
            Scalar::Float(value) => Self::Float(value),
            // An `i64` keeps the bits of a `uint64`.
            Scalar::Int(value) if dtype.scalar == ScalarType::U64 => {
                Self::Unsigned(value.cast_unsigned())
            }
            Scalar::Int(value) => Self::Signed(value),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
        }
    }
}

pub(super) fn run(
    args: &RunArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    if let Some(folder) = &args.output {
        check_output(folder, Written::Folder)?;
    }
    let read = || Entry::read(&args.module, &args.inputs);
    let entry = environment.time("import", read)?;
    let inputs = environment.time("inputs", || gather(&entry.signature, &entry.inputs))?;
    let made_up = unnamed(&entry.signature, &entry.inputs);
    let signature = entry.signature.clone();
    let ran = if device::is_interpreter(&args.device.device) {
        interpreted(&entry, inputs)?
    } else {
        compiled(entry, inputs, args, environment)?
    };
    let mut outputs = Vec::new();
    let mut files = Files::new(args.output.as_deref());
    for (name, value) in program::outputs(&signature, ran.result) {
        let value = shown(value, &name, &mut files)?;
        outputs.push(Output { name, value });
    }
    let report = Report {
        device: ran.device,
        reason: ran.reason,
        compile_ms: milliseconds(ran.compile),
        load_ms: milliseconds(ran.load),
        run_ms: milliseconds(ran.elapsed),
        made_up,
        outputs,
        profile: ran.profile,
    };
    if args.json {
        terminal.json(&report)?;
        return Ok(());
    }
    print(terminal, &report)
}

/// A call that was made.
struct Ran {
    device: String,
    reason: String,
    compile: Duration,
    load: Duration,
    elapsed: Duration,
    /// In host memory.
    result: Value,
    /// Of a second call, if one is wanted: the first also makes plans.
    profile: Option<Profile>,
}

fn interpreted(entry: &Entry, inputs: Vec<Tensor>) -> Result<Ran, CliError> {
    let start = Instant::now();
    let result = interpret(entry.module()?, &entry.func, inputs)?;
    Ok(Ran {
        device: "interp".to_owned(),
        reason: "asked for".to_owned(),
        compile: Duration::ZERO,
        load: Duration::ZERO,
        elapsed: start.elapsed(),
        result,
        profile: None,
    })
}

fn compiled(
    entry: Entry,
    inputs: Vec<Tensor>,
    args: &RunArgs,
    environment: &Environment,
) -> Result<Ran, CliError> {
    let open = || device::open(&entry.device(&args.device), &environment.pipelines);
    let chosen = environment.time("device", open)?;
    let mut program = Program::of(entry.code, &chosen, environment)?;
    let upload = |program: &mut Program| program.upload(&entry.func, inputs);
    let values = program.timed(environment, "inputs", upload)?;
    let start = Instant::now();
    let call = |program: &mut Program| program.call(&entry.func, &values);
    let result = program.timed(environment, "first call", call)?;
    let elapsed = start.elapsed();
    let profile = if args.profile {
        Some(program.vm.profile(&entry.func, &values)?.1)
    } else {
        None
    };
    Ok(Ran {
        device: chosen.name,
        reason: chosen.reason,
        compile: program.compile,
        load: program.load,
        elapsed,
        result: program.download(result)?,
        profile,
    })
}

/// What is shown of a value; a tensor is written into the folder, if there is one.
fn shown(value: Value, name: &str, files: &mut Files<'_>) -> Result<Shown, CliError> {
    Ok(match value {
        Value::Tensor(tensor) => {
            let file = files.save(name, &tensor)?;
            let first = elements(&tensor).take(SHOWN);
            Shown::Tensor {
                dtype: tensor.dtype().to_string(),
                shape: tensor.shape().to_vec(),
                file,
                first: first.map(|v| Element::of(v, tensor.dtype())).collect(),
            }
        }
        Value::Shape(dims) => Shown::Shape {
            dims: dims.to_vec(),
        },
        Value::Int(value) => Shown::Integer { value },
        Value::Float(value) => Shown::Float { value },
        Value::Str(text) => Shown::Text {
            value: text.to_string(),
        },
        other => Shown::Other { what: other.kind() },
    })
}

fn print(terminal: &mut Terminal, report: &Report) -> Result<(), CliError> {
    terminal.line(format!(
        "on {} ({})",
        terminal.bold(&report.device),
        report.reason
    ))?;
    if !report.made_up.is_empty() {
        terminal.line(format!(
            "made-up numbers for {}, which no --input names",
            listed(&report.made_up)
        ))?;
    }
    for Output { name, value } in &report.outputs {
        let name = terminal.bold(name);
        match value {
            Shown::Tensor {
                dtype,
                shape,
                file,
                first,
            } => {
                let size: usize = shape.iter().product();
                let more = if size > SHOWN { ", …" } else { "" };
                terminal.line(format!("{name}: {dtype} [{}]", listed(shape)))?;
                terminal.line(format!("  {}{more}", listed(first)))?;
                if let Some(file) = file {
                    terminal.line(format!("  written to {file}"))?;
                }
            }
            Shown::Shape { dims } => terminal.line(format!("{name}: shape [{}]", listed(dims)))?,
            Shown::Integer { value } => terminal.line(format!("{name}: {value}"))?,
            Shown::Float { value } => terminal.line(format!("{name}: {value:?}"))?,
            Shown::Text { value } => terminal.line(format!("{name}: {value:?}"))?,
            Shown::Other { what } => terminal.line(format!("{name}: {what}"))?,
        }
    }
    terminal.line(format!(
        "ready in {:.1} ms, ran in {:.3} ms",
        report.compile_ms + report.load_ms,
        report.run_ms
    ))?;
    if let Some(profile) = &report.profile {
        terminal.line("")?;
        print_profile(terminal, profile)?;
    }
    Ok(())
}

/// Every step with its time, then the sums.
fn print_profile(terminal: &mut Terminal, profile: &Profile) -> Result<(), CliError> {
    let rows = profile.entries.iter().map(|step| {
        vec![
            step.name.clone(),
            step.kind.name().to_owned(),
            format!("{:.1}", step.seconds * 1e6),
            step.clock.name().to_owned(),
            step.launches.to_string(),
            step.bytes.to_string(),
            step.why.clone().unwrap_or_default(),
        ]
    });
    let columns = ["step", "kind", "µs", "clock", "launches", "bytes", "why"];
    terminal.table(&columns, &rows.collect::<Vec<_>>())?;
    let (device, host) = profile.seconds();
    let (copies, bytes) = profile.copies();
    terminal.line(format!(
        "{:.1} µs in all: {:.1} on the device, {:.1} on the host; {} launches; {copies} copies of {bytes} bytes",
        profile.total.as_secs_f64() * 1e6,
        device * 1e6,
        host * 1e6,
        profile.launches()
    ))?;
    Ok(())
}

fn listed<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    items.join(", ")
}

/// Results as files in a folder.
struct Files<'a> {
    folder: Option<&'a Path>,
    /// The names that there are.
    names: HashSet<String>,
}

impl<'a> Files<'a> {
    fn new(folder: Option<&'a Path>) -> Self {
        Self {
            folder,
            names: HashSet::new(),
        }
    }

    /// Writes a result, if there is a folder, which is made if need be; returns the file's path. A name is the author's: what could
    /// be more than the name of a file becomes `_`.
    fn save(&mut self, name: &str, tensor: &Tensor) -> Result<Option<String>, CliError> {
        let Some(folder) = self.folder else {
            return Ok(None);
        };
        std::fs::create_dir_all(folder).map_err(|source| CliError::Folder {
            path: folder.to_owned(),
            source,
        })?;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let kept = name.chars().map(|c| if plain(c) { c } else { '_' });
        let mut file: String = kept.collect();
        if file.is_empty() || file.starts_with('.') {
            file.insert(0, '_');
        }
        while !self.names.insert(file.to_lowercase()) {
            file.push('_');
        }
        let path = folder.join(format!("{file}.npy"));
        save_npy(&path, tensor)?;
        Ok(Some(path.display().to_string()))
    }
}
