//! What an idiom is, and what the check of one asks and answers.

use std::collections::{HashMap, HashSet};

use super::Declined;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::pattern::{DfPattern, Matches, is_op};
use crate::ir::graph::{Arg, Callee, Def, Function, Op, Rewriter, Scope, ValueId};
use crate::ir::{AttrValue, Attrs, Expr};
use crate::ops;
use crate::tensor::scalar::decode;
use crate::tensor::{DType, ScalarType};

/// A way to write an operator in primitives.
pub(super) struct Idiom {
    /// The operator.
    pub(super) operator: &'static str,
    /// The last value of a site.
    pub(super) pattern: DfPattern,
    /// The call in the pattern by which a site is known.
    pub(super) core: DfPattern,
    pub(super) instead: Instead,
}

/// What is computed instead; nothing where the values have another meaning altogether.
type Instead = Box<dyn Fn(&Match<'_>) -> Result<Option<Calls>, Declined>>;

impl Idiom {
    pub(super) fn new(
        operator: &'static str,
        pattern: &DfPattern,
        core: &DfPattern,
        instead: impl Fn(&Match<'_>) -> Result<Option<Calls>, Declined> + 'static,
    ) -> Self {
        Self {
            operator,
            pattern: pattern.clone(),
            core: core.clone(),
            instead: Box::new(instead),
        }
    }
}

/// A call of an operator with one operand, as a pattern.
pub(super) fn unary(op: &str, x: &DfPattern) -> DfPattern {
    is_op(ops::op(op), [x])
}

/// A call of an operator with two operands, as a pattern.
pub(super) fn binary(op: &str, x: &DfPattern, y: &DfPattern) -> DfPattern {
    is_op(ops::op(op), [x, y])
}

/// A match of the pattern of an idiom.
pub(super) struct Match<'a> {
    pub(super) function: &'a Function,
    pub(super) scope: &'a Scope<'a>,
    pub(super) matches: &'a Matches,
    /// The value that the pattern matches.
    pub(super) value: ValueId,
    /// Users in the dataflow block, each as often as it uses a value.
    pub(super) users: &'a HashMap<ValueId, Vec<ValueId>>,
    /// What the dataflow block passes out.
    pub(super) outputs: &'a [ValueId],
    /// The values of the dataflow block.
    pub(super) bindings: &'a HashSet<ValueId>,
}

impl Match<'_> {
    /// Refuses a site of which others use what is computed on the way.
    pub(super) fn used_inside(&self) -> Result<(), Declined> {
        let computed = self.matches.computed();
        for id in computed.iter().filter(|id| **id != self.value) {
            let users = self.users.get(id).into_iter().flatten();
            if self.outputs.contains(id) || users.into_iter().any(|u| !computed.contains(u)) {
                return Err(Declined::OtherUsers {
                    value: self.function.values[*id].name.clone(),
                });
            }
        }
        Ok(())
    }

    /// Whether a value of the block has a single use, in the block.
    pub(super) fn is_used_once(&self, id: ValueId) -> bool {
        self.users.get(&id).is_some_and(|users| users.len() == 1) && !self.outputs.contains(&id)
    }

    /// What the part of the pattern matches.
    pub(super) fn arg(&self, part: &DfPattern) -> Option<&Arg> {
        self.matches.get(part)
    }

    /// The extents of a tensor.
    pub(super) fn dims(&self, arg: &Arg) -> Option<Vec<Expr>> {
        let info = self.scope.arg(arg);
        Some(info.as_tensor()?.shape.dims()?.to_vec())
    }

    /// The extents of a tensor of which the operator needs them.
    pub(super) fn dims_of(&self, what: &'static str, arg: &Arg) -> Result<Vec<Expr>, Declined> {
        self.dims(arg).ok_or(Declined::Shape { what })
    }

    /// The type of the elements of a tensor.
    pub(super) fn dtype(&self, arg: &Arg) -> Option<DType> {
        self.scope.arg(arg).as_tensor()?.dtype
    }

    /// Refuses a site whose result has other extents than this operand: a constant broadcasts it.
    pub(super) fn has_shape_of(&self, operand: &Arg) -> Result<(), Declined> {
        let dims = (self.dims(&Arg::Value(self.value)), self.dims(operand));
        match dims {
            (Some(own), Some(given)) if same_dims(&own, &given) => Ok(()),
            _ => Err(Declined::Shape { what: "the result" }),
        }
    }

    /// The call of an operator that computes an argument in the block.
    pub(super) fn call(&self, arg: &Arg) -> Option<(ValueId, Op, &[Arg], &Attrs)> {
        let Arg::Value(id) = arg else {
            return None;
        };
        match &self.function.values.get(*id)?.def {
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args: _,
            } if self.bindings.contains(id) => Some((*id, *op, args, attrs)),
            _ => None,
        }
    }

    /// The number that is a constant scalar.
    pub(super) fn number(&self, what: &'static str, arg: &Arg) -> Result<f64, Declined> {
        scalar(arg).ok_or(Declined::NotConstant { what })
    }

    /// Refuses a site where a part that is there is another number than this, beyond the rounding of its type.
    pub(super) fn is_number(
        &self,
        what: &'static str,
        part: &DfPattern,
        expected: f64,
    ) -> Result<(), Declined> {
        let Some(arg) = self.arg(part) else {
            return Ok(());
        };
        let given = self.number(what, arg)?;
        let rounding = self.dtype(arg).map_or(0.0, |dtype| epsilon(dtype.scalar));
        match (given - expected).abs() <= 2.0 * rounding * expected.abs() {
            true => Ok(()),
            false => Err(Declined::Number {
                what,
                given,
                expected,
            }),
        }
    }
}

