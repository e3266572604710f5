//! Inlining before anything else: what an elementwise block computes is computed where it is read, if nothing is then computed
//! twice.

use crate::arith::Analyzer;
use crate::ir::{BlockId, Expr, Place, PrimFunc};
use crate::sched::Schedule;
use crate::sched::rules::inline::into_consumers;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::tensor::DType;

/// Inlines every producer each of whose elements one instance of one block reads. `exp(x)` goes into a sum of its rows, `relu(x)`
/// does not go into a product, which reads it once for each column.
pub(in crate::sched::rules) fn inline_read_once(sch: &mut Schedule) {
    let root = sch.func().root;
    for block in sch.func().child_blocks(Place::Block(root)) {
        let mut attempt = sch.clone();
        if matches!(classify(sch.func(), block), Pattern::Injective)
            && is_read_once(&mut attempt, block)
            && into_consumers(&mut attempt, block)
        {
            *sch = attempt;
        }
    }
}

/// Whether the only block that reads the result runs as often as the result has elements.
fn is_read_once(sch: &mut Schedule, block: BlockId) -> bool {
    let Ok(consumers) = sch.get_consumers(block) else {
        return false;
    };
    let ([consumer], [written]) = (
        consumers.as_slice(),
        sch.func().blocks[block].writes.as_slice(),
    ) else {
        return false;
    };
    let extents = written.buffer.shape().iter();
    Analyzer::new().can_prove_equal(&product(extents), &instances(sch.func(), *consumer))
}

/// How often the block runs.
fn instances(func: &PrimFunc, block: BlockId) -> Expr {
    product(func.blocks[block].iters.iter().map(|iter| &iter.dom.extent))
}

fn product<'a>(extents: impl Iterator<Item = &'a Expr>) -> Expr {
    extents.fold(Expr::i64(1), |all, extent| all * extent.cast(DType::I64))
}
