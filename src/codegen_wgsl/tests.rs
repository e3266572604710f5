//! Kernels built by hand: whatever is emitted is valid, and SPIR-V tools agree where they are installed.

mod nan;

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use crate::kernel::*;
use crate::support::Arena;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

fn array(name: &str, dtype: ScalarType, space: Space, len: i64, vector: u16) -> Array {
    Array {
        name: name.into(),
        dtype,
        len: HostExpr::Const(len),
        space,
        vector,
    }
}

fn global(at: usize, access: Access) -> Space {
    Space::Global {
        buffer: BufferRef::Param(at),
        access,
    }
}

fn kernel(
    arrays: Vec<Array>,
    grid: [HostExpr; 3],
    build: impl FnOnce(&mut Kernel, &[ArrayId]) -> Vec<Stmt>,
) -> Kernel {
    let mut arena = Arena::new();
    let ids: Vec<_> = arrays.into_iter().map(|a| arena.push(a)).collect();
    let mut kernel = Kernel {
        name: "test".into(),
        comment: "test: block B".into(),
        arrays: arena,
        vars: Arena::new(),
        fragments: Arena::new(),
        scalars: vec![],
        launch: Some(Launch {
            grid,
            block: [8, 1, 1],
            times: HostExpr::Const(1),
        }),
        body: vec![],
        in_bounds: true,
        flops: HostExpr::Const(0),
        bytes: HostExpr::Const(0),
    };
    kernel.body = build(&mut kernel, &ids);
    kernel
}

fn one() -> [HostExpr; 3] {
    [HostExpr::Const(1), HostExpr::Const(1), HostExpr::Const(1)]
}

fn check(kernel: &Kernel, target: &GpuTarget) -> Shader {
    let wgsl = emit(kernel, target).unwrap_or_else(|e| panic!("{e}"));
    let words = spirv(&wgsl).unwrap_or_else(|e| panic!("{e}\n{}", wgsl.text));
    let Ok(mut tool) = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    else {
        return wgsl;
    };
    tool.stdin
        .take()
        .expect("piped")
        .write_all(bytemuck::cast_slice(&words))
        .expect("spirv-val reads");
    let output = tool.wait_with_output().expect("spirv-val ends");
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        wgsl.text
    );
    wgsl
}

fn int(v: i64) -> Expr {
    Expr::Int(v, ScalarType::I32)
}

fn load(array: ArrayId, index: Expr, lanes: u16) -> Expr {
    Expr::Load {
        array,
        index: Box::new(index),
        lanes,
        active: None,
    }
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

#[test]
fn every_operator_and_intrinsic_is_valid() {
    let ops = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Mod,
        BinOp::FloorDiv,
        BinOp::FloorMod,
        BinOp::Min,
        BinOp::Max,
        BinOp::Eq,
        BinOp::Ne,
        BinOp::Lt,
        BinOp::Le,
        BinOp::Gt,
        BinOp::Ge,
        BinOp::BitAnd,
        BinOp::BitOr,
        BinOp::BitXor,
        BinOp::Shl,
        BinOp::Shr,
    ];
    for dtype in ScalarType::ALL {
        if matches!(dtype, ScalarType::F64 | ScalarType::BF16) {
            continue;
        }
        let wide = dtype.is_int() && dtype.bytes() == 8;
        for lanes in if wide { vec![1] } else { vec![1, 4] } {
            let arrays = vec![
                array("A", dtype, global(0, Access::Read), 64, lanes),
                array("B", dtype, global(1, Access::Read), 64, lanes),
                array("C", dtype, global(2, Access::Write), 64, lanes),
            ];
            let kernel = kernel(arrays, one(), |kernel, ids| {
                let at = || binary(BinOp::Mul, Expr::ThreadIdx(0), int(lanes.into()));
                let (a, b) = (load(ids[0], at(), lanes), load(ids[1], at(), lanes));
                let mut values = Vec::new();
                for op in ops.into_iter().filter(|op| has_meaning(*op, dtype)) {
                    let value = binary(op, a.clone(), b.clone());
                    let nested = binary(op, value.clone(), b.clone());
                    values.push(if op.is_comparison() {
                        Expr::Select(Box::new(value), Box::new(a.clone()), Box::new(b.clone()))
                    } else {
                        nested
                    });
                }
                for intrin in Intrin::ALL {
                    let args = (0..intrin.arity()).map(|_| a.clone()).collect();
                    let call = Expr::Call(intrin, args);
                    if is_defined(intrin, dtype) {
                        values.push(if intrin.is_predicate() {
                            Expr::Select(Box::new(call), Box::new(a.clone()), Box::new(b.clone()))
                        } else {
                            call
                        });
                    }
                }
                let _ = kernel;
                values
                    .into_iter()
                    .map(|value| Stmt::Store {
                        array: ids[2],
                        index: at(),
                        value,
                        active: None,
                    })
                    .collect()
            });
            check(
                &kernel,
                &GpuTarget {
                    f16: true,
                    ..GpuTarget::default()
                },
            );
        }
    }
}

