//! What a compute kernel will cost on a GPU, read off its kernel IR: nothing runs.
//!
//! Of workgroups the first, the one in the middle and the last of each dimension are walked through with all their threads. Integers
//! that ids, loops and sizes decide have a value for each thread, so the addresses of every access are known as the hardware will see
//! them: how many sectors of memory a subgroup touches, how many of them it uses, how many threads meet in one bank of shared memory.
//! Of long loops the first, the middle and the last iteration are walked, and the middle one stands for those in between, as with
//! workgroups. What is loaded from memory is not known: an index that depends on it counts as scattered, and both sides of a condition
//! that does are counted.
//!
//! [`explain`] counts; [`GpuModel`] says what a device of a class has; [`Counts::predict`] holds the counts against it and names the
//! limit. Schedule rules rank tiles by the same formula.
//!
//! Reference: S. Hong, H. Kim, "An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism
//! Awareness" (ISCA 2009), of which this keeps the counts and leaves out the queueing.
//!
//! The counts are held against the numbers of one device of each class, and default schedules to bars that need no GPU: no bank
//! conflict, whole sectors (`tests/it/explain`).

mod count;
mod cycle;
mod integers;
mod lanes;
mod registers;
mod text;
mod transactions;

#[cfg(test)]
mod tests;

use serde::Serialize;

pub use crate::kernel::{GpuModel, Limit, Prediction, SECTOR_BYTES};
pub use count::{explain, explain_one_workgroup};
pub use transactions::BANK_BYTES;

use crate::kernel::{Counts, LoweredFunc};
use crate::tensor::scalar::EvalError;

/// Holds the counts of a launch against a device.
pub fn predict(cost: &KernelCost, model: &GpuModel) -> Prediction {
    cost.counts().predict(model)
}

/// Seconds that the kernels of a lowered function take with these sizes, one after the other, by one workgroup of each.
///
/// # Errors
/// See [`explain`].
pub fn time(func: &LoweredFunc, dims: &[i64], model: &GpuModel) -> Result<f64, ExplainError> {
    let times = func.kernels.iter().map(|kernel| {
        let cost = explain_one_workgroup(kernel, dims, model)?;
        Ok(predict(&cost, model).time)
    });
    times.sum()
}

/// Why a kernel has no cost.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// It is none of a GPU.
    #[error("kernel `{kernel}` was not lowered for a GPU")]
    NoLaunch {
        /// The kernel.
        kernel: String,
    },
    /// A size is needed that is not given.
    #[error("kernel `{kernel}` has {needed} symbolic sizes, and {given} are given")]
    Sizes {
        /// The kernel.
        kernel: String,
        /// Those that it has.
        needed: usize,
        /// Those that are given.
        given: usize,
    },
    /// The number of workgroups or bytes cannot be computed for these sizes.
    #[error("the launch of kernel `{kernel}` cannot be computed for these sizes: {source}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What went wrong.
        source: EvalError,
    },
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Memory that accesses cost time in. Arrays of a thread are registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Tensors.
    Global,
    /// Memory of the workgroup.
    Shared,
}

/// The accesses of one array in one direction, in the same loops and of the same width.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AccessCost {
    /// The array.
    pub array: String,
    /// Where it lives.
    pub memory: Memory,
    /// Whether it is read or written.
    pub direction: Direction,
    /// Neighbouring elements that a thread takes at once.
    pub width: u16,
    /// Variables of the loops around, outermost first.
    pub loops: Vec<String>,
    /// The first and the last statement that has such an access, counted in the order of the kernel, outer ones first.
    pub statements: (usize, usize),
    /// How often a subgroup makes such an access, in the whole launch.
    pub accesses: f64,
    /// Sectors of global memory, or passes over the banks of shared memory, that these take.
    pub transactions: f64,
    /// The fewest that would bring as many different bytes.
    pub ideal: f64,
    /// Different bytes that threads of a subgroup ask for, summed over the accesses.
    pub bytes: f64,
    /// Elements that threads take, those that several take counted for each.
    pub elements: f64,
    /// Whether an address depends on what is loaded: such accesses count as scattered.
    pub scattered: bool,
}

impl AccessCost {
    /// Transactions of one access of a subgroup.
    pub fn per_access(&self) -> f64 {
        self.transactions / self.accesses.max(1.0)
    }

    /// How many times the fewest transactions it takes: for shared memory, the `n` of an n-way bank conflict.
    pub fn excess(&self) -> f64 {
        self.transactions / self.ideal.max(1.0)
    }

