//! Loop programs at run time.

use super::InterpError;
use super::eval::Env;
use super::memory::Memory;
use super::view::Layout;
use super::workgroup::{Meetings, is_barrier};
use crate::ir::{
    Block, BlockId, Buffer, FragmentExtents, InitNest, IterKind, LoopId, LoopKind, Param, Place,
    PrimFunc, Stmt, Var,
};
use crate::tensor::Tensor;
use crate::tensor::scalar::Scalar;

/// Runs a loop program on tensors, which it changes in place.
///
/// # Errors
/// If an argument does not fit its parameter, or the program does something that has no meaning.
pub fn run_prim_func(func: &PrimFunc, tensors: &mut [Tensor]) -> Result<(), InterpError> {
    run_prim_func_with(func, tensors, &[])
}

/// Runs a loop program that also takes scalars: `scalars` are its scalar parameters in order.
///
/// # Errors
/// As [`run_prim_func`].
pub fn run_prim_func_with(
    func: &PrimFunc,
    tensors: &mut [Tensor],
    scalars: &[Scalar],
) -> Result<(), InterpError> {
    call_prim_func(func, tensors, scalars).map(|_| ())
}

/// Runs a loop program on tensors and scalars, as [`run_prim_func_with`], and gives the scalar that it returns, if it does.
///
/// # Errors
/// As [`run_prim_func`].
pub fn call_prim_func(
    func: &PrimFunc,
    tensors: &mut [Tensor],
    scalars: &[Scalar],
) -> Result<Option<Scalar>, InterpError> {
    let got = tensors.len() + scalars.len();
    let buffers = func.buffer_params().count();
    if got != func.params.len() || buffers != tensors.len() {
        return Err(InterpError::ArgumentCount {
            func: func.name.clone(),
            expected: func.params.len(),
            got,
        });
    }
    if let Some(tiled) = func.first_tiled() {
        let what = tiled.to_string();
        return Err(InterpError::BeyondProgram { what });
    }
    let mut env = Env::default();
    env.fragment_extents = FragmentExtents::of_func(func);
    bind_scalars(func, scalars, &mut env);
    bind_tensors(func, tensors, &mut env)?;
    let meetings = Meetings::of(func);
    let flow = Run {
        func,
        meetings: &meetings,
        env: &mut env,
        some_returned: false,
    }
    .block(func.root)?;
    for (buffer, tensor) in func.buffer_params().zip(tensors) {
        env.buffers[buffer].write_back(tensor)?;
    }
    Ok(match flow {
        Flow::Return(value) => value,
        Flow::Next | Flow::Break | Flow::Continue => None,
    })
}

fn bind_scalars(func: &PrimFunc, scalars: &[Scalar], env: &mut Env) {
    let mut values = scalars.iter();
    for param in &func.params {
        if let Param::Scalar(var) = param
            && let Some(value) = values.next()
        {
            env.vars.insert(var.clone(), *value);
        }
    }
}

/// Gives every symbolic extent its value, then checks every extent.
fn bind_tensors(func: &PrimFunc, tensors: &[Tensor], env: &mut Env) -> Result<(), InterpError> {
    for (buffer, tensor) in func.buffer_params().zip(tensors) {
        check_rank_and_dtype(func, buffer, tensor)?;
        for (extent, &got) in buffer.shape().iter().zip(tensor.shape()) {
            if let Some(var) = extent.as_var() {
                env.vars
                    .entry(var.clone())
                    .or_insert(Scalar::Int(got as i64));
            }
        }
        env.buffers
            .insert(buffer.clone(), Memory::from_tensor(tensor));
    }
    for (buffer, tensor) in func.buffer_params().zip(tensors) {
        for (dim, (extent, &got)) in buffer.shape().iter().zip(tensor.shape()).enumerate() {
            let expected = env.int(extent)?;
            if expected != got as i64 {
                let (func, param) = (func.name.clone(), buffer.name().to_owned());
                return Err(InterpError::ArgumentShape {
                    func,
                    param,
                    dim,
                    expected: expected.to_string(),
                    got,
                });
            }
        }
    }
    bind_layouts(func, tensors, env)
}

