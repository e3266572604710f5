//! Convolutions against loops over all elements, in float64.

use weftile::tensor::ScalarType;

use super::Cases;
use super::array::{Array, indices};

/// How windows slide over one dimension: stride, dilation, padding before and after.
type Slide = (usize, usize, usize, usize);

/// Data `[N, C, …]`, weight `[O, C / groups, …]`.
fn conv(x: &Array, w: &Array, slides: &[Slide], groups: usize) -> Array {
    let extent = |at: usize| {
        let (stride, dilation, before, after) = slides[at];
        let reach = (w.shape[at + 2] - 1) * dilation + 1;
        (x.shape[at + 2] + before + after - reach) / stride + 1
    };
    let mut shape = vec![x.shape[0], w.shape[0]];
    shape.extend((0..slides.len()).map(extent));
    let filters = w.shape[0] / groups;
    Array::new(&shape, |i| {
        let terms = indices(&w.shape[1..]).into_iter().map(|k| {
            let mut from = vec![i[0] as i64, (i[1] / filters * w.shape[1] + k[0]) as i64];
            let mut of_weight = vec![i[1], k[0]];
            for (at, &(stride, dilation, before, _)) in slides.iter().enumerate() {
                let place = i[at + 2] * stride + k[at + 1] * dilation;
                from.push(place as i64 - before as i64);
                of_weight.push(k[at + 1]);
            }
            x.at_or(&from, 0.0) * w.at(&of_weight)
        });
        terms.sum()
    })
}

/// Data `[N, C, …]`, weight `[C, O / groups, …]`: each element of the data is added, times the weight, where it goes.
fn transposed(x: &Array, w: &Array, slides: &[Slide], more: usize, groups: usize) -> Array {
    let extent = |at: usize| {
        let (stride, dilation, before, after) = slides[at];
        (x.shape[at + 2] - 1) * stride + (w.shape[at + 2] - 1) * dilation + 1 + more
            - before
            - after
    };
    let mut shape = vec![x.shape[0], w.shape[1] * groups];
    shape.extend((0..slides.len()).map(extent));
    let mut out = Array::new(&shape, |_| 0.0);
    let inputs = x.shape[1] / groups;
    for i in indices(&x.shape) {
        for k in indices(&w.shape[1..]) {
            let mut to = vec![i[0] as i64, (i[1] / inputs * w.shape[1] + k[0]) as i64];
            let mut of_weight = vec![i[1], k[0]];
            for (at, &(stride, dilation, before, _)) in slides.iter().enumerate() {
                let place = i[at + 2] * stride + k[at + 1] * dilation;
                to.push(place as i64 - before as i64);
                of_weight.push(k[at + 1]);
            }
            let inside = to
                .iter()
                .zip(&shape)
                .all(|(&t, &n)| (0..n as i64).contains(&t));
            if inside {
                let flat = to
                    .iter()
                    .zip(&shape)
                    .fold(0, |at, (&t, n)| at * n + t as usize);
                out.data[flat] += x.at(&i) * w.at(&of_weight);
            }
        }
    }
    out
}

