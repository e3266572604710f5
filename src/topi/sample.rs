//! Sampling of images at coordinates that are data, and the grids of such coordinates.

use super::accumulator;
use super::extent::{clamped, shifted};
use super::resize::{
    Coordinate, Method, Taps, linear_taps, mix, mixed_type, nearest_float, weight,
};
use super::{Threads, permute};
use crate::ir::Expr;
use crate::te::{self, ReduceAxis, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::Intrin;

/// What stands outside of an image that is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// Zeros.
    Zeros,
    /// The nearest pixel.
    Border,
    /// The image mirrored at its border.
    Reflection,
}

/// What the coordinates -1 and 1 of a grid are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Corners {
    /// The centers of the first and the last pixel.
    Centers,
    /// The outer edges of the first and the last pixel.
    Edges,
}

impl Corners {
    /// The coordinate in pixels of `g`, which is between -1 and 1.
    fn coordinate(self, g: Expr, extent: &Expr) -> Expr {
        let (dtype, extent) = (g.dtype(), extent.cast(g.dtype()));
        let number = |v: f64| Expr::float(v, dtype);
        match self {
            Self::Centers => (g + number(1.0)) * (extent - number(1.0)) * number(0.5),
            Self::Edges => ((g + number(1.0)) * extent - number(1.0)) * number(0.5),
        }
    }

    /// A coordinate mirrored at the first and last pixels, or at their edges, until it is between them.
    fn reflect(self, at: &Expr, extent: &Expr) -> Expr {
        let dtype = at.dtype();
        let number = |v: f64| Expr::float(v, dtype);
        let (low, span) = match self {
            Self::Centers => (0.0, shifted(extent, -1)),
            Self::Edges => (-0.5, extent.clone()),
        };
        let span = span.cast(dtype);
        let distance = Expr::call(Intrin::Abs, vec![at - number(low)]);
        let period = &span * number(2.0);
        let turns = Expr::call(Intrin::Floor, vec![&distance / &period]);
        let within = &distance - turns * &period;
        let mirrored = within.min(&period - &within) + number(low);
        // One pixel between centers: there is nowhere to go.
        Expr::select(span.equals(number(0.0)), number(0.0), mirrored)
    }
}

/// What is made of an image that is sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// What is made of the pixels around a coordinate.
    pub method: Method,
    /// What stands outside of the image.
    pub beyond: Beyond,
    /// What the coordinates are.
    pub corners: Corners,
}

/// The dimension of the channels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channels {
    /// `[N, C, …]`
    Second,
    /// `[N, …, C]`
    Last,
}

/// Channels from which on a few threads sample those of a pixel together, as a vector.
const MANY_CHANNELS: i64 = 4;

/// The data `[N, C, …]` at the coordinates in `grid`, `[N, dimensions, …]`: the innermost dimension first, each between -1 and
/// 1. A few threads turn the data, so that the channels of a pixel are neighbours: its place and weights are computed once for all.
pub fn grid_sample(
    name: &str,
    x: &Tensor,
    grid: &Tensor,
    shape: &[Expr],
    sampling: Sampling,
    threads: Threads,
) -> Tensor {
    let many = shape[1].as_int().is_some_and(|n| n >= MANY_CHANNELS);
    if threads != Threads::Few || !many {
        return sample_in(name, x, grid, shape, sampling, Channels::Second);
    }
    let ndim = x.ndim();
    let last: Vec<usize> = [0].into_iter().chain(2..ndim).chain([1]).collect();
    let second: Vec<usize> = [0, ndim - 1].into_iter().chain(1..ndim - 1).collect();
    let image = permute(&format!("{name}_image"), x, &last);
    let extents: Vec<Expr> = last.iter().map(|&axis| shape[axis].clone()).collect();
    let pixels = format!("{name}_pixels");
    let pixels = sample_in(&pixels, &image, grid, &extents, sampling, Channels::Last);
    permute(name, &pixels, &second)
}

