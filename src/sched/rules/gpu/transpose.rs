//! Copies that transpose, and what else reads along another axis than it writes: through tiles in shared memory.
//!
//! The threads of a workgroup read rows of a tile, neighbours in memory to neighbours, and write its columns as rows of the
//! result. Rows of the tile lie one word further than a multiple of the banks, so that no column meets in one.
//!
//! Reference: G. Ruetsch, P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).

use super::loops::{fuse_loops, inner_loops, parts};
use super::traits::GpuTraits;
use crate::ir::{BlockId, IterVar, LoopId, ThreadAxis};
use crate::kernel::GpuTarget;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::pattern::{Pattern, classify, neighbours};
use crate::sched::{Factor, InsertAt, Schedule, UnitIters};

/// Rows and columns of a tile: as many as there are banks.
const TILE: i64 = 32;

/// Rows of a tile that the threads of a workgroup have at once.
const ROWS: i64 = 8;

/// Arrays that are read through tiles; what they hold must fit every device.
const MOST_TILES: usize = 3;

pub(super) fn apply(
    sch: &mut Schedule,
    block: BlockId,
    target: &GpuTarget,
) -> Result<(), DeclineReason> {
    GpuTraits::need_fast_shared(target)?;
    if !matches!(classify(sch.func(), block), Pattern::Injective) {
        return Err(DeclineReason::Pattern("not injective"));
    }
    let loops = sch.get_loops(block)?;
    let Crossing { row, column, reads } = Crossing::of(sch, block, &loops)?;
    let others = (0..loops.len()).filter(|at| ![row, column].contains(at));
    let others: Vec<LoopId> = others.map(|at| loops[at]).collect();
    let (row, column) = (loops[row], loops[column]);
    sch.reorder(&[&others[..], &[column, row]].concat())?;
    let [co, ci] = parts(sch, column, [Factor::Infer, TILE.into()])?;
    let [ro, ri] = parts(sch, row, [Factor::Infer, TILE.into()])?;
    let [cs, ct] = parts(sch, ci, [Factor::Infer, ROWS.into()])?;
    sch.reorder(&[co, ro, ct, ri, cs])?;
    if !others.is_empty() {
        let outer = fuse_loops(sch, &others)?;
        sch.bind(outer, ThreadAxis::BlockIdxZ)?;
    }
    sch.bind(co, ThreadAxis::BlockIdxY)?;
    sch.bind(ro, ThreadAxis::BlockIdxX)?;
    sch.bind(ct, ThreadAxis::ThreadIdxY)?;
    sch.bind(ri, ThreadAxis::ThreadIdxX)?;
    sch.unroll(cs)?;
    for (read, dimension) in reads {
        let copy = sch.cache_read(block, read, "shared", &[block])?;
        sch.storage_align(copy, 0, dimension, TILE, 1)?;
        sch.compute_at(copy, ro, UnitIters::Simplify, InsertAt::Latest)?;
        let [rows, columns] = inner_loops(sch, copy, ro)?[..] else {
            return Err(DeclineReason::Pattern(
                "a tile of other than two dimensions",
            ));
        };
        let [rs, rt] = parts(sch, rows, [Factor::Infer, ROWS.into()])?;
        sch.reorder(&[rt, columns, rs])?;
        sch.bind(rt, ThreadAxis::ThreadIdxY)?;
        sch.bind(columns, ThreadAxis::ThreadIdxX)?;
        sch.unroll(rs)?;
    }
    Ok(())
}

/// Which iter variables a block reads and writes along.
struct Crossing {
    /// Neighbours of it are neighbours in the result.
    row: usize,
    /// Neighbours of it are neighbours in these reads.
    column: usize,
    /// Positions of reads, each with the dimension that the row names.
    reads: Vec<(usize, i64)>,
}

impl Crossing {
    fn of(sch: &Schedule, block: BlockId, loops: &[LoopId]) -> Result<Self, DeclineReason> {
        let info = &sch.func().blocks[block];
        let of_loop = |(at, &l): (usize, &LoopId)| {
            info.bindings.get(at).and_then(|binding| binding.as_var())
                == Some(&sch.func().loops[l].var)
        };
        if loops.len() != info.iters.len() || !loops.iter().enumerate().all(of_loop) {
            return Err(DeclineReason::Pattern(
                "not one loop for each iter variable",
            ));
        }
        let [write] = info.writes.as_slice() else {
            return Err(DeclineReason::Pattern("not one result"));
        };
        let none = DeclineReason::Pattern("nothing is read along another axis than it is written");
        let Some(row) = neighbours(info, write) else {
            return Err(none);
        };
        let is_long = |iter: &IterVar| iter.dom.extent.as_int().is_none_or(|n| 2 * n >= TILE);
        let mut column = None;
        let mut reads = vec![];
        for (index, read) in info.reads.iter().enumerate() {
            let along = neighbours(info, read);
            let row_var = &info.iters[row].var;
            let mut named = (0..read.region.len()).filter(|d| read.region[*d].min.uses(row_var));
            let (Some(along), Some(dimension), None) = (along, named.next(), named.next()) else {
                continue;
            };
            let lone = read.region[dimension].min.as_var() == Some(row_var);
            if along != row && lone && column.is_none_or(|column| column == along) {
                column = Some(along);
                reads.push((index, dimension as i64));
            }
        }
        match column {
            Some(column)
                if is_long(&info.iters[row])
                    && is_long(&info.iters[column])
                    && reads.len() <= MOST_TILES =>
            {
                Ok(Self { row, column, reads })
            }
            _ => Err(none),
        }
    }
}
