//! `weftile explain`: what each kernel will cost on a class of GPUs.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde::Serialize;

use super::args::{ExplainArgs, Family, check_once};
use super::environment::Environment;
use super::error::CliError;
use super::program::read;
use super::terminal::Terminal;
use crate::codegen_wgsl::emit_with_lines;
use crate::explain::{GpuModel, KernelCost, Prediction, explain, predict};
use crate::kernel::{Assertion, GpuClass, GpuTarget, LoweredFunc, Requirement, Target};
use crate::pipeline::Compilation;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    file: String,
    model: GpuModel,
    kernels: Vec<Page>,
}

#[derive(Serialize)]
struct Page {
    #[serde(flatten)]
    cost: KernelCost,
    prediction: Prediction,
    /// The line of the shader on which each statement begins.
    lines: Vec<u32>,
    shader: String,
}

impl Family {
    fn model(self) -> (GpuClass, GpuModel) {
        let class = match self {
            Self::Nvidia => GpuClass::Nvidia,
            Self::Amd => GpuClass::Amd,
            Self::Intel => GpuClass::Intel,
            Self::Apple => GpuClass::Apple,
            Self::Mobile => GpuClass::Mobile,
            Self::Software => GpuClass::Software,
            Self::H100 => return (GpuClass::Nvidia, GpuModel::h100()),
        };
        (class, GpuModel::of(class))
    }

    /// What its devices have.
    pub(super) fn target(self) -> GpuTarget {
        let (class, model) = self.model();
        GpuTarget {
            known_cores: Some(model.cores),
            ..GpuTarget::usual(class)
        }
    }
}

pub(super) fn run(
    args: &ExplainArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    check_once("--size", &args.sizes)?;
    let module = read(&args.module, &args.shapes.of_model(&args.module)?)?;
    let (_, model) = args.target.model();
    let target = args.target.target();
    let compilation = environment.compile_until(&module, &Target::Gpu(target.clone()), "lower")?;
    let sizes = sizes(args, &compilation)?;
    all_known(args, &compilation, &sizes)?;
    let mut kernels = vec![];
    for (name, func) in &compilation.lowered {
        if let Some(variant) = other_variant(&compilation, name, &sizes) {
            log::debug!("`{name}` does not run: `{variant}` does");
            continue;
        }
        let dims = dims(name, func, &sizes)?;
        for kernel in &func.kernels {
            let cost = explain(kernel, &dims, &model)?;
            let (shader, lines) = emit_with_lines(kernel, &target)?;
            kernels.push(Page {
                prediction: predict(&cost, &model),
                cost,
                lines,
                shader: shader.text,
            });
        }
    }
    if args.json {
        return Ok(terminal.json(&Report {
            file: args.module.file.display().to_string(),
            model,
            kernels,
        })?);
    }
    for page in &kernels {
        terminal.text(&page.cost.page(&page.prediction, &model, &page.lines))?;
    }
    Ok(())
}

/// The sizes that were given, each of which some kernel must have.
fn sizes<'a>(
    args: &'a ExplainArgs,
    compilation: &Compilation,
) -> Result<HashMap<&'a str, i64>, CliError> {
    let dims = compilation.lowered.values().flat_map(|func| &func.dims);
    let known: IndexSet<&String> = dims.collect();
    let mut sizes = HashMap::new();
    for (name, size) in &args.sizes {
        if !known.contains(name) {
            let (name, known) = (name.clone(), known.into_iter().cloned().collect());
            return Err(CliError::UnknownSize { name, known });
        }
        sizes.insert(name.as_str(), *size);
    }
    Ok(sizes)
}

/// No size of any loop program is open.
fn all_known(
    args: &ExplainArgs,
    compilation: &Compilation,
    sizes: &HashMap<&str, i64>,
) -> Result<(), CliError> {
    let dims = compilation.lowered.values().flat_map(|func| &func.dims);
    let open: IndexSet<&String> = dims
        .filter(|dim| !sizes.contains_key(dim.as_str()))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    Err(CliError::OpenSizes {
        what: args.module.file.display().to_string(),
        sizes: open.into_iter().cloned().collect(),
    })
}

/// The variant of a loop program that runs in its place with these sizes.
fn other_variant<'a>(
    compilation: &'a Compilation,
    name: &'a str,
    sizes: &HashMap<&str, i64>,
) -> Option<&'a str> {
    let general = compilation.variant_of(name).unwrap_or(name);
    let shapes = |func: &LoweredFunc| {
        let dims = func.dims.iter().map(|dim| sizes.get(dim.as_str()).copied());
        let dims: Vec<i64> = dims.collect::<Option<_>>()?;
        let extents = func.params.iter().flat_map(|param| &param.shape);
        let extents = extents.map(|extent| extent.eval_exact(&dims).ok());
        extents.collect::<Option<Vec<i64>>>()
    };
    let wanted = shapes(compilation.lowered.get(general)?)?;
    let runs = |other: &&String| {
        let is_variant = compilation.variant_of(other).unwrap_or(other) == general;
        let func = &compilation.lowered[*other];
        let dims = func.dims.iter().map(|dim| sizes.get(dim.as_str()).copied());
        let holds = |a: &Assertion| {
            let dims: Option<Vec<i64>> = dims.clone().collect();
            dims.is_some_and(|dims| a.holds.eval_exact(&dims).is_ok_and(|value| value != 0))
        };
        let has_sizes = || shapes(func).as_ref() == Some(&wanted);
        is_variant && has_sizes() && (*other == general || func.asserts.iter().all(holds))
    };
    let runs = compilation.lowered.keys().find(runs)?.as_str();
    (runs != name).then_some(runs)
}

/// The sizes of a loop program, in its order; all of them are known.
fn dims(name: &str, func: &LoweredFunc, sizes: &HashMap<&str, i64>) -> Result<Vec<i64>, CliError> {
    let dims: Vec<i64> = func.dims.iter().map(|dim| sizes[dim.as_str()]).collect();
    let beyond = |why: String| CliError::BeyondTarget {
        func: name.to_owned(),
        why,
    };
    if let Some((dim, range)) = func.unproved_dim(&dims) {
        let (size, value) = (&func.dims[dim], dims[dim]);
        let (least, most) = range.into_inner();
        return Err(beyond(format!(
            "{size} is {value}, and must be from {least} to {most}"
        )));
    }
    let fails = |a: &&Assertion| a.holds.eval_exact(&dims).is_ok_and(|value| value == 0);
    if let Some(assertion) = func.asserts.iter().find(fails) {
        return Err(beyond(format!("assertion failed: {}", assertion.message)));
    }
    let holds = |r: &&Requirement| {
        r.value
            .eval_exact(&dims)
            .is_ok_and(|value| value <= r.limit)
    };
    match func.requires.iter().find(|requirement| !holds(requirement)) {
        Some(requirement) => Err(beyond(format!("{} does not hold", requirement.what))),
        None => Ok(dims),
    }
}
