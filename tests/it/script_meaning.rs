//! TVMScript in the interpreter: what programs mean whose text alone does not show it.

use std::collections::HashMap;

use weftile::interp::{InterpError, Value, call_prim_func, run_module, run_prim_func};
use weftile::ir::verify;
use weftile::script;
use weftile::tensor::Tensor;
use weftile::tensor::scalar::Scalar;

/// Verifies and runs the only loop program of a text on tensors.
fn run(text: &str, tensors: &mut [Tensor]) -> Result<(), InterpError> {
    let module = script::parse("meaning.py", text).expect("it parses");
    let (_, func) = module.prim_funcs().next().expect("a loop program");
    verify::prim_func(func).expect("it is well formed");
    run_prim_func(func, tensors)
}

/// What the verifier says of the only loop program of a text.
fn verified(text: &str) -> Vec<String> {
    let module = script::parse("meaning.py", text).expect("it parses");
    let (_, func) = module.prim_funcs().next().expect("a loop program");
    let errors = verify::prim_func(func).err().unwrap_or_default();
    errors.iter().map(|e| e.kind.to_string()).collect()
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(&[values.len()], values).expect("as many as the shape says")
}

#[test]
fn variables_hold_vectors() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    v = A[0:4]
    B[0:4] = T.Let(v + w, where={w: A[0:4] * 10.0})
"#;
    let mut tensors = [floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.0; 4])];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[1].as_slice::<f32>().expect("f32");
    assert_eq!(b, [11.0, 22.0, 33.0, 44.0]);
}

#[test]
fn ramps_wrap_as_their_type_does() {
    let text = r#"
@T.prim_func
def main(B: T.Buffer((2,), "int32")):
    B[0:2] = T.Ramp(2147483647, 1, 2)
"#;
    let mut tensors = [Tensor::from_slice(&[2], &[0i32; 2]).expect("two")];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[0].as_slice::<i32>().expect("i32");
    assert_eq!(b, [i32::MAX, i32::MIN]);
}

#[test]
fn what_is_assumed_holds() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        T.assume(A[i] < T.float32(3))
        B[i] = A[i]
"#;
    let mut tensors = [floats(&[1.0, 2.0, 2.5, 0.0]), floats(&[0.0; 4])];
    run(text, &mut tensors).expect("it holds");
    let mut tensors = [floats(&[1.0, 2.0, 3.0, 0.0]), floats(&[0.0; 4])];
    let error = run(text, &mut tensors).expect_err("3 < 3");
    assert_eq!(
        error.to_string(),
        "`A[i] < T.float32(3)` is assumed and does not hold\n  in `main`"
    );
}

#[test]
fn a_condition_of_one_lane_guards_all_lanes() {
    for guard in ["T.if_then_else", "T.Select"] {
        for value in [
            format!("{guard}(i > 0, A[i * 2 - 2:i * 2 - 2 + 2], T.float32x2(0))"),
            format!("T.Broadcast({guard}(i > 0, A[i * 4 - 4], 0.0), 2)"),
        ] {
            let text = format!(
                r#"
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(2):
        B[i * 2:i * 2 + 2] = {value}
"#
            );
            let mut tensors = [floats(&[1.0, 1.0, 3.0, 4.0]), floats(&[7.0; 4])];
            run(&text, &mut tensors).expect("what is not chosen is not read");
            let b = tensors[1].as_slice::<f32>().expect("f32");
            assert_eq!(b, [0.0, 0.0, 1.0, 1.0], "{value}");
        }
    }
}

#[test]
fn views_are_found_through_views() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            n = T.int32()
            V = T.match_buffer(A[vi, 2:7], (n,), "float32")
            W = T.match_buffer(V[1:3], (2,), "float32")
            B[vi] = W[1] * 100.0 + V[n - 1]
"#;
    let a: Vec<f32> = (0u8..32).map(f32::from).collect();
    let a = Tensor::from_slice(&[4, 8], &a).expect("32");
    let mut tensors = [a, floats(&[0.0; 4])];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[1].as_slice::<f32>().expect("f32");
    assert_eq!(b, [406.0, 1214.0, 2022.0, 2830.0]);
}

#[test]
fn views_end_where_their_regions_do() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            V = T.match_buffer(A[2:5], (3,), "float32")
            B[vi] = T.if_then_else(A[vi] == T.float32(0), V[vi], T.float32(0))
"#;
    let error = run(text, &mut [floats(&[0.0; 8]), floats(&[0.0; 4])]).expect_err("V[3]");
    assert_eq!(
        error.to_string(),
        "index 3 is out of range for dimension 0 of `V`, which has extent 3\n  in block `B` of `main`, vi = 3"
    );
}

