//! Merges what blocks of parts of the keys give: for each row its maximum, the sum of its weights, and the values that they mix, which
//! are not divided yet. A part that a row sees nothing of has the maximum minus infinity, and counts for nothing.
//!
//! ```text
//! greatest = max(maximum[p] for p in parts)
//! weights  = exp(maximum - greatest)
//! result   = sum(weights * mixed) / sum(weights * total)
//! ```

use super::writer::{exp, finite, float, load, local};
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::topi::extent::{quotient, remainder, scaled, sum};

/// The result of parts.
///
/// # Shapes
/// `mixed` is `[batch, heads_kv, rows, parts, size_v]`; the maxima and sums lack the last dimension. A row is a query and one of the
/// `group` heads that share keys. `shape` is `[batch, seq, heads, size_v]`.
pub(super) fn merge(
    name: &str,
    parts: &[Tensor],
    group: i64,
    shape: [Expr; 4],
    dtype: DType,
) -> Tensor {
    let groups = parts[1].shape()[1].clone();
    let axes = [
        shape[0].clone(),
        groups,
        scaled(&shape[1], group),
        shape[3].clone(),
    ];
    let result = vec![(shape.to_vec(), dtype)];
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let [batch, shared, row, element] = at.as_slice() else {
            unreachable!("there are four axes")
        };
        let mean = mean(b, from, [batch, shared, row], element);
        let heads = Expr::i64(group);
        let head = sum(&scaled(shared, group), &remainder(row, &heads));
        let place = [batch.clone(), quotient(row, &heads), head, element.clone()];
        b.store(&to[0], place, mean.cast(dtype));
    };
    te::extern_each(name, axes, parts, result, write).remove(0)
}

/// Writes the loops over the parts of a row; gives its mean of an element.
fn mean(b: &mut PrimFuncBuilder, from: &[Buffer], row: [&Expr; 3], element: &Expr) -> Expr {
    let [mixed, maximum, total] = from else {
        unreachable!("parts have three tensors")
    };
    let first = Expr::i64(0);
    let [greatest, sums, values] =
        ["greatest", "sums", "values"].map(|name| local(b, name, [Expr::i64(1)]));
    let of = |buffer: &Buffer| load(buffer, [&first]);
    let of_part = |buffer: &Buffer, part: &Expr| load(buffer, row.into_iter().chain([part]));
    let parts = || [("p", maximum.shape()[3].clone())];
    b.store(&greatest, [&first], te::lowest(DType::F32));
    b.grid(parts(), |b, p| {
        let raised = of(&greatest).max(of_part(maximum, &p[0].expr()));
        b.store(&greatest, [&first], raised);
    });
    b.store(&greatest, [&first], finite(of(&greatest)));
    b.store(&sums, [&first], float(0.0));
    b.store(&values, [&first], float(0.0));
    b.grid(parts(), |b, p| {
        let part = p[0].expr();
        let weight = exp(of_part(maximum, &part) - of(&greatest));
        let added = of(&sums) + weight.clone() * of_part(total, &part);
        b.store(&sums, [&first], added);
        let value = load(mixed, row.into_iter().chain([&part, element]));
        b.store(&values, [&first], of(&values) + weight * value);
    });
    of(&values) / of(&sums)
}
