//! Attention in blocks of queries by tiles of keys: one program that holds the scores of one block and one tile, however long the
//! sequences are. Each block goes through the tiles that its queries see. It keeps the maximum of each row, the sum of its weights
//! and the values mixed so far; where a tile raises the maximum, these are scaled to the new one.
//!
//! ```text
//! for batch, head, block:                                  # any order
//!     queries = query[block] * scale; maximum = -inf; total = 0; mixed = 0
//!     for tile in those that the block sees:
//!         keys, values = key[tile], value[tile]            # in panels of 16 columns
//!         scores  = queries @ keys + bias                  # -inf for keys that a query does not see
//!         raised  = max(maximum, max(scores))
//!         weights = exp(scores - raised)
//!         shrink  = exp(maximum - raised)
//!         total   = total * shrink + sum(weights)
//!         mixed   = mixed * shrink + weights @ values
//!         maximum = raised
//!     result[block] = mixed / total
//! ```
//!
//! The plain form, whose blocks a rule would compute for a block of queries each, needs no step of rescaling. It holds a block of
//! queries by all keys twice, though: an array of a thread has a constant size, which open lengths do not have, and 256 KiB of stack
//! hold 16 rows of 2048 keys, where keys would be turned and read again for every 16 queries. And it cannot leave out tiles.
//!
//! # References
//! T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022,
//! algorithm 1; M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.

use std::iter;

use super::{Attention, Visible};
use crate::ir::{AttrValue, Var};
use crate::ir::{Axis, Buffer, Expr, IterKind, Loop, PrimFuncBuilder, Range, Scope, attrs};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::accumulator;
use crate::topi::extent::{quotient, remainder, scaled, shifted, sum};

const F32: DType = DType::F32;

/// Columns of a panel, in which keys and values lie: those of a vector of 512 bits.
const PANEL: i64 = 16;
/// Queries of a block, at most: each key that is turned serves as many.
const MOST_ROWS: i64 = 64;
/// Keys of a tile, at most.
const MOST_KEYS: i64 = 128;
/// The same where a tile may compute with many keys that none of its queries sees: of open lengths, which may be short, and with a
/// causal mask.
const MOST_KEYS_OF_PART: i64 = 64;
/// The longest window. Distances in a tile are compared as `float32`.
const LONGEST_WINDOW: i64 = 1 << 20;
/// Elements of the queries of a block, and of the keys of a tile, at most: 32 KiB.
const MOST_ELEMENTS: i64 = 8 << 10;
/// Rows that tiles of registers have.
const ROWS_OF_REGISTERS: i64 = 8;
/// Blocks that keep the threads of a CPU busy.
const BUSY: i64 = 16;
/// Fewest queries for which keys are turned. Fewer read keys and values once, which takes most of the time.
const FEWEST_QUERIES: i64 = 16;

/// Attention in blocks, as [`attention`](super::attention) has it; `None` where that is as good: for few queries, and for types and
/// sizes whose blocks would not fit.
///
/// The scale is a factor of the queries. Numbers of keys that a query does not see count for nothing, be they infinite.
pub fn attention_in_blocks(
    name: &str,
    qkv: [&Tensor; 3],
    bias: Option<&Tensor>,
    of: &Attention,
) -> Option<Tensor> {
    let blocks = Blocks::of(qkv, of.visible)?;
    if of.window.is_some_and(|window| window > LONGEST_WINDOW) {
        return None;
    }
    let [query, _, value] = qkv;
    let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| query.shape()[at].clone());
    let scale = match (of.scale, size.as_int()) {
        (Some(scale), _) => scale,
        (None, size) => 1.0 / (size? as f64).sqrt(),
    };
    let of = Attention {
        scale: Some(scale),
        ..*of
    };
    let count = quotient(&shifted(&seq, blocks.rows - 1), &Expr::i64(blocks.rows));
    let shape = vec![batch.clone(), seq, heads.clone(), value.shape()[3].clone()];
    let inputs: Vec<Tensor> = qkv.into_iter().chain(bias).cloned().collect();
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let [query, key, value, bias @ ..] = from else {
            unreachable!("attention has three operands, and a bias")
        };
        let first = scaled(&at[2].expr(), blocks.rows);
        let writer = Writer {
            blocks,
            of,
            batch: at[0].expr(),
            head: at[1].expr(),
            first,
            query,
            key,
            value,
            bias: bias.first(),
            result: &to[0],
        };
        writer.write(b);
    };
    let result = vec![(shape, query.dtype())];
    Some(te::extern_each(name, [batch, heads, count], &inputs, result, write).remove(0))
}

