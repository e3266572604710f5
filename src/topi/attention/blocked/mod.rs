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
//! Of few queries (`few.rs`) a workgroup has rows of all heads that share keys, and goes through the tiles of a part of the keys. It gives
//! `mixed`, `maximum` and `total`, and a second nest merges the parts (`merge.rs`):
//!
//! ```text
//! for batch, head of keys, block, part:                    # any order
//!     the same for the tiles of the part
//! for batch, head of keys, row, element:                   # any order
//!     weights = exp(maximum - max(maximum))                # of parts
//!     result  = sum(weights * mixed) / sum(weights * total)
//! ```
//!
//! The plain form, whose blocks a rule would compute for a block of queries each, needs no step of rescaling. It holds a block of
//! queries by all keys twice, though: an array of a thread has a constant size, which open lengths do not have, and 256 KiB of stack
//! hold 16 rows of 2048 keys, where keys would be turned and read again for every 16 queries. And it cannot leave out tiles.
//!
//! # References
//! T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022,
//! algorithm 1; T. Dao, D. Haziza, F. Massa, G. Sizov, "Flash-Decoding for long-context inference", 2023; M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.

mod columns;
mod few;
mod merge;
mod operands;
mod results;
mod sight;
mod sizes;
mod writer;

use self::merge::merge;
use self::sizes::{Blocks, FEWEST_QUERIES};
use self::writer::{Output, Writer};
use super::Attention;
use super::attention;
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::topi::Threads;
use crate::topi::extent::{quotient, scaled, shifted};

/// Whether [`attention_in_blocks`] gives a program.
pub fn has_blocks(qkv: [&Tensor; 3], of: &Attention, threads: Threads) -> bool {
    Blocks::of(qkv, of, threads).is_some()
}

/// Attention in blocks, as [`attention`] has it; `None` where that is as good: for few queries, but on
/// GPUs with fast shared memory, and for types and sizes whose blocks would not fit.
///
/// An open number of queries that is not the number of keys may be one, of a cache, or many. There the result is one program or another:
/// blocks of many queries, blocks of few where the device has such, and [`attention`] for few queries else. As many queries as keys are
/// those of a whole sequence: few of them are few keys, too.
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
    let many = in_blocks(name, qkv, bias, of, blocks)?;
    let [query, key, _] = qkv;
    let seq = &query.shape()[1];
    if seq.as_int().is_some() || *seq == key.shape()[1] {
        return Some(many);
    }
    let few = attention(&format!("{name}_few"), qkv, bias, of);
    let mut chosen = te::either(name, seq.lt(FEWEST_QUERIES), &few, &many);
    if let Threads::Many(workgroups) = threads {
        for most in few::numbers_of_queries([query, key], workgroups)
            .into_iter()
            .rev()
        {
            let name_of_few = format!("{name}_of_{most}");
            let few = few::blocks(qkv, most, workgroups)
                .and_then(|blocks| in_blocks(&name_of_few, qkv, bias, of, blocks));
            if let Some(few) = few {
                let are_few = match most {
                    1 => seq.equals(Expr::i64(1)),
                    _ => seq.le(most),
                };
                chosen = te::either(name, are_few, &few, &chosen);
            }
        }
    }
    Some(chosen)
}

/// Attention in these blocks.
fn in_blocks(
    name: &str,
    qkv: [&Tensor; 3],
    bias: Option<&Tensor>,
    of: &Attention,
    blocks: Blocks,
) -> Option<Tensor> {
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
    let rows = scaled(&seq, blocks.group);
    let count = quotient(&shifted(&rows, blocks.rows - 1), &Expr::i64(blocks.rows));
    let groups = quotient(&heads, &Expr::i64(blocks.group));
    let shape = [batch.clone(), seq, heads, value.shape()[3].clone()];
    let inputs: Vec<Tensor> = qkv.into_iter().chain(bias).cloned().collect();
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let [query, key, value, bias @ ..] = from else {
            unreachable!("attention has three operands, and a bias")
        };
        let part = at.get(3).map(Var::expr);
        let output = match (&part, to) {
            (Some(part), [mixed, maximum, total]) => Output::Part(part, [mixed, maximum, total]),
            _ => Output::Result(&to[0]),
        };
        let writer = Writer {
            blocks,
            of,
            batch: at[0].expr(),
            head: at[1].expr(),
            first: scaled(&at[2].expr(), blocks.rows),
            query,
            key,
            value,
            bias: bias.first(),
            output,
        };
        writer.write(b);
    };
    let mut axes = vec![batch.clone(), groups.clone(), count.clone()];
    if blocks.parts == 1 {
        let result = vec![(shape.to_vec(), query.dtype())];
        return Some(te::extern_each(name, axes, &inputs, result, write).remove(0));
    }
    let parts = Expr::i64(blocks.parts);
    axes.push(parts.clone());
    let of_rows = vec![batch, groups, scaled(&count, blocks.rows), parts];
    let of_elements = [&of_rows[..], &shape[3..]].concat();
    let results = [of_elements, of_rows.clone(), of_rows].map(|shape| (shape, DType::F32));
    let name_of_parts = format!("{name}_parts");
    let parts = te::extern_each(name_of_parts, axes, &inputs, results.to_vec(), write);
    Some(merge(name, &parts, blocks.group, shape, query.dtype()))
}
