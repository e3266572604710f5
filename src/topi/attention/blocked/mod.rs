//! Attention in blocks of queries by tiles of keys: one program that holds the scores of one block and one tile, however long the
//! sequences are. A block is for a thread of a CPU, or for a workgroup of a GPU. Each block goes through the tiles that its queries see. It
//! keeps the maximum of each row, the sum of its weights and the values mixed so far; where a tile raises the maximum, these are scaled
//! to the new one.
//!
//! ```text
//! for batch, head, block:                                  # any order
//!     queries = query[block] * scale; maximum = -inf; total = 0; mixed = 0
//!     for tile in those that the block sees:
//!         keys, values = key[tile], value[tile]            # in panels of columns
//!         scores  = queries @ keys + bias                  # -inf for keys that a query does not see
//!         raised  = max(maximum, max(scores))
//!         weights = exp(scores - raised)
//!         shrink  = exp(maximum - raised)
//!         total   = total * shrink + sum(weights)
//!         mixed   = mixed * shrink + weights @ values
//!         maximum = raised
//!     result[block] = mixed / total
//! ```
//!
//! The plain form, whose blocks a rule would compute for a block of queries each, needs no step of rescaling. It holds a block of
//! queries by all keys twice, though: an array of a thread has a constant size, which open lengths do not have, and 256 KiB of stack
//! hold 16 rows of 2048 keys, where keys would be turned and read again for every 16 queries. And it cannot leave out tiles.
//!
//! # References
//! T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022,
//! algorithm 1; M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.

mod columns;
mod operands;
mod sizes;
mod writer;

use self::sizes::Blocks;
use self::writer::Writer;
use super::Attention;
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::topi::Threads;
use crate::topi::extent::{quotient, scaled, shifted};

/// Whether [`attention_in_blocks`] gives a program.
pub fn has_blocks(qkv: [&Tensor; 3], of: &Attention, threads: Threads) -> bool {
    Blocks::of(qkv, of, threads).is_some()
}

/// Attention in blocks, as [`attention`](super::attention) has it; `None` where that is as good: for few queries, and for types and
/// sizes whose blocks would not fit.
///
/// The scale is a factor of the queries. Keys that a query does not see count for nothing, be they infinite. Infinite values of such keys
/// make NaN where a mask hides them within a tile.
pub fn attention_in_blocks(
    name: &str,
    qkv: [&Tensor; 3],
    bias: Option<&Tensor>,
    of: &Attention,
    threads: Threads,
) -> Option<Tensor> {
    let blocks = Blocks::of(qkv, of, threads)?;
    let [query, _, value] = qkv;
    let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| query.shape()[at].clone());
    let scale = match (of.scale, size.as_int()) {
        (Some(scale), _) => scale,
        (None, size) => 1.0 / (size? as f64).sqrt(),
    };
    let of = Attention {
        scale: Some(scale),
        ..*of
    };
    let count = quotient(&shifted(&seq, blocks.rows - 1), &Expr::i64(blocks.rows));
    let shape = vec![batch.clone(), seq, heads.clone(), value.shape()[3].clone()];
    let inputs: Vec<Tensor> = qkv.into_iter().chain(bias).cloned().collect();
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let [query, key, value, bias @ ..] = from else {
            unreachable!("attention has three operands, and a bias")
        };
        let first = scaled(&at[2].expr(), blocks.rows);
        let writer = Writer {
            blocks,
            of,
            batch: at[0].expr(),
            head: at[1].expr(),
            first,
            query,
            key,
            value,
            bias: bias.first(),
            result: &to[0],
        };
        writer.write(b);
    };
    let result = vec![(shape, query.dtype())];
    Some(te::extern_each(name, [batch, heads, count], &inputs, result, write).remove(0))
}
