//! Resizing and sampling of images, in float64.

use super::Cases;
use super::array::{Array, indices};

/// Indices along one dimension with their weights.
type Taps = Vec<(i64, f64)>;

fn cubic(floor: i64, t: f64, alpha: f64) -> Taps {
    // The kernel of Keys at a distance.
    let weight = |x: f64| {
        let x = x.abs();
        if x <= 1.0 {
            (alpha + 2.0) * x.powi(3) - (alpha + 3.0) * x.powi(2) + 1.0
        } else {
            alpha * x.powi(3) - 5.0 * alpha * x.powi(2) + 8.0 * alpha * x - 4.0 * alpha
        }
    };
    (-1..3).map(|k| (floor + k, weight(k as f64 - t))).collect()
}

/// Each element of the result from the taps of its coordinates, `[N, C, …]`.
fn sampled(
    x: &Array,
    shape: &[usize],
    taps: &dyn Fn(usize, &[usize]) -> Taps,
    pixel: &dyn Fn(&[i64]) -> f64,
) -> Array {
    Array::new(shape, |i| {
        let taps: Vec<Taps> = (0..x.shape.len() - 2).map(|at| taps(at, i)).collect();
        let counts: Vec<usize> = taps.iter().map(Vec::len).collect();
        let terms = indices(&counts).into_iter().map(|choice| {
            let mut index = vec![i[0] as i64, i[1] as i64];
            let mut weight = 1.0;
            for (taps, &at) in taps.iter().zip(&choice) {
                index.push(taps[at].0);
                weight *= taps[at].1;
            }
            weight * pixel(&index)
        });
        terms.sum()
    })
}

fn nearest_pixel(x: &Array, index: &[i64]) -> f64 {
    let clamped = index.iter().zip(&x.shape);
    let clamped: Vec<i64> = clamped.map(|(&i, &n)| i.clamp(0, n as i64 - 1)).collect();
    x.at_or(&clamped, f64::NAN)
}

fn coordinate(mode: &str, at: usize, n: usize, m: usize) -> f64 {
    let (at, scale) = (at as f64, n as f64 / m as f64);
    match mode {
        "half_pixel" => (at + 0.5) * scale - 0.5,
        "pytorch_half_pixel" if m == 1 => 0.0,
        "pytorch_half_pixel" => (at + 0.5) * scale - 0.5,
        "align_corners" if m == 1 => 0.0,
        "align_corners" => at * (n as f64 - 1.0) / (m as f64 - 1.0),
        "asymmetric" => at * scale,
        "tf_half_pixel_for_nn" => (at + 0.5) * scale,
        _ => unreachable!("{mode}"),
    }
}

fn rounded(rounding: &str, at: f64) -> i64 {
    // Exact ratios come out a little beside an integer in float64.
    let near = |v: f64| {
        if (v - v.round()).abs() < 1e-9 {
            v.round()
        } else {
            v
        }
    };
    let at = match rounding {
        "round" => (near(at * 2.0) / 2.0).round_ties_even(),
        "round_prefer_floor" => near(at - 0.5).ceil(),
        "round_prefer_ceil" => near(at + 0.5).floor(),
        "floor" => near(at).floor(),
        "ceil" => near(at).ceil(),
        _ => unreachable!("{rounding}"),
    };
    at as i64
}

fn linear(at: f64) -> Taps {
    let floor = at.floor();
    vec![
        (floor as i64, 1.0 - (at - floor)),
        (floor as i64 + 1, at - floor),
    ]
}

const MODES: [&str; 5] = [
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
];

#[test]
fn images_in_other_sizes() {
    let mut cases = Cases::default();
    let x = Array::random(&[1, 2, 5, 4], 1);
    let xt = x.f32();
    let pixel = |i: &[i64]| nearest_pixel(&x, i);
    for mode in MODES {
        for size in [[3usize, 7], [1, 6]] {
            let shape = [1, 2, size[0], size[1]];
            let at = |axis: usize, i: &[usize]| {
                coordinate(mode, i[axis + 2], x.shape[axis + 2], size[axis])
            };
            let resized = |taps: &dyn Fn(f64) -> Taps| {
                sampled(&x, &shape, &|axis, i| taps(at(axis, i)), &pixel).f32()
            };
            let text = |rest: &str| {
                format!(
                    "R.image.resize2d(x, R.shape([{}, {}]), coordinate_transformation_mode=\"{mode}\", {rest})",
                    size[0], size[1]
                )
            };
            for rounding in [
                "round",
                "round_prefer_floor",
                "round_prefer_ceil",
                "floor",
                "ceil",
            ] {
                let expected = resized(&|at| vec![(rounded(rounding, at), 1.0)]);
                let rest = format!("method=\"nearest_neighbor\", rounding_method=\"{rounding}\"");
                cases.case(&text(&rest), &[("x", &xt)], &[expected]);
            }
            let expected = resized(&linear);
            cases
                .case(&text("method=\"linear\""), &[("x", &xt)], &[expected])
                .terms(4);
            let expected = resized(&|at| cubic(at.floor() as i64, at - at.floor(), -0.5));
            cases
                .case(
                    &text("method=\"cubic\", cubic_alpha=-0.5"),
                    &[("x", &xt)],
                    &[expected],
                )
                .terms(16);
        }
    }
    // Most cases are the same program with other numbers: one device is enough for all of them.
    cases.on_gpus_every(5);
    cases.run();
}

