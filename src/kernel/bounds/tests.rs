//! What is shown of kernels, and what must not be.

use crate::kernel::{
    Access, Array, ArrayId, BufferRef, Expr, ForKind, HostExpr, Kernel, Launch, Space, Stmt, Ty,
    VarId, VarInfo,
};
use crate::support::Arena;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

const I64: ScalarType = ScalarType::I64;

/// A kernel over `x`, which it reads, and `y`, which it writes, both of as many elements as dim 0 says.
struct Built {
    kernel: Kernel,
    x: ArrayId,
    y: ArrayId,
    n: VarId,
}

fn built() -> Built {
    let mut kernel = Kernel {
        name: "k".into(),
        comment: String::new(),
        arrays: Arena::new(),
        vars: Arena::new(),
        fragments: Arena::new(),
        scalars: vec![],
        launch: None,
        body: vec![],
        in_bounds: false,
        flops: HostExpr::Const(0),
        bytes: HostExpr::Const(0),
    };
    let mut array = |name: &str, at, access| {
        kernel.arrays.push(Array {
            name: name.into(),
            dtype: ScalarType::F32,
            len: HostExpr::Dim(0),
            space: Space::Global {
                buffer: BufferRef::Param(at),
                access,
            },
            vector: 1,
        })
    };
    let (x, y) = (array("x", 0, Access::Read), array("y", 1, Access::Write));
    let n = var(&mut kernel, "n");
    kernel.scalars.push((n, HostExpr::Dim(0)));
    Built { kernel, x, y, n }
}

fn var(kernel: &mut Kernel, name: &str) -> VarId {
    kernel.vars.push(VarInfo {
        name: name.into(),
        ty: Ty::scalar(I64),
    })
}

fn int(value: i64) -> Expr {
    Expr::Int(value, I64)
}

fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

impl Built {
    /// `y[index] = x[index]` under a loop of `extent` over the variable that `index` gets, and a condition if there is one.
    fn copy(
        mut self,
        extent: impl FnOnce(Expr) -> Expr,
        index: impl FnOnce(Expr, Expr) -> Expr,
        cond: Option<fn(Expr, Expr) -> Expr>,
        lanes: u16,
    ) -> Kernel {
        let i = var(&mut self.kernel, "i");
        let n = Expr::Var(self.n);
        let at = index(Expr::Var(i), n.clone());
        let store = Stmt::Store {
            array: self.y,
            index: at.clone(),
            value: Expr::Load {
                array: self.x,
                index: Box::new(at),
                lanes,
                active: None,
            },
            active: None,
        };
        let body = match cond {
            Some(cond) => vec![Stmt::If {
                cond: cond(Expr::Var(i), n.clone()),
                then: vec![store],
                otherwise: vec![],
            }],
            None => vec![store],
        };
        self.kernel.body.push(Stmt::For {
            var: i,
            min: int(0),
            extent: extent(n),
            kind: ForKind::Serial,
            body,
        });
        self.kernel
    }
}

#[test]
fn loops_bound_indices() {
    let same = |i: Expr, _: Expr| i;
    let kernel = built().copy(|n| n, same, None, 1);
    assert!(
        [0, 1, 7, 1 << 40]
            .iter()
            .all(|&n| kernel.stays_in_bounds(&[n]))
    );
    let kernel = built().copy(|n| n, same, None, 2);
    assert!(
        !kernel.stays_in_bounds(&[7]),
        "the last pair is half outside"
    );
    let kernel = built().copy(|n| bin(BinOp::Add, n, int(1)), same, None, 1);
    assert!(!kernel.stays_in_bounds(&[7]), "one too many");
    let kernel = built().copy(|n| n, |i, _| bin(BinOp::Sub, i, int(1)), None, 1);
    assert!(!kernel.stays_in_bounds(&[7]), "one before the first");
    let reversed = |i: Expr, n: Expr| bin(BinOp::Sub, bin(BinOp::Sub, n, int(1)), i);
    assert!(built().copy(|n| n, reversed, None, 1).stays_in_bounds(&[7]));
}

