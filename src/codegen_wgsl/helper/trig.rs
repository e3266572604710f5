//! Circular functions and their inverses. WGSL lets `sin`, `cos` and the inverses be off by 2^-11 and more; these are within the
//! units in the last place that stand at each, for every float. Polynomials: Moshier, Cephes mathematical library (single
//! precision).

/// The argument without the multiples of a quarter turn, and their number modulo 4. Payne and Hanek, "Radian reduction for
/// trigonometric functions": the significand times 96 bits of 2/pi, from the first that counts on. In integers, so that no
/// driver can rearrange it.
pub(super) const QUADRANT: &str = "fn @quadrant_f32(x: f32) -> vec2<f32> {
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if (bits < 0x3f490fdbu) {
        return vec2<f32>(x, 0.0f);
    }
    if (bits >= 0x7f800000u) {
        return vec2<f32>(@f32_from_bits(0x7fc00000u), 0.0f);
    }
    var table = array<u32, 9>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u);
    let start = (bits >> 23u) - 120u;
    let word = start / 32u;
    let n = start % 32u;
    let m = (bits & 0x7fffffu) | 0x800000u;
    let w0 = @wide_shl(vec2<u32>(table[word + 1u], table[word]), n).y;
    let w1 = @wide_shl(vec2<u32>(table[word + 2u], table[word + 1u]), n).y;
    let w2 = @wide_shl(vec2<u32>(table[word + 3u], table[word + 2u]), n).y;
    let low = @u32_mul_wide(m, w2);
    let middle = @wide_add(@u32_mul_wide(m, w1), vec2<u32>(low.y, 0u));
    let top = m * w0 + middle.y;
    // Two bits of whole quarter turns, then the fraction, taken to be from -1/2 to 1/2.
    var fraction = vec2<u32>((middle.x << 2u) | (low.x >> 30u), (top << 2u) | (middle.x >> 30u));
    var quarters = top >> 30u;
    let behind = fraction.y >= 0x80000000u;
    if (behind) {
        quarters += 1u;
        fraction = @wide_neg(fraction);
    }
    let zeros = select(countLeadingZeros(fraction.y), 32u + countLeadingZeros(fraction.x), fraction.y == 0u);
    let digits = @wide_shl(fraction, zeros).y;
    let size = f32((digits >> 8u) + ((digits >> 7u) & 1u)) * bitcast<f32>((103u - zeros) << 23u) * 1.5707964f;
    if (behind != (x < 0.0f)) {
        return vec2<f32>(-size, f32(select(quarters, 4u - quarters, x < 0.0f) & 3u));
    }
    return vec2<f32>(size, f32(select(quarters, 4u - quarters, x < 0.0f) & 3u));
}
";

/// Sine and cosine of an argument between -pi/4 and pi/4.
pub(super) const EIGHTH: &str = "fn @eighth_f32(x: f32) -> vec2<f32> {
    let z = x * x;
    let sine = ((-0.00019515296f * z + 0.008332161f) * z - 0.16666655f) * z * x + x;
    let cosine = ((0.000024433157f * z - 0.0013887316f) * z + 0.041666646f) * z * z - 0.5f * z + 1.0f;
    return vec2<f32>(sine, cosine);
}
";

/// Within 3 units in the last place.
pub(super) const SIN: &str = "fn @sin_f32(x: f32) -> f32 {
    let at = @quadrant_f32(x);
    let both = @eighth_f32(at.x);
    let odd = at.y == 1.0f || at.y == 3.0f;
    let size = select(both.x, both.y, odd);
    return select(size, -size, at.y >= 2.0f);
}
";

/// Within 3 units in the last place.
pub(super) const COS: &str = "fn @cos_f32(x: f32) -> f32 {
    let at = @quadrant_f32(x);
    let both = @eighth_f32(at.x);
    let odd = at.y == 1.0f || at.y == 3.0f;
    let size = select(both.y, both.x, odd);
    return select(size, -size, at.y == 1.0f || at.y == 2.0f);
}
";

