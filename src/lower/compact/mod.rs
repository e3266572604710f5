//! How little of a buffer must exist: one that is used inside one thread, workgroup or iteration shrinks to the region that is
//! touched there (TVM: `CompactBufferAllocation`).

mod site;

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use indexmap::IndexMap;

use self::site::{Access, Loop, Site};
use crate::arith::Analyzer;
use crate::ir::{Buffer, BufferNode, Expr, ExprKind, LoopKind, Scope, Var};
use crate::lower::nest::Nest;
use crate::lower::node::{Node, map_exprs};
use crate::lower::storage::{Memory, MemoryPlan};
use crate::lower::wrapping_sum::WrappingSum;
use crate::lower::{LowerError, LowerProblem, thread_loops};
use crate::tensor::DType;

/// Most elements of an array of one thread.
const MAX_LOCAL: i64 = 16 << 10;

/// An array of a thread or workgroup.
pub(super) struct Private {
    pub(super) buffer: Buffer,
    /// Loops around all its uses in each of whose iterations it is a new array.
    pub(super) loops: Vec<Var>,
}

/// The loops and branches around a place.
#[derive(Default)]
struct Around {
    loops: Vec<Loop>,
    branches: Vec<(usize, Expr)>,
    /// Branches seen so far.
    seen: usize,
}

/// Shrinks the arrays of threads and workgroups in a nest to what is touched, and gives the new ones.
/// `Err` of the inner kind names a buffer that must stay in device memory: what it is to hold is not known, or, where one thread
/// runs everything, of no constant size.
pub(super) fn compact(
    nest: &mut Nest,
    memory_plan: &MemoryPlan,
    analyzer: &Analyzer,
) -> Result<Result<Vec<Private>, Buffer>, LowerError> {
    let accesses = accesses(nest, memory_plan);
    let meets = thread_loops::meet(&nest.body);
    let added: HashSet<Buffer> = nest.added.iter().map(|(b, _)| b.clone()).collect();
    let kept = |(buffer, _): &(Buffer, Memory)| Private {
        buffer: buffer.clone(),
        // Without a barrier nobody asks.
        loops: match accesses.get(buffer) {
            Some(accesses) if meets => loops_of(accesses, common_loops(accesses)),
            _ => vec![],
        },
    };
    let mut arrays: Vec<Private> = nest.added.iter().map(kept).collect();
    let mut moved = Moved::new();
    for (buffer, accesses) in &accesses {
        if added.contains(buffer) {
            continue;
        }
        let memory = memory_plan.of(buffer);
        let of_threads = memory_plan.of_threads.contains(buffer);
        let inferred = memory_plan.inferred.contains(buffer) && !of_threads;
        let sites = if meets {
            sites_of_threads(buffer, memory_plan, accesses)
        } else {
            0..=common_loops(accesses)
        };
        let site = Site::innermost(nest, buffer, memory, accesses, analyzer, sites);
        let site = site.and_then(|site| Some((site.boxes(inferred)?, site.fixed)));
        let Some((boxes, fixed)) = site else {
            // Threads that take turns may use one after the other the same array; threads that meet may not.
            if !(meets && of_threads) && (inferred || nest.axes.is_empty()) {
                return Ok(Err(buffer.clone()));
            }
            return Err(array_size(buffer).into());
        };
        let size: i64 = boxes.iter().map(|(_, extent)| extent).product();
        if memory_plan.inferred.contains(buffer) && size > MAX_LOCAL {
            return match meets && of_threads {
                true => Err(array_size(buffer).into()),
                false => Ok(Err(buffer.clone())),
            };
        }
        let shape: Vec<i64> = boxes.iter().map(|(_, extent)| *extent).collect();
        let strides = memory_plan.strides(buffer, &shape);
        let scope = match memory {
            Memory::Shared => Scope::Shared,
            _ if buffer.scope().fragment().is_some() => buffer.scope().clone(),
            Memory::Local | Memory::Device => Scope::Local,
        };
        let exprs = |values: Vec<i64>| values.into_iter().map(Expr::i64).collect();
        let dense = Buffer::with_scope(buffer.name(), exprs(shape), buffer.dtype(), scope);
        let new = Buffer::from_node(BufferNode {
            strides: exprs(strides),
            ..dense.node().clone()
        });
        arrays.push(Private {
            buffer: new.clone(),
            loops: loops_of(accesses, fixed),
        });
        let bases = boxes.into_iter().map(|(base, _)| base).collect();
        moved.insert(buffer.clone(), (new, bases));
    }
    move_accesses(&mut nest.body, &moved);
    Ok(Ok(arrays))
}

fn array_size(buffer: &Buffer) -> LowerProblem {
    LowerProblem::ArraySize {
        buffer: buffer.name().to_owned(),
        scope: buffer.scope().name().to_owned(),
        shape: buffer.shape().to_vec(),
    }
}

/// The shared buffers of which an iteration of a loop over threads may read what another one wrote.
pub(super) fn shared_between_threads(
    nest: &Nest,
    memory_plan: &MemoryPlan,
    analyzer: &Analyzer,
) -> HashSet<Buffer> {
    let mut found = HashSet::new();
    for (buffer, accesses) in accesses(nest, memory_plan) {
        let common = common_loops(&accesses);
        let (memory, sites) = (memory_plan.of(&buffer), 0..=common);
        if buffer.scope().is_shared()
            && let site = Site::innermost(nest, &buffer, memory, &accesses, analyzer, sites)
            && site.is_none_or(|site| accesses[0].loops[site.fixed..common].iter().any(is_thread))
        {
            found.insert(buffer);
        }
    }
    found
}

