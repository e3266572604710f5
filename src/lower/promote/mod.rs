//! Elements that a loop accumulates in are kept in registers while it runs (scalar replacement; LLVM: promotion in `licm`).
//!
//! `for k { c[i] = c[i] + f(k) }` becomes `t = c[i]; for k { t = t + f(k) }; c[i] = t`. Every access to the array in the loop must
//! be at an invariant position, any two of them at the same or at disjoint elements, and happen in every iteration; different
//! arrays never overlap (the launch checks it). Where only the dims tell that elements are disjoint, as those of different rows
//! of a matrix with `n` columns, that is tested before the loop ([`cells`]).
//!
//! The pass is for the CPU. On a GPU the schedule puts accumulators in arrays of the thread (`cache_write`), since other threads may
//! read what a loop has stored so far.
//!
//! The pass asks for no proof of bounds, and it takes from none that `int32` does not wrap ([`Narrow::Wraps`]): an artifact stores
//! what the pass made, and who loads it believes no proof. The new kernel makes an access to an array of the program only where the old
//! one made it, so it is in bounds where the old one was.
//!
//! Reference: Callahan, Carr, Kennedy, "Improving Register Allocation for Subscripted Variables", PLDI 1990.

mod cells;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::kernel::build::Loop;
use crate::kernel::poly::{Narrow, Scope};
use crate::kernel::{ArrayId, Expr, ForKind, Kernel, Stmt, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;
use cells::{Access, Cell};

/// Keeps elements in registers in all loops of a kernel: loops that hold another one alone first, then from the innermost outwards.
pub(super) fn promote(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut scope = Scope::new(Narrow::Wraps);
    for (var, _) in &kernel.scalars {
        scope.define(*var);
    }
    let in_memory = arrays_in_memory(&body);
    let mut promoter = Promoter {
        kernel,
        in_memory,
        scope,
    };
    let body = promoter.stmts(body);
    kernel.body = body;
}

/// The arrays that are accessed at positions that are no constants.
fn arrays_in_memory(body: &[Stmt]) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    let mut note = |array: ArrayId, index: &Expr| {
        if !matches!(index, Expr::Int(..)) {
            found.insert(array);
        }
    };
    for stmt in body {
        stmt.walk(&mut |stmt| {
            if let Stmt::Store { array, index, .. } = stmt {
                note(*array, index);
            }
        });
        stmt.walk_exprs(&mut |e| {
            if let Expr::Load { array, index, .. } = e {
                note(*array, index);
            }
        });
    }
    found
}

struct Promoter<'a> {
    /// Grows new variables and local arrays; its body is elsewhere meanwhile.
    kernel: &'a mut Kernel,
    /// Local arrays that code generators cannot keep in registers.
    in_memory: BTreeSet<ArrayId>,
    scope: Scope,
}

/// A loop that was freed of memory.
struct Promoted {
    before: Vec<Stmt>,
    inner: Loop,
    after: Vec<Stmt>,
    /// Must be true, else the loop must run as it was: that cells are apart where only the dims tell.
    condition: Option<Expr>,
}

