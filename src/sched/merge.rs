//! `merge`: nests of loops of the same extents, one after the other, become one nest that runs the body of each in turn.
//!
//! ```text
//! for i in range(128):                        for i_m in range(128):
//!     with T.block("B"):                          with T.block("B"):
//!         vi = T.axis.spatial(128, i)                 vi = T.axis.spatial(128, i_m)
//!         B[vi] = A[vi] * T.float32(2)                B[vi] = A[vi] * T.float32(2)
//! for i in range(128):                            with T.block("C"):
//!     with T.block("C"):                              vi = T.axis.spatial(128, i_m)
//!         vi = T.axis.spatial(128, i)                 C[vi] = B[vi] + T.float32(1)
//!         C[vi] = B[vi] + T.float32(1)
//! ```
//!
//! The loops that are given are the innermost of their nests, which reach up to the nearest place that holds all of them.
//!
//! Requires: two or more different loops in one block; nests of the same depth and extents, of loops from 0 without annotations and
//! thread binding, each the only statement of the one above. The merged nest stands where the last one stood: nothing in between
//! depends on what is moved past it. Each iteration of the merged nest uses only what it computed itself, and overwrites nothing
//! that another iteration uses. Meaning is kept: each block runs the same instances in the same order, and all that it depends on
//! runs before. TVM does not look at dependencies.

use super::analysis::{BlockScope, check_independent_iterations, check_only_blocks};
use super::body::position_of;
use super::split::check_plain;
use super::{LoopReason, Reason, Refusal, Schedule, ScheduleError, attached_loop};
use crate::arith::Analyzer;
use crate::ir::{BlockId, Expr, Loop, LoopId, Place, PrimFunc, Range, Stmt};

impl Schedule {
    /// Merges the nests whose innermost loops these are; their bodies run in this order. Gives the innermost loop of the merged nest.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn merge(&mut self, loops: &[LoopId]) -> Result<LoopId, ScheduleError> {
        let plan = Plan::check(&self.func, loops).map_err(|refusal| refusal.of("merge"))?;
        Ok(self.record("merge", vec![loops.into()], |func| plan.apply(func)))
    }
}

struct Plan {
    /// The loops of each nest, outermost first.
    nests: Vec<Vec<LoopId>>,
}

impl Plan {
    fn check(func: &PrimFunc, loops: &[LoopId]) -> Result<Self, Refusal> {
        for &id in loops {
            attached_loop(func, id)?;
        }
        let mut different = loops.to_vec();
        different.sort_unstable();
        different.dedup();
        let (&[first, .., last], true) = (loops, different.len() == loops.len()) else {
            let count = different.len();
            return Err(LoopReason::TooFewLoops { count }.at(loops.iter().map(|&l| l.into())));
        };
        let top = common_place(func, loops);
        let mut nests = Vec::with_capacity(loops.len());
        for &id in loops {
            nests.push(nest_below(func, top, id)?);
            check_alike(func, (first, &nests[0]), (id, &nests[nests.len() - 1]))?;
        }
        let plan = Self { nests };
        plan.check_order(func, top)?;
        let mut merged = func.clone();
        let innermost = Self::apply(
            Self {
                nests: plan.nests.clone(),
            },
            &mut merged,
        );
        let above = merged.loops_above(innermost.into());
        let depth = plan.nests[0].len();
        let mut chain = above[above.len() + 1 - depth..].to_vec();
        chain.push(innermost);
        check_only_blocks(&merged, innermost.into())?;
        check_independent_iterations(&merged, &chain).map_err(|refusal| Refusal {
            places: vec![first.into(), last.into()],
            ..refusal
        })?;
        Ok(plan)
    }

    /// Refuses if a block would move past one that depends on it, or that it depends on.
    fn check_order(&self, func: &PrimFunc, top: Place) -> Result<(), Refusal> {
        let graph = BlockScope::of(func, top);
        let position = |id: LoopId| position_of(func, top, id.into());
        let nests: Vec<(Place, Option<usize>)> = (self.nests.iter())
            .map(|nest| (Place::Loop(nest[0]), position(nest[0])))
            .collect();
        let Some(&(_, last)) = nests.last() else {
            return Ok(());
        };
        let positions = nests.iter().filter_map(|(_, at)| *at);
        let (first, end) = (positions.clone().min(), positions.max());
        for stmt in &func.tree.body(top)[first.unwrap_or(0)..=end.unwrap_or(0)] {
            match stmt {
                Stmt::Loop(id) => check_only_blocks(func, (*id).into())?,
                Stmt::Block(_) => {}
                _ => check_only_blocks(func, top)?,
            }
        }
        let nest_of = |block: BlockId| {
            let holds = |(nest, _): &(Place, Option<usize>)| func.tree.is_ancestor(*nest, block);
            nests.iter().position(holds)
        };
        for edge in graph.dependencies() {
            let at = |block: BlockId| position_of(func, top, block.into());
            let passes = match (nest_of(edge.src), nest_of(edge.dst)) {
                (Some(src), Some(dst)) => src > dst,
                (Some(_), None) => at(edge.dst) < last,
                (None, Some(_)) => at(edge.src) > last,
                (None, None) => false,
            };
            if passes {
                let reason = LoopReason::WouldPass {
                    block: func.blocks[edge.src].name.clone(),
                    other: func.blocks[edge.dst].name.clone(),
                };
                return Err(reason.at([edge.src.into(), edge.dst.into()]));
            }
        }
        Ok(())
    }

