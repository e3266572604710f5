//! Rewrites of a kernel before code is made of it: what the GPU does not need, and code generators do not do.
//!
//! From the innermost loop outwards, each loop is run on vectors with several accumulators, if the schedule allows it and it is a
//! reduction of scalars ([`reduce`], [`choose`]). At last, functions of floats are written as arithmetic ([`functions`]).

mod choose;
pub(crate) mod functions;
mod reduce;

use crate::kernel::build::Loop;
use crate::kernel::poly::{Narrow, Scope};
use crate::kernel::{Kernel, Stmt, Ty, VarId};
use crate::tensor::ScalarType;

/// The kernel with its loops rewritten, for vector registers of so many bytes.
pub(crate) fn optimize(kernel: &Kernel, vector_bytes: usize) -> Kernel {
    let mut opt = Optimizer {
        vector_bytes,
        kernel: kernel.clone(),
        scope: Scope::new(if kernel.in_bounds {
            Narrow::Exact
        } else {
            Narrow::Wraps
        }),
    };
    let body = std::mem::take(&mut opt.kernel.body);
    for (var, _) in &kernel.scalars {
        opt.scope.define(*var);
    }
    let body = opt.stmts(body);
    opt.kernel.body = opt.write_out_functions(body);
    opt.kernel
}

struct Optimizer {
    /// Bytes of a vector register.
    vector_bytes: usize,
    /// Grows new variables and local arrays; its body is elsewhere meanwhile.
    kernel: Kernel,
    scope: Scope,
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
        self.scope.depth += 1;
        self.scope.define(l.var);
        let body = self.stmts(l.body);
        self.scope.depth -= 1;
        self.vectorize_reduction(Loop { body, ..l })
    }

    /// Declared type of a variable.
    fn scalar_of(&self, var: VarId) -> Option<ScalarType> {
        let Ty { scalar, lanes } = self.kernel.vars.get(var)?.ty;
        (lanes == 1 && scalar.is_int()).then_some(scalar)
    }
}