#[test]
fn convolutions_with_all_attributes() {
    let mut cases = Cases::default();
    let (x, w) = (Array::random(&[2, 3, 7], 1), Array::random(&[5, 3, 3], 2));
    let expected = conv(&x, &w, &[(2, 2, 1, 3)], 1).f32();
    cases
        .case(
            "R.nn.conv1d(x, w, strides=2, padding=[1, 3], dilation=2)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(9);
    let (x, w) = (
        Array::random(&[1, 4, 5, 6], 3),
        Array::random(&[6, 2, 3, 2], 4),
    );
    let expected = conv(&x, &w, &[(1, 1, 1, 1), (2, 1, 0, 1)], 2);
    let text = "R.nn.conv2d(x, w, strides=[1, 2], padding=[1, 0, 1, 1], groups=2, data_layout=\"NHWC\", \
                kernel_layout=\"HWIO\", out_layout=\"NCHW\")";
    let (x_hwc, w_hwio) = (
        x.relaid("NCHW", "NHWC").f32(),
        w.relaid("OIHW", "HWIO").f32(),
    );
    cases
        .case(text, &[("x", &x_hwc), ("w", &w_hwio)], &[expected.f32()])
        .terms(12);
    // Depthwise, without padding.
    let (x, w) = (
        Array::random(&[1, 3, 4, 4], 5),
        Array::random(&[3, 1, 3, 3], 6),
    );
    let expected = conv(&x, &w, &[(1, 1, 0, 0); 2], 3).f32();
    cases
        .case(
            "R.nn.conv2d(x, w, groups=3)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(9);
    let (x, w) = (
        Array::random(&[1, 2, 3, 4, 3], 7),
        Array::random(&[2, 2, 2, 1, 3], 8),
    );
    let expected = conv(&x, &w, &[(1, 1, 1, 1); 3], 1).f32();
    cases
        .case(
            "R.nn.conv3d(x, w, padding=1)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(12);
    // One element of everything, and none.
    for batch in [0, 1] {
        let (x, w) = (
            Array::random(&[batch, 1, 1, 1], 9),
            Array::random(&[1, 1, 1, 1], 10),
        );
        let expected = conv(&x, &w, &[(1, 1, 0, 0); 2], 1).f32();
        cases.case(
            "R.nn.conv2d(x, w)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        );
    }
    let (x, w) = (
        Array::random(&[2, 3, 5, 7], 11),
        Array::random(&[2, 3, 3, 3], 12),
    );
    let expected = conv(&x, &w, &[(2, 1, 1, 1); 2], 1).f32();
    cases
        .case_of(
            "R.nn.conv2d(x, w, strides=2, padding=1)",
            &[
                "R.Tensor((\"n\", 3, \"h\", \"w_\"), \"float32\")",
                "R.Tensor((2, 3, 3, 3), \"float32\")",
            ],
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(27);
    cases.run();
}

#[test]
fn convolutions_of_narrow_types_lose_no_digits() {
    let mut cases = Cases::default();
    let (x, w) = (
        Array::random(&[1, 8, 4, 4], 1),
        Array::random(&[2, 8, 3, 3], 2),
    );
    let expected = conv(&x, &w, &[(1, 1, 0, 0); 2], 1);
    let inputs = (x.f16(), w.f16());
    let inputs = [("x", &inputs.0), ("w", &inputs.1)];
    cases.case("R.nn.conv2d(x, w)", &inputs, &[expected.f16()]);
    cases
        .case(
            "R.nn.conv2d(x, w, out_dtype=\"float32\")",
            &inputs,
            &[expected.f32()],
        )
        .terms(72);
    let bytes = |a: &Array| {
        let data: Vec<i8> = a.data.iter().map(|v| (v * 64.0) as i8).collect();
        super::tensor(&a.shape, &data)
    };
    let inputs = (bytes(&x), bytes(&w));
    let sums: Vec<i32> = expected.data.iter().map(|v| (v * 4096.0) as i32).collect();
    let sums = super::tensor(&expected.shape, &sums);
    cases.case(
        "R.nn.conv2d(x, w, out_dtype=\"int32\")",
        &[("x", &inputs.0), ("w", &inputs.1)],
        &[sums],
    );
    cases.run();
}

#[test]
fn transposed_convolutions_with_all_attributes() {
    let mut cases = Cases::default();
    let (x, w) = (Array::random(&[2, 3, 5], 1), Array::random(&[3, 2, 3], 2));
    let expected = transposed(&x, &w, &[(3, 2, 1, 2)], 2, 1).f32();
    cases
        .case(
            "R.nn.conv1d_transpose(x, w, strides=3, padding=[1, 2], output_padding=2, dilation=2)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(9);
    let (x, w) = (
        Array::random(&[1, 4, 3, 2], 3),
        Array::random(&[4, 3, 2, 3], 4),
    );
    let expected = transposed(&x, &w, &[(2, 1, 1, 1), (1, 1, 0, 0)], 0, 2);
    let text = "R.nn.conv2d_transpose(x, w, strides=[2, 1], padding=[1, 0], groups=2, data_layout=\"NHWC\", \
                kernel_layout=\"OHWI\", out_layout=\"CHWN\")";
    let (x, w) = (
        x.relaid("NCHW", "NHWC").f32(),
        w.relaid("IOHW", "OHWI").f32(),
    );
    cases
        .case(
            text,
            &[("x", &x), ("w", &w)],
            &[expected.relaid("NCHW", "CHWN").f32()],
        )
        .terms(12);
    // More padding than the window reaches: the ends of the data go.
    let (x, w) = (
        Array::random(&[1, 1, 6, 6], 5),
        Array::random(&[1, 1, 2, 2], 6),
    );
    let expected = transposed(&x, &w, &[(1, 1, 2, 2); 2], 0, 1).f32();
    cases
        .case(
            "R.nn.conv2d_transpose(x, w, padding=2)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(4);
    let (x, w) = (
        Array::random(&[1, 2, 2, 3, 2], 7),
        Array::random(&[2, 1, 2, 2, 1], 8),
    );
    let expected = transposed(&x, &w, &[(2, 1, 0, 0); 3], 1, 1).f32();
    cases
        .case(
            "R.nn.conv3d_transpose(x, w, strides=2, output_padding=1)",
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(8);
    let (x, w) = (
        Array::random(&[2, 2, 3, 5], 9),
        Array::random(&[2, 3, 3, 3], 10),
    );
    let expected = transposed(&x, &w, &[(2, 1, 1, 1); 2], 1, 1).f32();
    cases
        .case_of(
            "R.nn.conv2d_transpose(x, w, strides=2, padding=1, output_padding=1)",
            &[
                "R.Tensor((\"n\", 2, \"h\", \"w_\"), \"float32\")",
                "R.Tensor((2, 3, 3, 3), \"float32\")",
            ],
            &[("x", &x.f32()), ("w", &w.f32())],
            &[expected],
        )
        .terms(18)
        .as_precise_as(ScalarType::F32);
    cases.run();
}

#[test]
fn convolutions_of_blocks_of_channels() {
    let mut cases = Cases::default();
    let (x, w) = (
        Array::random(&[2, 8, 5, 6], 21),
        Array::random(&[12, 8, 3, 2], 22),
    );
    let slides = [(1, 1, 1, 1), (2, 1, 0, 1)];
    let attrs = "strides=[1, 2], padding=[1, 0, 1, 1]";
    let expected = conv(&x, &w, &slides, 1);
    let (blocks, filters) = (
        x.blocked(&[(1, 4)]).f32(),
        w.blocked(&[(1, 4), (0, 6)]).f32(),
    );
    let inputs = [("x", &blocks), ("w", &filters)];
    let text = format!(
        "R.nn.conv2d(x, w, {attrs}, data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i6o\", out_layout=\"NCHW6c\")"
    );
    let of_blocks = expected.blocked(&[(1, 6)]).f32();
    cases
        .case(&text, &inputs, std::slice::from_ref(&of_blocks))
        .terms(48);
    let types = [
        r#"R.Tensor(("b", 2, "h", "v", 4), "float32")"#,
        r#"R.Tensor((2, 2, 3, 2, 4, 6), "float32")"#,
    ];
    cases
        .case_of(&text, &types, &inputs, &[of_blocks])
        .terms(48);
    // Blocks of blocks, a plain result, and a result that alone has blocks.
    let text = format!(
        "R.nn.conv2d(x, w, {attrs}, data_layout=\"NCHW4c\", kernel_layout=\"OIHW2i3o4i\", out_layout=\"NHWC\")"
    );
    let nested = w.blocked(&[(1, 2), (0, 3), (1, 4)]).f32();
    let plain = expected.relaid("NCHW", "NHWC").f32();
    cases
        .case(&text, &[("x", &blocks), ("w", &nested)], &[plain])
        .terms(48);
    let text = format!("R.nn.conv2d(x, w, {attrs}, out_layout=\"NCHW2c\")");
    let pairs = expected.blocked(&[(1, 2)]).f32();
    cases
        .case(&text, &[("x", &x.f32()), ("w", &w.f32())], &[pairs])
        .terms(48);
    // Groups, each of whole blocks and of parts of them.
    let grouped = Array::random(&[12, 2, 3, 2], 23);
    let expected = conv(&x, &grouped, &slides, 4).blocked(&[(1, 3)]).f32();
    let text = format!(
        "R.nn.conv2d(x, w, {attrs}, groups=4, data_layout=\"NCHW4c\", kernel_layout=\"OIHW3o\", out_layout=\"NCHW3c\")"
    );
    let filters = grouped.blocked(&[(0, 3)]).f32();
    cases
        .case(&text, &[("x", &blocks), ("w", &filters)], &[expected])
        .terms(12);
    let (x, w) = (
        Array::random(&[1, 4, 3, 4], 24),
        Array::random(&[4, 6, 3, 2], 25),
    );
    let expected = transposed(&x, &w, &[(2, 1, 0, 0), (1, 1, 0, 0)], 0, 1);
    let text = "R.nn.conv2d_transpose(x, w, strides=[2, 1], data_layout=\"NCHW2c\", kernel_layout=\"IOHW2i3o\", out_layout=\"NCHW3c\")";
    let inputs = [
        x.blocked(&[(1, 2)]).f32(),
        w.blocked(&[(0, 2), (1, 3)]).f32(),
    ];
    let expected = expected.blocked(&[(1, 3)]).f32();
    cases
        .case(text, &[("x", &inputs[0]), ("w", &inputs[1])], &[expected])
        .terms(24);
    cases.run();
}
