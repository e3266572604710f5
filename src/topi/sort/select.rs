//! The few first elements of short lines, for machines with few threads: a thread goes through a line and keeps the first ones so far in
//! order, in vectors. Most elements come after all of these.

use super::key::{KeyType, comes_before};
use super::lines::{Lines, line};
use super::local::Local;
use crate::ir::{Buffer, Expr, Loop, LoopKind, PrimFuncBuilder, Range, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::topi::extent::{scaled, shifted, sum};

/// Keys that are compared at once.
const LANES: i64 = 8;

/// The positions of the first `count` elements of each line, which has as many.
pub(super) fn select(name: &str, lines: &Lines, count: i64) -> Tensor {
    let keys = lines.tensor();
    let key_type = lines.key;
    let (outer, _) = line(keys.shape());
    let mut shape = outer.to_vec();
    shape.push(Expr::i64(count));
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let element = |along: &Expr| {
            let index: Vec<Expr> = at.iter().chain([along]).cloned().collect();
            Expr::load(&from[0], index)
        };
        let kept = Kept::new(b, count, key_type);
        let extent = line(from[0].shape()).1.clone();
        b.grid([("i", extent)], |b, i| {
            let along = i[0].expr();
            b.let_("key", element(&along), |b, key| {
                let last = Expr::i64(count);
                b.if_(key.expr().le(kept.keys.at(&last)), |b| {
                    let place = along.cast(DType::I32);
                    let (keys, places) = (kept.keys.at(&last), kept.positions.at(&last));
                    b.if_(comes_before((&key.expr(), &place), (&keys, &places)), |b| {
                        kept.insert(b, &key.expr(), &place);
                    });
                });
            });
        });
        b.grid([("k", count)], |b, k| {
            let index: Vec<Expr> = at.iter().cloned().chain([k[0].expr()]).collect();
            b.store(&to[0], index, kept.positions.at(&shifted(&k[0].expr(), 1)));
        });
    };
    let result = vec![(shape, DType::I32)];
    te::extern_each(
        name,
        outer.to_vec(),
        std::slice::from_ref(&keys),
        result,
        write,
    )
    .remove(0)
}

/// The first elements so far. The one at 0 comes before all others and is none of them; places without an element yet come after
/// all elements.
struct Kept {
    vectors: i64,
    keys: Local,
    positions: Local,
    next_keys: Local,
    next_positions: Local,
}

impl Kept {
    fn new(b: &mut PrimFuncBuilder, count: i64, key: KeyType) -> Self {
        let vectors = (count + LANES - 1) / LANES;
        let lanes = vectors * LANES;
        let kept = Self {
            vectors,
            keys: Local::new(b, "kept", lanes + 1, key.dtype),
            positions: Local::new(b, "places", lanes + 1, DType::I32),
            next_keys: Local::new(b, "next_kept", lanes, key.dtype),
            next_positions: Local::new(b, "next_places", lanes, DType::I32),
        };
        kept.keys.fill(b, &key.greatest());
        kept.positions.fill(b, &Expr::i32(i32::MAX));
        kept.keys.set(b, &Expr::i64(0), key.least());
        kept.positions.set(b, &Expr::i64(0), Expr::i32(-1));
        kept
    }

    /// Puts an element where it belongs; the last one is dropped.
    fn insert(&self, b: &mut PrimFuncBuilder, key: &Expr, position: &Expr) {
        self.each(b, |b, at| {
            let after = shifted(at, 1);
            let [earlier, own] = [at, &after].map(|at| self.keys.at(at));
            let [earlier_place, own_place] = [at, &after].map(|at| self.positions.at(at));
            let moved = comes_before((key, position), (&earlier, &earlier_place));
            let here = comes_before((key, position), (&own, &own_place));
            let pick = |earlier: Expr, new: &Expr, own: Expr| {
                let here = Expr::select(here.clone(), new.clone(), own);
                Expr::select(moved.clone(), earlier, here)
            };
            self.next_keys.set(b, at, pick(earlier, key, own));
            self.next_positions
                .set(b, at, pick(earlier_place, position, own_place));
        });
        self.each(b, |b, at| {
            let after = shifted(at, 1);
            self.keys.set(b, &after, self.next_keys.at(at));
            self.positions.set(b, &after, self.next_positions.at(at));
        });
    }

    fn each(&self, b: &mut PrimFuncBuilder, body: impl FnOnce(&mut PrimFuncBuilder, &Expr)) {
        b.grid([("v", self.vectors)], |b, v| {
            let lane = Loop {
                kind: LoopKind::Vectorized,
                ..Loop::serial("lane", Range::to(Expr::i64(LANES)))
            };
            b.loops(vec![lane], |b, lane| {
                body(b, &sum(&scaled(&v[0].expr(), LANES), &lane[0].expr()));
            });
        });
    }
}
