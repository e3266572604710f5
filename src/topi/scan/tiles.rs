//! The scan in tiles, for machines with workgroups: a workgroup takes a tile of a line, or of several lines, and goes on to the next tile
//! of them where there are enough workgroups without that. Else tiles of a line are for workgroups of their own: a first pass sums each
//! tile, a second one scans the sums of tiles, and the third scans the tiles, each of which begins with the sum before it.
//!
//! ```text
//! for group, tile:                                   # any order
//!     values[line, chunk, step] = x                  # all threads, neighbours in memory to neighbours
//!     for line, chunk:                               # a thread each
//!         sums[line, chunk] = sum(values[line, chunk])
//!     sums = scan(sums)                              # Hillis and Steele
//!     for line, chunk:
//!         values[line, chunk] = scan(values[line, chunk]), from sums[line, chunk - 1] on
//!     result = values                                # all threads
//! ```
//!
//! # References
//! D. Merrill, A. Grimshaw, "Parallel Scan for Stream Architectures", 2009 (reduce, then scan); W. D. Hillis, G. L. Steele, "Data Parallel
//! Algorithms", 1986.

use super::writer::TileWriter;
use super::{Line, Scan};
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::topi::extent::{quotient, scaled, shifted, sum};
use crate::topi::{Workgroups, volume};

/// Threads of a workgroup.
const THREADS: i64 = 64;
/// Elements of a thread, at most: each of them is in a register. Rows of as many elements as shared memory has banks let neighbours
/// load vectors without a conflict.
const STEPS: i64 = 32;
/// Elements of a thread, at least, where lines are cut to keep the cores busy.
const FEWEST_STEPS: i64 = 8;
/// Workgroups for each core, at least, where one goes through all tiles of a line.
const GROUPS_PER_CORE: i64 = 2;
/// Bytes of shared memory of a workgroup, at most, so that a core holds several.
const SHARED_BYTES: i64 = 12 << 10;
/// Elements of a vector.
const LANES: i64 = 4;
/// Threads that share the first sum of a tile of neighbouring lines.
const PARTS: i64 = 32;

/// How a workgroup scans lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tiles {
    /// Lines of a workgroup.
    pub(super) lines: i64,
    /// Chunks of a line in a tile, a power of two. A thread scans a chunk.
    pub(super) chunks: i64,
    /// Elements of a chunk.
    pub(super) steps: i64,
    /// Whether the lines of a workgroup, and not the elements of a line, lie beside each other in memory.
    pub(super) across: bool,
}

impl Tiles {
    /// Those for lines of a tensor along an axis; `None` where threads would not read neighbours, or do so without tiles.
    pub(super) fn of(line: &Line, shape: &[Expr], workgroups: Workgroups) -> Option<Self> {
        let bytes = line.wide.bytes() as i64;
        let most = workgroups.shared_bytes.min(SHARED_BYTES);
        let fits = |steps: &i64| THREADS * (steps + 3) * bytes <= most;
        let steps = [STEPS, STEPS / 2, STEPS / 4].into_iter().find(fits)?;
        if !workgroups.fast_shared || workgroups.threads < THREADS {
            return None;
        }
        let extent = shape[line.axis].as_int();
        match volume(&shape[line.axis + 1..]).as_int()? {
            1 => {
                let lines = volume(&shape[..line.axis]).as_int();
                Some(Self::of_rows(extent, lines, steps, workgroups))
            }
            inner @ 2..STEPS => {
                let chunks = 1 << (THREADS / inner).ilog2();
                Some(Self {
                    lines: inner,
                    chunks,
                    steps: extent.map_or(steps, |n| steps_of(n, chunks).min(steps)),
                    across: true,
                })
            }
            _ => None,
        }
    }

    /// Those for lines whose elements lie beside each other. A workgroup takes several short lines, as long as all cores have enough.
    fn of_rows(
        extent: Option<i64>,
        lines: Option<i64>,
        steps: i64,
        workgroups: Workgroups,
    ) -> Self {
        let Some(extent) = extent else {
            return Self {
                lines: 1,
                chunks: THREADS,
                steps,
                across: false,
            };
        };
        let of_line = (extent as u64).div_ceil(steps as u64).max(1);
        let mut chunks = THREADS.min(of_line.next_power_of_two().min(1 << 32) as i64);
        let is_few = |chunks: i64| {
            let groups = lines.map(|lines| lines / (THREADS / chunks));
            groups.is_some_and(|groups| groups < GROUPS_PER_CORE * workgroups.cores)
        };
        while chunks < THREADS && is_few(chunks) && extent > chunks * FEWEST_STEPS {
            chunks *= 2;
        }
        let all = lines.map_or(THREADS, |n| (n.max(1) as u64).next_power_of_two() as i64);
        Self {
            lines: (THREADS / chunks).min(all),
            chunks,
            steps: steps_of(extent, chunks).min(steps),
            across: false,
        }
    }

    /// Elements of a line in a tile.
    pub(super) fn width(&self) -> i64 {
        self.chunks * self.steps
    }
}

/// Elements of each of so many chunks of a line: whole vectors, if the line has whole ones.
fn steps_of(extent: i64, chunks: i64) -> i64 {
    let steps = (extent as u64).div_ceil(chunks as u64).max(1) as i64;
    match extent % LANES {
        0 => (steps as u64).next_multiple_of(LANES as u64) as i64,
        _ => steps,
    }
}

