//! Rotary position embedding.
//!
//! # References
//! J. Su et al., "RoFormer: Enhanced transformer with rotary position embedding", 2021, section 3.2.

use super::extent::{product, quotient, remainder, shifted, sum};
use super::{accumulator, clipped};
use crate::ir::Expr;
use crate::te::{self, Tensor};

/// Which two elements of a head turn together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    /// Element `2 k` and element `2 k + 1`.
    Neighbours,
    /// Element `k` of the first half and element `k` of the second one.
    Halves,
}

/// Where the heads are.
#[derive(Clone, Debug)]
pub enum Heads {
    /// `[batch, heads, sequence, size]`
    Apart,
    /// `[batch, sequence, heads * size]`, with this size.
    Joined(Expr),
}

/// What a rotary embedding is, but for its tensors.
#[derive(Clone, Debug)]
pub struct Rotary {
    /// Which elements turn together.
    pub pairs: Pairs,
    /// How many elements of a head turn; those after them stay as they are.
    pub turned: Expr,
    /// Where the heads are.
    pub heads: Heads,
}

/// Pairs of elements turned by angles. The tables have the cosines and sines of the angles: `[positions, pairs]`, of which a row
/// counts that `positions`, `[batch, sequence]`, names; or without positions `[batch, sequence, pairs]`.
pub fn rotary_embedding(
    name: &str,
    x: &Tensor,
    [cos, sin]: [&Tensor; 2],
    positions: Option<&Tensor>,
    of: &Rotary,
) -> Tensor {
    let wide = accumulator(x.dtype());
    let two = Expr::i64(2);
    let half = quotient(&of.turned, &two);
    te::compute(name, x.shape().to_vec(), |i| {
        let (time, at) = match &of.heads {
            Heads::Apart => (&i[2], i[3].clone()),
            Heads::Joined(size) => (&i[1], remainder(&i[2], size)),
        };
        let (pair, is_first) = match of.pairs {
            Pairs::Neighbours => (quotient(&at, &two), remainder(&at, &two).equals(0)),
            Pairs::Halves => (remainder(&at, &half), at.lt(&half)),
        };
        let step = match of.pairs {
            Pairs::Neighbours => Expr::i64(1),
            Pairs::Halves => half.clone(),
        };
        let element = |by: Expr| {
            let mut index = i.to_vec();
            let last = index.len() - 1;
            let extent = &x.shape()[last];
            // The other element of the pair is there for elements that turn.
            index[last] = sum(&index[last], &by).max(0).min(shifted(extent, -1));
            x.at(index).cast(wide)
        };
        let angle = |table: &Tensor| {
            let value = match positions {
                Some(positions) => {
                    let row = clipped(&positions.at([&i[0], time]), &table.shape()[0]);
                    table.at([&row, &pair])
                }
                None => table.at([&i[0], time, &pair]),
            };
            value.cast(wide)
        };
        let other = element(Expr::select(
            is_first.clone(),
            step.clone(),
            product(&step, &Expr::i64(-1)),
        ));
        let sine = Expr::select(is_first, angle(sin) * Expr::float(-1.0, wide), angle(sin));
        let own = x.at(i).cast(wide);
        let turn = || (own * angle(cos) + other * sine).cast(x.dtype());
        match of.turned == x.shape()[x.ndim() - 1] && matches!(of.heads, Heads::Apart) {
            true => turn(),
            false => te::if_then_else(at.lt(&of.turned), turn(), x.at(i)),
        }
    })
}
