//! What `cache_read` and `cache_write` share: where the copy stands, which region it copies, and the block that copies.

use super::analysis::{
    BlockScope, check_stage_pipeline, facts_at, facts_inside, region_bound, writes_wholly,
};
use super::body::{nest, position_of};
use super::{Reason, Refusal};
use crate::arith::{Analyzer, IntSet};
use crate::ir::{
    Attrs, Block, BlockId, Buffer, BufferHints, BufferNode, BufferRegion, Expr, IterKind, IterVar,
    Loop, LoopKind, Place, PrimFunc, Range, Scope, Stmt, Var,
};
use crate::tensor::DType;

/// Where a copy stands: before the statement at `position` of `place`.
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub(super) place: Place,
    pub(super) position: usize,
}

/// Whether the cache is as large as the buffer or as the copied region.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheSize {
    /// The buffer's indices are the cache's.
    Full,
    /// The cache starts where the region does.
    Compact,
}

/// A copy between a buffer and its cache.
pub(super) struct StagedCopy {
    pub(super) cache: Buffer,
    /// What is copied.
    pub(super) region: BufferRegion,
    /// End of each dimension that the region may pass: instances from there on do not run.
    pub(super) ends: Vec<Option<Expr>>,
    pub(super) size: CacheSize,
    pub(super) location: Location,
}

/// The storage scopes that TVM knows, by the start of their names.
const SCOPES: [&str; 13] = [
    "global",
    "shared",
    "warp",
    "local",
    "wmma.matrix_a",
    "wmma.matrix_b",
    "wmma.accumulator",
    "texture",
    "amx.tmm",
    "m16n8k8.matrixA",
    "m16n8k8.matrixB",
    "m16n8k8.matrixC",
    "metal.simdgroup",
];

/// The storage scope with this name.
///
/// # Errors
/// TVM: `InvalidStorageScopeError`.
pub(super) fn storage_scope(name: &str) -> Result<Scope, Refusal> {
    if SCOPES.iter().any(|known| name.starts_with(known)) {
        return Ok(Scope::parse(name));
    }
    let scope = name.to_owned();
    Err(Reason::InvalidStorageScope { scope }.at([]))
}

/// The region of a block whose buffer is to be cached, and the scope of the block, which must be a stage pipeline.
pub(super) fn cached_region<'r>(
    func: &PrimFunc,
    block: BlockId,
    regions: &'r [BufferRegion],
    index: usize,
) -> Result<(&'r BufferRegion, BlockId), Refusal> {
    let Some(region) = regions.get(index) else {
        let reason = Reason::BufferIndexOutOfRange {
            block: func.blocks[block].name.clone(),
            index,
            count: regions.len(),
        };
        return Err(reason.at([block.into()]));
    };
    let Some(scope) = func.scope_block(block.into()) else {
        return Err(Reason::RootBlock.at([block.into()]));
    };
    check_stage_pipeline(func, scope)?;
    Ok((region, scope))
}

/// The only child block of the scope that writes the buffer, if any does.
///
/// # Errors
/// TVM: `NotSingleWriteBlock`.
pub(super) fn only_writer(graph: &BlockScope, buffer: &Buffer) -> Result<Option<BlockId>, Refusal> {
    match graph.writers(buffer) {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        several => {
            let reason = Reason::NotSingleWriter {
                buffer: buffer.name().to_owned(),
                count: several.len(),
            };
            Err(reason.at(several.iter().map(|&id| Place::Block(id))))
        }
    }
}

/// After the writer and before the first of the readers, as low as both allow; without readers, at the end of the scope.
pub(super) fn location_after(
    func: &PrimFunc,
    writer: BlockId,
    readers: &[BlockId],
    scope: BlockId,
) -> Location {
    let mut at = func.tree.parent(writer);
    while let Some(place) = at {
        let below = readers.iter().filter(|&&r| func.tree.is_ancestor(place, r));
        let first = below
            .filter_map(|&r| position_of(func, place, r.into()))
            .min();
        if let Some(position) = first {
            return Location { place, position };
        }
        if place == Place::Block(scope) {
            break;
        }
        at = func.tree.parent(place);
    }
    Location {
        place: scope.into(),
        position: func.tree.body(scope).len(),
    }
}

/// Refuses to copy what a block writes, if it may leave something out.
pub(super) fn check_written_wholly(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    place: Place,
) -> Result<(), Refusal> {
    if writes_wholly(func, block, region, place) {
        return Ok(());
    }
    let reason = Reason::NotWrittenWholly {
        block: func.blocks[block].name.clone(),
        buffer: region.buffer.name().to_owned(),
    };
    Err(reason.at([block.into()]))
}

/// The region of its buffer that a block touches while the place of the location runs once, as ranges; and the ends that these
/// may pass.
pub(super) fn touched(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    place: Place,
) -> (BufferRegion, Vec<Option<Expr>>) {
    let facts = match place {
        Place::Loop(_) => facts_at(func, place),
        Place::Block(id) => facts_inside(func, id),
    };
    let mut ends = Vec::new();
    let mut ranges = Vec::new();
    let bounds = region_bound(func, block, region, place, &facts);
    for (bound, extent) in bounds.iter().zip(region.buffer.shape()) {
        let whole = Range::to(extent.clone());
        let Some(range) = bound.to_range(&facts) else {
            ranges.push(whole);
            ends.push(None);
            continue;
        };
        let end = &range.min + &range.extent;
        let inside =
            IntSet::from_range(&whole).covers(bound, &facts) || facts.can_prove(&end.le(extent));
        ends.push((!inside).then(|| extent.clone()));
        ranges.push(range);
    }
    let region = BufferRegion {
        buffer: region.buffer.clone(),
        region: ranges,
    };
    (region, ends)
}

