//! Default rules for GPUs, in the order in which they are tried. Producers are inlined before that.
//!
//! | rule | for | form |
//! |---|---|---|
//! | `matmul` | `C += A * B` | tiles in registers; operands through shared memory, except on software adapters |
//! | `rows` | reductions over rows and what follows them (softmax, normalisation) | a workgroup per row, reduced by its threads |
//! | `elementwise` | spatial blocks | one fused loop over threads, vectors of 4 where the extent allows |
//! | `fallback` | other independent iterations | spatial loops over threads, the rest serial |
//! | `serial` | anything | one thread runs the loops as they are written |
//!
//! References: TVM's dlight rules of the same names.

mod elementwise;
mod fallback;
mod inline;
mod matmul;
mod rows;
mod serial;
mod tile;

pub(super) use inline::inline_producers;
pub(super) use serial::{bind_rest, in_one_thread};

use super::{DeclineReason, DefaultRule, SERIAL};
use crate::ir::LoopId;
use crate::kernel::{GpuClass, GpuTarget};
use crate::sched::Schedule;

/// The rules; the last one takes every block.
pub(super) const RULES: &[DefaultRule<GpuTarget>] = &[
    DefaultRule {
        name: "matmul",
        apply: matmul::apply,
    },
    DefaultRule {
        name: "rows",
        apply: rows::apply,
    },
    DefaultRule {
        name: "elementwise",
        apply: elementwise::apply,
    },
    DefaultRule {
        name: "fallback",
        apply: fallback::apply,
    },
    DefaultRule {
        name: SERIAL,
        apply: serial::apply,
    },
];

/// Threads of a workgroup for kernels that memory bounds: enough to hide latency, few enough to spread small tensors over the
/// cores.
fn memory_threads(target: &GpuTarget) -> i64 {
    let wanted = match target.class {
        GpuClass::Nvidia | GpuClass::Amd | GpuClass::Intel => 256,
        GpuClass::Software | GpuClass::Mobile | GpuClass::Apple | GpuClass::Unknown => 64,
    };
    wanted.min(i64::from(target.max_threads))
}

/// One loop of neighbouring ones. Loops of extent 1 stay where they are, around it, unless there is no other.
fn fuse_loops(schedule: &mut Schedule, loops: &[LoopId]) -> Result<LoopId, DeclineReason> {
    let runs_once = |l: &LoopId| schedule.func().loops[*l].extent.is_one();
    let (units, others): (Vec<LoopId>, Vec<LoopId>) = loops.iter().partition(|l| runs_once(l));
    match others.as_slice() {
        [] => units
            .last()
            .copied()
            .ok_or(DeclineReason::Pattern("no loop left to fuse")),
        [one] => Ok(*one),
        several => {
            if !units.is_empty() {
                schedule.reorder(&[units, several.to_vec()].concat())?;
            }
            Ok(schedule.fuse(several)?)
        }
    }
}
