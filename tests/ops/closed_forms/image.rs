//! Images in other sizes, and at other coordinates.

use super::Numbers;
use super::windows::places;

/// The neighbours of a coordinate with their weights.
fn neighbours(at: f64) -> [(i64, f64); 2] {
    let first = at.floor();
    [
        (first as i64, 1.0 - (at - first)),
        (first as i64 + 1, at - first),
    ]
}

/// The sum over the neighbours along all dimensions; `element` gives what is at their indices.
fn interpolated(at: &[f64], element: impl Fn(&[i64]) -> f64) -> f64 {
    let sides = places(&vec![2; at.len()]);
    let corner = |sides: Vec<usize>| {
        let chosen = at
            .iter()
            .zip(&sides)
            .map(|(at, side)| neighbours(*at)[*side]);
        let (indices, weights): (Vec<i64>, Vec<f64>) = chosen.unzip();
        weights.iter().product::<f64>() * element(&indices)
    };
    sides.map(corner).sum()
}

/// The pixel `i` of `m` stands over `(i + 0.5) * n / m - 0.5` of `n`; outside of the image is its edge.
fn resized(x: &Numbers, size: &[usize]) -> Vec<f64> {
    let image = &x.shape[2..];
    let pixel = |to: Vec<usize>| {
        let over = (0..size.len())
            .map(|d| (to[2 + d] as f64 + 0.5) * image[d] as f64 / size[d] as f64 - 0.5);
        interpolated(&over.collect::<Vec<f64>>(), |at| {
            let edge = |(at, extent): (&i64, &usize)| (*at).clamp(0, *extent as i64 - 1) as usize;
            let at: Vec<usize> = at.iter().zip(image).map(edge).collect();
            x.get(&[&to[..2], &at].concat())
        })
    };
    places(&[&x.shape[..2], size].concat()).map(pixel).collect()
}

/// From -1 to 1 the grid goes from edge to edge of the image; outside there are zeros.
fn sampled(x: &Numbers, grid: &Numbers) -> Vec<f64> {
    let image = &x.shape[2..];
    let pixel = |to: Vec<usize>| {
        // The grid has the coordinate along the last dimension first.
        let over = [1, 0].map(|d| grid.get(&[to[0], d, to[2], to[3]]));
        let over: Vec<f64> = over
            .iter()
            .zip(image)
            .map(|(g, n)| ((g + 1.0) * *n as f64 - 1.0) / 2.0)
            .collect();
        interpolated(&over, |at| {
            let index =
                |(at, extent): (&i64, &usize)| usize::try_from(*at).ok().filter(|at| at < extent);
            let at: Option<Vec<usize>> = at.iter().zip(image).map(index).collect();
            at.map_or(0.0, |at| x.get(&[&to[..2], &at].concat()))
        })
    };
    let shape = [&x.shape[..2], &grid.shape[2..]].concat();
    places(&shape).map(pixel).collect()
}

/// `(x, y, 1)` times each matrix, for 3 rows of 4 pixels from -1 to 1.
fn moved(matrices: &Numbers) -> Vec<f64> {
    let along = |at: usize, count: usize| 2.0 * at as f64 / (count - 1) as f64 - 1.0;
    let pixel = |to: Vec<usize>| {
        let from = [along(to[3], 4), along(to[2], 3), 1.0];
        (0..3)
            .map(|k| matrices.get(&[to[0], to[1], k]) * from[k])
            .sum()
    };
    places(&[matrices.shape[0], 2, 3, 4]).map(pixel).collect()
}

/// What a call of one of these operators gives.
pub(super) fn images(call: &str, x: &Numbers, others: &[Numbers]) -> Option<Vec<f64>> {
    Some(match call {
        "R.image.resize1d(x, R.shape([7]))" => resized(x, &[7]),
        "R.image.resize2d(x, R.shape([7, 3]))" => resized(x, &[7, 3]),
        "R.image.resize3d(x, R.shape([2, 7, 3]))" => resized(x, &[2, 7, 3]),
        "R.image.grid_sample(x, t)" => sampled(x, others.first()?),
        "R.image.affine_grid(x, R.shape([3, 4]))" => moved(x),
        _ => return None,
    })
}
