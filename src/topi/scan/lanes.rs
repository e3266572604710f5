//! Scans of lines that lie beside each other, on vectors: a thread goes along several lines at once, each of which is a lane.

use super::{Line, clamped, quotient, scaled, shifted, sum};
use crate::ir::{AttrValue, Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Scope, Var, attrs};
use crate::te::{self, Tensor};
use crate::tensor::DType;

/// Lines of a task: a cache line of 32-bit elements.
const LANES: i64 = 16;
/// Lines that lie beside each other, at least.
const FEWEST: i64 = 4 * LANES;
/// Steps of a task, at most, where few lines lie beside each other: a longer line is cut into chunks, which are tasks of their own.
const LONG: i64 = 4096;

/// Whether lines along this axis are lanes: those of the last dimension, which is known, are beside each other, and there are tasks enough.
pub(super) fn fit(shape: &[Expr], axis: usize) -> bool {
    let lines = shape[axis + 1..].last().and_then(Expr::as_int);
    let is_short = shape[axis].as_int().is_some_and(|steps| steps <= LONG);
    lines.is_some_and(|lines| lines >= 16 * FEWEST || is_short && lines >= FEWEST)
}

impl Line {
    /// The scan of all lines.
    pub(super) fn scan_in_lanes(&self, x: &Tensor, dtype: DType) -> Tensor {
        let mut groups = self.outer(x.shape());
        if let Some(last) = groups.last_mut() {
            *last = quotient(&shifted(last, LANES - 1), &Expr::i64(LANES));
        }
        let line = self.clone();
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let at: Vec<Expr> = at.iter().map(Var::expr).collect();
            line.write_lanes(b, &at, &from[0], &to[0]);
        };
        let result = vec![(x.shape().to_vec(), dtype)];
        let inputs = std::slice::from_ref(x);
        te::extern_each(self.name.as_str(), groups, inputs, result, write).remove(0)
    }

    /// Writes the loops of a group of lines, the last index of which counts groups.
    fn write_lanes(&self, b: &mut PrimFuncBuilder, group: &[Expr], x: &Buffer, out: &Buffer) {
        let (Some((group, outer)), Some(lines)) = (group.split_last(), x.shape().last()) else {
            unreachable!("lines lie beside each other")
        };
        let extent = &x.shape()[self.axis];
        let running = b.alloc("running", [LANES], self.wide, Scope::Local);
        let lane = || Axis::spatial("v_lane", Expr::i64(LANES));
        b.nest("first", [lane()], |b, v| {
            b.store(&running, [v[0].expr()], self.identity());
        });
        let loops = [("step", extent.clone()), ("lane", Expr::i64(LANES))];
        b.grid(loops, |b, loops| {
            let (step, of_lane) = (loops[0].expr(), loops[1].expr());
            let axes = [
                Axis::new(IterKind::Scan, "v_s", extent.clone()).bound_to(step),
                lane().bound_to(of_lane.clone()),
            ];
            b.block("add", axes, |b, v| {
                // A lane adds to its own sum.
                b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                let own = |lane: &Expr| sum(&scaled(group, LANES), lane);
                b.predicate(own(&of_lane).lt(lines));
                let of_lane = v[1].expr();
                let line = [outer, &[clamped(&own(&of_lane), lines)]].concat();
                self.write_step(b, &line, &v[0].expr(), (&running, of_lane), (x, out));
            });
        });
    }
}
