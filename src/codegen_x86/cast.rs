//! Conversions.

use iced_x86::Code;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Condition, GENERAL, Kind, Lane, VECTOR, Width};
use super::value::{Part, Val, float_bits, is_half, lane_of};
use super::{Refusal, refuse};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Emitter<'_> {
    pub(super) fn cast(&mut self, a: &Val, to: Ty) -> Result<Val, Refusal> {
        if to.lanes != a.ty.lanes {
            return refuse("a conversion to another number of lanes");
        }
        let (from, scalar) = (a.ty.scalar, to.scalar);
        if from == scalar {
            return Ok(a.clone());
        }
        if scalar == ScalarType::Bool {
            return self.not_zero(a);
        }
        if is_half(scalar) {
            // Through `f32`, which holds every half. What has more digits is rounded twice, as the definition of elements does.
            let float = self.cast(
                a,
                Ty {
                    scalar: ScalarType::F32,
                    ..to
                },
            )?;
            return self.rounded(Val { ty: to, ..float });
        }
        if is_half(from) {
            let float = Val {
                ty: Ty {
                    scalar: ScalarType::F32,
                    ..to
                },
                ..a.clone()
            };
            return self.cast(&float, to);
        }
        if !a.is_vector() {
            let part = self.cast_scalar(a.parts[0], from, scalar)?;
            return Ok(Val::scalar(scalar, part));
        }
        if let Some(value) = self.cast_vector(a, to)? {
            return Ok(value);
        }
        self.lanewise(&[a], |this, v| this.cast(&v[0], Ty::scalar(scalar)))
    }

    pub(super) fn not_zero(&mut self, a: &Val) -> Result<Val, Refusal> {
        let zero = if a.is_general() {
            Part::Int(0)
        } else {
            Part::Same(0)
        };
        let zeros = a.with_parts(vec![zero; a.parts.len()]);
        self.binary(BinOp::Ne, a, &zeros)
    }

    /// Conversions that have vector instructions. Halves are `f32` here.
    fn cast_vector(&mut self, a: &Val, to: Ty) -> Result<Option<Val>, Refusal> {
        use ScalarType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let (from, lane) = (a.ty.scalar, lane_of(to.scalar));
        let value = match (from, to.scalar) {
            (Bool, _) => {
                let mask = self.mask_as(a, lane.as_int())?;
                let one = if lane.is_float() {
                    self.float(lane, 1.0)
                } else {
                    Part::Same(1)
                };
                let mask = Val {
                    lane,
                    ty: to,
                    ..mask
                };
                self.each(&mask, |this, width, part| {
                    let args = vec![
                        Arg::Reg(this.vector(part, lane, width)),
                        this.operand(one, lane, width),
                    ];
                    this.vec(Op::And, Lane::F32, width, args)
                })?
            }
            (I32, F32) => {
                let float = Val {
                    lane,
                    ty: to,
                    ..a.clone()
                };
                self.each(&float, |this, width, part| {
                    this.vec1(Op::IntToFloat, lane, width, part)
                })?
            }
            (U32, F32) => {
                let float = Val {
                    lane,
                    ty: to,
                    ..a.clone()
                };
                self.each(&float, Self::unsigned_to_float)?
            }
            (F32, I32) => {
                let ints = Val {
                    lane,
                    ty: to,
                    ..a.clone()
                };
                self.each(&ints, Self::float_to_int_part)?
            }
            (F32, I8 | I16 | U8 | U16) => {
                let wide = Val {
                    lane: Lane::I32,
                    ty: Ty { scalar: I32, ..to },
                    ..a.clone()
                };
                let within = self.each(&wide, |this, width, part| {
                    this.float_to_range(width, part, to.scalar)
                })?;
                self.cast(&within, to)?
            }
            (I8 | I16 | U8 | U16, F32) => {
                let wide = self.cast(a, Ty { scalar: I32, ..to })?;
                self.cast(&wide, to)?
            }
            (F32, F64) => self.resized(a, to, Op::Widen)?,
            (F64, F32) => self.resized(a, to, Op::Narrow)?,
            (I32, F64) => self.resized(a, to, Op::IntToFloat)?,
            (I8 | I16 | U8 | U16, F64) => {
                let wide = self.cast(a, Ty { scalar: I32, ..to })?;
                self.cast(&wide, to)?
            }
            (I8 | U8, I8 | U8)
            | (I16 | U16, I16 | U16)
            | (I32 | U32, I32 | U32)
            | (I64 | U64, I64 | U64) => Val {
                ty: to,
                ..a.clone()
            },
            (I8 | U8 | I16 | U16 | I32 | U32, I16 | U16 | I32 | U32 | I64 | U64)
                if a.lane.bytes() < lane.bytes() =>
            {
                let extend = if from.is_signed_int() { "sign" } else { "zero" };
                self.widen(a, to, lane, extend)?
            }
            (I16 | U16 | I32 | U32 | I64 | U64, I8 | U8 | I16 | U16 | I32 | U32) => {
                self.narrow(a, to, lane, Op::PackUnsigned)?
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn unsigned_to_float(&mut self, width: Width, part: Part) -> Result<Part, Refusal> {
        if form(self.isa, Op::UintToFloat, Lane::F32, width).is_some() {
            return self.vec1(Op::UintToFloat, Lane::F32, width, part);
        }
        // Both halves are exact as floats, so that their sum is rounded once.
        let high = self.vec_imm(Op::ShrImm, Lane::I32, width, part, 16)?;
        let low = {
            let args = vec![
                Arg::Reg(self.vector(part, Lane::I32, width)),
                self.operand(Part::Same(0xffff), Lane::I32, width),
            ];
            self.vec(Op::And, Lane::F32, width, args)?
        };
        let high = self.vec1(Op::IntToFloat, Lane::F32, width, high)?;
        let low = self.vec1(Op::IntToFloat, Lane::F32, width, low)?;
        let scale = self.float(Lane::F32, 65536.0);
        self.mul_add(Lane::F32, width, high, scale, low)
    }

    /// Integers of 32 bits within the range of a narrower type: all of that range are floats, so that these saturate. NaN gives 0.
    fn float_to_range(
        &mut self,
        width: Width,
        part: Part,
        to: ScalarType,
    ) -> Result<Part, Refusal> {
        let (low, high) = to.int_range().unwrap_or((i64::MIN, i64::MAX));
        let [low, high] = [low, high].map(|bound| self.float(Lane::F32, bound as f64));
        // Of NaN the second operand.
        let within = self.vec2(Op::Max, Lane::F32, width, part, low)?;
        let within = self.vec2(Op::Min, Lane::F32, width, within, high)?;
        let ints = self.vec1(Op::FloatToInt, Lane::F32, width, within)?;
        if !to.is_signed_int() {
            return Ok(ints);
        }
        let nan = self.nan_part(Lane::F32, width, part)?;
        self.vec2(Op::AndNot, Lane::F32, width, nan, ints)
    }

    /// Saturates; NaN gives 0.
    fn float_to_int_part(&mut self, width: Width, part: Part) -> Result<Part, Refusal> {
        let ints = self.vec1(Op::FloatToInt, Lane::F32, width, part)?;
        // What does not fit came out as the least integer.
        let limit = self.float(Lane::F32, 2_147_483_648.0);
        let large = self.at_least(Lane::F32, width, part, limit)?;
        let ints = self.vec2(Op::Xor, Lane::F32, width, ints, large)?;
        let nan = self.nan_part(Lane::F32, width, part)?;
        self.vec2(Op::AndNot, Lane::F32, width, nan, ints)
    }

    /// Converts a scalar; no halves and not to `bool`.
    fn cast_scalar(
        &mut self,
        part: Part,
        from: ScalarType,
        to: ScalarType,
    ) -> Result<Part, Refusal> {
        match (from.is_float(), to.is_float()) {
            (true, true) => {
                let op = if to == ScalarType::F64 {
                    Op::Widen
                } else {
                    Op::Narrow
                };
                let reg = Arg::Reg(self.vector(part, lane_of(from), Width::X));
                self.vec(op, Lane::F64, Width::X, vec![reg])
            }
            (true, false) => self.float_to_int(part, from, to),
            (false, true) => self.int_to_float(part, from, to),
            (false, false) => Ok(self.extended(to, part)),
        }
    }

    fn int_to_float(
        &mut self,
        part: Part,
        from: ScalarType,
        to: ScalarType,
    ) -> Result<Part, Refusal> {
        if let Part::Int(value) = part
            && value.unsigned_abs() < 1 << 24
        {
            return Ok(Part::Same(float_bits(lane_of(to), value as f64)));
        }
        if from != ScalarType::U64 {
            return Ok(self.signed_to_float(part, to));
        }
        // Half of a number with the last bit set if one is lost is rounded as the number is.
        let half = {
            let args = [part, Part::Int(1)].map(|part| Arg::Reg(self.general(part)));
            let code = Kind::Code(Code::VEX_Shrx_r64_rm64_r64);
            Part::Reg(self.b.pure(code, GENERAL, args.to_vec()))
        };
        let last = self.and(part, Part::Int(1));
        let half = self.int_binary(
            BinOp::BitOr,
            &Val::scalar(ScalarType::I64, half),
            &Val::scalar(ScalarType::I64, last),
        )?;
        let half = self.signed_to_float(half.parts[0], to);
        let lane = lane_of(to);
        let doubled = self.vec2(Op::Add, lane, Width::X, half, half)?;
        let small = self.signed_to_float(part, to);
        let negative = self.set_if(Condition::Less, part, Part::Int(0));
        let mask = self.sub(Part::Int(0), negative);
        let mask = self.in_vector(mask);
        self.blend(lane, Width::X, mask, doubled, small)
    }

    fn signed_to_float(&mut self, part: Part, to: ScalarType) -> Part {
        let isa = self.isa;
        let code = if to == ScalarType::F64 {
            isa.pick(
                Code::VEX_Vcvtsi2sd_xmm_xmm_rm64,
                Code::EVEX_Vcvtsi2sd_xmm_xmm_rm64_er,
            )
        } else {
            isa.pick(
                Code::VEX_Vcvtsi2ss_xmm_xmm_rm64,
                Code::EVEX_Vcvtsi2ss_xmm_xmm_rm64_er,
            )
        };
        // The other lanes are those of the first operand: zeros.
        let zero = Arg::Reg(self.vector(Part::Same(0), lane_of(to), Width::X));
        let reg = Arg::Reg(self.general(part));
        Part::Reg(self.b.pure(Kind::Code(code), VECTOR, vec![zero, reg]))
    }

    /// Saturates; NaN gives 0.
    fn float_to_int(
        &mut self,
        part: Part,
        from: ScalarType,
        to: ScalarType,
    ) -> Result<Part, Refusal> {
        let lane = Lane::F64;
        let wide = self.cast(&Val::scalar(from, part), Ty::scalar(ScalarType::F64))?;
        let x = wide.parts[0];
        let nan = self.nan_part(lane, Width::X, x)?;
        let x = self.vec2(Op::AndNot, Lane::F32, Width::X, nan, x)?;
        if to == ScalarType::U64 {
            return self.float_to_u64(x);
        }
        let (low, high) = to.int_range().unwrap_or((i64::MIN, i64::MAX));
        let bound = |value: i64| Part::Same(float_bits(lane, value as f64));
        if to != ScalarType::I64 {
            let x = self.vec2(Op::Max, lane, Width::X, x, bound(low))?;
            let x = self.vec2(Op::Min, lane, Width::X, x, bound(high))?;
            return Ok(self.truncated(x));
        }
        // What does not fit comes out as the least integer: right below, inverted above.
        let ints = self.truncated(x);
        let large = self.at_least(lane, Width::X, x, bound(i64::MAX))?;
        let large = self.in_general(large, lane);
        let value = self.int_binary(
            BinOp::BitXor,
            &Val::scalar(ScalarType::I64, ints),
            &Val::scalar(ScalarType::I64, large),
        )?;
        Ok(value.parts[0])
    }

    fn float_to_u64(&mut self, x: Part) -> Result<Part, Refusal> {
        const TWO_63: f64 = 9_223_372_036_854_775_808.0;
        let lane = Lane::F64;
        let (half, zero) = (self.float(lane, TWO_63), Part::Same(0));
        let x = self.vec2(Op::Max, lane, Width::X, x, zero)?;
        let small = self.truncated(x);
        let above = self.vec2(Op::Sub, lane, Width::X, x, half)?;
        let large = self.truncated(above);
        let large = self.add(large, Part::Int(i64::MIN));
        let is_large = self.at_least(lane, Width::X, x, half)?;
        let is_large = self.in_general(is_large, lane);
        let value = self.choose(is_large, large, small);
        let limit = self.float(lane, 2.0 * TWO_63);
        let too_large = self.at_least(lane, Width::X, x, limit)?;
        let too_large = self.in_general(too_large, lane);
        Ok(self.choose(too_large, Part::Int(-1), value))
    }

    fn truncated(&mut self, x: Part) -> Part {
        let code = self.isa.pick(
            Code::VEX_Vcvttsd2si_r64_xmmm64,
            Code::EVEX_Vcvttsd2si_r64_xmmm64_sae,
        );
        let reg = Arg::Reg(self.vector(x, Lane::F64, Width::X));
        Part::Reg(self.b.pure(Kind::Code(code), GENERAL, vec![reg]))
    }

    /// The bits of a scalar as a scalar of another type that has as many.
    pub(super) fn reinterpret(&mut self, a: &Val, to: ScalarType) -> Result<Val, Refusal> {
        let from = a.ty.scalar;
        if from.bytes() != to.bytes() {
            return refuse("bits of another size");
        }
        if a.is_vector() {
            let lane = lane_of(to);
            if from.bytes() != a.lane.bytes() || to.bytes() != lane.bytes() || from.bytes() < 4 {
                return refuse("bits of narrow lanes");
            }
            let ty = Ty { scalar: to, ..a.ty };
            return Ok(Val {
                ty,
                lane,
                ..a.clone()
            });
        }
        let part = a.parts[0];
        let bits = if is_half(from) {
            self.bits_of_half(from, part)?
        } else if from.is_float() {
            self.in_general(part, a.lane)
        } else {
            part
        };
        let value = if is_half(to) {
            let bits = self.extended(ScalarType::U16, bits);
            self.half_of_bits(to, bits)?
        } else if to.is_float() {
            self.in_vector(bits)
        } else if to == ScalarType::Bool {
            self.set_if(Condition::NotEqual, bits, Part::Int(0))
        } else {
            self.extended(to, bits)
        };
        Ok(Val::scalar(to, value))
    }
}
