//! Taking the blocks out of a loop program: block iters are replaced by their bindings, predicates are branches, loops bound
//! to the launch are gone: their variables became the one variable of each axis.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::jumps::State;
use super::lanes::{self, Vectors};
use super::node::{AxisSet, Barrier, Node, branch};
use super::part_tile::WrittenOut;
use super::returns::jump;
use super::storage::{Memory, MemoryPlan};
use super::view::View;
use super::widen::{is_index, widen, widen_inside};
use super::{LowerError, LowerProblem, empty_sum, nested_axis, speculate, thread_reduce};
use crate::arith::Analyzer;
use crate::ir::{
    AttrValue, BlockId, Buffer, Expr, ExprKind, External, IterKind, Jump, Loop, LoopId, LoopKind,
    Param, Place, PrimFunc, Range, Stmt, ThreadAxis, Tiled, Var, attrs,
};
use crate::kernel::GpuTarget;
use crate::tensor::DType;

/// An axis of the launch: the variable that stands for it, and its extent.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) var: Var,
    pub(super) extent: Expr,
}

/// The loops of one root-level statement, without blocks.
pub(super) struct Nest {
    pub(super) body: Vec<Node>,
    pub(super) axes: IndexMap<ThreadAxis, Axis>,
    /// Shared and local arrays that lowering itself adds.
    pub(super) added: Vec<(Buffer, Memory)>,
    pub(super) annotated: Annotated,
    /// The loops over elements of tiles that may run past the end, of code for the CPU.
    pub(super) written_out: Vec<WrittenOut>,
}

/// Loops of which the program says something, by their variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotated {
    /// Those that prefetch.
    pub(super) prefetching: HashSet<Var>,
    /// Those in which terms may be added in any order.
    pub(super) simd_reductions: HashSet<Var>,
}

impl Annotated {
    /// A loop became several, of which this is one: what the program says of the loop holds for it.
    pub(super) fn is_part(&mut self, whole: &Var, part: &Var) {
        for loops in [&mut self.prefetching, &mut self.simd_reductions] {
            if loops.contains(whole) {
                loops.insert(part.clone());
            }
        }
    }

    /// Those of another nest, too.
    pub(super) fn extend(&mut self, other: &Self) {
        self.prefetching.extend(other.prefetching.iter().cloned());
        let simd = other.simd_reductions.iter().cloned();
        self.simd_reductions.extend(simd);
    }
}

/// Takes the blocks out of root-level statements.
pub(super) struct Unblock<'a> {
    pub(super) func: &'a PrimFunc,
    pub(super) memory_plan: &'a MemoryPlan,
    /// The GPU whose launch loops bound to threads are; without one they run one after the other.
    pub(super) launch: Option<&'a GpuTarget>,
    /// Values of block iters and loops bound to the launch.
    pub(super) map: HashMap<Var, Expr>,
    pub(super) views: HashMap<Buffer, View>,
    pub(super) vectors: Vectors,
    /// The state of the loop around here, if it has jumps.
    state: Option<State>,
    pub(super) analyzer: Analyzer,
    pub(super) nest: Nest,
    pub(super) bound: AxisSet,
    /// The loops around here that are bound to the launch.
    axis_loops: Vec<(ThreadAxis, LoopId)>,
    /// The variables of vectorized loops around here, of code for the CPU.
    pub(super) vectorized: Vec<Var>,
    /// The variables of vectorized and unrolled loops around here, of code for the CPU, with their first values.
    pub(super) written_out: Vec<(Var, Expr)>,
    /// A loop with more than one iteration around here that is not bound.
    host_loop: Option<String>,
    /// The innermost loop or block around here.
    here: Option<Place>,
}

