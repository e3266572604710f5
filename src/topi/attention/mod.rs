//! Scaled dot-product attention.
//!
//! # References
//! A. Vaswani et al., "Attention is all you need", 2017, section 3.2.

mod blocked;

pub use blocked::{attention_in_blocks, has_blocks};

use super::extent::{clamped, quotient, shifted, sum};
use super::{accumulator, element};
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;
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

impl Attention {
    /// Whether the query at a position sees the key at another; nothing if it sees all. `before` keys come before the one at
    /// the position of the first query.
    fn is_visible(&self, query: &Expr, key: &Expr, before: &Expr) -> Option<Expr> {
        if self.visible == Visible::All {
            return None;
        }
        let own = sum(query, before);
        let earlier = key.le(&own);
        Some(match self.window {
            Some(window) => earlier.and((key + window).ge(own + 1)),
            None => earlier,
        })
    }
}

/// Attention of queries `[batch, seq, heads, size]` to keys `[batch, seq_kv, heads_kv, size]` and values
/// `[batch, seq_kv, heads_kv, size_v]`. Each head of keys serves as many heads of queries as there are for each. `bias` is added
/// to the scaled products, `[batch, heads, seq, seq_kv]` after broadcasting. Everything in between is float32 for narrower
/// floats.
///
/// A query that sees no key by its position gives 0; one of which all keys have a bias of minus infinity gives NaN, as softmax.
pub fn attention(name: &str, qkv: [&Tensor; 3], bias: Option<&Tensor>, of: &Attention) -> Tensor {
    let [seq, keys] = [qkv[0], qkv[1]].map(|x| x.shape()[1].clone());
    let visible = |query: &Expr, key: &Expr| {
        let before = match of.visible {
            Visible::All => return None,
            Visible::TopLeft => Expr::i64(0),
            Visible::BottomRight => match (keys.as_int(), seq.as_int()) {
                (Some(keys), Some(seq)) => Expr::i64(keys - seq),
                _ => &keys - &seq,
            },
        };
        of.is_visible(query, key, &before)
    };
    attend(name, qkv, bias, of.scale, &visible)
}

/// Attention within sequences that follow each other along the second dimension of queries, keys and values. Sequence `i` has
/// the positions `starts[i] .. starts[i + 1]`. A position that no sequence has gives 0.
///
/// Every query is compared with every key, also with those of other sequences.
pub fn attention_in_sequences(
    name: &str,
    qkv: [&Tensor; 3],
    [query_starts, key_starts]: [&Tensor; 2],
    of: &Attention,
) -> Tensor {
    let queries = Sequences::new("queries", query_starts, &qkv[0].shape()[1]);
    let keys = Sequences::new("keys", key_starts, &qkv[1].shape()[1]);
    let visible = |query: &Expr, key: &Expr| {
        let (sequence, other) = (queries.of(query), keys.of(key));
        let exists = sequence.ge(0).and(sequence.lt(queries.count()));
        let together = exists.and(sequence.equals(&other));
        let before = match of.visible {
            Visible::All => return Some(together),
            Visible::TopLeft => Expr::i64(0),
            Visible::BottomRight => keys.length(&sequence) - queries.length(&sequence),
        };
        let query = query - queries.start(&sequence);
        let key = key - keys.start(&sequence);
        let seen = of.is_visible(&query, &key, &before);
        Some(seen.map_or(together.clone(), |seen| together.and(seen)))
    };
    attend(name, qkv, None, of.scale, &visible)
}

/// Sequences that follow each other.
struct Sequences {
    /// Where each one starts, and where the last one ends.
    starts: Tensor,
    /// For each position the number of sequences that start there or before.
    begun: Tensor,
}

impl Sequences {
    fn new(name: &str, starts: &Tensor, positions: &Expr) -> Self {
        let k = te::reduce_axis("k", starts.shape()[0].clone());
        let begun = te::compute(format!("{name}_begun"), [positions.clone()], |i| {
            let start = starts.at([k.expr()]).cast(DType::I64);
            te::sum(
                Expr::select(start.le(&i[0]), Expr::i32(1), Expr::i32(0)),
                [&k],
            )
        });
        Self {
            starts: starts.clone(),
            begun,
        }
    }

    fn count(&self) -> Expr {
        shifted(&self.starts.shape()[0], -1)
    }

    /// The sequence of a position: -1 before the first one, [`Self::count`] after the last one.
    fn of(&self, position: &Expr) -> Expr {
        self.begun.at([position]).cast(DType::I64) - 1
    }

    fn start(&self, sequence: &Expr) -> Expr {
        let at = clamped(sequence, &self.starts.shape()[0]);
        self.starts.at([at]).cast(DType::I64)
    }

    fn length(&self, sequence: &Expr) -> Expr {
        self.start(&shifted(sequence, 1)) - self.start(sequence)
    }
}

/// Whether a query sees a key, by their positions; nothing if every one sees all.
type Sees<'a> = dyn Fn(&Expr, &Expr) -> Option<Expr> + 'a;

fn attend(
    name: &str,
    [query, key, value]: [&Tensor; 3],
    bias: Option<&Tensor>,
    scale: Option<f64>,
    sees: &Sees<'_>,
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
    let scale = match scale {
        Some(scale) => Expr::float(scale, wide),
        None => Expr::call(Intrin::Rsqrt, vec![size.cast(wide)]),
    };
    let scores = te::compute(format!("{name}_scores"), shape.clone(), |i| {
        let score = products.at(i) * &scale;
        let score = match bias {
            Some(bias) => score + element(bias, i).cast(wide),
            None => score,
        };
        match sees(&i[2], &i[3]) {
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
        match sees(&i[2], &i[3]) {
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
    let sees_all = sees(&Expr::i64(0), &Expr::i64(0)).is_none();
    te::compute(name, shape, |i| {
        let sum = sums.at([&i[0], &i[2], &i[1]]);
        let mean = mixed.at(i) / &sum;
        let seen = match sees_all {
            true => mean,
            false => {
                let zero = Expr::float(0.0, wide);
                Expr::select(sum.equals(&zero), zero, mean)
            }
        };
        seen.cast(query.dtype())
    })
}
