//! Products of tensors, against numpy.

use super::array::Array;
use super::{Cases, f32s, i32s};

#[test]
fn products() {
    let mut cases = Cases::default();
    let x = f32s(
        &[3, 4],
        &[
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0,
        ],
    );
    let y = f32s(&[4, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let x2 = f32s(&[3, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let y2 = f32s(&[2], &[0.0, 1.0]);
    let x3 = i32s(&[2, 3], &[0, 1, 2, 3, 4, 5]);
    cases
        .case(
            r#"R.einsum((x, y,), subscripts="ij,jk->ik")"#,
            &[("x", &x), ("y", &y)],
            &[f32s(&[3, 2], &[50.0, 60.0, 114.0, 140.0, 178.0, 220.0])],
        )
        .terms(4);
    cases
        .case(
            r#"R.einsum((x, y,), subscripts="ij,jk")"#,
            &[("x", &x), ("y", &y)],
            &[f32s(&[3, 2], &[50.0, 60.0, 114.0, 140.0, 178.0, 220.0])],
        )
        .terms(4);
    cases.case(
        r#"R.einsum((x,), subscripts="ij->ji")"#,
        &[("x", &x)],
        &[f32s(
            &[4, 3],
            &[
                1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0, 4.0, 8.0, 12.0,
            ],
        )],
    );
    cases.case(
        r#"R.einsum((x,), subscripts="ii->i")"#,
        &[("x", &x2)],
        &[f32s(&[3], &[0.0, 4.0, 8.0])],
    );
    cases
        .case(
            r#"R.einsum((x,), subscripts="ii")"#,
            &[("x", &x2)],
            &[f32s(&[], &[12.0])],
        )
        .terms(3);
    cases
        .case(
            r#"R.einsum((x,), subscripts="ij->")"#,
            &[("x", &x)],
            &[f32s(&[], &[78.0])],
        )
        .terms(12);
    cases
        .case(
            r#"R.einsum((x, y,), subscripts="ij,ij->i")"#,
            &[("x", &x), ("y", &x)],
            &[f32s(&[3], &[30.0, 174.0, 446.0])],
        )
        .terms(4);
    cases.case(
        r#"R.einsum((x, y,), subscripts="i,j->ij")"#,
        &[("x", &f32s(&[3], &[0.0, 1.0, 2.0])), ("y", &y2)],
        &[f32s(&[3, 2], &[0.0, 0.0, 0.0, 1.0, 0.0, 2.0])],
    );
    cases
        .case(
            r#"R.einsum((x, y,), subscripts="bij, bjk -> bik")"#,
            &[
                (
                    "x",
                    &f32s(
                        &[2, 2, 3],
                        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0],
                    ),
                ),
                (
                    "y",
                    &f32s(
                        &[2, 3, 2],
                        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0],
                    ),
                ),
            ],
            &[f32s(
                &[2, 2, 2],
                &[10.0, 13.0, 28.0, 40.0, 172.0, 193.0, 244.0, 274.0],
            )],
        )
        .terms(3);
    cases
        .case(
            r#"R.einsum((x, y, z,), subscripts="ij,j,k->ik")"#,
            &[
                ("x", &x),
                ("y", &f32s(&[4], &[0.0, 1.0, 2.0, 3.0])),
                ("z", &y2),
            ],
            &[f32s(&[3, 2], &[0.0, 20.0, 0.0, 44.0, 0.0, 68.0])],
        )
        .terms(4);
    cases.case(
        r#"R.einsum((x, y,), subscripts="ij,jk->ik")"#,
        &[("x", &x3), ("y", &i32s(&[3, 2], &[0, 1, 2, 3, 4, 5]))],
        &[i32s(&[2, 2], &[10, 13, 28, 40])],
    );
    cases.case(
        r#"R.einsum((x,), subscripts="ba")"#,
        &[("x", &x3)],
        &[i32s(&[3, 2], &[0, 3, 1, 4, 2, 5])],
    );
    cases
        .case_of(
            r#"R.einsum((x, y,), subscripts="ij,jk->ik")"#,
            &[
                r#"R.Tensor(("n", "m",), "float32")"#,
                r#"R.Tensor(("m", "k",), "float32")"#,
            ],
            &[("x", &x), ("y", &y)],
            &[f32s(&[3, 2], &[50.0, 60.0, 114.0, 140.0, 178.0, 220.0])],
        )
        .terms(4);
    cases.case(
        r#"R.einsum((x, y,), subscripts="ij,jk->ik")"#,
        &[("x", &f32s(&[2, 0], &[])), ("y", &f32s(&[0, 3], &[]))],
        &[f32s(&[2, 3], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0])],
    );
    // An ellipsis: dimensions without letters broadcast, and come first where no result is written.
    let pair = i32s(&[2, 1, 2], &[1, 2, 3, 4]);
    let rows = i32s(&[3, 2], &[1, 0, 0, 1, 1, 1]);
    let products = i32s(&[2, 3], &[1, 2, 3, 3, 4, 7]);
    for subscripts in ["...i,...i->...", "...i,...i", "... i , ...i -> ..."] {
        cases.case(
            &format!("R.einsum((x, y,), subscripts=\"{subscripts}\")"),
            &[("x", &pair), ("y", &rows)],
            std::slice::from_ref(&products),
        );
    }
    let types = [
        "R.Tensor((\"b\", 1, \"k\"), \"int32\")",
        "R.Tensor((\"n\", \"k\"), \"int32\")",
    ];
    cases.case_of(
        r#"R.einsum((x, y,), subscripts="...i,...i->...")"#,
        &types,
        &[("x", &pair), ("y", &rows)],
        std::slice::from_ref(&products),
    );
    cases.case(
        r#"R.einsum((x, y,), subscripts="b...i,...i->b")"#,
        &[("x", &pair), ("y", &rows)],
        &[i32s(&[2], &[6, 14])],
    );
    cases.case(
        r#"R.einsum((x,), subscripts="i...->...i")"#,
        &[("x", &rows)],
        &[i32s(&[2, 3], &[1, 0, 1, 0, 1, 1])],
    );
    cases.case(
        "R.outer(x, y)",
        &[
            ("x", &f32s(&[3], &[1.0, 2.0, 3.0])),
            ("y", &f32s(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0])),
        ],
        &[f32s(
            &[3, 5],
            &[
                0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 2.0, 4.0, 6.0, 8.0, 0.0, 3.0, 6.0, 9.0, 12.0,
            ],
        )],
    );
    cases.case_of(
        "R.outer(x, y)",
        &[
            r#"R.Tensor(("n",), "int32")"#,
            r#"R.Tensor(("m",), "int32")"#,
        ],
        &[("x", &i32s(&[2], &[0, 1])), ("y", &i32s(&[3], &[0, 1, 2]))],
        &[i32s(&[2, 3], &[0, 0, 0, 0, 1, 2])],
    );
    cases.run();
}