/// Whether the operator is defined for the type. Of `bool` only what the emitter writes without arithmetic.
fn has_meaning(op: BinOp, dtype: ScalarType) -> bool {
    let shift = matches!(op, BinOp::Shl | BinOp::Shr);
    match dtype {
        ScalarType::Bool => {
            let equality = matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Min | BinOp::Max);
            equality || is_bitwise(op) && !shift
        }
        _ => !dtype.is_float() || !is_bitwise(op),
    }
}

fn is_defined(intrin: Intrin, dtype: ScalarType) -> bool {
    if dtype == ScalarType::Bool || intrin == Intrin::QMultiplyShift {
        return false;
    }
    if intrin == Intrin::Dp4aU8S8 {
        return dtype == ScalarType::I32;
    }
    let of_bits = matches!(intrin, Intrin::Popcount | Intrin::Clz | Intrin::BitNot);
    let of_any = matches!(
        intrin,
        Intrin::Abs
            | Intrin::Fma
            | Intrin::Pow
            | Intrin::Floor
            | Intrin::Ceil
            | Intrin::Trunc
            | Intrin::Round
            | Intrin::IsNan
            | Intrin::IsInf
            | Intrin::IsFinite
    );
    of_any || of_bits != dtype.is_float()
}

#[test]
fn narrow_integers_wrap_in_every_operation() {
    let i8 = ScalarType::I8;
    for (intrin, wraps) in [(Intrin::Abs, 2), (Intrin::Fma, 4), (Intrin::Trunc, 1)] {
        let arrays = vec![
            array("A", ScalarType::I32, global(0, Access::Read), 64, 1),
            array("C", ScalarType::I32, global(1, Access::Write), 64, 1),
        ];
        let kernel = kernel(arrays, one(), |_, ids| {
            let cast = |to, e| Expr::Cast(Ty::scalar(to), Box::new(e));
            let narrow = || cast(i8, load(ids[0], int(0), 1));
            let args = (0..intrin.arity()).map(|_| narrow()).collect();
            vec![Stmt::Store {
                array: ids[1],
                index: int(0),
                value: cast(ScalarType::I32, Expr::Call(intrin, args)),
                active: None,
            }]
        });
        let text = check(&kernel, &GpuTarget::default()).text;
        assert_eq!(text.matches("<< 24u").count(), wraps, "{text}");
    }
}

fn is_bitwise(op: BinOp) -> bool {
    matches!(
        op,
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr
    )
}

