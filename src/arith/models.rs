//! Models: values of the variables with which all that is known holds. A condition that is false in a model has no proof, and no
//! search for one is begun (measured: 150 us a search that fails, 3 us a model that refutes).

use std::sync::Arc;

use super::IntBound;
use crate::ir::sum::Sum;
use crate::ir::{Expr, ExprKind, Range, Var};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, floor_div, floor_mod};

/// Models to begin with; conditions leave fewer.
const MODELS: usize = 64;
/// Nodes of expressions that one question may visit: shared ones count each time.
const MOST_NODES: u32 = 512;
/// Values of a variable without a range begin here, if they may,
const FEW_NEGATIVE: i64 = -4;
/// and are so many.
const SPREAD: i64 = 100;

/// Values that are consistent with each other.
#[derive(Clone, Debug)]
pub(super) struct Models {
    vars: Vec<(Var, Arc<[i64; MODELS]>)>,
    /// A bit for each model in which all holds.
    alive: u64,
}

impl Default for Models {
    fn default() -> Self {
        Self {
            vars: vec![],
            alive: u64::MAX,
        }
    }
}

impl Models {
    /// The variable takes values of the range.
    pub(super) fn bind(&mut self, var: &Var, range: &Range) {
        self.choose(var, |models, model| {
            let (min, extent) = (
                models.value(&range.min, model)?,
                models.value(&range.extent, model)?,
            );
            (extent > 0).then_some((min, extent))
        });
    }

    /// The variable takes values between these.
    pub(super) fn bind_bound(&mut self, var: &Var, bound: IntBound) {
        // Small values are the ones to which conditions make a difference.
        let min = bound.max.min(bound.min.max(FEW_NEGATIVE));
        let extent = bound.max.saturating_sub(min).saturating_add(1);
        let range = (!bound.is_empty()).then_some((min, extent.min(SPREAD)));
        self.choose(var, |_, _| range);
    }

    /// Gives the variable values of `(min, extent)`, the ends of it often. Models that have no value for it are left out, as
    /// are those in which it had another: what is known may build on that.
    fn choose(&mut self, var: &Var, range: impl Fn(&Self, usize) -> Option<(i64, i64)>) {
        let known = self.column(var).cloned();
        let mut values = [0; MODELS];
        for (model, value) in values.iter_mut().enumerate() {
            if !self.is_alive(model) {
                continue;
            }
            let Some((min, extent)) = range(self, model) else {
                self.alive &= !(1 << model);
                continue;
            };
            let random = mix(self.vars.len() as u64, model as u64);
            let at = match random % 4 {
                0 => 0,
                1 => extent - 1,
                _ => ((random >> 8) % extent.unsigned_abs()) as i64,
            };
            *value = min.saturating_add(at);
            if let Some(known) = &known {
                *value = known[model];
                if !(min..min.saturating_add(extent)).contains(value) {
                    self.alive &= !(1 << model);
                }
            }
        }
        if known.is_none() {
            self.vars.push((var.clone(), Arc::new(values)));
        }
    }

    /// Leaves out the models in which the condition, a comparison, is not seen to hold.
    pub(super) fn assume(&mut self, cond: &Expr) {
        for model in 0..MODELS {
            if self.is_alive(model) && self.value(cond, model) != Some(1) {
                self.alive &= !(1 << model);
            }
        }
    }

    /// Whether the sum is negative in a model.
    pub(super) fn refute_nonneg(&self, sum: &Sum) -> bool {
        let value = |model: usize| {
            let mut fuel = MOST_NODES;
            let terms = sum.terms.iter().map(|term| {
                term.atoms.iter().try_fold(term.coeff, |product, atom| {
                    product.checked_mul(self.node(atom, model, &mut fuel)?.into())
                })
            });
            terms
                .into_iter()
                .try_fold(sum.constant, |total, term| total.checked_add(term?))
        };
        let mut models = (0..MODELS).filter(|&model| self.is_alive(model));
        models.any(|model| value(model).is_some_and(|value| value < 0))
    }

    fn is_alive(&self, model: usize) -> bool {
        self.alive >> model & 1 == 1
    }

    fn column(&self, var: &Var) -> Option<&Arc<[i64; MODELS]>> {
        let mut columns = self.vars.iter().rev();
        columns.find_map(|(known, values)| (known == var).then_some(values))
    }

    fn value(&self, e: &Expr, model: usize) -> Option<i64> {
        self.node(e, model, &mut { MOST_NODES })
    }

