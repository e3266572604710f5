//! Floats: operators, comparisons, intrinsic functions.

use iced_x86::Code;

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Kind, Lane, VECTOR, Width};
use super::value::{Part, Val, float_bits, is_half};
use super::{Refusal, refuse};
use crate::codegen_common::math::{MATH, math_table};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// Predicates of comparisons, none of which signals.
pub(super) mod predicate {
    pub(crate) const EQUAL: i64 = 0x00;
    pub(crate) const UNORDERED: i64 = 0x03;
    pub(crate) const NOT_EQUAL: i64 = 0x04;
    pub(crate) const LESS: i64 = 0x11;
    pub(crate) const LESS_EQUAL: i64 = 0x12;
    pub(crate) const GREATER_EQUAL: i64 = 0x1d;
    pub(crate) const GREATER: i64 = 0x1e;
}

/// Table of [`Op::FixUp`], four bits for each class of numbers: a NaN, quiet or not, takes the place of the value; others leave it.
const KEEP_NAN: u64 = 0x22;

impl Emitter<'_> {
    /// An operator on floats, no comparison.
    pub(super) fn float_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, Refusal> {
        let simple = |op| move |this: &mut Self, width, x, y| this.vec2(op, a.lane, width, x, y);
        let value = match op {
            BinOp::Add => self.each2(a, b, simple(Op::Add))?,
            BinOp::Sub => self.each2(a, b, simple(Op::Sub))?,
            BinOp::Mul => self.each2(a, b, simple(Op::Mul))?,
            BinOp::Div => self.each2(a, b, simple(Op::Div))?,
            BinOp::Min => self.each2(a, b, |this, width, x, y| {
                this.extremum(Op::Min, a.lane, width, x, y)
            })?,
            BinOp::Max => self.each2(a, b, |this, width, x, y| {
                this.extremum(Op::Max, a.lane, width, x, y)
            })?,
            BinOp::Mod => self.float_intrin(Intrin::Fmod, &[a.clone(), b.clone()])?,
            BinOp::FloorDiv => {
                return self.in_f64(a, b, |this, x, y| {
                    let quotient = this.float_binary(BinOp::Div, x, y)?;
                    this.float_intrin(Intrin::Floor, &[quotient])
                });
            }
            BinOp::FloorMod => {
                let rest = self.float_intrin(Intrin::Fmod, &[a.clone(), b.clone()])?;
                return self.in_f64(&rest, b, |this, rest, y| this.with_sign_of(rest, y));
            }
            BinOp::Eq
            | BinOp::Ne
            | BinOp::Lt
            | BinOp::Le
            | BinOp::Gt
            | BinOp::Ge
            | BinOp::And
            | BinOp::Or
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor
            | BinOp::Shl
            | BinOp::Shr => return refuse("an operator on floats that is for integers"),
        };
        self.rounded(value)
    }

    /// In `f64`, as `tensor::scalar` computes it; rounded once at the end.
    fn in_f64(
        &mut self,
        a: &Val,
        b: &Val,
        mut f: impl FnMut(&mut Self, &Val, &Val) -> Result<Val, Refusal>,
    ) -> Result<Val, Refusal> {
        let to = a.ty;
        let wide = Ty {
            scalar: ScalarType::F64,
            ..to
        };
        let (x, y) = (self.cast(a, wide)?, self.cast(b, wide)?);
        let value = f(self, &x, &y)?;
        self.cast(&value, to)
    }

    /// A remainder of a division by `y`, moved to the sign of `y`.
    fn with_sign_of(&mut self, rest: &Val, y: &Val) -> Result<Val, Refusal> {
        let lane = rest.lane;
        let zero = Part::Same(0);
        let sign = Part::Same(float_bits(lane, -0.0));
        self.each2(rest, y, |this, width, rest, y| {
            let below = this.compare_part(predicate::LESS, lane, width, rest, zero)?;
            let negative = this.compare_part(predicate::LESS, lane, width, y, zero)?;
            let other_sign = this.vec2(Op::Xor, Lane::F32, width, below, negative)?;
            let moved = this.vec2(Op::Add, lane, width, rest, y)?;
            let moved = this.blend(lane, width, other_sign, moved, rest)?;
            let is_zero = this.compare_part(predicate::EQUAL, lane, width, rest, zero)?;
            let signed = this.bits(Op::And, lane, width, y, sign)?;
            this.blend(lane, width, is_zero, signed, moved)
        })
    }

    /// A bitwise operation, whose constant has the lanes of the value.
    pub(super) fn bits(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        a: Part,
        b: Part,
    ) -> Result<Part, Refusal> {
        let args = vec![
            Arg::Reg(self.vector(a, lane, width)),
            self.operand(b, lane, width),
        ];
        self.vec(op, Lane::F32, width, args)
    }

    /// The smaller or greater one of floats; NaN if either is NaN. A constant that is not NaN saves the test.
    fn extremum(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        x: Part,
        y: Part,
    ) -> Result<Part, Refusal> {
        let (x, y) = match y {
            Part::Reg(_) => (x, y),
            _ => (y, x),
        };
        // The second operand if they do not compare.
        let value = self.vec2(op, lane, width, x, y)?;
        if let Part::Same(bits) = x
            && !is_nan(lane, bits)
        {
            return Ok(value);
        }
        if self.isa.is_evex() {
            let args = vec![
                Arg::Reg(self.vector(value, lane, width)),
                Arg::Reg(self.vector(x, lane, width)),
                self.operand(Part::Same(KEEP_NAN), lane, width),
                Arg::Imm(0),
            ];
            return self.vec(Op::FixUp, lane, width, args);
        }
        let nan = self.compare_part(predicate::UNORDERED, lane, width, x, x)?;
        self.blend(lane, width, nan, x, value)
    }

    /// Lanes of ones where the comparison holds.
    pub(super) fn compare_part(
        &mut self,
        predicate: i64,
        lane: Lane,
        width: Width,
        x: Part,
        y: Part,
    ) -> Result<Part, Refusal> {
        if self.isa.is_evex() {
            return self.compare_masked(Op::Cmp, lane, width, (x, y), predicate);
        }
        let args = vec![
            Arg::Reg(self.vector(x, lane, width)),
            self.operand(y, lane, width),
            Arg::Imm(predicate),
        ];
        self.vec(Op::Cmp, lane, width, args)
    }

    pub(super) fn float_compare(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, Refusal> {
        let predicate = match op {
            BinOp::Eq => predicate::EQUAL,
            BinOp::Lt => predicate::LESS,
            BinOp::Le => predicate::LESS_EQUAL,
            BinOp::Gt => predicate::GREATER,
            BinOp::Ge => predicate::GREATER_EQUAL,
            _ => predicate::NOT_EQUAL,
        };
        let masks = self.each2(a, b, |this, width, x, y| {
            this.compare_part(predicate, a.lane, width, x, y)
        })?;
        Ok(self.as_bool(masks))
    }

    /// Lanes of ones and zeros as a `bool`.
    fn as_bool(&mut self, masks: Val) -> Val {
        let lane = masks.lane.as_int();
        if !masks.is_vector() {
            let bits = self.in_general(masks.parts[0], lane);
            let bit = self.and(bits, Part::Int(1));
            return Val::scalar(ScalarType::Bool, bit);
        }
        Val {
            ty: Ty {
                scalar: ScalarType::Bool,
                lanes: masks.ty.lanes,
            },
            lane,
            parts: masks.parts,
        }
    }

    pub(super) fn float_intrin(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, Refusal> {
        let x = &args[0];
        let lane = x.lane;
        let rounding =
            |mode| move |this: &mut Self, width, v| this.vec_imm(Op::Round, lane, width, v, mode);
        match intrin {
            Intrin::Sqrt => self.each(x, |this, width, v| this.vec1(Op::Sqrt, lane, width, v)),
            Intrin::Rsqrt => self.each(x, |this, width, v| {
                let root = this.vec1(Op::Sqrt, lane, width, v)?;
                let one = this.float(lane, 1.0);
                this.vec2(Op::Div, lane, width, one, root)
            }),
            Intrin::Abs => self.each(x, |this, width, v| this.magnitude(lane, width, v)),
            Intrin::Fma => {
                let mut thirds = args[2].parts.iter();
                self.each2(x, &args[1], |this, width, x, y| match thirds.next() {
                    Some(&z) => this.mul_add(lane, width, x, y, z),
                    None => refuse("operands of different shapes"),
                })
            }
            // Towards the nearest, down, up, to zero; inexact results are no exception.
            Intrin::Round => self.each(x, rounding(8)),
            Intrin::Floor => self.each(x, rounding(9)),
            Intrin::Ceil => self.each(x, rounding(10)),
            Intrin::Trunc => self.each(x, rounding(11)),
            _ => self.math(intrin, args),
        }
    }

    fn magnitude(&mut self, lane: Lane, width: Width, part: Part) -> Result<Part, Refusal> {
        let sign = float_bits(lane, -0.0);
        let keep = if lane == Lane::F64 {
            !sign
        } else {
            sign ^ 0xffff_ffff
        };
        self.bits(Op::And, lane, width, part, Part::Same(keep))
    }

    /// A function of the math library, lane by lane.
    fn math(&mut self, intrin: Intrin, args: &[Val]) -> Result<Val, Refusal> {
        let Some(at) = MATH.iter().position(|&m| m == intrin) else {
            return refuse("an intrinsic function of integers on floats");
        };
        let (_, single, double) = math_table()[at];
        let lane = args[0].lane;
        let address = if lane == Lane::F64 { double } else { single };
        let args: Vec<&Val> = args.iter().collect();
        self.lanewise(&args, |this, lanes| {
            let regs = lanes.iter();
            let regs = regs.map(|v| Arg::Reg(this.vector(v.parts[0], lane, Width::X)));
            let regs = regs.collect();
            let call = Kind::Call {
                address: address as u64,
                class: VECTOR,
            };
            let result = Part::Reg(this.b.pure(call, VECTOR, regs));
            Ok(lanes[0].with_parts(vec![result]))
        })
    }

    pub(super) fn float_test(&mut self, intrin: Intrin, x: &Val) -> Result<Val, Refusal> {
        let lane = x.lane;
        let masks = self.each(x, |this, width, v| {
            if intrin == Intrin::IsNan {
                return this.compare_part(predicate::UNORDERED, lane, width, v, v);
            }
            let size = this.magnitude(lane, width, v)?;
            let infinity = this.float(lane, f64::INFINITY);
            let predicate = if intrin == Intrin::IsInf {
                predicate::EQUAL
            } else {
                predicate::LESS
            };
            this.compare_part(predicate, lane, width, size, infinity)
        })?;
        Ok(self.as_bool(masks))
    }

    /// Lanes of ones where it is NaN.
    pub(super) fn nan_part(
        &mut self,
        lane: Lane,
        width: Width,
        part: Part,
    ) -> Result<Part, Refusal> {
        self.compare_part(predicate::UNORDERED, lane, width, part, part)
    }

    /// Lanes of ones where `x >= y`.
    pub(super) fn at_least(
        &mut self,
        lane: Lane,
        width: Width,
        x: Part,
        y: Part,
    ) -> Result<Part, Refusal> {
        self.compare_part(predicate::GREATER_EQUAL, lane, width, x, y)
    }

    /// `x * y + z`, rounded once.
    pub(super) fn mul_add(
        &mut self,
        lane: Lane,
        width: Width,
        x: Part,
        y: Part,
        z: Part,
    ) -> Result<Part, Refusal> {
        let (x, y) = match x {
            Part::Reg(_) => (x, y),
            _ => (y, x),
        };
        // A constant is read from memory, the accumulator stays in its register. With two constants the 231 form overwrites the added one,
        // which is loaded. The 213 form would overwrite `x`, which a polynomial reads again.
        let (op, first, second, third) = match (y, z) {
            (Part::Reg(_), Part::Int(_) | Part::Same(_)) => (Op::Fma213, x, y, z),
            _ => (Op::Fma231, z, x, y),
        };
        let args = vec![
            Arg::Reg(self.vector(first, lane, width)),
            Arg::Reg(self.vector(second, lane, width)),
            self.operand(third, lane, width),
        ];
        self.vec(op, lane, width, args)
    }

    /// Rounds to the precision of `f16` or `bf16`; other types are kept.
    pub(super) fn rounded(&mut self, value: Val) -> Result<Val, Refusal> {
        match value.ty.scalar {
            ScalarType::F16 => self.each(&value, |this, width, part| {
                let half = this.vec_imm(Op::ToHalf, Lane::F32, width, part, 0)?;
                let half = Arg::Reg(this.vector(half, Lane::I16, Width::X));
                this.vec(Op::FromHalf, Lane::F32, width, vec![half])
            }),
            ScalarType::BF16 => self.each(&value, |this, width, part| {
                let bits = this.bf16_bits(width, part)?;
                this.vec_imm(Op::ShlImm, Lane::I32, width, bits, 16)
            }),
            _ => Ok(value),
        }
    }

    /// The 16 bits of the nearest `bf16`, in lanes of 32.
    fn bf16_bits(&mut self, width: Width, part: Part) -> Result<Part, Refusal> {
        let lane = Lane::I32;
        let odd = self.vec_imm(Op::ShrImm, lane, width, part, 16)?;
        let odd = self.bits(Op::And, lane, width, odd, Part::Same(1))?;
        let rounded = self.vec2(Op::Add, lane, width, part, Part::Same(0x7fff))?;
        let rounded = self.vec2(Op::Add, lane, width, rounded, odd)?;
        let rounded = self.vec_imm(Op::ShrImm, lane, width, rounded, 16)?;
        let nan = self.nan_part(Lane::F32, width, part)?;
        self.blend(lane, width, nan, Part::Same(0x7fc0), rounded)
    }

    /// A vector of `bf16` as its bits in lanes of 16.
    pub(super) fn bf16_lanes(&mut self, value: &Val) -> Result<Val, Refusal> {
        let wide = self.each(value, Self::bf16_bits)?;
        let wide = Val {
            lane: Lane::I32,
            ..wide
        };
        let ty = Ty {
            scalar: ScalarType::U16,
            ..value.ty
        };
        self.narrow(&wide, ty, Lane::I16, Op::PackUnsigned)
    }

    /// The bits of a scalar half in a general register.
    pub(super) fn bits_of_half(&mut self, scalar: ScalarType, part: Part) -> Result<Part, Refusal> {
        debug_assert!(is_half(scalar), "only halves are held as wider numbers");
        let bits = if scalar == ScalarType::F16 {
            self.vec_imm(Op::ToHalf, Lane::F32, Width::X, part, 0)?
        } else {
            self.bf16_bits(Width::X, part)?
        };
        let bits = self.in_general(bits, Lane::I32);
        Ok(self.extended(ScalarType::U16, bits))
    }

    /// The half whose bits are in a general register.
    pub(super) fn half_of_bits(&mut self, scalar: ScalarType, bits: Part) -> Result<Part, Refusal> {
        let code = self
            .isa
            .pick(Code::VEX_Vmovq_xmm_rm64, Code::EVEX_Vmovq_xmm_rm64);
        let reg = Arg::Reg(self.general(bits));
        let bits = Part::Reg(self.b.pure(Kind::Code(code), VECTOR, vec![reg]));
        if scalar == ScalarType::F16 {
            return self.vec1(Op::FromHalf, Lane::F32, Width::X, bits);
        }
        self.vec_imm(Op::ShlImm, Lane::I32, Width::X, bits, 16)
    }
}

fn is_nan(lane: Lane, bits: u64) -> bool {
    if lane == Lane::F64 {
        f64::from_bits(bits).is_nan()
    } else {
        f32::from_bits(bits as u32).is_nan()
    }
}
