//! Resizing of images: where the elements of the result lie in the data, and which elements are mixed there.

use std::ops::Range;

use super::accumulator;
use super::extent::{clamped, product, quotient, remainder, scaled, shifted, sum};
use super::window::Positions;
use crate::ir::Expr;
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// How an index of the result becomes a coordinate of the data (ONNX: `coordinate_transformation_mode`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Transform {
    /// Pixels are squares: `(x + 0.5) * n / m - 0.5`.
    HalfPixel,
    /// The same, and 0 where the result has one pixel.
    PytorchHalfPixel,
    /// The same, with the centers of data and result on each other. It differs where a scale is given.
    HalfPixelSymmetric,
    /// First and last pixels of data and result lie on each other.
    AlignCorners,
    /// `x * n / m`
    Asymmetric,
    /// `(x + 0.5) * n / m`
    TfHalfPixelForNn,
    /// From the part of the data between two positions, which are parts of its extent.
    Crop {
        /// The coordinate of the first pixel, as a part of the data.
        start: f64,
        /// That of the last one.
        end: f64,
    },
}

/// How a coordinate becomes an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearest one, of two the even one.
    Even,
    /// To the nearest one, of two the lower one.
    PreferFloor,
    /// To the nearest one, of two the upper one.
    PreferCeil,
    /// To the one below.
    Floor,
    /// To the one above.
    Ceil,
}

/// What is made of the elements around a coordinate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// One of them.
    Nearest(Rounding),
    /// Two along each dimension, weighted by their distances.
    Linear,
    /// Four along each dimension, weighted by a cubic spline.
    Cubic {
        /// The coefficient of the spline.
        alpha: f64,
    },
}

/// A coordinate along one dimension.
#[derive(Clone, Debug)]
pub(super) enum Coordinate {
    /// An exact one: `num / den`.
    Ratio { num: Expr, den: Expr },
    /// A rounded one.
    Float(Expr),
}

impl Coordinate {
    /// Where element `x` of `m` lies among `n` elements. `scale` is how many elements one element becomes, where that is given
    /// and is not `m / n`.
    fn new(
        transform: Transform,
        scale: Option<f64>,
        x: &Expr,
        n: &Expr,
        m: &Expr,
        dtype: DType,
    ) -> Self {
        match scale {
            Some(scale) => Self::Float(scaled_coordinate(transform, scale, x, n, m, dtype)),
            None => Self::of_extents(transform, x, n, m, dtype),
        }
    }

    fn of_extents(transform: Transform, x: &Expr, n: &Expr, m: &Expr, dtype: DType) -> Self {
        let odd = |x: &Expr| product(&shifted(&scaled(x, 2), 1), n);
        let ratio = |num: Expr, den: Expr| Self::Ratio { num, den };
        let zero = || ratio(Expr::i64(0), Expr::i64(1));
        match transform {
            Transform::HalfPixel | Transform::HalfPixelSymmetric => ratio(odd(x) - m, scaled(m, 2)),
            Transform::PytorchHalfPixel => match m.as_int() {
                Some(1) => zero(),
                Some(_) => ratio(odd(x) - m, scaled(m, 2)),
                None => ratio(
                    Expr::select(m.le(1), Expr::i64(0), odd(x) - m),
                    scaled(m, 2),
                ),
            },
            Transform::AlignCorners => match m.as_int() {
                Some(1) => zero(),
                Some(m) => ratio(product(x, &shifted(n, -1)), Expr::i64(m - 1)),
                None => ratio(product(x, &shifted(n, -1)), shifted(m, -1).max(1)),
            },
            Transform::Asymmetric => ratio(product(x, n), m.clone()),
            Transform::TfHalfPixelForNn => ratio(odd(x), scaled(m, 2)),
            Transform::Crop { start, end } => {
                let float = |v: f64| Expr::float(v, dtype);
                let last = shifted(n, -1).cast(dtype);
                let middle = last.clone() * float(0.5 * (start + end));
                let many = || {
                    let step = last.clone() * float(end - start) / shifted(m, -1).cast(dtype);
                    last.clone() * float(start) + x.cast(dtype) * step
                };
                Self::Float(match m.as_int() {
                    Some(1) => middle,
                    Some(_) => many(),
                    None => te::if_then_else(m.le(1), middle, many()),
                })
            }
        }
    }