/// Within 4 units in the last place.
pub(super) const TAN: &str = "fn @tan_f32(x: f32) -> f32 {
    let at = @quadrant_f32(x);
    let z = at.x * at.x;
    let p = ((((0.0093854018f * z + 0.0031199223f) * z + 0.024430136f) * z + 0.053411281f) * z + 0.13338799f) * z + 0.33333157f;
    let tangent = p * z * at.x + at.x;
    if (at.y == 1.0f || at.y == 3.0f) {
        return -1.0f / tangent;
    }
    return tangent;
}
";

/// The arcsine of `x` with `z = x * x`, for `x` up to 1/2.
pub(super) const ASIN_SMALL: &str = "fn @asin_small(x: f32, z: f32) -> f32 {
    let p = (((0.0421632f * z + 0.024181311f) * z + 0.045470026f) * z + 0.074953003f) * z + 0.16666752f;
    return p * z * x + x;
}
";

/// Within 4 units in the last place.
pub(super) const ASIN: &str = "fn @asin_f32(x: f32) -> f32 {
    let a = abs(x);
    if (!(a <= 1.0f)) {
        return @f32_from_bits(0x7fc00000u);
    }
    if (a <= 0.5f) {
        return @asin_small(x, x * x);
    }
    let z = 0.5f * (1.0f - a);
    let size = 1.5707964f - (2.0f * @asin_small(sqrt(z), z) + 4.371139e-8f);
    return select(size, -size, x < 0.0f);
}
";

/// Within 4 units in the last place.
pub(super) const ACOS: &str = "fn @acos_f32(x: f32) -> f32 {
    let a = abs(x);
    if (!(a <= 1.0f)) {
        return @f32_from_bits(0x7fc00000u);
    }
    if (a <= 0.5f) {
        return 1.5707964f - (@asin_small(x, x * x) + 4.371139e-8f);
    }
    let z = 0.5f * (1.0f - a);
    let size = 2.0f * @asin_small(sqrt(z), z);
    return select(size, 3.1415927f - (size + 8.742278e-8f), x < 0.0f);
}
";

/// Within 4 units in the last place.
pub(super) const ATAN: &str = "fn @atan_f32(x: f32) -> f32 {
    var a = abs(x);
    var base = 0.0f;
    if (a > 2.4142137f) {
        base = 1.5707964f;
        a = -1.0f / a;
    } else if (a > 0.41421357f) {
        base = 0.78539819f;
        a = (a - 1.0f) / (a + 1.0f);
    }
    let z = a * a;
    let p = ((0.080537446f * z - 0.13877685f) * z + 0.19977711f) * z - 0.33332950f;
    let size = base + (p * z * a + a);
    return bitcast<f32>(bitcast<u32>(size) ^ (bitcast<u32>(x) & 0x80000000u));
}
";

/// Within 5 units in the last place. Zeros and infinities as IEEE 754 has them.
pub(super) const ATAN2: &str = "fn @atan2_f32(y: f32, x: f32) -> f32 {
    let a = bitcast<u32>(x) & 0x7fffffffu;
    let b = bitcast<u32>(y) & 0x7fffffffu;
    if (a > 0x7f800000u || b > 0x7f800000u) {
        return @f32_from_bits(0x7fc00000u);
    }
    var angle = 1.5707964f;
    if (b == 0u) {
        angle = 0.0f;
    } else if (a == b) {
        angle = 0.78539819f;
    } else if (a != 0u && b < 0x7f800000u) {
        angle = select(@atan_f32(@ratio_f32(abs(y), abs(x))), 0.0f, a == 0x7f800000u);
    }
    if (bitcast<u32>(x) >= 0x80000000u) {
        angle = 3.1415927f - (angle + 8.742278e-8f);
    }
    return bitcast<f32>(bitcast<u32>(angle) | (bitcast<u32>(y) & 0x80000000u));
}
";

/// `y / x`, also where WGSL leaves the quotient open because the divisor is above 2^126.
pub(super) const RATIO: &str = "fn @ratio_f32(y: f32, x: f32) -> f32 {
    let large = abs(x) > 1.0e37f;
    return select(y, y * 0.0625f, large) / select(x, x * 0.0625f, large);
}
";
