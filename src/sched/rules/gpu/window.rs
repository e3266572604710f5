//! Sizes of the tiles of a convolution.
//!
//! The tile is the one that takes the least time by a model of one step of the sum: multiplications, loads of the image, loads of
//! weights. Measured on lavapipe (Mesa 22.3): a load takes the time of fourteen multiplications of eight lanes, whether it is of one
//! element or of four neighbours, and whether threads load the same or not.

use super::compile_time::{Epilogue, Written};
use super::loops::ceil;
use super::traits::GpuTraits;
use crate::kernel::GpuTarget;

/// What is known of a convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Channels, positions that are not in the row, and positions in a row; `None`: symbolic.
    pub(super) channels: Option<i64>,
    pub(super) rows: Option<i64>,
    pub(super) row: Option<i64>,
    /// Reduction iterations along the row.
    pub(super) taps: i64,
    /// Other reduction iterations that are written out.
    pub(super) steps: i64,
    /// By how many elements of the image the windows of two neighbours in a row are apart.
    pub(super) stride: i64,
    /// Elements of the image that all taps add to one.
    pub(super) reach: i64,
    /// Elements of the image between two of its rows.
    pub(super) image_pitch: i64,
    /// Whether the weights of `steps` are one vector.
    pub(super) weights_in_vectors: bool,
    /// What is computed where the result is written back.
    pub(super) epilogue: Epilogue,
}

/// How the loops of a convolution are split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WindowTile {
    /// Threads, along positions.
    pub(super) threads: i64,
    /// Channels of a thread.
    pub(super) channels: i64,
    /// Positions of a thread, in a row.
    pub(super) piece: i64,
}

/// Multiplications that take as long as a load.
const LOAD: i64 = 14;

/// Positions of the longest piece. Pieces divide a row where one of at least four positions does: else the last one has a
/// condition for each position, and Mesa 22.3 does not come to an end with a piece that is longer than its row.
const LONGEST: i64 = 32;

/// What is written out at most: each multiplication counts once, each statement twice.
const WRITTEN_OUT: i64 = 800;

/// Workgroups that are enough for all cores of a software adapter.
const GROUPS: i64 = 16;

impl WindowTile {
    /// The tile of least cost; of equal ones the smallest.
    pub(super) fn choose(target: &GpuTarget, w: &Windows) -> Self {
        let traits = GpuTraits::of(target);
        let threads = i64::from(target.max_threads).min(traits.window_threads);
        let smallest = Self {
            threads,
            channels: 1,
            piece: 1,
        };
        let tiles = [1, 2, 4, 8, 12, 16, 24, 32]
            .into_iter()
            .flat_map(|channels| {
                (1..=LONGEST).map(move |piece| Self {
                    threads,
                    channels,
                    piece,
                })
            });
        let in_a_row = |piece: i64| match w.row {
            Some(row) if row < 4 || (4..=LONGEST).any(|n| row % n == 0) => row % piece == 0,
            Some(row) => piece < row,
            None => true,
        };
        let fits = |t: &Self| {
            let accumulators = t.channels * t.piece;
            let multiplications = accumulators * w.taps * w.steps;
            let statements = multiplications / t.lanes();
            in_a_row(t.piece)
                && accumulators <= traits.window_sums
                && multiplications + 2 * statements <= WRITTEN_OUT
                && traits.compile_time.is_none_or(|c| c.is_short(t.written(w)))
        };
        let best = tiles.filter(fits).min_by_key(|t| t.cost(w));
        best.unwrap_or(smallest)
    }

    /// Positions of a piece that are multiplied as one vector.
    pub(super) fn lanes(self) -> i64 {
        let divides = |lanes: &i64| self.piece % lanes == 0;
        [4, 2].into_iter().find(divides).unwrap_or(1)
    }

    /// What a thread writes out.
    fn written(self, w: &Windows) -> Written {
        let sums = self.channels * self.piece;
        Written {
            operands: self.elements(w) * w.steps + self.channels * w.taps * w.steps,
            sums,
            // Vectors of the image are put together of what was loaded.
            operations: 3 * sums * w.taps * w.steps,
            epilogue: w.epilogue,
            is_guarded: w.row.is_none_or(|row| row % self.piece != 0),
        }
    }

    /// Elements of a row of the image that a step reads.
    fn elements(self, w: &Windows) -> i64 {
        (self.piece - 1) * w.stride + w.reach + 1
    }

    /// The time of one step of the sum in all workgroups.
    fn cost(self, w: &Windows) -> i64 {
        let Self {
            threads,
            channels,
            piece,
        } = self;
        let row = w.row.unwrap_or(64);
        let whole = row % piece == 0;
        let rows = w.rows.unwrap_or(64);
        let pieces = ceil(row, piece);
        // See `conv::split`: only pieces that divide a row share their loop with other positions.
        let places = if whole {
            ceil(rows * pieces, threads)
        } else {
            ceil(rows, threads) * pieces
        };
        let groups = places * ceil(w.channels.unwrap_or(64), channels);
        let elements = self.elements(w);
        let aligned = |v: &i64| {
            [w.image_pitch, piece * w.stride, elements]
                .iter()
                .all(|n| n % v == 0)
        };
        let lanes = [4, 2].into_iter().find(aligned).unwrap_or(1);
        let weights = channels * w.taps * if w.weights_in_vectors { 1 } else { w.steps };
        let loads = elements / lanes * w.steps + weights;
        let multiplications = channels * piece * w.taps * w.steps;
        groups.max(GROUPS) * (multiplications + LOAD * loads)
    }
}