    /// The index below, and the distance from it.
    pub(super) fn floor(&self, dtype: DType) -> (Expr, Expr) {
        match self {
            Self::Ratio { num, den } => {
                let fraction = remainder(num, den).cast(dtype) / den.cast(dtype);
                (quotient(num, den), fraction)
            }
            Self::Float(at) => {
                let floor = Expr::call(Intrin::Floor, vec![at.clone()]);
                (floor.cast(DType::I64), at - floor)
            }
        }
    }

    fn nearest(&self, rounding: Rounding) -> Expr {
        match self {
            Self::Ratio { num, den } => nearest_ratio(num, den, rounding),
            Self::Float(at) => nearest_float(at, rounding),
        }
    }
}

/// The coordinate of element `x` of `m` among `n`, each of which becomes `scale` elements.
fn scaled_coordinate(
    transform: Transform,
    scale: f64,
    x: &Expr,
    n: &Expr,
    m: &Expr,
    dtype: DType,
) -> Expr {
    let float = |v: f64| Expr::float(v, dtype);
    let (at, extent) = (x.cast(dtype), n.cast(dtype));
    let last = || &extent - float(1.0);
    let centered = || (&at + float(0.5)) / float(scale) - float(0.5);
    // The extent of the result before it is rounded.
    let exact = || &extent * float(scale);
    match transform {
        Transform::HalfPixel => centered(),
        Transform::PytorchHalfPixel => {
            let one = Expr::binary(BinOp::Gt, exact(), float(1.0)).not();
            Expr::select(one, float(0.0), centered())
        }
        Transform::HalfPixelSymmetric => {
            let rest = float(1.0) - m.cast(dtype) / exact();
            &extent * float(0.5) * rest + centered()
        }
        Transform::AlignCorners => {
            let step = last() / (exact() - float(1.0));
            Expr::select(exact().equals(float(1.0)), float(0.0), at.clone() * step)
        }
        Transform::Asymmetric => at / float(scale),
        Transform::TfHalfPixelForNn => (at + float(0.5)) / float(scale),
        Transform::Crop { start, end } => {
            let step = last() * float(end - start) / (exact() - float(1.0));
            let many = last() * float(start) + &at * step;
            let middle = last() * float(0.5 * (start + end));
            Expr::select(exact().equals(float(1.0)), middle, many)
        }
    }
}

fn nearest_ratio(num: &Expr, den: &Expr, rounding: Rounding) -> Expr {
    let (twice, double) = (sum(&scaled(num, 2), den), scaled(den, 2));
    match rounding {
        Rounding::Floor => quotient(num, den),
        Rounding::Ceil => quotient(&(num + shifted(den, -1)), den),
        Rounding::PreferCeil => quotient(&twice, &double),
        Rounding::PreferFloor => quotient(&shifted(&twice, -1), &double),
        Rounding::Even => {
            let up = quotient(&twice, &double);
            let between = remainder(&twice, &double).equals(0);
            let odd = up.floor_mod(2).equals(1);
            Expr::select(between.and(odd), shifted(&up, -1), up)
        }
    }
}

/// The index that a rounded coordinate becomes. Coordinates that should be integers count as such.
pub(super) fn nearest_float(at: &Expr, rounding: Rounding) -> Expr {
    let by = |v: f64| at + Expr::float(v, at.dtype());
    let call = |intrin, at| Expr::call(intrin, vec![at]);
    let rounded = match rounding {
        Rounding::Even => call(Intrin::Round, at.clone()),
        Rounding::PreferFloor => call(Intrin::Ceil, by(-0.5)),
        Rounding::PreferCeil => call(Intrin::Floor, by(0.5)),
        Rounding::Floor => call(Intrin::Floor, by(1e-5)),
        Rounding::Ceil => call(Intrin::Ceil, by(-1e-5)),
    };
    rounded.cast(DType::I64)
}

/// Indices along one dimension, each with its weight; no weight is the weight 1.
pub(super) type Taps = Vec<(Expr, Option<Expr>)>;

/// The two elements around `num / den`, with weights that are whole numbers: `den` times those of [`linear_taps`].
fn whole_taps(num: &Expr, den: &Expr, dtype: DType) -> Taps {
    let (floor, rest) = (quotient(num, den), remainder(num, den));
    let first = den - &rest;
    vec![
        (floor.clone(), Some(first.cast(dtype))),
        (shifted(&floor, 1), Some(rest.cast(dtype))),
    ]
}

pub(super) fn linear_taps((floor, fraction): (Expr, Expr)) -> Taps {
    let rest = Expr::float(1.0, fraction.dtype()) - &fraction;
    vec![
        (floor.clone(), Some(rest)),
        (shifted(&floor, 1), Some(fraction)),
    ]
}

