//! Tiles of rows on the CPU, written by hand: every number of rows that whole tiles leave, by every back end.

use weftile::tensor::Tensor;

use crate::cpu::{check, compile, prim_func, random};

/// Sums of rows in tiles of eight. `{x}` is the shape of `X`, `{term}` what each row adds up.
const SUMS: &str = r#"
@T.prim_func
def sums(X: T.Buffer({x}, "float32"), W: T.Buffer((9,), "float32"), y: T.handle):
    n = T.int64()
    Y = T.match_buffer(y, (n,), "float32")
    P = T.alloc_buffer((n,), "float32", scope="local")
    for f in range((n + 31) // 32):
        for i in range(4):
            for u in T.unroll(8):
                with T.block("init"):
                    vi = T.axis.spatial(n, f * 32 + i * 8 + u)
                    T.where(f * 32 + i * 8 + u < n)
                    P[vi] = T.float32(0)
        for i, k in T.grid(4, 9):
            for u in T.unroll(8):
                with T.block("update"):
                    vi = T.axis.spatial(n, f * 32 + i * 8 + u)
                    vk = T.axis.reduce(9, k)
                    T.where(f * 32 + i * 8 + u < n)
                    P[vi] = P[vi] + {term}
        for r in range(32):
            with T.block("Y"):
                vi = T.axis.spatial(n, f * 32 + r)
                T.where(f * 32 + r < n)
                Y[vi] = P[vi]
"#;

fn every_number_of_rows(shape: &[usize], term: &str) {
    let x = format!("{shape:?}").replace('[', "(").replace(']', ")");
    let func = prim_func(&SUMS.replace("{x}", &x).replace("{term}", term));
    let compiled = compile(&func);
    for n in (0..=42).chain([63, 64, 65, 66]) {
        let tensors: [Tensor; 3] = [
            random(shape, 1, false),
            random(&[9], 2, false),
            random(&[n], 3, false),
        ];
        check(&func, &compiled, &tensors, 9);
    }
}

#[test]
fn rows_behind_the_last_whole_tile() {
    every_number_of_rows(&[72, 9], "X[vi, vk] * W[vk]");
}

/// Which tile a row is in is no longer told by one index: the row behind a tile is not the first of the next one there.
#[test]
fn rows_that_are_told_from_their_tiles() {
    let of_first_tile = "T.Select(vi < 8, X[vi, vk], T.float32(0)) * W[vk]";
    every_number_of_rows(&[72, 9], of_first_tile);
    every_number_of_rows(&[9, 9, 8], "X[vi // 8, vk, vi % 8] * W[vk]");
}

/// Rows that meet in memory take turns: each step of a sum adds to the row behind, whose turn in that step is next.
#[test]
fn rows_that_meet_in_the_steps_of_a_sum() {
    let func = prim_func(
        r#"
@T.prim_func
def meeting(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n + 2,), "float32")
    for i in range((n + 7) // 8):
        for k in range(3):
            for u in T.unroll(8):
                with T.block("Y"):
                    vi = T.axis.opaque(n, i * 8 + u)
                    vk = T.axis.opaque(3, k)
                    T.where(i * 8 + u < n)
                    Y[vi + vk] = Y[vi + vk] * T.float32(0.5) + X[vi]
"#,
    );
    let compiled = compile(&func);
    for n in 0..=26 {
        let tensors = [random(&[n], 1, false), random(&[n + 2], 2, false)];
        check(&func, &compiled, &tensors, 9);
    }
}
