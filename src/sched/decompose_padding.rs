//! `decompose_padding`: a block that pads becomes one that fills everything with the padding, and one that copies what is inside.
//!
//! ```text
//! for i in range(140):                          for i in range(140):
//!     with T.block("P"):                            with T.block("P_pad_const"):
//!         vi = T.axis.spatial(140, i)                   vi = T.axis.spatial(140, i)
//!         P[vi] = T.if_then_else(                       P[vi] = T.float32(0)
//!             vi >= 6 and vi < 134,             for i in range(128):
//!             X[vi - 6], T.float32(0))              with T.block("P"):
//!                                                       vi = T.axis.spatial(128, i)
//!                                                       P[vi + 6] = X[vi]
//! ```
//!
//! Requires: a complete block whose body is one such store of a constant where a condition fails; a loop above it, before which the
//! padding is filled in; the block is all that is in its innermost loop; under the condition and the predicate its iter variables are
//! an affine map onto intervals with step 1, or the condition is one of each iter variable by itself (parts of what is padded overlap
//! where `compute_at` moved the block); if the loop holds more than the block, its scope is a stage pipeline. Loops whose variables are
//! iter variables, and not in the predicate, become as short as what is inside, up to the highest that holds nothing else; for
//! others the condition becomes the predicate. Meaning is kept: each element gets the padding first, and what is inside its own value after that.

use super::affine::{loop_ranges, shape_facts};
use super::analysis::{check_complete_block, check_stage_pipeline};
use super::copy::copy_stmts;
use super::inline::only_store;
use super::{
    PaddingReason, Reason, Refusal, Schedule, ScheduleError, attached_block, attached_loop,
};
use crate::arith::Analyzer;
use crate::arith::iter_map::{IterMapLevel, IterSum, UnitIters, detect_iter_map};
use crate::ir::{
    Attrs, Block, BlockId, BufferRegion, Definitions, Expr, ExprKind, IterKind, IterVar, Loop,
    LoopId, LoopKind, PrimFunc, Range, Rewrite, Stmt, Substitution, Var,
};

impl Schedule {
    /// Splits a block that pads into one that fills in the padding before the loop, which is given back, and one that copies
    /// what is inside, which keeps the handle.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn decompose_padding(
        &mut self,
        block: BlockId,
        before: LoopId,
    ) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, block, before)
            .map_err(|refusal| refusal.of("decompose_padding"))?;
        let args = vec![block.into(), before.into()];
        Ok(self.record("decompose_padding", args, |func| plan.apply(func)))
    }
}

struct Plan {
    block: BlockId,
    before: LoopId,
    /// The loops around the block down from `before`, outermost first.
    filled: Vec<LoopId>,
    /// The padding.
    constant: Expr,
    /// The value inside.
    value: Expr,
    /// The condition and the predicate.
    inside: Expr,
    /// The values of each binding inside.
    ranges: Vec<Range>,
    /// Iter variables, by position, whose loops become as short as what is inside.
    shortened: Vec<(usize, LoopId)>,
}

