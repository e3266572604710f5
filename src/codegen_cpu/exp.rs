//! `exp` of `f32`, in registers: calling the math library for each lane costs some thirty times as much.
//!
//! `exp(x) = 2^n * exp(r)` with `n` the integer nearest to `x / ln 2` and `|r| <= ln 2 / 2`. `r` is found with `ln 2` in two
//! parts (Cody and Waite, *Software Manual for the Elementary Functions*, chapter 6), `exp(r)` by the polynomial of Cephes'
//! `expf`. At most 2 units in the last place from the true value; NaN, infinities, overflow and subnormal results as in IEEE
//! 754.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

use super::emit::Emitter;
use super::value::{Val, register};
use crate::codegen_common::exp::{LEAST, LN_2, POLYNOMIAL, RANGE, ROUND};

impl Emitter<'_, '_> {
    /// `exp` of a value computed in `f32`.
    pub(super) fn exp_f32(&mut self, x: &Val) -> Val {
        let parts = x.parts.iter().map(|&part| self.exp_part(part)).collect();
        x.with_parts(parts)
    }

    fn exp_part(&mut self, x: Value) -> Value {
        let ty = self.b.func.dfg.value_type(x);
        let constant = |this: &mut Self, value| this.float_const(ty, value);
        let x = self.clamped(ty, x);
        let log2_e = constant(self, std::f64::consts::LOG2_E);
        let round = constant(self, ROUND);
        let shifted = self.mul_add(x, log2_e, round);
        let n = self.b.ins().fsub(shifted, round);
        let high = constant(self, -LN_2.0);
        let low = constant(self, -LN_2.1);
        let r = self.mul_add(n, high, x);
        let r = self.mul_add(n, low, r);
        let mut sum = constant(self, POLYNOMIAL[0]);
        for &coefficient in &POLYNOMIAL[1..] {
            let coefficient = constant(self, coefficient);
            sum = self.mul_add(sum, r, coefficient);
        }
        let square = self.b.ins().fmul(r, r);
        let sum = self.mul_add(sum, square, r);
        let one = constant(self, 1.0);
        let power = self.b.ins().fadd(sum, one);
        self.scaled(ty, power, shifted)
    }

    /// The value inside of the range; NaN as it is.
    fn clamped(&mut self, ty: Type, x: Value) -> Value {
        let (low, high) = (self.float_const(ty, RANGE.0), self.float_const(ty, RANGE.1));
        let above = self.b.ins().fcmp(FloatCC::LessThan, high, x);
        let x = self.choose(above, high, x);
        let below = self.b.ins().fcmp(FloatCC::LessThan, x, low);
        self.choose(below, low, x)
    }

    /// `power * 2^n`, where `n` is in the last bits of `shifted`. Where that is subnormal it is counted in units of `2^-149`: the
    /// count is the number's bits, and no step has a subnormal result, which costs some 150 cycles.
    fn scaled(&mut self, ty: Type, power: Value, shifted: Value) -> Value {
        let ints = if ty.is_vector() {
            register(types::I32)
        } else {
            types::I32
        };
        let least = self.float_const(ty, ROUND + LEAST);
        let small = self.b.ins().fcmp(FloatCC::LessThan, shifted, least);
        // Of `2^(n - 1)`, which is a normal number for all of them, or of `2^(n + 148)`.
        let offset = i64::from((ROUND as f32).to_bits()) - 126;
        let (normal, subnormal) = (
            self.int_const(ints, offset),
            self.int_const(ints, offset - 149),
        );
        let offset = self.choose(small, subnormal, normal);
        let bits = self.as_int(shifted);
        let exponent = self.b.ins().isub(bits, offset);
        let places = self.b.ins().iconst(types::I32, 23);
        let factor = self.b.ins().ishl(exponent, places);
        let factor = self.as_float(factor);
        let doubled = self.b.ins().fadd(power, power);
        let value = self.b.ins().fmul(doubled, factor);
        let half = self.float_const(ty, 0.5);
        let count = self.b.ins().fadd(value, half);
        let count = self.b.ins().fcvt_to_sint_sat(ints, count);
        let count = self.as_float(count);
        self.choose(small, count, value)
    }

    /// `x * y + z`, rounded once where the machine can.
    pub(super) fn mul_add(&mut self, x: Value, y: Value, z: Value) -> Value {
        if self.isa.has_native_fma() {
            return self.b.ins().fma(x, y, z);
        }
        let product = self.b.ins().fmul(x, y);
        self.b.ins().fadd(product, z)
    }
}
