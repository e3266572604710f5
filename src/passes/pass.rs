//! What a pass is, and the list of all.

use indexmap::IndexSet;

use super::PassError;
use super::legalize_ops::legalize_ops;
use super::remove_unused_functions::{entries, remove_unused_functions};
use super::specialize::specialize;
use crate::ir::Module;
use crate::kernel::Target;

/// A pass over modules. Pipelines are lists of them.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name, as in dumps, timings and file tests.
    pub name: &'static str,
    /// The module that it makes of one that is well formed.
    pub run: fn(&Module, &Cx) -> Result<Module, PassError>,
}

/// What passes know besides the module.
#[derive(Clone, Debug)]
pub struct Cx {
    /// The device that is compiled for.
    pub target: Target,
    /// The functions that others than the module may call. No pass drops them or changes their signatures.
    pub entries: IndexSet<String>,
}

impl Cx {
    /// What is to be known where `module` is compiled.
    pub fn new(module: &Module, target: &Target) -> Self {
        Self {
            target: target.clone(),
            entries: entries(module),
        }
    }
}

/// All passes, by name.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "legalize_ops",
        run: |module, _| legalize_ops(module),
    },
    Pass {
        name: "remove_unused_functions",
        run: |module, cx| Ok(remove_unused_functions(module, &cx.entries)),
    },
    Pass {
        name: "specialize",
        run: |module, _| Ok(specialize(module)),
    },
];

/// The pass with this name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}
