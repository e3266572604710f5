//! Scaled dot-product attention.
//!
//! # References
//! A. Vaswani et al., "Attention is all you need", 2017, section 3.2.

use super::extent::{quotient, sum};
use super::{accumulator, element};
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::scalar::Intrin;

/// Which keys a query may see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visible {
    /// All.
    All,
    /// Those up to its own position.
    TopLeft,
    /// The same with queries that belong to the last keys.
    BottomRight,
}

/// What an attention is, but for its tensors.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// What products are multiplied with; the inverse root of the head's size where it is absent.
    pub scale: Option<f64>,
    /// Which keys a query may see.
    pub visible: Visible,
    /// How many of them, its own position and those before; all where it is absent.
    pub window: Option<i64>,
}

/// Attention of queries `[batch, seq, heads, size]` to keys `[batch, seq_kv, heads_kv, size]` and values
/// `[batch, seq_kv, heads_kv, size_v]`. Each head of keys serves as many heads of queries as there are for each. `bias` is added
/// to the scaled products, `[batch, heads, seq, seq_kv]` after broadcasting. Everything in between is float32 for narrower
/// floats.
///
/// A query that sees no key by its position gives 0; one of which all keys have a bias of minus infinity gives NaN, as softmax.
pub fn attention(
    name: &str,
    [query, key, value]: [&Tensor; 3],
    bias: Option<&Tensor>,
    of: &Attention,
) -> Tensor {
    let wide = accumulator(query.dtype());
    let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| query.shape()[at].clone());
    let (keys, heads_kv) = (key.shape()[1].clone(), key.shape()[2].clone());
    let shared = quotient(&heads, &heads_kv);
    let of_head = |head: &Expr| quotient(head, &shared);
    let d = te::reduce_axis("d", size.clone());
    let shape = [batch.clone(), heads.clone(), seq.clone(), keys.clone()];
    let products = te::compute(format!("{name}_products"), shape.clone(), |i| {
        let q = query.at([&i[0], &i[2], &i[1], &d.expr()]).cast(wide);
        let k = key
            .at([&i[0], &i[3], &of_head(&i[1]), &d.expr()])
            .cast(wide);
        te::sum(q * k, [&d])
    });
    let scale = match of.scale {
        Some(scale) => Expr::float(scale, wide),
        None => Expr::call(Intrin::Rsqrt, vec![size.cast(wide)]),
    };
    let scores = te::compute(format!("{name}_scores"), shape.clone(), |i| {
        let score = products.at(i) * &scale;
        let score = match bias {
            Some(bias) => score + element(bias, i).cast(wide),
            None => score,
        };
        match is_visible(of, &i[2], &i[3], &seq, &keys) {
            Some(visible) => Expr::select(visible, score, te::lowest(wide)),
            None => score,
        }
    });
    let rows = [batch.clone(), heads.clone(), seq.clone()];
    let j = te::reduce_axis("j", keys.clone());
    let max = te::compute(format!("{name}_max"), rows.clone(), |i| {
        te::max(scores.at([&i[0], &i[1], &i[2], &j.expr()]), [&j])
    });
    let exps = te::compute(format!("{name}_exp"), shape, |i| {
        let exp = Expr::call(Intrin::Exp, vec![scores.at(i) - max.at(&i[..3])]);
        match is_visible(of, &i[2], &i[3], &seq, &keys) {
            Some(visible) => Expr::select(visible, exp, Expr::float(0.0, wide)),
            None => exp,
        }
    });
    let j = te::reduce_axis("j", keys.clone());
    let sums = te::compute(format!("{name}_sum"), rows, |i| {
        te::sum(exps.at([&i[0], &i[1], &i[2], &j.expr()]), [&j])
    });
    let shape = [batch, seq, heads, value.shape()[3].clone()];
    let j = te::reduce_axis("j", keys);
    let mixed = te::compute(format!("{name}_mixed"), shape.clone(), |i| {
        let weight = exps.at([&i[0], &i[2], &i[1], &j.expr()]);
        let v = value.at([&i[0], &j.expr(), &of_head(&i[2]), &i[3]]);
        te::sum(weight * v.cast(wide), [&j])
    });
    te::compute(name, shape, |i| {
        let sum = sums.at([&i[0], &i[2], &i[1]]);
        let mean = mixed.at(i) / &sum;
        let seen = match of.visible {
            Visible::All => mean,
            Visible::TopLeft | Visible::BottomRight => {
                let zero = Expr::float(0.0, wide);
                Expr::select(sum.equals(&zero), zero, mean)
            }
        };
        seen.cast(query.dtype())
    })
}

/// Whether the query may see the key; nothing if it sees all.
fn is_visible(of: &Attention, query: &Expr, key: &Expr, seq: &Expr, keys: &Expr) -> Option<Expr> {
    let own = match of.visible {
        Visible::All => return None,
        Visible::TopLeft => query.clone(),
        Visible::BottomRight => {
            let offset = match (keys.as_int(), seq.as_int()) {
                (Some(keys), Some(seq)) => Expr::i64(keys - seq),
                _ => keys - seq,
            };
            sum(query, &offset)
        }
    };
    let before = key.le(&own);
    Some(match of.window {
        Some(window) => before.and((key + window).ge(own + 1)),
        None => before,
    })
}
