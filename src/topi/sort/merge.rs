//! Sorting by merging: sorted runs of a line become longer ones, until one is left.
//!
//! A pass merges the runs of each group at once. The place of an element is the number of elements of its group that come
//! before it: its place in its own run, and what a binary search finds in each other run. So all elements are placed
//! independently, and a line of `n` elements takes about `n * log(n) ^ 2` comparisons in `log(n)` passes, each a kernel of its
//! own. The first pass has runs of one element; it alone sorts lines of up to [`Plan::first`] elements.
//!
//! NaN is greater than every number. Equal elements keep their order, in both directions.

use super::{Order, Sorted};
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Scope, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::extent::{clamped, product, quotient, remainder, scaled, shifted, sum};

/// The length of runs after which one last pass merges all that a line of unknown length has.
const LONGEST: i64 = 1 << 17;

/// How many runs passes merge. More of them take fewer passes and more comparisons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Elements that the first pass makes a run of.
    first: i64,
    /// Runs that a later pass makes one of.
    fanout: i64,
}

impl Plan {
    /// For machines on which comparisons take long.
    pub(super) const NARROW: Self = Self {
        first: 32,
        fanout: 8,
    };
    /// For machines on which kernels take long.
    pub(super) const WIDE: Self = Self {
        first: 128,
        fanout: 16,
    };
}

impl Order {
    /// Whether `a` comes before `b`, wherever they stand.
    fn first(self, a: &Expr, b: &Expr) -> Expr {
        match self {
            Self::Ascending => less(a, b),
            Self::Descending => less(b, a),
        }
    }
}

/// Whether `a` is less than `b`; NaN is not less than anything, and everything else is less than NaN.
fn less(a: &Expr, b: &Expr) -> Expr {
    if a.dtype().is_bool() {
        return a.not().and(b.clone());
    }
    let less = a.lt(b);
    if !a.dtype().is_float() {
        return less;
    }
    let nan = |e: &Expr| Expr::call(Intrin::IsNan, vec![e.clone()]);
    let to_nan = Expr::binary(BinOp::And, nan(b), nan(a).not());
    Expr::binary(BinOp::Or, less, to_nan)
}

/// A sort by merging: as [`Sort`](super::Sort).
#[derive(Clone, Copy)]
pub(super) struct Merge<'a> {
    pub(super) name: &'a str,
    pub(super) axis: usize,
    pub(super) order: Order,
    pub(super) count: &'a Expr,
    pub(super) plan: Plan,
}

impl Merge<'_> {
    /// The first elements of each line in sorted order, without their positions.
    pub(super) fn values(&self, x: &Tensor) -> Tensor {
        let line = self.ranked(x, Carried::Values);
        let values = line.values.expect("every pass carries values");
        firsts("sorted_values", values, self.axis, self.count)
    }

    /// The first elements of each line in sorted order.
    pub(super) fn both(&self, x: &Tensor) -> Sorted {
        let line = self.ranked(x, Carried::Both);
        let values = line.values.expect("every pass carries values");
        Sorted {
            values: firsts("sorted_values", values, self.axis, self.count),
            positions: positions(line.positions, x, self.axis, self.count),
        }
    }

    /// Where the first elements of each line are, in sorted order, as `int32`.
    pub(super) fn positions(&self, x: &Tensor) -> Tensor {
        let line = self.ranked(x, Carried::Positions);
        positions(line.positions, x, self.axis, self.count)
    }

    /// All passes; the last one gives what is `wanted`.
    fn ranked(&self, x: &Tensor, wanted: Carried) -> Line {
        let mut line = Line {
            values: Some(x.clone()),
            positions: None,
        };
        let passes = passes(&x.shape()[self.axis], self.count, self.plan);
        for (at, pass) in passes.iter().enumerate() {
            let carried = match wanted {
                Carried::Positions if at + 1 < passes.len() => Carried::Both,
                _ => wanted,
            };
            line = merge(self.name, &line, self.axis, self.order, *pass, carried);
        }
        line
    }
}

/// What a pass takes and gives.
#[derive(Clone, Debug)]
struct Line {
    values: Option<Tensor>,
    /// Where elements were before the first pass; they are there where it is absent.
    positions: Option<Tensor>,
}

/// What a pass gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carried {
    Values,
    Positions,
    Both,
}

fn positions(sorted: Option<Tensor>, x: &Tensor, axis: usize, count: &Expr) -> Tensor {
    let unmoved = || te::compute("places", x.shape().to_vec(), |i| i[axis].cast(DType::I32));
    let positions = sorted.unwrap_or_else(unmoved);
    firsts("sorted_positions", positions, axis, count)
}

/// The first `count` elements along the axis.
fn firsts(name: &str, of: Tensor, axis: usize, count: &Expr) -> Tensor {
    let mut shape = of.shape().to_vec();
    if shape[axis] == *count {
        return of;
    }
    shape[axis] = count.clone();
    let last = of.shape()[axis].clone();
    crate::topi::reindex(name, &of, &shape, axis, |i| clamped(&i[axis], &last))
}

