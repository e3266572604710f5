//! `Expr`: arithmetic on elements, indices and symbolic shapes; one tree type for both levels of IR.
//!
//! Immutable and shared: a clone is a reference count, `a + b` needs no context. Hash and dtype are cached in the node.
//! `==` is structural with variables and buffers by identity and floats by bits: syntactic, so `a + b != b + a`.
//! [`Expr::same_as`] is pointer identity, a pass's test for "unchanged".

mod equality;
mod visit;

use std::hash::{Hash, Hasher};
use std::ops;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU64};

use self::equality::hash_node;
use super::{Buffer, External};
use crate::tensor::scalar::{BinOp, Intrin, Scalar, round_float, wrap_int};
use crate::tensor::{DType, ScalarType};

/// A scalar variable: loop variable, block iter variable, symbolic dimension, parameter or `let`. Equal by identity.
#[derive(Clone)]
pub struct Var(Arc<VarNode>);

struct VarNode {
    name: String,
    dtype: DType,
    serial: u64,
    is_data: bool,
}

impl Var {
    /// A new variable, different from every other one.
    pub fn new(name: impl Into<String>, dtype: DType) -> Self {
        Self::with(name.into(), dtype, false)
    }

    /// A new variable for a value that is data, as [`Expr::is_data`] has it.
    pub fn data(name: impl Into<String>, dtype: DType) -> Self {
        Self::with(name.into(), dtype, true)
    }

    /// A new variable for a value, which is data if the value is.
    pub fn of(name: impl Into<String>, value: &Expr) -> Self {
        Self::with(name.into(), value.dtype(), value.is_data())
    }

