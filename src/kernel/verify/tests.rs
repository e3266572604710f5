//! Kernels that break one rule each.

use crate::kernel::{
    Access, Array, ArrayTile, BufferRef, Expr, ForKind, Fragment, FragmentOp, HostExpr, Kernel,
    Launch, LoweredFunc, ParamInfo, Role, Shuffle, Space, Stmt, Ty, VarId, VarInfo,
};
use crate::support::{Arena, Id};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// `for i in 0..n: Y[i] = X[i] + 1.0`
fn add_one() -> LoweredFunc {
    let array = |name: &str, buffer, access| Array {
        name: name.into(),
        dtype: ScalarType::F32,
        len: HostExpr::Dim(0),
        space: Space::Global { buffer, access },
        vector: 1,
    };
    let param = |name: &str, written| ParamInfo {
        name: name.into(),
        dtype: ScalarType::F32,
        shape: vec![HostExpr::Dim(0)],
        written,
    };
    let mut arrays = Arena::new();
    let x = arrays.push(array("X", BufferRef::Param(0), Access::Read));
    let y = arrays.push(array("Y", BufferRef::Param(1), Access::Write));
    let var = |name: &str| VarInfo {
        name: name.into(),
        ty: Ty::scalar(ScalarType::I64),
    };
    let mut vars = Arena::new();
    let (n, i) = (vars.push(var("n")), vars.push(var("i")));
    let load = Expr::Load {
        array: x,
        index: Expr::Var(i).into(),
        lanes: 1,
        active: None,
    };
    let value = Expr::Binary(
        BinOp::Add,
        load.into(),
        Expr::Float(1.0, ScalarType::F32).into(),
    );
    let body = vec![Stmt::Store {
        array: y,
        index: Expr::Var(i),
        value,
        active: None,
    }];
    let body = vec![Stmt::For {
        var: i,
        min: Expr::Int(0, ScalarType::I64),
        extent: Expr::Var(n),
        kind: ForKind::Serial,
        body,
    }];
    let kernel = Kernel {
        name: "add_one".into(),
        comment: String::new(),
        arrays,
        vars,
        fragments: Arena::new(),
        scalars: vec![(n, HostExpr::Dim(0))],
        launch: None,
        body,
        in_bounds: true,
        flops: HostExpr::Const(0),
        bytes: HostExpr::Const(0),
    };
    LoweredFunc {
        name: "add_one".into(),
        dims: vec!["n".into()],
        params: vec![param("X", false), param("Y", true)],
        scalar_params: vec![],
        temps: vec![],
        kernels: vec![kernel],
        requires: vec![],
        asserts: vec![],
    }
}

/// What is said of the function with its kernel changed.
fn refused(change: impl FnOnce(&mut Kernel)) -> String {
    let mut func = add_one();
    change(&mut func.kernels[0]);
    let error = func.verify().expect_err("a rule is broken");
    error.to_string()
}

/// What is said of the kernel with another value stored.
fn refused_value(value: Expr) -> String {
    refused(|kernel| {
        let Stmt::For { body, .. } = &mut kernel.body[0] else {
            panic!("a loop");
        };
        let Stmt::Store { value: old, .. } = &mut body[0] else {
            panic!("a store");
        };
        *old = value;
    })
}

fn float(value: f64) -> Expr {
    Expr::Float(value, ScalarType::F32)
}

fn int(value: i64) -> Expr {
    Expr::Int(value, ScalarType::I64)
}

#[test]
fn what_keeps_the_rules_is_taken() {
    add_one().verify().expect("no rule is broken");
}

#[test]
fn values_have_the_types_of_their_places() {
    let cases = [
        (int(1), "an element is int64, not float32"),
        (
            Expr::Binary(BinOp::Add, float(1.0).into(), int(1).into()),
            "the right operand is int64, not float32",
        ),
        (
            Expr::Select(int(1).into(), float(1.0).into(), float(2.0).into()),
            "the condition of a select is int64, not bool",
        ),
        (
            Expr::Not(float(1.0).into()),
            "an operand of `not` is float32, not bool",
        ),
        (
            Expr::Call(Intrin::Exp, vec![float(1.0), float(1.0)]),
            "2 arguments for `exp`",
        ),
        (Expr::Lane(float(1.0).into(), 1), "lane 1 of float32"),
        (Expr::Pack(vec![]), "a vector without lanes"),
        (Expr::Splat(float(1.0).into(), 0), "a vector of 0 lanes"),
        (
            Expr::Bits(ScalarType::F32, int(1).into()),
            "bits of int64 as float32",
        ),
        (
            Expr::Float(1.0, ScalarType::I32),
            "a constant of another kind of int32",
        ),
        (Expr::ThreadIdx(0), "a thread in a kernel without a launch"),
        (Expr::Var(VarId::from_index(7)), "v7 does not exist"),
        (
            Expr::Shuffle(Shuffle::First, float(1.0).into()),
            "a shuffle in a kernel without a launch",
        ),
    ];
    for (value, message) in cases {
        assert_eq!(refused_value(value), format!("kernel `add_one`: {message}"));
    }
}

