//! Default schedules for real GPUs, with shared memory and barriers, run on whatever adapter is there: the class of the device
//! is pretended, its limits are not.

use std::collections::HashSet;

use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::sched::rules;
use weftile::script;

use super::cases::{LINEAR, OF_VALUES, ROWS_OF_SEQUENCES, SEQUENCES, WEIGHTED_VALUES, check_as};

/// All but the software adapter.
const CLASSES: [GpuClass; 6] = [
    GpuClass::Nvidia,
    GpuClass::Amd,
    GpuClass::Intel,
    GpuClass::Apple,
    GpuClass::Mobile,
    GpuClass::Unknown,
];

/// Those with the largest and with the smallest tiles.
const FEW_CLASSES: [GpuClass; 2] = [GpuClass::Nvidia, GpuClass::Mobile];

/// Runs the function `f` of the text with each schedule that a class has for it.
pub(super) fn check(text: &str, rules: &[&str], terms: usize, cases: &[&[&[usize]]]) {
    for class in unlike(text) {
        check_as(Some(class), text, rules, terms, false, cases);
    }
}

/// A class for each schedule that the function `f` gets: two classes with one schedule have the same kernels.
fn unlike(text: &str) -> Vec<GpuClass> {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    let func = module.prim_func("f").expect("is there");
    let trace = |class: &GpuClass| {
        let target = Target::Gpu(GpuTarget::usual(*class));
        let scheduled = rules::schedule(func, &target);
        scheduled.schedule.trace().to_string()
    };
    let mut seen = HashSet::new();
    let classes = CLASSES.into_iter();
    classes.filter(|class| seen.insert(trace(class))).collect()
}

/// A matmul of these shapes; `a` and `b` are how the operands are indexed.
fn matmul(dims: &str, shapes: [&str; 3], grid: &str, a: &str, b: &str) -> String {
    let batch = grid.split(',').count() == 4;
    let (iters, kinds, c) = if batch {
        ("b, i, j, k", "SSSR", "vb, vi, vj")
    } else {
        ("i, j, k", "SSR", "vi, vj")
    };
    let vars = iters.split(", ").map(|v| format!("v{v}"));
    let vars = vars.collect::<Vec<_>>().join(", ");
    let [sa, sb, sc] = shapes;
    format!(
        r#"
@T.prim_func
def f(pa: T.handle, pb: T.handle, pc: T.handle):
    {dims}
    A = T.match_buffer(pa, ({sa}), "float32")
    B = T.match_buffer(pb, ({sb}), "float32")
    C = T.match_buffer(pc, ({sc}), "float32")
    for {iters} in T.grid({grid}):
        with T.block("C"):
            {vars} = T.axis.remap("{kinds}", [{iters}])
            with T.init():
                C[{c}] = T.float32(0)
            C[{c}] = C[{c}] + A[{a}] * B[{b}]
"#
    )
}

const SYMBOLIC: &str = "m, n, k = T.int64(), T.int64(), T.int64()";

#[test]
fn matmul_of_symbolic_extents() {
    let text = matmul(
        SYMBOLIC,
        ["m, k", "k, n", "m, n"],
        "m, n, k",
        "vi, vk",
        "vk, vj",
    );
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1], &[1, 1]],
        &[&[64, 64], &[64, 64], &[64, 64]],
        &[&[67, 31], &[31, 101], &[67, 101]],
        &[&[3, 130], &[130, 7], &[3, 7]],
    ];
    check(&text, &["matmul"], 130, shapes);
}

#[test]
fn matmul_with_a_transposed_left_operand() {
    let text = matmul(
        SYMBOLIC,
        ["k, m", "k, n", "m, n"],
        "m, n, k",
        "vk, vi",
        "vk, vj",
    );
    let shapes: &[&[&[usize]]] = &[
        &[&[31, 67], &[31, 101], &[67, 101]],
        &[&[16, 64], &[16, 32], &[64, 32]],
    ];
    check(&text, &["matmul"], 31, shapes);
    let text = matmul(
        "",
        ["24, 64", "24, 96", "64, 96"],
        "64, 96, 24",
        "vk, vi",
        "vk, vj",
    );
    check(
        &text,
        &["matmul"],
        24,
        &[&[&[24, 64], &[24, 96], &[64, 96]]],
    );
}

