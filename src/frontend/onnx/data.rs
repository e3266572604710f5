//! Test data of a model: the kinds of its inputs and outputs, and their values in files of their own (`.pb`).

use bytes::Bytes;
use prost::Message;

use super::edges::{EdgeKind, open_inputs};
use super::error::{Fault, OnnxError, Problem, Problems};
use super::proto::{ModelProto, OptionalProto, SequenceProto, TensorProto};
use super::tensor::Tensors;
use crate::tensor::Tensor;

/// What an input or output is.
#[derive(Clone, Debug)]
pub enum Edge {
    /// A tensor.
    Tensor(Tensor),
    /// A sequence of tensors.
    Sequence(Vec<Tensor>),
    /// An optional value that is not there.
    Absent,
}

/// The kinds of the inputs of a model that are no weights, and of its outputs, from its bytes.
///
/// # Errors
/// [`OnnxError`] if the bytes are no model.
pub fn edge_kinds(bytes: &[u8]) -> Result<(Vec<EdgeKind>, Vec<EdgeKind>), OnnxError> {
    let model = ModelProto::decode(Bytes::copy_from_slice(bytes))?;
    let graph = model.graph.as_ref().ok_or(OnnxError::NoGraph)?;
    let inputs = open_inputs(graph).into_iter();
    let inputs = inputs.map(|input| EdgeKind::of(input.kind.as_ref()));
    let outputs = graph.output.iter();
    let outputs = outputs.map(|output| EdgeKind::of(output.kind.as_ref()));
    Ok((inputs.collect(), outputs.collect()))
}

/// Reads what an input or output of this kind is from the bytes of a `TensorProto`, `SequenceProto` or `OptionalProto` (`.pb`), as
/// test data of models come.
///
/// # Errors
/// [`OnnxError`] if it is damaged.
pub fn parse_edge(bytes: &[u8], kind: &EdgeKind) -> Result<Edge, OnnxError> {
    let sequence = |proto: SequenceProto| {
        let tensors = proto.tensor_values.iter().map(tensor_of);
        Ok(Edge::Sequence(tensors.collect::<Result<_, OnnxError>>()?))
    };
    match kind {
        EdgeKind::Tensor => Ok(Edge::Tensor(parse_tensor(bytes)?)),
        EdgeKind::Sequence => sequence(SequenceProto::decode(Bytes::copy_from_slice(bytes))?),
        EdgeKind::Optional(_) => {
            let proto = OptionalProto::decode(Bytes::copy_from_slice(bytes))?;
            match (proto.tensor_value, proto.sequence_value) {
                (Some(proto), _) => Ok(Edge::Tensor(tensor_of(&proto)?)),
                (None, Some(proto)) => sequence(proto),
                (None, None) => Ok(Edge::Absent),
            }
        }
    }
}

/// Reads a tensor from the bytes of a `TensorProto` (`.pb`), as test data of models come.
///
/// # Errors
/// [`OnnxError`] if it is damaged.
pub fn parse_tensor(bytes: &[u8]) -> Result<Tensor, OnnxError> {
    tensor_of(&TensorProto::decode(Bytes::copy_from_slice(bytes))?)
}

fn tensor_of(proto: &TensorProto) -> Result<Tensor, OnnxError> {
    Tensors::default().read(proto).map_err(|fault| {
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
