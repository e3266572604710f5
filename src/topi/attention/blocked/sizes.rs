//! The sizes of blocks.

use super::few;
use crate::ir::Expr;
use crate::te::Tensor;
use crate::tensor::DType;
use crate::topi::attention::{Attention, Visible};
use crate::topi::{Threads, Workgroups, accumulator};

/// Columns of a panel of a thread, in which keys and values lie: those of a vector of 512 bits.
const PANEL: i64 = 16;
/// The longest window. Distances in a tile of a thread are compared as `float32`.
const LONGEST_WINDOW: i64 = 1 << 20;
/// Queries of a block of a thread, at most: each key that is turned serves as many.
const MOST_ROWS: i64 = 64;
/// Keys of a tile of a thread, at most.
const MOST_KEYS: i64 = 128;
/// The same where a tile may compute with many keys that none of its queries sees: of open lengths, which may be short, and with a
/// causal mask.
const MOST_KEYS_OF_PART: i64 = 64;
/// Elements of the queries of a block of a thread, and of the keys of a tile, at most: 32 KiB.
const MOST_ELEMENTS: i64 = 8 << 10;
/// Rows that tiles of registers have.
const ROWS_OF_REGISTERS: i64 = 8;
/// Blocks that keep the threads of a CPU busy.
const BUSY: i64 = 16;
/// Fewest queries of a block. Fewer read keys and values once, which takes most of the time.
pub(super) const FEWEST_QUERIES: i64 = 16;

/// Queries of a block and keys of a tile of a workgroup, the best first. A thread that has four rows and four columns reads
/// eight numbers of shared memory for 16 multiplications.
const OF_WORKGROUP: [[i64; 2]; 4] = [[64, 32], [32, 32], [32, 16], [16, 16]];
/// Rows of a thread, at least.
const LEAST_ROWS: i64 = 2;
/// Columns of a vector, in which threads read and add.
const VECTOR: i64 = 4;
/// Elements of a head of a workgroup, at most: threads hold the sums in registers.
const WIDEST: i64 = 256;
/// Elements that rows in shared memory are further apart than they are long.
const GAP: i64 = 4;
/// Rows of weights in shared memory are so many elements apart, or a multiple of that, and a gap.
const PITCH: i64 = 16;

/// Who computes a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owner {
    /// A thread of a CPU.
    Thread,
    /// The threads of a workgroup of a GPU.
    Workgroup,
}

/// How the steps of a product of queries and keys lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Steps {
    /// In a row each, of the columns: a thread reads vectors of columns.
    Apart,
    /// Beside each other: a thread, which has one column, reads vectors of steps.
    Together,
}

/// The sizes of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Blocks {
    /// Rows of a block: queries, of each head of a group.
    pub(super) rows: i64,
    /// Heads of queries of a group, which share keys: those of a row follow each other.
    pub(super) group: i64,
    /// Parts of the keys, each for blocks of its own.
    pub(super) parts: i64,
    /// Keys of a tile.
    pub(super) keys: i64,
    pub(super) steps: Steps,
    /// Columns of a panel of keys, and of one of elements of values.
    pub(super) panel_of_keys: i64,
    pub(super) panel_of_values: i64,
    pub(super) owner: Owner,
}

impl Blocks {
    pub(super) fn of(qkv: [&Tensor; 3], of: &Attention, threads: Threads) -> Option<Self> {
        let is_long = of.window.is_some_and(|window| window > LONGEST_WINDOW);
        if is_long || accumulator(qkv[0].dtype()) != DType::F32 {
            return None;
        }
        match threads {
            Threads::Few => Self::of_thread(qkv, of.visible),
            Threads::Many(workgroups) => Self::of_workgroup(qkv, workgroups),
        }
    }

