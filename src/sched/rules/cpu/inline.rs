//! Inlining before anything else: what an elementwise block computes is computed where it is read, if nothing is then computed
//! twice.

use crate::arith::Analyzer;
use crate::ir::{BlockId, Buffer, Expr, ExprKind, Place, PrimFunc, Stmt};
use crate::sched::Schedule;
use crate::sched::rules::inline::into_consumers;
use crate::sched::rules::pattern::{Pattern, classify};
use crate::tensor::DType;

/// Inlines every producer each of whose elements one instance of one block reads. `exp(x)` goes into a sum of its rows, `relu(x)`
/// does not go into a product, which reads it once for each column. What several blocks read goes into the one that they all went into.
pub(in crate::sched::rules) fn inline_read_once(sch: &mut Schedule) {
    while inline_some(sch) {}
}

/// Goes through all blocks once, and gives whether it inlined one of them.
fn inline_some(sch: &mut Schedule) -> bool {
    let mut any = false;
    let root = sch.func().root;
    for block in sch.func().child_blocks(Place::Block(root)) {
        let mut attempt = sch.clone();
        if matches!(classify(sch.func(), block), Pattern::Injective)
            && is_read_once(&mut attempt, block)
            && into_consumers(&mut attempt, block)
        {
            *sch = attempt;
            any = true;
        }
    }
    any
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
        && is_read_in_order(sch.func(), block, *consumer, &written.buffer)
}

/// Whether no data decides which elements of a buffer the consumer reads, so that it may read one several times; and, where data decides
/// what the producer reads, whether neighbours are the same for both: such reads are far apart for all elements but neighbours.
fn is_read_in_order(
    func: &PrimFunc,
    producer: BlockId,
    consumer: BlockId,
    buffer: &Buffer,
) -> bool {
    let last = func.blocks[consumer].iters.last();
    let last = last.map(|iter| iter.var.expr());
    let gathers = loads(func, producer)
        .iter()
        .any(|(_, indices)| indices.iter().any(Expr::loads));
    loads(func, consumer).iter().all(|(read, indices)| {
        let in_order = !gathers || indices.last() == last.as_ref();
        read != buffer || in_order && !indices.iter().any(Expr::loads)
    })
}

/// The buffers that the values of a block load, with their indices.
fn loads(func: &PrimFunc, block: BlockId) -> Vec<(Buffer, Vec<Expr>)> {
    let mut found = vec![];
    let body = func.tree.body(Place::Block(block)).iter();
    for e in body.flat_map(Stmt::exprs) {
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, indices) = e.kind() {
                found.push((buffer.clone(), indices.clone()));
            }
            true
        });
    }
    found
}

/// How often the block runs.
fn instances(func: &PrimFunc, block: BlockId) -> Expr {
    product(func.blocks[block].iters.iter().map(|iter| &iter.dom.extent))
}

fn product<'a>(extents: impl Iterator<Item = &'a Expr>) -> Expr {
    extents.fold(Expr::i64(1), |all, extent| all * extent.cast(DType::I64))
}
