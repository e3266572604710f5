//! A map of the indices of a buffer: the new shape, the way back, and the places that no element has.

use crate::arith::Analyzer;
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::ir::{BlockId, Buffer, Expr, ExprKind, Lambda, Range, Var};
use crate::sched::Refusal;
use crate::sched::error::LayoutReason;
use crate::sched::reindex_cache::extents;
use crate::tensor::DType;

/// Whether a map is shown to give each element a place of its own, or the caller says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Injectivity {
    /// It is shown, or the map is refused.
    #[default]
    Proved,
    /// The caller says so (TVM: `assume_injective_transform`).
    Assumed,
}

impl From<bool> for Injectivity {
    fn from(assumed: bool) -> Self {
        if assumed { Self::Assumed } else { Self::Proved }
    }
}

/// The map of a buffer's indices, with the type that these have.
pub(super) struct LayoutMap {
    params: Vec<Var>,
    results: Vec<Expr>,
    /// The new extents.
    pub(super) shape: Vec<Expr>,
    /// Names for the new indices.
    pub(super) places: Vec<Var>,
    /// The old indices in terms of `places`; none of a map that is only assumed to have a way back.
    pub(super) inverse: Vec<Expr>,
    /// Where there is no element, in terms of `places`.
    pub(super) padding: Expr,
}

impl LayoutMap {
    pub(super) fn check(
        block: BlockId,
        buffer: &Buffer,
        map: &Lambda,
        injectivity: Injectivity,
        facts: &Analyzer,
    ) -> Result<Self, Refusal> {
        let name = || buffer.name().to_owned();
        if map.params.len() != buffer.ndim() {
            let reason = LayoutReason::MapDimensions {
                map: map.to_string(),
                count: map.params.len(),
                buffer: name(),
                dimensions: buffer.ndim(),
            };
            return Err(reason.at([block.into()]));
        }
        let (params, results) = typed(map, buffer);
        let ranges: Vec<(Var, Range)> = (params.iter().cloned())
            .zip(buffer.shape().iter().cloned().map(Range::to))
            .collect();
        let (level, units) = (IterMapLevel::NoCheck, UnitIters::Preserve);
        let always = Expr::bool(true);
        let found = detect_iter_map(facts, &results, &ranges, &always, level, units).ok();
        let found = found.filter(|found| {
            injectivity == Injectivity::Assumed || found.is_one_to_one(facts, &ranges)
        });
        let shape = match (&found, injectivity) {
            (Some(found), _) => found.extents(facts),
            (None, Injectivity::Assumed) => extents(&results, &ranges, facts),
            (None, Injectivity::Proved) => None,
        };
        let Some(shape) = shape else {
            let map = map.to_string();
            let reason = LayoutReason::NotInjective {
                map,
                buffer: name(),
            };
            return Err(reason.at([block.into()]));
        };
        let places: Vec<Var> = (results.iter().enumerate())
            .map(|(at, result)| match result.as_var() {
                Some(var) => var.renamed(var.name()),
                None => Var::new(format!("axis{at}"), result.dtype()),
            })
            .collect();
        let mut known = facts.clone();
        for (place, extent) in places.iter().zip(&shape) {
            known.bind(place, &Range::to(extent.clone()));
        }
        let (inverse, padding) = match (found, injectivity) {
            (Some(found), Injectivity::Proved) => {
                let values: Vec<Expr> = places.iter().map(Var::expr).collect();
                let solved = found.invert(&known, &values);
                let value = |(param, range): &(Var, Range)| {
                    let found = solved.iter().find(|(var, _)| var == param);
                    found.map_or_else(|| range.min.clone(), |(_, value)| value.clone())
                };
                let inverse = ranges.iter().map(value).collect();
                (inverse, found.padding(&known, &values))
            }
            _ => (vec![], Expr::bool(false)),
        };
        Ok(Self {
            params,
            results,
            shape,
            places,
            inverse,
            padding,
        })
    }

    /// Whether each place has an element.
    pub(super) fn is_dense(&self) -> bool {
        self.padding.as_bool() == Some(false)
    }

    /// The place of the element at these indices.
    pub(super) fn place_of(&self, indices: &[Expr], facts: &Analyzer) -> Vec<Expr> {
        let value = |var: &Var| {
            let at = self.params.iter().position(|param| param == var)?;
            let dtype = var.dtype();
            Some(indices[at].cast(dtype))
        };
        let place = |e: &Expr| facts.simplify(&e.substitute(&value));
        self.results.iter().map(place).collect()
    }
}

/// The parameters and results of a map in the type of the buffer's indices.
fn typed(map: &Lambda, buffer: &Buffer) -> (Vec<Var>, Vec<Expr>) {
    let dtypes = buffer.shape().iter().map(Expr::dtype);
    let dtype = dtypes
        .max_by_key(|dtype| dtype.bytes())
        .unwrap_or(DType::I32);
    let params: Vec<Var> = map
        .params
        .iter()
        .map(|var| Var::new(var.name(), dtype))
        .collect();
    let results = map.results.iter().map(|e| retyped(e, map, &params, dtype));
    let results = results.collect();
    (params, results)
}

fn retyped(e: &Expr, map: &Lambda, params: &[Var], dtype: DType) -> Expr {
    match e.kind() {
        ExprKind::Var(var) => match map.params.iter().position(|param| param == var) {
            Some(at) => params[at].expr(),
            None => e.clone(),
        },
        ExprKind::Binary(op, a, b) => Expr::binary(
            *op,
            retyped(a, map, params, dtype),
            retyped(b, map, params, dtype),
        ),
        _ => match e.as_int() {
            Some(value) => Expr::int(value, dtype),
            None => e.clone(),
        },
    }
}