/// What a pass does to a line: all runs have this length but the last one, which may be shorter.
#[derive(Clone, Copy, Debug)]
struct Runs {
    width: i64,
    /// How many runs become one; all where it is absent.
    fanout: Option<i64>,
    /// The length of the runs that they become.
    merged: i64,
}

impl Runs {
    /// Whether the runs that others become lose their last elements.
    fn are_cut(self) -> bool {
        self.fanout
            .is_some_and(|fanout| self.merged < self.width * fanout)
    }

    /// The length of a line after the pass.
    fn rest(self, extent: &Expr) -> Expr {
        match (extent.as_int(), self.fanout) {
            (Some(n), Some(fanout)) if self.are_cut() => {
                let group = self.width * fanout;
                let last = (n % group).min(self.merged);
                Expr::i64(n / group * self.merged + last)
            }
            _ => extent.clone(),
        }
    }
}

/// The passes over a line of which the first `count` elements are wanted.
fn passes(extent: &Expr, count: &Expr, plan: Plan) -> Vec<Runs> {
    let mut passes = vec![];
    let mut width = 1;
    let mut extent = extent.clone();
    let kept = extent.as_int().and(count.as_int());
    let kept = kept.filter(|_| extent != *count);
    loop {
        let fanout = match extent.as_int() {
            Some(n) if n <= width => return passes,
            _ if width == 1 => Some(plan.first),
            None if width >= LONGEST => None,
            _ => Some(plan.fanout),
        };
        let merged = width.saturating_mul(fanout.unwrap_or(1));
        let runs = Runs {
            width,
            fanout,
            merged: kept.map_or(merged, |kept| merged.min(kept.max(1))),
        };
        passes.push(runs);
        if fanout.is_none() {
            return passes;
        }
        extent = runs.rest(&extent);
        width = runs.merged;
    }
}

/// One pass.
fn merge(name: &str, line: &Line, axis: usize, order: Order, runs: Runs, carried: Carried) -> Line {
    let values = line
        .values
        .clone()
        .expect("only the last pass drops values");
    let shape = values.shape().to_vec();
    let mut merged = shape.clone();
    merged[axis] = runs.rest(&shape[axis]);
    let of_values = (merged.clone(), values.dtype());
    let results = match carried {
        Carried::Values => vec![of_values],
        Carried::Positions => vec![(merged, DType::I32)],
        Carried::Both => vec![of_values, (merged, DType::I32)],
    };
    let inputs: Vec<Tensor> = [values].into_iter().chain(line.positions.clone()).collect();
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let pass = Pass {
            axis,
            order,
            runs,
            values: &from[0],
            at,
        };
        let here: Vec<Expr> = at.iter().map(Var::expr).collect();
        b.let_("own", Expr::load(&from[0], here.clone()), |b, own| {
            let (place, kept) = pass.place(b, &own.expr());
            let mut there = here.clone();
            there[axis] = clamped(&place, &to[0].shape()[axis]);
            let keep = |b: &mut PrimFuncBuilder| {
                if carried != Carried::Positions {
                    b.store(&to[0], there.clone(), own.expr());
                }
                if carried != Carried::Values {
                    let position = match from.get(1) {
                        Some(known) => Expr::load(known, here),
                        None => at[axis].expr().cast(DType::I32),
                    };
                    b.store(&to[to.len() - 1], there, position);
                }
            };
            match kept {
                Some(kept) => b.if_(kept, keep),
                None => keep(b),
            }
        });
    };
    let results = te::extern_each(name, shape, &inputs, results, write);
    let mut results = results.into_iter();
    let mut given = |is: bool| is.then(|| results.next().expect("as many results"));
    Line {
        values: given(carried != Carried::Positions),
        positions: given(carried != Carried::Values),
    }
}

/// The place of one element in a pass.
struct Pass<'a> {
    axis: usize,
    order: Order,
    runs: Runs,
    values: &'a Buffer,
    at: &'a [Var],
}

