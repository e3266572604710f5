//! Device memory is no place for threads of one kernel to meet: no barrier orders their accesses to it. So of a tensor that a
//! kernel writes, each thread must keep to elements of its own.
//!
//! An axis of the launch separates accesses if in some dimension all of them have the form `stride * axis + rest` with one
//! stride and `0 <= rest < stride`, apart from multiples of a power of two `stride * extent`, or if they are to the same element,
//! or tile, and which one that is tells the axis. Of statements that only the first thread of an axis runs, or that conditions
//! leave to one thread of it, nothing is asked.
//!
//! Of a store that is the only access to a tensor, the blocks of the program promise that its iterations store to different
//! elements. It is refused where two threads are seen to break the promise.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::nest::{Axis, Nest};
use super::node::{AxisSet, Node};
use super::storage::MemoryPlan;
use super::wrapping_sum::WrappingSum;
use super::{LowerError, LowerProblem};
use crate::arith::Analyzer;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::ir::sum::{Sum, gcd};
use crate::ir::{Buffer, Expr, ExprKind, Range, ThreadAxis, Var};

/// What one statement does to a buffer.
struct Access {
    indices: Vec<Expr>,
    loops: Vec<(Var, Range)>,
    /// The conditions that it stands under.
    guards: Vec<Expr>,
    /// The axes that loops around the statement are bound to.
    axes: AxisSet,
    /// The value, of a store.
    stored: Option<Expr>,
}

/// Refuses a nest whose threads communicate through device memory.
pub(super) fn check(
    nest: &Nest,
    memory_plan: &MemoryPlan,
    analyzer: &Analyzer,
) -> Result<(), LowerError> {
    let mut found = Found::default();
    found.collect(&nest.body, memory_plan, &mut Around::default());
    for (buffer, accesses) in &found.accesses {
        if !accesses.iter().any(|a| a.stored.is_some()) {
            continue;
        }
        let shared = Shared {
            accesses,
            lets: &found.lets,
            memory_plan,
            nest,
            analyzer,
        };
        let separate = |(axis, known): (&ThreadAxis, &Axis)| {
            known.extent.is_one()
                || !accesses.iter().any(|a| a.axes.has(*axis))
                || shared.separates(&known.var)
                || shared.of_one_thread(&known.var)
        };
        let sound = match accesses.as_slice() {
            [_] => !nest.axes.keys().any(|axis| shared.collides(*axis)),
            _ => nest.axes.iter().all(separate),
        };
        if !sound {
            let buffer = buffer.name().to_owned();
            return Err(LowerProblem::CrossThread { buffer }.into());
        }
    }
    Ok(())
}

/// What a statement stands in.
#[derive(Default)]
struct Around {
    loops: Vec<(Var, Range)>,
    guards: Vec<Expr>,
}

#[derive(Default)]
struct Found {
    accesses: IndexMap<Buffer, Vec<Access>>,
    /// Variables that statements define: each thread has its own values.
    lets: HashSet<Var>,
}

