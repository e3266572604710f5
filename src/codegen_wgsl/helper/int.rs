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
