//! Nests become kernels, and the passes over kernels.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::compact::Private;
use super::emit::Emit;
use super::facts::Facts;
use super::host::Dims;
use super::lowering::Lowering;
use super::nest::Nest;
use super::nests::{RootNest, known_dims};
use super::passes::Next;
use super::signature::{buffer_refs, element_count};
use super::{
    LowerError, LowerProblem, barrier, common_subexpr, hidden_extents, hoist, loop_passes, node,
    prefetch, promote, relaunch, simd_reductions, storage,
};
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Place, PrimFunc, Stmt, ThreadAxis};
use crate::kernel::{
    self, Access, ArrayId, BufferRef, GpuTarget, HostExpr, Kernel, Launch, MOST_STACK, Space, VarId,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// A kernel that passes still work on.
pub(super) struct Draft {
    pub(super) kernel: Kernel,
    /// Operands that must not wrap in the index type.
    pub(super) exact: Vec<kernel::Expr>,
    /// By an array: the loops in each of whose iterations it is new.
    fresh: HashMap<ArrayId, Vec<VarId>>,
    /// The loops that prefetch.
    prefetching: HashSet<VarId>,
    /// The statements that it came from.
    pub(super) places: Vec<Place>,
}

/// Makes kernels of the nests: on the GPU one of each, on the CPU one of neighbours that run in one thread.
pub(super) fn emit(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let groups = group(std::mem::take(&mut l.nests), l.gpu().is_some());
    let single = groups.len() == 1;
    let refs = buffer_refs(&l.func, &l.memory_plan);
    for (i, group) in groups.into_iter().enumerate() {
        let name = match single {
            true => l.func.name.clone(),
            false => format!("{}_{i}", l.func.name),
        };
        let places = group.iter().flat_map(|root| root.places.clone());
        let places: Vec<Place> = places.collect();
        let draft = draft(l, &refs, &group, name, &places);
        l.kernels.push(draft.map_err(|error| error.or_at(&places))?);
    }
    Ok(Next::Pass)
}

/// The nests of each kernel.
fn group(nests: Vec<RootNest>, gpu: bool) -> Vec<Vec<RootNest>> {
    let parallel = |root: &RootNest| {
        let mut found = false;
        node::walk_nodes(&root.nest.body, &mut |n| {
            found |= matches!(
                n,
                node::Node::For {
                    kind: LoopKind::Parallel,
                    ..
                }
            );
        });
        found
    };
    let mut groups: Vec<Vec<RootNest>> = Vec::new();
    let mut last_serial = false;
    for root in nests {
        if root.nest.body.is_empty() {
            continue;
        }
        let serial = !gpu && !parallel(&root);
        match groups.last_mut() {
            Some(group) if serial && last_serial => group.push(root),
            _ => groups.push(vec![root]),
        }
        last_serial = serial;
    }
    groups
}

/// Whether an index of a program is the least of several.
fn limits_indices(func: &PrimFunc) -> bool {
    let is_least = |e: &Expr| e.any(|e| e.as_binary(BinOp::Min).is_some());
    let limits =
        |e: &Expr| e.any(|e| matches!(e.kind(), ExprKind::Load(_, at) if at.iter().any(is_least)));
    fn any(stmt: &Stmt, limits: &impl Fn(&Expr) -> bool) -> bool {
        let mut nested = stmt.nested().into_iter().flatten();
        stmt.exprs().into_iter().any(limits) || nested.any(|stmt| any(stmt, limits))
    }
    let mut found = false;
    func.tree.walk(func.root.into(), &mut |at| {
        found |= func.tree.body(at).iter().any(|stmt| any(stmt, &limits));
    });
    found
}

fn draft(
    l: &Lowering<'_>,
    refs: &HashMap<Buffer, BufferRef>,
    group: &[RootNest],
    name: String,
    places: &[Place],
) -> Result<Draft, LowerError> {
    let (gpu, dims) = (l.gpu(), &l.dims);
    let mut used: IndexMap<Buffer, (bool, bool)> = IndexMap::new();
    for root in group {
        for (buffer, (read, write)) in storage::device_buffers(&root.nest, &l.memory_plan) {
            let entry = used.entry(buffer).or_default();
            entry.0 |= read;
            entry.1 |= write;
        }
    }
    used.sort_by_key(|buffer, _| refs.get(buffer).map(ref_order));
    let mut emit = Emit::new(dims, gpu, Facts::new(known_dims(dims)));
    emit.limits_indices = limits_indices(&l.func);
    let mut bytes = HostExpr::Const(0);
    for (buffer, (read, write)) in &used {
        let access = match (read, write) {
            (true, true) => Access::ReadWrite,
            (true, false) => Access::Read,
            (false, _) => Access::Write,
        };
        let buffer_ref = refs
            .get(buffer)
            .copied()
            .ok_or_else(|| LowerProblem::Undeclared {
                buffer: buffer.name().to_owned(),
            })?;
        emit.global(buffer, buffer_ref, access)?;
        let times = if *read && *write { 2 } else { 1 };
        let moved = HostExpr::binary(
            BinOp::Mul,
            element_count(dims, buffer)?,
            HostExpr::Const(times * buffer.dtype().bytes() as i64),
        );
        bytes = HostExpr::binary(BinOp::Add, bytes, moved);
    }
    let mut flops = HostExpr::Const(0);
    let mut body = Vec::new();
    let mut comment = Vec::new();
    for root in group {
        emit.copies.add(&root.copies)?;
        emit.annotated.extend(&root.nest.annotated);
        for array in root.arrays.iter().filter(in_array) {
            emit.private(&array.buffer)?;
        }
        body.extend(emit.nest(&root.nest)?);
        flops = HostExpr::binary(BinOp::Add, flops, root.flops.clone());
        comment.extend(root.blocks.iter().cloned());
    }
    emit.set_widths();
    let arrays = group.iter().flat_map(|root| &root.arrays).filter(in_array);
    let fresh = arrays.map(|array| (emit.array_id(&array.buffer), emit.loops(&array.loops)));
    let fresh: HashMap<ArrayId, Vec<VarId>> = fresh.collect();
    let launch = match gpu {
        Some(gpu) => Some(launch(dims, &group[0].nest, gpu)?),
        None => None,
    };
    comment.dedup();
    let exact = std::mem::take(&mut emit.exact);
    let kernel = Kernel {
        name,
        comment: comment.join(", "),
        arrays: emit.arrays,
        vars: emit.vars,
        fragments: emit.fragments,
        scalars: emit.scalars,
        launch,
        body,
        in_bounds: emit.in_bounds,
        flops,
        bytes,
    };
    Ok(Draft {
        kernel,
        exact,
        fresh,
        prefetching: emit.prefetching_loops.into_iter().collect(),
        places: places.to_vec(),
    })
}

/// Fragments are variables.
fn in_array(array: &&Private) -> bool {
    array.buffer.scope().fragment().is_none()
}

fn ref_order(buffer: &BufferRef) -> (u8, usize) {
    match buffer {
        BufferRef::Param(i) => (0, *i),
        BufferRef::Temp(i) => (1, *i),
    }
}

fn launch(dims: &Dims, nest: &Nest, gpu: &GpuTarget) -> Result<Launch, LowerError> {
    let mut launch = Launch {
        grid: [const { HostExpr::Const(1) }; 3],
        block: [1; 3],
        times: HostExpr::Const(1),
    };
    for (axis, known) in &nest.axes {
        let not_host = || LowerProblem::NotHost {
            what: format!("extent of {}", axis.name()),
            value: known.extent.clone(),
        };
        let d = match axis {
            ThreadAxis::BlockIdxX | ThreadAxis::ThreadIdxX => 0,
            ThreadAxis::BlockIdxY | ThreadAxis::ThreadIdxY => 1,
            _ => 2,
        };
        if axis.is_block() {
            launch.grid[d] = dims.host(&known.extent).ok_or_else(not_host)?;
        } else {
            let threads = known.extent.as_int().and_then(|n| u32::try_from(n).ok());
            launch.block[d] = threads.ok_or_else(not_host)?;
        }
    }
    let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
    if threads > gpu.max_threads.into() {
        return Err(LowerProblem::DeviceLimit {
            what: "threads in a workgroup",
            needs: threads,
            limit: gpu.max_threads.into(),
        }
        .into());
    }
    Ok(launch)
}

impl Lowering<'_> {
    fn each_kernel(
        &mut self,
        run: impl Fn(&mut Draft) -> Result<(), LowerError>,
    ) -> Result<Next, LowerError> {
        for draft in &mut self.kernels {
            run(draft).map_err(|error| error.or_at(&draft.places))?;
        }
        Ok(Next::Pass)
    }
}

