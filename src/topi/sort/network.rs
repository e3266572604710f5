//! Sorting in the shared memory of a workgroup: a network of comparisons whose order does not depend on the elements. Of `n` elements it has
//! `log(n) * (log(n) + 1) / 2` steps of `n / 2` comparisons that do not touch each other. Elements of a line
//! differ in position, so no two are equal. Padding comes last, in any order.
//!
//! ```text
//! for stage in log(n):
//!     for step in stage + 1:
//!         for pair in n / 2:                     # threads
//!             exchange(low(pair), high(pair))    # the partner lies mirrored in the first step, and half as far in each later one
//! ```
//!
//! The first elements of a line that does not fit are those of its delegates' groups (`delegates`), which are sorted in the same kernel.
//!
//! # References
//! K. Batcher, "Sorting Networks and Their Applications", 1968 (the bitonic sorter).

use super::delegates::Groups;
use super::key::{KeyType, comes_before};
use super::lines::{Found, Lines, line};
use crate::ir::{
    AttrValue, Axis, Buffer, BufferRegion, Expr, IterKind, PrimFuncBuilder, Scope, Var, attrs,
};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::Workgroups;
use crate::topi::extent::{clamped, scaled, shifted, sum};

/// Elements that a workgroup sorts, at most.
const MOST: i64 = 2048;
/// As few elements are sorted as fast without shared memory.
pub(super) const FEWEST: i64 = 128;

/// Elements that a workgroup of the machine sorts at once, if shared memory is fast. Keys and positions of one array take half of it,
/// since `first` has two arrays.
pub(super) fn most(workgroups: Workgroups) -> Option<i64> {
    let elements = workgroups.shared_bytes / 16;
    let most = MOST.min(1 << elements.max(1).ilog2());
    (workgroups.fast_shared && most > FEWEST).then_some(most)
}

/// The positions of the first `count` elements of each line, of at most [`most`].
pub(super) fn sort(name: &str, lines: &Lines, extent: i64, count: i64) -> Found {
    let (key, of) = (lines.key, lines.clone());
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let sorted = Sorted::new(b, key, extent);
        sorted.load(b, extent, |along| {
            (of.of_buffer(&from[0], &at, along), along.cast(DType::I32))
        });
        sorted.sort(b);
        sorted.store(b, &at, to, &of, &from[0]);
    };
    let source = std::slice::from_ref(lines.source());
    let results = results(lines, count);
    Found::of(te::extern_each(
        name,
        lines.outer().to_vec(),
        source,
        results,
        write,
    ))
}

/// The positions of the first elements of each line; its delegates, and what is left by them, are at most [`most`].
pub(super) fn first(name: &str, groups: &Groups<'_>, delegates: &Tensor) -> Found {
    let (key, of) = (groups.lines.key, groups.lines.clone());
    let (width, count, left) = (groups.width, groups.count, groups.left());
    let tail = left - count * width;
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let number = line(from[0].shape())
            .1
            .as_int()
            .expect("a known number of groups");
        // Of one size, so that the same threads take part in all steps.
        let size = number.max(left);
        let delegates = Sorted::new(b, key, size);
        delegates.load(b, number, |along| {
            let index: Vec<Expr> = at.iter().chain([along]).cloned().collect();
            (Expr::load(&from[0], index), along.cast(DType::I32))
        });
        delegates.sort(b);
        let sorted = Sorted::new(b, key, size);
        let groups = &delegates.places;
        sorted.load(b, left, |along| {
            let which = along.floor_div(width).min(count - 1);
            let group = Expr::load(groups, vec![which]).cast(DType::I64);
            let group = clamped(&group, &Expr::i64(number));
            let position = scaled(&group, width) + along.floor_mod(width);
            let position = match tail {
                0 => position,
                _ => {
                    let behind = shifted(along, (number - count) * width);
                    Expr::select(along.lt(count * width), position, behind)
                }
            };
            (
                of.of_buffer(&from[1], &at, &position),
                position.cast(DType::I32),
            )
        });
        sorted.sort(b);
        sorted.store(b, &at, to, &of, &from[1]);
    };
    let inputs = [delegates, groups.lines.source()].map(Clone::clone);
    let results = results(groups.lines, count);
    Found::of(te::extern_each(
        name,
        groups.lines.outer().to_vec(),
        &inputs,
        results,
        write,
    ))
}

/// Positions, and elements if the lines are of these.
fn results(lines: &Lines, count: i64) -> Vec<(Vec<Expr>, DType)> {
    let outer = lines.outer().iter().cloned();
    let shape: Vec<Expr> = outer.chain([Expr::i64(count)]).collect();
    let values = lines.element_type().map(|dtype| (shape.clone(), dtype));
    [(shape, DType::I32)].into_iter().chain(values).collect()
}

/// Elements in the memory of a workgroup.
struct Sorted {
    key: KeyType,
    /// Bits of the number of places.
    bits: i64,
    keys: Buffer,
    places: Buffer,
}

impl Sorted {
    fn new(b: &mut PrimFuncBuilder, key: KeyType, extent: i64) -> Self {
        let bits = i64::from((extent.max(2) as u64).next_power_of_two().ilog2());
        Self {
            key,
            bits,
            keys: b.alloc("keys", [1i64 << bits], key.dtype, Scope::Shared),
            places: b.alloc("places", [1i64 << bits], DType::I32, Scope::Shared),
        }
    }

