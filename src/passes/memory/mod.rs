//! Memory of graph functions: allocated before calls, shared between tensors, given back.
//!
//! [`call_tir_rewrite`] writes allocations down, [`static_plan_block_memory`] lets tensors that are not needed together share
//! storage, [`lower_alloc_tensor`] gives the others storage of their own, [`kill_after_last_use`] ends lives. What they write are
//! the operators `R.builtin.alloc_tensor` and `R.memory.*`, which bytecode takes as they are.

mod call_tir_rewrite;
mod kill_after_last_use;
mod liveness;
mod lower_alloc_tensor;
mod shared;
mod size;
mod static_plan;
mod storages;
mod usage;

pub(super) use call_tir_rewrite::call_tir_rewrite;
pub(super) use kill_after_last_use::kill_after_last_use;
pub(super) use liveness::{Aliases, Liveness};
pub(super) use lower_alloc_tensor::lower_alloc_tensor;
pub(super) use size::upper_bounds;
pub(super) use static_plan::static_plan_block_memory;
pub use usage::{MemoryPlan, MemoryUsage, PlannedTensor, memory_plan, memory_usage};

use crate::ir::graph::{Arg, Callee, Def};
use crate::ir::{Attrs, Expr, StructInfo};
use crate::ops;
use crate::tensor::DType;

fn call(op: &str, args: Vec<Arg>, sinfo_args: Vec<StructInfo>) -> Def {
    Def::Call {
        callee: Callee::Op(ops::op(op)),
        args,
        attrs: Attrs::new(),
        sinfo_args,
    }
}

/// Memory for a tensor, which planning finds later; nothing if its shape or element type is not known.
fn alloc_tensor(info: &StructInfo, device: i64, scope: &str) -> Option<Def> {
    let tensor = info.as_tensor()?;
    let args = vec![
        Arg::Shape(tensor.shape.dims()?.to_vec()),
        Arg::DType(tensor.dtype?),
        Arg::Prim(Expr::i64(device)),
        Arg::Str(scope.to_owned()),
    ];
    Some(call("builtin.alloc_tensor", args, vec![info.clone()]))
}

/// Memory of that many bytes, and what is known of it.
fn alloc_storage(bytes: &Expr, device: i64, scope: &str, dtype: DType) -> (Def, StructInfo) {
    let args = vec![
        Arg::Shape(vec![bytes.clone()]),
        Arg::Prim(Expr::i64(device)),
        Arg::Str(scope.to_owned()),
        Arg::DType(dtype),
    ];
    let def = call("memory.alloc_storage", args, vec![]);
    (def, StructInfo::Object)
}

/// A tensor in storage, from this byte on.
fn alloc_tensor_in(storage: Arg, offset: &Expr, shape: &[Expr], dtype: DType, device: i64) -> Def {
    let args = vec![
        storage,
        Arg::Prim(offset.clone()),
        Arg::Shape(shape.to_vec()),
        Arg::DType(dtype),
        Arg::Prim(Expr::i64(device)),
    ];
    call("memory.alloc_tensor", args, vec![])
}