#[test]
fn linear_with_symbolic_extents() {
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 784], &[10, 784], &[10], &[1, 10]],
        &[&[13, 67], &[31, 67], &[31], &[13, 31]],
        &[&[130, 64], &[33, 64], &[33], &[130, 33]],
    ];
    check(LINEAR, &["matmul"], 784, shapes);
}

#[test]
fn rows_of_sequences_of_symbolic_extents() {
    check(ROWS_OF_SEQUENCES, &["matmul"], 40, SEQUENCES);
}

#[test]
fn a_sum_of_open_length_for_fewer_columns_than_a_tile_has() {
    check(WEIGHTED_VALUES, &["matmul"], 13, OF_VALUES);
}

/// A product whose `B` is `[k, n]`, and one whose `B` is `[n, k]`.
fn check_both_layouts(m: usize, n: usize, k: usize) {
    let [a, b, c] = [(m, k), (k, n), (m, n)].map(|(rows, columns)| format!("{rows}, {columns}"));
    let grid = format!("{m}, {n}, {k}");
    let text = matmul("", [&a, &b, &c], &grid, "vi, vk", "vk, vj");
    check(&text, &["matmul"], k, &[&[&[m, k], &[k, n], &[m, n]]]);
    let b = format!("{n}, {k}");
    let text = matmul("", [&a, &b, &c], &grid, "vi, vk", "vj, vk");
    check(&text, &["matmul"], k, &[&[&[m, k], &[n, k], &[m, n]]]);
}

#[test]
fn matmul_of_constant_extents() {
    for (m, n, k) in [(128, 96, 64), (67, 101, 31), (256, 256, 8)] {
        check_both_layouts(m, n, k);
    }
}

#[test]
fn matmul_whose_results_are_single_elements_of_all_sizes() {
    let sizes = |m, n, k| [vec![m, k], vec![k, n], vec![m, n]];
    let text = matmul(
        SYMBOLIC,
        ["m, k", "k, n", "m, n"],
        "m, n, k",
        "vi, vk",
        "vk, vj",
    );
    let open = [
        (0, 5, 7),
        (5, 0, 7),
        (5, 7, 0),
        (1, 1, 1),
        (9, 1, 3),
        (33, 31, 8),
        (33, 32, 17),
        (40, 129, 9),
    ];
    let cases: Vec<_> = open.iter().map(|&(m, n, k)| sizes(m, n, k)).collect();
    let cases: Vec<[&[usize]; 3]> = cases.iter().map(|s| s.each_ref().map(|s| &s[..])).collect();
    let cases: Vec<&[&[usize]]> = cases.iter().map(|s| &s[..]).collect();
    check(&text, &["matmul"], 17, &cases);
    // Few columns, and those of tiles and one more.
    for (m, n, k) in [(70, 5, 19), (70, 33, 19), (66, 129, 16)] {
        check_both_layouts(m, n, k);
    }
}

#[test]
fn matmul_of_the_largest_tiles_with_odd_columns() {
    let text = matmul(
        "",
        ["1151, 5", "5, 1407", "1151, 1407"],
        "1151, 1407, 5",
        "vi, vk",
        "vk, vj",
    );
    let shapes: &[&[&[usize]]] = &[&[&[1151, 5], &[5, 1407], &[1151, 1407]]];
    check_as(Some(GpuClass::Nvidia), &text, &["matmul"], 5, false, shapes);
}

