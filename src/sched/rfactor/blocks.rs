//! The two blocks: one computes the partial sums, the other one adds them.

use super::Plan;
use super::update::{store_all, store_each};
use crate::ir::{
    Block, BlockId, Buffer, BufferNode, BufferRegion, Definitions, Expr, IterKind, IterVar, Loop,
    PrimFunc, Range, Rewrite, Stmt, Substitution, Var,
};
use crate::sched::body::nest;

impl Plan {
    /// The buffers of the partial sums.
    pub(super) fn partial_buffers(&self, func: &PrimFunc) -> Vec<Buffer> {
        let extent = &func.loops[self.target].extent;
        let partial = |target: &Buffer| {
            let target = target.node();
            let mut shape = target.shape.clone();
            let dtype = shape.first().map_or(extent.dtype(), Expr::dtype);
            shape.insert(self.axis, extent.cast(dtype));
            Buffer::from_node(BufferNode {
                name: format!("{}.rf", target.name),
                shape,
                strides: vec![],
                elem_offset: None,
                layout: None,
                address: vec![],
                producer: None,
                ..target.clone()
            })
        };
        self.update.targets.iter().map(partial).collect()
    }

    /// Makes the block of the partial sums, with loops of its own, detached. Gives the block and the outermost loop.
    pub(super) fn make_partial(&self, func: &mut PrimFunc, partial: &[Buffer]) -> (BlockId, Stmt) {
        let old = func.blocks[self.block].clone();
        let mut values = Substitution::new(Definitions::Kept);
        let (iters, factor) = self.partial_iters(func, &old, &mut values);
        let reduces = (iters.iters.iter()).any(|iter| iter.kind == IterKind::Reduce);
        let indices = self.update.indices.iter().map(|e| values.expr(e));
        let mut at: Vec<Expr> = indices.collect();
        at.insert(self.axis, factor.expr());
        let terms = self.update.values.iter().map(|e| values.expr(e));
        let terms: Vec<Expr> = terms.collect();
        let body = match reduces {
            true => self.update.stores(partial, &at, &terms),
            false => store_all(partial, &at, &terms),
        };
        let init = || store_each(partial, &at, &self.update.identities);
        let init = reduces.then(init);
        let reads = old.reads.iter().map(|r| in_terms_of(r, &mut values));
        let reads = reads.collect();
        let mut writes = Vec::new();
        for write in &old.writes {
            let targets = self.update.targets.iter();
            let Some(which) = targets.clone().position(|target| *target == write.buffer) else {
                continue;
            };
            let mut write = in_terms_of(write, &mut values);
            write.buffer = partial[which].clone();
            write.region.insert(self.axis, Range::point(factor.expr()));
            writes.push(write);
        }
        let block = func.blocks.push(Block {
            name: format!("{}_rf", old.name),
            iters: iters.iters,
            bindings: iters.bindings,
            reads,
            writes,
            init,
            ..old
        });
        func.tree.set_body(block, body);
        let loops = self.copy_loops(func, block);
        (block, nest(func, loops, Stmt::Block(block)))
    }

    /// The iter variables of the block of the partial sums, of which one is the loop's. An old one that depends on this loop becomes
    /// one for each of its loops, and gets its value in terms of these.
    fn partial_iters(
        &self,
        func: &PrimFunc,
        old: &Block,
        values: &mut Substitution<'_>,
    ) -> (Iters, Var) {
        let mut iters = Iters::default();
        let target = &func.loops[self.target];
        let factor = iters.of_loop(target, IterKind::Spatial);
        for (iter, binding) in old.iters.iter().zip(&old.bindings) {
            if iter.kind != IterKind::Reduce || !binding.uses(&target.var) {
                let var = iter.var.renamed(iter.var.name());
                values.set_var(&iter.var, var.expr());
                let (dom, kind) = (iter.dom.clone(), iter.kind);
                iters.iters.push(IterVar { var, dom, kind });
                iters.bindings.push(binding.clone());
                continue;
            }
            let mut of_loops = Substitution::new(Definitions::Kept);
            for var in binding.free_vars() {
                let found = self.loops.iter().find(|l| func.loops[**l].var == var);
                if let Some(&l) = found {
                    let new = iters.of_loop(&func.loops[l], IterKind::Reduce);
                    of_loops.set_var(&var, new.expr());
                }
            }
            values.set_var(&iter.var, of_loops.expr(binding));
        }
        (iters, factor)
    }

    /// Copies of the loops for the block, which is bound to them.
    fn copy_loops(&self, func: &mut PrimFunc, block: BlockId) -> Vec<Loop> {
        let mut renamed = Substitution::new(Definitions::Fresh);
        let mut copies = Vec::new();
        for &l in &self.loops {
            let l = &func.loops[l];
            copies.push(Loop {
                min: renamed.expr(&l.min),
                extent: renamed.expr(&l.extent),
                var: renamed.define(&l.var),
                ..l.clone()
            });
        }
        let node = &mut func.blocks[block];
        node.predicate = renamed.expr(&node.predicate);
        for binding in &mut node.bindings {
            *binding = renamed.expr(binding);
        }
        copies
    }

    /// Lets the block add the partial sums.
    pub(super) fn make_total(&self, func: &mut PrimFunc, partial: &[Buffer]) {
        let mut iters = Iters::default();
        let l = func.loops[self.target].clone();
        let factor = iters.of_loop(&l, IterKind::Reduce);
        let node = &mut func.blocks[self.block];
        for (iter, binding) in node.iters.drain(..).zip(node.bindings.drain(..)) {
            if iter.kind == IterKind::Spatial {
                iters.iters.push(iter);
                iters.bindings.push(binding);
            }
        }
        let indices = &self.update.indices;
        let mut at = indices.clone();
        at.insert(self.axis, factor.expr());
        node.iters = iters.iters;
        node.bindings = iters.bindings;
        node.predicate = self.spatial.clone();
        let (targets, here) = (&self.update.targets, |b| BufferRegion::point(b, &at));
        node.reads = partial.iter().map(here).collect();
        let written = |b| BufferRegion::point(b, indices);
        node.writes = targets.iter().map(written).collect();
        let terms = partial.iter().map(|b| Expr::load(b, at.clone()));
        let terms: Vec<Expr> = terms.collect();
        let body = self.update.stores(targets, indices, &terms);
        func.tree.set_body(self.block, body);
    }
}

/// A region in terms of other iter variables.
fn in_terms_of(region: &BufferRegion, values: &mut Substitution<'_>) -> BufferRegion {
    let range = |r: &Range| Range {
        min: values.expr(&r.min),
        extent: values.expr(&r.extent),
    };
    BufferRegion {
        buffer: region.buffer.clone(),
        region: region.region.iter().map(range).collect(),
    }
}

/// Iter variables, with one for each loop at most.
#[derive(Default)]
struct Iters {
    iters: Vec<IterVar>,
    bindings: Vec<Expr>,
    of_loops: Vec<(Var, Var)>,
}

impl Iters {
    /// The iter variable that is bound to the loop alone.
    fn of_loop(&mut self, l: &Loop, kind: IterKind) -> Var {
        if let Some((_, known)) = self.of_loops.iter().find(|(var, _)| *var == l.var) {
            return known.clone();
        }
        let var = l.var.renamed(format!("v{}", l.var.name()));
        self.of_loops.push((l.var.clone(), var.clone()));
        self.iters.push(IterVar {
            var: var.clone(),
            dom: Range {
                min: l.min.clone(),
                extent: l.extent.clone(),
            },
            kind,
        });
        self.bindings.push(l.var.expr());
        var
    }
}
