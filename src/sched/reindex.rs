//! `reindex`: a block uses a copy of a buffer whose indices are the block's iter variables themselves. Operands then have a
//! dimension for each iteration of the block, as a matmul has, whatever the layout of the tensor is.
//!
//! ```text
//! for i, j in T.grid(8, 6):               for ax0, ax1 in T.grid(8, 6):
//!     with T.block("B"):                      with T.block("A_reindex_reindex"):
//!         vi, vj = …                              v0, v1 = …
//!         B[vi, vj] = A[vj, vi + 1]               A_reindex[v0, v1] = A[v1, v0 + 1]
//!                                         for i, j in T.grid(8, 6):
//!                                             with T.block("B"):
//!                                                 vi, vj = …
//!                                                 B[vi, vj] = A_reindex[vi, vj]
//! ```
//!
//! above for what `B` reads.
//!
//! Requires: a stage pipeline; a block without blocks inside that uses the buffer at one element in each instance, and stands
//! alone in its loops; it runs for all values of its iter variables, or their elements are in the buffer anyway; it does not both
//! read and write the buffer, unless its init comes first; what it writes is another element for other values. Meaning is kept:
//! the copy is made of each element before the first instance reads it, or after the last has written it. TVM asks for the
//! first two only.

use super::analysis::{
    check_stage_pipeline, facts_at, follows_from_domains, has_affine_bindings, relaxed_domains,
    writes_wholly,
};
use super::body::{insert_at, nest, position_of, rewrite_own};
use super::error::LayoutReason;
use super::reindex_cache::{always_touches, is_injective, stays_inside, touches_one_element};
use super::{Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Attrs, Block, BlockId, Buffer, BufferNode, BufferRegion, Expr, ExprKind, IterKind, IterVar,
    Loop, LoopKind, Place, PrimFunc, Range, Scope, Stmt, Var,
};

/// Whether a buffer is named by what a block reads or by what it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferAccess {
    /// Among the read regions.
    Read,
    /// Among the write regions.
    Write,
}

impl BufferAccess {
    /// TVM's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    /// The region of the block with this index.
    pub(super) fn region(
        self,
        func: &PrimFunc,
        block: BlockId,
        index: usize,
    ) -> Result<&BufferRegion, Refusal> {
        let node = attached_block(func, block)?;
        let regions = match self {
            Self::Read => &node.reads,
            Self::Write => &node.writes,
        };
        regions.get(index).ok_or_else(|| {
            let reason = Reason::BufferIndexOutOfRange {
                block: node.name.clone(),
                index,
                count: regions.len(),
            };
            reason.at([block.into()])
        })
    }
}

impl Schedule {
    /// Lets the block use a copy of the buffer of its read or write region `index`, indexed by its iter variables. Gives the
    /// block that copies.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, or there is no such region.
    pub fn reindex(
        &mut self,
        block: BlockId,
        access: BufferAccess,
        index: usize,
    ) -> Result<BlockId, ScheduleError> {
        let plan = Plan::check(&self.func, block, access, index).map_err(|r| r.of("reindex"))?;
        let args = vec![block.into(), access.name().into(), index.into()];
        Ok(self.record("reindex", args, |func| plan.apply(func)))
    }
}

struct Plan {
    block: BlockId,
    scope: BlockId,
    access: BufferAccess,
    buffer: Buffer,
    copy: Buffer,
    /// Where the element is in the buffer, in terms of the block's iter variables.
    indices: Vec<Expr>,
    /// The iter variables that it depends on.
    iters: Vec<IterVar>,
    /// The outermost loop of the block, or the block.
    outermost: Place,
}

