//! Sums of scalars, run on vectors with several accumulators.
//!
//! `for k { t = t op f(k) }` with neighbouring elements for neighbouring `k` becomes a loop over groups of `k` on vectors that
//! fill several registers, one over single registers for what is left, and one over scalars for the rest; then the accumulators are
//! combined in pairs.

use super::{Expander, Widths, zero};
use crate::kernel::build::Loop;
use crate::kernel::reduction::Sum;
use crate::kernel::{ArrayId, Expr, Stmt};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Expander<'_> {
    /// The loop on vectors.
    pub(super) fn sums(&mut self, l: &Loop, sums: &[Sum], widths: &Widths) -> Vec<Stmt> {
        let wide = widths.wide;
        let new = |sum: &Sum| self.kernel.new_local("partial", sum.dtype, wide.into());
        let accumulators: Vec<ArrayId> = sums.iter().map(new).collect();
        let both = || sums.iter().zip(&accumulators);
        let mut out: Vec<Stmt> = both()
            .map(|(sum, &array)| {
                let identity = Expr::Splat(Box::new(sum.identity.clone()), wide);
                Stmt::store(array, zero(), identity)
            })
            .collect();
        let mut of_group = |expander: &mut Self, width: u16, first: &Expr| {
            both()
                .map(|(sum, &array)| {
                    let so_far = Expr::load(array, zero(), width);
                    let term = expander.lanes(l, &sum.term, first, width);
                    let value = Expr::Binary(sum.op, Box::new(so_far), Box::new(term));
                    Stmt::store(array, zero(), value)
                })
                .collect()
        };
        let combined = |_: &mut Self| {
            both()
                .map(|(sum, &array)| {
                    let so_far = Expr::load(sum.array, sum.index.clone(), 1);
                    let all = combine(sum.op, array, widths.registers, widths.lanes);
                    let value = Expr::folded(sum.op, so_far, all);
                    Stmt::store(sum.array, sum.index.clone(), value)
                })
                .collect()
        };
        out.extend(self.groups(l, widths, &mut of_group, combined));
        out
    }
}

/// All lanes of the accumulators combined: registers in pairs, then the lanes of the last one in pairs.
fn combine(op: BinOp, array: ArrayId, registers: usize, lanes: u16) -> Expr {
    let register = |i: usize| {
        let at = i as i64 * i64::from(lanes);
        Expr::load(array, Expr::Int(at, ScalarType::I64), lanes)
    };
    let whole = in_pairs(op, (0..registers).map(register).collect());
    let lane = |i: u16| Expr::Lane(Box::new(whole.clone()), i);
    in_pairs(op, (0..lanes).map(lane).collect())
}

fn in_pairs(op: BinOp, mut parts: Vec<Expr>) -> Expr {
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
                [a] => a.clone(),
                _ => unreachable!("chunks of two"),
            })
            .collect();
    }
    parts.remove(0)
}
