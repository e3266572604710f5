//! Regions of images in one size.

use super::accumulator;
use super::extent::{clamped, scaled, shifted};
use super::window::Positions;
use crate::ir::Expr;
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
                // Samples before the image count as the last of them does.
                let before = (self.number(-1.0) - &start) / &step - self.number(1.5);
                let before = Expr::call(Intrin::Floor, vec![before]);
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
        let (ys, inside_y) = pixels(&at[0], &extents[0]);
        let (xs, inside_x) = pixels(&at[1], &extents[1]);
        let parts = ys.iter().flat_map(|(y, wy)| {
            let (image, channel) = (&image, &i[r.layout.second]);
            xs.iter().map(move |(column, wx)| {
                let at = vec![y.clone(), column.clone()];
                let index = (r.layout).arrange(image.clone(), channel.clone(), at);
                x.at(index).cast(dtype) * (wy * wx)
            })
        });
        let sample = parts.reduce(|a, b| match r.pooled {
            Pooled::GreatestPart => a.max(b),
            Pooled::Mean | Pooled::Greatest => a + b,
        });
        let sample = sample.expect("a sample has four pixels");
        let sample = te::if_then_else(inside_y.and(inside_x), sample, zero.clone());
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
