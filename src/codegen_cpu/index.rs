//! Index arithmetic as polynomials, so that each part of an address is computed in the outermost loop that it belongs to.
//!
//! `i0*4*n + 1*n + k` is kept as monomials over variables (and over expressions that are no polynomials). Sorted by how deep the
//! deepest variable of a monomial is defined, their sums are invariant in the inner loops, where Cranelift then hoists them;
//! a constant goes into the offset of the instruction. Valid only where index arithmetic does not overflow, which lowering has
//! proved for kernels that are `in_bounds`.

use crate::kernel::{Expr, Kernel, VarId};
use crate::support::SideTable;
use crate::tensor::scalar::BinOp;

/// A factor of a monomial.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Atom {
    Var(VarId),
    Other(Expr),
}

/// `coefficient * factors`
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) factors: Vec<Atom>,
    pub(super) coefficient: i64,
    /// How many loops are around the definition of its deepest variable.
    pub(super) depth: usize,
}

/// A sum of terms and a constant.
#[derive(Clone, Debug, Default)]
pub(super) struct Poly {
    pub(super) terms: Vec<Term>,
    pub(super) constant: i64,
}

/// Larger sums are not multiplied out.
const MOST_TERMS: usize = 24;

impl Poly {
    fn constant(value: i64) -> Self {
        Self {
            terms: vec![],
            constant: value,
        }
    }

    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn add(mut self, other: &Self, sign: i64) -> Self {
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
pub(super) struct Scope {
    /// How many loops are around the definition of each variable.
    pub(super) depths: SideTable<VarId, usize>,
    /// Definition of each integer `let`, to look through.
    pub(super) lets: SideTable<VarId, Option<Expr>>,
    /// How many loops are around the current statement.
    pub(super) depth: usize,
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
    pub(super) fn define(&mut self, var: VarId) {
        *self.depths.entry(var) = self.depth;
    }

    /// Notes the definition of an integer scalar.
    pub(super) fn define_as(&mut self, var: VarId, value: &Expr) {
        if !value.loads() {
            *self.lets.entry(var) = Some(value.clone());
        }
    }

    /// The polynomial of an index.
    pub(super) fn poly(&self, kernel: &Kernel, e: &Expr) -> Poly {
        match e {
            Expr::Int(value, _) => Poly::constant(*value),
            Expr::Var(var) => match &self.lets[*var] {
                Some(definition) => self.poly(kernel, definition),
                None => self.atom(Atom::Var(*var), self.depths[*var]),
            },
            Expr::Cast(ty, a) if ty.lanes == 1 && ty.scalar.is_int() && is_int(kernel, a) => {
                self.poly(kernel, a)
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let sign = if *op == BinOp::Add { 1 } else { -1 };
                self.poly(kernel, a).add(&self.poly(kernel, b), sign)
            }
            Expr::Binary(BinOp::Mul, a, b) => {
                let (a, b) = (self.poly(kernel, a), self.poly(kernel, b));
                if (a.terms.len() + 1) * (b.terms.len() + 1) > MOST_TERMS {
                    return self.other(e);
                }
                a.mul(&b)
            }
            _ => self.other(e),
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

/// Whether the expression is surely an integer scalar.
fn is_int(kernel: &Kernel, e: &Expr) -> bool {
    match e {
        Expr::Int(_, ty) => ty.is_int(),
        Expr::Var(var) => kernel
            .vars
            .get(*var)
            .is_some_and(|info| info.ty.lanes == 1 && info.ty.scalar.is_int()),
        Expr::Cast(ty, _) => ty.lanes == 1 && ty.scalar.is_int(),
        Expr::Binary(op, a, _) => !op.is_comparison() && !op.is_logical() && is_int(kernel, a),
        Expr::Select(_, a, _) => is_int(kernel, a),
        _ => false,
    }
}