impl Plan {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        access: BufferAccess,
        index: usize,
    ) -> Result<Self, Refusal> {
        let region = access.region(func, block, index)?;
        let node = &func.blocks[block];
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_stage_pipeline(func, scope)?;
        let buffer = region.buffer.clone();
        let names = || (node.name.clone(), buffer.name().to_owned());
        let here = [Place::Block(block)];
        let facts = facts_at(func, block.into());
        if !touches_one_element(func, block, region, &facts) {
            let (block, buffer) = names();
            return Err(LayoutReason::NotSinglePoint { block, buffer }.at(here));
        }
        let loops = func.loops_above(block.into());
        if !loops.iter().all(|&l| func.tree.body(l).len() == 1) {
            let (block, _) = names();
            return Err(LayoutReason::NotAChain { block }.at(here));
        }
        check_access(func, block, access, region, &facts)?;
        let indices = indices_of(node, region);
        let used = |iter: &&IterVar| indices.iter().any(|e| e.uses(&iter.var));
        let iters: Vec<IterVar> = node.iters.iter().filter(used).cloned().collect();
        if access == BufferAccess::Write {
            let mut domains = iters.iter().map(|i| (i.var.clone(), i.dom.clone()));
            let domains: Vec<(Var, Range)> = domains.by_ref().collect();
            if !is_injective(&indices, &domains, &facts) {
                let (block, buffer) = names();
                return Err(LayoutReason::WritesTwice { block, buffer }.at(here));
            }
        }
        let ends = iters.iter().map(|i| &i.dom.min + &i.dom.extent);
        let shape = ends.map(|end| facts.simplify(&end)).collect();
        let old = buffer.node().clone();
        let copy = Buffer::from_node(BufferNode {
            name: format!("{}_reindex", old.name),
            shape,
            strides: vec![],
            elem_offset: None,
            layout: None,
            address: vec![],
            producer: None,
            ..old
        });
        Ok(Self {
            block,
            scope,
            access,
            outermost: loops.first().map_or(block.into(), |&l| l.into()),
            buffer,
            copy,
            indices,
            iters,
        })
    }

    fn apply(self, func: &mut PrimFunc) -> BlockId {
        let at: Vec<Expr> = self.iters.iter().map(|iter| iter.var.expr()).collect();
        let mut load = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, _) if *buffer == self.buffer => {
                    Expr::load(&self.copy, at.clone())
                }
                _ => e.clone(),
            })
        };
        rewrite_own(func, self.block, &mut load, &mut |stmt| match stmt {
            Stmt::Store { buffer, value, .. } if buffer == self.buffer => Stmt::Store {
                buffer: self.copy.clone(),
                indices: at.clone(),
                value,
            },
            other => other,
        });
        let node = &mut func.blocks[self.block];
        for region in node.reads.iter_mut().chain(&mut node.writes) {
            if region.buffer == self.buffer {
                *region = BufferRegion::point(&self.copy, &at);
            }
        }
        let (block, stmt) = self.build(func);
        let scope = Place::Block(self.scope);
        let position = position_of(func, scope, self.outermost).unwrap_or_default();
        let after = usize::from(self.access == BufferAccess::Write);
        insert_at(func, scope, position + after, stmt);
        func.blocks[self.scope].alloc_buffers.push(self.copy);
        block
    }

    /// Makes the loops and the block that copy, detached.
    fn build(&self, func: &mut PrimFunc) -> (BlockId, Stmt) {
        let new: Vec<IterVar> = (self.iters.iter().enumerate())
            .map(|(at, iter)| IterVar {
                var: iter.var.renamed(format!("v{at}")),
                dom: iter.dom.clone(),
                kind: IterKind::Spatial,
            })
            .collect();
        let value = |var: &Var| {
            let at = self.iters.iter().position(|iter| iter.var == *var)?;
            Some(new[at].var.expr())
        };
        let in_buffer = self.indices.iter().map(|e| e.substitute(&value)).collect();
        let in_copy: Vec<Expr> = new.iter().map(|iter| iter.var.expr()).collect();
        let (buffer, copy): ((_, Vec<Expr>), _) =
            ((&self.buffer, in_buffer), (&self.copy, in_copy));
        let ((from, from_at), (to, to_at)) = match self.access {
            BufferAccess::Read => (buffer, copy),
            BufferAccess::Write => (copy, buffer),
        };
        let loops: Vec<Loop> = (new.iter().enumerate())
            .map(|(at, iter)| Loop {
                var: iter.var.renamed(format!("ax{at}")),
                min: iter.dom.min.clone(),
                extent: iter.dom.extent.clone(),
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            })
            .collect();
        let block = func.blocks.push(Block {
            bindings: loops.iter().map(|l| l.var.expr()).collect(),
            iters: new,
            reads: vec![BufferRegion::point(from, &from_at)],
            writes: vec![BufferRegion::point(to, &to_at)],
            ..Block::named(format!("{}_reindex", to.name()))
        });
        let store = Stmt::Store {
            buffer: to.clone(),
            indices: to_at,
            value: Expr::load(from, from_at),
        };
        func.tree.set_body(block, vec![store]);
        (block, nest(func, loops, Stmt::Block(block)))
    }
}

