//! Recorded runs of whole models: a folder with `index.json`, models, and their inputs and outputs as npz.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use weftile::frontend::load_params;
use weftile::frontend::onnx::{self, ImportOptions};
use weftile::tensor::Tensor;

use super::judge::{Allowed, Backend, Outcome, Ready, agrees, guarded, line};

const ALLOWED: Allowed = Allowed {
    relative: 1e-3,
    absolute: 0.0,
    of_largest: 1e-4,
};

/// A recorded run, and what became of it.
pub(crate) struct Run {
    pub(crate) file: String,
    pub(crate) outcome: Outcome,
    /// From the file to a model that can be called; the same for all runs of a model.
    pub(crate) ready: Duration,
    pub(crate) called: Duration,
}

/// The recorded runs of the models that are wanted; `done` gets each as it ends.
pub(crate) fn judged(
    folder: &Path,
    wants: &dyn Fn(&str) -> bool,
    backend: &Backend,
    done: &mut dyn FnMut(Run),
) -> Result<(), Box<dyn Error>> {
    let index = std::fs::read(folder.join("index.json"))?;
    let index: Vec<Json> = serde_json::from_slice(&index)?;
    for entry in &index {
        let name = entry["model"].as_str().unwrap_or_default();
        if !wants(name) {
            continue;
        }
        let start = Instant::now();
        let mut model: Option<Ready> = None;
        let made = guarded(|| match make(&folder.join(name), backend) {
            Ok(ready) => {
                model = Some(ready);
                Outcome::Passed
            }
            Err(error) => Outcome::Failed(line(&*error)),
        });
        let ready = start.elapsed();
        for set in entry["sets"].as_array().into_iter().flatten() {
            let start = Instant::now();
            let outcome = match &mut model {
                Some(model) => guarded(|| judge(folder, set, model)),
                None => made.clone(),
            };
            done(Run {
                file: set["file"].as_str().unwrap_or_default().to_owned(),
                outcome,
                ready,
                called: start.elapsed(),
            });
        }
    }
    Ok(())
}

fn make(path: &Path, backend: &Backend) -> Result<Ready, Box<dyn Error>> {
    backend.ready(onnx::load(path, &ImportOptions::default())?)
}

fn judge(folder: &Path, set: &Json, ready: &mut Ready) -> Outcome {
    let file = folder.join(set["file"].as_str().unwrap_or_default());
    let mut tensors = match load_params(&file) {
        Ok(tensors) => tensors,
        Err(error) => return Outcome::Failed(line(&error)),
    };
    let mut numbered = |kind: &str| {
        let mut list: Vec<Tensor> = vec![];
        while let Some(tensor) = tensors.shift_remove(&format!("{kind}{}", list.len())) {
            list.push(tensor);
        }
        list
    };
    let (inputs, expected) = (numbered("in"), numbered("out"));
    agrees(ready.call(inputs), &expected, ALLOWED)
}
