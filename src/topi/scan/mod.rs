//! Running sums and products.
//!
//! A long line is cut into chunks, each of which is one thread's work. The sums of whole chunks are scanned first, and give each
//! chunk what it begins with. So no thread takes more steps than a chunk has elements, and each element is read twice. A short
//! line is one thread's work, and so is any line where there are many.
//!
//! Neighbouring threads of a GPU are to read neighbours. Where lines lie beside each other, they are what neighbouring threads have.
//! Elsewhere workgroups scan tiles (`tiles.rs`). A thread of a CPU has several of those lines, which are lanes of vectors (`lanes.rs`).

mod lanes;
mod tiles;
mod writer;

use self::tiles::Tiles;
use super::extent::{clamped, quotient, scaled, shifted, sum};
use super::{Threads, accumulator, volume};
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Scope, Var};
use crate::te::{self, ReduceAxis, Reduction, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// Elements of a chunk.
const CHUNK: i64 = 128;
/// Lines up to this length are not cut.
const SHORT: i64 = 256;
/// As many lines, where there are as many, keep all threads busy.
const MANY: i64 = 1024;
/// How often sums of chunks of unknown number are cut again.
const DEPTH: usize = 2;
/// Threads for each core of a GPU that keep its memory busy.
const THREADS_PER_CORE: i64 = 512;
/// Elements of a chunk of a GPU, at least.
const FEWEST: i64 = 16;

/// From where to where a scan runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Scan {
    /// An element is not part of its own sum.
    pub exclusive: bool,
    /// From the last element to the first.
    pub reverse: bool,
}

/// Every element combined with those before it along an axis, on a machine with these threads.
///
/// # Panics
/// If `op` is neither a sum nor a product.
pub fn cumulative(
    name: &str,
    op: BinOp,
    x: &Tensor,
    axis: usize,
    scan: Scan,
    dtype: DType,
    threads: Threads,
) -> Tensor {
    let mut line = Line {
        name: name.to_owned(),
        op,
        axis,
        scan,
        wide: accumulator(dtype),
        chunks: Chunks::LAST,
    };
    let Threads::Many(workgroups) = threads else {
        return match lanes::fit(x.shape(), axis) {
            true => line.scan_in_lanes(x, dtype),
            false => line.scan(x, dtype, DEPTH),
        };
    };
    if let Some(tiles) = Tiles::of(&line, x.shape(), workgroups) {
        return line.scan_in_tiles(x, dtype, tiles, workgroups);
    }
    if workgroups.fast_shared && !volume(&x.shape()[axis + 1..]).is_one() {
        line.chunks = Chunks::beside(x.shape(), axis, workgroups.cores);
    }
    line.scan(x, dtype, DEPTH)
}

/// How lines are cut into chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Chunks {
    /// Elements of a chunk.
    width: i64,
    /// Lines up to this length are not cut.
    short: i64,
    /// As many lines, where there are as many, keep all threads busy.
    many: i64,
    /// Whether chunks are the last dimension, and not in the place of the elements.
    last: bool,
}

impl Chunks {
    const LAST: Self = Self {
        width: CHUNK,
        short: SHORT,
        many: MANY,
        last: true,
    };

    /// Those of lines that lie beside each other: so short that there are threads enough for these cores.
    fn beside(shape: &[Expr], axis: usize, cores: i64) -> Self {
        let many = cores * THREADS_PER_CORE;
        let elements = volume(shape).as_int();
        let width = elements.map_or(CHUNK, |n| (n / many).clamp(FEWEST, CHUNK));
        let width = 1 << width.ilog2();
        debug_assert!(axis + 1 < shape.len(), "there are lines beside each other");
        Self {
            width,
            short: 2 * width,
            many,
            last: false,
        }
    }
}

/// A scan, but for its tensors.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    op: BinOp,
    axis: usize,
    scan: Scan,
    /// The type that is added in.
    wide: DType,
    chunks: Chunks,
}

impl Line {
    fn identity(&self) -> Expr {
        match self.op {
            BinOp::Add => Expr::constant(0, self.wide),
            BinOp::Mul => Expr::constant(1, self.wide),
            _ => panic!("{:?} is no scan", self.op),
        }
    }

    fn scan(&self, x: &Tensor, dtype: DType, depth: usize) -> Tensor {
        let extent = &x.shape()[self.axis];
        let lines = volume(&self.outer(x.shape())).as_int();
        let is_short = extent
            .as_int()
            .map_or(depth == 0, |n| n <= self.chunks.short);
        if is_short || lines.is_some_and(|lines| lines >= self.chunks.many) {
            return self.in_chunks(x, dtype, None);
        }
        let sums = self.sums_of_chunks(x);
        let before = Self {
            name: format!("{}_before", self.name),
            axis: self.axis_of_chunks(x.ndim()),
            scan: Scan {
                exclusive: true,
                reverse: false,
            },
            ..self.clone()
        };
        let before = before.scan(&sums, self.wide, depth.saturating_sub(1));
        self.in_chunks(x, dtype, Some(&before))
    }

    /// The extents of the other axes.
    fn outer(&self, shape: &[Expr]) -> Vec<Expr> {
        let mut outer = shape.to_vec();
        outer.remove(self.axis);
        outer
    }

