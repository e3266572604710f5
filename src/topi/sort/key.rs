//! Keys: integers in the order of the elements that they stand for.
//!
//! A float as an integer of its bits is in order but for negative ones, whose other bits are turned over. All NaN have the greatest key,
//! and both zeros the same one, so that elements are equal where keys are. For a descending order the bits of all keys are turned over.
//!
//! # References
//! M. Herf, "Radix Tricks", 2001.

use super::Order;
use crate::ir::Expr;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

/// The keys of an element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct KeyType {
    /// `int32` or `int64`.
    pub(super) dtype: DType,
    /// Keys are in `-2^(bits - 1) .. 2^(bits - 1)`.
    pub(super) bits: u32,
}

impl KeyType {
    /// The keys of elements of this type.
    pub(super) fn of(dtype: DType) -> Self {
        let bits = match dtype.scalar {
            // Bits of the significand that a narrow float has not are zeros in `float32`.
            ScalarType::F16 => 19,
            ScalarType::BF16 => 16,
            _ if dtype.is_float() => 8 * dtype.bytes().max(4) as u32,
            _ if dtype.is_bool() => 1,
            _ => 8 * dtype.bytes() as u32,
        };
        let dtype = match bits {
            ..=32 => DType::I32,
            _ => DType::I64,
        };
        Self { dtype, bits }
    }

    /// The key of an element: of two elements the one that comes first has the smaller one.
    pub(super) fn key(self, element: &Expr, order: Order) -> Expr {
        let ascending = match element.dtype().is_float() {
            true => self.of_float(element),
            false => self.of_integer(element),
        };
        match order {
            Order::Ascending => ascending,
            Order::Descending => Expr::binary(BinOp::BitXor, ascending, self.int(-1)),
        }
    }

    /// The greatest key; an element may have it, too.
    pub(super) fn last(self) -> Expr {
        self.int(i64::MAX >> (64 - self.bits))
    }

    /// The greatest number of the type that keys have: none is greater.
    pub(super) fn greatest(self) -> Expr {
        self.int(i64::MAX >> (64 - 8 * self.dtype.bytes()))
    }

    /// The least one.
    pub(super) fn least(self) -> Expr {
        self.int(i64::MIN >> (64 - 8 * self.dtype.bytes()))
    }

    fn of_float(self, element: &Expr) -> Expr {
        let wide = 8 * self.dtype.bytes() as u32;
        let float = match self.dtype {
            DType::I32 => DType::F32,
            _ => DType::F64,
        };
        let element = element.cast(float);
        let bits = element.reinterpret(self.dtype);
        let negative = self.shifted(&bits, wide - 1);
        let others = Expr::binary(BinOp::BitAnd, negative, self.int(i64::MAX >> (64 - wide)));
        let ordered = Expr::binary(BinOp::BitXor, bits, others);
        // Minus zero has the key -1, and nothing else.
        let ordered = Expr::select(ordered.equals(self.int(-1)), self.int(0), ordered);
        let ordered = self.shifted(&ordered, wide - self.bits);
        let is_nan = Expr::call(Intrin::IsNan, vec![element]);
        Expr::select(is_nan, self.last(), ordered)
    }

    fn of_integer(self, element: &Expr) -> Expr {
        let dtype = element.dtype();
        if dtype.is_bool() || dtype.scalar.is_unsigned_int() {
            let half = self.int(i64::MIN >> (64 - self.bits));
            return match self.bits == 8 * self.dtype.bytes() as u32 {
                true => Expr::binary(BinOp::BitXor, element.reinterpret(self.dtype), half),
                false => element.cast(self.dtype) + half,
            };
        }
        element.cast(self.dtype)
    }

    /// `value >> by`
    pub(super) fn shifted(self, value: &Expr, by: u32) -> Expr {
        match by {
            0 => value.clone(),
            _ => Expr::binary(BinOp::Shr, value.clone(), self.int(by.into())),
        }
    }

    pub(super) fn int(self, value: i64) -> Expr {
        Expr::int(value, self.dtype)
    }
}

/// Whether an element, a key and its position, comes before another one: its key is smaller, or the same at an earlier position.
pub(super) fn comes_before(own: (&Expr, &Expr), other: (&Expr, &Expr)) -> Expr {
    let tie = Expr::binary(BinOp::And, own.0.equals(other.0), own.1.lt(other.1));
    Expr::binary(BinOp::Or, own.0.lt(other.0), tie)
}
