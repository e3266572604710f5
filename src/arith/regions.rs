//! What a block reads and writes, found by looking at its statements (TVM: `GetBlockAccessRegion`).
//!
//! Each access gives a set of indices in terms of the block's iter variables: loops inside of the block are relaxed to all their
//! values, `let` variables stand for their values, views for what they view, blocks inside for the regions that they declare.
//! One region per buffer: the least rectangle that holds all its accesses. A dimension without known limits counts whole. The
//! parser and the primitives both find regions here, so that a block that is parsed and the same block that is made agree.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Access, AttrValue, BlockId, Buffer, BufferRegion, Expr, ExprKind, MatchBuffer, PrimFunc, Range,
    Stmt, Var,
};

/// Nodes of a value that a `let` names, with all that it stands for, up to which regions are found in terms of it.
const LET_NODES: usize = 1000;

/// The regions that the init and body of a block read and write, in terms of its iter variables, in order of first use. Buffers
/// that the block allocates are left out, and so are reads of what a block with an init writes.
pub fn access_regions(func: &PrimFunc, block: BlockId) -> Access {
    let node = &func.blocks[block];
    let mut collector = Collector {
        func,
        views: &node.match_buffers,
        analyzer: Analyzer::new(),
        domains: HashMap::new(),
        lets: HashMap::new(),
        reads: IndexMap::new(),
        writes: IndexMap::new(),
    };
    // One of a single value would be replaced by it, and regions are in terms of iter variables.
    for iter in node.iters.iter().filter(|iter| !iter.dom.extent.is_one()) {
        collector.analyzer.bind(&iter.var, &iter.dom);
    }
    collector.stmts(node.init.as_deref().unwrap_or_default());
    collector.stmts(func.tree.body(block));
    let analyzer = collector.analyzer;
    let region = |(buffer, dims): (Buffer, Vec<Dim>)| {
        let dims = dims.into_iter().zip(buffer.shape());
        let region = dims
            .map(|(dim, extent)| dim.range(extent, &analyzer))
            .collect();
        BufferRegion { buffer, region }
    };
    let regions = |hulls: IndexMap<Buffer, Vec<Dim>>| -> Vec<BufferRegion> {
        let seen = hulls.into_iter();
        let outside = seen.filter(|(buffer, _)| !node.alloc_buffers.contains(buffer));
        outside.map(region).collect()
    };
    let writes = regions(collector.writes);
    let mut reads = regions(collector.reads);
    if node.init.is_some() {
        reads.retain(|read| writes.iter().all(|write| write.buffer != read.buffer));
    }
    Access { reads, writes }
}

/// One dimension of all accesses of a buffer so far.
#[derive(Clone)]
struct Dim {
    set: IntSet,
    /// The range as the program says it, if it is the whole set and nothing in it was relaxed.
    written: Option<Range>,
}

impl Dim {
    fn union(&self, other: &Self, analyzer: &Analyzer) -> Self {
        let set = self.set.union(&other.set, analyzer);
        if let Some(whole) = [self, other].into_iter().find(|dim| dim.set == set) {
            return whole.clone();
        }
        // The lesser of two elements of a buffer is no limit that others can use.
        let plain = |end: Option<Expr>| end.filter(|e| !e.is_data());
        Self {
            set: IntSet {
                min: plain(set.min),
                max: plain(set.max),
            },
            written: None,
        }
    }

    fn range(self, extent: &Expr, analyzer: &Analyzer) -> Range {
        let found = self.written.or_else(|| self.set.to_range(analyzer));
        found.unwrap_or_else(|| Range::to(extent.clone()))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
}

struct Collector<'a> {
    func: &'a PrimFunc,
    views: &'a [MatchBuffer],
    analyzer: Analyzer,
    /// Values of the variables defined inside of the block, but for those in `lets`.
    domains: HashMap<Var, IntSet>,
    /// Values that variables stand for, with the number of their nodes.
    lets: HashMap<Var, (Expr, usize)>,
    reads: IndexMap<Buffer, Vec<Dim>>,
    writes: IndexMap<Buffer, Vec<Dim>>,
}

