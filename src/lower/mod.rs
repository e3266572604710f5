//! A scheduled `PrimFunc` becomes kernel IR.
//!
//! The way of a function: loops that a `break` ends run in order (`launch_breaks`); it and its threads return at their ends alone (`returns`, `thread_returns`); its parameters become dense (`layout`); the memory of each buffer is chosen (`storage`); each root-level nest
//! loses its blocks (`nest`), with reductions over threads written out (`thread_reduce`) and tiles allowed to run past the end
//! where nobody can see it (`speculate`); arrays of threads and workgroups shrink to what is touched (`compact`); where threads are
//! iterations of a loop, that loop is split wherever they meet (`thread_loops`); the rest is emitted with flat indices (`emit`), loops split where a condition holds for all but the last iterations (`partition`), loads
//! made before loops (`hoist`), common subexpressions named (`common_subexpr`), loops kept within what the device allows (`loop_passes`, `relaunch`), and barriers put in
//! (`barrier`). Threads that would meet in device memory are refused (`cross_thread`). On the GPU each root-level nest is one kernel; on
//! the CPU neighbouring serial nests share one.
//!
//! Indices are `i32` on the GPU and `i64` on the CPU; where a symbolic buffer could outgrow `i32`, a
//! [`Requirement`] says so and is checked at launch. Dims may be 0: a loop that runs has iterations, so inside it its extent is at
//! least 1, and a launch without workgroups does not take place.

mod barrier;
mod common_subexpr;
mod compact;
mod cost;
mod cross_thread;
mod emit;
mod empty_sum;
mod error;
mod facts;
mod hoist;
mod host;
mod jumps;
mod lanes;
mod launch_breaks;
mod layout;
mod loop_passes;
mod narrow;
mod nest;
mod nested_axis;
mod node;
mod partition;
mod ranges;
mod relaunch;
mod returns;
mod scalar_params;
mod speculate;
mod storage;
mod tail;
mod thread_loops;
mod thread_reduce;
mod thread_returns;
mod view;
mod widen;
mod wrapping_sum;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

pub use error::{LowerError, LowerProblem};

use crate::arith::{Analyzer, IntBound};
use crate::ir::{
    AttrValue, Buffer, Expr, LoopKind, Param, Place, PrimFunc, Stmt, ThreadAxis, attrs,
};
use crate::kernel::{
    Access, ArrayId, Assertion, BufferRef, GpuTarget, HostExpr, Kernel, Launch, LoweredFunc,
    PROVED_DIMS, PROVED_SCALARS, ParamInfo, Requirement, Target, TempInfo, VarId,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;
use compact::Private;
use emit::Emit;
use facts::Facts;
use host::Dims;
use nest::{Nest, Unblock};
use storage::{Memory, MemoryPlan};

/// How often a kernel may be launched whose loops are too long for the device, if their lengths are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launches {
    /// Once: loops that are too long are refused.
    One,
    /// As often as it takes.
    Many,
}

/// Makes kernels of a scheduled function, each launched as often as it takes.
///
/// # Errors
/// What no kernel can say, or the target does not have: see [`LowerProblem`].
pub fn lower(func: &PrimFunc, target: &Target) -> Result<LoweredFunc, LowerError> {
    lower_with(func, target, Launches::Many)
}

/// Makes kernels of a scheduled function.
///
/// # Errors
/// Those of [`lower`], and [`LowerProblem::LongLoops`] if a kernel had to be launched more often.
pub fn lower_with(
    func: &PrimFunc,
    target: &Target,
    launches: Launches,
) -> Result<LoweredFunc, LowerError> {
    lower_func(func, target, launches).map_err(|error| error.of(func))
}

