//! Sizes of tiles of products on fragments, and how many slices a sum is cut into.

use super::cost::time_of_fragments;
use super::split_k::slices_of;
use super::tile::in_order;
use crate::ir::FRAGMENT_EXTENT;
use crate::kernel::{FRAGMENT_THREADS, GpuTarget};
use crate::sched::rules::{FragmentsReason, Ways};

/// Elements that rows of operands in shared memory are further apart than they are long: 16 bytes, the alignment of a fragment.
pub(super) const SKEW: i64 = 8;

/// Products of subgroups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WarpTile {
    /// Subgroups of a workgroup along `m` and `n`.
    pub(super) subgroups: [i64; 2],
    /// Fragments of a subgroup along `m` and `n`.
    pub(super) fragments: [i64; 2],
    /// Steps of `k` between loads of the operands.
    pub(super) steps: i64,
}

/// What is known of a product on fragments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragmented {
    /// `[batch, m, n, k]` for a call of usual size.
    pub(super) extents: [i64; 4],
    /// Operations on integers that copy an element of `A` and of `B` to shared memory.
    pub(super) copy: [i64; 2],
    /// Whether the sum may be cut into slices.
    pub(super) is_cut: bool,
}

/// A tile, and the number of slices of its sums where there are several.
pub(super) type Sliced = (WarpTile, Option<i64>);

impl WarpTile {
    /// Fragments of a subgroup of the tiles that are tried, and the steps. Of several that take as long the first one is taken.
    const FRAGMENTS: [[i64; 2]; 4] = [[4, 4], [2, 4], [2, 2], [1, 2]];
    const STEPS: [i64; 3] = [32, 64, 128];

    const SMALLEST: Self = Self::of([1, 2], 32);

    /// Rows of the smallest tile.
    pub(super) const FEWEST_ROWS: i64 = Self::SMALLEST.extents()[0];

    /// An extent fills at least a half of a tile.
    const WASTED: i64 = 2;

    const fn of(fragments: [i64; 2], steps: i64) -> Self {
        Self {
            subgroups: [2, 2],
            fragments,
            steps,
        }
    }

    /// Rows and columns of a workgroup.
    pub(super) const fn extents(self) -> [i64; 2] {
        let ([of_rows, of_columns], [rows, columns]) = (self.subgroups, self.fragments);
        [
            of_rows * rows * FRAGMENT_EXTENT,
            of_columns * columns * FRAGMENT_EXTENT,
        ]
    }

    /// Rows, columns and steps of a workgroup.
    fn whole(self) -> [i64; 3] {
        let [rows, columns] = self.extents();
        [rows, columns, self.steps]
    }

    /// Bytes of shared memory of a workgroup.
    pub(super) fn shared_bytes(self) -> i64 {
        let [rows, columns] = self.extents();
        let operands = rows * (self.steps + SKEW) + self.steps * (columns + SKEW);
        let [of_rows, of_columns] = self.subgroups;
        let sums = of_rows * of_columns * FRAGMENT_EXTENT * FRAGMENT_EXTENT;
        2 * operands + 4 * sums
    }

    pub(super) fn threads(self) -> i64 {
        self.subgroups[0] * self.subgroups[1] * i64::from(FRAGMENT_THREADS)
    }

    /// The tiles of which the extents of a product fill at least a half, and the slices of its sum, in the order of the times that the product
    /// takes; at least one.
    pub(super) fn ways(
        target: &GpuTarget,
        product: &Fragmented,
    ) -> Result<(Vec<Sliced>, Ways), FragmentsReason> {
        let smallest = Self::SMALLEST;
        let [_, sides @ ..] = product.extents;
        for ((axis, extent), of) in ["m", "n", "k"].into_iter().zip(sides).zip(smallest.whole()) {
            if extent * Self::WASTED < of {
                return Err(FragmentsReason::Extent { axis, extent, of });
            }
        }
        let (needs, limit) = (smallest.threads(), target.max_threads.into());
        if needs > limit {
            return Err(FragmentsReason::Threads { needs, limit });
        }
        let fits = |tile: &Self| {
            let mut sides = sides.into_iter().zip(tile.whole());
            let fits = tile.shared_bytes() <= target.shared_bytes.into();
            fits && sides.all(|(extent, of)| extent * Self::WASTED >= of)
        };
        let tiles = Self::FRAGMENTS
            .into_iter()
            .flat_map(|fragments| Self::STEPS.map(|steps| Self::of(fragments, steps)));
        let steps = if product.is_cut { sides[2] } else { 0 };
        let ways = tiles.filter(fits).flat_map(|tile| {
            let whole = std::iter::once(None);
            let slices = slices_of(steps, tile.steps);
            whole.chain(slices.map(Some)).map(move |s| (tile, s))
        });
        let timed = ways.map(|way @ (tile, slices)| {
            let time = time_of_fragments(tile, target, product, slices.unwrap_or(1));
            (way, time)
        });
        let (ways, count) = in_order(timed.collect());
        match ways.is_empty() {
            true => Err(FragmentsReason::Shared {
                needs: smallest.shared_bytes(),
                limit: target.shared_bytes.into(),
            }),
            false => Ok((ways, count)),
        }
    }
}
