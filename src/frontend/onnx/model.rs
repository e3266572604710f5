//! A model read from a file or from bytes, and imported as a module.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use bytes::Bytes;
use indexmap::IndexMap;
use prost::Message;

use super::edges::{self, Inputs, Made, open_inputs, weight_names};
use super::error::{OnnxError, Problems};
use super::file::Mapped;
use super::import::{Importer, identifier};
use super::operators;
use super::proto::{GraphProto, ModelProto, NodeProto};
use super::scope::Scope;
use super::tensor::Tensors;
use super::value::Value;
use crate::ir::graph::{INPUT_NAMES, OUTPUT_NAMES};
use crate::ir::{AttrValue, Func, Module, StructInfo};
use crate::relax::{self, BlockBuilder, Var};
use crate::tensor::Tensor;

/// The name of the graph function.
pub const MAIN: &str = "main";

/// What the user says about a model.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Symbolic extents that are numbers: by the name that the model gives them.
    pub dims: HashMap<String, i64>,
    /// Shapes of inputs.
    pub shapes: HashMap<String, Vec<i64>>,
    /// Inputs that are constants of the import, as axes or sizes on which the types of results depend. They are no inputs then.
    pub values: HashMap<String, Tensor>,
    /// How many tensors an input has that is a sequence. They are the inputs `x[0]`, `x[1]`, …; without a number here there are as
    /// many as have shapes.
    pub lengths: HashMap<String, usize>,
    /// Optional inputs that are left out.
    pub absent: HashSet<String>,
}

/// An input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// What is known of it.
    pub sinfo: StructInfo,
}

impl Port {
    fn of(made: Made<'_, Var>) -> Self {
        Self {
            sinfo: made.value.sinfo().clone(),
            name: made.name,
        }
    }
}

/// An extent of an input that is no number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Open {
    /// A symbolic one, by the name that the model gives it: [`ImportOptions::dims`] can say it.
    Symbol(String),
    /// One without a name, of this input: [`ImportOptions::shapes`] can say it.
    Input(String),
}

/// An imported model.
#[derive(Clone, Debug)]
pub struct Model {
    /// The function [`MAIN`] and what it calls.
    pub module: Module,
    /// Parameters of the function, in order.
    pub inputs: Vec<Port>,
    /// Results of the function, in order; it gives a tuple if there are several.
    pub outputs: Vec<Port>,
    /// The version of the default operator set.
    pub opset: i64,
    /// What the model says of its outputs and is not so, as sentences.
    pub notes: Vec<String>,
    /// What keeps extents of the inputs from being numbers.
    pub open: Vec<Open>,
    /// The weights of the graph by their names. Those that the module uses as they are share their elements with its constants.
    pub weights: IndexMap<String, Tensor>,
}

/// Reads a model and its weights.
///
/// # Errors
/// [`OnnxError`] with everything that stands in the way.
pub fn load(path: &Path, options: &ImportOptions) -> Result<Model, OnnxError> {
    let (model, tensors) = read(path)?;
    import(&model, tensors, options)
}

/// Reads a model from its bytes. It can have no weights in other files.
///
/// # Errors
/// As [`load`].
pub fn parse(bytes: &[u8], options: &ImportOptions) -> Result<Model, OnnxError> {
    let model = ModelProto::decode(Bytes::copy_from_slice(bytes))?;
    import(&model, Tensors::default(), options)
}

/// The names of the inputs of a model that are no weights, in order.
///
/// # Errors
/// [`OnnxError`] if the file cannot be read or is no model.
pub fn input_names_of(path: &Path) -> Result<Vec<String>, OnnxError> {
    names_of(&read(path)?.0)
}

/// The same of a model from its bytes.
///
/// # Errors
/// [`OnnxError`] if the bytes are no model.
pub fn input_names(bytes: &[u8]) -> Result<Vec<String>, OnnxError> {
    names_of(&ModelProto::decode(Bytes::copy_from_slice(bytes))?)
}

/// The message in a file, whose tensors are slices of the mapped file, and what reads them.
pub(super) fn read(path: &Path) -> Result<(ModelProto, Tensors), OnnxError> {
    let file = Mapped::open(path).map_err(|source| OnnxError::Read {
        path: path.to_owned(),
        source,
    })?;
    let model = ModelProto::decode(file.bytes()).map_err(|source| OnnxError::NoModel {
        path: path.to_owned(),
        source,
    })?;
    match model.graph {
        Some(_) => Ok((model, Tensors::of(folder_of(path), file))),
        None => Err(OnnxError::NoGraphIn {
            path: path.to_owned(),
        }),
    }
}

fn names_of(model: &ModelProto) -> Result<Vec<String>, OnnxError> {
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    Ok(open_inputs(graph)
        .into_iter()
        .map(|input| input.name.clone().unwrap_or_default())
        .collect())
}