impl Collector<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Loop(id) => {
                let l = &self.func.loops[*id];
                self.expr(&l.min);
                self.expr(&l.extent);
                let (min, extent) = (self.resolved(&l.min), self.resolved(&l.extent));
                let range = Range { min, extent };
                self.analyzer.bind(&l.var, &range);
                self.domains
                    .insert(l.var.clone(), IntSet::from_range(&range));
                self.stmts(self.func.tree.body(*id));
            }
            Stmt::Block(id) => self.block(*id),
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                self.expr(value);
                indices.iter().for_each(|e| self.expr(e));
                self.access(&element_region(buffer, indices), Kind::Write);
            }
            Stmt::Let { var, value, body } => {
                self.define(var, value);
                self.stmts(body);
            }
            Stmt::View {
                buffer,
                memory,
                body,
            } => self.view(buffer, memory, body),
            // The operation does not say which of its operands it changes.
            Stmt::Tile(op) => {
                stmt.exprs().into_iter().for_each(|e| self.expr(e));
                for region in op.operands().flat_map(AttrValue::regions) {
                    self.access(&region, Kind::Read);
                    self.access(&region, Kind::Write);
                }
            }
            Stmt::If {
                cond: _,
                then: _,
                otherwise: _,
            }
            | Stmt::While { cond: _, body: _ }
            | Stmt::Assert {
                cond: _,
                message: _,
            }
            | Stmt::Evaluate(_)
            | Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body: _,
            }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return(_) => {
                stmt.exprs().into_iter().for_each(|e| self.expr(e));
                stmt.nested().into_iter().for_each(|body| self.stmts(body));
            }
        }
    }

    /// What is accessed through a view is somewhere in the buffer whose memory it shares.
    fn view(&mut self, buffer: &Buffer, memory: &Expr, body: &[Stmt]) {
        self.stmts(body);
        let read = self.reads.shift_remove(buffer).is_some();
        let written = self.writes.shift_remove(buffer).is_some();
        let ExprKind::Data(source) = memory.kind() else {
            return;
        };
        for (_, kind) in [(read, Kind::Read), (written, Kind::Write)]
            .into_iter()
            .filter(|(accessed, _)| *accessed)
        {
            self.access(&BufferRegion::full(source), kind);
        }
    }

    /// The regions that a block inside declares, for all its instances.
    fn block(&mut self, id: BlockId) {
        let node = &self.func.blocks[id];
        node.bindings.iter().for_each(|e| self.expr(e));
        self.expr(&node.predicate);
        let bind = |var: &Var| node.binding_of(var).cloned();
        for (regions, kind) in [(&node.reads, Kind::Read), (&node.writes, Kind::Write)] {
            for region in regions {
                self.access(&region.substitute(&bind), kind);
            }
        }
    }

    /// Takes note of the loads in an expression, outer before inner.
    fn expr(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Let { var, value, body } => {
                self.define(var, value);
                return self.expr(body);
            }
            ExprKind::Load(buffer, indices) => {
                self.access(&element_region(buffer, indices), Kind::Read);
            }
            _ => {}
        }
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    /// Takes note of a `let`. Values that stand for values may grow without limit: one that is too large counts as unknown.
    fn define(&mut self, var: &Var, value: &Expr) {
        self.expr(value);
        let mut nodes = 0usize;
        value.walk(&mut |e| {
            let own = e.as_var().and_then(|var| self.lets.get(var));
            nodes = nodes.saturating_add(own.map_or(1, |(_, nodes)| *nodes));
            true
        });
        if nodes > LET_NODES {
            self.domains.insert(var.clone(), IntSet::EVERYTHING);
        } else {
            let value = self.resolved(value);
            self.lets.insert(var.clone(), (value, nodes));
        }
    }

    /// The expression with `let` variables replaced by what they stand for.
    fn resolved(&self, e: &Expr) -> Expr {
        if self.lets.is_empty() {
            return e.clone();
        }
        e.substitute(&|var| self.lets.get(var).map(|(value, _)| value.clone()))
    }

    fn is_relaxed(&self, e: &Expr) -> bool {
        !self.domains.is_empty() && e.free_vars().iter().any(|v| self.domains.contains_key(v))
    }

    /// The values of an index over the loops inside of the block.
    fn values(&self, index: &Expr) -> IntSet {
        eval_set(index, &|var| self.domains.get(var).cloned(), &self.analyzer)
    }

    /// Adds a region to the hull of its buffer. A view counts as all that it views.
    fn access(&mut self, region: &BufferRegion, kind: Kind) {
        let mut region = region;
        while let Some(view) = self.views.iter().find(|v| v.buffer == region.buffer) {
            region = &view.source;
        }
        let dims: Vec<Dim> = region.region.iter().map(|range| self.dim(range)).collect();
        let hulls = match kind {
            Kind::Read => &mut self.reads,
            Kind::Write => &mut self.writes,
        };
        match hulls.get_mut(&region.buffer) {
            None => {
                hulls.insert(region.buffer.clone(), dims);
            }
            Some(hull) => {
                for (dim, new) in hull.iter_mut().zip(&dims) {
                    *dim = dim.union(new, &self.analyzer);
                }
            }
        }
    }

    fn dim(&self, range: &Range) -> Dim {
        let (min, extent) = (self.resolved(&range.min), self.resolved(&range.extent));
        let first = self.values(&min);
        let set = if extent.is_one() {
            first
        } else {
            let last = self.values(&(&min + &extent - 1));
            IntSet {
                min: first.min,
                max: last.max,
            }
        };
        let relaxed = self.is_relaxed(&min) || self.is_relaxed(&extent);
        Dim {
            set,
            written: (!relaxed).then_some(Range { min, extent }),
        }
    }
}

/// The elements at these indices: a vector index covers as many as it has lanes.
fn element_region(buffer: &Buffer, indices: &[Expr]) -> BufferRegion {
    let range = |(index, dim): (&Expr, &Expr)| match index.kind() {
        ExprKind::Ramp {
            base,
            stride,
            lanes,
        } if let Some(step) = stride.as_int().filter(|&s| s > 0) => {
            let length = step.saturating_mul(i64::from(*lanes) - 1).saturating_add(1);
            Range {
                min: base.clone(),
                extent: Expr::constant(length, base.dtype()),
            }
        }
        _ if index.dtype().is_vector() => Range::to(dim.clone()),
        _ => Range::point(index.clone()),
    };
    BufferRegion {
        buffer: buffer.clone(),
        region: indices.iter().zip(buffer.shape()).map(range).collect(),
    }
}