impl<'a> Unblock<'a> {
    pub(super) fn new(
        func: &'a PrimFunc,
        memory_plan: &'a MemoryPlan,
        launch: Option<&'a GpuTarget>,
        analyzer: Analyzer,
    ) -> Self {
        Self {
            func,
            memory_plan,
            launch,
            map: HashMap::new(),
            views: HashMap::new(),
            vectors: Vectors::new(),
            state: None,
            analyzer,
            nest: Nest {
                body: vec![],
                axes: IndexMap::new(),
                added: vec![],
                annotated: Annotated::default(),
                written_out: vec![],
            },
            bound: AxisSet::default(),
            axis_loops: vec![],
            vectorized: vec![],
            written_out: vec![],
            host_loop: None,
            here: None,
        }
    }

    /// The statement with all that is below it.
    pub(super) fn run(mut self, stmt: &Stmt) -> Result<(Nest, Analyzer), LowerError> {
        self.axes_below(stmt)?;
        let mut body = self.stmts(std::slice::from_ref(stmt))?;
        self.guard_shared_stores(&mut body);
        self.nest.body = body;
        Ok((self.nest, self.analyzer))
    }

    /// The axes that the loops of a statement are bound to: each part of the kernel runs for all of them.
    fn axes_below(&mut self, stmt: &Stmt) -> Result<(), LowerError> {
        let mut bound = Vec::new();
        for place in stmt.places().into_iter().filter(|_| self.launch.is_some()) {
            self.func.tree.walk(place, &mut |at| {
                if let Place::Loop(id) = at
                    && let LoopKind::ThreadBinding(axis) = self.func.loops[id].kind
                    && (axis.is_block() || axis.is_thread())
                {
                    bound.push((axis, id));
                }
            });
        }
        for (axis, id) in bound {
            let extent = self.index(&self.func.loops[id].extent);
            self.axis(axis, &extent)?;
        }
        Ok(())
    }

