//! Threads of a workgroup that use shared memory go through the program together: all of them make one statement before any
//! makes the next, those for which a branch or loop ends wait for the others. So each thread sees what the others wrote in the
//! statements before, as if they met at a barrier between any two statements.
//!
//! `T.tvm_storage_sync` does nothing more than that, but all threads must come by. Memory of scope "local", fragments, and what a block
//! that the threads go through allocates in another scope than "shared", each thread has for itself; only what a block reduces
//! over the threads is one value for all of them, to which one thread after the other adds its share.

use std::collections::HashSet;

use super::InterpError;
use super::eval::Thread;
use super::prim_func::{Entered, Flow, Memories, Run, restore};
use crate::ir::{
    BlockId, Buffer, Expr, ExprKind, External, IterKind, LoopId, LoopKind, Place, PrimFunc, Scope,
    Stmt, ThreadAxis,
};
use crate::tensor::scalar::Scalar;

/// What a program says of the threads of its workgroups.
#[derive(Default)]
pub(super) struct Meetings {
    /// The loops and blocks that hold a barrier, or a load or store of shared memory.
    places: HashSet<Place>,
    /// The allocated buffers of which each thread has one.
    private: HashSet<Buffer>,
}

impl Meetings {
    pub(super) fn of(func: &PrimFunc) -> Self {
        let mut meetings = Self::default();
        if func
            .loops
            .iter()
            .all(|(_, l)| thread_axis(l.kind).is_none())
        {
            return meetings;
        }
        meetings.collect(func, func.root.into());
        let reduced = reduced_over_threads(func);
        let is_local = |b: &&Buffer| *b.scope() == Scope::Local || b.scope().fragment().is_some();
        let local = func.allocated().filter(is_local);
        let private = local.filter(|b| !reduced.contains(b));
        meetings.private = private.cloned().collect();
        meetings
    }

    fn collect(&mut self, func: &PrimFunc, at: Place) -> bool {
        let mut found = false;
        for child in func.tree.children(at) {
            found |= self.collect(func, child);
        }
        let body = func.tree.body(at).iter();
        let init = match at {
            Place::Block(id) => func.blocks[id].init.as_deref().unwrap_or_default(),
            Place::Loop(_) => &[],
        };
        found |= body.chain(init).any(uses_shared);
        // A thread adds its share of a reduction in one go, whatever it takes to write it down.
        let adds = matches!(at, Place::Block(id) if reduces_over_threads(func, id));
        if found && !adds {
            self.places.insert(at);
        }
        found
    }

    /// Whether the iterations of a loop are threads that meet.
    pub(super) fn starts_workgroup(&self, func: &PrimFunc, id: LoopId) -> bool {
        thread_axis(func.loops[id].kind).is_some() && self.places.contains(&id.into())
    }

    /// Whether threads may meet inside of a statement.
    fn inside(&self, stmt: &Stmt) -> bool {
        uses_shared(stmt) || stmt.places().iter().any(|at| self.places.contains(at))
    }
}

fn thread_axis(kind: LoopKind) -> Option<ThreadAxis> {
    match kind {
        LoopKind::ThreadBinding(axis) => axis.is_thread().then_some(axis),
        LoopKind::Serial | LoopKind::Parallel | LoopKind::Vectorized | LoopKind::Unrolled => None,
    }
}

/// Whether an expression is a barrier.
pub(super) fn is_barrier(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::External(External::StorageSync, _))
}

/// Whether a statement has a barrier or uses shared memory, not counting the loops and blocks inside.
fn uses_shared(stmt: &Stmt) -> bool {
    let in_expr = |e: &&Expr| {
        let mut found = false;
        e.walk(&mut |e| {
            found |= match e.kind() {
                ExprKind::Load(buffer, _) => buffer.scope().is_shared(),
                _ => is_barrier(e),
            };
            !found
        });
        found
    };
    let stores = matches!(stmt, Stmt::Store { buffer, .. } if buffer.scope().is_shared());
    let mut inside = stmt.nested().into_iter().flatten();
    stores || stmt.exprs().iter().any(in_expr) || inside.any(uses_shared)
}

