//! Blocks and scopes, and what the analysis says of them.

use super::*;
use crate::arith::access_regions;
use crate::ir::{BlockId, PrimFunc};
use crate::script;

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

fn block(func: &PrimFunc, name: &str) -> BlockId {
    let all = func.blocks_under(func.root.into());
    all.into_iter()
        .find(|&id| func.blocks[id].name == name)
        .expect("the block is there")
}

const ROWS: &str = r#"
@T.prim_func
def rows(A: T.Buffer((12, 20), "float32"), S: T.Buffer((12,), "float32"), Y: T.Buffer((12, 20), "float32")):
    M = T.alloc_buffer((12,), "float32")
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for k in range(20):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.float32(-3.4028234663852886e38)
                M[vi] = T.max(A[vi, vk] * T.float32(2), M[vi])
        for j in range(20):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj] - S[vi] * M[vi]
"#;

#[test]
fn dependencies_are_found_by_buffer() {
    let func = parse(ROWS);
    let scope = BlockScope::of(&func, func.root.into());
    let [s, m, y] = ["S", "M", "Y"].map(|name| block(&func, name));
    assert_eq!(scope.blocks(), [s, m, y]);
    assert_eq!(scope.producers(y), [s, m]);
    assert_eq!(scope.consumers(s), [y]);
    assert!(scope.consumers(y).is_empty());
}

#[test]
fn broken_conditions_are_numbered_as_in_tvm() {
    let func = parse(ROWS);
    let root = func.root;
    let [s, y] = ["S", "Y"].map(|name| block(&func, name));
    assert_eq!(complete_block_violation(&func, s, root.into()), Some(1));
    assert_eq!(reduction_block_violation(&func, s, root.into()), None);
    assert_eq!(complete_block_violation(&func, y, root.into()), None);
    assert_eq!(reduction_block_violation(&func, y, root.into()), Some(1));
    assert!(is_output_block(&func, s, root));
    assert!(!is_output_block(&func, block(&func, "M"), root));
    let in_place = parse(
        r#"
@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi] + T.float32(1)
"#,
    );
    let a = block(&in_place, "A");
    let found = complete_block_violation(&in_place, a, in_place.root.into());
    assert_eq!(found, Some(3));
    let diagonal = parse(
        r#"
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, i)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"#,
    );
    let b = block(&diagonal, "B");
    let found = reduction_block_violation(&diagonal, b, diagonal.root.into());
    assert_eq!(found, Some(2));
}

#[test]
fn a_consumer_that_reads_too_much_breaks_the_pipeline() {
    let copy = |extent: i32| {
        parse(&format!(
            r#"
@T.prim_func
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range({extent}):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
"#
        ))
    };
    let whole = copy(8);
    assert!(check_stage_pipeline(&whole, whole.root).is_ok());
    let part = copy(7);
    let refusal = check_stage_pipeline(&part, part.root).expect_err("B[7] is not written");
    assert_eq!(
        refusal.reason.to_string(),
        "scope `root` is not a stage pipeline: `C` may read elements of `B` that its producers do not write before"
    );
}

#[test]
fn symbolic_producers_cover_symbolic_consumers() {
    let func = parse(
        r#"
@T.prim_func
def f(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    B = T.alloc_buffer((n,), "float32")
    for o, i in T.grid((n + T.int64(31)) // T.int64(32), T.int64(32)):
        with T.block("B"):
            vi = T.axis.spatial(n, o * T.int64(32) + i)
            T.where(o * T.int64(32) + i < n)
            B[vi] = A[vi]
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi]
"#,
    );
    let found = check_stage_pipeline(&func, func.root);
    assert!(found.is_ok(), "{found:?}");
}

#[test]
fn regions_hold_all_accesses_of_a_body() {
    let func = parse(
        r#"
@T.prim_func
def f(A: T.Buffer((20,), "float32"), I: T.Buffer((16,), "int32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[vi + 3] + A[vi + 1] + A[I[vi]]
"#,
    );
    let access = access_regions(&func, block(&func, "C"));
    let names: Vec<&str> = access.reads.iter().map(|r| r.buffer.name()).collect();
    assert_eq!(names, ["A", "I"]);
    let found = &access.writes[0].region[0];
    assert!(found.extent.is_one());
}