    fn with(name: String, dtype: DType, is_data: bool) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Self(Arc::new(VarNode {
            name,
            dtype,
            is_data,
            serial: MADE.fetch_add(1, atomic::Ordering::Relaxed),
        }))
    }

    /// How many variables were made before this one: an order that, unlike addresses, is the same in every run.
    pub fn serial(&self) -> u64 {
        self.0.serial
    }

    /// The name it was given; names need not be unique.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its type.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// A new variable of the same type with this name.
    pub fn renamed(&self, name: impl Into<String>) -> Self {
        Self::with(name.into(), self.dtype(), self.0.is_data)
    }

    /// The variable as an expression.
    pub fn expr(&self) -> Expr {
        Expr::new(ExprKind::Var(self.clone()), self.dtype())
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Var {}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl std::fmt::Debug for Var {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a node is. The type of the node stands beside it.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Integer or `bool` constant.
    Int(i64),
    /// Float constant, held as `f64` and already rounded to the type of the node.
    Float(f64),
    /// A variable.
    Var(Var),
    /// Conversion to the type of the node.
    Cast(Expr),
    /// The bits of a value, read as the type of the node (`T.reinterpret`): both have as many.
    Reinterpret(Expr),
    /// A binary operator.
    Binary(BinOp, Expr, Expr),
    /// Logical negation of a `bool`.
    Not(Expr),
    /// `T.Select(cond, then, else)`: both sides may be evaluated where that does no harm. With a condition of one lane it
    /// guards what it does not choose, as `if_then_else` does (TVM: `RewriteUnsafeSelect`).
    Select(Expr, Expr, Expr),
    /// `T.if_then_else(cond, then, else)`: only one side is evaluated.
    IfThenElse(Expr, Expr, Expr),
    /// An element of a buffer, or several if the last index is a vector.
    Load(Buffer, Vec<Expr>),
    /// `base, base + stride, …`: a vector.
    Ramp {
        /// First lane.
        base: Expr,
        /// Difference of neighbouring lanes.
        stride: Expr,
        /// Number of lanes.
        lanes: u16,
    },
    /// The same value in every lane.
    Broadcast(Expr, u16),
    /// An intrinsic function.
    Call(Intrin, Vec<Expr>),
    /// A call that leaves the language.
    External(External, Vec<Expr>),
    /// A text, which only an external call takes. Its type is that of an address.
    Str(Arc<str>),
    /// The address of a buffer's memory (`A.data`).
    Data(Buffer),
    /// `value` named `var` inside `body`.
    Let {
        /// The name.
        var: Var,
        /// What it stands for.
        value: Expr,
        /// Where it does.
        body: Expr,
    },
}

struct Node {
    kind: ExprKind,
    dtype: DType,
    hash: u64,
    is_data: bool,
}

/// An immutable expression tree.
#[derive(Clone)]
pub struct Expr(Arc<Node>);

impl Expr {
    /// A node. Prefer the named constructors, which know the type of the result.
    pub fn new(kind: ExprKind, dtype: DType) -> Self {
        let hash = hash_node(&kind, dtype);
        let is_data = match &kind {
            ExprKind::Int(_) | ExprKind::Float(_) => false,
            ExprKind::Load(_, _)
            | ExprKind::Call(_, _)
            | ExprKind::Reinterpret(_)
            | ExprKind::External(_, _)
            | ExprKind::Str(_)
            | ExprKind::Data(_) => true,
            ExprKind::Var(var) => var.0.is_data,
            ExprKind::Cast(a) => a.is_data() || a.dtype().is_float(),
            ExprKind::Not(a) | ExprKind::Broadcast(a, _) => a.is_data(),
            ExprKind::Binary(_, a, b)
            | ExprKind::Ramp {
                base: a,
                stride: b,
                lanes: _,
            }
            | ExprKind::Let {
                var: _,
                value: a,
                body: b,
            } => a.is_data() || b.is_data(),
            ExprKind::Select(a, b, c) | ExprKind::IfThenElse(a, b, c) => {
                a.is_data() || b.is_data() || c.is_data()
            }
        };
        Self(Arc::new(Node {
            kind,
            dtype,
            hash,
            is_data,
        }))
    }

    /// Whether the value depends on what is in memory, or on an intrinsic. Integer arithmetic on such values wraps in its
    /// type; that on loop variables and dims alone, which indices are made of, is taken not to.
    pub fn is_data(&self) -> bool {
        self.0.is_data
    }

    /// An integer or `bool` constant.
    pub fn int(value: i64, dtype: DType) -> Self {
        debug_assert!(!dtype.is_float() && !dtype.is_vector());
        Self::new(ExprKind::Int(value), dtype)
    }

    /// An `int32` constant.
    pub fn i32(value: i32) -> Self {
        Self::int(value.into(), DType::I32)
    }

    /// An `int64` constant.
    pub fn i64(value: i64) -> Self {
        Self::int(value, DType::I64)
    }

    /// A `bool` constant.
    pub fn bool(value: bool) -> Self {
        Self::int(value.into(), DType::BOOL)
    }

    /// A float constant, rounded to the type.
    pub fn float(value: f64, dtype: DType) -> Self {
        Self::new(ExprKind::Float(round_float(value, dtype.scalar)), dtype)
    }

    /// The constant of this value and type.
    pub fn scalar(value: Scalar, dtype: DType) -> Self {
        match value {
            Scalar::Int(v) => Self::int(v, dtype),
            Scalar::Float(v) => Self::float(v, dtype),
        }
    }

    /// The constant `value` in any scalar type.
    pub fn constant(value: i64, dtype: DType) -> Self {
        if dtype.is_float() {
            Self::float(value as f64, dtype)
        } else {
            Self::int(value, dtype)
        }
    }

    /// `a op b`. If one operand is an integer constant, or both are integers, the narrower type is converted to the wider
    /// one; if one is a vector, the other is broadcast.
    pub fn binary(op: BinOp, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        let (a, b) = match_types(a.into(), b.into());
        let dtype = if op.is_comparison() {
            DType::BOOL.with_lanes(a.dtype().lanes)
        } else {
            a.dtype()
        };
        Self::new(ExprKind::Binary(op, a, b), dtype)
    }

    /// `a // b`, towards minus infinity.
    pub fn floor_div(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::FloorDiv, self.clone(), other)
    }

    /// `a % b`, with the sign of the divisor.
    pub fn floor_mod(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::FloorMod, self.clone(), other)
    }

    /// The smaller one.
    pub fn min(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Min, self.clone(), other)
    }

    /// The greater one.
    pub fn max(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Max, self.clone(), other)
    }

    /// `self < other`
    pub fn lt(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Lt, self.clone(), other)
    }

    /// `self <= other`
    pub fn le(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Le, self.clone(), other)
    }

    /// `self >= other`
    pub fn ge(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Ge, self.clone(), other)
    }

    /// `self == other` as an expression.
    pub fn equals(&self, other: impl Into<Self>) -> Self {
        Self::binary(BinOp::Eq, self.clone(), other)
    }

    /// Logical and; a constant `true` on either side vanishes.
    pub fn and(&self, other: impl Into<Self>) -> Self {
        let other = other.into();
        match (self.as_bool(), other.as_bool()) {
            (Some(true), _) => other,
            (_, Some(true)) => self.clone(),
            _ => Self::binary(BinOp::And, self.clone(), other),
        }
    }

    /// Logical negation.
    pub fn not(&self) -> Self {
        Self::new(ExprKind::Not(self.clone()), self.dtype())
    }

    /// The value converted to `dtype`; itself if it has that type, a constant if it is one.
    pub fn cast(&self, dtype: DType) -> Self {
        if self.dtype() == dtype {
            return self.clone();
        }
        match self.kind() {
            ExprKind::Int(v) if dtype.is_int() && !dtype.is_vector() => {
                Self::int(wrap_int(*v, dtype.scalar), dtype)
            }
            ExprKind::Int(v) if dtype.is_float() && !dtype.is_vector() => {
                let value = match self.dtype() {
                    DType::U64 => *v as u64 as f64,
                    _ => *v as f64,
                };
                Self::float(value, dtype)
            }
            ExprKind::Float(v) if dtype.is_float() && !dtype.is_vector() => Self::float(*v, dtype),
            _ => Self::new(ExprKind::Cast(self.clone()), dtype),
        }
    }

    /// `T.Select`; both sides have one type.
    pub fn select(cond: Self, then: Self, otherwise: Self) -> Self {
        let (then, otherwise) = match_types(then, otherwise);
        let dtype = then.dtype();
        Self::new(ExprKind::Select(cond, then, otherwise), dtype)
    }

    /// `T.if_then_else`; both sides have one type.
    pub fn if_then_else(cond: Self, then: Self, otherwise: Self) -> Self {
        let (then, otherwise) = match_types(then, otherwise);
        let dtype = then.dtype();
        Self::new(ExprKind::IfThenElse(cond, then, otherwise), dtype)
    }

    /// An element of a buffer; with a vector as last index, as many elements as it has lanes.
    pub fn load(buffer: &Buffer, indices: Vec<Self>) -> Self {
        let lanes = indices.last().map_or(1, |index| index.dtype().lanes);
        let lanes = buffer.dtype().lanes.saturating_mul(lanes); // the verifier refuses what is cut off here
        let dtype = buffer.dtype().with_lanes(lanes);
        Self::new(ExprKind::Load(buffer.clone(), indices), dtype)
    }

    /// The vector `base, base + stride, …`.
    pub fn ramp(base: Self, stride: Self, lanes: u16) -> Self {
        let dtype = base.dtype().with_lanes(lanes);
        Self::new(
            ExprKind::Ramp {
                base,
                stride,
                lanes,
            },
            dtype,
        )
    }

    /// The vector with this value in every lane.
    pub fn broadcast(value: Self, lanes: u16) -> Self {
        let dtype = value.dtype().with_lanes(lanes);
        Self::new(ExprKind::Broadcast(value, lanes), dtype)
    }

    /// An intrinsic function of its arguments.
    pub fn call(intrin: Intrin, args: Vec<Self>) -> Self {
        let first = args
            .first()
            .expect("every intrinsic has an argument")
            .dtype();
        let dtype = if intrin.is_predicate() {
            DType::BOOL.with_lanes(first.lanes)
        } else {
            first
        };
        Self::new(ExprKind::Call(intrin, args), dtype)
    }

    /// The bits of the value as another type with as many; itself if it has that type.
    pub fn reinterpret(&self, dtype: DType) -> Self {
        if self.dtype() == dtype {
            return self.clone();
        }
        Self::new(ExprKind::Reinterpret(self.clone()), dtype)
    }

    /// The address of a buffer's memory.
    pub fn data(buffer: &Buffer) -> Self {
        Self::new(ExprKind::Data(buffer.clone()), DType::U64)
    }

    /// A text as the argument of an external call.
    pub fn str(text: &str) -> Self {
        Self::new(ExprKind::Str(text.into()), DType::U64)
    }

    /// What the node is.
    pub fn kind(&self) -> &ExprKind {
        &self.0.kind
    }

    /// Type of the value.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Whether both are the same node in memory.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value of an integer or `bool` constant.
    pub fn as_int(&self) -> Option<i64> {
        if let ExprKind::Int(v) = self.kind() {
            Some(*v)
        } else {
            None
        }
    }

    /// The value of a `bool` constant.
    pub fn as_bool(&self) -> Option<bool> {
        self.as_int()
            .filter(|_| self.dtype().is_bool())
            .map(|v| v != 0)
    }

    /// The value of a float constant.
    pub fn as_float(&self) -> Option<f64> {
        if let ExprKind::Float(v) = self.kind() {
            Some(*v)
        } else {
            None
        }
    }

    /// The variable, if it is nothing else.
    pub fn as_var(&self) -> Option<&Var> {
        if let ExprKind::Var(v) = self.kind() {
            Some(v)
        } else {
            None
        }
    }

    /// What holds where it is evaluated as a statement (TVM: `tir.assume`).
    pub fn assume(condition: Self) -> Self {
        let assumption = ExprKind::External(External::Assume, vec![condition]);
        Self::new(assumption, DType::I32)
    }

    /// What is assumed, if it is an assumption.
    pub fn as_assumption(&self) -> Option<&Self> {
        match self.kind() {
            ExprKind::External(External::Assume, args) => args.first(),
            _ => None,
        }
    }

    /// The operands of this binary operator.
    pub fn as_binary(&self, op: BinOp) -> Option<(&Self, &Self)> {
        match self.kind() {
            ExprKind::Binary(o, a, b) if *o == op => Some((a, b)),
            _ => None,
        }
    }

    /// Whether it is the constant 0.
    pub fn is_zero(&self) -> bool {
        self.as_int() == Some(0) || self.as_float() == Some(0.0)
    }

    /// Whether it is the constant 1.
    pub fn is_one(&self) -> bool {
        self.as_int() == Some(1) || self.as_float() == Some(1.0)
    }
}

