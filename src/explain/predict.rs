//! Counts held against a device: how many workgroups a core holds, how long the launch takes, and what keeps it from being faster.

use serde::Serialize;

use super::GpuModel;
use super::KernelCost;
use super::transactions::SECTOR_BYTES;

/// Threads a core needs to keep its memory busy, as a share of those that it can hold.
const BUSY_SHARE: f64 = 0.25;

/// How often what goes through shared memory counts where it feeds products of tiles, which wait for it (measured on an H200: square
/// products of 512 to 8192 take 0.89 to 1.04 times as long as predicted so, and up to 2.4 times as long as the longer of both).
const PASSES_OF_TILES: f64 = 2.0;

/// What a launch waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Multiplications and additions of floats, and all operations on integers.
    Arithmetic,
    /// The part of it that computes indices and conditions.
    Integers,
    /// Products of tiles, and what they wait for.
    Tiles,
    /// Divisions, roots and exponentials.
    Special,
    /// Tensors that come from memory.
    Memory,
    /// Sectors that loads and stores of a core go through.
    Sectors,
    /// Banks of shared memory.
    Shared,
    /// Threads that wait for each other, and for what they then load.
    Barriers,
    /// The start of the dispatch.
    Launch,
    /// Nothing: there are no workgroups, so the launch does not take place.
    NoWorkgroups,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Arithmetic => "arithmetic",
            Self::Integers => "integers",
            Self::Tiles => "products of tiles",
            Self::Special => "divisions, roots and exponentials",
            Self::Memory => "bytes of memory",
            Self::Sectors => "loads and stores",
            Self::Shared => "shared memory",
            Self::Barriers => "barriers",
            Self::Launch => "the start of a dispatch",
            Self::NoWorkgroups => "no workgroups",
        })
    }
}

/// What a model says of a launch.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Prediction {
    /// Seconds.
    pub time: f64,
    /// What it waits for.
    pub limit: Limit,
    /// Seconds that each part would take by itself, the longest first; none for a launch without workgroups.
    pub parts: Vec<(Limit, f64)>,
    /// Workgroups that a core holds at once; 0 if one does not fit.
    pub resident: u32,
    /// What keeps it from holding more.
    pub resident_limit: &'static str,
    /// Share of the cores that work, over the time of the launch.
    pub busy: f64,
}

/// Holds the counts of a launch against a device.
///
/// Each part is taken to overlap with the others wholly, so the longest one decides. But threads make operations on integers and those
/// on floats one after the other, and products of tiles wait for what is read of shared memory. What is asked for more than once is taken to be near by then.
pub fn predict(cost: &KernelCost, model: &GpuModel) -> Prediction {
    let (resident, resident_limit) = resident(cost, model);
    let cores = f64::from(model.cores);
    let groups = cost.groups();
    if groups == 0.0 {
        return Prediction {
            time: 0.0,
            limit: Limit::NoWorkgroups,
            parts: vec![],
            resident,
            resident_limit,
            busy: 0.0,
        };
    }
    // Cores run whole groups: the last ones leave others idle.
    let busy = groups / ((groups / cores).ceil() * cores);
    let in_flight = groups.min(cores * f64::from(resident.max(1))) * f64::from(cost.threads);
    let wanted = cores * f64::from(model.threads) * BUSY_SHARE;
    let reach = (in_flight / wanted).min(1.0);
    let cycles = cores * model.clock * busy;
    let lanes = (f64::from(cost.threads) / f64::from(model.subgroup)).ceil()
        * f64::from(model.subgroup)
        / f64::from(cost.threads);
    let issued = cost.fma + cost.arithmetic + cost.integers;
    let arithmetic = issued * lanes / (model.fma_per_cycle * cycles);
    let integers = cost.integers * lanes / (model.fma_per_cycle * cycles);
    let special = cost.special * lanes / (model.special_per_cycle * cycles);
    let sectors = cost.sectors() / (model.sectors_per_cycle * cycles);
    // A kernel that gathers does not read all of its tables.
    let moved = (cost.bytes as f64).min(cost.sectors() * f64::from(SECTOR_BYTES));
    let memory = moved / (model.memory * reach);
    let shared = match model.banks {
        Some(_) => cost.bank_passes() / cycles,
        None => cost.bank_passes() / (model.sectors_per_cycle * cycles),
    };
    let tiles = match cost.tile_fma {
        0.0 => 0.0,
        fma => fma / (model.tile_fma_per_cycle * cycles) + PASSES_OF_TILES * shared,
    };
    // Workgroups that a core holds at once wait at the same time.
    let turns = (groups / (cores * f64::from(resident.max(1)))).ceil();
    let barriers = cost.waits * model.latency * turns / model.clock;
    let start = model.launch * cost.dispatches as f64;
    let mut parts = vec![
        (Limit::Arithmetic, arithmetic),
        (Limit::Integers, integers),
        (Limit::Tiles, tiles),
        (Limit::Special, special),
        (Limit::Memory, memory),
        (Limit::Sectors, sectors),
        (Limit::Shared, shared),
        (Limit::Barriers, barriers),
        (Limit::Launch, start),
    ];
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (limit, _) = parts[0];
    let work = parts.iter().find(|(part, _)| *part != Limit::Launch);
    let time = start + work.map_or(0.0, |(_, longest)| *longest);
    Prediction {
        time,
        limit,
        parts,
        resident,
        resident_limit,
        busy,
    }
}

/// How many workgroups a core holds, and what decides it.
fn resident(cost: &KernelCost, model: &GpuModel) -> (u32, &'static str) {
    let registers = cost.registers.clamp(16, model.most_registers) * cost.threads;
    let by_shared = match cost.shared_bytes {
        0 => model.groups,
        bytes => u32::try_from(model.shared_bytes / bytes).unwrap_or(u32::MAX),
    };
    let limits = [
        (model.groups, "workgroups of a core"),
        (model.threads / cost.threads.max(1), "threads of a core"),
        (model.registers / registers.max(1), "registers"),
        (by_shared, "shared memory"),
    ];
    let least = limits.into_iter().min_by_key(|(groups, _)| *groups);
    least.unwrap_or((0, ""))
}
