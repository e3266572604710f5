//! Indices that are elements of tensors.

use crate::ir::Expr;
use crate::tensor::{DType, ScalarType};

/// An index in a type that holds negative ones: `int32` for narrower types, `int64` for `uint32`. Of `uint64` the numbers that are
/// larger than any extent stay so.
pub fn wide_index(index: &Expr) -> Expr {
    let dtype = match index.dtype().scalar {
        ScalarType::U64 => {
            let most = Expr::constant(i64::MAX, index.dtype());
            return index.min(&most).cast(DType::I64);
        }
        ScalarType::I32 | ScalarType::I64 => index.dtype(),
        ScalarType::U32 => DType::I64,
        _ => DType::I32,
    };
    index.cast(dtype)
}

/// An index that may count from the end, as one that counts from the start.
pub fn from_start(index: &Expr, extent: &Expr) -> Expr {
    let index = wide_index(index);
    let extent = extent.cast(index.dtype());
    let zero = Expr::constant(0, index.dtype());
    Expr::select(index.lt(zero), index.clone() + extent, index)
}

/// The index, or the nearest one inside of the extent.
pub fn clipped(index: &Expr, extent: &Expr) -> Expr {
    let last = extent.cast(index.dtype()) - Expr::constant(1, index.dtype());
    index.min(last).max(Expr::constant(0, index.dtype()))
}

/// An index that may count from the end; one outside is undefined, and reads some element.
pub fn bounded(index: &Expr, extent: &Expr) -> Expr {
    clipped(&from_start(index, extent), extent)
}

/// `then` where the condition holds, which may be constant, else `otherwise`; only one of them is evaluated.
pub fn guarded(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
    match cond.as_bool() {
        Some(true) => then,
        Some(false) => otherwise,
        None => Expr::if_then_else(cond, then, otherwise),
    }
}