fn lower_func(
    func: &PrimFunc,
    target: &Target,
    launches: Launches,
) -> Result<LoweredFunc, LowerError> {
    if let Some(tiled) = func.first_tiled() {
        return Err(LowerProblem::Tiled(tiled).into());
    }
    let gpu = match target {
        Target::Gpu(gpu) => Some(gpu),
        Target::Cpu(_) => None,
    };
    check_buffers(func)?;
    let written = func;
    let func = &*scalar_params::as_integers(written);
    let dims = Dims::of(func);
    let func = &*launch_breaks::in_order(func);
    let func = &*thread_returns::structured(func)?;
    let func = &*returns::structured(func)?;
    let func = &*layout::dense(func, &dims)?;
    let (memory_plan, nests) = nests(func, gpu.is_some(), &dims)?;
    let mut lowered = LoweredFunc {
        name: func.name.clone(),
        dims: dims.vars().map(|v| v.name().to_owned()).collect(),
        params: params(func, &dims)?,
        scalar_params: scalar_params::scalar_params(written, func, &dims),
        temps: temps(&dims, &memory_plan)?,
        kernels: vec![],
        requires: vec![],
        asserts: asserts(func, &dims),
    };
    let refs = buffer_refs(func, &memory_plan);
    let groups = group(nests, gpu.is_some());
    let single = groups.len() == 1;
    for (i, group) in groups.into_iter().enumerate() {
        let name = if single {
            func.name.clone()
        } else {
            format!("{}_{i}", func.name)
        };
        let places: Vec<Place> = group
            .iter()
            .flat_map(|ready| ready.places.clone())
            .collect();
        let located = |error: LowerError| error.or_at(&places);
        let (temps, requires) = (&mut lowered.temps, &mut lowered.requires);
        let kernel = kernel(
            gpu,
            launches,
            &dims,
            &memory_plan,
            &refs,
            group,
            name,
            temps,
            requires,
        )
        .map_err(located)?;
        for (_, array, buffer, access) in kernel.bindings() {
            if let (BufferRef::Param(p), Access::Write | Access::ReadWrite) = (buffer, access) {
                lowered.params[p].written = true;
            }
            if gpu.is_some() {
                require_fit(&array.name, &array.len, &mut lowered.requires).map_err(located)?;
            }
        }
        if let Some(limit) = gpu.and_then(|gpu| gpu.max_loop_passes) {
            loop_passes::require(&kernel, limit, &mut lowered.requires).map_err(located)?;
        }
        lowered.kernels.push(kernel);
    }
    Ok(lowered)
}

/// What stands asserted before or behind the loops of a function, of its dims and scalar parameters alone. The host checks it
/// before a launch; kernels check nothing.
fn asserts(func: &PrimFunc, dims: &Dims) -> Vec<Assertion> {
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

/// A nest with what is known of its variables, and the statement it came from.
struct Ready {
    nest: Nest,
    flops: HostExpr,
    arrays: Vec<Private>,
    places: Vec<Place>,
    blocks: Vec<String>,
}

fn known_dims(dims: &Dims) -> Analyzer {
    let mut analyzer = Analyzer::new();
    for var in dims.vars() {
        let known = if dims.is_extent(var) {
            PROVED_DIMS
        } else {
            PROVED_SCALARS
        };
        let (least, most) = var
            .dtype()
            .scalar
            .int_range()
            .unwrap_or((i64::MIN, i64::MAX));
        let bound = IntBound::new(least.max(*known.start()), most.min(*known.end()));
        analyzer.bind_bound(var, bound);
    }
    analyzer
}

/// The root-level statements without blocks. Buffers that cannot shrink go back to device memory, and the nests are made anew.
fn nests(func: &PrimFunc, gpu: bool, dims: &Dims) -> Result<(MemoryPlan, Vec<Ready>), LowerError> {
    let mut kept: HashSet<Buffer> = HashSet::new();
    'attempt: loop {
        let memory_plan = MemoryPlan::new(func, gpu, &kept)?;
        let mut out = Vec::new();
        // What stands behind a `return` of the function never runs.
        let is_return = |stmt: &&Stmt| matches!(stmt, Stmt::Return(None));
        let body = func.tree.body(func.root).iter();
        for stmt in body.take_while(|stmt| !is_return(stmt)) {
            let unblock = Unblock::new(func, &memory_plan, gpu, known_dims(dims));
            let places = stmt.places();
            let located = |error: LowerError| error.or_at(&places);
            let (mut nest, analyzer) = unblock.run(stmt).map_err(located)?;
            if !gpu {
                let shared = compact::shared_between_threads(&nest, &memory_plan, &analyzer);
                nest.body = thread_loops::imply_barriers(nest.body, &shared);
            }
            match compact::compact(&mut nest, &memory_plan, &analyzer).map_err(located)? {
                Ok(mut arrays) => {
                    if !gpu {
                        nest.body = thread_loops::split(nest.body, &mut arrays).map_err(located)?;
                    }
                    out.push(Ready {
                        nest,
                        flops: cost::flops(func, stmt, dims),
                        arrays,
                        places: places.clone(),
                        blocks: block_names(func, stmt),
                    });
                }
                Err(buffer)
                    if gpu
                        && memory_plan.of(&buffer) == Memory::Shared
                        && !nest.axes.is_empty() =>
                {
                    let buffer = buffer.name().to_owned();
                    return Err(located(LowerProblem::CrossThread { buffer }.into()));
                }
                Err(buffer) => {
                    kept.insert(buffer);
                    continue 'attempt;
                }
            }
            if gpu && let Some(ready) = out.last() {
                check_bound(func, ready).map_err(located)?;
                cross_thread::check(&ready.nest, &memory_plan, &analyzer).map_err(located)?;
            }
        }
        return Ok((memory_plan, out));
    }
}

