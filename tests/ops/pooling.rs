//! Poolings against loops over all elements, in float64.

use super::Cases;
use super::array::{Array, indices};

/// How windows slide over one dimension: size, stride, dilation, padding before and after.
type Slide = (usize, usize, usize, usize, usize);

/// What a window gives from its elements: those that are data, and how many are data or padding.
type Reduce = fn(&[f64], usize) -> f64;

fn pool(x: &Array, slides: &[Slide], ceil: bool, reduce: Reduce) -> Array {
    let mut shape = x.shape[..2].to_vec();
    for (&(size, stride, dilation, before, after), extent) in slides.iter().zip(&x.shape[2..]) {
        let room = extent + before + after - ((size - 1) * dilation + 1);
        let mut windows = room / stride + 1;
        if ceil {
            windows = room.div_ceil(stride) + 1;
            // A last window that starts after the data is left out.
            windows -= usize::from((windows - 1) * stride >= extent + before);
        }
        shape.push(windows);
    }
    let sizes: Vec<usize> = slides.iter().map(|slide| slide.0).collect();
    Array::new(&shape, |i| {
        let (mut data, mut counted) = (vec![], 0);
        for k in indices(&sizes) {
            let mut from = vec![i[0] as i64, i[1] as i64];
            let mut padded = true;
            for (at, &(_, stride, dilation, before, after)) in slides.iter().enumerate() {
                let place = i[at + 2] * stride + k[at] * dilation;
                padded &= place < x.shape[at + 2] + before + after;
                from.push(place as i64 - before as i64);
            }
            counted += usize::from(padded);
            let value = x.at_or(&from, f64::NAN);
            if !value.is_nan() {
                data.push(value);
            }
        }
        reduce(&data, counted)
    })
}

fn greatest(data: &[f64], _: usize) -> f64 {
    data.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean_of_data(data: &[f64], _: usize) -> f64 {
    data.iter().sum::<f64>() / data.len().max(1) as f64
}

fn mean_with_padding(data: &[f64], counted: usize) -> f64 {
    data.iter().sum::<f64>() / counted as f64
}

#[test]
fn maxima_of_windows() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 3, 11], 1);
    let expected = pool(&x, &[(3, 2, 2, 1, 2)], false, greatest).f32();
    cases.case(
        "R.nn.max_pool1d(x, pool_size=3, strides=2, dilation=2, padding=[1, 2])",
        &[("x", &x.f32())],
        &[expected],
    );
    let x = Array::random(&[1, 2, 7, 6], 2);
    let expected = pool(&x, &[(3, 2, 1, 0, 1), (2, 3, 1, 1, 0)], true, greatest);
    cases.case(
        "R.nn.max_pool2d(x, pool_size=[3, 2], strides=[2, 3], padding=[0, 1, 1, 0], ceil_mode=True, layout=\"NHWC\", \
         out_layout=\"NCHW\")",
        &[("x", &x.relaid("NCHW", "NHWC").f32())],
        &[expected.f32()],
    );
    let x = Array::random(&[1, 1, 3, 4, 5], 3);
    let expected = pool(&x, &[(2, 1, 1, 0, 0); 3], false, greatest).f32();
    cases.case(
        "R.nn.max_pool3d(x, pool_size=2)",
        &[("x", &x.f32())],
        &[expected],
    );
    // Minus infinity is a value as others, and NaN wins.
    let mut x = Array::random(&[1, 1, 4], 4);
    x.data[..2].fill(f64::NEG_INFINITY);
    x.data[3] = f64::NAN;
    let expected = Array::new(&[1, 1, 2], |i| [f64::NEG_INFINITY, f64::NAN][i[2]]).f32();
    cases.case(
        "R.nn.max_pool1d(x, pool_size=2, strides=2)",
        &[("x", &x.f32())],
        &[expected],
    );
    let x = Array::random(&[2, 1, 5, 7], 5);
    let expected = pool(&x, &[(3, 2, 1, 1, 1); 2], true, greatest).f32();
    cases.case_of(
        "R.nn.max_pool2d(x, pool_size=3, strides=2, padding=1, ceil_mode=True)",
        &["R.Tensor((\"n\", 1, \"h\", \"w\"), \"float32\")"],
        &[("x", &x.f32())],
        &[expected],
    );
    cases.run();
}

