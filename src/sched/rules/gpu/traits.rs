//! What rules ask of a GPU: one table with a row for each kind of device.

use super::compile_time::CompileTime;
use super::tile::Tile;
use crate::kernel::{GpuClass, GpuTarget};
use crate::sched::rules::DeclineReason;

/// What is good on one kind of device.
pub(super) struct GpuTraits {
    /// Threads of a workgroup for kernels that memory bounds: enough to hide latency, few enough to spread small tensors over the
    /// cores.
    pub(super) memory_threads: i64,
    /// Most vectors of one thread of an elementwise kernel. On a software adapter a workgroup costs as much as many elements, so
    /// there are fewer and larger ones (measured on lavapipe, 16M elements: 14 ms with four vectors, 22 ms with one).
    pub(super) vectors: i64,
    /// Threads that share a row of at most 256 elements, of at most 1024, and of more.
    pub(super) row_threads: [i64; 3],
    /// Elements of a row that a thread takes in one iteration, where it takes single ones. On a software adapter the bookkeeping of a
    /// loop costs as much as several elements (measured on lavapipe, softmax over rows of 4096: 0.8 of the time).
    pub(super) row_unroll: i64,
    /// Whether memory of a workgroup is faster than that of the device. On a software adapter both are the memory of the host.
    pub(super) fast_shared: bool,
    /// Tiles of products, the largest first.
    pub(super) tiles: &'static [Tile],
    /// Whether products load the operands of the next step into registers while they multiply (measured on an H100, GEMM 4096: 30 TFLOP/s
    /// without, 36 with steps of `k` written out, 41 with both).
    pub(super) prefetches: bool,
    /// Most steps of `k` that are written out (measured on an H200, GEMM 1024, tiles of 64 × 64: all of 16 steps 69 us, of 8 steps 74 us,
    /// four of 32 at a time 89 us).
    pub(super) steps_written_out: i64,
    /// Fewest steps of a sum that is cut into slices: a second kernel, which adds them, costs more than fewer. A core of Intel's GPUs holds
    /// more threads.
    pub(super) sliced_steps: i64,
    /// Threads of a workgroup of a convolution.
    pub(super) window_threads: i64,
    /// Sums of one thread of a convolution, at most.
    pub(super) window_sums: i64,
    /// How long the driver compiles what is written out, where that counts.
    pub(super) compile_time: Option<CompileTime>,
}

impl GpuTraits {
    /// Declines a rule whose threads meet in shared memory where that is no faster than other memory.
    pub(super) fn need_fast_shared(target: &GpuTarget) -> Result<(), DeclineReason> {
        if Self::of(target).fast_shared {
            return Ok(());
        }
        let reason = "shared memory of a software adapter is no faster";
        Err(DeclineReason::Pattern(reason))
    }

    /// Those of a device.
    pub(super) fn of(target: &GpuTarget) -> &'static Self {
        match target.class {
            GpuClass::Nvidia | GpuClass::Amd => &DISCRETE,
            GpuClass::Intel => &INTEL,
            GpuClass::Apple => &APPLE,
            GpuClass::Software if target.lavapipe >= Some(FUNCTIONS_SINCE) => &SOFTWARE_OF_MESA_25,
            GpuClass::Software => &SOFTWARE,
            GpuClass::Mobile | GpuClass::Unknown => &SMALL,
        }
    }
}

const SMALL: GpuTraits = GpuTraits {
    memory_threads: 64,
    vectors: 1,
    row_threads: [64, 128, 256],
    row_unroll: 1,
    fast_shared: true,
    tiles: &[Tile::MEDIUM, Tile::SMALL],
    prefetches: false,
    steps_written_out: 4,
    sliced_steps: 2048,
    window_threads: 64,
    window_sums: 16,
    compile_time: None,
};

const APPLE: GpuTraits = GpuTraits {
    tiles: &[Tile::SQUARE, Tile::LARGE, Tile::MEDIUM, Tile::SMALL],
    window_sums: 32,
    ..SMALL
};

/// Tiles of 8 × 8 elements of a thread would fill all registers of a thread.
const INTEL: GpuTraits = GpuTraits {
    memory_threads: 256,
    tiles: &[Tile::LARGE, Tile::MEDIUM, Tile::SMALL],
    sliced_steps: 512,
    ..APPLE
};

const DISCRETE: GpuTraits = GpuTraits {
    tiles: &[
        Tile::EXTRA_LARGE,
        Tile::EXTRA_LARGE.in_steps(16),
        Tile::WIDE,
        Tile::WIDE.in_steps(16),
        Tile::SQUARE,
        Tile::SQUARE.in_steps(16),
        Tile::LARGE,
        Tile::LARGE.in_steps(16),
        Tile::MEDIUM,
        Tile::MEDIUM.in_steps(16),
        Tile::FLAT,
        Tile::FLAT.in_steps(16),
        Tile::SMALL,
        Tile::SMALL.in_steps(16),
    ],
    prefetches: true,
    steps_written_out: 16,
    sliced_steps: 2048,
    window_sums: 64,
    ..INTEL
};

/// Measured on lavapipe (Mesa 22.3, GEMM 1024, 2 cores): 8×1 threads with uniform loads of `A` and no shared memory took half the
/// time of forms with shared memory; of tiles, 16×16 took 78 ms, 16×12 82, 8×16 99, 16×8 104, 8×8 124, 16×4 159, and larger ones
/// 95 and more; with `B` transposed, 16×16 77, 8×16 103, 8×8 114, 8×4 162. Which of them compile soon enough depends on the epilogue.
const SOFTWARE: GpuTraits = GpuTraits {
    memory_threads: 64,
    vectors: 4,
    row_threads: [8, 8, 8],
    row_unroll: 4,
    fast_shared: false,
    prefetches: false,
    steps_written_out: 4,
    sliced_steps: 2048,
    tiles: &[
        Tile::of_lanes(16, 16, 4),
        Tile::of_lanes(8, 16, 4),
        Tile::of_lanes(8, 16, 2),
        Tile::of_lanes(8, 8, 4),
        Tile::of_lanes(8, 8, 1),
        Tile::of_lanes(8, 4, 4),
        Tile::of_lanes(4, 4, 1),
    ],
    window_threads: 8,
    window_sums: 256,
    compile_time: Some(CompileTime::OF_MESA_22),
};

/// Mesa 25 takes longer to compile a kernel than Mesa 22.3 does, and makes faster code of a short one. Measured (GEMM 1024, 2 cores; time
/// of a call, and of the first call with its compilation): 16×16 in steps of four 223 ms, 5.0 s; in steps of one 151 ms,
/// 3.0 s; 8×8 in steps of four 298 ms, 1.3 s; in steps of one 153 ms, 0.6 s; 8×4 343 ms, 0.6 s; 4×16 230 ms, 0.8 s.
const SOFTWARE_OF_MESA_25: GpuTraits = GpuTraits {
    tiles: &[
        Tile::of_lanes(8, 8, 1),
        Tile::of_lanes(4, 8, 1),
        Tile::of_lanes(8, 4, 1),
        Tile::of_lanes(4, 4, 1),
    ],
    compile_time: Some(CompileTime::OF_MESA_25),
    ..SOFTWARE
};

/// The first version of Mesa that compiles kernels without barriers as functions and not as coroutines, as 25 does. 22 makes
/// coroutines; what is between was not measured.
const FUNCTIONS_SINCE: u32 = 23;
