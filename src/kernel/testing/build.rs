//! Kernels by hand.

use crate::kernel::{
    Access, Array, ArrayId, BufferRef, Expr, ForKind, HostExpr, Kernel, Space, Stmt, Ty, VarId,
    VarInfo,
};
use crate::support::Arena;
use crate::tensor::scalar::BinOp;
use crate::tensor::{ScalarType, Tensor};

pub(crate) const I64: ScalarType = ScalarType::I64;

pub(crate) fn kernel(name: &str) -> Kernel {
    Kernel {
        name: name.into(),
        comment: String::new(),
        arrays: Arena::new(),
        vars: Arena::new(),
        fragments: Arena::new(),
        scalars: vec![],
        launch: None,
        body: vec![],
        in_bounds: true,
        flops: HostExpr::Const(0),
        bytes: HostExpr::Const(0),
    }
}

pub(crate) trait Build {
    fn global(&mut self, dtype: ScalarType, access: Access) -> ArrayId;
    fn local(&mut self, dtype: ScalarType, len: i64) -> ArrayId;
    fn var(&mut self, name: &str, scalar: ScalarType) -> VarId;
    /// The next dim as a scalar.
    fn dim(&mut self, name: &str) -> VarId;
}

impl Build for Kernel {
    fn global(&mut self, dtype: ScalarType, access: Access) -> ArrayId {
        let index = self.bindings().count();
        self.arrays.push(Array {
            name: format!("b{index}"),
            dtype,
            len: HostExpr::Const(0),
            space: Space::Global {
                buffer: BufferRef::Param(index),
                access,
            },
            vector: 1,
        })
    }

    fn local(&mut self, dtype: ScalarType, len: i64) -> ArrayId {
        self.arrays.push(Array {
            name: "local".into(),
            dtype,
            len: HostExpr::Const(len),
            space: Space::Local,
            vector: 1,
        })
    }

    fn var(&mut self, name: &str, scalar: ScalarType) -> VarId {
        self.vars.push(VarInfo {
            name: name.into(),
            ty: Ty::scalar(scalar),
        })
    }

    fn dim(&mut self, name: &str) -> VarId {
        let var = self.var(name, I64);
        let value = HostExpr::Dim(self.scalars.len());
        self.scalars.push((var, value));
        var
    }
}

pub(crate) fn int(value: i64) -> Expr {
    Expr::Int(value, I64)
}

pub(crate) fn v(var: VarId) -> Expr {
    Expr::Var(var)
}

pub(crate) fn bin(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

pub(crate) fn add(a: Expr, b: Expr) -> Expr {
    bin(BinOp::Add, a, b)
}

pub(crate) fn mul(a: Expr, b: Expr) -> Expr {
    bin(BinOp::Mul, a, b)
}

pub(crate) fn load(array: ArrayId, index: Expr, lanes: u16) -> Expr {
    Expr::Load {
        array,
        index: Box::new(index),
        lanes,
        active: None,
    }
}

pub(crate) fn store(array: ArrayId, index: Expr, value: Expr) -> Stmt {
    Stmt::Store {
        array,
        index,
        value,
        active: None,
    }
}

/// The load with so many active lanes.
pub(crate) fn first_of(active: Expr, access: Expr) -> Expr {
    match access {
        Expr::Load {
            array,
            index,
            lanes,
            active: _,
        } => Expr::Load {
            array,
            index,
            lanes,
            active: Some(Box::new(active)),
        },
        other => other,
    }
}

/// The store with so many active lanes.
pub(crate) fn first_stored(count: Expr, access: Stmt) -> Stmt {
    match access {
        Stmt::Store {
            array,
            index,
            value,
            active: _,
        } => Stmt::Store {
            array,
            index,
            value,
            active: Some(count),
        },
        other => other,
    }
}

pub(crate) fn for_(var: VarId, extent: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For {
        var,
        min: int(0),
        extent,
        kind: ForKind::Serial,
        body,
    }
}

/// A loop whose terms may be added in any order.
pub(crate) fn simd_reduction(var: VarId, extent: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For {
        var,
        min: int(0),
        extent,
        kind: ForKind::SimdReduction,
        body,
    }
}

/// A kernel that stores `f` of vectors (or scalars) of the elements of the inputs, and its arguments.
pub(crate) fn elementwise(
    name: &str,
    inputs: Vec<Tensor>,
    to: ScalarType,
    lanes: u16,
    f: impl Fn(Vec<Expr>) -> Expr,
) -> (Kernel, Vec<Tensor>) {
    let mut k = kernel(name);
    let arrays: Vec<_> = inputs
        .iter()
        .map(|input| k.global(input.dtype().scalar, Access::Read))
        .collect();
    let out = k.global(to, Access::Write);
    let len = inputs[0].len();
    let i = k.var("i", I64);
    let at = mul(v(i), int(lanes.into()));
    let args = arrays.iter().map(|&a| load(a, at.clone(), lanes)).collect();
    k.body = vec![for_(
        i,
        int(len as i64 / i64::from(lanes)),
        vec![store(out, at, f(args))],
    )];
    let mut tensors = inputs;
    tensors.push(Tensor::zeros(to.into(), &[len]).expect("small"));
    (k, tensors)
}
