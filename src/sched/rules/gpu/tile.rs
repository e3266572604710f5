//! Sizes of matmul tiles: those of the device, cut to the extents that are known.

use super::compile_time::{Epilogue, Written};
use super::cost::time;
use super::shared_copy::MOST_COPIES;
use super::split_k;
use super::traits::GpuTraits;
use crate::kernel::GpuTarget;
use crate::sched::rules::Ways;

/// How the loops of a matmul are split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tile {
    /// Threads along `m`.
    pub(super) ty: i64,
    /// Threads along `n`.
    pub(super) tx: i64,
    /// Rows of a thread.
    pub(super) tm: i64,
    /// Columns of a thread.
    pub(super) tn: i64,
    /// Steps of `k` between loads of the operands.
    pub(super) bk: i64,
    /// Whether operands go through shared memory.
    pub(super) shared: bool,
    /// Pieces that the columns of a workgroup are cut into: a thread has a vector of each. 1: those of a thread lie side by side.
    pub(super) pieces: i64,
    /// Whether the columns of a thread lie apart, beside those of other threads ([`striped`](super::striped)).
    pub(super) striped: bool,
}

/// Elements of a vector: those of one 16-byte load of `f32`.
const VECTOR: i64 = 4;

/// Operations on integers from which on the copy of an element is computed, as that of a pixel of an image is; and steps of `k` between barriers of
/// such products, at most. Measured on an H200, 3 × 3 convolution of eight images of 64 × 56 × 56: 8 steps 84 us, 16 steps 87 us.
const COMPUTED: i64 = 16;
const STEPS_OF_COMPUTED: i64 = 8;

/// What is known of a matmul.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) m: Option<i64>,
    pub(super) n: Option<i64>,
    pub(super) k: Option<i64>,
    /// Matmuls of this form.
    pub(super) batch: Option<i64>,
    /// `[batch, m, n, k]` for a call of usual size, where they are not known.
    pub(super) estimate: [i64; 4],
    /// Operations on integers that copy an element of `A` and of `B` to shared memory.
    pub(super) copy: [i64; 2],
    /// Whether the columns are one loop, which can be cut into pieces.
    pub(super) n_is_one_loop: bool,
    /// Whether neighbours in memory of the result lie along its columns, but are no whole vectors.
    pub(super) stores_elements: bool,
    /// Whether columns of slices of the sum can be cut into pieces, too: those of a convolution are pixels, and what the pieces hold of
    /// the images is not proved.
    pub(super) cuts_slices: bool,
    /// Whether the steps of the sum are one loop, which can be cut into slices.
    pub(super) k_is_one_loop: bool,
    /// Steps of the sum that are neighbours in a sector of memory, of the operand of which a sector holds the most; 0 where neighbours lie along
    /// rows and columns.
    pub(super) steps_of_sector: i64,
    /// Whether `B` consists of whole 16-byte vectors of `f32`.
    pub(super) b_in_vectors: bool,
    /// Whether neighbours in memory of `B` are neighbours along `k`.
    pub(super) b_along_k: bool,
    /// What is computed where the result is written back; only known where the time of the driver's compiler counts.
    pub(super) epilogue: Epilogue,
}

/// Most rows for which a tile has all.
const FEW_ROWS: i64 = 8;

/// What a way may take in terms of the best one by an estimate, so that it is counted in its kernels; and how many are, at most.
const NEAR: f64 = 1.04;
const MOST_WAYS: usize = 2;

/// Ways in the order of their times, and how many of them take little more than the best.
pub(super) fn in_order<W>(mut timed: Vec<(W, f64)>) -> (Vec<W>, Ways) {
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let most = timed.first().map_or(0.0, |(_, least)| least * NEAR);
    let near = timed.iter().take_while(|(_, time)| *time <= most);
    let count = Ways {
        promising: near.take(MOST_WAYS).count(),
        all: timed.len(),
        rivals: false,
    };
    (timed.into_iter().map(|(way, _)| way).collect(), count)
}

impl Tile {
    pub(super) const EXTRA_LARGE: Self = Self::in_shared([16, 16], 8, 2);
    pub(super) const WIDE: Self = Self::in_shared([8, 16], 8, 2);
    pub(super) const SQUARE: Self = Self::in_shared([8, 8], 8, 2);
    pub(super) const LARGE: Self = Self::in_shared([8, 16], 8, 1);
    pub(super) const MEDIUM: Self = Self::in_shared([8, 8], 4, 1);
    pub(super) const FLAT: Self = Self::in_shared([4, 16], 4, 1);
    pub(super) const SMALL: Self = Self::in_shared([8, 8], 2, 1);

