//! Operators of graph functions: what text, inference and verification know of one.
//!
//! The table of all operators is [`crate::ops`], a room above; a call holds an [`Op`], which is a reference into that table.

use super::{Arg, AttrError, AttrSpec, InferError, OpCall, complete};
use crate::ir::{Attrs, StructInfo};

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// A tensor.
    Tensor,
    /// A tuple of tensors.
    Tensors,
    /// A shape, or a tuple of scalars.
    Shape,
    /// A scalar (`R.prim_value`).
    Scalar,
    /// A packed function; a text names one.
    Packed,
    /// A tuple, whatever its elements are.
    Tuple,
    /// Anything.
    Any,
}

/// One operand of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// TVM's name, which a call may use as a keyword.
    pub name: &'static str,
    /// What it is.
    pub kind: OperandKind,
    /// Whether a call may leave it out. Optional operands come last.
    pub optional: bool,
}

/// How the type of a result follows from a call.
pub type Infer = fn(&OpCall<'_>) -> Result<StructInfo, InferError>;

/// What is known of an operator at this level.
#[derive(Clone, Copy, Debug)]
pub struct OpSchema {
    /// Name without `R.`, as `nn.conv2d`.
    pub name: &'static str,
    /// Operands in order.
    pub operands: &'static [Operand],
    /// Whether more operands of any kind may follow.
    pub variadic: bool,
    /// One more operand that a text may give in front of the attributes, and the name of the operator that it is then.
    pub extended: Option<(&'static str, &'static str)>,
    /// Says what operands are that a text leaves out in front of others; `None` stays where there is nothing to say.
    pub left_out: fn(&mut [Option<Arg>]),
    /// Attributes in order; positional arguments after the operands are attributes.
    pub attrs: &'static [AttrSpec],
    /// The type of the result.
    pub infer: Infer,
    /// Gives complete attributes the one spelling that calls have: attributes of the same meaning are equal then.
    pub spelling: fn(&mut Attrs),
    /// Whether it has no side effect.
    pub pure: bool,
    /// Whether two operands may change places.
    pub commutative: bool,
}

/// An operator: a reference into the table. Equal by name.
#[derive(Clone, Copy)]
pub struct Op(&'static OpSchema);

impl Op {
    /// The operator with this schema.
    pub const fn new(schema: &'static OpSchema) -> Self {
        Self(schema)
    }

    /// Name without `R.`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What is known of it.
    pub fn schema(self) -> &'static OpSchema {
        self.0
    }

    /// The attributes of a call with defaults filled in, in the order of the schema and in the spelling of the operator. What is
    /// `None` is absent.
    ///
    /// # Errors
    /// If the operator has no such attribute, the attribute does not take the value, or a required one is missing.
    pub fn complete(self, given: Attrs) -> Result<Attrs, InferError> {
        let mut attrs = complete(self.0.attrs, given).map_err(|error| match error {
            AttrError::Value {
                name,
                expected,
                got,
            } => InferError::AttributeValue {
                op: self.name(),
                name,
                expected,
                got,
            },
            AttrError::Missing { name } => InferError::MissingAttribute {
                op: self.name(),
                name,
            },
            AttrError::Unknown { name, known } => InferError::UnknownAttribute {
                op: self.name(),
                name,
                known,
            },
        })?;
        (self.0.spelling)(&mut attrs);
        Ok(attrs)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Op {}

impl std::hash::Hash for Op {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "R.{}", self.name())
    }
}
