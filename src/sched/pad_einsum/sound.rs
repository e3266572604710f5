//! Whether padding keeps the meaning of a block. TVM leaves that to who calls it.

use super::plan::Plan;
use super::{Access, PaddedBuffer};
use crate::ir::{
    BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, IterVar, PrimFunc, Range, Stmt,
};
use crate::sched::affine::shape_facts;
use crate::sched::analysis::writes_wholly;
use crate::sched::inline::only_store;
use crate::sched::{PaddingReason, Refusal};
use crate::tensor::scalar::BinOp;

pub(super) fn check_sound(func: &PrimFunc, plan: &Plan) -> Result<(), Refusal> {
    for padded in &plan.buffers {
        check_whole(func, plan, padded)?;
        check_not_used_meanwhile(func, plan, padded)?;
    }
    check_loops(func, plan)?;
    for (at, _) in &plan.iters {
        let iter = &func.blocks[plan.block].iters[*at];
        if iter.kind != IterKind::Spatial && grows(func, plan, *at) {
            check_nothing_added(func, plan, iter)?;
        }
    }
    check_no_division(func, plan)
}

/// Whether instances run past the old domain of the iter variable.
fn grows(func: &PrimFunc, plan: &Plan, at: usize) -> bool {
    let binding = &func.blocks[plan.block].bindings[at];
    let mut loops = plan.loops.iter();
    loops.any(|(id, _)| binding.uses(&func.loops[*id].var))
}

fn region_of<'a>(func: &'a PrimFunc, plan: &Plan, buffer: &Buffer) -> Option<&'a BufferRegion> {
    let node = &func.blocks[plan.block];
    let mut regions = node.reads.iter().chain(&node.writes);
    regions.find(|region| region.buffer == *buffer)
}

/// Refuses a buffer of which the padded copy would lack elements that are used or take elements that nobody has written, or that
/// would be overwritten beyond what the block writes.
fn check_whole(func: &PrimFunc, plan: &Plan, padded: &PaddedBuffer) -> Result<(), Refusal> {
    let node = &func.blocks[plan.block];
    let Some(region) = region_of(func, plan, &padded.old) else {
        return Ok(());
    };
    // The copy takes every element, but of a buffer of the function only what the block reads is known to be written.
    let all_written = func.buffer_params().any(|param| *param == padded.old);
    let whole_dim = |(at, range): (usize, &Range)| {
        let iter =
            (range.min.as_var()).and_then(|var| node.iters.iter().find(|iter| iter.var == *var));
        match (iter, padded.access) {
            (Some(iter), Access::Read) if all_written => iter.dom.min.is_zero(),
            (Some(iter), _) => runs_over(func, iter, &padded.old, at),
            (None, Access::Read) => range.min.is_zero(),
            (None, Access::Written) => padded.old.shape()[at].is_one(),
        }
    };
    let whole = region.region.iter().enumerate().all(whole_dim);
    let written = || writes_wholly(func, plan.block, region, plan.scope.into());
    if whole && (padded.access == Access::Read || written()) {
        return Ok(());
    }
    let reason = PaddingReason::NotWholeBuffer {
        block: node.name.clone(),
        buffer: padded.old.name().to_owned(),
    };
    Err(reason.at([plan.block.into()]))
}

/// Whether the values of the iter variable are the indices of a dimension.
fn runs_over(func: &PrimFunc, iter: &IterVar, buffer: &Buffer, dim: usize) -> bool {
    let extent = &buffer.shape()[dim];
    iter.dom.min.is_zero() && shape_facts(func).can_prove_equal(&iter.dom.extent, extent)
}

/// Refuses a buffer that another block of the nest writes, or that has fewer elements padded than it has.
fn check_not_used_meanwhile(
    func: &PrimFunc,
    plan: &Plan,
    padded: &PaddedBuffer,
) -> Result<(), Refusal> {
    let facts = shape_facts(func);
    let names = |regions: &[BufferRegion]| regions.iter().any(|r| r.buffer == padded.old);
    let mut dims = padded.old.shape().iter().zip(padded.new.shape());
    let holds_all = dims.all(|(old, new)| facts.can_prove(&new.ge(old)));
    for other in func.blocks_under(plan.top) {
        let node = &func.blocks[other];
        let views = node
            .match_buffers
            .iter()
            .any(|view| view.source.buffer == padded.old);
        let reads = names(&node.reads) && !holds_all;
        if views || (other != plan.block && (reads || names(&node.writes))) {
            let reason = PaddingReason::UsedMeanwhile {
                block: node.name.clone(),
                buffer: padded.old.name().to_owned(),
            };
            return Err(reason.at([other.into(), plan.block.into()]));
        }
    }
    Ok(())
}

