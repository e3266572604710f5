//! Which memory allocated buffers are in: device memory, that of the workgroup, or that of the thread (TVM:
//! `PlanAndUpdateBufferAllocationLocation`).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::nest::Nest;
use super::node::{Node, walk_nodes};
use super::{LowerError, LowerProblem, thread_reduce};
use crate::ir::{Buffer, ExprKind, LoopKind, Place, PrimFunc, Scope, Stmt, ThreadAxis, attrs};

/// The memory that a buffer is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory {
    /// Device memory: a parameter or a temporary.
    Device,
    /// Memory of the workgroup.
    Shared,
    /// Memory of the thread.
    Local,
}

/// The memory of each buffer of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryPlan {
    of_buffers: HashMap<Buffer, Memory>,
    /// Those whose memory is not given by their scope: they must prove that nothing else is read than was written.
    pub(super) inferred: HashSet<Buffer>,
    /// Those that are new for each thread: by their scope, or because loops bound to threads surround their block.
    pub(super) of_threads: HashSet<Buffer>,
    /// All allocated buffers that stay in device memory.
    pub(super) temps: Vec<Buffer>,
    /// For buffers some of whose strides the program chooses: of a dimension, a factor, and by how much the stride is to be more
    /// than a multiple of it.
    alignments: HashMap<Buffer, Vec<[i64; 3]>>,
}

impl MemoryPlan {
    /// The strides of the array of this shape that stands for a buffer; none if its rows lie side by side.
    pub(super) fn strides(&self, buffer: &Buffer, shape: &[i64]) -> Vec<i64> {
        let Some(alignments) = self.alignments.get(buffer) else {
            return vec![];
        };
        let mut strides = vec![1; shape.len()];
        for d in (0..shape.len()).rev() {
            if d + 1 < shape.len() {
                strides[d] = strides[d + 1] * shape[d + 1];
            }
            let own = alignments.iter().filter(|[axis, ..]| *axis == d as i64);
            for [_, factor, offset] in own {
                strides[d] += (offset - strides[d]).rem_euclid(*factor);
            }
        }
        strides
    }

    /// The buffers that were placed, by name.
    pub(super) fn placed(&self) -> Vec<(&Buffer, Memory)> {
        let placed = self.of_buffers.iter();
        let mut placed: Vec<_> = placed.map(|(buffer, memory)| (buffer, *memory)).collect();
        placed.sort_by_key(|(buffer, _)| buffer.name());
        placed
    }

    pub(super) fn of(&self, buffer: &Buffer) -> Memory {
        self.of_buffers
            .get(buffer)
            .copied()
            .unwrap_or(Memory::Device)
    }

    /// Whether a buffer of a nest is in device memory. Arrays of threads and workgroups have been replaced by smaller ones,
    /// which only their scope tells.
    pub(super) fn is_device(&self, buffer: &Buffer) -> bool {
        match self.of_buffers.get(buffer) {
            Some(memory) => *memory == Memory::Device,
            None => !on_chip(buffer.scope()),
        }
    }

    pub(super) fn set(&mut self, buffer: &Buffer, memory: Memory) {
        self.of_buffers.insert(buffer.clone(), memory);
    }

    /// Chooses the memory of each buffer. `kept` are buffers that a former attempt could not shrink.
    ///
    /// # Errors
    /// If several kernels are to share memory of a thread or workgroup.
    pub(super) fn new(
        func: &PrimFunc,
        gpu: bool,
        kept: &HashSet<Buffer>,
    ) -> Result<Self, LowerError> {
        let mut memory_plan = Self {
            of_threads: of_threads(func),
            ..Self::default()
        };
        for (buffer, users) in users_of_allocated(func) {
            if users.is_empty() {
                continue;
            }
            let memory = match buffer.scope() {
                _ if kept.contains(&buffer) => Memory::Device,
                scope if on_chip(scope) && !in_one_nest(func, &users) => {
                    if gpu && in_threads(func, &users) {
                        let problem = LowerProblem::Scattered {
                            buffer: buffer.name().to_owned(),
                            scope: buffer.scope().name().to_owned(),
                        };
                        return Err(LowerError::from(problem).or_at(&users));
                    }
                    Memory::Device
                }
                Scope::Local => Memory::Local,
                scope if scope.fragment().is_some() => Memory::Local,
                scope if scope.is_shared() && gpu => Memory::Shared,
                scope if scope.is_shared() => Memory::Local,
                _ => {
                    let memory = inferred_memory(func, &buffer, &users, gpu);
                    if memory != Memory::Device {
                        memory_plan.inferred.insert(buffer.clone());
                    }
                    memory
                }
            };
            if memory == Memory::Device {
                memory_plan.temps.push(buffer.clone());
            }
            memory_plan.set(&buffer, memory);
        }
        for id in func.blocks_under(Place::Block(func.root)) {
            let block = &func.blocks[id];
            let Some(given) = block.annotations.get(attrs::STORAGE_ALIGN) else {
                continue;
            };
            let malformed = || LowerError::from(LowerProblem::Alignment).or_at(&[Place::Block(id)]);
            for [index, axis, factor, offset] in attrs::alignments(given).ok_or_else(malformed)? {
                let write = usize::try_from(index)
                    .ok()
                    .and_then(|at| block.writes.get(at));
                let write = write.filter(|_| factor > 0).ok_or_else(malformed)?;
                let of_buffer = memory_plan.alignments.entry(write.buffer.clone());
                of_buffer.or_default().push([axis, factor, offset]);
            }
        }
        Ok(memory_plan)
    }
}