/// Gives both operands one type: lanes by broadcast, then a constant takes the other's type, then the narrower integer is
/// widened, or of one width the signed one made unsigned. Operands that differ otherwise are left for the verifier to report.
fn match_types(a: Expr, b: Expr) -> (Expr, Expr) {
    let (a, b) = match (a.dtype().lanes, b.dtype().lanes) {
        (1, n) if n > 1 => (Expr::broadcast(a, n), b),
        (n, 1) if n > 1 => {
            let b = Expr::broadcast(b, n);
            (a, b)
        }
        _ => (a, b),
    };
    let (ta, tb) = (a.dtype(), b.dtype());
    if ta == tb {
        return (a, b);
    }
    let is_const = |e: &Expr| e.as_int().is_some() && !e.dtype().is_bool();
    // A constant that the other's type does not hold keeps its own.
    let fits = |e: &Expr, ty: DType| {
        let range = ty.scalar.int_range();
        let inside = |v: i64| range.is_none_or(|(low, high)| (low..=high).contains(&v));
        is_const(e) && !ty.is_bool() && e.as_int().is_some_and(inside)
    };
    match (ta.scalar, tb.scalar) {
        (_, _) if fits(&b, ta) && !(is_const(&a) && tb.bytes() > ta.bytes()) => {
            let b = b.cast(ta);
            (a, b)
        }
        (_, _) if fits(&a, tb) => (a.cast(tb), b),
        (sa, sb) if sa.is_int() && sb.is_int() => {
            if (sa.bytes(), sa.is_unsigned_int()) >= (sb.bytes(), sb.is_unsigned_int()) {
                let b = b.cast(ta);
                (a, b)
            } else {
                (a.cast(tb), b)
            }
        }
        _ => (a, b),
    }
}

