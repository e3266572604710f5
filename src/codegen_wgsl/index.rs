//! Indices into arrays whose elements are grouped: vectors, or words of narrow elements.

use super::WgslError;
use super::emit::Emitter;
use super::text::{Text, lane_name};
use crate::kernel::Expr;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Emitter<'_> {
    /// Where the group of `width` elements is that starts at `index`, a multiple of `width`.
    pub(super) fn group_index(&mut self, index: &Expr, width: u16) -> Result<String, WgslError> {
        if width == 1 {
            return Ok(self.expr(index)?.to_string());
        }
        if let Some(quotient) = exact_quotient(index, i64::from(width)) {
            return Ok(self.expr(&quotient)?.to_string());
        }
        Ok(format!("u32({}) / {width}u", self.expr(index)?))
    }

    /// The group that holds an element, and the component in it.
    pub(super) fn element_index(
        &mut self,
        index: &Expr,
        width: u16,
    ) -> Result<(String, String), WgslError> {
        if width == 1 {
            return Ok((self.expr(index)?.to_string(), String::new()));
        }
        if let Expr::Int(v, _) = index {
            let w = i64::from(width);
            return Ok((
                (v / w).to_string(),
                format!(".{}", lane_name((v % w) as u64)),
            ));
        }
        if let Some((group, component)) = split_remainder(index, i64::from(width)) {
            let component = lane_name(component as u64);
            return Ok((self.expr(&group)?.to_string(), format!(".{component}")));
        }
        let at = self.expr(index)?;
        let at = self.bind(at);
        Ok((
            format!("u32({at}) / {width}u"),
            format!("[u32({at}) % {width}u]"),
        ))
    }

    /// The word that holds a narrow element of which `count` share a word, and where in the word it begins, in bits.
    pub(super) fn bit_index(
        &mut self,
        index: &Expr,
        count: u16,
    ) -> Result<(String, Text), WgslError> {
        let bits = 32 / i64::from(count);
        if let Some((word, part)) = split_remainder(index, count.into()) {
            let word = self.expr(&word)?.to_string();
            return Ok((word, Text::fixed(format!("{}u", bits * part))));
        }
        let at = self.expr(index)?;
        let at = self.bind(at);
        let shift = format!("{bits}u * (u32({at}) % {count}u)");
        Ok((
            format!("u32({at}) / {count}u"),
            Text::new(shift, super::text::Level::Product),
        ))
    }
}

/// `(index / width, index % width)` where every term but a constant is a multiple of the width.
fn split_remainder(index: &Expr, width: i64) -> Option<(Expr, i64)> {
    let (terms, constant) = match index {
        Expr::Int(v, ty) => {
            return Some((Expr::Int(v.div_euclid(width), *ty), v.rem_euclid(width)));
        }
        Expr::Binary(BinOp::Add, a, b) => match &**b {
            Expr::Int(v, _) => (&**a, *v),
            _ => (index, 0),
        },
        Expr::Binary(BinOp::Sub, a, b) => match &**b {
            Expr::Int(v, _) => (&**a, -v),
            _ => (index, 0),
        },
        _ => (index, 0),
    };
    let group = exact_quotient(terms, width)?;
    let more = constant.div_euclid(width);
    let group = match more {
        0 => group,
        _ => Expr::Binary(
            BinOp::Add,
            Box::new(group),
            Box::new(Expr::Int(more, ScalarType::I32)),
        ),
    };
    Some((group, constant.rem_euclid(width)))
}

/// `index / width` where every term is a multiple of it, so that no division is left.
fn exact_quotient(index: &Expr, width: i64) -> Option<Expr> {
    match index {
        Expr::Int(v, ty) => (v % width == 0).then(|| Expr::Int(v / width, *ty)),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (a, b) = (exact_quotient(a, width)?, exact_quotient(b, width)?);
            Some(match (&a, &b) {
                (_, Expr::Int(0, _)) => a,
                (Expr::Int(0, _), _) if *op == BinOp::Add => b,
                _ => Expr::Binary(*op, Box::new(a), Box::new(b)),
            })
        }
        Expr::Binary(BinOp::Mul, a, b) => {
            let (factor, other) = match (&**a, &**b) {
                (_, Expr::Int(..)) => (b, a),
                (Expr::Int(..), _) => (a, b),
                _ => {
                    return exact_quotient(b, width)
                        .map(|q| Expr::Binary(BinOp::Mul, a.clone(), Box::new(q)))
                        .or_else(|| {
                            exact_quotient(a, width)
                                .map(|q| Expr::Binary(BinOp::Mul, Box::new(q), b.clone()))
                        });
                }
            };
            if let Some(Expr::Int(q, ty)) = exact_quotient(factor, width) {
                return Some(if q == 1 {
                    (**other).clone()
                } else {
                    Expr::Binary(BinOp::Mul, other.clone(), Box::new(Expr::Int(q, ty)))
                });
            }
            exact_quotient(other, width)
                .map(|q| Expr::Binary(BinOp::Mul, Box::new(q), factor.clone()))
        }
        _ => None,
    }
}

/// The index `lane` elements further on.
pub(super) fn offset(index: &Expr, lane: i64) -> Expr {
    match index {
        _ if lane == 0 => index.clone(),
        Expr::Int(v, ty) => Expr::Int(v + lane, *ty),
        _ => Expr::Binary(
            BinOp::Add,
            Box::new(index.clone()),
            Box::new(Expr::Int(lane, ScalarType::I32)),
        ),
    }
}