/// The four elements around `floor + t`, with the weights of a cubic convolution.
///
/// # References
/// R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
fn cubic_taps((floor, t): (Expr, Expr), alpha: f64) -> Taps {
    let number = |v: f64| Expr::float(v, t.dtype());
    let square = &t * &t;
    let cube = &square * &t;
    let weights = [
        (&cube - &square * number(2.0) + &t) * number(alpha),
        &cube * number(alpha + 2.0) - &square * number(alpha + 3.0) + number(1.0),
        &square * number(2.0 * alpha + 3.0) - &cube * number(alpha + 2.0) - &t * number(alpha),
        (&square - &cube) * number(alpha),
    ];
    let tap = |(at, weight)| (shifted(&floor, at - 1), Some(weight));
    (0i64..).zip(weights).map(tap).collect()
}

/// The weights without those of elements outside of `0 .. extent`, and divided by their sum.
fn inside_only(taps: Taps, extent: &Expr) -> Taps {
    let weight = |(at, weight): (Expr, Option<Expr>)| {
        let weight = weight?;
        let none = Expr::float(0.0, weight.dtype());
        let inside = at.ge(0).and(at.lt(extent));
        Some((at, Expr::select(inside, weight, none)))
    };
    let kept: Vec<(Expr, Expr)> = taps.into_iter().filter_map(weight).collect();
    let weights = kept.iter().map(|(_, weight)| weight.clone());
    let Some(total) = weights.reduce(|a, b| a + b) else {
        return vec![];
    };
    let kept = kept.into_iter();
    kept.map(|(at, weight)| (at, Some(weight / &total)))
        .collect()
}

/// The weighted sum over all combinations of taps of the dimensions from `index.len()` on.
pub(super) fn mix(taps: &[Taps], index: Vec<Expr>, at: &dyn Fn(&[Expr]) -> Expr) -> Expr {
    let Some(dimension) = taps.get(index.len()) else {
        return at(&index);
    };
    let terms = dimension.iter().map(|(tap, weight)| {
        let mut index = index.clone();
        index.push(tap.clone());
        let value = mix(taps, index, at);
        match weight {
            Some(weight) => value * weight,
            None => value,
        }
    });
    terms
        .reduce(|a, b| a + b)
        .expect("each dimension has a tap")
}

/// What a resizing is, but for its tensors.
#[derive(Clone, Debug)]
pub struct Resize {
    /// The layout of data and result.
    pub layout: Positions,
    /// The coordinates of each spatial dimension.
    pub transforms: Vec<Transform>,
    /// How many elements one element of a spatial dimension becomes, where that is given and is not the ratio of the extents.
    pub scales: Vec<Option<f64>>,
    /// What is made of the elements around a coordinate.
    pub method: Method,
    /// Elements outside of the data have no weight; else the nearest element stands for them.
    pub exclude_outside: bool,
    /// The value of elements whose coordinates are outside of the data, where a part of it is taken.
    pub extrapolation: f64,
    /// The element type of the result.
    pub dtype: DType,
}

/// The type of weights and mixed elements.
pub(super) fn mixed_type(dtype: DType) -> DType {
    match dtype.is_float() {
        true => accumulator(dtype),
        false => DType::F32,
    }
}

/// The image in another size. A cubic spline mixes four elements along one dimension after the other: 16 of two dimensions would be
/// as many coordinates in the text of a kernel, for each of its lanes.
pub fn resize(name: &str, x: &Tensor, shape: &[Expr], r: &Resize) -> Tensor {
    let wide = mixed_type(x.dtype());
    let spatial = r.transforms.len();
    let before = match r.method {
        Method::Cubic { .. } => spatial.saturating_sub(1),
        Method::Nearest(_) | Method::Linear => 0,
    };
    let mut image = x.clone();
    for at in 0..before {
        let axis = r.layout.spatial[at];
        let mut extents = image.shape().to_vec();
        extents[axis] = shape[axis].clone();
        image = te::compute(format!("{name}_along{axis}"), extents.clone(), |i| {
            mixed(&image, &extents, r, at..at + 1, i)
        });
    }
    te::compute(name, shape.to_vec(), |i| {
        let value = mixed(&image, shape, r, before..spatial, i).cast(r.dtype);
        let axes = r.layout.spatial.iter().zip(&r.transforms).zip(&r.scales);
        let outside = axes.filter_map(|((&axis, &transform), &scale)| {
            let n = &x.shape()[axis];
            let coordinate = Coordinate::new(transform, scale, &i[axis], n, &shape[axis], wide);
            match (transform, coordinate) {
                (Transform::Crop { .. }, Coordinate::Float(at)) => {
                    let last = shifted(n, -1).cast(wide);
                    let below = at.lt(Expr::float(0.0, wide));
                    let above = Expr::binary(BinOp::Gt, at, last);
                    Some(Expr::binary(BinOp::Or, below, above))
                }
                _ => None,
            }
        });
        match outside.reduce(|a, b| Expr::binary(BinOp::Or, a, b)) {
            Some(outside) => {
                let constant = Expr::float(r.extrapolation, wide).cast(r.dtype);
                Expr::select(outside, constant, value)
            }
            None => value,
        }
    })
}

