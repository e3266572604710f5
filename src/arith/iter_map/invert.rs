//! Solving an iteration map for its inputs.

use super::{IterMap, IterSplit, MarkId, MarkSource};
use crate::arith::Analyzer;
use crate::ir::{Expr, Var};
use crate::tensor::scalar::BinOp;

impl IterMap {
    /// The inputs for which the indices take the given values, in terms of these. The map must be
    /// [`Bijective`](super::IterMapLevel::Bijective), or [`is_one_to_one`](Self::is_one_to_one); inputs that were simplified away
    /// are not among the results.
    pub fn invert(&self, facts: &Analyzer, values: &[Expr]) -> Vec<(Var, Expr)> {
        let mut inputs = Vec::new();
        for (mark, value) in self.invert_marks(facts, values) {
            if let MarkSource::Input(input) = &self.mark(mark).source
                && let [var] = &input.free_vars()[..]
            {
                let first = facts.simplify(&(var.expr() - input));
                let value = if first.is_zero() {
                    value
                } else {
                    value + first
                };
                inputs.push((var.clone(), facts.simplify(&value)));
            }
        }
        inputs
    }

    /// Where the indices have values that no inputs give, in terms of these values: false if the map needs no padding.
    pub fn padding(&self, facts: &Analyzer, values: &[Expr]) -> Expr {
        let marks = self.invert_marks(facts, values);
        let mut padding = Expr::bool(false);
        for padded in &self.padded {
            let Some((_, value)) = marks.iter().find(|(mark, _)| *mark == padded.mark) else {
                continue;
            };
            let (quotient, rest) = (
                value.floor_div(&padded.factor),
                value.floor_mod(&padded.factor),
            );
            let before = quotient.equals(0).and(rest.lt(&padded.left));
            let end = facts.simplify(&padded.end.floor_mod(&padded.factor));
            let missing = (Expr::int(0, end.dtype()) - &padded.end).floor_mod(&padded.factor);
            let last = facts.simplify(&(&padded.factor - &end)).is_one();
            let from_end = if last {
                rest.equals(&end)
            } else {
                rest.ge(&end)
            };
            let after = (quotient.equals(padded.end.floor_div(&padded.factor))).and(&from_end);
            for (size, cond) in [(&padded.left, before), (&missing, after)] {
                let there_is = facts.simplify(&size.ge(1));
                let cond = facts.simplify(&there_is.and(&cond));
                padding = facts.simplify(&Expr::binary(BinOp::Or, padding, cond));
            }
        }
        facts.simplify(&padding)
    }

    /// The values of all marks that the indices use.
    fn invert_marks(&self, facts: &Analyzer, values: &[Expr]) -> Vec<(MarkId, Expr)> {
        // The value of a mark is the sum of its splits' values, each times its lower factor.
        let mut marks: Vec<(MarkId, Expr)> = Vec::new();
        for (sum, value) in self.indices.iter().zip(values) {
            if let Some(split) = sum.args.first() {
                let value = (value - &sum.base).floor_div(&split.scale);
                add(&mut marks, split, value);
            }
        }
        let mut at = 0;
        while at < marks.len() {
            let (mark, value) = marks[at].clone();
            let value = facts.simplify(&value);
            marks[at].1 = value.clone();
            if let MarkSource::Sum(sum) = &self.mark(mark).source {
                let value = value - &sum.base;
                for (i, split) in sum.args.iter().enumerate() {
                    let mut part = value.floor_div(&split.scale);
                    if i > 0 {
                        part = part.floor_mod(&split.extent);
                    }
                    add(&mut marks, split, part);
                }
            }
            at += 1;
        }
        marks
    }
}

fn add(marks: &mut Vec<(MarkId, Expr)>, split: &IterSplit, value: Expr) {
    let value = value * &split.lower_factor;
    match marks.iter_mut().find(|(mark, _)| *mark == split.mark) {
        Some((_, total)) => *total = &*total + value,
        None => marks.push((split.mark, value)),
    }
}

#[cfg(test)]
mod tests {
    use crate::arith::Analyzer;
    use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
    use crate::ir::{Expr, Range, Var};
    use crate::tensor::DType;

    #[test]
    fn inversion_gives_back_the_inputs() {
        let (i, j) = (Var::new("i", DType::I32), Var::new("j", DType::I32));
        let from = Range {
            min: Expr::i32(2),
            extent: Expr::i32(4),
        };
        let inputs = [(i.clone(), from), (j.clone(), Range::to(Expr::i32(6)))];
        let mut facts = Analyzer::new();
        inputs.iter().for_each(|(v, r)| facts.bind(v, r));
        let index = |i: Expr, j: Expr| i * 6 + j + 3;
        let map = detect_iter_map(
            &facts,
            &[index(i.expr(), j.expr())],
            &inputs,
            &Expr::bool(true),
            IterMapLevel::Bijective,
            UnitIters::Preserve,
        )
        .expect("a fusion is bijective");
        for (a, b) in [(2, 0), (2, 5), (3, 0), (5, 5)] {
            let value = facts.simplify(&index(Expr::i32(a), Expr::i32(b)));
            let solved = map.invert(&Analyzer::new(), &[value]);
            let of = |var: &Var| {
                solved
                    .iter()
                    .find(|(v, _)| v == var)
                    .map(|(_, e)| e.as_int())
            };
            assert_eq!(of(&i), Some(Some(a.into())));
            assert_eq!(of(&j), Some(Some(b.into())));
        }
    }
}
