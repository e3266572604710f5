//! Affine iteration maps: which index expressions are splits and fusions of loop variables, and how they cover them.
//!
//! A *mark* is an iteration space: an input variable, or a sum of splits seen as one space (a fusion). A *split* is a part of a
//! mark, `((mark // lower_factor) % extent) · scale`. A *sum* adds splits and a base that uses no input. Every index that is
//! built from its inputs by `split` and `fuse` of loops becomes one split of one mark plus a base; that such indices are
//! independent of each other and cover their marks is then a question about factors only.
//!
//! ```text
//! i in 0..12:   i // 4       = split(i, lower 4, extent 3)
//!               i % 4        = split(i, lower 1, extent 4)
//! i0 in 0..3, i1 in 0..4:   i0 * 4 + i1 = split(mark(split(i0)·4 + split(i1), extent 12))
//! ```
//!
//! A map has one integer type, the widest one of its inputs and indices: `int32` and `int64` meet where a fused loop is as wide as the
//! widest of its loops. A conversion between the two counts for what it converts where it keeps the value.
//!
//! Reference: TVM's `DetectIterMap` and "TensorIR" (ASPLOS 2023), section 3.3 (quasi-affine loop nest validation).

mod check;
mod constraint;
mod cover;
mod digit;
mod fuse;
mod invert;
mod pad;
mod rewrite;
mod subspace;

pub use subspace::{Division, SubspacePart, subspace_divide};

use super::Analyzer;
use crate::ir::sum::is_index;
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::DType;

/// Names an [`IterMark`] of one [`IterMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MarkId(usize);

/// What a mark iterates over.
#[derive(Clone, Debug)]
pub enum MarkSource {
    /// An input variable, in the type of the map, less its first value.
    Input(Expr),
    /// A fusion.
    Sum(IterSum),
}

/// An iteration space `0 .. extent`.
#[derive(Clone, Debug)]
pub struct IterMark {
    /// What it is made of.
    pub source: MarkSource,
    /// Number of values.
    pub extent: Expr,
}

/// `((mark // lower_factor) % extent) · scale`
#[derive(Clone, Debug, PartialEq)]
pub struct IterSplit {
    /// The split space.
    pub mark: MarkId,
    /// Size of the parts below this one.
    pub lower_factor: Expr,
    /// Number of values of this part.
    pub extent: Expr,
    /// Factor in the sum.
    pub scale: Expr,
}

/// Splits and a base that uses no input.
#[derive(Clone, Debug, PartialEq)]
pub struct IterSum {
    /// The splits.
    pub args: Vec<IterSplit>,
    /// The base.
    pub base: Expr,
}

/// How the values of the inputs must be covered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IterMapLevel {
    /// Each combination of index values comes from exactly one combination of inputs.
    Bijective,
    /// Each combination of index values, in their extents, comes from at least one.
    Surjective,
    /// Only the form is asked for.
    NoCheck,
}

/// What becomes of iterations with a single value, and of loops that run once (TVM: `preserve_unit_iters`,
/// `preserve_unit_loops`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnitIters {
    /// Replaced by the value.
    #[default]
    Simplify,
    /// Kept as iterations.
    Preserve,
}

impl From<bool> for UnitIters {
    fn from(preserve: bool) -> Self {
        if preserve {
            Self::Preserve
        } else {
            Self::Simplify
        }
    }
}

/// An iterator that an index cuts where it does not come out even, as part of a longer one.
#[derive(Clone, Debug)]
pub struct Padded {
    /// The longer one; its source is the iterator plus `left`.
    pub mark: MarkId,
    /// What its extent is a multiple of.
    pub factor: Expr,
    /// Number of values before those of the iterator.
    pub left: Expr,
    /// The first value after those of the iterator.
    pub end: Expr,
}

/// Indices as sums of splits.
#[derive(Clone, Debug)]
pub struct IterMap {
    /// All marks.
    pub marks: Vec<IterMark>,
    /// One sum for each index; a split at most, besides the base.
    pub indices: Vec<IterSum>,
    /// Marks that are longer than what they are made of.
    pub padded: Vec<Padded>,
}

/// Why indices are no affine iteration map.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IterMapError {
    /// The range of an input uses another input.
    #[error("the range of `{var}` depends on another iterator")]
    DependentRanges {
        /// The input.
        var: String,
    },
    /// The predicate is no conjunction of comparisons of indices.
    #[error("the predicate `{predicate:#}` is no conjunction of bounds")]
    Predicate {
        /// The predicate, or the part of it.
        predicate: Expr,
    },
    /// Two bounds of the predicate overlap in part.
    #[error("the bounds of the predicate overlap in part")]
    OverlappingConstraints,
    /// An operator other than `+ - * // %`, or one whose right operand is an iterator.
    #[error("`{expr:#}` is not affine in the iterators")]
    NotAffine {
        /// The expression.
        expr: Expr,
    },
    /// A sum is no fusion of its splits.
    #[error("the parts of `{expr:#}` do not fuse into one iterator")]
    NotFusable {
        /// The expression.
        expr: Expr,
    },
    /// A division does not fall on a boundary of the split.
    #[error("`{expr:#}` cuts an iterator at a point that divides neither it nor its scale")]
    NotDivisible {
        /// The expression.
        expr: Expr,
    },
    /// Splits of one mark overlap or leave gaps.
    #[error("the indices are not independent, or do not cover their iterators")]
    NotIndependent,
    /// An input is not used.
    #[error("not every iterator is used")]
    UnusedInput,
}

