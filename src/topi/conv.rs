//! Convolutions.

use super::accumulated;
use super::extent::{product, quotient, remainder, scaled, shifted, sum};
use super::pad::{Outside, pad};
use super::window::{Positions, Window};
use crate::ir::Expr;
use crate::te::{self, ReduceAxis, Tensor};
use crate::tensor::DType;

/// What a convolution is, but for its tensors.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// The layout of the data.
    pub data: Positions,
    /// The layout of the weight. Its first letter is that of the output channels; of a transposed convolution that of the
    /// input channels.
    pub kernel: Positions,
    /// The layout of the result.
    pub out: Positions,
    /// The windows of each spatial dimension.
    pub windows: Vec<Window>,
    /// Groups of channels that see only each other.
    pub groups: i64,
    /// The element type of the result.
    pub dtype: DType,
}

impl Convolution {
    /// Whether it is of one group, with channels second in data, weight and result.
    pub(crate) fn is_plain(&self) -> bool {
        let is_second = |layout: &Positions| {
            let in_order = layout.spatial.iter().copied().eq(2..self.windows.len() + 2);
            layout.first == 0 && layout.second == 1 && in_order && layout.blocks.is_empty()
        };
        let layouts = [&self.data, &self.kernel, &self.out];
        self.groups == 1 && layouts.into_iter().all(is_second)
    }

    /// Reduction axes over the window.
    fn window_axes(&self, weight: &Tensor) -> Vec<ReduceAxis> {
        let names = &["rz", "ry", "rx"][3 - self.windows.len()..];
        let axis =
            |(name, &at): (&&str, &usize)| te::reduce_axis(*name, weight.shape()[at].clone());
        names.iter().zip(&self.kernel.spatial).map(axis).collect()
    }

    /// `each` of `groups` equal parts of channels.
    fn part(&self, channels: &Expr) -> Expr {
        quotient(channels, &Expr::i64(self.groups))
    }
}

/// The convolution of `x` with `weight`: in fact a correlation, as everybody has it.
pub fn conv(name: &str, x: &Tensor, weight: &Tensor, shape: &[Expr], c: &Convolution) -> Tensor {
    let mut padding = vec![(0, 0); x.ndim()];
    for (&at, window) in c.data.spatial.iter().zip(&c.windows) {
        padding[at] = window.padding;
    }
    let padded = if padding.iter().all(|&p| p == (0, 0)) {
        x.clone()
    } else {
        let zero = Expr::constant(0, x.dtype());
        pad("pad_temp", x, &padding, &Outside::Value(zero))
    };
    let channel = te::reduce_axis("rc", c.kernel.second_extent(weight.shape()));
    let window = c.window_axes(weight);
    let filters = c.part(&c.kernel.first_extent(weight.shape()));
    accumulated(name, c.dtype, |name, wide| {
        te::compute(name, shape.to_vec(), |i| {
            let filter = &c.out.second_of(i);
            let input = match c.groups {
                1 => channel.expr(),
                _ => {
                    let group = quotient(filter, &filters);
                    sum(&product(&group, channel.extent()), &channel.expr())
                }
            };
            let at = c.out.spatial_of(i);
            let at = at.iter().zip(&window).zip(&c.windows);
            let at = at.map(|((at, k), window)| window.element(at, &k.expr()));
            let index = (c.data).arrange(c.out.first_of(i), input, at.collect());
            let k = window.iter().map(ReduceAxis::expr).collect();
            let of_weight = (c.kernel).arrange(filter.clone(), channel.expr(), k);
            let axes: Vec<_> = [&channel].into_iter().chain(&window).collect();
            te::sum(
                padded.at(index).cast(wide) * weight.at(of_weight).cast(wide),
                axes,
            )
        })
    })
}

/// The transposed convolution: the gradient of a convolution with respect to its data. `x` is spread out by the strides, with
/// zeros between its elements and around it, and correlated with the mirrored weight.
pub fn conv_transpose(
    name: &str,
    x: &Tensor,
    weight: &Tensor,
    shape: &[Expr],
    c: &Convolution,
) -> Tensor {
    let spread = spread(x, weight, shape, c);
    let channel = te::reduce_axis("rc", c.part(&c.kernel.first_extent(weight.shape())));
    let window = c.window_axes(weight);
    let filters = &c.kernel.second_extent(weight.shape());
    accumulated(name, c.dtype, |name, wide| {
        te::compute(name, shape.to_vec(), |i| {
            let filter = &c.out.second_of(i);
            let (input, filter) = match c.groups {
                1 => (channel.expr(), filter.clone()),
                _ => {
                    let group = quotient(filter, filters);
                    let input = sum(&product(&group, channel.extent()), &channel.expr());
                    (input, remainder(filter, filters))
                }
            };
            let at = c.out.spatial_of(i);
            let at = at.iter().zip(&window).zip(&c.windows);
            let at = at.map(|((at, k), window)| sum(at, &scaled(&k.expr(), window.dilation)));
            let index = (c.data).arrange(c.out.first_of(i), input.clone(), at.collect());
            let mirrored = window.iter().map(|k| shifted(k.extent(), -1) - k.expr());
            let of_weight = (c.kernel).arrange(input, filter, mirrored.collect());
            let axes: Vec<_> = [&channel].into_iter().chain(&window).collect();
            te::sum(
                spread.at(index).cast(wide) * weight.at(of_weight).cast(wide),
                axes,
            )
        })
    })
}

/// `x` with zeros between its elements, and as many around it as the windows of a transposed convolution reach.
fn spread(x: &Tensor, weight: &Tensor, out: &[Expr], c: &Convolution) -> Tensor {
    let mut shape = x.shape().to_vec();
    let mut before = vec![];
    for (at, window) in c.windows.iter().enumerate() {
        let beyond = scaled(
            &shifted(&weight.shape()[c.kernel.spatial[at]], -1),
            window.dilation,
        );
        before.push(shifted(&beyond, window.padding.0.saturating_neg()));
        shape[c.data.spatial[at]] = sum(&out[c.out.spatial[at]], &beyond);
    }
    te::compute("data_dilate_pad", shape, |i| {
        let mut index = i.to_vec();
        let mut inside = vec![];
        for (at, window) in c.windows.iter().enumerate() {
            let axis = c.data.spatial[at];
            let place = match before[at].as_int() {
                Some(before) => shifted(&i[axis], before.saturating_neg()),
                None => &i[axis] - &before[at],
            };
            let stride = Expr::i64(window.stride);
            inside.push(place.ge(0));
            inside.push(place.lt(product(&x.shape()[axis], &stride)));
            if window.stride > 1 {
                inside.push(remainder(&place, &stride).equals(0));
            }
            index[axis] = quotient(&place, &stride);
        }
        te::if_then_else(te::all(inside), x.at(index), Expr::constant(0, x.dtype()))
    })
}