fn accesses(nest: &Nest, memory_plan: &MemoryPlan) -> IndexMap<Buffer, Vec<Access>> {
    let mut accesses = IndexMap::new();
    collect(
        &nest.body,
        memory_plan,
        &mut Around::default(),
        &mut accesses,
    );
    accesses
}

fn is_thread(of: &Loop) -> bool {
    matches!(of.3, LoopKind::ThreadBinding(axis) if axis.is_thread())
}

/// The variables of the first loops around all accesses.
fn loops_of(accesses: &[Access], count: usize) -> Vec<Var> {
    let loops = accesses[0].loops[..count].iter();
    loops.map(|(var, ..)| var.clone()).collect()
}

/// The number of loops around all accesses.
fn common_loops(accesses: &[Access]) -> usize {
    let first = &accesses[0].loops;
    let around_all = |&i: &usize| {
        let is_same = |a: &Access| a.loops.get(i).is_some_and(|l| l.0 == first[i].0);
        first[i].3 != LoopKind::Vectorized && accesses.iter().all(is_same)
    };
    (0..first.len()).take_while(around_all).count()
}

/// In how many of the loops around all accesses an array may live where threads meet: within those over threads if each thread
/// has one, outside of them if the workgroup has.
fn sites_of_threads(
    buffer: &Buffer,
    memory_plan: &MemoryPlan,
    accesses: &[Access],
) -> RangeInclusive<usize> {
    let common = &accesses[0].loops[..common_loops(accesses)];
    if buffer.scope().is_shared() {
        0..=common.iter().position(is_thread).unwrap_or(common.len())
    } else if memory_plan.of_threads.contains(buffer) {
        common.iter().rposition(is_thread).map_or(0, |at| at + 1)..=common.len()
    } else {
        0..=common.len()
    }
}

fn collect(
    nodes: &[Node],
    memory_plan: &MemoryPlan,
    around: &mut Around,
    out: &mut IndexMap<Buffer, Vec<Access>>,
) {
    for node in nodes {
        let mut access = |buffer: &Buffer, indices: &[Expr], write, own: &[Loop]| {
            if memory_plan.of(buffer) != Memory::Device {
                out.entry(buffer.clone()).or_default().push(Access {
                    loops: [&around.loops[..], own].concat(),
                    branches: around.branches.clone(),
                    indices: indices.to_vec(),
                    write,
                });
            }
        };
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, indices) = e.kind() {
                    access(buffer, indices, false, &[]);
                }
                true
            });
        }
        match node {
            Node::Store {
                buffer, indices, ..
            } => access(buffer, indices, true, &[]),
            Node::Fragment(node) => {
                let over = |var: &Var| {
                    let (zero, extent) = (Expr::i64(0), Expr::i64(node.extent));
                    (var.clone(), zero, extent, LoopKind::Serial)
                };
                let own = [over(&node.row), over(&node.column)];
                for tile in node.read() {
                    access(&tile.buffer, &tile.indices, false, &own);
                }
                access(&node.tiles[0].buffer, &node.tiles[0].indices, true, &own);
            }
            Node::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                let entered = (var.clone(), min.clone(), extent.clone(), *kind);
                around.loops.push(entered);
                collect(body, memory_plan, around, out);
                around.loops.pop();
            }
            Node::If {
                cond,
                then,
                otherwise,
            } => {
                for (body, cond) in [(then, cond.clone()), (otherwise, cond.not())] {
                    around.under(cond, |around| collect(body, memory_plan, around, out));
                }
            }
            // A body that may not run at all: of what its condition says nothing is known.
            Node::While { cond: _, body } => {
                let runs = Var::new("runs", DType::BOOL).expr();
                around.under(runs, |around| collect(body, memory_plan, around, out));
            }
            Node::Let { body, .. } => collect(body, memory_plan, around, out),
            Node::Barrier(_) => {}
        }
    }
}

impl Around {
    fn under(&mut self, cond: Expr, inside: impl FnOnce(&mut Self)) {
        self.seen += 1;
        self.branches.push((self.seen, cond));
        inside(self);
        self.branches.pop();
    }
}

/// The small array that stands for each buffer, and the index of the buffer that its first element is.
type Moved = HashMap<Buffer, (Buffer, Vec<Expr>)>;

fn move_accesses(nodes: &mut [Node], moved: &Moved) {
    let shift = |indices: &[Expr], bases: &[Expr]| -> Vec<Expr> {
        indices
            .iter()
            .zip(bases)
            .map(|(i, b)| {
                let dtype = i.dtype();
                WrappingSum::of(i)
                    .plus(&WrappingSum::of(b), -1)
                    .join_div_mod()
                    .to_expr(dtype, &|_| false)
            })
            .collect()
    };
    map_exprs(nodes, &mut |e| {
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) if moved.contains_key(buffer) => {
                let (new, bases) = &moved[buffer];
                Expr::load(new, shift(indices, bases))
            }
            _ => e.clone(),
        })
    });
    move_stores(nodes, moved, &shift);
}

type Shift<'a> = &'a dyn Fn(&[Expr], &[Expr]) -> Vec<Expr>;

fn move_stores(nodes: &mut [Node], moved: &Moved, shift: Shift<'_>) {
    for node in nodes {
        if let Node::Store {
            buffer, indices, ..
        } = node
            && let Some((new, bases)) = moved.get(buffer)
        {
            *indices = shift(indices, bases);
            *buffer = new.clone();
        }
        if let Node::Fragment(node) = node {
            for tile in &mut node.tiles {
                if let Some((new, bases)) = moved.get(&tile.buffer) {
                    tile.indices = shift(&tile.indices, bases);
                    tile.buffer = new.clone();
                }
            }
        }
        for inner in node.nested_mut() {
            move_stores(inner, moved, shift);
        }
    }
}
