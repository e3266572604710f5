//! The loop programs of products of words.

use crate::ir::{Expr, PrimFunc};
use crate::ops::nn::Window;
use crate::te::{self, ReduceAxis, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// Bytes of a word.
const BYTES: i64 = 4;

/// What the bytes of words are made of.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    /// The type of the elements.
    pub(super) dtype: DType,
    /// Whether they are moved by 128, to the other 8-bit type.
    pub(super) moved: bool,
}

/// The extents of words, and of the padding around them.
pub(super) fn packed_shape(shape: &[Expr], axis: usize, windows: Option<&[Window]>) -> Vec<Expr> {
    let mut packed = shape.to_vec();
    packed[axis] = words(&shape[axis]);
    for (d, window) in windows.unwrap_or(&[]).iter().enumerate() {
        let both = window.padding.0 + window.padding.1;
        packed[d + 2] = simplified(&shape[d + 2] + both);
    }
    packed
}

fn words(extent: &Expr) -> Expr {
    simplified((extent + (BYTES - 1)).floor_div(BYTES))
}

/// The element that is byte `j` of a word.
fn element_of(word: &Expr, words: &Expr, j: i64) -> Expr {
    simplified(word + words * j)
}

fn simplified(e: Expr) -> Expr {
    crate::arith::Analyzer::new().simplify(&e)
}

/// Four elements along an axis in a word. An image gets its padding; words there are made of the zero point, if there is one.
pub(super) fn packed(
    shape: &[Expr],
    of: Bytes,
    axis: usize,
    padded: Option<(&[Window], bool)>,
) -> Option<PrimFunc> {
    let x = te::placeholder("X", shape.to_vec(), of.dtype);
    let zero = te::placeholder("Z", Vec::<Expr>::new(), DType::I32);
    let (windows, has_zero) = padded.unwrap_or((&[], false));
    let count = words(&shape[axis]);
    let whole = simplified(&shape[axis] - &count * BYTES).is_zero();
    let word = |bytes: &dyn Fn(i64) -> Expr| {
        let shifted = |j: i64| Expr::binary(BinOp::Shl, bytes(j), Expr::int(8 * j, DType::I32));
        let or = |a: Expr, b: Expr| Expr::binary(BinOp::BitOr, a, b);
        (1..BYTES).fold(bytes(0), |sum, j| or(sum, shifted(j)))
    };
    let none = || Expr::int(0, DType::I32);
    let to = packed_shape(shape, axis, Some(windows));
    let packed = te::compute("packed", to, |at| {
        let mut index = at.to_vec();
        let mut inside = vec![];
        for (d, window) in windows.iter().enumerate() {
            if window.padding == (0, 0) {
                continue;
            }
            index[d + 2] = &at[d + 2] - window.padding.0;
            inside.push(index[d + 2].ge(0));
            inside.push(index[d + 2].lt(&shape[d + 2]));
        }
        let element = |j: i64| {
            let mut index = index.clone();
            index[axis] = element_of(&at[axis], &count, j);
            let mut byte = x.at(&index).cast(DType::U8).cast(DType::I32);
            if of.moved {
                byte = Expr::binary(BinOp::BitXor, byte, Expr::int(0x80, DType::I32));
            }
            match whole {
                true => byte,
                false => te::if_then_else(index[axis].lt(&shape[axis]), byte, none()),
            }
        };
        let inner = word(&element);
        if inside.is_empty() {
            return inner;
        }
        // Bytes past the last channel are 0, in the padding too.
        let outer = |j: i64| {
            let byte = Expr::binary(
                BinOp::BitAnd,
                zero.at(Vec::<Expr>::new()),
                Expr::int(0xff, DType::I32),
            );
            match whole {
                true => byte,
                false => {
                    let channel = element_of(&at[axis], &count, j);
                    te::if_then_else(channel.lt(&shape[axis]), byte, none())
                }
            }
        };
        let outer = if has_zero { word(&outer) } else { none() };
        te::if_then_else(te::all(inside), inner, outer)
    });
    let params = match has_zero {
        true => vec![x, zero, packed],
        false => vec![x, packed],
    };
    te::create_prim_func("packed", &params).ok()
}

