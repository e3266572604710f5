//! Poolings.

use super::extent::{clamped, product, quotient, scaled, shifted, sum};
use super::pad::{Outside, pad};
use super::reduce::{ArgReduce, extreme};
use super::window::{Positions, Window};
use super::{guarded, map, mean_accumulator, ravel, volume};
use crate::ir::Expr;
use crate::ir::sum::gcd;
use crate::te::{self, ReduceAxis, Reduction, Tensor};
use crate::tensor::scalar::Intrin;

/// What a pooling is, but for its tensors.
#[derive(Clone, Debug)]
pub struct Pooling {
    /// The layout of the data.
    pub data: Positions,
    /// The layout of the result.
    pub out: Positions,
    /// The windows of each spatial dimension.
    pub windows: Vec<Window>,
    /// The number of elements of a window along each spatial dimension.
    pub size: Vec<i64>,
    /// How far the last window goes beyond the padding, for each spatial dimension.
    pub beyond: Vec<i64>,
}

/// What a mean divides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// The elements of the window that are data.
    Data,
    /// Those that are data or padding.
    DataAndPadding,
}

/// Each window of `x`, with `outside` around the data, reduced.
fn windows(
    name: &str,
    x: &Tensor,
    shape: &[Expr],
    p: &Pooling,
    outside: &Expr,
    f: impl FnOnce(Expr, &[ReduceAxis]) -> Reduction,
) -> Tensor {
    let mut padding = vec![(0, 0); x.ndim()];
    for (at, window) in p.windows.iter().enumerate() {
        let (before, after) = window.padding;
        padding[p.data.spatial[at]] = (before, after.saturating_add(p.beyond[at]));
    }
    let padded = if padding.iter().all(|&p| p == (0, 0)) {
        x.clone()
    } else {
        pad("pad_temp", x, &padding, &Outside::Value(outside.clone()))
    };
    let axis = |(at, &size): (usize, &i64)| te::reduce_axis(format!("k{at}"), size);
    let axes: Vec<ReduceAxis> = p.size.iter().enumerate().map(axis).collect();
    te::compute(name, shape.to_vec(), |i| {
        let at = p.out.spatial_of(i);
        let at = at.iter().zip(&axes).zip(&p.windows);
        let at = at.map(|((at, k), window)| window.element(at, &k.expr()));
        let channel = p.out.second_of(i);
        let index = (p.data).arrange(p.out.first_of(i), channel, at.collect());
        f(padded.at(index), &axes)
    })
}

/// The greatest element of each window.
pub fn max_pool(name: &str, x: &Tensor, shape: &[Expr], p: &Pooling) -> Tensor {
    windows(name, x, shape, p, &te::lowest(x.dtype()), |x, axes| {
        te::max(x, axes)
    })
}

/// Where the greatest element of each window is, in row-major order of the data, as `int64`; and that element. Of equal ones the
/// first one counts.
pub fn max_pool_with_positions(name: &str, x: &Tensor, shape: &[Expr], p: &Pooling) -> [Tensor; 2] {
    let past = volume(x.shape());
    let reducer = extreme(ArgReduce::Max, past.clone());
    let axis = |(at, &size): (usize, &i64)| te::reduce_axis(format!("k{at}"), size);
    let axes: Vec<ReduceAxis> = p.size.iter().enumerate().map(axis).collect();
    let results = te::compute_all(name, shape.to_vec(), |i| {
        let (mut at, mut inside) = (vec![], vec![]);
        for (k, window) in p.windows.iter().enumerate() {
            let extent = &x.shape()[p.data.spatial[k]];
            let (before, _) = window.padding;
            let padded = window.element(&i[p.out.spatial[k]], &axes[k].expr());
            let element = shifted(&padded, -before);
            if window.padding != (0, 0) || p.beyond[k] > 0 {
                inside.extend([element.ge(0), element.lt(extent)]);
            }
            at.push(clamped(&element, extent));
        }
        let (batch, channel) = (p.out.first_of(i), p.out.second_of(i));
        let index = p.data.arrange(batch, channel, at);
        let inside = te::all(inside);
        let position = Expr::select(inside.clone(), ravel(&index, x.shape()), past);
        let value = guarded(inside, x.at(index), te::lowest(x.dtype()));
        reducer.over(vec![position, value], &axes)
    });
    results.try_into().expect("a position and a value")
}

