//! Where an array may live: the innermost loop in each of whose iterations it is a new one, and what is touched there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::slice;

use crate::arith::Analyzer;
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Range, Var};
use crate::lower::nest::Nest;
use crate::lower::speculate::only_past_the_end;
use crate::lower::storage::Memory;
use crate::lower::wrapping_sum::WrappingSum;
use crate::tensor::scalar::BinOp;

/// A loop: its variable, first value, extent and kind.
pub(super) type Loop = (Var, Expr, Expr, LoopKind);

/// One load or store: the loops around it, and what it touches.
pub(super) struct Access {
    pub(super) loops: Vec<Loop>,
    /// The branches around it: which one, and its condition.
    pub(super) branches: Vec<(usize, Expr)>,
    pub(super) indices: Vec<Expr>,
    pub(super) write: bool,
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
pub(super) struct Site<'a> {
    nest: &'a Nest,
    buffer: &'a Buffer,
    memory: Memory,
    /// All loads and stores of the buffer, in the order in which the program has them.
    accesses: &'a [Access],
    /// Loops around all accesses in each of whose iterations the array is a new one.
    pub(super) fixed: usize,
    analyzer: Analyzer,
}

impl<'a> Site<'a> {
    /// The innermost of some sites whose iterations read nothing that another iteration wrote, or the outermost one. A site is
    /// the number of loops around it that are around all accesses.
    pub(super) fn innermost(
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
    pub(super) fn carries_values(&self) -> bool {
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
                    || self.skips_only_unread(write, c, read)
                    || self.skips_only_unwritten(write, c)
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

    /// Whether a condition around a write skips only indices at or past some end, and a read stays below that end under its own
    /// conditions: both stop after the same tile.
    fn skips_only_unread(&self, write: &Access, cond: &Expr, read: &Access) -> bool {
        let inside = |access: &Access| {
            let mut known = self.analyzer.clone();
            bind_loops(&mut known, &access.loops[self.fixed..]);
            known
        };
        let (of_write, mut of_read) = (inside(write), inside(read));
        for (_, cond) in &read.branches {
            of_read.assume(cond);
        }
        let mut dims = write.indices.iter().zip(&read.indices);
        dims.any(|(written, read)| {
            first_left_out(written, cond).is_some_and(|end| {
                let end = Expr::int(end, written.dtype());
                let (ends, indices) = (slice::from_ref(&end), slice::from_ref(written));
                only_past_the_end(&of_write, cond, ends, indices)
                    && of_read.can_prove(&read.lt(&end))
            })
        })
    }

    /// Whether no write reaches an element that the condition excludes. The condition bounds a sum of the indices, as `2 * a + b < n` bounds
    /// those of `P[b, a]`. The conditions of all writes must imply it.
    fn skips_only_unwritten(&self, write: &Access, cond: &Expr) -> bool {
        let Some((value, end)) = cond.as_binary(BinOp::Lt) else {
            return false;
        };
        let Some(factors) = sum_of_indices(write, value) else {
            return false;
        };
        let mut writes = self.accesses.iter().filter(|access| access.write);
        end.free_vars().is_empty()
            && writes.all(|other| {
                let mut known = self.analyzer.clone();
                bind_loops(&mut known, &other.loops);
                for (_, cond) in &other.branches {
                    known.assume(cond);
                }
                let indices = other.indices.iter().zip(&factors);
                let terms = indices.fold(WrappingSum::default(), |sum, (index, factor)| {
                    sum.plus(&WrappingSum::of(index), *factor)
                });
                let sum = terms.join_div_mod().to_expr(value.dtype(), &|_| false);
                known.can_prove(&sum.lt(end))
            })
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

    /// The indices of a dimension that a write surely writes, of those that it may: without those that its conditions leave out, if
    /// they leave out the last ones.
    fn made_span(&self, write: &Access, d: usize, span: &Span) -> Option<Span> {
        let around = |id: &usize| {
            let inside = |access: &Access| access.branches.iter().any(|(other, _)| other == id);
            self.accesses.iter().all(inside)
        };
        let branches = write.branches.iter().filter(|(id, _)| !around(id));
        let mut last = span.1.clone();
        for cond in branches.flat_map(|(_, cond)| cond.conjuncts()) {
            if self.misses_nothing(write, &cond, self.buffer.shape()) {
                continue;
            }
            let (value, end) = cond.as_binary(BinOp::Lt)?;
            let offset = difference(&write.indices[d], value)?;
            let kept = self
                .analyzer
                .simplify(&(end.cast(last.dtype()) + (offset - 1)));
            if difference(&kept, &last)? < 0 {
                last = kept;
            }
        }
        Some((span.0.clone(), last))
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
    pub(super) fn boxes(&self, inferred: bool) -> Option<Vec<(Expr, i64)>> {
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
            if inferred
                && access.write
                && let Some(made) = self.made_span(access, d, &span)
            {
                written = Some(hull(written.take(), &made)?);
            }
            all = Some(hull(all.take(), &span)?);
        }
        let (low, high) = all?;
        if inferred {
            let (wl, wh) = written.as_ref()?;
            // Threads past the end of the tensor read nothing that anybody looks at.
            let last = &self.buffer.shape()[d] - 1;
            let to_the_end = matches!(difference(wh, &last), Some(0..));
            let covered = to_the_end || difference(wh, &high) == Some(0);
            if difference(wl, &low) != Some(0) || !covered {
                return None;
            }
        }
        // A loop without iterations touches nothing, but no array is empty.
        let count = (difference(&high, &low)? + 1).max(1);
        Some((low, count))
    }
}

/// The factors of the indices of a write in a value that is a sum of them.
fn sum_of_indices(write: &Access, value: &Expr) -> Option<Vec<i64>> {
    let sum = |e: &Expr| WrappingSum::of(e).join_div_mod();
    let factor = |of: &WrappingSum, var: &Var| of.split(var)?.0.as_const();
    let mut left = sum(value);
    let mut factors = vec![0; write.indices.len()];
    for (var, ..) in &write.loops {
        let wanted = factor(&left, var)?;
        if wanted == 0 {
            continue;
        }
        let mut dims = write.indices.iter().map(sum).enumerate();
        let (dim, index, has) = dims.find_map(|(dim, index)| {
            let has = factor(&index, var).filter(|has| *has != 0 && wanted % has == 0)?;
            Some((dim, index, has))
        })?;
        left = left.plus(&index, -(wanted / has));
        factors[dim] += wanted / has;
    }
    (left.as_const() == Some(0)).then_some(factors)
}

/// The least index that may be left out by a condition on tiles, `tile < n` where the index is `tile * k + rest`.
fn first_left_out(index: &Expr, cond: &Expr) -> Option<i64> {
    let (tile, n) = cond.as_binary(BinOp::Lt)?;
    let factor = |of: &Expr, var: &Var| WrappingSum::of(of).split(var)?.0.as_const();
    let vars = tile.free_vars();
    let tiles = vars.iter().find_map(|var| {
        let (of_tile, of_index) = (factor(tile, var)?, factor(index, var)?);
        (of_tile == 1 && of_index > 0).then_some(of_index)
    });
    n.as_int()?.checked_mul(tiles?)
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
