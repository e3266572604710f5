//! Expressions of graph functions before they are emitted.

use std::sync::Arc;

use crate::ir::graph::DpsCallee;
use crate::ir::{self, Attrs, StructInfo};
use crate::tensor::{DType, Tensor};

/// A value of a graph function: a parameter, or what was emitted. Equal by identity.
#[derive(Clone, Debug)]
pub struct Var(Arc<Node>);

#[derive(Debug)]
struct Node {
    name: String,
    sinfo: StructInfo,
}

impl Var {
    /// A variable of which this is known.
    pub fn new(name: impl Into<String>, sinfo: StructInfo) -> Self {
        let name = name.into();
        Self(Arc::new(Node { name, sinfo }))
    }

    /// A tensor of this shape, which may be symbolic.
    pub fn tensor<E: Into<ir::Expr>>(
        name: impl Into<String>,
        shape: impl IntoIterator<Item = E>,
        dtype: DType,
    ) -> Self {
        let dims = shape.into_iter().map(|d| d.into().cast(DType::I64));
        Self::new(name, StructInfo::tensor(dims.collect(), dtype))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is known of it.
    pub fn sinfo(&self) -> &StructInfo {
        &self.0.sinfo
    }

    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

/// What a call calls.
#[derive(Clone, Debug)]
pub(super) enum Callee {
    Op(String),
    Global(String),
    Packed(String),
    Closure(Var),
}

/// An expression; calls and tuples may nest.
#[derive(Clone, Debug)]
pub struct Expr(pub(super) Arc<Kind>);

#[derive(Debug)]
pub(super) enum Kind {
    Var(Var),
    Const(Tensor),
    Tuple(Vec<Expr>),
    Item(Expr, usize),
    Shape(Vec<ir::Expr>),
    Scalar(ir::Expr),
    Call {
        callee: Callee,
        args: Vec<Expr>,
        attrs: Attrs,
        sinfo_args: Vec<StructInfo>,
    },
    CallDps {
        callee: DpsCallee,
        args: Vec<Expr>,
        tir_vars: Vec<ir::Expr>,
        out: StructInfo,
    },
}

impl Expr {
    pub(super) fn of(kind: Kind) -> Self {
        Self(Arc::new(kind))
    }
}

impl From<&Var> for Expr {
    fn from(var: &Var) -> Self {
        Self::of(Kind::Var(var.clone()))
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Self {
        Self::of(Kind::Var(var))
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

/// A scalar argument (`R.prim_value`).
impl From<ir::Expr> for Expr {
    fn from(value: ir::Expr) -> Self {
        Self::of(Kind::Scalar(value))
    }
}

/// The expression that a variable is.
pub fn expr(value: impl Into<Expr>) -> Expr {
    value.into()
}

/// A tensor constant (TVM: `relax.const`).
pub fn constant(tensor: Tensor) -> Expr {
    Expr::of(Kind::Const(tensor))
}

/// A shape (`R.shape`).
pub fn shape<E: Into<ir::Expr>>(dims: impl IntoIterator<Item = E>) -> Expr {
    let dims = dims.into_iter().map(|d| d.into().cast(DType::I64));
    Expr::of(Kind::Shape(dims.collect()))
}

/// A tuple.
pub fn tuple<E: Into<Expr>>(items: impl IntoIterator<Item = E>) -> Expr {
    Expr::of(Kind::Tuple(items.into_iter().map(Into::into).collect()))
}

/// An item of a tuple.
pub fn item(tuple: impl Into<Expr>, index: usize) -> Expr {
    Expr::of(Kind::Item(tuple.into(), index))
}

fn call_of<E: Into<Expr>>(
    callee: Callee,
    args: impl IntoIterator<Item = E>,
    attrs: Attrs,
    sinfo_args: Vec<StructInfo>,
) -> Expr {
    Expr::of(Kind::Call {
        callee,
        args: args.into_iter().map(Into::into).collect(),
        attrs,
        sinfo_args,
    })
}

/// A call of an operator, by its name without `R.`, with its default attributes.
pub fn op<E: Into<Expr>>(name: impl Into<String>, args: impl IntoIterator<Item = E>) -> Expr {
    op_with(name, args, Attrs::new())
}

/// A call of an operator with attributes; those that are not given have their defaults.
pub fn op_with<E: Into<Expr>>(
    name: impl Into<String>,
    args: impl IntoIterator<Item = E>,
    attrs: Attrs,
) -> Expr {
    call_of(Callee::Op(name.into()), args, attrs, vec![])
}

/// A call of a function of the module.
pub fn call<E: Into<Expr>>(function: impl Into<String>, args: impl IntoIterator<Item = E>) -> Expr {
    call_of(Callee::Global(function.into()), args, Attrs::new(), vec![])
}

impl Var {
    /// A call of the closure that the variable is.
    pub fn call<E: Into<Expr>>(&self, args: impl IntoIterator<Item = E>) -> Expr {
        call_of(Callee::Closure(self.clone()), args, Attrs::new(), vec![])
    }
}

/// A call of a packed function that writes results of this type, which it gets after the arguments.
pub fn call_dps_packed<E: Into<Expr>>(
    name: impl Into<String>,
    args: impl IntoIterator<Item = E>,
    out: StructInfo,
) -> Expr {
    Expr::of(Kind::CallDps {
        callee: DpsCallee::Packed(name.into()),
        args: args.into_iter().map(Into::into).collect(),
        tir_vars: vec![],
        out,
    })
}

/// A call of a packed function, whose result is of this type.
pub fn call_packed<E: Into<Expr>>(
    name: impl Into<String>,
    args: impl IntoIterator<Item = E>,
    result: StructInfo,
) -> Expr {
    call_of(
        Callee::Packed(name.into()),
        args,
        Attrs::new(),
        vec![result],
    )
}

macro_rules! operator {
    ($($trait:ident $method:ident $op:literal),*) => { $(
        impl<R: Into<Expr>> std::ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                op($op, [self, other.into()])
            }
        }
        impl<R: Into<Expr>> std::ops::$trait<R> for &Var {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                op($op, [Expr::from(self), other.into()])
            }
        }
    )* };
}
operator!(Add add "add", Sub sub "subtract", Mul mul "multiply", Div div "divide");
