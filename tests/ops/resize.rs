//! Resizing by given scales, and with filters as wide as what becomes one pixel, against ONNX's reference implementation.

use super::{Cases, f32s};

/// A case of an image of 4 by 5 pixels: the attributes, the size of the result, and its elements.
type Example = (&'static str, [usize; 2], &'static [f32]);

const LINEAR: &[Example] = &[
    (
        "coordinate_transformation_mode=\"half_pixel\"",
        [2, 8],
        &[
            -1.666667, -0.328431, 1.730392, 0.715686, 0.078431, 1.058823, 1.446079, 1.348039, 0.0,
            -0.764706, -1.941176, -0.044118, 1.205882, 0.029412, 0.632352, 2.691176,
        ],
    ),
    (
        "coordinate_transformation_mode=\"pytorch_half_pixel\"",
        [2, 8],
        &[
            -1.666667, -0.328431, 1.730392, 0.715686, 0.078431, 1.058823, 1.446079, 1.348039, 0.0,
            -0.764706, -1.941176, -0.044118, 1.205882, 0.029412, 0.632352, 2.691176,
        ],
    ),
    (
        "coordinate_transformation_mode=\"half_pixel_symmetric\"",
        [2, 8],
        &[
            -1.333333, 0.519608, 1.931373, 0.754902, 0.117647, 0.019608, 0.784314, 1.666667,
            0.333333, -0.72549, -1.254902, 0.803922, 1.245098, 0.068627, 0.617647, 1.5,
        ],
    ),
    (
        "coordinate_transformation_mode=\"align_corners\"",
        [2, 8],
        &[
            -2.0, -0.133333, 1.366667, 0.3, -0.033334, 1.833333, 2.6, 1.533334, 0.142857, -0.92381,
            -1.62381, 0.242857, 1.37619, 0.309524, 0.185714, 1.633333,
        ],
    ),
    (
        "coordinate_transformation_mode=\"asymmetric\"",
        [2, 8],
        &[
            -2.0, 0.058823, 1.147059, -0.029412, 0.735294, 2.794117, 1.941177, 1.0, -0.333333,
            -0.431372, -0.205882, 0.77451, 0.460784, -0.715686, 1.019607, 2.666667,
        ],
    ),
    (
        "method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\"",
        [2, 8],
        &[
            -2.0, -2.0, 1.5, 1.5, -0.5, -0.5, 3.0, 1.0, -1.0, -1.0, 2.5, 2.5, 0.5, 0.5, -1.5, 2.0,
        ],
    ),
    (
        "method=\"cubic\", cubic_alpha=-0.5, cubic_exclude=1",
        [2, 8],
        &[
            -2.043019, -0.447169, 1.900879, 0.739721, -0.167495, 1.268232, 1.716548, 1.273831,
            0.154161, -0.808213, -2.015686, 0.035645, 1.44937, -0.222472, 0.439765, 2.807095,
        ],
    ),
];

const NARROW: &[Example] = &[
    (
        "cubic_exclude=1, antialias=True",
        [3, 2],
        &[0.225, 1.125, 0.125, 0.625, 0.2, 0.475],
    ),
    (
        "scales=[0.6, 0.4], antialias=True",
        [2, 2],
        &[0.0525, 1.0725, 0.0, 0.8],
    ),
    (
        "method=\"cubic\", antialias=True",
        [3, 2],
        &[0.001171, 1.293311, -0.090164, 0.884991, 0.298191, 0.442581],
    ),
    (
        "scales=[0.6, 0.4], method=\"cubic\", cubic_exclude=1, antialias=True",
        [2, 2],
        &[0.188094, 1.090424, 0.004307, 0.683957],
    ),
];

fn image() -> weftile::tensor::Tensor {
    let pixels: Vec<f32> = (0..20u8)
        .map(|i| f32::from(i * 7 % 11) / 2.0 - 2.0)
        .collect();
    f32s(&[1, 1, 4, 5], &pixels)
}

#[test]
fn scales_need_not_be_ratios_of_sizes() {
    let mut cases = Cases::default();
    let x = image();
    for (attrs, [h, w], expected) in LINEAR {
        let call = format!("R.image.resize2d(x, R.shape([{h}, {w}]), scales=[0.6, 1.7], {attrs})");
        let expected = f32s(&[1, 1, *h, *w], expected);
        cases.case(&call, &[("x", &x)], &[expected]).terms(16);
    }
    // Scales that are ratios are as good as none, also where the extents of the image are symbolic.
    let call = "R.image.resize1d(x, R.shape([6]), scales=[2.0], coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\", method=\"nearest_neighbor\")";
    let line = f32s(&[1, 1, 3], &[1.0, 2.0, 3.0]);
    let expected = f32s(&[1, 1, 6], &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    cases.case(call, &[("x", &line)], std::slice::from_ref(&expected));
    let types = ["R.Tensor((1, \"c\", \"n\"), \"float32\")"];
    cases.case_of(call, &types, &[("x", &line)], &[expected]);
    let crop = "R.image.resize2d(x, R.shape([3, 6]), scales=[0.8, 1.3], roi=[0.4, 0.55, 1.2, 1.6], coordinate_transformation_mode=\"tf_crop_and_resize\", extrapolation_value=10.0)";
    let mut elements = [10.0; 18];
    elements[..3].copy_from_slice(&[0.3, -1.227273, 1.245455]);
    elements[6..9].copy_from_slice(&[1.390909, -0.136364, 1.172727]);
    let expected = f32s(&[1, 1, 3, 6], &elements);
    cases.case(crop, &[("x", &x)], &[expected]).terms(16);
    cases.run();
}

#[test]
fn filters_are_as_wide_as_a_pixel_becomes() {
    let mut cases = Cases::default();
    let x = image();
    for (attrs, [h, w], expected) in NARROW {
        let call = format!("R.image.resize2d(x, R.shape([{h}, {w}]), {attrs})");
        let expected = f32s(&[1, 1, *h, *w], expected);
        cases.case(&call, &[("x", &x)], &[expected]).terms(40);
    }
    cases.run();
}

/// Images without pixels, of which images without pixels are made, in every method and with every attribute of ONNX.
#[test]
fn images_without_pixels() {
    let mut cases = Cases::default();
    let (x, none) = (f32s(&[1, 2, 2, 3], &[1.0; 12]), f32s(&[1, 2, 0, 3], &[]));
    let (no_rows, no_batch) = (f32s(&[1, 2, 0, 4], &[]), f32s(&[0, 2, 3, 2], &[]));
    let batches = f32s(&[0, 2, 2, 3], &[]);
    for attrs in [
        "method=\"nearest_neighbor\", rounding_method=\"ceil\"",
        "method=\"linear\", coordinate_transformation_mode=\"align_corners\"",
        "method=\"cubic\", cubic_exclude=1, antialias=True",
        "method=\"linear\", antialias=True, coordinate_transformation_mode=\"half_pixel_symmetric\"",
        "method=\"linear\", coordinate_transformation_mode=\"tf_crop_and_resize\", roi=[0.0, 0.0, 1.0, 1.0], extrapolation_value=2.0",
        "method=\"cubic\", coordinate_transformation_mode=\"asymmetric\", scales=[0.25, 1.5]",
    ] {
        for (image, size, result) in [
            (&x, "0, 4", &no_rows),
            (&none, "0, 4", &no_rows),
            (&batches, "3, 2", &no_batch),
        ] {
            let call = format!("R.image.resize2d(x, R.shape([{size}]), layout=\"NCHW\", {attrs})");
            cases.case(&call, &[("x", image)], std::slice::from_ref(result));
        }
    }
    cases.run();
}
