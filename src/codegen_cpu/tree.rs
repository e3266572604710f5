//! Walks over kernel IR.

use crate::kernel::{Expr, Stmt};

/// Calls `f` with each direct operand.
pub(super) fn for_each_child<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match e {
        Expr::Int(_, _)
        | Expr::Float(_, _)
        | Expr::Var(_)
        | Expr::BlockIdx(_)
        | Expr::ThreadIdx(_) => {}
        Expr::Cast(_, a) | Expr::Not(a) | Expr::Splat(a, _) | Expr::Lane(a, _) => f(a),
        Expr::Binary(_, a, b) | Expr::Ramp(a, b, _) => {
            f(a);
            f(b);
        }
        Expr::Select(c, a, b) => {
            f(c);
            f(a);
            f(b);
        }
        Expr::Call(_, args) | Expr::Pack(args) => args.iter().for_each(f),
        Expr::Load {
            array: _,
            index,
            lanes: _,
        } => f(index),
    }
}

/// Calls `f` with the expression and everything in it, outside first.
pub(super) fn walk<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(e);
    for_each_child(e, &mut |child| walk(child, f));
}

/// Calls `stmt` with each statement and `expr` with each expression directly in one, nested ones included.
pub(super) fn walk_stmts<'a>(
    stmts: &'a [Stmt],
    stmt: &mut dyn FnMut(&'a Stmt),
    expr: &mut dyn FnMut(&'a Expr),
) {
    for s in stmts {
        stmt(s);
        match s {
            Stmt::Let(_, value) => expr(value),
            Stmt::Store {
                array: _,
                index,
                value,
            } => {
                expr(index);
                expr(value);
            }
            Stmt::For {
                var: _,
                min,
                extent,
                kind: _,
                body,
            } => {
                expr(min);
                expr(extent);
                walk_stmts(body, stmt, expr);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                expr(cond);
                walk_stmts(then, stmt, expr);
                walk_stmts(otherwise, stmt, expr);
            }
            Stmt::While { cond, body } => {
                expr(cond);
                walk_stmts(body, stmt, expr);
            }
            Stmt::Barrier => {}
        }
    }
}