/// By the first row.
fn determinant(rows: &[Vec<f64>]) -> f64 {
    let minor = |column: usize| -> Vec<Vec<f64>> {
        let kept = |row: &Vec<f64>| {
            let kept = row.iter().enumerate().filter(|(at, _)| *at != column);
            kept.map(|(_, v)| *v).collect()
        };
        rows[1..].iter().map(kept).collect()
    };
    let Some(first) = rows.first() else {
        return 1.0;
    };
    let terms = first.iter().enumerate();
    let terms = terms.map(|(at, v)| if at % 2 == 0 { *v } else { -v } * determinant(&minor(at)));
    terms.sum()
}

#[test]
fn determinants() {
    let mut cases = Cases::default();
    for size in [0usize, 1, 2, 5] {
        let x = Array::random(&[3, size, size], size as u64 + 1);
        let expected = Array::new(&[3], |i| {
            let row = |r: usize| (0..size).map(|c| x.at(&[i[0], r, c])).collect();
            determinant(&(0..size).map(row).collect::<Vec<Vec<f64>>>())
        });
        let input = x.f32();
        cases
            .case("R.det(x)", &[("x", &input)], &[expected.f32()])
            .terms(120);
        if size == 5 {
            let types = ["R.Tensor((\"n\", 5, 5), \"float32\")"];
            cases
                .case_of("R.det(x)", &types, &[("x", &input)], &[expected.f32()])
                .terms(120);
        }
    }
    // A zero on the diagonal, and rows that depend on each other.
    let swapped = f32s(&[2, 2], &[0.0, 2.0, 3.0, 1.0]);
    cases.case("R.det(x)", &[("x", &swapped)], &[f32s(&[], &[-6.0])]);
    let singular = f32s(&[1, 2, 2], &[1.0, 2.0, 2.0, 4.0]);
    cases.case("R.det(x)", &[("x", &singular)], &[f32s(&[1], &[0.0])]);
    cases.run();
}

/// The sum of no terms is 0; on GPUs no array may be without elements.
#[test]
fn products_of_no_terms_are_0() {
    let mut cases = Cases::default();
    let (x, w) = (f32s(&[3, 0], &[]), f32s(&[0, 4], &[]));
    let types = [
        "R.Tensor((\"n\", \"k\"), \"float32\")",
        "R.Tensor((0, 4), \"float32\")",
    ];
    let given = [("x", &x), ("w", &w)];
    cases.case_of(
        "R.matmul(x, w)",
        &types,
        &given,
        &[f32s(&[3, 4], &[0.0; 12])],
    );
    cases.run();
}
