//! `# test: pass`

use libtest_mimic::Failed;
use weftile::ir::{Module, alpha_eq, graph, verify};
use weftile::{passes, script};

use crate::case::{Case, Expected};

/// The pass gives the module that is expected, which is well formed.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let mut module = read(&case.name, &case.input)?;
    for line in &case.run {
        module = match line.as_str() {
            "specialize" => passes::specialize(&module),
            other => return Err(format!("unknown pass `{other}`: there is specialize").into()),
        };
    }
    graph::verify(&module).map_err(|errors| format!("not well formed: {}", errors[0]))?;
    for (name, func) in module.prim_funcs() {
        verify::prim_func(func)
            .map_err(|errors| format!("`{name}` is not well formed: {}", errors[0]))?;
    }
    let printed = Expected::Text(script::print(&module));
    let Expected::Text(expected) = &case.expected else {
        return case.mismatch(&printed);
    };
    match alpha_eq::module(&read(&case.name, expected)?, &module) {
        Ok(()) => Ok(()),
        Err(_) => case.mismatch(&printed),
    }
}

fn read(name: &str, text: &str) -> Result<Module, Failed> {
    Ok(script::parse(name, text).map_err(|e| e.to_string())?)
}
