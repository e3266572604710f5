//! The sizes for which a program of open sizes has a variant: those of one row of its product, whose schedule differs most from that of
//! many rows.

use super::pattern::{Matmul, Pattern, classify};
use super::{cpu, gpu, is_scheduled};
use crate::arith::specialized;
use crate::ir::{BlockId, Expr, ExprKind, Param, Place, PrimFunc, Var};
use crate::kernel::Target;

/// The sizes of the variant that a program is to have, if it is to have one. Each is an extent of a parameter.
pub fn variant(func: &PrimFunc, target: &Target) -> Option<Vec<(Var, i64)>> {
    if is_scheduled(func) {
        return None;
    }
    let blocks = func.child_blocks(Place::Block(func.root));
    blocks.into_iter().find_map(|block| {
        let Pattern::Matmul(matmul) = classify(func, block) else {
            return None;
        };
        let sides = [(&matmul.m, &matmul.n), (&matmul.n, &matmul.m)];
        sides.into_iter().find_map(|(rows, columns)| {
            let sizes = of_one_row(func, block, &matmul, rows, columns)?;
            let variant = specialized(func, &sizes);
            let pays = match target {
                Target::Gpu(gpu) => gpu::pays_for_one_row(&variant, block, gpu),
                Target::Cpu(_) => cpu::pays_for_one_row(&variant, block),
            };
            pays.then_some(sizes)
        })
    })
}

/// The open extents of the rows of a product, each to be 1. Its columns and sums have others.
fn of_one_row(
    func: &PrimFunc,
    block: BlockId,
    matmul: &Matmul,
    rows: &[usize],
    columns: &[usize],
) -> Option<Vec<(Var, i64)>> {
    let iters = &func.blocks[block].iters;
    let mut sizes: Vec<(Var, i64)> = vec![];
    for &at in rows {
        let extent = &iters[at].dom.extent;
        match (extent.as_int(), size(extent)) {
            (Some(_), _) => {}
            (None, Some(var)) if is_extent_of_parameter(func, var) => {
                if sizes.iter().all(|(known, _)| known != var) {
                    sizes.push((var.clone(), 1));
                }
            }
            _ => return None,
        }
    }
    let others = columns.iter().chain(&matmul.k);
    let mut others = others.map(|&at| &iters[at].dom.extent);
    let apart = others.all(|extent| sizes.iter().all(|(var, _)| !extent.uses(var)));
    (apart && !sizes.is_empty()).then_some(sizes)
}

/// The variable that an extent is, whatever type it is converted to.
fn size(extent: &Expr) -> Option<&Var> {
    match extent.kind() {
        ExprKind::Cast(inner) => size(inner),
        _ => extent.as_var(),
    }
}

/// Whether the arguments of a call decide a size, and nothing else does.
fn is_extent_of_parameter(func: &PrimFunc, var: &Var) -> bool {
    let is_scalar = |param: &Param| matches!(param, Param::Scalar(scalar) if scalar == var);
    let mut extents = func.buffer_params().flat_map(|buffer| buffer.shape());
    !func.params.iter().any(is_scalar) && extents.any(|extent| extent.as_var() == Some(var))
}
