//! `weftile check`: whether a program runs on a device, all that stands in the way, and what it takes there.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use super::args::{CheckArgs, InputArgs, TargetKind};
use super::environment::Environment;
use super::error::CliError;
use super::program::{bind, ends_in, import, read};
use super::recognized::{Site, Sites};
use super::terminal::Terminal;
use crate::artifact::{Port, Signature};
use crate::codegen_cpu::this_cpu;
use crate::frontend::onnx::{self, OnnxError, Open};
use crate::ir::graph::{Arg, Callee, Def, Function};
use crate::ir::{Module, Origin};
use crate::kernel::{GpuTarget, LoweredFunc, Target};
use crate::passes::{PassContext, is_of_host, memory_usage};
use crate::pipeline::{self, Compilation, signature};
use crate::runtime_gpu::{Adapter, adapters};

/// The function that is looked at if none is named.
const MAIN: &str = "main";
/// Most kernels that are listed for people.
const LISTED: usize = 40;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    file: String,
    target: &'static str,
    runs: bool,
    problems: Vec<Trouble>,
    /// What a model says of itself and is not so.
    notes: Vec<String>,
    inputs: Vec<Typed>,
    outputs: Vec<Typed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<OfModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<Costs>,
    /// Where the program writes an operator in primitives, and why it stays so where it does.
    recognized: Vec<Site>,
    parts: Vec<Part>,
}

/// Something that stands in the way.
#[derive(Serialize)]
struct Trouble {
    /// The node with the graphs around it, where that is known.
    place: Option<String>,
    operator: Option<String>,
    problem: String,
}

/// An input or output.
#[derive(Serialize)]
struct Typed {
    name: String,
    kind: String,
}

/// What an ONNX model says of itself.
#[derive(Serialize)]
struct OfModel {
    opsets: IndexMap<String, i64>,
    parameters: u64,
    weight_bytes: u64,
    operators: IndexMap<String, usize>,
}

/// What a call takes. Nothing, where that depends on extents that are open.
#[derive(Serialize)]
struct Costs {
    flops: Option<u64>,
    /// Bytes of the tensors between, as they are planned.
    activation_bytes: Option<u64>,
    /// The symbolic extents.
    open: Vec<String>,
    /// Options that make extents of inputs numbers.
    missing: Vec<String>,
}

/// A step of a call: a loop program, or a function that is not compiled here.
#[derive(Serialize)]
struct Part {
    name: String,
    runs_on: &'static str,
    calls: usize,
    /// Operations of one call, if all extents are known.
    flops: Option<u64>,
    /// Where its calls come from.
    origins: Vec<String>,
}

pub(super) fn run(
    args: &CheckArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let (target, kind) = match args.target {
        TargetKind::Gpu => (Target::Gpu(GpuTarget::desktop()), "gpu"),
        TargetKind::Cpu => (Target::Cpu(this_cpu()), "cpu"),
    };
    let mut report = Report {
        file: args.module.file.display().to_string(),
        target: kind,
        runs: false,
        problems: vec![],
        notes: vec![],
        inputs: vec![],
        outputs: vec![],
        model: None,
        costs: None,
        recognized: vec![],
        parts: vec![],
    };
    if let Some((module, missing)) = imported(args, &mut report)? {
        let main = args.module.func.as_deref().unwrap_or(MAIN);
        if let Some(function) = module.function(main) {
            let signature = signature(function);
            report.inputs = typed(&signature, &signature.inputs);
            report.outputs = typed(&signature, &signature.outputs);
        }
        let sites = Arc::new(Sites::default());
        let watched = PassContext {
            instruments: vec![sites.instrument()],
            ..PassContext::default()
        };
        let compiled = environment.compile_watched(&module, &target, "emit", watched);
        report.recognized = sites.found();
        match compiled {
            Ok(compilation) => {
                if args.target == TargetKind::Gpu {
                    too_large(&compilation.module, &mut report.problems);
                }
                report.runs = report.problems.is_empty();
                report.costs = Some(costs(&module, &compilation, main, missing));
                report.parts = parts(&compilation, kind);
            }
            Err(CliError::Compile(error)) => refused(*error, &mut report.problems),
            Err(error) => return Err(error),
        }
    }
    if args.json {
        terminal.json(&report)?;
    } else {
        print(terminal, &report)?;
    }
    match report.runs {
        true => Ok(()),
        false => Err(CliError::WillNotRun {
            file: report.file,
            target: kind,
            problems: report.problems.len(),
        }),
    }
}

