//! Index arithmetic as polynomials, so that each part of an address is computed in the outermost loop that it belongs to.
//!
//! `i0*4*n + 1*n + k` is kept as monomials over variables (and over expressions that are no polynomials). Sorted by how deep the
//! deepest variable of a monomial is defined, their sums are invariant in the inner loops, where Cranelift then hoists them;
//! a constant goes into the offset of the instruction. The polynomial of an `int64` is what the expression gives, since both
//! wrap alike. That of an `int32` is so only where nothing wraps ([`Narrow`]). Other types are not looked into.

use std::cmp::Ordering;

use super::{Expr, Kernel, Ty, VarId, index};
use crate::support::SideTable;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// What a factor is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Atom {
    Var(VarId),
    Other(Expr),
}

/// A factor of a monomial.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) atom: Atom,
    /// How many loops are around the definition of its deepest variable.
    #[cfg_attr(
        not(feature = "cpu"),
        allow(dead_code, reason = "code generators of the CPU sort terms by it")
    )]
    pub(crate) depth: usize,
}

/// Where it was defined does not tell a factor apart.
impl PartialEq for Factor {
    fn eq(&self, other: &Self) -> bool {
        self.atom == other.atom
    }
}

impl Eq for Factor {}

/// Variables first. The order of other expressions is that of their texts.
impl Ord for Factor {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.atom, &other.atom) {
            (Atom::Var(a), Atom::Var(b)) => a.cmp(b),
            (Atom::Var(_), Atom::Other(_)) => Ordering::Less,
            (Atom::Other(_), Atom::Var(_)) => Ordering::Greater,
            (Atom::Other(a), Atom::Other(b)) if a == b => Ordering::Equal,
            (Atom::Other(a), Atom::Other(b)) => format!("{a:?}").cmp(&format!("{b:?}")),
        }
    }
}

impl PartialOrd for Factor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `coefficient * factors`
#[cfg(feature = "cpu")]
pub(crate) type Term = index::Term<Factor, i64>;

/// A sum of terms and a constant.
pub(crate) type Poly = index::Sum<Factor, i64>;

/// Larger sums are not multiplied out.
const MOST_TERMS: usize = 24;

/// Larger products are not either.
const MOST_FACTORS: usize = 8;

fn is_small(poly: &Poly) -> bool {
    let factors = poly.terms.iter().map(|term| term.factors.len());
    poly.terms.len() <= MOST_TERMS && factors.max().unwrap_or(0) <= MOST_FACTORS
}

#[cfg(feature = "cpu")]
impl Term {
    /// How many loops are around the definition of its deepest variable.
    pub(crate) fn depth(&self) -> usize {
        let depths = self.factors.iter().map(|factor| factor.depth);
        depths.max().unwrap_or(0)
    }
}

/// Whether sums and products of `int32` may wrap.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// They do not, as is proved for kernels that are `in_bounds`.
    Exact,
    /// They may: a value that is computed in `int32` is a factor as it is.
    Wraps,
}

/// What index arithmetic must know of the variables in scope.
#[derive(Clone)]
pub(crate) struct Scope {
    narrow: Narrow,
    /// How many loops are around the definition of each variable.
    pub(crate) depths: SideTable<VarId, usize>,
    /// Value of each `let` of an index, to look through.
    lets: SideTable<VarId, Option<Poly>>,
    /// How many loops are around the current statement.
    pub(crate) depth: usize,
}

impl Default for Scope {
    /// A scope without variables, of a kernel whose `int32` do not wrap.
    fn default() -> Self {
        Self::new(Narrow::Exact)
    }
}

impl Scope {
    /// A scope without variables.
    pub(crate) fn new(narrow: Narrow) -> Self {
        Self {
            narrow,
            depths: SideTable::with_default(0),
            lets: SideTable::with_default(None),
            depth: 0,
        }
    }

    /// Notes a variable that is defined here.
    pub(crate) fn define(&mut self, var: VarId) {
        *self.depths.entry(var) = self.depth;
    }

    /// Notes a variable that is defined here by a `let`.
    pub(crate) fn define_as(&mut self, kernel: &Kernel, var: VarId, value: &Expr) {
        self.define(var);
        let known = !value.loads() && self.computes_in(kernel, value).is_some();
        *self.lets.entry(var) = known.then(|| self.poly(kernel, value));
    }

    /// Forgets a variable that is no longer there.
    #[cfg(feature = "cpu")]
    pub(crate) fn undefine(&mut self, var: VarId) {
        *self.lets.entry(var) = None;
    }

    /// The polynomial of an index.
    pub(crate) fn poly(&self, kernel: &Kernel, e: &Expr) -> Poly {
        let poly = self.expanded(kernel, e);
        poly.filter(is_small).unwrap_or_else(|| self.other(e))
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
                let widens = self.computes_in(kernel, a)?.bytes() <= to.bytes();
                widens.then(|| self.poly(kernel, a))
            }
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                self.computes_in(kernel, a)?;
                let (a, b) = (self.poly(kernel, a), self.poly(kernel, b));
                match op {
                    BinOp::Add => Some(a.wrapping_plus(&b, 1)),
                    BinOp::Sub => Some(a.wrapping_plus(&b, -1)),
                    _ if (a.terms.len() + 1) * (b.terms.len() + 1) > MOST_TERMS => None,
                    _ => Some(a.wrapping_times(&b)),
                }
            }
            _ => None,
        }
    }

    /// The type of an expression if arithmetic in it is looked into.
    fn computes_in(&self, kernel: &Kernel, e: &Expr) -> Option<ScalarType> {
        let ty = index_type(kernel, e)?;
        (ty == ScalarType::I64 || self.narrow == Narrow::Exact).then_some(ty)
    }

    fn atom(&self, atom: Atom, depth: usize) -> Poly {
        Poly::factor(Factor { atom, depth })
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