impl Pass<'_> {
    fn along(&self) -> Expr {
        self.at[self.axis].expr()
    }

    fn extent(&self) -> &Expr {
        &self.values.shape()[self.axis]
    }

    /// The element of the line at an index.
    fn element(&self, along: &Expr) -> Expr {
        let mut index: Vec<Expr> = self.at.iter().map(Var::expr).collect();
        index[self.axis] = clamped(along, self.extent());
        Expr::load(self.values, index)
    }

    /// The group of the element, and how many runs that has.
    fn group(&self) -> (Expr, Expr) {
        let all = quotient(&shifted(self.extent(), self.runs.width - 1), &self.width());
        match self.runs.fanout {
            Some(fanout) => {
                let group = quotient(&self.along(), &Expr::i64(self.runs.width * fanout));
                let count = all.as_int().map_or(fanout, |all| all.min(fanout));
                (group, Expr::i64(count))
            }
            None => (Expr::i64(0), all),
        }
    }

    fn width(&self) -> Expr {
        Expr::i64(self.runs.width)
    }

    /// Writes what counts the elements that come before `own` in its group; gives where in the line it is placed, and whether
    /// it is kept there, if not all elements are.
    fn place(&self, b: &mut PrimFuncBuilder, own: &Expr) -> (Expr, Option<Expr>) {
        let rank = Counter::new(b, "rank", self.extent());
        let run = quotient(&self.along(), &self.width());
        rank.set(b, remainder(&self.along(), &self.width()));
        let (group, count) = self.group();
        b.grid([("r", count)], |b, r| {
            let first = self.runs.fanout.map_or(Expr::i64(0), |f| scaled(&group, f));
            let other = sum(&first, &r[0].expr());
            let start = product(&other, &self.width());
            let is_other = Expr::binary(BinOp::Ne, other.clone(), run.clone());
            b.if_(is_other.and(start.lt(self.extent())), |b| {
                let before = |e: &Expr| {
                    let ties = self.order.first(own, e).not();
                    Expr::select(other.lt(&run), ties, self.order.first(e, own))
                };
                match self.runs.width {
                    1 => {
                        let before = before(&self.element(&start));
                        let one = Expr::select(before, Expr::i64(1), Expr::i64(0));
                        rank.set(b, rank.value() + one);
                    }
                    _ => {
                        let search = Search {
                            begin: start.clone(),
                            end: sum(&start, &self.width()).min(self.extent()),
                            steps: i64::from(self.runs.width.ilog2()) + 1,
                            extent: self.extent(),
                        };
                        let end = search.write(b, &|along| before(&self.element(along)));
                        rank.set(b, rank.value() + end - &start);
                    }
                }
            });
        });
        let rank = rank.value();
        let place = match self.runs.fanout {
            Some(_) => sum(&scaled(&group, self.runs.merged), &rank),
            None => rank.clone(),
        };
        let kept = self.runs.are_cut().then(|| rank.lt(self.runs.merged));
        (place, kept)
    }
}

/// A binary search among sorted elements.
struct Search<'a> {
    begin: Expr,
    end: Expr,
    /// How often the elements can be halved.
    steps: i64,
    /// The length of the line that they are in.
    extent: &'a Expr,
}

impl Search<'_> {
    /// Writes the search; gives the index of the first element that is not `before`.
    fn write(self, b: &mut PrimFuncBuilder, before: &dyn Fn(&Expr) -> Expr) -> Expr {
        let [low, high] = ["low", "high"].map(|name| Counter::new(b, name, self.extent));
        low.set(b, self.begin);
        high.set(b, self.end);
        b.grid([("step", self.steps)], |b, _| {
            b.if_(low.value().lt(high.value()), |b| {
                let middle = quotient(&(low.value() + high.value()), &Expr::i64(2));
                b.let_("middle", middle, |b, middle| {
                    let middle = middle.expr();
                    b.if_else(
                        before(&middle),
                        |b| low.set(b, shifted(&middle, 1)),
                        |b| high.set(b, middle.clone()),
                    );
                });
            });
        });
        low.value()
    }
}

/// A number of one thread, between 0 and a bound.
struct Counter {
    memory: Buffer,
    bound: Expr,
}

impl Counter {
    fn new(b: &mut PrimFuncBuilder, name: &str, bound: &Expr) -> Self {
        Self {
            memory: b.alloc(name, [1i64], DType::I32, Scope::Local),
            bound: bound.clone(),
        }
    }

    /// The number, which is in its bounds. The clamp lets the bounds proof see it.
    fn value(&self) -> Expr {
        let value = Expr::load(&self.memory, vec![Expr::i64(0)]).cast(DType::I64);
        value.min(&self.bound).max(0)
    }

    fn set(&self, b: &mut PrimFuncBuilder, value: Expr) {
        b.store(&self.memory, [Expr::i64(0)], value.cast(DType::I32));
    }
}

/// For each number below `count` how many elements of a sorted line of numbers are less, as `int32`: where it stands first.
pub fn first_positions(name: &str, line: &Tensor, count: &Expr) -> Tensor {
    let inputs = std::slice::from_ref(line);
    let result = vec![(vec![count.clone()], DType::I32)];
    let write = |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let (number, line) = (at[0].expr(), &from[0]);
        let extent = &line.shape()[0];
        let search = Search {
            begin: Expr::i64(0),
            end: extent.clone(),
            steps: extent
                .as_int()
                .map_or(32, |n| i64::from(n.max(1).ilog2()) + 1),
            extent,
        };
        let first = search.write(b, &|along| {
            let element = Expr::load(line, vec![clamped(along, extent)]);
            element.lt(number.cast(line.dtype()))
        });
        b.store(&to[0], [number], first.cast(DType::I32));
    };
    te::extern_each(name, [count.clone()], inputs, result, write).remove(0)
}
