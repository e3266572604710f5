//! Operands of quantized products: elements of 8 bits less their zero point, and what a scale multiplies.

use crate::ir::Expr;
use crate::ir::graph::{Arg, GraphBuilder, Op};
use crate::ops;
use crate::tensor::DType;

const ASTYPE: Op = ops::op("astype");
const SUBTRACT: Op = ops::op("subtract");
const RESHAPE: Op = ops::op("reshape");
const MULTIPLY: Op = ops::op("multiply");
const NARROW: [DType; 2] = [DType::I8, DType::U8];

/// An operand in `int32`: elements of 8 bits without their zero point.
pub(super) struct Centred {
    pub(super) elements: Arg,
    pub(super) shape: Vec<Expr>,
    pub(super) dtype: DType,
    /// Of `int32`. `None` if it is 0.
    pub(super) zero: Option<Arg>,
    /// The operand as a whole, in `int32`, where it is a value.
    pub(super) whole: Option<Arg>,
}

impl Centred {
    pub(super) fn of(whole: &Arg, builder: &GraphBuilder) -> Option<Self> {
        let (cast, zero) = match op_call(whole, builder) {
            Some((op, [x, zero])) if op == SUBTRACT => (x, Some(zero)),
            _ => (whole, None),
        };
        let (op, [elements]) = op_call(cast, builder)? else {
            return None;
        };
        let (dtype, shape) = tensor(elements, builder)?;
        let (wide, of_difference) = tensor(whole, builder)?;
        let zero = zero.filter(|zero| !is_zero(zero, builder));
        // A zero point of another type may be beyond this one, and a larger one makes the operand larger than its elements.
        let fits = zero.is_none_or(|zero| is_cast_from(zero, dtype, builder));
        let is_narrow = op == ASTYPE && NARROW.contains(&dtype);
        (is_narrow && wide == DType::I32 && fits && of_difference == shape).then(|| Self {
            elements: elements.clone(),
            shape,
            dtype,
            zero: zero.cloned(),
            whole: Some(whole.clone()),
        })
    }

    /// Of an operand in `float32`, the integers that its scale multiplies, and the scale.
    pub(super) fn scaled(operand: &Arg, builder: &GraphBuilder) -> Option<(Self, Arg)> {
        let (op, [converted, scale]) = op_call(operand, builder)? else {
            return None;
        };
        let (cast, [integers]) = op_call(converted, builder)? else {
            return None;
        };
        if op != MULTIPLY || cast != ASTYPE {
            return None;
        }
        if let Some(centred) = Self::of(integers, builder) {
            return Some((centred, scale.clone()));
        }
        let (dtype, shape) = tensor(integers, builder)?;
        let centred = Self {
            elements: integers.clone(),
            shape,
            dtype,
            zero: None,
            whole: None,
        };
        NARROW.contains(&dtype).then(|| (centred, scale.clone()))
    }

    /// Whether there is no zero point, or one of a shape that fits.
    pub(super) fn zero_is(
        &self,
        builder: &GraphBuilder,
        fits: impl FnOnce(&[Expr]) -> bool,
    ) -> bool {
        let Some(zero) = &self.zero else {
            return true;
        };
        tensor(zero, builder).is_some_and(|(_, shape)| fits(&shape))
    }
}

/// The type and the extents of a tensor, if they are known.
pub(super) fn tensor(arg: &Arg, builder: &GraphBuilder) -> Option<(DType, Vec<Expr>)> {
    let info = builder.scope().arg(arg);
    let info = info.as_tensor()?;
    Some((info.dtype?, info.shape.dims()?.to_vec()))
}

/// The operator that computes a value, and its operands.
fn op_call<'b>(arg: &Arg, builder: &'b GraphBuilder) -> Option<(Op, &'b [Arg])> {
    let Arg::Value(id) = arg else {
        return None;
    };
    let (op, args, _) = builder.values().get(*id)?.def.op_call()?;
    Some((op, args))
}

/// Whether a value is converted from elements of this type.
fn is_cast_from(arg: &Arg, dtype: DType, builder: &GraphBuilder) -> bool {
    match op_call(arg, builder) {
        Some((op, [from, ..])) if op == RESHAPE => is_cast_from(from, dtype, builder),
        Some((op, [from])) if op == ASTYPE => {
            tensor(from, builder).is_some_and(|(from, _)| from == dtype)
        }
        _ => false,
    }
}

/// Whether a zero point is a constant of zeros, perhaps converted.
fn is_zero(arg: &Arg, builder: &GraphBuilder) -> bool {
    match (arg, op_call(arg, builder)) {
        (Arg::Const(tensor), _) => {
            tensor.dtype().scalar.is_int() && tensor.bytes().iter().all(|byte| *byte == 0)
        }
        (_, Some((op, [from, ..]))) if op == ASTYPE || op == RESHAPE => is_zero(from, builder),
        _ => false,
    }
}
