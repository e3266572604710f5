//! Index arithmetic as polynomials, so that each part of an address is computed in the outermost loop that it belongs to.
//!
//! `i0*4*n + 1*n + k` is kept as monomials over variables (and over expressions that are no polynomials). Sorted by how deep the
//! deepest variable of a monomial is defined, their sums are invariant in the inner loops, where Cranelift then hoists them;
//! a constant goes into the offset of the instruction. The polynomial of an `int64` is what the expression gives, since both
//! wrap alike. That of an `int32` is so only where nothing wraps, which is proved for kernels that are `in_bounds`. Other types
//! are not looked into.

use crate::kernel::{Expr, Kernel, Ty, VarId};
use crate::support::SideTable;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// A factor of a monomial.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Atom {
    Var(VarId),
    Other(Expr),
}

/// `coefficient * factors`
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) factors: Vec<Atom>,
    pub(crate) coefficient: i64,
    /// How many loops are around the definition of its deepest variable.
    pub(crate) depth: usize,
}

/// A sum of terms and a constant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Poly {
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: i64,
}

/// Larger sums are not multiplied out.
const MOST_TERMS: usize = 24;

/// Larger products are not either.
const MOST_FACTORS: usize = 8;

impl Poly {
    fn constant(value: i64) -> Self {
        Self {
            terms: vec![],
            constant: value,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    fn is_small(&self) -> bool {
        let factors = self.terms.iter().map(|term| term.factors.len());
        self.terms.len() <= MOST_TERMS && factors.max().unwrap_or(0) <= MOST_FACTORS
    }

    pub(crate) fn add(mut self, other: &Self, sign: i64) -> Self {
        self.constant = self
            .constant
            .wrapping_add(other.constant.wrapping_mul(sign));
        for term in &other.terms {
            self.add_term(term.clone(), sign);
        }
        self
    }

    fn add_term(&mut self, term: Term, scale: i64) {
        let coefficient = term.coefficient.wrapping_mul(scale);
        match self.terms.iter_mut().find(|t| t.factors == term.factors) {
            Some(same) => same.coefficient = same.coefficient.wrapping_add(coefficient),
            None => self.terms.push(Term {
                coefficient,
                ..term
            }),
        }
        self.terms.retain(|t| t.coefficient != 0);
    }

    fn mul(&self, other: &Self) -> Self {
        let mut product = Self::constant(self.constant.wrapping_mul(other.constant));
        for term in &self.terms {
            product.add_term(term.clone(), other.constant);
        }
        for term in &other.terms {
            product.add_term(term.clone(), self.constant);
        }
        for a in &self.terms {
            for b in &other.terms {
                product.add_term(a.times(b), 1);
            }
        }
        product
    }
}

impl Term {
    fn times(&self, other: &Self) -> Self {
        let mut factors = self.factors.clone();
        factors.extend(other.factors.iter().cloned());
        // An order of their own, so that `i * n` and `n * i` are the same monomial.
        factors.sort_by_key(|atom| format!("{atom:?}"));
        Self {
            factors,
            coefficient: self.coefficient.wrapping_mul(other.coefficient),
            depth: self.depth.max(other.depth),
        }
    }
}

/// What index arithmetic must know of the variables in scope.
#[derive(Clone)]
pub(crate) struct Scope {
    /// How many loops are around the definition of each variable.
    pub(crate) depths: SideTable<VarId, usize>,
    /// Value of each `let` of an index, to look through.
    lets: SideTable<VarId, Option<Poly>>,
    /// How many loops are around the current statement.
    pub(crate) depth: usize,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            depths: SideTable::with_default(0),
            lets: SideTable::with_default(None),
            depth: 0,
        }
    }
}

impl Scope {
    /// Notes a variable that is defined here.
    pub(crate) fn define(&mut self, var: VarId) {
        *self.depths.entry(var) = self.depth;
    }

    /// Notes a variable that is defined here by a `let`.
    pub(crate) fn define_as(&mut self, kernel: &Kernel, var: VarId, value: &Expr) {
        self.define(var);
        let known = !value.loads() && index_type(kernel, value).is_some();
        *self.lets.entry(var) = known.then(|| self.poly(kernel, value));
    }

    /// Forgets a variable that is no longer there.
    pub(crate) fn undefine(&mut self, var: VarId) {
        *self.lets.entry(var) = None;
    }

    /// The polynomial of an index.
    pub(crate) fn poly(&self, kernel: &Kernel, e: &Expr) -> Poly {
        let poly = self.expanded(kernel, e);
        poly.filter(Poly::is_small).unwrap_or_else(|| self.other(e))
    }

    /// The polynomial of an expression that is one; `None` for what is to be a factor as it is.
    fn expanded(&self, kernel: &Kernel, e: &Expr) -> Option<Poly> {
        match e {
            Expr::Int(value, _) => Some(Poly::constant(*value)),
            Expr::Var(var) => Some(match &self.lets[*var] {
                Some(value) => value.clone(),
                None => self.atom(Atom::Var(*var), self.depths[*var]),
            }),
            Expr::Cast(ty, a) => {
                let to = index_scalar(*ty)?;
                let widens = index_type(kernel, a)?.bytes() <= to.bytes();
                widens.then(|| self.poly(kernel, a))
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                index_type(kernel, a)?;
                let (a, b) = (self.poly(kernel, a), self.poly(kernel, b));
                match op {
                    BinOp::Add => Some(a.add(&b, 1)),
                    BinOp::Sub => Some(a.add(&b, -1)),
                    _ if (a.terms.len() + 1) * (b.terms.len() + 1) > MOST_TERMS => None,
                    _ => Some(a.mul(&b)),
                }
            }
            _ => None,
        }
    }

    fn atom(&self, atom: Atom, depth: usize) -> Poly {
        let term = Term {
            factors: vec![atom],
            coefficient: 1,
            depth,
        };
        Poly {
            terms: vec![term],
            constant: 0,
        }
    }

    fn other(&self, e: &Expr) -> Poly {
        let mut depth = if e.loads() { self.depth } else { 0 };
        e.walk(&mut |e| {
            if let Expr::Var(var) = e {
                depth = depth.max(self.depths[*var]);
            }
        });
        self.atom(Atom::Other(e.clone()), depth)
    }
}

/// The type if index arithmetic is done in it.
pub(crate) fn index_scalar(ty: Ty) -> Option<ScalarType> {
    let is_index = ty.lanes == 1 && matches!(ty.scalar, ScalarType::I32 | ScalarType::I64);
    is_index.then_some(ty.scalar)
}

/// The same of an expression.
pub(crate) fn index_type(kernel: &Kernel, e: &Expr) -> Option<ScalarType> {
    index_scalar(kernel.ty(e))
}
