//! Regions of images in one size.

use super::accumulator;
use super::extent::{clamped, quotient, remainder, scaled, shifted};
use super::window::Positions;
use super::{Threads, permute};
use crate::ir::{AttrValue, Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Var, attrs};
use crate::te::{self, ReduceAxis, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// What is made of the samples of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pooled {
    /// Their mean.
    Mean,
    /// The greatest.
    Greatest,
    /// The greatest of the four pixels of each, each times its weight: what ONNX's RoiAlign calls `max`.
    GreatestPart,
}

/// How regions become images of one size.
#[derive(Clone, Debug)]
pub struct RoiAlign {
    /// The layout of data and result.
    pub layout: Positions,
    /// Rows and columns of cells.
    pub cells: [i64; 2],
    /// Pixels of the image for one unit of a coordinate.
    pub scale: f64,
    /// Samples of a cell along each dimension; `None`: one for each pixel that it is long, rounded up.
    pub samples: Option<i64>,
    /// The shortest side that a region has.
    pub shortest: Option<f64>,
    /// What is made of the samples.
    pub pooled: Pooled,
}

/// One side of the regions, `[regions]` each, in pixels.
struct Side<'r> {
    r: &'r RoiAlign,
    rois: &'r Tensor,
    /// 0 for rows, 1 for columns.
    axis: usize,
    extent: Expr,
    dtype: DType,
}

impl Side<'_> {
    fn number(&self, value: f64) -> Expr {
        Expr::float(value, self.dtype)
    }

    /// Where the region begins, in pixels, and how long it is.
    fn span(&self, region: &Expr) -> (Expr, Expr) {
        let column = |at: usize| {
            let at = self.rois.at([region.clone(), Expr::i64(at as i64)]);
            at.cast(self.dtype) * self.number(self.r.scale)
        };
        let (start, end) = (column(2 - self.axis), column(4 - self.axis));
        let length = end - &start;
        let length = match self.r.shortest {
            Some(shortest) => length.max(self.number(shortest)),
            None => length,
        };
        (start, length)
    }

    /// The length of a cell, and its samples.
    fn cell(&self, length: &Expr) -> (Expr, Expr) {
        let cell = length / self.number(self.r.cells[self.axis] as f64);
        let samples = match self.r.samples {
            Some(samples) => self.number(samples as f64),
            None => Expr::call(Intrin::Ceil, vec![cell.clone()]).max(self.number(0.0)),
        };
        (cell, samples)
    }

    /// Most samples of a cell that lie in the image, and one beyond it on either side. Samples are more than half a pixel apart,
    /// where their number is not given.
    fn most(&self) -> Expr {
        match self.r.samples {
            Some(samples) => Expr::i64(samples),
            None => shifted(&scaled(&self.extent, 2), 8),
        }
    }

    /// The coordinate of each sample, `[regions, cells, samples]`; [`NOWHERE`] where the cell has no such sample.
    fn coordinates(&self, name: &str) -> Tensor {
        let shape = [
            self.rois.shape()[0].clone(),
            Expr::i64(self.r.cells[self.axis]),
            self.most(),
        ];
        te::compute(name, shape.to_vec(), |i| {
            let (start, length) = self.span(&i[0]);
            let (cell, samples) = self.cell(&length);
            let start = start + i[1].cast(self.dtype) * &cell;
            let step = cell / samples.max(self.number(1.0));
            let mut sample = i[2].cast(self.dtype);
            if self.r.samples.is_none() {
                // Samples before the image count as the last of them does, which is there where all of them are before it.
                let before = (self.number(-1.0) - &start) / &step - self.number(1.5);
                let before = Expr::call(Intrin::Floor, vec![before]);
                let before = before.min(&samples - self.number(1.0));
                sample = sample + before.max(self.number(0.0));
            }
            let at = start + (&sample + self.number(0.5)) * step;
            Expr::select(sample.lt(&samples), at, self.number(NOWHERE))
        })
    }
}

/// The coordinate of a sample that is not there. Every coordinate below -1 is outside of the image.
const NOWHERE: f64 = -1e30;