#[test]
fn views_have_the_shape_of_their_regions() {
    let view = |view: &str| {
        verified(&format!(
            r#"
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.reads(A[0:4, 0:8])
            T.writes(B[vi])
            V = T.match_buffer({view})
            B[vi] = 1.0
"#
        ))
    };
    assert_eq!(view(r#"A[vi, 0:8], (8,), "float32""#), [""; 0]);
    assert_eq!(view(r#"A[vi, vi:vi + 2], (1, 2), "float32""#), [""; 0]);
    assert_eq!(
        view(r#"A[vi, 0:8], (1, 1, 8), "float32""#),
        [
            "view `V` has 3 dimensions, which are not those of its region of `A` without leading extents of 1"
        ]
    );
    assert_eq!(
        view(r#"A[0:2, 0:8], (8,), "float32""#),
        [
            "view `V` has 1 dimensions, which are not those of its region of `A` without leading extents of 1"
        ]
    );
    assert_eq!(
        view(r#"A[vi, 0:8], (4,), "float32""#),
        ["dimension 0 of view `V` is not shown to have the extent of its region of `A`"]
    );
    assert_eq!(
        view(r#"A[vi, 0:8], (8,), "int32""#),
        ["view `V` is of another type or scope than `A`"]
    );
}

#[test]
fn layouts_get_their_values_from_the_memory() {
    let text = r#"
@T.prim_func
def main(a: T.handle, b: T.handle):
    s = T.int64()
    at = T.int32()
    A = T.match_buffer(a, (4, 8), "float32", strides=(s, 1), elem_offset=at)
    B = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            u = T.int64()
            o = T.int32()
            V = T.match_buffer(A[vi, 2:7], (5,), "float32", strides=(u,), elem_offset=o)
            B[vi] = V[0] + T.Cast("float32", s * 1000 + u * 100) + T.Cast("float32", at + o)
"#;
    let a: Vec<f32> = (0u8..32).map(f32::from).collect();
    let a = Tensor::from_slice(&[4, 8], &a).expect("32");
    let mut tensors = [a, floats(&[0.0; 4])];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[1].as_slice::<f32>().expect("f32");
    assert_eq!(b, [8104.0, 8120.0, 8136.0, 8152.0]);
    for (layout, message) in [
        (
            text.replace("(s, 1)", "(16, 1)"),
            "`A` has the stride or offset 16 in the program, but here it is 8",
        ),
        (
            text.replace("elem_offset=at", "elem_offset=5"),
            "`A` has the stride or offset 5 in the program, but here it is 0",
        ),
        (
            text.replace("(u,)", "(2,)"),
            "`V` has the stride or offset 2 in the program, but here it is 1",
        ),
    ] {
        let layout = layout.replace("T.Cast(\"float32\", s * 1000 + u * 100)", "1.0");
        let layout = layout.replace("T.Cast(\"float32\", at + o)", "1.0");
        let error = run(&layout, &mut tensors).expect_err("tensors are dense");
        assert_eq!(error.root().to_string(), message);
    }
}

#[test]
fn memory_that_there_is_not_is_an_error() {
    let text = r#"
@T.prim_func
def main(B: T.Buffer((1,), "float32")):
    t = T.alloc_buffer((1073741824, 1073741824), "float32")
    B[0] = 1.0
"#;
    let error = run(text, &mut [floats(&[0.0])]).expect_err("2^60 elements");
    assert!(matches!(error.root(), InterpError::Allocation { .. }));
}

#[test]
fn scalars_are_of_their_type_and_value() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int8"), v: R.Prim(value="n")):
        return x
"#;
    let module = script::parse("meaning.py", text).expect("it parses");
    let run = |k: Scalar, v: i64| {
        let x = Value::Tensor(floats(&[1.0, 2.0]));
        let args = [x, Value::Scalar(k), Value::Scalar(Scalar::Int(v))];
        run_module(&module, "main", &args, &HashMap::new()).map(|_| ())
    };
    assert_eq!(run(Scalar::Int(-128), 2), Ok(()));
    for k in [Scalar::Int(128), Scalar::Float(1.0)] {
        assert!(matches!(run(k, 2), Err(InterpError::WrongKind { .. })));
    }
    assert_eq!(
        run(Scalar::Int(0), 3).expect_err("n is 2").to_string(),
        "`v` of `main`: expected 2, got 3"
    );
}

/// As TVM prints adaptive pools: the end of the axis is 1 where its extent is meant.
#[test]
fn an_axis_of_one_iteration_that_ends_at_one() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            for k in range(vi + 1):
                with T.block("sum"):
                    v = T.axis.spatial((vi, vi + (1 - vi)), vi)
                    vk = T.axis.reduce(vi + 1, k)
                    with T.init():
                        B[v] = T.float32(0)
                    B[v] = B[v] + A[vk]
"#;
    let mut tensors = [floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.0; 4])];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[1].as_slice::<f32>().expect("f32");
    assert_eq!(b, [1.0, 3.0, 6.0, 10.0]);
    let beyond = text.replace("(vi, vi + (1 - vi))", "(vi, vi + (2 - vi))");
    run(&beyond, &mut tensors).expect_err("the domain ends before its start");
}

#[test]
fn jumps_end_loops_iterations_and_the_function() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")) -> T.int32:
    for i in range(8):
        if A[i] == 0:
            continue
        if A[i] < 0:
            break
        k: T.int32 = A[i] * 2
        while True:
            B[i] = B[i] + k
            if B[i] > 10:
                break
        if B[i] == 14:
            return i
    return 0 - 1
"#;
    let module = script::parse("meaning.py", text).expect("it parses");
    let (_, func) = module.prim_funcs().next().expect("a loop program");
    verify::prim_func(func).expect("it is well formed");
    let run = |a: [i32; 8]| {
        let a = Tensor::from_slice(&[8], &a).expect("eight");
        let b = Tensor::from_slice(&[8], &[0i32; 8]).expect("eight");
        let mut tensors = [a, b];
        let result = call_prim_func(func, &mut tensors, &[]).expect("it runs");
        let b = tensors[1].as_slice::<i32>().expect("i32").to_vec();
        (result.map(Scalar::as_int), b)
    };
    // 3: 6 and 12; 0 is skipped; 7 gives 14, which is the end.
    assert_eq!(run([3, 0, 7, 1, 1, 1, 1, 1]).0, Some(2));
    let (result, b) = run([2, 0, 3, -1, 1, 1, 1, 1]);
    assert_eq!(result, Some(-1));
    assert_eq!(b, [12, 0, 12, 0, 0, 0, 0, 0]);
}

#[test]
fn views_share_the_memory_of_their_buffer() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((2, 4), "float32")):
    flat = A.view(8)
    odd = T.decl_buffer((4,), data=A.data, strides=(2,), elem_offset=1)
    for i in range(4):
        odd[i] = flat[2 * i] * 10.0
"#;
    let a = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0f32];
    let mut tensors = [Tensor::from_slice(&[2, 4], &a).expect("eight")];
    run(text, &mut tensors).expect("it runs");
    let a = tensors[0].as_slice::<f32>().expect("f32");
    assert_eq!(a, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]);
    let past = text.replace("elem_offset=1", "elem_offset=2");
    let error = run(&past, &mut tensors).expect_err("the last element lies behind the memory");
    assert!(matches!(
        error.root(),
        InterpError::OutOfRange { index: 8, .. }
    ));
}

