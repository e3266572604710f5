//! Reductions over threads: each thread combines its share into a register, then the threads of a subgroup combine what they have
//! by shuffles, where the device has them, then the workgroup halves an array in shared memory until few values are left, which one
//! thread combines. A reduction of several results has a register and an array for each.
//!
//! Threads meet by shuffles in groups of a power of two that is no more than the least subgroup of the device. Those lie in one subgroup
//! whatever size it has, and if the workgroup is one such group, nobody waits. If those that reduce together are one such group among
//! several, and keep the result in registers, they exchange values across, so that each gets the result.
//!
//! References: Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 3; Luitjens, "Faster Parallel Reductions on Kepler" (2014). The
//! order of the sum is fixed by the numbers of threads, of the workgroup and of such a group, so results are reproducible.

mod lanes;

use std::collections::HashMap;

use self::lanes::Lanes;
use super::nest::Unblock;
use super::node::{AxisSet, Node, branch};
use super::storage::Memory;
use super::{LowerError, LowerProblem};
use crate::arith::Analyzer;
use crate::ir::{
    BlockId, Buffer, Expr, ExprKind, IterKind, LoopId, LoopKind, Place, PrimFunc, Reduction, Scope,
    Stmt, ThreadAxis, Var,
};
use crate::kernel::Shuffle;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// Values that one thread combines faster than threads that wait for each other. lavapipe compiles for a second for each time that
/// they wait.
const FEW: i64 = 8;

/// Threads that meet by shuffles, at least: for fewer, memory costs as much.
const LEAST_SHUFFLED: i64 = 4;

/// The block that a loop is the outermost reduce loop of, if it reduces over threads. Other blocks in the loops feed it.
pub(super) fn reduction_below(func: &PrimFunc, top: LoopId) -> Option<BlockId> {
    func.child_blocks(Place::Loop(top))
        .into_iter()
        .find(|&block| {
            let loops = reduce_loops(func, block);
            let over_threads = loops.iter().any(|&l| thread_axis(func, l).is_some());
            over_threads && loops.first() == Some(&top)
        })
}

fn thread_axis(func: &PrimFunc, id: LoopId) -> Option<ThreadAxis> {
    match func.loops[id].kind {
        LoopKind::ThreadBinding(axis) if axis.is_thread() => Some(axis),
        LoopKind::ThreadBinding(_)
        | LoopKind::Serial
        | LoopKind::Parallel
        | LoopKind::Vectorized
        | LoopKind::Unrolled => None,
    }
}

/// The axes of threads that a block reduces over.
pub(super) fn axes(func: &PrimFunc, block: BlockId) -> Vec<ThreadAxis> {
    let loops = reduce_loops(func, block).into_iter();
    loops.filter_map(|l| thread_axis(func, l)).collect()
}

/// The loops around a block that its reduce iters depend on, outermost first.
fn reduce_loops(func: &PrimFunc, block: BlockId) -> Vec<LoopId> {
    let reduce = bindings(func, block, IterKind::Reduce);
    let mut loops = func.loops_above(block.into());
    loops.retain(|&l| reduce.iter().any(|b| b.uses(&func.loops[l].var)));
    loops
}

/// What the iters of a kind are bound to.
fn bindings(func: &PrimFunc, block: BlockId, kind: IterKind) -> Vec<&Expr> {
    let block = &func.blocks[block];
    let iters = block.iters.iter().zip(&block.bindings);
    iters
        .filter(|(iter, _)| iter.kind == kind)
        .map(|(_, binding)| binding)
        .collect()
}

