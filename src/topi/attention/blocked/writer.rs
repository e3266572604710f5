//! Writes the loops of a block.

use std::iter;

use super::columns::Columns;
use super::sizes::{Blocks, Owner, Steps};
use crate::ir::{
    AttrValue, Axis, Buffer, Expr, IterKind, Loop, PrimFuncBuilder, Scope, Var, attrs,
};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::attention::Attention;
use crate::topi::extent::{quotient, remainder, scaled, shifted, sum};

const F32: DType = DType::F32;

/// The place in a buffer of a row and the axes that are not reduced.
type PlaceOf<'a> = dyn Fn(&[Expr]) -> Vec<Expr> + 'a;

/// Writes the loops of a block.
pub(super) struct Writer<'a> {
    pub(super) blocks: Blocks,
    pub(super) of: Attention,
    pub(super) batch: Expr,
    /// The head of queries, or the group of heads that share keys.
    pub(super) head: Expr,
    /// The first row of the block.
    pub(super) first: Expr,
    pub(super) query: &'a Buffer,
    pub(super) key: &'a Buffer,
    pub(super) value: &'a Buffer,
    pub(super) bias: Option<&'a Buffer>,
    pub(super) output: Output<'a>,
}

/// What a block gives.
pub(super) enum Output<'a> {
    /// Means of values, `[batch, seq, heads, size_v]`.
    Result(&'a Buffer),
    /// Those of a part of the keys, to be merged: mixed values, `[batch, heads_kv, rows, parts, size_v]`, and for each row its maximum
    /// and the sum of its weights, without the last dimension.
    Part(&'a Expr, [&'a Buffer; 3]),
}

/// What a block keeps while it goes through the tiles. Rows are queries: those of the sequence for a thread, which shrink to those of
/// the block when they are lowered; those of the block for a workgroup, of each head of a group.
pub(super) struct State {
    /// Scaled: `[rows, size]`, with zeros up to the end of a panel for a thread; `[size, rows]` for a workgroup whose threads read columns
    /// of rows.
    queries: Buffer,
    /// `[rows]`: the greatest score of each query.
    pub(super) maximum: Buffer,
    /// `[rows]`: the sum of its weights.
    pub(super) total: Buffer,
    /// `[rows, size_v]`: the values by their weights, with zeros up to the end of a panel.
    pub(super) mixed: Buffer,
    /// `[keys]`: the place of each key in a tile, where some are not seen. Only threads compare places in memory.
    pub(super) places: Option<Buffer>,
}

