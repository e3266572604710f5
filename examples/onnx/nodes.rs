//! The ONNX backend's node tests: an archive with `node/test_NAME/model.onnx` and its inputs and outputs as `TensorProto`. The
//! recorded results of models with random numbers are those of another generator: only their types and shapes are compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use weftile::frontend::onnx::{self, Edge, EdgeKind, Fault, ImportOptions, MAIN, Model, OnnxError};
use weftile::tensor::Tensor;

use super::judge::{Allowed, Backend, Outcome, agrees, agrees_in_type, guarded, line};
use super::parallel;

const ALLOWED: Allowed = Allowed {
    relative: 1e-3,
    absolute: 1e-5,
    of_largest: 0.0,
};

/// Largest file of an archive that is read.
const MAX_FILE: u64 = 1 << 28;

/// A test: the bytes of its files by name.
#[derive(Default)]
struct Test {
    name: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// The names of the tests that are wanted, and what became of each.
pub(crate) fn judged(
    archive: &Path,
    wants: &dyn Fn(&str) -> bool,
    backend: &Backend,
) -> Result<Vec<(String, Outcome)>, Box<dyn Error>> {
    let tests = read(archive, wants)?;
    let outcomes = parallel::map(&tests, |test| guarded(|| test.judge(backend)));
    let names = tests.into_iter().map(|test| test.name);
    Ok(names.zip(outcomes).collect())
}

fn read(path: &Path, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Test>, Box<dyn Error>> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
    let mut tests: BTreeMap<String, Test> = BTreeMap::new();
    for entry in archive.entries()? {
        let entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        let Some((name, file)) = path
            .split_once("/test_")
            .map(|(_, rest)| rest)
            .and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        if !wants(name) || !entry.header().entry_type().is_file() {
            continue;
        }
        let (name, file) = (name.to_owned(), file.to_owned());
        let mut bytes = vec![];
        entry.take(MAX_FILE).read_to_end(&mut bytes)?;
        let test = tests.entry(name.clone()).or_default();
        test.name = name;
        test.files.insert(file, bytes);
    }
    Ok(tests.into_values().collect())
}

/// The model, and the inputs that it takes. Where a node must know an operand while it is imported (axes, sizes), and that is an
/// input of the test, the input is a constant of the import.
fn import(bytes: &[u8], inputs: Vec<Edge>) -> Result<(Model, Vec<Tensor>), OnnxError> {
    let names = onnx::input_names(bytes)?;
    let mut options = ImportOptions::default();
    for (name, input) in names.iter().zip(&inputs) {
        match input {
            Edge::Tensor(_) => {}
            Edge::Sequence(items) => {
                options.lengths.insert(name.clone(), items.len());
                for (at, item) in items.iter().enumerate() {
                    let shape = item.shape().iter().map(|&extent| extent as i64).collect();
                    options.shapes.insert(format!("{name}[{at}]"), shape);
                }
            }
            Edge::Absent => {
                options.absent.insert(name.clone());
            }
        }
    }
    loop {
        let error = match onnx::parse(bytes, &options) {
            Ok(model) => {
                let named = names.into_iter().zip(inputs);
                let taken = named.filter(|(name, _)| !options.values.contains_key(name));
                let taken = taken.flat_map(|(_, input)| tensors_of(input));
                return Ok((model, taken.collect()));
            }
            Err(error) => error,
        };
        let OnnxError::Problems(problems) = &error else {
            return Err(error);
        };
        let before = options.values.len();
        for problem in &problems.0 {
            let Fault::Operand { name, .. } = &problem.fault else {
                continue;
            };
            if let Some(at) = names.iter().position(|known| known == name)
                && let Some(Edge::Tensor(tensor)) = inputs.get(at)
            {
                options.values.insert(name.clone(), tensor.clone());
            }
        }
        if options.values.len() == before {
            return Err(error);
        }
    }
}

/// The tensors that a function takes or gives for an input or output.
fn tensors_of(edge: Edge) -> Vec<Tensor> {
    match edge {
        Edge::Tensor(tensor) => vec![tensor],
        Edge::Sequence(tensors) => tensors,
        Edge::Absent => vec![],
    }
}

impl Test {
    /// The inputs or outputs, which are of these kinds.
    fn edges(&self, what: &str, kinds: &[EdgeKind]) -> Result<Vec<Edge>, String> {
        let mut edges = vec![];
        while let Some(bytes) = self
            .files
            .get(&format!("test_data_set_0/{what}_{}.pb", edges.len()))
        {
            let kind = kinds.get(edges.len()).unwrap_or(&EdgeKind::Tensor);
            edges.push(onnx::parse_edge(bytes, kind).map_err(|e| line(&e))?);
        }
        // Nothing is recorded of optional values that are not there.
        let left = kinds.iter().skip(edges.len());
        let absent = left.take_while(|kind| matches!(kind, EdgeKind::Optional(_)));
        edges.extend(absent.map(|_| Edge::Absent));
        Ok(edges)
    }

    fn judge(&self, backend: &Backend) -> Outcome {
        let Some(bytes) = self.files.get("model.onnx") else {
            return Outcome::Failed("there is no model.onnx".to_owned());
        };
        let kinds = match onnx::edge_kinds(bytes) {
            Ok(kinds) => kinds,
            Err(error) => return Outcome::Unsupported(line(&error)),
        };
        let edges = (
            self.edges("input", &kinds.0),
            self.edges("output", &kinds.1),
        );
        let (inputs, expected) = match edges {
            (Ok(inputs), Ok(outputs)) => (inputs, outputs),
            (Err(why), _) | (_, Err(why)) => return Outcome::Unsupported(why),
        };
        let expected: Vec<Tensor> = expected.into_iter().flat_map(tensors_of).collect();
        let (model, inputs) = match import(bytes, inputs) {
            Ok(imported) => imported,
            Err(error) => return Outcome::Unsupported(line(&error)),
        };
        let main = model.module.function(MAIN);
        let random = main.is_some_and(|main| !main.pure);
        let results = backend
            .ready(model)
            .and_then(|mut ready| ready.call(inputs));
        match random {
            true => agrees_in_type(results, &expected),
            false => agrees(results, &expected, ALLOWED),
        }
    }
}