pub(super) fn lower(
    at: &mut Unblock<'_>,
    top: LoopId,
    block: BlockId,
) -> Result<Vec<Node>, LowerError> {
    let func = at.func;
    let refuse = |reason| refusal(func, block, reason);
    let reduction = Reduction::of_block(func, block).map_err(refuse)?;
    let is_local = |target: &Buffer| at.memory_plan.of(target) == Memory::Local;
    let mut local = reduction.targets.iter().map(|(target, _)| is_local(target));
    let first = local.next();
    if reduction.init.is_none() && local.any(|other| Some(other) != first) {
        return Err(refuse(
            "it has no init, and some of its results are in registers, others are not",
        ));
    }
    let reduce = reduce_loops(func, block);
    let of_grid = |&l: &LoopId| {
        let kind = func.loops[l].kind;
        matches!(kind, LoopKind::ThreadBinding(axis) if axis.is_block())
            && !func.loops[l].extent.is_one()
    };
    if reduce.iter().any(of_grid) {
        return Err(refuse(
            "a reduce loop is bound to workgroups, which no barrier orders",
        ));
    }
    let spatial = bindings(func, block, IterKind::Spatial);
    let mixed = |&l: &LoopId| spatial.iter().any(|b| b.uses(&func.loops[l].var));
    if reduce.iter().any(mixed) {
        return Err(refuse(
            "a loop is used by a spatial and by a reduce binding",
        ));
    }
    let chain: Vec<LoopId> = {
        let mut chain = func.loops_above(block.into());
        let start = chain.iter().position(|&l| l == top).unwrap_or(0);
        chain.split_off(start)
    };
    for &l in &chain {
        let last = func.tree.body(l).last();
        let holds_block = |stmt: &Stmt| match stmt {
            Stmt::Loop(inner) => func.tree.is_ancestor(*inner, block),
            Stmt::Block(inner) => *inner == block,
            _ => false,
        };
        if !last.is_some_and(holds_block) {
            return Err(refuse("other statements follow it in its loops"));
        }
        if !reduce.contains(&l) && thread_axis(func, l).is_none() && !func.loops[l].extent.is_one()
        {
            return Err(refuse("a spatial loop stands inside its reduce loops"));
        }
    }
    let axes = reduce.iter().filter_map(|&l| thread_axis(func, l));
    let mut lowering = Lowering {
        reduction,
        block,
        reduce: reduce.clone(),
        axes: axes.collect(),
        name: func.blocks[block].name.clone(),
        next: vec![],
        outside: at.analyzer.clone(),
        tail: vec![],
    };
    lowering.nodes(at, &chain)
}

fn refusal(func: &PrimFunc, block: BlockId, reason: &'static str) -> LowerError {
    let block_name = func.blocks[block].name.clone();
    let problem = LowerProblem::ThreadReduction {
        block: block_name,
        reason,
    };
    LowerError::from(problem).or_at(&[block.into()])
}

/// Whether a condition follows from one of the same form, `x < y` from `a < b` where `x - y` is at most `a - b`.
fn follows(at: &Unblock<'_>, from: &Expr, cond: &Expr) -> bool {
    let (ExprKind::Binary(op, a, b), ExprKind::Binary(_, x, y)) = (from.kind(), cond.kind()) else {
        return false;
    };
    let [known, wanted] = [(a, b), (x, y)].map(|(a, b)| at.index(a) - at.index(b));
    from == cond
        || match op {
            BinOp::Lt | BinOp::Le => at.analyzer.can_prove(&wanted.le(known)),
            BinOp::Gt | BinOp::Ge => at.analyzer.can_prove(&wanted.ge(known)),
            _ => false,
        }
}

struct Lowering {
    reduction: Reduction,
    block: BlockId,
    /// Its reduce loops, outermost first.
    reduce: Vec<LoopId>,
    /// The axes of the workgroup that it reduces over.
    axes: Vec<ThreadAxis>,
    name: String,
    /// Registers for new values of several targets.
    next: Vec<Buffer>,
    /// What is known outside of the reduce loops, which may have no iteration.
    outside: Analyzer,
    /// What follows the accumulation; made inside the loops, where all variables are known.
    tail: Vec<Node>,
}