#[test]
fn variables_are_defined_where_they_are_used() {
    let i = VarId::from_index(1);
    let after = refused(|kernel| {
        let store = Stmt::Let(i, Expr::Var(i));
        kernel.body.push(store);
    });
    assert_eq!(after, "kernel `add_one`: `i` is not defined");
    let twice = refused(|kernel| {
        let inner = kernel.body.clone();
        let Stmt::For { body, .. } = &mut kernel.body[0] else {
            panic!("a loop");
        };
        *body = inner;
    });
    assert_eq!(twice, "kernel `add_one`: `i` is defined twice");
}

#[test]
fn only_what_may_be_written_is() {
    let x = |kernel: &mut Kernel| {
        let id = kernel.arrays.iter().next().map(|(id, _)| id);
        id.expect("two arrays")
    };
    let read = refused(|kernel| {
        let x = x(kernel);
        kernel.body.push(Stmt::Store {
            array: x,
            index: int(0),
            value: float(0.0),
            active: None,
        });
    });
    assert_eq!(read, "kernel `add_one`: `X` is written and only read");
    let other = refused(|kernel| {
        let x = x(kernel);
        kernel.arrays[x].dtype = ScalarType::I32;
    });
    assert_eq!(other, "kernel `add_one`: `X` is int32, parameter 0 float32");
}

fn launched(grid: HostExpr) -> Option<Launch> {
    let one = || HostExpr::Const(1);
    Some(Launch {
        grid: [grid, one(), one()],
        block: [1, 1, 1],
        times: one(),
    })
}

#[test]
fn launches_name_dims_that_there_are() {
    let message = refused(|kernel| kernel.launch = launched(HostExpr::Dim(3)));
    assert_eq!(message, "kernel `add_one`: dim 3 of 1");
}

#[test]
fn threads_shuffle_words_over_powers_of_two() {
    let cases = [
        (Shuffle::First, int(1), "a shuffle of int64"),
        (Shuffle::Down(3), float(1.0), "a shuffle of threads 3 apart"),
        (
            Shuffle::Down(128),
            float(1.0),
            "a shuffle of threads 128 apart",
        ),
    ];
    for (from, value, message) in cases {
        let refused = refused(|kernel| {
            kernel.launch = launched(HostExpr::Const(1));
            let Stmt::For { body, .. } = &mut kernel.body[0] else {
                panic!("a loop");
            };
            let Stmt::Store { value: stored, .. } = &mut body[0] else {
                panic!("a store");
            };
            *stored = Expr::Shuffle(from, value.into());
        });
        assert_eq!(refused, format!("kernel `add_one`: {message}"));
    }
}

/// A kernel of two subgroups, each of which multiplies a tile with itself: all operations on fragments.
fn with_fragments() -> Kernel {
    let mut func = add_one();
    let mut kernel = func.kernels.remove(0);
    let (mut arrays, mut vars, mut fragments) = (Arena::new(), Arena::new(), Arena::new());
    let mut shared = |name: &str, dtype, len| {
        arrays.push(Array {
            name: name.into(),
            dtype,
            len: HostExpr::Const(len),
            space: Space::Shared,
            vector: 1,
        })
    };
    // Rows of 16 elements, 24 apart; 32 rows.
    let operand = shared("operand", ScalarType::F16, 31 * 24 + 16);
    let sums = shared("sums", ScalarType::F32, 2 * 256);
    let mut fragment = |name: &str, role, dtype| {
        fragments.push(Fragment {
            name: name.into(),
            role,
            extent: 16,
            dtype,
        })
    };
    let a = fragment("a", Role::A, ScalarType::F16);
    let b = fragment("b", Role::B, ScalarType::F16);
    let c = fragment("c", Role::C, ScalarType::F32);
    let subgroup = |by: i64| {
        let (y, by) = (Expr::ThreadIdx(1), Expr::Int(by, ScalarType::I32));
        Expr::Binary(BinOp::Mul, y.into(), by.into())
    };
    let tile = |array, index, stride| ArrayTile {
        array,
        index,
        stride,
    };
    let step = vars.push(VarInfo {
        name: "step".into(),
        ty: Ty::scalar(ScalarType::I32),
    });
    let steps = vec![
        FragmentOp::Load(a, tile(operand, subgroup(16 * 24), 24)),
        FragmentOp::Load(b, tile(operand, subgroup(16 * 24), 24)),
        FragmentOp::MultiplyAdd { sum: c, a, b },
    ];
    kernel.body = vec![
        Stmt::Fragment(FragmentOp::Clear(c)),
        Stmt::For {
            var: step,
            min: Expr::Int(0, ScalarType::I32),
            extent: Expr::Int(4, ScalarType::I32),
            kind: ForKind::Serial,
            body: steps.into_iter().map(Stmt::Fragment).collect(),
        },
        Stmt::Fragment(FragmentOp::Store(c, tile(sums, subgroup(256), 16))),
    ];
    kernel.launch = Some(Launch {
        grid: [const { HostExpr::Const(1) }; 3],
        block: [32, 2, 1],
        times: HostExpr::Const(1),
    });
    (kernel.arrays, kernel.vars, kernel.fragments) = (arrays, vars, fragments);
    kernel.scalars.clear();
    kernel
}