impl Line {
    /// The scan by workgroups of these tiles.
    pub(super) fn scan_in_tiles(
        &self,
        x: &Tensor,
        dtype: DType,
        tiles: Tiles,
        workgroups: Workgroups,
    ) -> Tensor {
        if self.goes_through(x.shape(), tiles, workgroups) {
            return self.in_tiles(x, dtype, tiles, None);
        }
        let sums = match tiles.across {
            true => self.sums_of_neighbours(x, tiles),
            false => self.sums_of_tiles(x, tiles),
        };
        let before = Self {
            name: format!("{}_before", self.name),
            scan: Scan {
                exclusive: true,
                reverse: false,
            },
            ..self.clone()
        };
        let of_sums = Tiles::of(&before, sums.shape(), workgroups).unwrap_or(tiles);
        let before = before.in_tiles(&sums, self.wide, of_sums, None);
        self.in_tiles(x, dtype, tiles, Some(&before))
    }

    /// Whether a workgroup goes through all tiles of its lines.
    fn goes_through(&self, shape: &[Expr], tiles: Tiles, workgroups: Workgroups) -> bool {
        let extent = shape[self.axis].as_int();
        let groups = volume(&self.groups(shape, tiles)).as_int();
        extent.is_some_and(|n| n <= tiles.width())
            || groups.is_some_and(|groups| groups >= GROUPS_PER_CORE * workgroups.cores)
    }

    /// Of how many workgroups each has lines of its own.
    fn groups(&self, shape: &[Expr], tiles: Tiles) -> Vec<Expr> {
        let outer = &shape[..self.axis];
        if tiles.across || tiles.lines == 1 {
            return outer.to_vec();
        }
        let lines = shifted(&volume(outer), tiles.lines - 1);
        vec![quotient(&lines, &Expr::i64(tiles.lines))]
    }

    /// How many tiles a line has.
    fn count(&self, shape: &[Expr], tiles: Tiles) -> Expr {
        let width = tiles.width();
        quotient(&shifted(&shape[self.axis], width - 1), &Expr::i64(width))
    }

    /// An element by its place in a tile; the identity behind the end of the line.
    fn element_of_tile(&self, x: &Tensor, at: &[Expr], k: &Expr, width: i64) -> Expr {
        let extent = &x.shape()[self.axis];
        let place = sum(&scaled(&at[self.axis], width), k);
        let mut index = at.to_vec();
        index[self.axis] = self.along(&place, extent);
        let element = x.at(index).cast(self.wide);
        match extent.as_int().is_some_and(|n| n % width == 0) {
            true => element,
            false => te::if_then_else(place.lt(extent), element, self.identity()),
        }
    }

    /// All elements of each tile combined: the shape of `x` with tiles in the place of elements.
    fn sums_of_tiles(&self, x: &Tensor, tiles: Tiles) -> Tensor {
        let mut shape = x.shape().to_vec();
        shape[self.axis] = self.count(&shape, tiles);
        let step = te::reduce_axis("step", tiles.width());
        te::compute(format!("{}_tiles", self.name), shape, |i| {
            let element = self.element_of_tile(x, i, &step.expr(), tiles.width());
            self.combined(element, &step)
        })
    }

    /// The same for lines that lie beside each other: first of every 32nd element, so that neighbours read neighbours.
    fn sums_of_neighbours(&self, x: &Tensor, tiles: Tiles) -> Tensor {
        let mut shape = x.shape().to_vec();
        shape[self.axis] = self.count(&shape, tiles);
        let mut of_parts = shape.clone();
        of_parts.insert(self.axis + 1, Expr::i64(PARTS));
        let step = te::reduce_axis("step", (tiles.width() as u64).div_ceil(PARTS as u64) as i64);
        let parts = te::compute(format!("{}_parts", self.name), of_parts, |i| {
            let mut at = i.to_vec();
            let part = at.remove(self.axis + 1);
            let k = sum(&scaled(&step.expr(), PARTS), &part);
            let element = self.element_of_tile(x, &at, &k, tiles.width());
            self.combined(element, &step)
        });
        let part = te::reduce_axis("part", PARTS);
        te::compute(format!("{}_tiles", self.name), shape, |i| {
            let mut at = i.to_vec();
            at.insert(self.axis + 1, part.expr());
            self.combined(parts.at(at), &part)
        })
    }

    /// The scan of each tile, which begins with an element of `before`; of whole lines without that.
    fn in_tiles(&self, x: &Tensor, dtype: DType, tiles: Tiles, before: Option<&Tensor>) -> Tensor {
        let shape = x.shape().to_vec();
        let mut axes = self.groups(&shape, tiles);
        let of_groups = axes.len();
        axes.extend(before.map(|_| self.count(&shape, tiles)));
        let inputs: Vec<Tensor> = [x].into_iter().chain(before).cloned().collect();
        let line = self.clone();
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let at: Vec<Expr> = at.iter().map(Var::expr).collect();
            let (group, tile) = at.split_at(of_groups);
            let count = line.count(from[0].shape(), tiles);
            let writer = TileWriter {
                line: &line,
                tiles,
                group,
                x: &from[0],
                out: &to[0],
            };
            match (from.get(1), tile) {
                (Some(before), [tile]) => writer.tile(b, tile, Some(before)),
                _ if count.is_one() => writer.tile(b, &Expr::i64(0), None),
                _ => writer.all_tiles(b, &count),
            }
        };
        let result = vec![(shape, dtype)];
        te::extern_each(self.name.as_str(), axes, &inputs, result, write).remove(0)
    }
}
