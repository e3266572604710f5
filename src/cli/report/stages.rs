//! Modules between passes, kept while the compiler runs.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;

use crate::cli::recognized::Sites;
use crate::ir::Module;
use crate::passes::{Instrument, Pass, PassContext, PassError};

/// The last pass after which calls of loop programs stand in the graph as values that flow.
pub(super) const FUSED: &str = "dead_code_elimination";
/// The pass after which all memory is written down.
pub(super) const PLANNED: &str = "kill_after_last_use";

/// Keeps what [`FUSED`] and [`PLANNED`] made.
#[derive(Default)]
pub(super) struct Stages {
    modules: Mutex<IndexMap<String, Module>>,
}

impl Stages {
    /// A context in which passes run as ever, watched by this, and by those who look for operators in primitives.
    pub(super) fn watching(self: &Arc<Self>, sites: &Arc<Sites>) -> PassContext {
        PassContext {
            instruments: vec![Arc::clone(self) as Arc<dyn Instrument>, sites.instrument()],
            ..PassContext::default()
        }
    }

    /// What the pass made, when it ran last.
    pub(super) fn after(&self, pass: &str) -> Option<Module> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.get(pass).cloned()
    }
}

impl Instrument for Stages {
    fn after(&self, pass: &Pass, module: &Module) -> Result<(), PassError> {
        if [FUSED, PLANNED].contains(&pass.name()) {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.insert(pass.name().to_owned(), module.clone());
        }
        Ok(())
    }
}
