//! How little of a buffer must exist: one that is used inside one thread, workgroup or iteration shrinks to the region that is
//! touched there (TVM: `CompactBufferAllocation`).

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use indexmap::IndexMap;

use super::nest::Nest;
use super::node::{Node, map_exprs};
use super::speculate::only_past_the_end;
use super::storage::{Memory, MemoryPlan};
use super::wrapping_sum::WrappingSum;
use super::{LowerError, LowerProblem, thread_loops};
use crate::arith::Analyzer;
use crate::ir::{Buffer, BufferNode, Expr, ExprKind, FRAGMENT_EXTENT, LoopKind, Range, Scope, Var};
use crate::tensor::scalar::BinOp;

/// Most elements of an array of one thread.
const MAX_LOCAL: i64 = 16 << 10;

/// An array of a thread or workgroup.
pub(super) struct Private {
    pub(super) buffer: Buffer,
    /// Loops around all its uses in each of whose iterations it is a new array.
    pub(super) loops: Vec<Var>,
}

/// A loop: its variable, first value, extent and kind.
type Loop = (Var, Expr, Expr, LoopKind);

/// One load or store: the loops around it, and what it touches.
struct Access {
    loops: Vec<Loop>,
    /// The branches around it: which one, and its condition.
    branches: Vec<(usize, Expr)>,
    indices: Vec<Expr>,
    write: bool,
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
                    let (zero, extent) = (Expr::i64(0), Expr::i64(FRAGMENT_EXTENT));
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
            // A body that may not run at all.
            Node::While { cond: _, body } => {
                around.under(Expr::bool(false), |around| {
                    collect(body, memory_plan, around, out)
                });
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

/// Binds the variables of loops to their ranges, as inside of the loops.
fn bind_loops(analyzer: &mut Analyzer, loops: &[Loop]) {
    for (var, min, extent, _) in loops {
        let range = Range {
            min: min.clone(),
            extent: extent.clone(),
        };
        analyzer.bind_iteration(var, &range);
    }
}

type Span = (Expr, Expr);

/// What is known where an array is shrunk.
struct Site<'a> {
    nest: &'a Nest,
    buffer: &'a Buffer,
    memory: Memory,
    /// All loads and stores of the buffer, in the order in which the program has them.
    accesses: &'a [Access],
    /// Loops around all accesses in each of whose iterations the array is a new one.
    fixed: usize,
    analyzer: Analyzer,
}

impl<'a> Site<'a> {
    /// The innermost of some sites whose iterations read nothing that another iteration wrote, or the outermost one. A site is
    /// the number of loops around it that are around all accesses.
    fn innermost(
        nest: &'a Nest,
        buffer: &'a Buffer,
        memory: Memory,
        accesses: &'a [Access],
        analyzer: &Analyzer,
        sites: RangeInclusive<usize>,
    ) -> Option<Self> {
        let outermost = *sites.start();
        let site = |fixed| {
            let mut analyzer = analyzer.clone();
            bind_loops(&mut analyzer, &accesses[0].loops[..fixed]);
            Site {
                nest,
                buffer,
                memory,
                accesses,
                fixed,
                analyzer,
            }
        };
        let mut sites = sites.rev().map(site);
        sites.find(|site| site.fixed == outermost || !site.carries_values())
    }

    /// Whether an iteration of the fixed loops may read what another one wrote.
    fn carries_values(&self) -> bool {
        let reads = self.accesses.iter().enumerate().filter(|(_, a)| !a.write);
        reads.into_iter().any(|(at, read)| {
            let mut before = self.accesses[..at].iter().filter(|a| a.write);
            !before.any(|write| self.precedes(write, read) == Some(true))
        })
    }