#[test]
fn parts_layouts_and_dimensions_of_images() {
    let mut cases = Cases::default();
    let x = Array::random(&[1, 2, 5, 4], 1);
    let pixel = |i: &[i64]| nearest_pixel(&x, i);
    // Weights of pixels outside count as nothing.
    let excluded = |axis: usize, i: &[usize]| {
        let at = coordinate("half_pixel", i[axis + 2], x.shape[axis + 2], [8, 3][axis]);
        let mut taps = cubic(at.floor() as i64, at - at.floor(), -0.75);
        taps.retain(|tap| (0..x.shape[axis + 2] as i64).contains(&tap.0));
        let sum: f64 = taps.iter().map(|tap| tap.1).sum();
        taps.iter().map(|tap| (tap.0, tap.1 / sum)).collect()
    };
    let expected = sampled(&x, &[1, 2, 8, 3], &excluded, &pixel);
    cases
        .case(
            "R.image.resize2d(x, R.shape([8, 3]), layout=\"NHWC\", method=\"cubic\", cubic_exclude=1)",
            &[("x", &x.relaid("NCHW", "NHWC").f32())],
            &[expected.relaid("NCHW", "NHWC").f32()],
        )
        .terms(16);
    // A part of the image, which reaches beyond it.
    let (start, end) = ([0.25, -0.5], [0.75, 1.0]);
    let at = |axis: usize, i: &[usize]| {
        let last = x.shape[axis + 2] as f64 - 1.0;
        last * (start[axis] + i[axis + 2] as f64 * (end[axis] - start[axis]) / [3.0, 4.0][axis])
    };
    let expected = Array::new(&[1, 2, 4, 5], |i| {
        let outside =
            (0..2).any(|axis| !(0.0..=x.shape[axis + 2] as f64 - 1.0).contains(&at(axis, i)));
        let one = sampled(&x, &[1, 2, 4, 5], &|axis, i| linear(at(axis, i)), &pixel);
        if outside { 9.5 } else { one.at(i) }
    });
    cases
        .case(
            "R.image.resize2d(x, R.shape([4, 5]), roi=[0.25, -0.5, 0.75, 1.0], \
             coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=9.5)",
            &[("x", &x.f32())],
            &[expected.f32()],
        )
        .terms(8);
    let size = [6, 3];
    let at = |axis: usize, i: &[usize]| {
        coordinate("half_pixel", i[axis + 2], x.shape[axis + 2], size[axis])
    };
    let expected = sampled(&x, &[1, 2, 6, 3], &|axis, i| linear(at(axis, i)), &pixel).f32();
    cases
        .case_of(
            "R.image.resize2d(x, R.shape([6, 3]))",
            &["R.Tensor((\"n\", 2, \"h\", \"w\"), \"float32\")"],
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(4);
    for (name, shape, size) in [
        ("image.resize1d", &[2usize, 1, 5][..], &[7usize][..]),
        ("image.resize3d", &[1, 1, 2, 3, 4], &[3, 2, 5]),
    ] {
        let x = Array::random(shape, 2);
        let at = |axis: usize, i: &[usize]| {
            coordinate("align_corners", i[axis + 2], shape[axis + 2], size[axis])
        };
        let out: Vec<usize> = shape[..2].iter().chain(size).copied().collect();
        let pixel = |i: &[i64]| nearest_pixel(&x, i);
        let expected = sampled(&x, &out, &|axis, i| linear(at(axis, i)), &pixel).f32();
        let text = format!(
            "R.{name}(x, R.shape({size:?}), coordinate_transformation_mode=\"align_corners\")"
        );
        cases.case(&text, &[("x", &x.f32())], &[expected]).terms(8);
    }
    cases.run();
}

fn reflected(mut at: f64, n: usize, align: bool) -> f64 {
    let (low, high) = if align {
        (0.0, n as f64 - 1.0)
    } else {
        (-0.5, n as f64 - 0.5)
    };
    while !(low..=high).contains(&at) {
        at = if at < low {
            2.0 * low - at
        } else {
            2.0 * high - at
        };
    }
    at
}

#[test]
fn images_at_coordinates() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 2, 4, 5], 1);
    // A little off the ties between pixels, and up to two images away.
    let grid = Array::random(&[2, 2, 3, 2], 2).map(|v| v * 2.1 + 0.013);
    let inputs = (x.f32(), grid.f32());
    let inputs = [("x", &inputs.0), ("g", &inputs.1)];
    for align in [false, true] {
        for padding in ["zeros", "border", "reflection"] {
            for method in ["bilinear", "nearest", "bicubic"] {
                let at = |axis: usize, i: &[usize]| {
                    let g = f64::from(grid.at(&[i[0], 1 - axis, i[2], i[3]]) as f32);
                    let n = x.shape[axis + 2] as f64;
                    let at = if align {
                        (g + 1.0) * (n - 1.0) / 2.0
                    } else {
                        ((g + 1.0) * n - 1.0) / 2.0
                    };
                    match padding {
                        "border" if method != "bicubic" => at.clamp(0.0, n - 1.0),
                        "reflection" if method != "bicubic" => {
                            reflected(at, x.shape[axis + 2], align).clamp(0.0, n - 1.0)
                        }
                        _ => at,
                    }
                };
                let taps = |axis: usize, i: &[usize]| match (method, at(axis, i)) {
                    ("bilinear", at) => linear(at),
                    ("nearest", at) => vec![(at.round_ties_even() as i64, 1.0)],
                    (_, at) => cubic(at.floor() as i64, at - at.floor(), -0.75),
                };
                let pixel = |i: &[i64]| match padding {
                    "zeros" => x.at_or(i, 0.0),
                    "border" => nearest_pixel(&x, i),
                    _ => {
                        let mut i = i.to_vec();
                        for (at, &extent) in i[2..].iter_mut().zip(&x.shape[2..]) {
                            *at = reflected(*at as f64, extent, align) as i64;
                        }
                        nearest_pixel(&x, &i)
                    }
                };
                let expected = sampled(&x, &[2, 2, 3, 2], &taps, &pixel).f32();
                let flag = if align { "True" } else { "False" };
                let text = format!(
                    "R.image.grid_sample(x, g, method=\"{method}\", padding_mode=\"{padding}\", align_corners={flag})"
                );
                cases.case(&text, &inputs, &[expected]).terms(64);
            }
        }
    }
    cases.on_gpus_every(4);
    let x = Array::random(&[1, 1, 2, 3, 4], 3);
    let grid = Array::random(&[1, 3, 2, 2, 2], 4);
    let taps = |axis: usize, i: &[usize]| {
        let g = grid.at(&[i[0], 2 - axis, i[2], i[3], i[4]]);
        linear((g + 1.0) * (x.shape[axis + 2] as f64 - 1.0) / 2.0)
    };
    let expected = sampled(&x, &[1, 1, 2, 2, 2], &taps, &|i| x.at_or(i, 0.0)).f32();
    cases
        .case(
            "R.image.grid_sample(x, g, layout=\"NCDHW\", align_corners=True)",
            &[("x", &x.f32()), ("g", &grid.f32())],
            &[expected],
        )
        .terms(8);
    // Channels that few threads sample together.
    let x = Array::random(&[2, 21, 4, 5], 6);
    let wide = Array::random(&[2, 2, 3, 7], 7).map(|g| 1.5 * g);
    let taps = |axis: usize, i: &[usize]| {
        let g = wide.at(&[i[0], 1 - axis, i[2], i[3]]);
        linear((g + 1.0) * (x.shape[axis + 2] as f64 - 1.0) / 2.0)
    };
    let expected = sampled(&x, &[2, 21, 3, 7], &taps, &|i| x.at_or(i, 0.0)).f32();
    cases
        .case(
            "R.image.grid_sample(x, g, align_corners=True)",
            &[("x", &x.f32()), ("g", &wide.f32())],
            &[expected],
        )
        .terms(8);
    let theta = Array::random(&[2, 2, 3], 5);
    for (flag, align) in [("True", true), ("False", false)] {
        let expected = Array::new(&[2, 2, 3, 4], |i| {
            let at = |at: usize, n: f64| match align {
                true => at as f64 * 2.0 / (n - 1.0) - 1.0,
                false => (2.0 * at as f64 + 1.0) / n - 1.0,
            };
            let row = |k: usize| theta.at(&[i[0], i[1], k]);
            row(0) * at(i[3], 4.0) + row(1) * at(i[2], 3.0) + row(2)
        });
        let text = format!("R.image.affine_grid(t, R.shape([3, 4]), align_corners={flag})");
        cases
            .case(&text, &[("t", &theta.f32())], &[expected.f32()])
            .terms(3);
    }
    cases.run();
}
