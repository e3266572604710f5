//! ONNX models as modules.
//!
//! [`load`] reads a file and gives a [`Model`]: a module with a graph function `main`, whose parameters are the model's inputs and
//! whose constants are its weights, and the names and types of inputs and outputs as the model has them. Shape arithmetic is done
//! while the model is imported (`value::Known`): sizes become expressions of the symbolic extents of the inputs. Whatever stands
//! in the way is reported at once ([`Problems`]), each with its node.
//!
//! Open Neural Network Exchange, <https://onnx.ai/onnx/>: operator sets 7 and later.

mod attributes;
mod call;
mod docs;
mod error;
mod file;
mod import;
mod operators;
mod proto;
mod summary;
mod tensor;
#[cfg(test)]
mod tests;
mod value;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use bytes::Bytes;
use indexmap::IndexMap;
use prost::Message;

pub use docs::markdown;
pub use error::{Fault, OnnxError, Problem, Problems, TensorFault};
pub use summary::{Summary, summary};

use crate::ir::graph::{INPUT_NAMES, OUTPUT_NAMES};
use crate::ir::{AttrValue, Attrs, Expr as Size, Module, Origin, StructInfo};
use crate::relax::{self, BlockBuilder, Expr, Var};
use crate::tensor::Tensor;
use call::shown;
use error::MAX_RANK;
use file::Mapped;
use import::{Importer, Scope, identifier};
use proto::{
    Dimension, DimensionProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto,
    ValueInfoProto, type_proto,
};
use tensor::Tensors;
use value::Value;

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
}

