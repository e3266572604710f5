//! What a block stores at its end: means of values, or what its part of the keys gives.

use super::sizes::Owner;
use super::writer::{State, Writer, float, load};
use crate::ir::{Axis, Buffer, Expr, PrimFuncBuilder};
use crate::topi::extent::{quotient, remainder, scaled, sum};

impl Writer<'_> {
    pub(super) fn result(&self, b: &mut PrimFuncBuilder, state: &State, result: &Buffer) {
        let store = |b: &mut PrimFuncBuilder, at: [&Expr; 2], from: &[Expr]| {
            let query = self.query_of(at[0]);
            let mean = load(&state.mixed, from) / load(&state.total, &from[..1]);
            let mean = self.seen_or(&query, 0.0, mean).cast(result.dtype());
            let head = self.head_of(at[0]);
            let place = [&self.batch, &query, &head, at[1]];
            b.store(result, place.map(Clone::clone), mean);
        };
        match self.blocks.owner {
            Owner::Thread => {
                let axis = Axis::spatial("e", self.size_of_values().clone());
                self.rows(b, "result", [axis], |b, at| store(b, [&at[0], &at[1]], at));
            }
            Owner::Workgroup => self.known_elements(b, "result", store),
        }
    }

    /// Stores what the part gives for each row: of one that sees no key, nothing with the weight 1.
    pub(super) fn part(
        &self,
        b: &mut PrimFuncBuilder,
        state: &State,
        part: &Expr,
        [mixed, maximum, total]: [&Buffer; 3],
    ) {
        self.known_elements(b, "mixed_part", |b, at, from| {
            let value = self.seen_or(&self.query_of(at[0]), 0.0, load(&state.mixed, from));
            let place = [&self.batch, &self.head, at[0], part, at[1]];
            b.store(mixed, place.map(Clone::clone), value);
        });
        for (of, to, none) in [(&state.maximum, maximum, 0.0), (&state.total, total, 1.0)] {
            let name = format!("{}_part", of.name());
            self.rows(b, &name, [], |b, at| {
                let number = self.number_of(&at[0]);
                let value = self.seen_or(&self.query_of(&number), none, load(of, at));
                let place = [&self.batch, &self.head, &number, part];
                b.store(to, place.map(Clone::clone), value);
            });
        }
    }

    /// A value, or a number for a query that sees no key by its position.
    fn seen_or(&self, query: &Expr, otherwise: f64, value: Expr) -> Expr {
        match self.sees_none(query) {
            Some(none) => Expr::select(none, float(otherwise), value),
            None => value,
        }
    }

    /// A nest over the rows and elements of a workgroup, as far as there are such. `body` gets the number of the row and the element, and
    /// the place in the buffers of the block.
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
                Axis::spatial("i", self.all_rows()).bound_to(row.clone()),
                Axis::spatial("e", elements.extent.clone()).bound_to(element.clone()),
            ];
            b.nest(name, axes, |b, v| {
                if !self.rows_are_whole() {
                    b.predicate(row.lt(self.all_rows()));
                }
                if !remainder(&elements.extent, &panel).is_zero() {
                    b.predicate(element.lt(&elements.extent));
                }
                let (row, element) = (v[0].expr(), v[1].expr());
                let (in_panel, column) = (quotient(&element, &panel), remainder(&element, &panel));
                let place = [&row - &self.first, in_panel, column];
                body(b, [&row, &element], &place);
            });
        });
    }
}
