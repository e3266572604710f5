//! How much memory the functions of a module plan, and how much they need.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::liveness::Liveness;
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Callee, Def, Function, ValueId};
use crate::ir::{Expr, StructInfo, Var};
use crate::ops::{self, Compute, MachineOp};
use crate::tensor::pack::memory_of;
use crate::tensor::{HostArgs, HostResult, PACK_MEMORY, host_op};

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

/// Which memory the tensors of one function are in, parameters and constants aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Bytes of each storage.
    pub storages: Vec<u64>,
    /// The tensors, in program order.
    pub tensors: Vec<PlannedTensor>,
    /// Calls of loop programs and of other functions: positions, and names of what is called.
    pub calls: Vec<(usize, String)>,
}

/// A tensor in planned memory. Positions number the bindings of the function in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// Its name.
    pub name: String,
    /// Its storage, if the function allocates that.
    pub storage: Option<usize>,
    /// Where in the storage it starts, in bytes.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Position of its allocation.
    pub from: usize,
    /// Position of its last use; `usize::MAX` if the function gives it back.
    pub to: usize,
}

/// The memory that a graph function takes whose allocations are written down (`static_plan_block_memory`, `lower_alloc_tensor`);
/// what functions inside take is not counted. `sizes` gives symbolic extents by their names; without one that matters there is
/// no answer, and none where bytes cannot be counted.
pub fn memory_usage(function: &Function, sizes: &HashMap<&str, i64>) -> Option<MemoryUsage> {
    let plan = memory_plan(function, sizes)?;
    let mut each = plan.tensors.iter().map(|tensor| tensor.bytes);
    let mut storages = plan.storages.iter().copied();
    Some(MemoryUsage {
        tensors: plan.tensors.len(),
        storages: plan.storages.len(),
        naive: each.try_fold(0, u64::checked_add)?,
        planned: storages.try_fold(0, u64::checked_add)?,
        live: needed_together(&plan.tensors),
    })
}

/// The plan that [`memory_usage`] counts: storages, and where in them and for how long each tensor is.
pub fn memory_plan(function: &Function, sizes: &HashMap<&str, i64>) -> Option<MemoryPlan> {
    let live = Liveness::of(function);
    let numbers = Numbers::of(function, sizes)?;
    let mut storages: IndexMap<ValueId, u64> = IndexMap::new();
    let mut tensors = vec![];
    for (id, value) in function.values.iter() {
        match allocation(&value.def) {
            Some(Allocation::Storage(size)) => {
                storages.insert(id, numbers.bytes(size, 1)?);
            }
            Some(Allocation::Tensor {
                memory,
                offset,
                shape,
                each,
            }) => {
                let bytes = numbers.bytes(shape, each)?;
                let (storage, offset) = place(memory, numbers.number(offset)?, bytes, &storages)?;
                tensors.push(PlannedTensor {
                    name: value.name.clone(),
                    storage,
                    offset,
                    bytes,
                    from: live.position(id),
                    to: live.last_use(id),
                });
            }
            None => {}
        }
    }
    let mut calls = vec![];
    function.for_each_binding(&mut |id, value| {
        if let Some(callee) = value.def.callee() {
            calls.push((live.position(id), callee.to_owned()));
        }
    });
    Some(MemoryPlan {
        storages: storages.into_values().collect(),
        tensors,
        calls,
    })
}

/// Which storage a tensor of so many bytes is in, if the function allocates that, and where it starts there.
fn place(
    memory: &Arg,
    offset: u64,
    bytes: u64,
    storages: &IndexMap<ValueId, u64>,
) -> Option<(Option<usize>, u64)> {
    let ids = memory.values();
    if ids.len() < 2 {
        let storage = ids.first().and_then(|id| storages.get_index_of(id));
        return Some((storage, offset));
    }
    let count = |bytes: u64| usize::try_from(bytes).ok();
    let sizes = ids.iter().map(|id| count(*storages.get(id)?));
    let sizes: Vec<usize> = sizes.collect::<Option<_>>()?;
    let end = count(offset.checked_add(bytes)?)?;
    let (at, start) = memory_of(sizes, count(offset)?, end)?;
    Some((storages.get_index_of(&ids[at]), start as u64))
}