impl Lowering {
    fn nodes(&mut self, at: &mut Unblock<'_>, chain: &[LoopId]) -> Result<Vec<Node>, LowerError> {
        let parts = self.arrays("part", 1, Scope::Local);
        if parts.len() > 1 {
            self.next = self.arrays("next", 1, Scope::Local);
        }
        for register in parts.iter().chain(&self.next) {
            at.nest.added.push((register.clone(), Memory::Local));
        }
        let begin = parts.iter().zip(&self.reduction.identities);
        let mut out: Vec<Node> = begin
            .map(|(part, identity)| store(part, Expr::i32(0), identity.clone()))
            .collect();
        out.extend(self.inside(at, chain, &parts)?);
        out.append(&mut self.tail);
        Ok(out)
    }

    /// An array for each target.
    fn arrays(&self, what: &str, len: i64, scope: Scope) -> Vec<Buffer> {
        let targets = self.reduction.targets.iter();
        let array = |(target, _): &(Buffer, Vec<Expr>)| {
            let name = match self.reduction.targets.len() {
                1 => format!("{}_{what}", self.name),
                _ => format!("{}_{what}", target.name()),
            };
            Buffer::with_scope(name, vec![Expr::i64(len)], target.dtype(), scope.clone())
        };
        targets.map(array).collect()
    }

    fn inside(
        &mut self,
        at: &mut Unblock<'_>,
        chain: &[LoopId],
        parts: &[Buffer],
    ) -> Result<Vec<Node>, LowerError> {
        if let [first, rest @ ..] = chain {
            return at.with_loop(*first, |at, body| {
                let feeding = body.split_last().map_or(&[][..], |(_, before)| before);
                let mut nodes = at.stmts(feeding)?;
                nodes.extend(self.inside(at, rest, parts)?);
                Ok(nodes)
            });
        }
        at.enter_block(self.block)?;
        let predicate = at.expr(&at.func.blocks[self.block].predicate);
        let so_far = load_all(parts);
        let shares: Vec<Expr> = self
            .reduction
            .shares
            .iter()
            .map(|share| at.expr(share))
            .collect();
        let first = vec![Expr::i32(0)];
        let update = self.update(
            &so_far,
            &shares,
            &parts.iter().map(|part| (part, &first)).collect::<Vec<_>>(),
        );
        let witness = self.witness(at)?;
        let inside = std::mem::replace(&mut at.analyzer, self.outside.clone());
        let stays = at.expr(&witness);
        self.tail = self.combined(at, parts, &stays)?;
        at.analyzer = inside;
        Ok(branch(predicate, update))
    }

