//! What the host knows of a lowered function: its parameters, its temporaries, what it checks before a launch, and how many elements
//! buffers have.

use std::collections::HashMap;

use super::host::Dims;
use super::storage::MemoryPlan;
use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, Expr, Param, PrimFunc, Stmt};
use crate::kernel::{Assertion, BufferRef, HostExpr, ParamInfo, TempInfo};
use crate::tensor::scalar::BinOp;

/// What stands asserted before or behind the loops of a function, of its dims and scalar parameters alone. The host checks it
/// before a launch; kernels check nothing.
pub(super) fn asserts(func: &PrimFunc, dims: &Dims) -> Vec<Assertion> {
    fn of(stmts: &[Stmt], dims: &Dims, out: &mut Vec<Assertion>) {
        for stmt in stmts {
            match stmt {
                Stmt::Assert { cond, message } => out.extend(dims.always_host(cond).map(|holds| {
                    let message = message.clone();
                    Assertion { holds, message }
                })),
                Stmt::Attr { body, .. } | Stmt::View { body, .. } => of(body, dims, out),
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    of(func.tree.body(func.root), dims, &mut out);
    out
}

/// Number of elements of a buffer for the host.
pub(super) fn element_count(dims: &Dims, buffer: &Buffer) -> Result<HostExpr, LowerError> {
    let mut count = HostExpr::Const(1);
    for extent in buffer.shape() {
        let extent = host_extent(dims, buffer, extent)?;
        count = match (count.as_const(), extent.as_const()) {
            (Some(1), _) => extent,
            (_, Some(1)) => count,
            _ => HostExpr::binary(BinOp::Mul, count, extent),
        };
    }
    Ok(count)
}

fn host_extent(dims: &Dims, buffer: &Buffer, extent: &Expr) -> Result<HostExpr, LowerError> {
    let not_host = || LowerProblem::NotHost {
        what: format!("extent of buffer `{}`", buffer.name()),
        value: extent.clone(),
    };
    Ok(dims.host(extent).ok_or_else(not_host)?)
}

pub(super) fn params(func: &PrimFunc, dims: &Dims) -> Result<Vec<ParamInfo>, LowerError> {
    func.params
        .iter()
        .filter_map(|p| match p {
            Param::Buffer { handle, buffer } => Some((handle, buffer)),
            Param::Scalar(_) => None,
        })
        .map(|(handle, buffer)| {
            let shape: Result<Vec<_>, _> = buffer
                .shape()
                .iter()
                .map(|e| host_extent(dims, buffer, e))
                .collect();
            Ok(ParamInfo {
                name: handle.name().to_owned(),
                dtype: buffer.dtype().scalar,
                shape: shape?,
                written: false,
            })
        })
        .collect()
}

pub(super) fn temps(dims: &Dims, memory_plan: &MemoryPlan) -> Result<Vec<TempInfo>, LowerError> {
    memory_plan
        .temps
        .iter()
        .map(|buffer| {
            Ok(TempInfo {
                name: buffer.name().to_owned(),
                dtype: buffer.dtype().scalar,
                len: element_count(dims, buffer)?,
            })
        })
        .collect()
}

/// What kernels call the buffers of a function.
pub(super) fn buffer_refs(func: &PrimFunc, memory_plan: &MemoryPlan) -> HashMap<Buffer, BufferRef> {
    let params = func
        .buffer_params()
        .enumerate()
        .map(|(i, b)| (b.clone(), BufferRef::Param(i)));
    let temps = memory_plan
        .temps
        .iter()
        .enumerate()
        .map(|(i, b)| (b.clone(), BufferRef::Temp(i)));
    params.chain(temps).collect()
}
