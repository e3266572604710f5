//! Blocks that share rows: reductions over rows, and what is computed before and after them in the same rows (softmax,
//! normalisation).

use super::DeclineReason;
use super::pattern::{Pattern, classify, reduces, results_of_reduction};
use super::reuse::shares_inputs;
use crate::ir::{BlockId, BufferRegion, Expr, IterKind, LoopKind, Place, PrimFunc};
use crate::sched::Schedule;

/// A chain of such blocks.
pub(super) struct Chain {
    /// In program order.
    pub(super) blocks: Vec<BlockId>,
    /// The block whose rows the others follow.
    pub(super) last: BlockId,
    /// The first reduction.
    pub(super) first: BlockId,
    /// Extents of the dimensions that count rows. They are the first of each block; a reduction has others only of extent 1.
    pub(super) rows: Vec<Expr>,
}

impl Chain {
    /// The chain that ends with the last user of what a block computes. Of what is reduced as a whole, it ends with the last user
    /// that is such a whole, unless all have at most so many elements.
    pub(super) fn of(
        sch: &mut Schedule,
        block: BlockId,
        most_of_whole: i64,
    ) -> Result<Self, DeclineReason> {
        let users = users_of(sch, block)?;
        let last = users.last().copied().unwrap_or(block);
        let mut blocks = chain_to(sch, last)?;
        let first = blocks
            .iter()
            .copied()
            .find(|&b| is_reduction(sch.func(), b))
            .ok_or(DeclineReason::Pattern("no reduction"))?;
        // What is reduced as a whole keeps one workgroup busy; what follows with more elements is for other rules.
        let elements = |b: &BlockId| {
            let extents = spatial_extents(sch.func(), *b);
            extents.iter().map(Expr::as_int).product::<Option<i64>>()
        };
        let whole = |b: &BlockId| elements(b) == Some(1);
        let few = |b: &BlockId| elements(b).is_some_and(|n| n <= most_of_whole);
        let last = match users.iter().copied().rfind(whole) {
            Some(end) if whole(&first) && !users.iter().all(few) => {
                blocks = chain_to(sch, end)?;
                end
            }
            _ => last,
        };
        let func = sch.func();
        let rows = spatial_extents(func, first);
        // A reduced dimension that is kept with an extent of 1 counts no rows.
        let without_units = rows
            .iter()
            .rposition(|e| !e.is_one())
            .map_or(0, |at| at + 1);
        let rows = [&rows[..], &rows[..without_units]]
            .into_iter()
            .find(|rows| blocks.iter().all(|&b| has_rows(func, b, rows)))
            .ok_or(DeclineReason::Pattern("the blocks do not share their rows"))?
            .to_vec();
        let combine =
            |&b: &BlockId| !is_reduction(func, b) || results_of_reduction(func, b).is_some();
        if !blocks.iter().all(combine) {
            return Err(DeclineReason::Pattern(
                "a reduction whose terms may not be combined in another order",
            ));
        }
        if along_rows(func, first).is_empty() {
            return Err(DeclineReason::Pattern("rows are not contiguous"));
        }
        if blocks.iter().any(|&b| shares_inputs(func, b)) {
            return Err(DeclineReason::Pattern(
                "several results are made of the same inputs",
            ));
        }
        Ok(Self {
            blocks,
            last,
            first,
            rows,
        })
    }
}

/// Whether these are the extents of the first iter variables of a block, and a reduction has no others.
fn has_rows(func: &PrimFunc, block: BlockId, rows: &[Expr]) -> bool {
    let known = spatial_extents(func, block);
    let Some((own, others)) = known.split_at_checked(rows.len()) else {
        return false;
    };
    own == rows && (!is_reduction(func, block) || others.iter().all(Expr::is_one))
}

/// The block and all that use what it computes, directly or not, in program order.
pub(super) fn users_of(sch: &mut Schedule, block: BlockId) -> Result<Vec<BlockId>, DeclineReason> {
    let mut known = vec![block];
    let mut at = 0;
    while at < known.len() {
        for consumer in sch.get_consumers(known[at])? {
            if !known.contains(&consumer) {
                known.push(consumer);
            }
        }
        at += 1;
    }
    let order = sch.func().child_blocks(Place::Block(sch.func().root));
    Ok(order.into_iter().filter(|b| known.contains(b)).collect())
}

/// Whether no rule has taken the block yet.
pub(super) fn is_serial(func: &PrimFunc, block: BlockId) -> bool {
    let mut loops = func.loops_above(block.into()).into_iter();
    loops.all(|l| func.loops[l].kind == LoopKind::Serial)
}

/// The block and all producers of it, in program order. What a rule has taken is an input.
fn chain_to(sch: &mut Schedule, block: BlockId) -> Result<Vec<BlockId>, DeclineReason> {
    let mut chain = vec![block];
    let mut at = 0;
    while at < chain.len() {
        for producer in sch.get_producers(chain[at])? {
            if !chain.contains(&producer) && is_serial(sch.func(), producer) {
                chain.push(producer);
            }
        }
        at += 1;
    }
    let func = sch.func();
    let order = func.child_blocks(Place::Block(func.root));
    chain.sort_by_key(|b| order.iter().position(|o| o == b));
    let fits = chain.iter().all(|&b| {
        (reduces(func, b) || matches!(classify(func, b), Pattern::Injective))
            && has_own_loops(func, b)
            && is_serial(func, b)
    });
    if fits {
        Ok(chain)
    } else {
        Err(DeclineReason::Pattern(
            "a block of the chain is no reduction or spatial block in loops of its own",
        ))
    }
}

/// Whether each loop around a block is an iter variable, in their order.
pub(super) fn has_own_loops(func: &PrimFunc, block: BlockId) -> bool {
    let loops = func.loops_above(block.into());
    let own = func.blocks[block].bindings.iter().filter(|e| !is_fixed(e));
    own.map(Expr::as_var)
        .eq(loops.iter().map(|&l| Some(&func.loops[l].var)))
}

/// How many loops around a block count the rows, if these are its first `rows` iter variables.
pub(super) fn loops_of_rows(func: &PrimFunc, block: BlockId, rows: usize) -> usize {
    let bindings = func.blocks[block].bindings.iter().take(rows);
    bindings.filter(|e| !is_fixed(e)).count()
}

/// Whether what an iter variable is bound to needs no loop.
fn is_fixed(binding: &Expr) -> bool {
    binding.as_int().is_some()
}

pub(super) fn is_reduction(func: &PrimFunc, block: BlockId) -> bool {
    func.blocks[block]
        .iters
        .iter()
        .any(|i| i.kind == IterKind::Reduce)
}

/// Extents of the spatial iter variables, which must come first.
fn spatial_extents(func: &PrimFunc, block: BlockId) -> Vec<Expr> {
    func.blocks[block]
        .iters
        .iter()
        .take_while(|i| i.kind == IterKind::Spatial)
        .map(|i| i.dom.extent.clone())
        .collect()
}

/// The reads in which neighbours of the last reduce iter variable are neighbours in memory.
pub(super) fn along_rows(func: &PrimFunc, block: BlockId) -> Vec<usize> {
    let b = &func.blocks[block];
    let Some(last) = b.iters.iter().rfind(|i| i.kind == IterKind::Reduce) else {
        return vec![];
    };
    let contiguous = |r: &BufferRegion| {
        let innermost = r.region.last();
        innermost.is_some_and(|range| range.min.as_var() == Some(&last.var))
    };
    (0..b.reads.len())
        .filter(|&i| contiguous(&b.reads[i]))
        .collect()
}