/// The values of symbolic extents: those that are given, and what packing says for them.
struct Numbers<'s> {
    sizes: &'s HashMap<&'s str, i64>,
    packed: HashMap<Var, i64>,
    analyzer: Analyzer,
}

impl<'s> Numbers<'s> {
    fn of(function: &Function, sizes: &'s HashMap<&str, i64>) -> Option<Self> {
        let mut numbers = Self {
            sizes,
            packed: HashMap::new(),
            analyzer: Analyzer::new(),
        };
        for (_, value) in function.values.iter() {
            if let Def::MatchCast(Arg::Value(packing), StructInfo::Shape(named)) = &value.def
                && let Some(shapes) = packing_arguments(&function.values[*packing].def)
            {
                let given = shapes.map(|dims| numbers.all(dims));
                let given = given.collect::<Option<Vec<_>>>()?.concat();
                let result = host_op(PACK_MEMORY)?(&HostArgs {
                    numbers: given,
                    ..HostArgs::default()
                });
                let Ok(HostResult::Shape(result)) = result else {
                    return None;
                };
                let vars = named.dims()?.iter().map(|dim| dim.as_var().cloned());
                let vars = vars.collect::<Option<Vec<_>>>()?;
                numbers.packed.extend(vars.into_iter().zip(result));
            }
        }
        Some(numbers)
    }

    fn integer(&self, e: &Expr) -> Option<i64> {
        let known = |var: &Var| {
            let packed = self.packed.get(var);
            let size = packed.or_else(|| self.sizes.get(var.name()));
            size.map(|size| Expr::i64(*size))
        };
        self.analyzer.simplify(&e.substitute(&known)).as_int()
    }

    fn all(&self, exprs: &[Expr]) -> Option<Vec<i64>> {
        exprs.iter().map(|e| self.integer(e)).collect()
    }

    fn number(&self, e: &Expr) -> Option<u64> {
        u64::try_from(self.integer(e)?).ok()
    }

    fn bytes(&self, dims: &[Expr], each: u64) -> Option<u64> {
        let mut dims = dims.iter();
        dims.try_fold(each, |bytes, dim| bytes.checked_mul(self.number(dim)?))
    }
}

/// The shapes that a call of [`PACK_MEMORY`] takes.
fn packing_arguments(def: &Def) -> Option<impl Iterator<Item = &[Expr]>> {
    match def {
        Def::Call {
            callee: Callee::Packed(name) | Callee::PurePacked(name),
            args,
            ..
        } if name == PACK_MEMORY => Some(args.iter().filter_map(|arg| match arg {
            Arg::Shape(dims) => Some(dims.as_slice()),
            _ => None,
        })),
        _ => None,
    }
}

enum Allocation<'a> {
    Storage(&'a [Expr]),
    Tensor {
        memory: &'a Arg,
        offset: &'a Expr,
        shape: &'a [Expr],
        /// Bytes of an element.
        each: u64,
    },
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
            [
                memory,
                Arg::Prim(offset),
                Arg::Shape(shape),
                Arg::DType(dtype),
                ..,
            ],
        ) => Some(Allocation::Tensor {
            memory,
            offset,
            shape,
            each: dtype.bytes() as u64,
        }),
        _ => None,
    }
}

/// The most bytes that tensors take at one position.
fn needed_together(tensors: &[PlannedTensor]) -> u64 {
    let at = |position: usize| {
        let there = tensors
            .iter()
            .filter(|tensor| (tensor.from..=tensor.to).contains(&position));
        there.map(|tensor| tensor.bytes).sum::<u64>()
    };
    let positions = tensors.iter().map(|tensor| at(tensor.from));
    positions.max().unwrap_or(0)
}
