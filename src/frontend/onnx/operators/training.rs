//! Steps of optimisers (`ai.onnx.preview.training`): new values of tensors, from gradients and what the step before left.
//!
//! The operands are the learning rate, the number of the step, then all tensors, all gradients, and all tensors of each state; the
//! results are all tensors, then all tensors of each state.

use super::Operator;
use crate::frontend::onnx::call::{Call, Outputs, in_type, number};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

const DOMAIN: &str = "ai.onnx.preview.training";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Adagrad", &[1], adagrad).of(DOMAIN),
    Operator::new("Adam", &[1], adam).of(DOMAIN),
    Operator::new("Momentum", &[1], momentum).of(DOMAIN),
];

/// A step: what all its tensors share.
struct Step {
    dtype: DType,
    rate: Expr,
    /// The number of the step, in the type of the tensors.
    time: Expr,
    /// How much of a tensor is added to its gradient.
    norm: Expr,
    /// How many tensors are optimised.
    count: usize,
}

impl Step {
    /// A step whose tensors have so many operands each.
    fn of(c: &mut Call<'_, '_>, kinds: usize) -> Result<Self, Fault> {
        let given = c.inputs.len().saturating_sub(2);
        if given == 0 || !given.is_multiple_of(kinds) {
            let text = format!("{given} tensors for an optimiser that takes {kinds} for each");
            return Err(Fault::Unsupported(text));
        }
        let dtype = c.dtype(2)?;
        let (rate, time) = (c.x(0)?, c.x(1)?);
        Ok(Self {
            dtype,
            rate: in_type(rate, c.dtype(0)?, dtype),
            time: in_type(time, c.dtype(1)?, dtype),
            norm: number(c.attributes.float_or("norm_coefficient", 0.0)?, dtype)?,
            count: given / kinds,
        })
    }

    fn number(&self, value: f64) -> Result<Expr, Fault> {
        number(value, self.dtype)
    }

    /// The operand of a kind that belongs to a tensor.
    fn operand(&self, c: &mut Call<'_, '_>, kind: usize, at: usize) -> Result<Expr, Fault> {
        c.x(2 + kind * self.count + at)
    }

    /// A tensor, and its gradient with the regularisation added.
    fn regularised(&self, c: &mut Call<'_, '_>, at: usize) -> Result<(Expr, Var), Fault> {
        let (x, gradient) = (self.operand(c, 0, at)?, self.operand(c, 1, at)?);
        let gradient = c.emit(self.norm.clone() * x.clone() + gradient)?;
        Ok((x, gradient))
    }

    /// One number for the first step, another for those after it.
    fn by_time(&self, after: Expr, first: Expr) -> Result<Expr, Fault> {
        let late = relax::op("greater", [self.time.clone(), self.number(0.0)?]);
        Ok(relax::op("where", [late, after, first]))
    }
}

/// The number of an attribute that must be there.
fn needed(c: &Call<'_, '_>, name: &str) -> Result<f64, Fault> {
    let value = c.attributes.float(name)?;
    value.ok_or_else(|| Fault::NoAttribute(name.to_owned()))
}

/// The results of all tensors, kind by kind.
fn by_kind<const N: usize>(results: Vec<[Value; N]>) -> Vec<Value> {
    let mut kinds = vec![vec![]; N];
    for result in results {
        for (kind, value) in kinds.iter_mut().zip(result) {
            kind.push(value);
        }
    }
    kinds.concat()
}

/// # References
/// J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", 2011.
fn adagrad(c: &mut Call<'_, '_>) -> Outputs {
    let step = Step::of(c, 3)?;
    let decay = step.number(c.attributes.float_or("decay_factor", 0.0)?)?;
    let epsilon = step.number(c.attributes.float_or("epsilon", f64::from(1e-6f32))?)?;
    let rate = step.rate.clone() / (step.number(1.0)? + step.time.clone() * decay);
    let rate = c.emit(rate)?;
    let mut results = vec![];
    for at in 0..step.count {
        let (x, gradient) = step.regularised(c, at)?;
        let squares = step.operand(c, 2, at)?;
        let squares = c.emit(squares + &gradient * &gradient)?;
        let scale = relax::op("sqrt", [&squares]) + epsilon.clone();
        let x = c.emit(x - &rate * &gradient / scale)?;
        results.push([x.into(), squares.into()]);
    }
    Ok(by_kind(results))
}

/// # References
/// D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", 2014.
fn adam(c: &mut Call<'_, '_>) -> Outputs {
    let step = Step::of(c, 4)?;
    let alpha = c.attributes.float_or("alpha", f64::from(0.9f32))?;
    let beta = c.attributes.float_or("beta", f64::from(0.999f32))?;
    let epsilon = step.number(c.attributes.float_or("epsilon", f64::from(1e-6f32))?)?;
    let after = c.attributes.float_or("norm_coefficient_post", 0.0)?;
    let unit = step.number(1.0)?;
    // What the means of the first steps lack, as they begin with 0.
    let lacks = |factor: f64| {
        let power = relax::op("power", [step.number(factor)?, step.time.clone()]);
        Ok::<Expr, Fault>(unit.clone() - power)
    };
    let corrected = step.rate.clone() * relax::op("sqrt", [lacks(beta)?]) / lacks(alpha)?;
    let rate = c.emit(step.by_time(corrected, step.rate.clone())?)?;
    let mean = |old: Expr, new: Expr, factor: f64| {
        let (kept, added) = (step.number(factor)?, step.number(1.0 - factor)?);
        Ok::<Expr, Fault>(kept * old + added * new)
    };
    let mut results = vec![];
    for at in 0..step.count {
        let (x, gradient) = step.regularised(c, at)?;
        let (first, second) = (step.operand(c, 2, at)?, step.operand(c, 3, at)?);
        let first = c.emit(mean(first, (&gradient).into(), alpha)?)?;
        let second = c.emit(mean(second, &gradient * &gradient, beta)?)?;
        let scale = relax::op("sqrt", [&second]) + epsilon.clone();
        let x = x - &rate * (&first / scale);
        let x = c.emit(step.number(1.0 - after)? * x)?;
        results.push([x.into(), first.into(), second.into()]);
    }
    Ok(by_kind(results))
}

fn momentum(c: &mut Call<'_, '_>) -> Outputs {
    let step = Step::of(c, 3)?;
    needed(c, "norm_coefficient")?;
    let alpha = step.number(needed(c, "alpha")?)?;
    let beta = step.number(needed(c, "beta")?)?;
    let mode = c.attributes.one_of("mode", "", &["standard", "nesterov"])?;
    // The first gradient counts in full.
    let beta = c.emit(step.by_time(beta, step.number(1.0)?)?)?;
    let mut results = vec![];
    for at in 0..step.count {
        let (x, gradient) = step.regularised(c, at)?;
        let velocity = step.operand(c, 2, at)?;
        let velocity = c.emit(alpha.clone() * velocity + &beta * &gradient)?;
        let direction = match mode {
            "nesterov" => &gradient + alpha.clone() * &velocity,
            _ => (&velocity).into(),
        };
        let x = c.emit(x - step.rate.clone() * direction)?;
        results.push([x.into(), velocity.into()]);
    }
    Ok(by_kind(results))
}