    /// The expression with block iters, launch variables and views replaced.
    pub(super) fn expr(&self, e: &Expr) -> Expr {
        let e = e.substitute(&|v| self.map.get(v).cloned());
        let e = e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) if self.views.contains_key(buffer) => {
                let (source, indices) = self.through_view(buffer, indices.clone());
                Expr::load(&source, indices)
            }
            _ => e.clone(),
        });
        self.analyzer.simplify(&widen_inside(&e))
    }

    /// An index, extent or other integer of the program, as `int64`.
    pub(super) fn index(&self, e: &Expr) -> Expr {
        self.analyzer.simplify(&widen(&self.expr(e)))
    }

    /// The buffer that owns the elements, and the indices there. A view may be one of a view.
    pub(super) fn through_view(
        &self,
        buffer: &Buffer,
        mut indices: Vec<Expr>,
    ) -> (Buffer, Vec<Expr>) {
        let mut owner = buffer;
        while let Some(view) = self.views.get(owner) {
            indices = view.indices(indices);
            owner = view.source();
        }
        (owner.clone(), indices)
    }

    /// The buffer whose memory a buffer is in.
    pub(super) fn owner(&self, buffer: &Buffer) -> Buffer {
        let mut owner = buffer;
        while let Some(view) = self.views.get(owner) {
            owner = view.source();
        }
        owner.clone()
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) -> Result<Vec<Node>, LowerError> {
        let mut out = Vec::new();
        for (at, stmt) in stmts.iter().enumerate() {
            self.stmt(stmt, &mut out)?;
            if let Some(state) = self.state.clone()
                && self.func.jump_out(std::slice::from_ref(stmt)).is_some()
            {
                let rest = self.stmts(&stmts[at + 1..])?;
                if !rest.is_empty() {
                    out.push(state.unless_jumped(rest));
                }
                break;
            }
        }
        Ok(out)
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Node>) -> Result<(), LowerError> {
        match stmt {
            Stmt::Loop(id) => out.extend(self.within(*id, |this| this.loop_(*id))?),
            Stmt::Block(id) => out.extend(self.within(*id, |this| this.block(*id))?),
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                let is_vector = |e: &Expr| e.dtype().is_vector();
                if is_vector(value) || indices.iter().any(is_vector) {
                    out.extend(lanes::store(self, buffer, indices, value)?);
                } else {
                    let value = lanes::scalar(value, &self.vectors)?;
                    out.push(self.store(buffer, indices, &value));
                }
            }
            Stmt::Let { var, value, body } if value.dtype().is_vector() => {
                let kept = lanes::keep(self, var.name(), value, out)?;
                self.vectors.insert(var.clone(), kept);
                out.extend(self.stmts(body)?);
            }
            Stmt::Let { var, value, body } => {
                let value = self.expr(&lanes::scalar(value, &self.vectors)?);
                let var = if value.is_data() && !is_index(&value) {
                    let data = Var::data(var.name(), var.dtype());
                    self.map.insert(var.clone(), data.expr());
                    data
                } else {
                    self.map.insert(var.clone(), var.expr());
                    var.clone()
                };
                let body = self.stmts(body)?;
                out.push(Node::Let { var, value, body });
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.expr(cond);
                match cond.as_bool() {
                    // The other side may not even be valid: it may index before the start of a buffer.
                    Some(taken) => out.extend(self.stmts(if taken { then } else { otherwise })?),
                    None => out.push(Node::If {
                        cond,
                        then: self.stmts(then)?,
                        otherwise: self.stmts(otherwise)?,
                    }),
                }
            }
            Stmt::While { cond, body } => {
                let (state, body) = self.iteration(body, |this, body| this.stmts(body))?;
                let cond = self.expr(cond);
                out.extend(state.iter().filter_map(State::before));
                let cond = state.iter().fold(cond, |cond, state| state.condition(cond));
                out.push(Node::While { cond, body });
            }
            // The host checks what it can (`asserts`); a kernel has nobody to tell.
            Stmt::Assert {
                cond: _,
                message: _,
            } => {}
            // Barriers of a GPU kernel are put in where they are needed.
            Stmt::Evaluate(e) if is_barrier(e) => {
                if self.launch.is_none() {
                    out.push(Node::Barrier(Barrier::Written(self.here)));
                }
            }
            Stmt::Evaluate(e) if self.launch.is_some() && e.as_fragment_call().is_some() => {
                out.extend(self.fragment(e)?);
            }
            // What a program evaluates for nothing computes nothing, unless a function of another compiler does.
            Stmt::Evaluate(e) => refuse_external(e)?,
            Stmt::Tile(op) => {
                let name = op.to_string();
                return Err(LowerProblem::Tiled(Tiled::Op { name }).into());
            }
            Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body,
            } => out.extend(self.stmts(body)?),
            Stmt::View {
                buffer,
                memory,
                body,
            } => {
                let view = View::of_memory(self, buffer, memory)?;
                self.views.insert(buffer.clone(), view);
                out.extend(self.stmts(body)?);
            }
            Stmt::Break => out.push(self.jump(Jump::Break, "break")?),
            Stmt::Continue => out.push(self.jump(Jump::Continue, "continue")?),
            // It stands at the end of the function alone, behind all nests.
            Stmt::Return(_) => {}
        }
        Ok(())
    }

    /// A store of one element.
    pub(super) fn store(&self, buffer: &Buffer, indices: &[Expr], value: &Expr) -> Node {
        let indices = indices.iter().map(|i| self.index(i)).collect();
        let (buffer, indices) = self.through_view(buffer, indices);
        Node::Store {
            buffer,
            indices,
            value: self.expr(value),
            shuffle: None,
            axes: self.bound,
        }
    }

    /// What `inside` makes of a loop or block.
    fn within(
        &mut self,
        place: impl Into<Place>,
        inside: impl FnOnce(&mut Self) -> Result<Vec<Node>, LowerError>,
    ) -> Result<Vec<Node>, LowerError> {
        let outer = self.here.replace(place.into());
        let nodes = inside(self);
        self.here = outer;
        nodes
    }

    fn jump(&self, jump: Jump, statement: &'static str) -> Result<Node, LowerError> {
        let state = self.state.as_ref();
        let outside = || LowerProblem::Jump {
            statement,
            var: None,
        };
        Ok(state.ok_or_else(outside)?.jump(jump))
    }

    /// The body of a loop whose own jumps end its iterations, and the state that they leave.
    fn iteration(
        &mut self,
        body: &[Stmt],
        inside: impl FnOnce(&mut Self, &[Stmt]) -> Result<Vec<Node>, LowerError>,
    ) -> Result<(Option<State>, Vec<Node>), LowerError> {
        let state = self.func.jump_out(body).map(State::new);
        let outer = std::mem::replace(&mut self.state, state.clone());
        let nodes = inside(self, body);
        self.state = outer;
        let mut nodes = nodes?;
        if let Some(state) = &state {
            self.nest
                .added
                .push((state.memory().clone(), Memory::Local));
            nodes = state.iteration(nodes);
        }
        Ok((state, nodes))
    }

    fn loop_(&mut self, id: LoopId) -> Result<Vec<Node>, LowerError> {
        if self.launch.is_some()
            && let Some(block) = thread_reduce::reduction_below(self.func, id)
        {
            return thread_reduce::lower(self, id, block);
        }
        let mut nodes = empty_sum::inits_of_empty(self, id)?;
        nodes.extend(self.with_loop(id, |this, body| this.stmts(body))?);
        Ok(nodes)
    }

    /// Enters a loop: binds its variable, and wraps what `inside` makes of its body.
    pub(super) fn with_loop(
        &mut self,
        id: LoopId,
        inside: impl FnOnce(&mut Self, &[Stmt]) -> Result<Vec<Node>, LowerError>,
    ) -> Result<Vec<Node>, LowerError> {
        let func = self.func;
        let l = &func.loops[id];
        let (min, extent) = (self.index(&l.min), self.index(&l.extent));
        let body = func.tree.body(id);
        let ends = func.jump_out(body) == Some(Jump::Break) && !extent.is_one();
        let kind = match l.kind {
            // Other loops of the launch run in order by now (`launch_breaks`).
            LoopKind::ThreadBinding(_) if ends => {
                return Err(jump(self.func, id, "break"));
            }
            // Only their order says which iterations come before the one that ends the loop.
            LoopKind::Parallel | LoopKind::Vectorized if ends => LoopKind::Serial,
            kind => kind,
        };
        if let LoopKind::ThreadBinding(axis) = kind
            && self.launch.is_some()
            && (axis.is_block() || axis.is_thread())
        {
            if axis.is_block()
                && let Some(var) = &self.host_loop
            {
                let problem = LowerProblem::LoopAroundLaunch { var: var.clone() };
                return Err(LowerError::from(problem).or_at(&[id.into()]));
            }
            self.check_nested_axis(id, axis)?;
            let value = self.axis(axis, &extent)? + min;
            self.map.insert(l.var.clone(), value.cast(l.var.dtype()));
            let before = self.bound;
            self.bound = before.with(axis);
            self.axis_loops.push((axis, id));
            let nodes = self.iteration(body, inside);
            self.axis_loops.pop();
            self.bound = before;
            return Ok(nodes?.1);
        }
        if extent.is_one() {
            self.map.insert(l.var.clone(), min.cast(l.var.dtype()));
            let (state, nodes) = self.iteration(body, inside)?;
            let before = state.iter().filter_map(State::before);
            return Ok(before.chain(nodes).collect());
        }
        let range = Range {
            min: min.clone(),
            extent: extent.clone(),
        };
        let var = Var::new(l.var.name(), DType::I64);
        self.map
            .insert(l.var.clone(), var.expr().cast(l.var.dtype()));
        if prefetches(l) {
            self.nest.annotated.prefetching.insert(var.clone());
        }
        if l.annotations.get(attrs::SIMD_REDUCTION) == Some(&AttrValue::Bool(true)) {
            self.nest.annotated.simd_reductions.insert(var.clone());
        }
        let outside = self.analyzer.clone();
        self.analyzer.bind_iteration(&var, &range);
        let before = self.host_loop.clone();
        self.host_loop
            .get_or_insert_with(|| l.var.name().to_owned());
        let (vectorized, written_out) = (self.vectorized.len(), self.written_out.len());
        if self.launch.is_none() {
            if kind == LoopKind::Vectorized {
                self.vectorized.push(var.clone());
            }
            if matches!(kind, LoopKind::Vectorized | LoopKind::Unrolled) {
                self.written_out.push((var.clone(), min.clone()));
            }
        }
        let nodes = self.iteration(body, inside);
        self.vectorized.truncate(vectorized);
        self.written_out.truncate(written_out);
        self.host_loop = before;
        self.analyzer = outside;
        let (state, body) = nodes?;
        let kind = match kind {
            // Virtual threads interleave; one after the other is one of their orders.
            LoopKind::ThreadBinding(axis) if !axis.is_block() && !axis.is_thread() => {
                LoopKind::Unrolled
            }
            kind => kind,
        };
        let before = state.iter().filter_map(State::before);
        let whole = Node::For {
            var,
            min,
            extent,
            kind,
            body,
        };
        Ok(before.chain([whole]).collect())
    }

    /// A loop inside others of the same axis, as far as both have iterations to tell apart.
    fn check_nested_axis(&self, id: LoopId, axis: ThreadAxis) -> Result<(), LowerError> {
        for (_, outer) in self.axis_loops.iter().filter(|(other, _)| *other == axis) {
            nested_axis::check(self.func, *outer, id, axis).map_err(|problem| {
                LowerError::from(problem).or_at(&[id.into(), (*outer).into()])
            })?;
        }
        Ok(())
    }

    /// The variable of an axis.
    fn axis(&mut self, axis: ThreadAxis, extent: &Expr) -> Result<Expr, LowerError> {
        if let Some(known) = self.nest.axes.get(&axis) {
            // In the loop it is known to have an iteration, which may make its extent a simpler one.
            let same = known.extent == *extent
                || known.extent.as_int().is_some() && known.extent.as_int() == extent.as_int()
                || self.analyzer.can_prove_equal(&known.extent, extent);
            if !same {
                return Err(LowerProblem::AxisExtent {
                    axis,
                    first: known.extent.clone(),
                    second: extent.clone(),
                }
                .into());
            }
            return Ok(known.var.expr());
        }
        let name = axis.name().replace('.', "_");
        let axis_var = Var::new(name, DType::I64);
        let expr = axis_var.expr();
        // A launch without workgroups does not take place, so every axis has an iteration.
        let range = Range::to(extent.clone());
        self.analyzer.bind_iteration(&axis_var, &range);
        let known = Axis {
            var: axis_var,
            extent: extent.clone(),
        };
        self.nest.axes.insert(axis, known);
        Ok(expr)
    }

    fn block(&mut self, id: BlockId) -> Result<Vec<Node>, LowerError> {
        let func = self.func;
        let block = &func.blocks[id];
        self.enter_block(id)?;
        let predicate = self.expr(&block.predicate);
        let mut nodes = Vec::new();
        if let Some(init) = &block.init {
            let first = self.first_reduce_iteration(id);
            let init = self.stmts(init)?;
            nodes.extend(branch(first, init));
        }
        nodes.extend(self.stmts(func.tree.body(id))?);
        let reduce_vars: Vec<Var> = block
            .iters
            .iter()
            .zip(&block.bindings)
            .filter(|(iter, _)| iter.kind != IterKind::Spatial)
            .flat_map(|(_, binding)| self.expr(binding).free_vars())
            .collect();
        if func.jump_out(func.tree.body(id)).is_some() {
            return Ok(branch(predicate, nodes));
        }
        let needed = speculate::run_past_the_end(self, id, &mut nodes, &predicate, &reduce_vars);
        Ok(branch(needed, nodes))
    }

    /// Gives a variable that only a view names its value.
    pub(super) fn name(&mut self, name: &Expr, value: &Expr) {
        let is_given = |var: &Var| {
            let given = self.func.params.iter().any(|param| match param {
                Param::Scalar(scalar) => scalar == var,
                Param::Buffer { handle: _, buffer } => buffer.shape().iter().any(|e| e.uses(var)),
            });
            given || self.map.contains_key(var)
        };
        if let Some(var) = name.as_var()
            && !is_given(var)
        {
            self.map.insert(var.clone(), value.cast(var.dtype()));
        }
    }

    /// Gives the iter variables of a block their values and its views their sources.
    pub(super) fn enter_block(&mut self, id: BlockId) -> Result<(), LowerError> {
        let block = &self.func.blocks[id];
        for (iter, binding) in block.iters.iter().zip(&block.bindings) {
            let value = self.expr(binding).cast(iter.var.dtype());
            self.map.insert(iter.var.clone(), value);
        }
        for view in &block.match_buffers {
            let placed = View::of_region(self, view).map_err(|error| error.or_at(&[id.into()]))?;
            self.views.insert(view.buffer.clone(), placed);
        }
        Ok(())
    }

    /// Whether all reduce iters of a block have their first value.
    fn first_reduce_iteration(&self, id: BlockId) -> Expr {
        let block = &self.func.blocks[id];
        let mut cond = Expr::bool(true);
        for (iter, binding) in block.iters.iter().zip(&block.bindings) {
            if iter.kind == IterKind::Reduce {
                let (value, first) = (self.index(binding), self.index(&iter.dom.min));
                cond = cond.and(self.analyzer.simplify(&value.equals(first)));
            }
        }
        cond
    }

    /// Stores to memory that several threads see, and that stand under no loop over some axis of the launch, are made by
    /// the first thread, or workgroup, of that axis alone.
    fn guard_shared_stores(&self, nodes: &mut Vec<Node>) {
        for node in nodes {
            node.nested_mut()
                .into_iter()
                .for_each(|inner| self.guard_shared_stores(inner));
            let Node::Store { buffer, axes, .. } = &*node else {
                continue;
            };
            let memory = self.memory_plan.of(buffer);
            let seen_along = |axis: &ThreadAxis| match memory {
                Memory::Local => false,
                Memory::Shared => axis.is_thread(),
                Memory::Device => true,
            };
            let free = self.nest.axes.iter().filter(|(axis, known)| {
                seen_along(axis) && !axes.has(**axis) && !known.extent.is_one()
            });
            let cond = free.fold(Expr::bool(true), |cond, (_, known)| {
                cond.and(known.var.expr().equals(Expr::int(0, known.var.dtype())))
            });
            if cond.as_bool() != Some(true) {
                let store = node.clone();
                *node = Node::If {
                    cond,
                    then: vec![store],
                    otherwise: vec![],
                };
            }
        }
    }
}

