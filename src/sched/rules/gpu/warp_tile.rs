//! Sizes of tiles of products on fragments, and how many slices a sum is cut into.

use super::cost::time_of_fragments;
use super::split_k::slices_of;
use super::tile::in_order;
use crate::kernel::{FRAGMENT_ALIGN, FRAGMENT_THREADS, FragmentProduct, GpuTarget};
use crate::sched::rules::{FragmentsReason, Ways};

/// Elements of `float32` of a vector of 16 bytes.
const LANES: i64 = 4;

/// Products of subgroups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WarpTile {
    /// What a subgroup multiplies.
    pub(super) product: FragmentProduct,
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
    /// What a subgroup multiplies.
    pub(super) product: FragmentProduct,
    /// Operations on integers that copy an element of `A` and of `B` to shared memory.
    pub(super) copy: [i64; 2],
    /// Whether the sum may be cut into slices.
    pub(super) is_cut: bool,
}

/// A tile, and the number of slices of its sums where there are several.
pub(super) type Sliced = (WarpTile, Option<i64>);

impl WarpTile {
    /// Fragments of a subgroup of the tiles that are tried. Of several that take as long the first one is taken.
    const FRAGMENTS: [[i64; 2]; 4] = [[4, 4], [2, 4], [2, 2], [1, 2]];

    /// An extent fills at least a half of a tile.
    const WASTED: i64 = 2;

    const fn of(product: FragmentProduct, fragments: [i64; 2], steps: i64) -> Self {
        Self {
            product,
            subgroups: [2, 2],
            fragments,
            steps,
        }
    }

    /// Steps of the tiles that are tried: those of two, four and eight fragments. Shared memory has no room for more.
    fn steps(product: FragmentProduct) -> [i64; 3] {
        [2, 4, 8].map(|fragments| fragments * i64::from(product.extent))
    }

    fn smallest(product: FragmentProduct) -> Self {
        let [_, _, _, fragments] = Self::FRAGMENTS;
        let [steps, ..] = Self::steps(product);
        Self::of(product, fragments, steps)
    }

    /// Rows of the smallest tile.
    pub(super) fn fewest_rows(product: FragmentProduct) -> i64 {
        let [rows, _] = Self::smallest(product).extents();
        rows
    }

    /// Rows and columns of a fragment.
    pub(super) fn extent(self) -> i64 {
        self.product.extent.into()
    }

    /// Rows and columns of a workgroup.
    pub(super) fn extents(self) -> [i64; 2] {
        let ([of_rows, of_columns], [rows, columns]) = (self.subgroups, self.fragments);
        [
            of_rows * rows * self.extent(),
            of_columns * columns * self.extent(),
        ]
    }

    /// Rows, columns and steps of a workgroup.
    fn whole(self) -> [i64; 3] {
        let [rows, columns] = self.extents();
        [rows, columns, self.steps]
    }

    /// Elements that rows of operands in shared memory are further apart than they are long: 16 bytes, the alignment of a fragment. Rows of a
    /// fragment then begin in other banks.
    pub(super) fn skew(self) -> i64 {
        i64::from(FRAGMENT_ALIGN) / self.product.factors.bytes() as i64
    }

    /// Fragments of a row of sums that a subgroup stores to shared memory before its threads write them back: so many that each thread
    /// writes two vectors, as far as the tile has them.
    pub(super) fn stored(self) -> i64 {
        let elements = 2 * LANES * i64::from(FRAGMENT_THREADS);
        let fragments = elements / (self.extent() * self.extent());
        fragments.clamp(1, self.fragments[1])
    }

    /// Elements that fragments of stored sums are further apart than they are long, where there are several: threads that write back a row
    /// read it of several fragments, whose rows then begin in other banks.
    pub(super) fn skew_of_sums(self) -> i64 {
        match self.stored() {
            1 => 0,
            _ => self.extent(),
        }
    }

    /// Bytes of shared memory of a workgroup.
    pub(super) fn shared_bytes(self) -> i64 {
        let [rows, columns] = self.extents();
        let skew = self.skew();
        let operands = rows * (self.steps + skew) + self.steps * (columns + skew);
        let [of_rows, of_columns] = self.subgroups;
        let fragment = self.extent() * self.extent() + self.skew_of_sums();
        let sums = of_rows * of_columns * self.stored() * fragment;
        let [of_factor, of_sum] =
            [self.product.factors, self.product.sums].map(|of| of.bytes() as i64);
        of_factor * operands + of_sum * sums
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
        let smallest = Self::smallest(product.product);
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
        let of_steps = Self::steps(product.product);
        let tiles = Self::FRAGMENTS.into_iter().flat_map(|fragments| {
            of_steps.map(|steps| Self::of(product.product, fragments, steps))
        });
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