    /// The condition under which an element has a result: that its iteration of all reduce loops is the first, or the last, and
    /// the predicate holds. Whenever it holds for any iteration, it must hold for this one. Conjuncts on the reduce loops alone
    /// are left out: a reduction over nothing has a result too.
    fn witness(&self, at: &Unblock<'_>) -> Result<Expr, LowerError> {
        let func = at.func;
        let node = &func.blocks[self.block];
        let iters = node.iters.iter().zip(&node.bindings);
        let bound: HashMap<&Var, &Expr> = iters.map(|(iter, e)| (&iter.var, e)).collect();
        let predicate = node
            .predicate
            .substitute(&|var| bound.get(var).map(|e| (*e).clone()));
        let reduces = |var: &Var| self.reduce.iter().any(|&id| func.loops[id].var == *var);
        let loops = func.loops_above(self.block.into());
        let on_reduce_loops = |e: &Expr| {
            let mut loops = loops.iter().map(|&id| &func.loops[id].var);
            e.free_vars().iter().any(reduces) && !loops.any(|var| e.uses(var) && !reduces(var))
        };
        let mut conjuncts = predicate.conjuncts();
        let first = |id: LoopId| func.loops[id].min.clone();
        // Where the first iteration is left out the init does not run, and an element keeps its value.
        let left_out = |e: &Expr| {
            let of_loop = |e: Expr, id: &LoopId| {
                let var = &func.loops[*id].var;
                e.substitute(&|other| (other == var).then(|| first(*id)))
            };
            let at_first = self.reduce.iter().rev().fold(e.clone(), of_loop);
            Analyzer::new().simplify(&at_first).as_bool() == Some(false)
        };
        if self.reduction.init.is_some() && conjuncts.iter().any(left_out) {
            let reason = "its predicate leaves out the iteration in which the init runs";
            return Err(refusal(func, self.block, reason));
        }
        conjuncts.retain(|e| !on_reduce_loops(e));
        let last = |id: LoopId| first(id) + &func.loops[id].extent - 1;
        let witness = |value: &dyn Fn(LoopId) -> Expr| {
            // The range of an inner loop may depend on outer ones.
            let of_loop = |e: Expr, id: &LoopId| {
                let value = value(*id);
                e.substitute(&|var| (*var == func.loops[*id].var).then(|| value.clone()))
            };
            let at_witness = |e: &Expr| self.reduce.iter().rev().fold(e.clone(), of_loop);
            let implied = |e: &Expr| follows(at, e, &at_witness(e));
            let found = conjuncts.iter().all(implied);
            found.then(|| Expr::all(conjuncts.iter().map(at_witness)))
        };
        let found = witness(&first).or_else(|| witness(&last));
        let reason = "its predicate does not say which iteration runs whenever one does";
        found.ok_or_else(|| refusal(func, self.block, reason))
    }

    /// Stores what comes of two sides.
    fn update(&self, left: &[Expr], right: &[Expr], places: &[(&Buffer, &Vec<Expr>)]) -> Vec<Node> {
        self.stores(self.reduction.combine(left, right), places, AxisSet::ALL)
    }

    /// How many threads meet by shuffles: 1 if none do. Threads that lie side by side in the only dimension of the workgroup are
    /// threads of one subgroup, as are those of a row of it that share the first dimension, if they are no more than a subgroup has.
    fn shuffled(&self, at: &Unblock<'_>, lanes: &Lanes) -> i64 {
        let subgroup = at.launch.and_then(|gpu| gpu.subgroup).unwrap_or(1);
        let words = [DType::F32, DType::I32, DType::U32];
        let shuffles = self
            .reduction
            .targets
            .iter()
            .all(|(target, _)| words.contains(&target.dtype()));
        let whole = lanes.count == lanes.elements && lanes.in_one_dimension;
        let row = self.axes == [ThreadAxis::ThreadIdxX]
            && lanes.count.count_ones() == 1
            && lanes.count <= subgroup.into();
        if !shuffles || !(whole || row) {
            return 1;
        }
        let most = i64::from(subgroup).min(lanes.count & -lanes.count);
        if most < LEAST_SHUFFLED {
            return 1;
        }
        1 << most.ilog2()
    }

    /// Whether some results are in registers, of which each thread has its own.
    fn keeps_results(&self, at: &Unblock<'_>) -> bool {
        let mut targets = self.reduction.targets.iter();
        targets.any(|(target, _)| at.memory_plan.of(target) == Memory::Local)
    }

    /// Whether all threads of a group get the result. A subgroup may hold several rows, so its first thread has not the result of all.
    fn all_get_it(&self, at: &Unblock<'_>, lanes: &Lanes, group: i64) -> bool {
        group == lanes.count && lanes.count < lanes.elements && self.keeps_results(at)
    }

