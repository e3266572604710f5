//! Panels of the operand `B` of a product, and which products want them.

use super::convolution::Roles;
use super::groups::{with_groups, within_group};
use super::traits::COLUMNS;
use crate::ir::{BlockId, Buffer, Expr, PrimFunc, Range, Var};
use crate::sched::rules::DeclineReason;
use crate::sched::rules::layouts::Panels;
use crate::sched::rules::pattern::{Matmul, Operand, Pattern, classify};
use crate::tensor::scalar::BinOp;

/// The product that a block computes, if its sums have 32 or 64 bits: whole registers of them are a panel. Sums of products of two
/// rows each, as of a row by itself, are reductions.
pub(super) fn of_words(func: &PrimFunc, block: BlockId) -> Result<Matmul, DeclineReason> {
    match classify(func, block) {
        Pattern::Matmul(matmul) if is_of_rows_alone(func, block, &matmul) => {
            Err(DeclineReason::Pattern("no operand is a matrix"))
        }
        Pattern::Matmul(matmul) if adds_words(&matmul) => Ok(matmul),
        Pattern::Matmul(_) => Err(DeclineReason::Pattern("sums that are not of 32 or 64 bits")),
        _ => Err(DeclineReason::Pattern("not a sum of products")),
    }
}

/// Whether each sum is of products of one row by one row, as the squares of a row.
fn is_of_rows_alone(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> bool {
    let Matmul { batch, m, n, .. } = matmul;
    let is_one = |at: &usize| func.blocks[block].iters[*at].dom.extent.is_one();
    !batch.is_empty() && m.iter().chain(n).all(is_one)
}

/// Whether a product of one row is better off without the tiles of many.
pub(in crate::sched::rules) fn pays_for_one_row(func: &PrimFunc, block: BlockId) -> bool {
    of_words(func, block).is_ok_and(|matmul| in_rows(func, block, &matmul))
}

/// Most rows by a matrix in rows along the sums that is read where it lies. (64 by 1024 × 1024 take as long with the transpose, 8 two to four times.)
const FEW_ROWS: i64 = 32;

/// Whether a product takes an operand from where it lies, in rows along the sums.
pub(in crate::sched::rules) fn reads_along_sums(
    func: &PrimFunc,
    block: BlockId,
    operand: &Buffer,
) -> bool {
    let Ok(Matmul { a, b, m, n, k, .. }) = of_words(func, block) else {
        return false;
    };
    let along_k = |operand: &Operand| operand.contiguous.is_some_and(|at| k.contains(&at));
    let extent = |at: &usize| func.blocks[block].iters[*at].dom.extent.as_int();
    let few = |rows: &[usize]| {
        let rows: Option<i64> = rows.iter().map(extent).product();
        rows.is_some_and(|rows| rows <= FEW_ROWS)
    };
    let sides = [(&b, &m), (&a, &n)];
    let mut own = sides.into_iter().filter(|(own, _)| own.buffer == *operand);
    along_k(&a) && along_k(&b) && own.any(|(_, rows)| few(rows))
}

fn adds_words(matmul: &Matmul) -> bool {
    let dtype = matmul.c.dtype();
    (dtype.is_float() || dtype.is_int()) && dtype.scalar.bytes() >= 4 && dtype.lanes == 1
}

/// Fewest columns that are worth a panel: half of it is filled then.
pub(super) const MIN_COLUMNS: i64 = COLUMNS / 2;

/// Fewest channels of a convolution whose weight is packed. A weight that is not is copied to a panel for each block of pixels.
const MIN_CHANNELS: i64 = COLUMNS / 4;

/// The operand of a matmul that the rule would copy to panels, or read along `k`, and its panels. They pay for few rows above all
/// (one row of 768 by a matrix of 3072 columns: a fifth of the time with rows of `B`, half with rows of its transpose), and cost
/// nothing for many.
pub(in crate::sched::rules) fn panels_for(
    func: &PrimFunc,
    block: BlockId,
) -> Option<(Buffer, Panels)> {
    let grouped = with_groups(func, block);
    let func = grouped.as_ref().unwrap_or(func);
    let Pattern::Matmul(matmul) = classify(func, block) else {
        return None;
    };
    if !adds_words(&matmul) {
        return None;
    }
    // Either rule reads panels; which one it is depends on the layout of the result.
    let (weight, columns, least) = if in_rows(func, block, &matmul) {
        (matmul.b.clone(), matmul.n[0], MIN_COLUMNS)
    } else {
        let roles = Roles::of(func, block, &matmul)?;
        let iters = &func.blocks[block].iters;
        let is_one_pixel = roles.pixels.iter().all(|&at| iters[at].dom.extent.is_one());
        let least = if is_one_pixel {
            MIN_COLUMNS
        } else {
            MIN_CHANNELS
        };
        (roles.weight, roles.channels, least)
    };
    let indices = indices_of(func, block, weight.read_index, &matmul.batch)?;
    let axis = indices.iter().position(|at| *at == Some(columns))?;
    let outside = |at: &&Option<usize>| at.is_none_or(|at| matmul.batch.contains(&at));
    let batch = indices.iter().take_while(outside).count();
    let summed = |at: &Option<usize>| at.is_some_and(|at| matmul.k.contains(&at));
    let others = indices[batch..].iter().filter(|at| **at != Some(columns));
    let matrix = others.clone().all(summed) && others.count() > 0;
    let shape = weight.buffer.shape();
    let constant = shape.iter().all(|e| e.as_int().is_some());
    let panels = Panels {
        batch,
        axis,
        width: COLUMNS,
    };
    (matrix && constant && shape[axis].as_int()? >= least).then(|| (weight.buffer.clone(), panels))
}

/// The iter variables that a read has as its indices, one each, besides those of the batch, or none where an index is a constant.
pub(super) fn indices_of(
    func: &PrimFunc,
    block: BlockId,
    read: usize,
    batch: &[usize],
) -> Option<Vec<Option<usize>>> {
    let info = &func.blocks[block];
    let roles = info.reads[read].region.iter().map(|range| {
        let index = Some(&range.min).filter(|_| range.extent.is_one())?;
        if index.as_int().is_some() {
            return Some(None);
        }
        let within = within_group(func, block, batch, index);
        let var = index.as_var().or(within.as_var())?;
        let at = info.iters.iter().position(|iter| iter.var == *var)?;
        Some(Some(at))
    });
    roles.collect()
}

/// Whether neighbouring columns of the result are neighbours in memory.
pub(super) fn in_rows(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> bool {
    let info = &func.blocks[block];
    let [write] = info.writes.as_slice() else {
        return false;
    };
    let Some((last, others)) = write.region.split_last() else {
        return false;
    };
    let n: Vec<&Var> = matmul.n.iter().map(|&at| &info.iters[at].var).collect();
    let outside = |range: &Range| n.iter().any(|var| range.min.uses(var));
    n.len() == 1 && last.min.as_var() == Some(n[0]) && !others.iter().any(outside)
}

/// Whether `B` lies in panels of this rule's width, and the result in rows.
pub(super) fn is_in_panels(func: &PrimFunc, block: BlockId, matmul: &Matmul) -> bool {
    let info = &func.blocks[block];
    let [n] = matmul.n[..] else {
        return false;
    };
    let column = info.iters[n].var.expr();
    let digit = |op: BinOp| {
        let width = Expr::int(COLUMNS, column.dtype());
        Expr::binary(op, column.clone(), width)
    };
    let region = &info.reads[matmul.b.read_index].region;
    let within = region
        .last()
        .is_some_and(|r| r.min == digit(BinOp::FloorMod));
    let panels = region.iter().filter(|r| r.min == digit(BinOp::FloorDiv));
    within && panels.count() == 1 && in_rows(func, block, matmul)
}