#[test]
fn active_lanes_alone_are_accessed() {
    // Vectors of four from `first` elements after each fourth one on, of which all up to `n + more` are active.
    let shown = |first: i64, more: i64| {
        let tiles = |n: Expr| bin(BinOp::FloorDiv, bin(BinOp::Add, n, int(3)), int(4));
        let start = move |i: Expr, _: Expr| bin(BinOp::Add, bin(BinOp::Mul, i, int(4)), int(first));
        let mut kernel = built().copy(tiles, start, None, 4);
        let (i, n) = match &kernel.body[0] {
            Stmt::For { var, .. } => (*var, kernel.scalars[0].0),
            _ => unreachable!("a loop was built"),
        };
        let at = start(Expr::Var(i), Expr::Var(n));
        let count = bin(BinOp::Add, bin(BinOp::Sub, Expr::Var(n), at), int(more));
        let Stmt::For { body, .. } = &mut kernel.body[0] else {
            unreachable!("a loop was built");
        };
        if let Stmt::Store {
            value: Expr::Load { active: read, .. },
            active,
            ..
        } = &mut body[0]
        {
            (*read, *active) = (Some(Box::new(count.clone())), Some(count));
        }
        [1, 4, 7].map(|n| kernel.stays_in_bounds(&[n]))
    };
    assert_eq!(shown(0, 0), [true; 3]);
    assert_eq!(shown(2, -1), [true; 3]);
    assert_eq!(shown(0, 1), [false, true, false], "one lane too many");
    assert_eq!(shown(-1, 0), [false; 3], "one before the first");
}

#[test]
fn conditions_bound_indices() {
    let tiles = |n: Expr| bin(BinOp::FloorDiv, bin(BinOp::Add, n, int(3)), int(4));
    let second = |i: Expr, _: Expr| bin(BinOp::Add, bin(BinOp::Mul, i, int(4)), int(1));
    let guard: fn(Expr, Expr) -> Expr = |i, n| {
        bin(
            BinOp::Lt,
            bin(BinOp::Add, bin(BinOp::Mul, i, int(4)), int(1)),
            n,
        )
    };
    let guarded = built().copy(tiles, second, Some(guard), 1);
    assert!((0..20).all(|n| guarded.stays_in_bounds(&[n])));
    let open = built().copy(tiles, second, None, 1);
    assert!(
        !open.stays_in_bounds(&[5]),
        "5 is the first that is not there"
    );
    assert!(open.stays_in_bounds(&[8]));
    let wrong: fn(Expr, Expr) -> Expr = |i, n| bin(BinOp::Le, bin(BinOp::Mul, i, int(4)), n);
    assert!(
        !built()
            .copy(tiles, second, Some(wrong), 1)
            .stays_in_bounds(&[9])
    );
    let never: fn(Expr, Expr) -> Expr = |_, n| bin(BinOp::Gt, int(3), n);
    let dead = built().copy(|n| n, |_, _| int(100), Some(never), 1);
    assert!(dead.stays_in_bounds(&[3]) && !dead.stays_in_bounds(&[2]));
}

#[test]
fn quotients_and_remainders_belong_together() {
    // i // 3 * 3 + i % 3 = i
    let index = |i: Expr, _: Expr| {
        let quotient = bin(BinOp::FloorDiv, i.clone(), int(3));
        let rest = bin(BinOp::FloorMod, i, int(3));
        bin(BinOp::Add, bin(BinOp::Mul, quotient, int(3)), rest)
    };
    let kernel = built().copy(|n| n, index, None, 1);
    assert!((0..20).all(|n| kernel.stays_in_bounds(&[n])));
    let kernel = built().copy(
        |n| n,
        |i, n| bin(BinOp::Min, i, bin(BinOp::Sub, n, int(1))),
        None,
        1,
    );
    assert!(kernel.stays_in_bounds(&[7]));
    let far = |n: Expr| bin(BinOp::Mul, n, int(5));
    let clamped = built().copy(
        far,
        |i, n| bin(BinOp::Min, i, bin(BinOp::Sub, n, int(1))),
        None,
        1,
    );
    assert!(clamped.stays_in_bounds(&[7]));
}

#[test]
fn shifts_and_masks_are_quotients_and_remainders() {
    let split = |digits: i64| {
        move |i: Expr, _: Expr| {
            let high = bin(BinOp::Shr, i.clone(), int(2));
            let low = bin(BinOp::BitAnd, i, int(3));
            let high = bin(BinOp::Mul, high, int(digits));
            bin(BinOp::Add, high, low)
        }
    };
    let whole = |n: Expr| bin(BinOp::Mul, bin(BinOp::Shr, n, int(2)), int(4));
    assert!(
        built()
            .copy(whole, split(4), None, 1)
            .stays_in_bounds(&[13])
    );
    assert!(
        !built()
            .copy(whole, split(5), None, 1)
            .stays_in_bounds(&[13])
    );
    let odd = |i: Expr, _: Expr| bin(BinOp::BitAnd, i, int(5));
    assert!(!built().copy(whole, odd, None, 1).stays_in_bounds(&[4]));
}