#[test]
fn a_view_of_another_type_has_whole_elements() {
    let view = |extent: &str, dtype: &str| {
        format!(
            r#"
@T.prim_func
def main(A: T.Buffer((2, {extent}), "float32")):
    bits = A.view("{dtype}")
    bits[0, 0] = T.Cast("{dtype}", 1)
"#
        )
    };
    script::parse("views.py", &view("6", "int64")).expect("three of them");
    for (extent, dtype) in [("5", "int64"), ("2305843009213693952", "int8")] {
        let errors = script::parse("views.py", &view(extent, dtype));
        let message = errors.expect_err("no whole number of elements").to_string();
        assert!(message.contains("no whole number"), "{message}");
        assert!(message.contains("views.py:4"), "{message}");
    }
}

#[test]
fn bits_and_short_forms_of_arithmetic() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((6,), "float32"), B: T.Buffer((4,), "int32")):
    B[0] = T.Cast("int32", T.reinterpret("uint32", A[0]) >> T.uint32(23))
    A[1] = T.copysign(A[0], T.float32(-0.0))
    A[2] = T.hypot(T.float32(3), T.float32(4))
    A[3] = T.fmod(T.float32(-7), T.float32(4))
    A[4] = T.ldexp(T.float32(3), 4)
    B[1] = T.q_multiply_shift(B[3], 1073741824, 31, -1)
    B[2] = T.q_multiply_shift_per_axis(B[3], 1073741824, 2, 1, 31, T.bool(True), T.bool(False))
    for i in range(5, 6, 3):
        A[i] = T.Cast("float32", i)
"#;
    let b = Tensor::from_slice(&[4], &[0, 0, 0, 7i32]).expect("four");
    let mut tensors = [floats(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), b];
    run(text, &mut tensors).expect("it runs");
    let a = tensors[0].as_slice::<f32>().expect("f32");
    assert_eq!(a, [1.0, -1.0, 5.0, -3.0, 48.0, 5.0]);
    let b = tensors[1].as_slice::<i32>().expect("i32");
    // The exponent of 1.0; 7 / 2 / 2 and 7 * 4 / 2, rounded.
    assert_eq!(b, [127, 2, 14, 7]);
}