    /// The share of the bytes brought from global memory that is asked for.
    pub fn share_used(&self) -> f64 {
        self.bytes / (self.transactions * f64::from(SECTOR_BYTES)).max(1.0)
    }
}

/// Where threads wait for each other, or do not go the same way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// A barrier, which is counted for each workgroup that meets it.
    Barrier,
    /// A branch of which a subgroup takes both sides, counted for each subgroup that does.
    Divergence,
}

/// A statement at which threads wait or part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ControlCost {
    /// What happens there.
    pub control: Control,
    /// The statement, counted in the order of the kernel.
    pub statement: usize,
    /// Variables of the loops around, outermost first.
    pub loops: Vec<String>,
    /// How often it happens in the whole launch.
    pub count: f64,
}

/// What a launch of a kernel does, in the whole.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KernelCost {
    /// The kernel.
    pub kernel: String,
    /// Its blocks.
    pub blocks: String,
    /// Workgroups in x, y, z.
    pub grid: [i64; 3],
    /// Dispatches of that grid.
    pub dispatches: i64,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Threads that run in step.
    pub subgroup: u32,
    /// Accesses of memory, in the order in which they stand in the kernel.
    pub accesses: Vec<AccessCost>,
    /// Barriers and divergent branches, in the order in which they are met first.
    pub control: Vec<ControlCost>,
    /// Fused multiplications and additions of floats, summed over threads and lanes.
    pub fma: f64,
    /// The same in products of tiles, which subgroups make.
    pub tile_fma: f64,
    /// Other additions, multiplications, comparisons and choices of floats.
    pub arithmetic: f64,
    /// Operations on integers, which compute indices and conditions.
    pub integers: f64,
    /// Divisions, roots, exponentials and the like.
    pub special: f64,
    /// Barriers that a workgroup meets.
    pub barriers: f64,
    /// Those of them before which something is loaded from global memory: the threads wait for it, too.
    pub waits: f64,
    /// Bytes of global memory that a workgroup has asked for when it waits so, on average.
    pub asked: f64,
    /// Branches of a subgroup whose threads take both sides.
    pub divergent: f64,
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: i64,
    /// Estimated 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of tensors that must move at least.
    pub bytes: i64,
    /// Bytes of tensors that only kernels of the same program see.
    pub own_bytes: i64,
    /// Loops or conditions whose course is decided by what is loaded: the counts are for one pass, and for both sides.
    pub unknown: bool,
}

impl KernelCost {
    /// Operations on floats; a fused one is two.
    pub fn flops(&self) -> f64 {
        2.0 * (self.fma + self.tile_fma) + self.arithmetic + self.special
    }

    /// Workgroups of all dispatches.
    pub fn groups(&self) -> f64 {
        self.grid.iter().map(|&n| n as f64).product::<f64>() * self.dispatches as f64
    }

    /// Sectors of global memory that all accesses take.
    pub fn sectors(&self) -> f64 {
        self.of(Memory::Global, |access| access.transactions)
    }

    /// Passes over the banks of shared memory.
    pub fn bank_passes(&self) -> f64 {
        self.of(Memory::Shared, |access| access.transactions)
    }

    /// What a prediction is made of.
    pub fn counts(&self) -> Counts {
        Counts {
            groups: self.groups(),
            dispatches: self.dispatches as f64,
            threads: self.threads,
            registers: self.registers,
            shared_bytes: self.shared_bytes,
            fma: self.fma,
            tile_fma: self.tile_fma,
            arithmetic: self.arithmetic,
            integers: self.integers,
            special: self.special,
            waits: self.waits,
            asked: self.asked,
            sectors: self.sectors(),
            bank_passes: self.bank_passes(),
            shared_reads: self.shared_reads(),
            bytes: self.bytes as f64,
            own_bytes: self.own_bytes as f64,
        }
    }

    /// Elements that threads read from shared memory.
    pub fn shared_reads(&self) -> f64 {
        self.of(Memory::Shared, |access| match access.direction {
            Direction::Read => access.elements,
            Direction::Write => 0.0,
        })
    }

    /// Elements that are read from shared memory for each fused multiplication and addition.
    pub fn shared_per_fma(&self) -> Option<f64> {
        let fma = self.fma + self.tile_fma;
        (fma > 0.0).then(|| self.shared_reads() / fma)
    }

    /// Operations on floats for each byte that must move.
    pub fn intensity(&self) -> f64 {
        self.flops() / (self.bytes as f64).max(1.0)
    }

    fn of(&self, memory: Memory, count: impl Fn(&AccessCost) -> f64) -> f64 {
        let own = self
            .accesses
            .iter()
            .filter(|access| access.memory == memory);
        own.map(count).sum()
    }
}
