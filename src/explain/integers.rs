//! Operations on integers, most of which compute indices: how many instructions of a thread each statement takes.
//!
//! Compilers of drivers hoist what is the same in every iteration of a loop, compute once what is computed twice, and have units of
//! their own for what is the same in all threads. An addition of a constant is part of an access, one of a product is a fused operation.

use std::collections::{HashMap, HashSet};

use crate::kernel::{Expr, Kernel, Stmt, VarId};
use crate::tensor::scalar::{BinOp, Intrin};

/// Instructions of a division by a constant that is no power of two: a multiplication, shifts, and corrections.
const DIVISION_BY_CONSTANT: f64 = 5.0;
/// Instructions of another division.
const DIVISION: f64 = 20.0;
/// Instructions of `dp4a`: eight to take bytes out of words, four products and four sums.
const DOT_OF_BYTES: f64 = 16.0;

/// Instructions for each statement of the kernel, in its order, outer ones first.
pub(super) fn of_statements(kernel: &Kernel) -> Vec<f64> {
    let mut found = Integers {
        kernel,
        of_vars: HashMap::new(),
        counts: vec![],
    };
    found.body(&kernel.body, 0, &HashSet::new());
    found.counts
}

/// Where a value may change.
#[derive(Clone, Copy, Default)]
struct Changes {
    /// From thread to thread.
    threads: bool,
    /// In each iteration of the innermost of so many loops.
    depth: usize,
}

struct Integers<'a> {
    kernel: &'a Kernel,
    of_vars: HashMap<VarId, Changes>,
    counts: Vec<f64>,
}

impl Integers<'_> {
    fn body(&mut self, stmts: &[Stmt], depth: usize, around: &HashSet<String>) {
        let mut known = around.clone();
        for stmt in stmts {
            let exprs = stmt.exprs().into_iter();
            let own = exprs.map(|e| self.count(e, depth, &mut known)).sum();
            self.counts.push(own);
            let inside = match stmt {
                Stmt::Let(var, value) => {
                    let changes = self.changes(value);
                    self.of_vars.insert(*var, changes);
                    depth
                }
                Stmt::For { var, min, .. } => {
                    let threads = self.changes(min).threads;
                    let depth = depth + 1;
                    self.of_vars.insert(*var, Changes { threads, depth });
                    depth
                }
                Stmt::While { .. } => depth + 1,
                Stmt::Store { .. } | Stmt::If { .. } | Stmt::Barrier | Stmt::Fragment(_) => depth,
            };
            for nested in stmt.nested() {
                self.body(nested, inside, &known);
            }
        }
    }

    fn changes(&self, e: &Expr) -> Changes {
        let mut all = Changes::default();
        e.walk(&mut |e| {
            let own = match e {
                Expr::ThreadIdx(_) | Expr::Load { .. } => Changes {
                    threads: true,
                    depth: 0,
                },
                Expr::Var(var) => self.of_vars.get(var).copied().unwrap_or_default(),
                _ => return,
            };
            all.threads |= own.threads;
            all.depth = all.depth.max(own.depth);
        });
        all
    }

    fn count(&self, e: &Expr, depth: usize, known: &mut HashSet<String>) -> f64 {
        let Expr::Binary(op, a, b) = e else {
            let own = match e {
                Expr::Call(Intrin::Dp4aU8S8, _) => DOT_OF_BYTES,
                _ => 0.0,
            };
            return self.below(e, None, depth, known) + own;
        };
        if self.kernel.ty(a).scalar.is_float() {
            return self.below(e, None, depth, known);
        }
        let changes = self.changes(e);
        if !changes.threads || changes.depth < depth || !known.insert(format!("{e:?}")) {
            return 0.0;
        }
        let is_constant = |e: &Expr| matches!(e, Expr::Int(..));
        let product = [a, b].into_iter().find(|side| {
            matches!(&***side, Expr::Binary(BinOp::Mul, ..)) && self.changes(side).threads
        });
        let below = match op {
            BinOp::Add | BinOp::Sub => {
                self.below(e, product.map(|product| &**product), depth, known)
            }
            _ => self.below(e, None, depth, known),
        };
        let own = match (op, &**b) {
            (BinOp::Add | BinOp::Sub, b) if is_constant(b) || is_constant(a) => 0.0,
            (BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod, Expr::Int(by, _)) => {
                match by.count_ones() {
                    1 => 1.0,
                    _ => DIVISION_BY_CONSTANT,
                }
            }
            (BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod, _) => DIVISION,
            _ => 1.0,
        };
        below + own
    }

    /// What is directly below, and below the product that is fused with an expression.
    fn below(
        &self,
        e: &Expr,
        fused: Option<&Expr>,
        depth: usize,
        known: &mut HashSet<String>,
    ) -> f64 {
        let children = e.children().into_iter().flat_map(|child| match fused {
            Some(product) if std::ptr::eq(product, child) => child.children(),
            _ => vec![child],
        });
        children.map(|child| self.count(child, depth, known)).sum()
    }
}
