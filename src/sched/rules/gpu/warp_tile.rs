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

/// A tile, and the number of slices of its sums where there are several.
pub(super) type Sliced = (WarpTile, Option<i64>);

impl WarpTile {
    /// Fragments of a subgroup of the tiles that are tried, and the steps. Of several that take as long the first one is taken.
    const FRAGMENTS: [[i64; 2]; 4] = [[4, 4], [2, 4], [2, 2], [1, 2]];
    const STEPS: [i64; 3] = [32, 64, 128];

    const SMALLEST: Self = Self::of([1, 2], 32);

    const fn of(fragments: [i64; 2], steps: i64) -> Self {
        Self {
            subgroups: [2, 2],
            fragments,
            steps,
        }
    }

    /// Rows and columns of a workgroup.
    pub(super) fn extents(self) -> [i64; 2] {
        [0, 1].map(|side| self.subgroups[side] * self.fragments[side] * FRAGMENT_EXTENT)
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

    /// The tiles, of those that divide these extents, of which `usual` are the rows of a usual launch, and the slices of the sum in the order of the times that a product takes,
    /// at least one. A sum without `sliced` steps is not cut.
    pub(super) fn ways(
        target: &GpuTarget,
        batch: i64,
        [m, n, k]: [i64; 3],
        usual: i64,
        sliced: Option<i64>,
    ) -> Result<(Vec<Sliced>, Ways), FragmentsReason> {
        let smallest = Self::SMALLEST;
        let [rows, columns] = smallest.extents();
        for (axis, extent, of) in [("m", m, rows), ("n", n, columns), ("k", k, smallest.steps)] {
            if extent % of != 0 || extent == 0 {
                return Err(FragmentsReason::Extent { axis, extent, of });
            }
        }
        let (needs, limit) = (smallest.threads(), target.max_threads.into());
        if needs > limit {
            return Err(FragmentsReason::Threads { needs, limit });
        }
        let fits = |tile: &Self| {
            let [rows, columns] = tile.extents();
            let divides = m % rows == 0 && n % columns == 0 && k % tile.steps == 0;
            divides && tile.shared_bytes() <= target.shared_bytes.into()
        };
        let tiles = Self::FRAGMENTS
            .into_iter()
            .flat_map(|fragments| Self::STEPS.map(|steps| Self::of(fragments, steps)));
        let ways = tiles.filter(fits).flat_map(|tile| {
            let slices = slices_of(sliced.unwrap_or(0), tile.steps);
            let whole = std::iter::once(None);
            whole.chain(slices.map(Some)).map(move |s| (tile, s))
        });
        let product = [batch, usual, n, k];
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