impl Found {
    fn collect(&mut self, nodes: &[Node], memory_plan: &MemoryPlan, around: &mut Around) {
        for node in nodes {
            let target = match node {
                Node::Store {
                    buffer,
                    indices,
                    value,
                    shuffle: _,
                    axes,
                } => Some((buffer, indices, value, *axes)),
                Node::For { .. }
                | Node::Let { .. }
                | Node::If { .. }
                | Node::While { .. }
                | Node::Fragment(_)
                | Node::Barrier(_) => None,
            };
            let axes = target.map_or(AxisSet::ALL, |(.., axes)| axes);
            let mut note = |buffer: &Buffer, indices: &[Expr], stored: Option<&Expr>| {
                if memory_plan.is_device(buffer) {
                    let access = Access {
                        indices: indices.to_vec(),
                        loops: around.loops.clone(),
                        guards: around.guards.clone(),
                        axes,
                        stored: stored.cloned(),
                    };
                    self.accesses
                        .entry(buffer.clone())
                        .or_default()
                        .push(access);
                }
            };
            for e in node.exprs() {
                e.walk(&mut |e| {
                    if let ExprKind::Load(buffer, indices) = e.kind() {
                        note(buffer, indices, None);
                    }
                    true
                });
            }
            if let Some((buffer, indices, value, _)) = target {
                note(buffer, indices, Some(value));
            }
            if let Node::Let { var, .. } = node {
                self.lets.insert(var.clone());
            }
            match node {
                Node::For {
                    var,
                    min,
                    extent,
                    body,
                    ..
                } => {
                    let range = Range {
                        min: min.clone(),
                        extent: extent.clone(),
                    };
                    around.loops.push((var.clone(), range));
                    self.collect(body, memory_plan, around);
                    around.loops.pop();
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    for (guard, body) in [(cond.clone(), then), (cond.not(), otherwise)] {
                        around.guards.push(guard);
                        self.collect(body, memory_plan, around);
                        around.guards.pop();
                    }
                }
                Node::Store { .. }
                | Node::Let { .. }
                | Node::While { .. }
                | Node::Fragment(_)
                | Node::Barrier(_) => {
                    for inner in node.nested() {
                        self.collect(inner, memory_plan, around);
                    }
                }
            }
        }
    }
}

/// A buffer that a kernel writes.
struct Shared<'a> {
    accesses: &'a [Access],
    lets: &'a HashSet<Var>,
    memory_plan: &'a MemoryPlan,
    nest: &'a Nest,
    analyzer: &'a Analyzer,
}

