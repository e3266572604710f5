//! Scalar parameters that are no integers. A launch passes integers only, so such a parameter comes as an integer with its bits
//! ([`ScalarParam::bits`](crate::kernel::ScalarParam)), and the program reads it back.

use std::borrow::Cow;

use super::host::Dims;
use crate::ir::{Definitions, Expr, Param, PrimFunc, Substitution, Var};
use crate::kernel::ScalarParam;
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// The function with integers for its scalar parameters. Loops and blocks keep their handles.
pub(super) fn as_integers(func: &PrimFunc) -> Cow<'_, PrimFunc> {
    let mut values = Substitution::new(Definitions::Kept);
    let mut params = func.params.clone();
    let mut passed = false;
    for param in &mut params {
        if let Param::Scalar(var) = param
            && !var.dtype().is_int()
        {
            let bits = Var::new(var.name(), bits_of(var.dtype().scalar));
            values.set_var(var, value(&bits, var.dtype()));
            *var = bits;
            passed = true;
        }
    }
    if !passed {
        return Cow::Borrowed(func);
    }
    let mut func = func.clone();
    func.params = params;
    Cow::Owned(func.map(&mut values))
}

/// The type of the integer that a scalar is passed as.
fn bits_of(scalar: ScalarType) -> DType {
    match scalar {
        ScalarType::F64 => DType::I64,
        _ => DType::I32,
    }
}

/// What the integer stands for.
fn value(bits: &Var, dtype: DType) -> Expr {
    match dtype.scalar {
        ScalarType::Bool => Expr::binary(BinOp::Ne, bits, Expr::i32(0)),
        ScalarType::F64 => bits.expr().reinterpret(dtype),
        // What is smaller is passed as the `float32` that it is.
        _ => bits.expr().reinterpret(DType::F32).cast(dtype),
    }
}

/// The scalar parameters of a function, in order; `passed` is the same with integers for them.
pub(super) fn scalar_params(func: &PrimFunc, passed: &PrimFunc, dims: &Dims) -> Vec<ScalarParam> {
    let params = func.params.iter().zip(&passed.params);
    let scalar = |(param, passed): (&Param, &Param)| match (param, passed) {
        (Param::Scalar(var), Param::Scalar(bits)) => Some(ScalarParam {
            dim: dims.index(bits)?,
            dtype: var.dtype().scalar,
        }),
        _ => None,
    };
    params.filter_map(scalar).collect()
}
