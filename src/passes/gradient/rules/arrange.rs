//! Operators that move elements, and those that make them of nothing.

use super::{Partials, Rule, Site, flat, ints};
use crate::ir::graph::Op;
use crate::ir::{AttrValue, Expr, StructInfo};
use crate::ops::op;
use crate::passes::gradient::tree::Tree;

pub(super) const RULES: &[(Op, Rule)] = &[
    (op("broadcast_to"), broadcast_to),
    (op("concat"), concat),
    (op("expand_dims"), expand_dims),
    (op("full"), flat),
    (op("full_like"), flat),
    (op("ones"), flat),
    (op("ones_like"), flat),
    (op("permute_dims"), permute_dims),
    (op("reshape"), reshape),
    (op("split"), split),
    (op("zeros"), flat),
    (op("zeros_like"), flat),
];

fn broadcast_to(site: &mut Site<'_>) -> Partials {
    let dims = Tree::shape(&site.dims(0)?);
    let sum = Tree::of("collapse_sum_to", &[&site.dy, &dims]);
    Ok(vec![Some(sum), None])
}

/// The parts of `dy`.
fn concat(site: &mut Site<'_>) -> Partials {
    let known = site.builder.scope().arg(&site.args[0]);
    let StructInfo::Tuple(items) = known else {
        return Err(site.unknown("that the operand is a tuple"));
    };
    let axis = site.axes("axis").and_then(|axes| axes.first().copied());
    let axis = axis.unwrap_or(0);
    let extents = items.iter().map(|info| {
        let dims = info.as_tensor()?.shape.dims()?;
        let at = if axis < 0 {
            axis + dims.len() as i64
        } else {
            axis
        };
        dims.get(usize::try_from(at).ok()?).and_then(Expr::as_int)
    });
    let Some(extents) = extents.collect::<Option<Vec<i64>>>() else {
        return Err(site.unknown("an extent of the operands"));
    };
    let ends = extents.iter().scan(0, |end, extent| {
        *end += extent;
        Some(*end)
    });
    let ends: Vec<i64> = ends.take(extents.len() - 1).collect();
    let attrs = [
        ("indices_or_sections", ints(&ends)),
        ("axis", AttrValue::Int(axis)),
    ];
    Ok(vec![Some(Tree::with("split", &[&site.dy], attrs))])
}

fn expand_dims(site: &mut Site<'_>) -> Partials {
    let axis = site.attrs.get("axis").cloned().unwrap_or(AttrValue::None);
    Ok(vec![Some(Tree::with(
        "squeeze",
        &[&site.dy],
        [("axis", axis)],
    ))])
}

/// `dy` with its dimensions back.
fn permute_dims(site: &mut Site<'_>) -> Partials {
    let Some(axes) = site.axes("axes") else {
        return Ok(vec![Some(Tree::of("permute_dims", &[&site.dy]))]);
    };
    let count = axes.len() as i64;
    let mut back = vec![0; axes.len()];
    for (at, axis) in axes.iter().enumerate() {
        back[axis.rem_euclid(count) as usize] = at as i64;
    }
    let attrs = [("axes", ints(&back))];
    Ok(vec![Some(Tree::with("permute_dims", &[&site.dy], attrs))])
}

fn reshape(site: &mut Site<'_>) -> Partials {
    let dims = Tree::shape(&site.dims(0)?);
    let back = Tree::of("reshape", &[&site.dy, &dims]);
    Ok(vec![Some(back), None])
}

fn split(site: &mut Site<'_>) -> Partials {
    let axis = site.attrs.get("axis").cloned().unwrap_or(AttrValue::Int(0));
    Ok(vec![Some(Tree::with(
        "concat",
        &[&site.dy],
        [("axis", axis)],
    ))])
}