impl Shared<'_> {
    /// Whether all accesses stand under conditions that only one thread of the axis meets, the same for all.
    fn of_one_thread(&self, axis: &Var) -> bool {
        let mut common = None;
        self.accesses.iter().all(|access| {
            let mut facts = self.analyzer.clone();
            for guard in &access.guards {
                facts.assume(guard);
            }
            let only = facts.bound(&axis.expr());
            only.min == only.max && *common.get_or_insert(only.min) == only.min
        })
    }

    /// Whether two threads of the axis are seen to store two values to one element, by a store that is the only access.
    fn collides(&self, axis: ThreadAxis) -> bool {
        let [store] = self.accesses else {
            return false;
        };
        let Some(value) = &store.stored else {
            return false;
        };
        let axes = self.nest.axes.iter();
        let axes = axes.filter(|(axis, _)| store.axes.has(**axis));
        let axes = axes.map(|(_, known)| (&known.var, &known.extent));
        let loops = store.loops.iter().map(|(var, range)| (var, &range.extent));
        let strided = |(var, extent): (&Var, &Expr)| {
            let strides = store
                .indices
                .iter()
                .map(|index| constant_stride(index, var));
            Some((
                var.clone(),
                extent.as_int()?,
                strides.collect::<Option<Vec<i64>>>()?,
            ))
        };
        let moving: Vec<(Var, i64, Vec<i64>)> = axes.chain(loops).filter_map(strided).collect();
        // Nobody sees what a thread computed or read from memory of its own.
        if store.indices.iter().any(|index| self.is_of_thread(index)) {
            return false;
        }
        let own = &self.nest.axes[&axis].var;
        let Some((_, threads, strides)) = moving.iter().find(|(var, ..)| var == own) else {
            return false;
        };
        // Of stores that both run.
        let differs = |steps: &[(&Var, i64)]| {
            let guarded = |(var, _): &(&Var, i64)| store.guards.iter().any(|e| e.uses(var));
            if steps.iter().any(guarded) {
                return false;
            }
            let moved = value.substitute(&|var| {
                let (_, step) = steps.iter().find(|(moved, _)| *moved == var)?;
                Some(var.expr() + *step)
            });
            self.analyzer.simplify(&moved) != self.analyzer.simplify(value)
        };
        if strides.iter().all(|stride| *stride == 0) {
            return *threads > 1 && differs(&[(own, 1)]);
        }
        moving
            .iter()
            .filter(|(var, ..)| var != own)
            .any(|(var, extent, others)| {
                let meeting = meeting(strides, others);
                meeting.is_some_and(|(step, other)| {
                    step < *threads
                        && other.abs() < *extent
                        && differs(&[(own, step), (var, other)])
                })
            })
    }

    /// Whether threads may have different values of an expression that names no axis: it reads a variable that statements define,
    /// or memory of the thread.
    fn is_of_thread(&self, e: &Expr) -> bool {
        let mut found = self.lets.iter().any(|var| e.uses(var));
        e.walk(&mut |e| {
            if let ExprKind::Load(buffer, _) = e.kind() {
                found |= !self.memory_plan.is_device(buffer);
            }
            !found
        });
        found
    }

    /// Whether accesses of threads that differ in the axis are to different elements.
    fn separates(&self, axis: &Var) -> bool {
        let mut dims = 0..self.accesses[0].indices.len();
        dims.any(|d| self.owns(axis, d)) || self.told_by_place(axis)
    }

    /// Whether the dimensions in which all accesses are to the same element, or tile, tell the axis.
    fn told_by_place(&self, axis: &Var) -> bool {
        let dims = 0..self.accesses[0].indices.len();
        let known = |place: &Expr| !self.lets.iter().any(|var| place.uses(var));
        let places = dims.filter_map(|d| self.common_place(d).filter(known));
        let places: Vec<Expr> = places.collect();
        let axes = self.nest.axes.values();
        let axes = axes.map(|axis| (axis.var.clone(), Range::to(axis.extent.clone())));
        let used = |(var, _): &(Var, Range)| places.iter().any(|place| place.uses(var));
        let inputs: Vec<(Var, Range)> = axes
            .chain(self.accesses[0].loops.iter().cloned())
            .filter(used)
            .collect();
        let (level, units) = (IterMapLevel::Bijective, UnitIters::Simplify);
        let tells = |guards: &[Expr]| {
            let guard = Expr::all(guards.iter().cloned());
            detect_iter_map(self.analyzer, &places, &inputs, &guard, level, units).is_ok()
        };
        let is_input = |var: &Var| inputs.iter().any(|(input, _)| input == var);
        let guards = self.common_guards(&|guard| guard.free_vars().iter().any(is_input));
        is_input(axis) && (tells(&[]) || !guards.is_empty() && tells(&guards))
    }

    /// The conditions that all accesses stand under and that are asked for.
    fn common_guards(&self, wanted: &dyn Fn(&Expr) -> bool) -> Vec<Expr> {
        let (first, others) = self.accesses.split_first().expect("a buffer is accessed");
        let conjuncts = first.guards.iter().flat_map(Expr::conjuncts);
        let common = |guard: &Expr| {
            let stands = |access: &Access| {
                let mut own = access.guards.iter().flat_map(Expr::conjuncts);
                own.any(|other| other == *guard)
            };
            wanted(guard) && others.iter().all(stands)
        };
        conjuncts.filter(common).collect()
    }

    /// The index of all accesses in this dimension, or where the tile starts that they are in.
    fn common_place(&self, d: usize) -> Option<Expr> {
        let first = &self.accesses[0].indices[d];
        match self.accesses.iter().all(|a| a.indices[d] == *first) {
            true => Some(first.clone()),
            false => self.common_tile(d),
        }
    }

    /// `first`, if all accesses are `first + rest` in this dimension, where `first` is the same for all of them and a multiple of
    /// some size, and `0 <= rest < size` while the loops of the thread run.
    fn common_tile(&self, d: usize) -> Option<Expr> {
        let mut common: Option<Expr> = None;
        let all = self.accesses.iter().all(|access| {
            let index = &access.indices[d];
            let facts = self.facts(access);
            let first = index.substitute(&|var| {
                let own = access.loops.iter().find(|(own, _)| own == var);
                own.map(|(_, range)| range.min.clone())
            });
            let first = facts.simplify(&first);
            let rest = facts.bound(&(index - &first));
            let tiles = facts.modular_set(&first);
            *common.get_or_insert_with(|| first.clone()) == first
                && rest.min >= 0
                && tiles.base == 0
                && rest.max < tiles.coeff
        });
        common.filter(|_| all)
    }

    /// Whether all accesses are `stride * axis + rest` in this dimension, with one stride and `0 <= rest < stride` apart from what
    /// other axes add that own this dimension in larger steps, and from rounds of all threads.
    fn owns(&self, axis: &Var, d: usize) -> bool {
        let Some(stride) = self.common_stride(axis, d) else {
            return false;
        };
        let others = self.nest.axes.values().map(|axis| &axis.var);
        let larger: Vec<&Var> = others
            .filter(|other| {
                let step = self.common_stride(other, d);
                step.is_some_and(|step| self.analyzer.can_prove(&stride.lt(&step)))
                    && self.owns(other, d)
            })
            .collect();
        self.accesses.iter().all(|access| {
            let index = &access.indices[d];
            let mut rest = WrappingSum::of(index).join_div_mod();
            for var in larger.iter().copied().chain([axis]) {
                match rest.split(var) {
                    Some((_, left)) => rest = left,
                    None => return false,
                }
            }
            let rest = self.within_a_round(axis, &stride, value(&rest, index));
            let facts = self.facts(access);
            facts.can_prove(&rest.ge(0)) && facts.can_prove(&rest.lt(&stride))
        })
    }

    /// The sum without multiples of the stride by the extent of the axis, of which the remainder of an index by that tells
    /// nothing. A power of two divides what wrapping takes away, too.
    fn within_a_round(&self, axis: &Var, stride: &Expr, rest: Expr) -> Expr {
        let mut axes = self.nest.axes.values();
        let extent = axes.find(|own| own.var == *axis).map(|own| &own.extent);
        let extent = extent.and_then(Expr::as_int);
        let round = stride
            .as_int()
            .zip(extent)
            .map(|(s, e)| s.saturating_mul(e));
        let Some(round) = round.filter(|n| *n > 0 && (*n as u64).is_power_of_two()) else {
            return rest;
        };
        let (_, within) = Sum::of(&rest).partition(|term| term.coeff % i128::from(round) == 0);
        within.to_expr().unwrap_or(rest)
    }

    /// What all accesses multiply the axis by in this dimension.
    fn common_stride(&self, axis: &Var, d: usize) -> Option<Expr> {
        let mut strides = self.accesses.iter().map(|access| {
            let index = &access.indices[d];
            let (stride, _) = WrappingSum::of(index).join_div_mod().split(axis)?;
            Some(value(&stride, index))
        });
        let first = strides.next()??;
        strides
            .all(|stride| stride.as_ref() == Some(&first))
            .then_some(first)
    }

    /// What is known while the loops around the access run.
    fn facts(&self, access: &Access) -> Analyzer {
        let mut facts = self.analyzer.clone();
        for (var, range) in &access.loops {
            facts.bind_iteration(var, range);
        }
        facts
    }
}

