//! The numbers of a device of each class: predictions are held against them, and schedule rules rank tiles by them.

use serde::Serialize;

use super::{GpuClass, GpuTarget};

/// Banks of shared memory, each of one word, of GPUs of all classes that have such memory.
pub const BANKS: i64 = 32;

/// The numbers of a device. WebGPU gives none of them, so each class stands for one device that is common in it, which
/// [`GpuModel::device`] names; figures are those of the vendor, unless they say that they were measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GpuModel {
    /// The device whose numbers these are.
    pub device: &'static str,
    /// Threads that run in step.
    pub subgroup: u32,
    /// Units that run workgroups: multiprocessors, compute units, cores.
    pub cores: u32,
    /// Cycles a second.
    pub clock: f64,
    /// Fused multiplications and additions of `f32`, or operations on integers, a cycle and core.
    pub fma_per_cycle: f64,
    /// The same of products of fragments that are added up in `f32`.
    pub tile_fma_per_cycle: f64,
    /// Operations for an element of shared memory that feeds a multiplication, where one is read for each. The fewer are read, the better
    /// they hide behind multiplications: `shared_operands * share²`. Operations on integers hide behind the same reads.
    pub shared_operands: f64,
    /// How often what goes through shared memory counts where it feeds products of fragments, which wait for it.
    pub passes_of_tiles: f64,
    /// Divisions, roots and exponentials a cycle and core.
    pub special_per_cycle: f64,
    /// Bytes a second of the memory.
    pub memory: f64,
    /// Sectors a cycle and core that loads and stores go through.
    pub sectors_per_cycle: f64,
    /// Banks of shared memory; each gives four bytes a cycle. `None` where shared memory is ordinary memory.
    pub banks: Option<u32>,
    /// Bytes a cycle and core of the cache that all cores share.
    pub cached_per_cycle: f64,
    /// Bytes of that cache.
    pub cache_bytes: f64,
    /// Cycles from a barrier to the next beside what threads compute, where they load from memory of the device between.
    pub latency: f64,
    /// Bytes of shared memory of a core.
    pub shared_bytes: i64,
    /// 32-bit registers of a core.
    pub registers: u32,
    /// Most registers of a thread.
    pub most_registers: u32,
    /// Most threads on a core.
    pub threads: u32,
    /// Most workgroups on a core.
    pub groups: u32,
    /// Seconds that a dispatch takes at least.
    pub launch: f64,
}

impl GpuModel {
    /// The SXM form of the H100, on which predictions were held against measurements.
    pub fn h100() -> Self {
        Self {
            device: "H100 SXM",
            cores: 132,
            clock: 1.98e9,
            memory: 3.35e12,
            cache_bytes: 50e6,
            tile_fma_per_cycle: 2048.0,
            threads: 2048,
            groups: 32,
            ..Self::of(GpuClass::Nvidia)
        }
    }

    /// The model of a target: a device of this table with as many cores, or that of its class with the cores that are known.
    pub fn of_target(target: &GpuTarget) -> Self {
        let model = Self::of(target.class);
        let Some(cores) = target.known_cores else {
            return model;
        };
        let h100 = Self::h100();
        if target.class == GpuClass::Nvidia && cores == h100.cores {
            return h100;
        }
        let cores = cores.max(1);
        Self { cores, ..model }
    }

    /// Cycles that a dispatch takes at least.
    pub fn launch_cycles(&self) -> f64 {
        self.launch * self.clock
    }

