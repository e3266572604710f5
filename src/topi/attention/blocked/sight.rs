//! Which tiles a block goes through, by the positions of its queries and its part of the keys.

use super::few::least_tiles;
use super::writer::{Output, Writer};
use crate::ir::{Expr, Range};
use crate::topi::attention::Visible;
use crate::topi::extent::{product, quotient, shifted, sum};

impl Writer<'_> {
    /// The keys before that of the first query's position; nothing if every query sees all.
    pub(super) fn before(&self) -> Option<Expr> {
        match self.of.visible {
            Visible::All => None,
            Visible::TopLeft => Some(Expr::i64(0)),
            Visible::BottomRight => Some(difference(self.keys(), self.seq())),
        }
    }

    /// The tiles that the block goes through: in them some query sees keys.
    pub(super) fn seen_tiles(&self, all: &Expr) -> Range {
        let seen = self.tiles_in_sight(all);
        let Output::Part(part, _) = self.output else {
            return seen;
        };
        let parts = self.blocks.parts;
        let of_part = quotient(&shifted(all, parts - 1), &Expr::i64(parts));
        let least = least_tiles(self.blocks.keys);
        let of_part = match of_part.as_int() {
            Some(n) => Expr::i64(n.max(least)),
            None => of_part.max(least),
        };
        let first = product(part, &of_part);
        let is_whole =
            self.of.visible == Visible::All && product(&of_part, &Expr::i64(parts)) == *all;
        if is_whole {
            return Range {
                min: first,
                extent: of_part,
            };
        }
        let seen_end = sum(&seen.min, &seen.extent);
        let end = sum(&first, &of_part).min(seen_end);
        let min = first.max(&seen.min).min(&end);
        Range {
            extent: &end - &min,
            min,
        }
    }

    /// The tiles in which some query of the block sees keys.
    fn tiles_in_sight(&self, all: &Expr) -> Range {
        let Some(before) = self.before() else {
            return Range::to(all.clone());
        };
        let last = shifted(&self.first, self.blocks.rows - 1);
        let [first, last] = [&self.first, &last].map(|row| sum(&self.query_of(row), &before));
        let end = shifted(&last, 1).min(self.keys()).max(0);
        let tile = Expr::i64(self.blocks.keys);
        let end = quotient(&shifted(&end, self.blocks.keys - 1), &tile);
        let Some(window) = self.of.window else {
            return Range::to(end);
        };
        let first = first - window.saturating_sub(1);
        let min = first.max(0).floor_div(tile).min(&end);
        Range {
            extent: &end - &min,
            min,
        }
    }

    /// Whether a query sees no key by its position; nothing if every query sees all.
    pub(super) fn sees_none(&self, query: &Expr) -> Option<Expr> {
        let own = sum(query, &self.before()?);
        let last = own.min(shifted(self.keys(), -1));
        Some(match self.of.window {
            Some(window) => last.lt((own - window.saturating_sub(1)).max(0)),
            None => last.lt(0),
        })
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
