//! Places where a program writes an operator in primitives: what became of them while it was compiled.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::ir::Module;
use crate::passes::{Instrument, OpSite, Pass, recognize_ops};

/// The pass that looks for them.
const RECOGNIZES: &str = "recognize_ops";

/// A place where a program writes an operator in primitives, or nearly does.
#[derive(Clone, Serialize)]
pub(crate) struct Site {
    /// The operator, as in the table of operators.
    pub(crate) operator: &'static str,
    /// The nodes of the model, or the value in the program.
    pub(crate) place: String,
    /// Why it stays as it is written; `None` if it became a call of the operator.
    pub(crate) declined: Option<String>,
}

impl From<&OpSite> for Site {
    fn from(site: &OpSite) -> Self {
        Self {
            operator: site.operator,
            place: match site.origin.is_unknown() {
                true => format!("`{}` of `{}`", site.value, site.function),
                false => site.origin.to_string(),
            },
            declined: site.declined.as_ref().map(ToString::to_string),
        }
    }
}

/// Watches the passes, and keeps the sites.
#[derive(Default)]
pub(crate) struct Sites(Mutex<Vec<Site>>);

impl Sites {
    /// The sites that were found so far.
    pub(crate) fn found(&self) -> Vec<Site> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// As one that watches.
    pub(crate) fn instrument(self: &Arc<Self>) -> Arc<dyn Instrument> {
        Arc::clone(self) as Arc<dyn Instrument>
    }
}

impl Instrument for Sites {
    fn before(&self, pass: &Pass, module: &Module) {
        if pass.name() == RECOGNIZES {
            let sites = recognize_ops(module).sites;
            let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            found.extend(sites.iter().map(Site::from));
        }
    }
}
