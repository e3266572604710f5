//! What may be wrong with a model: with its file, or with nodes of it. All that is wrong with nodes is reported at once.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::relax::BuildError;
use crate::tensor::{DType, TensorError};

/// Most dimensions of a tensor.
pub(super) const MAX_RANK: usize = 64;

/// A model that cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no model.
    #[error("{} is no ONNX model", path.display())]
    NoModel {
        /// The file.
        path: PathBuf,
        /// What its bytes are not.
        source: prost::DecodeError,
    },
    /// The bytes are no model, or no tensor.
    #[error("these bytes are no message of ONNX: {0}")]
    Decode(#[from] prost::DecodeError),
    /// A model without a graph.
    #[error("the model has no graph")]
    NoGraph,
    /// The file is a model without a graph, as an empty file is.
    #[error("{} is no ONNX model: it has no graph", path.display())]
    NoGraphIn {
        /// The file.
        path: PathBuf,
    },
    /// An option names what the model does not have.
    #[error("the model has no {what} `{name}`; it has {known}")]
    NoSuch {
        /// What is named.
        what: &'static str,
        /// Its name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Everything that stands in the way.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// The imported graph breaks a rule of graphs.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// All problems of a model, in the order of its nodes.
#[derive(Debug)]
pub struct Problems(pub Vec<Problem>);

/// Most problems that a message writes out.
const SHOWN: usize = 20;

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(f, "1 thing stands in the way of this model")?,
            n => write!(f, "{n} things stand in the way of this model")?,
        }
        for problem in self.0.iter().take(SHOWN) {
            write!(f, "\n  {problem}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// Something that stands in the way, and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Problem {
    /// The node, with the graphs around it, or the part of the model.
    pub place: String,
    /// The operator, if it is a node.
    pub operator: Option<String>,
    /// What is wrong.
    pub fault: Fault,
}

/// What stands in the way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Branches give values that no one type has.
    #[error(
        "the branches give values of different numbers of dimensions, or sequences of different lengths"
    )]
    BranchTypes,
    /// An operator that is not known.
    #[error("there is no operator {} here", .0)]
    Operator(String),
    /// An operator of a version that is not known.
    #[error("it is known from version {first} of the operator set on, the model has {given}")]
    Version {
        /// The first version that is known.
        first: i64,
        /// That of the model.
        given: i64,
    },
    /// An operator set that is newer than those that are known.
    #[error("it uses version {given} of the operator set `{domain}`; up to {known} are known")]
    OperatorSet {
        /// The domain.
        domain: String,
        /// The newest version that is known.
        known: i64,
        /// That of the model.
        given: i64,
    },
    /// A domain whose version the model does not say.
    #[error("the model does not say which version of `{0}` it uses")]
    Domain(String),
    /// An attribute with a value that is not supported.
    #[error("attribute `{name}` is {given}; it must be {expected}")]
    Attribute {
        /// The attribute.
        name: String,
        /// Its value.
        given: String,
        /// What there is.
        expected: String,
    },
    /// An attribute that nothing knows.
    #[error("attribute `{0}` is not known")]
    UnknownAttribute(String),
    /// An attribute that must be there.
    #[error("attribute `{0}` is missing")]
    NoAttribute(String),
    /// An operand that is not what the operator takes.
    #[error("operand {index} (`{name}`) is {given}; it must be {expected}")]
    Operand {
        /// Which one, from 0.
        index: usize,
        /// Its name in the model.
        name: String,
        /// What it is.
        given: String,
        /// What the operator takes.
        expected: String,
    },
    /// An operand that must be there.
    #[error("operand {0} is missing")]
    NoOperand(usize),
    /// An input or output without a name.
    #[error("{what} {index} has no name; each must have one")]
    Unnamed {
        /// Which of both it is.
        what: &'static str,
        /// Which one, from 0.
        index: usize,
    },
    /// A name that nothing defines.
    #[error("nothing defines `{0}`")]
    Undefined(String),
    /// A name that two things define.
    #[error("`{0}` is defined twice")]
    Twice(String),
    /// Nodes that need each other.
    #[error("it needs its own result, by way of {0}")]
    Cycle(String),
    /// Something of the standard that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// More dimensions than tensors have here.
    #[error("a tensor of {0} dimensions; tensors have at most {MAX_RANK}")]
    Rank(usize),
    /// An element type that is not supported.
    #[error("element type {0} is not supported")]
    ElementType(String),
    /// A tensor in the file that is damaged.
    #[error("tensor `{name}`: {fault}")]
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong.
        fault: TensorFault,
    },
    /// The types of the operands do not fit.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The same of a node whose operands are known: what is refused may be an operator that the node is made of.
    #[error("{source}; the node takes {operands}")]
    Operands {
        /// Their names and types.
        operands: String,
        /// What does not fit.
        source: BuildError,
    },
}

/// What may be wrong with a tensor of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TensorFault {
    /// An extent below 0, or more elements than memory has bytes.
    #[error("the shape {0:?} is impossible")]
    Shape(Vec<i64>),
    /// More dimensions than tensors have here.
    #[error("it has {0} dimensions; tensors have at most {MAX_RANK}")]
    Rank(usize),
    /// An element type that is not supported.
    #[error("element type {0} is not supported")]
    ElementType(String),
    /// Not as many elements as the shape says.
    #[error("{given} bytes of elements, but {dtype} {shape:?} takes {expected}")]
    Count {
        /// The element type.
        dtype: DType,
        /// The shape.
        shape: Vec<usize>,
        /// Bytes that it takes.
        expected: usize,
        /// Bytes that are there.
        given: usize,
    },
    /// Elements in another file, of which it is not said where.
    #[error("its elements are in another file, but {0}")]
    External(String),
    /// Another file that cannot be read.
    #[error("its elements are in {}, which cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A position of a sparse tensor that is outside.
    #[error("an index of the sparse tensor is outside of {0:?}")]
    Index(Vec<usize>),
    /// The tensor cannot be made.
    #[error(transparent)]
    Tensor(#[from] TensorError),
}
