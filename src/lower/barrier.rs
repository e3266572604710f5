//! Barriers: between a store to shared memory and an access of another thread to the same array, all threads of the
//! workgroup wait. A barrier may only stand where all of them come by (GPU: anything else is undefined and may hang), so it
//! is put before the branch or loop that differs between threads.
//!
//! Two stores with no load between them need none: a block is the only writer of its elements and writes each once, and an
//! update reads what its initialisation wrote.
//!
//! Reference: TVM's `ThreadSync`; the state is, per array, whether it was read and written since the last barrier.

use std::collections::{HashMap, HashSet};

use super::{LowerError, LowerProblem};
use crate::kernel::{Access, Array, ArrayId, Expr, Space, Stmt, VarId};
use crate::support::Arena;

/// Puts barriers into the body of a GPU kernel.
pub(super) fn insert_barriers(
    arrays: &Arena<ArrayId, Array>,
    body: Vec<Stmt>,
) -> Result<Vec<Stmt>, LowerError> {
    if !arrays.iter().any(|(_, a)| matches!(a.space, Space::Shared)) {
        return Ok(body);
    }
    let mut sync = Sync {
        arrays,
        uniform: uniform_arrays(arrays, &body),
        varying: HashMap::new(),
        trials: 0,
    };
    let mut state = State::default();
    sync.stmts(body, &mut state)
}

/// What happened to each shared array since the last barrier.
#[derive(Clone, Default, PartialEq)]
struct State {
    used: HashMap<ArrayId, Use>,
}

#[derive(Clone, Copy, Default, PartialEq)]
struct Use {
    read: bool,
    written: bool,
}

impl State {
    fn add(&mut self, other: &Self) {
        for (id, u) in &other.used {
            let mine = self.used.entry(*id).or_default();
            mine.read |= u.read;
            mine.written |= u.written;
        }
    }

    /// The array that makes a barrier necessary before something with the uses `next`.
    fn conflict(&self, next: &Self) -> Option<ArrayId> {
        let mut found: Vec<ArrayId> = next
            .used
            .iter()
            .filter(|(id, n)| {
                self.used
                    .get(id)
                    .is_some_and(|u| u.written && n.read || n.written && u.read)
            })
            .map(|(id, _)| *id)
            .collect();
        found.sort();
        found.first().copied()
    }
}

/// Loops inside each other whose bodies are gone through once to see what they leave open.
const MOST_TRIALS: u32 = 5;

struct Sync<'a> {
    arrays: &'a Arena<ArrayId, Array>,
    /// The arrays whose elements are the same for all threads of a workgroup.
    uniform: HashSet<ArrayId>,
    /// Whether a variable may differ between threads of a workgroup.
    varying: HashMap<VarId, bool>,
    /// Loops around here whose bodies are gone through for what they leave open.
    trials: u32,
}