/// The sum as an expression of the type of the index.
fn value(sum: &WrappingSum, index: &Expr) -> Expr {
    sum.to_expr(index.dtype(), &|_| false)
}

/// What an index grows by with the variable, if that is always the same.
fn constant_stride(index: &Expr, var: &Var) -> Option<i64> {
    let (stride, _) = WrappingSum::of(index).join_div_mod().split(var)?;
    stride.as_const()
}

/// The least positive step of one variable, and the step of another one, after which all indices are the same.
fn meeting(strides: &[i64], others: &[i64]) -> Option<(i64, i64)> {
    let wide = |strides: &[i64]| {
        strides
            .iter()
            .map(|&s| i128::from(s))
            .collect::<Vec<i128>>()
    };
    let (strides, others) = (wide(strides), wide(others));
    let moving = strides.iter().position(|stride| *stride != 0)?;
    let (stride, other) = (strides[moving], others[moving]);
    let common = gcd(stride, other);
    let (step, back) = (
        other / common * other.signum(),
        -stride / common * other.signum(),
    );
    let same = |(a, b): (&i128, &i128)| a * step + b * back == 0;
    let meet = step > 0 && strides.iter().zip(&others).all(same);
    meet.then_some((step.try_into().ok()?, back.try_into().ok()?))
}
