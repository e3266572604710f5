//! Reductions.

use super::{Partials, Rule, Site, ints};
use crate::ir::graph::Op;
use crate::ir::{AttrValue, Expr};
use crate::ops::op;
use crate::passes::gradient::Made;
use crate::passes::gradient::tree::Tree;

pub(super) const RULES: &[(Op, Rule)] = &[
    (op("mean"), mean),
    (op("sum"), sum),
    (op("variance"), variance),
];

/// `dy` with the reduced dimensions, as extents of 1.
fn with_axes(site: &Site<'_>, dy: &Tree) -> Tree {
    match site.axes("axis") {
        Some(axes) if !axes.is_empty() && !site.flag("keepdims") => {
            Tree::with("expand_dims", &[dy], [("axis", ints(&axes))])
        }
        _ => dy.clone(),
    }
}

/// How many elements become one.
fn count(site: &Site<'_>) -> Made<f64> {
    let dims = site.dims(0)?;
    let extents = dims.iter().map(Expr::as_int);
    let extents: Option<Vec<i64>> = extents.collect();
    let extents = extents.ok_or_else(|| site.unknown("an extent of the operand"))?;
    let ndim = extents.len() as i64;
    let product: i64 = match site.axes("axis") {
        Some(axes) => axes
            .iter()
            .map(|axis| extents[axis.rem_euclid(ndim) as usize])
            .product(),
        None => extents.iter().product(),
    };
    Ok(product as f64)
}

/// `dy / count`, for each element
fn mean(site: &mut Site<'_>) -> Partials {
    let count = count(site)?;
    let share = Tree::of("divide", &[&site.dy, &site.number(count, 0)?]);
    let share = with_axes(site, &share);
    let dims = Tree::shape(&site.dims(0)?);
    Ok(vec![Some(Tree::of("broadcast_to", &[&share, &dims]))])
}

/// `dy`, for each element
fn sum(site: &mut Site<'_>) -> Partials {
    let dy = with_axes(site, &site.dy);
    let dims = Tree::shape(&site.dims(0)?);
    Ok(vec![Some(Tree::of("broadcast_to", &[&dy, &dims]))])
}

/// `dy * (2 / count * x - 2 / count ** 2 * sum(x))`
fn variance(site: &mut Site<'_>) -> Partials {
    let count = count(site)?;
    let axis = site.attrs.get("axis").cloned().unwrap_or(AttrValue::None);
    let keepdims = AttrValue::Bool(true);
    let sum = Tree::with(
        "sum",
        &[&site.x(0)],
        [("axis", axis), ("keepdims", keepdims)],
    );
    let own = Tree::of("multiply", &[&site.number(2.0 / count, 0)?, &site.x(0)]);
    let all = Tree::of("multiply", &[&site.number(2.0 / count / count, 0)?, &sum]);
    let difference = Tree::of("subtract", &[&own, &all]);
    let dy = with_axes(site, &site.dy);
    Ok(vec![Some(Tree::of("multiply", &[&dy, &difference]))])
}
