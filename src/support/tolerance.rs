//! How much two results may differ: by element type and by the number of terms that were added up. The one place for it.
//!
//! Two programs that compute the same may round differently: a back end fuses a multiply-add, adds in another order, or has
//! another `exp`. A sum of `n` terms then differs by about `sqrt(n)` roundings of the largest partial sum (Higham, *Accuracy
//! and Stability of Numerical Algorithms*, section 4.2), which cancellation may leave far above the sum itself; hence a part
//! that is relative to each element and a part relative to the largest element of the tensor. Integers must be equal. NaN
//! stands for NaN only, an infinity for itself only.

use crate::tensor::scalar::{Scalar, decode};
use crate::tensor::{ScalarType, Tensor};

/// Largest difference that rounding explains.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Relative to the expected element.
    pub relative: f64,
    /// Relative to the largest finite expected element of the tensor.
    pub of_largest: f64,
}

impl Tolerance {
    /// No difference at all.
    pub const EXACT: Self = Self {
        relative: 0.0,
        of_largest: 0.0,
    };

    /// For elements of this type, each of which combines `terms` terms (1 if nothing is summed).
    pub fn of(dtype: ScalarType, terms: usize) -> Self {
        let roundoff = match dtype {
            ScalarType::F64 => f64::EPSILON / 2.0,
            ScalarType::F32 => f64::from(f32::EPSILON) / 2.0,
            ScalarType::F16 => half::f16::EPSILON.to_f64() / 2.0,
            ScalarType::BF16 => half::bf16::EPSILON.to_f64() / 2.0,
            ScalarType::Small(small) if small.is_float() => small.epsilon() / 2.0,
            ScalarType::Small(_)
            | ScalarType::Bool
            | ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => return Self::EXACT,
        };
        let terms = terms.max(1) as f64;
        Self {
            // A few roundings of a function of the math library, and those of the sum.
            relative: roundoff * (16.0 + 4.0 * terms.sqrt()),
            of_largest: if terms > 1.0 {
                roundoff * 4.0 * terms.sqrt()
            } else {
                0.0
            },
        }
    }

    /// The larger one of each part.
    pub fn max(self, other: Self) -> Self {
        Self {
            relative: self.relative.max(other.relative),
            of_largest: self.of_largest.max(other.of_largest),
        }
    }
}

/// How two tensors differ.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// The shapes.
    #[error("expected shape {expected:?}, got {got:?}")]
    Shape {
        /// Of the expected tensor.
        expected: Vec<usize>,
        /// Of the other one.
        got: Vec<usize>,
    },
    /// The element types.
    #[error("expected elements of {expected}, got {got}")]
    DType {
        /// Of the expected tensor.
        expected: ScalarType,
        /// Of the other one.
        got: ScalarType,
    },
    /// Some elements.
    #[error(
        "{count} of {total} elements differ by more than rounding, first at {index:?}: expected {expected}, got {got}"
    )]
    Elements {
        /// How many differ too much.
        count: usize,
        /// How many there are.
        total: usize,
        /// Where the first one is.
        index: Vec<usize>,
        /// Its expected value.
        expected: f64,
        /// Its value.
        got: f64,
    },
}

/// Compares two tensors; gives the largest absolute difference of finite elements.
///
/// # Errors
/// [`Difference`] if shape, type or an element differs by more than the tolerance.
pub fn compare(expected: &Tensor, got: &Tensor, tolerance: Tolerance) -> Result<f64, Difference> {
    if expected.shape() != got.shape() {
        return Err(Difference::Shape {
            expected: expected.shape().to_vec(),
            got: got.shape().to_vec(),
        });
    }
    let dtype = expected.dtype().scalar;
    if dtype != got.dtype().scalar {
        return Err(Difference::DType {
            expected: dtype,
            got: got.dtype().scalar,
        });
    }
    let largest = elements(expected)
        .map(|v| v.as_float().abs())
        .filter(|v| v.is_finite())
        .fold(0.0, f64::max);
    let mut worst = 0.0f64;
    let mut first = None;
    let mut count = 0;
    for (i, (a, b)) in elements(expected).zip(elements(got)).enumerate() {
        match deviation(a, b) {
            Some(d) if d == 0.0 || d <= allowed(a, largest, dtype, tolerance) => {
                worst = worst.max(d)
            }
            Some(_) | None => {
                count += 1;
                first.get_or_insert((i, a.as_float(), b.as_float()));
            }
        }
    }
    match first {
        None => Ok(worst),
        Some((i, want, have)) => Err(Difference::Elements {
            count,
            total: expected.len(),
            index: unravel(i, expected.shape()),
            expected: want,
            got: have,
        }),
    }
}

