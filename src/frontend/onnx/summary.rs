//! What a model says of itself, read without importing it: of a model that cannot be imported, too.

use std::path::Path;

use indexmap::IndexMap;

use super::edges::open_inputs;
use super::error::OnnxError;
use super::model::read;
use super::proto::{Dimension, GraphProto, NodeProto, TypeProto, ValueInfoProto, type_proto};
use super::tensor;

/// What a model says of itself.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Operator sets and their versions. The default one is called `ai.onnx`.
    pub opsets: Vec<(String, i64)>,
    /// Inputs that are no weights: names and types, as `float32 [batch, 3, 224, 224]`.
    pub inputs: Vec<(String, String)>,
    /// Names and types of outputs.
    pub outputs: Vec<(String, String)>,
    /// How often each operator is written, in branches, loops and functions of the model, too. Those of other domains come with
    /// their domain.
    pub operators: IndexMap<String, usize>,
    /// Elements of all weights together.
    pub parameters: u64,
    /// Bytes of all weights together, with all elements of sparse ones.
    pub weight_bytes: u64,
}

/// Reads what a model says of itself.
///
/// # Errors
/// [`OnnxError`] if the file cannot be read or is no model.
pub fn summary(path: &Path) -> Result<Summary, OnnxError> {
    let (model, _) = read(path)?;
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    let mut summary = Summary {
        inputs: open_inputs(graph).into_iter().map(port).collect(),
        outputs: graph.output.iter().map(port).collect(),
        ..Summary::default()
    };
    for opset in &model.opset_import {
        let domain = domain(opset.domain.as_deref()).unwrap_or("ai.onnx");
        let version = opset.version.unwrap_or(0);
        summary.opsets.push((domain.to_owned(), version));
    }
    summary.graph(graph);
    for function in &model.functions {
        summary.nodes(&function.node);
    }
    summary.operators.sort_keys();
    Ok(summary)
}

/// A domain that is not the default one.
fn domain(domain: Option<&str>) -> Option<&str> {
    domain.filter(|domain| !domain.is_empty() && *domain != "ai.onnx")
}

impl Summary {
    fn graph(&mut self, graph: &GraphProto) {
        for tensor in &graph.initializer {
            self.weight(&tensor.dims, tensor.data_type);
        }
        for sparse in &graph.sparse_initializer {
            let data_type = sparse.values.as_ref().and_then(|values| values.data_type);
            self.weight(&sparse.dims, data_type);
        }
        self.nodes(&graph.node);
    }

    fn nodes(&mut self, nodes: &[NodeProto]) {
        for node in nodes {
            let operator = node.op_type.as_deref().unwrap_or_default();
            let operator = match domain(node.domain.as_deref()) {
                Some(domain) => format!("{domain}::{operator}"),
                None => operator.to_owned(),
            };
            *self.operators.entry(operator).or_default() += 1;
            for attribute in &node.attribute {
                let tensors = attribute.t.iter();
                tensors.for_each(|tensor| self.weight(&tensor.dims, tensor.data_type));
                attribute.g.iter().for_each(|graph| self.graph(graph));
            }
        }
    }

    fn weight(&mut self, dims: &[i64], data_type: Option<i32>) {
        let dims = dims.iter().map(|&dim| u64::try_from(dim).unwrap_or(0));
        let elements = dims.fold(1u64, u64::saturating_mul);
        let dtype = tensor::dtype(data_type.unwrap_or(0));
        let bytes = dtype.map_or(0, |dtype| dtype.bytes() as u64);
        self.parameters = self.parameters.saturating_add(elements);
        let bytes = elements.saturating_mul(bytes);
        self.weight_bytes = self.weight_bytes.saturating_add(bytes);
    }
}

/// The name and the type of an input or output.
fn port(info: &ValueInfoProto) -> (String, String) {
    let name = info.name.clone().unwrap_or_default();
    let kind = info.kind.as_ref().map_or("of no type".to_owned(), shown);
    (name, kind)
}

fn shown(kind: &TypeProto) -> String {
    let tensor = match &kind.value {
        Some(type_proto::Value::Tensor(tensor)) => tensor,
        Some(type_proto::Value::Sequence(of)) => {
            let of = of
                .elem_type
                .as_ref()
                .map_or("of no type".to_owned(), |of| shown(of));
            return format!("sequence of {of}");
        }
        Some(type_proto::Value::Optional(of)) => {
            let of = of
                .elem_type
                .as_ref()
                .map_or("of no type".to_owned(), |of| shown(of));
            return format!("optional {of}");
        }
        Some(_) => return "no tensor".to_owned(),
        None => return "of no type".to_owned(),
    };
    let dtype = match tensor::dtype(tensor.elem_type.unwrap_or(0)) {
        Ok(dtype) => dtype.to_string(),
        Err(name) => name,
    };
    let Some(shape) = &tensor.shape else {
        return format!("{dtype} of any shape");
    };
    let dims = shape.dim.iter().map(|dim| match &dim.value {
        Some(Dimension::Value(extent)) => extent.to_string(),
        Some(Dimension::Param(param)) if !param.is_empty() => param.clone(),
        _ => "?".to_owned(),
    });
    format!("{dtype} [{}]", dims.collect::<Vec<_>>().join(", "))
}
