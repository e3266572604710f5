//! Complete blocks, reduction blocks, output blocks: what a block must be so that primitives may move or reorder it.
//!
//! A *complete block* has only spatial iter variables, is the only writer of what it writes (*dominant*), and reads nothing
//! that it writes. A *reduction block* has an init, bindings that are independent (`is_independent_in`), spatial and reduce iter variables only, is dominant,
//! and does not use reduce iter variables to index what it writes.

use super::scope::BlockScope;
use crate::ir::{AttrValue, BlockId, IterKind, Place, PrimFunc, Range, Stmt, Var, attrs};
use crate::sched::affine::{is_affine_in, is_independent_in};
use crate::sched::{Reason, Refusal};

/// The number of the condition of complete blocks (1 to 3, as in TVM's messages) that the block breaks in this scope, if any.
pub fn complete_block_violation(func: &PrimFunc, block: BlockId, scope: Place) -> Option<u8> {
    let node = &func.blocks[block];
    if node.iters.iter().any(|iter| iter.kind != IterKind::Spatial) {
        return Some(1);
    }
    if !is_dominant(func, block, scope) {
        return Some(2);
    }
    let overlap =
        |write: &crate::ir::BufferRegion| node.reads.iter().any(|read| read.buffer == write.buffer);
    node.writes.iter().any(overlap).then_some(3)
}

/// The number of the condition of reduction blocks (1 to 5, as in TVM's messages) that the block breaks in this scope, if any.
pub fn reduction_block_violation(func: &PrimFunc, block: BlockId, scope: Place) -> Option<u8> {
    let node = &func.blocks[block];
    if node.init.is_none() {
        return Some(1);
    }
    let loops = func.loops_above(block.into());
    if !node.iters.is_empty() && !is_independent_in(func, block, &loops) {
        return Some(2);
    }
    let plain = |kind| matches!(kind, IterKind::Spatial | IterKind::Reduce);
    if !node.iters.iter().all(|iter| plain(iter.kind)) {
        return Some(3);
    }
    if !is_dominant(func, block, scope) {
        return Some(4);
    }
    (!reduce_iters_index_no_output(func, block)).then_some(5)
}

/// Whether the block is complete in this scope.
pub fn is_complete_block(func: &PrimFunc, block: BlockId, scope: Place) -> bool {
    complete_block_violation(func, block, scope).is_none()
}

/// Whether the block is a reduction in this scope.
pub fn is_reduction_block(func: &PrimFunc, block: BlockId, scope: Place) -> bool {
    reduction_block_violation(func, block, scope).is_none()
}

/// Whether the block is the only writer of what it writes in this scope.
fn is_dominant(func: &PrimFunc, block: BlockId, scope: Place) -> bool {
    let scope = BlockScope::of(func, scope);
    let only_writer = |w: &crate::ir::BufferRegion| scope.writers(&w.buffer).len() <= 1;
    func.blocks[block].writes.iter().all(only_writer)
}

/// Whether no store of the block (init included) has a reduce iter variable in its indices, neither directly nor through a
/// `let`.
fn reduce_iters_index_no_output(func: &PrimFunc, block: BlockId) -> bool {
    fn check(stmts: &[Stmt], reduce: &mut Vec<Var>) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::Store { indices, .. } => {
                !indices.iter().any(|i| reduce.iter().any(|v| i.uses(v)))
            }
            Stmt::Let { var, value, body } => {
                if reduce.iter().any(|v| value.uses(v)) {
                    reduce.push(var.clone());
                }
                check(body, reduce)
            }
            other => other.nested().into_iter().all(|inner| check(inner, reduce)),
        })
    }
    let node = &func.blocks[block];
    let is_reduce = |iter: &&crate::ir::IterVar| iter.kind == IterKind::Reduce;
    let mut reduce: Vec<Var> = node
        .iters
        .iter()
        .filter(is_reduce)
        .map(|iter| iter.var.clone())
        .collect();
    let in_writes = |range: &Range| reduce.iter().any(|v| range.min.uses(v));
    if node.writes.iter().flat_map(|w| &w.region).any(in_writes) {
        return false;
    }
    check(func.tree.body(block), &mut reduce)
        && node
            .init
            .as_ref()
            .is_none_or(|init| check(init, &mut reduce))
}

