//! `BlockScope`: the dependencies between the child blocks of a scope, by the buffers that they declare to read and write.

use indexmap::IndexMap;

use crate::ir::{BlockId, Buffer, ExprKind, Place, PrimFunc, Stmt};

/// Why a later block must run after an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DependencyKind {
    /// It reads what the earlier one wrote (TVM: RAW).
    ReadAfterWrite,
    /// It writes what the earlier one wrote (TVM: WAW).
    WriteAfterWrite,
    /// It writes what the earlier one read (TVM: WAR).
    WriteAfterRead,
}

/// One edge: `dst` must run after `src`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dependency {
    /// The earlier block.
    pub src: BlockId,
    /// The later block.
    pub dst: BlockId,
    /// Why.
    pub kind: DependencyKind,
}

/// The child blocks of a block or loop and how they depend on each other.
#[derive(Clone, Debug)]
pub struct BlockScope {
    blocks: Vec<BlockId>,
    dependencies: Vec<Dependency>,
    readers: IndexMap<Buffer, Vec<BlockId>>,
    writers: IndexMap<Buffer, Vec<BlockId>>,
}

/// The blocks that declare what a block reads and writes: itself; or, if it is there for those below alone, as `loop_partition` makes
/// blocks, those below. It has no iter variables and declares no regions then.
pub fn accessing_blocks(func: &PrimFunc, block: BlockId) -> Vec<BlockId> {
    let node = &func.blocks[block];
    let declares = !node.iters.is_empty() || !node.reads.is_empty() || !node.writes.is_empty();
    let below = func.child_blocks(block.into());
    if declares || below.is_empty() {
        return vec![block];
    }
    let below = below.into_iter();
    below.flat_map(|id| accessing_blocks(func, id)).collect()
}

/// The buffers of integers that the body of a block loads and the block does not declare, as those of `cache_index`.
fn undeclared_indices(func: &PrimFunc, block: BlockId) -> Vec<Buffer> {
    fn collect(func: &PrimFunc, stmts: &[Stmt], out: &mut Vec<Buffer>) {
        for stmt in stmts {
            for e in stmt.exprs() {
                e.walk(&mut |e| {
                    if let ExprKind::Load(buffer, _) = e.kind()
                        && !buffer.dtype().is_float()
                        && !out.contains(buffer)
                    {
                        out.push(buffer.clone());
                    }
                    true
                });
            }
            if let Stmt::Loop(id) = stmt {
                collect(func, func.tree.body(*id), out);
            }
            let nested = stmt.nested().into_iter();
            nested.for_each(|body| collect(func, body, out));
        }
    }
    let node = &func.blocks[block];
    let mut out = Vec::new();
    collect(func, func.tree.body(block), &mut out);
    let declared = node.reads.iter().chain(&node.writes).map(|r| &r.buffer);
    let views = node.match_buffers.iter().map(|view| &view.buffer);
    let known: Vec<&Buffer> = declared.chain(&node.alloc_buffers).chain(views).collect();
    out.retain(|buffer| !known.contains(&buffer));
    out
}

impl BlockScope {
    /// The scope of a block, or of the subtree below a loop.
    pub fn of(func: &PrimFunc, scope: Place) -> Self {
        let mut out = Self {
            blocks: func.child_blocks(scope),
            dependencies: vec![],
            readers: IndexMap::new(),
            writers: IndexMap::new(),
        };
        for dst in out.blocks.clone() {
            let inner = accessing_blocks(func, dst);
            let blocks = || inner.iter().map(|&id| &func.blocks[id]);
            for read in blocks().flat_map(|block| &block.reads) {
                out.depend(&read.buffer, dst, DependencyKind::ReadAfterWrite);
            }
            for write in blocks().flat_map(|block| &block.writes) {
                out.depend(&write.buffer, dst, DependencyKind::WriteAfterWrite);
                out.depend(&write.buffer, dst, DependencyKind::WriteAfterRead);
            }
            let indices: Vec<Buffer> = (inner.iter())
                .flat_map(|&id| undeclared_indices(func, id))
                .collect();
            for buffer in &indices {
                out.depend(buffer, dst, DependencyKind::ReadAfterWrite);
            }
            let reads = blocks().flat_map(|block| &block.reads).map(|r| &r.buffer);
            let reads: Vec<&Buffer> = reads.chain(&indices).collect();
            let writes = blocks().flat_map(|block| &block.writes).map(|w| &w.buffer);
            let writes = writes.collect();
            for (buffers, table) in [(reads, &mut out.readers), (writes, &mut out.writers)] {
                for buffer in buffers {
                    let blocks: &mut Vec<_> = table.entry(buffer.clone()).or_default();
                    if blocks.last() != Some(&dst) {
                        blocks.push(dst);
                    }
                }
            }
        }
        out
    }

    /// Adds the edges to `dst` that its access of the buffer causes.
    fn depend(&mut self, buffer: &Buffer, dst: BlockId, kind: DependencyKind) {
        let before = match kind {
            DependencyKind::ReadAfterWrite | DependencyKind::WriteAfterWrite => &self.writers,
            DependencyKind::WriteAfterRead => &self.readers,
        };
        for &src in before.get(buffer).into_iter().flatten() {
            let edge = Dependency { src, dst, kind };
            if src != dst && !self.dependencies.contains(&edge) {
                self.dependencies.push(edge);
            }
        }
    }

    /// The child blocks in program order.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// All edges.
    pub fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// The child blocks that write the buffer, in program order.
    pub fn writers(&self, buffer: &Buffer) -> &[BlockId] {
        self.writers.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// The child blocks that read the buffer, in program order.
    pub fn readers(&self, buffer: &Buffer) -> &[BlockId] {
        self.readers.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// The blocks that read what this one wrote, in program order.
    pub fn readers_after(&self, block: BlockId) -> Vec<BlockId> {
        let edges = self.dependencies.iter();
        let mut out: Vec<BlockId> = edges
            .filter(|d| d.src == block && d.kind == DependencyKind::ReadAfterWrite)
            .map(|d| d.dst)
            .collect();
        out.dedup();
        out
    }

    /// The blocks that wrote what this one reads, in program order.
    pub fn written_before(&self, block: BlockId) -> Vec<BlockId> {
        let edges = self.dependencies.iter();
        edges
            .filter(|d| d.dst == block && d.kind == DependencyKind::ReadAfterWrite)
            .map(|d| d.src)
            .collect()
    }

    /// The blocks that read or overwrite what this one wrote, in program order.
    pub fn consumers(&self, block: BlockId) -> Vec<BlockId> {
        let found = |b: &&BlockId| self.flows(block, **b);
        self.blocks.iter().filter(found).copied().collect()
    }

    /// The blocks that wrote what this one reads or overwrites, in program order.
    pub fn producers(&self, block: BlockId) -> Vec<BlockId> {
        let found = |b: &&BlockId| self.flows(**b, block);
        self.blocks.iter().filter(found).copied().collect()
    }

    fn flows(&self, src: BlockId, dst: BlockId) -> bool {
        self.dependencies
            .iter()
            .any(|d| d.src == src && d.dst == dst && d.kind != DependencyKind::WriteAfterRead)
    }
}
