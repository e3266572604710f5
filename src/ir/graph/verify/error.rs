//! `GraphError`.

use crate::ir::graph::ValueId;
use crate::ir::graph::infer::InferError;
use crate::ir::{Expr, StructInfo, VDevice};
use crate::tensor::DType;

/// One violation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{func}{}: {kind}", value.as_ref().map_or(String::new(), |(_, name)| format!(", value {name}")))]
pub struct GraphError {
    /// The function, with the nested ones after dots.
    pub func: String,
    /// The value that is wrong or uses what it must not, with its name; `None` where it is the function itself. The handle
    /// belongs to the innermost function.
    pub value: Option<(ValueId, String)>,
    /// Which part of the value, or of the function.
    pub part: Part,
    /// What is wrong.
    pub kind: GraphErrorKind,
}

/// A part of a graph function or of one of its values, as the text shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Name and signature of a function; how a value is computed; a parameter.
    Definition,
    /// The declared type of a value.
    Annotation,
    /// An argument of what computes the value, by its position.
    Argument(usize),
    /// What a function returns.
    Result,
    /// The value of an `If` whose condition holds.
    Then,
    /// The value of an `If` whose condition does not hold.
    Otherwise,
}

/// The devices as a list.
fn texts(devices: &[VDevice]) -> String {
    if devices.is_empty() {
        return "the one that is compiled for".to_owned();
    }
    let devices: Vec<String> = devices.iter().map(VDevice::to_string).collect();
    devices.join(", ")
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// `global_symbol` differs from the name in the module.
    #[error("global_symbol is \"{symbol}\", the module calls the function \"{name}\"")]
    GlobalSymbol {
        /// Name in the module.
        name: String,
        /// The attribute.
        symbol: String,
    },
    /// A device that the module does not have.
    #[error(
        "there is no device {device}, only {}; I.module_global_infos names the devices of a module",
        texts(known)
    )]
    UnknownDevice {
        /// The device.
        device: VDevice,
        /// Those of the module.
        known: Vec<VDevice>,
    },
    /// The function's own name differs from its name in the module.
    #[error("the function calls itself \"{own}\", the module calls it \"{name}\"")]
    Name {
        /// Name in the module.
        name: String,
        /// Name in the function.
        own: String,
    },
    /// A parameter that is not one, or is twice in the list, or is missing there.
    #[error("is not exactly once among the parameters")]
    Param,
    /// A value bound more than once.
    #[error("is bound more than once")]
    BoundTwice,
    /// A value used before it is bound, or where the branch or function that binds it does not reach.
    #[error("uses {name} before it is defined, or outside the branch that defines it")]
    NotDefined {
        /// The value used.
        name: String,
    },
    /// A value of a dataflow block used outside it without being an output.
    #[error("uses {name} outside its dataflow block, which does not output it")]
    DataflowEscape {
        /// The value used.
        name: String,
    },
    /// An output of a dataflow block that the block does not bind.
    #[error("is an output of a dataflow block that does not bind it")]
    NotOutput,
    /// A branch in a dataflow block.
    #[error("a dataflow block cannot hold a branch")]
    IfInDataflow,
    /// A call with side effects in a dataflow block.
    #[error("a dataflow block cannot call {callee}, which has side effects")]
    ImpureInDataflow {
        /// What is called.
        callee: String,
    },
    /// A call with side effects in a pure function.
    #[error("a pure function cannot call {callee}, which has side effects")]
    ImpureInPure {
        /// What is called.
        callee: String,
    },
    /// `relax.force_pure` on a function that is not pure.
    #[error("relax.force_pure is set on a function that is not pure")]
    ForcePure,
    /// A symbolic variable that nothing before defines.
    #[error("symbolic variable {var} is not defined by a parameter or match_cast before")]
    UndefinedVar {
        /// Its name.
        var: String,
    },
    /// An extent that is not `int64`.
    #[error("extent {extent:#} is {dtype}, must be int64")]
    ExtentType {
        /// The extent.
        extent: Expr,
        /// Its type.
        dtype: DType,
    },
    /// A condition that is no scalar `bool`.
    #[error("the condition must be a scalar bool tensor, got {got}")]
    Condition {
        /// What is known of it.
        got: Box<StructInfo>,
    },
    /// `call_tir_inplace` with indices that make no sense.
    #[error(
        "inplace_indices must be different inputs of the call, one for each output, and at least one of them"
    )]
    InplaceIndices,
    /// `call_tir_inplace` with an output unlike the input it overwrites.
    #[error("the output {out} cannot overwrite the input {input}")]
    InplaceType {
        /// Declared output.
        out: Box<StructInfo>,
        /// The input.
        input: Box<StructInfo>,
    },
    /// A symbolic variable that another function of the module defines, too.
    #[error("symbolic variable {var} is one of function {other}, too; each function needs its own")]
    SharedVar {
        /// Its name.
        var: String,
        /// The other function.
        other: String,
    },
    /// An output of `call_tir` and its kin of which shape or element type are not known, so that it cannot be allocated.
    #[error(
        "the output must be a tensor of known shape and element type, or a tuple of such, got {out}"
    )]
    Output {
        /// Declared output.
        out: Box<StructInfo>,
    },
    /// Arguments that do not fit.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// A name for a value that declares more than is known of the value.
    #[error("declared as {declared}, but only {known} is known of the value")]
    Unproven {
        /// Annotation.
        declared: Box<StructInfo>,
        /// What is known of the value.
        known: Box<StructInfo>,
    },
    /// What is declared of a value contradicts how it is computed.
    #[error("declared as {declared}, computed as {computed}")]
    Declared {
        /// Annotation.
        declared: Box<StructInfo>,
        /// What is inferred.
        computed: Box<StructInfo>,
    },
    /// The declared result contradicts the body.
    #[error("the result is declared as {declared}, the body returns {returned}")]
    Return {
        /// Declaration.
        declared: Box<StructInfo>,
        /// What the body returns.
        returned: Box<StructInfo>,
    },
}

impl GraphErrorKind {
    /// What to do about it, where that can be said.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::UndefinedVar { var } => Some(format!(
                "an extent defines a variable only where it is nothing else, as in `R.Tensor((\"{var}\",), \"float32\")`"
            )),
            Self::Unproven { declared, .. } => Some(format!(
                "`R.match_cast(value, {declared})` checks it at run time"
            )),
            Self::ImpureInPure { .. } => Some(
                "write `@R.function(pure=False)`, or call a variant without side effects, as `R.call_pure_packed`".to_owned(),
            ),
            _ => None,
        }
    }
}