    /// Whether each element of the tensor that is read is written before, by a write that the program has before it, in the same
    /// iteration of the fixed loops.
    fn precedes(&self, write: &Access, read: &Access) -> Option<bool> {
        let both = write.loops[self.fixed..]
            .iter()
            .zip(&read.loops[self.fixed..]);
        let shared = self.fixed + both.take_while(|(w, r)| w.0 == r.0).count();
        let (written, wanted) = (
            self.spans(write, shared)?,
            self.guarded_spans(read, shared)?,
        );
        let ends: Vec<Expr> = wanted.iter().map(|(_, last)| last + 1).collect();
        let made = write.branches.iter().all(|(id, cond)| {
            let around = read.branches.iter().any(|(other, _)| other == id);
            // A write may leave out elements past the shape of the buffer: no reader within the shape reads them.
            let made = |c| {
                self.misses_nothing(write, c, &ends)
                    || self.misses_nothing(write, c, self.buffer.shape())
                    || self.is_first(write, c)
            };
            around || cond.conjuncts().iter().all(made)
        });
        if !made {
            return Some(false);
        }
        let dims = written.iter().zip(&wanted).zip(self.buffer.shape());
        for ((written, wanted), extent) in dims {
            let starts = difference(&wanted.0, &written.0)? >= 0;
            // A tile may be read past the end of its tensor, where nobody looks at the values.
            let to_the_end = matches!(difference(&written.1, &(extent - 1)), Some(0..));
            if !starts || !(to_the_end || difference(&written.1, &wanted.1)? >= 0) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether a condition around a write is true in the first iterations of loops that choose none of the elements written:
    /// what the other iterations find was written in the first.
    fn is_first(&self, write: &Access, cond: &Expr) -> bool {
        let loops = write.loops[self.fixed..].iter();
        let loops: Vec<_> = loops.filter(|l| cond.uses(&l.0)).collect();
        let chosen = |index: &Expr| loops.iter().any(|l| index.uses(&l.0));
        let at_first = cond.substitute(&|var| {
            let of_var = loops.iter().find(|l| l.0 == *var);
            of_var.map(|(_, min, ..)| min.clone())
        });
        let holds = self.analyzer.simplify(&at_first).as_bool() == Some(true);
        holds && !write.indices.iter().any(chosen)
    }

    /// Whether a condition around a write leaves out only elements past these ends, or lets one thread write for the workgroup.
    fn misses_nothing(&self, write: &Access, cond: &Expr, ends: &[Expr]) -> bool {
        let by_one_thread = self.nest.axes.iter().any(|(axis, known)| {
            let first = known.var.expr().equals(Expr::int(0, known.var.dtype()));
            let used = write.indices.iter().any(|index| index.uses(&known.var));
            axis.is_thread() && *cond == first && !used
        });
        if by_one_thread {
            return true;
        }
        let mut known = self.analyzer.clone();
        bind_loops(&mut known, &write.loops[self.fixed..]);
        only_past_the_end(&known, cond, ends, &write.indices)
    }

    /// Whether a write is made wherever the accesses of its buffer are, as far as anybody can see.
    fn is_made(&self, write: &Access) -> bool {
        write.branches.iter().all(|(id, cond)| {
            let around = |access: &Access| access.branches.iter().any(|(other, _)| other == id);
            let everywhere = self.accesses.iter().all(around);
            let made = |c| self.misses_nothing(write, c, self.buffer.shape());
            everywhere || cond.conjuncts().iter().all(made)
        })
    }

    /// The first and last index of an access in each dimension, over the loops around it from `outer` on.
    fn spans(&self, access: &Access, outer: usize) -> Option<Vec<Span>> {
        self.known_spans(access, outer)?.into_iter().collect()
    }

    /// The same over those iterations that the branches around the access let through, as far as they bound a loop from above.
    fn guarded_spans(&self, access: &Access, outer: usize) -> Option<Vec<Span>> {
        let bound = |(var, min, extent, kind): &Loop| {
            let conds = access.branches.iter().flat_map(|(_, c)| c.conjuncts());
            let limits = conds.filter_map(|cond| {
                let (v, limit) = cond.as_binary(BinOp::Lt)?;
                (v.as_var() == Some(var)).then(|| limit - min)
            });
            let less = |extent: Expr, limit: Expr| match difference(&limit, &extent) {
                Some(..0) => limit,
                _ => extent,
            };
            let extent = limits.fold(extent.clone(), less);
            (var.clone(), min.clone(), extent, *kind)
        };
        let guarded = Access {
            loops: access.loops.iter().map(bound).collect(),
            branches: vec![],
            indices: access.indices.clone(),
            write: access.write,
        };
        self.spans(&guarded, outer)
    }

    /// The same with nothing for dimensions of which that is not known.
    fn known_spans(&self, access: &Access, outer: usize) -> Option<Vec<Option<Span>>> {
        let mut env: HashMap<Var, Span> = HashMap::new();
        if self.memory == Memory::Shared {
            for (axis, known) in &self.nest.axes {
                if axis.is_thread() {
                    let zero = Expr::int(0, known.var.dtype());
                    env.insert(known.var.clone(), (zero, &known.extent - 1));
                }
            }
        }
        for (var, min, extent, _) in &access.loops[outer..] {
            let (low, _) = relax(min, &env, &self.analyzer)?;
            let (_, high) = relax(&(min + extent - 1), &env, &self.analyzer)?;
            env.insert(var.clone(), (low, high));
        }
        let indices = access.indices.iter();
        let spans = indices.map(|index| relax(&joined(index), &env, &self.analyzer));
        Some(spans.collect())
    }

    /// What the accesses touch in one iteration of the fixed loops; nothing if that is of no constant size, or, where it must
    /// be known (`inferred`), not surely written.
    fn boxes(&self, inferred: bool) -> Option<Vec<(Expr, i64)>> {
        let ndim = self.accesses[0].indices.len();
        (0..ndim).map(|d| self.span(d, inferred)).collect()
    }

    /// The first index and the number of indices of a dimension that an array needs: what the accesses touch, or all of the
    /// dimension where that is not known and the program says that the array is the thread's or the workgroup's.
    fn span(&self, d: usize, inferred: bool) -> Option<(Expr, i64)> {
        let all = || {
            let extent = self.buffer.shape()[d].as_int()?;
            Some((Expr::int(0, self.accesses[0].indices[d].dtype()), extent))
        };
        let touched = self.touched_span(d, inferred);
        touched.or_else(|| if inferred { None } else { all() })
    }

    fn touched_span(&self, d: usize, inferred: bool) -> Option<(Expr, i64)> {
        let (mut all, mut written) = (None, None);
        for access in self.accesses {
            let span = self.known_spans(access, self.fixed)?.swap_remove(d)?;
            if inferred && access.write && self.is_made(access) {
                written = Some(hull(written.take(), &span)?);
            }
            all = Some(hull(all.take(), &span)?);
        }
        let (low, high) = all?;
        if inferred {
            let (wl, wh) = written.as_ref()?;
            let covered = difference(wl, &low) == Some(0) && difference(wh, &high) == Some(0);
            if !covered {
                return None;
            }
        }
        // A loop without iterations touches nothing, but no array is empty.
        let count = (difference(&high, &low)? + 1).max(1);
        Some((low, count))
    }
}

fn joined(e: &Expr) -> Expr {
    WrappingSum::of(e)
        .join_div_mod()
        .to_expr(e.dtype(), &|_| false)
}

/// `a - b`, if it is a constant.
fn difference(a: &Expr, b: &Expr) -> Option<i64> {
    WrappingSum::of(a)
        .plus(&WrappingSum::of(b), -1)
        .join_div_mod()
        .as_const()
}

fn hull(a: Option<Span>, b: &Span) -> Option<Span> {
    let Some(a) = a else {
        return Some(b.clone());
    };
    let low = if difference(&a.0, &b.0)? <= 0 {
        a.0
    } else {
        b.0.clone()
    };
    let high = if difference(&a.1, &b.1)? >= 0 {
        a.1
    } else {
        b.1.clone()
    };
    Some((low, high))
}

/// Least and greatest value of an expression while some variables run over their ranges.
fn relax(e: &Expr, env: &HashMap<Var, Span>, analyzer: &Analyzer) -> Option<Span> {
    if !e.free_vars().iter().any(|v| env.contains_key(v)) {
        return Some((e.clone(), e.clone()));
    }
    let simple = |(low, high): Span| (analyzer.simplify(&low), analyzer.simplify(&high));
    let span = match e.kind() {
        ExprKind::Var(v) => env.get(v).cloned()?,
        ExprKind::Cast(a) if analyzer.bound(a).fits(e.dtype().scalar) => {
            let (low, high) = relax(a, env, analyzer)?;
            (low.cast(e.dtype()), high.cast(e.dtype()))
        }
        ExprKind::Binary(op, a, b) => {
            let (al, ah) = relax(a, env, analyzer)?;
            let (bl, bh) = relax(b, env, analyzer)?;
            match op {
                BinOp::Add => (al + bl, ah + bh),
                BinOp::Sub => (al - bh, ah - bl),
                BinOp::Mul => {
                    let (factor, low, high) = match (a.as_int(), b.as_int()) {
                        (_, Some(c)) => (c, al, ah),
                        (Some(c), _) => (c, bl, bh),
                        _ => return None,
                    };
                    if factor >= 0 {
                        (low * factor, high * factor)
                    } else {
                        (high * factor, low * factor)
                    }
                }
                BinOp::FloorDiv if b.as_int().is_some_and(|c| c > 0) => {
                    (al.floor_div(bl), ah.floor_div(bh))
                }
                BinOp::FloorMod if b.as_int().is_some_and(|c| c > 0) => {
                    let period = b.as_int()?;
                    let bound = analyzer.bound(&al).min;
                    let top = analyzer.bound(&ah).max;
                    if bound >= 0 && top < period {
                        (al, ah)
                    } else {
                        (Expr::int(0, e.dtype()), Expr::int(period - 1, e.dtype()))
                    }
                }
                BinOp::Min => (al.min(bl), ah.min(bh)),
                BinOp::Max => (al.max(bl), ah.max(bh)),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(simple(span))
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
