//! Expressions to sums of splits.

use super::{
    IterMapError, IterMapLevel, IterMark, IterSplit, IterSum, MarkId, MarkSource, UnitIters,
};
use crate::arith::{Analyzer, IntBound};
use crate::ir::sum::is_index;
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// State of one detection.
pub(super) struct Rewriter<'a> {
    pub(super) facts: &'a Analyzer,
    /// The type of all sums.
    dtype: DType,
    pub(super) level: IterMapLevel,
    pub(super) marks: Vec<IterMark>,
    inputs: Vec<(Var, IterSum)>,
    pub(super) input_marks: Vec<MarkId>,
    /// Fusions made so far.
    pub(super) fusions: Vec<super::fuse::Fusion>,
    /// Indices of fusions that the predicate bounds.
    pub(super) constrained: Vec<Vec<IterSplit>>,
    pub(super) padding: super::pad::Padding,
}

/// An expression that uses inputs, or one that does not.
enum Value {
    Plain(Expr),
    Iter(IterSum),
}

impl Value {
    fn into_sum(self) -> IterSum {
        match self {
            Self::Plain(base) => IterSum { args: vec![], base },
            Self::Iter(sum) => sum,
        }
    }
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        facts: &'a Analyzer,
        inputs: &[(Var, Range)],
        dtype: DType,
        level: IterMapLevel,
        units: UnitIters,
    ) -> Self {
        let mut this = Self {
            facts,
            dtype,
            level,
            marks: vec![],
            inputs: vec![],
            input_marks: vec![],
            fusions: vec![],
            constrained: vec![],
            padding: super::pad::Padding::default(),
        };
        for (var, range) in inputs {
            let range = &Range {
                min: this.widened(&range.min),
                extent: this.widened(&range.extent),
            };
            let sum = if units == UnitIters::Simplify && range.extent.is_one() {
                IterSum {
                    args: vec![],
                    base: range.min.clone(),
                }
            } else {
                let value = this.widened(&var.expr());
                let source = if range.min.is_zero() {
                    value
                } else {
                    value - &range.min
                };
                let mark = this.new_mark(MarkSource::Input(source), range.extent.clone());
                this.input_marks.push(mark);
                IterSum {
                    args: vec![this.whole(mark)],
                    base: range.min.clone(),
                }
            };
            this.inputs.push((var.clone(), sum));
        }
        this
    }

    /// An index in the type of the map.
    pub(super) fn widened(&self, e: &Expr) -> Expr {
        if is_index(e.dtype()) {
            e.cast(self.dtype)
        } else {
            e.clone()
        }
    }

    pub(super) fn into_marks(self) -> Vec<IterMark> {
        self.marks
    }

    pub(super) fn new_mark(&mut self, source: MarkSource, extent: Expr) -> MarkId {
        self.marks.push(IterMark { source, extent });
        MarkId(self.marks.len() - 1)
    }

    pub(super) fn extent(&self, mark: MarkId) -> &Expr {
        &self.marks[mark.0].extent
    }

    /// The split that is the whole mark.
    pub(super) fn whole(&self, mark: MarkId) -> IterSplit {
        let extent = self.extent(mark).clone();
        let one = Expr::int(1, extent.dtype());
        IterSplit {
            mark,
            lower_factor: one.clone(),
            extent,
            scale: one,
        }
    }

    pub(super) fn product(&self, a: &Expr, b: &Expr) -> Expr {
        self.facts.simplify(&(a * b))
    }

    pub(super) fn divides(&self, divisor: &Expr, e: &Expr) -> bool {
        match (e.as_int(), divisor.as_int()) {
            (_, Some(0)) => false,
            (Some(e), Some(d)) => e % d == 0,
            _ => {
                self.facts.can_prove_equal(e, divisor)
                    || self.facts.simplify(&e.floor_mod(divisor)).is_zero()
            }
        }
    }

    pub(super) fn quotient(&self, a: &Expr, b: &Expr) -> Expr {
        self.facts.simplify(&a.floor_div(b))
    }

    /// The indices as sums with one split at most. Where an index cuts an input at a point that does not divide it, the input is
    /// padded, and all indices are written again in terms of the padded one.
    pub(super) fn rewrite_all(&mut self, indices: &[Expr]) -> Result<Vec<IterSum>, IterMapError> {
        if self.level != IterMapLevel::Bijective {
            self.padding.collecting = true;
            let first = self.rewrite_each(indices)?;
            self.padding.collecting = false;
            if !self.padding.required {
                return Ok(first);
            }
        }
        self.rewrite_each(indices)
    }

    fn rewrite_each(&mut self, indices: &[Expr]) -> Result<Vec<IterSum>, IterMapError> {
        let one = |index: &Expr| {
            let sum = self.rewrite(index)?.into_sum();
            if sum.args.is_empty() {
                return Ok(sum);
            }
            self.fuse(sum, super::fuse::SkipFused::Yes)
                .ok_or_else(|| IterMapError::NotFusable {
                    expr: index.clone(),
                })
        };
        indices.iter().map(one).collect()
    }

    /// The sum that an expression is, not yet fused.
    pub(super) fn rewrite_sum(&mut self, e: &Expr) -> Result<IterSum, IterMapError> {
        Ok(self.rewrite(e)?.into_sum())
    }

    fn rewrite(&mut self, e: &Expr) -> Result<Value, IterMapError> {
        let not_affine = || IterMapError::NotAffine { expr: e.clone() };
        match e.kind() {
            ExprKind::Var(var) => Ok(match self.inputs.iter().find(|(input, _)| input == var) {
                Some((_, sum)) => Value::Iter(sum.clone()),
                None => Value::Plain(self.widened(e)),
            }),
            ExprKind::Cast(a) if is_index(a.dtype()) && is_index(e.dtype()) => {
                match self.rewrite(a)? {
                    Value::Plain(_) => Ok(Value::Plain(self.widened(e))),
                    Value::Iter(sum) if self.keeps_value(a.dtype(), e.dtype(), &sum) => {
                        Ok(Value::Iter(sum))
                    }
                    Value::Iter(_) => Err(not_affine()),
                }
            }
            ExprKind::Binary(
                op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::FloorDiv | BinOp::FloorMod),
                a,
                b,
            ) if is_index(e.dtype()) => {
                let (a, b) = (self.rewrite(a)?, self.rewrite(b)?);
                match (op, a, b) {
                    (op, Value::Plain(a), Value::Plain(b)) => {
                        Ok(Value::Plain(self.facts.simplify(&Expr::binary(*op, a, b))))
                    }
                    (BinOp::Add, a, b) => Ok(Value::Iter(self.add(a.into_sum(), b.into_sum(), 1))),
                    (BinOp::Sub, a, b) => Ok(Value::Iter(self.add(a.into_sum(), b.into_sum(), -1))),
                    (BinOp::Mul, Value::Iter(sum), Value::Plain(factor))
                    | (BinOp::Mul, Value::Plain(factor), Value::Iter(sum)) => {
                        Ok(Value::Iter(self.scale(sum, &factor)))
                    }
                    (BinOp::FloorDiv, Value::Iter(sum), Value::Plain(divisor)) => {
                        let sum = self.as_bounded(sum, None);
                        let (split, base) = self.dividend(sum, e)?;
                        self.floor_div(split, base, divisor, e).map(Value::Iter)
                    }
                    (BinOp::FloorMod, Value::Iter(sum), Value::Plain(divisor)) => {
                        let sum = self.as_bounded(sum, Some(&divisor));
                        let (split, base) = self.dividend(sum, e)?;
                        self.floor_mod(split, base, divisor, e).map(Value::Iter)
                    }
                    _ => Err(not_affine()),
                }
            }
            _ => {
                let uses = self.inputs.iter().any(|(input, _)| e.uses(input));
                if uses {
                    Err(not_affine())
                } else {
                    Ok(Value::Plain(self.widened(e)))
                }
            }
        }
    }

    /// Whether a conversion keeps all values of the sum.
    fn keeps_value(&self, from: DType, to: DType, sum: &IterSum) -> bool {
        if from.bytes() <= to.bytes() {
            return true;
        }
        let values = |arg: &IterSplit| {
            let last = self.facts.bound(&arg.extent).add(IntBound::point(-1)).max;
            let scale = self.facts.bound(&arg.scale);
            IntBound::new(0, last.max(0)).mul(scale)
        };
        let base = self.facts.bound(&sum.base);
        let all = (sum.args.iter()).fold(base, |all, arg| all.add(values(arg)));
        all.fits(to.scalar)
    }

    /// `a + sign · b`; equal splits are merged.
    fn add(&self, mut a: IterSum, b: IterSum, sign: i32) -> IterSum {
        for arg in b.args {
            let same = |mine: &&mut IterSplit| {
                mine.mark == arg.mark
                    && mine.lower_factor == arg.lower_factor
                    && mine.extent == arg.extent
            };
            let scale = &arg.scale * sign;
            match a.args.iter_mut().find(same) {
                Some(mine) => mine.scale = self.facts.simplify(&(&mine.scale + &scale)),
                None => a.args.push(IterSplit {
                    scale: self.facts.simplify(&scale),
                    ..arg
                }),
            }
        }
        a.base = self.facts.simplify(&(a.base + b.base * sign));
        a
    }

    fn scale(&self, mut sum: IterSum, factor: &Expr) -> IterSum {
        for arg in &mut sum.args {
            arg.scale = self.product(&arg.scale, factor);
        }
        sum.base = self.product(&sum.base, factor);
        sum
    }

    /// The dividend as one split and a base.
    fn dividend(&mut self, sum: IterSum, e: &Expr) -> Result<(IterSplit, Expr), IterMapError> {
        let fused = if sum.args.len() == 1 {
            Some(sum)
        } else if sum.args.is_empty() {
            None
        } else {
            self.fuse(sum, super::fuse::SkipFused::Yes)
        };
        fused
            .and_then(|mut sum| Some((sum.args.pop()?, sum.base)))
            .ok_or_else(|| IterMapError::NotFusable { expr: e.clone() })
    }

    /// `(split + base) // divisor`
    fn floor_div(
        &mut self,
        mut split: IterSplit,
        mut base: Expr,
        mut divisor: Expr,
        e: &Expr,
    ) -> Result<IterSum, IterMapError> {
        if divisor.is_one() {
            let args = vec![split];
            return Ok(IterSum { args, base }); // x // 1 = x
        }
        if !split.scale.is_one() {
            if self.divides(&divisor, &split.scale) && self.divides(&divisor, &base) {
                // (x·c·d + y·d) // d = x·c + y
                split.scale = self.quotient(&split.scale, &divisor);
                base = self.quotient(&base, &divisor);
                let args = vec![split];
                return Ok(IterSum { args, base });
            }
            if !self.divides(&split.scale, &divisor) || !self.divides(&split.scale, &base) {
                return Err(IterMapError::NotDivisible { expr: e.clone() });
            }
            // (x·c + y·c) // (c·d) = (x + y) // d
            base = self.quotient(&base, &split.scale);
            divisor = self.quotient(&divisor, &split.scale);
            split.scale = Expr::int(1, divisor.dtype());
        }
        let (padded, left_pad) = self
            .pad(split, &base, &divisor)
            .ok_or_else(|| IterMapError::NotDivisible { expr: e.clone() })?;
        let ceil = |e: &Expr| self.facts.simplify(&(e + &divisor - 1).floor_div(&divisor));
        let new = if self.divides(&divisor, &padded.extent) {
            // ((mark // l) % (d·c)) // d = (mark // (l·d)) % c
            IterSplit {
                mark: padded.mark,
                lower_factor: self.product(&padded.lower_factor, &divisor),
                extent: self.quotient(&padded.extent, &divisor),
                scale: padded.scale,
            }
        } else if padded.lower_factor.is_one()
            && self
                .facts
                .can_prove_equal(&padded.extent, self.extent(padded.mark))
        {
            // mark // d, of the whole mark
            IterSplit {
                mark: padded.mark,
                extent: ceil(&padded.extent),
                lower_factor: divisor.clone(),
                scale: padded.scale,
            }
        } else {
            let extent = ceil(&padded.extent);
            let zero = Expr::int(0, divisor.dtype());
            let whole = padded.extent.clone();
            let sum = IterSum {
                args: vec![padded],
                base: zero,
            };
            IterSplit {
                mark: self.new_mark(MarkSource::Sum(sum), whole),
                extent,
                lower_factor: divisor.clone(),
                scale: Expr::int(1, divisor.dtype()),
            }
        };
        let base = self.facts.simplify(&(base - left_pad).floor_div(&divisor));
        let args = vec![new];
        Ok(IterSum { args, base })
    }

    /// `(split + base) % divisor`
    fn floor_mod(
        &mut self,
        mut split: IterSplit,
        mut base: Expr,
        mut divisor: Expr,
        e: &Expr,
    ) -> Result<IterSum, IterMapError> {
        let zero = Expr::int(0, divisor.dtype());
        let constant_zero = IterSum {
            args: vec![],
            base: zero.clone(),
        };
        if divisor.is_one() {
            return Ok(constant_zero); // x % 1 = 0
        }
        if !split.scale.is_one() {
            if self.divides(&divisor, &split.scale) && self.divides(&divisor, &base) {
                return Ok(constant_zero); // (x·c·d + y·d) % d = 0
            }
            if !self.divides(&split.scale, &divisor) || !self.divides(&split.scale, &base) {
                return Err(IterMapError::NotDivisible { expr: e.clone() });
            }
            // (x·c + y·c) % (c·d) = ((x + y) % d)·c
            base = self.quotient(&base, &split.scale);
            divisor = self.quotient(&divisor, &split.scale);
        }
        let scale = split.scale.clone();
        split.scale = Expr::int(1, divisor.dtype());
        let (padded, _) = self
            .pad(split, &base, &divisor)
            .ok_or_else(|| IterMapError::NotDivisible { expr: e.clone() })?;
        // ((mark // l) % (d·c)) % d = (mark // l) % d
        let args = vec![IterSplit {
            mark: padded.mark,
            lower_factor: padded.lower_factor,
            extent: divisor,
            scale,
        }];
        Ok(IterSum { args, base: zero })
    }
}