#[test]
fn constants_and_casts_are_valid() {
    let floats = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        1e-40,
        f64::from(f32::MAX),
        16_777_216.0,
        1.5,
    ];
    let arrays = vec![array("C", ScalarType::F32, global(0, Access::Write), 64, 1)];
    let kernel = kernel(arrays, one(), |_, ids| {
        let float = |v| Expr::Float(v, ScalarType::F32);
        let cast = |to, e| Expr::Cast(Ty::scalar(to), Box::new(e));
        let mut values: Vec<_> = floats.into_iter().map(float).collect();
        for ty in [
            ScalarType::I8,
            ScalarType::U8,
            ScalarType::I16,
            ScalarType::I32,
            ScalarType::U32,
            ScalarType::Bool,
        ] {
            values.push(cast(
                ScalarType::F32,
                cast(ty, cast(ScalarType::F32, Expr::ThreadIdx(0))),
            ));
        }
        let flipped = Expr::Binary(
            BinOp::BitXor,
            Box::new(Expr::ThreadIdx(0)),
            Box::new(int(i32::MIN.into())),
        );
        values.push(cast(ScalarType::F32, flipped));
        let bits = |to, e| Expr::Bits(to, Box::new(e));
        let half = cast(ScalarType::F16, cast(ScalarType::F32, Expr::ThreadIdx(0)));
        for narrow in [ScalarType::I16, ScalarType::U16] {
            let half = bits(ScalarType::F16, bits(narrow, half.clone()));
            values.push(cast(ScalarType::F32, half));
        }
        values.push(bits(ScalarType::F32, Expr::ThreadIdx(0)));
        values
            .into_iter()
            .map(|value| Stmt::Store {
                array: ids[0],
                index: int(0),
                value,
                active: None,
            })
            .collect()
    });
    let target = GpuTarget {
        f16: true,
        ..GpuTarget::default()
    };
    let text = check(&kernel, &target).text;
    assert!(text.starts_with("enable f16;"), "{text}");
    assert!(
        text.contains("f32_from_bits(0x7fc00000u)") && text.contains("(-2147483647i - 1i)"),
        "{text}"
    );
}

#[test]
fn register_tiles_become_named_vectors() {
    let arrays = vec![
        array("A", ScalarType::F32, global(0, Access::Read), 64, 4),
        array("acc", ScalarType::F32, Space::Local, 8, 1),
        array("tile", ScalarType::F32, Space::Shared, 16, 4),
        array("C", ScalarType::F32, global(1, Access::Write), 64, 4),
    ];
    let build = |kernel: &mut Kernel, ids: &[ArrayId]| {
        let n = kernel.vars.push(VarInfo {
            name: "n".into(),
            ty: Ty::scalar(ScalarType::I32),
        });
        kernel.scalars.push((n, HostExpr::Dim(0)));
        let k = kernel.vars.push(VarInfo {
            name: "k".into(),
            ty: Ty::scalar(ScalarType::I32),
        });
        let at = |e| binary(BinOp::Mul, e, int(4));
        let update = Stmt::Store {
            array: ids[1],
            index: int(4),
            value: binary(
                BinOp::Add,
                load(ids[1], int(4), 4),
                load(ids[0], at(Expr::Var(k)), 4),
            ),
            active: None,
        };
        let last = Expr::Splat(
            Box::new(load(
                ids[2],
                binary(BinOp::Add, Expr::ThreadIdx(0), int(1)),
                1,
            )),
            4,
        );
        vec![
            Stmt::Store {
                array: ids[2],
                index: at(Expr::ThreadIdx(0)),
                value: load(ids[0], int(0), 4),
                active: None,
            },
            Stmt::Barrier,
            Stmt::For {
                var: k,
                min: int(0),
                extent: Expr::Var(n),
                kind: ForKind::Serial,
                body: vec![update],
            },
            Stmt::Store {
                array: ids[3],
                index: at(Expr::BlockIdx(0)),
                value: binary(BinOp::Mul, load(ids[1], int(4), 4), last),
                active: None,
            },
        ]
    };
    let kernel = kernel(
        arrays,
        [HostExpr::Dim(0), HostExpr::Const(1), HostExpr::Const(1)],
        build,
    );
    let uniform = check(&kernel, &GpuTarget::default());
    assert!(
        uniform.folded && uniform.passing == ScalarPassing::Uniform { binding: 2 },
        "{uniform:?}"
    );
    for part in [
        "var acc_1: vec4<f32>;",
        "acc_1 = acc_1 + A[k];",
        "tile[tx] = A[0];",
        "C[bx] =",
    ] {
        assert!(
            uniform.text.contains(part),
            "no `{part}` in\n{}",
            uniform.text
        );
    }
    let immediate = check(
        &kernel,
        &GpuTarget {
            immediate_bytes: 128,
            ..GpuTarget::default()
        },
    );
    assert_eq!(immediate.passing, ScalarPassing::Immediates);
}

