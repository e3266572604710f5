//! `Sum`: the normal form of index arithmetic, a sum of products with integer coefficients.
//!
//! `Σ coeff · atom · … · atom + constant`, where an atom is any expression that is no `+`, `-`, `*` or constant, one of data, or one
//! of the sums whose product is not multiplied out. Like terms are merged, so equal sums cancel. Coefficients are exact (`i128`
//! with a sticky overflow mark).

pub(crate) mod order;

use std::cmp::Ordering;

use super::{Expr, ExprKind};
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// Whether a type is one of indices, whose arithmetic is taken not to overflow.
pub(crate) fn is_index(dtype: DType) -> bool {
    matches!(dtype.scalar, ScalarType::I32 | ScalarType::I64) && !dtype.is_vector()
}

/// Products that would be written with more nodes than this are not multiplied out: each atom occurs in them several times.
const MOST_NODES: usize = 256;

/// Whether products of two sums are multiplied out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expand {
    /// Always: what proofs want, so that all like terms meet.
    All,
    /// Only where one factor is a single term: what readers want.
    Single,
}

/// One product.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// Integer factor, not 0.
    pub(crate) coeff: i128,
    /// Other factors, sorted, at least one.
    pub(crate) atoms: Vec<Expr>,
}

impl Term {
    /// The factor, if it is the only one beside the coefficient.
    pub(crate) fn atom(&self) -> Option<&Expr> {
        if let [atom] = &self.atoms[..] {
            Some(atom)
        } else {
            None
        }
    }
}

/// A sum of products. All its atoms have its type.
#[derive(Clone, Debug)]
pub(crate) struct Sum {
    pub(crate) dtype: DType,
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: i128,
    overflow: bool,
}

impl Sum {
    /// The constant.
    pub(crate) fn constant(value: i128, dtype: DType) -> Self {
        Self {
            dtype,
            terms: vec![],
            constant: value,
            overflow: false,
        }
    }

    /// `coeff · atom`
    pub(crate) fn term(coeff: i128, atom: Expr) -> Self {
        let mut sum = Self::constant(0, atom.dtype());
        sum.add_term(coeff, vec![atom]);
        sum
    }

    /// `coeff · atoms`, as [`divide_term`] gives it.
    pub(crate) fn monomial(dtype: DType, (coeff, atoms): (i128, Vec<Expr>)) -> Self {
        let mut sum = Self::constant(0, dtype);
        sum.add_term(coeff, atoms);
        sum
    }

    /// The sum that the expression is, as it stands.
    pub(crate) fn of(e: &Expr) -> Self {
        Self::with_atoms(e, Expand::All, &mut Clone::clone)
    }

