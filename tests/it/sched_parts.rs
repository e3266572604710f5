//! Primitives that cut loops into parts, merge nests, pad, and give blocks copies and types of their own: random sequences keep the
//! meaning and replay, and what comes of them runs on every device.

use arbitrary::Unstructured;
use serde_json::{Value, json};
use weftile::interp::same_results;
use weftile::ir::{PrimFunc, alpha_eq, verify};
use weftile::sched::{Schedule, Steps, Trace};
use weftile::script;

use crate::{generated, runs};

const MATMUL: &str = r#"
@T.prim_func
def matmul(A: T.Buffer((7, 12), "float32"), B: T.Buffer((12, 10), "float32"), b: T.Buffer((10,), "float32"), D: T.Buffer((7, 10), "float32")):
    C = T.alloc_buffer((7, 10), "float32")
    for i, j, k in T.grid(7, 10, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(7, 10):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] + b[vj]
"#;

const MAXIMUM: &str = r#"
@T.prim_func
def maximum(A: T.Buffer((6, 10), "float32"), D: T.Buffer((6, 10), "float32")):
    C = T.alloc_buffer((6,), "float32")
    for i, k in T.grid(6, 10):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.min_value("float32")
            C[vi] = T.max(C[vi], A[vi, vk])
    for i, j in T.grid(6, 10):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] - C[vi]
"#;