    /// The dimension that chunks of lines of a tensor are in.
    fn axis_of_chunks(&self, ndim: usize) -> usize {
        match self.chunks.last {
            true => ndim - 1,
            false => self.axis,
        }
    }

    /// Parts an index of chunks into those of the other axes and of the chunk.
    fn part(&self, index: &[Expr]) -> (Vec<Expr>, Expr) {
        let mut outer = index.to_vec();
        let chunk = outer.remove(self.axis_of_chunks(index.len()));
        (outer, chunk)
    }

    /// The place of step `k` of the scan in a line.
    fn along(&self, k: &Expr, extent: &Expr) -> Expr {
        match self.scan.reverse {
            true => shifted(extent, -1) - k,
            false => k.clone(),
        }
    }

    /// The index of step `k` of a line.
    fn at(&self, outer: &[Expr], k: &Expr, extent: &Expr) -> Vec<Expr> {
        let mut index = outer.to_vec();
        index.insert(self.axis, clamped(&self.along(k, extent), extent));
        index
    }

    /// All elements of each chunk combined; the chunks are in the order of the scan.
    fn sums_of_chunks(&self, x: &Tensor) -> Tensor {
        let width = self.chunks.width;
        let extent = &x.shape()[self.axis];
        let mut shape = self.outer(x.shape());
        let count = quotient(&shifted(extent, width - 1), &Expr::i64(width));
        shape.insert(self.axis_of_chunks(x.ndim()), count);
        let step = te::reduce_axis("step", width);
        te::compute(format!("{}_chunks", self.name), shape, |i| {
            let (outer, chunk) = self.part(i);
            let k = sum(&scaled(&chunk, width), &step.expr());
            let element = x.at(self.at(&outer, &k, extent)).cast(self.wide);
            let element = te::if_then_else(k.lt(extent), element, self.identity());
            self.combined(element, &step)
        })
    }

    fn combined(&self, element: Expr, step: &ReduceAxis) -> Reduction {
        match self.op {
            BinOp::Mul => te::prod(element, [step]),
            _ => te::sum(element, [step]),
        }
    }

    /// The scan of each chunk, which begins with an element of `before`; of the whole line without that.
    fn in_chunks(&self, x: &Tensor, dtype: DType, before: Option<&Tensor>) -> Tensor {
        let shape = x.shape().to_vec();
        let axes = before.map_or(self.outer(&shape), |before| before.shape().to_vec());
        let inputs: Vec<Tensor> = [x].into_iter().chain(before).cloned().collect();
        let line = self.clone();
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let at: Vec<Expr> = at.iter().map(Var::expr).collect();
            let (outer, first) = match from.get(1) {
                Some(before) => {
                    let (outer, chunk) = line.part(&at);
                    (outer, Some((chunk, Expr::load(before, at))))
                }
                None => (at, None),
            };
            line.write(b, &outer, first, (&from[0], &to[0]));
        };
        let result = vec![(shape, dtype)];
        te::extern_each(self.name.as_str(), axes, &inputs, result, write).remove(0)
    }

    /// Writes the scan of one chunk: `first` is which one, and what comes before it; the whole line where it is absent.
    fn write(
        &self,
        b: &mut PrimFuncBuilder,
        outer: &[Expr],
        first: Option<(Expr, Expr)>,
        (x, out): (&Buffer, &Buffer),
    ) {
        let extent = &x.shape()[self.axis];
        let running = b.alloc("running", [1i64], self.wide, Scope::Local);
        let (chunk, begin, width) = match first {
            Some((chunk, begin)) => (Some(chunk), begin, Expr::i64(self.chunks.width)),
            None => (None, self.identity(), extent.clone()),
        };
        b.store(&running, [Expr::i64(0)], begin);
        b.grid([("step", width)], |b, step| {
            let step = step[0].expr();
            let k = match &chunk {
                Some(chunk) => sum(&scaled(chunk, self.chunks.width), &step),
                None => step,
            };
            let one = |b: &mut PrimFuncBuilder| {
                self.write_step(b, outer, &k, (&running, Expr::i64(0)), (x, out));
            };
            match chunk {
                Some(_) => b.if_(k.lt(extent), one),
                None => one(b),
            }
        });
    }

    /// Writes a step of a line whose sum so far is this element.
    fn write_step(
        &self,
        b: &mut PrimFuncBuilder,
        line: &[Expr],
        step: &Expr,
        (running, at): (&Buffer, Expr),
        (x, out): (&Buffer, &Buffer),
    ) {
        let index = self.at(line, step, &x.shape()[self.axis]);
        let value = || Expr::load(running, vec![at.clone()]);
        let add = |b: &mut PrimFuncBuilder| {
            let element = Expr::load(x, index.clone()).cast(self.wide);
            let next = Expr::binary(self.op, value(), element);
            b.store(running, [at.clone()], next);
        };
        let keep = |b: &mut PrimFuncBuilder| {
            b.store(out, index.clone(), value().cast(out.dtype()));
        };
        match self.scan.exclusive {
            true => {
                keep(b);
                add(b);
            }
            false => {
                add(b);
                keep(b);
            }
        }
    }
}
