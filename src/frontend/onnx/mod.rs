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
mod data;
mod docs;
mod edges;
mod error;
mod file;
mod fit;
mod import;
mod model;
mod operators;
mod order;
mod packed;
mod proto;
mod scope;
mod summary;
mod tensor;
#[cfg(test)]
mod tests;
mod value;

pub use data::{Edge, edge_kinds, parse_edge, parse_tensor};
pub use docs::markdown;
pub use edges::EdgeKind;
pub use error::{Fault, OnnxError, Problem, Problems, TensorFault};
pub use model::{
    ImportOptions, MAIN, Model, Open, Port, input_names, input_names_of, load, parse, weights,
};
pub use summary::{Summary, summary};
