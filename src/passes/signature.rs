//! Functions whose parameters a pass changes.

use super::PassError;
use crate::ir::Module;
use crate::ir::graph::{Arg, Callee, Def, Function};

/// The graph function with this name.
///
/// # Errors
/// If the module has none.
pub(super) fn function<'m>(module: &'m Module, name: &str) -> Result<&'m Function, PassError> {
    module
        .function(name)
        .ok_or_else(|| PassError::UnknownFunction {
            name: name.to_owned(),
            functions: module
                .functions()
                .map(|(name, _)| name.to_owned())
                .collect(),
        })
}

/// Nothing, if no function of the module calls this one or hands it on: its parameters may change.
///
/// # Errors
/// The caller.
pub(super) fn not_called(module: &Module, func: &str) -> Result<(), PassError> {
    let caller = module.functions().find(|(_, f)| mentions(f, func));
    match caller {
        None => Ok(()),
        Some((caller, _)) => Err(PassError::CalledInModule {
            func: func.to_owned(),
            caller: caller.to_owned(),
        }),
    }
}

fn mentions(at: &Function, func: &str) -> bool {
    at.values.iter().any(|(_, value)| {
        let called = match &value.def {
            Def::Call {
                callee: Callee::Global(name),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => name == func,
            Def::Function(inner) => mentions(inner, func),
            _ => false,
        };
        let mut passed = false;
        for arg in value.def.args() {
            arg.walk(&mut |leaf| passed |= matches!(leaf, Arg::Global(name) if name == func));
        }
        called || passed
    })
}