/// Writes the indices as splits of the inputs, under the predicate, and checks that they cover them as the level asks.
///
/// # Errors
/// If they are no such map, or not known to be one.
pub fn detect_iter_map(
    facts: &Analyzer,
    indices: &[Expr],
    inputs: &[(Var, Range)],
    predicate: &Expr,
    level: IterMapLevel,
    units: UnitIters,
) -> Result<IterMap, IterMapError> {
    for (var, range) in inputs {
        let depends = |e: &Expr| inputs.iter().any(|(input, _)| e.uses(input));
        if depends(&range.min) || depends(&range.extent) {
            let var = var.name().to_owned();
            return Err(IterMapError::DependentRanges { var });
        }
    }
    let dtype = index_type(indices, inputs, predicate);
    let (inputs, constraints) = constraint::collect(facts, predicate, inputs)?;
    let mut rewriter = rewrite::Rewriter::new(facts, &inputs, dtype, level, units);
    for constraint in &constraints {
        rewriter.constrain(constraint)?;
    }
    rewriter.check_constraints()?;
    let indices = rewriter.rewrite_all(indices)?;
    rewriter.check_mapping(&indices)?;
    let padded = rewriter.padded();
    Ok(IterMap {
        marks: rewriter.into_marks(),
        indices,
        padded,
    })
}

/// The widest type of index arithmetic here.
fn index_type(indices: &[Expr], inputs: &[(Var, Range)], predicate: &Expr) -> DType {
    let mut is_wide = inputs.iter().any(|(var, _)| var.dtype() == DType::I64);
    for e in indices.iter().chain([predicate]) {
        is_wide |= has_int64(e);
    }
    if is_wide { DType::I64 } else { DType::I32 }
}

/// Whether part of the arithmetic is done in `int64`; what is loaded is no part of it.
fn has_int64(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= e.dtype() == DType::I64;
        !found && !matches!(e.kind(), ExprKind::Load(..))
    });
    found
}

/// The value of an index of a map in the type that the index has. Arithmetic of an index that is all in `int32` stays in it.
fn in_type_of(index: &Expr, value: &Expr) -> Expr {
    if value.dtype() == index.dtype() || !is_index(index.dtype()) {
        return value.clone();
    }
    let narrowed = (!has_int64(index)).then(|| narrow(value)).flatten();
    narrowed.unwrap_or_else(|| value.cast(index.dtype()))
}

/// `int64` arithmetic of `int32` values, in `int32`.
fn narrow(e: &Expr) -> Option<Expr> {
    match e.kind() {
        ExprKind::Int(value) => {
            let value = i32::try_from(*value).ok()?;
            Some(Expr::i32(value))
        }
        ExprKind::Cast(inner) if inner.dtype() == DType::I32 => Some(inner.clone()),
        ExprKind::Binary(op, a, b) => Some(Expr::binary(*op, narrow(a)?, narrow(b)?)),
        _ => None,
    }
}

/// The indices written with the fewest divisions and remainders, if they are an affine iteration map; else as they are.
pub fn iter_map_simplify(
    facts: &Analyzer,
    indices: &[Expr],
    inputs: &[(Var, Range)],
    predicate: &Expr,
    level: IterMapLevel,
    units: UnitIters,
) -> Vec<Expr> {
    let detect =
        |predicate: &Expr| detect_iter_map(facts, indices, inputs, predicate, level, units);
    let map = detect(predicate).or_else(|error| {
        // A map that holds for all inputs holds for those that the predicate lets through.
        let relax = predicate.as_bool().is_none() && level != IterMapLevel::Bijective;
        if relax {
            detect(&Expr::bool(true))
        } else {
            Err(error)
        }
    });
    match map {
        Ok(map) => (indices.iter().zip(&map.indices))
            .map(|(index, sum)| in_type_of(index, &map.sum_to_expr(facts, sum)))
            .collect(),
        Err(_) => indices.to_vec(),
    }
}

impl IterMap {
    /// The sum as an expression of the inputs.
    pub fn sum_to_expr(&self, facts: &Analyzer, sum: &IterSum) -> Expr {
        to_expr(facts, &self.marks, sum)
    }

    /// The mark with this name.
    pub fn mark(&self, id: MarkId) -> &IterMark {
        &self.marks[id.0]
    }
}

/// The sum as an expression of the inputs.
fn to_expr(facts: &Analyzer, marks: &[IterMark], sum: &IterSum) -> Expr {
    let zero = Expr::int(0, sum.base.dtype());
    let add = |a: Expr, b: Expr| match (a.is_zero(), b.is_zero()) {
        (true, _) => b,
        (_, true) => a,
        _ => a + b,
    };
    let args = sum.args.iter().fold(zero, |total, arg| {
        add(total, split_to_expr(facts, marks, arg))
    });
    add(args, sum.base.clone())
}

fn split_to_expr(facts: &Analyzer, marks: &[IterMark], split: &IterSplit) -> Expr {
    let mark = &marks[split.mark.0];
    let source = match &mark.source {
        MarkSource::Input(e) => e.clone(),
        MarkSource::Sum(sum) => to_expr(facts, marks, sum),
    };
    let scaled = |e: Expr| {
        if split.scale.is_one() {
            e
        } else {
            e * &split.scale
        }
    };
    let divided = |e: Expr| {
        if split.lower_factor.is_one() {
            e
        } else {
            e.floor_div(&split.lower_factor)
        }
    };
    if split.lower_factor.is_one() && facts.can_prove_equal(&split.extent, &mark.extent) {
        return scaled(source);
    }
    let reach = facts.simplify(&(&split.extent * &split.lower_factor));
    if facts.can_prove_equal(&mark.extent, &reach) {
        if split.extent.is_one() && !mark.extent.is_one() {
            return Expr::int(0, split.extent.dtype());
        }
        return scaled(divided(source));
    }
    scaled(divided(source.floor_mod(reach)))
}

#[cfg(test)]
mod tests;
