//! `WrappingSum`: an index as the kernel computes it, a sum of products modulo `2 ^ 64`, so that strides can be read off.
//!
//! [`Sum`](crate::ir::sum::Sum) is the normal form for proofs: exact, in one type, in canonical order, and nothing once a coefficient
//! overflows. This one is the normal form for code: coefficients wrap as the indices do, conversions between index types are
//! looked through, and terms stay in the order of the program, which the listing of the kernel shows. Atoms are whatever is not a
//! sum, a difference or a product: variables, divisions, minima, loads.

use super::widen::is_index;
use crate::ir::{Expr, ExprKind, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// `coef * atom * atom …`; no atoms: a constant.
#[derive(Clone, Debug)]
struct Term {
    atoms: Vec<Expr>,
    coef: i64,
}

/// A sum of products with integer coefficients, in order of first occurrence. Coefficients wrap as the indices themselves do.
#[derive(Clone, Debug, Default)]
pub(super) struct WrappingSum {
    terms: Vec<Term>,
}

/// The terms `k * rest * c * (x // c)` and `k * rest * (x % c)` of a sum.
struct DivModPair {
    /// Their positions.
    div: usize,
    rem: usize,
    rest: Vec<Expr>,
    x: Expr,
}

/// Whether `x` and `y` leave the same remainder when divided by `c`, which may be symbolic, but must be one term with a positive coefficient unless
/// they are equal. Coefficients are those of indices and extents, whose products are far from `2 ^ 63`.
fn congruent(x: &Expr, y: &Expr, c: &Expr) -> bool {
    if x == y {
        return true;
    }
    let divisor = WrappingSum::of(c);
    let [c] = divisor.terms.as_slice() else {
        return false;
    };
    let modulo = |e: &Expr| WrappingSum::of(e).modulo(c);
    let difference = modulo(x).plus(&modulo(y), -1);
    difference.terms.iter().all(|t| t.is_multiple_of(c))
}

impl Term {
    /// Whether the value is a multiple of another one for all values of the atoms.
    fn is_multiple_of(&self, other: &Self) -> bool {
        let mut rest = self.atoms.clone();
        let has = |atom: &Expr| {
            let at = rest.iter().position(|own| own == atom);
            at.map(|at| rest.remove(at)).is_some()
        };
        other.coef > 0 && self.coef % other.coef == 0 && other.atoms.iter().all(has)
    }
}

impl WrappingSum {
    /// The sum of products that an integer expression is.
    pub(super) fn of(e: &Expr) -> Self {
        match e.kind() {
            ExprKind::Int(v) => Self::term(vec![], *v),
            // Narrow data wraps in its own type: `uint8` sums are no sums of indices.
            _ if e.dtype() != DType::I64 && !is_index(e) => Self::term(vec![e.clone()], 1),
            ExprKind::Binary(BinOp::Add, a, b) => Self::of(a).plus(&Self::of(b), 1),
            ExprKind::Binary(BinOp::Sub, a, b) => Self::of(a).plus(&Self::of(b), -1),
            ExprKind::Binary(BinOp::Mul, a, b) => Self::of(a).times(&Self::of(b)),
            ExprKind::Cast(a) if is_index(a) => Self::of(a),
            _ => Self::term(vec![e.clone()], 1),
        }
    }

    fn term(atoms: Vec<Expr>, coef: i64) -> Self {
        let terms = if coef == 0 {
            vec![]
        } else {
            vec![Term { atoms, coef }]
        };
        Self { terms }
    }

    fn add_term(&mut self, atoms: &[Expr], coef: i64) {
        if let Some(at) = self.terms.iter().position(|t| same_atoms(&t.atoms, atoms)) {
            self.terms[at].coef = self.terms[at].coef.wrapping_add(coef);
            if self.terms[at].coef == 0 {
                self.terms.remove(at);
            }
        } else if coef != 0 {
            let atoms = atoms.to_vec();
            self.terms.push(Term { atoms, coef });
        }
    }

    /// `self + factor * other`
    pub(super) fn plus(mut self, other: &Self, factor: i64) -> Self {
        for t in &other.terms {
            self.add_term(&t.atoms, factor.wrapping_mul(t.coef));
        }
        self
    }

    /// `self * other`
    pub(super) fn times(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for a in &self.terms {
            for b in &other.terms {
                let atoms = [a.atoms.clone(), b.atoms.clone()].concat();
                out.add_term(&atoms, a.coef.wrapping_mul(b.coef));
            }
        }
        out
    }

    /// The value, if it is a constant.
    pub(super) fn as_const(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [t] if t.atoms.is_empty() => Some(t.coef),
            _ => None,
        }
    }

    /// `(stride, base)` with `self = stride * var + base`, if it is linear in the variable.
    pub(super) fn split(&self, var: &Var) -> Option<(Self, Self)> {
        let (mut stride, mut base) = (Self::default(), Self::default());
        for t in &self.terms {
            match t.atoms.iter().position(|a| a.as_var() == Some(var)) {
                Some(at) => {
                    let mut rest = t.atoms.clone();
                    rest.remove(at);
                    if rest.iter().any(|a| a.uses(var)) {
                        return None;
                    }
                    stride.add_term(&rest, t.coef);
                }
                None if t.atoms.iter().any(|a| a.uses(var)) => return None,
                None => base.add_term(&t.atoms, t.coef),
            }
        }
        Some((stride, base))
    }

    /// Joins `x // c * c + x % c` to `x`, wherever it occurs, for constant and symbolic `c`. In the remainder, multiples of
    /// `c` may be missing or too many, as simplification leaves it.
    pub(super) fn join_div_mod(mut self) -> Self {
        while let Some(pair) = self.div_mod_pair() {
            let (div, rem) = (self.terms[pair.div].clone(), self.terms[pair.rem].clone());
            self.add_term(&div.atoms, div.coef.wrapping_neg());
            self.add_term(&rem.atoms, rem.coef.wrapping_neg());
            self = self.plus(
                &Self::of(&pair.x).times(&Self::term(pair.rest, rem.coef)),
                1,
            );
        }
        self
    }

    /// A sum with the same remainder by `c` that has fewer remainders in it: `k * (x % m)` is `k * x` less a multiple of `k * m`.
    fn modulo(self, c: &Term) -> Self {
        let mut sum = Self::default();
        for t in &self.terms {
            let without = t.atoms.iter().enumerate().find_map(|(at, atom)| {
                let (x, m) = atom.as_binary(BinOp::FloorMod)?;
                let mut rest = t.atoms.clone();
                rest.remove(at);
                let rest = Self::term(rest, t.coef);
                let multiples = Self::of(m).times(&rest);
                let is_multiple = multiples.terms.iter().all(|of_m| of_m.is_multiple_of(c));
                is_multiple.then(|| Self::of(x).times(&rest).modulo(c))
            });
            let own = || Self::term(t.atoms.clone(), t.coef);
            sum = sum.plus(&without.unwrap_or_else(own), 1);
        }
        sum
    }

    fn div_mod_pair(&self) -> Option<DivModPair> {
        for (rem, t) in self.terms.iter().enumerate() {
            for (at, atom) in t.atoms.iter().enumerate() {
                let Some((y, c)) = atom.as_binary(BinOp::FloorMod) else {
                    continue;
                };
                let mut rest = t.atoms.clone();
                rest.remove(at);
                let divided = |d: &Term| {
                    d.atoms.iter().find_map(|atom| {
                        let (x, by) = atom.as_binary(BinOp::FloorDiv)?;
                        let atoms = [rest.clone(), vec![atom.clone()]].concat();
                        let wanted = Self::of(c).times(&Self::term(atoms, t.coef));
                        let [wanted] = wanted.terms.as_slice() else {
                            return None;
                        };
                        let fits = by == c
                            && d.coef == wanted.coef
                            && same_atoms(&d.atoms, &wanted.atoms)
                            && congruent(x, y, c);
                        fits.then(|| x.clone())
                    })
                };
                let mut terms = self.terms.iter().enumerate();
                let found = terms.find_map(|(div, d)| Some((div, divided(d)?)));
                if let Some((div, x)) = found {
                    return Some(DivModPair { div, rem, rest, x });
                }
            }
        }
        None
    }

    /// For a sum with a term `x // c`, `c` a positive constant: `c`, and `c` times the sum with `x` in place of `c * (x // c)`,
    /// which is no smaller than `c` times the sum.
    pub(super) fn without_division(&self) -> Option<(i64, Self)> {
        self.terms.iter().find_map(|t| {
            let [atom] = t.atoms.as_slice() else {
                return None;
            };
            let (x, c) = atom.as_binary(BinOp::FloorDiv)?;
            let c = c.as_int().filter(|c| *c > 0 && t.coef == 1)?;
            let mut rest = self.clone();
            rest.add_term(&t.atoms, -1);
            Some((c, Self::of(x).plus(&rest, c)))
        })
    }

    /// Whether the value is a multiple of `n` for all values of the atoms.
    pub(super) fn is_multiple_of(&self, n: i64) -> bool {
        self.terms
            .iter()
            .all(|t| t.coef % n == 0 || t.atoms.iter().any(|a| atom_is_multiple_of(a, n)))
    }

    /// The sum as an expression: terms that share symbolic factors (as tells `is_factor`) stand together, so that
    /// `i * n + 3 * n + j` reads `(i + 3) * n + j`; the constant comes last.
    pub(super) fn to_expr(&self, dtype: DType, is_factor: &dyn Fn(&Expr) -> bool) -> Expr {
        let mut groups: Vec<(Vec<Expr>, Self)> = Vec::new();
        for t in &self.terms {
            let (factors, rest): (Vec<Expr>, Vec<Expr>) =
                t.atoms.iter().cloned().partition(|a| is_factor(a));
            match groups.iter_mut().find(|(f, _)| same_atoms(f, &factors)) {
                Some((_, group)) => group.add_term(&rest, t.coef),
                None => groups.push((factors, Self::term(rest, t.coef))),
            }
        }
        groups.sort_by_key(|(factors, _)| factors.is_empty());
        let mut sum: Option<Expr> = None;
        for (factors, group) in groups {
            let mut value = group.plain_sum(dtype);
            for f in factors {
                let f = f.cast(dtype);
                value = if value.is_one() { f } else { value * f };
            }
            sum = Some(match (sum, value.as_int()) {
                (None, _) => value,
                (Some(sum), Some(v)) if v < 0 => sum - Expr::int(v.wrapping_neg(), dtype),
                (Some(sum), _) => sum + value,
            });
        }
        sum.unwrap_or_else(|| Expr::int(0, dtype))
    }

    fn plain_sum(&self, dtype: DType) -> Expr {
        let mut terms: Vec<&Term> = self.terms.iter().collect();
        terms.sort_by_key(|t| (t.atoms.is_empty(), t.coef < 0));
        let mut sum: Option<Expr> = None;
        for t in terms {
            let mut product: Option<Expr> = None;
            for a in &t.atoms {
                let a = a.cast(dtype);
                product = Some(product.map_or(a.clone(), |p| p * a));
            }
            let magnitude = |coef: i64| match &product {
                None => Expr::int(coef, dtype),
                Some(p) if coef == 1 => p.clone(),
                Some(p) => p * Expr::int(coef, dtype),
            };
            sum = Some(match sum {
                None => magnitude(t.coef),
                Some(s) if t.coef < 0 => s - magnitude(t.coef.wrapping_neg()),
                Some(s) => s + magnitude(t.coef),
            });
        }
        sum.unwrap_or_else(|| Expr::int(0, dtype))
    }
}