    fn apply(self, func: &mut PrimFunc) -> LoopId {
        let merged: Vec<Loop> = (self.nests[0].iter())
            .map(|&id| {
                let l = &func.loops[id];
                let extent = l.extent.clone();
                let min = Expr::int(0, extent.dtype());
                Loop::serial(format!("{}_m", l.var.name()), Range { min, extent })
            })
            .collect();
        let mut body = Vec::new();
        let mut tops = Vec::new();
        for nest in &self.nests {
            let (top, bottom) = (nest[0], nest[nest.len() - 1]);
            let pairs: Vec<_> = (nest.iter().zip(&merged))
                .map(|(&id, new)| (func.loops[id].var.clone(), new.var.expr()))
                .collect();
            func.substitute_below(bottom, &|v| {
                let found = pairs.iter().find(|(old, _)| old == v);
                found.map(|(old, new)| new.cast(old.dtype()))
            });
            body.extend(func.tree.take_body(bottom));
            tops.push(top);
        }
        let ids: Vec<LoopId> = merged.into_iter().map(|l| func.loops.push(l)).collect();
        for &id in ids.iter().rev() {
            func.tree.set_body(id, body);
            body = vec![Stmt::Loop(id)];
        }
        let last = tops.len() - 1;
        for (at, top) in tops.into_iter().enumerate() {
            let with = if at == last { body.clone() } else { vec![] };
            func.tree.replace(top, with);
            super::body::remove_detached(func, top.into());
        }
        ids[ids.len() - 1]
    }
}

/// The nearest place that is or holds all of these loops.
fn common_place(func: &PrimFunc, loops: &[LoopId]) -> Place {
    let mut place = Place::Loop(loops[0]);
    while !loops.iter().all(|&id| func.tree.is_ancestor(place, id)) {
        match func.tree.parent(place) {
            Some(parent) => place = parent,
            None => return func.root.into(),
        }
    }
    place
}

/// The loops below a place down to and with this one, outermost first, each the only statement of the one above.
fn nest_below(func: &PrimFunc, top: Place, innermost: LoopId) -> Result<Vec<LoopId>, Refusal> {
    let mut nest = Vec::new();
    let mut at = Place::Loop(innermost);
    while at != top {
        if let Place::Loop(id) = at {
            check_plain(func, id)?;
            nest.push(id);
        }
        let parent = func.tree.parent(at);
        at = parent.expect("the place that holds all loops is above each");
    }
    nest.reverse();
    for pair in nest.windows(2) {
        let only = matches!(func.tree.body(pair[0]), [Stmt::Loop(id)] if *id == pair[1]);
        if !only {
            let name = |id: LoopId| func.loops[id].var.name().to_owned();
            let (outer, inner) = (name(pair[0]), name(pair[1]));
            return Err(Reason::NotOnlyChild { outer, inner }.at(pair.iter().map(|&id| id.into())));
        }
    }
    Ok(nest)
}

/// Refuses nests that are not alike.
fn check_alike(
    func: &PrimFunc,
    (first, first_nest): (LoopId, &[LoopId]),
    (other, other_nest): (LoopId, &[LoopId]),
) -> Result<(), Refusal> {
    let name = |id: LoopId| func.loops[id].var.name().to_owned();
    let places = [first.into(), other.into()];
    if func.scope_block(first.into()) != func.scope_block(other.into()) {
        let (first, other) = (name(first), name(other));
        return Err(LoopReason::DifferentScopes { first, other }.at(places));
    }
    if first_nest.len() != other_nest.len() || first_nest.is_empty() {
        let reason = LoopReason::DifferentDepths {
            first: name(first),
            first_depth: first_nest.len(),
            other: name(other),
            other_depth: other_nest.len(),
        };
        return Err(reason.at(places));
    }
    let facts = Analyzer::new();
    for (&a, &b) in first_nest.iter().zip(other_nest) {
        let extents = (&func.loops[a].extent, &func.loops[b].extent);
        if !facts.can_prove_equal(extents.0, extents.1) {
            let reason = LoopReason::DifferentExtents {
                first: name(a),
                first_extent: extents.0.clone(),
                other: name(b),
                other_extent: extents.1.clone(),
            };
            return Err(reason.at([a.into(), b.into()]));
        }
    }
    Ok(())
}
