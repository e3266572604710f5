//! Estimates of what a nest costs: floating-point operations, for reports and for choosing what to measure and what to spread.
//!
//! What a block does counts once for each of its instances, which its iter domains tell: loops over partial tiles run further.

use super::host::Dims;
use crate::ir::{
    AttrValue, BlockId, Expr, ExprKind, FragmentCall, FragmentExtents, IterKind, PrimFunc, Stmt,
    attrs,
};
use crate::kernel::HostExpr;
use crate::tensor::scalar::BinOp;

/// Floating-point operations of a statement with all that is below it, in terms of the dims; branches count as taken.
pub(super) fn flops(func: &PrimFunc, stmt: &Stmt, dims: &Dims) -> HostExpr {
    let extents = FragmentExtents::of_func(func);
    let cost = Cost {
        func,
        dims,
        extents,
    };
    cost.stmts(std::slice::from_ref(stmt), &HostExpr::Const(1))
}

struct Cost<'a> {
    func: &'a PrimFunc,
    dims: &'a Dims,
    extents: FragmentExtents,
}

impl Cost<'_> {
    /// Operations of statements that loops run this many times.
    fn stmts(&self, stmts: &[Stmt], times: &HostExpr) -> HostExpr {
        let all = stmts.iter().map(|stmt| self.stmt(stmt, times));
        all.fold(HostExpr::Const(0), sum)
    }

    fn stmt(&self, stmt: &Stmt, times: &HostExpr) -> HostExpr {
        match stmt {
            Stmt::Loop(id) => {
                let times = product(times.clone(), self.extent(&self.func.loops[*id].extent));
                self.stmts(self.func.tree.body(*id), &times)
            }
            Stmt::Block(id) => self.block(*id, times),
            other => {
                let own: i64 = other.exprs().into_iter().map(|e| self.of_expr(e)).sum();
                let nested = other.nested().into_iter().map(|s| self.stmts(s, times));
                nested.fold(product(times.clone(), HostExpr::Const(own)), sum)
            }
        }
    }

    /// A block runs as often as its domains say; without any, as often as the loops around it.
    fn block(&self, id: BlockId, times: &HostExpr) -> HostExpr {
        let block = &self.func.blocks[id];
        let instances = |wanted: fn(IterKind) -> bool| {
            if block.iters.is_empty() {
                return times.clone();
            }
            let iters = block.iters.iter().filter(|iter| wanted(iter.kind));
            iters
                .map(|iter| self.extent(&iter.dom.extent))
                .fold(HostExpr::Const(1), product)
        };
        let all = match block.annotations.get(attrs::UNPADDED_TERMS) {
            Some(AttrValue::Int(terms)) => product(
                instances(|kind| kind != IterKind::Reduce),
                HostExpr::Const(*terms),
            ),
            _ => instances(|_| true),
        };
        let body = self.stmts(self.func.tree.body(id), &all);
        let init = block.init.as_deref().unwrap_or_default();
        let init = self.stmts(init, &instances(|kind| kind == IterKind::Spatial));
        sum(body, init)
    }

    fn of_expr(&self, e: &Expr) -> i64 {
        let mut count = 0;
        e.walk(&mut |e| {
            count += match e.kind() {
                ExprKind::Binary(_, a, _) if a.dtype().is_float() => 1,
                ExprKind::Call(_, _) if e.dtype().is_float() => 1,
                ExprKind::External(_, _) => self.of_fragments(e),
                _ => 0,
            };
            true
        });
        count
    }

    /// Those of a product of fragments.
    fn of_fragments(&self, call: &Expr) -> i64 {
        let Some(FragmentCall::MultiplyAdd {
            result,
            a,
            b,
            addend,
        }) = call.as_fragment_call()
        else {
            return 0;
        };
        let extent = self.extents.of_product([result, a, b, addend]);
        extent.map_or(0, |extent| 2 * extent.pow(3))
    }

    /// An extent that depends on other loops counts as one iteration.
    fn extent(&self, e: &Expr) -> HostExpr {
        self.dims.host(e).unwrap_or(HostExpr::Const(1))
    }
}

pub(super) fn product(a: HostExpr, b: HostExpr) -> HostExpr {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) | (_, Some(0)) => HostExpr::Const(0),
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => HostExpr::binary(BinOp::Mul, a, b),
    }
}

pub(super) fn sum(a: HostExpr, b: HostExpr) -> HostExpr {
    match (a.as_const(), b.as_const()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => HostExpr::binary(BinOp::Add, a, b),
    }
}