    /// The sum that the expression is after `f` was applied to its atoms.
    pub(crate) fn with_atoms(e: &Expr, expand: Expand, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match e.kind() {
            ExprKind::Int(v) => Self::constant((*v).into(), e.dtype()),
            // The arithmetic of data wraps.
            _ if e.is_data() => Self::term(1, f(e)),
            ExprKind::Binary(BinOp::Add, a, b) => {
                Self::with_atoms(a, expand, f).plus(&Self::with_atoms(b, expand, f), 1)
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                Self::with_atoms(a, expand, f).plus(&Self::with_atoms(b, expand, f), -1)
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                Self::with_atoms(a, expand, f).times(&Self::with_atoms(b, expand, f), expand)
            }
            _ => {
                let atom = f(e);
                match atom.kind() {
                    ExprKind::Int(_)
                    | ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, _, _) => {
                        Self::with_atoms(&atom, expand, &mut Clone::clone)
                    }
                    _ => Self::term(1, atom),
                }
            }
        }
    }

    /// The value, if no term is left.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        (self.terms.is_empty() && !self.overflow).then_some(self.constant)
    }

    /// Whether the sum is this expression, which could not be taken apart.
    pub(crate) fn is_atom(&self, e: &Expr) -> bool {
        let [term] = &self.terms[..] else {
            return false;
        };
        self.constant == 0 && term.coeff == 1 && term.atom() == Some(e)
    }

    /// Whether a coefficient did not fit: nothing is known then.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflow
    }

    fn add_constant(&mut self, value: i128) {
        match self.constant.checked_add(value) {
            Some(v) => self.constant = v,
            None => self.overflow = true,
        }
    }

    fn add_term(&mut self, coeff: i128, atoms: Vec<Expr>) {
        if atoms.is_empty() {
            self.add_constant(coeff);
            return;
        }
        if coeff == 0 {
            return;
        }
        if let Some(at) = self.terms.iter().position(|t| t.atoms == atoms) {
            match self.terms[at].coeff.checked_add(coeff) {
                Some(0) => {
                    self.terms.remove(at);
                }
                Some(v) => self.terms[at].coeff = v,
                None => self.overflow = true,
            }
        } else {
            self.terms.push(Term { coeff, atoms });
        }
    }

    /// `self + factor · other`
    pub(crate) fn plus(mut self, other: &Self, factor: i128) -> Self {
        self.overflow |= other.overflow;
        match other.constant.checked_mul(factor) {
            Some(v) => self.add_constant(v),
            None => self.overflow = true,
        }
        for term in &other.terms {
            match term.coeff.checked_mul(factor) {
                Some(coeff) => self.add_term(coeff, term.atoms.clone()),
                None => self.overflow = true,
            }
        }
        self
    }

    /// `self + value`
    pub(crate) fn plus_constant(mut self, value: i128) -> Self {
        self.add_constant(value);
        self
    }

    /// `self · other`
    pub(crate) fn times(self, other: &Self, expand: Expand) -> Self {
        let (here, there) = (self.pieces(), other.pieces());
        let constant = self.terms.is_empty() || other.terms.is_empty();
        let written = here * other.weight() + there * self.weight();
        if !constant
            && (written > MOST_NODES || (expand == Expand::Single && here > 1 && there > 1))
        {
            return self.factors_with(other).unwrap_or(Self {
                overflow: true,
                ..self
            });
        }
        let mut out = Self::constant(0, self.dtype);
        out.overflow = self.overflow || other.overflow;
        let parts = |sum: &Self| -> Vec<(i128, Vec<Expr>)> {
            let terms = sum.terms.iter().map(|t| (t.coeff, t.atoms.clone()));
            terms.chain([(sum.constant, vec![])]).collect()
        };
        for (ca, a) in parts(&self) {
            for (cb, b) in parts(other) {
                let Some(coeff) = ca.checked_mul(cb) else {
                    out.overflow = true;
                    continue;
                };
                let mut atoms: Vec<Expr> = a.iter().chain(&b).cloned().collect();
                atoms.sort_by(order::compare);
                out.add_term(coeff, atoms);
            }
        }
        out
    }

    /// The product of two sums, not multiplied out: what all terms of a sum have in common, and each sum without it.
    fn factors_with(&self, other: &Self) -> Option<Self> {
        let (mut common, mine) = self.without_common_factor();
        let (theirs_common, theirs) = other.without_common_factor();
        common.coeff = common.coeff.checked_mul(theirs_common.coeff)?;
        common.atoms.extend(theirs_common.atoms);
        common.atoms.extend([mine.to_expr()?, theirs.to_expr()?]);
        common.atoms.sort_by(order::compare);
        Some(Self::monomial(self.dtype, (common.coeff, common.atoms)))
    }

    /// The sum as the product of a term, perhaps without atoms, and of a sum whose terms have no factor in common. The first
    /// term of that sum, in the order of factors, has a positive coefficient.
    pub(crate) fn without_common_factor(&self) -> (Term, Self) {
        let mut rest = self.clone();
        let mut atoms = vec![];
        let first = self
            .terms
            .iter()
            .min_by(|a, b| compare_atoms(&a.atoms, &b.atoms));
        for atom in first.into_iter().flat_map(|first| &first.atoms) {
            let atom = Term {
                coeff: 1,
                atoms: vec![atom.clone()],
            };
            if let Some(less) = rest.factored(&atom) {
                rest = less;
                atoms.extend(atom.atoms);
            }
        }
        let sign = first.map_or(1, |first| first.coeff.signum());
        let coeff = sign * gcd(self.content(), self.constant);
        let rest = rest.divided(coeff);
        (Term { coeff, atoms }, rest)
    }

    /// How many summands there are.
    pub(crate) fn pieces(&self) -> usize {
        self.terms.len() + usize::from(self.constant != 0)
    }

    /// Nodes of all atoms, large atoms counted in part.
    fn weight(&self) -> usize {
        let atoms = self.terms.iter().flat_map(|t| &t.atoms);
        1 + atoms.map(|atom| atom.nodes(MOST_NODES)).sum::<usize>()
    }

    /// `self · factor`
    pub(crate) fn scaled(&self, factor: i128) -> Self {
        Self::constant(0, self.dtype).plus(self, factor)
    }

    /// Greatest common divisor of the coefficients of the terms, not of the constant; 0 if there is no term.
    pub(crate) fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, t| gcd(g, t.coeff))
    }

    /// The sum with every coefficient and the constant divided, which must be possible exactly.
    pub(crate) fn divided(&self, by: i128) -> Self {
        let mut out = self.clone();
        out.constant /= by;
        out.terms.iter_mut().for_each(|t| t.coeff /= by);
        out
    }

    /// The terms for which `keep` holds (with constant 0), and the rest with the constant.
    pub(crate) fn partition(&self, mut keep: impl FnMut(&Term) -> bool) -> (Self, Self) {
        let (mut yes, mut no) = (Self::constant(0, self.dtype), self.clone());
        no.terms.clear();
        yes.overflow = self.overflow;
        for term in &self.terms {
            let side = if keep(term) { &mut yes } else { &mut no };
            side.terms.push(term.clone());
        }
        (yes, no)
    }

    /// The quotient of the sum by an expression that is a factor of every term; `None` if it is not.
    pub(crate) fn factored(&self, divisor: &Term) -> Option<Self> {
        if self.constant != 0 || self.overflow {
            return None;
        }
        let mut out = Self::constant(0, self.dtype);
        for term in &self.terms {
            let (coeff, atoms) = divide_term(term, divisor)?;
            out.add_term(coeff, atoms);
        }
        Some(out)
    }

    /// The sum whose product with the divisor this is; `None` if there is none. (Long division of polynomials.)
    pub(crate) fn quotient(&self, divisor: &Self) -> Option<Self> {
        let leading = |sum: &Self| {
            let first = sum.terms.iter().min_by(|a, b| compare_degrees(a, b))?;
            Some(first.clone())
        };
        let by = leading(divisor)?;
        let (mut out, mut left) = (Self::constant(0, self.dtype), self.clone());
        while let Some(term) = leading(&left) {
            if left.overflow || left.terms.len() > MOST_NODES {
                return None;
            }
            let part = Self::monomial(self.dtype, divide_term(&term, &by)?);
            left = left.plus(&part.clone().times(divisor, Expand::All), -1);
            out = out.plus(&part, 1);
        }
        (left.as_constant() == Some(0)).then_some(out)
    }

    /// The expression, with terms in canonical order; `None` if a coefficient does not fit the type.
    pub(crate) fn to_expr(&self) -> Option<Expr> {
        let (low, high) = self.dtype.scalar.int_range()?;
        let fits = |v: i128| (i128::from(low)..=i128::from(high)).contains(&v);
        if self.overflow
            || !fits(self.constant)
            || !self.terms.iter().all(|t| fits(t.coeff) && fits(-t.coeff))
        {
            return None;
        }
        let mut terms: Vec<&Term> = self.terms.iter().collect();
        terms.sort_by(|a, b| compare_terms(a, b));
        let mut out: Option<Expr> = None;
        let constant_first = self.constant > 0 && terms.iter().all(|t| t.coeff < 0);
        if constant_first {
            out = Some(Expr::int(self.constant as i64, self.dtype));
        }
        for term in terms {
            let negative = out.is_some() && term.coeff < 0;
            let coeff = if negative { -term.coeff } else { term.coeff } as i64;
            let product = term
                .atoms
                .iter()
                .skip(1)
                .fold(term.atoms[0].clone(), |p, a| p * a);
            let product = match coeff {
                1 => product,
                _ => product * Expr::int(coeff, self.dtype),
            };
            out = Some(match out {
                None => product,
                Some(sum) if negative => sum - product,
                Some(sum) => sum + product,
            });
        }
        let constant = self.constant as i64;
        Some(match out {
            None => Expr::int(constant, self.dtype),
            Some(sum) if constant == 0 || constant_first => sum,
            Some(sum) if constant < 0 && fits(-self.constant) => {
                sum - Expr::int(-constant, self.dtype)
            }
            Some(sum) => sum + Expr::int(constant, self.dtype),
        })
    }
}

