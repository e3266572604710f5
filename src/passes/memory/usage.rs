//! How much memory the functions of a module plan, and how much they need.

use std::collections::HashMap;

use super::liveness::Liveness;
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Callee, Def, Function};
use crate::ir::{Expr, Var};
use crate::ops::{self, Compute, MachineOp};

/// The memory of one function for its tensors, parameters and constants aside, in bytes (TVM: `estimate_memory_usage`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// How many tensors it makes.
    pub tensors: usize,
    /// In how many storages they are.
    pub storages: usize,
    /// What they take if each has memory of its own.
    pub naive: u64,
    /// What the storages take.
    pub planned: u64,
    /// What the tensors that are needed together take at most: no plan takes less.
    pub live: u64,
}

/// The memory that a graph function takes whose allocations are written down (`static_plan_block_memory`, `lower_alloc_tensor`);
/// what functions inside take is not counted. `sizes` gives symbolic extents by their names; without one that matters there is
/// no answer, and none where bytes cannot be counted.
pub fn memory_usage(function: &Function, sizes: &HashMap<&str, i64>) -> Option<MemoryUsage> {
    let live = Liveness::of(function);
    let analyzer = Analyzer::new();
    let bytes = |dims: &[Expr], each: u64| {
        dims.iter().try_fold(each, |bytes, dim| {
            let known = |var: &Var| sizes.get(var.name()).map(|size| Expr::i64(*size));
            let dim = dim.substitute(&known);
            let dim = analyzer.simplify(&dim).as_int()?;
            bytes.checked_mul(u64::try_from(dim).ok()?)
        })
    };
    let mut usage = MemoryUsage {
        tensors: 0,
        storages: 0,
        naive: 0,
        planned: 0,
        live: 0,
    };
    let mut lives: Vec<(usize, usize, u64)> = vec![];
    for (id, value) in function.values.iter() {
        match allocation(&value.def) {
            Some(Allocation::Storage(size)) => {
                usage.storages += 1;
                usage.planned = usage.planned.checked_add(bytes(size, 1)?)?;
            }
            Some(Allocation::Tensor(shape, each)) => {
                let bytes = bytes(shape, each)?;
                usage.tensors += 1;
                usage.naive = usage.naive.checked_add(bytes)?;
                lives.push((live.position(id), live.last_use(id), bytes));
            }
            None => {}
        }
    }
    usage.live = needed_together(&lives);
    Some(usage)
}

enum Allocation<'a> {
    Storage(&'a [Expr]),
    Tensor(&'a [Expr], u64),
}

fn allocation(def: &Def) -> Option<Allocation<'_>> {
    let Def::Call {
        callee: Callee::Op(op),
        args,
        ..
    } = def
    else {
        return None;
    };
    match (ops::def(*op).compute, args.as_slice()) {
        (Compute::Machine(MachineOp::AllocStorage), [Arg::Shape(size), ..]) => {
            Some(Allocation::Storage(size))
        }
        (
            Compute::Machine(MachineOp::AllocTensor),
            [_, _, Arg::Shape(shape), Arg::DType(dtype), ..],
        ) => Some(Allocation::Tensor(shape, dtype.bytes() as u64)),
        _ => None,
    }
}

/// The most that lives (from, to, bytes) take at one position.
fn needed_together(lives: &[(usize, usize, u64)]) -> u64 {
    let at = |position: usize| {
        let there = lives
            .iter()
            .filter(|(from, to, _)| (*from..=*to).contains(&position));
        there.map(|(_, _, bytes)| bytes).sum::<u64>()
    };
    lives
        .iter()
        .map(|(from, _, _)| at(*from))
        .max()
        .unwrap_or(0)
}
