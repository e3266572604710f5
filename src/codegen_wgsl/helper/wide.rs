//! Integers of 64 bits, which WGSL lacks: pairs of words, the low one first, as they lie in memory. Every operation is exact or
//! wraps as in two's complement. Division is Hacker's Delight, section 9-4: by halves of words, without a loop.

pub(super) const ADD: &str = "fn @wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
";

pub(super) const SUB: &str = "fn @wide_sub(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
";

pub(super) const NEG: &str = "fn @wide_neg(a: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(~a.x + 1u, ~a.y + select(0u, 1u, a.x == 0u));
}
";

/// The whole product of two words, by halves.
pub(super) const U32_MUL_WIDE: &str = "fn @u32_mul_wide(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return vec2<u32>((second << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u));
}
";

pub(super) const MUL: &str = "fn @wide_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = @u32_mul_wide(a.x, b.x);
    return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
}
";

pub(super) const I64_LESS: &str = "fn @i64_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(i32(a.y) < i32(b.y), a.x < b.x, a.y == b.y);
}
";

pub(super) const U64_LESS: &str = "fn @u64_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return select(a.y < b.y, a.x < b.x, a.y == b.y);
}
";

pub(super) const I64_FROM_I32: &str = "fn @i64_from_i32(x: i32) -> vec2<u32> {
    return vec2<u32>(u32(x), u32(x >> 31u));
}
";

pub(super) const SHL: &str = "fn @wide_shl(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    if (n == 0u) {
        return a;
    }
    if (n >= 32u) {
        return vec2<u32>(0u, a.x << (n - 32u));
    }
    return vec2<u32>(a.x << n, (a.y << n) | (a.x >> (32u - n)));
}
";

pub(super) const U64_SHR: &str = "fn @u64_shr(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    if (n == 0u) {
        return a;
    }
    if (n >= 32u) {
        return vec2<u32>(a.y >> (n - 32u), 0u);
    }
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), a.y >> n);
}
";

pub(super) const I64_SHR: &str = "fn @i64_shr(a: vec2<u32>, by: u32) -> vec2<u32> {
    let n = by & 63u;
    let fill = u32(i32(a.y) >> 31u);
    if (n == 0u) {
        return a;
    }
    if (n >= 32u) {
        return vec2<u32>(u32(i32(a.y) >> (n - 32u)), fill);
    }
    return vec2<u32>((a.x >> n) | (a.y << (32u - n)), u32(i32(a.y) >> n));
}
";

/// Quotient and remainder of `high * 2^32 + low` by `b`, where `high < b`: two digits of 16 bits, each guessed from the upper
/// half of the shifted divisor and corrected at most twice.
pub(super) const U64_DIV_NARROW: &str =
    "fn @u64_div_narrow(high: u32, low: u32, b: u32) -> vec2<u32> {
    let n = countLeadingZeros(b);
    let v = b << n;
    let v1 = v >> 16u;
    let v0 = v & 0xffffu;
    let u32_high = select((high << n) | (low >> (32u - n)), high, n == 0u);
    let u32_low = low << n;
    let q1 = @wide_digit(u32_high, u32_low >> 16u, v1, v0);
    let middle = u32_high * 65536u + (u32_low >> 16u) - q1 * v;
    let q0 = @wide_digit(middle, u32_low & 0xffffu, v1, v0);
    let rest = middle * 65536u + (u32_low & 0xffffu) - q0 * v;
    return vec2<u32>(q1 * 65536u + q0, rest >> n);
}
";

/// A digit of a quotient: `(u * 2^16 + next) / (v1 * 2^16 + v0)`, which is below 2^16.
pub(super) const WIDE_DIGIT: &str = "fn @wide_digit(u: u32, next: u32, v1: u32, v0: u32) -> u32 {
    var q = u / v1;
    var rest = u - q * v1;
    if (q >= 65536u || q * v0 > rest * 65536u + next) {
        q -= 1u;
        rest += v1;
        if (rest < 65536u && (q >= 65536u || q * v0 > rest * 65536u + next)) {
            q -= 1u;
        }
    }
    return q;
}
";

/// Some number if `b` is 0.
pub(super) const U64_DIV: &str = "fn @u64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if (b.y == 0u) {
        let d = max(b.x, 1u);
        let high = a.y / d;
        return vec2<u32>(@u64_div_narrow(a.y - high * d, a.x, d).x, high);
    }
    let n = countLeadingZeros(b.y);
    let divisor = @wide_shl(b, n).y;
    let half = @u64_shr(a, 1u);
    var q = @u64_shr(@wide_shl(vec2<u32>(@u64_div_narrow(half.y, half.x, divisor).x, 0u), n), 31u);
    if (q.x != 0u) {
        q.x -= 1u;
    }
    let rest = @wide_sub(a, @wide_mul(q, b));
    return vec2<u32>(select(q.x, q.x + 1u, !@u64_less(rest, b)), 0u);
}
";

pub(super) const U64_MOD: &str = "fn @u64_mod(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return @wide_sub(a, @wide_mul(@u64_div(a, b), b));
}
";

pub(super) const I64_ABS: &str = "fn @i64_abs(a: vec2<u32>) -> vec2<u32> {
    return select(a, @wide_neg(a), i32(a.y) < 0i);
}
";