/// The number that a constant of one element is.
pub(super) fn scalar(arg: &Arg) -> Option<f64> {
    match arg {
        Arg::Const(tensor) if tensor.len() == 1 => {
            Some(decode(tensor.bytes(), tensor.dtype().scalar).as_float())
        }
        _ => None,
    }
}

/// The distance from 1 to the next number of the type.
fn epsilon(scalar: ScalarType) -> f64 {
    match scalar {
        ScalarType::F64 => f64::EPSILON,
        ScalarType::F32 => f32::EPSILON.into(),
        ScalarType::F16 => 2f64.powi(-10),
        ScalarType::BF16 => 2f64.powi(-7),
        _ => 0.0,
    }
}

/// Whether all extents are known to be equal.
pub(super) fn same_dims(a: &[Expr], b: &[Expr]) -> bool {
    let equal = |(a, b): (&Expr, &Expr)| compare_dims(a, b) == Proof::Yes;
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

/// The dimensions that an attribute names, of a tensor of so many, in increasing order.
pub(super) fn axes(attrs: &Attrs, name: &str, ndim: usize) -> Option<Vec<usize>> {
    let axis = |value: &AttrValue| {
        let axis = value.as_int()?;
        let axis = if axis < 0 { axis + ndim as i64 } else { axis };
        usize::try_from(axis).ok().filter(|axis| *axis < ndim)
    };
    let mut axes = match attrs.get(name)? {
        AttrValue::List(values) => values.iter().map(axis).collect::<Option<Vec<_>>>()?,
        AttrValue::None => (0..ndim).collect(),
        one => vec![axis(one)?],
    };
    axes.sort_unstable();
    Some(axes)
}

/// Dimensions as an attribute.
pub(super) fn ints(values: impl IntoIterator<Item = usize>) -> AttrValue {
    let values = values.into_iter().map(|v| AttrValue::Int(v as i64));
    AttrValue::List(values.collect())
}

/// Attributes of these names and values.
pub(super) fn attrs<const N: usize>(values: [(&str, AttrValue); N]) -> Attrs {
    let values = values.into_iter();
    values
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Calls of operators that compute a value; the last one gives it.
#[derive(Default)]
pub(super) struct Calls(Vec<OpCall>);

/// A call of an operator.
pub(super) struct OpCall {
    pub(super) op: &'static str,
    pub(super) args: Vec<Operand>,
    pub(super) attrs: Attrs,
}

/// An operand of a call.
#[derive(Clone)]
pub(super) enum Operand {
    /// An argument of the function before.
    Given(Arg),
    /// What an earlier call gives.
    Made(usize),
}

impl Calls {
    /// A single call, of arguments of the function.
    pub(super) fn one<'a>(
        op: &'static str,
        args: impl IntoIterator<Item = &'a Arg>,
        attrs: Attrs,
    ) -> Self {
        let mut calls = Self::default();
        let args = args.into_iter().cloned().map(Operand::Given);
        calls.add(op, args.collect(), attrs);
        calls
    }

    /// Adds a call, and gives its result.
    pub(super) fn add(&mut self, op: &'static str, args: Vec<Operand>, attrs: Attrs) -> Operand {
        self.0.push(OpCall { op, args, attrs });
        Operand::Made(self.0.len() - 1)
    }

    /// The last call, and those before it.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn split_last(&self) -> (&OpCall, &[OpCall]) {
        self.0.split_last().expect("an idiom has a call")
    }
}

impl Operand {
    /// The argument of the new function, where earlier calls gave these.
    pub(super) fn of(&self, made: &[Arg], rewriter: &Rewriter<'_>) -> Arg {
        match self {
            Self::Given(arg) => rewriter.arg(arg),
            Self::Made(at) => made[*at].clone(),
        }
    }
}