impl From<&Var> for Expr {
    fn from(var: &Var) -> Self {
        var.expr()
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Self {
        var.expr()
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

/// An `int32` constant, which takes the type of the other operand.
impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Self::i32(value)
    }
}

/// An `int64` constant, which takes the type of the other operand.
impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::i64(value)
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident $op:ident),*) => { $(
        impl<R: Into<Expr>> ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                Expr::binary(BinOp::$op, self, other)
            }
        }
        impl<R: Into<Expr>> ops::$trait<R> for &Expr {
            type Output = Expr;
            fn $method(self, other: R) -> Expr {
                Expr::binary(BinOp::$op, self.clone(), other)
            }
        }
    )* };
}
operator!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div);

/// A compact form for debugging; the printer of `script` writes TVMScript.
impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            ExprKind::Int(v) if self.dtype().scalar == ScalarType::Bool => write!(f, "{}", *v != 0),
            ExprKind::Int(v) => write!(f, "{v}"),
            ExprKind::Float(v) => write!(f, "{v:?}"),
            ExprKind::Var(v) => write!(f, "{v:?}"),
            ExprKind::Binary(op, a, b) => write!(f, "{op:?}({a:?}, {b:?})"),
            ExprKind::Load(buffer, indices) => write!(f, "{}{indices:?}", buffer.name()),
            kind => write!(f, "{kind:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_syntactic_and_by_identity() {
        let (a, b) = (Var::new("a", DType::I32), Var::new("a", DType::I32));
        assert_ne!(a.expr(), b.expr());
        assert_eq!(a.expr() + &b, a.expr() + &b);
        assert_ne!(a.expr() + &b, b.expr() + &a);
    }

    #[test]
    fn constants_take_the_type_of_the_other_operand() {
        let n = Var::new("n", DType::I64);
        assert_eq!((n.expr() + 1).dtype(), DType::I64);
        assert_eq!((Expr::i32(1) + &n).dtype(), DType::I64);
        assert_eq!(n.expr().lt(4).dtype(), DType::BOOL);
    }

    #[test]
    fn an_unchanged_rewrite_keeps_the_node() {
        let (a, b) = (Var::new("a", DType::I32), Var::new("b", DType::I32));
        let e = a.expr() * 4 + &b;
        assert!(e.rewrite_bottom_up(&mut Clone::clone).same_as(&e));
        assert_eq!(
            e.substitute(&|v| (*v == a).then(|| b.expr())),
            b.expr() * 4 + &b
        );
        assert_eq!(e.free_vars(), [a, b]);
    }
}