#[test]
fn batches_of_products_with_odd_columns() {
    let text = matmul(
        "",
        ["3, 37, 21", "3, 21, 45", "3, 37, 45"],
        "3, 37, 45, 21",
        "vb, vi, vk",
        "vb, vk, vj",
    );
    check(
        &text,
        &["matmul"],
        21,
        &[&[&[3, 37, 21], &[3, 21, 45], &[3, 37, 45]]],
    );
}

#[test]
fn matmul_of_the_largest_tiles() {
    let text = matmul(
        "",
        ["1152, 9", "9, 1408", "1152, 1408"],
        "1152, 1408, 9",
        "vi, vk",
        "vk, vj",
    );
    let shapes: &[&[&[usize]]] = &[&[&[1152, 9], &[9, 1408], &[1152, 1408]]];
    check_as(Some(GpuClass::Nvidia), &text, &["matmul"], 9, false, shapes);
}

/// Runs `gemv` for the classes with the most and with the fewest cores, for sizes of two operands and the result.
fn check_gemv(text: &str, terms: usize, sizes: &[[Vec<usize>; 3]]) {
    let sizes: Vec<[&[usize]; 3]> = sizes.iter().map(|s| s.each_ref().map(|s| &s[..])).collect();
    let sizes: Vec<&[&[usize]]> = sizes.iter().map(|s| &s[..]).collect();
    for class in FEW_CLASSES {
        check_as(Some(class), text, &["gemv"], terms, false, &sizes);
    }
}

#[test]
fn products_of_few_rows() {
    for (m, n, k) in [
        (1, 130, 67),
        (3, 77, 130),
        (5, 96, 256),
        (8, 20, 784),
        (2, 217, 64),
    ] {
        let (a, b, c) = (
            format!("{m}, {k}"),
            format!("{k}, {n}"),
            format!("{m}, {n}"),
        );
        let grid = format!("{m}, {n}, {k}");
        let text = matmul("", [&a, &b, &c], &grid, "vi, vk", "vk, vj");
        check_gemv(&text, k, &[[vec![m, k], vec![k, n], vec![m, n]]]);
        let b = format!("{n}, {k}");
        let text = matmul("", [&a, &b, &c], &grid, "vi, vk", "vj, vk");
        check_gemv(&text, k, &[[vec![m, k], vec![n, k], vec![m, n]]]);
    }
}

#[test]
fn products_of_few_rows_of_open_extents() {
    for m in [1, 4] {
        let (a, c) = (format!("{m}, k"), format!("{m}, n"));
        let grid = format!("{m}, n, k");
        let dims = "n, k = T.int64(), T.int64()";
        let sizes = [(1, 1), (33, 5), (64, 128), (101, 300)];
        for (shape, index) in [("k, n", "vk, vj"), ("n, k", "vj, vk")] {
            let text = matmul(dims, [&a, shape, &c], &grid, "vi, vk", index);
            let sizes = sizes.map(|(n, k)| {
                let weights = if shape == "k, n" { [k, n] } else { [n, k] };
                [vec![m, k], weights.to_vec(), vec![m, n]]
            });
            check_gemv(&text, 300, &sizes);
        }
    }
}

#[test]
fn a_product_of_few_columns() {
    let text = matmul(
        "",
        ["100, 96", "96, 1", "100, 1"],
        "100, 1, 96",
        "vi, vk",
        "vk, vj",
    );
    check(&text, &["gemv"], 96, &[&[&[100, 96], &[96, 1], &[100, 1]]]);
}

