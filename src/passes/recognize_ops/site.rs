//! Sites: where a function computes an operator by primitives, or nearly does.

use std::fmt;

use crate::ir::graph::InferError;
use crate::ir::{Module, Origin};

/// What [`recognize_ops`](super::recognize_ops) gives.
#[derive(Clone, Debug)]
pub struct Recognition {
    /// The module with calls of the operators.
    pub module: Module,
    /// The sites, function by function, in the order of the program.
    pub sites: Vec<OpSite>,
}

/// A place where a function computes an operator by primitives, or nearly does.
#[derive(Clone, PartialEq, Debug)]
pub struct OpSite {
    /// The function.
    pub function: String,
    /// The last value of the site.
    pub value: String,
    /// Where that value comes from.
    pub origin: Origin,
    /// The operator, as in the table of operators.
    pub operator: &'static str,
    /// Why the site stays as it is; `None` if it became a call of the operator.
    pub declined: Option<Declined>,
}

impl fmt::Display for OpSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            function,
            value,
            origin,
            operator,
            declined,
        } = self;
        match declined {
            None => write!(f, "`{value}` of `{function}` is {operator}")?,
            Some(reason) => write!(
                f,
                "`{value}` of `{function}` does not become {operator}: {reason}"
            )?,
        }
        match origin.is_unknown() {
            true => Ok(()),
            false => write!(f, "{}", origin.from()),
        }
    }
}

/// Why a site does not become a call of the operator.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// A value on the way has another user, for which it would be computed again.
    #[error("`{value}` has other users")]
    OtherUsers {
        /// The value.
        value: String,
    },
    /// A factor is not a constant scalar.
    #[error("{what} is not a constant scalar")]
    NotConstant {
        /// Which one.
        what: &'static str,
    },
    /// A constant is another number.
    #[error("{what} is {given}, not {expected}")]
    Number {
        /// Which one.
        what: &'static str,
        /// The number.
        given: f64,
        /// What the operator has.
        expected: f64,
    },
    /// Two places that must take one value take different ones.
    #[error("{what} takes another value than {other}")]
    OtherValue {
        /// The one place.
        what: &'static str,
        /// The other.
        other: &'static str,
    },
    /// Something is computed along other dimensions.
    #[error("{what} is along dimensions {given:?}, not {expected:?}")]
    Axes {
        /// Which operation.
        what: &'static str,
        /// Its dimensions.
        given: Vec<usize>,
        /// What the operator has.
        expected: Vec<usize>,
    },
    /// A reduction drops the dimensions that it reduces.
    #[error("{what} drops the dimensions that it reduces")]
    DroppedDims {
        /// Which reduction.
        what: &'static str,
    },
    /// A tensor does not have the shape that the operator takes, as far as is known.
    #[error("{what} does not have the shape that the operator takes")]
    Shape {
        /// Which tensor.
        what: &'static str,
    },
    /// A mask replaces scores by a number beside which they do not vanish. The operator adds a mask, which is not the same in a row that
    /// is masked as a whole.
    #[error("the mask replaces scores, and is not added to them")]
    MaskReplaces,
    /// Operands would be transposed more often than they are.
    #[error("its layout takes {added} transposes and saves {saved}")]
    Transposes {
        /// Transposes before and after the operator.
        added: usize,
        /// Those that it makes superfluous.
        saved: usize,
    },
    /// The operator does not take operands of these types.
    #[error("{0}")]
    Type(#[from] InferError),
}
