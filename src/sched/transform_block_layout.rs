//! `transform_block_layout`: the iter variables of a block are replaced by a map of them, and its loops by one for each.
//!
//! ```text
//! for i, j in T.grid(8, 6):               for ax0 in range(48):
//!     with T.block("B"):                      with T.block("B"):
//!         vi, vj = …                              v0 = T.axis.spatial(48, ax0)
//!         B[vi, vj] = A[vi, vj] * 2               B[v0 // 6, v0 % 6] = A[v0 // 6, v0 % 6] * 2
//! ```
//!
//! above with the map `lambda i, j: (i * 6 + j,)`. So a convolution becomes a matmul of pixels by channels.
//!
//! Requires: a block without predicate, complete or a reduction unless the map keeps the order of instances, whose iter variables are the variables of the loops around it over
//! their whole domains; nothing else in these loops; a map that is affine and bijective; each of its results of spatial or of
//! reduce iter variables only. Meaning is kept: the same instances run, in another order. TVM drops predicates.

use super::affine::shape_facts;
use super::analysis::check_complete_or_reduction_block;
use super::body::{insert_at, nest, position_of, remove_place, rewrite_own};
use super::reindex_cache::{extents, mapped};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::Analyzer;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::ir::{
    Attrs, Block, BlockId, Expr, IterKind, IterVar, Lambda, Loop, LoopId, LoopKind, Place,
    PrimFunc, Range, Stmt, Var,
};
use crate::tensor::DType;

impl Schedule {
    /// Replaces the iter variables of the block by the results of `map` for them, and its loops by one for each result.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn transform_block_layout(
        &mut self,
        block: BlockId,
        map: &Lambda,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, map)
            .map_err(|refusal| refusal.of("transform_block_layout"))?;
        let args = vec![block.into(), map.into()];
        self.record("transform_block_layout", args, |func| plan.apply(func));
        Ok(())
    }
}

struct Plan {
    block: BlockId,
    /// The outermost loop, or the block if it has none.
    outermost: Place,
    iters: Vec<IterVar>,
    /// The old iter variables in terms of the new ones.
    old: Vec<(Var, Expr)>,
}

