//! A total order on expressions that is the same in every run: what canonical forms sort by. Equal in this order is `==`, save
//! for buffers, which compare by name.

use std::cmp::Ordering;

use crate::ir::{Expr, ExprKind};

/// Compares by kind, then by content; variables by when they were made.
pub(crate) fn compare(a: &Expr, b: &Expr) -> Ordering {
    if a.same_as(b) {
        return Ordering::Equal;
    }
    let list = |a: &[Expr], b: &[Expr]| {
        a.len().cmp(&b.len()).then_with(|| {
            a.iter()
                .zip(b)
                .map(|(a, b)| compare(a, b))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    };
    let own = match (a.kind(), b.kind()) {
        (ExprKind::Int(a), ExprKind::Int(b)) => a.cmp(b),
        (ExprKind::Float(a), ExprKind::Float(b)) => a.total_cmp(b),
        (ExprKind::Var(a), ExprKind::Var(b)) => a.serial().cmp(&b.serial()),
        (ExprKind::Binary(oa, _, _), ExprKind::Binary(ob, _, _)) => (*oa as u8).cmp(&(*ob as u8)),
        (ExprKind::Load(ba, _), ExprKind::Load(bb, _)) => ba.name().cmp(bb.name()),
        (ExprKind::Call(fa, _), ExprKind::Call(fb, _)) => (*fa as u8).cmp(&(*fb as u8)),
        (ExprKind::External(fa, _), ExprKind::External(fb, _)) => fa.cmp(fb),
        (ExprKind::Str(a), ExprKind::Str(b)) => a.cmp(b),
        (ExprKind::Data(a), ExprKind::Data(b)) => a.name().cmp(b.name()),
        _ => rank(a).cmp(&rank(b)),
    };
    own.then_with(|| {
        let owned = |e: &Expr| e.children().into_iter().cloned().collect::<Vec<_>>();
        list(&owned(a), &owned(b))
    })
}

fn rank(e: &Expr) -> u8 {
    match e.kind() {
        ExprKind::Var(_) => 0,
        ExprKind::Load(_, _) => 1,
        ExprKind::Binary(_, _, _) => 2,
        ExprKind::Cast(_) => 3,
        ExprKind::Call(_, _) => 4,
        ExprKind::Select(_, _, _) => 5,
        ExprKind::IfThenElse(_, _, _) => 6,
        ExprKind::Not(_) => 7,
        ExprKind::Let {
            var: _,
            value: _,
            body: _,
        } => 8,
        ExprKind::Ramp {
            base: _,
            stride: _,
            lanes: _,
        } => 9,
        ExprKind::Broadcast(_, _) => 10,
        ExprKind::Int(_) => 11,
        ExprKind::Float(_) => 12,
        ExprKind::Reinterpret(_) => 13,
        ExprKind::External(_, _) => 14,
        ExprKind::Data(_) => 15,
        ExprKind::Str(_) => 16,
    }
}
