//! `==` and the hash of expressions: structural, by hash first.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Expr, ExprKind};
use crate::tensor::DType;

/// The hash that a node keeps.
pub(super) fn hash_node(kind: &ExprKind, dtype: DType) -> u64 {
    let mut h = DefaultHasher::new();
    dtype.hash(&mut h);
    std::mem::discriminant(kind).hash(&mut h);
    match kind {
        ExprKind::Int(v) => v.hash(&mut h),
        ExprKind::Float(v) => v.to_bits().hash(&mut h),
        ExprKind::Var(v) => v.hash(&mut h),
        ExprKind::Cast(a) | ExprKind::Not(a) | ExprKind::Reinterpret(a) => a.hash(&mut h),
        ExprKind::Binary(op, a, b) => (op, a, b).hash(&mut h),
        ExprKind::Select(a, b, c) | ExprKind::IfThenElse(a, b, c) => (a, b, c).hash(&mut h),
        ExprKind::Load(buffer, indices) => (buffer, indices).hash(&mut h),
        ExprKind::Ramp {
            base,
            stride,
            lanes,
        } => (base, stride, lanes).hash(&mut h),
        ExprKind::Broadcast(a, lanes) => (a, lanes).hash(&mut h),
        ExprKind::Call(intrin, args) => (intrin, args).hash(&mut h),
        ExprKind::External(external, args) => (external, args).hash(&mut h),
        ExprKind::Str(text) => text.hash(&mut h),
        ExprKind::Data(buffer) => buffer.hash(&mut h),
        ExprKind::Let { var, value, body } => (var, value, body).hash(&mut h),
    }
    h.finish()
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        if self.same_as(other) {
            return true;
        }
        if self.0.hash != other.0.hash || self.0.dtype != other.0.dtype {
            return false;
        }
        match (self.kind(), other.kind()) {
            (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
            (ExprKind::Float(a), ExprKind::Float(b)) => a.to_bits() == b.to_bits(),
            (ExprKind::Var(a), ExprKind::Var(b)) => a == b,
            (ExprKind::Cast(a), ExprKind::Cast(b))
            | (ExprKind::Not(a), ExprKind::Not(b))
            | (ExprKind::Reinterpret(a), ExprKind::Reinterpret(b)) => a == b,
            (ExprKind::Binary(oa, a0, a1), ExprKind::Binary(ob, b0, b1)) => {
                oa == ob && a0 == b0 && a1 == b1
            }
            (ExprKind::Select(a0, a1, a2), ExprKind::Select(b0, b1, b2))
            | (ExprKind::IfThenElse(a0, a1, a2), ExprKind::IfThenElse(b0, b1, b2)) => {
                a0 == b0 && a1 == b1 && a2 == b2
            }
            (ExprKind::Load(a, ai), ExprKind::Load(b, bi)) => a == b && ai == bi,
            (
                ExprKind::Ramp {
                    base: a0,
                    stride: a1,
                    lanes: al,
                },
                ExprKind::Ramp {
                    base: b0,
                    stride: b1,
                    lanes: bl,
                },
            ) => al == bl && a0 == b0 && a1 == b1,
            (ExprKind::Broadcast(a, al), ExprKind::Broadcast(b, bl)) => al == bl && a == b,
            (ExprKind::Call(a, aa), ExprKind::Call(b, ba)) => a == b && aa == ba,
            (ExprKind::External(a, aa), ExprKind::External(b, ba)) => a == b && aa == ba,
            (ExprKind::Str(a), ExprKind::Str(b)) => a == b,
            (ExprKind::Data(a), ExprKind::Data(b)) => a == b,
            (
                ExprKind::Let {
                    var: av,
                    value: a0,
                    body: a1,
                },
                ExprKind::Let {
                    var: bv,
                    value: b0,
                    body: b1,
                },
            ) => av == bv && a0 == b0 && a1 == b1,
            (_, _) => false,
        }
    }
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