    /// The value of an integer expression, or 1 for a condition that holds and 0 for one that does not; nothing if it is made of
    /// more than the variables.
    fn node(&self, e: &Expr, model: usize, fuel: &mut u32) -> Option<i64> {
        *fuel = fuel.checked_sub(1)?;
        if e.is_data() || e.dtype().is_vector() {
            return None;
        }
        match e.kind() {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Var(var) => Some(self.column(var)?[model]),
            ExprKind::Cast(a) if a.dtype().is_int() => {
                let value = self.node(a, model, fuel)?;
                let ty: ScalarType = e.dtype().scalar;
                IntBound::point(value).fits(ty).then_some(value)
            }
            ExprKind::Not(a) => Some(1 - self.node(a, model, fuel)?),
            ExprKind::Select(cond, a, b) | ExprKind::IfThenElse(cond, a, b) => {
                match self.node(cond, model, fuel)? {
                    0 => self.node(b, model, fuel),
                    _ => self.node(a, model, fuel),
                }
            }
            ExprKind::Binary(op, a, b) if !a.dtype().is_float() => {
                let (a, b) = (self.node(a, model, fuel)?, self.node(b, model, fuel)?);
                match op {
                    BinOp::Add => a.checked_add(b),
                    BinOp::Sub => a.checked_sub(b),
                    BinOp::Mul => a.checked_mul(b),
                    BinOp::FloorDiv => (b != 0).then(|| floor_div(a, b)),
                    BinOp::FloorMod => (b != 0).then(|| floor_mod(a, b)),
                    BinOp::Div => a.checked_div(b),
                    BinOp::Mod => a.checked_rem(b),
                    BinOp::Min => Some(a.min(b)),
                    BinOp::Max => Some(a.max(b)),
                    BinOp::Lt => Some((a < b).into()),
                    BinOp::Le => Some((a <= b).into()),
                    BinOp::Gt => Some((a > b).into()),
                    BinOp::Ge => Some((a >= b).into()),
                    BinOp::Eq => Some((a == b).into()),
                    BinOp::Ne => Some((a != b).into()),
                    BinOp::And => Some(a & b),
                    BinOp::Or => Some(a | b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Bits that look random, the same in every run. (The finalizer of SplitMix64.)
fn mix(a: u64, b: u64) -> u64 {
    let mut z = (a << 32 | b).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::Analyzer;
    use crate::tensor::DType;

    fn refuted(facts: &Analyzer, e: &Expr) -> bool {
        facts.models.refute_nonneg(&Sum::of(e))
    }

    #[test]
    fn what_holds_is_not_refuted_and_what_may_fail_is() {
        let [n, i, j] = ["n", "i", "j"].map(|name| Var::new(name, DType::I64));
        let mut facts = Analyzer::new();
        facts.bind_shape_var(&n);
        facts.bind_iteration(&i, &Range::to(n.expr()));
        facts.bind_iteration(&j, &Range::to(i.expr() + 1));
        let (n, i, j) = (n.expr(), i.expr(), j.expr());
        for holds in [
            &n - &i - 1,
            &i - &j,
            i.floor_div(4),
            &i * &j,
            Expr::i64(3) - i.floor_mod(4),
        ] {
            assert!(!refuted(&facts, &holds), "{holds:?}");
        }
        for may_fail in [
            &n - 50,
            &j - &i,
            &n - &i - 2,
            Expr::i64(2) - i.floor_mod(4),
            &i - 1,
        ] {
            assert!(refuted(&facts, &may_fail), "{may_fail:?}");
        }
        let mut last = facts.clone();
        last.assume(&j.ge(&i));
        assert!(!refuted(&last, &(&j - &i)) && refuted(&facts, &(&j - &i)));
        assert!(refuted(&last, &(&i - 1)));
    }

    #[test]
    fn a_variable_that_is_bound_again_keeps_only_values_of_both_ranges() {
        let i = Var::new("i", DType::I64);
        let mut facts = Analyzer::new();
        facts.bind(&i, &Range::to(Expr::i64(64)));
        let twice = i.expr() * 2;
        facts.assume(&twice.ge(20));
        facts.bind(&i, &Range::to(Expr::i64(16)));
        assert!(
            !refuted(&facts, &(i.expr() - 10)) && !refuted(&facts, &(Expr::i64(15) - i.expr()))
        );
    }

    #[test]
    fn what_is_not_known_is_not_refuted() {
        let [i, loaded] = [Var::new("i", DType::I64), Var::data("loaded", DType::I64)];
        let mut facts = Analyzer::new();
        facts.bind(&i, &Range::to(Expr::i64(8)));
        assert!(!refuted(&facts, &(i.expr() + loaded.expr())));
        let stranger = Var::new("stranger", DType::I64);
        assert!(!refuted(&facts, &(i.expr() - stranger.expr())));
    }
}
