//! `# test: pass`

use libtest_mimic::Failed;
use weftile::ir::{AttrValue, Module, alpha_eq, graph, verify};
use weftile::kernel::{GpuTarget, Target};
use weftile::passes::{Pass, PassError};
use weftile::{passes, script};

use crate::case::{Case, Expected, tidy};
use crate::code;
use crate::numbers;

/// The passes give the module that is expected, which is well formed and computes the same.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let mut module = read(&case.name, &case.input)?;
    let before = module.clone();
    let target = match case.target.as_str() {
        "" => Target::Gpu(GpuTarget::default()),
        name => code::target(name)?,
    };
    let cx = passes::Cx::new(&module, &target);
    for pass in case.run.iter().flat_map(|line| passes_of(line)) {
        module = match pass.and_then(|pass| cx.run(&pass, &module)) {
            Ok(module) => module,
            Err(error) => return case.compare(&Expected::Error(tidy(&error.to_string()))),
        };
    }
    graph::verify(&module).map_err(|errors| format!("not well formed: {}", errors[0]))?;
    for (name, func) in module.prim_funcs() {
        verify::prim_func(func)
            .map_err(|errors| format!("`{name}` is not well formed: {}", errors[0]))?;
    }
    numbers::same(&before, &module)?;
    let printed = Expected::Text(script::print(&module));
    let Expected::Text(expected) = &case.expected else {
        return case.mismatch(&printed);
    };
    match alpha_eq::module(&read(&case.name, expected)?, &module) {
        Ok(()) => Ok(()),
        Err(_) => case.mismatch(&printed),
    }
}

/// A line is one pass with its options, `fuse_ops {"opt_level": 0}`, or a list of names.
fn passes_of(line: &str) -> Vec<Result<Pass, PassError>> {
    let Some((name, options)) = line.split_once('{') else {
        let names = line.split(',').map(str::trim);
        return names.map(passes::pass).collect();
    };
    let options: serde_json::Value =
        serde_json::from_str(&format!("{{{options}")).expect("options are a JSON object");
    let AttrValue::Dict(options) = AttrValue::from(&options) else {
        unreachable!("an object of JSON is a dictionary")
    };
    vec![passes::pass_with(name.trim(), options)]
}

fn read(name: &str, text: &str) -> Result<Module, Failed> {
    Ok(script::parse(name, text).map_err(|e| e.to_string())?)
}