impl Sync<'_> {
    fn stmts(&mut self, body: Vec<Stmt>, state: &mut State) -> Result<Vec<Stmt>, LowerError> {
        let mut out = Vec::new();
        for stmt in body {
            self.stmt(stmt, state, &mut out)?;
        }
        Ok(out)
    }

    fn stmt(
        &mut self,
        stmt: Stmt,
        state: &mut State,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } if !self.varies(&min) && !self.varies(&extent) => {
                self.before(&self.uses_of(&[&min, &extent]), state, out);
                self.varying.insert(var, false);
                // A barrier before the loop is dearer than none but cheaper than one in each iteration.
                if state.conflict(&self.all_uses(&body)).is_some() {
                    out.push(Stmt::Barrier);
                    state.used.clear();
                }
                // What the end of one iteration leaves open meets the start of the next. What was open before the loop stays
                // so: the loop may have no iteration.
                let before = state.clone();
                let open = self.left_open(&body, state)?;
                state.add(&open);
                let body = self.stmts(body, state)?;
                if !matches!(extent, Expr::Int(1.., _)) {
                    state.add(&before);
                }
                out.push(Stmt::For {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                });
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } if !self.varies(&cond) => {
                self.before(&self.uses_of(&[&cond]), state, out);
                let mut other = state.clone();
                let then = self.stmts(then, state)?;
                let otherwise = self.stmts(otherwise, &mut other)?;
                state.add(&other);
                out.push(Stmt::If {
                    cond,
                    then,
                    otherwise,
                });
            }
            Stmt::Barrier => {
                state.used.clear();
                out.push(Stmt::Barrier);
            }
            Stmt::Let(var, value) => {
                let varies = self.varies(&value);
                self.varying.insert(var, varies);
                self.before(&self.uses_of(&[&value]), state, out);
                out.push(Stmt::Let(var, value));
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() && self.can_split(&cond, &then) => {
                for then in self.until_conflicts(&then) {
                    let cond = cond.clone();
                    let part = Stmt::If {
                        cond,
                        then,
                        otherwise: vec![],
                    };
                    self.before(&self.leaf_uses(&part)?, state, out);
                    out.push(part);
                }
            }
            leaf @ (Stmt::Store { .. }
            | Stmt::For { .. }
            | Stmt::If { .. }
            | Stmt::While { .. }
            | Stmt::Fragment(_)) => {
                let uses = self.leaf_uses(&leaf)?;
                self.before(&uses, state, out);
                out.push(leaf);
            }
        }
        Ok(())
    }

    /// Whether a branch may become several on the same condition: it stays what it is, and no part defines what a later one uses.
    fn can_split(&self, cond: &Expr, then: &[Stmt]) -> bool {
        let loads = cond.any(&|e| matches!(e, Expr::Load { .. }));
        let groups = self.until_conflicts(then);
        let defined = |group: &[Stmt]| -> Vec<VarId> {
            let lets = group.iter().filter_map(|stmt| match stmt {
                Stmt::Let(var, _) => Some(*var),
                _ => None,
            });
            lets.collect()
        };
        let uses_any = |stmt: &Stmt, vars: &[VarId]| {
            let mut found = false;
            stmt.walk_exprs(&mut |e| found |= matches!(e, Expr::Var(var) if vars.contains(var)));
            found
        };
        let reaches_out = |at: usize| {
            let vars = defined(&groups[at]);
            let mut later = groups[at + 1..].iter().flatten();
            later.any(|stmt| uses_any(stmt, &vars))
        };
        !loads && !(0..groups.len()).any(reaches_out)
    }

    /// The statements in groups without a conflict inside, so that barriers may stand between them.
    fn until_conflicts(&self, stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
        let mut groups = vec![vec![]];
        let mut inner = State::default();
        for stmt in stmts {
            let uses = self.all_uses(std::slice::from_ref(stmt));
            if inner.conflict(&uses).is_some() {
                groups.push(vec![]);
                inner = State::default();
            }
            inner.add(&uses);
            groups
                .last_mut()
                .expect("starts with one")
                .push(stmt.clone());
        }
        groups
    }

    /// Puts a barrier if what comes needs one, and notes it.
    fn before(&self, uses: &State, state: &mut State, out: &mut Vec<Stmt>) {
        if state.conflict(uses).is_some() {
            out.push(Stmt::Barrier);
            state.used.clear();
        }
        state.add(uses);
    }

    /// All uses of a statement that must stay in one piece; refused if a barrier would be needed inside, or if one stands there that not
    /// all threads come by.
    fn leaf_uses(&self, stmt: &Stmt) -> Result<State, LowerError> {
        let mut total = self.own_uses(stmt);
        let differs = stmt.exprs().into_iter().any(|e| self.varies(e));
        for body in stmt.nested() {
            let mut inner = State::default();
            for s in body {
                let mut barriers = false;
                s.walk(&mut |s| barriers |= matches!(s, Stmt::Barrier));
                if differs && barriers {
                    return Err(LowerProblem::BarrierApart.into());
                }
                let uses = self.leaf_uses(s)?;
                if let Some(array) = inner.conflict(&uses) {
                    let array = self.arrays[array].name.clone();
                    return Err(LowerProblem::DivergentBarrier { array }.into());
                }
                inner.add(&uses);
            }
            total.add(&inner);
        }
        Ok(total)
    }

    /// What iterations of a loop leave open for the next one. Going through a body twice at each level of nesting takes
    /// exponential time, so far inside it is all that the body uses.
    fn left_open(&mut self, body: &[Stmt], before: &State) -> Result<State, LowerError> {
        if self.trials == MOST_TRIALS {
            return Ok(self.all_uses(body));
        }
        self.trials += 1;
        let mut end = before.clone();
        let done = self.stmts(body.to_vec(), &mut end);
        self.trials -= 1;
        done.map(|_| end)
    }

    /// All uses of some statements, in whatever order.
    fn all_uses(&self, stmts: &[Stmt]) -> State {
        let mut total = State::default();
        for stmt in stmts {
            stmt.walk(&mut |stmt| total.add(&self.own_uses(stmt)));
        }
        total
    }

    /// The uses of a statement without those inside.
    fn own_uses(&self, stmt: &Stmt) -> State {
        let mut uses = self.uses_of(&stmt.exprs());
        if let Some(array) = stmt.written().filter(|array| self.is_shared(*array)) {
            uses.used.entry(array).or_default().written = true;
        }
        if let Some(array) = stmt.read().filter(|array| self.is_shared(*array)) {
            uses.used.entry(array).or_default().read = true;
        }
        uses
    }

    fn is_shared(&self, array: ArrayId) -> bool {
        matches!(self.arrays[array].space, Space::Shared)
    }

    fn uses_of(&self, exprs: &[&Expr]) -> State {
        let mut state = State::default();
        for e in exprs {
            e.walk(&mut |e| {
                if let Expr::Load { array, .. } = e
                    && self.is_shared(*array)
                {
                    state.used.entry(*array).or_default().read = true;
                }
            });
        }
        state
    }

    /// Whether the value may differ between threads of a workgroup.
    fn varies(&self, e: &Expr) -> bool {
        e.any(&|e| match e {
            Expr::ThreadIdx(_) => true,
            Expr::Var(id) => self.varying.get(id).copied().unwrap_or(false),
            Expr::Load { array, .. } => !self.uniform.contains(array),
            _ => false,
        })
    }
}