    /// The model of a class; an unknown device is taken for a small one.
    pub fn of(class: GpuClass) -> Self {
        let desktop = Self {
            device: "GeForce RTX 4070",
            subgroup: 32,
            cores: 46,
            clock: 2.475e9,
            fma_per_cycle: 128.0,
            tile_fma_per_cycle: 256.0,
            // Measured on an H200 with 220 products of 256 to 4096 in each direction, six tiles and 1 to 16 slices.
            shared_operands: 3.0,
            // Measured on an H200: square products of 512 to 8192 take 0.9 to 1.04 times as long as predicted so.
            passes_of_tiles: 1.3,
            special_per_cycle: 16.0,
            memory: 504e9,
            sectors_per_cycle: 4.0,
            banks: Some(BANKS as u32),
            // Fitted to products on an H200.
            latency: 400.0,
            // Measured on an H100, with sums of slices.
            cached_per_cycle: 16.0,
            cache_bytes: 36e6,
            // Measured on an H200, whose cores have 228 KB: Vulkan's driver lets workgroups of a core have 48 KB together.
            shared_bytes: 48 << 10,
            registers: 64 << 10,
            most_registers: 255,
            threads: 1536,
            groups: 24,
            // Measured on an H100: kernels that do next to nothing take 5 to 6 us, and a second kernel adds 6.
            launch: 6e-6,
        };
        match class {
            GpuClass::Nvidia => desktop,
            GpuClass::Amd => Self {
                device: "Radeon RX 7800 XT",
                cores: 60,
                clock: 2.43e9,
                fma_per_cycle: 64.0,
                memory: 624e9,
                cache_bytes: 64e6,
                sectors_per_cycle: 2.0,
                shared_bytes: 64 << 10,
                registers: 96 << 10,
                threads: 1024,
                groups: 16,
                ..desktop
            },
            GpuClass::Intel => Self {
                device: "Arc A770",
                cores: 32,
                subgroup: 16,
                clock: 2.1e9,
                memory: 560e9,
                cache_bytes: 16e6,
                sectors_per_cycle: 2.0,
                shared_bytes: 64 << 10,
                registers: 128 << 10,
                most_registers: 128,
                threads: 1024,
                groups: 16,
                ..desktop
            },
            GpuClass::Apple => Self {
                device: "M2, 10 cores",
                // Fragments are multiplied by the lanes that multiply floats. Measured on an M1 Max (P. Turner, metal-benchmarks): 8 x 8 x 8
                // of f32 take a quarter of a core 20.1 cycles, of f16 20.9, and 16 would be all that the lanes can.
                tile_fma_per_cycle: 100.0,
                // What subgroups read hides behind products of others: kernels of f32 reach 2.0 of 2.6 TFLOP/s on an M1 (FL33TW00D/wgpu-mm), and
                // llama.cpp 2.7 of 3.6 in f16 on this device (its discussion 4167), nearly all that the instruction allows.
                passes_of_tiles: 0.1,
                cores: 10,
                clock: 1.398e9,
                memory: 100e9,
                cache_bytes: 8e6,
                sectors_per_cycle: 2.0,
                // metal-benchmarks, too; a workgroup has a half of it at most.
                shared_bytes: 64 << 10,
                registers: 52 << 10,
                most_registers: 128,
                threads: 1024,
                groups: 24,
                launch: 8e-6,
                ..desktop
            },
            GpuClass::Mobile | GpuClass::Unknown => Self {
                device: "Adreno 740",
                cores: 6,
                subgroup: 64,
                clock: 0.68e9,
                fma_per_cycle: 256.0,
                memory: 67e9,
                cache_bytes: 1e6,
                sectors_per_cycle: 2.0,
                shared_bytes: 32 << 10,
                registers: 32 << 10,
                most_registers: 64,
                threads: 1024,
                groups: 16,
                launch: 20e-6,
                ..desktop
            },
            GpuClass::Software => Self {
                device: "lavapipe on two cores with AVX2",
                subgroup: 8,
                cores: 2,
                clock: 3e9,
                fma_per_cycle: 16.0,
                tile_fma_per_cycle: 16.0,
                shared_operands: 3.0,
                passes_of_tiles: 1.3,
                special_per_cycle: 0.5,
                memory: 20e9,
                sectors_per_cycle: 2.0,
                banks: None,
                latency: 0.0,
                cached_per_cycle: 16.0,
                cache_bytes: 0.0,
                shared_bytes: 32 << 10,
                registers: 1 << 20,
                most_registers: 1 << 10,
                threads: 1024,
                groups: 1,
                launch: 20e-6,
            },
        }
    }
}
