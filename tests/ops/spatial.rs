//! Operators that move elements.

use super::Cases;
use super::array::Array;

/// `source` gives the index along a dimension of this extent, or none for the constant.
fn pad(x: &Array, width: &[(i64, i64)], source: fn(i64, i64) -> Option<i64>, value: f64) -> Array {
    let extent =
        |(&n, &(before, after)): (&usize, &(i64, i64))| (n as i64 + before + after) as usize;
    let shape: Vec<usize> = x.shape.iter().zip(width).map(extent).collect();
    Array::new(&shape, |i| {
        let place = i.iter().zip(&x.shape).zip(width);
        let index = place.map(|((&i, &n), &(before, _))| source(i as i64 - before, n as i64));
        match index.collect::<Option<Vec<i64>>>() {
            Some(index) => x.at_or(&index, f64::NAN),
            None => value,
        }
    })
}

#[test]
fn padding_in_all_modes() {
    let mut cases = Cases::default();
    let x = Array::random(&[3, 5], 1);
    let xt = x.f32();
    type Source = fn(i64, i64) -> Option<i64>;
    // There and back again, one step at a time.
    let reflect: Source = |mut at, n| {
        while n > 1 && !(0..n).contains(&at) {
            at = if at < 0 { -at } else { 2 * (n - 1) - at };
        }
        Some(if n == 1 { 0 } else { at })
    };
    let modes: [(&str, Source); 6] = [
        ("constant", |at, n| (0..n).contains(&at).then_some(at)),
        ("reflect", reflect),
        ("replicate", |at, n| Some(at.clamp(0, n - 1))),
        ("edge", |at, n| Some(at.clamp(0, n - 1))),
        ("circular", |at, n| Some(at.rem_euclid(n))),
        ("wrap", |at, n| Some(at.rem_euclid(n))),
    ];
    for (mode, source) in modes {
        let widths = [[(1, 2), (0, 3)], [(2, 2), (-1, 7)], [(-1, 0), (-2, -1)]];
        for width in widths {
            let expected = pad(&x, &width, source, 0.5).f32();
            let numbers: Vec<i64> = width.iter().flat_map(|&(a, b)| [a, b]).collect();
            let text =
                format!("R.nn.pad(x, pad_width={numbers:?}, pad_mode=\"{mode}\", pad_value=0.5)");
            cases.case(&text, &[("x", &xt)], &[expected]);
        }
        // Rows of several vectors, in several pieces.
        let rows = Array::random(&[3, 2, 37], 3);
        for width in [[(0, 0), (1, 2), (2, 3)], [(1, 0), (0, 0), (-1, 40)]] {
            let expected = pad(&rows, &width, source, 0.5).f32();
            let numbers: Vec<i64> = width.iter().flat_map(|&(a, b)| [a, b]).collect();
            let text =
                format!("R.nn.pad(x, pad_width={numbers:?}, pad_mode=\"{mode}\", pad_value=0.5)");
            cases.case(&text, &[("x", &rows.f32())], &[expected]);
        }
        let expected = pad(&x, &[(2, 1), (1, 1)], source, -1.0).f32();
        let text = format!("R.nn.pad(x, [2, 1, 1, 1], \"{mode}\", -1.0)");
        let types = ["R.Tensor((\"n\", \"m\"), \"float32\")"];
        cases.case_of(&text, &types, &[("x", &xt)], &[expected]);
    }
    let one = Array::random(&[1], 2);
    let expected = pad(&one, &[(2, 2)], reflect, 0.0).f32();
    cases.case(
        "R.nn.pad(x, pad_width=[2, 2], pad_mode=\"reflect\")",
        &[("x", &one.f32())],
        &[expected],
    );
    cases.run();
}

#[test]
fn rows_are_joined_and_repeated() {
    let mut cases = Cases::default();
    for axis in 0..4 {
        let part = |extent, seed| {
            let mut shape = [3, 4, 5, 6];
            shape[axis] = extent;
            Array::random(&shape, seed)
        };
        let parts = [part(7, 1), part(20, 2), part(33, 3)];
        let mut shape = [3, 4, 5, 6];
        shape[axis] = 60;
        let joined = Array::new(&shape, |i| {
            let mut i = i.to_vec();
            let mut part = 0;
            while i[axis] >= parts[part].shape[axis] {
                i[axis] -= parts[part].shape[axis];
                part += 1;
            }
            parts[part].at(&i)
        });
        let [a, b, c] = parts.each_ref().map(Array::f32);
        cases.case(
            &format!("R.concat((a, b, c), axis={axis})"),
            &[("a", &a), ("b", &b), ("c", &c)],
            &[joined.f32()],
        );
    }
    for (rows, columns) in [(3, 20), (2, 16), (5, 7)] {
        let x = Array::random(&[rows, columns], 4);
        let tiled = Array::new(&[2 * rows, 3 * columns], |i| {
            x.at(&[i[0] % rows, i[1] % columns])
        });
        cases.case("R.tile(x, [2, 3])", &[("x", &x.f32())], &[tiled.f32()]);
    }
    for (rows, columns) in [(5, 40), (40, 5), (33, 48)] {
        let x = Array::random(&[rows, columns], 5);
        let text = |name: &str, k: i64| format!("R.{name}(x, R.prim_value({k}))");
        for k in [-3, 0, 17] {
            let part = |keep: fn(i64, i64) -> bool| {
                let at = |i: &[usize]| keep(i[1] as i64 - i[0] as i64, k);
                Array::new(&[rows, columns], |i| if at(i) { x.at(i) } else { 0.0 }).f32()
            };
            let xt = x.f32();
            let inputs = [("x", &xt)];
            cases.case(&text("tril", k), &inputs, &[part(|d, k| d <= k)]);
            cases.case(&text("triu", k), &inputs, &[part(|d, k| d >= k)]);
            let on = Array::new(&[rows, columns], |i| {
                f64::from(u8::from(i[1] as i64 - i[0] as i64 == k))
            });
            cases.case(&text("eye_like", k), &inputs, &[on.f32()]);
        }
    }
    cases.run();
}

#[test]
fn elements_in_other_places() {
    let mut cases = Cases::default();
    let x = Array::random(&[2, 3, 1, 5], 1);
    let flat = Array::new(&[2, 15], |i| x.data[i[0] * 15 + i[1]]);
    cases.case("R.nn.batch_flatten(x)", &[("x", &x.f32())], &[flat.f32()]);
    let types = ["R.Tensor((\"n\", 3, \"h\", 5), \"float32\")"];
    cases.case_of(
        "R.nn.batch_flatten(x)",
        &types,
        &[("x", &x.f32())],
        &[flat.f32()],
    );
    let x = Array::random(&[2, 8, 3, 2], 2);
    let expected = Array::new(&[2, 2, 6, 4], |i| {
        x.at(&[
            i[0],
            i[1] * 4 + (i[2] % 2) * 2 + i[3] % 2,
            i[2] / 2,
            i[3] / 2,
        ])
    });
    cases.case(
        "R.nn.pixel_shuffle(x, upscale_factor=2)",
        &[("x", &x.f32())],
        &[expected.f32()],
    );
    let x = Array::random(&[3], 3);
    cases.case(
        "R.nn.dropout(x, rate=0.5)",
        &[("x", &x.f32())],
        &[x.f32(), x.map(|_| 1.0).f32()],
    );
    cases.run();
}