impl Promoter<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stmts.into_iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                return self.loop_(Loop {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                });
            }
            Stmt::Let(var, ref value) => self.scope.define_as(self.kernel, var, value),
            Stmt::While {
                cond: _,
                ref mut body,
            } => {
                self.scope.depth += 1;
                *body = self.stmts(std::mem::take(body));
                self.scope.depth -= 1;
            }
            Stmt::If { .. } => stmt.map_nested(&mut |body| self.stmts(body)),
            Stmt::Store { .. } | Stmt::Barrier | Stmt::Fragment(_) => {}
        }
        vec![stmt]
    }

    fn loop_(&mut self, l: Loop) -> Vec<Stmt> {
        // Its iterations are spread over threads.
        let spread = self.scope.depth == 0 && l.kind == ForKind::Parallel;
        if !spread && let Some(promoted) = self.promote_nest(&l) {
            let inner = self.loop_(promoted.inner);
            return [promoted.before, inner, promoted.after].concat();
        }
        self.scope.depth += 1;
        self.scope.define(l.var);
        let body = self.stmts(l.body);
        self.scope.depth -= 1;
        let l = Loop { body, ..l };
        if spread {
            return vec![l.into()];
        }
        let Some(promoted) = self.promote_loop(&l) else {
            return vec![l.into()];
        };
        let inner = vec![promoted.inner.into()];
        let around = [promoted.before, inner, promoted.after].concat();
        match promoted.condition {
            None => around,
            Some(cond) => vec![Stmt::If {
                cond,
                then: around,
                otherwise: vec![self.renamed(l).into()],
            }],
        }
    }

    /// The loop with its accumulators in local arrays; `None` if it has none.
    fn promote_loop(&mut self, l: &Loop) -> Option<Promoted> {
        // The number of iterations is asked for again after the loop.
        let counted_by_itself = l.extent.any(&|e| match e {
            Expr::Load { array, .. } => l.body.iter().any(|s| s.written() == Some(*array)),
            _ => false,
        });
        if counted_by_itself || !l.body.iter().all(is_straight) {
            return None;
        }
        let (cells, conditions) = self.cells(&[l.var], &l.body);
        if cells.is_empty() {
            return None;
        }
        let mut body = l.body.clone();
        let (mut before, mut after) = self.in_registers(&cells, &mut body);
        let inner = Loop { body, ..l.clone() };
        let condition = conditions
            .into_iter()
            .reduce(|a, b| Expr::folded(BinOp::And, a, b));
        if !has_iterations(&l.extent) {
            // Without iterations nothing may be read or written.
            let zero = Expr::Int(0, self.kernel.ty(&l.extent).scalar);
            let any = Expr::folded(BinOp::Gt, l.extent.clone(), zero);
            (before, after) = (guarded(&any, before), guarded(&any, after));
        }
        Some(Promoted {
            before,
            inner,
            after,
            condition,
        })
    }

    /// The same for a loop that holds nothing but another one, and so on down to stores: what none of them moves is kept while
    /// all of them run.
    fn promote_nest(&mut self, l: &Loop) -> Option<Promoted> {
        let mut inner = l.clone();
        let mut vars = vec![l.var];
        let stores = innermost(&mut inner.body, &mut vars)?;
        if vars.len() == 1 || !has_iterations(&l.extent) {
            return None;
        }
        let (cells, conditions) = self.cells(&vars, stores);
        if cells.is_empty() || !conditions.is_empty() {
            return None;
        }
        let (before, after) = self.in_registers(&cells, stores);
        Some(Promoted {
            before,
            inner,
            after,
            condition: None,
        })
    }

    /// Makes a local array of each cell in some stores; gives what loads them, and what stores them.
    fn in_registers(&mut self, cells: &[Cell], body: &mut [Stmt]) -> (Vec<Stmt>, Vec<Stmt>) {
        let (mut before, mut after) = (vec![], vec![]);
        let mut locals = vec![];
        for cell in cells {
            let Access {
                array,
                index,
                place: _,
                lanes,
                active,
            } = cell.access.clone();
            let info = &self.kernel.arrays[array];
            let (dtype, name) = (info.dtype, format!("{}_cell", info.name));
            let local = self.kernel.new_local(&name, dtype, lanes.into());
            // A kernel may only write the array of a cell that is stored alone.
            if cell.loaded {
                before.push(Stmt::store(local, first(), cell.access.load()));
            }
            if cell.stored {
                after.push(Stmt::Store {
                    array,
                    index,
                    value: Expr::load(local, first(), lanes),
                    active,
                });
            }
            locals.push((cell, local));
        }
        self.replace(body, &locals);
        (before, after)
    }

    /// Turns accesses to cells into accesses to their local arrays.
    fn replace(&self, body: &mut [Stmt], locals: &[(&Cell, ArrayId)]) {
        let local_of = |array: ArrayId, index: &Expr| {
            let own = || {
                let cells = locals.iter().map(|(cell, local)| (&cell.access, *local));
                cells.filter(|(access, _)| access.array == array)
            };
            own().next()?;
            let as_written = own().find(|(access, _)| access.index == *index);
            let found = as_written.or_else(|| {
                let place = self.scope.poly(self.kernel, index);
                let apart = |access: &Access| place.wrapping_plus(&access.place, -1);
                own().find(|(access, _)| apart(access).as_constant() == Some(0))
            });
            found.map(|(_, local)| local)
        };
        for s in body.iter_mut() {
            if let Stmt::Store {
                array,
                index,
                value: _,
                active,
            } = s
                && let Some(local) = local_of(*array, index)
            {
                *array = local;
                *index = first();
                *active = None;
            }
        }
        let from_local = &mut |e: &Expr| match e {
            Expr::Load {
                array,
                index,
                lanes,
                active: _,
            } => Some(Expr::load(local_of(*array, index)?, first(), *lanes)),
            _ => None,
        };
        for s in body {
            s.map_exprs(&mut |e| e.rewrite(from_local));
        }
    }

    /// A loop of straight code with variables of its own: no variable has a value at two places.
    fn renamed(&mut self, mut l: Loop) -> Loop {
        let mut new: Vec<(VarId, VarId)> = vec![(l.var, self.kernel.new_var_like(l.var, ""))];
        for stmt in &mut l.body {
            stmt.map_exprs(&mut |e| {
                new.iter().fold(e.clone(), |e, (old, new)| {
                    e.substitute(*old, &Expr::Var(*new))
                })
            });
            if let Stmt::Let(var, _) = stmt {
                let own = self.kernel.new_var_like(*var, "");
                new.push((*var, own));
                *var = own;
            }
        }
        l.var = new[0].1;
        l
    }
}

/// The index of the first element.
fn first() -> Expr {
    Expr::Int(0, ScalarType::I64)
}

fn guarded(cond: &Expr, body: Vec<Stmt>) -> Vec<Stmt> {
    if body.is_empty() {
        return body;
    }
    vec![Stmt::If {
        cond: cond.clone(),
        then: body,
        otherwise: vec![],
    }]
}

fn has_iterations(extent: &Expr) -> bool {
    matches!(extent, Expr::Int(1.., _))
}

/// The straight code below loops each of which holds one loop alone and has iterations, from a number on that no store changes.
fn innermost<'s>(body: &'s mut Vec<Stmt>, vars: &mut Vec<VarId>) -> Option<&'s mut Vec<Stmt>> {
    if body.iter().all(is_straight) {
        return Some(body);
    }
    match body.as_mut_slice() {
        [
            Stmt::For {
                var,
                min,
                extent,
                kind: _,
                body,
            },
        ] if has_iterations(extent) && !min.loads() => {
            vars.push(*var);
            innermost(body, vars)
        }
        _ => None,
    }
}

/// Whether a statement has no others in it: a store, or a name for a value.
fn is_straight(s: &Stmt) -> bool {
    match s {
        Stmt::Store {
            array: _,
            index: _,
            value: _,
            active: _,
        }
        | Stmt::Let(..) => true,
        Stmt::For { .. }
        | Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::Barrier
        | Stmt::Fragment(_) => false,
    }
}