/// Gives the variables that parameters name as strides and offset their values, then checks every stride and offset.
fn bind_layouts(func: &PrimFunc, tensors: &[Tensor], env: &mut Env) -> Result<(), InterpError> {
    let dense = |tensor: &Tensor| {
        let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
        Layout::dense(&shape)
    };
    for (buffer, tensor) in func.buffer_params().zip(tensors) {
        env.name_layout(buffer, &dense(tensor));
    }
    for (buffer, tensor) in func.buffer_params().zip(tensors) {
        env.check_layout(buffer, &dense(tensor))?;
    }
    Ok(())
}

fn check_rank_and_dtype(
    func: &PrimFunc,
    buffer: &Buffer,
    tensor: &Tensor,
) -> Result<(), InterpError> {
    let (name, param) = (func.name.clone(), buffer.name().to_owned());
    if buffer.dtype() != tensor.dtype() {
        let (expected, got) = (buffer.dtype(), tensor.dtype());
        return Err(InterpError::ArgumentDType {
            func: name,
            param,
            expected,
            got,
        });
    }
    let (expected, got) = (buffer.ndim(), tensor.shape().len());
    if expected != got {
        return Err(InterpError::ArgumentNdim {
            func: name,
            param,
            expected,
            got,
        });
    }
    Ok(())
}

/// Where a program goes on after a statement.
#[derive(Clone, Copy)]
pub(super) enum Flow {
    /// With the next one.
    Next,
    /// After the innermost loop.
    Break,
    /// With the next iteration of the innermost loop.
    Continue,
    /// After the function.
    Return(Option<Scalar>),
}

pub(super) struct Run<'a> {
    pub(super) func: &'a PrimFunc,
    pub(super) meetings: &'a Meetings,
    pub(super) env: &'a mut Env,
    /// Whether threads have returned from a loop over threads that is around no statement any more, but of whose launch this is.
    pub(super) some_returned: bool,
}

/// What a block has changed outside of itself while it runs.
pub(super) struct Entered {
    /// The values of its iter variables.
    values: Vec<i64>,
    /// The values that its iter variables had before.
    before: Vec<Option<Scalar>>,
    /// The variables that only its buffers name.
    named: Vec<Var>,
    /// Whether all reduce iter variables have their first values.
    pub(super) first: bool,
}