/// The module, if nothing stands in the way of reading it, and the options that would make extents of its inputs numbers. The
/// summary of a model is reported even if the import fails.
fn imported(
    args: &CheckArgs,
    report: &mut Report,
) -> Result<Option<(Module, Vec<String>)>, CliError> {
    let inputs = args.shapes.of_model(&args.module)?;
    if !ends_in(&args.module.file, "onnx") {
        let module = read(&args.module, &InputArgs::default())?;
        let main = args.module.func.as_deref().unwrap_or(MAIN);
        return Ok(Some((bind(module, main, &args.module)?, vec![])));
    }
    let summary = onnx::summary(&args.module.file)?;
    let typed = |ports: Vec<(String, String)>| {
        let ports = ports.into_iter().map(|(name, kind)| Typed { name, kind });
        ports.collect()
    };
    report.inputs = typed(summary.inputs);
    report.outputs = typed(summary.outputs);
    report.model = Some(OfModel {
        opsets: summary.opsets.into_iter().collect(),
        parameters: summary.parameters,
        weight_bytes: summary.weight_bytes,
        operators: summary.operators,
    });
    match import(&args.module, &inputs) {
        Ok(model) => {
            report.notes = model.notes;
            let missing = model.open.iter().map(|open| match open {
                Open::Symbol(name) => format!("--dim {name}=N"),
                Open::Input(name) => format!("--shape {name}=DIMS"),
            });
            Ok(Some((model.module, missing.collect())))
        }
        Err(CliError::Onnx(OnnxError::Problems(problems))) => {
            let problems = problems.0.into_iter().map(|problem| Trouble {
                place: Some(problem.place),
                operator: problem.operator,
                problem: problem.fault.to_string(),
            });
            report.problems = problems.collect();
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Weights that no kernel may see as a whole, by the first adapter here; where there is none, by what every adapter of WebGPU has.
fn too_large(module: &Module, out: &mut Vec<Trouble>) {
    const OF_EVERY_ADAPTER: u64 = 128 << 20;
    let (limit, holder) = match adapters().first().map(Adapter::info) {
        Some(info) => (info.max_binding_bytes, format!("`{}` binds", info.name)),
        None => (OF_EVERY_ADAPTER, "every GPU binds".to_owned()),
    };
    for (_, function) in module.functions() {
        function.for_each_value(&mut |value| {
            let weights = value.def.args().into_iter().filter_map(|arg| match arg {
                Arg::Const(tensor) => Some(tensor),
                _ => None,
            });
            for tensor in weights.filter(|tensor| tensor.bytes().len() as u64 > limit) {
                let origin = &value.origin;
                out.push(Trouble {
                    place: (!origin.is_unknown()).then(|| origin.to_string()),
                    operator: None,
                    problem: format!(
                        "a weight of shape {:?} takes {} bytes; {holder} at most {limit}",
                        tensor.shape(),
                        tensor.bytes().len(),
                    ),
                });
            }
        });
    }
}

/// What the compiler refuses, each for itself.
fn refused(error: pipeline::Error, out: &mut Vec<Trouble>) {
    match error {
        pipeline::Error::Several(errors) => {
            errors.into_iter().for_each(|error| refused(error, out));
        }
        pipeline::Error::From {
            origin,
            operand,
            source,
        } => out.push(Trouble {
            place: (!origin.is_unknown()).then(|| origin.to_string()),
            operator: None,
            problem: match operand {
                Some(operand) => format!("{}; {operand}", source.to_string().trim_end()),
                None => source.to_string().trim_end().to_owned(),
            },
        }),
        other => out.push(Trouble {
            place: None,
            operator: None,
            problem: other.to_string().trim_end().to_owned(),
        }),
    }
}

fn typed(signature: &Signature, ports: &[Port]) -> Vec<Typed> {
    let ports = ports.iter().map(|port| Typed {
        name: port.name.clone(),
        kind: signature.shown(port).to_string(),
    });
    ports.collect()
}

/// What a call of the function takes. Extents are those of the module before it was compiled: plans of memory have others.
fn costs(module: &Module, compilation: &Compilation, main: &str, missing: Vec<String>) -> Costs {
    let functions = module.function(main).zip(compilation.module.function(main));
    let Some((written, function)) = functions else {
        return Costs {
            flops: None,
            activation_bytes: None,
            open: vec![],
            missing,
        };
    };
    let flops = flops_of_function(function, compilation, &mut vec![main]);
    let open = written.symbolic_vars().into_iter();
    let open: Vec<String> = open.map(|var| var.name().to_owned()).collect();
    // Storage of a symbolic size is made by the call, and is in no plan.
    let usage = match function.symbolic_vars().is_empty() {
        true => memory_usage(function, &HashMap::new()),
        false => None,
    };
    Costs {
        flops,
        activation_bytes: usage.map(|usage| usage.planned),
        open,
        missing,
    }
}

/// Operations of a function with those that it calls, if they depend on no symbolic extent and it is known how often each is called.
/// `around` are the functions that are being counted.
fn flops_of_function<'m>(
    function: &'m Function,
    compilation: &'m Compilation,
    around: &mut Vec<&'m str>,
) -> Option<u64> {
    let mut calls = vec![];
    function.for_each_value(&mut |value| calls.push(&value.def));
    let mut sum = 0_u64;
    for call in calls {
        if let Def::Call { callee, .. } = call
            && is_of_closure(callee)
        {
            return None;
        }
        let Some(name) = call.callee() else {
            continue;
        };
        let own = match (
            compilation.module.function(name),
            compilation.lowered.get(name),
        ) {
            (Some(_), _) if around.contains(&name) => return None,
            (Some(called), _) => {
                around.push(name);
                let own = flops_of_function(called, compilation, around)?;
                around.pop();
                own
            }
            (None, Some(program)) => flops_of(program)?,
            (None, None) => 0,
        };
        sum = sum.checked_add(own)?;
    }
    Some(sum)
}

/// Whether a closure is made or called. It may be a loop.
fn is_of_closure(callee: &Callee) -> bool {
    const OPERATORS: [&str; 3] = ["make_closure", "invoke_closure", "invoke_pure_closure"];
    match callee {
        Callee::Op(op) => OPERATORS.contains(&op.name()),
        Callee::Value(_) => true,
        Callee::Global(_) | Callee::Packed(_) | Callee::PurePacked(_) => false,
    }
}

/// Operations of a loop program, if they depend on no symbolic extent.
fn flops_of(program: &LoweredFunc) -> Option<u64> {
    let each = program.kernels.iter().map(|kernel| {
        let flops = kernel.flops.as_const()?;
        u64::try_from(flops).ok()
    });
    each.sum()
}

/// What runs, and where.
fn parts(compilation: &Compilation, device: &'static str) -> Vec<Part> {
    let module = &compilation.module;
    let mut parts: IndexMap<String, Part> = IndexMap::new();
    let mut origins: IndexMap<String, Vec<Origin>> = IndexMap::new();
    for (_, function) in module.functions() {
        function.for_each_value(&mut |value| {
            let Some(name) = value.def.callee() else {
                return;
            };
            // What the machine does itself is no part of a model.
            if module.function(name).is_some() || name.starts_with("vm.builtin.") {
                return;
            }
            let program = compilation.lowered.get(name);
            let of_host = module.prim_func(name).is_none_or(is_of_host);
            let part = parts.entry(name.to_owned()).or_insert_with(|| Part {
                name: name.to_owned(),
                runs_on: if of_host { "host" } else { device },
                calls: 0,
                flops: program.and_then(flops_of),
                origins: vec![],
            });
            part.calls += 1;
            origins
                .entry(name.to_owned())
                .or_default()
                .push(value.origin.clone());
        });
    }
    for (name, from) in origins {
        if let Some(part) = parts.get_mut(&name) {
            part.origins = match Origin::of_all(&from) {
                Origin::Unknown => vec![],
                Origin::Several(all) => all.iter().map(Origin::to_string).collect(),
                single => vec![single.to_string()],
            };
        }
    }
    parts.into_values().collect()
}

/// Which operators were recognized, how often, and which places stay as they are written.
fn print_sites(terminal: &mut Terminal, sites: &[Site]) -> Result<(), CliError> {
    let mut recognized: IndexMap<&str, usize> = IndexMap::new();
    for site in sites.iter().filter(|site| site.declined.is_none()) {
        *recognized.entry(site.operator).or_default() += 1;
    }
    if !recognized.is_empty() {
        let all = recognized.iter();
        let all = all.map(|(operator, count)| format!("{operator} {count}"));
        let all = all.collect::<Vec<_>>().join(", ");
        terminal.line(format!("recognized: {all}"))?;
    }
    for site in sites {
        if let Some(reason) = &site.declined {
            let place = terminal.bold(&site.place);
            terminal.line(format!("{place}: no {}: {reason}", site.operator))?;
        }
    }
    Ok(())
}

fn print(terminal: &mut Terminal, report: &Report) -> Result<(), CliError> {
    let verdict = match report.runs {
        true => terminal.good(&format!("runs on {}", report.target)),
        false => terminal.bad(&format!("does not run on {}", report.target)),
    };
    terminal.line(format!("{}: {verdict}", report.file))?;
    for (what, ports) in [("input", &report.inputs), ("output", &report.outputs)] {
        for port in ports {
            let name = terminal.bold(&port.name);
            terminal.line(format!("{what} {name}: {}", port.kind))?;
        }
    }
    if let Some(model) = &report.model {
        let opsets = model
            .opsets
            .iter()
            .map(|(name, version)| format!("{name} {version}"));
        terminal.line(format!(
            "operator sets: {}",
            opsets.collect::<Vec<_>>().join(", ")
        ))?;
        let (parameters, bytes) = (model.parameters, model.weight_bytes);
        terminal.line(format!("{parameters} parameters, {bytes} bytes of weights"))?;
        let operators = model.operators.iter();
        let operators = operators.map(|(name, count)| format!("{name} {count}"));
        terminal.line(format!(
            "operators: {}",
            operators.collect::<Vec<_>>().join(", ")
        ))?;
    }
    if let Some(costs) = &report.costs {
        let known = [
            (costs.flops, "floating-point operations"),
            (costs.activation_bytes, "bytes of tensors between"),
        ];
        for (number, what) in known {
            terminal.line(match number {
                Some(number) => format!("a call takes {number} {what}"),
                None => format!(
                    "how many {what} a call takes depends on {}",
                    match (costs.open.is_empty(), costs.missing.is_empty()) {
                        (true, _) => "its data".to_owned(),
                        (false, true) => costs.open.join(", "),
                        (false, false) => format!(
                            "{}: give {}",
                            costs.open.join(", "),
                            costs.missing.join(" ")
                        ),
                    }
                ),
            })?;
        }
    }
    if !report.parts.is_empty() {
        terminal.line("")?;
        let rows = report.parts.iter().take(LISTED).map(|part| {
            vec![
                part.name.clone(),
                part.runs_on.to_owned(),
                part.calls.to_string(),
                part.flops.map_or("?".to_owned(), |flops| flops.to_string()),
                part.origins.first().cloned().unwrap_or_default(),
            ]
        });
        let columns = ["part", "runs on", "calls", "flops", "from"];
        terminal.table(&columns, &rows.collect::<Vec<_>>())?;
        if let Some(more @ 1..) = report.parts.len().checked_sub(LISTED) {
            terminal.line(format!("and {more} more; --json lists them"))?;
        }
    }
    print_sites(terminal, &report.recognized)?;
    for note in &report.notes {
        terminal.line(format!("note: {note}"))?;
    }
    for trouble in &report.problems {
        let place = trouble.place.as_deref();
        let place = place.map(|place| format!("{}: ", terminal.bold(place)));
        terminal.line(format!("{}{}", place.unwrap_or_default(), trouble.problem))?;
    }
    Ok(())
}