    /// The tile with so many steps of `k` between barriers.
    pub(super) const fn in_steps(self, bk: i64) -> Self {
        Self { bk, ..self }
    }

    /// A tile of operands in shared memory. It gives a word to all threads that want it, so a thread has four columns of each
    /// piece: its neighbours have those beside them.
    const fn in_shared([ty, tx]: [i64; 2], tm: i64, pieces: i64) -> Self {
        Self {
            ty,
            tx,
            tm,
            tn: 4 * pieces,
            bk: 8,
            shared: true,
            pieces,
            striped: false,
        }
    }

    /// A tile of threads that are lanes of a vector of the CPU.
    pub(super) const fn of_lanes(tm: i64, tn: i64, bk: i64) -> Self {
        Self {
            ty: 1,
            tx: 8,
            tm,
            tn,
            bk,
            shared: false,
            pieces: 1,
            striped: false,
        }
    }

    /// The ways to make a product, the most promising first, at least one: tiles, and how many slices the sum is cut into, if into any.
    pub(super) fn ways(target: &GpuTarget, e: &Extents) -> (Vec<(Self, Option<i64>)>, Ways) {
        let traits = GpuTraits::of(target);
        if !traits.fast_shared {
            let tile = Self::in_registers(traits, e).adapted(target, e);
            return (vec![(tile, None)], Ways::ONE);
        }
        let Some(rows) = e.m.filter(|&m| m <= FEW_ROWS) else {
            let (ways, count) = in_order(Self::timed(target, e));
            return match ways.is_empty() {
                true => (vec![(Self::MEDIUM.adapted(target, e), None)], Ways::ONE),
                false => (ways, count),
            };
        };
        let tile = Self {
            ty: 1,
            tx: 64,
            tm: rows.max(1),
            tn: 1,
            bk: 16,
            shared: true,
            pieces: 1,
            striped: false,
        };
        let groups =
            e.n.zip(e.batch)
                .map(|(n, batch)| tile.blocks(rows, n) * batch);
        let steps = e.k.filter(|_| e.k_is_one_loop);
        let slices = split_k::slices(steps, groups, tile.bk, target);
        (vec![(tile.adapted(target, e), slices)], Ways::ONE)
    }

    /// The tile for extents that are known, on a device that has room for it.
    fn adapted(mut self, target: &GpuTarget, e: &Extents) -> Self {
        if let Some(k) = e.k.filter(|_| self.shared) {
            // Short sums: no step is padding alone.
            while self.bk > VECTOR && self.bk / 2 >= k {
                self.bk /= 2;
            }
        }
        if let Some(n) = e.n {
            let is_of_few_rows = self.ty == 1;
            // Few columns: the threads past the last one get rows instead.
            while self.shared && !is_of_few_rows && self.tx > 4 && self.tx / 2 * self.tn >= n {
                self.tx /= 2;
                self.ty *= 2;
            }
            while self.tn > 1 && self.tx * self.tn > n.max(self.tx) * 2 {
                self.tn /= 2;
            }
        }
        let is_of_vectors = self.tn == VECTOR * self.pieces;
        self.striped = self.shared && is_of_vectors && e.n_is_one_loop && e.stores_elements;
        self.fit(target)
    }

    /// The largest tile of which there are enough for all cores and that compiles soon enough, of those without shared memory. A load of
    /// `B` costs eight times what one of `A` does, and serves as many multiplications as the tile has rows.
    fn in_registers(traits: &GpuTraits, e: &Extents) -> Self {
        let most_rows = e.m.map_or(8, |m| m.min(16));
        let most_columns = if e.b_in_vectors { 16 } else { 4 };
        // A vector of `B` is one load.
        let in_steps = |tile: Self| match e.b_along_k {
            true => tile.in_steps(VECTOR),
            false => tile,
        };
        let fits = |tile: &Self| {
            let small = tile.tm <= most_rows && tile.tn <= most_columns;
            let enough = e.m.zip(e.n).is_none_or(|(m, n)| tile.blocks(m, n) >= 16);
            let whole = |extent: Option<i64>, of: i64| extent.is_some_and(|n| n % of == 0);
            let sums = tile.tm * tile.tn;
            let written = Written {
                operands: tile.bk * (tile.tm + tile.tn),
                sums,
                operations: 2 * sums * tile.bk,
                epilogue: e.epilogue,
                is_guarded: !whole(e.m, tile.tm) || !whole(e.n, tile.tx * tile.tn),
            };
            small && enough && traits.compile_time.is_none_or(|t| t.is_short(written))
        };
        let few = || Self::of_few_rows(e.m.map_or(8, |m| m.clamp(1, 8)), most_columns, e.n);
        let mut tiles = traits.tiles.iter().map(|&tile| in_steps(tile));
        tiles.find(fits).unwrap_or_else(|| in_steps(few()))
    }

