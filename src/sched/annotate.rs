//! `annotate`: a named value on a loop or block, for later stages to read. Changes no meaning.

use super::{Arg, Schedule, ScheduleError, attached_block, attached_loop};
use crate::ir::{AttrValue, Place};

impl Schedule {
    /// Sets an annotation of a loop or block; one that is there already is kept as it is, as in TVM.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn annotate(
        &mut self,
        target: impl Into<Place>,
        key: &str,
        value: AttrValue,
    ) -> Result<(), ScheduleError> {
        let target = target.into();
        let alive = match target {
            Place::Loop(id) => attached_loop(&self.func, id).map(|_| ()),
            Place::Block(id) => attached_block(&self.func, id).map(|_| ()),
        };
        alive.map_err(|r| r.of("annotate"))?;
        let args = vec![target.into(), key.into(), Arg::from(&value)];
        self.record("annotate", args, |func| {
            let annotations = match target {
                Place::Loop(id) => &mut func.loops[id].annotations,
                Place::Block(id) => &mut func.blocks[id].annotations,
            };
            annotations.entry(key.to_owned()).or_insert(value);
        });
        Ok(())
    }
}
