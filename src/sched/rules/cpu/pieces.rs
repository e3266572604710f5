//! Injective blocks whose last axis falls into pieces: a concatenation along it, a padding that mirrors or repeats, a tile.
//!
//! An index of the last axis decides there which tensor is read, or where. The axis is cut where the answer changes. In each piece
//! the index needs no condition, minimum or remainder any more, so that its loads are vectors.
//!
//! ```text
//! for i in range(58):                            for i in range(0, 1):   B[i] = A[1]
//!     B[i] = A[reflected(i - 1)]                 for i in range(1, 57):  B[i] = A[i - 1]
//!                                                for i in range(57, 58): B[i] = A[54]
//! ```

use super::elementwise::{joined, told_apart, vector_lanes};
use super::extent;
use super::traits::CpuTraits;
use crate::arith::Analyzer;
use crate::ir::sum::{Sum, is_index};
use crate::ir::{BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Range, Stmt, Var};
use crate::kernel::CpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::nest::{fuse_all, sort_loops};
use crate::sched::rules::pattern::{Pattern, classify};
use crate::sched::{Factor, Schedule};
use crate::tensor::scalar::BinOp;

/// Most pieces: each is a copy of the body.
const MOST_PIECES: usize = 16;

/// Iterations that make a piece worth a loop of its own.
const SHORT: i64 = 4;