fn block_names(func: &PrimFunc, stmt: &Stmt) -> Vec<String> {
    stmt.places()
        .into_iter()
        .flat_map(|p| func.blocks_under(p))
        .map(|b| func.blocks[b].name.clone())
        .collect()
}

/// A nest without threads is a slip, unless it is marked to run in one.
fn check_bound(func: &PrimFunc, ready: &Ready) -> Result<(), LowerError> {
    let mut has_loop = false;
    for &place in &ready.places {
        let annotations = match place {
            Place::Loop(id) => &func.loops[id].annotations,
            Place::Block(id) => &func.blocks[id].annotations,
        };
        if annotations.get(attrs::ONE_THREAD) == Some(&AttrValue::Bool(true)) {
            continue;
        }
        func.tree.walk(place, &mut |p| {
            if let Place::Loop(id) = p {
                has_loop |= !func.loops[id].extent.is_one();
            }
        });
    }
    if ready.nest.axes.is_empty() && has_loop {
        let block = ready.blocks.first().cloned().unwrap_or_default();
        return Err(LowerProblem::NotBound { block }.into());
    }
    Ok(())
}

/// The nests of each kernel.
fn group(nests: Vec<Ready>, gpu: bool) -> Vec<Vec<Ready>> {
    let parallel = |r: &Ready| {
        let mut found = false;
        node::walk_nodes(&r.nest.body, &mut |n| {
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
    let mut groups: Vec<Vec<Ready>> = Vec::new();
    let mut last_serial = false;
    for ready in nests {
        if ready.nest.body.is_empty() {
            continue;
        }
        let serial = !gpu && !parallel(&ready);
        match groups.last_mut() {
            Some(group) if serial && last_serial => group.push(ready),
            _ => groups.push(vec![ready]),
        }
        last_serial = serial;
    }
    groups
}

#[expect(
    clippy::too_many_arguments,
    reason = "what the kernels of a function share"
)]
fn kernel(
    gpu: Option<&GpuTarget>,
    launches: Launches,
    dims: &Dims,
    memory_plan: &MemoryPlan,
    refs: &HashMap<Buffer, BufferRef>,
    group: Vec<Ready>,
    name: String,
    temps: &mut Vec<TempInfo>,
    requires: &mut Vec<Requirement>,
) -> Result<Kernel, LowerError> {
    let mut used: IndexMap<Buffer, (bool, bool)> = IndexMap::new();
    for ready in &group {
        for (buffer, (read, write)) in storage::device_buffers(&ready.nest, memory_plan) {
            let entry = used.entry(buffer).or_default();
            entry.0 |= read;
            entry.1 |= write;
        }
    }
    used.sort_by_key(|buffer, _| refs.get(buffer).map(ref_order));
    let mut emit = Emit::new(dims, gpu, Facts::new(known_dims(dims)));
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
    for ready in &group {
        for array in &ready.arrays {
            emit.private(&array.buffer)?;
        }
        body.extend(emit.nest(&ready.nest)?);
        flops = HostExpr::binary(BinOp::Add, flops, ready.flops.clone());
        comment.extend(ready.blocks.iter().cloned());
    }
    emit.set_widths();
    let arrays = group.iter().flat_map(|ready| &ready.arrays);
    let fresh = arrays.map(|array| (emit.array_id(&array.buffer), emit.loops(&array.loops)));
    let fresh: HashMap<ArrayId, Vec<VarId>> = fresh.collect();
    let launch = match gpu {
        Some(gpu) => Some(launch(dims, &group[0].nest, gpu)?),
        None => None,
    };
    comment.dedup();
    let exact = std::mem::take(&mut emit.exact);
    if let Some(gpu) = gpu {
        check_limits(gpu, &emit, used.len())?;
    }
    let mut kernel = Kernel {
        name,
        comment: comment.join(", "),
        arrays: emit.arrays,
        vars: emit.vars,
        scalars: emit.scalars,
        launch,
        body,
        in_bounds: emit.in_bounds,
        flops,
        bytes,
    };
    narrow::require(&kernel, &exact, requires)?;
    if let (Some(gpu), Some(launch)) = (gpu, &kernel.launch) {
        let mut body = std::mem::take(&mut kernel.body);
        body = hoist::hoist_loads(&kernel.arrays, &mut kernel.vars, body);
        if let Some(limit) = gpu.max_loop_passes {
            body = loop_passes::shorten(&mut kernel.vars, &kernel.scalars, launch, body, limit);
        }
        kernel.body = body;
        common_subexpr::name_common(&mut kernel);
        if let Some(limit) = gpu.max_loop_passes {
            let dims = dims.vars().count();
            relaunch::relaunch(&mut kernel, dims, gpu, limit, launches, &fresh, temps);
        }
        kernel.body = barrier::insert_barriers(&kernel.arrays, std::mem::take(&mut kernel.body))?;
    }
    Ok(kernel)
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

fn check_limits(gpu: &GpuTarget, emit: &Emit<'_>, buffers: usize) -> Result<(), LowerError> {
    let shared: u64 = emit
        .arrays
        .iter()
        .filter(|(_, a)| matches!(a.space, crate::kernel::Space::Shared))
        .map(|(_, a)| a.len.as_const().unwrap_or(0) as u64 * a.dtype.bytes().max(4) as u64)
        .sum();
    let limits = [
        ("bytes of shared memory", shared, gpu.shared_bytes),
        ("storage buffers", buffers as u64, gpu.max_storage_buffers),
    ];
    for (what, needs, limit) in limits {
        if needs > limit.into() {
            return Err(LowerProblem::DeviceLimit {
                what,
                needs,
                limit: limit.into(),
            }
            .into());
        }
    }
    Ok(())
}

/// Number of elements of a buffer for the host.
fn element_count(dims: &Dims, buffer: &Buffer) -> Result<HostExpr, LowerError> {
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

fn require_fit(
    array: &str,
    len: &HostExpr,
    requires: &mut Vec<Requirement>,
) -> Result<(), LowerError> {
    let limit = i64::from(i32::MAX);
    if let Some(len) = len.as_const() {
        if len > limit {
            return Err(LowerProblem::TooLarge {
                buffer: array.to_owned(),
                len,
                index: ScalarType::I32,
            }
            .into());
        }
        return Ok(());
    }
    if !requires.iter().any(|r| r.value == *len) {
        requires.push(Requirement {
            value: len.clone(),
            limit,
            what: format!("index into {array} fits i32"),
        });
    }
    Ok(())
}

/// No target computes with elements of at most eight bits.
fn check_buffers(func: &PrimFunc) -> Result<(), LowerError> {
    for buffer in func.buffer_params().chain(func.allocated()) {
        if let ScalarType::Small(_) = buffer.dtype().scalar {
            return Err(LowerProblem::DType {
                what: buffer.name().to_owned(),
                dtype: buffer.dtype(),
            }
            .into());
        }
    }
    Ok(())
}

fn params(func: &PrimFunc, dims: &Dims) -> Result<Vec<ParamInfo>, LowerError> {
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

fn temps(dims: &Dims, memory_plan: &MemoryPlan) -> Result<Vec<TempInfo>, LowerError> {
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

fn buffer_refs(func: &PrimFunc, memory_plan: &MemoryPlan) -> HashMap<Buffer, BufferRef> {
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
