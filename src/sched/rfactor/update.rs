//! What a reduction computes: `targets[indices] = combine(targets[indices], values)`, from the identities on.

use crate::ir::{BlockId, Buffer, Expr, ExprKind, PrimFunc, Reduction, Stmt, Var};
use crate::sched::Refusal;
use crate::sched::error::ReductionReason;
use crate::tensor::scalar::{BinOp, Scalar};

/// The init and the update of a reduction of one buffer, or of several at the same indices.
pub(super) struct Update {
    pub(super) targets: Vec<Buffer>,
    pub(super) indices: Vec<Expr>,
    pub(super) values: Vec<Expr>,
    pub(super) identities: Vec<Expr>,
    combine: Combine,
}

enum Combine {
    /// One target, with an operator.
    Operator(BinOp),
    /// Several targets, as the value and the index of an argmax.
    Together(Reduction),
}

impl Update {
    /// Reads the init and the body of a block.
    pub(super) fn check(func: &PrimFunc, block: BlockId) -> Result<Self, Refusal> {
        let node = &func.blocks[block];
        let form = |why| {
            let block_name = node.name.clone();
            let reason = ReductionReason::NotAnUpdate {
                block: block_name,
                why,
            };
            reason.at([block.into()])
        };
        if !node.match_buffers.is_empty() || !node.alloc_buffers.is_empty() {
            return Err(form("it has buffers of its own"));
        }
        let init = node.init.as_deref();
        match (init.unwrap_or_default(), func.tree.body(block)) {
            ([Stmt::Store { .. }], [Stmt::Store { .. }]) => Self::of_one(func, block),
            _ => Self::of_several(func, block).map_err(form),
        }
    }

    fn of_one(func: &PrimFunc, block: BlockId) -> Result<Self, Refusal> {
        let node = &func.blocks[block];
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
            unreachable!("one store in each");
        };
        let at = |reason: ReductionReason| reason.at([block.into()]);
        if initialised != target || init_at != indices {
            return Err(at(ReductionReason::NotAnUpdate {
                block: node.name.clone(),
                why: "its init does not store to the same elements",
            }));
        }
        let unmatched = || {
            at(ReductionReason::NoMatchedReducer {
                block: node.name.clone(),
                init: identity.clone(),
                update: update.clone(),
            })
        };
        let ExprKind::Binary(op, sum, value) = update.kind() else {
            return Err(unmatched());
        };
        let reads_sum =
            |e: &Expr| e.any(|e| matches!(e.kind(), ExprKind::Load(buffer, _) if buffer == target));
        let is_sum = matches!(sum.kind(), ExprKind::Load(b, at) if b == target && at == indices);
        if !is_sum || reads_sum(value) || !is_identity(*op, identity) {
            return Err(unmatched());
        }
        Ok(Self {
            targets: vec![target.clone()],
            indices: indices.clone(),
            values: vec![value.clone()],
            identities: vec![identity.clone()],
            combine: Combine::Operator(*op),
        })
    }

    fn of_several(func: &PrimFunc, block: BlockId) -> Result<Self, &'static str> {
        let reduction = Reduction::of_block(func, block)?;
        if reduction.init.as_ref() != Some(&reduction.identities) {
            return Err("it does not begin with values that change nothing");
        }
        let (_, indices) = &reduction.targets[0];
        if reduction.targets.iter().any(|(_, own)| own != indices) {
            return Err("it stores at different indices");
        }
        Ok(Self {
            targets: reduction.targets.iter().map(|(b, _)| b.clone()).collect(),
            indices: indices.clone(),
            values: reduction.shares.clone(),
            identities: reduction.identities.clone(),
            combine: Combine::Together(reduction),
        })
    }

    /// Stores what `values` make of the elements of `targets` at the indices.
    pub(super) fn stores(&self, targets: &[Buffer], at: &[Expr], values: &[Expr]) -> Vec<Stmt> {
        let so_far = targets.iter().map(|b| Expr::load(b, at.to_vec()));
        let so_far: Vec<Expr> = so_far.collect();
        match &self.combine {
            Combine::Operator(op) => {
                let combined = Expr::binary(*op, &so_far[0], &values[0]);
                store_all(targets, at, &[combined])
            }
            Combine::Together(reduction) => {
                store_all(targets, at, &reduction.combine(&so_far, values))
            }
        }
    }
}

/// `targets[..][at] = values`, one after the other.
pub(super) fn store_each(targets: &[Buffer], at: &[Expr], values: &[Expr]) -> Vec<Stmt> {
    let store = |(buffer, value): (&Buffer, &Expr)| Stmt::Store {
        buffer: buffer.clone(),
        indices: at.to_vec(),
        value: value.clone(),
    };
    targets.iter().zip(values).map(store).collect()
}

/// `targets[..][at] = values`, all at once: no value sees what another store writes.
pub(super) fn store_all(targets: &[Buffer], at: &[Expr], values: &[Expr]) -> Vec<Stmt> {
    if values.len() == 1 {
        return store_each(targets, at, values);
    }
    let name = |target: &Buffer| Var::data(format!("v_{}", target.name()), target.dtype());
    let names: Vec<Var> = targets.iter().map(name).collect();
    let named_values: Vec<Expr> = names.iter().map(Var::expr).collect();
    let stores = store_each(targets, at, &named_values);
    let named = names.into_iter().zip(values);
    named.rev().fold(stores, |body, (var, value)| {
        let value = value.clone();
        vec![Stmt::Let { var, value, body }]
    })
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
