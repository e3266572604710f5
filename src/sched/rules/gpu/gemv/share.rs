//! How many columns, and threads for each, a workgroup has.

use super::{BANKS, Product};
use crate::ir::Block;
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::gpu::split_k;

/// Neighbouring columns of a workgroup, at most: 128 bytes of `f32`. At least: those of one sector.
const COLUMNS: i64 = 32;
const SECTOR: i64 = 8;

/// Threads that share the steps of a sum, at most and at least.
const MOST_SHARERS: i64 = 64;
const FEWEST_SHARERS: i64 = 4;

/// Threads of a workgroup, at most and at least: memory is waited for less, the more of them wait.
const THREADS: i64 = 256;
const FEWEST_THREADS: i64 = 64;

/// How the threads of a workgroup share its part of the product.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Columns of the workgroup.
    pub(super) columns: i64,
    /// Threads for each column of a thread.
    pub(super) sharers: i64,
    /// All threads.
    pub(super) threads: i64,
    /// Results of the workgroup.
    pub(super) results: i64,
}

/// What the shares depend on; `None`: symbolic.
struct Sizes {
    rows: i64,
    columns: Option<i64>,
    /// Runs of steps, each of as many elements as a thread takes at once.
    steps: Option<i64>,
    /// Products of this form.
    products: i64,
    /// Most threads of a workgroup.
    threads: i64,
    cores: i64,
}

impl Sizes {
    /// The most columns of a workgroup of which there are enough for the cores; of these numbers, which are falling.
    fn enough(&self, all: &[i64]) -> Option<i64> {
        let few = |columns: i64| {
            let groups = self
                .columns
                .map(|n| (n + columns - 1) / columns * self.products);
            groups.is_some_and(|groups| groups < self.cores)
        };
        let enough = all.iter().find(|columns| !few(**columns));
        enough.or(all.last()).copied()
    }

    fn divides(&self, columns: i64) -> bool {
        self.columns.is_none_or(|n| n % columns == 0)
    }

    /// Columns that are neighbours in memory.
    fn columns_of_unit(&self, unit: i64) -> Option<i64> {
        let all = (SECTOR..=COLUMNS).rev();
        let all = all.filter(|columns| columns % unit == 0 && self.divides(*columns));
        self.enough(&all.collect::<Vec<_>>())
    }

    /// Columns of which each has so many threads beside each other.
    fn columns_beside_sharers(&self, sharers: i64) -> Option<i64> {
        // The threads of the partial sums and those of the results are the same, in loops that divide each other.
        let fits = |n: &i64| {
            let results = self.rows * n;
            results % sharers == 0 || sharers % results == 0
        };
        let all = (1..=(self.threads / sharers).max(1)).rev().filter(fits);
        let all: Vec<i64> = all.filter(|n| self.divides(*n)).collect();
        let least = match sharers % BANKS {
            0 => FEWEST_THREADS / sharers,
            // Subgroups store sums of several columns, and read as many of each sharer as there are banks.
            _ => BANKS,
        };
        let wide: Vec<i64> = all.iter().copied().filter(|n| *n >= least).collect();
        self.enough(&wide).or(all.first().copied())
    }
}

impl Share {
    /// Threads that add the partial sums of one result.
    pub(super) fn adders(self) -> i64 {
        (self.threads / self.results).max(1)
    }
}

impl Product {
    fn sizes(&self, block: &Block, target: &GpuTarget) -> Sizes {
        let extent = |at: usize| block.iters[at].dom.extent.as_int();
        let all = |roles: &[usize]| {
            let extents = roles.iter().map(|&at| extent(at).unwrap_or(1));
            extents.product::<i64>()
        };
        let rows = all(&self.rows);
        let room = i64::from(target.shared_bytes) / (4 * rows * self.columns);
        Sizes {
            rows,
            columns: extent(self.column),
            steps: extent(self.step).map(|steps| steps / self.run),
            products: all(&self.outer),
            threads: THREADS.min(i64::from(target.max_threads)).min(room),
            cores: target.cores(),
        }
    }

    /// Enough workgroups for the cores, as long as neighbours fill sectors.
    pub(super) fn share(&self, block: &Block, target: &GpuTarget) -> Result<Share, DeclineReason> {
        let sizes = self.sizes(block, target);
        let columns = match self.along_steps {
            true => sizes.columns_beside_sharers(self.sharers(&sizes, sizes.threads)?),
            false => {
                let whole = sizes.columns_of_unit(SECTOR);
                whole.or_else(|| sizes.columns_of_unit(self.columns))
            }
        };
        let columns = columns.unwrap_or(SECTOR);
        let sharers = self.sharers(&sizes, sizes.threads * self.columns / columns)?;
        Ok(Share {
            columns,
            sharers,
            threads: sharers * columns / self.columns,
            results: sizes.rows * columns,
        })
    }

    /// Threads for each column of a thread, so many at most: those that add the partial sums of one result are a part of them.
    fn sharers(&self, sizes: &Sizes, most: i64) -> Result<i64, DeclineReason> {
        // Each thread has two steps at least.
        let most = sizes
            .steps
            .map_or(most, |steps| most.min(steps / 2))
            .min(MOST_SHARERS);
        let sums = sizes.rows * self.columns;
        let fits = |n: &i64| n % sums == 0 || sums % n == 0;
        let all = |unit: i64| {
            let all = (FEWEST_SHARERS..=most).rev().filter(fits);
            all.filter(move |n| n % unit == 0)
        };
        let found = if self.along_steps {
            // Subgroups read whole rows of threads, or several.
            let mut units = [BANKS, SECTOR, 1].into_iter();
            units.find_map(|unit| all(unit).next())
        } else {
            let divides = |n: &i64| sizes.steps.is_some_and(|steps| steps % n == 0);
            let whole = all(1).find(|n| 2 * n >= most && divides(n));
            whole.or_else(|| all(1).next())
        };
        found.ok_or(DeclineReason::Pattern("a short sum"))
    }

    /// Slices of the sum, where there are few workgroups.
    pub(super) fn slices(&self, block: &Block, share: Share, target: &GpuTarget) -> Option<i64> {
        let extent = |at: usize| block.iters[at].dom.extent.as_int();
        let columns = extent(self.column)?;
        let products = self.outer.iter().map(|&at| extent(at));
        let products = products.product::<Option<i64>>()?;
        let groups = (columns + share.columns - 1) / share.columns * products;
        let unit = share.sharers * self.run;
        split_k::slices(extent(self.step), Some(groups), unit, target)
    }
}