impl Plan {
    fn check(func: &PrimFunc, block: BlockId, before: LoopId) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        attached_loop(func, before)?;
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_complete_block(func, block, scope.into())?;
        let loops = func.loops_above(block.into());
        let Some(at) = loops.iter().position(|&id| id == before) else {
            let reason = Reason::LoopNotAboveBlock {
                var: func.loops[before].var.name().to_owned(),
                block: node.name.clone(),
            };
            return Err(reason.at([before.into(), block.into()]));
        };
        let filled = loops[at..].to_vec();
        let own = own_loops(func, &filled).to_vec();
        if !own.is_empty() && own.len() < filled.len() {
            check_stage_pipeline(func, scope)?;
        }
        Self::matching(func, block, filled, &own).map_err(|why| {
            let block_name = node.name.clone();
            let reason = PaddingReason::NotPadding {
                block: block_name,
                why,
            };
            reason.at([block.into()])
        })
    }

    /// The plan for a block with loops down from where the padding is filled in, of which `own` hold nothing else; or why it does
    /// not pad.
    fn matching(
        func: &PrimFunc,
        block: BlockId,
        filled: Vec<LoopId>,
        own: &[LoopId],
    ) -> Result<Self, &'static str> {
        if own.is_empty() {
            return Err("its innermost loop holds more");
        }
        let node = &func.blocks[block];
        let store = only_store(func, block).ok_or("its body is no store")?;
        let ExprKind::IfThenElse(condition, value, constant) = store.value.kind() else {
            return Err("it stores no `if_then_else`");
        };
        if constant.as_int().is_none() && constant.as_float().is_none() {
            return Err("the padding is no constant");
        }
        let bound = condition.substitute(&|v| node.binding_of(v).cloned());
        let domains = loop_ranges(func, &func.loops_above(block.into()));
        let mut facts = shape_facts(func);
        for (var, range) in &domains {
            facts.bind(var, range);
        }
        let inside = facts.simplify(&bound.and(&node.predicate));
        if inside.as_bool() == Some(true) {
            return Err("the condition always holds");
        }
        let shortened = shortened(func, block, own)?;
        let ranges = intervals(&facts, &node.bindings, &domains, &inside).or_else(|why| {
            let iters = domains_inside(func, block, &shortened);
            let outer = |e: &Expr| domains.iter().any(|(var, _)| e.uses(var));
            let mut bounds = iters.iter().flat_map(|(_, r)| [&r.min, &r.extent]);
            if bounds.any(outer) {
                return Err(why);
            }
            let vars: Vec<Expr> = iters.iter().map(|(var, _)| var.expr()).collect();
            intervals(&shape_facts(func), &vars, &iters, condition).map_err(|_| why)
        })?;
        Ok(Self {
            block,
            before: filled[0],
            shortened,
            filled,
            constant: constant.clone(),
            value: value.clone(),
            inside,
            ranges,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        let (fill, stmt) = self.make_fill(func);
        self.narrow(func);
        let both = vec![stmt, Stmt::Loop(self.before)];
        func.tree.replace(self.before, both);
        fill
    }

    /// The nest that fills in the padding, detached.
    fn make_fill(&self, func: &mut PrimFunc) -> (BlockId, Stmt) {
        let facts = shape_facts(func);
        let mut fresh = Substitution::new(Definitions::Fresh);
        let loops: Vec<Loop> = (self.filled.iter())
            .map(|&id| {
                let old = func.loops[id].clone();
                let var = old.var.renamed(old.var.name());
                let (min, extent) = (fresh.expr(&old.min), fresh.expr(&old.extent));
                fresh.set_var(&old.var, &var);
                Loop {
                    var,
                    min,
                    extent,
                    kind: LoopKind::Serial,
                    annotations: Attrs::new(),
                }
            })
            .collect();
        let copied = copy_stmts(func, &[Stmt::Block(self.block)], &mut fresh);
        let Some(&Stmt::Block(id)) = copied.first() else {
            unreachable!("a copy of a block is a block");
        };
        for stmt in func.tree.take_body(id) {
            let Stmt::Store {
                buffer,
                indices,
                value: _,
            } = stmt
            else {
                continue;
            };
            let indices = indices.iter().map(|e| facts.simplify(e)).collect();
            let store = Stmt::Store {
                buffer,
                indices,
                value: self.constant.clone(),
            };
            func.tree.set_body(id, vec![store]);
        }
        let node = &mut func.blocks[id];
        node.name.push_str("_pad_const");
        node.reads.clear();
        node.annotations.clear();
        let stmt = super::body::nest(func, loops, Stmt::Block(id));
        (id, stmt)
    }

    /// Lets the block copy only what is inside.
    fn narrow(&self, func: &mut PrimFunc) {
        let node = func.blocks[self.block].clone();
        let mut facts = shape_facts(func);
        let mut values: Vec<(Var, Expr)> = Vec::new();
        for (at, id) in &self.shortened {
            let l = &mut func.loops[*id];
            let range = &self.ranges[*at];
            values.push((l.var.clone(), l.var.expr() + &range.min));
            l.min = Expr::int(0, l.var.dtype());
            l.extent = range.extent.cast(l.var.dtype());
        }
        for id in func.loops_above(self.block.into()) {
            let l = &func.loops[id];
            let (min, extent) = (l.min.clone(), l.extent.clone());
            facts.bind(&l.var, &Range { min, extent });
        }
        let mut iters = Vec::new();
        let mut bindings = Vec::new();
        for (at, iter) in node.iters.iter().enumerate() {
            let range = &self.ranges[at];
            let var = iter.var.renamed(iter.var.name());
            let is_short = self.shortened.iter().any(|(short, _)| *short == at);
            bindings.push(match is_short {
                true => node.bindings[at].clone(),
                false => facts.simplify(&(&node.bindings[at] - &range.min)),
            });
            values.push((iter.var.clone(), var.expr() + range.min.cast(var.dtype())));
            let dom = Range::to(range.extent.cast(var.dtype()));
            facts.bind(&var, &dom);
            let kind = IterKind::Spatial;
            iters.push(IterVar { var, dom, kind });
        }
        let new = |e: &Expr| {
            let value = |v: &Var| {
                let found = values.iter().find(|(old, _)| old == v);
                found.map(|(_, value)| value.clone())
            };
            facts.simplify(&e.substitute(&value))
        };
        for stmt in func.tree.take_body(self.block) {
            let Stmt::Store {
                buffer,
                indices,
                value: _,
            } = stmt
            else {
                continue;
            };
            let store = Stmt::Store {
                buffer,
                indices: indices.iter().map(&new).collect(),
                value: new(&self.value),
            };
            func.tree.set_body(self.block, vec![store]);
        }
        func.blocks[self.block] = Block {
            iters,
            bindings,
            predicate: new(&self.inside),
            reads: renewed(&node.reads, &new),
            writes: renewed(&node.writes, &new),
            annotations: Attrs::new(),
            ..node
        };
    }
}

