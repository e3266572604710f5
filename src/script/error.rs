//! What can be wrong with a script, and how it is said.

use crate::ir::graph::{GraphErrorKind, InferError};
use crate::support::diag::{Diagnostic, Span};
use crate::tensor::DType;

/// Everything found wrong in one text. Displays with file, line, column and underlined source lines.
#[derive(Clone, Debug)]
pub struct ScriptErrors {
    /// Name of the file, as it was given.
    pub name: String,
    /// The text.
    pub text: String,
    /// At least one error, in the order of their places.
    pub errors: Vec<ScriptError>,
}

impl std::fmt::Display for ScriptErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for error in &self.errors {
            f.write_str(&error.diagnostic().render(&self.name, &self.text))?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptErrors {}

/// One error and where it is.
#[derive(Clone, Debug)]
pub struct ScriptError {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub kind: ScriptErrorKind,
}

impl ScriptError {
    /// The error as a diagnostic: the message, the place, and a hint where there is one.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.kind.to_string()).at(self.span, self.kind.label());
        match self.kind.hint() {
            Some(hint) => diagnostic.note(hint),
            None => diagnostic,
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptErrorKind {
    /// The text is not Python.
    #[error("{message}")]
    Syntax {
        /// What the Python parser says.
        message: String,
    },
    /// Brackets, indentation or operators nest too deep.
    #[error("nesting is deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The text is larger than a script may be.
    #[error("the script has {bytes} bytes, at most {limit} are read")]
    TooLarge {
        /// Size of the text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The text holds no function and no module.
    #[error("no function found")]
    NoFunction,
    /// A Python construct without a meaning in TVMScript, or not at this place.
    #[error("{what} cannot be used here")]
    Unsupported {
        /// What it is.
        what: &'static str,
        /// What to write instead; may be empty.
        instead: &'static str,
    },
    /// Something else was expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A name that is not defined.
    #[error("undefined name `{name}`")]
    Undefined {
        /// The name.
        name: String,
        /// The name in scope that is most alike.
        similar: Option<String>,
    },
    /// A name that is defined as another kind of thing.
    #[error("`{name}` is {is}, expected {expected}")]
    WrongKind {
        /// The name.
        name: String,
        /// What it is.
        is: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A name defined twice.
    #[error("`{name}` is defined twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A function of the dialect that does not exist.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// Its name with the prefix of the dialect.
        name: String,
        /// The known one that is most alike.
        similar: Option<String>,
    },
    /// An instruction of one vendor's hardware.
    #[error("`{name}` is an instruction of one vendor's hardware, which this compiler has not")]
    Vendor {
        /// Its name with the prefix of the dialect.
        name: String,
    },
    /// What spreads a program over several machines.
    #[error("`{name}` spreads a program over several machines, which this compiler does not")]
    Distributed {
        /// Its name.
        name: String,
    },
    /// A decorator that marks neither a module nor a function.
    #[error("unknown decorator `{name}`")]
    UnknownDecorator {
        /// Its name.
        name: String,
    },
    /// An element type that does not exist.
    #[error("unknown dtype `{name}`")]
    UnknownDType {
        /// Its name.
        name: String,
    },
    /// A wrong number of positional arguments.
    #[error("`{function}` takes {expected}, {got} given")]
    Arity {
        /// What was called.
        function: String,
        /// How many it takes, as `1 argument` or `1 to 3 arguments`.
        expected: String,
        /// How many were given.
        got: usize,
    },
    /// An argument is missing.
    #[error("`{function}` needs the argument `{argument}`")]
    MissingArgument {
        /// What was called.
        function: String,
        /// The argument.
        argument: String,
    },
    /// Attributes that an operator does not take.
    #[error(transparent)]
    Operator(InferError),
    /// A keyword argument that the function does not have.
    #[error("`{function}` has no argument `{argument}`")]
    UnknownArgument {
        /// What was called.
        function: String,
        /// The argument.
        argument: String,
    },
    /// An argument given twice.
    #[error("argument `{argument}` of `{function}` is given twice")]
    RepeatedArgument {
        /// What was called.
        function: String,
        /// The argument.
        argument: String,
    },
    /// The sides of an assignment or loop have different lengths.
    #[error("{} for {}", counted(*targets, "name", "names"), counted(*values, "value", "values"))]
    Unpack {
        /// Names on the left.
        targets: usize,
        /// Values on the right.
        values: usize,
    },
    /// `T.axis.remap` with a string of another length than its list.
    #[error("{} for {}", counted(*kinds, "axis kind", "axis kinds"), counted(*loops, "loop", "loops"))]
    AxisCount {
        /// Letters in the string.
        kinds: usize,
        /// Loop variables in the list.
        loops: usize,
    },
    /// A buffer accessed with a wrong number of indices.
    #[error("buffer `{buffer}` takes {}, {got} given", counted(*ndim, "index", "indices"))]
    IndexCount {
        /// Name of the buffer.
        buffer: String,
        /// Its dimensions.
        ndim: usize,
        /// Given indices.
        got: usize,
    },
    /// Types that do not go together.
    #[error("expected {expected}, found a value of type {found}")]
    Type {
        /// What was expected.
        expected: String,
        /// What was found.
        found: DType,
    },
    /// Operands for which an operator has no meaning.
    #[error("`{op}` is not defined for {left} and {right}")]
    Operands {
        /// The operator.
        op: String,
        /// Type of the left side.
        left: DType,
        /// Type of the right side.
        right: DType,
    },
    /// Arguments for which a function has no meaning.
    #[error("`{function}` is not defined for {found}")]
    NotDefined {
        /// The function.
        function: String,
        /// Type of the arguments.
        found: DType,
    },
    /// A number that does not fit its type or its purpose.
    #[error("the number {number} is out of range: {expected}")]
    OutOfRange {
        /// The number as written.
        number: String,
        /// What is allowed.
        expected: String,
    },
    /// A graph function that is not well formed.
    #[error(transparent)]
    Graph(GraphErrorKind),
    /// Constants that cannot be read.
    #[error("bad metadata: {message}")]
    Metadata {
        /// What is wrong.
        message: String,
    },
    /// A name of a thread axis that does not exist.
    #[error("unknown thread axis `{name}`")]
    UnknownThread {
        /// The name.
        name: String,
    },
}

impl ScriptErrorKind {
    /// Remark beside the underline.
    fn label(&self) -> &'static str {
        match self {
            Self::Undefined { .. } => "not defined here",
            _ => "",
        }
    }

    /// Hint below the source line.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Undefined {
                similar: Some(name),
                ..
            }
            | Self::UnknownFunction {
                similar: Some(name),
                ..
            } => Some(format!("did you mean `{name}`?")),
            Self::Unsupported { instead, .. } if !instead.is_empty() => {
                Some((*instead).to_owned())
            }
            Self::UnknownDecorator { .. } => Some(
                "`@I.ir_module` marks a module, `@T.prim_func` a loop program, `@R.function` a graph function".to_owned(),
            ),
            Self::NoFunction => Some(
                "a script has a class with `@I.ir_module`, or functions with `@T.prim_func` or `@R.function`".to_owned(),
            ),
            Self::UnknownDType { .. } => {
                Some("dtypes are written as `float32`, `int8`, `bool` or `float16x4`".to_owned())
            }
            Self::Graph(kind) => kind.hint(),
            Self::Type { expected, .. } if expected == "bool" => {
                Some("compare it, as in `x != 0`".to_owned())
            }
            Self::Type { expected, found }
                if expected
                    .parse::<DType>()
                    .is_ok_and(|dtype| dtype.lanes == found.lanes) =>
            {
                Some(format!("write `T.Cast(\"{expected}\", value)` to convert it"))
            }
            Self::UnknownThread { .. } => Some(
                "thread axes are `blockIdx.x`, `threadIdx.y`, `vthread.z` and the like".to_owned(),
            ),
            _ => None,
        }
    }
}

/// A number and what it counts.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
