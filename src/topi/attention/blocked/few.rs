//! The sizes of blocks of few queries: rows are those of all heads that share keys, and keys are cut into parts, so that all cores
//! read some.
//!
//! # References
//! T. Dao, D. Haziza, F. Massa, G. Sizov, "Flash-Decoding for long-context inference", 2023.

use std::iter;

use super::sizes::{Blocks, FEWEST_QUERIES, sharers};
use crate::te::Tensor;
use crate::tensor::DType;
use crate::topi::Workgroups;

/// Rows that are few on each device: two launches instead of those of two products and a softmax pay for them.
const FEW_ROWS: i64 = 8;
/// Operations for a row and an element of a key or value, with what is read from shared memory for it. More rows than memory hides are
/// faster as products (predicted for 16 rows of halves: 1.6 times on an M2).
const OPERATIONS_OF_ROW: i64 = 3;
/// Keys of a tile. Fewer are no longer worth the softmax of a tile.
const KEYS: [i64; 2] = [32, 16];
/// Bytes of shared memory of a workgroup, at most, as long as a tile is that small: a core of most GPUs holds two such workgroups, and
/// one computes while the other one loads.
const SHARED_BYTES: i64 = 24 << 10;
/// Workgroups for a core.
const PER_CORE: i64 = 4;
/// Keys of a part, at least.
const LEAST_KEYS: i64 = 64;
/// Parts, at most: each thread that merges them goes through all.
const MOST_PARTS: i64 = 64;

/// The blocks of so few queries; `None` where products of few rows are as good: where shared memory is no faster than other memory, and where
/// so few rows leave lanes of a subgroup idle, and where so many rows keep the device busy with arithmetic.
///
/// They are right for any number of queries: this one decides how many rows a block has.
pub(super) fn blocks(
    [query, key, value]: [&Tensor; 3],
    seq: i64,
    workgroups: Workgroups,
) -> Option<Blocks> {
    if !workgroups.fast_shared {
        return None;
    }
    let [batch, size] = [0, 3].map(|at| query.shape()[at].as_int());
    let (size, size_of_values) = (size?, value.shape()[3].as_int()?);
    let shared = &key.shape()[2];
    let group = group([query, key])?;
    let rows = seq.saturating_mul(group);
    let most = most_rows(query.dtype(), workgroups);
    let padded = iter::successors(Some(1), |rows| Some(2 * rows));
    let rows_of_block = padded.take_while(|n| *n <= most).find(|n| *n >= rows)?;
    if rows < 1 || lanes(rows_of_block, KEYS[0]) < workgroups.subgroup {
        return None;
    }
    let mut blocks = tiles(rows_of_block).map(|(rows, keys)| {
        // Where a tile of few keys leaves lanes idle, they help to copy it: the last row is repeated.
        let repeated = (workgroups.subgroup / lanes(rows, keys)).max(1);
        Blocks::in_shared(rows * repeated, keys, group, size_of_values)
    });
    let is_small = |blocks: &Blocks| {
        let bytes = blocks.shared_bytes([size, size_of_values], query.dtype());
        bytes <= SHARED_BYTES.min(workgroups.shared_bytes)
    };
    let blocks = blocks.find(is_small)?;
    let known = |extent: Option<i64>| extent.unwrap_or(1).max(1);
    let others = known(batch).saturating_mul(known(shared.as_int()));
    let others = others.saturating_mul((rows + blocks.rows - 1) / blocks.rows);
    let wanted = (PER_CORE * workgroups.cores + others - 1) / others;
    Some(Blocks {
        parts: parts(key.shape()[1].as_int(), blocks.keys, wanted),
        ..blocks
    })
}

/// The heads of queries that share a head of keys.
fn group([query, key]: [&Tensor; 2]) -> Option<i64> {
    let [heads, shared] = [query, key].map(|x| &x.shape()[2]);
    match (heads.as_int(), shared.as_int()) {
        (Some(heads), Some(shared)) => Some(heads / shared.max(1)),
        _ => (heads == shared).then_some(1),
    }
}

/// Numbers of queries up to which an open number of them has [`blocks`] of its own, from few to many.
pub(super) fn numbers_of_queries([query, key]: [&Tensor; 2], workgroups: Workgroups) -> Vec<i64> {
    let Some(group) = group([query, key]) else {
        return vec![];
    };
    // Rows of a block are a power of two.
    let most = 1 << most_rows(query.dtype(), workgroups).ilog2();
    let mut numbers = vec![1, (most / group.max(1)).min(FEWEST_QUERIES - 1)];
    numbers.dedup();
    numbers.retain(|n| *n >= 1);
    numbers
}

/// Rows that are computed in the time in which memory gives keys and values.
fn most_rows(dtype: DType, workgroups: Workgroups) -> i64 {
    let of_element = workgroups.operations_per_byte * dtype.bytes() as i64;
    FEW_ROWS.max(of_element / OPERATIONS_OF_ROW)
}

/// Threads that so many rows have by so many keys of a tile.
fn lanes(rows: i64, keys: i64) -> i64 {
    rows * sharers(rows, keys)
}

/// Rows of a block and keys of a tile, the best first: with fewer rows, keys are read more than once.
fn tiles(rows: i64) -> impl Iterator<Item = (i64, i64)> {
    let halves = iter::successors(Some(rows), |rows| (*rows > 1).then_some(rows / 2));
    halves.flat_map(|rows| KEYS.map(|keys| (rows, keys)))
}

/// So many parts of the keys or fewer, none of them without keys if their number is known.
fn parts(keys: Option<i64>, of_tile: i64, wanted: i64) -> i64 {
    let wanted = wanted.clamp(1, MOST_PARTS);
    let Some(keys) = keys else {
        return wanted;
    };
    let tiles = (keys + of_tile - 1) / of_tile;
    let of_part = least_tiles(of_tile).max((tiles + wanted - 1) / wanted);
    ((tiles + of_part - 1) / of_part).max(1)
}

/// Tiles of a part, at least.
pub(super) fn least_tiles(keys_of_tile: i64) -> i64 {
    (LEAST_KEYS + keys_of_tile - 1) / keys_of_tile
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_many_as_are_wanted_and_hold_keys() {
        assert_eq!(parts(Some(2048), 32, 16), 16);
        // Parts of 7 tiles of 32 keys: ten of them hold 64 tiles.
        assert_eq!(parts(Some(2048), 32, 10), 10);
        assert_eq!(parts(Some(2048), 32, 1000), 32);
        assert_eq!(parts(Some(100), 32, 16), 2);
        assert_eq!(parts(Some(64), 32, 16), 1);
        assert_eq!(parts(Some(0), 32, 16), 1);
        assert_eq!(parts(None, 32, 16), 16);
        assert_eq!(parts(None, 32, 1000), MOST_PARTS);
    }
}
