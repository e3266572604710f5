//! What a launch takes on a device, from counts of what it does.
//!
//! There is one formula. `explain` counts in kernel IR; schedule rules estimate the counts of a tile before it is built.

use serde::Serialize;

use super::GpuModel;

/// Bytes that loads and stores move as a whole.
pub const SECTOR_BYTES: u32 = 32;

/// Threads a core needs to keep its memory busy, as a share of those that it can hold, if each has asked for [`ASKED_BY_THREAD`].
const BUSY_SHARE: f64 = 0.25;

/// Bytes that a thread has asked for at once, where nothing else is known: one vector.
const ASKED_BY_THREAD: f64 = 16.0;

/// What a launch does, in the whole unless it says otherwise.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Counts {
    /// Workgroups of all dispatches.
    pub groups: f64,
    /// Dispatches.
    pub dispatches: f64,
    /// Threads of a workgroup.
    pub threads: u32,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: i64,
    /// Fused multiplications and additions of floats.
    pub fma: f64,
    /// The same in products of tiles, which subgroups make.
    pub tile_fma: f64,
    /// Other operations of floats that take as long.
    pub arithmetic: f64,
    /// Operations on integers, which compute indices and conditions.
    pub integers: f64,
    /// Divisions, roots, exponentials and the like.
    pub special: f64,
    /// Barriers of a workgroup before which something is loaded from global memory: the threads wait for it, too.
    pub waits: f64,
    /// Bytes of global memory that a workgroup has asked for when it waits, on average.
    pub asked: f64,
    /// Sectors of global memory.
    pub sectors: f64,
    /// Passes over the banks of shared memory.
    pub bank_passes: f64,
    /// Elements that threads read from shared memory.
    pub shared_reads: f64,
    /// Bytes of tensors that must move at least.
    pub bytes: f64,
    /// Those of them that only kernels of the same program see.
    pub own_bytes: f64,
}

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

impl Counts {
    /// Holds the counts against a device.
    ///
    /// Parts overlap, so the longest one decides, with these exceptions: arithmetic stops at barriers; threads make operations on integers
    /// and those on floats one after the other; products wait for what is read of shared memory.
    /// What is asked for more than once is taken to be near by then.
    pub fn predict(&self, model: &GpuModel) -> Prediction {
        let (resident, resident_limit) = self.resident(model);
        let cores = f64::from(model.cores);
        if self.groups == 0.0 {
            return Prediction {
                time: 0.0,
                limit: Limit::NoWorkgroups,
                parts: vec![],
                resident,
                resident_limit,
                busy: 0.0,
            };
        }
        let threads = f64::from(self.threads);
        // Cores run whole groups: the last ones leave others idle.
        let of_core = (self.groups / cores).ceil();
        let busy = self.groups / (of_core * cores);
        let at_once = f64::from(resident.max(1));
        let cycles = cores * model.clock * busy;
        let lanes = (threads / f64::from(model.subgroup)).ceil() * f64::from(model.subgroup);
        // A core of a GPU without as many threads as lanes leaves lanes idle.
        let filled = match model.banks {
            Some(_) => (at_once.min(of_core) * lanes / model.fma_per_cycle).min(1.0),
            None => 1.0,
        };
        let per_cycle = model.fma_per_cycle * filled * cycles * threads / lanes;
        let operands =
            model.shared_operands * self.shared_reads * (self.shared_reads / self.fma).min(1.0);
        let operands = if self.fma > 0.0 { operands } else { 0.0 };
        let issued = self.fma + self.arithmetic + self.integers.max(operands);
        let arithmetic = issued / per_cycle;
        let integers = self.integers / per_cycle;
        let special = self.special * lanes / threads / (model.special_per_cycle * cycles);
        let sectors = self.sectors / (model.sectors_per_cycle * cycles);
        let memory = self.memory(model, at_once);
        let shared = match model.banks {
            Some(_) => self.bank_passes / cycles,
            None => self.bank_passes / (model.sectors_per_cycle * cycles),
        };
        let tiles = match self.tile_fma {
            0.0 => 0.0,
            fma => fma / (model.tile_fma_per_cycle * cycles) + model.passes_of_tiles * shared,
        };
        // Workgroups that a core holds at once wait at the same time.
        let turns = (self.groups / (cores * at_once)).ceil();
        let barriers = self.waits * model.latency * turns / model.clock;
        let start = model.launch * self.dispatches;
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
        let longest = |(part, seconds): &(Limit, f64)| match part {
            Limit::Launch => 0.0,
            Limit::Arithmetic | Limit::Tiles => seconds + barriers,
            _ => *seconds,
        };
        let work = parts.iter().map(longest).fold(0.0, f64::max);
        let limit = match parts[0] {
            (Limit::Launch, launch) if launch >= work => Limit::Launch,
            _ => {
                let mut all = parts.iter().filter(|part| part.0 != Limit::Launch);
                let first = all.find(|part| longest(part) >= work);
                first.map_or(Limit::Launch, |part| part.0)
            }
        };
        Prediction {
            time: start + work,
            limit,
            parts,
            resident,
            resident_limit,
            busy,
        }
    }

    /// Seconds that tensors take from memory, and what the program hands on to itself from the cache of the device.
    fn memory(&self, model: &GpuModel, at_once: f64) -> f64 {
        let cores = f64::from(model.cores);
        let groups = self.groups.min(cores * at_once);
        let of_group = (ASKED_BY_THREAD * f64::from(self.threads)).max(self.asked);
        let wanted = cores * f64::from(model.threads) * BUSY_SHARE * ASKED_BY_THREAD;
        let reach = (groups * of_group / wanted).min(1.0);
        // A kernel that gathers does not read all of its tables.
        let moved = self.bytes.min(self.sectors * f64::from(SECTOR_BYTES));
        let own = match self.own_bytes <= model.cache_bytes {
            true => self.own_bytes.min(moved),
            false => 0.0,
        };
        let cache = model.cached_per_cycle * cores * model.clock;
        ((moved - own) / model.memory + own / cache) / reach
    }

    /// How many workgroups a core holds, and what decides it.
    fn resident(&self, model: &GpuModel) -> (u32, &'static str) {
        let registers = self.registers.clamp(16, model.most_registers) * self.threads;
        let by_shared = match self.shared_bytes {
            0 => model.groups,
            bytes => u32::try_from(model.shared_bytes / bytes).unwrap_or(u32::MAX),
        };
        let limits = [
            (model.groups, "workgroups of a core"),
            (model.threads / self.threads.max(1), "threads of a core"),
            (model.registers / registers.max(1), "registers"),
            (by_shared, "shared memory"),
        ];
        let least = limits.into_iter().min_by_key(|(groups, _)| *groups);
        least.unwrap_or((0, ""))
    }
}
