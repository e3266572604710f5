//! Writes the loops of a block.

use std::iter;

use super::columns::Columns;
use super::sizes::{Blocks, Owner};
use crate::ir::{
    AttrValue, Axis, Buffer, Expr, IterKind, Loop, PrimFuncBuilder, Range, Scope, Var, attrs,
};
use crate::te;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::topi::attention::{Attention, Visible};
use crate::topi::extent::{quotient, remainder, scaled, shifted, sum};

const F32: DType = DType::F32;

/// The place in a buffer of a row and the axes that are not reduced.
type PlaceOf<'a> = dyn Fn(&[Expr]) -> Vec<Expr> + 'a;

/// Writes the loops of a block.
pub(super) struct Writer<'a> {
    pub(super) blocks: Blocks,
    pub(super) of: Attention,
    pub(super) batch: Expr,
    pub(super) head: Expr,
    /// The first query of the block.
    pub(super) first: Expr,
    pub(super) query: &'a Buffer,
    pub(super) key: &'a Buffer,
    pub(super) value: &'a Buffer,
    pub(super) bias: Option<&'a Buffer>,
    pub(super) result: &'a Buffer,
}

/// What a block keeps while it goes through the tiles. Rows are queries: those of the sequence for a thread, which shrink to those of
/// the block when they are lowered; those of the block for a workgroup.
pub(super) struct State {
    /// Scaled: `[rows, size]` with zeros up to the end of a panel for a thread, `[size, rows]` for a workgroup, whose threads read columns of rows.
    queries: Buffer,
    /// `[rows]`: the greatest score of each query.
    maximum: Buffer,
    /// `[rows]`: the sum of its weights.
    total: Buffer,
    /// `[rows, size_v]`: the values by their weights, with zeros up to the end of a panel.
    mixed: Buffer,
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

    fn size_of_values(&self) -> &Expr {
        &self.value.shape()[3]
    }

    pub(super) fn keys(&self) -> &Expr {
        &self.key.shape()[1]
    }

