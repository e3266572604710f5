//! Conversions of one lane, and the bits of `f16` and `bf16`.
//!
//! The halves are converted by integer and `f32` operations that work on scalars and on registers alike, since x64 code has no
//! arithmetic for them. Reference: F. Giesen, *float <-> half conversions* (public domain), the variants that round to even.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

use super::emit::Emitter;
use super::error::CodegenError;
use super::value::{Val, is_half, lane_type, mask_lane, register};
use crate::kernel::Ty;
use crate::tensor::ScalarType;

impl Emitter<'_, '_> {
    /// Converts a scalar; a result of type `f16` or `bf16` is not rounded yet. `to` is not `bool`.
    pub(super) fn cast_scalar(&mut self, value: Value, from: ScalarType, to: ScalarType) -> Value {
        match (from.is_float(), to.is_float()) {
            (true, true) => self.float_to_float(value, lane_type(to)),
            (true, false) => self.float_to_int(value, to),
            (false, true) => self.int_to_float(value, from, lane_type(to)),
            (false, false) => self.int_to_int(value, from, lane_type(to)),
        }
    }

    /// The bits of a scalar as a scalar of another type that has as many.
    pub(super) fn reinterpret(&mut self, a: &Val, to: ScalarType) -> Result<Val, CodegenError> {
        let from = a.ty.scalar;
        if from.bytes() != to.bytes() {
            return Err(self.undefined("bits", to));
        }
        if a.is_vector() {
            return self.reinterpret_lanes(a, to);
        }
        let value = a.parts[0];
        let bits = match from {
            half if is_half(half) => {
                let bits = self.half_bits(half, value);
                self.b.ins().ireduce(types::I16, bits)
            }
            ScalarType::F32 | ScalarType::F64 => self.as_int(value),
            _ => value,
        };
        let value = match to {
            half if is_half(half) => {
                let bits = self.b.ins().uextend(types::I32, bits);
                self.half_value(half, bits)
            }
            ScalarType::F32 | ScalarType::F64 => self.as_float(bits),
            ScalarType::Bool => self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0),
            _ => bits,
        };
        Ok(Val::scalar(to, value))
    }

    /// Lanes of 32 or 64 bits.
    fn reinterpret_lanes(&mut self, a: &Val, to: ScalarType) -> Result<Val, CodegenError> {
        if a.ty.scalar.bytes() != a.lane.bytes() as usize || to.bytes() < 4 {
            return Err(self.undefined("bits", to));
        }
        let ty = register(lane_type(to));
        let parts = a.parts.iter().map(|&part| self.cast_bits(ty, part));
        Ok(Val {
            parts: parts.collect(),
            lane: lane_type(to),
            ty: Ty { scalar: to, ..a.ty },
        })
    }

    fn float_to_float(&mut self, value: Value, to: Type) -> Value {
        let from = self.b.func.dfg.value_type(value);
        match (from, to) {
            (types::F32, types::F64) => self.b.ins().fpromote(to, value),
            (types::F64, types::F32) => self.b.ins().fdemote(to, value),
            _ => value,
        }
    }

    /// Saturates; NaN gives 0.
    fn float_to_int(&mut self, value: Value, to: ScalarType) -> Value {
        let lane = lane_type(to);
        let wide = if lane == types::I64 {
            types::I64
        } else {
            types::I32
        };
        let unsigned = to.is_unsigned_int();
        let int = if unsigned {
            self.b.ins().fcvt_to_uint_sat(wide, value)
        } else {
            self.b.ins().fcvt_to_sint_sat(wide, value)
        };
        if lane == wide {
            return int;
        }
        let (low, high) = to.int_range().expect("an integer type has a range");
        let (low, high) = (
            self.b.ins().iconst(wide, low & 0xffff_ffff),
            self.b.ins().iconst(wide, high),
        );
        let clamped = if unsigned {
            self.b.ins().umin(int, high)
        } else {
            let int = self.b.ins().smin(int, high);
            self.b.ins().smax(int, low)
        };
        self.b.ins().ireduce(lane, clamped)
    }

    fn int_to_float(&mut self, value: Value, from: ScalarType, to: Type) -> Value {
        let signed = from.is_signed_int();
        let wide = match lane_type(from) {
            types::I64 => value,
            types::I32 if signed => value,
            _ if signed => self.b.ins().sextend(types::I32, value),
            // Unsigned 32 bits fit signed 64.
            types::I32 => self.b.ins().uextend(types::I64, value),
            _ => self.b.ins().uextend(types::I32, value),
        };
        if from == ScalarType::U64 {
            self.b.ins().fcvt_from_uint(to, wide)
        } else {
            self.b.ins().fcvt_from_sint(to, wide)
        }
    }

    fn int_to_int(&mut self, value: Value, from: ScalarType, to: Type) -> Value {
        let have = lane_type(from).bits();
        match to.bits().cmp(&have) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.b.ins().ireduce(to, value),
            std::cmp::Ordering::Greater if from.is_signed_int() => self.b.ins().sextend(to, value),
            std::cmp::Ordering::Greater => self.b.ins().uextend(to, value),
        }
    }

    /// The 16 bits of the half that is nearest to an `f32`, in 32-bit integer lanes.
    pub(super) fn half_bits(&mut self, scalar: ScalarType, value: Value) -> Value {
        if scalar == ScalarType::BF16 {
            self.bf16_bits(value)
        } else {
            self.f16_bits(value)
        }
    }

    /// The `f32` with the value of a half, whose 16 bits are given in 32-bit integer lanes.
    pub(super) fn half_value(&mut self, scalar: ScalarType, bits: Value) -> Value {
        let ints = self.b.func.dfg.value_type(bits);
        if scalar == ScalarType::BF16 {
            let high = self.b.ins().ishl_imm_u(bits, 16);
            return self.as_float(high);
        }
        let (sign, magnitude) = self.sign_and_magnitude(bits, ints, 0x8000, 0x7fff);
        let shifted = self.b.ins().ishl_imm_u(magnitude, 13);
        let shifted = self.as_float(shifted);
        let floats = self.b.func.dfg.value_type(shifted);
        // Moves the exponent by 112, right for subnormal numbers also.
        let scale = self.float_const(floats, 2f64.powi(112));
        let scaled = self.b.ins().fmul(shifted, scale);
        let limit = self.float_const(floats, 65536.0);
        let special = self
            .b
            .ins()
            .fcmp(FloatCC::GreaterThanOrEqual, scaled, limit);
        let value = self.as_int(scaled);
        let exponent = self.int_const(ints, 0x7f80_0000);
        let infinite = self.b.ins().bor(value, exponent);
        let value = self.choose(special, infinite, value);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let value = self.b.ins().bor(value, sign);
        self.as_float(value)
    }

    fn bf16_bits(&mut self, value: Value) -> Value {
        let bits = self.as_int(value);
        let ints = self.b.func.dfg.value_type(bits);
        let odd = self.b.ins().ushr_imm_u(bits, 16);
        let one = self.int_const(ints, 1);
        let odd = self.b.ins().band(odd, one);
        let bias = self.int_const(ints, 0x7fff);
        let rounded = self.b.ins().iadd(bits, bias);
        let rounded = self.b.ins().iadd(rounded, odd);
        let rounded = self.b.ins().ushr_imm_u(rounded, 16);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        let quiet = self.int_const(ints, 0x7fc0);
        self.choose(nan, quiet, rounded)
    }

    fn f16_bits(&mut self, value: Value) -> Value {
        let bits = self.as_int(value);
        let ints = self.b.func.dfg.value_type(bits);
        let (sign, magnitude) = self.sign_and_magnitude(bits, ints, 0x8000_0000, 0x7fff_ffff);
        // Normal numbers: rebase the exponent and round half to even by an addition.
        let odd = self.b.ins().ushr_imm_u(magnitude, 13);
        let one = self.int_const(ints, 1);
        let odd = self.b.ins().band(odd, one);
        let rebase = self.int_const(
            ints,
            i64::from((15u32.wrapping_sub(127) << 23).wrapping_add(0xfff)),
        );
        let normal = self.b.ins().iadd(magnitude, rebase);
        let normal = self.b.ins().iadd(normal, odd);
        let normal = self.b.ins().ushr_imm_u(normal, 13);
        // Subnormal numbers: let the float adder align and round.
        let magic_bits = ((127 - 15) + (23 - 10) + 1) << 23;
        let absolute = self.as_float(magnitude);
        let magic = self.int_const(ints, magic_bits);
        let magic_float = self.as_float(magic);
        let sum = self.b.ins().fadd(absolute, magic_float);
        let sum = self.as_int(sum);
        let subnormal = self.b.ins().isub(sum, magic);
        let least_normal = self.int_const(ints, 113 << 23);
        let small = self
            .b
            .ins()
            .icmp(IntCC::SignedLessThan, magnitude, least_normal);
        let finite = self.choose(small, subnormal, normal);
        // Too large: infinity, unless it is NaN.
        let (infinity, nan) = (self.int_const(ints, 0x7c00), self.int_const(ints, 0x7e00));
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        let special = self.choose(is_nan, nan, infinity);
        let limit = self.int_const(ints, (127 + 16) << 23);
        let large = self
            .b
            .ins()
            .icmp(IntCC::SignedGreaterThanOrEqual, magnitude, limit);
        let value = self.choose(large, special, finite);
        let sign = self.b.ins().ushr_imm_u(sign, 16);
        self.b.ins().bor(value, sign)
    }

    fn sign_and_magnitude(
        &mut self,
        bits: Value,
        ints: Type,
        sign: i64,
        magnitude: i64,
    ) -> (Value, Value) {
        let sign = self.int_const(ints, sign);
        let magnitude = self.int_const(ints, magnitude);
        (
            self.b.ins().band(bits, sign),
            self.b.ins().band(bits, magnitude),
        )
    }

    /// The bits of floats as integers.
    pub(super) fn as_int(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let lane = mask_lane(ty.lane_type());
        let ty = if ty.is_vector() { register(lane) } else { lane };
        self.cast_bits(ty, value)
    }

    /// Integers as the floats with these bits.
    pub(super) fn as_float(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let lane = if ty.lane_type() == types::I64 {
            types::F64
        } else {
            types::F32
        };
        let ty = if ty.is_vector() { register(lane) } else { lane };
        self.cast_bits(ty, value)
    }
}
