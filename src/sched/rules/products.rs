//! What rules for products do first, whatever the target: rows of several dimensions become one, sums are kept where a thread adds them up.

use super::DeclineReason;
use super::nest::params;
use super::pattern::{Matmul, Pattern, classify};
use crate::ir::{BlockId, BufferRegion, Expr, Lambda, Var};
use crate::sched::{Schedule, ScheduleError};
use crate::tensor::DType;

/// Writes rows of several dimensions (batches of sequences) as one: a tile may then hold rows of two sequences, and has as many rows
/// whatever the extents are.
pub(super) fn join_rows(
    sch: &mut Schedule,
    block: BlockId,
    matmul: Matmul,
) -> Result<Matmul, DeclineReason> {
    let params = params(sch.func(), block);
    let info = &sch.func().blocks[block];
    let wide = |at: &usize| !info.iters[*at].dom.extent.is_one();
    let [write] = info.writes.as_slice() else {
        return Ok(matmul);
    };
    let position = |var: &Var| info.iters.iter().position(|iter| iter.var == *var);
    let result = write
        .region
        .iter()
        .filter_map(|range| range.min.as_var().and_then(position));
    let rows: Vec<usize> = result
        .filter(|at| matmul.m.contains(at) && wide(at))
        .collect();
    let [first, rest @ ..] = rows.as_slice() else {
        return Ok(matmul);
    };
    if rest.is_empty() || rows.len() != matmul.m.iter().filter(|at| wide(at)).count() {
        return Ok(matmul);
    }
    let joined = rest.iter().fold(params[*first].expr(), |row, at| {
        let extent = info.iters[*at].dom.extent.cast(DType::I64);
        row * extent + &params[*at]
    });
    let place = |(at, var): (usize, &Var)| match rows.contains(&at) {
        true => (at == rows[0]).then(|| joined.clone()),
        false => Some(var.expr()),
    };
    let results = params.iter().enumerate().filter_map(place).collect();
    sch.transform_block_layout(block, &Lambda { params, results })?;
    match classify(sch.func(), block) {
        Pattern::Matmul(matmul) => Ok(matmul),
        _ => Err(DeclineReason::Pattern(
            "a matmul whose rows cannot be joined",
        )),
    }
}

/// The block adds up in an array of the thread, and another block writes that back.
pub(super) fn cache_result(sch: &mut Schedule, block: BlockId) -> Result<BlockId, ScheduleError> {
    if is_simple(&sch.func().blocks[block].writes[0]) {
        return sch.cache_write(block, 0, "local", &[]);
    }
    reindex_result(sch, block)
}

/// The same with an array that has a dimension for each iter variable of the result.
pub(super) fn reindex_result(sch: &mut Schedule, block: BlockId) -> Result<BlockId, ScheduleError> {
    let info = &sch.func().blocks[block];
    let params = params(sch.func(), block);
    let spatial = (0..params.len()).filter(|at| {
        let region = &info.writes[0].region;
        region
            .iter()
            .any(|range| range.min.uses(&info.iters[*at].var))
    });
    let results = spatial.map(|at| params[at].expr()).collect();
    let map = Lambda { params, results };
    sch.reindex_cache_write(block, 0, "local", &map)
}

/// Whether every index is a variable or a constant.
pub(super) fn is_simple(region: &BufferRegion) -> bool {
    let simple = |e: &Expr| e.as_var().is_some() || e.as_int().is_some();
    region.region.iter().all(|range| simple(&range.min))
}