/// Whether a reduce iter variable of the block takes its values from loops bound to threads.
fn reduces_over_threads(func: &PrimFunc, id: BlockId) -> bool {
    let block = &func.blocks[id];
    let mut bindings = block.iters.iter().zip(&block.bindings);
    bindings.any(|(iter, binding)| {
        let mut loops = func.loops_above(id.into()).into_iter();
        iter.kind == IterKind::Reduce
            && loops.any(|l| {
                let l = &func.loops[l];
                thread_axis(l.kind).is_some() && binding.uses(&l.var)
            })
    })
}

/// The buffers that blocks reduce into over loops bound to threads.
fn reduced_over_threads(func: &PrimFunc) -> HashSet<Buffer> {
    let blocks = func.blocks_under(func.root.into()).into_iter();
    let reducing = blocks.filter(|id| reduces_over_threads(func, *id));
    let writes = reducing.flat_map(|id| &func.blocks[id].writes);
    writes.map(|region| region.buffer.clone()).collect()
}

/// A thread, and where it goes on.
struct Member {
    thread: Thread,
    flow: Flow,
}

/// Threads that go through the program together.
struct Team {
    members: Vec<Member>,
    /// The axes that tell them apart.
    axes: Vec<ThreadAxis>,
    /// Whether they are all threads of the workgroup; else some wait outside of a branch.
    complete: bool,
}

impl Team {
    /// Those that go on with the next statement.
    fn running(&self, among: &[usize]) -> Vec<usize> {
        let runs = |&&at: &&usize| matches!(self.members[at].flow, Flow::Next);
        among.iter().filter(runs).copied().collect()
    }

    fn is_complete(&self, running: &[usize]) -> bool {
        self.complete && running.len() == self.members.len()
    }
}

