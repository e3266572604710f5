//! What the host checks before a launch on a GPU, so that its indices and loops are within what the device computes.

use super::kernels::Draft;
use super::lowering::Lowering;
use super::passes::Next;
use super::{LowerError, LowerProblem, loop_passes, narrow};
use crate::kernel::{HostExpr, Requirement};
use crate::tensor::ScalarType;

impl Lowering<'_> {
    fn require(
        &mut self,
        of: impl Fn(&Draft, &mut Vec<Requirement>) -> Result<(), LowerError>,
    ) -> Result<Next, LowerError> {
        for draft in &self.kernels {
            let required = of(draft, &mut self.requires);
            required.map_err(|error| error.or_at(&draft.places))?;
        }
        Ok(Next::Pass)
    }
}

/// Index arithmetic whose values count fits `int32`.
pub(super) fn narrow_indices(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.require(|draft, requires| narrow::require(&draft.kernel, &draft.exact, requires))
}

/// Every element of an array has an index in `int32`.
pub(super) fn bound_arrays(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.require(|draft, requires| {
        let mut arrays = draft.kernel.bindings();
        arrays.try_for_each(|(_, array, _, _)| fits(&array.name, &array.len, requires))
    })
}

/// Loops have as many iterations as the device runs.
pub(super) fn bound_loops(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let Some(limit) = l.gpu().and_then(|gpu| gpu.max_loop_passes) else {
        return Ok(Next::Pass);
    };
    l.require(|draft, requires| loop_passes::require(&draft.kernel, limit, requires))
}

fn fits(array: &str, len: &HostExpr, requires: &mut Vec<Requirement>) -> Result<(), LowerError> {
    let limit = i64::from(i32::MAX);
    if let Some(len) = len.as_const() {
        if len > limit {
            return Err(LowerProblem::TooLarge {
                buffer: array.to_owned(),
                len,
                index: ScalarType::I32,
            }
            .into());
        }
        return Ok(());
    }
    if !requires.iter().any(|r| r.value == *len) {
        requires.push(Requirement {
            value: len.clone(),
            limit,
            what: format!("index into {array} fits i32"),
        });
    }
    Ok(())
}
