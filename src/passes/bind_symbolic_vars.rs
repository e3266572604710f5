//! `bind_symbolic_vars`: symbolic dimensions get values (Relax: `BindSymbolicVars`).

use indexmap::IndexMap;

use super::PassError;
use super::bind_params::with_values;
use crate::ir::graph::Function;
use crate::ir::{AttrValue, Attrs, Func, Module, Var};

/// The module with symbolic dimensions replaced by the numbers that `binding` has for their names: in `func`, or in all graph
/// functions.
///
/// ```text
/// def main(x: R.Tensor(("n", "m"))) -> R.Tensor(("m", "n * 2"))
/// # {"n": 4}
/// def main(x: R.Tensor((4, "m"))) -> R.Tensor(("m", 8))
/// ```
///
/// # Errors
/// If there is no such function, no symbolic dimension with a name, or several in one function.
pub(super) fn bind_symbolic_vars(
    module: &Module,
    binding: &Attrs,
    func: Option<&str>,
) -> Result<Module, PassError> {
    let mut out = module.clone();
    let mut unused: Vec<&String> = binding.keys().collect();
    let names: Vec<String> = match func {
        Some(name) => vec![name.to_owned()],
        None => module
            .functions()
            .map(|(name, _)| name.to_owned())
            .collect(),
    };
    let mut known = vec![];
    for name in names {
        let function = super::function(module, &name)?;
        let mut values: IndexMap<Var, i64> = IndexMap::new();
        for var in distinct(function) {
            known.push(var.name().to_owned());
            let Some(value) = binding.get(var.name()) else {
                continue;
            };
            unused.retain(|name| *name != var.name());
            if values.keys().any(|other| other.name() == var.name()) {
                let var = var.name().to_owned();
                return Err(PassError::DuplicateSymbolicVar { func: name, var });
            }
            let value = value.as_int().ok_or_else(|| PassError::NotAnExtent {
                var: var.name().to_owned(),
                given: value.to_string(),
            })?;
            values.insert(var, value);
        }
        if !values.is_empty() {
            let bound = function.map_exprs(&mut |e| with_values(e, &values));
            out.funcs.insert(name, Func::Graph(bound));
        }
    }
    match unused.first() {
        None => Ok(out),
        Some(var) => Err(PassError::UnknownSymbolicVar {
            var: (*var).clone(),
            known,
        }),
    }
}

/// The symbolic dimensions that a function defines, each once.
fn distinct(function: &Function) -> Vec<Var> {
    let mut out: Vec<Var> = vec![];
    for var in function.defined_vars() {
        if !out.contains(&var) {
            out.push(var);
        }
    }
    out
}

/// The names and values of the option `binding`.
pub(super) fn binding(value: Option<&AttrValue>) -> Result<Attrs, PassError> {
    match value {
        None => Ok(Attrs::new()),
        Some(AttrValue::Dict(items)) => Ok(items.clone()),
        Some(other) => Err(PassError::NotADictionary {
            option: "binding",
            given: other.to_string(),
        }),
    }
}