/// The sizes of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Blocks {
    /// Queries of a block.
    rows: i64,
    /// Keys of a tile.
    keys: i64,
}

impl Blocks {
    fn of([query, key, value]: [&Tensor; 3], visible: Visible) -> Option<Self> {
        let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| &query.shape()[at]);
        let keys = &key.shape()[1];
        let widest = size.as_int()?.max(value.shape()[3].as_int()?);
        if accumulator(query.dtype()) != F32 || !(1..=MOST_ELEMENTS / 32).contains(&widest) {
            return None;
        }
        // As many queries as keys are those of a whole sequence: few of them are few keys, too.
        if seq.as_int().map_or(seq != keys, |seq| seq < FEWEST_QUERIES) {
            return None;
        }
        let most = MOST_ELEMENTS / widest;
        let others = batch.as_int().zip(heads.as_int());
        let others = others.map_or(1, |(batch, heads)| batch.saturating_mul(heads).max(1));
        let mut rows = even(seq, most.min(MOST_ROWS), ROWS_OF_REGISTERS);
        while rows > FEWEST_QUERIES
            && let Some(seq) = seq.as_int()
            && (seq + rows - 1) / rows * others < BUSY
        {
            rows = even(&Expr::i64(seq), rows / 2, ROWS_OF_REGISTERS);
        }
        let most_keys = match (keys.as_int(), visible) {
            (Some(_), Visible::All) => MOST_KEYS,
            _ => MOST_KEYS_OF_PART,
        };
        let keys = even(keys, most.min(most_keys), PANEL);
        Some(Self { rows, keys })
    }
}

/// The size of parts that are at most so large, multiples of a step, and as even as can be.
fn even(extent: &Expr, most: i64, step: i64) -> i64 {
    let most = (most / step * step).max(step);
    let Some(extent) = extent.as_int() else {
        return most;
    };
    let parts = ((extent + most - 1) / most).max(1);
    let size = (extent + parts - 1) / parts;
    ((size + step - 1) / step * step).max(step)
}

/// Writes the loops of a block.
struct Writer<'a> {
    blocks: Blocks,
    of: Attention,
    batch: Expr,
    head: Expr,
    /// The first query of the block.
    first: Expr,
    query: &'a Buffer,
    key: &'a Buffer,
    value: &'a Buffer,
    bias: Option<&'a Buffer>,
    result: &'a Buffer,
}

/// What a block keeps while it goes through the tiles.
struct State {
    /// `[seq, size]`, scaled, with zeros up to the end of a panel.
    queries: Buffer,
    /// `[seq]`: the greatest score of each query.
    maximum: Buffer,
    /// `[seq]`: the sum of its weights.
    total: Buffer,
    /// `[seq, size_v]`: the values by their weights, with zeros up to the end of a panel.
    mixed: Buffer,
    /// `[keys]`: the place of each key in a tile, where some are not seen.
    places: Option<Buffer>,
}