/// The mean of each window. A window without a single element that counts gives 0.
pub fn avg_pool(name: &str, x: &Tensor, shape: &[Expr], p: &Pooling, counted: Counted) -> Tensor {
    let wide = mean_accumulator(x.dtype());
    let zero = Expr::constant(0, x.dtype());
    let sums = windows(&format!("{name}_sum"), x, shape, p, &zero, |x, axes| {
        te::sum(x.cast(wide), axes)
    });
    te::compute(name, shape.to_vec(), |i| {
        let counts = (0..p.windows.len()).map(|at| {
            let place = &i[p.out.spatial[at]];
            let extent = &x.shape()[p.data.spatial[at]];
            counted_elements(
                &p.windows[at],
                p.size[at],
                p.beyond[at],
                place,
                extent,
                counted,
            )
        });
        let counts: Vec<Expr> = counts.collect();
        let count = volume(&counts);
        let count = match count.as_int() {
            Some(_) => count,
            None => count.max(1),
        };
        (sums.at(i) / count.cast(wide)).cast(x.dtype())
    })
}

/// How many elements of the window at `place` count along one dimension.
fn counted_elements(
    window: &Window,
    size: i64,
    beyond: i64,
    place: &Expr,
    extent: &Expr,
    counted: Counted,
) -> Expr {
    let (before, after) = window.padding;
    let cut = match counted {
        Counted::Data => before > 0 || after > 0 || beyond > 0,
        Counted::DataAndPadding => beyond > 0,
    };
    if !cut {
        return Expr::i64(size);
    }
    let dilation = Expr::i64(window.dilation);
    let start = shifted(&scaled(place, window.stride), before.saturating_neg());
    // The last element that counts, and the number of elements of the window before the first one.
    let (last, skipped) = match counted {
        Counted::Data => {
            let missing = Expr::i64(window.dilation - 1) - &start;
            (shifted(extent, -1), quotient(&missing, &dilation).max(0))
        }
        Counted::DataAndPadding => (shifted(extent, after.saturating_sub(1)), Expr::i64(0)),
    };
    let end = shifted(
        &start,
        scaled(&Expr::i64(size - 1), window.dilation)
            .as_int()
            .unwrap_or(0),
    );
    let from = sum(&start, &product(&skipped, &dilation));
    shifted(&quotient(&(end.min(last) - from), &dilation), 1).max(0)
}

/// The p-norm of each window: the root of order `p` of the sum of `|x|` to the power of `p`.
pub fn lp_pool(name: &str, x: &Tensor, shape: &[Expr], p: &Pooling, order: i64) -> Tensor {
    let wide = mean_accumulator(x.dtype());
    let zero = Expr::constant(0, x.dtype());
    let float = |v: f64| Expr::float(v, wide);
    let power = |x: Expr| match order {
        1 => Expr::call(Intrin::Abs, vec![x]),
        2 => x.clone() * x,
        _ => {
            let x = Expr::call(Intrin::Abs, vec![x]);
            Expr::call(Intrin::Pow, vec![x, float(order as f64)])
        }
    };
    let sums = windows(&format!("{name}_sum"), x, shape, p, &zero, |x, axes| {
        te::sum(power(x.cast(wide)), axes)
    });
    map(name, &sums, |sum| {
        let root = match order {
            1 => sum,
            2 => Expr::call(Intrin::Sqrt, vec![sum]),
            _ => Expr::call(Intrin::Pow, vec![sum, float(1.0 / order as f64)]),
        };
        root.cast(x.dtype())
    })
}

/// What becomes of the elements of a window of an adaptive pooling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adaptive {
    /// Their mean.
    Mean,
    /// The greatest one.
    Max,
}

/// The windows of an adaptive pooling along one dimension: window `i` of `out` begins at `i * extent // out` and ends before
/// `(i + 1) * extent / out`, rounded up.
struct Parts {
    extent: Expr,
    out: Expr,
    /// All windows have as many elements, and none overlap.
    exact: Option<Expr>,
    axis: ReduceAxis,
}

/// The most elements of a part, of `out` that `n` are divided into. With the common factor of both taken out, the parts begin at
/// all remainders of division by `out`, and of those the greatest gives the longest one.
fn longest_part(n: i64, out: i64) -> i64 {
    let common = gcd(n.into(), out.into());
    if n <= 0 || out <= 0 {
        return 0;
    }
    let (n, out) = (i128::from(n) / common, i128::from(out) / common);
    i64::try_from((n + 2 * (out - 1)) / out).unwrap_or(i64::MAX)
}

