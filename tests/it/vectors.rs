//! Vectors that a program writes out: every device computes what the interpreter does.

use weftile::ir::PrimFunc;
use weftile::script;

use crate::runs;

/// What programs do with `A: float32[16]`, `B: int8[16]`, `Y: float32[16]` and `Z: int32[16]`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "each lane by itself",
        r#"
    for i in range(4):
        Y[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4] * T.Broadcast(T.float32(2), 4) + Y[i * 4:i * 4 + 4]"#,
    ),
    (
        "lanes that read what other lanes write",
        r#"
    Y[0:8] = Y[1:9]
    Y[T.Ramp(15, -1, 8)] = Y[T.Ramp(8, 1, 8)]"#,
    ),
    (
        "a vector with a name, whose elements change",
        r#"
    with T.LetStmt(Y[0:8] + A[0:8]) as x:
        Y[0:8] = T.Broadcast(T.float32(1), 8)
        Y[4:12] = x"#,
    ),
    (
        "strides, conditions and functions",
        r#"
    Y[T.Ramp(0, 2, 8)] = T.Select(A[0:8] > T.Broadcast(T.float32(0), 8), T.sqrt(A[0:8] * A[0:8]), T.Broadcast(A[3], 8))
    Z[T.Ramp(0, 1, 4)] = T.Cast("int32x4", A[4:8]) + T.Ramp(5, 3, 4)"#,
    ),
    (
        "the bits of floats",
        r#"
    for i in range(2):
        Z[i * 8:i * 8 + 8] = T.reinterpret("int32x8", A[i * 8:i * 8 + 8])"#,
    ),
    (
        "the bits of many narrow lanes as a few wide ones, and back",
        r#"
    Z[0:4] = T.reinterpret("int32x4", B[0:16])
    Z[4] = T.reinterpret("int32", B[4:8])
    Z[8:16] = T.Cast("int32x8", T.reinterpret("int8x8", T.reinterpret("int16x4", A[0:2])))"#,
    ),
];

fn parse(body: &str) -> PrimFunc {
    let params = [
        ("A", "float32"),
        ("B", "int8"),
        ("Y", "float32"),
        ("Z", "int32"),
    ];
    let params = params.map(|(name, dtype)| format!("{name}: T.Buffer((16,), \"{dtype}\")"));
    let text = format!("@T.prim_func\ndef f({}):{body}\n", params.join(", "));
    let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    module.prim_func("f").expect("is there").clone()
}

#[test]
fn vectors_mean_the_same_on_every_device() {
    let programs = PROGRAMS.iter().map(|(_, body)| parse(body));
    assert_eq!(
        runs::all_agree(programs),
        PROGRAMS.len(),
        "the interpreter runs all of them"
    );
}