/// Whether a buffer of this scope is gone when a kernel ends.
fn on_chip(scope: &Scope) -> bool {
    *scope == Scope::Local || scope.is_shared() || scope.fragment().is_some()
}

/// The allocated buffers that are new for each thread.
fn of_threads(func: &PrimFunc) -> HashSet<Buffer> {
    let mut found = HashSet::new();
    for id in func.blocks_under(Place::Block(func.root)) {
        let path = path(func, Place::Block(id));
        let in_threads = path
            .iter()
            .any(|place| axis_of(func, place).is_some_and(ThreadAxis::is_thread));
        let buffers = func.blocks[id].alloc_buffers.iter();
        let own = buffers.filter(|buffer| match buffer.scope() {
            Scope::Local => true,
            scope if scope.fragment().is_some() => true,
            scope => in_threads && !scope.is_shared(),
        });
        found.extend(own.cloned());
    }
    found
}

/// Every allocated buffer with the places whose own statements use it.
fn users_of_allocated(func: &PrimFunc) -> IndexMap<Buffer, Vec<Place>> {
    let mut users: IndexMap<Buffer, Vec<Place>> = IndexMap::new();
    let mut views: HashMap<Buffer, Buffer> = memory_views(func).into_iter().collect();
    let root = Place::Block(func.root);
    func.tree.walk(root, &mut |at| {
        if let Place::Block(id) = at {
            for buffer in &func.blocks[id].alloc_buffers {
                users.insert(buffer.clone(), vec![]);
            }
            for view in &func.blocks[id].match_buffers {
                views.insert(view.buffer.clone(), view.source.buffer.clone());
            }
        }
    });
    func.tree.walk(root, &mut |at| {
        let mut used = Vec::new();
        buffers_in(func.tree.body(at), &mut used);
        if let Place::Block(id) = at {
            buffers_in(func.blocks[id].init.as_deref().unwrap_or(&[]), &mut used);
        }
        for mut buffer in used {
            while let Some(source) = views.get(&buffer) {
                buffer = source.clone();
            }
            if let Some(places) = users.get_mut(&buffer)
                && !places.contains(&at)
            {
                places.push(at);
            }
        }
    });
    users
}

/// The views that statements declare, each with the buffer whose memory it views.
pub(super) fn memory_views(func: &PrimFunc) -> Vec<(Buffer, Buffer)> {
    fn in_stmts(stmts: &[Stmt], out: &mut Vec<(Buffer, Buffer)>) {
        for stmt in stmts {
            if let Stmt::View { buffer, memory, .. } = stmt
                && let ExprKind::Data(source) = memory.kind()
            {
                out.push((buffer.clone(), source.clone()));
            }
            stmt.nested().into_iter().for_each(|s| in_stmts(s, out));
        }
    }
    let mut out = Vec::new();
    func.tree.walk(Place::Block(func.root), &mut |at| {
        in_stmts(func.tree.body(at), &mut out);
    });
    out
}

fn buffers_in(stmts: &[Stmt], out: &mut Vec<Buffer>) {
    for stmt in stmts {
        if let Stmt::Store { buffer, .. } = stmt {
            out.push(buffer.clone());
        }
        for e in stmt.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, _) = e.kind() {
                    out.push(buffer.clone());
                }
                true
            });
        }
        stmt.nested().into_iter().for_each(|s| buffers_in(s, out));
    }
}

/// The loops and blocks from the root to a place, both included.
fn path(func: &PrimFunc, place: Place) -> Vec<Place> {
    let mut path = vec![place];
    while let Some(parent) = func.tree.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    path
}