    fn of_thread([query, key, value]: [&Tensor; 3], visible: Visible) -> Option<Self> {
        let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| &query.shape()[at]);
        let keys = &key.shape()[1];
        let widest = size.as_int()?.max(value.shape()[3].as_int()?);
        if !(1..=MOST_ELEMENTS / 32).contains(&widest) {
            return None;
        }
        if are_few(seq) {
            return None;
        }
        let most = MOST_ELEMENTS / widest;
        let others = batch.as_int().zip(heads.as_int());
        let others = others.map_or(1, |(batch, heads)| batch.saturating_mul(heads).max(1));
        let mut rows = even(seq, most.min(MOST_ROWS), ROWS_OF_REGISTERS);
        while rows > FEWEST_QUERIES
            && let Some(seq) = seq.as_int()
            && (seq + rows - 1) / rows * others < BUSY
        {
            rows = even(&Expr::i64(seq), rows / 2, ROWS_OF_REGISTERS);
        }
        let most_keys = match (keys.as_int(), visible) {
            (Some(_), Visible::All) => MOST_KEYS,
            _ => MOST_KEYS_OF_PART,
        };
        let keys = even(keys, most.min(most_keys), PANEL);
        Some(Self {
            rows,
            group: 1,
            parts: 1,
            keys,
            steps: Steps::Apart,
            panel_of_keys: PANEL,
            panel_of_values: PANEL,
            owner: Owner::Thread,
        })
    }

    fn of_workgroup([query, key, value]: [&Tensor; 3], workgroups: Workgroups) -> Option<Self> {
        let [batch, seq, heads, size] = [0, 1, 2, 3].map(|at| query.shape()[at].as_int());
        let (size, size_of_values) = (size?, value.shape()[3].as_int()?);
        let is_width = |n: i64| (1..=WIDEST).contains(&n) && n % VECTOR == 0;
        if !is_width(size) || !is_width(size_of_values) {
            return None;
        }
        if let Some(seq) = seq.filter(|_| are_few(&query.shape()[1])) {
            return few::blocks([query, key, value], seq, workgroups);
        }
        let blocks =
            OF_WORKGROUP.map(|[rows, keys]| Self::in_shared(rows, keys, 1, size_of_values));
        let fits = |blocks: &&Self| {
            let threads = blocks.rows / LEAST_ROWS * sharers(blocks.rows, blocks.keys);
            let bytes = blocks.shared_bytes([size, size_of_values], query.dtype());
            // Where there are no shuffles, maxima and sums go through shared memory, too.
            let bytes = bytes + 2 * 4 * threads;
            threads <= workgroups.threads && bytes <= workgroups.shared_bytes
        };
        // Smaller ones, where there would be too few.
        let is_enough = |blocks: &&Self| {
            let groups = [
                batch,
                seq.map(|n| (n + blocks.rows - 1) / blocks.rows),
                heads,
            ];
            let groups: Option<i64> = groups.into_iter().product();
            groups.is_none_or(|groups| groups >= workgroups.cores)
        };
        let fitting = || blocks.iter().filter(fits);
        fitting().find(is_enough).or(fitting().next_back()).copied()
    }

    /// Blocks of a workgroup, of all keys.
    pub(super) fn in_shared(rows: i64, keys: i64, group: i64, size_of_values: i64) -> Self {
        let sharers = sharers(rows, keys);
        Self {
            rows,
            group,
            parts: 1,
            keys,
            steps: match sharers == keys {
                true => Steps::Together,
                false => Steps::Apart,
            },
            panel_of_keys: keys,
            panel_of_values: panel_of(size_of_values, sharers),
            owner: Owner::Workgroup,
        }
    }

    /// Bytes of queries, keys, values and weights in shared memory.
    pub(super) fn shared_bytes(&self, [size, size_of_values]: [i64; 2], dtype: DType) -> i64 {
        let of_tile = match self.steps {
            Steps::Apart => 4,
            Steps::Together => dtype.bytes() as i64,
        };
        let panels = (size_of_values + self.panel_of_values - 1) / self.panel_of_values;
        let operand = |columns: i64| match self.steps {
            Steps::Apart => size * (columns + GAP),
            Steps::Together => columns * (size + GAP),
        };
        let values = panels * self.keys * self.panel_of_values;
        let rows = (self.rows + PITCH - 1) / PITCH * PITCH;
        let weights = self.keys * (rows + GAP);
        4 * (operand(self.rows) + weights) + of_tile * (operand(self.keys) + values)
    }
}

/// Threads of a workgroup that share a row, as the rule `attention` has them.
pub(super) fn sharers(rows: i64, keys: i64) -> i64 {
    (256 / rows).clamp(8, 32).min(keys)
}

/// Elements of a panel of values of a workgroup: as many for each of the threads that share rows as make whole panels, up to a
/// vector.
fn panel_of(size: i64, sharers: i64) -> i64 {
    let lanes = [VECTOR, 2, 1].into_iter();
    let mut whole = lanes
        .map(|lanes| sharers * lanes)
        .filter(|panel| size % panel == 0);
    whole.next().unwrap_or(sharers * VECTOR)
}

/// Whether queries are few.
fn are_few(seq: &Expr) -> bool {
    seq.as_int().is_some_and(|seq| seq < FEWEST_QUERIES)
}

/// The size of parts that are at most so large, multiples of a step, and as even as can be.
fn even(extent: &Expr, most: i64, step: i64) -> i64 {
    let most = (most / step * step).max(step);
    let Some(extent) = extent.as_int() else {
        return most;
    };
    let parts = ((extent + most - 1) / most).max(1);
    let size = (extent + parts - 1) / parts;
    ((size + step - 1) / step * step).max(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Var;
    use crate::te;

    /// The blocks of so many queries, keys, heads, and elements of a head.
    fn blocks(
        seq: impl Into<Expr>,
        keys: impl Into<Expr>,
        heads: i64,
        size: i64,
    ) -> Option<(i64, i64)> {
        let tensor = |length: Expr| {
            let shape = [Expr::i64(1), length, Expr::i64(heads), Expr::i64(size)];
            te::placeholder("x", shape, DType::F32)
        };
        let (query, key) = (tensor(seq.into()), tensor(keys.into()));
        let of = Attention {
            scale: None,
            visible: Visible::All,
            window: None,
        };
        Blocks::of([&query, &key, &key], &of, Threads::Few).map(|blocks| (blocks.rows, blocks.keys))
    }

    #[test]
    fn parts_are_even_and_fit() {
        let sizes = |rows, keys| Some((rows, keys));
        assert_eq!(blocks(512i64, 512i64, 12, 64), sizes(64, 128));
        assert_eq!(blocks(197i64, 197i64, 12, 64), sizes(56, 112));
        assert_eq!(blocks(512i64, 512i64, 12, 256), sizes(32, 32));
        assert_eq!(blocks(40i64, 3i64, 40, 64), sizes(40, 16));
        // One head is shared out to more threads.
        assert_eq!(blocks(256i64, 256i64, 1, 64), sizes(16, 128));
    }

    #[test]
    fn open_lengths_are_those_of_one_sequence() {
        let [n, m] = ["n", "m"].map(|name| Var::new(name, DType::I64).expr());
        let open = Some((64, 64));
        assert_eq!(blocks(n.clone(), n.clone(), 2, 64), open);
        assert_eq!(blocks(64i64, n.clone(), 16, 64), open);
        // There may be one query of many keys, which has a program of its own.
        assert_eq!(blocks(n, m, 2, 64), open);
        assert_eq!(blocks(1i64, 2048i64, 12, 64), None);
    }
}
