//! Division by a constant as a multiplication by its reciprocal: a product takes some four cycles, and others go on beside it, where the
//! instruction that divides takes ten to eighteen.
//!
//! Reference: Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), section 5.

/// A number by which the upper half of a product is a quotient of integers of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reciprocal {
    /// `2^(64 + places) / divisor`, rounded up; from `2^63` on it is negative as `i64`, less by `2^64`.
    pub(super) factor: i64,
    /// Places that the upper half is shifted by.
    pub(super) places: i64,
}

impl Reciprocal {
    /// Of a divisor from 3 on that is no power of two.
    pub(super) fn of(divisor: i64) -> Self {
        let d = u128::from(divisor.unsigned_abs());
        // The largest dividend that leaves `d - 1`.
        let largest = (1u128 << 63) - 1 - (1u128 << 63) % d;
        let is_exact = |bits: &u32| {
            let power = 1u128 << *bits;
            power > largest * (d - power % d)
        };
        let bits = (64..127).find(is_exact).expect("twice 63 bits are enough");
        let power = 1u128 << bits;
        Self {
            factor: ((power + d - power % d) / d) as u64 as i64,
            places: i64::from(bits) - 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the code computes.
    fn quotient(x: i64, divisor: i64) -> i64 {
        let Reciprocal { factor, places } = Reciprocal::of(divisor);
        let upper = ((i128::from(x) * i128::from(factor)) >> 64) as i64;
        let upper = match factor < 0 {
            true => upper.wrapping_add(x),
            false => upper,
        };
        (upper >> places) + (x as u64 >> 63) as i64
    }

    #[test]
    fn quotients_are_exact() {
        let small = (3..2000).filter(|d: &i64| d.count_ones() > 1);
        let large = [
            i64::MAX,
            i64::MAX - 1,
            (1 << 62) + 1,
            (1 << 33) - 1,
            10_i64.pow(18),
        ];
        for d in small.chain(large) {
            let mut xs = vec![0, 1, i64::MAX, i64::MIN, i64::MIN + 1, 1 << 32, -(1 << 31)];
            for times in [1, 2, 1000, i64::MAX / d] {
                let near = times.saturating_mul(d);
                xs.extend([near - 1, near, near.saturating_add(1), -near, 1 - near]);
            }
            for x in xs {
                assert_eq!(quotient(x, d), x / d, "{x} / {d}");
            }
        }
    }
}