#[test]
fn one_query_attends_to_open_lengths() {
    let scores = matmul(
        "t = T.int64()",
        [
            "T.int64(3), T.int64(1), T.int64(64)",
            "T.int64(3), t, T.int64(64)",
            "T.int64(3), T.int64(1), t",
        ],
        "T.int64(3), T.int64(1), t, T.int64(64)",
        "vb, vi, vk",
        "vb, vj, vk",
    );
    let values = matmul(
        "t = T.int64()",
        [
            "T.int64(3), T.int64(1), t",
            "T.int64(3), t, T.int64(64)",
            "T.int64(3), T.int64(1), T.int64(64)",
        ],
        "T.int64(3), T.int64(1), T.int64(64), t",
        "vb, vi, vk",
        "vb, vk, vj",
    );
    let sizes = [1, 7, 64, 131].map(|t| [vec![3, 1, 64], vec![3, t, 64], vec![3, 1, t]]);
    check_gemv(&scores, 64, &sizes);
    let sizes = sizes.map(|[query, cache, weights]| [weights, cache, query]);
    check_gemv(&values, 131, &sizes);
}

#[test]
fn few_rows_with_what_follows() {
    let text = r#"
@T.prim_func
def f(X: T.Buffer((1, 3, 96), "float32"), W: T.Buffer((50, 96), "float32"), B: T.Buffer((50,), "float32"), R: T.Buffer((1, 3, 50), "float32"), Y: T.Buffer((1, 3, 50), "float32")):
    C = T.alloc_buffer((1, 3, 50), "float32")
    D = T.alloc_buffer((1, 3, 50), "float32")
    for b, s, n, k in T.grid(1, 3, 50, 96):
        with T.block("C"):
            vb, vs, vn, vk = T.axis.remap("SSSR", [b, s, n, k])
            with T.init():
                C[vb, vs, vn] = T.float32(0)
            C[vb, vs, vn] = C[vb, vs, vn] + X[vb, vs, vk] * W[vn, vk]
    for b, s, n in T.grid(1, 3, 50):
        with T.block("D"):
            vb, vs, vn = T.axis.remap("SSS", [b, s, n])
            D[vb, vs, vn] = T.max(C[vb, vs, vn] + B[vn], T.float32(0))
    for b, s, n in T.grid(1, 3, 50):
        with T.block("Y"):
            vb, vs, vn = T.axis.remap("SSS", [b, s, n])
            Y[vb, vs, vn] = D[vb, vs, vn] + R[vb, vs, vn]
"#;
    let shapes: &[&[&[usize]]] = &[&[&[1, 3, 96], &[50, 96], &[50], &[1, 3, 50], &[1, 3, 50]]];
    check(text, &["gemv"], 96, shapes);
}

#[test]
fn batched_matmul() {
    let text = matmul(
        "b, m, n, k = T.int64(), T.int64(), T.int64(), T.int64()",
        ["b, m, k", "b, k, n", "b, m, n"],
        "b, m, n, k",
        "vb, vi, vk",
        "vb, vk, vj",
    );
    let shapes: &[&[&[usize]]] = &[
        &[&[3, 16, 24], &[3, 24, 40], &[3, 16, 40]],
        &[&[2, 7, 5], &[2, 5, 3], &[2, 7, 3]],
    ];
    check(&text, &["matmul"], 24, shapes);
}

#[test]
fn elementwise_in_vectors() {
    let text = r#"
@T.prim_func
def f(x: T.handle, b: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    Y = T.match_buffer(y, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.max(X[vi, vj] * B[vi, vj], B[0, 0])
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1], &[1, 1]],
        &[&[3, 7], &[3, 7], &[3, 7]],
        &[&[31, 67], &[31, 67], &[31, 67]],
        &[&[257, 256], &[257, 256], &[257, 256]],
    ];
    check(text, &["elementwise"], 1, shapes);
    check_as(None, text, &["elementwise"], 1, true, shapes);
}

#[test]
fn transposes_through_tiles() {
    let text = r#"
@T.prim_func
def f(x: T.handle, z: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Z = T.match_buffer(z, (m, n), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi] * Z[vi, vj]
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1, 1], &[1, 1]],
        &[&[3, 70], &[70, 3], &[70, 3]],
        &[&[33, 31], &[31, 33], &[31, 33]],
        &[&[64, 96], &[96, 64], &[96, 64]],
        &[&[0, 5], &[5, 0], &[5, 0]],
    ];
    check_as(
        Some(GpuClass::Nvidia),
        text,
        &["transpose"],
        1,
        false,
        shapes,
    );
    let heads = r#"
