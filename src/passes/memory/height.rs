//! Tensors side by side in one piece of memory, also where their sizes are known only when the program runs.
//!
//! A tensor starts at a [`Height`]: the largest of some sums of the sizes of tensors that lie below each other. One sum is at most
//! another, whatever the symbols are, if it is so term by term. Where that says nothing of two tensors, one lies above the other.
//! Terms with symbols are rounded when the program runs. A tensor that ends with one may reach over the rounded end by less than
//! `align` bytes, so what lies above starts a line higher; how many lines that makes for a tensor is its level.

use super::size::Size;
use crate::arith::Analyzer;
use crate::ir::Expr;

/// The kinds of sizes: products of the same symbols. The first one is the constant.
pub(super) struct Units(Vec<Size>);

/// Sizes of tensors below each other. By unit: the factor of its symbols.
type Sum = Vec<i64>;

/// The largest of sums of which none is below another.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Height(Vec<Sum>);

impl Units {
    /// Those of the tensors that have these sizes.
    pub(super) fn of<'s>(sizes: impl Iterator<Item = &'s Size>) -> Self {
        let mut units = vec![Size {
            factor: 1,
            symbols: vec![],
        }];
        for size in sizes {
            if units.iter().all(|unit| unit.symbols != size.symbols) {
                units.push(size.clone());
            }
        }
        Self(units)
    }

    fn position(&self, size: &Size) -> usize {
        let mut units = self.0.iter();
        let found = units.position(|unit| unit.symbols == size.symbols);
        found.expect("the units are those of all sizes")
    }

    /// The start of the memory.
    pub(super) fn ground(&self) -> Height {
        Height(vec![vec![0; self.0.len()]])
    }

    /// The end of a tensor of this size that starts there.
    pub(super) fn end(&self, from: &Height, size: &Size) -> Height {
        let unit = self.position(size);
        let mut end = from.clone();
        for sum in &mut end.0 {
            sum[unit] = sum[unit].saturating_add(size.factor);
        }
        end
    }

    /// Bytes, if all extents with symbols were the same middling number: what decides where nothing else does.
    pub(super) fn typical(&self, height: &Height) -> i128 {
        let sums = height.0.iter().map(|sum| {
            let terms = sum.iter().zip(&self.0);
            let terms = terms.map(|(factor, unit)| unit.with(*factor).typical());
            terms.fold(0, i128::saturating_add)
        });
        sums.max().unwrap_or(0)
    }

    /// The bytes as an expression, rounded up where symbols count, and so many lines more. A size may be negative where its branch
    /// is not taken: it counts as 0.
    pub(super) fn expr(&self, height: &Height, level: i64, align: i64) -> Expr {
        let rounded = |bytes: Expr| {
            (bytes + Expr::i64(align - 1)).floor_div(Expr::i64(align)) * Expr::i64(align)
        };
        let sum = |sum: &Sum| {
            let fixed = level.saturating_mul(align).saturating_add(sum[0]);
            let fixed = Expr::i64(fixed);
            let open = sum.iter().zip(&self.0).skip(1);
            let open = open.filter(|(factor, _)| **factor != 0);
            let open = open.map(|(factor, unit)| rounded(unit.with(*factor).expr()));
            let open = open.map(|bytes| bytes.max(Expr::i64(0)));
            let all = open.reduce(|a, b| a + b);
            all.map_or(fixed.clone(), |all| all + fixed)
        };
        let highest = height.0.iter().map(sum).reduce(|a, b| a.max(b));
        Analyzer::new().simplify(&highest.unwrap_or_else(|| Expr::i64(0)))
    }
}

fn at_most(sum: &Sum, other: &Sum) -> bool {
    sum.iter().zip(other).all(|(a, b)| a <= b)
}

impl Height {
    /// Whether it is below the other or the same, whatever the symbols are.
    pub(super) fn at_most(&self, other: &Self) -> bool {
        let below = |sum: &Sum| other.0.iter().any(|other| at_most(sum, other));
        self.0.iter().all(below)
    }

    /// The higher one of both.
    pub(super) fn max(mut self, other: &Self) -> Self {
        for sum in &other.0 {
            if !self.0.iter().any(|known| at_most(sum, known)) {
                self.0.retain(|known| !at_most(known, sum));
                self.0.push(sum.clone());
            }
        }
        self
    }

    /// The next multiple of `align`, as far as constants are concerned.
    pub(super) fn aligned(mut self, align: i64) -> Self {
        for sum in &mut self.0 {
            sum[0] = sum[0].saturating_add(align - 1) / align * align;
        }
        self
    }
}
