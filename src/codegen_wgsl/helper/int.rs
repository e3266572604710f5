//! Integers of 32 bits: floor division, powers.

pub(super) const FLOOR_DIV: &str = "fn @floor_div(a: i32, b: i32) -> i32 {
    let q = a / b;
    return select(q, q - 1i, (a % b != 0i) && ((a < 0i) != (b < 0i)));
}
";

pub(super) const FLOOR_MOD: &str = "fn @floor_mod(a: i32, b: i32) -> i32 {
    let r = a % b;
    return select(r, r + b, (r != 0i) && ((r < 0i) != (b < 0i)));
}
";

/// The power so far, and the base squared as often as bits were seen, after eight more bits of the exponent.
pub(super) const POW_U32_DIGIT: &str =
    "fn @pow_u32_digit(state: vec2<u32>, bits: u32) -> vec2<u32> {
    var power = state.x;
    var square = state.y;
    power *= select(1u, square, (bits & 1u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 2u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 4u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 8u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 16u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 32u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 64u) != 0u);
    square *= square;
    power *= select(1u, square, (bits & 128u) != 0u);
    square *= square;
    return vec2<u32>(power, square);
}
";

pub(super) const POW_U32: &str = "fn @pow_u32(base: u32, exponent: u32) -> u32 {
    var state = vec2<u32>(1u, base);
    state = @pow_u32_digit(state, exponent);
    state = @pow_u32_digit(state, exponent >> 8u);
    state = @pow_u32_digit(state, exponent >> 16u);
    state = @pow_u32_digit(state, exponent >> 24u);
    return state.x;
}
";

/// `c` and the products of the bytes of `a`, unsigned, by those of `b`, signed.
pub(super) const DP4A_U8S8: &str = "fn @dp4a_u8s8s32(a: i32, b: i32, c: i32) -> i32 {
    let u = bitcast<u32>(a);
    let low = i32(extractBits(u, 0u, 8u)) * extractBits(b, 0u, 8u) + i32(extractBits(u, 8u, 8u)) * extractBits(b, 8u, 8u);
    let high = i32(extractBits(u, 16u, 8u)) * extractBits(b, 16u, 8u) + i32(extractBits(u, 24u, 8u)) * extractBits(b, 24u, 8u);
    return c + (low + high);
}
";
