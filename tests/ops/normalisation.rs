//! Normalisations against means and variances in float64.

use super::Cases;
use super::array::{Array, indices};

const EPSILON: f64 = 1e-5;

/// Mean and variance over the elements whose `group` is that of `index`.
fn moments(x: &Array, index: &[usize], group: &dyn Fn(&[usize]) -> Vec<usize>) -> (f64, f64) {
    let wanted = group(index);
    let all = indices(&x.shape).into_iter().filter(|i| group(i) == wanted);
    let values: Vec<f64> = all.map(|i| x.at(&i)).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, squares / count)
}

fn normalized(
    x: &Array,
    group: &dyn Fn(&[usize]) -> Vec<usize>,
    scale: &dyn Fn(&[usize]) -> (f64, f64),
) -> Array {
    Array::new(&x.shape, |i| {
        let (mean, variance) = moments(x, i, group);
        let (gamma, beta) = scale(i);
        (x.at(i) - mean) / (variance + EPSILON).sqrt() * gamma + beta
    })
}

#[test]
fn layers_groups_and_instances() {
    let mut cases = Cases::default();
    let x = Array::random(&[3, 5, 7], 1);
    let (gamma, beta) = (Array::random(&[7], 2), Array::random(&[7], 3));
    let rows = |i: &[usize]| i[..2].to_vec();
    let expected = normalized(&x, &rows, &|i| (gamma.data[i[2]], beta.data[i[2]]));
    let (xt, gt, bt) = (x.f32(), gamma.f32(), beta.f32());
    let inputs = [("x", &xt), ("g", &gt), ("b", &bt)];
    let text = "R.nn.layer_norm(x, g, b, axes=[-1])";
    cases.case(text, &inputs, &[expected.f32()]).terms(7);
    let types = [
        "R.Tensor((\"n\", 5, 7), \"float32\")",
        "R.Tensor((7,), \"float32\")",
        "R.Tensor((7,), \"float32\")",
    ];
    cases
        .case_of(text, &types, &inputs, &[expected.f32()])
        .terms(7);
    let expected = normalized(&x, &rows, &|i| (1.0, beta.data[i[2]]));
    cases
        .case(
            "R.nn.layer_norm(x, g, b, axes=[-1], scale=False)",
            &inputs,
            &[expected.f32()],
        )
        .terms(7);
    let expected = normalized(&x, &rows, &|i| (gamma.data[i[2]], 0.0));
    cases
        .case(
            "R.nn.layer_norm(x, g, b, axes=[-1], center=False)",
            &inputs,
            &[expected.f32()],
        )
        .terms(7);
    let (gamma, beta) = (Array::random(&[5, 7], 4), Array::random(&[5, 7], 5));
    let batches = |i: &[usize]| i[..1].to_vec();
    let expected = normalized(&x, &batches, &|i| (gamma.at(&i[1..]), beta.at(&i[1..])));
    let (gt, bt) = (gamma.f32(), beta.f32());
    cases
        .case(
            "R.nn.layer_norm(x, g, b, axes=[1, 2])",
            &[("x", &xt), ("g", &gt), ("b", &bt)],
            &[expected.f32()],
        )
        .terms(35);

    let x = Array::random(&[2, 6, 3, 2], 6);
    let (gamma, beta) = (Array::random(&[6], 7), Array::random(&[6], 8));
    let scale = |i: &[usize]| (gamma.data[i[1]], beta.data[i[1]]);
    let (xt, gt, bt) = (x.f32(), gamma.f32(), beta.f32());
    let inputs = [("x", &xt), ("g", &gt), ("b", &bt)];
    let groups = |i: &[usize]| vec![i[0], i[1] / 2];
    let expected = normalized(&x, &groups, &scale);
    cases
        .case(
            "R.nn.group_norm(x, g, b, num_groups=3, channel_axis=1, axes=[2, 3])",
            &inputs,
            &[expected.f32()],
        )
        .terms(12);
    let instances = |i: &[usize]| i[..2].to_vec();
    let expected = normalized(&x, &instances, &scale);
    cases
        .case(
            "R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3])",
            &inputs,
            &[expected.f32()],
        )
        .terms(6);
    cases.run();
}

