//! Shows a refusal: the rule, and the loops and blocks underlined in the printed function.

use super::ScheduleError;
use crate::ir::{Place, PrimFunc};
use crate::script::{self, Printed};
use crate::support::diag::Diagnostic;

impl ScheduleError {
    /// The error as a diagnostic on the printed function: the first place is the error, the others explain it.
    pub fn diagnostic(&self, func: &PrimFunc, printed: &Printed) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.to_string());
        for (at, place) in self.places.iter().enumerate() {
            let Some(span) = printed.spans.get(place) else {
                continue;
            };
            let name = match *place {
                Place::Loop(id) => func
                    .loops
                    .get(id)
                    .map(|l| format!("loop `{}`", l.var.name())),
                Place::Block(id) => func.blocks.get(id).map(|b| format!("block \"{}\"", b.name)),
            };
            let name = name.unwrap_or_default();
            diagnostic = if at == 0 {
                diagnostic.at(span.clone(), name)
            } else {
                diagnostic.context(span.clone(), name)
            };
        }
        diagnostic
    }

    /// The error with the loops and blocks underlined in the function, which is printed as it is now.
    pub fn render(&self, func: &PrimFunc) -> String {
        let printed = script::print_prim_func(func);
        self.diagnostic(func, &printed)
            .render(&func.name, &printed.text)
    }
}