    /// The head of keys and values that serves the head.
    pub(super) fn shared_head(&self) -> Expr {
        let shared = quotient(&self.query.shape()[2], &self.key.shape()[2]);
        quotient(&self.head, &shared)
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

    /// The query of a row, which may lie behind the last one.
    pub(super) fn query_of(&self, row: &Expr) -> Expr {
        match self.blocks.owner {
            Owner::Thread => row.clone(),
            Owner::Workgroup => sum(&self.first, row),
        }
    }

    /// The query of a row; behind the last one that one is repeated.
    pub(super) fn known_query_of(&self, row: &Expr) -> Expr {
        let query = self.query_of(row);
        match self.is_of_thread() || self.rows_are_whole() {
            true => query,
            false => query.min(shifted(self.seq(), -1)),
        }
    }

    /// Whether blocks hold nothing but queries.
    fn rows_are_whole(&self) -> bool {
        remainder(self.seq(), &Expr::i64(self.blocks.rows)).is_zero()
    }

    pub(super) fn write(&self, b: &mut PrimFuncBuilder) {
        let rows = self.row_count();
        let elements = self.elements();
        let queries = match self.blocks.owner {
            Owner::Thread => [rows.clone(), self.elements_of_query().whole()],
            Owner::Workgroup => [self.size().clone(), rows.clone()],
        };
        let state = State {
            queries: local(b, "queries", queries),
            maximum: local(b, "maximum", [rows.clone()]),
            total: local(b, "total", [rows.clone()]),
            mixed: local(b, "mixed", iter::once(rows).chain(elements.shape())),
            places: (self.is_of_thread() && !self.sees_whole_tiles()).then(|| self.places(b)),
        };
        let size = match self.blocks.owner {
            Owner::Thread => self.elements_of_query().whole(),
            Owner::Workgroup => self.size().clone(),
        };
        let scale = self.of.scale.unwrap_or(1.0);
        self.rows(b, "queries", [Axis::spatial("e", size)], |b, at| {
            let query = self.known_query_of(&at[0]);
            let element = load(self.query, [&self.batch, &query, &self.head, &at[1]]).cast(F32);
            let element = match self.blocks.owner {
                Owner::Thread => self.elements_of_query().or_zero(&at[1], element),
                Owner::Workgroup => element,
            };
            let place = match self.blocks.owner {
                Owner::Thread => [&at[0], &at[1]],
                Owner::Workgroup => [&at[1], &at[0]],
            };
            b.store(
                &state.queries,
                place.map(Clone::clone),
                element * float(scale),
            );
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
        self.result(b, &state);
    }

    fn result(&self, b: &mut PrimFuncBuilder, state: &State) {
        let store = |b: &mut PrimFuncBuilder, at: [&Expr; 2], from: &[Expr]| {
            let mean = load(&state.mixed, from) / load(&state.total, &from[..1]);
            let mean = match self.sees_none(at[0]) {
                Some(none) => Expr::select(none, float(0.0), mean),
                None => mean,
            };
            let place = [&self.batch, at[0], &self.head, at[1]];
            let mean = mean.cast(self.result.dtype());
            b.store(self.result, place.map(Clone::clone), mean);
        };
        match self.blocks.owner {
            Owner::Thread => {
                let axis = Axis::spatial("e", self.size_of_values().clone());
                self.rows(b, "result", [axis], |b, at| store(b, [&at[0], &at[1]], at));
            }
            Owner::Workgroup => self.known_elements(b, "result", store),
        }
    }

    /// A nest over the rows and elements of a workgroup, as far as there are such. `body` gets query and element, and the place in the
    /// buffers of the block.
    fn known_elements(
        &self,
        b: &mut PrimFuncBuilder,
        name: &str,
        body: impl FnOnce(&mut PrimFuncBuilder, [&Expr; 2], &[Expr]),
    ) {
        let elements = self.elements();
        let [rows, panel] = [self.blocks.rows, elements.panel].map(Expr::i64);
        let loops = [
            ("i", rows),
            ("e_p", elements.panels()),
            ("e_c", panel.clone()),
        ];
        b.grid(loops, |b, l| {
            let row = sum(&self.first, &l[0].expr());
            let element = sum(&scaled(&l[1].expr(), elements.panel), &l[2].expr());
            let axes = [
                Axis::spatial("i", self.seq().clone()).bound_to(row.clone()),
                Axis::spatial("e", elements.extent.clone()).bound_to(element.clone()),
            ];
            b.nest(name, axes, |b, v| {
                if !self.rows_are_whole() {
                    b.predicate(row.lt(self.seq()));
                }
                if !remainder(&elements.extent, &panel).is_zero() {
                    b.predicate(element.lt(&elements.extent));
                }
                let (query, element) = (v[0].expr(), v[1].expr());
                let (in_panel, column) = (quotient(&element, &panel), remainder(&element, &panel));
                let place = [&query - &self.first, in_panel, column];
                body(b, [&query, &element], &place);
            });
        });
    }

    /// The keys before that of the first query's position; nothing if every query sees all.
    pub(super) fn before(&self) -> Option<Expr> {
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
            let query = match self.blocks.owner {
                Owner::Thread => [&at[0], step],
                Owner::Workgroup => [step, &at[0]],
            };
            load(&state.queries, query) * load(&keys, [&panel, step, &column])
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
            let raised = load(&raised, at);
            let none = raised.equals(te::lowest(F32));
            b.store(&shift, at, Expr::select(none, float(0.0), raised));
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
            load(&weights, &weight) * load(&values, [&panel, &of_tile.number(key), &column])
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

/// `a - b`
fn difference(a: &Expr, b: &Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(a), Some(b)) => Expr::i64(a - b),
        (_, Some(b)) => shifted(a, b.saturating_neg()),
        _ => a - b,
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

fn exp(x: Expr) -> Expr {
    Expr::call(Intrin::Exp, vec![x])
}

pub(super) fn float(value: f64) -> Expr {
    Expr::float(value, F32)
}
