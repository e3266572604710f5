//! The columns of a tile: keys, or elements of values. They lie in panels, between whose columns the steps of a product lie.

use super::sizes::Owner;
use crate::ir::{Axis, Expr, IterKind};
use crate::te;
use crate::topi::extent::{quotient, remainder, scaled, shifted, sum};

/// Columns of a tile.
#[derive(Clone)]
pub(super) struct Columns {
    /// How many there are.
    pub(super) extent: Expr,
    /// Those of a panel.
    pub(super) panel: i64,
    pub(super) owner: Owner,
}

impl Columns {
    /// How many panels hold them, the last one perhaps in part.
    pub(super) fn panels(&self) -> Expr {
        let up = shifted(&self.extent, self.panel - 1);
        quotient(&up, &Expr::i64(self.panel))
    }

    /// How many there are in whole panels.
    pub(super) fn whole(&self) -> Expr {
        scaled(&self.panels(), self.panel)
    }

    /// Axes over them, up to the end of the last panel. A thread of a GPU has some columns of each panel, so there the panel is an axis.
    pub(super) fn axes(&self, name: &str, kind: IterKind) -> Vec<Axis> {
        let axis = |name: &str, extent: Expr| Axis::new(kind, name, extent);
        match self.owner {
            Owner::Thread => vec![axis(name, self.whole())],
            Owner::Workgroup => vec![
                axis(&format!("{name}_p"), self.panels()),
                axis(&format!("{name}_c"), Expr::i64(self.panel)),
            ],
        }
    }

    /// The dimensions of a buffer that has an element for each.
    pub(super) fn shape(&self) -> Vec<Expr> {
        match self.owner {
            Owner::Thread => vec![self.whole()],
            Owner::Workgroup => vec![self.panels(), Expr::i64(self.panel)],
        }
    }

    /// A value, and zero behind the last column.
    pub(super) fn or_zero(&self, number: &Expr, value: Expr) -> Expr {
        match remainder(&self.extent, &Expr::i64(self.panel)).is_zero() {
            true => value,
            false => {
                let zero = Expr::float(0.0, value.dtype());
                te::if_then_else(number.lt(&self.extent), value, zero)
            }
        }
    }

    /// How many axes and dimensions they are.
    pub(super) fn ndim(&self) -> usize {
        match self.owner {
            Owner::Thread => 1,
            Owner::Workgroup => 2,
        }
    }

    /// The panel of a column, and its place there.
    pub(super) fn digits(&self, at: &[Expr]) -> (Expr, Expr) {
        match at {
            [column] => (column.floor_div(self.panel), column.floor_mod(self.panel)),
            _ => (at[0].clone(), at[1].clone()),
        }
    }

    /// The number of a column.
    pub(super) fn number(&self, at: &[Expr]) -> Expr {
        match at {
            [column] => column.clone(),
            _ => sum(&scaled(&at[0], self.panel), &at[1]),
        }
    }
}