/// The pixels around a coordinate, each with its weight; and whether the coordinate is in the image, of which a border of one pixel
/// is part.
fn pixels(at: &Expr, extent: &Expr) -> ([(Expr, Expr); 2], Expr) {
    let dtype = at.dtype();
    let number = |v: f64| Expr::float(v, dtype);
    let inside = Expr::binary(BinOp::Ge, at, number(-1.0)).and(at.le(extent.cast(dtype)));
    let last = shifted(extent, -1);
    let at = at.max(number(0.0)).min(last.cast(dtype));
    let low = Expr::call(Intrin::Floor, vec![at.clone()]);
    let fraction = at - &low;
    let low = clamped(&low.cast(DType::I64), extent);
    let high = clamped(&shifted(&low, 1), extent);
    let rest = number(1.0) - &fraction;
    ([(low, rest), (high, fraction)], inside)
}

/// Cells of regions of images, as [`roi_align`], for a machine with these threads. A few threads turn images whose channels lie apart,
/// so that those of a pixel are vectors.
pub fn roi_align_on(
    name: &str,
    x: &Tensor,
    rois: &Tensor,
    shape: &[Expr],
    r: &RoiAlign,
    threads: Threads,
) -> Tensor {
    if threads != Threads::Few {
        return roi_align(name, x, rois, shape, r);
    }
    let channels = r.layout.second;
    if channels + 1 == x.ndim() {
        return cells_in_tasks(name, x, rois, shape, r);
    }
    let spatial = r.layout.spatial.iter().copied();
    let order: Vec<usize> = [r.layout.first]
        .into_iter()
        .chain(spatial)
        .chain([channels])
        .collect();
    let layout = Positions {
        first: 0,
        second: 3,
        spatial: vec![1, 2],
        blocks: vec![],
    };
    let image = permute(&format!("{name}_image"), x, &order);
    let extents: Vec<Expr> = order.iter().map(|&axis| shape[axis].clone()).collect();
    let turned = RoiAlign {
        layout,
        ..r.clone()
    };
    let cells = cells_in_tasks(&format!("{name}_cells"), &image, rois, &extents, &turned);
    let mut back = vec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        back[axis] = at;
    }
    permute(name, &cells, &back)
}

/// Cells `[regions, rows, columns, channels]` of images `[images, rows, columns, channels]`. A task is a row of cells. It goes through the
/// samples of a cell, skips those that are not there, and computes place and weights of each once for all channels.
fn cells_in_tasks(name: &str, x: &Tensor, rois: &Tensor, shape: &[Expr], r: &RoiAlign) -> Tensor {
    let dtype = accumulator(x.dtype());
    let side = |axis: usize| Side {
        r,
        rois,
        axis,
        extent: x.shape()[axis + 1].clone(),
        dtype,
    };
    let sides = [side(0), side(1)];
    let rows = sides[0].coordinates(&format!("{name}_rows"));
    let columns = sides[1].coordinates(&format!("{name}_columns"));
    let counts = te::compute(format!("{name}_counts"), [shape[0].clone()], |i| {
        let [a, b] = [&sides[0], &sides[1]].map(|side| side.cell(&side.span(&i[0]).1).1);
        a * b
    });
    let inputs = [x, rois, &rows, &columns, &counts].map(Clone::clone);
    let (cells, pooled) = (r.cells.map(Expr::i64), r.pooled);
    let tasks = scaled(&shape[0], r.cells[0]);
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], given: &[Buffer], out: &[Buffer]| {
        let ([x, rois, rows, columns, counts], [out]) = (given, out) else {
            unreachable!("five inputs, one output")
        };
        let task = CellsOfRow {
            region: quotient(&at[0].expr(), &cells[0]),
            row: remainder(&at[0].expr(), &cells[0]),
            across: cells[1].clone(),
            pooled,
            x,
            rois,
            coordinates: [rows, columns],
            counts,
            out,
        };
        task.write(b);
    };
    let result = vec![(shape.to_vec(), dtype)];
    let cells = te::extern_each(name, [tasks], &inputs, result, write).remove(0);
    match dtype == x.dtype() {
        true => cells,
        false => super::astype(&format!("{name}_cast"), &cells, x.dtype()),
    }
}