impl Run<'_> {
    /// A loop whose iterations are threads that meet, outside of all other such loops.
    pub(super) fn workgroup(&mut self, id: LoopId) -> Result<Flow, InterpError> {
        self.env.private.clone_from(&self.meetings.private);
        let mut thread = Thread::default();
        self.env.swap(&mut thread);
        let alone = Member {
            thread,
            flow: Flow::Next,
        };
        let mut team = Team {
            members: vec![alone],
            axes: vec![],
            complete: true,
        };
        self.threads(&mut team, &[0], id)?;
        let Member { mut thread, flow } = team.members.remove(0);
        self.env.swap(&mut thread);
        self.env.leave_threads()?;
        Ok(match flow {
            // Each thread did.
            Flow::Return(None) => Flow::Next,
            flow => flow,
        })
    }

    /// Runs something as one thread.
    fn run_as<R>(
        &mut self,
        team: &mut Team,
        at: usize,
        run: impl FnOnce(&mut Self) -> Result<R, InterpError>,
    ) -> Result<R, InterpError> {
        self.env.swap(&mut team.members[at].thread);
        let result = run(self);
        self.env.swap(&mut team.members[at].thread);
        result
    }

    /// Each of the threads becomes as many as a loop has iterations, which run the body together.
    fn threads(
        &mut self,
        team: &mut Team,
        running: &[usize],
        id: LoopId,
    ) -> Result<(), InterpError> {
        let l = &self.func.loops[id];
        let mut inner = Team {
            members: vec![],
            axes: [team.axes.clone(), thread_axis(l.kind).into_iter().collect()].concat(),
            complete: team.is_complete(running),
        };
        let mut counts = vec![];
        for &at in running {
            let values = self.run_as(team, at, |run| run.iterations(id))?;
            counts.push(values.len());
            for value in values {
                let mut thread = team.members[at].thread.clone();
                self.env.swap(&mut thread);
                self.env.vars.insert(l.var.clone(), value);
                self.env.swap(&mut thread);
                let flow = Flow::Next;
                inner.members.push(Member { thread, flow });
            }
        }
        let all: Vec<usize> = (0..inner.members.len()).collect();
        self.together(&mut inner, &all, self.func.tree.body(id))?;
        let mut done = inner.members.into_iter();
        for (&at, count) in running.iter().zip(counts) {
            let (mut broke, mut returned, mut stayed) = (false, None, false);
            for member in done.by_ref().take(count) {
                match member.flow {
                    Flow::Next | Flow::Continue => stayed = true,
                    Flow::Break => broke = true,
                    flow @ Flow::Return(_) => returned = Some(flow),
                }
                team.members[at].thread.take_own(member.thread);
            }
            if broke && (stayed || returned.is_some()) {
                return Err(InterpError::SomeLeave);
            }
            self.some_returned |= returned.is_some();
            if let Some(flow) = returned
                && !stayed
            {
                team.members[at].flow = flow;
            }
        }
        Ok(())
    }

    /// The values of the variable of a loop. The inits of sums over a loop without iterations are made.
    fn iterations(&mut self, id: LoopId) -> Result<Vec<Scalar>, InterpError> {
        let l = &self.func.loops[id];
        let (min, extent) = (self.env.int(&l.min)?, self.env.int(&l.extent)?);
        if extent <= 0 {
            self.empty(id)?;
        }
        let values = min..min.saturating_add(extent);
        Ok(values.map(Scalar::Int).collect())
    }

    /// Statements, one after the other, each by all of the threads that are not gone.
    fn together(
        &mut self,
        team: &mut Team,
        among: &[usize],
        stmts: &[Stmt],
    ) -> Result<(), InterpError> {
        for stmt in stmts {
            let running = team.running(among);
            if !running.is_empty() {
                self.step(team, &running, stmt)?;
            }
        }
        Ok(())
    }

    /// One statement by all of the threads.
    fn step(&mut self, team: &mut Team, running: &[usize], stmt: &Stmt) -> Result<(), InterpError> {
        if !self.meetings.inside(stmt) {
            return self.one_by_one(team, running, stmt);
        }
        match stmt {
            Stmt::Evaluate(e) if is_barrier(e) => {
                if !team.is_complete(running) {
                    return Err(InterpError::Divergent);
                }
            }
            Stmt::Loop(id) => match thread_axis(self.func.loops[*id].kind) {
                Some(axis) if !team.axes.contains(&axis) => {
                    self.enter_threads(self.func.loops[*id].kind, self.some_returned)?;
                    self.threads(team, running, *id)?;
                }
                _ => self.iterate(team, running, *id)?,
            },
            Stmt::Block(id) => self.block_together(team, running, *id)?,
            Stmt::Let { var, value, body } => {
                for &at in running {
                    self.run_as(team, at, |run| run.env.define(var, value))?;
                }
                self.together(team, running, body)?;
            }
            Stmt::View {
                buffer,
                memory,
                body,
            } => {
                for &at in running {
                    self.run_as(team, at, |run| run.env.view_memory(buffer, memory))?;
                }
                self.together(team, running, body)?;
            }
            Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body,
            } => self.together(team, running, body)?,
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let (yes, no) = self.divide(team, running, cond)?;
                self.together(team, &yes, then)?;
                self.together(team, &no, otherwise)?;
            }
            Stmt::While { cond, body } => {
                let mut inside = running.to_vec();
                loop {
                    inside = self.divide(team, &inside, cond)?.0;
                    if inside.is_empty() {
                        break;
                    }
                    self.together(team, &inside, body)?;
                    inside = next_iteration(team, &inside);
                }
            }
            Stmt::Store {
                buffer: _,
                indices: _,
                value: _,
            }
            | Stmt::Assert {
                cond: _,
                message: _,
            }
            | Stmt::Evaluate(_)
            | Stmt::Tile(_)
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return(_) => self.one_by_one(team, running, stmt)?,
        }
        Ok(())
    }

    /// A statement in which threads do not meet.
    fn one_by_one(
        &mut self,
        team: &mut Team,
        running: &[usize],
        stmt: &Stmt,
    ) -> Result<(), InterpError> {
        let (some_returned, mut any_returned) = (self.some_returned, false);
        for &at in running {
            self.some_returned = some_returned;
            team.members[at].flow = self.run_as(team, at, |run| run.stmt(stmt))?;
            any_returned |= self.some_returned;
        }
        self.some_returned = any_returned;
        Ok(())
    }

    /// The threads for which a condition is true, and the others.
    fn divide(
        &mut self,
        team: &mut Team,
        running: &[usize],
        cond: &Expr,
    ) -> Result<(Vec<usize>, Vec<usize>), InterpError> {
        let (mut yes, mut no) = (vec![], vec![]);
        for &at in running {
            let side = if self.run_as(team, at, |run| run.env.truth(cond))? {
                &mut yes
            } else {
                &mut no
            };
            side.push(at);
        }
        Ok((yes, no))
    }

    /// A loop that each of the threads runs: the first iterations together, then the second ones, and so on.
    fn iterate(
        &mut self,
        team: &mut Team,
        running: &[usize],
        id: LoopId,
    ) -> Result<(), InterpError> {
        let var = &self.func.loops[id].var;
        let body = self.func.tree.body(id);
        let mut values = vec![];
        let mut before = vec![];
        for &at in running {
            let of_thread = self.run_as(team, at, |run| run.iterations(id))?;
            before.push(self.run_as(team, at, |run| Ok(run.env.vars.get(var).copied()))?);
            values.push((at, of_thread.into_iter()));
        }
        let mut inside = running.to_vec();
        loop {
            let mut now = vec![];
            for (at, values) in &mut values {
                if inside.contains(at)
                    && let Some(value) = values.next()
                {
                    now.push(*at);
                    self.run_as(team, *at, |run| Ok(run.env.vars.insert(var.clone(), value)))?;
                }
            }
            if now.is_empty() {
                break;
            }
            self.together(team, &now, body)?;
            inside = next_iteration(team, &now);
        }
        for (&at, before) in running.iter().zip(before) {
            self.run_as(team, at, |run| {
                restore(run.env, var.clone(), before);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn block_together(
        &mut self,
        team: &mut Team,
        running: &[usize],
        id: BlockId,
    ) -> Result<(), InterpError> {
        let block = &self.func.blocks[id];
        let own = block
            .alloc_buffers
            .iter()
            .filter(|b| !b.scope().is_shared());
        self.env.private.extend(own.cloned());
        let mut memories = Memories::New;
        let mut inside: Vec<(usize, Entered)> = vec![];
        for &at in running {
            if let Some(entered) = self.run_as(team, at, |run| run.enter(id, memories))? {
                memories = Memories::Shared;
                inside.push((at, entered));
            }
        }
        let first = inside.iter().filter(|(_, entered)| entered.first);
        let first: Vec<usize> = first.map(|(at, _)| *at).collect();
        self.together(team, &first, block.init.as_deref().unwrap_or_default())?;
        let all: Vec<usize> = inside.iter().map(|(at, _)| *at).collect();
        self.together(team, &all, self.func.tree.body(id))?;
        for (at, entered) in inside {
            self.run_as(team, at, |run| {
                run.leave(id, entered);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The threads that go on with the next iteration of a loop; the others go on behind the loop, if they stay in the function.
fn next_iteration(team: &mut Team, inside: &[usize]) -> Vec<usize> {
    let mut next = vec![];
    for &at in inside {
        let flow = &mut team.members[at].flow;
        match flow {
            Flow::Next | Flow::Continue => {
                *flow = Flow::Next;
                next.push(at);
            }
            Flow::Break => *flow = Flow::Next,
            Flow::Return(_) => {}
        }
    }
    next
}
