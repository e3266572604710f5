//! Writes the nests of a tile of a scan.

use super::Line;
use super::tiles::Tiles;
use crate::ir::{Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Scope, Var};
use crate::te;
use crate::topi::extent::{quotient, remainder, scaled, shifted, sum};
use crate::topi::{unravel, volume};

/// Writes the nests of a tile.
pub(super) struct TileWriter<'a> {
    pub(super) line: &'a Line,
    pub(super) tiles: Tiles,
    /// Which workgroup it is.
    pub(super) group: &'a [Expr],
    pub(super) x: &'a Buffer,
    pub(super) out: &'a Buffer,
}

/// The buffers of a tile. Those of chunks are `[lines, chunks]`.
struct Memory {
    /// `[lines, chunks, steps]`: elements, and then results.
    values: Buffer,
    /// The elements of a chunk, as its thread has them.
    own: Buffer,
    /// All elements of each chunk combined.
    totals: Buffer,
    /// Those of each chunk and some chunks before it, in turns.
    sums: [Buffer; 2],
    /// What the first element of each chunk is combined with.
    begin: Buffer,
}

/// Where a tile begins.
#[derive(Clone, Copy)]
enum Before<'a> {
    Nothing,
    /// With an element of this tensor.
    Element(&'a Buffer),
    /// With all elements of the tiles that the workgroup has scanned, as each chunk has them.
    Carry(&'a Buffer),
}

impl TileWriter<'_> {
    /// A tile that begins with an element of `before`, if there is such a tensor.
    pub(super) fn tile(&self, b: &mut PrimFuncBuilder, tile: &Expr, before: Option<&Buffer>) {
        let memory = self.memory(b);
        let before = before.map_or(Before::Nothing, Before::Element);
        self.write(b, &memory, tile, before);
    }

    /// So many tiles, one after the other.
    pub(super) fn all_tiles(&self, b: &mut PrimFuncBuilder, count: &Expr) {
        let memory = self.memory(b);
        let carry = self.of_chunks(b, "carry");
        b.nest("carry_first", self.chunk_axes([]), |b, at| {
            let at = [at[0].expr(), at[1].expr()];
            b.store(&carry, at, self.line.identity());
        });
        b.grid([("tile", count.clone())], |b, tile| {
            let axis = Axis::new(IterKind::Scan, "v_tile", count.clone());
            b.block("tile", [axis.bound_to(tile[0].expr())], |b, tile| {
                self.write(b, &memory, &tile[0].expr(), Before::Carry(&carry));
            });
        });
    }

    fn memory(&self, b: &mut PrimFuncBuilder) -> Memory {
        let Tiles {
            lines,
            chunks,
            steps,
            ..
        } = self.tiles;
        let mut alloc =
            |name: &str, shape: &[i64], scope| b.alloc(name, shape.to_vec(), self.line.wide, scope);
        // What a thread has of its chunk is local; it tells others the rest.
        Memory {
            values: alloc("values", &[lines, chunks, steps], Scope::Global),
            own: alloc("own", &[lines, chunks, steps], Scope::Local),
            totals: alloc("totals", &[lines, chunks], Scope::Local),
            sums: ["sums", "other_sums"].map(|name| alloc(name, &[lines, chunks], Scope::Global)),
            begin: alloc("begin", &[lines, chunks], Scope::Local),
        }
    }

    fn write(&self, b: &mut PrimFuncBuilder, memory: &Memory, tile: &Expr, before: Before<'_>) {
        let Memory { values, .. } = memory;
        self.elements(b, ("load", Elements::All), tile, |b, at| {
            let element = Expr::load(self.x, at.index.clone()).cast(self.line.wide);
            let element = match &at.exists {
                Some(exists) => te::if_then_else(exists.clone(), element, self.line.identity()),
                None => element,
            };
            b.store(values, at.place.clone(), element);
        });
        self.totals(b, memory);
        let sums = self.scan_totals(b, memory);
        self.begin(b, memory, tile, before, sums);
        if let Before::Carry(carry) = before {
            self.carry_on(b, carry, sums);
        }
        self.chunks(b, memory);
        self.elements(b, ("keep", Elements::ThatExist), tile, |b, at| {
            let value = Expr::load(values, at.place.clone());
            b.store(self.out, at.index.clone(), value.cast(self.out.dtype()));
        });
    }

    /// The elements of each chunk, in registers, and all of them combined.
    fn totals(&self, b: &mut PrimFuncBuilder, memory: &Memory) {
        let axes = self.chunk_axes([Axis::spatial("step", self.tiles.steps)]);
        b.nest("own", axes, |b, at| {
            let at: Vec<Expr> = at.iter().map(|at| at.expr()).collect();
            let value = Expr::load(&memory.values, at.clone());
            b.store(&memory.own, at, value);
        });
        let axes = self.chunk_axes([Axis::reduce("step", self.tiles.steps)]);
        b.nest("total", axes, |b, at| {
            let at: Vec<Expr> = at.iter().map(|at| at.expr()).collect();
            let chunk = &at[..2];
            b.init(|b| b.store(&memory.totals, chunk.to_vec(), self.line.identity()));
            let total = Expr::load(&memory.totals, chunk.to_vec());
            let next = self.combine(total, Expr::load(&memory.own, at.clone()));
            b.store(&memory.totals, chunk.to_vec(), next);
        });
    }

    /// The scan of the sums of chunks, in steps of twice the distance; gives the buffer that holds the result.
    fn scan_totals<'m>(&self, b: &mut PrimFuncBuilder, memory: &'m Memory) -> &'m Buffer {
        let [mut from, mut to] = memory.sums.each_ref();
        b.nest("sum", self.chunk_axes([]), |b, at| {
            let at = [at[0].expr(), at[1].expr()];
            let total = Expr::load(&memory.totals, at.to_vec());
            b.store(from, at, total);
        });
        let mut distance = 1;
        while distance < self.tiles.chunks {
            b.nest("sum_up", self.chunk_axes([]), |b, at| {
                let at = [at[0].expr(), at[1].expr()];
                let own = Expr::load(from, at.to_vec());
                let earlier = vec![at[0].clone(), shifted(&at[1], -distance).max(0)];
                let both = self.combine(Expr::load(from, earlier), own.clone());
                let sum = te::if_then_else(at[1].ge(distance), both, own);
                b.store(to, at, sum);
            });
            std::mem::swap(&mut from, &mut to);
            distance *= 2;
        }
        from
    }

    /// What each chunk begins with: what comes before the tile, and the chunks before it.
    fn begin(
        &self,
        b: &mut PrimFuncBuilder,
        memory: &Memory,
        tile: &Expr,
        before: Before<'_>,
        sums: &Buffer,
    ) {
        b.nest("begin", self.chunk_axes([]), |b, at| {
            let at = [at[0].expr(), at[1].expr()];
            let before = match before {
                Before::Nothing => self.line.identity(),
                Before::Element(before) => Expr::load(before, self.index(&at[0], tile)),
                Before::Carry(carry) => Expr::load(carry, at.to_vec()),
            };
            let earlier = Expr::load(sums, vec![at[0].clone(), shifted(&at[1], -1).max(0)]);
            let begin = match self.tiles.chunks {
                1 => before,
                _ => te::if_then_else(at[1].ge(1), self.combine(before.clone(), earlier), before),
            };
            b.store(&memory.begin, at, begin);
        });
    }

    /// The next tile begins with all chunks of this one.
    fn carry_on(&self, b: &mut PrimFuncBuilder, carry: &Buffer, sums: &Buffer) {
        let next = self.of_chunks(b, "next");
        b.nest("next", self.chunk_axes([]), |b, at| {
            let at = [at[0].expr(), at[1].expr()];
            let last = vec![at[0].clone(), Expr::i64(self.tiles.chunks - 1)];
            let carried = Expr::load(carry, at.to_vec());
            let sum = self.combine(carried, Expr::load(sums, last));
            b.store(&next, at, sum);
        });
        b.nest("carry", self.chunk_axes([]), |b, at| {
            let at = [at[0].expr(), at[1].expr()];
            b.store(carry, at.clone(), Expr::load(&next, at.to_vec()));
        });
    }

    /// A number of each chunk, which its thread has.
    fn of_chunks(&self, b: &mut PrimFuncBuilder, name: &str) -> Buffer {
        let shape = [self.tiles.lines, self.tiles.chunks];
        b.alloc(name, shape, self.line.wide, Scope::Local)
    }

    /// The scan of each chunk.
    fn chunks(&self, b: &mut PrimFuncBuilder, memory: &Memory) {
        b.nest("scan", self.chunk_axes([]), |b, chunk| {
            let chunk = [chunk[0].expr(), chunk[1].expr()];
            let running = b.alloc("running", [1i64], self.line.wide, Scope::Local);
            let first = [Expr::i64(0)];
            let value = || Expr::load(&running, first.to_vec());
            let begin = Expr::load(&memory.begin, chunk.to_vec());
            b.store(&running, first.clone(), begin);
            b.grid([("step", self.tiles.steps)], |b, step| {
                let at: Vec<Expr> = chunk.iter().cloned().chain([step[0].expr()]).collect();
                let keep = |b: &mut PrimFuncBuilder| b.store(&memory.values, at.clone(), value());
                let exclusive = self.line.scan.exclusive;
                if exclusive {
                    keep(b);
                }
                let next = self.combine(value(), Expr::load(&memory.own, at.clone()));
                b.store(&running, first.clone(), next);
                if !exclusive {
                    keep(b);
                }
            });
        });
    }

    fn combine(&self, earlier: Expr, later: Expr) -> Expr {
        Expr::binary(self.line.op, earlier, later)
    }

    /// The axes of lines and chunks, and others in them.
    fn chunk_axes<const N: usize>(&self, inner: [Axis; N]) -> Vec<Axis> {
        let lines = Axis::spatial("line", self.tiles.lines);
        let chunks = Axis::spatial("chunk", self.tiles.chunks);
        [lines, chunks].into_iter().chain(inner).collect()
    }

    /// A nest over all elements of a tile, in the order in which they lie in memory.
    fn elements(
        &self,
        b: &mut PrimFuncBuilder,
        (name, on): (&str, Elements),
        tile: &Expr,
        write: impl FnOnce(&mut PrimFuncBuilder, &Place),
    ) {
        let (lines, width) = (self.tiles.lines, self.tiles.width());
        let axes = match self.tiles.across {
            true => [("k", width), ("line", lines)],
            false => [("line", lines), ("k", width)],
        };
        let place = |at: &[Var]| {
            let (line, k) = match self.tiles.across {
                true => (at[1].expr(), at[0].expr()),
                false => (at[0].expr(), at[1].expr()),
            };
            self.place(tile, &line, &k)
        };
        b.grid(axes, |b, loops| {
            let bound = axes.iter().zip(loops).map(|((name, extent), l)| {
                Axis::spatial(format!("v_{name}"), *extent).bound_to(l.expr())
            });
            b.block(name, bound, |b, at| {
                if on == Elements::ThatExist
                    && let Some(exists) = place(loops).exists
                {
                    b.predicate(exists);
                }
                write(b, &place(at));
            });
        });
    }

    /// Element `k` of a line in a tile.
    fn place(&self, tile: &Expr, line: &Expr, k: &Expr) -> Place {
        let (steps, width) = (Expr::i64(self.tiles.steps), self.tiles.width());
        let extent = &self.x.shape()[self.line.axis];
        let place = sum(&scaled(tile, width), k);
        let is_whole = extent.as_int().is_some_and(|n| n % width == 0);
        let in_line = (!is_whole).then(|| place.lt(extent));
        let exists = match (in_line, self.is_line(line)) {
            (Some(k), Some(line)) => Some(line.and(k)),
            (k, line) => k.or(line),
        };
        Place {
            index: self.index(line, &self.line.along(&place, extent)),
            place: vec![line.clone(), quotient(k, &steps), remainder(k, &steps)],
            exists,
        }
    }

    /// Whether there is this line, if that is not always so.
    fn is_line(&self, line: &Expr) -> Option<Expr> {
        if self.tiles.across || self.tiles.lines == 1 {
            return None;
        }
        let lines = volume(&self.x.shape()[..self.line.axis]);
        let is_whole = lines.as_int().is_some_and(|n| n % self.tiles.lines == 0);
        (!is_whole).then(|| self.number(line).lt(lines))
    }

    /// The number of a line among all lines.
    fn number(&self, line: &Expr) -> Expr {
        sum(&scaled(&self.group[0], self.tiles.lines), line)
    }

    /// The index of an element of a line.
    fn index(&self, line: &Expr, along: &Expr) -> Vec<Expr> {
        let shape = self.x.shape();
        let (outer, inner) = (&shape[..self.line.axis], &shape[self.line.axis + 1..]);
        let zero = || Expr::i64(0);
        let mut index = match (self.tiles.across, self.tiles.lines) {
            (true, _) | (false, 1) => self.group.to_vec(),
            _ => unravel(&self.number(line), outer),
        };
        index.push(along.clone());
        match self.tiles.across {
            true => index.extend(unravel(line, inner)),
            false => index.extend(inner.iter().map(|_| zero())),
        }
        index
    }
}

/// Which elements of a tile a nest goes through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    All,
    /// Those in the tensor.
    ThatExist,
}

/// An element of a tile.
struct Place {
    /// Its index in the tensor.
    index: Vec<Expr>,
    /// Its place among lines, chunks and steps.
    place: Vec<Expr>,
    /// Whether it is there, if that is not always so.
    exists: Option<Expr>,
}
