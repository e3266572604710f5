//! The memory plan of a call, in the time of its calls.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::data::{Memory, PlannedTensor};
use crate::ir::graph::{Function, dims};
use crate::ir::{Expr, Module, StructInfo, Var};
use crate::passes::{MemoryUsage, memory_plan, memory_usage};
use crate::tensor::Tensor;

/// The plan of the function, whose allocations are written down, for these arguments; `None` if a size depends on elements.
pub(super) fn memory(module: &Module, func: &str, sizes: &[(String, i64)]) -> Option<Memory> {
    let function = module.function(func)?;
    let sizes: HashMap<&str, i64> = sizes.iter().map(|(n, size)| (n.as_str(), *size)).collect();
    let plan = memory_plan(function, &sizes)?;
    let MemoryUsage {
        tensors: _,
        storages: _,
        naive,
        planned,
        live,
    } = memory_usage(function, &sizes)?;
    let before = |position: usize| plan.calls.partition_point(|(at, _)| *at < position);
    let until = |position: usize| plan.calls.partition_point(|(at, _)| *at <= position);
    let tensors = plan.tensors.iter().map(|tensor| {
        let from = before(tensor.from);
        PlannedTensor {
            name: tensor.name.clone(),
            storage: tensor.storage,
            offset: tensor.offset,
            bytes: tensor.bytes,
            from,
            to: until(tensor.to).saturating_sub(1).max(from),
            result: tensor.to == usize::MAX,
        }
    });
    Some(Memory {
        naive,
        planned,
        live,
        storages: plan.storages.clone(),
        tensors: tensors.collect(),
        calls: plan.calls.iter().map(|(_, name)| name.clone()).collect(),
    })
}

/// The symbolic extents of a function that is given these tensors, by their names.
pub(super) fn sizes(function: &Function, inputs: &[Tensor]) -> Vec<(String, i64)> {
    let mut bound: IndexMap<Var, Expr> = IndexMap::new();
    for (param, tensor) in function.params.iter().zip(inputs) {
        let extent = |dim: &usize| Expr::i64(i64::try_from(*dim).unwrap_or(i64::MAX));
        let given = tensor.shape().iter().map(extent).collect();
        let given = StructInfo::tensor(given, tensor.dtype());
        dims::bind_vars(&function.values[*param].sinfo, &given, &mut bound);
    }
    let sizes = bound.iter();
    sizes
        .filter_map(|(var, size)| Some((var.name().to_owned(), size.as_int()?)))
        .collect()
}