#[test]
fn batches_in_training_and_after() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 3, 5], 1);
    let names = ["g", "b", "m", "v"];
    let given: Vec<Array> = (2..6)
        .map(|seed| Array::random(&[3], seed).map(|v| v + 1.5))
        .collect();
    let tensors: Vec<_> = given.iter().map(Array::f32).collect();
    let xt = x.f32();
    let mut inputs = vec![("x", &xt)];
    inputs.extend(names.iter().copied().zip(&tensors));
    let [gamma, beta, mean, variance] = [0, 1, 2, 3].map(|at| &given[at].data);
    let expected = Array::new(&x.shape, |i| {
        let deviation = (variance[i[1]] + 1e-3).sqrt();
        (x.at(i) - mean[i[1]]) / deviation * gamma[i[1]] + beta[i[1]]
    });
    cases
        .case(
            "R.nn.batch_norm(x, g, b, m, v, axis=1, epsilon=1e-3, training=False)",
            &inputs,
            &[expected.f32(), given[2].f32(), given[3].f32()],
        )
        .terms(2);
    let channels = |i: &[usize]| vec![i[1]];
    let expected = normalized(&x, &channels, &|i| (gamma[i[1]], beta[i[1]]));
    let moment = |c: usize| moments(&x, &[0, c, 0], &channels);
    let new_mean = Array::new(&[3], |i| 0.75 * mean[i[0]] + 0.25 * moment(i[0]).0);
    let new_variance = Array::new(&[3], |i| 0.75 * variance[i[0]] + 0.25 * moment(i[0]).1);
    cases
        .case(
            "R.nn.batch_norm(x, g, b, m, v, axis=1, momentum=0.25, training=True)",
            &inputs,
            &[expected.f32(), new_mean.f32(), new_variance.f32()],
        )
        .terms(10);
    cases.run();
}

#[test]
fn root_mean_squares_and_local_responses() {
    let mut cases = Cases::default();
    let (x, w) = (Array::random(&[3, 7], 1), Array::random(&[7], 2));
    let expected = Array::new(&x.shape, |i| {
        let squares: f64 = (0..7).map(|k| x.at(&[i[0], k]).powi(2)).sum();
        x.at(i) / (squares / 7.0 + EPSILON).sqrt() * w.data[i[1]]
    });
    let inputs = (x.f32(), w.f32());
    let inputs = [("x", &inputs.0), ("w", &inputs.1)];
    cases
        .case("R.nn.rms_norm(x, w, axes=[-1])", &inputs, &[expected.f32()])
        .terms(7);
    let halves = (x.f16(), w.f16());
    let halves = [("x", &halves.0), ("w", &halves.1)];
    cases.case("R.nn.rms_norm(x, w, axes=[-1])", &halves, &[expected.f16()]);
    let x = Array::random(&[2, 5, 3], 3);
    let response = |size: i64| {
        Array::new(&x.shape, |i| {
            let first = i[1] as i64 - (size - 1) / 2;
            let neighbours = (first..first + size)
                .map(|at| x.at_or(&[i[0] as i64, at, i[2] as i64], 0.0).powi(2));
            let squares: f64 = neighbours.sum();
            x.at(i) / (1.0 + 0.5 / size as f64 * squares).powf(0.75)
        })
        .f32()
    };
    for size in [3, 4] {
        let text = format!("R.nn.lrn(x, size={size}, axis=1, bias=1.0, alpha=0.5, beta=0.75)");
        cases
            .case(&text, &[("x", &x.f32())], &[response(size)])
            .terms(size as usize);
    }
    cases.run();
}

#[test]
fn half_precision_and_unknown_extents() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 6, 3, 2], 6);
    let (gamma, beta) = (Array::random(&[6], 7), Array::random(&[6], 8));
    let scale = |i: &[usize]| (gamma.data[i[1]], beta.data[i[1]]);
    let groups = |i: &[usize]| vec![i[0], i[1] / 2];
    let instances = |i: &[usize]| i[..2].to_vec();
    let group = "R.nn.group_norm(x, g, b, num_groups=3, channel_axis=1, axes=[2, 3])";
    let instance = "R.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3])";
    let of_groups = normalized(&x, &groups, &scale);
    let of_instances = normalized(&x, &instances, &scale);
    let (whole, halves) = (
        [x.f32(), gamma.f32(), beta.f32()],
        [x.f16(), gamma.f16(), beta.f16()],
    );
    for (call, expected) in [(group, &of_groups), (instance, &of_instances)] {
        let inputs: Vec<_> = ["x", "g", "b"].into_iter().zip(&halves).collect();
        cases.case(call, &inputs, &[expected.f16()]).terms(12);
        let inputs: Vec<_> = ["x", "g", "b"].into_iter().zip(&whole).collect();
        let types = [
            "R.Tensor((\"n\", 6, \"h\", \"w\"), \"float32\")",
            "R.Tensor((6,), \"float32\")",
            "R.Tensor((6,), \"float32\")",
        ];
        cases
            .case_of(call, &types, &inputs, &[expected.f32()])
            .terms(12);
    }
    cases.run();
}