/// Whether one statement at the root holds all the places.
fn in_one_nest(func: &PrimFunc, places: &[Place]) -> bool {
    let nest = |place: &Place| {
        let top = *path(func, *place).get(1)?;
        let mut nests = func.tree.body(func.root).iter();
        nests.position(|stmt| stmt.places().contains(&top))
    };
    let first = nest(&places[0]);
    first.is_some() && places.iter().all(|place| nest(place) == first)
}

/// Whether a loop around one of the places is bound to threads or workgroups. Where none is, one thread runs everything, and
/// all memory is its own.
fn in_threads(func: &PrimFunc, places: &[Place]) -> bool {
    let bound = |place: &Place| {
        path(func, *place)
            .iter()
            .any(|p| axis_of(func, p).is_some())
    };
    places.iter().any(bound)
}

fn axis_of(func: &PrimFunc, place: &Place) -> Option<ThreadAxis> {
    match place {
        Place::Loop(id) => match func.loops[*id].kind {
            LoopKind::ThreadBinding(axis) => Some(axis),
            LoopKind::Serial | LoopKind::Parallel | LoopKind::Vectorized | LoopKind::Unrolled => {
                None
            }
        },
        Place::Block(_) => None,
    }
}

fn inferred_memory(func: &PrimFunc, buffer: &Buffer, users: &[Place], gpu: bool) -> Memory {
    let paths: Vec<Vec<Place>> = users.iter().map(|&p| path(func, p)).collect();
    let common = (0..paths[0].len())
        .take_while(|&i| paths.iter().all(|p| p.get(i) == Some(&paths[0][i])))
        .count();
    let above = &paths[0][..common];
    let in_loop = above.iter().any(|p| matches!(p, Place::Loop(_)));
    if !in_loop {
        return Memory::Device;
    }
    if !gpu {
        return Memory::Local;
    }
    let threads_below = paths.iter().any(|p| {
        p[common..]
            .iter()
            .any(|p| axis_of(func, p).is_some_and(ThreadAxis::is_thread))
    });
    let bound_above =
        |test: fn(ThreadAxis) -> bool| above.iter().any(|p| axis_of(func, p).is_some_and(test));
    if threads_below && every_thread_has(func, buffer, users, above[1]) {
        Memory::Local
    } else if threads_below {
        Memory::Shared
    } else if bound_above(ThreadAxis::is_thread) {
        Memory::Local
    } else if bound_above(ThreadAxis::is_block) {
        Memory::Shared
    } else {
        Memory::Device
    }
}

/// Whether all threads of a workgroup compute what is in the buffer: one block writes it, which reduces over all of them. Each then
/// keeps it for itself and need not wait for another one to store it.
fn every_thread_has(func: &PrimFunc, buffer: &Buffer, users: &[Place], nest: Place) -> bool {
    let mut writers = users
        .iter()
        .filter(|place| stores_to(func.tree.body(**place), buffer));
    let (Some(&Place::Block(writer)), None) = (writers.next(), writers.next()) else {
        return false;
    };
    let reduced = thread_reduce::axes(func, writer);
    let mut all = func.blocks[writer].init.is_some() && !reduced.is_empty();
    func.tree.walk(nest, &mut |place| {
        let axis = axis_of(func, &place).filter(|axis| axis.is_thread());
        let several = matches!(place, Place::Loop(id) if !func.loops[id].extent.is_one());
        all &= !several || axis.is_none_or(|axis| reduced.contains(&axis));
    });
    all
}

fn stores_to(stmts: &[Stmt], buffer: &Buffer) -> bool {
    stmts.iter().any(|stmt| {
        matches!(stmt, Stmt::Store { buffer: to, .. } if to == buffer)
            || stmt
                .nested()
                .into_iter()
                .any(|inner| stores_to(inner, buffer))
    })
}

/// Buffers in device memory that the nest uses, in order of first use, and whether it reads and writes them.
pub(super) fn device_buffers(
    nest: &Nest,
    memory_plan: &MemoryPlan,
) -> IndexMap<Buffer, (bool, bool)> {
    let local: HashSet<&Buffer> = nest.added.iter().map(|(b, _)| b).collect();
    let mut out: IndexMap<Buffer, (bool, bool)> = IndexMap::new();
    let wanted = |b: &Buffer| memory_plan.is_device(b) && !local.contains(b);
    walk_nodes(&nest.body, &mut |node| {
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, _) = e.kind()
                    && wanted(buffer)
                {
                    out.entry(buffer.clone()).or_default().0 = true;
                }
                true
            });
        }
        if let Node::Store { buffer, .. } = node
            && wanted(buffer)
        {
            out.entry(buffer.clone()).or_default().1 = true;
        }
    });
    out
}