fn import(
    model: &ModelProto,
    tensors: Tensors,
    options: &ImportOptions,
) -> Result<Model, OnnxError> {
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    let mut importer = Importer::new(model, tensors);
    let inputs = Inputs::of(graph, &mut importer, options)?;
    importer.check_operator_sets(model);
    let params: Vec<Var> = inputs
        .ports
        .iter()
        .map(|port| Var::new(identifier(&port.name), port.sinfo.clone()))
        .collect();
    let mut scope = Scope::new("");
    inputs.define(&params, &mut scope);
    let mut bb = BlockBuilder::new();
    bb.broadcast_by_extents();
    let (mut outputs, mut notes): (Vec<Port>, Vec<String>) = (vec![], vec![]);
    let params: Vec<&Var> = params.iter().collect();
    let functions = model.functions.iter();
    let mut functions = functions.map(|function| function.node.as_slice());
    let impure = is_impure(&graph.node) || functions.clone().any(is_impure);
    let plain = impure || has_control_flow(&graph.node) || functions.any(has_control_flow);
    let options = relax::FunctionOptions {
        impure,
        ..relax::FunctionOptions::default()
    };
    bb.function_with::<OnnxError>(MAIN, &params, options, |bb| {
        let made: Vec<Made<'_, Var>> = if plain {
            let values = edges::outputs(graph, &mut scope, &mut importer, bb)?;
            let values = values
                .into_iter()
                .map(|made| made.bound(|value| bb.emit(value)));
            values.collect::<Result<_, _>>()?
        } else {
            bb.dataflow(|bb| {
                let values = edges::outputs(graph, &mut scope, &mut importer, bb)?;
                let values = values
                    .into_iter()
                    .map(|made| made.bound(|value| bb.emit_output(value)));
                values.collect::<Result<Vec<_>, OnnxError>>()
            })?
        };
        notes = edges::contradicted(&made)?;
        let values: Vec<&Var> = made.iter().map(|made| &made.value).collect();
        match values.as_slice() {
            [single] => bb.emit_func_output(*single)?,
            several => bb.emit_func_output(relax::tuple(several.iter().copied()))?,
        }
        outputs = made.into_iter().map(Port::of).collect();
        Ok(())
    })?;
    let opset = importer.opset();
    let open = importer.open(&inputs.ports);
    let weights = constants(graph, &scope);
    let mut module = bb.finish()?;
    if let Some(Func::Graph(main)) = module.funcs.get_mut(MAIN) {
        let names = [(INPUT_NAMES, &inputs.ports), (OUTPUT_NAMES, &outputs)];
        main.attrs
            .extend(names.map(|(attr, ports)| (attr.to_owned(), names_of_ports(ports))));
    }
    Ok(Model {
        module,
        inputs: inputs.ports,
        outputs,
        opset,
        notes,
        open,
        weights,
    })
}

/// The weights of a model by their names, without importing it.
///
/// # Errors
/// [`OnnxError`] if the file cannot be read or is no model, or a weight is damaged.
pub fn weights(path: &Path) -> Result<IndexMap<String, Tensor>, OnnxError> {
    let (model, tensors) = read(path)?;
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    let mut importer = Importer::new(&model, tensors);
    let mut scope = Scope::new("");
    importer.initializers(graph, &mut scope);
    match importer.problems.is_empty() {
        true => Ok(constants(graph, &scope)),
        false => Err(Problems(importer.problems).into()),
    }
}

/// The initializers of a graph, as its scope has them.
fn constants(graph: &GraphProto, scope: &Scope<'_, '_>) -> IndexMap<String, Tensor> {
    let constants = weight_names(graph).filter_map(|name| match scope.find(name) {
        Some(Value::Const(tensor)) => Some((name.to_owned(), tensor.clone())),
        _ => None,
    });
    constants.collect()
}

/// The folder that files beside a model are in.
fn folder_of(path: &Path) -> Option<&Path> {
    path.parent().map(|folder| match folder.as_os_str() {
        empty if empty.is_empty() => Path::new("."),
        _ => folder,
    })
}

/// The model's names of inputs or outputs, as an attribute of the function: it may give its parameters other ones.
fn names_of_ports(ports: &[Port]) -> AttrValue {
    let names = ports.iter().map(|port| AttrValue::Str(port.name.clone()));
    AttrValue::List(names.collect())
}

/// Whether a node decides at run time what runs.
fn has_control_flow(nodes: &[NodeProto]) -> bool {
    let graphs = nodes.iter().flat_map(|node| &node.attribute);
    let mut graphs = graphs.filter(|attribute| attribute.g.is_some());
    graphs.next().is_some()
}

/// Whether two calls of the nodes may give different results.
pub(super) fn is_impure(nodes: &[NodeProto]) -> bool {
    nodes.iter().any(|node| {
        let mut graphs = node.attribute.iter().filter_map(|a| a.g.as_deref());
        operators::of_node(node).is_some_and(|operator| (operator.impure)(node))
            || graphs.any(|graph| is_impure(&graph.node))
    })
}
