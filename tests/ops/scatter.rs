//! Elements written at indices, against loops in numpy.

use super::{Cases, bools, f32s, i32s, i64s};

/// Workgroups as of a common GPU.
const MANY: weftile::topi::Threads = weftile::topi::Threads::Many(weftile::topi::Workgroups {
    threads: 256,
    shared_bytes: 16 << 10,
    fast_shared: true,
    cores: 8,
    subgroup: 32,
    operations_per_byte: 16,
});

#[test]
fn elements_and_slices() {
    let mut cases = Cases::default();
    let x = f32s(
        &[4, 3],
        &[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
        ],
    );
    let y = i32s(&[2, 3], &[0, 1, 3, 0, -1, 2]);
    let z = f32s(&[2, 3], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
    let y2 = i32s(&[3, 2], &[1, 2, 1, 2, 3, -3]);
    let z2 = f32s(&[3], &[10.0, 11.0, 12.0]);
    let y3 = i32s(&[2, 1], &[2, 0]);
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="update")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                13.0, 2.0, 3.0, 4.0, 11.0, 6.0, 7.0, 8.0, 15.0, 10.0, 14.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="add")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                24.0, 2.0, 3.0, 4.0, 16.0, 6.0, 7.0, 8.0, 24.0, 10.0, 25.0, 24.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="mul")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                130.0, 2.0, 3.0, 4.0, 55.0, 6.0, 7.0, 8.0, 135.0, 10.0, 154.0, 144.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="max")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                13.0, 2.0, 3.0, 4.0, 11.0, 6.0, 7.0, 8.0, 15.0, 10.0, 14.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="min")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_elements(x, y, z, axis=0, reduction="mean")"#,
        &[("x", &x), ("y", &y), ("z", &z)],
        &[f32s(
            &[4, 3],
            &[
                9.25, 2.0, 3.0, 4.0, 8.0, 6.0, 7.0, 8.0, 12.0, 10.0, 12.5, 12.0,
            ],
        )],
    );
    cases.case_of(
        r#"R.scatter_elements(x, y, z, axis=-1, reduction="add")"#,
        &[
            r#"R.Tensor(("n", 3,), "float32")"#,
            r#"R.Tensor(("n", "k",), "int32")"#,
            r#"R.Tensor(("n", "k",), "float32")"#,
        ],
        &[
            ("x", &x),
            ("y", &i32s(&[4, 2], &[1, 1, 2, 0, 0, -1, 1, 2])),
            (
                "z",
                &f32s(&[4, 2], &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0]),
            ),
        ],
        &[f32s(
            &[4, 3],
            &[
                1.0, 23.0, 3.0, 17.0, 5.0, 18.0, 21.0, 8.0, 24.0, 10.0, 27.0, 29.0,
            ],
        )],
    );
    cases.case(
        "R.scatter_elements(x, y, z)",
        &[
            ("x", &x),
            ("y", &i32s(&[0, 3], &[])),
            ("z", &f32s(&[0, 3], &[])),
        ],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        "R.scatter_elements(x, y, z)",
        &[
            ("x", &f32s(&[3], &[0.0, 1.0, 2.0])),
            ("y", &i64s(&[1], &[1])),
            ("z", &f32s(&[1], &[5.0])),
        ],
        &[f32s(&[3], &[0.0, 5.0, 2.0])],
    );
    cases.case(
        r#"R.scatter_nd(x, y, z, reduction="update")"#,
        &[("x", &x), ("y", &y2), ("z", &z2)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 7.0, 8.0, 9.0, 12.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_nd(x, y, z, reduction="add")"#,
        &[("x", &x), ("y", &y2), ("z", &z2)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 27.0, 7.0, 8.0, 9.0, 22.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_nd(x, y, z, reduction="mul")"#,
        &[("x", &x), ("y", &y2), ("z", &z2)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 660.0, 7.0, 8.0, 9.0, 120.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_nd(x, y, z, reduction="max")"#,
        &[("x", &x), ("y", &y2), ("z", &z2)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 7.0, 8.0, 9.0, 12.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.scatter_nd(x, y, z, reduction="min")"#,
        &[("x", &x), ("y", &y2), ("z", &z2)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        "R.scatter_nd(x, y, z)",
        &[
            ("x", &x),
            ("y", &y3),
            ("z", &f32s(&[2, 3], &[20.0, 21.0, 22.0, 23.0, 24.0, 25.0])),
        ],
        &[f32s(
            &[4, 3],
            &[
                23.0, 24.0, 25.0, 4.0, 5.0, 6.0, 20.0, 21.0, 22.0, 10.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case_of(
        r#"R.scatter_nd(x, y, z, reduction="add")"#,
        &[
            r#"R.Tensor(("n", 3,), "int32")"#,
            r#"R.Tensor(("k", 1,), "int32")"#,
            r#"R.Tensor(("k", 3,), "int32")"#,
        ],
        &[
            ("x", &i32s(&[4, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])),
            ("y", &y3),
            ("z", &i32s(&[2, 3], &[0, 1, 2, 3, 4, 5])),
        ],
        &[i32s(&[4, 3], &[3, 5, 7, 3, 4, 5, 6, 8, 10, 9, 10, 11])],
    );
    cases.run();
}

#[test]
fn put_and_masked() {
    let mut cases = Cases::default();
    let x = f32s(
        &[4, 3],
        &[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
        ],
    );
    let a = i32s(&[3], &[0, 3, 0]);
    let b = i32s(&[3], &[1, 2, 1]);
    let y = f32s(&[3], &[10.0, 11.0, 12.0]);
    cases.case(
        "R.index_put(x, (a, b), y)",
        &[("x", &x), ("a", &a), ("b", &b), ("y", &y)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 12.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 11.0,
            ],
        )],
    );
    cases.case(
        "R.index_put(x, (a, b), y, accumulate=True)",
        &[("x", &x), ("a", &a), ("b", &b), ("y", &y)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 24.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 23.0,
            ],
        )],
    );
    cases.case(
        "R.index_put(x, (a,), y)",
        &[
            ("x", &x),
            ("a", &i32s(&[2, 1], &[1, 2])),
            ("y", &f32s(&[3], &[7.0, 8.0, 9.0])),
        ],
        &[f32s(
            &[4, 3],
            &[
                1.0, 2.0, 3.0, 7.0, 8.0, 9.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
            ],
        )],
    );
    cases.case(
        "R.index_put(x, (a,), y, accumulate=True)",
        &[
            ("x", &i32s(&[4, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])),
            ("a", &i32s(&[2], &[-1, -1])),
            ("y", &i32s(&[1], &[1])),
        ],
        &[i32s(&[4, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13])],
    );
    cases.case(
        "R.masked_scatter(x, m, y)",
        &[
            ("x", &f32s(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0])),
            ("m", &bools(&[5], &[true, false, true, true, false])),
            ("y", &f32s(&[4], &[10.0, 11.0, 12.0, 13.0])),
        ],
        &[f32s(&[5], &[10.0, 1.0, 11.0, 12.0, 4.0])],
    );
    cases.run();
}

/// `count` indices below `bound`, many of which are the same.
fn repeated(count: usize, bound: usize) -> Vec<usize> {
    (0..count).map(|i| (i * i + 3 * i) % 101 % bound).collect()
}

/// A reduction: its name, and what becomes of an element and its update.
type Reduction<'a> = (&'a str, &'a dyn Fn(f32, f32) -> f32);

#[test]
fn many_updates_count_in_their_order() {
    let mut cases = Cases::default();
    let (slices, inner, count) = (11, 3, 150);
    let at = repeated(count, slices + 1);
    let data: Vec<f32> = (0..slices * inner).map(|v| v as f32).collect();
    let updates: Vec<f32> = (0..count * inner).map(|v| (v % 17) as f32 - 8.0).collect();
    let updated = |f: &dyn Fn(f32, f32) -> f32| {
        let mut out = data.clone();
        // The index behind the last slice is outside.
        for (u, &slice) in at.iter().enumerate().filter(|(_, slice)| **slice < slices) {
            for k in 0..inner {
                let element = &mut out[slice * inner + k];
                *element = f(*element, updates[u * inner + k]);
            }
        }
        f32s(&[slices, inner], &out)
    };
    let x = f32s(&[slices, inner], &data);
    let places: Vec<i64> = at.iter().map(|&slice| slice as i64).collect();
    let (y, z) = (i64s(&[count, 1], &places), f32s(&[count, inner], &updates));
    let inputs = [("x", &x), ("y", &y), ("z", &z)];
    let reductions: [Reduction<'_>; 4] = [
        ("update", &|_, new| new),
        ("add", &|old, new| old + new),
        ("max", &|old, new| old.max(new)),
        ("mean", &|old, new| (old + new) / 2.0),
    ];
    for (reduction, f) in reductions {
        let call = format!("R.scatter_nd(x, y, z, reduction=\"{reduction}\")");
        cases.case(&call, &inputs, &[updated(f)]).terms(20);
    }
    let types = [
        "R.Tensor((\"n\", \"m\"), \"float32\")",
        "R.Tensor((\"k\", 1), \"int64\")",
        "R.Tensor((\"k\", \"m\"), \"float32\")",
    ];
    let call = "R.scatter_nd(x, y, z, reduction=\"update\")";
    cases.case_of(call, &types, &inputs, &[updated(&|_, new| new)]);
    // No update: the data as it is.
    let (none, empty) = (i64s(&[0, 1], &[]), f32s(&[0, inner], &[]));
    let unchanged = [("x", &x), ("y", &none), ("z", &empty)];
    cases.case_of(call, &types, &unchanged, std::slice::from_ref(&x));
    let flat = i64s(&[count], &places);
    let inputs = [("x", &x), ("y", &flat), ("z", &z)];
    let call = "R.index_put(x, (y,), z, accumulate=True)";
    let sums = updated(&|old, new| old + new);
    cases.case(call, &inputs, &[sums]).terms(20);
    cases.run();
}

#[test]
fn long_lines_are_updated_by_many_threads() {
    let mut cases = Cases::default();
    let count = 300;
    let at = repeated(count, count);
    let x: Vec<i32> = (0..count as i32).collect();
    let new: Vec<i32> = x.iter().map(|v| 1000 + v).collect();
    let mut added = x.clone();
    let mut replaced = x.clone();
    for (&slot, &new) in at.iter().zip(&new) {
        added[slot] += new;
        replaced[slot] = new;
    }
    let indices: Vec<i32> = at.iter().map(|&slot| slot as i32 - count as i32).collect();
    let of = |v: &[i32]| i32s(&[count], v);
    let (x, y, z) = (of(&x), of(&indices), of(&new));
    let inputs = [("x", &x), ("y", &y), ("z", &z)];
    for (reduction, expected) in [("add", &added), ("update", &replaced)] {
        let call = format!("R.scatter_elements(x, y, z, axis=0, reduction=\"{reduction}\")");
        cases.case(&call, &inputs, &[of(expected)]);
    }
    let chosen: Vec<bool> = at.iter().map(|slot| slot % 3 != 0).collect();
    let mut next = new.iter();
    let masked = chosen.iter().zip(0i32..);
    let masked: Vec<i32> = masked
        .map(|(&chosen, old)| {
            if chosen {
                *next.next().expect("enough")
            } else {
                old
            }
        })
        .collect();
    let mask = bools(&[20, 15], &chosen);
    let grid = |t: &weftile::tensor::Tensor| t.reshape(&[20, 15]).expect("300 elements");
    let (x, masked) = (grid(&x), grid(&of(&masked)));
    let inputs = [("x", &x), ("m", &mask), ("y", &z)];
    cases.case("R.masked_scatter(x, m, y)", &inputs, &[masked]);
    cases.run();
}

/// Both algorithms, in the interpreter: updates of a few places, some of them outside or counted from the end, many of them of the same.
#[test]
fn few_threads_and_many_update_alike() {
    use weftile::interp::run_prim_func;
    use weftile::te::{create_prim_func, placeholder};
    use weftile::tensor::scalar::BinOp;
    use weftile::tensor::{DType, Tensor};
    use weftile::topi::{Threads, Update, scatter_elements, scatter_nd};

    let numbers = |shape: &[i64], dtype: DType, step: i64| {
        let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let values = (0..shape.iter().product::<usize>() as i64).map(|i| i * step % 23 - 6);
        let made = match dtype {
            DType::F32 => Tensor::from_slice(&shape, &values.map(|v| v as f32).collect::<Vec<_>>()),
            DType::I32 => Tensor::from_slice(&shape, &values.map(|v| v as i32).collect::<Vec<_>>()),
            _ => Tensor::from_slice(&shape, &values.collect::<Vec<_>>()),
        };
        made.expect("as many as it has")
    };
    // Data, indices (the last is how many select a slice) and updates.
    let cases: &[(&[i64], &[i64], &[i64])] = &[
        (&[19], &[70, 1], &[70]),
        (&[9, 3], &[70, 1], &[70, 3]),
        (&[1, 11, 2], &[5, 9, 2], &[5, 9, 2]),
        (&[7, 5], &[40, 2], &[40]),
        (&[3, 4], &[4, 1], &[4, 4]),
        (&[6, 0], &[40, 1], &[40, 0]),
        (&[0, 3], &[40, 1], &[40, 3]),
        (&[5, 0], &[40, 2], &[40]),
        (&[6, 2], &[0, 1], &[0, 2]),
    ];
    let add = Update::Combine(BinOp::Add);
    for dtype in [DType::F32, DType::I32, DType::I64] {
        for &(data, indices, updates) in cases {
            for update in [Update::Replace, add, Update::Mean] {
                let [x, u] = [("x", data), ("u", updates)]
                    .map(|(name, shape)| placeholder(name, shape.to_vec(), dtype));
                let at = placeholder("at", indices.to_vec(), DType::I64);
                let depth = indices[indices.len() - 1] as usize;
                let results = [Threads::Few, MANY].map(|threads| {
                    let y = scatter_nd("y", &x, &at, &u, depth, update, threads);
                    let func = create_prim_func("f", &[x.clone(), at.clone(), u.clone(), y]);
                    let mut tensors = [
                        numbers(data, dtype, 1),
                        numbers(indices, DType::I64, 5),
                        numbers(updates, dtype, 7),
                        numbers(data, dtype, 0),
                    ];
                    run_prim_func(&func.expect("well formed"), &mut tensors).expect("runs");
                    tensors[3].clone()
                });
                let [few, many] = results;
                assert_eq!(few, many, "{data:?} {indices:?} {dtype} {update:?}");
            }
        }
        for (data, indices, axis) in [([1, 90], [1, 60], 1), ([60, 3], [50, 2], 0)] {
            let [x, u] =
                [("x", data), ("u", indices)].map(|(name, shape)| placeholder(name, shape, dtype));
            let at = placeholder("at", indices, DType::I64);
            let results = [Threads::Few, MANY].map(|threads| {
                let y = scatter_elements("y", &x, &at, &u, axis, add, threads);
                let func = create_prim_func("f", &[x.clone(), at.clone(), u.clone(), y]);
                let mut tensors = [
                    numbers(&data, dtype, 1),
                    numbers(&indices, DType::I64, 5),
                    numbers(&indices, dtype, 7),
                    numbers(&data, dtype, 0),
                ];
                run_prim_func(&func.expect("well formed"), &mut tensors).expect("runs");
                tensors[3].clone()
            });
            let [few, many] = results;
            assert_eq!(few, many, "{data:?} {indices:?} {dtype}");
        }
    }
}
