//! Sizes of tensors in bytes, and the bounds of symbolic extents.

use crate::arith::{Analyzer, IntBound};
use crate::ir::graph::Function;
use crate::ir::{AttrValue, Expr, ExprKind, Var};
use crate::passes::PassError;
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// Attributes of a function that bound its symbolic extents: maps from names to integers.
const UPPER: &str = "tir_var_upper_bound";
const LOWER: &str = "tir_var_lower_bound";

/// A number of bytes: a constant times symbols.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) factor: i64,
    pub(super) symbols: Vec<Expr>,
}

impl Size {
    /// Bytes of a tensor. An extent whose variables all have upper bounds counts as its own: `min(b, 2^31 - 1)`, as the end of a slice
    /// is, may be any number as long as nothing is known of `b`.
    pub(super) fn of(shape: &[Expr], dtype: DType, bounds: &Analyzer) -> Self {
        let mut size = Self {
            factor: dtype.bytes() as i64,
            symbols: vec![],
        };
        for dim in shape {
            let is_bounded = |var: &Var| bounds.bound(&var.expr()).max != IntBound::POS_INF;
            let max = bounds.bound(dim).max;
            if max == IntBound::POS_INF || !dim.free_vars().iter().all(is_bounded) {
                size.multiply(dim);
            } else {
                size.factor = size.factor.saturating_mul(max.max(0));
            }
        }
        size
    }

    fn multiply(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Int(value) => self.factor = self.factor.saturating_mul(*value),
            ExprKind::Binary(BinOp::Mul, a, b) => {
                self.multiply(a);
                self.multiply(b);
            }
            _ => {
                // A fixed order makes products of the same symbols equal.
                let text = e.to_string();
                let at = self.symbols.partition_point(|s| s.to_string() < text);
                self.symbols.insert(at, e.clone());
            }
        }
    }

    /// Bytes if every symbol is 64, to compare sizes that nobody knows.
    pub(super) fn typical(&self) -> i128 {
        let symbols = self.symbols.iter().map(|_| 64);
        let start = i128::from(self.factor);
        symbols.fold(start, i128::saturating_mul)
    }

    /// The size as an expression.
    pub(super) fn expr(&self) -> Expr {
        let product = |a: Expr, b: &Expr| Expr::binary(BinOp::Mul, a, b.cast(DType::I64));
        let mut symbols = self.symbols.iter();
        let Some(first) = symbols.next().filter(|_| self.factor != 0) else {
            return Expr::i64(self.factor);
        };
        let symbols = symbols.fold(first.cast(DType::I64), product);
        product(Expr::i64(self.factor), &symbols)
    }
}

/// What the attributes of a function say of the extents in its signature.
///
/// # Errors
/// [`PassError::Bound`] if they are no maps from names to positive integers.
pub(super) fn bounds(function: &Function) -> Result<Analyzer, PassError> {
    let upper = bounds_in(function, UPPER)?;
    let lower = bounds_in(function, LOWER)?;
    let mut analyzer = Analyzer::new();
    for var in function
        .params
        .iter()
        .flat_map(|p| function.values[*p].sinfo.free_vars())
    {
        let of = |bounds: &[(String, i64)]| {
            let found = bounds.iter().find(|(name, _)| name == var.name());
            found.map(|(_, bound)| *bound)
        };
        if let Some(max) = of(&upper) {
            let min = of(&lower).unwrap_or(0).min(max);
            analyzer.bind_bound(&var, IntBound::new(min, max));
        }
    }
    Ok(analyzer)
}

/// The extents in the signature of a function that its attributes give a largest value.
///
/// # Errors
/// [`PassError::Bound`] if they are no maps from names to positive integers.
pub(in crate::passes) fn upper_bounds(function: &Function) -> Result<Vec<(Var, i64)>, PassError> {
    let upper = bounds_in(function, UPPER)?;
    let params = function.params.iter();
    let mut vars: Vec<Var> = vec![];
    for var in params.flat_map(|param| function.values[*param].sinfo.defined_vars()) {
        if !vars.contains(&var) {
            vars.push(var);
        }
    }
    let bound = |var: Var| {
        let (_, bound) = upper.iter().find(|(name, _)| name == var.name())?;
        Some((var, *bound))
    };
    Ok(vars.into_iter().filter_map(bound).collect())
}

fn bounds_in(function: &Function, attr: &'static str) -> Result<Vec<(String, i64)>, PassError> {
    let wrong = || PassError::Bound {
        func: function.name.clone(),
        attr,
    };
    match function.attrs.get(attr) {
        None => Ok(vec![]),
        Some(AttrValue::Dict(bounds)) => bounds
            .iter()
            .map(|(name, bound)| match bound.as_int() {
                Some(bound) if bound >= 0 => Ok((name.clone(), bound)),
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}
