//! Padding.

use super::extent::{clamped, remainder, shifted};
use crate::ir::Expr;
use crate::te::{self, Tensor};

/// What stands outside of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub enum Outside {
    /// This value.
    Value(Expr),
    /// The tensor mirrored at its first and last elements, which are not repeated.
    Reflect,
    /// The nearest element.
    Nearest,
    /// The tensor again.
    Wrap,
}

/// `x` with so many elements before and after each dimension; negative numbers take elements away.
pub fn pad(name: &str, x: &Tensor, padding: &[(i64, i64)], outside: &Outside) -> Tensor {
    let extent = |(extent, &(before, after)): (&Expr, &(i64, i64))| {
        shifted(extent, before.saturating_add(after))
    };
    let shape: Vec<Expr> = x.shape().iter().zip(padding).map(extent).collect();
    te::compute(name, shape, |i| {
        let mut index = vec![];
        let mut inside = vec![];
        for ((at, extent), &(before, after)) in i.iter().zip(x.shape()).zip(padding) {
            let place = shifted(at, before.saturating_neg());
            let added = before > 0 || after > 0;
            index.push(match outside {
                Outside::Value(_) => {
                    if before > 0 {
                        inside.push(at.ge(before));
                    }
                    if after > 0 {
                        inside.push(at.lt(shifted(extent, before)));
                    }
                    place
                }
                _ if !added => place,
                Outside::Wrap => remainder(&place, extent),
                Outside::Nearest => clamped(&place, extent),
                Outside::Reflect => clamped(&mirrored(&place, extent), extent),
            });
        }
        let element = x.at(index);
        match outside {
            Outside::Value(value) if !inside.is_empty() => {
                te::if_then_else(te::all(inside), element, value.clone())
            }
            _ => element,
        }
    })
}

/// A place on the way there and back again; a single element has no way to go.
fn mirrored(place: &Expr, extent: &Expr) -> Expr {
    let last = shifted(extent, -1);
    let period = match last.as_int() {
        Some(last) => Expr::i64(last.saturating_mul(2).max(1)),
        None => (last * 2).max(1),
    };
    let at = remainder(place, &period);
    at.min(period - &at)
}