/// A row of the cells of a region.
struct CellsOfRow<'a> {
    region: Expr,
    row: Expr,
    /// How many cells there are in the row.
    across: Expr,
    pooled: Pooled,
    x: &'a Buffer,
    rois: &'a Buffer,
    /// Those of the samples of rows, and of columns.
    coordinates: [&'a Buffer; 2],
    /// Samples of a cell of each region.
    counts: &'a Buffer,
    out: &'a Buffer,
}

impl CellsOfRow<'_> {
    fn write(&self, b: &mut PrimFuncBuilder) {
        let dtype = self.out.dtype();
        let first = match self.pooled {
            Pooled::Mean => Expr::float(0.0, dtype),
            Pooled::Greatest | Pooled::GreatestPart => te::lowest(dtype),
        };
        b.grid([("column", self.across.clone())], |b, column| {
            let column = &column[0].expr();
            self.each_channel(b, "clear", column, vec![], |_, _| first);
            let [rows, columns] = self.coordinates;
            let most = |buffer: &Buffer| buffer.shape()[2].clone();
            let is_there = |buffer: &Buffer, cell: &Expr, sample: &Expr| {
                let at = self.coordinate(buffer, cell, sample);
                Expr::binary(BinOp::Gt, at, Expr::float(NOWHERE, dtype))
            };
            b.grid([("k0", most(rows))], |b, k0| {
                let k0 = k0[0].expr();
                b.if_(is_there(rows, &self.row, &k0), |b| {
                    b.grid([("k1", most(columns))], |b, k1| {
                        let k1 = k1[0].expr();
                        b.if_(is_there(columns, column, &k1), |b| {
                            let sample = |name, extent, at: &Expr| {
                                Axis::new(IterKind::Scan, name, extent).bound_to(at.clone())
                            };
                            let axes = vec![
                                sample("k0", most(rows), &k0),
                                sample("k1", most(columns), &k1),
                            ];
                            self.each_channel(b, "add", column, axes, |v, old| {
                                let sample = self.sample(&v[0], [&v[1], &v[2]], &v[3]);
                                match self.pooled {
                                    Pooled::Mean => old + sample,
                                    Pooled::Greatest | Pooled::GreatestPart => old.max(sample),
                                }
                            });
                        });
                    });
                });
            });
            self.each_channel(b, "finish", column, vec![], |_, value| {
                let zero = Expr::float(0.0, dtype);
                let count = Expr::load(self.counts, vec![self.region.clone()]);
                match self.pooled {
                    Pooled::Mean => value / count.max(Expr::float(1.0, dtype)),
                    Pooled::Greatest | Pooled::GreatestPart => {
                        Expr::select(count.equals(zero.clone()), zero, value)
                    }
                }
            });
        });
    }

    /// A nest that makes a value for each channel of a cell of the old one. `value` gets the column, the other axes and the channel.
    fn each_channel(
        &self,
        b: &mut PrimFuncBuilder,
        name: &str,
        column: &Expr,
        others: Vec<Axis>,
        value: impl FnOnce(&[Expr], Expr) -> Expr,
    ) {
        let column =
            Axis::new(IterKind::Scan, "column", self.across.clone()).bound_to(column.clone());
        let channel = Axis::spatial("channel", self.x.shape()[3].clone());
        let axes = [vec![column], others, vec![channel]].concat();
        b.nest(name, axes, |b, v| {
            // A channel has a value of its own.
            b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
            let v: Vec<Expr> = v.iter().map(Var::expr).collect();
            let channel = &v[v.len() - 1];
            let index = [&self.region, &self.row, &v[0], channel].map(Clone::clone);
            let old = Expr::load(self.out, index.to_vec());
            b.store(self.out, index, value(&v, old));
        });
    }

    fn coordinate(&self, buffer: &Buffer, cell: &Expr, sample: &Expr) -> Expr {
        Expr::load(
            buffer,
            vec![self.region.clone(), cell.clone(), sample.clone()],
        )
    }

    /// A sample of a channel.
    fn sample(&self, column: &Expr, [k0, k1]: [&Expr; 2], channel: &Expr) -> Expr {
        let dtype = self.out.dtype();
        let at = [
            self.coordinate(self.coordinates[0], &self.row, k0),
            self.coordinate(self.coordinates[1], column, k1),
        ];
        let image = Expr::load(self.rois, vec![self.region.clone(), Expr::i64(0)]);
        let image = clamped(&image.cast(DType::I64), &self.x.shape()[0]);
        let element = |y: &Expr, x: &Expr| {
            let index = [&image, y, x, channel].map(Clone::clone);
            Expr::load(self.x, index.to_vec()).cast(dtype)
        };
        let extents = [&self.x.shape()[1], &self.x.shape()[2]];
        sample(at, extents, self.pooled, &element)
    }
}

