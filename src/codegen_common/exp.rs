//! The numbers of `exp` of `f32`, which both code generators write out.

/// How many units in the last place the result may be off.
#[cfg(test)]
pub(crate) const ULPS: f64 = 2.0;
/// Beyond these, the result is infinity and 0.
pub(crate) const RANGE: (f64, f64) = (-104.0, 89.0);
/// `ln 2`: a part of nine bits, so that products with `n` are exact, and the rest.
pub(crate) const LN_2: (f64, f64) = (0.693_359_375, -2.121_944_4e-4);
/// The least `n` of results that are all normal numbers.
pub(crate) const LEAST: f64 = -125.0;
/// `1.5 * 2^23`: added to a small number, it leaves the nearest integer in the last bits.
pub(crate) const ROUND: f64 = 12_582_912.0;
/// Of `r^7` and down to `r^2`: `exp(r) = 1 + r + r^2 * (...)`.
pub(crate) const POLYNOMIAL: [f64; 6] = [
    1.987_569_15e-4,
    1.398_199_950_7e-3,
    8.333_451_907_3e-3,
    4.166_579_589_4e-2,
    1.666_666_545_9e-1,
    5.000_000_120_1e-1,
];
