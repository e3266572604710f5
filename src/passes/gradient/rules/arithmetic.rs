//! Operators that compute element by element.

use super::{Partials, Rule, Site, flat};
use crate::ir::AttrValue;
use crate::ir::graph::Op;
use crate::ops::op;
use crate::passes::gradient::tree::Tree;

pub(super) const RULES: &[(Op, Rule)] = &[
    (op("abs"), abs),
    (op("add"), add),
    (op("astype"), astype),
    (op("cos"), cos),
    (op("divide"), divide),
    (op("equal"), flat),
    (op("exp"), exp),
    (op("greater"), flat),
    (op("greater_equal"), flat),
    (op("less"), flat),
    (op("less_equal"), flat),
    (op("log"), log),
    (op("maximum"), maximum),
    (op("minimum"), minimum),
    (op("multiply"), multiply),
    (op("negative"), negative),
    (op("not_equal"), flat),
    (op("power"), power),
    (op("sigmoid"), sigmoid),
    (op("sin"), sin),
    (op("sqrt"), sqrt),
    (op("subtract"), subtract),
    (op("tanh"), tanh),
    (op("where"), select),
];

/// `dy * d`
fn times(site: &Site<'_>, d: &Tree) -> Partials {
    Ok(vec![Some(Tree::of("multiply", &[&site.dy, d]))])
}

/// `dy * where(x < 0, -1, 1)`
fn abs(site: &mut Site<'_>) -> Partials {
    let (zero, one) = (site.number(0.0, 0)?, site.number(1.0, 0)?);
    let negative = Tree::of("less", &[&site.x(0), &zero]);
    let sign = Tree::of("where", &[&negative, &Tree::of("negative", &[&one]), &one]);
    times(site, &sign)
}

/// `dy`, `dy`
fn add(site: &mut Site<'_>) -> Partials {
    let dy = site.dy.clone();
    Ok(vec![site.fit(dy.clone(), 0)?, site.fit(dy, 1)?])
}

fn astype(site: &mut Site<'_>) -> Partials {
    let dtype = AttrValue::DType(site.dtype(0)?);
    Ok(vec![Some(Tree::with(
        "astype",
        &[&site.dy],
        [("dtype", dtype)],
    ))])
}

/// `-dy * sin(x)`
fn cos(site: &mut Site<'_>) -> Partials {
    let negative = Tree::of("negative", &[&site.dy]);
    let sin = Tree::of("sin", &[&site.x(0)]);
    Ok(vec![Some(Tree::of("multiply", &[&negative, &sin]))])
}

/// `dy / b`, `-dy * y / b`
fn divide(site: &mut Site<'_>) -> Partials {
    let b = site.x(1);
    let first = Tree::of("divide", &[&site.dy, &b]);
    let negative = Tree::of("negative", &[&site.dy]);
    let product = Tree::of("multiply", &[&negative, &site.y]);
    let first = site.fit(first, 0)?;
    Ok(vec![
        first,
        site.fit(Tree::of("divide", &[&product, &b]), 1)?,
    ])
}

/// `dy * y`
fn exp(site: &mut Site<'_>) -> Partials {
    times(site, &site.y)
}

/// `dy / x`
fn log(site: &mut Site<'_>) -> Partials {
    Ok(vec![Some(Tree::of("divide", &[&site.dy, &site.x(0)]))])
}

/// `where(a < b, 0, dy)`, `where(a >= b, 0, dy)`
fn maximum(site: &mut Site<'_>) -> Partials {
    chosen(site, "less", "greater_equal")
}

/// `where(a >= b, 0, dy)`, `where(a < b, 0, dy)`
fn minimum(site: &mut Site<'_>) -> Partials {
    chosen(site, "greater_equal", "less")
}

/// Nothing, where the comparison of the operands says so.
fn chosen(site: &mut Site<'_>, first: &'static str, second: &'static str) -> Partials {
    let zero = site.number(0.0, 0)?;
    let mut masked = |compare, at| {
        let mask = Tree::of(compare, &[&site.x(0), &site.x(1)]);
        let partial = Tree::of("where", &[&mask, &zero, &site.dy]);
        site.fit(partial, at)
    };
    Ok(vec![masked(first, 0)?, masked(second, 1)?])
}

/// `dy * b`, `dy * a`
fn multiply(site: &mut Site<'_>) -> Partials {
    let first = Tree::of("multiply", &[&site.dy, &site.x(1)]);
    let second = Tree::of("multiply", &[&site.dy, &site.x(0)]);
    Ok(vec![site.fit(first, 0)?, site.fit(second, 1)?])
}

/// `-dy`
fn negative(site: &mut Site<'_>) -> Partials {
    Ok(vec![Some(Tree::of("negative", &[&site.dy]))])
}

/// `dy * b * a ** (b - 1)`, `dy * y * log(a)`: the second one has a meaning for positive `a` alone.
fn power(site: &mut Site<'_>) -> Partials {
    let (a, b, one) = (site.x(0), site.x(1), site.number(1.0, 1)?);
    let less = Tree::of("subtract", &[&b, &one]);
    let first = Tree::of("multiply", &[&site.dy, &b]);
    let first = Tree::of("multiply", &[&first, &Tree::of("power", &[&a, &less])]);
    let second = Tree::of("multiply", &[&site.dy, &site.y]);
    let second = Tree::of("multiply", &[&second, &Tree::of("log", &[&a])]);
    Ok(vec![site.fit(first, 0)?, site.fit(second, 1)?])
}

/// `where(c, dy, 0)`, `where(c, 0, dy)`
fn select(site: &mut Site<'_>) -> Partials {
    let (a, b) = (site.number(0.0, 1)?, site.number(0.0, 2)?);
    let first = Tree::of("where", &[&site.x(0), &site.dy, &a]);
    let second = Tree::of("where", &[&site.x(0), &b, &site.dy]);
    Ok(vec![None, site.fit(first, 1)?, site.fit(second, 2)?])
}

/// `dy * y * (1 - y)`
fn sigmoid(site: &mut Site<'_>) -> Partials {
    let rest = Tree::of("subtract", &[&site.number(1.0, 0)?, &site.y]);
    let product = Tree::of("multiply", &[&site.dy, &site.y]);
    Ok(vec![Some(Tree::of("multiply", &[&product, &rest]))])
}

/// `dy * cos(x)`
fn sin(site: &mut Site<'_>) -> Partials {
    times(site, &Tree::of("cos", &[&site.x(0)]))
}

/// `0.5 * dy / y`
fn sqrt(site: &mut Site<'_>) -> Partials {
    let half = Tree::of("multiply", &[&site.number(0.5, 0)?, &site.dy]);
    Ok(vec![Some(Tree::of("divide", &[&half, &site.y]))])
}

/// `dy`, `-dy`
fn subtract(site: &mut Site<'_>) -> Partials {
    let dy = site.dy.clone();
    let first = site.fit(dy.clone(), 0)?;
    Ok(vec![first, site.fit(Tree::of("negative", &[&dy]), 1)?])
}

/// `dy * (1 - y * y)`
fn tanh(site: &mut Site<'_>) -> Partials {
    let square = Tree::of("multiply", &[&site.y, &site.y]);
    times(
        site,
        &Tree::of("subtract", &[&site.number(1.0, 0)?, &square]),
    )
}