    /// The tile of a product of few rows or columns, whose threads are lanes: the more columns of each thread, the longer the pieces of
    /// `B` that are read in one go, as long as there are enough workgroups, and few sums, each of which is written back apart.
    fn of_few_rows(rows: i64, most_columns: i64, n: Option<i64>) -> Self {
        let of = |columns| Self::of_lanes(rows, columns, 1);
        let widest = [16, 8].into_iter().filter(|&columns| {
            let enough = n.is_none_or(|n| of(columns).blocks(rows, n) >= 16);
            columns <= most_columns && rows * columns <= 32 && enough
        });
        of(widest.max().unwrap_or(4))
    }

    /// The tiles and slices of the sum that are tried, with the seconds that a product takes so.
    pub(super) fn timed(target: &GpuTarget, e: &Extents) -> Vec<((Self, Option<i64>), f64)> {
        let is_computed = e.copy.iter().any(|cost| *cost >= COMPUTED);
        let fits = |tile: &Self| {
            let cut = e.n_is_one_loop && e.n.is_some_and(|n| n % (tile.tx * 4) == 0);
            let is_short = tile.bk <= STEPS_OF_COMPUTED || !is_computed;
            is_short && (tile.pieces == 1 || cut || e.n_is_one_loop && e.stores_elements)
        };
        let mut tiles: Vec<Self> = vec![];
        for tile in GpuTraits::of(target).tiles.iter().filter(|tile| fits(tile)) {
            // Fewer steps between barriers, where none of them is padding then.
            let divides = |steps: &i64| e.k.is_some_and(|k| k % steps == 0);
            let whole = [tile.bk, tile.bk / 2].into_iter().find(divides);
            for steps in [Some(tile.bk), whole].into_iter().flatten() {
                // Whole sectors of rows along the sum, unless their elements are computed.
                let steps = if is_computed {
                    steps
                } else {
                    steps.max(e.steps_of_sector)
                };
                let tile = tile.in_steps(steps).adapted(target, e);
                if tile.copies_are_written_out() && !tiles.contains(&tile) {
                    tiles.push(tile);
                }
            }
        }
        let ways = tiles.into_iter().flat_map(|tile| {
            let whole = std::iter::once(None);
            let is_cut = e.k_is_one_loop && (tile.pieces == 1 || e.cuts_slices);
            let steps = e.k.filter(|_| is_cut).unwrap_or(0);
            let slices = split_k::slices_of(steps, tile.bk);
            whole.chain(slices.map(Some)).map(move |s| (tile, s))
        });
        let timed =
            ways.map(|way @ (tile, slices)| (way, time(tile, target, e, slices.unwrap_or(1))));
        timed.collect()
    }

    /// Whether a thread copies few enough single elements of `B` in a step that they are written out, and so prefetched.
    fn copies_are_written_out(&self) -> bool {
        !self.striped || self.bk * self.tn <= MOST_COPIES * self.ty
    }

    /// Workgroups of a product of so many rows and columns.
    pub(super) fn blocks(self, m: i64, n: i64) -> i64 {
        let (bm, bn) = (self.ty * self.tm, self.tx * self.tn);
        (m + bm - 1) / bm * ((n + bn - 1) / bn)
    }

    /// Halves what the device does not have room for.
    fn fit(mut self, target: &GpuTarget) -> Self {
        let threads = i64::from(target.max_threads);
        while self.ty * self.tx > threads && self.ty > 1 {
            self.ty /= 2;
        }
        while self.ty * self.tx > threads && self.tx > 1 {
            self.tx /= 2;
        }
        let shared = i64::from(target.shared_bytes);
        while self.shared
            && self.bk > 1
            && 4 * self.bk * (self.ty * self.tm + self.tx * self.tn) > shared
        {
            self.bk /= 2;
        }
        self
    }
}
