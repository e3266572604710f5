//! `# test: pass`

use libtest_mimic::Failed;
use weftile::ir::{Module, alpha_eq, graph, verify};
use weftile::kernel::{GpuTarget, Target};
use weftile::{passes, script};

use crate::case::{Case, Expected, tidy};

/// The passes give the module that is expected, which is well formed.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let mut module = read(&case.name, &case.input)?;
    let cx = passes::Cx::new(&module, &Target::Gpu(GpuTarget::default()));
    for name in case
        .run
        .iter()
        .flat_map(|line| line.split(',').map(str::trim))
    {
        let Some(pass) = passes::pass(name) else {
            let names: Vec<&str> = passes::PASSES.iter().map(|pass| pass.name).collect();
            return Err(format!("unknown pass `{name}`: there are {}", names.join(", ")).into());
        };
        module = match (pass.run)(&module, &cx) {
            Ok(module) => module,
            Err(error) => return case.compare(&Expected::Error(tidy(&error.to_string()))),
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