pub(super) fn apply(
    schedule: &mut Schedule,
    block: BlockId,
    target: &CpuTarget,
) -> Result<(), DeclineReason> {
    if !matches!(classify(schedule.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let nest = sort_loops(schedule, block)?;
    let parts = CpuTraits::of(target).parts();
    let count = joined(schedule.func(), block, &nest.spatial, parts);
    let (outer, inner) = nest.spatial.split_at(nest.spatial.len() - count);
    let ([_, ..], [_, ..]) = (outer, inner) else {
        return Err(DeclineReason::Pattern("there are no rows"));
    };
    let lanes = vector_lanes(schedule.func(), block);
    // Joined loops are walked in order by all tensors, so only a lone one is cut.
    let cuts = match inner {
        [last] => cuts(schedule.func(), block, *last, lanes),
        _ => None,
    };
    let cuts = cuts.ok_or(DeclineReason::Pattern("rows are in one piece"))?;
    let outer = &outer[..told_apart(schedule.func(), outer)];
    let outer = fuse_all(schedule, block, outer)?;
    schedule.parallel(outer)?;
    let lengths: Vec<Factor> = std::iter::once(0)
        .chain(cuts.iter().copied())
        .zip(&cuts)
        .map(|(from, to)| (to - from).into())
        .collect();
    for piece in schedule.loop_partition(inner[0], &lengths)? {
        match extent(schedule, piece) {
            Some(length) if length > lanes => {
                let loops = schedule.split(piece, &[Factor::Infer, lanes.into()])?;
                schedule.vectorize(loops[1])?;
            }
            _ => schedule.vectorize(piece)?,
        }
    }
    Ok(())
}

/// The first iterations of all pieces of a loop but the first one, if it pays to cut it.
fn cuts(func: &PrimFunc, block: BlockId, l: LoopId, lanes: i64) -> Option<Vec<i64>> {
    let extent = func.loops[l].extent.as_int()?;
    let [
        Stmt::Store {
            buffer: _,
            indices: _,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return None;
    };
    let mut known = Analyzer::new();
    for around in func
        .loops_above(block.into())
        .into_iter()
        .filter(|a| *a != l)
    {
        let node = &func.loops[around];
        let (min, extent) = (node.min.clone(), node.extent.clone());
        known.bind(&node.var, &Range { min, extent });
    }
    let node = &func.blocks[block];
    let value = value.substitute(&|var| node.binding_of(var).cloned());
    let mut pieces = Pieces {
        var: &func.loops[l].var,
        known,
        lanes,
        cuts: vec![],
        are_needed: false,
    };
    pieces.cut(&value, 0, extent)?;
    let ends = pieces.cuts.iter().copied().chain([extent]);
    let starts = std::iter::once(0).chain(pieces.cuts.iter().copied());
    let lengths = starts.zip(ends).map(|(from, to)| to - from);
    let long: i64 = lengths.filter(|length| *length >= SHORT).sum();
    (pieces.are_needed && 2 * long >= extent).then_some(pieces.cuts)
}

/// The pieces of a loop.
struct Pieces<'a> {
    var: &'a Var,
    /// What is known of the loops around it.
    known: Analyzer,
    /// Lanes of a vector.
    lanes: i64,
    /// Where a piece ends and the next one begins.
    cuts: Vec<i64>,
    /// Whether vectors of the whole loop would not do.
    are_needed: bool,
}

/// Where what an expression computes changes.
struct Cut {
    at: i64,
    /// Whether it may change inside of a vector, or which tensor is read does.
    is_needed: bool,
}

impl Pieces<'_> {
    /// Cuts the iterations from `low` on and before `high`; `None` if there were too many pieces.
    fn cut(&mut self, value: &Expr, low: i64, high: i64) -> Option<()> {
        let mut known = self.known.clone();
        let int = |value| Expr::int(value, self.var.dtype());
        let range = Range {
            min: int(low),
            extent: int(high - low),
        };
        known.bind(self.var, &range);
        let value = known.simplify(value);
        let mut found = None;
        value.walk(&mut |e| {
            if found.is_none() {
                found = self
                    .change(e, low)
                    .filter(|cut| low < cut.at && cut.at < high);
            }
            found.is_none()
        });
        let Some(cut) = found else {
            return Some(());
        };
        if self.cuts.len() + 1 == MOST_PIECES {
            return None;
        }
        self.are_needed |= cut.is_needed;
        self.cut(&value, low, cut.at)?;
        self.cuts.push(cut.at);
        self.cut(&value, cut.at, high)
    }

    /// Where what an expression picks by the iteration changes, after the iteration `low` if that may be at several places.
    fn change(&self, e: &Expr, low: i64) -> Option<Cut> {
        let ExprKind::Binary(op, a, b) = e.kind() else {
            return None;
        };
        if !is_index(a.dtype()) {
            return None;
        }
        let (at, is_needed) = match op {
            BinOp::Lt | BinOp::Ge | BinOp::Min | BinOp::Max => (self.crossing(a, b)?, true),
            BinOp::Gt | BinOp::Le => (self.crossing(b, a)?, true),
            BinOp::FloorDiv | BinOp::FloorMod => self.next_multiple(a, b.as_int()?, low)?,
            _ => return None,
        };
        Some(Cut { at, is_needed })
    }

    /// The iteration from which on, or before which, `a < b`.
    fn crossing(&self, a: &Expr, b: &Expr) -> Option<i64> {
        let (stride, base) = self.linear(&Sum::of(a).plus(&Sum::of(b), -1))?;
        // stride * i + base < 0
        let at = match stride {
            1.. => -base.div_euclid(stride),
            _ => base.div_euclid(-stride) + 1,
        };
        i64::try_from(at).ok()
    }

    /// The first iteration after `low` in which `x` passes a multiple of the divisor, and whether that is inside of a vector.
    fn next_multiple(&self, x: &Expr, divisor: i64, low: i64) -> Option<(i64, bool)> {
        let (stride, base) = self.linear(&Sum::of(x))?;
        let [low, lanes, divisor] = [low, self.lanes, divisor].map(i128::from);
        if divisor < 2 {
            return None;
        }
        let steps = match stride {
            1 => -(low + 1 + base),
            -1 => base - low,
            _ => return None,
        };
        let at = low + 1 + steps.rem_euclid(divisor);
        let is_inside = divisor % lanes != 0 || base % lanes != 0;
        Some((i64::try_from(at).ok()?, is_inside))
    }

    /// `stride` and `base`, if the sum is `stride * i + base`.
    fn linear(&self, sum: &Sum) -> Option<(i128, i128)> {
        let [term] = sum.terms.as_slice() else {
            return None;
        };
        let is_own = term.atom().and_then(Expr::as_var) == Some(self.var);
        (is_own && !sum.overflowed()).then_some((term.coeff, sum.constant))
    }
}
