//! Exponentials, logarithms, powers, hyperbolic functions and their inverses. WGSL derives most of them from `exp` and `log`, so
//! that all digits may be lost near 0. Polynomials: Moshier, Cephes mathematical library (single precision).

/// `exp(r) - 1 - r` for `r` between -0.35 and 0.35.
pub(super) const EXP_TAIL: &str = "fn @exp_tail(r: f32) -> f32 {
    let p = ((((0.00019875691f * r + 0.0013981999f) * r + 0.008333452f) * r + 0.041665796f) * r + 0.16666666f) * r + 0.5f;
    return p * r * r;
}
";

/// Within 2 units in the last place.
pub(super) const EXP: &str = "fn @exp_f32(x: f32) -> f32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
        return x;
    }
    let y = clamp(x, -105.0f, 90.0f);
    let n = round(y * 1.442695f);
    let r = (y - n * 0.69335938f) + n * 0.00021219444f;
    return @scale_f32(1.0f + (r + @exp_tail(r)), i32(n));
}
";

/// `exp(x) - 1` within 3 units in the last place.
pub(super) const EXPM1: &str = "fn @expm1_f32(x: f32) -> f32 {
    if (abs(x) < 0.34f) {
        return x + @exp_tail(x);
    }
    if (x >= 80.0f || (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
        return @exp_f32(x);
    }
    let y = max(x, -30.0f);
    let n = round(y * 1.442695f);
    let r = (y - n * 0.69335938f) + n * 0.00021219444f;
    let power = @scale_f32(1.0f, i32(n));
    return power * (r + @exp_tail(r)) + (power - 1.0f);
}
";

/// `10^x` within 3 units in the last place.
pub(super) const EXP10: &str = "fn @exp10_f32(x: f32) -> f32 {
    if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
        return x;
    }
    let y = clamp(x, -46.0f, 39.0f);
    let n = round(y * 3.321928f);
    let r = ((y - n * 0.30078125f) - n * 0.00024874566f) * 2.3025851f;
    return @scale_f32(1.0f + (r + @exp_tail(r)), i32(n));
}
";

/// `log(1 + f)` for `f` between -0.3 and 0.42, within 2 units in the last place.
pub(super) const LOG_NEAR_ONE: &str = "fn @log_near_one(f: f32) -> f32 {
    return f + @log_tail(f);
}
";

/// `log(1 + f) - f` there.
pub(super) const LOG_TAIL: &str = "fn @log_tail(f: f32) -> f32 {
    let p = (((((((0.070376836f * f - 0.1151461f) * f + 0.11676998f) * f - 0.12420141f) * f + 0.14249323f) * f - 0.16668058f) * f + 0.20000715f) * f - 0.24999994f) * f + 0.33333331f;
    return p * f * f * f - 0.5f * f * f;
}
";

/// Significand between sqrt(1/2) and sqrt(2) and exponent of a positive finite float.
pub(super) const SPLIT: &str = "fn @split_f32(x: f32) -> vec2<f32> {
    let tiny = x < 1.1754944e-38f;
    let bits = bitcast<u32>(select(x, x * 16777216.0f, tiny));
    // The exponent changes where the significand passes sqrt(2).
    let whole = i32(bits + 0x004afb0du) >> 23u;
    let significand = bitcast<f32>(bits - (u32(whole - 127i) << 23u));
    return vec2<f32>(significand, f32(whole - select(127i, 151i, tiny)));
}
";

/// `log(x)` and `log2(x)` as the driver has them, but for subnormal numbers, which it may take for the least normal one.
pub(super) const LN: &str = "fn @ln_f32(x: f32) -> f32 {
    let tiny = x < 1.1754944e-38f;
    return log(select(x, x * 16777216.0f, tiny)) - select(0.0f, 16.635532f, tiny);
}
";
pub(super) const LOG2: &str = "fn @log2_f32(x: f32) -> f32 {
    let tiny = x < 1.1754944e-38f;
    return log2(select(x, x * 16777216.0f, tiny)) - select(0.0f, 24.0f, tiny);
}
";

