//! The passes over nests: the statements of a function's root without their blocks.

use super::compact::Private;
use super::facts::Facts;
use super::host::Dims;
use super::lowering::Lowering;
use super::nest::{Nest, Unblock};
use super::partition::Tails;
use super::passes::Next;
use super::storage::{Memory, MemoryPlan};
use super::trim::Trim;
use super::write_out::{Copies, WriteOut, stored};
use super::{LowerError, LowerProblem, compact, cost, cross_thread, signature, thread_loops};
use crate::arith::{Analyzer, IntBound};
use crate::ir::{AttrValue, Expr, Place, PrimFunc, Stmt, attrs};
use crate::kernel::{HostExpr, PROVED_DIMS, PROVED_SCALARS};

/// A nest with what is known of its variables, and the statement it came from.
pub(super) struct RootNest {
    pub(super) nest: Nest,
    analyzer: Analyzer,
    pub(super) flops: HostExpr,
    /// The arrays of threads and workgroups, once they are compact.
    pub(super) arrays: Vec<Private>,
    /// What its unrolled loops were written out to.
    pub(super) copies: Copies,
    pub(super) places: Vec<Place>,
    pub(super) blocks: Vec<String>,
}

/// The bounds of the sizes of a call, which are checked before a launch.
pub(super) fn known_dims(dims: &Dims) -> Analyzer {
    let mut analyzer = Analyzer::new();
    for var in dims.vars() {
        let known = if dims.is_extent(var) {
            PROVED_DIMS
        } else {
            PROVED_SCALARS
        };
        let (least, most) = var
            .dtype()
            .scalar
            .int_range()
            .unwrap_or((i64::MIN, i64::MAX));
        let bound = IntBound::new(least.max(*known.start()), most.min(*known.end()));
        analyzer.bind_bound(var, bound);
    }
    for extent in dims.extents() {
        analyzer.bind_extent(extent);
    }
    analyzer
}

/// Chooses the memory of each buffer.
pub(super) fn place_buffers(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.memory_plan = MemoryPlan::new(&l.func, l.gpu().is_some(), &l.kept)?;
    l.temps = signature::temps(&l.dims, &l.memory_plan)?;
    l.nests.clear();
    Ok(Next::Pass)
}

/// Takes the blocks out of the statements of the root.
pub(super) fn unblock(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let func = &*l.func;
    // What stands behind a `return` of the function never runs.
    let is_return = |stmt: &&Stmt| matches!(stmt, Stmt::Return(None));
    let body = func.tree.body(func.root).iter();
    for stmt in body.take_while(|stmt| !is_return(stmt)) {
        let unblock = Unblock::new(func, &l.memory_plan, l.gpu(), known_dims(&l.dims));
        let places = stmt.places();
        let (nest, analyzer) = unblock.run(stmt).map_err(|error| error.or_at(&places))?;
        l.nests.push(RootNest {
            nest,
            analyzer,
            flops: cost::flops(func, stmt, &l.dims),
            arrays: vec![],
            copies: Copies::default(),
            places,
            blocks: block_names(func, stmt),
        });
    }
    Ok(Next::Pass)
}

fn block_names(func: &PrimFunc, stmt: &Stmt) -> Vec<String> {
    stmt.places()
        .into_iter()
        .flat_map(|p| func.blocks_under(p))
        .map(|b| func.blocks[b].name.clone())
        .collect()
}

impl Lowering<'_> {
    fn each_nest(
        &mut self,
        run: impl Fn(&mut RootNest, &MemoryPlan, &PrimFunc) -> Result<(), LowerError>,
    ) -> Result<Next, LowerError> {
        for root in &mut self.nests {
            let done = run(root, &self.memory_plan, &self.func);
            done.map_err(|error| error.or_at(&root.places))?;
        }
        Ok(Next::Pass)
    }
}

/// Puts barriers where iterations of a loop over threads may read what others wrote.
pub(super) fn imply_barriers(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_nest(|root, memory_plan, _| {
        let shared = compact::shared_between_threads(&root.nest, memory_plan, &root.analyzer);
        let body = std::mem::take(&mut root.nest.body);
        root.nest.body = thread_loops::imply_barriers(body, &shared);
        Ok(())
    })
}

