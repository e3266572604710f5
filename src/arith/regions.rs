//! What the body of a block reads and writes, found by looking at its statements.

use indexmap::IndexMap;

use super::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Access, BlockId, Buffer, BufferRegion, Expr, ExprKind, PrimFunc, Range, Stmt, Var,
};

/// The regions that the init and body of a block read and write, in terms of its iter variables: for each buffer the least
/// rectangle that holds all accesses. Buffers that the block allocates are left out, and so are reads of what it initialises.
/// Of blocks inside, the declared regions count.
pub fn access_regions(func: &PrimFunc, block: BlockId) -> Access {
    let mut collector = Collector {
        func,
        analyzer: Analyzer::new(),
        domains: vec![],
        lets: vec![],
        reads: IndexMap::new(),
        writes: IndexMap::new(),
    };
    let node = &func.blocks[block];
    for iter in &node.iters {
        collector.analyzer.bind(&iter.var, &iter.dom);
    }
    for stmt in node.init.iter().flatten() {
        collector.stmt(stmt);
    }
    for stmt in func.tree.body(block) {
        collector.stmt(stmt);
    }
    let local = |buffer: &Buffer| {
        node.alloc_buffers.contains(buffer)
            || node.match_buffers.iter().any(|m| m.buffer == *buffer)
    };
    let analyzer = collector.analyzer;
    let regions = |table: IndexMap<Buffer, Vec<IntSet>>| -> Vec<BufferRegion> {
        table
            .into_iter()
            .filter(|(buffer, _)| !local(buffer))
            .map(|(buffer, sets)| as_region(buffer, &sets, &analyzer))
            .collect()
    };
    let writes = regions(collector.writes);
    let mut reads = regions(collector.reads);
    if node.init.is_some() {
        reads.retain(|read| writes.iter().all(|write| write.buffer != read.buffer));
    }
    Access { reads, writes }
}

/// The rectangle as a region; a dimension without limits is read whole.
fn as_region(buffer: Buffer, sets: &[IntSet], analyzer: &Analyzer) -> BufferRegion {
    let region = sets
        .iter()
        .zip(buffer.shape())
        .map(|(set, extent)| match set.to_range(analyzer) {
            Some(range) => range,
            None => Range::to(extent.clone()),
        })
        .collect();
    BufferRegion { buffer, region }
}

struct Collector<'a> {
    func: &'a PrimFunc,
    analyzer: Analyzer,
    /// Loops between the block and the statement looked at.
    domains: Vec<(Var, IntSet)>,
    /// Variables bound by `let` around the statement looked at.
    lets: Vec<(Var, Expr)>,
    reads: IndexMap<Buffer, Vec<IntSet>>,
    writes: IndexMap<Buffer, Vec<IntSet>>,
}

impl Collector<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Loop(id) => {
                let l = &self.func.loops[*id];
                self.expr(&l.min);
                self.expr(&l.extent);
                let (min, extent) = (l.min.clone(), l.extent.clone());
                let range = Range { min, extent };
                self.analyzer.bind(&l.var, &range);
                self.domains
                    .push((l.var.clone(), IntSet::from_range(&range)));
                for stmt in self.func.tree.body(*id) {
                    self.stmt(stmt);
                }
                self.domains.pop();
            }
            Stmt::Block(id) => self.block(*id),
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                let indices: Vec<Expr> = indices.iter().map(|i| self.resolve(i)).collect();
                let sets = indices.iter().map(|i| self.relaxed(i)).collect();
                touch(&mut self.writes, buffer, sets, &self.analyzer);
                self.expr(value);
                indices.iter().for_each(|i| self.expr(i));
            }
            Stmt::Let { var, value, body } => {
                self.expr(value);
                let value = self.resolve(value);
                self.lets.push((var.clone(), value));
                body.iter().for_each(|stmt| self.stmt(stmt));
                self.lets.pop();
            }
            other => {
                other.exprs().into_iter().for_each(|e| self.expr(e));
                for inner in other.nested() {
                    inner.iter().for_each(|stmt| self.stmt(stmt));
                }
            }
        }
    }

    /// The regions that a block inside declares, for all its instances.
    fn block(&mut self, id: BlockId) {
        let node = &self.func.blocks[id];
        node.bindings.iter().for_each(|e| self.expr(e));
        self.expr(&node.predicate);
        let bind = |var: &Var| node.binding_of(var).cloned();
        for (regions, is_read) in [(&node.reads, true), (&node.writes, false)] {
            for region in regions {
                let sets = region.region.iter().map(|range| {
                    let last = &range.min + &range.extent - 1;
                    let ends = [&range.min, &last].map(|e| self.relaxed(&e.substitute(&bind)));
                    ends[0].union(&ends[1], &self.analyzer)
                });
                let sets = sets.collect();
                let table = if is_read {
                    &mut self.reads
                } else {
                    &mut self.writes
                };
                touch(table, &region.buffer, sets, &self.analyzer);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        // What indices load comes before what they index.
        for child in expr.children() {
            self.expr(child);
        }
        if let ExprKind::Load(buffer, indices) = expr.kind() {
            let indices = indices.iter().map(|i| self.relaxed(&self.resolve(i)));
            let sets = indices.collect();
            touch(&mut self.reads, buffer, sets, &self.analyzer);
        }
    }

    /// The expression with `let` variables replaced by what they stand for.
    fn resolve(&self, expr: &Expr) -> Expr {
        let value = |v: &Var| {
            let found = self.lets.iter().rev().find(|(var, _)| var == v);
            found.map(|(_, value)| value.clone())
        };
        expr.substitute(&value)
    }

    /// The values of an index over the loops inside the block.
    fn relaxed(&self, index: &Expr) -> IntSet {
        let domain = |v: &Var| {
            let found = self.domains.iter().rev().find(|(var, _)| var == v);
            found.map(|(_, set)| set.clone())
        };
        eval_set(index, &domain, &self.analyzer)
    }
}

fn touch(
    table: &mut IndexMap<Buffer, Vec<IntSet>>,
    buffer: &Buffer,
    sets: Vec<IntSet>,
    analyzer: &Analyzer,
) {
    match table.get_mut(buffer) {
        None => {
            table.insert(buffer.clone(), sets);
        }
        Some(before) => {
            for (set, new) in before.iter_mut().zip(&sets) {
                *set = set.union(new, analyzer);
            }
        }
    }
}
