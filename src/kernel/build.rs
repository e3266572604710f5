//! Parts of kernels that passes and code generators make.

use super::poly::{Narrow, Scope};
use super::{Array, ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, VarId, VarInfo};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary};

/// The parts of a [`Stmt::For`].
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) var: VarId,
    pub(crate) min: Expr,
    pub(crate) extent: Expr,
    pub(crate) kind: ForKind,
    pub(crate) body: Vec<Stmt>,
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

/// What takes the place of a loop; the body of the kernel is elsewhere meanwhile. The scope has the variables that are defined before
/// and in the loop.
pub(crate) type RewriteLoop<'a> = &'a mut dyn FnMut(&mut Kernel, &Scope, Loop) -> Vec<Stmt>;

/// Rewrites all loops of a kernel, from the innermost ones outwards.
pub(crate) fn rewrite_loops(kernel: &mut Kernel, narrow: Narrow, rewrite: RewriteLoop<'_>) {
    let mut scope = Scope::new(narrow);
    for (var, _) in &kernel.scalars {
        scope.define(*var);
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = rewrite_in(kernel, &mut scope, body, rewrite);
}

fn rewrite_in(
    kernel: &mut Kernel,
    scope: &mut Scope,
    body: Vec<Stmt>,
    rewrite: RewriteLoop<'_>,
) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for mut stmt in body {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                scope.depth += 1;
                scope.define(var);
                let body = rewrite_in(kernel, scope, body, rewrite);
                scope.depth -= 1;
                let l = Loop {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                };
                out.extend(rewrite(kernel, scope, l));
                continue;
            }
            Stmt::Let(var, ref value) => scope.define_as(kernel, var, value),
            Stmt::While {
                cond: _,
                ref mut body,
            } => {
                scope.depth += 1;
                *body = rewrite_in(kernel, scope, std::mem::take(body), rewrite);
                scope.depth -= 1;
            }
            Stmt::If { .. } => {
                stmt.map_nested(&mut |body| rewrite_in(kernel, scope, body, rewrite));
            }
            Stmt::Store { .. } | Stmt::Barrier | Stmt::Fragment(_) => {}
        }
        out.push(stmt);
    }
    out
}

impl Expr {
    /// `op` of integers, computed where both are constants, and left out where it changes nothing.
    pub(crate) fn folded(op: BinOp, a: Self, b: Self) -> Self {
        if let (Self::Int(x, ty), Self::Int(y, _)) = (&a, &b)
            && !op.is_comparison()
            && let Ok(value) = eval_binary(op, *ty, Scalar::Int(*x), Scalar::Int(*y))
        {
            return Self::Int(value.as_int(), *ty);
        }
        match (&op, &a, &b) {
            (BinOp::Add | BinOp::Sub, _, Self::Int(0, _)) => a,
            (BinOp::Add, Self::Int(0, _), _) => b,
            (BinOp::Mul | BinOp::Div, _, Self::Int(1, _)) => a,
            (BinOp::Mul, Self::Int(1, _), _) => b,
            _ => Self::Binary(op, Box::new(a), Box::new(b)),
        }
    }

    /// `lanes` elements from `index` on, all of them active.
    pub(crate) fn load(array: ArrayId, index: Self, lanes: u16) -> Self {
        Self::Load {
            array,
            index: Box::new(index),
            lanes,
            active: None,
        }
    }
}

impl Stmt {
    /// A store of all lanes of a value.
    pub(crate) fn store(array: ArrayId, index: Expr, value: Expr) -> Self {
        Self::Store {
            array,
            index,
            value,
            active: None,
        }
    }
}

impl Kernel {
    /// A new local array of `len` elements.
    pub(crate) fn new_local(&mut self, name: &str, dtype: ScalarType, len: usize) -> ArrayId {
        self.arrays.push(Array {
            name: name.to_owned(),
            dtype,
            len: HostExpr::Const(len as i64),
            space: Space::Local,
            vector: 1,
        })
    }

    /// A new variable like `var`.
    pub(crate) fn new_var_like(&mut self, var: VarId, suffix: &str) -> VarId {
        let VarInfo { name, ty } = &self.vars[var];
        let info = VarInfo {
            name: format!("{name}{suffix}"),
            ty: *ty,
        };
        self.vars.push(info)
    }
}