    /// The register of one thread of such a group, or of `all`, gets what comes of the registers of all.
    fn shuffles(&self, at: &mut Unblock<'_>, parts: &[Buffer], group: i64, all: bool) -> Vec<Node> {
        let from = if all { Shuffle::Xor } else { Shuffle::Down };
        let others = self.arrays("other", 1, Scope::Local);
        for register in &others {
            at.nest.added.push((register.clone(), Memory::Local));
        }
        let first = vec![Expr::i32(0)];
        let places: Vec<(&Buffer, &Vec<Expr>)> = parts.iter().map(|part| (part, &first)).collect();
        let mut out = Vec::new();
        let mut by = group / 2;
        while by > 0 {
            let pairs = others.iter().zip(parts);
            out.extend(pairs.map(|(other, part)| shuffle(other, part, from(by as u32))));
            out.extend(self.update(&load_all(parts), &load_all(&others), &places));
            by /= 2;
        }
        out
    }

    /// Where threads keep results in registers, each gets those of the first one.
    fn first_of_subgroup(&self, at: &Unblock<'_>, parts: &[Buffer]) -> Vec<Node> {
        let pairs = parts.iter().zip(&self.reduction.targets);
        let kept = pairs.filter(|(_, (target, _))| at.memory_plan.of(target) == Memory::Local);
        kept.map(|(part, _)| shuffle(part, part, Shuffle::First))
            .collect()
    }

    /// Combines what the threads have in their registers, and stores what comes of that.
    fn combined(
        &self,
        at: &mut Unblock<'_>,
        parts: &[Buffer],
        predicate: &Expr,
    ) -> Result<Vec<Node>, LowerError> {
        let lanes = Lanes::of(at, &self.axes)?;
        let group = self.shuffled(at, &lanes);
        if group == 1 {
            return Ok(self.tree(at, parts, predicate, &lanes));
        }
        let all = self.all_get_it(at, &lanes, group);
        let mut out = self.shuffles(at, parts, group, all);
        if group < lanes.count {
            out.extend(self.tree(at, parts, predicate, &lanes.of_groups(group)));
        } else {
            if !all {
                out.extend(self.first_of_subgroup(at, parts));
            }
            out.extend(self.store_results(at, &lanes.lane, load_all(parts), predicate));
        }
        Ok(out)
    }

    /// Halves the shared arrays until few elements are left, and stores what comes of those.
    fn tree(
        &self,
        at: &mut Unblock<'_>,
        parts: &[Buffer],
        predicate: &Expr,
        lanes: &Lanes,
    ) -> Vec<Node> {
        let shared = self.arrays("parts", lanes.elements, Scope::Shared);
        for array in &shared {
            at.nest.added.push((array.clone(), Memory::Shared));
        }
        let slot = |lane: &Expr| vec![at.analyzer.simplify(&lanes.slot(lane))];
        let store_at = |values: Vec<Expr>, lane: &Expr| {
            let slot = slot(lane);
            let places: Vec<_> = shared.iter().map(|array| (array, &slot)).collect();
            self.stores(values, &places, AxisSet::ALL)
        };
        let load = |lane: &Expr| -> Vec<Expr> {
            let slot = slot(lane);
            let arrays = shared.iter();
            arrays
                .map(|array| Expr::load(array, slot.clone()))
                .collect()
        };
        let mut out = branch(
            lanes.stores.clone(),
            store_at(load_all(parts), &lanes.place),
        );
        let dtype = lanes.lane.dtype();
        let mut left = lanes.count;
        // Results that belong together are made of each other, so that their expressions would grow with each step.
        let few = if shared.len() == 1 { FEW } else { 1 };
        while left > few {
            let half = (left + 1) / 2;
            let other = load(&(&lanes.lane + Expr::int(half, dtype)));
            let both = self.reduction.combine(&load(&lanes.lane), &other);
            out.extend(branch(
                lanes.lane.lt(Expr::int(left - half, dtype)),
                store_at(both, &lanes.lane),
            ));
            left = half;
        }
        let mut results: Vec<Vec<Expr>> = (0..left)
            .map(|lane| load(&Expr::int(lane, dtype)))
            .collect();
        while results.len() > 1 {
            let other = results.split_off(results.len().div_ceil(2));
            for (result, other) in results.iter_mut().zip(&other) {
                *result = self.reduction.combine(result, other);
            }
        }
        out.extend(self.store_results(at, &lanes.lane, results.remove(0), predicate));
        out
    }

