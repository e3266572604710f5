//! Conversions, remainders and the error function.

/// A float by its bits: WGSL has no literals of NaN and the infinities, and refuses constants that are them.
pub(super) const F32_FROM_BITS: &str = "fn @f32_from_bits(bits: u32) -> f32 {
    var word = bits;
    return bitcast<f32>(word);
}
";

/// Saturates, as NaN does to 0.
pub(super) const F32_TO_I32: &str = "fn @f32_to_i32(x: f32) -> i32 {
    let nan = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
    let y = select(i32(clamp(x, -2147483648.0f, 2147483520.0f)), 2147483647i, x >= 2147483648.0f);
    return select(y, 0i, nan);
}
";

/// Saturates, as NaN does to 0.
pub(super) const F32_TO_U32: &str = "fn @f32_to_u32(x: f32) -> u32 {
    let nan = (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
    let y = select(u32(clamp(x, 0.0f, 4294967040.0f)), 4294967295u, x >= 4294967296.0f);
    return select(y, 0u, nan);
}
";

/// `x * 2^n` for `n` from -252 to 254, in two steps, so that neither power leaves the type.
pub(super) const SCALE: &str = "fn @scale_f32(x: f32, n: i32) -> f32 {
    let half = n / 2i;
    return x * bitcast<f32>(u32(half + 127i) << 23u) * bitcast<f32>(u32(n - half + 127i) << 23u);
}
";

/// The remainder with the sign of the dividend, exact. WGSL's `%` is `a - b * trunc(a / b)`, which is off by whole divisors where
/// the quotient is large.
pub(super) const REMAINDER: &str = "fn @remainder_f32(a: f32, b: f32) -> f32 {
    let top = bitcast<u32>(a) & 0x7fffffffu;
    let bottom = bitcast<u32>(b) & 0x7fffffffu;
    if (top >= 0x7f800000u || bottom > 0x7f800000u || bottom == 0u) {
        return @f32_from_bits(0x7fc00000u);
    }
    if (top < bottom) {
        return a;
    }
    let size = @last_places(@remainder_places(top, bottom), bottom);
    return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(a) & 0x80000000u));
}
";

/// The remainder of a positive float by a positive one that is not greater, given by their bits, in units of the last place of the
/// divisor: long division of the significands, 32 bits of the quotient a step.
pub(super) const REMAINDER_PLACES: &str = "fn @remainder_places(top: u32, bottom: u32) -> u32 {
    let divisor = @significand(bottom);
    var left = max(i32(top >> 23u), 1i) - max(i32(bottom >> 23u), 1i);
    var rest = @significand(top) % divisor;
    rest = @remainder_step(rest, divisor, left);
    rest = @remainder_step(rest, divisor, left - 32i);
    rest = @remainder_step(rest, divisor, left - 64i);
    rest = @remainder_step(rest, divisor, left - 96i);
    rest = @remainder_step(rest, divisor, left - 128i);
    rest = @remainder_step(rest, divisor, left - 160i);
    rest = @remainder_step(rest, divisor, left - 192i);
    return @remainder_step(rest, divisor, left - 224i);
}
";

/// The significand of a positive float, given by its bits, in units of its last place.
pub(super) const SIGNIFICAND: &str = "fn @significand(bits: u32) -> u32 {
    return select(bits & 0x7fffffu, (bits & 0x7fffffu) | 0x800000u, bits >= 0x800000u);
}
";

/// So many units of the last place of a positive float, given by its bits. Up to 2^24 units are exact as a float, and so is their
/// product with a power of two.
pub(super) const LAST_PLACES: &str = "fn @last_places(units: u32, bits: u32) -> f32 {
    return @scale_f32(f32(units), max(i32(bits >> 23u), 1i) - 150i);
}
";

/// `rest * 2^min(left, 32) % divisor` of numbers below 2^24; `rest` if nothing is left.
pub(super) const REMAINDER_STEP: &str =
    "fn @remainder_step(rest: u32, divisor: u32, left: i32) -> u32 {
    if (left <= 0i) {
        return rest;
    }
    let bits = u32(min(left, 32i));
    if (bits == 32u) {
        return @u64_div_narrow(rest, 0u, divisor).y;
    }
    return @u64_div_narrow(rest >> (32u - bits), rest << bits, divisor).y;
}
";

/// The remainder with the sign of the divisor, rounded once; 0 has that sign, too. The remainder of a normal divisor may be
/// subnormal, which a device may take for 0, so it is subtracted from the divisor in integers.
pub(super) const FLOOR_REMAINDER: &str = "fn @floor_remainder_f32(a: f32, b: f32) -> f32 {
    let top = bitcast<u32>(a) & 0x7fffffffu;
    let bottom = bitcast<u32>(b) & 0x7fffffffu;
    if (top >= 0x7f800000u || bottom > 0x7f800000u || bottom == 0u) {
        return @f32_from_bits(0x7fc00000u);
    }
    let differ = ((bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u) != 0u;
    if (top != 0u && top < bottom) {
        return select(a, a + b, differ);
    }
    let rest = @remainder_places(top, bottom);
    let units = select(rest, @significand(bottom) - rest, differ && rest != 0u);
    return bitcast<f32>(bitcast<u32>(@last_places(units, bottom)) | (bitcast<u32>(b) & 0x80000000u));
}
";

/// `floor(a / b)`, right also where the division of the device is off by its last bit; 0 has the sign of the quotient. Small
/// divisors are made larger, so that no remainder is subnormal.
pub(super) const FLOOR_QUOTIENT: &str = "fn @floor_quotient_f32(a: f32, b: f32) -> f32 {
    let plain = floor(@ratio_f32(a, b));
    if (!(abs(plain) < 4194304.0f) || abs(b) > 3.4028235e38f) {
        return plain;
    }
    let larger = select(1.0f, 18446744073709551616.0f, abs(b) < 1.0e-19f);
    let dividend = a * larger;
    let divisor = b * larger;
    let rest = @remainder_f32(dividend, divisor);
    let whole = round(@ratio_f32(dividend - rest, divisor));
    let floored = select(whole, whole - 1.0f, rest != 0.0f && ((rest < 0.0f) != (b < 0.0f)));
    let zero = bitcast<f32>((bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u);
    return select(floored, zero, floored == 0.0f);
}
";

/// A quotient of polynomials, as XLA has it, with neither a branch nor `exp`; where the result is 1 the argument stays as it is there.
/// Within 4e-7.
pub(super) const ERF: &str = "fn @erf(x: f32) -> f32 {
    let a = clamp(x, -3.8325069f, 3.8325069f);
    let s = a * a;
    let p = 1.1283791f + s * (0.18520832f + s * (0.050955694f + s * (0.003408291f + s * 0.00022905065f)));
    let q = 1.0f + s * (0.49746925f + s * (0.11098505f + s * (0.01407047f + s * (0.0010179625f + s * (0.000023547966f - s * 0.00000011791603f)))));
    return select(clamp(a * p / q, -1.0f, 1.0f), x, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
}
";