/// What is said of the kernel with its last operation, the store, changed.
fn refused_store(change: impl FnOnce(&mut ArrayTile)) -> String {
    refused(|kernel| {
        *kernel = with_fragments();
        let Some(Stmt::Fragment(FragmentOp::Store(_, tile))) = kernel.body.last_mut() else {
            panic!("a store of a fragment");
        };
        change(tile);
    })
}

fn says(refusal: &str, problem: &str) {
    assert!(refusal.ends_with(problem), "{refusal}");
}

#[test]
fn operations_on_fragments() {
    let mut func = add_one();
    func.kernels = vec![with_fragments()];
    func.verify().expect("keeps the rules");
}

#[test]
fn tiles_of_memory() {
    let int = |value| Expr::Int(value, ScalarType::I32);
    says(
        &refused_store(|tile| tile.index = int(264)),
        "a tile of `sums` is not shown to be inside",
    );
    says(
        &refused_store(|tile| tile.index = int(-4)),
        "a tile of `sums` is not shown to be inside",
    );
    says(
        &refused_store(|tile| tile.index = int(2)),
        "a tile of `sums` that begins at no multiple of 4",
    );
    says(
        &refused_store(|tile| tile.stride = 17),
        "a tile of `sums` with rows 17 apart",
    );
    says(
        &refused_store(|tile| tile.stride = 12),
        "a tile of `sums` with rows 12 apart",
    );
    let operand = with_fragments().arrays.iter().next().expect("is there").0;
    says(
        &refused_store(|tile| tile.array = operand),
        "a tile of `operand`, which is float16, as float32",
    );
    let global = refused(|kernel| {
        *kernel = with_fragments();
        let ids: Vec<_> = kernel.arrays.iter().map(|(id, _)| id).collect();
        kernel.arrays[ids[1]].space = Space::Local;
    });
    says(&global, "a tile of `sums`, which is not shared");
}

#[test]
fn roles_of_fragments() {
    let swapped = refused(|kernel| {
        *kernel = with_fragments();
        let Stmt::For { body, .. } = &mut kernel.body[1] else {
            panic!("a loop");
        };
        let Stmt::Fragment(FragmentOp::MultiplyAdd { sum: _, a, b }) = &mut body[2] else {
            panic!("a product");
        };
        std::mem::swap(a, b);
    });
    says(&swapped, "`b` is a tile of matrix B, not A");
    let types = refused(|kernel| {
        *kernel = with_fragments();
        let ids: Vec<_> = kernel.fragments.iter().map(|(id, _)| id).collect();
        for id in ids {
            kernel.fragments[id].dtype = ScalarType::F16;
        }
        kernel.body.remove(0);
        let Stmt::For { body, .. } = &mut kernel.body[0] else {
            panic!("a loop");
        };
        body.drain(..2);
    });
    says(
        &types,
        "fragments of float16 and float16 with sums in float16",
    );
}

/// The kernel with another extent of the fragment with this number.
fn with_extent(number: usize, extent: u32) -> String {
    refused(|kernel| {
        *kernel = with_fragments();
        let ids: Vec<_> = kernel.fragments.iter().map(|(id, _)| id).collect();
        kernel.fragments[ids[number]].extent = extent;
    })
}

#[test]
fn extents_of_fragments() {
    let differ = "a product of fragments of [8, 16, 16] rows";
    says(&with_extent(0, 8), differ);
    says(&with_extent(2, 12), "`c` is a tile of 12 x 12");
    let mut func = add_one();
    let mut kernel = with_fragments();
    let ids: Vec<_> = kernel.fragments.iter().map(|(id, _)| id).collect();
    ids.iter().for_each(|id| kernel.fragments[*id].extent = 8);
    func.kernels = vec![kernel];
    func.verify().expect("smaller tiles are inside, too");
}

#[test]
fn places_of_operations_on_fragments() {
    let threads = refused(|kernel| {
        *kernel = with_fragments();
        kernel.launch.as_mut().expect("is launched").block = [64, 1, 1];
    });
    says(
        &threads,
        "fragments of 32 threads where a workgroup has 64 in x",
    );
    let divergent = refused(|kernel| {
        *kernel = with_fragments();
        let first = Expr::Binary(
            BinOp::Lt,
            Expr::ThreadIdx(1).into(),
            Expr::Int(1, ScalarType::I32).into(),
        );
        kernel.body = vec![Stmt::If {
            cond: first,
            then: std::mem::take(&mut kernel.body),
            otherwise: vec![],
        }];
    });
    says(
        &divergent,
        "not all threads come by an operation on fragments",
    );
}