/// What rounding explains at one element; never less than the smallest number of the type.
fn allowed(want: Scalar, largest: f64, dtype: ScalarType, tolerance: Tolerance) -> f64 {
    let tiny = match dtype {
        _ if tolerance == Tolerance::EXACT => 0.0,
        ScalarType::F16 => half::f16::MIN_POSITIVE_SUBNORMAL.to_f64(),
        ScalarType::F32 | ScalarType::BF16 => f64::from(f32::MIN_POSITIVE),
        ScalarType::Small(small) => small.decode_float(1),
        _ => f64::MIN_POSITIVE,
    };
    tolerance.relative * want.as_float().abs() + tolerance.of_largest * largest + tiny
}

/// The absolute difference; `None` if one is not finite and the other is not the same.
fn deviation(a: Scalar, b: Scalar) -> Option<f64> {
    if let (Scalar::Int(a), Scalar::Int(b)) = (a, b) {
        return Some(if a == b { 0.0 } else { f64::INFINITY });
    }
    let (a, b) = (a.as_float(), b.as_float());
    if a == b || (a.is_nan() && b.is_nan()) {
        Some(0.0)
    } else if a.is_finite() && b.is_finite() {
        Some((a - b).abs())
    } else {
        None
    }
}

fn unravel(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &extent) in index.iter_mut().zip(shape).rev() {
        *i = flat % extent;
        flat /= extent;
    }
    index
}

/// All elements of a tensor, in order. A `bool` is the number that its byte is.
pub fn elements(tensor: &Tensor) -> impl ExactSizeIterator<Item = Scalar> + '_ {
    let dtype = match tensor.dtype().scalar {
        ScalarType::Bool => ScalarType::U8,
        dtype => dtype,
    };
    let bytes = tensor.bytes().chunks_exact(tensor.dtype().bytes());
    bytes.map(move |element| decode(element, dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(values: &[f32]) -> Tensor {
        Tensor::from_slice(&[values.len()], values).expect("one dimension")
    }

    #[test]
    fn rounding_is_forgiven_and_errors_are_not() {
        let tolerance = Tolerance::of(ScalarType::F32, 1);
        let want = f32s(&[1.0, f32::NAN, f32::INFINITY, -0.0]);
        assert!(
            compare(
                &want,
                &f32s(&[1.000_000_1, f32::NAN, f32::INFINITY, 0.0]),
                tolerance
            )
            .is_ok()
        );
        let off = compare(&want, &f32s(&[1.0, 1.0, f32::NEG_INFINITY, 0.0]), tolerance);
        assert!(
            matches!(off, Err(Difference::Elements { count: 2, ref index, .. }) if *index == [1])
        );
        assert!(compare(&f32s(&[1.0]), &f32s(&[1.0001]), tolerance).is_err());
    }

    #[test]
    fn long_sums_may_cancel() {
        let want = f32s(&[1000.0, 0.0]);
        let got = f32s(&[1000.0, 0.001]);
        assert!(compare(&want, &got, Tolerance::of(ScalarType::F32, 1)).is_err());
        assert!(compare(&want, &got, Tolerance::of(ScalarType::F32, 4096)).is_ok());
    }

    #[test]
    fn integers_are_exact_and_shapes_count() {
        let a = Tensor::from_slice(&[2], &[1i64, i64::MAX]).expect("two");
        let b = Tensor::from_slice(&[2], &[1i64, i64::MAX - 1]).expect("two");
        assert!(compare(&a, &b, Tolerance::of(ScalarType::I64, 9)).is_err());
        let c = Tensor::from_slice(&[1, 2], &[1i64, i64::MAX]).expect("two");
        assert!(matches!(
            compare(&a, &c, Tolerance::EXACT),
            Err(Difference::Shape { .. })
        ));
    }
}
