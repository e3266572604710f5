//! Convolutions, transposed ones, and pools, over any number of dimensions: a batch, channels, and then the dimensions of the image.

use super::Numbers;

/// All indices below these extents, the last one fastest.
pub(super) fn places(extents: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let count = extents.iter().product::<usize>();
    let extents = extents.to_vec();
    (0..count).map(move |mut flat| {
        let mut place = vec![0; extents.len()];
        for (at, extent) in place.iter_mut().zip(&extents).rev() {
            *at = flat % extent;
            flat /= extent;
        }
        place
    })
}

fn numbers(call: &str, name: &str) -> Option<Vec<usize>> {
    let (_, rest) = call.split_once(&format!("{name}=["))?;
    let list = rest.split(']').next()?.split(", ");
    list.map(|n| n.parse().ok()).collect()
}

/// An attribute with a number for each dimension of the image.
fn attribute(call: &str, name: &str, dims: usize, default: usize) -> Vec<usize> {
    let given = numbers(call, name).unwrap_or_else(|| vec![default]);
    let at = |d: usize| given[d % given.len()];
    (0..dims).map(at).collect()
}

/// The element at a place of the padded image, if it is one of the image.
fn inside(at: &[usize], pads: &[usize], extents: &[usize]) -> Option<Vec<usize>> {
    let image = at.iter().zip(pads).zip(extents);
    image
        .map(|((at, pad), extent)| at.checked_sub(*pad).filter(|at| at < extent))
        .collect()
}

/// What stands in a window: the elements of the image, without padding.
fn window(
    x: &Numbers,
    outer: &[usize],
    first: &[usize],
    extents: &[usize],
    pads: &[usize],
) -> Vec<f64> {
    let at = places(extents).filter_map(|tap| {
        let at: Vec<usize> = first.iter().zip(&tap).map(|(a, b)| a + b).collect();
        let at = inside(&at, pads, &x.shape[2..])?;
        Some(x.get(&[outer, &at].concat()))
    });
    at.collect()
}

fn convolution(call: &str, x: &Numbers, w: &Numbers) -> Vec<f64> {
    let dims = x.shape.len() - 2;
    let strides = attribute(call, "strides", dims, 1);
    let pads = attribute(call, "padding", dims, 0);
    let (image, taps) = (&x.shape[2..], &w.shape[2..]);
    let extent = |d: usize| (image[d] + 2 * pads[d] - taps[d]) / strides[d] + 1;
    let result: Vec<usize> = [x.shape[0], w.shape[0]]
        .into_iter()
        .chain((0..dims).map(extent))
        .collect();
    let sum = |to: Vec<usize>| -> f64 {
        let terms = places(&w.shape[1..]).filter_map(|tap| {
            let at = (0..dims).map(|d| to[2 + d] * strides[d] + tap[1 + d]);
            let at = inside(&at.collect::<Vec<_>>(), &pads, image)?;
            let x = x.get(&[&[to[0], tap[0]], &at[..]].concat());
            Some(x * w.get(&[&[to[1]], &tap[..]].concat()))
        });
        terms.sum()
    };
    places(&result).map(sum).collect()
}

/// Each element of the image is added, times the window, to the places of the result from `stride` times its own place on.
fn transposed(call: &str, x: &Numbers, w: &Numbers) -> Vec<f64> {
    let dims = x.shape.len() - 2;
    let strides = attribute(call, "strides", dims, 1);
    let extent = |d: usize| (x.shape[2 + d] - 1) * strides[d] + w.shape[2 + d];
    let shape: Vec<usize> = [x.shape[0], w.shape[1]]
        .into_iter()
        .chain((0..dims).map(extent))
        .collect();
    let mut out = vec![0.0; shape.iter().product()];
    for from in places(&x.shape) {
        for tap in places(&w.shape[1..]) {
            let at = (0..dims).map(|d| from[2 + d] * strides[d] + tap[1 + d]);
            let to: Vec<usize> = [from[0], tap[0]].into_iter().chain(at).collect();
            let flat = to
                .iter()
                .zip(&shape)
                .fold(0, |flat, (at, extent)| flat * extent + at);
            out[flat] += x.get(&from) * w.get(&[&[from[1]], &tap[..]].concat());
        }
    }
    out
}

fn pool(call: &str, x: &Numbers, value: fn(&[f64]) -> f64) -> Vec<f64> {
    let dims = x.shape.len() - 2;
    let size = attribute(call, "pool_size", dims, 1);
    let strides = attribute(call, "strides", dims, 1);
    let pads = attribute(call, "padding", dims, 0);
    let extent = |d: usize| (x.shape[2 + d] + 2 * pads[d] - size[d]) / strides[d] + 1;
    let result: Vec<usize> = x.shape[..2]
        .iter()
        .copied()
        .chain((0..dims).map(extent))
        .collect();
    let of = |to: Vec<usize>| {
        let first: Vec<usize> = (0..dims).map(|d| to[2 + d] * strides[d]).collect();
        value(&window(x, &to[..2], &first, &size, &pads))
    };
    places(&result).map(of).collect()
}

/// Windows from `floor(i * n / m)` to `ceil((i + 1) * n / m)`, where `m` of them go over `n` elements.
fn adaptive(call: &str, x: &Numbers, value: fn(&[f64]) -> f64) -> Vec<f64> {
    let dims = x.shape.len() - 2;
    let size = attribute(call, "output_size", dims, 1);
    let result = [&x.shape[..2], &size].concat();
    let of = |to: Vec<usize>| {
        let ends = (0..dims).map(|d| {
            let (n, at) = (x.shape[2 + d], to[2 + d]);
            let first = at * n / size[d];
            (first, ((at + 1) * n).div_ceil(size[d]) - first)
        });
        let (first, extents): (Vec<usize>, Vec<usize>) = ends.unzip();
        value(&window(x, &to[..2], &first, &extents, &vec![0; dims]))
    };
    places(&result).map(of).collect()
}

fn most(window: &[f64]) -> f64 {
    window.iter().copied().fold(f64::MIN, f64::max)
}

fn length(window: &[f64]) -> f64 {
    window.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// What a call gives that goes over an image in windows.
pub(super) fn windows(op: &str, call: &str, x: &Numbers, others: &[Numbers]) -> Option<Vec<f64>> {
    let name = op.strip_prefix("nn.")?;
    let name = name.trim_end_matches('d').trim_end_matches(['1', '2', '3']);
    Some(match (name, others) {
        ("conv", [w]) => convolution(call, x, w),
        _ if op.starts_with("nn.conv") && op.ends_with("d_transpose") => {
            transposed(call, x, others.first()?)
        }
        ("max_pool", []) => pool(call, x, most),
        ("avg_pool", []) => pool(call, x, super::mean),
        ("lp_pool", []) => pool(call, x, length),
        ("adaptive_max_pool", []) => adaptive(call, x, most),
        ("adaptive_avg_pool", []) => adaptive(call, x, super::mean),
        _ => return None,
    })
}