    /// Loads so many elements; what is behind them comes last. Threads have two each, as they have in all steps: none waits for others under a
    /// condition then.
    fn load(&self, b: &mut PrimFuncBuilder, extent: i64, element: impl Fn(&Expr) -> (Expr, Expr)) {
        let all = 1i64 << self.bits;
        self.each_of_two(b, "load", |b, own| {
            let (key, place) = element(&clamped(own, &Expr::i64(extent)));
            let (key, place) = match extent == all {
                true => (key, place),
                false => {
                    let is_there = own.lt(extent);
                    let key = Expr::select(is_there.clone(), key, self.key.greatest());
                    (key, Expr::select(is_there, place, Expr::i32(i32::MAX)))
                }
            };
            b.store(&self.keys, [own.clone()], key);
            b.store(&self.places, [own.clone()], place);
        });
    }

    /// A nest over all elements, half of them at once.
    fn each_of_two(
        &self,
        b: &mut PrimFuncBuilder,
        name: &str,
        each: impl Fn(&mut PrimFuncBuilder, &Expr),
    ) {
        let half = 1i64 << (self.bits - 1);
        let axes = [
            Axis::new(IterKind::Scan, "part", 2i64),
            Axis::spatial("i", half),
        ];
        b.nest(name, axes, |b, at| {
            b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
            each(b, &sum(&scaled(&at[0].expr(), half), &at[1].expr()));
        });
    }

    fn sort(&self, b: &mut PrimFuncBuilder) {
        for stage in 0..self.bits {
            b.grid([("step", stage + 1)], |b, step| {
                let axes = [
                    Axis::new(IterKind::Scan, "step", stage + 1).bound_to(step[0].expr()),
                    Axis::spatial("pair", 1i64 << (self.bits - 1)),
                ];
                b.nest("exchange", axes, |b, at| {
                    b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                    let both = || [&self.keys, &self.places].map(BufferRegion::full);
                    b.reads(both());
                    b.writes(both());
                    self.exchange(b, stage, &at[0].expr(), &at[1].expr());
                });
            });
        }
    }

    /// Brings a pair of elements in order.
    fn exchange(&self, b: &mut PrimFuncBuilder, stage: i64, step: &Expr, pair: &Expr) {
        let int = |e: Expr| e.cast(DType::I32);
        let bit = |op, a: Expr, b: Expr| Expr::binary(op, a, b);
        let far = bit(BinOp::Shl, Expr::i32(1), int(Expr::i64(stage) - step));
        b.let_("far", far, |b, far| {
            let (far, pair) = (far.expr(), int(pair.clone()));
            // The bits of the pair above those of the distance are one place further left in the index of its first element.
            let outer = Expr::call(Intrin::BitNot, vec![&far - 1]);
            let low = &pair + bit(BinOp::BitAnd, pair.clone(), outer);
            b.let_("low", low, |b, low| {
                let mirrored = bit(BinOp::BitXor, low.expr(), &far * 2 - 1);
                let high = Expr::select(step.equals(0), mirrored, low.expr() + &far);
                let all = Expr::i64(1 << self.bits);
                let [low, high] = [low.expr(), high].map(|e| clamped(&e.cast(DType::I64), &all));
                b.let_("first", low, |b, low| {
                    b.let_("second", high, |b, high| {
                        self.exchange_at(b, &low.expr(), &high.expr());
                    });
                });
            });
        });
    }

    fn exchange_at(&self, b: &mut PrimFuncBuilder, low: &Expr, high: &Expr) {
        let load = |of: &Buffer, at: &Expr| Expr::load(of, vec![at.clone()]);
        b.let_("low_key", load(&self.keys, low), |b, low_key| {
            b.let_("high_key", load(&self.keys, high), |b, high_key| {
                b.let_(
                    "low_position",
                    load(&self.places, low),
                    |b, low_position| {
                        let position = load(&self.places, high);
                        b.let_("high_position", position, |b, high_position| {
                            let keys = [low_key.expr(), high_key.expr()];
                            let positions = [low_position.expr(), high_position.expr()];
                            let [first, second] = [0, 1].map(|at| (&keys[at], &positions[at]));
                            let is_less = comes_before(second, first);
                            b.let_("swap", is_less, |b, swap| {
                                for (of, [a, c]) in [(&self.keys, keys), (&self.places, positions)]
                                {
                                    let pick = |a: &Expr, c: &Expr| {
                                        Expr::select(swap.expr(), a.clone(), c.clone())
                                    };
                                    b.store(of, [low.clone()], pick(&c, &a));
                                    b.store(of, [high.clone()], pick(&a, &c));
                                }
                            });
                        });
                    },
                );
            });
        });
    }

    /// Stores the positions of the first elements, and those elements.
    fn store(
        &self,
        b: &mut PrimFuncBuilder,
        outer: &[Expr],
        to: &[Buffer],
        lines: &Lines,
        x: &Buffer,
    ) {
        let (count, extent) = (line(to[0].shape()).1.clone(), lines.extent().clone());
        self.each_of_two(b, "store", |b, own| {
            b.if_(own.lt(&count), |b| {
                let index: Vec<Expr> = outer.iter().chain([own]).cloned().collect();
                let place = Expr::load(&self.places, vec![own.clone()]);
                b.store(&to[0], index.clone(), place.clone());
                if let Some(values) = to.get(1) {
                    let place = clamped(&place.cast(DType::I64), &extent);
                    b.store(values, index, lines.element(x, outer, &place));
                }
            });
        });
    }
}
