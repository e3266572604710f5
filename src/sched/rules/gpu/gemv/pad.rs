//! Rows and steps of a product of few rows that are made as many as its threads take.

use super::share::Share;
use super::{MOST_ROWS, Product};
use crate::ir::BlockId;
use crate::sched::Schedule;
use crate::sched::affine::shape_facts;
use crate::sched::rules::DeclineReason;
use crate::sched::rules::pattern::{Pattern, classify};

/// Whether the block has more rows than the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Padded {
    No,
    Rows,
}

/// Open rows that an assertion of the program limits to a few become as many as that. Rows past the last are zeros that nobody stores.
pub(super) fn pad_rows(sch: &mut Schedule, block: BlockId) -> Result<Padded, DeclineReason> {
    let Pattern::Matmul(matmul) = classify(sch.func(), block) else {
        return Err(DeclineReason::Pattern("no matmul"));
    };
    let facts = shape_facts(sch.func());
    let iters = &sch.func().blocks[block].iters;
    let sides = matmul.m.iter().chain(&matmul.n);
    let open = sides.filter(|at| iters[**at].dom.extent.as_int().is_none());
    let &[rows] = open.collect::<Vec<_>>().as_slice() else {
        return Ok(Padded::No);
    };
    let most = facts.bound(&iters[*rows].dom.extent).max;
    if !(2..=MOST_ROWS).contains(&most) {
        return Ok(Padded::No);
    }
    let multiple = |at: usize| if at == *rows { most } else { 1 };
    let padding: Vec<i64> = (0..iters.len()).map(multiple).collect();
    sch.pad_einsum(block, &padding)?;
    Ok(Padded::Rows)
}

/// Runs steps up to a multiple of those that the threads take at once, which add zeros: so each thread has a first one.
pub(super) fn pad_steps(
    sch: &mut Schedule,
    block: BlockId,
    product: &Product,
    share: Share,
) -> Result<(), DeclineReason> {
    let iters = &sch.func().blocks[block].iters;
    let at_once = share.sharers * product.run;
    let whole = iters[product.step].dom.extent.as_int();
    if whole.is_some_and(|steps| steps % at_once == 0) {
        return Ok(());
    }
    let multiple = |at: usize| if at == product.step { at_once } else { 1 };
    let padding: Vec<i64> = (0..iters.len()).map(multiple).collect();
    Ok(sch.pad_einsum(block, &padding)?)
}