#[test]
fn what_is_not_understood_is_not_shown() {
    let squared = built().copy(|_| int(2), |i, _| bin(BinOp::Mul, i.clone(), i), None, 1);
    assert!(!squared.stays_in_bounds(&[7]));
    // Sums that leave their type may be anything.
    let wrapped =
        |i: Expr, _: Expr| bin(BinOp::Sub, bin(BinOp::Add, i, int(i64::MAX)), int(i64::MAX));
    assert!(!built().copy(|n| n, wrapped, None, 1).stays_in_bounds(&[7]));
    let mut read_only = built();
    let (x, i) = (read_only.x, var(&mut read_only.kernel, "i"));
    read_only.kernel.body.push(Stmt::For {
        var: i,
        min: int(0),
        extent: int(1),
        kind: ForKind::Serial,
        body: vec![Stmt::Store {
            array: x,
            index: int(0),
            value: Expr::Float(1.0, ScalarType::F32),
            active: None,
        }],
    });
    assert!(!read_only.kernel.stays_in_bounds(&[7]), "x is only read");
    // A variable that gets another value later.
    let mut twice = built();
    let (v, y) = (var(&mut twice.kernel, "v"), twice.y);
    let store = |index: Expr| Stmt::Store {
        array: y,
        index,
        value: Expr::Float(1.0, ScalarType::F32),
        active: None,
    };
    let once = vec![Stmt::Let(v, int(3)), store(Expr::Var(v))];
    twice.kernel.body = once.clone();
    assert!(twice.kernel.stays_in_bounds(&[7]));
    twice.kernel.body = [once, vec![Stmt::Let(v, int(9))]].concat();
    assert!(!twice.kernel.stays_in_bounds(&[7]));
}

/// `y[index] = 1` once.
fn once(mut built: Built, lets: Vec<Stmt>, index: Expr) -> Kernel {
    let store = Stmt::Store {
        array: built.y,
        index,
        value: Expr::Float(1.0, ScalarType::F32),
        active: None,
    };
    built.kernel.body = [lets, vec![store]].concat();
    built.kernel
}

#[test]
fn what_wraps_in_its_type_is_not_shown() {
    // Whatever an `uint8` is, it is below 256; but code without checks may add without the end of the type.
    let u8 = ScalarType::U8;
    let byte = |value| Expr::Int(value, u8);
    let typed = |built: &mut Built, name: &str| {
        let v = var(&mut built.kernel, name);
        built.kernel.vars[v].ty = Ty::scalar(u8);
        v
    };
    for (added, shown) in [(1, true), (200, false)] {
        let mut built = built();
        let (a, b) = (typed(&mut built, "a"), typed(&mut built, "b"));
        let lets = vec![
            Stmt::Let(a, byte(100)),
            Stmt::Let(b, bin(BinOp::Add, Expr::Var(a), byte(added))),
        ];
        let index = Expr::Cast(Ty::scalar(I64), Box::new(Expr::Var(b)));
        let kernel = once(built, lets, index);
        assert_eq!(kernel.stays_in_bounds(&[256]), shown, "100 + {added}");
    }
}

#[test]
fn conditions_on_what_is_far_from_every_index_say_nothing() {
    let within = |bound: i64| {
        let guard = move |i: Expr| bin(BinOp::Lt, bin(BinOp::Sub, i, int(5)), int(bound));
        let mut built = built();
        let i = var(&mut built.kernel, "i");
        let store = Stmt::Store {
            array: built.y,
            index: Expr::Var(i),
            value: Expr::Float(1.0, ScalarType::F32),
            active: None,
        };
        built.kernel.body.push(Stmt::For {
            var: i,
            min: int(0),
            extent: int(100),
            kind: ForKind::Serial,
            body: vec![Stmt::If {
                cond: guard(Expr::Var(i)),
                then: vec![store],
                otherwise: vec![],
            }],
        });
        built.kernel
    };
    assert!(within(2).stays_in_bounds(&[7]));
    assert!(!within(i64::MIN + 2).stays_in_bounds(&[7]));
}

#[test]
fn loops_whose_ends_wrap_are_not_empty() {
    let counting = |min: i64, extent: i64| {
        let mut kernel = built().copy(|_| int(extent), |i, _| i, None, 1);
        if let Stmt::For { min: first, .. } = &mut kernel.body[0] {
            *first = int(min);
        }
        kernel
    };
    assert!(counting(0, -10).stays_in_bounds(&[7]));
    assert!(!counting(i64::MIN + 5, -10).stays_in_bounds(&[7]));
}