/// Whether the cache may be as small as the region: the copy stands in a block, and every reader of the buffer in the scope is
/// below.
pub(super) fn cache_size(
    func: &PrimFunc,
    graph: &BlockScope,
    buffer: &Buffer,
    place: Place,
) -> CacheSize {
    let below = |&id: &BlockId| func.tree.is_ancestor(place, id);
    if matches!(place, Place::Block(_)) && graph.readers(buffer).iter().all(below) {
        CacheSize::Compact
    } else {
        CacheSize::Full
    }
}

/// A buffer like this one in another storage scope, named after both.
pub(super) fn cache_of(
    buffer: &Buffer,
    scope: Scope,
    region: &BufferRegion,
    size: CacheSize,
) -> Buffer {
    let shape = match size {
        CacheSize::Full => buffer.shape().to_vec(),
        CacheSize::Compact => region.region.iter().map(|r| r.extent.clone()).collect(),
    };
    with_shape(buffer, scope, shape)
}

/// The same with a shape of its own.
pub(super) fn with_shape(buffer: &Buffer, scope: Scope, shape: Vec<Expr>) -> Buffer {
    Buffer::from_node(BufferNode {
        name: format!("{}_{}", buffer.name(), scope.name()),
        dtype: buffer.dtype(),
        shape,
        strides: vec![],
        elem_offset: None,
        scope,
        layout: None,
        address: vec![],
        hints: BufferHints::default(),
        producer: None,
    })
}

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    IntoCache,
    OutOfCache,
}

impl StagedCopy {
    /// The index of the cache for an index of the buffer.
    pub(super) fn cache_index(&self, dim: usize, index: &Expr) -> Expr {
        let start = &self.region.region[dim].min;
        if self.size == CacheSize::Full || start.is_zero() {
            return index.clone();
        }
        Analyzer::new().simplify(&(index - start))
    }

    /// The region of the cache for a region of the buffer; other regions stay.
    pub(super) fn cache_region(&self, region: &BufferRegion) -> BufferRegion {
        if region.buffer != self.region.buffer {
            return region.clone();
        }
        let ranges = region.region.iter().enumerate().map(|(dim, range)| Range {
            min: self.cache_index(dim, &range.min),
            extent: range.extent.clone(),
        });
        BufferRegion {
            buffer: self.cache.clone(),
            region: ranges.collect(),
        }
    }

    /// Makes the loops and the block that copy, detached. Gives the block and the outermost statement.
    pub(super) fn build(&self, func: &mut PrimFunc, direction: Direction) -> (BlockId, Stmt) {
        let mut loops = Vec::new();
        let mut iters = Vec::new();
        let mut bindings = Vec::new();
        let mut in_buffer = Vec::new();
        let mut in_cache = Vec::new();
        let mut predicate = Expr::bool(true);
        let shape = self.region.buffer.shape();
        for (dim, (range, extent)) in self.region.region.iter().zip(shape).enumerate() {
            let dtype: DType = range.extent.dtype();
            let var = Var::new(format!("ax{dim}"), dtype);
            let iter = Var::new(format!("v{dim}"), dtype);
            let offset = |e: Expr| match range.min.is_zero() {
                true => e,
                false => &range.min + e,
            };
            let (dom, binding) = match self.size {
                CacheSize::Full => (extent.clone(), offset(var.expr())),
                CacheSize::Compact => (range.extent.clone(), var.expr()),
            };
            in_cache.push(iter.expr());
            in_buffer.push(match self.size {
                CacheSize::Full => iter.expr(),
                CacheSize::Compact => offset(iter.expr()),
            });
            if let Some(end) = &self.ends[dim] {
                predicate = predicate.and(offset(var.expr()).lt(end));
            }
            bindings.push(binding);
            iters.push(IterVar {
                var: iter,
                dom: Range::to(dom),
                kind: IterKind::Spatial,
            });
            loops.push(Loop {
                var,
                min: Expr::int(0, dtype),
                extent: range.extent.clone(),
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            });
        }
        let buffer = (&self.region.buffer, in_buffer);
        let cache = (&self.cache, in_cache);
        let ((from, from_at), (to, to_at)) = match direction {
            Direction::IntoCache => (buffer, cache),
            Direction::OutOfCache => (cache, buffer),
        };
        let block = func.blocks.push(Block {
            name: self.cache.name().to_owned(),
            iters,
            bindings,
            predicate,
            reads: vec![BufferRegion::point(from, &from_at)],
            writes: vec![BufferRegion::point(to, &to_at)],
            init: None,
            alloc_buffers: vec![],
            match_buffers: vec![],
            annotations: Attrs::new(),
        });
        let store = Stmt::Store {
            buffer: to.clone(),
            indices: to_at,
            value: Expr::load(from, from_at),
        };
        func.tree.set_body(block, vec![store]);
        let stmt = nest(func, loops, Stmt::Block(block));
        (block, stmt)
    }
}