@T.prim_func
def f(X: T.Buffer((2, 40, 3, 32), "float32"), Y: T.Buffer((2, 3, 32, 40), "float32")):
    for b, h, d, s in T.grid(2, 3, 32, 40):
        with T.block("Y"):
            vb, vh, vd, vs = T.axis.remap("SSSS", [b, h, d, s])
            Y[vb, vh, vd, vs] = X[vb, vs, vh, vd]
"#;
    let shapes: &[&[&[usize]]] = &[&[&[2, 40, 3, 32], &[2, 3, 32, 40]]];
    check(heads, &["transpose"], 1, shapes);
}

#[test]
fn sums_of_columns() {
    let text = r#"
@T.prim_func
def f(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, m), "float32")
    Y = T.match_buffer(y, (m,), "float32")
    for i, k in T.grid(m, n):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vk, vi]
"#;
    let shapes: &[&[&[usize]]] = &[
        &[&[1, 1], &[1]],
        &[&[7, 33], &[33]],
        &[&[100, 70], &[70]],
        &[&[0, 5], &[5]],
    ];
    check_as(
        Some(GpuClass::Nvidia),
        text,
        &["columns"],
        100,
        false,
        shapes,
    );
    let largest = r#"
@T.prim_func
def f(X: T.Buffer((3, 50, 40), "float32"), Y: T.Buffer((3, 40), "float32")):
    for b, i, k in T.grid(3, 40, 50):
        with T.block("Y"):
            vb, vi, vk = T.axis.remap("SSR", [b, i, k])
            with T.init():
                Y[vb, vi] = T.float32(-3.0e38)
            Y[vb, vi] = T.max(Y[vb, vi], X[vb, vk, vi])
"#;
    check(largest, &["columns"], 50, &[&[&[3, 50, 40], &[3, 40]]]);
}

/// Few results of many terms, which workgroups take in parts.
#[test]
fn sums_of_columns_in_parts() {
    for (rows, columns) in [(1000, 1000), (1024, 16), (1155, 37), (1009, 40), (256, 33)] {
        let text = format!(
            r#"
@T.prim_func
def f(X: T.Buffer(({rows}, {columns}), "float32"), Y: T.Buffer(({columns},), "float32")):
    for i, k in T.grid({columns}, {rows}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vk, vi]
"#
        );
        check(
            &text,
            &["columns"],
            rows,
            &[&[&[rows, columns], &[columns]]],
        );
    }
    let planes = r#"
@T.prim_func
def f(X: T.Buffer((2, 20, 50, 40), "float32"), Y: T.Buffer((2, 40), "float32")):
    for b, i, k, l in T.grid(2, 40, 20, 50):
        with T.block("Y"):
            vb, vi, vk, vl = T.axis.remap("SSRR", [b, i, k, l])
            with T.init():
                Y[vb, vi] = T.float32(-3.0e38)
            Y[vb, vi] = T.max(Y[vb, vi], X[vb, vk, vl, vi])
"#;
    check(planes, &["columns"], 50, &[&[&[2, 20, 50, 40], &[2, 40]]]);
}

/// A convolution in `NCHW` as graphs have it: its image is padded by a block of its own, and a bias and a bound follow.
struct Convolution {
    batch: &'static str,
    channels: usize,
    size: [usize; 2],
    filters: usize,
    taps: usize,
    stride: usize,
    dilation: usize,
    pad: usize,
}