fn is_barrier(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::External(External::StorageSync, _))
}

/// Refuses a call of a function that only another compiler knows: it may write memory. Hints do not.
fn refuse_external(e: &Expr) -> Result<(), LowerError> {
    let mut problem = None;
    e.walk(&mut |e| {
        if let ExprKind::External(external, args) = e.kind()
            && !matches!(
                external,
                External::Prefetch | External::Undef | External::Assume
            )
        {
            problem.get_or_insert_with(|| LowerProblem::external(*external, args));
        }
        problem.is_none()
    });
    problem.map_or(Ok(()), |problem| Err(problem.into()))
}

/// Every buffer that is stored to in a place or below it.
pub(super) fn stored_below(func: &PrimFunc, place: Place) -> Vec<Buffer> {
    fn in_stmts(stmts: &[Stmt], out: &mut Vec<Buffer>) {
        for stmt in stmts {
            if let Stmt::Store { buffer, .. } = stmt {
                out.push(buffer.clone());
            }
            stmt.nested().into_iter().for_each(|s| in_stmts(s, out));
        }
    }
    let mut out = Vec::new();
    func.tree.walk(place, &mut |at| {
        in_stmts(func.tree.body(at), &mut out);
        if let Place::Block(id) = at {
            in_stmts(func.blocks[id].init.as_deref().unwrap_or(&[]), &mut out);
        }
    });
    out
}

/// Whether a part of a loop's body belongs to a later stage than the first, which then prefetches.
fn prefetches(l: &Loop) -> bool {
    let stages = l.annotations.get(attrs::PIPELINE_STAGE);
    let stages = stages.and_then(attrs::stages).unwrap_or_default();
    stages.iter().any(|stage| *stage > stages[0])
}
