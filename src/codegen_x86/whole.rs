//! Vectors that are whole in most iterations, of which the program says how many lanes are active: statements are written twice, and
//! run without masks where all lanes are active.
//!
//! With VEX forms a store under a mask is dozens of steps on machines by AMD, and a row that is copied under masks of ones takes twice as
//! long. With EVEX forms masks cost nothing, so that code would only be longer.

use super::Isa;
use crate::kernel::{Expr, ForKind, Kernel, Stmt};
use crate::tensor::scalar::BinOp;

/// The kernel where whole vectors are read and written without masks.
pub(super) fn without_masks(mut kernel: Kernel, isa: Isa) -> Kernel {
    if !isa.is_evex() {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = versioned(&kernel, body);
    }
    kernel
}

/// How many lanes of vectors are active.
#[derive(Clone, PartialEq)]
struct Partial {
    active: Expr,
    lanes: u16,
}

impl Partial {
    /// The one number of active lanes that all partial vectors of a statement have: of a store, or of a loop without loops inside that does not
    /// change it.
    fn of(kernel: &Kernel, stmt: &Stmt) -> Option<Self> {
        let is_one = match stmt {
            Stmt::Store { .. } => true,
            Stmt::For { kind, body, .. } => *kind == ForKind::Serial && !body.iter().any(has_loop),
            _ => false,
        };
        let found = Self::all_of(kernel, stmt);
        let [partial] = <[Self; 1]>::try_from(found).ok()?;
        let mut changes = partial.active.loads();
        stmt.walk(&mut |stmt| {
            changes |= match stmt {
                Stmt::Let(var, _) | Stmt::For { var, .. } => partial.active.uses(*var),
                _ => false,
            };
        });
        (is_one && !changes).then_some(partial)
    }

    /// The distinct partial vectors of a statement, without those of constant lanes.
    fn all_of(kernel: &Kernel, stmt: &Stmt) -> Vec<Self> {
        let mut found: Vec<Self> = vec![];
        let mut note = |active: &Expr, lanes: u16| {
            let active = active.clone();
            let is_known = matches!(active, Expr::Int(..));
            let partial = Self { active, lanes };
            if !is_known && !found.contains(&partial) {
                found.push(partial);
            }
        };
        stmt.walk(&mut |stmt| {
            if let Stmt::Store {
                value,
                active: Some(active),
                ..
            } = stmt
            {
                note(active, kernel.ty(value).lanes);
            }
        });
        stmt.walk_exprs(&mut |e| {
            if let Expr::Load {
                lanes,
                active: Some(active),
                ..
            } = e
            {
                note(active, *lanes);
            }
        });
        found
    }

    /// The statements, twice.
    fn versions(&self, kernel: &Kernel, masked: Vec<Stmt>) -> Stmt {
        let scalar = kernel.ty(&self.active).scalar;
        let all = Expr::Int(self.lanes.into(), scalar);
        let mut whole = masked.clone();
        whole
            .iter_mut()
            .for_each(|stmt| self.make_whole(kernel, stmt));
        Stmt::If {
            cond: Expr::Binary(BinOp::Ge, Box::new(self.active.clone()), Box::new(all)),
            then: whole,
            otherwise: masked,
        }
    }

    fn make_whole(&self, kernel: &Kernel, stmt: &mut Stmt) {
        if let Stmt::Store { value, active, .. } = stmt
            && kernel.ty(value).lanes == self.lanes
            && active.as_ref() == Some(&self.active)
        {
            *active = None;
        }
        for e in stmt.exprs_mut() {
            *e = self.whole(e);
        }
        for body in stmt.nested_mut() {
            body.iter_mut()
                .for_each(|stmt| self.make_whole(kernel, stmt));
        }
    }

    fn whole(&self, e: &Expr) -> Expr {
        e.rewrite(&mut |e| match e {
            Expr::Load {
                array,
                index,
                lanes,
                active: Some(active),
            } if *lanes == self.lanes && **active == self.active => Some(Expr::Load {
                array: *array,
                index: Box::new(self.whole(index)),
                lanes: *lanes,
                active: None,
            }),
            _ => None,
        })
    }
}

/// Neighbours whose vectors are partial in the same way share a branch.
fn versioned(kernel: &Kernel, stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = vec![];
    let mut run: Option<(Partial, Vec<Stmt>)> = None;
    for stmt in stmts {
        let partial = Partial::of(kernel, &stmt);
        match (&mut run, partial) {
            (Some((of_run, stmts)), Some(partial)) if *of_run == partial => stmts.push(stmt),
            (_, partial) => {
                out.extend(
                    run.take()
                        .map(|(of_run, stmts)| of_run.versions(kernel, stmts)),
                );
                if let Some(partial) = partial {
                    run = Some((partial, vec![stmt]));
                } else {
                    out.push(versioned_inside(kernel, stmt));
                }
            }
        }
    }
    out.extend(run.map(|(of_run, stmts)| of_run.versions(kernel, stmts)));
    out
}

/// An `If` whose first branch has no partial vector has both versions already.
fn versioned_inside(kernel: &Kernel, mut stmt: Stmt) -> Stmt {
    let is_done = match &stmt {
        Stmt::If { then, .. } => then
            .iter()
            .all(|stmt| Partial::all_of(kernel, stmt).is_empty()),
        _ => false,
    };
    if is_done {
        return stmt;
    }
    stmt.map_nested(&mut |body| versioned(kernel, body));
    stmt
}

fn has_loop(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |stmt| found |= matches!(stmt, Stmt::For { .. } | Stmt::While { .. }));
    found
}