#[test]
fn what_the_gpu_lacks_is_refused() {
    let store = |dtype| {
        let arrays = vec![array("C", dtype, global(0, Access::Write), 64, 1)];
        let kernel = kernel(arrays, one(), |_, ids| {
            vec![Stmt::Store {
                array: ids[0],
                index: int(0),
                value: Expr::Float(1.0, dtype),
                active: None,
            }]
        });
        emit(&kernel, &GpuTarget::default()).map(|w| w.text)
    };
    let error = store(ScalarType::F64).expect_err("no float64");
    assert!(
        error
            .to_string()
            .ends_with("has type float64, which the GPU does not support; use float32"),
        "{error}"
    );
}

/// A kernel whose name, array and variables are called so, and that calls many helpers.
fn named(word: &str) -> Kernel {
    let arrays = vec![
        array(word, ScalarType::F32, global(0, Access::ReadWrite), 64, 1),
        array(word, ScalarType::I64, global(1, Access::ReadWrite), 64, 1),
        array(word, ScalarType::I8, global(2, Access::Write), 64, 1),
        array(word, ScalarType::F32, Space::Local, 4, 1),
    ];
    let mut kernel = kernel(arrays, one(), |kernel, ids| {
        let mut var = |scalar| {
            kernel.vars.push(VarInfo {
                name: word.into(),
                ty: Ty::scalar(scalar),
            })
        };
        let (n, k, x, w) = (
            var(ScalarType::I32),
            var(ScalarType::I32),
            var(ScalarType::F32),
            var(ScalarType::I64),
        );
        kernel.scalars.push((n, HostExpr::Dim(0)));
        let store = |at: usize, value| Stmt::Store {
            array: ids[at],
            index: int(at as i64),
            value,
            active: None,
        };
        let floats = [
            Intrin::Erf,
            Intrin::Sinh,
            Intrin::Acosh,
            Intrin::Tan,
            Intrin::Exp10,
        ];
        let floats = floats.map(|f| store(0, Expr::Call(f, vec![Expr::Var(x)])));
        let pow = Expr::Call(Intrin::Pow, vec![Expr::Var(x), Expr::Var(x)]);
        let wide = |op| store(1, binary(op, Expr::Var(w), Expr::Var(w)));
        let mut body = vec![
            Stmt::Let(x, load(ids[0], int(0), 1)),
            Stmt::Let(w, load(ids[1], int(0), 1)),
            store(3, pow),
            store(0, load(ids[3], int(3), 1)),
            store(0, binary(BinOp::FloorMod, Expr::Var(x), Expr::Var(x))),
            store(
                2,
                Expr::Cast(Ty::scalar(ScalarType::I8), Box::new(Expr::Var(x))),
            ),
            wide(BinOp::FloorMod),
            wide(BinOp::Add),
            store(
                1,
                Expr::Cast(Ty::scalar(ScalarType::I64), Box::new(Expr::Var(k))),
            ),
        ];
        body.extend(floats);
        vec![Stmt::For {
            var: k,
            min: int(0),
            extent: binary(BinOp::FloorMod, Expr::Var(n), int(7)),
            kind: ForKind::Serial,
            body,
        }]
    });
    kernel.name = word.into();
    kernel
}

/// Kernels are named as their operators are, which are named as the functions of every library.
#[test]
fn programs_may_have_any_name() {
    use naga::keywords::wgsl::{BUILTIN_IDENTIFIERS, RESERVED};
    let helpers = helper::Helper::ALL.iter().map(|helper| helper.wanted());
    let own = [
        "Args",
        "args",
        "block_idx",
        "group",
        "bx",
        "tx",
        "t",
        "end",
        "main",
        "x",
        "half",
    ];
    let types = [
        "vec2f",
        "vec4u",
        "mat2x2f",
        "i64",
        "f64",
        "sampler",
        "immediate",
    ];
    let words = [RESERVED, BUILTIN_IDENTIFIERS, &own, &types]
        .into_iter()
        .flatten();
    for word in words.copied().chain(helpers) {
        let shader = emit(&named(word), &GpuTarget::default()).expect("emits");
        validate(&shader).unwrap_or_else(|e| panic!("{word}: {e}"));
    }
}