/// Shrinks arrays of threads and workgroups to what is touched. One that cannot shrink goes to device memory.
pub(super) fn compact(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let on_gpu = l.gpu().is_some();
    for root in &mut l.nests {
        let located = |error: LowerError| error.or_at(&root.places);
        let compacted = compact::compact(&mut root.nest, &l.memory_plan, &root.analyzer);
        match compacted.map_err(located)? {
            Ok(arrays) => root.arrays = arrays,
            Err(buffer) => {
                let shared = l.memory_plan.of(&buffer) == Memory::Shared;
                if on_gpu && shared && !root.nest.axes.is_empty() {
                    let buffer = buffer.name().to_owned();
                    return Err(located(LowerProblem::CrossThread { buffer }.into()));
                }
                l.kept.insert(buffer);
                return Ok(Next::PlaceBuffers);
            }
        }
    }
    Ok(Next::Pass)
}

/// Splits loops over threads wherever the threads meet.
pub(super) fn split_thread_loops(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_nest(|root, _, _| {
        let body = std::mem::take(&mut root.nest.body);
        root.nest.body = thread_loops::split(body, &mut root.arrays)?;
        Ok(())
    })
}

/// Ends loops after the last iteration that does something.
pub(super) fn trim_loops(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    for root in &mut l.nests {
        let mut trim = Trim {
            analyzer: &root.analyzer,
            dims: &l.dims,
            written_out: &root.nest.written_out,
            loops: vec![],
        };
        root.nest.body = trim.nodes(std::mem::take(&mut root.nest.body));
    }
    Ok(Next::Pass)
}

/// A nest without threads is a slip, unless it is marked to run in one.
pub(super) fn check_bound(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_nest(|root, _, func| is_bound(func, root))
}

fn is_bound(func: &PrimFunc, root: &RootNest) -> Result<(), LowerError> {
    let mut over = None;
    for &place in &root.places {
        let annotations = match place {
            Place::Loop(id) => &func.loops[id].annotations,
            Place::Block(id) => &func.blocks[id].annotations,
        };
        if annotations.get(attrs::ONE_THREAD) == Some(&AttrValue::Bool(true)) {
            continue;
        }
        func.tree.walk(place, &mut |p| {
            if let Place::Loop(id) = p
                && over.is_none()
                && !func.loops[id].extent.is_one()
            {
                over = Some(id);
            }
        });
    }
    if let (true, Some(id)) = (root.nest.axes.is_empty(), over) {
        let nest = match root.blocks.first() {
            Some(block) => format!("of block `{block}`"),
            None => format!("over `{}`", func.loops[id].var.name()),
        };
        return Err(LowerProblem::NotBound { nest }.into());
    }
    Ok(())
}

/// Splits loops where their conditions end, and writes out those that are unrolled.
pub(super) fn write_out(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    let tails = Tails::of(l.gpu().is_some());
    for root in &mut l.nests {
        let mut facts = Facts::new(known_dims(&l.dims));
        for axis in root.nest.axes.values() {
            let zero = Expr::int(0, axis.var.dtype());
            facts.bind(&axis.var, &zero, &axis.extent);
        }
        let stored = stored(&root.nest.body);
        let copies = &mut root.copies;
        let mut write_out = WriteOut::new(&mut facts, &l.dims, tails, &stored, copies);
        let body = std::mem::take(&mut root.nest.body);
        let written = write_out.nodes(body);
        write_out.annotate_parts(&mut root.nest.annotated);
        root.nest.body = written.map_err(|error| error.or_at(&root.places))?;
    }
    Ok(Next::Pass)
}

/// Refuses threads that would meet in device memory.
pub(super) fn check_cross_thread(l: &mut Lowering<'_>) -> Result<Next, LowerError> {
    l.each_nest(|root, memory_plan, _| cross_thread::check(&root.nest, memory_plan, &root.analyzer))
}
