//! What rules ask of a CPU: one table, made of its target.

use crate::kernel::CpuTarget;
use crate::tensor::DType;

/// Bytes of the vectors that loops are written for: a cache line. Code generation splits them into registers, whose number is then the
/// unrolling.
pub(super) const VECTOR_BYTES: i64 = 64;
/// Columns of a panel: a vector of elements of 32 bits.
pub(super) const COLUMNS: i64 = 16;

/// Sums that are added to at the same time: twice the latency of a multiplication and addition, of which cores start two at a time.
const MOST_SUMS: i64 = 16;

/// What is good on a CPU. Of the caches these are the smallest that machines of desktops have.
pub(super) struct CpuTraits {
    /// Threads that loops are spread over.
    pub(super) threads: i64,
    /// Vector registers.
    registers: i64,
    /// Lanes of `float32` of a vector register.
    pub(super) f32_lanes: i64,
    /// Bytes of a panel that is copied: a third of the L1 cache.
    pub(super) panel_bytes: i64,
    /// Rows that one panel serves: they stay in the L2 cache.
    pub(super) row_block: i64,
    /// Bytes of the arrays of a task: they fit the L2 cache beside the weights, and the stack.
    pub(super) task_bytes: i64,
    /// Bytes of an image that fit the L2 cache beside the result, and the stack; padding and rows that parts share may double them.
    pub(super) image_bytes: i64,
    /// Bytes of a plane of an image that one plane of the result is made of: it fits the L1 cache beside weights and results.
    pub(super) plane_bytes: i64,
    /// Elements that a thread reduces at a time, where few results are shared by threads: the same for all machines, since the order of
    /// the sum depends on it.
    pub(super) chunk: i64,
}

impl CpuTraits {
    pub(super) fn of(target: &CpuTarget) -> Self {
        Self {
            threads: target.threads as i64,
            registers: target.vector_registers.into(),
            f32_lanes: target.f32_lanes.into(),
            panel_bytes: 16 << 10,
            row_block: 128,
            task_bytes: 224 << 10,
            image_bytes: 64 << 10,
            plane_bytes: 16 << 10,
            chunk: 1 << 14,
        }
    }

    /// Vector registers that hold sums: half of them, so that operands have the others.
    pub(super) fn sums(&self) -> i64 {
        self.registers / 2
    }

    /// Whether so many vectors fit the registers.
    pub(super) fn fits_registers(&self, vectors: i64) -> bool {
        vectors <= self.registers
    }

    /// Rows of a tile with so many registers of sums in each: enough sums to hide how long an addition takes, and registers that are left
    /// for a row of the other operand and for an element.
    pub(super) fn rows_of_sums(&self, registers: i64) -> i64 {
        let fitting = self.registers - registers - 1;
        (fitting.min(MOST_SUMS) / registers).max(1)
    }

    /// Parts of the work that are enough to keep all threads busy to the end.
    pub(super) fn parts(&self) -> i64 {
        4 * self.threads
    }

    /// Registers of a vector of so many `float32`.
    pub(super) fn registers_of(&self, lanes: i64) -> i64 {
        (lanes + self.f32_lanes - 1) / self.f32_lanes
    }

    /// Registers of the columns of a panel. Narrow elements are computed in 32 bits.
    pub(super) fn registers_of_panel(&self, sums: DType) -> i64 {
        let words = (sums.scalar.bytes() as i64 / 4).max(1);
        self.registers_of(COLUMNS * words)
    }

    /// Rows of a panel that is copied.
    pub(super) fn depth_of_panel(&self, sums: DType) -> i64 {
        self.panel_bytes / (COLUMNS * sums.scalar.bytes() as i64)
    }
}
