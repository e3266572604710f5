//! What the pipeline refuses.

use std::path::PathBuf;

use indexmap::{IndexMap, IndexSet};

use super::origins::Operand;
use crate::ir::Origin;
use crate::kernel::InvalidKernel;
use crate::lower::{LowerError, LowerProblem, wide_type_advice};
use crate::sched::rules::Scheduled;
use crate::tensor::DType;
use crate::{codegen_vm, codegen_wgsl, passes, script};

/// Why a module was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not TVMScript.
    #[error(transparent)]
    Script(#[from] script::ScriptErrors),
    /// The module breaks rules, or a schedule does.
    #[error(transparent)]
    IllFormed(#[from] Box<script::IllFormed>),
    /// A pass cannot be applied.
    #[error(transparent)]
    Pass(#[from] passes::PassError),
    /// A loop program has no kernels, whichever default rules are used.
    #[error("{}", refused(.error, .scheduled))]
    Lower {
        /// Why the last of its schedules has none.
        error: LowerError,
        /// That schedule, with the rules that were declined before.
        scheduled: Box<Scheduled>,
    },
    /// A kernel breaks rules: a mistake of lowering.
    #[error(transparent)]
    Kernel(#[from] InvalidKernel),
    /// A kernel has no shader.
    #[error(transparent)]
    Wgsl(#[from] codegen_wgsl::WgslError),
    /// A graph function has no bytecode.
    #[error(transparent)]
    Bytecode(#[from] codegen_vm::GraphError),
    /// A loop program was refused that somebody wrote, or a call of it.
    #[error("{source}{}{}", origin.from(), operand.iter().map(|operand| format!("\n  = {operand}")).collect::<String>())]
    From {
        /// Where the calls of the loop program come from, or it itself where there are none.
        origin: Origin,
        /// What the calls hand over that is refused, if it is that.
        operand: Option<Box<Operand>>,
        /// What refused it, and why.
        source: Box<Self>,
    },
    /// Several loop programs are refused, each for itself.
    #[error("{} loop programs are refused{}", .0.len(), listed(.0))]
    Several(Vec<Self>),
    /// Loop programs compute with a type that the GPU does not compute with.
    #[error("{programs} loop programs compute with {dtype}, which the GPU does not compute with; {}{}", wide_type_advice(), values.iter().map(|value| format!("\n  = {value}")).collect::<String>())]
    WideType {
        /// The type.
        dtype: DType,
        /// How many loop programs are refused.
        programs: usize,
        /// The values of the program that are of the type, or what the values are computed from.
        values: Vec<String>,
    },
    /// A dump cannot be written.
    #[error("cannot write dumps to {dir}")]
    Dump {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether weftile is to blame, and not the module.
    pub fn is_bug(&self) -> bool {
        match self {
            Self::Wgsl(error) => matches!(error, codegen_wgsl::WgslError::Invalid { .. }),
            Self::From { source, .. } => source.is_bug(),
            Self::Several(errors) => errors.iter().any(Self::is_bug),
            _ => false,
        }
    }

    /// The type that the GPU does not compute with, if that is the cause.
    fn wide_type(&self) -> Option<DType> {
        match self {
            Self::From { source, .. } => source.wide_type(),
            Self::Lower { error, .. } => match *error.problem {
                LowerProblem::WideType { dtype, .. } => Some(dtype),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The loops and blocks that have no kernel, underlined in the schedule, and how many rules were declined before: the reasons are
/// in the log.
fn refused(error: &LowerError, scheduled: &Scheduled) -> String {
    let shown = error.render(scheduled.schedule.func());
    let shown = shown.trim_end();
    let rules = match scheduled.declined.len() {
        0 => return shown.to_owned(),
        1 => "a default rule was",
        _ => "default rules were",
    };
    format!("{shown}\n  = {rules} declined before; WEFTILE_LOG=debug shows why")
}

/// Most errors that a message writes out.
const LISTED: usize = 5;

fn listed(errors: &[Error]) -> String {
    let mut text = String::new();
    for error in errors.iter().take(LISTED) {
        text += &format!("\n{error}");
    }
    match errors.len().saturating_sub(LISTED) {
        0 => text,
        more => format!("{text}\nand {more} more"),
    }
}

/// What stands in the way, all of it: a cause of several errors once.
pub(super) fn all_of(refused: Vec<Error>) -> Result<(), Error> {
    let mut refused = by_type(refused);
    match refused.len() {
        0 => Ok(()),
        1 => Err(refused.remove(0)),
        _ => Err(Error::Several(refused)),
    }
}

/// The errors, where those of programs that compute with a type that the GPU lacks are one for each type, if there are several.
fn by_type(refused: Vec<Error>) -> Vec<Error> {
    let mut wide: IndexMap<DType, Vec<Error>> = IndexMap::new();
    let mut others = vec![];
    for error in refused {
        match error.wide_type() {
            Some(dtype) => wide.entry(dtype).or_default().push(error),
            None => others.push(error),
        }
    }
    let mut all = vec![];
    for (dtype, mut errors) in wide {
        all.push(match errors.len() {
            1 => errors.remove(0),
            programs => Error::WideType {
                dtype,
                programs,
                values: values_of(&errors),
            },
        });
    }
    all.extend(others);
    all
}

/// The values that errors are about, in the words of the program: parameters, from which the others are computed, or else where the others
/// come from.
fn values_of(errors: &[Error]) -> Vec<String> {
    let (mut params, mut computed) = (IndexSet::new(), IndexSet::new());
    for error in errors {
        let Error::From {
            origin, operand, ..
        } = error
        else {
            continue;
        };
        let param = operand.as_ref().and_then(|operand| {
            let function = operand.parameter_of.as_ref()?;
            Some(format!("parameter `{}` of `{function}`", operand.value))
        });
        if let Some(param) = param {
            params.insert(param);
        } else if !origin.is_unknown() {
            computed.insert(origin.to_string());
        }
    }
    let all = if params.is_empty() { computed } else { params };
    let more = all.len().saturating_sub(LISTED);
    let mut shown: Vec<String> = all.into_iter().take(LISTED).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown
}