fn same_atoms(a: &[Expr], b: &[Expr]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut rest: Vec<&Expr> = b.iter().collect();
    a.iter().all(|x| match rest.iter().position(|y| *y == x) {
        Some(at) => {
            rest.remove(at);
            true
        }
        None => false,
    })
}

fn atom_is_multiple_of(atom: &Expr, n: i64) -> bool {
    match atom.kind() {
        ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => {
            WrappingSum::of(a).is_multiple_of(n) && WrappingSum::of(b).is_multiple_of(n)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_read_off_and_fused_loops_joined() {
        let [i, m, n, f] = ["i", "m", "n", "f"].map(|name| Var::new(name, DType::I64));
        let e = (i.expr() * 8 + 3) * &n;
        let (stride, base) = WrappingSum::of(&e).split(&i).expect("linear");
        let expr = |p: &WrappingSum| p.to_expr(DType::I64, &|a| a.as_var() == Some(&n));
        assert_eq!(expr(&stride), Expr::i64(8) * &n);
        assert_eq!(expr(&base), Expr::i64(3) * &n);
        let fused = f.expr().floor_div(&n) * &n + f.expr().floor_mod(&n);
        assert_eq!(expr(&WrappingSum::of(&fused).join_div_mod()), f.expr());
        let fused = f.expr().floor_div(16) * 48 + f.expr().floor_mod(16) * 3;
        assert_eq!(expr(&WrappingSum::of(&fused).join_div_mod()), f.expr() * 3);
        // 256 i + f, of which simplification takes multiples of 30 in the remainder.
        let fused = (i.expr() * 256 + &f).floor_div(30) * 30;
        let joined = |by: i64| {
            let rest = (i.expr() * by + &f).floor_mod(30);
            expr(&WrappingSum::of(&(&fused + rest)).join_div_mod())
        };
        assert_eq!(joined(16), i.expr() * 256 + &f);
        assert_ne!(joined(15), i.expr() * 256 + &f);
        // Digits of 16 i + f, where simplification divides by 16 if it can.
        let digits = [
            i.expr().floor_div(12544) * 200_704,
            i.expr().floor_mod(12544).floor_div(196) * 3136,
            (i.expr().floor_mod(196) * 16 + &f).floor_div(56) * 56,
            (i.expr() * 16 + &f).floor_mod(56),
        ];
        let fused = digits.into_iter().fold(Expr::i64(0), |a, b| a + b);
        let joined = WrappingSum::of(&fused).join_div_mod();
        assert_eq!(expr(&joined), f.expr() + i.expr() * 16);
        // Those of f along an axis of m rows of n.
        let [rows, columns] = [f.expr().floor_mod(m.expr() * &n), f.expr()];
        let fused = |by: &Var| rows.floor_div(&n) * &n + columns.floor_mod(by);
        let joined = |by: &Var| WrappingSum::of(&fused(by)).join_div_mod();
        assert_eq!(expr(&joined(&n)), rows);
        assert_ne!(expr(&joined(&m)), rows);
        assert!(
            WrappingSum::of(&(i.expr() * &n).floor_div(2))
                .split(&i)
                .is_none()
        );
    }
}
