//! Simplification of generated expressions.

use std::collections::HashMap;

use arbitrary::{Arbitrary, Unstructured};
use weftile::arith::Analyzer;
use weftile::ir::{Expr, ExprKind, Range, Var};
use weftile::tensor::scalar::{BinOp, Scalar, eval_binary};
use weftile::tensor::{DType, ScalarType};

/// A random index expression over four variables.
fn generate(u: &mut Unstructured<'_>, vars: &[Var], depth: u32) -> arbitrary::Result<Expr> {
    if depth == 0 || u.ratio(1, 6)? {
        return Ok(if u.arbitrary()? {
            u.choose(vars)?.expr()
        } else {
            Expr::i32(u.int_in_range(-9..=17)?)
        });
    }
    let ops = [
        BinOp::Add,
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::FloorDiv,
        BinOp::FloorMod,
        BinOp::Min,
        BinOp::Max,
    ];
    let op = *u.choose(&ops)?;
    if u.ratio(1, 10)? {
        let cond = condition(u, vars, depth - 1)?;
        let (a, b) = (generate(u, vars, depth - 1)?, generate(u, vars, depth - 1)?);
        return Ok(Expr::select(cond, a, b));
    }
    let a = generate(u, vars, depth - 1)?;
    let b = match op {
        BinOp::FloorDiv | BinOp::FloorMod if u.ratio(2, 3)? => {
            Expr::i32(*u.choose(&[1, 2, 3, 4, 6, 8, 12])?)
        }
        BinOp::Mul if u.ratio(2, 3)? => Expr::i32(u.int_in_range(-4..=8)?),
        _ => generate(u, vars, depth - 1)?,
    };
    Ok(Expr::binary(op, a, b))
}

fn condition(u: &mut Unstructured<'_>, vars: &[Var], depth: u32) -> arbitrary::Result<Expr> {
    let ops = [
        BinOp::Lt,
        BinOp::Le,
        BinOp::Gt,
        BinOp::Ge,
        BinOp::Eq,
        BinOp::Ne,
    ];
    let op = *u.choose(&ops)?;
    let cond = Expr::binary(op, generate(u, vars, depth)?, generate(u, vars, depth)?);
    Ok(if depth > 0 && u.ratio(1, 4)? {
        let other = condition(u, vars, depth - 1)?;
        Expr::binary(*u.choose(&[BinOp::And, BinOp::Or])?, cond, other)
    } else {
        cond
    })
}

/// The value, or `None` where it divides by zero or leaves the range in which arithmetic is taken not to overflow.
fn eval(e: &Expr, env: &HashMap<Var, i64>) -> Option<i64> {
    let value = match e.kind() {
        ExprKind::Int(v) => *v,
        ExprKind::Var(v) => env[v],
        ExprKind::Not(a) => 1 - eval(a, env)?,
        ExprKind::Select(c, a, b) => {
            let (a, b) = (eval(a, env), eval(b, env));
            if eval(c, env)? != 0 { a? } else { b? }
        }
        // The left side guards the right one, as in the interpreter.
        ExprKind::Binary(BinOp::And, a, _) if eval(a, env)? == 0 => 0,
        ExprKind::Binary(BinOp::Or, a, _) if eval(a, env)? != 0 => 1,
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (eval(a, env)?, eval(b, env)?);
            eval_binary(*op, ScalarType::I64, Scalar::Int(a), Scalar::Int(b))
                .ok()?
                .as_int()
        }
        other => unreachable!("not generated: {other:?}"),
    };
    (value.abs() < 1 << 30).then_some(value)
}

/// A simpler expression has the value of the one it came from, lies within its bounds, and cannot be simplified further; what is simple
/// is shared, not copied.
pub(crate) fn check(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let vars = ["i", "j", "x", "n"].map(|name| Var::new(name, DType::I32));
    let mut facts = Analyzer::new();
    facts.bind(&vars[0], &Range::to(Expr::i32(8)));
    facts.bind(&vars[1], &Range::to(Expr::i32(4)));
    facts.bind_shape_var(&vars[3]);
    let e = if bool::arbitrary(u)? {
        generate(u, &vars, 4)?
    } else {
        condition(u, &vars, 3)?
    };
    let simple = facts.simplify(&e);
    let again = facts.simplify(&simple);
    assert!(
        again.same_as(&simple),
        "{e:?}\n -> {simple:?}\n -> {again:?}"
    );
    let bound = facts.bound(&e);
    for _ in 0..8 {
        let env: HashMap<Var, i64> = [
            (vars[0].clone(), u.int_in_range(0..=7)?),
            (vars[1].clone(), u.int_in_range(0..=3)?),
            (vars[2].clone(), u.int_in_range(-40..=40)?),
            (vars[3].clone(), u.int_in_range(1..=40)?),
        ]
        .into();
        let Some(value) = eval(&e, &env) else {
            continue;
        };
        assert_eq!(
            eval(&simple, &env),
            Some(value),
            "{e:?}\n -> {simple:?}\n{env:?}"
        );
        assert!(
            e.dtype().is_bool() || (bound.min <= value && value <= bound.max),
            "{e:?} = {value} is not in {bound:?}\n{env:?}"
        );
    }
    Ok(())
}