/// The regions with their ends rewritten.
fn renewed(regions: &[BufferRegion], new: &dyn Fn(&Expr) -> Expr) -> Vec<BufferRegion> {
    let range = |range: &Range| Range {
        min: new(&range.min),
        extent: new(&range.extent),
    };
    let region = |old: &BufferRegion| BufferRegion {
        buffer: old.buffer.clone(),
        region: old.region.iter().map(range).collect(),
    };
    regions.iter().map(region).collect()
}

/// The innermost of these loops, which hold nothing but the block.
fn own_loops<'a>(func: &PrimFunc, loops: &'a [LoopId]) -> &'a [LoopId] {
    let alone = |id: &&LoopId| func.tree.body(**id).len() == 1;
    let own = loops.iter().rev().take_while(alone).count();
    &loops[loops.len() - own..]
}

/// The iter variables, by position, whose values are variables of the block's own loops that its predicate does not use.
fn shortened(
    func: &PrimFunc,
    block: BlockId,
    own: &[LoopId],
) -> Result<Vec<(usize, LoopId)>, &'static str> {
    let node = &func.blocks[block];
    let own_loop = |(at, binding): (usize, &Expr)| {
        let var = binding.as_var().filter(|var| !node.predicate.uses(var))?;
        let found = own.iter().find(|id| func.loops[**id].var == *var)?;
        Some((at, *found))
    };
    let found: Vec<_> = (node.bindings.iter().enumerate())
        .filter_map(own_loop)
        .collect();
    for (at, id) in &found {
        let var = &func.loops[*id].var;
        let mut others = node.bindings.iter().enumerate();
        let loops = own.iter().map(|id| &func.loops[*id]);
        let mut ranges = loops.flat_map(|l| [&l.min, &l.extent]);
        if others.any(|(other, e)| other != *at && e.uses(var)) || ranges.any(|e| e.uses(var)) {
            return Err("a loop chooses the values of several iter variables");
        }
    }
    Ok(found)
}

/// The values of each index under a condition on its inputs; or why they are no intervals.
fn intervals(
    facts: &Analyzer,
    indices: &[Expr],
    inputs: &[(Var, Range)],
    condition: &Expr,
) -> Result<Vec<Range>, &'static str> {
    let (level, units) = (IterMapLevel::Surjective, UnitIters::Simplify);
    let map = detect_iter_map(facts, indices, inputs, condition, level, units)
        .map_err(|_| "its iter variables depend on each other under the condition")?;
    let ranges = map.indices.iter().map(interval).collect::<Option<_>>();
    ranges.ok_or("there are gaps in what is inside")
}

/// The iter variables of the block: those whose loops may become shorter with the values that these have, others with all.
fn domains_inside(
    func: &PrimFunc,
    block: BlockId,
    shortened: &[(usize, LoopId)],
) -> Vec<(Var, Range)> {
    let iters = func.blocks[block].iters.iter().enumerate();
    let domain = |(at, iter): (usize, &IterVar)| {
        let own = shortened.iter().find(|(short, _)| *short == at);
        let range = own.map_or(iter.dom.clone(), |(_, l)| {
            let l = &func.loops[*l];
            let (min, extent) = (l.min.clone(), l.extent.clone());
            Range { min, extent }
        });
        (iter.var.clone(), range)
    };
    iters.map(domain).collect()
}

/// The values of an index, if they have no gaps.
fn interval(sum: &IterSum) -> Option<Range> {
    let min = sum.base.clone();
    match &sum.args[..] {
        [] => Some(Range {
            extent: Expr::int(1, min.dtype()),
            min,
        }),
        [split] if Analyzer::new().can_prove_equal(&split.scale, &Expr::int(1, min.dtype())) => {
            Some(Range {
                min,
                extent: split.extent.clone(),
            })
        }
        _ => None,
    }
}