impl Convolution {
    fn text(&self) -> String {
        let Self {
            batch,
            channels: c,
            size: [h, w],
            filters: o,
            taps: r,
            stride: s,
            dilation: d,
            pad: p,
        } = self;
        let [ph, pw] = [h + 2 * p, w + 2 * p];
        let [oh, ow] = self.result();
        let dims = match *batch {
            "n" => "n = T.int64()",
            _ => "",
        };
        format!(
            r#"
@T.prim_func
def f(px: T.handle, W: T.Buffer(({o}, {c}, {r}, {r}), "float32"), B: T.Buffer(({o},), "float32"), py: T.handle):
    {dims}
    X = T.match_buffer(px, ({batch}, {c}, {h}, {w}), "float32")
    Y = T.match_buffer(py, ({batch}, {o}, {oh}, {ow}), "float32")
    P = T.alloc_buffer(({batch}, {c}, {ph}, {pw}), "float32")
    C = T.alloc_buffer(({batch}, {o}, {oh}, {ow}), "float32")
    for n, c, y, x in T.grid({batch}, T.int64({c}), T.int64({ph}), T.int64({pw})):
        with T.block("P"):
            vn, vc, vy, vx = T.axis.remap("SSSS", [n, c, y, x])
            P[vn, vc, vy, vx] = T.if_then_else({p} <= vy and vy < {h} + {p} and {p} <= vx and vx < {w} + {p}, X[vn, vc, vy - {p}, vx - {p}], T.float32(0))
    for n, o, y, x, c, r, s in T.grid({batch}, T.int64({o}), T.int64({oh}), T.int64({ow}), T.int64({c}), T.int64({r}), T.int64({r})):
        with T.block("C"):
            vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
            with T.init():
                C[vn, vo, vy, vx] = T.float32(0)
            C[vn, vo, vy, vx] = C[vn, vo, vy, vx] + P[vn, vc, vy * {s} + vr * {d}, vx * {s} + vs * {d}] * W[vo, vc, vr, vs]
    for n, o, y, x in T.grid({batch}, T.int64({o}), T.int64({oh}), T.int64({ow})):
        with T.block("Y"):
            vn, vo, vy, vx = T.axis.remap("SSSS", [n, o, y, x])
            Y[vn, vo, vy, vx] = T.max(C[vn, vo, vy, vx] + B[vo], T.float32(0))
"#
        )
    }

    fn result(&self) -> [usize; 2] {
        let reach = (self.taps - 1) * self.dilation;
        self.size
            .map(|size| (size + 2 * self.pad - reach - 1) / self.stride + 1)
    }

    fn check(&self, classes: &[GpuClass], batches: &[usize]) {
        let Self {
            channels,
            size: [h, w],
            filters,
            taps,
            ..
        } = *self;
        let [oh, ow] = self.result();
        for &n in batches {
            let shapes: &[&[usize]] = &[
                &[n, channels, h, w],
                &[filters, channels, taps, taps],
                &[filters],
                &[n, filters, oh, ow],
            ];
            let terms = channels * taps * taps;
            for class in classes {
                let rules = &["implicit_gemm"];
                check_as(Some(*class), &self.text(), rules, terms, false, &[shapes]);
            }
        }
    }
}

#[test]
fn convolutions_through_shared_memory() {
    let plain = Convolution {
        batch: "T.int64(1)",
        channels: 8,
        size: [9, 13],
        filters: 16,
        taps: 3,
        stride: 1,
        dilation: 1,
        pad: 1,
    };
    plain.check(&FEW_CLASSES, &[1]);
    let others = [
        Convolution {
            stride: 2,
            channels: 11,
            filters: 19,
            ..plain
        },
        Convolution {
            dilation: 2,
            pad: 2,
            ..plain
        },
        Convolution {
            taps: 5,
            stride: 2,
            pad: 2,
            channels: 3,
            ..plain
        },
        Convolution {
            taps: 1,
            pad: 0,
            channels: 70,
            ..plain
        },
        Convolution {
            taps: 1,
            pad: 0,
            channels: 64,
            stride: 2,
            ..plain
        },
    ];
    for other in others {
        other.check(&[GpuClass::Nvidia], &[1]);
    }
    let three = Convolution {
        pad: 0,
        batch: "T.int64(3)",
        ..plain
    };
    three.check(&[GpuClass::Intel], &[3]);
}

