//! Rewrites of a kernel before code is made of it: what the GPU does not need, and code generators do not do.
//!
//! From the innermost loop outwards, each serial loop is
//! 1. freed of the memory that it accumulates in, or the loops that it holds alone do: elements at invariant positions become local
//!    variables ([`promote`]);
//! 2. run on vectors with several accumulators, if the schedule allows it and it is a reduction of scalars ([`reduce`], [`choose`]).
//!
//! At last, functions of floats are written as arithmetic ([`functions`]).

mod choose;
pub(crate) mod functions;
mod promote;
mod reduce;

use std::collections::BTreeSet;

use crate::kernel::poly::Scope;
use crate::kernel::{
    Array, ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, Ty, VarId, VarInfo,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// The kernel with its loops rewritten, for vector registers of so many bytes.
pub(crate) fn optimize(kernel: &Kernel, vector_bytes: usize) -> Kernel {
    let mut opt = Optimizer {
        vector_bytes,
        in_memory: arrays_in_memory(kernel),
        kernel: kernel.clone(),
        scope: Scope::default(),
    };
    let body = std::mem::take(&mut opt.kernel.body);
    for (var, _) in &kernel.scalars {
        opt.scope.define(*var);
    }
    let body = opt.stmts(body);
    opt.kernel.body = opt.write_out_functions(body);
    opt.kernel
}

/// The local arrays that are accessed at positions that are no constants.
fn arrays_in_memory(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let mut found = BTreeSet::new();
    kernel.walk_accesses(&mut |array, index, _, _| {
        if !matches!(index, Expr::Int(..)) {
            found.insert(array);
        }
    });
    found
}

struct Optimizer {
    /// Bytes of a vector register.
    vector_bytes: usize,
    /// Local arrays that code generators cannot keep in registers.
    in_memory: BTreeSet<ArrayId>,
    /// Grows new variables and local arrays; its body is elsewhere meanwhile.
    kernel: Kernel,
    scope: Scope,
}

/// The parts of a `Stmt::For`.
#[derive(Clone, Debug)]
struct Loop {
    var: VarId,
    min: Expr,
    extent: Expr,
    kind: ForKind,
    body: Vec<Stmt>,
}

impl From<Loop> for Stmt {
    fn from(l: Loop) -> Self {
        Self::For {
            var: l.var,
            min: l.min,
            extent: l.extent,
            kind: l.kind,
            body: l.body,
        }
    }
}

impl Optimizer {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stmts.into_iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::Let(var, value) => {
                self.scope.define_as(&self.kernel, var, &value);
                vec![Stmt::Let(var, value)]
            }
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => self.loop_(Loop {
                var,
                min,
                extent,
                kind,
                body,
            }),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => vec![Stmt::If {
                cond,
                then: self.stmts(then),
                otherwise: self.stmts(otherwise),
            }],
            Stmt::While { cond, body } => {
                self.scope.depth += 1;
                let body = self.stmts(body);
                self.scope.depth -= 1;
                vec![Stmt::While { cond, body }]
            }
            store @ Stmt::Store {
                array: _,
                index: _,
                value: _,
                active: _,
            } => vec![store],
            other @ (Stmt::Barrier | Stmt::Fragment(_)) => vec![other],
        }
    }

    fn loop_(&mut self, l: Loop) -> Vec<Stmt> {
        let outermost = self.scope.depth == 0 && l.kind == ForKind::Parallel;
        if !outermost && let Some(promoted) = self.promote_nest(&l) {
            let inner = self.loop_(promoted.inner);
            return [promoted.before, inner, promoted.after].concat();
        }
        self.scope.depth += 1;
        self.scope.define(l.var);
        let body = self.stmts(l.body);
        self.scope.depth -= 1;
        let l = Loop { body, ..l };
        if outermost {
            return vec![l.into()];
        }
        let Some(promoted) = self.promote(&l) else {
            return self.vectorize_reduction(l);
        };
        let inner = self.vectorize_reduction(promoted.inner);
        let around = [promoted.before, inner, promoted.after].concat();
        match promoted.condition {
            None => around,
            Some(cond) => vec![Stmt::If {
                cond,
                then: around,
                otherwise: vec![l.into()],
            }],
        }
    }

    /// A new local array.
    fn local(&mut self, name: &str, dtype: ScalarType, len: usize) -> ArrayId {
        local(&mut self.kernel, name, dtype, len)
    }

    /// A new variable like `var`.
    fn var_like(&mut self, var: VarId, suffix: &str) -> VarId {
        let info = &self.kernel.vars[var];
        let info = VarInfo {
            name: format!("{}{suffix}", info.name),
            ty: info.ty,
        };
        self.kernel.vars.push(info)
    }

    /// Declared type of a variable.
    fn scalar_of(&self, var: VarId) -> Option<ScalarType> {
        let Ty { scalar, lanes } = self.kernel.vars.get(var)?.ty;
        (lanes == 1 && scalar.is_int()).then_some(scalar)
    }
}

/// A new local array.
fn local(kernel: &mut Kernel, name: &str, dtype: ScalarType, len: usize) -> ArrayId {
    kernel.arrays.push(Array {
        name: name.to_owned(),
        dtype,
        len: HostExpr::Const(len as i64),
        space: Space::Local,
        vector: 1,
    })
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    if let (Expr::Int(x, ty), Expr::Int(y, _)) = (&a, &b) {
        use crate::tensor::scalar::{Scalar, eval_binary};
        if !op.is_comparison()
            && let Ok(value) = eval_binary(op, *ty, Scalar::Int(*x), Scalar::Int(*y))
        {
            return Expr::Int(value.as_int(), *ty);
        }
    }
    match (&op, &a, &b) {
        (BinOp::Add | BinOp::Sub, _, Expr::Int(0, _)) => a,
        (BinOp::Add, Expr::Int(0, _), _) => b,
        (BinOp::Mul | BinOp::Div, _, Expr::Int(1, _)) => a,
        (BinOp::Mul, Expr::Int(1, _), _) => b,
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    }
}

fn load(array: ArrayId, index: Expr, lanes: u16) -> Expr {
    Expr::Load {
        array,
        index: Box::new(index),
        lanes,
        active: None,
    }
}