/// The element at `i` of an image that some spatial dimensions of `x` have another size in.
fn mixed(x: &Tensor, shape: &[Expr], r: &Resize, some: Range<usize>, i: &[Expr]) -> Expr {
    let wide = mixed_type(x.dtype());
    let axes = &r.layout.spatial[some.clone()];
    let coordinates = some.map(|at| {
        let axis = r.layout.spatial[at];
        let (n, m) = (&x.shape()[axis], &shape[axis]);
        Coordinate::new(r.transforms[at], r.scales[at], &i[axis], n, m, wide)
    });
    let coordinates: Vec<Coordinate> = coordinates.collect();
    let element = |at: &[Expr]| {
        let mut index = i.to_vec();
        for (&axis, at) in axes.iter().zip(at) {
            index[axis] = clamped(at, &x.shape()[axis]);
        }
        x.at(index)
    };
    let whole = r.method == Method::Linear && !x.dtype().is_float() && !r.dtype.is_float();
    if whole && let Some(mixed) = mixed_integers(&coordinates, x.dtype(), &element) {
        return mixed;
    }
    let taps = coordinates
        .iter()
        .zip(axes)
        .map(|(coordinate, &axis)| match r.method {
            Method::Nearest(rounding) => vec![(coordinate.nearest(rounding), None)],
            Method::Linear => linear_taps(coordinate.floor(wide)),
            Method::Cubic { alpha } => {
                let taps = cubic_taps(coordinate.floor(wide), alpha);
                match r.exclude_outside {
                    true => inside_only(taps, &x.shape()[axis]),
                    false => taps,
                }
            }
        });
    let taps: Vec<Taps> = taps.collect();
    mix(&taps, vec![], &|at| match r.method {
        Method::Nearest(_) => element(at),
        Method::Linear | Method::Cubic { .. } => element(at).cast(wide),
    })
}

/// The linear mixture of integers, cut off at the point: a sum of products, which is divided once. `None` where a coordinate is
/// rounded, so that there is no exact mixture.
///
/// Sums of 64 bits hold what elements of 32 bits make of any image that fits into memory. A mixture of 64-bit integers overflows
/// where an element times the denominators of all dimensions does.
fn mixed_integers(
    coordinates: &[Coordinate],
    dtype: DType,
    element: &dyn Fn(&[Expr]) -> Expr,
) -> Option<Expr> {
    let ratio = |coordinate: &Coordinate| match coordinate {
        Coordinate::Ratio { num, den } => Some((num.clone(), den.clone())),
        Coordinate::Float(_) => None,
    };
    let ratios: Vec<(Expr, Expr)> = coordinates.iter().map(ratio).collect::<Option<_>>()?;
    let dens = ratios.iter().map(|(_, den)| den.clone());
    let divisor = dens.reduce(|a, b| product(&a, &b))?;
    let greatest = |(least, most): (i64, i64)| most.max(least.saturating_neg());
    let sum = dtype.scalar.int_range().zip(divisor.as_int());
    let sum = sum.and_then(|(range, divisor)| greatest(range).checked_mul(divisor));
    let sums = match sum.is_some_and(|sum| i32::try_from(sum).is_ok()) {
        true => DType::I32,
        false => DType::I64,
    };
    let taps = ratios.iter().map(|(num, den)| whole_taps(num, den, sums));
    let taps: Vec<Taps> = taps.collect();
    let total = mix(&taps, vec![], &|at| element(at).cast(sums));
    Some(Expr::binary(BinOp::Div, total, divisor.cast(sums)))
}