/// `Σ x w` of unsigned bytes by signed ones, matrices of words.
pub(super) fn matmul(x: &[Expr], w: &[Expr]) -> Option<PrimFunc> {
    let axis = x.len() - 1;
    let a = te::placeholder("A", packed_shape(x, axis, None), DType::I32);
    let b = te::placeholder("B", packed_shape(w, 0, None), DType::I32);
    let mut shape = x.to_vec();
    shape[axis] = w[1].clone();
    let k = te::reduce_axis("k", b.shape()[0].clone());
    let y = te::compute("matmul", shape, |at| {
        let mut row = at.to_vec();
        row[axis] = k.expr();
        te::sum(product(a.at(row), b.at([&k.expr(), &at[axis]])), [&k])
    });
    te::create_prim_func("matmul_of_words", &[a, b, y]).ok()
}

/// The convolution of a padded image of words.
pub(super) fn convolution(x: &[Expr], w: &[Expr], windows: &[Window]) -> Option<PrimFunc> {
    let b = te::placeholder("B", packed_shape(w, 1, None), DType::I32);
    let (a, y) = over_windows("conv", x, w, windows, &w[0], &|filter, steps| {
        let weight = [filter].into_iter().chain(steps);
        b.at(weight.cloned())
    });
    te::create_prim_func("convolution_of_words", &[a, b, y]).ok()
}

/// The sum of the elements in each window of a padded image of words.
pub(super) fn window_sums(x: &[Expr], w: &[Expr], windows: &[Window]) -> Option<PrimFunc> {
    let ones = || Expr::int(0x0101_0101, DType::I32);
    let (a, y) = over_windows("sums", x, w, windows, &Expr::i64(1), &|_, _| ones());
    te::create_prim_func("window_sums", &[a, y]).ok()
}

/// The image, and for each channel of the result the products of its windows by words, which are given by the channel and the steps of the
/// sum: words of channels, and taps.
fn over_windows(
    name: &str,
    x: &[Expr],
    w: &[Expr],
    windows: &[Window],
    filters: &Expr,
    by: &dyn Fn(&Expr, &[Expr]) -> Expr,
) -> (Tensor, Tensor) {
    // The extents of the padded image are what the program sees.
    let image = super::calls::fresh(&packed_shape(x, 1, Some(windows)));
    let a = te::placeholder("A", image.clone(), DType::I32);
    let channel = te::reduce_axis("rc", words(&w[1]));
    let names = &["rz", "ry", "rx"][3 - windows.len()..];
    let taps = names.iter().zip(&w[2..]);
    let taps = taps.map(|(name, extent)| te::reduce_axis(*name, extent.clone()));
    let axes: Vec<ReduceAxis> = [channel].into_iter().chain(taps).collect();
    let steps: Vec<Expr> = axes.iter().map(ReduceAxis::expr).collect();
    let mut shape = vec![image[0].clone(), filters.clone()];
    for (d, window) in windows.iter().enumerate() {
        let span = (&w[d + 2] - 1) * window.dilation;
        let places = (&image[d + 2] - span - 1).floor_div(window.stride) + 1;
        shape.push(simplified(places));
    }
    let y = te::compute(name, shape, |at| {
        let mut pixel = vec![at[0].clone(), steps[0].clone()];
        for (d, window) in windows.iter().enumerate() {
            let place = &at[d + 2] * window.stride + &steps[d + 1] * window.dilation;
            pixel.push(simplified(place));
        }
        te::sum(product(a.at(pixel), by(&at[1], &steps)), &axes)
    });
    (a, y)
}

fn product(a: Expr, b: Expr) -> Expr {
    Expr::call(Intrin::Dp4aU8S8, vec![a, b, Expr::int(0, DType::I32)])
}