/// An input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// What is known of it.
    pub sinfo: StructInfo,
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
fn read(path: &Path) -> Result<(ModelProto, Tensors), OnnxError> {
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

/// Reads a tensor from the bytes of a `TensorProto` (`.pb`), as test data of models come.
///
/// # Errors
/// [`OnnxError`] if it is damaged.
pub fn parse_tensor(bytes: &[u8]) -> Result<Tensor, OnnxError> {
    let proto = TensorProto::decode(Bytes::copy_from_slice(bytes))?;
    Tensors::default().read(&proto).map_err(|fault| {
        let name = proto.name.clone().unwrap_or_default();
        let place = format!("tensor `{name}`");
        let problem = Problem {
            place,
            operator: None,
            fault: Fault::Tensor { name, fault },
        };
        Problems(vec![problem]).into()
    })
}

fn import(
    model: &ModelProto,
    tensors: Tensors,
    options: &ImportOptions,
) -> Result<Model, OnnxError> {
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    let mut importer = Importer::new(model, tensors);
    let inputs = inputs(graph, &mut importer, options)?;
    importer.check_operator_sets(model);
    let params: Vec<Var> = inputs
        .iter()
        .map(|port| Var::new(identifier(&port.name), port.sinfo.clone()))
        .collect();
    let mut scope = Scope::new("");
    let taken: HashMap<&str, &Var> = inputs
        .iter()
        .map(|port| port.name.as_str())
        .zip(&params)
        .collect();
    for input in graph.input.iter().filter_map(|input| input.name.as_deref()) {
        if let Some(value) = options.values.get(input) {
            scope.define(input, Value::Const(value.clone()));
        } else if let Some(&param) = taken.get(input) {
            scope.define(input, Value::Var(param.clone()));
        }
    }
    let mut bb = BlockBuilder::new();
    let (mut results, mut notes): (Vec<StructInfo>, Vec<String>) = (vec![], vec![]);
    let params: Vec<&Var> = params.iter().collect();
    let functions = model.functions.iter();
    let mut functions = functions.map(|function| function.node.as_slice());
    let impure = is_impure(&graph.node) || functions.clone().any(is_impure);
    let plain = impure || has_control_flow(&graph.node) || functions.any(has_control_flow);
    let options = relax::FunctionOptions {
        attrs: port_names(graph, &inputs),
        impure,
        ..relax::FunctionOptions::default()
    };
    bb.function_with::<OnnxError>(MAIN, &params, options, |bb| {
        let made: Vec<Var> = if plain {
            let values = outputs(graph, &mut scope, &mut importer, bb)?;
            let values = values.into_iter().map(|value| bb.emit(value));
            values.collect::<Result<_, _>>()?
        } else {
            bb.dataflow(|bb| {
                let values = outputs(graph, &mut scope, &mut importer, bb)?;
                let values = values.into_iter().map(|value| bb.emit_output(value));
                Ok::<_, OnnxError>(values.collect::<Result<Vec<Var>, _>>()?)
            })?
        };
        results = made.iter().map(|var| var.sinfo().clone()).collect();
        notes = contradicted(graph, &results)?;
        match made.as_slice() {
            [single] => bb.emit_func_output(single)?,
            several => bb.emit_func_output(relax::tuple(several))?,
        }
        Ok(())
    })?;
    let opset = importer.opset();
    let open = importer.open(&inputs);
    let weights = constants(graph, &scope);
    let names = graph
        .output
        .iter()
        .map(|output| output.name.clone().unwrap_or_default());
    Ok(Model {
        module: bb.finish()?,
        inputs,
        outputs: names
            .zip(results)
            .map(|(name, sinfo)| Port { name, sinfo })
            .collect(),
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
    let names = graph
        .initializer
        .iter()
        .filter_map(|proto| proto.name.as_deref());
    let constants = names.filter_map(|name| match scope.find(name) {
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

/// What the model says of its outputs, against what they are: another element type stands in the way, another shape is noted.
fn contradicted(graph: &GraphProto, made: &[StructInfo]) -> Result<Vec<String>, OnnxError> {
    let (mut notes, mut problems) = (vec![], vec![]);
    for (output, made) in graph.output.iter().zip(made) {
        let said = match output.kind.as_ref().and_then(|kind| kind.value.as_ref()) {
            Some(type_proto::Value::Tensor(tensor)) => tensor,
            _ => continue,
        };
        let place = format!("output `{}`", output.name.as_deref().unwrap_or_default());
        let Some(info) = made.as_tensor() else {
            continue;
        };
        if let Ok(dtype) = tensor::dtype(said.elem_type.unwrap_or(0))
            && let Some(made) = info.dtype.filter(|&made| made != dtype)
        {
            problems.push(Problem {
                place,
                operator: None,
                fault: Fault::Unsupported(format!(
                    "its elements are {made}, and the model says {dtype} of them"
                )),
            });
            continue;
        }
        let (Some(dims), Some(shape)) = (info.shape.dims(), &said.shape) else {
            continue;
        };
        let extent = |dim: &DimensionProto| match &dim.value {
            Some(Dimension::Value(extent)) => Some(*extent),
            _ => None,
        };
        let agrees = |(said, made): (&DimensionProto, &Size)| {
            extent(said)
                .zip(made.as_int())
                .is_none_or(|(said, made)| said == made)
        };
        if shape.dim.len() != dims.len() || !shape.dim.iter().zip(dims).all(agrees) {
            let said = shape.dim.iter().map(|dim| match (&dim.value, extent(dim)) {
                (_, Some(extent)) => extent.to_string(),
                (Some(Dimension::Param(name)), _) => name.clone(),
                _ => "?".to_owned(),
            });
            let said: Vec<String> = said.collect();
            let made = shown(dims);
            let said = said.join(", ");
            notes.push(format!(
                "{place}: the model says ({said}) of it, and it is {made}"
            ));
        }
    }
    match problems.is_empty() {
        true => Ok(notes),
        false => Err(Problems(problems).into()),
    }
}

/// The model's names of inputs and outputs, as attributes of the function: it may give its parameters other ones.
fn port_names(graph: &GraphProto, inputs: &[Port]) -> Attrs {
    let text = |name: &str| AttrValue::Str(name.to_owned());
    let inputs = inputs.iter().map(|port| text(&port.name));
    let outputs = graph.output.iter();
    let outputs = outputs.map(|output| text(output.name.as_deref().unwrap_or_default()));
    Attrs::from_iter([
        (INPUT_NAMES.to_owned(), AttrValue::List(inputs.collect())),
        (OUTPUT_NAMES.to_owned(), AttrValue::List(outputs.collect())),
    ])
}

/// Whether a node decides at run time what runs.
fn has_control_flow(nodes: &[NodeProto]) -> bool {
    let graphs = nodes.iter().flat_map(|node| &node.attribute);
    let mut graphs = graphs.filter(|attribute| attribute.g.is_some());
    graphs.next().is_some()
}

/// Whether two calls of the nodes may give different results.
fn is_impure(nodes: &[NodeProto]) -> bool {
    nodes.iter().any(|node| {
        let mut graphs = node.attribute.iter().filter_map(|a| a.g.as_deref());
        operators::of_node(node).is_some_and(|operator| (operator.impure)(node))
            || graphs.any(|graph| is_impure(&graph.node))
    })
}

/// The outputs as values of the graph, if nothing stands in the way.
fn outputs<'m>(
    graph: &'m GraphProto,
    scope: &mut Scope<'_, 'm>,
    importer: &mut Importer<'m>,
    bb: &mut BlockBuilder,
) -> Result<Vec<Expr>, OnnxError> {
    let values = importer.graph(graph, scope, bb);
    let mut outputs = vec![];
    for (value, output) in values.into_iter().zip(&graph.output) {
        let name = output.name.as_deref().unwrap_or_default();
        match value {
            Value::Var(var) => outputs.push((&var).into()),
            Value::Const(tensor) => outputs.push(relax::constant(tensor)),
            Value::Known(known) => {
                outputs.push(call::materialized(&known).map_err(|fault| problem(name, fault))?)
            }
            Value::List(_) | Value::Absent => {
                let text = "a sequence or an optional value cannot be an output".to_owned();
                importer.problem(format!("output `{name}`"), None, Fault::Unsupported(text));
            }
            Value::Missing => {}
        }
    }
    bb.set_origin(Origin::Unknown);
    match std::mem::take(&mut importer.problems) {
        none if none.is_empty() => Ok(outputs),
        problems => Err(Problems(problems).into()),
    }
}

fn problem(name: &str, fault: Fault) -> OnnxError {
    let problem = Problem {
        place: format!("output `{name}`"),
        operator: None,
        fault,
    };
    Problems(vec![problem]).into()
}

/// The inputs that are no weights: old models name their weights among the inputs.
fn open_inputs(graph: &GraphProto) -> Vec<&ValueInfoProto> {
    let weights = graph
        .initializer
        .iter()
        .filter_map(|tensor| tensor.name.as_deref());
    let weights: HashSet<&str> = weights.collect();
    let inputs = graph.input.iter();
    let open = inputs.filter(|input| !weights.contains(input.name.as_deref().unwrap_or_default()));
    open.collect()
}

/// The types of the inputs that are no weights.
fn inputs(
    graph: &GraphProto,
    importer: &mut Importer<'_>,
    options: &ImportOptions,
) -> Result<Vec<Port>, OnnxError> {
    let open = open_inputs(graph);
    let names: Vec<String> = open
        .iter()
        .map(|input| input.name.clone().unwrap_or_default())
        .collect();
    let mut said = options.shapes.keys().chain(options.values.keys());
    if let Some(name) = said.find(|name| !names.contains(name)) {
        return Err(OnnxError::NoSuch {
            what: "input",
            name: name.clone(),
            known: names.join(", "),
        });
    }
    let mut params = vec![];
    let mut ports = vec![];
    for (input, name) in open.into_iter().zip(names) {
        if let Some(value) = options.values.get(&name) {
            let kind = input.kind.as_ref();
            if let Err(fault) = check_value(&name, kind, value, importer, options, &mut params) {
                importer.problem(format!("input `{name}`"), None, fault);
            }
            continue;
        }
        let shape = options.shapes.get(&name).map(Vec::as_slice);
        let sinfo = input_type(
            &name,
            input.kind.as_ref(),
            shape,
            importer,
            options,
            &mut params,
        );
        match sinfo {
            Ok(sinfo) => ports.push(Port { name, sinfo }),
            Err(fault) => importer.problem(format!("input `{name}`"), None, fault),
        }
    }
    if let Some(name) = options.dims.keys().find(|name| !params.contains(name)) {
        params.sort();
        params.dedup();
        return Err(OnnxError::NoSuch {
            what: "symbolic extent",
            name: name.clone(),
            known: match params.is_empty() {
                true => "none".to_owned(),
                false => params.join(", "),
            },
        });
    }
    match std::mem::take(&mut importer.problems) {
        none if none.is_empty() => Ok(ports),
        problems => Err(Problems(problems).into()),
    }
}

/// Checks that a tensor can be the value of an input; the type of an input that is a constant need not be said.
fn check_value(
    name: &str,
    kind: Option<&TypeProto>,
    value: &Tensor,
    importer: &mut Importer<'_>,
    options: &ImportOptions,
    params: &mut Vec<String>,
) -> Result<(), Fault> {
    if kind.is_none_or(|kind| kind.value.is_none()) {
        return Ok(());
    }
    let shape: Vec<i64> = value.shape().iter().map(|&extent| extent as i64).collect();
    let sinfo = input_type(name, kind, Some(&shape), importer, options, params)?;
    let dtype = sinfo.as_tensor().and_then(|info| info.dtype);
    match dtype.filter(|&dtype| dtype != value.dtype()) {
        None => Ok(()),
        Some(dtype) => Err(Fault::Unsupported(format!(
            "it cannot have a value of {}: it is {dtype}",
            value.dtype()
        ))),
    }
}

/// The type of an input; `params` gets the names of its symbolic extents.
fn input_type(
    name: &str,
    kind: Option<&TypeProto>,
    shape: Option<&[i64]>,
    importer: &mut Importer<'_>,
    options: &ImportOptions,
    params: &mut Vec<String>,
) -> Result<StructInfo, Fault> {
    let kind = match kind.and_then(|kind| kind.value.as_ref()) {
        Some(type_proto::Value::Tensor(tensor)) => tensor,
        Some(_) => return Err(Fault::Unsupported("only tensors can be inputs".to_owned())),
        None => return Err(Fault::Unsupported("its type is not said".to_owned())),
    };
    let dtype = tensor::dtype(kind.elem_type.unwrap_or(0)).map_err(Fault::ElementType)?;
    let said = kind.shape.as_ref().map(|shape| &shape.dim);
    let dims = said.map(|dims| {
        let dims = dims.iter().enumerate().map(|(axis, dim)| match &dim.value {
            Some(Dimension::Value(extent)) if *extent >= 0 => Size::i64(*extent),
            Some(Dimension::Param(param)) if !param.is_empty() => {
                params.push(param.clone());
                match options.dims.get(param) {
                    Some(&extent) => Size::i64(extent.max(0)),
                    None => importer.symbol(param).expr(),
                }
            }
            _ => importer.fresh(&format!("{name}_{axis}")).expr(),
        });
        dims.collect::<Vec<Size>>()
    });
    let given = shape.map(<[i64]>::len);
    if let Some(rank) = dims
        .as_ref()
        .map(Vec::len)
        .max(given)
        .filter(|&n| n > MAX_RANK)
    {
        return Err(Fault::Rank(rank));
    }
    let dims = match (dims, shape) {
        (None, None) => {
            let text = "its number of dimensions is not said: give its shape".to_owned();
            return Err(Fault::Unsupported(text));
        }
        (Some(dims), None) => dims,
        (dims, Some(shape)) => {
            let fits = dims.as_ref().is_none_or(|dims| {
                let mut pairs = dims.iter().zip(shape);
                dims.len() == shape.len()
                    && pairs.all(|(dim, &given)| dim.as_int().is_none_or(|dim| dim == given))
            });
            if !fits || shape.iter().any(|&extent| extent < 0) {
                let model = shown(&dims.unwrap_or_default());
                return Err(Fault::Unsupported(format!(
                    "it cannot have the shape {shape:?}: it is {model}"
                )));
            }
            shape.iter().map(|&extent| Size::i64(extent)).collect()
        }
    };
    Ok(StructInfo::tensor(dims, dtype))
}
