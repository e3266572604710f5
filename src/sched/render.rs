//! Shows a refusal: the rule, and the loops and blocks underlined in the printed function.

use super::ScheduleError;
use crate::ir::{Located, Place, PrimFunc};
use crate::script;

impl Located for ScheduleError {
    fn places(&self) -> &[Place] {
        &self.places
    }
}

impl ScheduleError {
    /// The error with the loops and blocks underlined in the function, which is printed as it is now.
    pub fn render(&self, func: &PrimFunc) -> String {
        script::print_prim_func(func).render(func, self)
    }
}
