//! `# test: print`

use libtest_mimic::Failed;
use weftile::ir::alpha_eq;
use weftile::script::{self, PrintOptions};

use crate::case::{Case, Expected};

/// The input prints as it should, and the print is the same program.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let module = script::parse(&case.name, &case.input).map_err(|e| e.to_string())?;
    let printed = script::print_with(&module, &PrintOptions { show_meta: true });
    let again = script::parse("printed.py", &printed).map_err(|e| e.to_string())?;
    alpha_eq::module(&module, &again).map_err(|e| e.to_string())?;
    // A canonical file is its own expectation, below the commands.
    let own = case
        .input
        .split_once("\n\n")
        .map_or("", |(_, program)| program);
    if case.expected == Expected::Nothing && own == printed {
        return Ok(());
    }
    case.compare(&Expected::Text(printed))
}
