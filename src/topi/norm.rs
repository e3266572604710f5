//! Normalisations: elements taken relative to mean and variance over some of the dimensions.

use super::extent::{product, quotient, shifted, sum};
use super::{accumulator, element, volume};
use crate::ir::Expr;
use crate::te::{self, ReduceAxis, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::Intrin;

/// A tensor that is normalised, with its channels cut into groups.
struct Grouped<'a> {
    x: &'a Tensor,
    /// The dimension that is cut, and into how many parts.
    groups: Option<(usize, i64)>,
    /// The dimensions over which mean and variance are taken, except that with the groups.
    axes: &'a [usize],
}

impl Grouped<'_> {
    /// The shape of the statistics: one element for each group, and extents of 1 for the dimensions they are taken over.
    fn shape(&self) -> Vec<Expr> {
        let extent = |(at, extent): (usize, &Expr)| match self.groups {
            Some((axis, groups)) if axis == at => Expr::i64(groups),
            _ if self.axes.contains(&at) => Expr::i64(1),
            _ => extent.clone(),
        };
        self.x.shape().iter().enumerate().map(extent).collect()
    }

    /// Number of channels in a group.
    fn channels(&self) -> Option<Expr> {
        let (axis, groups) = self.groups?;
        Some(quotient(&self.x.shape()[axis], &Expr::i64(groups)))
    }

    /// The extents of the reduction: those of the axes, and of a group of channels.
    fn extents(&self) -> Vec<Expr> {
        let axes = self.axes.iter().map(|&at| self.x.shape()[at].clone());
        axes.chain(self.channels()).collect()
    }

    /// Where the statistics of the element at `index` stand.
    fn statistic(&self, index: &[Expr]) -> Vec<Expr> {
        let at = |(at, index): (usize, &Expr)| match (self.groups, self.channels()) {
            (Some((axis, _)), Some(channels)) if axis == at => quotient(index, &channels),
            _ if self.axes.contains(&at) => Expr::i64(0),
            _ => index.clone(),
        };
        index.iter().enumerate().map(at).collect()
    }

    /// The sum of `f(x)` over the elements that share their statistics.
    fn sum(&self, name: &str, f: impl Fn(Expr, &[Expr]) -> Expr) -> Tensor {
        let axis = |(at, extent): (usize, Expr)| te::reduce_axis(format!("k{at}"), extent);
        let inner: Vec<ReduceAxis> = self.extents().into_iter().enumerate().map(axis).collect();
        te::compute(name, self.shape(), |i| {
            let index = i.iter().enumerate().map(|(at, outer)| {
                match (self.groups, self.channels(), inner.last()) {
                    (Some((axis, _)), Some(channels), Some(k)) if axis == at => {
                        sum(&product(outer, &channels), &k.expr())
                    }
                    _ => match self.axes.iter().position(|&axis| axis == at) {
                        Some(k) => inner[k].expr(),
                        None => outer.clone(),
                    },
                }
            });
            let index: Vec<Expr> = index.collect();
            let value = self.x.at(index).cast(accumulator(self.x.dtype()));
            te::sum(f(value, i), &inner)
        })
    }
}

/// Mean and variance over some dimensions, as sums.
pub struct Moments<'a> {
    of: Grouped<'a>,
    sum: Tensor,
    squares: Tensor,
    count: Expr,
}

impl<'a> Moments<'a> {
    /// Over these dimensions, and over each group of channels if there are groups: the dimension of the channels, and the
    /// number of groups. Extents of 1 stand for the dimensions over which it is taken.
    pub fn new(name: &str, x: &'a Tensor, axes: &'a [usize], groups: Option<(usize, i64)>) -> Self {
        let of = Grouped { x, groups, axes };
        let wide = accumulator(x.dtype());
        let count = volume(&of.extents()).cast(wide);
        let sum = of.sum(&format!("{name}_sum"), |x, _| x);
        let squares = of.sum(&format!("{name}_squares"), |x, at| {
            let distance = x - sum.at(at) / &count;
            distance.clone() * distance
        });
        Self {
            of,
            sum,
            squares,
            count,
        }
    }