/// Refuses what the device has no room for.
pub(super) fn check_limits(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let gpu = l.gpu().expect("a pass for GPUs");
    l.each_kernel(|draft| {
        let arrays = || draft.kernel.arrays.iter().map(|(_, array)| array);
        let shared = arrays().filter(|array| matches!(array.space, Space::Shared));
        let bytes = shared.map(|array| {
            let element = match array.dtype {
                ScalarType::F16 => 2,
                // Other narrow elements are held in words.
                dtype => dtype.bytes().max(4),
            };
            array.len.as_const().unwrap_or(0) as u64 * element as u64
        });
        let buffers = draft.kernel.bindings().count() as u64;
        let limits = [
            ("bytes of shared memory", bytes.sum(), gpu.shared_bytes),
            (
                "storage buffers (one for each tensor that a kernel reads or writes)",
                buffers,
                gpu.max_storage_buffers,
            ),
        ];
        for (what, needs, limit) in limits {
            if needs > limit.into() {
                let limit = limit.into();
                return Err(LowerProblem::DeviceLimit { what, needs, limit }.into());
            }
        }
        Ok(())
    })
}

/// Makes loads that are the same in every iteration of a loop before it.
pub(super) fn hoist_loads(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|Draft { kernel, .. }| {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = hoist::hoist_loads(&kernel.arrays, &mut kernel.vars, body);
        Ok(())
    })
}