/// Whether the bindings of the block are quasi-affine in the loops around it: as iterators they are independent of each other
/// and each runs over a whole interval.
pub fn has_affine_bindings(func: &PrimFunc, block: BlockId) -> bool {
    func.blocks[block].iters.is_empty()
        || is_affine_in(func, block, &func.loops_above(block.into()))
}

/// Refuses a block that is not complete.
///
/// # Errors
/// TVM: `IncompleteBlockError`.
pub fn check_complete_block(func: &PrimFunc, block: BlockId, scope: Place) -> Result<(), Refusal> {
    match complete_block_violation(func, block, scope) {
        None => Ok(()),
        Some(condition) => Err(Reason::IncompleteBlock {
            block: func.blocks[block].name.clone(),
            condition,
        }
        .at([block.into()])),
    }
}

/// Refuses a block that is not a reduction.
///
/// # Errors
/// TVM: `NotReductionBlockError`.
pub fn check_reduction_block(func: &PrimFunc, block: BlockId, scope: Place) -> Result<(), Refusal> {
    match reduction_block_violation(func, block, scope) {
        None => Ok(()),
        Some(condition) => Err(Reason::NotReductionBlock {
            block: func.blocks[block].name.clone(),
            condition,
        }
        .at([block.into()])),
    }
}

/// Refuses a block that is neither complete nor a reduction.
///
/// # Errors
/// TVM: `NotCompleteOrReductionBlockError`.
pub fn check_complete_or_reduction_block(
    func: &PrimFunc,
    block: BlockId,
    scope: Place,
) -> Result<(), Refusal> {
    let Some(complete) = complete_block_violation(func, block, scope) else {
        return Ok(());
    };
    let Some(reduction) = reduction_block_violation(func, block, scope) else {
        return Ok(());
    };
    Err(Reason::NotCompleteOrReductionBlock {
        block: func.blocks[block].name.clone(),
        complete,
        reduction,
    }
    .at([block.into()]))
}

/// Refuses a subtree in which some child block is neither complete nor a reduction within the subtree.
///
/// # Errors
/// TVM: `NotCompactDataFlowError`.
pub fn check_compact_dataflow(func: &PrimFunc, subtree: Place) -> Result<(), Refusal> {
    for block in func.child_blocks(subtree) {
        let known = is_complete_block(func, block, subtree)
            || is_reduction_block(func, block, subtree)
            || runs_in_any_order(func, block);
        if !known {
            let name = func.blocks[block].name.clone();
            return Err(Reason::NotCompactDataflow { block: name }.at([subtree, block.into()]));
        }
    }
    Ok(())
}

/// Whether the block is annotated to run in any order.
pub fn runs_in_any_order(func: &PrimFunc, block: BlockId) -> bool {
    func.blocks[block].annotations.get(attrs::ANY_ORDER) == Some(&AttrValue::Bool(true))
}

/// Whether the block writes a buffer that its scope does not allocate.
pub fn is_output_block(func: &PrimFunc, block: BlockId, scope: BlockId) -> bool {
    let allocated = &func.blocks[scope].alloc_buffers;
    let writes = &func.blocks[block].writes;
    writes.iter().any(|w| !allocated.contains(&w.buffer))
}

/// Refuses an output block.
///
/// # Errors
/// TVM: `OutputBlockError`.
pub fn check_not_output_block(
    func: &PrimFunc,
    block: BlockId,
    scope: BlockId,
) -> Result<(), Refusal> {
    if is_output_block(func, block, scope) {
        let name = func.blocks[block].name.clone();
        return Err(Reason::OutputBlock { block: name }.at([block.into()]));
    }
    Ok(())
}