/// What is read of an image at a pair of coordinates: the four pixels around them, each with its weight; 0 outside.
fn sample(
    at: [Expr; 2],
    extents: [&Expr; 2],
    pooled: Pooled,
    element: &dyn Fn(&Expr, &Expr) -> Expr,
) -> Expr {
    let (ys, inside_y) = pixels(&at[0], extents[0]);
    let (xs, inside_x) = pixels(&at[1], extents[1]);
    let parts = ys
        .iter()
        .flat_map(|(y, wy)| xs.iter().map(move |(x, wx)| element(y, x) * (wy * wx)));
    let sample = parts.reduce(|a, b| match pooled {
        Pooled::GreatestPart => a.max(b),
        Pooled::Mean | Pooled::Greatest => a + b,
    });
    let sample = sample.expect("a sample has four pixels");
    let zero = Expr::float(0.0, sample.dtype());
    te::if_then_else(inside_y.and(inside_x), sample, zero)
}

/// Cells of regions of images: each region in `rois`, `[regions, 5]`, is the number of its image and two corners, columns first.
///
/// # References
/// K. He, G. Gkioxari, P. Dollár, R. Girshick, "Mask R-CNN", 2017.
pub fn roi_align(name: &str, x: &Tensor, rois: &Tensor, shape: &[Expr], r: &RoiAlign) -> Tensor {
    let dtype = accumulator(x.dtype());
    let extents = r.layout.spatial_of(x.shape());
    let images = &x.shape()[r.layout.first];
    let side = |axis: usize| Side {
        r,
        rois,
        axis,
        extent: extents[axis].clone(),
        dtype,
    };
    let sides = [side(0), side(1)];
    let rows = sides[0].coordinates(&format!("{name}_rows"));
    let columns = sides[1].coordinates(&format!("{name}_columns"));
    let zero = Expr::float(0.0, dtype);
    let lowest = te::lowest(dtype);
    let k: Vec<ReduceAxis> = sides
        .iter()
        .zip(["k0", "k1"])
        .map(|(side, name)| te::reduce_axis(name, side.most()))
        .collect();
    let all = te::compute(format!("{name}_samples"), shape.to_vec(), |i| {
        let region = &i[r.layout.first];
        let cell = r.layout.spatial_of(i);
        let at = [
            rows.at([region.clone(), cell[0].clone(), k[0].expr()]),
            columns.at([region.clone(), cell[1].clone(), k[1].expr()]),
        ];
        let image = rois.at([region.clone(), Expr::i64(0)]).cast(DType::I64);
        let image = clamped(&image, images);
        let channel = &i[r.layout.second];
        let element = |y: &Expr, column: &Expr| {
            let at = vec![y.clone(), column.clone()];
            let index = (r.layout).arrange(image.clone(), channel.clone(), at);
            x.at(index).cast(dtype)
        };
        let places = [&extents[0], &extents[1]];
        let sample = sample(at.clone(), places, r.pooled, &element);
        if r.pooled == Pooled::Mean {
            return te::sum(sample, &k);
        }
        let there = |at: &Expr| Expr::binary(BinOp::Gt, at, Expr::float(NOWHERE, dtype));
        let there = there(&at[0]).and(there(&at[1]));
        te::max(Expr::select(there, sample, lowest.clone()), &k[..])
    });
    te::compute(name, shape.to_vec(), |i| {
        let region = &i[r.layout.first];
        let samples = sides.iter().map(|side| {
            let (_, length) = side.span(region);
            side.cell(&length).1
        });
        let samples = samples.reduce(|a, b| a * b).expect("there are two sides");
        let value = all.at(i);
        let value = match r.pooled {
            Pooled::Mean => value / samples.max(Expr::float(1.0, dtype)),
            Pooled::Greatest | Pooled::GreatestPart => {
                Expr::select(samples.equals(zero.clone()), zero, value)
            }
        };
        value.cast(x.dtype())
    })
}
