//! Where a buffer is written, and whether all its elements are, one by one in the order of their indices.

use crate::ir::{BlockId, Buffer, Expr, LoopId, LoopKind, Place, PrimFunc, Stmt, Var};

/// A store to the buffer.
pub(super) struct Write {
    /// The innermost block around it.
    pub(super) block: BlockId,
    pub(super) indices: Vec<Expr>,
    /// The loops from the first to the last that the indices depend on.
    pub(super) loops: Vec<LoopId>,
    /// The indices in terms of loops.
    resolved: Vec<Expr>,
}

impl Write {
    /// Whether the loops are one for each dimension, over all of it, in order.
    pub(super) fn is_row_major(&self, func: &PrimFunc, buffer: &Buffer) -> bool {
        let whole = |((&l, index), extent): ((&LoopId, &Expr), &Expr)| {
            let l = &func.loops[l];
            let plain = l.kind == LoopKind::Serial && l.min.is_zero();
            index.as_var() == Some(&l.var) && plain && l.extent == *extent
        };
        let pairs = self.loops.iter().zip(&self.resolved);
        !self.loops.is_empty()
            && self.loops.len() == buffer.ndim()
            && pairs.zip(buffer.shape()).all(whole)
    }
}

/// The stores to the buffer below a block, in program order.
pub(super) fn writes_of(func: &PrimFunc, site: BlockId, buffer: &Buffer) -> Vec<Write> {
    let mut collector = Collector {
        func,
        buffer,
        loops: vec![],
        values: vec![],
        blocks: vec![],
        found: vec![],
    };
    collector.block(site);
    collector.found
}

struct Collector<'a> {
    func: &'a PrimFunc,
    buffer: &'a Buffer,
    /// The loops around.
    loops: Vec<LoopId>,
    /// Iter variables in terms of them.
    values: Vec<(Var, Expr)>,
    blocks: Vec<BlockId>,
    found: Vec<Write>,
}

impl Collector<'_> {
    fn block(&mut self, id: BlockId) {
        let node = &self.func.blocks[id];
        for (iter, binding) in node.iters.iter().zip(&node.bindings) {
            let value = self.resolved(binding);
            self.values.push((iter.var.clone(), value));
        }
        self.blocks.push(id);
        self.stmts(node.init.as_deref().unwrap_or_default());
        self.stmts(self.func.tree.body(id));
        self.blocks.pop();
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Loop(id) => {
                    self.loops.push(*id);
                    self.stmts(self.func.tree.body(*id));
                    self.loops.pop();
                }
                Stmt::Block(id) => self.block(*id),
                Stmt::Store {
                    buffer,
                    indices,
                    value: _,
                } if buffer == self.buffer => self.store(indices),
                other => other
                    .nested()
                    .into_iter()
                    .for_each(|inner| self.stmts(inner)),
            }
        }
    }

    fn store(&mut self, indices: &[Expr]) {
        let Some(&block) = self.blocks.last() else {
            return;
        };
        let resolved: Vec<Expr> = indices.iter().map(|e| self.resolved(e)).collect();
        let depends = |&l: &LoopId| {
            let var = &self.func.loops[l].var;
            resolved.iter().any(|e| e.uses(var))
        };
        let first = self.loops.iter().position(depends);
        let last = self.loops.iter().rposition(depends);
        let loops = match first.zip(last) {
            Some((first, last)) => self.loops[first..=last].to_vec(),
            None => vec![],
        };
        self.found.push(Write {
            block,
            indices: indices.to_vec(),
            loops,
            resolved,
        });
    }

    fn resolved(&self, e: &Expr) -> Expr {
        e.substitute(&|var| {
            let found = self.values.iter().find(|(own, _)| own == var);
            found.map(|(_, value)| value.clone())
        })
    }
}

impl Write {
    /// The statement after which nothing of this write is left to do: the outermost of its loops, or its block.
    pub(super) fn statement(&self) -> Place {
        match self.loops.first() {
            Some(&l) => Place::Loop(l),
            None => Place::Block(self.block),
        }
    }
}
