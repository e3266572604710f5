//! Checks a module by all rules, and shows each violation below the line of the printed module that has it.
//!
//! A module that was read from a text is checked there, at the places of that text; this is for modules that were built or
//! rewritten.

use std::fmt::{self, Display};

use super::print::{PrintOptions, PrintedModule, print_module, print_prim_func};
use crate::ir::graph::{self, GraphError};
use crate::ir::verify::{self, PrimFuncError};
use crate::ir::{Module, PrimFunc};
use crate::support::diag::Diagnostic;

/// Violations that are shown; of more only the number is said.
const SHOWN: usize = 50;

/// Everything that a module breaks. Displays with the lines of the printed module underlined.
#[derive(Clone, Debug, PartialEq)]
pub struct IllFormed {
    /// The printed module, or loop program.
    pub text: String,
    /// At least one violation: of loop programs, then of graph functions.
    pub violations: Vec<Violation>,
}

/// One violation, and where the printed module has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// What is wrong.
    pub kind: ViolationKind,
    /// The same as a message with places.
    pub diagnostic: Diagnostic,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ViolationKind {
    /// A graph function, or the name of a function.
    Graph(GraphError),
    /// A loop program.
    PrimFunc {
        /// Its name.
        func: String,
        /// What it breaks.
        error: PrimFuncError,
    },
}

impl Display for IllFormed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the module is not well formed:")?;
        for violation in self.violations.iter().take(SHOWN) {
            f.write_str(&violation.diagnostic.render("module", &self.text))?;
        }
        match self.violations.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "and {more} more"),
        }
    }
}

impl std::error::Error for IllFormed {}

/// Checks all functions of a module: loop programs, graph functions, and how they call each other.
///
/// # Errors
/// All violations.
pub fn well_formed(module: &Module) -> Result<(), Box<IllFormed>> {
    let mut broken: Vec<(&PrimFunc, PrimFuncError)> = vec![];
    for (_, func) in module.prim_funcs() {
        let errors = verify::prim_func(func).err().unwrap_or_default();
        broken.extend(errors.into_iter().map(|error| (func, error)));
    }
    let graph = graph::verify(module).err().unwrap_or_default();
    if broken.is_empty() && graph.is_empty() {
        return Ok(());
    }
    let printed = print_module(module, &PrintOptions::default());
    let prim_funcs = broken.into_iter().map(|(func, error)| {
        let diagnostic = printed.prim_func_diagnostic(func, &error);
        of_prim_func(func, error, diagnostic)
    });
    let graph = graph.into_iter().map(|error| of_graph(&printed, error));
    let violations = prim_funcs.chain(graph).collect();
    Err(Box::new(IllFormed {
        violations,
        text: printed.text,
    }))
}

/// Checks a loop program on its own.
///
/// # Errors
/// All violations.
pub fn well_formed_prim_func(func: &PrimFunc) -> Result<(), Box<IllFormed>> {
    let Err(errors) = verify::prim_func(func) else {
        return Ok(());
    };
    let printed = print_prim_func(func);
    let violations = errors.into_iter().map(|error| {
        let diagnostic = printed.diagnostic(func, &error);
        of_prim_func(func, error, diagnostic)
    });
    Err(Box::new(IllFormed {
        violations: violations.collect(),
        text: printed.text,
    }))
}

fn of_prim_func(func: &PrimFunc, error: PrimFuncError, mut diagnostic: Diagnostic) -> Violation {
    diagnostic.message = format!("{}: {}", func.name, diagnostic.message);
    if !func.origin.is_unknown() {
        diagnostic
            .notes
            .push(format!("the loop program is from {}", func.origin));
    }
    let func = func.name.clone();
    Violation {
        kind: ViolationKind::PrimFunc { func, error },
        diagnostic,
    }
}

fn of_graph(printed: &PrintedModule, error: GraphError) -> Violation {
    let mut diagnostic = printed.graph_diagnostic(&error);
    diagnostic.notes.extend(error.kind.hint());
    Violation {
        kind: ViolationKind::Graph(error),
        diagnostic,
    }
}