const STENCIL: &str = r#"
@T.prim_func
def stencil(A: T.Buffer((16,), "float32"), D: T.Buffer((16,), "float32")):
    C = T.alloc_buffer((18,), "float32")
    for i in range(18):
        with T.block("C"):
            vi = T.axis.spatial(18, i)
            C[vi] = T.if_then_else(vi >= 1 and vi < 17, A[vi - 1], T.float32(0))
    for i in range(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = C[vi] + C[vi + 1] * T.float32(2) + C[vi + 2]
"#;

const IN_PLACE: &str = r#"
@T.prim_func
def in_place(A: T.Buffer((8, 6), "float32"), D: T.Buffer((8, 6), "float32")):
    for i, j in T.grid(8, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = D[vi, vj] + A[vi, vj]
    for i, j in T.grid(8, 6):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = D[vi, vj] * T.float32(2)
"#;

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

/// One step chosen by the bytes. What it names may not be there, and what it asks for may be refused.
fn random_step(
    u: &mut Unstructured<'_>,
    sch: &Schedule,
) -> arbitrary::Result<(&'static str, Value)> {
    let func = sch.func();
    let blocks = func.blocks_under(func.root.into());
    let name = |u: &mut Unstructured<'_>| -> arbitrary::Result<String> {
        let block = blocks[u.choose_index(blocks.len())?];
        Ok(func.blocks[block].name.clone())
    };
    let (block, other) = (name(u)?, name(u)?);
    let at = u.int_in_range(0..=2)?;
    let number = u.int_in_range(1..=8)?;
    let count = func
        .blocks_under(func.root.into())
        .iter()
        .find(|id| func.blocks[**id].name == block)
        .map_or(0, |id| func.blocks[*id].iters.len());
    let mut order: Vec<usize> = (0..count).collect();
    order.reverse();
    let paddings: Vec<i64> = vec![number; count];
    Ok(match u.int_in_range(0..=15)? {
        0 | 1 => ("loop_partition", json!([[block, at], [number, null]])),
        2 => ("loop_partition", json!([[block, at], [1, number]])),
        3 | 4 => ("merge", json!([[[block, at], [other, at]]])),
        5 => ("reorder_block_iter_var", json!([block, order])),
        6 | 7 => ("pad_einsum", json!([block, paddings])),
        8 => ("decompose_padding", json!([block, [block, at]])),
        9 => ("fuse_reduction_epilogue", json!([block, other])),
        10 => ("cache_inplace", json!([block, at, "local"])),
        11 => ("cache_index", json!([block, "global", 0])),
        12 => ("rolling_buffer", json!([block, 0])),
        13 => ("split", json!([[block, at], [null, number]])),
        14 => ("compute_at", json!([block, [other, at]])),
        _ => ("decompose_reduction", json!([block, [block, at]])),
    })
}

#[test]
fn random_primitives_keep_the_meaning_and_replay() {
    for program in [MATMUL, MAXIMUM, STENCIL, IN_PLACE] {
        let before = parse(program);
        generated::holds(150, |u| {
            let mut sch = Schedule::new(before.clone());
            for _ in 0..u.int_in_range(1..=6)? {
                let (name, args) = random_step(u, &sch)?;
                // Whatever is refused must leave the function as it was; that is checked by what follows.
                let _: Result<_, _> = sch.apply_step(name, &args);
            }
            let trace = sch.trace().to_json_lines();
            let same = same_results(&before, sch.func(), 3);
            assert!(same.is_ok(), "{same:?}\n{}", sch.trace());
            let verified = verify::prim_func(sch.func());
            assert!(verified.is_ok(), "{verified:?}\n{}", sch.trace());
            let again = Trace::replay(&trace, before.clone()).expect("an accepted trace replays");
            let same = alpha_eq::prim_func(sch.func(), again.func());
            assert_eq!(same, Ok(()), "{trace}");
            Ok(())
        });
    }
}

/// The program after these steps, which are all accepted.
fn scheduled(text: &str, steps: &[Value]) -> PrimFunc {
    let before = parse(text);
    let mut sch = Schedule::new(before.clone());
    let mut applied = Steps::new(&mut sch);
    for step in steps {
        let done = applied.apply_json(step);
        assert!(done.is_ok(), "{step}: {done:?}");
    }
    let same = same_results(&before, sch.func(), 5);
    assert!(same.is_ok(), "{same:?}\n{}", sch.trace());
    sch.into_func()
}

#[test]
fn what_comes_of_them_runs_on_every_device() {
    let programs = [
        scheduled(MATMUL, &[json!(["loop_partition", ["C", 0], [2, null, 1]])]),
        scheduled(
            MATMUL,
            &[
                json!(["merge", [["C", 0], ["D", 0]]]),
                json!(["reorder_block_iter_var", "C", [2, 1, 0]]),
            ],
        ),
        scheduled(
            MATMUL,
            &[
                json!(["pad_einsum", "C", [4, 8, 8]]),
                json!(["pad_einsum", "D", [4, 4]]),
            ],
        ),
        scheduled(MATMUL, &[json!(["fuse_reduction_epilogue", "C", "D"])]),
        scheduled(STENCIL, &[json!(["decompose_padding", "C", ["C", 0]])]),
        scheduled(
            STENCIL,
            &[
                json!(["split", ["D", 0], [null, 4]]),
                json!(["compute_at", "C", ["D", 0]]),
                json!(["rolling_buffer", "C", 0]),
            ],
        ),
        scheduled(STENCIL, &[json!(["cache_index", "D", "global", 0])]),
        scheduled(IN_PLACE, &[json!(["cache_inplace", "C", 0, "local"])]),
    ];
    let many = programs.len();
    assert_eq!(runs::all_agree(programs.into_iter()), many);
}

#[test]
fn another_type_rounds_what_is_stored() {
    let before = parse(MATMUL);
    let mut sch = Schedule::new(before.clone());
    let block = sch.get_block("C").expect("it is there");
    sch.unsafe_set_dtype(block, 0, "float64")
        .expect("C is allocated");
    let same = same_results(&before, sch.func(), 3);
    assert!(
        same.is_ok(),
        "more digits change nothing beyond rounding: {same:?}"
    );
    sch.unsafe_set_dtype(block, 0, "int32")
        .expect("C is allocated");
    assert!(
        same_results(&before, sch.func(), 3).is_err(),
        "no fractions are left"
    );
}

#[test]
fn hidden_accesses_are_not_seen() {
    let mut sch = Schedule::new(parse(MATMUL));
    let (c, d) = (sch.get_block("C"), sch.get_block("D"));
    let (c, d) = (c.expect("it is there"), d.expect("it is there"));
    assert_eq!(sch.get_producers(d).expect("it is alive"), [c]);
    sch.unsafe_hide_buffer_access(d, "read", &[0])
        .expect("it reads C");
    assert!(sch.get_producers(d).expect("it is alive").is_empty());
}