/// The data, whose channels and those of the result are the same dimension, at the coordinates in the grid.
fn sample_in(
    name: &str,
    x: &Tensor,
    grid: &Tensor,
    shape: &[Expr],
    sampling: Sampling,
    channels: Channels,
) -> Tensor {
    let Sampling {
        method,
        beyond,
        corners,
    } = sampling;
    let wide = mixed_type(x.dtype());
    let channel = match channels {
        Channels::Second => 1,
        Channels::Last => x.ndim() - 1,
    };
    let mut extents = x.shape()[1..].to_vec();
    extents.remove(channel - 1);
    let extents = &extents[..];
    // The coordinate along a dimension, in pixels.
    let coordinate = |i: &[Expr], axis: usize| {
        let mut index = i.to_vec();
        index.remove(channel);
        index.insert(1, Expr::i64((extents.len() - 1 - axis) as i64));
        corners.coordinate(grid.at(index).cast(wide), &extents[axis])
    };
    let element = |i: &[Expr], at: &[Expr]| {
        let place = at.iter().zip(extents).map(|(at, n)| clamped(at, n));
        let mut index: Vec<Expr> = [i[0].clone()].into_iter().chain(place).collect();
        index.insert(channel, i[channel].clone());
        let element = x.at(index).cast(wide);
        if beyond != Beyond::Zeros {
            return element;
        }
        let inside = at.iter().zip(extents);
        let inside = inside.flat_map(|(at, n)| [at.ge(0), at.lt(n)]);
        te::if_then_else(te::all(inside), element, Expr::float(0.0, wide))
    };
    let Method::Cubic { .. } = method else {
        return te::compute(name, shape.to_vec(), |i| {
            let taps = extents.iter().enumerate().map(|(axis, extent)| {
                let at = beyond.moved(&coordinate(i, axis), extent, corners);
                match method {
                    Method::Nearest(rounding) => vec![(nearest_float(&at, rounding), None)],
                    Method::Linear | Method::Cubic { .. } => {
                        linear_taps(Coordinate::Float(at).floor(wide))
                    }
                }
            });
            let taps: Vec<Taps> = taps.collect();
            mix(&taps, vec![], &|at| element(i, at)).cast(x.dtype())
        });
    };
    // A reduction over the taps: with all of them written out, the text of a kernel would have each coordinate for each pixel.
    let axis = |axis| te::reduce_axis(format!("k{axis}"), 4i64);
    let k: Vec<ReduceAxis> = (0..extents.len()).map(axis).collect();
    let mixed = te::compute(format!("{name}_mixed"), shape.to_vec(), |i| {
        let (mut at, mut weights) = (vec![], vec![]);
        for (axis, extent) in extents.iter().enumerate() {
            let (floor, fraction) = Coordinate::Float(coordinate(i, axis)).floor(wide);
            let tap = shifted(&k[axis].expr(), -1);
            weights.push(weight(method, tap.cast(wide) - fraction));
            let tap = floor + tap;
            at.push(match beyond {
                Beyond::Reflection => {
                    let moved = beyond.moved(&tap.cast(wide), extent, corners);
                    moved.cast(DType::I64)
                }
                Beyond::Zeros | Beyond::Border => tap,
            });
        }
        let weights = weights.into_iter();
        te::sum(weights.fold(element(i, &at), |a, b| a * b), &k)
    });
    te::compute(name, shape.to_vec(), |i| mixed.at(i).cast(x.dtype()))
}

impl Beyond {
    /// The coordinate in the image that stands for one that may be outside of it.
    fn moved(self, at: &Expr, extent: &Expr, corners: Corners) -> Expr {
        let dtype = at.dtype();
        let last = shifted(extent, -1).cast(dtype);
        let into_border = |at: &Expr| at.min(&last).max(Expr::float(0.0, dtype));
        match self {
            Self::Zeros => at.clone(),
            Self::Border => into_border(at),
            Self::Reflection => into_border(&corners.reflect(at, extent)),
        }
    }
}

/// The grid of coordinates between -1 and 1 of an image of this shape, moved by the matrices in `theta`,
/// `[N, dimensions, dimensions + 1]`.
pub fn affine_grid(name: &str, theta: &Tensor, shape: &[Expr], corners: Corners) -> Tensor {
    let wide = accumulator(theta.dtype());
    let number = |v: f64| Expr::float(v, wide);
    let spatial = shape.len() - 2;
    te::compute(name, shape.to_vec(), |i| {
        let row = |column: usize| {
            let column = Expr::i64(column as i64);
            theta.at([&i[0], &i[1], &column]).cast(wide)
        };
        let sum = (0..spatial).fold(row(spatial), |sum, column| {
            let axis = shape.len() - 1 - column;
            let (at, extent) = (i[axis].cast(wide), &shape[axis]);
            let coordinate = match (corners, extent.as_int()) {
                (Corners::Centers, Some(1)) => number(0.0),
                (Corners::Centers, _) => {
                    let steps = shifted(extent, -1).max(1).cast(wide);
                    at * number(2.0) / steps - number(1.0)
                }
                (Corners::Edges, _) => {
                    (at * number(2.0) + number(1.0)) / extent.cast(wide) - number(1.0)
                }
            };
            sum + row(column) * coordinate
        });
        sum.cast(theta.dtype())
    })
}
