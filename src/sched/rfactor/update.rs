//! What a reduction computes: `target[indices] = target[indices] op value`, from the identity of `op` on.

use crate::ir::{BlockId, Buffer, Expr, ExprKind, PrimFunc, Stmt};
use crate::sched::Refusal;
use crate::sched::error::ReductionReason;
use crate::tensor::scalar::{BinOp, Scalar};

/// The init and the update of a reduction of one buffer.
#[derive(Clone)]
pub(super) struct Update {
    pub(super) target: Buffer,
    pub(super) indices: Vec<Expr>,
    pub(super) op: BinOp,
    pub(super) value: Expr,
    pub(super) identity: Expr,
}

impl Update {
    /// Reads the init and the body of a block.
    pub(super) fn check(func: &PrimFunc, block: BlockId) -> Result<Self, Refusal> {
        let node = &func.blocks[block];
        let name = || node.name.clone();
        let form = || ReductionReason::NotSingleUpdate { block: name() }.at([block.into()]);
        let init = node.init.as_deref().unwrap_or_default();
        let (
            [
                Stmt::Store {
                    buffer: initialised,
                    indices: init_at,
                    value: identity,
                },
            ],
            [
                Stmt::Store {
                    buffer: target,
                    indices,
                    value: update,
                },
            ],
        ) = (init, func.tree.body(block))
        else {
            return Err(form());
        };
        let of_its_own = node.match_buffers.is_empty() && node.alloc_buffers.is_empty();
        if initialised != target || init_at != indices || !of_its_own {
            return Err(form());
        }
        let unmatched = || {
            let reason = ReductionReason::NoMatchedReducer {
                block: name(),
                init: identity.clone(),
                update: update.clone(),
            };
            reason.at([block.into()])
        };
        let ExprKind::Binary(op, sum, value) = update.kind() else {
            return Err(unmatched());
        };
        let reads_sum = |e: &Expr| {
            let mut found = false;
            e.walk(&mut |e| {
                found |= matches!(e.kind(), ExprKind::Load(buffer, _) if buffer == target);
                !found
            });
            found
        };
        let is_sum = matches!(sum.kind(), ExprKind::Load(b, at) if b == target && at == indices);
        if !is_sum || reads_sum(value) || !is_identity(*op, identity) {
            return Err(unmatched());
        }
        Ok(Self {
            target: target.clone(),
            indices: indices.clone(),
            op: *op,
            value: value.clone(),
            identity: identity.clone(),
        })
    }
}

/// Whether a reduction with the operator begins with the value. For the least and greatest of floats this is the infinity, or,
/// as TVM writes it, the last finite number.
fn is_identity(op: BinOp, value: &Expr) -> bool {
    let ty = value.dtype().scalar;
    let greatest = || ty.max_finite();
    match (op, op.identity(ty)) {
        (_, None) => false,
        (_, Some(Scalar::Int(identity))) => value.as_int() == Some(identity),
        (BinOp::Max, Some(_)) if value.as_float() == Some(-greatest()) => true,
        (BinOp::Min, Some(_)) if value.as_float() == Some(greatest()) => true,
        (_, Some(Scalar::Float(identity))) => value.as_float() == Some(identity),
    }
}