impl Writer<'_> {
    fn seq(&self) -> &Expr {
        &self.query.shape()[1]
    }

    fn size(&self) -> &Expr {
        &self.query.shape()[3]
    }

    fn size_of_values(&self) -> &Expr {
        &self.value.shape()[3]
    }

    fn keys(&self) -> &Expr {
        &self.key.shape()[1]
    }

    /// The head of keys and values that serves the head.
    fn shared_head(&self) -> Expr {
        let shared = quotient(&self.query.shape()[2], &self.key.shape()[2]);
        quotient(&self.head, &shared)
    }

    fn write(&self, b: &mut PrimFuncBuilder) {
        let rows = [self.seq().clone()];
        let by_size = |size: &Expr| [self.seq().clone(), size.clone()];
        let state = State {
            queries: local(b, "queries", by_size(&whole_panels(self.size()))),
            maximum: local(b, "maximum", rows.clone()),
            total: local(b, "total", rows),
            mixed: local(b, "mixed", by_size(&whole_panels(self.size_of_values()))),
            places: (!self.sees_whole_tiles()).then(|| self.places(b)),
        };
        let of_panels = |size| Axis::spatial("e", whole_panels(size));
        let scale = self.of.scale.unwrap_or(1.0);
        self.rows(b, "queries", [of_panels(self.size())], |b, at| {
            let element = load(self.query, [&self.batch, &at[0], &self.head, &at[1]]);
            let element = or_zero(&at[1], self.size(), element.cast(F32));
            b.store(&state.queries, at, element * float(scale));
        });
        self.rows(b, "maximum_first", [], |b, at| {
            b.store(&state.maximum, at, te::lowest(F32));
        });
        self.rows(b, "total_first", [], |b, at| {
            b.store(&state.total, at, float(0.0));
        });
        let columns = of_panels(self.size_of_values());
        self.rows(b, "mixed_first", [columns], |b, at| {
            b.store(&state.mixed, at, float(0.0));
        });
        let count = self.blocks.keys;
        let tiles = quotient(&shifted(self.keys(), count - 1), &Expr::i64(count));
        let seen = Loop::serial("t", self.seen_tiles(&tiles));
        b.loops(vec![seen], |b, t| {
            let axis = Axis::new(IterKind::Scan, "v_t", tiles).bound_to(t[0].expr());
            b.block("tile", [axis], |b, t| self.tile(b, &t[0].expr(), &state));
        });
        let columns = Axis::spatial("e", self.size_of_values().clone());
        self.rows(b, "result", [columns], |b, at| {
            let mean = load(&state.mixed, at) / load(&state.total, &at[..1]);
            let mean = match self.sees_none(&at[0]) {
                Some(none) => Expr::select(none, float(0.0), mean),
                None => mean,
            };
            let place = [&self.batch, &at[0], &self.head, &at[1]];
            b.store(self.result, place, mean.cast(self.result.dtype()));
        });
    }

    /// The keys before that of the first query's position; nothing if every query sees all.
    fn before(&self) -> Option<Expr> {
        match self.of.visible {
            Visible::All => None,
            Visible::TopLeft => Some(Expr::i64(0)),
            Visible::BottomRight => Some(difference(self.keys(), self.seq())),
        }
    }

    /// The tiles in which some query of the block sees keys.
    fn seen_tiles(&self, all: &Expr) -> Range {
        let Some(before) = self.before() else {
            return Range::to(all.clone());
        };
        let own = sum(&self.first, &before);
        let end = shifted(&own, self.blocks.rows).min(self.keys()).max(0);
        let tile = Expr::i64(self.blocks.keys);
        let end = quotient(&shifted(&end, self.blocks.keys - 1), &tile);
        let Some(window) = self.of.window else {
            return Range::to(end);
        };
        let first = own - window.saturating_sub(1);
        let min = first.max(0).floor_div(tile).min(&end);
        Range {
            extent: &end - &min,
            min,
        }
    }

    /// Whether a query sees no key by its position; nothing if every query sees all.
    fn sees_none(&self, query: &Expr) -> Option<Expr> {
        let own = sum(query, &self.before()?);
        let last = own.min(shifted(self.keys(), -1));
        Some(match self.of.window {
            Some(window) => last.lt((own - window.saturating_sub(1)).max(0)),
            None => last.lt(0),
        })
    }

    fn tile(&self, b: &mut PrimFuncBuilder, t: &Expr, state: &State) {
        let count = Expr::i64(self.blocks.keys);
        let first = scaled(t, self.blocks.keys);
        let size = self.size().clone();
        let columns = whole_panels(self.size_of_values());
        let keys = self.keys_in_panels(b, &first);
        let values = self.values_in_panels(b, &first);
        let of_rows = |b: &mut PrimFuncBuilder, name: &str, other: Option<&Expr>| {
            let shape = iter::once(self.seq()).chain(other).cloned();
            local(b, name, shape.collect::<Vec<_>>())
        };

        let products = of_rows(b, "products", Some(&count));
        let axes = [
            Axis::spatial("j", count.clone()),
            Axis::reduce("e", size.clone()),
        ];
        self.reduce(b, BinOp::Add, &products, axes, |at| {
            let (panel, column) = digits(&at[1]);
            load(&state.queries, [&at[0], &at[2]]) * load(&keys, [&panel, &at[2], &column])
        });
        let scores = match self.bias.is_none() && self.sees_whole_tiles() {
            true => products,
            false => self.scores(b, &products, &first, state),
        };

        let in_tile = of_rows(b, "greatest", None);
        let all = || [Axis::reduce("j", count.clone())];
        self.reduce(b, BinOp::Max, &in_tile, all(), |at| load(&scores, at));
        let raised = of_rows(b, "raised", None);
        self.rows(b, "raised", [], |b, at| {
            let greatest = load(&state.maximum, at).max(load(&in_tile, at));
            b.store(&raised, at, greatest);
        });
        // What is subtracted is finite, or all scores so far are minus infinity, whose weights are 0.
        let shift = of_rows(b, "shift", None);
        self.rows(b, "shift", [], |b, at| {
            let raised = load(&raised, at);
            let none = raised.equals(te::lowest(F32));
            b.store(&shift, at, Expr::select(none, float(0.0), raised));
        });
        let shrink = of_rows(b, "shrink", None);
        self.rows(b, "shrink", [], |b, at| {
            b.store(
                &shrink,
                at,
                exp(load(&state.maximum, at) - load(&shift, at)),
            );
        });
        let weights = of_rows(b, "weights", Some(&count));
        self.rows(
            b,
            "weights",
            [Axis::spatial("j", count.clone())],
            |b, at| {
                b.store(
                    &weights,
                    at,
                    exp(load(&scores, at) - load(&shift, &at[..1])),
                );
            },
        );
        let added = of_rows(b, "added", None);
        self.reduce(b, BinOp::Add, &added, all(), |at| load(&weights, at));
        let share = of_rows(b, "share", Some(&columns));
        let axes = [
            Axis::spatial("e", columns.clone()),
            Axis::reduce("j", count),
        ];
        self.reduce(b, BinOp::Add, &share, axes, |at| {
            let (panel, column) = digits(&at[1]);
            load(&weights, [&at[0], &at[2]]) * load(&values, [&panel, &at[2], &column])
        });
        // A row updates its own state.
        let update = |b: &mut PrimFuncBuilder, of: &Buffer, by: &Buffer, axis: Option<Axis>| {
            let name = format!("{}_next", of.name());
            self.rows(b, &name, axis, |b, at| {
                b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                let next = load(of, at) * load(&shrink, &at[..1]) + load(by, at);
                b.store(of, at, next);
            });
        };
        update(b, &state.total, &added, None);
        let axis = Axis::spatial("e", columns);
        update(b, &state.mixed, &share, Some(axis));
        self.rows(b, "maximum_next", [], |b, at| {
            b.store(&state.maximum, at, load(&raised, at));
        });
    }

    /// The keys of a tile, `[keys / 16, size, 16]`. Behind the last key of all that one is repeated.
    fn keys_in_panels(&self, b: &mut PrimFuncBuilder, first: &Expr) -> Buffer {
        let (panels, size) = (Expr::i64(self.blocks.keys / PANEL), self.size().clone());
        let keys = local(b, "keys", [panels.clone(), size.clone(), Expr::i64(PANEL)]);
        let axes = [("p", panels), ("e", size), ("c", Expr::i64(PANEL))];
        let axes = axes.map(|(name, extent)| Axis::spatial(name, extent));
        b.nest("keys", axes, |b, v| {
            let at: Vec<Expr> = v.iter().map(Var::expr).collect();
            let key = sum(&scaled(&at[0], PANEL), &at[2]);
            let element = self.of_key(self.key, &sum(first, &key), &at[1]);
            b.store(&keys, &at, element);
        });
        keys
    }

    /// The values of a tile, `[size / 16, keys, 16]`, with zeros behind the last element. Behind the last key of all that one is repeated.
    fn values_in_panels(&self, b: &mut PrimFuncBuilder, first: &Expr) -> Buffer {
        let size = self.size_of_values();
        let panels = quotient(&whole_panels(size), &Expr::i64(PANEL));
        let count = Expr::i64(self.blocks.keys);
        let shape = [panels, count, Expr::i64(PANEL)];
        let values = local(b, "values", shape.clone());
        let axes = ["p", "j", "c"].into_iter().zip(shape);
        let axes = axes.map(|(name, extent)| Axis::spatial(name, extent));
        b.nest("values", axes, |b, v| {
            let at: Vec<Expr> = v.iter().map(Var::expr).collect();
            let element = sum(&scaled(&at[0], PANEL), &at[2]);
            let value = self.of_key(self.value, &sum(first, &at[1]), &element);
            b.store(&values, &at, or_zero(&element, size, value));
        });
        values
    }

    /// An element of a key or of its value.
    fn of_key(&self, of: &Buffer, key: &Expr, element: &Expr) -> Expr {
        let key = match self.keys_are_whole() {
            true => key.clone(),
            false => key.min(shifted(self.keys(), -1)),
        };
        load(of, [&self.batch, &key, &self.shared_head(), element]).cast(F32)
    }

    /// Whether tiles hold nothing but keys.
    fn keys_are_whole(&self) -> bool {
        remainder(self.keys(), &Expr::i64(self.blocks.keys)).is_zero()
    }

    /// Whether each query sees all keys of each tile.
    fn sees_whole_tiles(&self) -> bool {
        self.of.visible == Visible::All && self.keys_are_whole()
    }

    /// Whether a query whose own key is at one place sees the key at another place in a tile.
    fn sees(&self, place: &Expr, first: &Expr, own: Option<Expr>) -> Expr {
        let exists = (!self.keys_are_whole()).then(|| place.lt((self.keys() - first).cast(F32)));
        let earlier = own.as_ref().map(|own| place.le(own));
        let in_window = own.zip(self.of.window);
        let in_window = in_window.map(|(own, window)| own.lt(place + float(window as f64)));
        te::all([exists, earlier, in_window].into_iter().flatten())
    }

    fn places(&self, b: &mut PrimFuncBuilder) -> Buffer {
        let places = local(b, "places", [Expr::i64(self.blocks.keys)]);
        let axis = Axis::spatial("j", self.blocks.keys);
        b.nest("places", [axis], |b, j| {
            b.store(&places, [&j[0]], j[0].expr().cast(F32));
        });
        places
    }

    /// The products of queries and keys with a bias, and minus infinity for keys that a query does not see.
    ///
    /// Places are compared in memory, as numbers: indices would be compared lane by lane.
    fn scores(
        &self,
        b: &mut PrimFuncBuilder,
        products: &Buffer,
        first: &Expr,
        state: &State,
    ) -> Buffer {
        let own = self.before().map(|before| {
            let own = local(b, "own", [self.seq().clone()]);
            self.rows(b, "own", [], |b, at| {
                let place = sum(&at[0], &before) - first;
                b.store(&own, at, place.cast(F32));
            });
            own
        });
        let scores = local(b, "scores", products.shape().to_vec());
        let axis = Axis::spatial("j", self.blocks.keys);
        self.rows(b, "scores", [axis], |b, at| {
            let mut score = load(products, at);
            if let Some(bias) = self.bias {
                let key = sum(first, &at[1]);
                let element = broadcast(bias, [&self.batch, &self.head, &at[0], &key]).cast(F32);
                score = score
                    + match self.keys_are_whole() {
                        true => element,
                        false => te::if_then_else(key.lt(self.keys()), element, float(0.0)),
                    };
            }
            if let Some(places) = &state.places {
                let place = load(places, [&at[1]]);
                let seen = self.sees(&place, first, own.as_ref().map(|own| load(own, &at[..1])));
                score = Expr::select(seen, score, te::lowest(F32));
            }
            b.store(&scores, at, score);
        });
        scores
    }

    /// A nest over the queries of the block, and other axes inside of them.
    fn rows(
        &self,
        b: &mut PrimFuncBuilder,
        name: &str,
        others: impl IntoIterator<Item = Axis>,
        body: impl FnOnce(&mut PrimFuncBuilder, &[Expr]),
    ) {
        let (rows, seq) = (self.blocks.rows, self.seq());
        b.grid([("i", Expr::i64(rows))], |b, i| {
            let row = sum(&self.first, &i[0].expr());
            let axis = Axis::spatial("i", seq.clone()).bound_to(row.clone());
            b.nest(name, iter::once(axis).chain(others), |b, v| {
                if !remainder(seq, &Expr::i64(rows)).is_zero() {
                    b.predicate(row.lt(seq));
                }
                let at: Vec<Expr> = v.iter().map(Var::expr).collect();
                body(b, &at);
            });
        });
    }

    /// Reduces along the last of the axes.
    fn reduce(
        &self,
        b: &mut PrimFuncBuilder,
        op: BinOp,
        to: &Buffer,
        axes: impl IntoIterator<Item = Axis>,
        term: impl FnOnce(&[Expr]) -> Expr,
    ) {
        self.rows(b, to.name(), axes, |b, at| {
            let place = &at[..at.len() - 1];
            let identity = match op {
                BinOp::Max => te::lowest(F32),
                _ => float(0.0),
            };
            b.init(|b| b.store(to, place, identity));
            b.store(to, place, Expr::binary(op, load(to, place), term(at)));
        });
    }
}