impl Parts {
    fn new(at: usize, extent: &Expr, out: &Expr) -> Self {
        let exact = match (extent.as_int(), out.as_int()) {
            (_, Some(1)) => Some(extent.clone()),
            (Some(extent), Some(out)) if out > 0 && extent % out == 0 => {
                Some(Expr::i64(extent / out))
            }
            _ => None,
        };
        let longest = match (&exact, extent.as_int(), out.as_int()) {
            (Some(exact), _, _) => exact.clone(),
            (None, Some(n), Some(out)) => Expr::i64(longest_part(n, out)),
            _ => shifted(&quotient(&(sum(extent, out) - 1), out), 1),
        };
        Self {
            extent: extent.clone(),
            out: out.clone(),
            exact,
            axis: te::reduce_axis(format!("k{at}"), longest),
        }
    }

    fn start(&self, i: &Expr) -> Expr {
        match &self.exact {
            Some(_) if self.out.is_one() => Expr::i64(0),
            Some(length) => product(i, length),
            None => quotient(&product(i, &self.extent), &self.out),
        }
    }

    fn length(&self, i: &Expr) -> Expr {
        if let Some(length) = &self.exact {
            return length.clone();
        }
        let up = shifted(&self.out, -1);
        let end = quotient(&sum(&product(&shifted(i, 1), &self.extent), &up), &self.out);
        end - self.start(i)
    }

    /// The index of element `k` of window `i`, and whether there is one.
    fn element(&self, i: &Expr) -> (Expr, Option<Expr>) {
        let at = sum(&self.start(i), &self.axis.expr());
        match self.exact {
            Some(_) => (at, None),
            None => (
                at.min(shifted(&self.extent, -1)),
                Some(self.axis.expr().lt(self.length(i))),
            ),
        }
    }
}

/// The spatial dimensions of `x` cut into as many windows as the result has elements there.
pub fn adaptive_pool(
    name: &str,
    which: Adaptive,
    x: &Tensor,
    shape: &[Expr],
    data: &Positions,
    out: &Positions,
) -> Tensor {
    let parts = data.spatial.iter().zip(&out.spatial).enumerate();
    let parts = parts.map(|(at, (&from, &to))| Parts::new(at, &x.shape()[from], &shape[to]));
    let parts: Vec<Parts> = parts.collect();
    let axes: Vec<ReduceAxis> = parts.iter().map(|part| part.axis.clone()).collect();
    let window = |outside: Expr, dtype| {
        let (parts, data) = (&parts, &data);
        move |i: &[Expr]| {
            let places = out.spatial_of(i);
            let elements = parts.iter().zip(&places).map(|(part, i)| part.element(i));
            let (index, inside): (Vec<Expr>, Vec<_>) = elements.unzip();
            let inside: Vec<Expr> = inside.into_iter().flatten().collect();
            let channel = out.second_of(i);
            let element = x.at(data.arrange(out.first_of(i), channel, index));
            let element: Expr = element.cast(dtype);
            if inside.is_empty() {
                element
            } else {
                te::if_then_else(te::all(inside), element, outside.clone())
            }
        }
    };
    if which == Adaptive::Max {
        let element = window(te::lowest(x.dtype()), x.dtype());
        let greatest = |i: &[Expr]| te::max(element(i), &axes[..]);
        return te::compute(name, shape.to_vec(), greatest);
    }
    let wide = mean_accumulator(x.dtype());
    let element = window(Expr::constant(0, wide), wide);
    let sums = te::compute(format!("{name}_sum"), shape.to_vec(), |i| {
        te::sum(element(i), &axes)
    });
    te::compute(name, shape.to_vec(), |i| {
        let places = out.spatial_of(i);
        let lengths = parts.iter().zip(&places).map(|(part, i)| part.length(i));
        let count = volume(&lengths.collect::<Vec<_>>()).cast(wide);
        (sums.at(i) / count).cast(x.dtype())
    })
}

#[cfg(test)]
mod tests {
    use super::longest_part;

    #[test]
    fn the_longest_part_is_found_without_a_loop() {
        for n in 0..40i64 {
            for out in 1..40 {
                let length = |i: i64| ((i + 1) * n + out - 1) / out - i * n / out;
                let longest = (0..out).map(length).max().expect("one part or more");
                assert_eq!(longest_part(n, out), longest, "{n} in {out}");
            }
        }
        assert_eq!(longest_part(7, 1_000_000_000_000), 2);
        assert_eq!(longest_part(1 << 62, 3), (1 << 62) / 3 + 1);
    }
}