impl Plan {
    fn check(func: &PrimFunc, block: BlockId, map: &Lambda) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        let loops = func.loops_above(block.into());
        check_loops(func, block, &loops)?;
        let facts = shape_facts(func);
        let results = mapped(node, map).map_err(|reason| reason.at([block.into()]))?;
        let domains: Vec<(Var, Range)> = node
            .iters
            .iter()
            .map(|iter| (iter.var.clone(), iter.dom.clone()))
            .collect();
        let not_bijective = || {
            let reason = Reason::NotBijective {
                map: map.to_string(),
                block: node.name.clone(),
            };
            reason.at([block.into()])
        };
        let extents = extents(&results, &domains, &facts).ok_or_else(not_bijective)?;
        let found = detect_iter_map(
            &facts,
            &results,
            &domains,
            &Expr::bool(true),
            IterMapLevel::Bijective,
            UnitIters::Simplify,
        );
        let found = found.map_err(|_| not_bijective())?;
        if !keeps_order(&results, &extents, node, &facts) {
            check_complete_or_reduction_block(func, block, scope.into())?;
        }
        let mut iters = Vec::new();
        for (at, (result, extent)) in results.iter().zip(extents).enumerate() {
            let kind = kind_of(node, result).filter(|_| !extent.is_one());
            let Some(kind) = kind.or(extent.is_one().then_some(IterKind::Spatial)) else {
                let reason = Reason::MixedIterKinds {
                    value: result.clone(),
                    block: node.name.clone(),
                };
                return Err(reason.at([block.into()]));
            };
            iters.push(IterVar {
                var: Var::new(format!("v{at}"), result.dtype()),
                dom: Range::to(extent.cast(result.dtype())),
                kind,
            });
        }
        let mut facts = facts;
        for iter in &iters {
            facts.bind(&iter.var, &iter.dom);
        }
        let values: Vec<Expr> = iters.iter().map(|iter| iter.var.expr()).collect();
        let mut old = found.invert(&facts, &values);
        for (var, range) in domains {
            if !old.iter().any(|(known, _)| *known == var) {
                old.push((var, range.min));
            }
        }
        Ok(Self {
            block,
            outermost: loops.first().map_or(block.into(), |&l| l.into()),
            iters,
            old,
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        let mut facts = shape_facts(func);
        for iter in &self.iters {
            facts.bind(&iter.var, &iter.dom);
        }
        let mut new = |e: &Expr| {
            let value = |var: &Var| {
                let found = self.old.iter().find(|(old, _)| old == var);
                found.map(|(_, value)| value.clone())
            };
            let replaced = e.substitute(&value);
            if replaced == *e {
                replaced
            } else {
                facts.simplify(&replaced)
            }
        };
        for block in func.blocks_within(self.block.into()) {
            rewrite_own(func, block, &mut new, &mut |store| store);
            let node = &mut func.blocks[block];
            for region in node.reads.iter_mut().chain(&mut node.writes) {
                for range in &mut region.region {
                    range.min = new(&range.min);
                    range.extent = new(&range.extent);
                }
            }
        }
        let loops: Vec<Loop> = self
            .iters
            .iter()
            .enumerate()
            .map(|(at, iter)| Loop {
                var: Var::new(format!("ax{at}"), iter.var.dtype()),
                min: iter.dom.min.clone(),
                extent: iter.dom.extent.clone(),
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            })
            .collect();
        let node = &mut func.blocks[self.block];
        node.bindings = loops.iter().map(|l| l.var.expr()).collect();
        node.iters = self.iters;
        let parent = func.tree.parent(self.outermost);
        let at = parent.and_then(|parent| position_of(func, parent, self.outermost));
        remove_place(func, self.outermost, Some(self.block));
        let stmt = nest(func, loops, Stmt::Block(self.block));
        if let Some((parent, at)) = parent.zip(at) {
            insert_at(func, parent, at, stmt);
        }
    }
}

/// Whether the instances run in the same order afterwards: counted row by row, old and new iter variables have one number.
fn keeps_order(results: &[Expr], extents: &[Expr], node: &Block, facts: &Analyzer) -> bool {
    let mut facts = facts.clone();
    for iter in &node.iters {
        facts.bind(&iter.var, &iter.dom);
    }
    let zero = || Expr::int(0, results.first().map_or(DType::I32, Expr::dtype));
    let old = (node.iters.iter()).fold(zero(), |number, iter| {
        number * &iter.dom.extent + iter.var.expr()
    });
    let new = (results.iter().zip(extents)).fold(zero(), |number, (e, n)| number * n + e);
    facts.can_prove_equal(&old, &new)
}

/// Refuses a block whose iter variables are not the variables of the loops around it, which hold nothing else.
fn check_loops(func: &PrimFunc, block: BlockId, loops: &[LoopId]) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    let is_loop = |iter: &IterVar, value: &Expr| {
        loops.iter().any(|&l| {
            let l = &func.loops[l];
            value.as_var() == Some(&l.var) && l.min == iter.dom.min && l.extent == iter.dom.extent
        })
    };
    let mut bound = node.iters.iter().zip(&node.bindings);
    let trivial = bound.all(|(iter, value)| is_loop(iter, value) && iter.dom.min.is_zero());
    let each_once =
        (0..node.bindings.len()).all(|at| !node.bindings[..at].contains(&node.bindings[at]));
    let alone = loops.iter().all(|&l| func.tree.body(l).len() == 1);
    let unconditional = node.predicate.as_bool() == Some(true);
    if trivial && each_once && alone && unconditional && loops.len() == node.iters.len() {
        return Ok(());
    }
    let block_name = node.name.clone();
    Err(Reason::NotTrivialBinding { block: block_name }.at([block.into()]))
}

/// The kind of the iter variables that a value is made of, if they are of one.
fn kind_of(node: &Block, value: &Expr) -> Option<IterKind> {
    let used = node.iters.iter().filter(|iter| value.uses(&iter.var));
    let mut kinds = used.map(|iter| iter.kind);
    let first = kinds.next()?;
    kinds.all(|kind| kind == first).then_some(first)
}
