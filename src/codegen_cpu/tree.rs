//! Walks over kernel IR.

use crate::kernel::{Expr, Stmt, VarId};

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

/// Whether the expression reads an array.
pub(super) fn loads(e: &Expr) -> bool {
    let mut found = matches!(
        e,
        Expr::Load {
            array: _,
            index: _,
            lanes: _
        }
    );
    for_each_child(e, &mut |child| found |= loads(child));
    found
}

/// The expression with `f` applied to each direct operand.
pub(super) fn map_children(e: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    let mut boxed = |e: &Expr| Box::new(f(e));
    match e {
        Expr::Int(_, _)
        | Expr::Float(_, _)
        | Expr::Var(_)
        | Expr::BlockIdx(_)
        | Expr::ThreadIdx(_) => e.clone(),
        Expr::Cast(ty, a) => Expr::Cast(*ty, boxed(a)),
        Expr::Not(a) => Expr::Not(boxed(a)),
        Expr::Splat(a, lanes) => Expr::Splat(boxed(a), *lanes),
        Expr::Lane(a, lane) => Expr::Lane(boxed(a), *lane),
        Expr::Binary(op, a, b) => Expr::Binary(*op, boxed(a), boxed(b)),
        Expr::Ramp(a, b, lanes) => Expr::Ramp(boxed(a), boxed(b), *lanes),
        Expr::Select(c, a, b) => Expr::Select(boxed(c), boxed(a), boxed(b)),
        Expr::Call(intrin, args) => Expr::Call(*intrin, args.iter().map(f).collect()),
        Expr::Pack(args) => Expr::Pack(args.iter().map(f).collect()),
        Expr::Load {
            array,
            index,
            lanes,
        } => Expr::Load {
            array: *array,
            index: boxed(index),
            lanes: *lanes,
        },
    }
}

/// Whether the expression mentions the variable.
pub(super) fn uses(e: &Expr, var: VarId) -> bool {
    let mut found = false;
    walk(e, &mut |e| found |= *e == Expr::Var(var));
    found
}

/// The expression with the variable replaced.
pub(super) fn substitute(e: &Expr, var: VarId, by: &Expr) -> Expr {
    rewrite(e, &mut |e| (*e == Expr::Var(var)).then(|| by.clone()))
}

/// The expression with every part for which `f` gives another one replaced; replaced parts are not looked into.
pub(super) fn rewrite(e: &Expr, f: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    f(e).unwrap_or_else(|| map_children(e, &mut |child| rewrite(child, f)))
}

/// Applies `f` to each expression directly in one of the statements, nested ones included.
pub(super) fn map_exprs(stmts: &mut [Stmt], f: &mut dyn FnMut(&Expr) -> Expr) {
    for s in stmts {
        match s {
            Stmt::Let(_, value) => *value = f(value),
            Stmt::Store {
                array: _,
                index,
                value,
            } => {
                *index = f(index);
                *value = f(value);
            }
            Stmt::For {
                var: _,
                min,
                extent,
                kind: _,
                body,
            } => {
                *min = f(min);
                *extent = f(extent);
                map_exprs(body, f);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                *cond = f(cond);
                map_exprs(then, f);
                map_exprs(otherwise, f);
            }
            Stmt::While { cond, body } => {
                *cond = f(cond);
                map_exprs(body, f);
            }
            Stmt::Barrier => {}
        }
    }
}
