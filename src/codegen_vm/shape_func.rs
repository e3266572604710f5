//! Shape functions: host programs that compute slots of the shape heap from other slots.

use super::error::{GraphProblem, ShapeProblem};
use crate::artifact::{ShapeFunc, Slot};
use crate::ir::{Buffer, Expr, ExprKind, Param, PrimFunc, Stmt};
use crate::kernel::HostExpr;
use crate::support::Id;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// The program in the form that the machine runs. It takes the heap, and stores arithmetic on slots in slots of known numbers.
pub(super) fn shape_func(program: &PrimFunc) -> Result<ShapeFunc, GraphProblem> {
    let problem = |problem| GraphProblem::Shape {
        name: program.name.clone(),
        problem: Box::new(problem),
    };
    let [Param::Buffer { handle: _, buffer }] = program.params.as_slice() else {
        return Err(problem(ShapeProblem::Program));
    };
    if buffer.dtype() != DType::I64 || buffer.shape().len() != 1 {
        return Err(problem(ShapeProblem::Program));
    }
    let mut outputs = vec![];
    for stmt in program.tree.body(program.root) {
        let Stmt::Store {
            buffer: stored,
            indices,
            value,
        } = stmt
        else {
            return Err(problem(ShapeProblem::Program));
        };
        let slot = slot_of(buffer, stored, indices);
        let slot = slot.ok_or_else(|| problem(ShapeProblem::Program))?;
        let mut load = |e: &Expr| match e.kind() {
            ExprKind::Load(loaded, indices) => {
                let slot = slot_of(buffer, loaded, indices)?;
                Some(HostExpr::Dim(slot.index()))
            }
            _ => None,
        };
        let value = host(value, &mut load).map_err(problem)?;
        outputs.push((slot, value));
    }
    Ok(ShapeFunc {
        name: program.name.clone(),
        outputs,
    })
}

/// The slot that is accessed, if the heap is accessed at a known place.
fn slot_of(heap: &Buffer, accessed: &Buffer, indices: &[Expr]) -> Option<Slot> {
    let [index] = indices else {
        return None;
    };
    let index = usize::try_from(index.as_int()?).ok()?;
    let slots = heap.shape()[0].as_int();
    let inside = accessed == heap && slots.is_some_and(|slots| (index as i64) < slots);
    inside.then(|| Slot::from_index(index))
}

/// Arithmetic on what the host knows, which `leaf` tells.
pub(super) fn host(
    e: &Expr,
    leaf: &mut dyn FnMut(&Expr) -> Option<HostExpr>,
) -> Result<HostExpr, ShapeProblem> {
    let unknown = || ShapeProblem::Arithmetic(format!("{e:#}"));
    if !e.dtype().is_int() && !e.dtype().is_bool() {
        return Err(unknown());
    }
    Ok(match e.kind() {
        ExprKind::Int(value) => HostExpr::Const(*value),
        ExprKind::Cast(a) => host(a, leaf)?,
        ExprKind::Not(a) => HostExpr::binary(BinOp::Eq, host(a, leaf)?, HostExpr::Const(0)),
        ExprKind::Binary(op, a, b) => HostExpr::binary(*op, host(a, leaf)?, host(b, leaf)?),
        ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => HostExpr::Select(
            Box::new(host(c, leaf)?),
            Box::new(host(a, leaf)?),
            Box::new(host(b, leaf)?),
        ),
        _ => leaf(e).ok_or_else(unknown)?,
    })
}