/// The arrays whose elements are the same for all threads of a workgroup: those that nobody writes, and arrays of a thread
/// to which each of the threads writes the same.
fn uniform_arrays(arrays: &Arena<ArrayId, Array>, body: &[Stmt]) -> HashSet<ArrayId> {
    let is_candidate = |array: &Array| match array.space {
        Space::Global { buffer: _, access } => access == Access::Read,
        Space::Local => true,
        Space::Shared => false,
    };
    let candidates = arrays.iter().filter(|(_, array)| is_candidate(array));
    let uniform = candidates.map(|(id, _)| id).collect();
    let mut sync = Sync {
        arrays,
        uniform,
        varying: HashMap::new(),
        trials: 0,
    };
    loop {
        let mut differing = HashSet::new();
        sync.find_differing(body, false, &mut differing);
        if differing.is_empty() {
            return sync.uniform;
        }
        sync.uniform.retain(|id| !differing.contains(id));
    }
}

impl Sync<'_> {
    /// Collects the uniform arrays to which threads write different values or at different places, or, if they are `apart`,
    /// not all threads write.
    fn find_differing(&mut self, body: &[Stmt], apart: bool, differing: &mut HashSet<ArrayId>) {
        for stmt in body {
            let varies = stmt.exprs().into_iter().any(|e| self.varies(e));
            match stmt {
                Stmt::Store { array, .. } => {
                    if (varies || apart) && self.uniform.contains(array) {
                        differing.insert(*array);
                    }
                }
                Stmt::Let(var, _) | Stmt::For { var, .. } => {
                    self.varying.insert(*var, varies);
                }
                Stmt::If { .. } | Stmt::While { .. } | Stmt::Barrier | Stmt::Fragment(_) => {}
            }
            for inner in stmt.nested() {
                self.find_differing(inner, apart || varies, differing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::insert_barriers;
    use crate::kernel::{Array, Expr, HostExpr, Space, Stmt};
    use crate::lower::LowerProblem;
    use crate::support::Arena;
    use crate::tensor::ScalarType;
    use crate::tensor::scalar::BinOp;

    #[test]
    fn a_barrier_that_not_all_threads_come_by_is_refused() {
        let mut arrays = Arena::new();
        arrays.push(Array {
            name: "parts".to_owned(),
            dtype: ScalarType::F32,
            len: HostExpr::Const(64),
            space: Space::Shared,
            vector: 1,
        });
        let under = |value: Expr| {
            let eight = Box::new(Expr::Int(8, ScalarType::I32));
            vec![Stmt::If {
                cond: Expr::Binary(BinOp::Lt, Box::new(value), eight),
                then: vec![Stmt::Barrier],
                otherwise: vec![],
            }]
        };
        let refused = insert_barriers(&arrays, under(Expr::ThreadIdx(0)));
        let refused = refused.expect_err("threads differ");
        assert!(matches!(*refused.problem, LowerProblem::BarrierApart));
        assert!(insert_barriers(&arrays, under(Expr::BlockIdx(0))).is_ok());
    }
}