/// Refuses a block whose uses of the buffer a copy before or after all instances cannot stand for.
fn check_access(
    func: &PrimFunc,
    block: BlockId,
    access: BufferAccess,
    region: &BufferRegion,
    facts: &Analyzer,
) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    let names = || (node.name.clone(), region.buffer.name().to_owned());
    let here = [Place::Block(block)];
    let is_buffer = |other: &BufferRegion| other.buffer == region.buffer;
    let both = node.reads.iter().any(is_buffer) && node.writes.iter().any(is_buffer);
    let sums_up = access == BufferAccess::Read && node.writes.iter().any(is_buffer);
    if both || sums_up {
        let (block, buffer) = names();
        return Err(LayoutReason::ReadsAndWrites { block, buffer }.at(here));
    }
    let scope = func.scope_block(block.into()).unwrap_or(func.root);
    let always =
        || always_touches(func, block, &region.buffer) && runs_for_all(func, block, scope, facts);
    let dims = |iter: &IterVar| [iter.dom.min.clone(), iter.dom.extent.clone()];
    let loops = func.loops_above(block.into());
    let depends = |e: &Expr| loops.iter().any(|&l| e.uses(&func.loops[l].var));
    let one_domain = !node.iters.iter().flat_map(dims).any(|e| depends(&e));
    let all = match access {
        BufferAccess::Write => always() && writes_wholly(func, block, region, scope.into()),
        BufferAccess::Read => stays_inside(region, node, facts) || always(),
    };
    if one_domain && all {
        return Ok(());
    }
    let (block, buffer) = names();
    Err(LayoutReason::NotAllUsed { block, buffer }.at(here))
}

/// Whether the block runs for all values of its iter variables.
pub(super) fn runs_for_all(
    func: &PrimFunc,
    block: BlockId,
    scope: BlockId,
    facts: &Analyzer,
) -> bool {
    let node = &func.blocks[block];
    let domains = relaxed_domains(func, block.into(), scope.into(), &Scope::Global);
    let domain = |var: &Var| {
        let found = domains.iter().find(|(own, _)| own == var);
        found.map(|(_, set)| set.clone())
    };
    let reached = |(iter, binding): (&IterVar, &Expr)| {
        eval_set(binding, &domain, facts).covers(&IntSet::from_range(&iter.dom), facts)
    };
    let implied = |cond: &Expr| follows_from_domains(node, cond, facts);
    has_affine_bindings(func, block)
        && node.predicate.conjuncts().iter().all(implied)
        && node.iters.iter().zip(&node.bindings).all(reached)
}

/// The indices of the element, without iter variables of one value that others stand beside.
fn indices_of(node: &Block, region: &BufferRegion) -> Vec<Expr> {
    let mut facts = Analyzer::new();
    for iter in &node.iters {
        facts.bind(&iter.var, &iter.dom);
    }
    let simple = |range: &Range| {
        let simple = facts.simplify(&range.min);
        match simple.as_int() {
            Some(_) => range.min.clone(),
            None => simple,
        }
    };
    region.region.iter().map(simple).collect()
}