/// Within 2 units in the last place.
pub(super) const LOG: &str = "fn @log_f32(x: f32) -> f32 {
    if (!(x > 0.0f) || bitcast<u32>(x) >= 0x7f800000u) {
        return log(x);
    }
    let parts = @split_f32(x);
    let f = parts.x - 1.0f;
    return (f + (@log_tail(f) - parts.y * 0.00021219444f)) + parts.y * 0.69335938f;
}
";

/// `log(1 + x)` within 3 units in the last place.
pub(super) const LOG1P: &str = "fn @log1p_f32(x: f32) -> f32 {
    if (x > -0.29f && x < 0.41f) {
        return @log_near_one(x);
    }
    if (x == -1.0f) {
        return @f32_from_bits(0xff800000u);
    }
    if (!(x > -1.0f)) {
        return @f32_from_bits(0x7fc00000u);
    }
    return @log_f32(1.0f + x);
}
";

/// Within 4 units in the last place. Drivers clamp the argument of theirs, which turns NaN into a number.
pub(super) const TANH: &str = "fn @tanh_f32(x: f32) -> f32 {
    let a = abs(x);
    if (a < 0.625f) {
        let z = x * x;
        let p = (((-0.0057049887f * z + 0.020639088f) * z - 0.053739715f) * z + 0.13331442f) * z - 0.33333281f;
        return p * z * x + x;
    }
    if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
        return x;
    }
    let size = 1.0f - 2.0f / (@exp_f32(2.0f * min(a, 10.0f)) + 1.0f);
    return select(size, -size, x < 0.0f);
}
";

/// Within 4 units in the last place.
pub(super) const SINH: &str = "fn @sinh_f32(x: f32) -> f32 {
    let a = abs(x);
    if (a < 1.0f) {
        let z = x * x;
        return ((0.00020372191f * z + 0.0083302837f) * z + 0.16666716f) * z * x + x;
    }
    if (!(a <= 88.0f)) {
        let half = @exp_f32(0.5f * a);
        let size = (0.5f * half) * half;
        return select(size, -size, x < 0.0f);
    }
    let power = @exp_f32(a);
    let size = 0.5f * power - 0.5f / power;
    return select(size, -size, x < 0.0f);
}
";

/// Within 4 units in the last place.
pub(super) const COSH: &str = "fn @cosh_f32(x: f32) -> f32 {
    let a = abs(x);
    if (!(a <= 88.0f)) {
        let half = @exp_f32(0.5f * a);
        return (0.5f * half) * half;
    }
    let power = @exp_f32(a);
    return 0.5f * power + 0.5f / power;
}
";

/// Within 4 units in the last place.
pub(super) const ASINH: &str = "fn @asinh_f32(x: f32) -> f32 {
    let a = abs(x);
    if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) {
        return x;
    }
    var size = a;
    if (a > 1.0e8f) {
        size = @log_f32(a) + 0.6931472f;
    } else {
        size = @log1p_f32(a + a * a / (1.0f + sqrt(a * a + 1.0f)));
    }
    return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
}
";

/// Within 4 units in the last place.
pub(super) const ACOSH: &str = "fn @acosh_f32(x: f32) -> f32 {
    if (!(x >= 1.0f)) {
        return @f32_from_bits(0x7fc00000u);
    }
    if (x > 1.0e8f) {
        return @log_f32(x) + 0.6931472f;
    }
    let t = x - 1.0f;
    return @log1p_f32(t + sqrt(2.0f * t + t * t));
}
";

/// Within 4 units in the last place.
pub(super) const ATANH: &str = "fn @atanh_f32(x: f32) -> f32 {
    let a = abs(x);
    if (!(a <= 1.0f)) {
        return @f32_from_bits(0x7fc00000u);
    }
    if (a == 1.0f) {
        return @f32_from_bits((bitcast<u32>(x) & 0x80000000u) | 0x7f800000u);
    }
    let size = 0.5f * @log1p_f32(2.0f * a / (1.0f - a));
    return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
}
";

/// The float without the lower half of its significand, so that products of such are exact.
pub(super) const UPPER: &str = "fn @upper_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}
";

