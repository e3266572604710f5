//! Whether the results of a reduction are made of inputs of their own.

use crate::arith::Analyzer;
use crate::ir::{Block, BlockId, BufferRegion, Expr, IterKind, IterVar, PrimFunc, Var};

/// Whether neighbouring results read the same elements: a window slides over an input, or each input serves several results,
/// as in a matmul. A workgroup for each result would read these elements again and again.
pub(super) fn shares_inputs(func: &PrimFunc, block: BlockId) -> bool {
    let b = &func.blocks[block];
    let counts = |kind| {
        let iters = b.iters.iter();
        iters.filter(move |i| i.kind == kind && !i.dom.extent.is_one())
    };
    let uses = |r: &BufferRegion, iter: &IterVar| r.region.iter().any(|d| d.min.uses(&iter.var));
    if counts(IterKind::Reduce).next().is_none() {
        return false;
    }
    let reads = b
        .reads
        .iter()
        .filter(|r| !b.writes.iter().any(|w| w.buffer == r.buffer));
    let (mut slides, mut serves_all) = (false, true);
    for read in reads {
        serves_all &= counts(IterKind::Spatial).any(|iter| !uses(read, iter));
        let indices = read.region.iter().map(|range| &range.min);
        slides |= indices.into_iter().any(|index| {
            let span: Option<i64> = counts(IterKind::Reduce)
                .map(|iter| Some(step(index, &iter.var)? * (iter.dom.extent.as_int()? - 1)))
                .sum();
            let strides = counts(IterKind::Spatial).map(|iter| step(index, &iter.var));
            let mut moving = strides.filter(|stride| *stride != Some(0));
            moving.any(|stride| match (stride, span) {
                (Some(stride), Some(span)) => span >= stride,
                _ => index_mixes(b, index),
            })
        });
    }
    slides || serves_all
}

/// By how much an index grows with a variable, if that is a constant.
pub(super) fn step(index: &Expr, var: &Var) -> Option<i64> {
    let next = index.substitute(&|v| (v == var).then(|| v.expr() + 1));
    Analyzer::new().simplify(&(next - index)).as_int()
}

/// Whether spatial and reduce iter variables meet in an index.
fn index_mixes(block: &Block, index: &Expr) -> bool {
    let uses = |kind| {
        let mut iters = block.iters.iter();
        iters.any(|iter| iter.kind == kind && index.uses(&iter.var))
    };
    uses(IterKind::Spatial) && uses(IterKind::Reduce)
}
