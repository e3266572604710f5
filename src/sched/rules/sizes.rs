//! What open sizes usually are.

use crate::arith::Analyzer;
use crate::ir::{AttrValue, Expr, PrimFunc, Var, attrs};

/// What an open size is taken to be where nothing says more: eight sequences of eight tokens, eight images.
pub(super) const USUAL: i64 = 8;

/// What a size with this name is in a launch of usual size: the attribute `usual_sizes` says so of some.
pub fn usual_size(func: &PrimFunc, name: &str) -> i64 {
    let said = func.attrs.get(attrs::USUAL_SIZES);
    let said = said.and_then(|said| match said {
        AttrValue::Dict(sizes) => sizes.get(name),
        _ => None,
    });
    match said {
        Some(AttrValue::Int(size)) => *size,
        _ => USUAL,
    }
}

/// What an extent is in a launch of these sizes.
pub(super) fn usual_extent(extent: &Expr, size: &dyn Fn(&str) -> i64) -> i64 {
    let value = |var: &Var| Some(Expr::int(size(var.name()), var.dtype()));
    let known = Analyzer::new().simplify(&extent.substitute(&value));
    known.as_int().unwrap_or(USUAL)
}