/// The least multiple of the columns of a panel that is at least so large.
fn whole_panels(size: &Expr) -> Expr {
    scaled(
        &quotient(&shifted(size, PANEL - 1), &Expr::i64(PANEL)),
        PANEL,
    )
}

/// An element of a row, and zeros behind its end.
fn or_zero(at: &Expr, size: &Expr, element: Expr) -> Expr {
    match remainder(size, &Expr::i64(PANEL)).is_zero() {
        true => element,
        false => te::if_then_else(at.lt(size), element, float(0.0)),
    }
}

/// The panel of a column, and its place there.
fn digits(column: &Expr) -> (Expr, Expr) {
    (column.floor_div(PANEL), column.floor_mod(PANEL))
}

/// `a - b`
fn difference(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Expr::i64(a - b),
        (_, Some(b)) => shifted(a, b.saturating_neg()),
        _ => a - b,
    }
}

/// The element of a bias that is broadcast to these indices.
fn broadcast(bias: &Buffer, at: [&Expr; 4]) -> Expr {
    let at = at[4 - bias.ndim()..].iter().zip(bias.shape());
    let at = at.map(|(at, extent)| match extent.is_one() {
        true => Expr::i64(0),
        false => (*at).clone(),
    });
    Expr::load(bias, at.collect())
}

