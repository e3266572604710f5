//! Primitives that make blocks of blocks, take reductions apart, and lay buffers out anew: results compute the same in the
//! interpreter, replay from their traces, and run on each device.

use serde_json::Value;
use weftile::interp::{run_prim_func, same_results};
use weftile::ir::{Lambda, PrimFunc, alpha_eq};
use weftile::sched::{Schedule, Steps, TensorIntrin, TensorIntrins, Trace};
use weftile::script;
use weftile::tensor::Tensor;

use crate::runs;

const MATMUL: &str = r#"
@T.prim_func
def matmul(A: T.Buffer((8, 12), "float32"), B: T.Buffer((12, 10), "float32"), C: T.Buffer((8, 10), "float32")):
    for i, j, k in T.grid(8, 10, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;

const POOL: &str = r#"
@T.prim_func
def pool(X: T.Buffer((4, 12), "float32"), Y: T.Buffer((4, 10), "float32")):
    S = T.alloc_buffer((4, 10), "float32")
    for c, x, r in T.grid(4, 10, 3):
        with T.block("S"):
            vc, vx, vr = T.axis.remap("SSR", [c, x, r])
            with T.init():
                S[vc, vx] = T.float32(0)
            S[vc, vx] = S[vc, vx] + X[vc, vx + vr]
    for c, x in T.grid(4, 10):
        with T.block("Y"):
            vc, vx = T.axis.remap("SS", [c, x])
            Y[vc, vx] = S[vc, vx] * T.float32(0.5)
"#;

const PAIR: &str = r#"
@T.prim_func
def pair(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
    B = T.alloc_buffer((8, 12), "float32")
    for i, j in T.grid(8, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(8, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
"#;

const SYMBOLIC: &str = r#"
@T.prim_func
def symbolic(a: T.handle, b: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, k in T.grid(n, m):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"#;

const THREADS: &str = r#"
@T.prim_func
def threads(A: T.Buffer((8, 32), "float32"), C: T.Buffer((8, 32), "float32")):
    B = T.alloc_buffer((8, 32), "float32")
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for j in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for j in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, 31 - vj] + T.float32(1)
"#;

/// Programs and steps that are accepted.
const ACCEPTED: &[(&str, &str)] = &[
    (MATMUL, r#"["blockize", ["C", 2]]"#),
    (
        MATMUL,
        r#"["split", ["C", 0], [null, 4]]
           ["split", ["C", 3], [null, 3]]
           ["reorder", [{"r": [0, 0]}, {"r": [1, 0]}, {"r": [0, 1]}, ["C", 2], {"r": [1, 1]}]]
           ["blockize", {"r": [0, 1]}]
           ["blockize", {"r": [1, 0]}]"#,
    ),
    (
        MATMUL,
        r#"["split", ["C", 2], [null, 5]]
           ["blockize", {"r": [0, 0]}]
           ["decompose_reduction", "C_o", ["C_o", 1]]"#,
    ),
    (
        MATMUL,
        r#"["blockize", ["C", 1]]
           ["cache_write", "C_o", 0, "local"]
           ["cache_read", "C_o", 0, "shared"]"#,
    ),
    (POOL, r#"["blockize", ["Y", 0]]"#),
    (PAIR, r#"["blockize", {"blocks": ["B", "C"]}]"#),
    (
        PAIR,
        r#"["compute_at", "B", ["C", 0]]
           ["blockize", {"blocks": ["B", "C"]}]"#,
    ),
    (MATMUL, r#"["rfactor", ["C", 2], 0]"#),
    (
        MATMUL,
        r#"["split", ["C", 2], [null, 4]]
           ["rfactor", {"r": [0, 1]}, -1]
           ["parallel", ["C_rf", 0]]"#,
    ),
    (
        MATMUL,
        r#"["split", ["C", 2], [null, 5]]
           ["rfactor", {"r": [0, 1]}, -1]"#,
    ),
    (
        MATMUL,
        r#"["split", ["C", 0], [null, 3]]
           ["split", ["C", 3], [4, null]]
           ["rfactor", {"r": [1, 0]}, 1]
           ["rfactor", ["C", 3], 0]"#,
    ),
    (SYMBOLIC, r#"["rfactor", ["C", 1], 1]"#),
    (SYMBOLIC, r#"["blockize", ["C", 1]]"#),
    (POOL, r#"["reindex", "S", "read", 0]"#),
    (POOL, r#"["reindex", "S", "write", 0]"#),
    (MATMUL, r#"["reindex", "C", "read", 1]"#),
    (
        POOL,
        r#"["transform_layout", "S", "write", 0, {"in": ["i", "j"], "out": ["i // 2", "j // 5", "i % 2", "j % 5"]}]"#,
    ),
    (
        POOL,
        r#"["transform_layout", "S", "write", 0, {"in": ["i", "j"], "out": ["i", "j // 4", "j % 4"]}, 1.5]"#,
    ),
    (
        POOL,
        r#"["parallel", ["S", 0]]
           ["transform_layout", "Y", "read", 0, {"in": ["i", "j"], "out": ["j // 4", "j % 4", "i"]}, 1.5]"#,
    ),
    (
        POOL,
        r#"["blockize", ["S", 1]]
           ["transform_layout", "S", "write", 0, {"in": ["i", "j"], "out": ["i * 10 + j"]}]"#,
    ),
    (
        POOL,
        r#"["transform_layout", "S", "write", 0, {"in": ["i", "j"], "out": ["j", "i // 3", "i % 3"]}, null, true]"#,
    ),
    (THREADS, r#"["set_scope", "B", 0, "shared"]"#),
    (POOL, r#"["set_scope", "S", 0, "local"]"#),
];

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

fn scheduled(before: &PrimFunc, steps: &str) -> Schedule {
    let mut schedule = Schedule::new(before.clone());
    let mut applied = Steps::new(&mut schedule);
    for line in steps.lines() {
        let step: Value = serde_json::from_str(line).expect("a step in JSON");
        if let Err(error) = applied.apply_json(&step) {
            panic!("{}: {line}: {error}", before.name);
        }
    }
    schedule
}

#[test]
fn accepted_steps_keep_the_meaning_and_replay() {
    for (program, steps) in ACCEPTED {
        let before = parse(program);
        let schedule = scheduled(&before, steps);
        let after = schedule.func();
        let verified = weftile::ir::verify::prim_func(after);
        let text = script::print_prim_func(after).text;
        assert!(verified.is_ok(), "{verified:?}\n{text}");
        for seed in 1..4 {
            let same = same_results(&before, after, seed);
            assert!(same.is_ok(), "{same:?}\n{steps}\n{text}");
        }
        let trace = schedule.trace().to_json_lines();
        let again =
            Trace::replay(&trace, before.clone()).unwrap_or_else(|e| panic!("{e}\n{trace}"));
        assert_eq!(alpha_eq::prim_func(after, again.func()), Ok(()), "{trace}");
        let printed = script::parse("test", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (_, printed) = printed.prim_funcs().next().expect("one loop program");
        assert_eq!(alpha_eq::prim_func(after, printed), Ok(()), "{text}");
    }
}

#[test]
fn accepted_steps_run_on_each_device() {
    let programs = ACCEPTED
        .iter()
        .map(|(program, steps)| scheduled(&parse(program), steps).into_func());
    assert_eq!(runs::all_agree(programs), ACCEPTED.len());
}

/// A map of two indices, in Rust.
type Place = fn(usize, usize) -> Vec<usize>;

#[test]
fn a_parameter_in_another_layout_is_read_where_the_map_says() {
    let maps: [(&str, Place); 3] = [
        ("lambda i, j: (j, i)", |i, j| vec![j, i]),
        ("lambda i, j: (i // 3, j, i % 3)", |i, j| {
            vec![i / 3, j, i % 3]
        }),
        ("lambda i, j: (i * 12 + j,)", |i, j| vec![i * 12 + j]),
    ];
    let before = parse(MATMUL);
    for (text, place) in maps {
        let map: Lambda = script::parse_lambda(text).expect("a map");
        let mut schedule = Schedule::new(before.clone());
        let block = schedule.get_block("C").expect("it is there");
        let pad = weftile::ir::Expr::float(0.0, weftile::tensor::DType::F32);
        schedule
            .transform_layout(
                block,
                weftile::sched::BufferAccess::Read,
                0,
                &map,
                Some(&pad),
                Default::default(),
            )
            .unwrap_or_else(|e| panic!("{text}: {e}"));
        let numbers = |count: usize, seed: usize| -> Vec<f32> {
            (0..count)
                .map(|i| ((i * 7 + seed) % 13) as f32 - 6.0)
                .collect()
        };
        let (a, b) = (numbers(96, 1), numbers(120, 5));
        let after = schedule.func();
        let shape = after.buffer_params().next().expect("A is there").shape();
        let shape: Vec<usize> = shape
            .iter()
            .map(|e| e.as_int().expect("a constant extent") as usize)
            .collect();
        let mut laid_out = vec![0.0; shape.iter().product()];
        for (i, row) in a.chunks(12).enumerate() {
            for (j, &element) in row.iter().enumerate() {
                let at = place(i, j);
                let flat = at.iter().zip(&shape).fold(0, |flat, (at, n)| flat * n + at);
                laid_out[flat] = element;
            }
        }
        let tensor =
            |shape: &[usize], numbers: &[f32]| Tensor::from_slice(shape, numbers).expect("fits");
        let out = vec![0.0; 80];
        let mut want = [
            tensor(&[8, 12], &a),
            tensor(&[12, 10], &b),
            tensor(&[8, 10], &out),
        ];
        let mut have = [
            tensor(&shape, &laid_out),
            tensor(&[12, 10], &b),
            tensor(&[8, 10], &out),
        ];
        run_prim_func(&before, &mut want).expect("it runs");
        run_prim_func(after, &mut have).expect("it runs");
        assert_eq!(want[2].bytes(), have[2].bytes(), "{text}");
    }
}

const MMA: &str = r#"
@T.prim_func
def mma_description(A: T.Buffer((4, 3), "float32"), B: T.Buffer((3, 5), "float32"), C: T.Buffer((4, 5), "float32")):
    for i, j, k in T.grid(4, 5, 3):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

@T.prim_func
def mma_implementation(a: T.handle, b: T.handle, c: T.handle):
    sa, sb, sc = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (4, 3), "float32", strides=[sa, 1], offset_factor=1)
    B = T.match_buffer(b, (3, 5), "float32", strides=[sb, 1], offset_factor=1)
    C = T.match_buffer(c, (4, 5), "float32", strides=[sc, 1], offset_factor=1)
    for k, i, j in T.grid(3, 4, 5):
        with T.block("rank_one"):
            vk, vi, vj = T.axis.remap("RSS", [k, i, j])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;

#[test]
fn a_tensorized_matmul_computes_the_same_on_each_device() {
    let module = script::parse("mma", MMA).expect("two loop programs");
    let part = |name: &str| module.prim_func(name).expect("it is there").clone();
    let (description, implementation) = (part("mma_description"), part("mma_implementation"));
    let intrin = TensorIntrin::new("mma", description, implementation).expect("same parameters");
    let mut intrins = TensorIntrins::default();
    intrins.register(intrin);
    let before = parse(MATMUL);
    let mut schedule = Schedule::with_intrins(before.clone(), intrins.clone());
    let steps = r#"["split", ["C", 0], [null, 4]]
                   ["split", ["C", 2], [null, 5]]
                   ["split", ["C", 4], [null, 3]]
                   ["reorder", [{"r": [0, 0]}, {"r": [1, 0]}, {"r": [2, 0]}, {"r": [0, 1]}, {"r": [1, 1]}, {"r": [2, 1]}]]
                   ["decompose_reduction", "C", {"r": [2, 0]}]
                   ["tensorize", {"r": [0, 1]}, "mma"]"#;
    let mut applied = Steps::new(&mut schedule);
    for line in steps.lines() {
        let step: Value = serde_json::from_str(line).expect("a step in JSON");
        applied
            .apply_json(&step)
            .unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    let after = schedule.func();
    let verified = weftile::ir::verify::prim_func(after);
    assert!(verified.is_ok(), "{verified:?}");
    assert!(script::print_prim_func(after).text.contains("rank_one"));
    let same = same_results(&before, after, 5);
    assert!(same.is_ok(), "{same:?}");
    assert_eq!(runs::all_agree([after.clone()].into_iter()), 1);
    let trace = schedule.trace().to_json_lines();
    assert!(
        Trace::replay(&trace, before.clone()).is_err(),
        "it knows no intrinsic"
    );
    let again = Trace::replay_on(&trace, Schedule::with_intrins(before, intrins));
    let again = again.unwrap_or_else(|e| panic!("{e}\n{trace}"));
    assert_eq!(alpha_eq::prim_func(after, again.func()), Ok(()), "{trace}");
}
