//! `weftile demo`: a network classifies garments, drawn by code or from the FashionMNIST test set.

mod dataset;
mod drawings;
mod silhouettes;
mod test_set;

use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;

use super::args::DemoArgs;
use super::device::{Chosen, open_among};
use super::devices;
use super::environment::Environment;
use super::error::CliError;
use super::fashion::{CLASSES, MODULE, SIDE, embedded_params};
use super::program::{Program, parts};
use super::terminal::{Terminal, milliseconds};
use crate::frontend::load_params;
use crate::passes::bind_params;
use crate::runtime::Value;
use crate::runtime_gpu::adapters;
use crate::script;
use crate::tensor::Tensor;

pub(crate) use dataset::DataError;

/// The name by which the module stands in messages and dumps.
const MODULE_NAME: &str = "mlp.py";

pub(super) fn run(
    args: &DemoArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    // Before the compiler starts: a missing file should not take time to find out.
    let data = args
        .data
        .as_deref()
        .map(|folder| open_data(folder, args.download))
        .transpose()?;
    let params = match &args.params {
        Some(path) => load_params(path)?,
        None => embedded_params()?,
    };
    let found = adapters();
    let chosen = open_among(&found, &args.device, &environment.pipelines)?;
    if !args.json {
        devices::print(terminal, &found, &chosen, &environment.pipelines)?;
    }
    let mut ready = Ready::new(&params, chosen, environment)?;
    if !args.json {
        ready.print(terminal)?;
    }
    match data {
        Some(data) => test_set::run(&mut ready, &data, args.json, terminal),
        None => drawings::run(&mut ready, args.json, terminal),
    }
}

fn open_data(folder: &Path, download: bool) -> Result<dataset::TestSet, DataError> {
    if download {
        dataset::download(folder)?;
    }
    dataset::TestSet::load(folder)
}

/// The network on its device.
struct Ready {
    program: Program,
    chosen: Chosen,
    functions: Vec<Kernels>,
}

/// What a loop program of the network became.
#[derive(Clone, Serialize)]
struct Kernels {
    function: String,
    rule: String,
    kernels: Vec<String>,
}

impl Ready {
    fn new(
        params: &IndexMap<String, Tensor>,
        chosen: Chosen,
        environment: &Environment,
    ) -> Result<Self, CliError> {
        check(params)?;
        let module = script::parse(MODULE_NAME, MODULE)?;
        let module = bind_params(&module, "main", params)?;
        let program = Program::new(&module, &chosen, environment)?;
        let executable = program.vm.executable();
        let functions = executable
            .kernels
            .iter()
            .map(|func| Kernels {
                function: func.func.name.clone(),
                rule: program.rules[&func.func.name].clone(),
                kernels: func.func.kernels.iter().map(|k| k.name.clone()).collect(),
            })
            .collect();
        Ok(Self {
            program,
            chosen,
            functions,
        })
    }

    fn print(&self, terminal: &mut Terminal) -> Result<(), CliError> {
        terminal.line("")?;
        let rows: Vec<Vec<String>> = self
            .functions
            .iter()
            .map(|f| vec![f.function.clone(), f.rule.clone(), f.kernels.join(", ")])
            .collect();
        terminal.table(&["loop program", "schedule rule", "kernels"], &rows)?;
        terminal.line("")?;
        Ok(())
    }

    /// The logits of a batch `[count, 784]`: `[count, 10]`.
    fn classify(&mut self, batch: Tensor) -> Result<(Vec<f32>, Duration), CliError> {
        let start = std::time::Instant::now();
        let values = self.program.upload("main", vec![batch])?;
        let result = self.program.call("main", &values)?;
        let result = self.program.download(result)?;
        let elapsed = start.elapsed();
        let parts = parts("main", result);
        let [(_, Value::Tensor(logits))] = parts.as_slice() else {
            return Err(CliError::Results { count: parts.len() });
        };
        Ok((logits.as_slice::<f32>()?.to_vec(), elapsed))
    }

    fn compile_ms(&self) -> f64 {
        milliseconds(self.program.compile + self.program.load)
    }
}

/// Whether weights are those of a network from images to classes.
fn check(params: &IndexMap<String, Tensor>) -> Result<(), CliError> {
    let shape = |name: &str| params.get(name).map(Tensor::shape);
    let inputs = shape("w0").and_then(|s| s.get(1).copied());
    let outputs = shape("b1").and_then(|s| s.first().copied());
    if params.len() == 4 && inputs == Some(SIDE * SIDE) && outputs == Some(CLASSES.len()) {
        return Ok(());
    }
    Err(CliError::Weights {
        found: params
            .iter()
            .map(|(name, tensor)| format!("{name} {:?}", tensor.shape()))
            .collect(),
    })
}

/// The class with the largest logit, and its probability.
fn prediction(logits: &[f32]) -> (usize, f32) {
    let best = (0..logits.len())
        .max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
        .expect("there are classes");
    let sum: f32 = logits.iter().map(|l| (l - logits[best]).exp()).sum();
    (best, 1.0 / sum)
}