fn local(b: &mut PrimFuncBuilder, name: &str, shape: impl IntoIterator<Item = Expr>) -> Buffer {
    b.alloc(name, shape, F32, Scope::Local)
}

fn load<'e>(buffer: &Buffer, at: impl IntoIterator<Item = &'e Expr>) -> Expr {
    Expr::load(buffer, at.into_iter().cloned().collect())
}

fn exp(x: Expr) -> Expr {
    Expr::call(Intrin::Exp, vec![x])
}

fn float(value: f64) -> Expr {
    Expr::float(value, F32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of so many queries, keys, heads, and elements of a head.
    fn blocks(
        seq: impl Into<Expr>,
        keys: impl Into<Expr>,
        heads: i64,
        size: i64,
    ) -> Option<Blocks> {
        let tensor = |length: Expr| {
            let shape = [Expr::i64(1), length, Expr::i64(heads), Expr::i64(size)];
            te::placeholder("x", shape, F32)
        };
        let (query, key) = (tensor(seq.into()), tensor(keys.into()));
        Blocks::of([&query, &key, &key], Visible::All)
    }

    #[test]
    fn parts_are_even_and_fit() {
        let sizes = |rows, keys| Some(Blocks { rows, keys });
        assert_eq!(blocks(512i64, 512i64, 12, 64), sizes(64, 128));
        assert_eq!(blocks(197i64, 197i64, 12, 64), sizes(56, 112));
        assert_eq!(blocks(512i64, 512i64, 12, 256), sizes(32, 32));
        assert_eq!(blocks(40i64, 3i64, 40, 64), sizes(40, 16));
        // One head is shared out to more threads.
        assert_eq!(blocks(256i64, 256i64, 1, 64), sizes(16, 128));
    }

    #[test]
    fn open_lengths_are_those_of_one_sequence() {
        let [n, m] = ["n", "m"].map(|name| Var::new(name, DType::I64).expr());
        let open = Some(Blocks { rows: 64, keys: 64 });
        assert_eq!(blocks(n.clone(), n.clone(), 2, 64), open);
        assert_eq!(blocks(64i64, n.clone(), 16, 64), open);
        // There may be one query of many keys.
        assert_eq!(blocks(n, m, 2, 64), None);
        assert_eq!(blocks(1i64, 2048i64, 12, 64), None);
    }
}