pub(super) const I64_DIV: &str = "fn @i64_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let q = @u64_div(@i64_abs(a), @i64_abs(b));
    return select(q, @wide_neg(q), (a.y ^ b.y) >= 0x80000000u);
}
";

pub(super) const I64_MOD: &str = "fn @i64_mod(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return @wide_sub(a, @wide_mul(@i64_div(a, b), b));
}
";

pub(super) const I64_FLOOR_DIV: &str =
    "fn @i64_floor_div(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let q = @i64_div(a, b);
    let exact = all(@wide_mul(q, b) == a);
    return select(@wide_sub(q, vec2<u32>(1u, 0u)), q, exact || (a.y ^ b.y) < 0x80000000u);
}
";

pub(super) const I64_FLOOR_MOD: &str =
    "fn @i64_floor_mod(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return @wide_sub(a, @wide_mul(@i64_floor_div(a, b), b));
}
";

/// Rounded once, to even: the bits behind the first 32 become one that says whether any was set.
pub(super) const U64_TO_F32: &str = "fn @u64_to_f32(a: vec2<u32>) -> f32 {
    if (a.y == 0u) {
        return @u32_to_f32(a.x);
    }
    let n = countLeadingZeros(a.y);
    let top = @wide_shl(a, n);
    return @u32_to_f32(top.y | select(0u, 1u, top.x != 0u)) * bitcast<f32>((159u - n) << 23u);
}
";

/// Rounded to even, whatever the conversion of the device does.
pub(super) const U32_TO_F32: &str = "fn @u32_to_f32(x: u32) -> f32 {
    let n = countLeadingZeros(x);
    if (n >= 8u) {
        return f32(x);
    }
    let drop = 8u - n;
    let rest = x & ((1u << drop) - 1u);
    let half = 1u << (drop - 1u);
    let kept = x >> drop;
    let up = rest > half || (rest == half && (kept & 1u) == 1u);
    return f32(select(kept, kept + 1u, up)) * f32(1u << drop);
}
";

pub(super) const I64_TO_F32: &str = "fn @i64_to_f32(a: vec2<u32>) -> f32 {
    let size = @u64_to_f32(@i64_abs(a));
    return select(size, -size, i32(a.y) < 0i);
}
";

/// Saturates, as NaN does to 0.
pub(super) const F32_TO_U64: &str = "fn @f32_to_u64(x: f32) -> vec2<u32> {
    let bits = bitcast<u32>(x);
    if (bits >= 0x80000000u || bits < 0x3f800000u || bits > 0x7f800000u) {
        return vec2<u32>();
    }
    if (bits >= 0x5f800000u) {
        return vec2<u32>(0xffffffffu);
    }
    let word = vec2<u32>((bits & 0x7fffffu) | 0x800000u, 0u);
    let exponent = bits >> 23u;
    if (exponent < 150u) {
        return @u64_shr(word, 150u - exponent);
    }
    return @wide_shl(word, exponent - 150u);
}
";

/// Saturates, as NaN does to 0.
pub(super) const F32_TO_I64: &str = "fn @f32_to_i64(x: f32) -> vec2<u32> {
    let size = @f32_to_u64(abs(x));
    let negative = bitcast<u32>(x) >= 0x80000000u;
    if (size.y >= 0x80000000u) {
        return select(vec2<u32>(0xffffffffu, 0x7fffffffu), vec2<u32>(0u, 0x80000000u), negative);
    }
    return select(size, @wide_neg(size), negative);
}
";

/// The power so far, and the base squared as often as bits were seen, after one more bit of the exponent.
pub(super) const POW_U64_BIT: &str = "fn @pow_u64_bit(state: vec4<u32>, bit: u32) -> vec4<u32> {
    let product = @wide_mul(state.xy, state.zw);
    let power = select(state.xy, product, bit != 0u);
    return vec4<u32>(power, @wide_mul(state.zw, state.zw));
}
";

pub(super) const POW_U64_DIGIT: &str =
    "fn @pow_u64_digit(state: vec4<u32>, bits: u32) -> vec4<u32> {
    var next = state;
    next = @pow_u64_bit(next, bits & 1u);
    next = @pow_u64_bit(next, bits & 2u);
    next = @pow_u64_bit(next, bits & 4u);
    next = @pow_u64_bit(next, bits & 8u);
    next = @pow_u64_bit(next, bits & 16u);
    next = @pow_u64_bit(next, bits & 32u);
    next = @pow_u64_bit(next, bits & 64u);
    next = @pow_u64_bit(next, bits & 128u);
    return next;
}
";

pub(super) const POW_U64: &str = "fn @pow_u64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
    var state = vec4<u32>(1u, 0u, base);
    state = @pow_u64_digit(state, exponent.x);
    state = @pow_u64_digit(state, exponent.x >> 8u);
    state = @pow_u64_digit(state, exponent.x >> 16u);
    state = @pow_u64_digit(state, exponent.x >> 24u);
    state = @pow_u64_digit(state, exponent.y);
    state = @pow_u64_digit(state, exponent.y >> 8u);
    state = @pow_u64_digit(state, exponent.y >> 16u);
    state = @pow_u64_digit(state, exponent.y >> 24u);
    return state.xy;
}
";
