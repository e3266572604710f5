//! The form of a loop of the kind [`ForKind::SimdReduction`]: what it reduces, so that code generators can expand it to vectors.
//!
//! Each iteration accumulates terms in elements of local arrays ([`Sum`]), or chooses between such elements and its own
//! ([`Choice`]). The terms of neighbouring iterations are operations on the lanes of vectors ([`lanes`]). Lowering makes a serial loop
//! of a marked one that has another form; one in an artifact may have any, and runs in order.

mod choice;
mod lanes;

pub(crate) use choice::Choice;

use super::build::Loop;
use super::poly::Scope;
use super::{ArrayId, Expr, Kernel, Space, Stmt, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar};

/// What a loop reduces.
pub(crate) enum Reduction {
    /// Sums, into different elements that nothing else in the loop reads.
    Sums(Vec<Sum>),
    /// Elements that are chosen together.
    Choice(Choice),
}

/// `t = t op term`, with a `t` that is an element of a local array.
#[cfg_attr(
    not(feature = "cpu"),
    allow(dead_code, reason = "code generators of the CPU read the fields")
)]
pub(crate) struct Sum {
    pub(crate) array: ArrayId,
    pub(crate) index: Expr,
    pub(crate) dtype: ScalarType,
    /// Associative and commutative but for rounding: `+`, `*`, `min`, `max`.
    pub(crate) op: BinOp,
    /// What changes nothing as a term.
    pub(crate) identity: Expr,
    pub(crate) term: Expr,
}

/// Why a loop has another form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum NoReduction {
    #[error("its variable is no integer")]
    Variable,
    #[error("a statement neither accumulates nor chooses")]
    Statement,
    #[error(
        "an element it accumulates in is not in a local array, or not the same in all iterations"
    )]
    Element,
    #[error("an element it accumulates in is read elsewhere, or accumulated in twice")]
    Read,
    #[error("neighbouring iterations have terms that are no lanes of a vector")]
    Term,
}

impl Kernel {
    /// What the loop reduces.
    ///
    /// # Errors
    /// Why it has another form.
    pub(crate) fn reduction(&self, scope: &Scope, l: &Loop) -> Result<Reduction, NoReduction> {
        let var = self.vars.get(l.var).map(|info| info.ty);
        if var.is_none_or(|ty| ty.lanes != 1 || !ty.scalar.is_int()) {
            return Err(NoReduction::Variable);
        }
        let reduction = match self.sums(l) {
            Ok(sums) => Reduction::Sums(sums),
            Err(NoReduction::Statement) => Reduction::Choice(self.choice(l)?),
            Err(other) => return Err(other),
        };
        let terms: Vec<&Expr> = match &reduction {
            Reduction::Sums(sums) => sums.iter().map(|sum| &sum.term).collect(),
            Reduction::Choice(choice) if !choice.has_lanes() => return Err(NoReduction::Term),
            Reduction::Choice(choice) => choice.0.iter().map(|chosen| &chosen.share).collect(),
        };
        let first = Expr::Var(l.var);
        let has_lanes = |term: &&Expr| self.lanes_of(scope, term, l.var, &first, 2).is_some();
        match terms.iter().all(has_lanes) {
            true => Ok(reduction),
            false => Err(NoReduction::Term),
        }
    }

    /// The sums that the loop consists of.
    fn sums(&self, l: &Loop) -> Result<Vec<Sum>, NoReduction> {
        let mut sums: Vec<Sum> = Vec::new();
        for stmt in &l.body {
            sums.push(self.sum(l.var, stmt)?);
        }
        let is_own = |e: &Expr| match e {
            Expr::Load { array, .. } => sums.iter().any(|sum| sum.array == *array),
            _ => false,
        };
        let twice = |at: usize| {
            let mut before = sums[..at].iter();
            before.any(|sum| (sum.array, &sum.index) == (sums[at].array, &sums[at].index))
        };
        if sums.iter().any(|sum| sum.term.any(&is_own)) || (0..sums.len()).any(twice) {
            return Err(NoReduction::Read);
        }
        match sums.is_empty() {
            true => Err(NoReduction::Statement),
            false => Ok(sums),
        }
    }

    fn sum(&self, var: VarId, stmt: &Stmt) -> Result<Sum, NoReduction> {
        let Stmt::Store {
            array,
            index,
            value: Expr::Binary(op @ (BinOp::Add | BinOp::Mul | BinOp::Min | BinOp::Max), a, b),
            active: None,
        } = stmt
        else {
            return Err(NoReduction::Statement);
        };
        let own = Expr::load(*array, index.clone(), 1);
        let term = match (**a == own, **b == own) {
            (true, _) => b,
            (false, true) => a,
            (false, false) => return Err(NoReduction::Statement),
        };
        let dtype = self.element(*array, index, var)?;
        let identity = match op.identity(dtype).ok_or(NoReduction::Element)? {
            Scalar::Int(v) => Expr::Int(v, dtype),
            Scalar::Float(v) => Expr::Float(v, dtype),
        };
        Ok(Sum {
            array: *array,
            index: index.clone(),
            dtype,
            op: *op,
            identity,
            term: (**term).clone(),
        })
    }

    /// The type of an element that a loop over `var` can accumulate in.
    fn element(&self, array: ArrayId, index: &Expr, var: VarId) -> Result<ScalarType, NoReduction> {
        let info = self.arrays.get(array).ok_or(NoReduction::Element)?;
        let fits = info.space == Space::Local
            && info.dtype != ScalarType::Bool
            && !index.loads()
            && !index.uses(var);
        fits.then_some(info.dtype).ok_or(NoReduction::Element)
    }
}