impl Writer<'_> {
    pub(super) fn seq(&self) -> &Expr {
        &self.query.shape()[1]
    }

    pub(super) fn size(&self) -> &Expr {
        &self.query.shape()[3]
    }

    pub(super) fn size_of_values(&self) -> &Expr {
        &self.value.shape()[3]
    }

    pub(super) fn keys(&self) -> &Expr {
        &self.key.shape()[1]
    }

    /// The head of keys and values that serves the head.
    pub(super) fn shared_head(&self) -> Expr {
        if self.blocks.group > 1 {
            return self.head.clone();
        }
        let shared = quotient(&self.query.shape()[2], &self.key.shape()[2]);
        quotient(&self.head, &shared)
    }

    /// The head of the queries of a row, which exists.
    pub(super) fn head_of(&self, row: &Expr) -> Expr {
        let group = self.blocks.group;
        match group {
            1 => self.head.clone(),
            _ => sum(
                &scaled(&self.head, group),
                &remainder(row, &Expr::i64(group)),
            ),
        }
    }

    pub(super) fn is_of_thread(&self) -> bool {
        self.blocks.owner == Owner::Thread
    }

    /// The keys of a tile.
    pub(super) fn keys_of_tile(&self) -> Columns {
        Columns {
            extent: Expr::i64(self.blocks.keys),
            panel: self.blocks.panel_of_keys,
            owner: self.blocks.owner,
        }
    }

    /// The elements of a query.
    fn elements_of_query(&self) -> Columns {
        Columns {
            extent: self.size().clone(),
            ..self.elements()
        }
    }

    /// The elements of a value.
    pub(super) fn elements(&self) -> Columns {
        Columns {
            extent: self.size_of_values().clone(),
            panel: self.blocks.panel_of_values,
            owner: self.blocks.owner,
        }
    }

    /// How many rows the buffers of a block have.
    pub(super) fn row_count(&self) -> Expr {
        match self.blocks.owner {
            Owner::Thread => self.seq().clone(),
            Owner::Workgroup => Expr::i64(self.blocks.rows),
        }
    }

    /// The number of a row of the block among all rows, behind whose last one it may lie.
    pub(super) fn number_of(&self, row: &Expr) -> Expr {
        match self.blocks.owner {
            Owner::Thread => row.clone(),
            Owner::Workgroup => sum(&self.first, row),
        }
    }

    /// The same; behind the last one that one is repeated.
    pub(super) fn known_number_of(&self, row: &Expr) -> Expr {
        let number = self.number_of(row);
        match self.is_of_thread() || self.rows_are_whole() {
            true => number,
            false => number.min(shifted(&self.all_rows(), -1)),
        }
    }

    /// The query of the row with a number.
    pub(super) fn query_of(&self, number: &Expr) -> Expr {
        quotient(number, &Expr::i64(self.blocks.group))
    }

    /// The query of a row of the block, which may lie behind the last one.
    pub(super) fn query_at(&self, row: &Expr) -> Expr {
        self.query_of(&self.number_of(row))
    }

    /// How many rows there are: queries, of each head of a group.
    pub(super) fn all_rows(&self) -> Expr {
        scaled(self.seq(), self.blocks.group)
    }

    /// Whether blocks hold nothing but rows that exist.
    pub(super) fn rows_are_whole(&self) -> bool {
        remainder(&self.all_rows(), &Expr::i64(self.blocks.rows)).is_zero()
    }

    /// Whether queries lie in rows of their own, and not in columns.
    fn has_rows_of_queries(&self) -> bool {
        self.is_of_thread() || self.blocks.steps == Steps::Together
    }

    /// The place of an element of a query in memory.
    fn in_queries<'e>(&self, row: &'e Expr, element: &'e Expr) -> [&'e Expr; 2] {
        match self.has_rows_of_queries() {
            true => [row, element],
            false => [element, row],
        }
    }

    pub(super) fn write(&self, b: &mut PrimFuncBuilder) {
        let rows = self.row_count();
        let elements = self.elements();
        let size = match self.blocks.owner {
            Owner::Thread => self.elements_of_query().whole(),
            Owner::Workgroup => self.size().clone(),
        };
        let queries = self.in_queries(&rows, &size).map(Clone::clone);
        let state = State {
            queries: local(b, "queries", queries),
            maximum: local(b, "maximum", [rows.clone()]),
            total: local(b, "total", [rows.clone()]),
            mixed: local(b, "mixed", iter::once(rows).chain(elements.shape())),
            places: (self.is_of_thread() && !self.sees_whole_tiles()).then(|| self.places(b)),
        };
        let scale = self.of.scale.unwrap_or(1.0);
        self.rows(b, "queries", [Axis::spatial("e", size)], |b, at| {
            let number = self.known_number_of(&at[0]);
            let (query, head) = (self.query_of(&number), self.head_of(&number));
            let element = load(self.query, [&self.batch, &query, &head, &at[1]]).cast(F32);
            let element = match self.blocks.owner {
                Owner::Thread => self.elements_of_query().or_zero(&at[1], element),
                Owner::Workgroup => element,
            };
            let place = self.in_queries(&at[0], &at[1]).map(Clone::clone);
            b.store(&state.queries, place, element * float(scale));
        });
        self.rows(b, "maximum_first", [], |b, at| {
            b.store(&state.maximum, at, te::lowest(F32));
        });
        self.rows(b, "total_first", [], |b, at| {
            b.store(&state.total, at, float(0.0));
        });
        let axes = elements.axes("e", IterKind::Spatial);
        self.rows(b, "mixed_first", axes, |b, at| {
            b.store(&state.mixed, at, float(0.0));
        });
        let count = self.blocks.keys;
        let tiles = quotient(&shifted(self.keys(), count - 1), &Expr::i64(count));
        let seen = Loop::serial("t", self.seen_tiles(&tiles));
        b.loops(vec![seen], |b, t| {
            let axis = Axis::new(IterKind::Scan, "v_t", tiles).bound_to(t[0].expr());
            b.block("tile", [axis], |b, t| self.tile(b, &t[0].expr(), &state));
        });
        match self.output {
            Output::Result(result) => self.result(b, &state, result),
            Output::Part(part, to) => self.part(b, &state, part, to),
        }
    }

    /// A buffer with an element for each query and key of a tile: `[rows, keys]`, and for a workgroup `[panels, keys, rows]`: a
    /// thread stores its rows as vectors.
    pub(super) fn of_tile(&self, b: &mut PrimFuncBuilder, name: &str) -> Buffer {
        let keys = self.keys_of_tile().shape();
        local(b, name, self.in_tile(self.row_count(), keys))
    }

    /// The place of a row and of a key in such a buffer.
    pub(super) fn in_tile(&self, row: Expr, key: Vec<Expr>) -> Vec<Expr> {
        match self.blocks.owner {
            Owner::Thread => iter::once(row).chain(key).collect(),
            Owner::Workgroup => key.into_iter().chain([row]).collect(),
        }
    }

    fn tile(&self, b: &mut PrimFuncBuilder, t: &Expr, state: &State) {
        let first = scaled(t, self.blocks.keys);
        let of_tile = self.keys_of_tile();
        let elements = self.elements();
        let keys = self.keys_in_panels(b, &first);
        let values = self.values_in_panels(b, &first);
        let of_rows = |b: &mut PrimFuncBuilder, name: &str| local(b, name, [self.row_count()]);
        let place = |at: &[Expr]| self.in_tile(at[0].clone(), at[1..].to_vec());

        let products = self.of_tile(b, "products");
        let steps = vec![Axis::reduce("e", self.size().clone())];
        let axes = [of_tile.axes("j", IterKind::Spatial), steps];
        self.reduce(b, BinOp::Add, (&products, &place), axes, |at| {
            let (panel, column) = of_tile.digits(&at[1..=of_tile.ndim()]);
            let step = &at[of_tile.ndim() + 1];
            let key = match self.blocks.steps {
                Steps::Apart => [&panel, step, &column],
                Steps::Together => [&panel, &column, step],
            };
            load(&state.queries, self.in_queries(&at[0], step)) * load(&keys, key).cast(F32)
        });
        let scores = match self.bias.is_none() && self.sees_whole_tiles() {
            true => products,
            false => self.scores(b, &products, &first, state),
        };

        let in_tile = of_rows(b, "greatest");
        let all = || of_tile.axes("j", IterKind::Reduce);
        let alone = || [vec![], all()];
        let own = |at: &[Expr]| at.to_vec();
        self.reduce(b, BinOp::Max, (&in_tile, &own), alone(), |at| {
            load(&scores, &place(at))
        });
        let raised = of_rows(b, "raised");
        self.rows(b, "raised", [], |b, at| {
            let greatest = load(&state.maximum, at).max(load(&in_tile, at));
            b.store(&raised, at, greatest);
        });
        // What is subtracted is finite, or all scores so far are minus infinity, whose weights are 0.
        let shift = of_rows(b, "shift");
        self.rows(b, "shift", [], |b, at| {
            b.store(&shift, at, finite(load(&raised, at)));
        });
        let shrink = of_rows(b, "shrink");
        self.rows(b, "shrink", [], |b, at| {
            b.store(
                &shrink,
                at,
                exp(load(&state.maximum, at) - load(&shift, at)),
            );
        });
        let weights = self.of_tile(b, "weights");
        let axes = of_tile.axes("j", IterKind::Spatial);
        self.rows(b, "weights", axes, |b, at| {
            let place = place(at);
            let weight = exp(load(&scores, &place) - load(&shift, &at[..1]));
            b.store(&weights, place, weight);
        });
        let added = of_rows(b, "added");
        self.reduce(b, BinOp::Add, (&added, &own), alone(), |at| {
            load(&weights, &place(at))
        });
        let of_elements = iter::once(self.row_count()).chain(elements.shape());
        let share = local(b, "share", of_elements);
        let axes = [elements.axes("e", IterKind::Spatial), all()];
        self.reduce(b, BinOp::Add, (&share, &own), axes, |at| {
            let (element, key) = at[1..].split_at(elements.ndim());
            let (panel, column) = elements.digits(element);
            let weight = self.in_tile(at[0].clone(), key.to_vec());
            let value = load(&values, [&panel, &of_tile.number(key), &column]);
            load(&weights, &weight) * value.cast(F32)
        });
        // A row updates its own state.
        let update = |b: &mut PrimFuncBuilder, of: &Buffer, by: &Buffer, axes: Vec<Axis>| {
            let name = format!("{}_next", of.name());
            self.rows(b, &name, axes, |b, at| {
                b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                let next = load(of, at) * load(&shrink, &at[..1]) + load(by, at);
                b.store(of, at, next);
            });
        };
        update(b, &state.total, &added, vec![]);
        let axes = elements.axes("e", IterKind::Spatial);
        update(b, &state.mixed, &share, axes);
        self.rows(b, "maximum_next", [], |b, at| {
            b.store(&state.maximum, at, load(&raised, at));
        });
    }

    /// A nest over the queries of the block, and other axes inside of them.
    pub(super) fn rows(
        &self,
        b: &mut PrimFuncBuilder,
        name: &str,
        others: impl IntoIterator<Item = Axis>,
        body: impl FnOnce(&mut PrimFuncBuilder, &[Expr]),
    ) {
        let (rows, seq) = (self.blocks.rows, self.seq());
        b.grid([("i", Expr::i64(rows))], |b, i| {
            let row = match self.blocks.owner {
                Owner::Thread => sum(&self.first, &i[0].expr()),
                Owner::Workgroup => i[0].expr(),
            };
            let axis = Axis::spatial("i", self.row_count()).bound_to(row.clone());
            b.nest(name, iter::once(axis).chain(others), |b, v| {
                if self.is_of_thread() && !self.rows_are_whole() {
                    b.predicate(row.lt(seq));
                }
                let at: Vec<Expr> = v.iter().map(Var::expr).collect();
                body(b, &at);
            });
        });
    }

    /// Reduces along some axes, to the place of the row and the other axes.
    fn reduce(
        &self,
        b: &mut PrimFuncBuilder,
        op: BinOp,
        (to, place): (&Buffer, &PlaceOf<'_>),
        [axes, reduced]: [Vec<Axis>; 2],
        term: impl FnOnce(&[Expr]) -> Expr,
    ) {
        let kept = 1 + axes.len();
        self.rows(b, to.name(), axes.into_iter().chain(reduced), |b, at| {
            let place = place(&at[..kept]);
            let identity = match op {
                BinOp::Max => te::lowest(F32),
                _ => float(0.0),
            };
            b.init(|b| b.store(to, &place, identity));
            b.store(to, &place, Expr::binary(op, load(to, &place), term(at)));
        });
    }
}

pub(super) fn local(
    b: &mut PrimFuncBuilder,
    name: &str,
    shape: impl IntoIterator<Item = Expr>,
) -> Buffer {
    b.alloc(name, shape, F32, Scope::Local)
}

pub(super) fn load<'e>(buffer: &Buffer, at: impl IntoIterator<Item = &'e Expr>) -> Expr {
    Expr::load(buffer, at.into_iter().cloned().collect())
}

pub(super) fn exp(x: Expr) -> Expr {
    Expr::call(Intrin::Exp, vec![x])
}

/// A maximum, or 0 for minus infinity.
pub(super) fn finite(maximum: Expr) -> Expr {
    let none = maximum.equals(te::lowest(F32));
    Expr::select(none, float(0.0), maximum)
}

pub(super) fn float(value: f64) -> Expr {
    Expr::float(value, F32)
}