/// The weight of an element at this distance from a coordinate.
pub(super) fn weight(method: Method, distance: Expr) -> Expr {
    let dtype = distance.dtype();
    let number = |v: f64| Expr::float(v, dtype);
    let x = Expr::call(Intrin::Abs, vec![distance]);
    match method {
        Method::Nearest(_) | Method::Linear => (number(1.0) - x).max(number(0.0)),
        Method::Cubic { alpha } => {
            let square = &x * &x;
            let cube = &square * &x;
            let near = &cube * number(alpha + 2.0) - &square * number(alpha + 3.0) + number(1.0);
            let far =
                (cube - square * number(5.0) + &x * number(8.0) - number(4.0)) * number(alpha);
            let none = number(0.0);
            let far = Expr::select(x.lt(number(2.0)), far, none);
            Expr::select(x.le(number(1.0)), near, far)
        }
    }
}

/// The filter of one dimension where pixels are left out. It is as wide as what becomes one pixel.
struct Filter {
    /// How many elements it reaches to each side.
    reach: Expr,
    /// What distances are multiplied by.
    narrowing: Expr,
}

impl Filter {
    /// For `m` pixels of `n`, each of which becomes `scale` pixels where that is given.
    fn new(method: Method, scale: Option<f64>, n: &Expr, m: &Expr, dtype: DType) -> Self {
        let radius = match method {
            Method::Nearest(_) | Method::Linear => 1,
            Method::Cubic { .. } => 2,
        };
        let number = |v: f64| Expr::float(v, dtype);
        match (scale, n.as_int(), m.as_int()) {
            (Some(scale), _, _) => {
                let narrowing = scale.min(1.0);
                Self {
                    reach: Expr::i64((f64::from(radius) / narrowing).ceil() as i64),
                    narrowing: number(narrowing),
                }
            }
            (None, Some(n), Some(m)) => {
                let (n, m) = (n.max(1), m.max(1));
                Self {
                    reach: Expr::i64((i64::from(radius) * n.max(m) + m - 1) / m),
                    narrowing: number((m as f64 / n as f64).min(1.0)),
                }
            }
            (None, _, _) => {
                // A result without pixels has a filter too.
                let (n, m) = (n.max(1), m.max(1));
                let reach = scaled(&n.max(&m), i64::from(radius)) + shifted(&m, -1);
                Self {
                    reach: quotient(&reach, &m),
                    narrowing: (m.cast(dtype) / n.cast(dtype)).min(number(1.0)),
                }
            }
        }
    }
}

/// The image in another size; where it becomes smaller, filters are as wide as what becomes one pixel. One dimension after the
/// other is resized.
///
/// # References
/// ONNX, operator Resize, attribute `antialias`.
pub fn resize_antialiased(name: &str, x: &Tensor, shape: &[Expr], r: &Resize) -> Tensor {
    let wide = mixed_type(x.dtype());
    let mut image = x.clone();
    for (at, (&axis, &scale)) in r.layout.spatial.iter().zip(&r.scales).enumerate() {
        let (n, m) = (&x.shape()[axis], &shape[axis]);
        let Filter { reach, narrowing } = Filter::new(r.method, scale, n, m, wide);
        let count = scaled(&reach, 2);
        let tap = |k: &Expr| sum(k, &shifted(&product(&reach, &Expr::i64(-1)), 1));
        let place = |o: &Expr| {
            let coordinate = Coordinate::new(r.transforms[at], scale, o, n, m, wide);
            coordinate.floor(wide)
        };
        let weights = te::compute(format!("{name}_raw"), [m.clone(), count.clone()], |i| {
            let (floor, fraction) = place(&i[0]);
            let tap = tap(&i[1]);
            let distance = (tap.cast(wide) - fraction) * &narrowing;
            let weight = weight(r.method, distance);
            match r.exclude_outside {
                true => {
                    let element = floor + tap;
                    let inside = element.ge(0).and(element.lt(n));
                    Expr::select(inside, weight, Expr::float(0.0, wide))
                }
                false => weight,
            }
        });
        let k = te::reduce_axis("k", count.clone());
        let totals = te::compute(format!("{name}_total"), [m.clone()], |i| {
            te::sum(weights.at([&i[0], &k.expr()]), [&k])
        });
        let mut extents = image.shape().to_vec();
        extents[axis] = m.clone();
        let k = te::reduce_axis("k", count);
        image = te::compute(format!("{name}_along{axis}"), extents, |i| {
            let (floor, _) = place(&i[axis]);
            let mut index = i.to_vec();
            index[axis] = clamped(&(floor + tap(&k.expr())), n);
            let weight = weights.at([&i[axis], &k.expr()]) / totals.at([&i[axis]]);
            te::sum(image.at(index).cast(wide) * weight, [&k])
        });
    }
    te::compute(name, shape.to_vec(), |i| image.at(i).cast(r.dtype))
}
