//! Products of matrices, and functions of neural networks.

use super::{Partials, Rule, Site, ints};
use crate::ir::AttrValue;
use crate::ir::graph::Op;
use crate::ops::op;
use crate::passes::gradient::tree::Tree;

pub(super) const RULES: &[(Op, Rule)] = &[
    (op("matmul"), matmul),
    (
        op("nn.cross_entropy_with_logits"),
        cross_entropy_with_logits,
    ),
    (op("nn.log_softmax"), log_softmax),
    (op("nn.relu"), relu),
    (op("nn.silu"), silu),
    (op("nn.softmax"), softmax),
];

/// The matrices transposed.
fn transposed(tensor: &Tree, ndim: usize) -> Tree {
    let mut axes: Vec<i64> = (0..ndim as i64).collect();
    axes.swap(ndim - 2, ndim - 1);
    Tree::with("permute_dims", &[tensor], [("axes", ints(&axes))])
}

fn expanded(tensor: &Tree, axis: i64) -> Tree {
    Tree::with("expand_dims", &[tensor], [("axis", ints(&[axis]))])
}

/// `dy @ b.T`, `a.T @ dy`; a vector is a matrix of one row or column.
fn matmul(site: &mut Site<'_>) -> Partials {
    let (a, b) = (site.x(0), site.x(1));
    let dy = site.dy.clone();
    let product = |a: &Tree, b: &Tree| Tree::of("matmul", &[a, b]);
    let (da, db) = match (site.dims(0)?.len(), site.dims(1)?.len()) {
        (1, 1) => (
            Tree::of("multiply", &[&dy, &b]),
            Tree::of("multiply", &[&dy, &a]),
        ),
        (1, n) => {
            let row = expanded(&dy, -2);
            (
                product(&row, &transposed(&b, n)),
                product(&expanded(&a, 1), &row),
            )
        }
        (m, 1) => {
            let column = expanded(&dy, -1);
            let db = product(&transposed(&a, m), &column);
            (
                product(&column, &expanded(&b, 0)),
                Tree::with("squeeze", &[&db], [("axis", ints(&[-1]))]),
            )
        }
        (m, n) => (
            product(&dy, &transposed(&b, n)),
            product(&transposed(&a, m), &dy),
        ),
    };
    Ok(vec![site.fit(da, 0)?, site.fit(db, 1)?])
}

/// `-dy * b`, `-dy * a`, of batches divided by their size
fn cross_entropy_with_logits(site: &mut Site<'_>) -> Partials {
    let dims = site.dims(0)?;
    let mut dy = site.dy.clone();
    if let [batch, _, ..] = dims.as_slice() {
        let batch = batch.as_int();
        let batch = batch.ok_or_else(|| site.unknown("the size of the batch"))?;
        dy = Tree::of("divide", &[&dy, &site.number(batch as f64, 0)?]);
    }
    let negative = || Tree::of("negative", &[&dy]);
    Ok(vec![
        Some(Tree::of("multiply", &[&negative(), &site.x(1)])),
        Some(Tree::of("multiply", &[&negative(), &site.x(0)])),
    ])
}

/// The sum of the classes, once for each.
fn class_sum(site: &Site<'_>, tensor: &Tree) -> Tree {
    let axis = site.axes("axis").unwrap_or_else(|| vec![-1]);
    let attrs = [("axis", ints(&axis)), ("keepdims", AttrValue::Bool(true))];
    Tree::with("sum", &[tensor], attrs)
}

/// `dy - sum(dy) * exp(y)`
fn log_softmax(site: &mut Site<'_>) -> Partials {
    let sum = class_sum(site, &site.dy);
    let shares = Tree::of("multiply", &[&sum, &Tree::of("exp", &[&site.y])]);
    Ok(vec![Some(Tree::of("subtract", &[&site.dy, &shares]))])
}

/// `where(x < 0, 0, dy)`
fn relu(site: &mut Site<'_>) -> Partials {
    let zero = site.number(0.0, 0)?;
    let negative = Tree::of("less", &[&site.x(0), &zero]);
    Ok(vec![Some(Tree::of("where", &[&negative, &zero, &site.dy]))])
}

/// `dy * (sigmoid(x) + y * (1 - sigmoid(x)))`
fn silu(site: &mut Site<'_>) -> Partials {
    let sigmoid = Tree::of("sigmoid", &[&site.x(0)]);
    let rest = Tree::of("subtract", &[&site.number(1.0, 0)?, &sigmoid]);
    let rest = Tree::of("multiply", &[&site.y, &rest]);
    let slope = Tree::of("add", &[&sigmoid, &rest]);
    Ok(vec![Some(Tree::of("multiply", &[&site.dy, &slope]))])
}

/// `(dy - sum(dy * y)) * y`
fn softmax(site: &mut Site<'_>) -> Partials {
    let sum = class_sum(site, &Tree::of("multiply", &[&site.dy, &site.y]));
    let difference = Tree::of("subtract", &[&site.dy, &sum]);
    Ok(vec![Some(Tree::of("multiply", &[&difference, &site.y]))])
}