#[test]
fn what_lies_beyond_the_program_is_refused_by_its_name() {
    for (call, what) in [
        ("T.call_extern(\"int32\", \"f\", 1)", "`T.call_extern`"),
        ("A.data", "the address of `A`"),
    ] {
        let text = format!(
            "@T.prim_func\ndef main(A: T.Buffer((1,), \"float32\")):\n    T.evaluate({call})\n"
        );
        let error = run(&text, &mut [floats(&[0.0])]).expect_err("it cannot run");
        assert_eq!(error.to_string(), format!("cannot run {what}\n  in `main`"));
    }
}

#[test]
fn a_result_and_its_type_belong_together() {
    let text = "@T.prim_func\ndef main(A: T.Buffer((1,), \"float32\")) -> T.int32:\n    return\n";
    assert_eq!(verified(text), ["the function returns int32, here nothing"]);
}

#[test]
fn small_elements_are_rounded_and_wrap() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float8_e4m3fn"), C: T.Buffer((6,), "int4")):
    for i in range(6):
        B[i] = T.Cast("float8_e4m3fn", A[i])
        C[i] = T.Cast("int4", i * 5) + T.int4(1)
    for i in range(6):
        A[i] = T.Cast("float32", B[i] + T.float8_e4m3fn(0.1)) + T.Cast("float32", C[i])
"#;
    let small = |name: &str| Tensor::zeros(name.parse().expect("a type"), &[6]).expect("small");
    let a = floats(&[1.0, 0.3, -17.0, 448.0, 1000.0, 0.0]);
    let mut tensors = [a, small("float8_e4m3fn"), small("int4")];
    run(text, &mut tensors).expect("it runs");
    assert_eq!(tensors[1].bytes(), [0x38, 0x2a, 0xd8, 0x7e, 0x7f, 0x00]);
    assert_eq!(tensors[2].bytes(), [1, 6, 0xfb, 0, 5, 0xfa]);
    let a = tensors[0].as_slice::<f32>().expect("f32");
    // As `ml_dtypes` computes them: 0.1 is 0.1015625, and every sum is rounded.
    assert_eq!(a[..4], [2.125, 6.40625, -21.0, 448.0]);
    assert!(a[4].is_nan());
    assert_eq!(a[5], -5.898_437_5);
}

#[test]
fn what_only_the_hardware_knows_is_refused_by_its_name() {
    let vector = "A[0:T.vscale() * 4] = T.Broadcast(T.float32(1), T.vscale() * 4)";
    for (statement, what) in [
        (
            vector,
            "a vector of type float32xvscalex4, whose length the hardware chooses",
        ),
        ("bx = T.cta_id([4])\n    A[bx] = T.float32(1)", "`T.cta_id`"),
    ] {
        let text =
            format!("@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\")):\n    {statement}\n");
        let error = run(&text, &mut [floats(&[0.0; 64])]).expect_err("it cannot run");
        assert_eq!(error.to_string(), format!("cannot run {what}\n  in `main`"));
    }
}

#[test]
fn a_scalar_that_is_assigned_again_is_memory() {
    let text = r#"
@T.prim_func
def main(B: T.Buffer((4,), "int32")):
    i: T.int32 = 0
    last: T.int32 = 3
    while i < last:
        B[i] = i
        i = i + 1
    for k in range(2):
        i += 10
    B[3] = i
"#;
    let mut tensors = [Tensor::from_slice(&[4], &[7i32; 4]).expect("four")];
    run(text, &mut tensors).expect("it runs");
    let b = tensors[0].as_slice::<i32>().expect("i32");
    assert_eq!(b, [0, 1, 2, 23]);
}

#[test]
fn a_view_whose_offset_has_a_factor_knows_its_offset() {
    let text = r#"
@T.prim_func
def main(A: T.Buffer((4, 4), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.writes(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2])
            B = T.match_buffer(A[vi * 2:vi * 2 + 2, vj * 2:vj * 2 + 2], (2, 2), "int32", offset_factor=1)
            for y, x in T.grid(2, 2):
                B[y, x] = B.elem_offset
"#;
    let mut tensors = [Tensor::from_slice(&[4, 4], &[7i32; 16]).expect("sixteen")];
    run(text, &mut tensors).expect("it runs");
    let a = tensors[0].as_slice::<i32>().expect("i32");
    assert_eq!(a, [0, 0, 2, 2, 0, 0, 2, 2, 8, 8, 10, 10, 8, 8, 10, 10]);
}