#[test]
fn extents_that_their_types_do_not_hold_are_not_shown() {
    let extent = |factor: i64| {
        let mut built = built();
        let (m, i32) = (var(&mut built.kernel, "m"), ScalarType::I32);
        built.kernel.vars[m].ty = Ty::scalar(i32);
        built.kernel.scalars.push((m, HostExpr::Const(1 << 20)));
        let many = bin(BinOp::Mul, Expr::Var(m), Expr::Int(factor, i32));
        let mut kernel = built.copy(|_| many, |_, _| int(0), None, 1);
        if let Stmt::For { kind, .. } = &mut kernel.body[0] {
            *kind = ForKind::Parallel;
        }
        kernel
    };
    assert!(extent(2).stays_in_bounds(&[7]));
    assert!(!extent(1 << 13).stays_in_bounds(&[7]));
}

/// `y[index] = 1` in threads of workgroups of 64, for each element one or some more, dispatched so many times.
fn by_threads(index: impl Fn(Expr) -> Expr, guard: Option<i64>, times: i64) -> Kernel {
    let mut built = built();
    let wide = |e: Expr| Expr::Cast(Ty::scalar(I64), Box::new(e));
    let group = bin(BinOp::Mul, wide(Expr::BlockIdx(0)), int(64));
    let thread = bin(BinOp::Add, group, wide(Expr::ThreadIdx(0)));
    let more = HostExpr::binary(BinOp::Add, HostExpr::Dim(0), HostExpr::Const(63));
    built.kernel.launch = Some(Launch {
        grid: [
            HostExpr::binary(BinOp::FloorDiv, more, HostExpr::Const(64)),
            HostExpr::Const(1),
            HostExpr::Const(1),
        ],
        block: [64, 1, 1],
        times: HostExpr::Const(times),
    });
    let n = Expr::Var(built.n);
    let mut kernel = once(built, vec![], index(thread.clone()));
    if let Some(more) = guard {
        let cond = bin(BinOp::Lt, thread, bin(BinOp::Add, n, int(more)));
        kernel.body = vec![Stmt::If {
            cond,
            then: kernel.body,
            otherwise: vec![],
        }];
    }
    kernel
}

#[test]
fn launches_bound_threads() {
    let kernel = by_threads(|thread| thread, None, 1);
    assert!(kernel.stays_in_bounds(&[128]) && kernel.stays_in_bounds(&[0x4000_0000]));
    assert!(!kernel.stays_in_bounds(&[127]), "a thread too many");
    let kernel = by_threads(|thread| thread, Some(0), 1);
    assert!([1, 127, 128].iter().all(|&n| kernel.stays_in_bounds(&[n])));
    assert!(!by_threads(|thread| thread, Some(1), 1).stays_in_bounds(&[127]));
    let other = |_| Expr::Cast(Ty::scalar(I64), Box::new(Expr::ThreadIdx(1)));
    assert!(by_threads(other, None, 1).stays_in_bounds(&[1]), "one in y");
    assert!(!by_threads(|thread| thread, None, 2).stays_in_bounds(&[128]));
}

#[test]
fn quotients_are_whole() {
    // Elements of rows of 10, where rows have 12 places: 4 whole rows are 48 threads, and 10 * (49 / 12) + 9 is the last element.
    let index = |thread: Expr| {
        let row = bin(BinOp::FloorDiv, thread.clone(), int(12));
        let column = bin(BinOp::Min, bin(BinOp::FloorMod, thread, int(12)), int(9));
        bin(BinOp::Add, bin(BinOp::Mul, row, int(10)), column)
    };
    let kernel = by_threads(index, Some(0), 1);
    assert!(
        !kernel.stays_in_bounds(&[49]),
        "49 elements, the last index is 49"
    );
    let kernel = by_threads(index, Some(-2), 1);
    assert!(kernel.stays_in_bounds(&[50]), "48 threads");
}

#[test]
fn selections_between_numbers_are_one_of_them() {
    // No divisor is 0.
    let index = |n: Expr| {
        let divisor = |n: Expr| {
            Expr::Select(
                Box::new(bin(BinOp::Eq, n.clone(), int(0))),
                Box::new(int(1)),
                Box::new(n),
            )
        };
        bin(BinOp::FloorMod, int(100), divisor(n))
    };
    let kernel = |more: i64| {
        let built = built();
        let n = Expr::Var(built.n);
        once(built, vec![], bin(BinOp::Add, index(n), int(more)))
    };
    // 100 % 7 is 2.
    assert!(kernel(4).stays_in_bounds(&[7]));
    assert!(!kernel(5).stays_in_bounds(&[7]));
    assert!(!kernel(0).stays_in_bounds(&[0]), "there is no element");
}
