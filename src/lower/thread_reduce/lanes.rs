//! The threads of a workgroup, by those that reduce together.

use crate::ir::{Expr, ThreadAxis};
use crate::kernel::BANKS;
use crate::lower::nest::Unblock;
use crate::lower::{LowerError, LowerProblem};
use crate::tensor::DType;

/// How the threads of a workgroup share a reduction.
pub(super) struct Lanes {
    /// The number of a thread among those that reduce together.
    pub(super) lane: Expr,
    /// Whether a thread stores what it has, and its place among those that do.
    pub(super) stores: Expr,
    pub(super) place: Expr,
    /// How many places there are.
    pub(super) count: i64,
    /// Whether all threads of the workgroup lie along one dimension.
    pub(super) in_one_dimension: bool,
    /// Where the elements of those threads begin in shared memory, and how far they are apart.
    base: Expr,
    step: Expr,
    /// Elements of all threads, with what lies between those of different rows.
    pub(super) elements: i64,
}

/// Elements left free behind each 32 elements, for rows of so many: half a row. Subgroups of 64 threads halve two rows of 32 in
/// step, for example. The elements 0 to 15 of both would be in the same banks; with 16 free ones between the rows they are not.
fn gap(row: i64, all: i64) -> Option<i64> {
    let shares_banks = row > 1 && row <= BANKS && all > BANKS;
    (shares_banks && row & (row - 1) == 0).then_some(row / 2)
}

impl Lanes {
    /// The threads of the workgroup, by those that reduce together.
    pub(super) fn of(at: &Unblock<'_>, axes: &[ThreadAxis]) -> Result<Self, LowerError> {
        let mut threads = Vec::new();
        for (axis, known) in &at.nest.axes {
            if axis.is_thread() {
                let extent = (known.extent.as_int()).ok_or_else(|| LowerProblem::NotConstant {
                    what: axis.name().into(),
                    extent: known.extent.clone(),
                })?;
                threads.push((*axis, known.var.expr(), extent));
            }
        }
        // In the order of threads, so that those that run in step touch neighbours.
        threads.sort_by_key(|(axis, _, _)| *axis);
        let reduces = |axis: &ThreadAxis| axes.contains(axis);
        let first = threads.iter().find(|(axis, _, _)| reduces(axis));
        let dtype = first.map_or(DType::I32, |(_, var, _)| var.dtype());
        let zero = Expr::int(0, dtype);
        let (mut lane, mut count) = (zero.clone(), 1);
        for (_, var, extent) in threads.iter().filter(|(axis, _, _)| reduces(axis)) {
            lane = lane + var.cast(dtype) * Expr::int(count, dtype);
            count *= extent;
        }
        let (mut base, mut stride, mut step) = (zero, 1, None);
        for (axis, var, extent) in &threads {
            if !reduces(axis) {
                base = base + var.cast(dtype) * Expr::int(stride, dtype);
                stride *= extent;
            } else if step.is_none() {
                step = Some(stride);
                stride *= count;
            }
        }
        let lane = at.analyzer.simplify(&lane);
        let mut elements = stride;
        if step == Some(1)
            && let Some(gap) = gap(count, stride)
        {
            base = &base + base.floor_div(Expr::int(BANKS, dtype)) * Expr::int(gap, dtype);
            elements += (stride - 1) / BANKS * gap;
        }
        Ok(Self {
            place: lane.clone(),
            stores: Expr::bool(true),
            lane,
            in_one_dimension: threads.iter().filter(|(.., extent)| *extent > 1).count() == 1,
            count,
            base,
            step: Expr::int(step.unwrap_or(1), dtype),
            elements,
        })
    }

    /// If the first thread of each group of so many stores for all of them, and those are all threads.
    pub(super) fn of_groups(self, size: i64) -> Self {
        let dtype = self.lane.dtype();
        let divisor = Expr::int(size, dtype);
        Self {
            stores: self.lane.floor_mod(&divisor).equals(Expr::int(0, dtype)),
            place: self.lane.floor_div(&divisor),
            count: self.count / size,
            elements: self.elements / size,
            ..self
        }
    }

    /// The element of a thread in shared memory.
    pub(super) fn slot(&self, lane: &Expr) -> Expr {
        &self.base + lane * &self.step
    }
}
