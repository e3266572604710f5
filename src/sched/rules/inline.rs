//! Inlining that keeps values short. What is read twice is written out twice once it is inlined, so that a chain of such blocks, of
//! squares or of residual sums, doubles with each; passes walk all of it, though common subexpressions have names in the end.

use crate::ir::{BlockId, Buffer, ExprKind, Place, PrimFunc, Stmt};
use crate::sched::Schedule;

/// Most nodes of a value that something was inlined into at several places.
const MOST_NODES: usize = 1024;

/// Computes what a block computes where it is read. Gives whether it did: `compute_inline` may refuse, and what is read several times
/// makes no value too long.
pub(super) fn into_consumers(sch: &mut Schedule, block: BlockId) -> bool {
    let func = sch.func();
    let blocks = func.child_blocks(Place::Block(func.root)).into_iter();
    let reads = blocks.map(|reader| (reader, loads(func, reader, block)));
    let readers: Vec<(BlockId, usize)> = reads.filter(|(_, loads)| *loads > 0).collect();
    let repeats = readers.iter().map(|(_, loads)| loads).sum::<usize>() > 1;
    let mut attempt = sch.clone();
    let done = attempt.compute_inline(block).is_ok()
        && !(repeats && readers.iter().any(|(b, _)| is_long(attempt.func(), *b)));
    if done {
        *sch = attempt;
    }
    done
}

/// Computes a consumer where its producer stores. Gives whether it did: `reverse_compute_inline` may refuse, and a consumer that reads
/// the producer several times makes no value that is too long.
pub(super) fn into_producer(sch: &mut Schedule, consumer: BlockId, producer: BlockId) -> bool {
    let repeats = loads(sch.func(), consumer, producer) > 1;
    let mut attempt = sch.clone();
    let done = attempt.reverse_compute_inline(consumer).is_ok()
        && !(repeats && is_long(attempt.func(), producer));
    if done {
        *sch = attempt;
    }
    done
}

/// How often the values that a block stores load what another one writes.
fn loads(func: &PrimFunc, reader: BlockId, writer: BlockId) -> usize {
    let writes = func.blocks[writer].writes.iter();
    let written: Vec<&Buffer> = writes.map(|write| &write.buffer).collect();
    let mut count = 0;
    for stmt in func.tree.body(Place::Block(reader)) {
        if let Stmt::Store { value, .. } = stmt {
            value.walk(&mut |e| {
                let of_writer = matches!(e.kind(), ExprKind::Load(b, _) if written.contains(&b));
                count += usize::from(of_writer);
                true
            });
        }
    }
    count
}

fn is_long(func: &PrimFunc, block: BlockId) -> bool {
    let mut body = func.tree.body(Place::Block(block)).iter();
    body.any(|stmt| match stmt {
        Stmt::Store { value, .. } => value.nodes(MOST_NODES + 1) > MOST_NODES,
        _ => false,
    })
}