/// `x^y` for positive finite `x` and finite `y`, within 2 units in the last place: the logarithm to base 2 as the sum of two
/// floats (the algorithm of fdlibm's `e_powf`, without its table).
pub(super) const POW_POSITIVE: &str = "fn @pow_positive(x: f32, y: f32) -> f32 {
    let parts = @split_f32(x);
    let f = parts.x - 1.0f;
    let g = parts.x + 1.0f;
    let s = f / g;
    let s_high = @upper_f32(s);
    let g_high = @upper_f32(g);
    let g_low = parts.x - (g_high - 1.0f);
    let s_low = ((f - s_high * g_high) - s_high * g_low) / g;
    // log(x) = 2/3 s (3 + s^2 + series)
    let z = s * s;
    let series = z * z * (0.6f + z * (0.42857143f + z * (0.33333334f + z * (0.27272728f + z * (0.23066075f + z * 0.20697501f))))) + s_low * (s_high + s);
    let square = s_high * s_high;
    let t_high = @upper_f32(3.0f + square + series);
    let t_low = series - ((t_high - 3.0f) - square);
    let u = s_high * t_high;
    let v = s_low * t_high + t_low * s;
    let p_high = @upper_f32(u + v);
    let p_low = v - (p_high - u);
    // Times 2 / (3 log 2), which is 0.96191406 - 0.00011736857.
    let l_high = 0.96191406f * p_high;
    let l_low = -0.00011736857f * p_high + p_low * 0.9617967f;
    let log_high = @upper_f32((l_high + l_low) + parts.y);
    let log_low = l_low - ((log_high - parts.y) - l_high);
    let y_high = @upper_f32(y);
    let low = (y - y_high) * log_high + y * log_low;
    let high = y_high * log_high;
    let exponent = low + high;
    if (!(exponent < 129.0f)) {
        return @f32_from_bits(0x7f800000u);
    }
    if (exponent < -151.0f) {
        return 0.0f;
    }
    let n = round(exponent);
    let rest = (high - n) + low;
    // So few bits that the product with the upper part of log 2 is exact.
    let r_high = bitcast<f32>(bitcast<u32>(rest) & 0xffff8000u);
    let r_low = low - (r_high - (high - n));
    let a = r_high * 0.693145752f;
    let b = r_low * 0.6931472f + r_high * 0.0000014286065f;
    let r = a + b;
    let error = b - (r - a);
    return @scale_f32(1.0f + (r + (@exp_tail(r) + (r * error + error))), i32(n));
}
";

/// Special cases as IEEE 754 has them: WGSL leaves negative bases, zeros and infinities open.
pub(super) const POW: &str = "fn @pow_f32(x: f32, y: f32) -> f32 {
    let base = bitcast<u32>(x) & 0x7fffffffu;
    let exponent = bitcast<u32>(y) & 0x7fffffffu;
    if (exponent == 0u || bitcast<u32>(x) == 0x3f800000u) {
        return 1.0f;
    }
    if (base > 0x7f800000u || exponent > 0x7f800000u) {
        return @f32_from_bits(0x7fc00000u);
    }
    let below = bitcast<u32>(y) >= 0x80000000u;
    if (exponent == 0x7f800000u) {
        if (base == 0x3f800000u) {
            return 1.0f;
        }
        return @f32_from_bits(select(0u, 0x7f800000u, (base > 0x3f800000u) != below));
    }
    let whole = exponent >= 0x4b800000u || trunc(y) == y;
    let odd = exponent < 0x4b800000u && whole && (i32(y) & 1i) == 1i;
    let minus = bitcast<u32>(x) >= 0x80000000u;
    let sign_bit = select(0u, 0x80000000u, minus && odd);
    if (base == 0u || base == 0x7f800000u) {
        return @f32_from_bits(sign_bit | select(0u, 0x7f800000u, (base == 0u) == below));
    }
    if (minus && !whole) {
        return @f32_from_bits(0x7fc00000u);
    }
    return bitcast<f32>(bitcast<u32>(@pow_positive(abs(x), y)) | sign_bit);
}
";