#[test]
fn means_and_norms_of_windows() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 1, 11], 1);
    let slides = [(3, 2, 2, 1, 2)];
    for (name, reduce) in [
        ("False", mean_of_data as Reduce),
        ("True", mean_with_padding),
    ] {
        let expected = pool(&x, &slides, false, reduce).f32();
        let text = format!(
            "R.nn.avg_pool1d(x, pool_size=3, strides=2, dilation=2, padding=[1, 2], count_include_pad={name})"
        );
        cases.case(&text, &[("x", &x.f32())], &[expected]).terms(3);
    }
    let x = Array::random(&[1, 2, 7, 6], 2);
    let slides = [(3, 2, 1, 1, 1), (2, 3, 1, 1, 0)];
    for (name, reduce) in [
        ("False", mean_of_data as Reduce),
        ("True", mean_with_padding),
    ] {
        let expected = pool(&x, &slides, true, reduce).f32();
        let text = format!(
            "R.nn.avg_pool2d(x, pool_size=[3, 2], strides=[2, 3], padding=[1, 1, 1, 0], ceil_mode=True, \
             count_include_pad={name})"
        );
        cases.case(&text, &[("x", &x.f32())], &[expected]).terms(6);
    }
    let x = Array::random(&[1, 1, 3, 4, 5], 3);
    let expected = pool(&x, &[(2, 1, 1, 1, 1); 3], false, mean_with_padding).f32();
    cases
        .case(
            "R.nn.avg_pool3d(x, pool_size=2, padding=1)",
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(8);
    let x = Array::random(&[2, 1, 5, 7], 4);
    let expected = pool(&x, &[(3, 2, 1, 1, 1); 2], false, mean_of_data).f32();
    cases
        .case_of(
            "R.nn.avg_pool2d(x, pool_size=3, strides=2, padding=1)",
            &["R.Tensor((\"n\", 1, \"h\", \"w\"), \"float32\")"],
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(9);
    let x = Array::random(&[1, 2, 5, 4], 5);
    let norms: [(i64, Reduce); 3] = [
        (1, |data, _| data.iter().map(|v| v.abs()).sum()),
        (2, |data, _| data.iter().map(|v| v * v).sum::<f64>().sqrt()),
        (3, |data, _| {
            data.iter().map(|v| v.abs().powi(3)).sum::<f64>().cbrt()
        }),
    ];
    for (p, reduce) in norms {
        let expected = pool(&x, &[(2, 2, 1, 1, 0); 2], false, reduce).f32();
        let text =
            format!("R.nn.lp_pool2d(x, pool_size=2, strides=2, padding=[1, 1, 0, 0], p={p})");
        cases.case(&text, &[("x", &x.f32())], &[expected]).terms(4);
    }
    cases.run();
}

/// A window that `ceil_mode` adds starts in the data or in the padding before the data.
#[test]
fn a_last_window_starts_in_the_data() {
    let mut cases = Cases::default();
    // Extent, size, stride, padding before and after, and the number of windows that ONNX Runtime gives.
    let lines = [
        (11, 2, 3, 0, 1, 4),
        (4, 1, 3, 0, 0, 2),
        (5, 1, 3, 0, 0, 2),
        (6, 2, 4, 0, 0, 2),
        (5, 2, 3, 1, 1, 2),
        (9, 3, 2, 1, 0, 5),
        (4, 2, 1, 0, 1, 4),
    ];
    for (extent, size, stride, before, after, windows) in lines {
        let x = Array::random(&[1, 2, extent], 7);
        let slides = [(size, stride, 1, before, after)];
        let attrs = format!(
            "pool_size={size}, strides={stride}, padding=[{before}, {after}], ceil_mode=True"
        );
        for (name, reduce) in [
            ("max_pool1d", greatest as Reduce),
            ("avg_pool1d", mean_with_padding),
        ] {
            let expected = pool(&x, &slides, true, reduce);
            assert_eq!(expected.shape[2], windows, "of {extent} elements, {attrs}");
            let call = format!("R.nn.{name}(x, {attrs})");
            let symbolic = ["R.Tensor((1, 2, \"n\"), \"float32\")"];
            let (x, expected) = (x.f32(), [expected.f32()]);
            cases.case(&call, &[("x", &x)], &expected).terms(size);
            let case = cases.case_of(&call, &symbolic, &[("x", &x)], &expected);
            case.terms(size);
        }
    }
    cases.on_gpus_every(5);
    let x = Array::random(&[1, 2, 9, 11], 8);
    let slides = [(3, 2, 1, 1, 0), (2, 3, 1, 0, 1)];
    let attrs = "pool_size=(3, 2), strides=(2, 3), padding=(1, 0, 0, 1), ceil_mode=True";
    let means = pool(&x, &slides, true, mean_of_data);
    assert_eq!(means.shape, [1, 2, 5, 4]);
    let call = format!("R.nn.avg_pool2d(x, {attrs})");
    cases
        .case(&call, &[("x", &x.f32())], &[means.f32()])
        .terms(6);
    let x = Array::random(&[1, 1, 5, 4, 5], 9);
    let slides = [(2, 3, 1, 0, 1); 3];
    let attrs = "pool_size=2, strides=3, padding=[0, 0, 0, 1, 1, 1], ceil_mode=True";
    let greatest = pool(&x, &slides, true, greatest);
    assert_eq!(greatest.shape, [1, 1, 2, 2, 2]);
    let call = format!("R.nn.max_pool3d(x, {attrs})");
    cases.case(&call, &[("x", &x.f32())], &[greatest.f32()]);
    cases.run();
}

/// Windows between `i * extent / out` and `(i + 1) * extent / out`, rounded outwards.
fn adaptive(x: &Array, out: &[usize], reduce: Reduce) -> Array {
    let mut shape = x.shape[..2].to_vec();
    shape.extend(out);
    Array::new(&shape, |i| {
        let mut windows = vec![vec![]];
        for (at, &out) in out.iter().enumerate() {
            let extent = x.shape[at + 2];
            let part = i[at + 2] * extent / out..((i[at + 2] + 1) * extent).div_ceil(out);
            let longer = |window: &Vec<usize>| {
                let window = window.clone();
                part.clone()
                    .map(move |k| [window.clone(), vec![k]].concat())
            };
            windows = windows.iter().flat_map(longer).collect();
        }
        let element = |window: &Vec<usize>| x.at(&[&i[..2], window].concat());
        let data: Vec<f64> = windows.iter().map(element).collect();
        reduce(&data, data.len())
    })
}

#[test]
fn poolings_to_a_size() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 3, 7], 1);
    let expected = adaptive(&x, &[3], mean_of_data).f32();
    cases
        .case(
            "R.nn.adaptive_avg_pool1d(x, output_size=3)",
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(3);
    let x = Array::random(&[1, 2, 5, 6], 2);
    let expected = adaptive(&x, &[7, 3], mean_of_data);
    cases
        .case(
            "R.nn.adaptive_avg_pool2d(x, output_size=[7, 3], layout=\"NHWC\")",
            &[("x", &x.relaid("NCHW", "NHWC").f32())],
            &[expected.relaid("NCHW", "NHWC").f32()],
        )
        .terms(6);
    let expected = adaptive(&x, &[1, 1], mean_of_data).f32();
    cases
        .case(
            "R.nn.adaptive_avg_pool2d(x, output_size=1)",
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(30);
    let expected = adaptive(&x, &[2, 4], greatest).f32();
    cases.case(
        "R.nn.adaptive_max_pool2d(x, output_size=[2, 4])",
        &[("x", &x.f32())],
        &[expected],
    );
    let x3 = Array::random(&[1, 1, 3, 2, 5], 3);
    let expected = adaptive(&x3, &[2, 1, 3], mean_of_data).f32();
    cases
        .case(
            "R.nn.adaptive_avg_pool3d(x, output_size=[2, 1, 3])",
            &[("x", &x3.f32())],
            &[expected],
        )
        .terms(8);
    let symbolic = ["R.Tensor((1, 2, \"h\", \"w\"), \"float32\")"];
    let expected = adaptive(&x, &[3, 4], mean_of_data).f32();
    cases
        .case_of(
            "R.nn.adaptive_avg_pool2d(x, output_size=[3, 4])",
            &symbolic,
            &[("x", &x.f32())],
            &[expected],
        )
        .terms(4);
    cases.run();
}

#[test]
fn greatest_elements_have_positions() {
    let mut cases = Cases::default();
    // Halves repeat, so that windows have several greatest elements: the first one counts.
    let x = Array::random(&[2, 3, 7, 5], 5).map(|v| (v * 4.0).round() / 4.0);
    let (size, stride, pad) = ([3usize, 2], [2usize, 1], [1usize, 1]);
    let shape = [2, 3, 4, 6];
    let place = |i: &[usize]| {
        let mut best: Option<(f64, usize)> = None;
        for (a, b) in (0..size[0]).flat_map(|a| (0..size[1]).map(move |b| (a, b))) {
            let at = (i[2] * stride[0] + a, i[3] * stride[1] + b);
            let (Some(h), Some(w)) = (at.0.checked_sub(pad[0]), at.1.checked_sub(pad[1])) else {
                continue;
            };
            if h < 7 && w < 5 {
                let value = x.at(&[i[0], i[1], h, w]);
                if best.is_none_or(|(known, _)| value > known) {
                    best = Some((value, ((i[0] * 3 + i[1]) * 7 + h) * 5 + w));
                }
            }
        }
        best.expect("every window has an element")
    };
    let values = Array::new(&shape, |i| place(i).0).f32();
    let positions = Array::new(&shape, |i| place(i).1 as f64);
    let positions: Vec<i64> = positions.data.iter().map(|&v| v as i64).collect();
    let expected = [values, super::i64s(&shape, &positions)];
    let call =
        "R.nn.max_pool2d_with_positions(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 1])";
    let input = x.f32();
    cases.case(call, &[("x", &input)], &expected);
    let types = ["R.Tensor((\"n\", 3, \"h\", \"w\"), \"float32\")"];
    cases.case_of(call, &types, &[("x", &input)], &expected);
    let (nothing, nowhere) = (
        super::f32s(&[0, 3, 7, 5], &[]),
        super::i64s(&[0, 3, 4, 6], &[]),
    );
    let none = super::f32s(&[0, 3, 4, 6], &[]);
    cases.case_of(call, &types, &[("x", &nothing)], &[none, nowhere]);
    let line = super::i8s(&[1, 1, 4], &[1, 3, 3, -128]);
    cases.case(
        "R.nn.max_pool1d_with_positions(x, pool_size=[2], strides=[2])",
        &[("x", &line)],
        &[
            super::i8s(&[1, 1, 2], &[3, 3]),
            super::i64s(&[1, 1, 2], &[1, 2]),
        ],
    );
    cases.run();
}

#[test]
fn poolings_of_blocks_of_channels() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 6, 5, 7], 31);
    let blocks = x.blocked(&[(1, 3)]).f32();
    let input = [("x", &blocks)];
    let slides = [(3, 2, 1, 1, 1), (2, 1, 1, 0, 0)];
    let greatest = pool(&x, &slides, false, greatest).blocked(&[(1, 3)]).f32();
    let text = "R.nn.max_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 0], layout=\"NCHW3c\")";
    cases.case(text, &input, &[greatest]);
    let means = pool(&x, &slides, false, mean_of_data)
        .blocked(&[(1, 2)])
        .f32();
    let text = "R.nn.avg_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0, 1, 0], layout=\"NCHW3c\", out_layout=\"NCHW2c\")";
    cases.case(text, &input, &[means]).terms(6);
    let means = adaptive(&x, &[2, 3], mean_of_data).blocked(&[(1, 3)]).f32();
    let text = "R.nn.adaptive_avg_pool2d(x, output_size=[2, 3], layout=\"NCHW3c\")";
    cases.case(text, &input, &[means]).terms(9);
    cases.run();
}