/// The term without the divisor's factors.
pub(crate) fn divide_term(term: &Term, divisor: &Term) -> Option<(i128, Vec<Expr>)> {
    if term.coeff % divisor.coeff != 0 {
        return None;
    }
    let mut atoms = term.atoms.clone();
    for atom in &divisor.atoms {
        let at = atoms.iter().position(|a| a == atom)?;
        atoms.remove(at);
    }
    Some((term.coeff / divisor.coeff, atoms))
}

/// Positive before negative, then greater coefficients first, then more factors first, then by the factors.
fn compare_terms(a: &Term, b: &Term) -> Ordering {
    let key = |t: &Term| (t.coeff < 0, -t.coeff.abs(), usize::MAX - t.atoms.len());
    key(a)
        .cmp(&key(b))
        .then_with(|| compare_atoms(&a.atoms, &b.atoms))
}

/// More factors first, then by the factors: multiplying both by a term does not change which is first.
fn compare_degrees(a: &Term, b: &Term) -> Ordering {
    let more = b.atoms.len().cmp(&a.atoms.len());
    more.then_with(|| compare_atoms(&a.atoms, &b.atoms))
}

/// By the first factor that differs, then more factors first.
fn compare_atoms(a: &[Expr], b: &[Expr]) -> Ordering {
    let mut pairs = a.iter().zip(b);
    let differ = pairs.find_map(|(a, b)| Some(order::compare(a, b)).filter(|o| o.is_ne()));
    differ.unwrap_or_else(|| b.len().cmp(&a.len()))
}

/// Greatest common divisor, not negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