    /// Stores values. Where there are several, each is in a register before the first one is stored, for it may be made of all of them.
    fn stores(
        &self,
        values: Vec<Expr>,
        places: &[(&Buffer, &Vec<Expr>)],
        axes: AxisSet,
    ) -> Vec<Node> {
        let store_all = |values: Vec<Expr>| {
            let stores = values.into_iter().zip(places);
            stores.map(|(value, (buffer, indices))| Node::Store {
                buffer: (*buffer).clone(),
                indices: (*indices).clone(),
                value,
                shuffle: None,
                axes,
            })
        };
        if values.len() == 1 {
            return store_all(values).collect();
        }
        let first = Expr::i32(0);
        let kept = values.into_iter().zip(&self.next);
        let mut out: Vec<Node> = kept
            .map(|(value, next)| store(next, first.clone(), value))
            .collect();
        let next = self
            .next
            .iter()
            .map(|next| Expr::load(next, vec![first.clone()]));
        out.extend(store_all(next.collect()));
        out
    }

    fn store_results(
        &self,
        at: &Unblock<'_>,
        lane: &Expr,
        results: Vec<Expr>,
        predicate: &Expr,
    ) -> Vec<Node> {
        let r = &self.reduction;
        let places: Vec<(&Buffer, Vec<Expr>)> = (r.targets.iter())
            .map(|(buffer, indices)| (buffer, indices.iter().map(|i| at.index(i)).collect()))
            .collect();
        let before: Option<Vec<Expr>> = match &r.init {
            Some(init) if *init == r.identities => None,
            Some(init) => Some(init.iter().map(|e| at.expr(e)).collect()),
            None => {
                let load = |(b, indices): &(&Buffer, Vec<Expr>)| Expr::load(b, indices.clone());
                Some(places.iter().map(load).collect())
            }
        };
        let values = before.map_or(results.clone(), |before| r.combine(&before, &results));
        // Of registers each thread has its own, all else the first one stores.
        let shared: Vec<&Buffer> = (r.targets.iter().map(|(target, _)| target))
            .filter(|target| at.memory_plan.of(target) != Memory::Local)
            .collect();
        let first = lane.equals(Expr::int(0, lane.dtype()));
        let axes = self
            .axes
            .iter()
            .fold(at.bound, |bound, axis| bound.with(*axis));
        let places: Vec<(&Buffer, &Vec<Expr>)> = places.iter().map(|(b, at)| (*b, at)).collect();
        let stores = self.stores(values, &places, axes);
        if shared.len() == places.len() {
            return branch(first.and(predicate), stores);
        }
        let of_first = |node: Node| match &node {
            Node::Store { buffer, .. } if shared.contains(&buffer) => {
                branch(first.clone(), vec![node])
            }
            _ => vec![node],
        };
        branch(
            predicate.clone(),
            stores.into_iter().flat_map(of_first).collect(),
        )
    }
}

/// What is in registers.
fn load_all(registers: &[Buffer]) -> Vec<Expr> {
    let load = |register| Expr::load(register, vec![Expr::i32(0)]);
    registers.iter().map(load).collect()
}

/// A register gets what another thread has in one.
fn shuffle(to: &Buffer, from: &Buffer, which: Shuffle) -> Node {
    Node::Store {
        buffer: to.clone(),
        indices: vec![Expr::i32(0)],
        value: Expr::load(from, vec![Expr::i32(0)]),
        shuffle: Some(which),
        axes: AxisSet::ALL,
    }
}

fn store(buffer: &Buffer, index: Expr, value: Expr) -> Node {
    Node::Store {
        buffer: buffer.clone(),
        indices: vec![index],
        value,
        shuffle: None,
        axes: AxisSet::ALL,
    }
}