/// Refuses loops that get longer and do more than to run through the values of one iter variable of the block.
fn check_loops(func: &PrimFunc, plan: &Plan) -> Result<(), Refusal> {
    let node = &func.blocks[plan.block];
    for (id, _) in &plan.loops {
        let l = &func.loops[*id];
        let refuse = |block: BlockId| {
            let reason = PaddingReason::SharedLoop {
                var: l.var.name().to_owned(),
                block: func.blocks[block].name.clone(),
            };
            Err(reason.at([(*id).into(), block.into()]))
        };
        let other = |other: &&BlockId| !func.tree.is_ancestor(plan.block, **other);
        if let Some(&other) = func.blocks_under((*id).into()).iter().find(other) {
            return refuse(other);
        }
        let uses = node.bindings.iter().filter(|e| e.uses(&l.var)).count();
        let inner = func.loops_above(plan.block.into());
        let mut inner = inner.iter().map(|inner| &func.loops[*inner]);
        let dependent = inner.any(|inner| inner.min.uses(&l.var) || inner.extent.uses(&l.var));
        if uses != 1 || dependent || !l.min.is_zero() {
            return refuse(plan.block);
        }
    }
    Ok(())
}

/// Refuses a reduction that may add something where its iter variable is past the domain.
fn check_nothing_added(func: &PrimFunc, plan: &Plan, iter: &IterVar) -> Result<(), Refusal> {
    let zero_there = |buffer: &Buffer| {
        let padded = plan.buffers.iter();
        let mut read = padded.filter(|padded| padded.access == Access::Read);
        let region = region_of(func, plan, buffer);
        let mut dims = region
            .iter()
            .flat_map(|region| region.region.iter().enumerate());
        let indexed = dims.any(|(at, range)| {
            range.min.as_var() == Some(&iter.var) && runs_over(func, iter, buffer, at)
        });
        indexed && read.any(|padded| padded.old == *buffer)
    };
    let adds_nothing = || {
        let store = only_store(func, plan.block)?;
        let (a, b) = store.value.as_binary(BinOp::Add)?;
        let itself = |e: &Expr| {
            matches!(e.kind(), ExprKind::Load(buffer, indices)
                if *buffer == store.buffer && *indices == store.indices)
        };
        let added = if itself(a) {
            b
        } else {
            itself(b).then_some(a)?
        };
        vanishes(added, &zero_there).then_some(())
    };
    if adds_nothing().is_some() {
        return Ok(());
    }
    let reason = PaddingReason::PaddingCounts {
        block: func.blocks[plan.block].name.clone(),
        iter: iter.var.name().to_owned(),
    };
    Err(reason.at([plan.block.into()]))
}

/// Whether a value is 0 where the loads that `zero` tells are. A product of floats is only if both factors are, or one is and the
/// other is a constant: infinity times 0 is no number.
fn vanishes(e: &Expr, zero: &dyn Fn(&Buffer) -> bool) -> bool {
    let finite = |e: &Expr| e.as_int().is_some() || e.as_float().is_some_and(f64::is_finite);
    match e.kind() {
        ExprKind::Int(value) => *value == 0,
        ExprKind::Float(value) => *value == 0.0,
        ExprKind::Load(buffer, _) => zero(buffer),
        ExprKind::Cast(inner) => vanishes(inner, zero),
        ExprKind::Binary(BinOp::Mul, a, b) => {
            let exact = e.dtype().is_int();
            let (za, zb) = (vanishes(a, zero), vanishes(b, zero));
            let harmless = |zero: bool, factor: &Expr| zero || exact || finite(factor);
            (za && harmless(zb, b)) || (zb && harmless(za, a))
        }
        ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Min | BinOp::Max, a, b) => {
            vanishes(a, zero) && vanishes(b, zero)
        }
        ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => {
            vanishes(a, zero) && vanishes(b, zero)
        }
        _ => false,
    }
}

/// Refuses a block that divides integers by what may be padding: there it would have no meaning.
fn check_no_division(func: &PrimFunc, plan: &Plan) -> Result<(), Refusal> {
    let loads = |e: &Expr| {
        let mut found = false;
        e.walk(&mut |e| {
            found |= matches!(e.kind(), ExprKind::Load(buffer, _)
                if plan.buffers.iter().any(|padded| padded.old == *buffer));
            !found
        });
        found
    };
    fn divides(stmts: &[Stmt], loads: &dyn Fn(&Expr) -> bool) -> bool {
        stmts.iter().any(|stmt| {
            let own = stmt.exprs().into_iter().any(|e| {
                let mut found = false;
                e.walk(&mut |e| {
                    if let ExprKind::Binary(op, _, divisor) = e.kind() {
                        let division = matches!(
                            op,
                            BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod
                        );
                        found |= division && e.dtype().is_int() && loads(divisor);
                    }
                    !found
                });
                found
            });
            own || stmt.nested().into_iter().any(|body| divides(body, loads))
        })
    }
    if divides(func.tree.body(plan.block), &loads) {
        let block = func.blocks[plan.block].name.clone();
        return Err(PaddingReason::DividesByPadding { block }.at([plan.block.into()]));
    }
    Ok(())
}
