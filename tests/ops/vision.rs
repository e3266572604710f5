//! Regions of images, in float64.

use super::Cases;
use super::array::Array;

/// What is made of the samples of a cell.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Avg,
    Max,
    MaxPart,
}

/// The four pixels around a coordinate with their weights; nothing outside of the image and its border of one pixel.
fn pixels(at: [f64; 2], extents: [usize; 2]) -> Vec<([usize; 2], f64)> {
    let inside = (0..2).all(|k| (-1.0..=extents[k] as f64).contains(&at[k]));
    if !inside {
        return vec![];
    }
    let side = |k: usize| {
        let last = extents[k] - 1;
        let at = at[k].clamp(0.0, last as f64);
        let low = at.floor() as usize;
        let fraction = at - at.floor();
        [(low, 1.0 - fraction), ((low + 1).min(last), fraction)]
    };
    let (rows, columns) = (side(0), side(1));
    let all = rows.iter().flat_map(|row| {
        let of = |column: &(usize, f64)| ([row.0, column.0], row.1 * column.1);
        columns.iter().map(of)
    });
    all.collect()
}

/// Cells of regions, sample by sample.
fn roi_align(
    x: &Array,
    rois: &Array,
    cells: [usize; 2],
    scale: f64,
    ratio: i64,
    aligned: bool,
    mode: Mode,
) -> Array {
    let extents = [x.shape[2], x.shape[3]];
    let shape = [rois.shape[0], x.shape[1], cells[0], cells[1]];
    Array::new(&shape, |i| {
        let roi = |at: usize| rois.at(&[i[0], at]);
        let side = |k: usize| {
            let (start, end) = (roi(2 - k) * scale, roi(4 - k) * scale);
            let length = if aligned {
                end - start
            } else {
                (end - start).max(1.0)
            };
            let cell = length / cells[k] as f64;
            let count = match ratio {
                1.. => ratio,
                _ => cell.ceil() as i64,
            };
            let at = move |sample: i64| {
                start + i[2 + k] as f64 * cell + (sample as f64 + 0.5) * cell / count as f64
            };
            (count.max(0), at)
        };
        let ((rows, y), (columns, column)) = (side(0), side(1));
        let mut samples = vec![];
        for row in 0..rows {
            for at in 0..columns {
                let parts = pixels([y(row), column(at)], extents);
                let parts = parts.iter().map(|(pixel, weight)| {
                    weight * x.at(&[roi(0) as usize, i[1], pixel[0], pixel[1]])
                });
                let parts: Vec<f64> = parts.collect();
                let greatest = parts.iter().copied().reduce(f64::max);
                samples.push(match mode {
                    Mode::MaxPart => greatest.unwrap_or(0.0),
                    Mode::Avg | Mode::Max => parts.iter().sum(),
                });
            }
        }
        match mode {
            Mode::Avg => samples.iter().sum::<f64>() / samples.len().max(1) as f64,
            Mode::Max | Mode::MaxPart => samples.iter().copied().reduce(f64::max).unwrap_or(0.0),
        }
    })
}

#[test]
fn regions_in_one_size() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 2, 6, 7], 1);
    // Inside, across each border, beyond the image and before it, without an area, and with corners in the wrong order.
    let rois = Array {
        shape: vec![7, 5],
        data: [
            [0.0, 1.25, 0.5, 5.5, 4.75],
            [1.0, -2.5, -3.25, 3.5, 2.25],
            [0.0, 2.5, 1.25, 12.5, 15.75],
            [1.0, 20.5, 20.25, 25.5, 28.75],
            [0.0, -19.5, -28.25, -9.5, -8.75],
            [1.0, 2.25, 2.75, 2.25, 2.75],
            [0.0, 5.25, 4.5, 1.5, 2.25],
        ]
        .concat(),
    };
    let (xt, rt) = (x.f32(), rois.f32());
    for (mode, name) in [
        (Mode::Avg, "avg"),
        (Mode::Max, "max"),
        (Mode::MaxPart, "max_part"),
    ] {
        for (ratio, aligned) in [(2, true), (2, false), (-1, true), (-1, false)] {
            let expected = roi_align(&x, &rois, [3, 2], 0.75, ratio, aligned, mode);
            let flag = if aligned { "True" } else { "False" };
            let call = format!(
                "R.vision.roi_align(x, r, pooled_size=[3, 2], spatial_scale=0.75, sample_ratio={ratio}, aligned={flag}, \
                 mode=\"{name}\")"
            );
            let inputs = [("x", &xt), ("r", &rt)];
            cases.case(&call, &inputs, &[expected.f32()]).terms(64);
        }
    }
    let expected = roi_align(&x, &rois, [2, 2], 1.0, 3, false, Mode::Avg);
    cases
        .case_of(
            "R.vision.roi_align(x, r, pooled_size=[2], spatial_scale=1.0, sample_ratio=3, layout=\"NHWC\")",
            &[
                "R.Tensor((\"n\", \"h\", \"w\", 2), \"float32\")",
                "R.Tensor((\"m\", 5), \"float32\")",
            ],
            &[("x", &x.relaid("NCHW", "NHWC").f32()), ("r", &rt)],
            &[expected.relaid("NCHW", "NHWC").f32()],
        )
        .terms(64);
    cases.run();
}