#[test]
fn a_convolution_of_large_tiles() {
    let large = Convolution {
        batch: "T.int64(1)",
        channels: 8,
        size: [40, 33],
        filters: 64,
        taps: 3,
        stride: 1,
        dilation: 1,
        pad: 1,
    };
    large.check(&[GpuClass::Apple], &[1]);
}

#[test]
fn convolutions_of_an_open_batch() {
    let open = Convolution {
        batch: "n",
        channels: 9,
        size: [7, 6],
        filters: 20,
        taps: 3,
        stride: 1,
        dilation: 1,
        pad: 1,
    };
    open.check(&FEW_CLASSES, &[1, 5]);
    Convolution { stride: 2, ..open }.check(&FEW_CLASSES, &[3]);
}

#[test]
fn convolutions_of_channels_that_come_last() {
    for (weights, index) in [
        ("3, 3, 12, 20", "vr, vs, vc, vo"),
        ("20, 3, 3, 12", "vo, vr, vs, vc"),
    ] {
        let text = format!(
            r#"
@T.prim_func
def f(X: T.Buffer((2, 9, 7, 12), "float32"), W: T.Buffer(({weights}), "float32"), Y: T.Buffer((2, 5, 4, 20), "float32")):
    P = T.alloc_buffer((2, 11, 9, 12), "float32")
    for n, y, x, c in T.grid(2, 11, 9, 12):
        with T.block("P"):
            vn, vy, vx, vc = T.axis.remap("SSSS", [n, y, x, c])
            P[vn, vy, vx, vc] = T.if_then_else(1 <= vy and vy < 10 and 1 <= vx and vx < 8, X[vn, vy - 1, vx - 1, vc], T.float32(0))
    for n, y, x, o, r, s, c in T.grid(2, 5, 4, 20, 3, 3, 12):
        with T.block("Y"):
            vn, vy, vx, vo, vr, vs, vc = T.axis.remap("SSSSRRR", [n, y, x, o, r, s, c])
            with T.init():
                Y[vn, vy, vx, vo] = T.float32(0)
            Y[vn, vy, vx, vo] = Y[vn, vy, vx, vo] + P[vn, vy * 2 + vr, vx * 2 + vs, vc] * W[{index}]
"#
        );
        let weights: Vec<usize> = weights
            .split(", ")
            .map(|n| n.parse().expect("a number"))
            .collect();
        let shapes: &[&[usize]] = &[&[2, 9, 7, 12], &weights, &[2, 5, 4, 20]];
        for class in FEW_CLASSES {
            check_as(
                Some(class),
                &text,
                &["implicit_gemm"],
                108,
                false,
                &[shapes],
            );
        }
    }
}

#[test]
fn long_sums_of_few_results_in_slices() {
    // Tiles, and few rows.
    for (m, rule) in [(33, "matmul"), (2, "gemv")] {
        let (a, c) = (format!("{m}, 2048"), format!("{m}, 40"));
        let grid = format!("{m}, 40, 2048");
        for (shape, weights, index) in [
            ("2048, 40", [2048, 40], "vk, vj"),
            ("40, 2048", [40, 2048], "vj, vk"),
        ] {
            let text = matmul("", [&a, shape, &c], &grid, "vi, vk", index);
            let shapes: &[&[usize]] = &[&[m, 2048], &weights, &[m, 40]];
            for class in FEW_CLASSES {
                check_as(Some(class), &text, &[rule], 2048, false, &[shapes]);
            }
        }
    }
    let deep = Convolution {
        batch: "T.int64(1)",
        channels: 256,
        size: [5, 5],
        filters: 24,
        taps: 3,
        stride: 1,
        dilation: 1,
        pad: 1,
    };
    deep.check(&FEW_CLASSES, &[1]);
}