/// Makes loops prefetch.
pub(super) fn prefetch(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(
        |Draft {
             kernel,
             prefetching,
             ..
         }| {
            prefetch::prefetch(kernel, prefetching);
            Ok(())
        },
    )
}

/// Writes out iterations of loops that are too long for the device.
pub(super) fn shorten_loops(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let limit = l.gpu().and_then(|gpu| gpu.max_loop_passes);
    l.each_kernel(|Draft { kernel, .. }| {
        if let (Some(limit), Some(launch)) = (limit, &kernel.launch) {
            let body = std::mem::take(&mut kernel.body);
            let (vars, scalars) = (&mut kernel.vars, &kernel.scalars);
            kernel.body = loop_passes::shorten(vars, scalars, launch, body, limit);
        }
        Ok(())
    })
}

/// Names common subexpressions.
pub(super) fn name_common(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|draft| {
        common_subexpr::name_common(&mut draft.kernel);
        Ok(())
    })
}

/// Spreads loops over launches that are still too long for the device.
pub(super) fn relaunch(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let gpu = l.gpu().expect("a pass for GPUs");
    if let Some(limit) = gpu.max_loop_passes {
        let (dims, launches) = (l.dims.vars().count(), l.launches);
        for Draft { kernel, fresh, .. } in &mut l.kernels {
            relaunch::relaunch(kernel, dims, gpu, limit, launches, fresh, &mut l.temps);
        }
    }
    Ok(Next::Pass)
}

/// Keeps the driver from writing out loops.
pub(super) fn hide_extents(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let of_mesa = l.gpu().is_some_and(|gpu| gpu.lavapipe.is_some());
    l.each_kernel(|draft| {
        if of_mesa {
            hidden_extents::hide(&mut draft.kernel);
        }
        Ok(())
    })
}

/// Puts barriers between writes and reads of what threads share.
pub(super) fn insert_barriers(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|Draft { kernel, .. }| {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = barrier::insert_barriers(&kernel.arrays, body)?;
        Ok(())
    })
}

/// Refuses what fits no stack.
pub(super) fn check_stack(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|draft| {
        let arrays = draft.kernel.arrays.iter().map(|(_, array)| array);
        let local = arrays.filter(|array| matches!(array.space, Space::Local));
        let bytes = local.map(|array| {
            let bytes = array.dtype.bytes() as i64;
            // Each begins in a cache line of its own.
            let line = 64;
            let bytes = array.len.as_const().unwrap_or(0).saturating_mul(bytes);
            bytes.max(0).saturating_add(line - 1) / line * line
        });
        let needs = bytes.fold(0, i64::saturating_add);
        if needs > MOST_STACK {
            return Err(LowerProblem::DeviceLimit {
                what: "bytes of stack for local arrays",
                needs: needs.unsigned_abs(),
                limit: MOST_STACK.unsigned_abs(),
            }
            .into());
        }
        Ok(())
    })
}

/// Makes local arrays of the elements that loops accumulate in.
pub(super) fn promote_accumulators(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|draft| {
        promote::promote(&mut draft.kernel);
        Ok(())
    })
}

/// Takes the mark off loops that are no reductions.
pub(super) fn check_simd_reductions(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_kernel(|draft| {
        simd_reductions::check(&mut draft.kernel);
        Ok(())
    })
}