impl Run<'_> {
    fn body(&mut self, stmts: &[Stmt]) -> Result<Flow, InterpError> {
        for stmt in stmts {
            let flow = self.stmt(stmt)?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Result<Flow, InterpError> {
        match stmt {
            Stmt::Loop(id) => return self.loop_(*id),
            Stmt::Block(id) => return self.block(*id),
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                let values = self.env.lanes(value)?;
                let indices = self.env.indices(indices)?;
                let at = |lane: usize| values[if values.len() == 1 { 0 } else { lane }];
                let from = value.dtype().scalar;
                for (i, index) in indices.into_iter().enumerate() {
                    self.env.store(buffer, index, at(i), from)?;
                }
            }
            Stmt::Let { var, value, body } => {
                self.env.define(var, value)?;
                return self.body(body);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                return if self.env.truth(cond)? {
                    self.body(then)
                } else {
                    self.body(otherwise)
                };
            }
            Stmt::While { cond, body } => {
                while self.env.truth(cond)? {
                    match self.body(body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        flow @ Flow::Return(_) => return Ok(flow),
                    }
                }
            }
            Stmt::Assert { cond, message } => {
                if !self.env.truth(cond)? {
                    return Err(InterpError::Assertion {
                        message: message.clone(),
                    });
                }
            }
            // One thread waits for nobody.
            Stmt::Evaluate(e) if is_barrier(e) => {}
            Stmt::Evaluate(e) => match e.as_assumption() {
                Some(cond) if !self.env.truth(cond)? => {
                    let condition = format!("{cond:#}");
                    return Err(InterpError::Assumption { condition });
                }
                Some(_) => {}
                None => match e.as_fragment_call() {
                    Some(call) => self.env.fragment(call)?,
                    None => {
                        self.env.lanes(e)?;
                    }
                },
            },
            Stmt::Tile(op) => {
                let what = format!("`{op}`");
                return Err(InterpError::BeyondProgram { what });
            }
            Stmt::View {
                buffer,
                memory,
                body,
            } => {
                self.env.view_memory(buffer, memory)?;
                return self.body(body);
            }
            Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body,
            } => return self.body(body),
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Return(value) => {
                let value = value.as_ref().map(|value| self.env.scalar(value));
                return Ok(Flow::Return(value.transpose()?));
            }
        }
        Ok(Flow::Next)
    }

    fn loop_(&mut self, id: LoopId) -> Result<Flow, InterpError> {
        let kind = self.func.loops[id].kind;
        if !kind.is_of_launch() {
            return self.iterations_of(id);
        }
        // A loop at the root is a launch of its own.
        let before = self.some_returned && self.func.tree.parent(id) != Some(self.func.root.into());
        self.enter_threads(kind, before)?;
        let flow = self.iterations_of(id)?;
        // What happens in a workgroup is nothing to the next one.
        if !is_of_threads(kind) {
            self.some_returned = before;
        }
        Ok(flow)
    }

    /// Whoever goes through a loop over threads must know which of them are left.
    pub(super) fn enter_threads(
        &mut self,
        kind: LoopKind,
        some_returned: bool,
    ) -> Result<(), InterpError> {
        if some_returned && is_of_threads(kind) {
            return Err(InterpError::Returned);
        }
        self.some_returned = some_returned;
        Ok(())
    }

    fn iterations_of(&mut self, id: LoopId) -> Result<Flow, InterpError> {
        if self.meetings.starts_workgroup(self.func, id) {
            return self.workgroup(id);
        }
        let l = &self.func.loops[id];
        let (min, extent) = (self.env.int(&l.min)?, self.env.int(&l.extent)?);
        if extent <= 0 {
            return self.empty(id).map(|()| Flow::Next);
        }
        let body = self.func.tree.body(Place::Loop(id));
        let (some_returned, mut any_returned) = (self.some_returned, false);
        for i in min..min.saturating_add(extent) {
            if l.kind.is_of_launch() {
                self.some_returned = some_returned;
            }
            let before = self.env.vars.insert(l.var.clone(), Scalar::Int(i));
            let flow = self.body(body)?;
            restore(self.env, l.var.clone(), before);
            any_returned |= self.some_returned;
            match flow {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                // The work of the thread ends; the others go on.
                Flow::Return(None) if l.kind.is_of_launch() => any_returned = true,
                Flow::Return(_) => return Ok(flow),
            }
        }
        self.some_returned |= any_returned;
        Ok(Flow::Next)
    }

    fn block(&mut self, id: BlockId) -> Result<Flow, InterpError> {
        let Some(entered) = self.enter(id, Memories::New)? else {
            return Ok(Flow::Next);
        };
        let flow = self.in_block(id, &entered);
        let flow = flow.map_err(|error| self.located(id, &entered.values, error))?;
        self.leave(id, entered);
        Ok(flow)
    }

    /// The error with the iteration of the innermost block that it comes from.
    fn located(&self, id: BlockId, values: &[i64], error: InterpError) -> InterpError {
        if matches!(error, InterpError::In { .. }) {
            return error;
        }
        let (func, block) = (&self.func.name, &self.func.blocks[id]);
        let mut place = match id == self.func.root {
            true => format!("`{func}`"),
            false => format!("block `{}` of `{func}`", block.name),
        };
        for (iter, value) in block.iters.iter().zip(values) {
            place += &format!(", {} = {value}", iter.var.name());
        }
        InterpError::In {
            place,
            source: Box::new(error),
        }
    }

    fn in_block(&mut self, id: BlockId, entered: &Entered) -> Result<Flow, InterpError> {
        let init = self.func.blocks[id].init.as_ref();
        let init = init.filter(|_| entered.first);
        let flow = self.body(init.map_or(&[][..], |init| init))?;
        if !matches!(flow, Flow::Next) {
            return Ok(flow);
        }
        self.body(self.func.tree.body(Place::Block(id)))
    }

    /// Gives the iter variables, buffers and views of a block their values; nothing if its predicate is false.
    pub(super) fn enter(
        &mut self,
        id: BlockId,
        memories: Memories,
    ) -> Result<Option<Entered>, InterpError> {
        let block = &self.func.blocks[id];
        // All bindings and the predicate are in terms of the loops outside, so they are evaluated before any is bound.
        let values = block
            .bindings
            .iter()
            .map(|b| self.env.int(b))
            .collect::<Result<Vec<_>, _>>()?;
        if !self.env.truth(&block.predicate)? {
            return Ok(None);
        }
        let before: Vec<_> = block
            .iters
            .iter()
            .zip(&values)
            .map(|(i, v)| self.env.vars.insert(i.var.clone(), Scalar::Int(*v)))
            .collect();
        let first = self.check_domains(block, &values);
        let named = first.and_then(|first| Ok((first, self.buffers_of(block, memories)?)));
        let (first, named) = named.map_err(|error| self.located(id, &values, error))?;
        Ok(Some(Entered {
            values,
            before,
            named,
            first,
        }))
    }

    /// Gives the buffers and views of a block their memory; gives the variables that only they name.
    fn buffers_of(&mut self, block: &Block, memories: Memories) -> Result<Vec<Var>, InterpError> {
        let mut named = Vec::new();
        for buffer in &block.alloc_buffers {
            let shape = self.env.ints(buffer.shape())?;
            // No program sees the layout of an allocated buffer: it is dense.
            named.extend(self.env.name_layout(buffer, &Layout::dense(&shape)));
            if memories == Memories::New || !buffer.scope().is_shared() {
                self.env.allocate(buffer, shape)?;
            }
        }
        for view in &block.match_buffers {
            named.extend(self.env.view_region(view)?);
        }
        Ok(named)
    }

    /// Ends a block.
    pub(super) fn leave(&mut self, id: BlockId, entered: Entered) {
        for var in entered.named {
            self.env.vars.remove(&var);
        }
        let iters = &self.func.blocks[id].iters;
        for (iter, value) in iters.iter().zip(entered.before) {
            restore(self.env, iter.var.clone(), value);
        }
    }

    /// A loop without iterations: sums over it are their inits.
    pub(super) fn empty(&mut self, id: LoopId) -> Result<(), InterpError> {
        let mut inits = self.func.inits_of_empty(id).into_iter();
        inits.try_for_each(|(block, nest)| self.init(block, &nest, &nest.loops))
    }

    fn init(
        &mut self,
        block: BlockId,
        nest: &InitNest,
        loops: &[LoopId],
    ) -> Result<(), InterpError> {
        if let Some((&id, inner)) = loops.split_first() {
            let l = &self.func.loops[id];
            let (min, extent) = (self.env.int(&l.min)?, self.env.int(&l.extent)?);
            for i in min..min.saturating_add(extent) {
                let before = self.env.vars.insert(l.var.clone(), Scalar::Int(i));
                self.init(block, nest, inner)?;
                restore(self.env, l.var.clone(), before);
            }
            return Ok(());
        }
        let block = &self.func.blocks[block];
        if !self.env.truth(&nest.predicate)? {
            return Ok(());
        }
        for &at in &nest.first {
            if self.env.int(&block.bindings[at])? != self.env.int(&block.iters[at].dom.min)? {
                return Ok(());
            }
        }
        let mut values = Vec::new();
        for (iter, binding) in block.iters.iter().zip(&block.bindings) {
            if iter.kind == IterKind::Spatial {
                values.push((iter.var.clone(), Scalar::Int(self.env.int(binding)?)));
            }
        }
        let bind = |(var, value): (Var, Scalar)| {
            let before = self.env.vars.insert(var.clone(), value);
            (var, before)
        };
        let before: Vec<_> = values.into_iter().map(bind).collect();
        self.body(block.init.as_deref().unwrap_or_default())?;
        for (var, value) in before {
            restore(self.env, var, value);
        }
        Ok(())
    }

    /// Whether every reduce iter variable has its first value.
    fn check_domains(&mut self, block: &Block, values: &[i64]) -> Result<bool, InterpError> {
        let mut first = true;
        for (iter, &value) in block.iters.iter().zip(values) {
            let min = self.env.int(&iter.dom.min)?;
            let end = min.saturating_add(self.env.int(&iter.dom.extent)?);
            if value < min || value >= end {
                let (block, iter) = (block.name.clone(), iter.var.name().to_owned());
                return Err(InterpError::IterOutOfDomain {
                    block,
                    iter,
                    value,
                    min,
                    end,
                });
            }
            first &= iter.kind != IterKind::Reduce || value == min;
        }
        Ok(first)
    }
}

/// Whether a block gets memory of its own for the buffers that threads share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memories {
    /// It does.
    New,
    /// Another thread of the workgroup has it already.
    Shared,
}

pub(super) fn restore(env: &mut Env, var: Var, before: Option<Scalar>) {
    match before {
        Some(value) => env.vars.insert(var, value),
        None => env.vars.remove(&var),
    };
}

fn is_of_threads(kind: LoopKind) -> bool {
    matches!(kind, LoopKind::ThreadBinding(axis) if axis.is_thread())
}