    /// The mean at an index of the statistics.
    pub fn mean(&self, at: &[Expr]) -> Expr {
        self.sum.at(at) / &self.count
    }

    /// The variance at an index of the statistics.
    pub fn variance(&self, at: &[Expr]) -> Expr {
        self.squares.at(at) / &self.count
    }

    /// The element of the tensor at an index, less its mean, divided by its deviation.
    pub fn normalized(&self, index: &[Expr], epsilon: f64) -> Expr {
        let at = self.of.statistic(index);
        let x = self.of.x.at(index).cast(self.sum.dtype());
        let epsilon = Expr::float(epsilon, self.sum.dtype());
        (x - self.mean(&at)) * rsqrt(self.variance(&at) + epsilon)
    }
}

/// `1 / sqrt(x)`
pub fn rsqrt(x: Expr) -> Expr {
    Expr::call(Intrin::Rsqrt, vec![x])
}

/// `x * weight / sqrt(mean of x * x + epsilon)`, the mean over the axes, of which `weight` has the extents.
pub fn rms_norm(name: &str, x: &Tensor, weight: &Tensor, axes: &[usize], epsilon: f64) -> Tensor {
    let of = Grouped {
        x,
        groups: None,
        axes,
    };
    let wide = accumulator(x.dtype());
    let squares = of.sum(&format!("{name}_squares"), |x, _| x.clone() * x);
    let count = volume(&of.extents()).cast(wide);
    te::compute(name, x.shape().to_vec(), |i| {
        let mean = squares.at(of.statistic(i)) / &count;
        let normalized = x.at(i).cast(wide) * rsqrt(mean + Expr::float(epsilon, wide));
        let weight = weight.at(axes.iter().map(|&at| i[at].clone()));
        (normalized * weight.cast(wide)).cast(x.dtype())
    })
}

/// `x` divided by a power of the squares of its neighbours along an axis: `size` of them, itself among them.
pub fn lrn(name: &str, x: &Tensor, axis: usize, size: i64, of: &LocalResponse) -> Tensor {
    let wide = accumulator(x.dtype());
    let float = |v: f64| Expr::float(v, wide);
    let before = (size - 1) / 2;
    let k = te::reduce_axis("k", size);
    let extent = &x.shape()[axis];
    let squares = te::compute(format!("{name}_squares"), x.shape().to_vec(), |i| {
        let at = shifted(&sum(&i[axis], &k.expr()), -before);
        let inside = at.ge(0).and(at.lt(extent));
        let mut index = i.to_vec();
        index[axis] = at;
        let value = x.at(index).cast(wide);
        te::sum(
            te::if_then_else(inside, value.clone() * value, float(0.0)),
            [&k],
        )
    });
    te::compute(name, x.shape().to_vec(), |i| {
        let scale = float(of.bias) + float(of.alpha / size as f64) * squares.at(i);
        let power = Expr::call(Intrin::Pow, vec![scale, float(of.beta)]);
        (x.at(i).cast(wide) / power).cast(x.dtype())
    })
}

/// The numbers of a local response normalisation: `x / (bias + alpha / size * squares) ** beta`.
#[derive(Clone, Copy, Debug)]
pub struct LocalResponse {
    /// Added to the squares.
    pub bias: f64,
    /// Times the mean of the squares.
    pub alpha: f64,
    /// The power.
    pub beta: f64,
}

/// `x * scale + shift`, of which either may be absent; both have the extents of these dimensions of `x`.
pub fn affine(
    x: Expr,
    index: &[Expr],
    axes: &[usize],
    scale: Option<&Tensor>,
    shift: Option<&Tensor>,
) -> Expr {
    let wide: DType = x.dtype();
    let at = |tensor: &Tensor| {
        let index: Vec<Expr> = axes.iter().map(|&at| index[at].clone()).collect();
        element(tensor, &index).cast(wide)
    };
    let x = match scale {
        Some(scale) => x * at(scale),
        None => x,
    };
    match shift {
        Some(shift) => x + at(shift),
        None => x,
    }
}
