//! Binary operators, with the meaning that `tensor::scalar` gives them.
//!
//! Where that has no value the code still must not trap: an integer divided by zero gives the dividend, and a remainder by zero
//! gives 0.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};

use super::CodegenError;
use super::emit::Emitter;
use super::value::{Val, lane_type, mask_lane};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

impl Emitter<'_, '_> {
    pub(super) fn binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, CodegenError> {
        self.expect_type("the right side of an operator", a.ty, b.ty)?;
        let b = &self.mask_like(b, a);
        let scalar = a.ty.scalar;
        if op.is_comparison() {
            return Ok(self.compare(op, a, b));
        }
        if scalar.is_float() {
            return self.float_binary(op, a, b);
        }
        if scalar == ScalarType::Bool
            && !matches!(
                op,
                BinOp::And | BinOp::Or | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor
            )
        {
            return Ok(self.bool_arithmetic(op, a, b));
        }
        if let BinOp::And | BinOp::Or = op
            && scalar != ScalarType::Bool
        {
            return Err(self.undefined(op.symbol(), scalar));
        }
        Ok(self.int_binary(op, a, b))
    }

    /// One operation on each pair of registers.
    fn each(
        &mut self,
        a: &Val,
        b: &Val,
        mut f: impl FnMut(&mut Self, Value, Value) -> Value,
    ) -> Val {
        let parts = a.parts.iter().zip(&b.parts);
        let parts = parts.map(|(&x, &y)| f(self, x, y)).collect();
        a.with_parts(parts)
    }

    /// `bool` as numbers 0 and 1, where the result is not zero.
    fn bool_arithmetic(&mut self, op: BinOp, a: &Val, b: &Val) -> Val {
        self.lanewise(ScalarType::Bool, &[a, b], |this, lanes| {
            let value = this.scalar_int(op, ScalarType::U8, lanes[0], lanes[1]);
            let zero = this.b.ins().iconst(types::I8, 0);
            this.b.ins().icmp(IntCC::NotEqual, value, zero)
        })
    }

    fn float_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, CodegenError> {
        let value = match op {
            BinOp::Add => self.each(a, b, |this, x, y| this.b.ins().fadd(x, y)),
            BinOp::Sub => self.each(a, b, |this, x, y| this.b.ins().fsub(x, y)),
            BinOp::Mul => self.each(a, b, |this, x, y| this.b.ins().fmul(x, y)),
            BinOp::Div => self.each(a, b, |this, x, y| this.b.ins().fdiv(x, y)),
            BinOp::Min => self.each(a, b, |this, x, y| this.extremum(FloatCC::LessThan, x, y)),
            BinOp::Max => self.each(a, b, |this, x, y| this.extremum(FloatCC::GreaterThan, x, y)),
            BinOp::Mod => self.float_intrin(Intrin::Fmod, &[a.clone(), b.clone()])?,
            BinOp::FloorDiv => self.in_f64(a, b, |this, x, y| {
                let quotient = this.b.ins().fdiv(x, y);
                this.floor(quotient)
            }),
            BinOp::FloorMod => {
                let rest = self.float_intrin(Intrin::Fmod, &[a.clone(), b.clone()])?;
                self.in_f64(&rest, b, |this, rest, y| this.with_sign_of(rest, y))
            }
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                unreachable!("comparisons are done before")
            }
            BinOp::And
            | BinOp::Or
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor
            | BinOp::Shl
            | BinOp::Shr => {
                return Err(self.undefined(op.symbol(), a.ty.scalar));
            }
        };
        Ok(self.rounded(value))
    }

    /// A remainder of a division by `y`, moved to the sign of `y`.
    fn with_sign_of(&mut self, rest: Value, y: Value) -> Value {
        let zero = self.b.ins().f64const(0.0);
        let [below, negative] = [rest, y].map(|v| self.b.ins().fcmp(FloatCC::LessThan, v, zero));
        let other_sign = self.b.ins().bxor(below, negative);
        let moved = self.b.ins().fadd(rest, y);
        let moved = self.b.ins().select(other_sign, moved, rest);
        let is_zero = self.b.ins().fcmp(FloatCC::Equal, rest, zero);
        let zero = self.b.ins().fcopysign(zero, y);
        self.b.ins().select(is_zero, zero, moved)
    }

    /// The smaller or greater one of floats; NaN if either is NaN. A constant that is not NaN saves the second test.
    fn extremum(&mut self, wins: FloatCC, x: Value, y: Value) -> Value {
        let constant = |this: &Self, v| this.is_number(v);
        let (x, y) = if constant(self, y) { (y, x) } else { (x, y) };
        // One instruction (minps, maxps): the second operand if they do not compare.
        let better = self.b.ins().fcmp(wins, x, y);
        let value = self.choose(better, x, y);
        if constant(self, x) {
            return value;
        }
        let nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        self.choose(nan, x, value)
    }

    /// Whether it is a constant, not NaN, or the splat of one.
    fn is_number(&self, value: Value) -> bool {
        use cranelift_codegen::ir::{InstructionData, Opcode, ValueDef};
        let dfg = &self.b.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(value) else {
            return false;
        };
        match &dfg.insts[inst] {
            InstructionData::UnaryIeee32 { opcode: _, imm } => !f32::from_bits(imm.bits()).is_nan(),
            InstructionData::UnaryIeee64 { opcode: _, imm } => !f64::from_bits(imm.bits()).is_nan(),
            InstructionData::Unary {
                opcode: Opcode::Splat,
                arg,
            } => self.is_number(*arg),
            _ => false,
        }
    }

    /// Lane by lane in `f64`, as `tensor::scalar` computes it; rounded once at the end.
    pub(super) fn in_f64(
        &mut self,
        a: &Val,
        b: &Val,
        mut f: impl FnMut(&mut Self, Value, Value) -> Value,
    ) -> Val {
        let scalar = a.ty.scalar;
        self.lanewise(scalar, &[a, b], |this, lanes| {
            let x = this.cast_scalar(lanes[0], scalar, ScalarType::F64);
            let y = this.cast_scalar(lanes[1], scalar, ScalarType::F64);
            let value = f(this, x, y);
            this.cast_scalar(value, ScalarType::F64, scalar)
        })
    }

    fn compare(&mut self, op: BinOp, a: &Val, b: &Val) -> Val {
        let scalar = a.ty.scalar;
        if a.is_vector() && scalar == ScalarType::U64 {
            return self.lanewise(ScalarType::Bool, &[a, b], |this, lanes| {
                this.b.ins().icmp(int_cc(op, scalar), lanes[0], lanes[1])
            });
        }
        // Masks are -1 and 0: unsigned comparison gives their order.
        let parts = self.each(a, b, |this, x, y| {
            if scalar.is_float() {
                this.b.ins().fcmp(float_cc(op), x, y)
            } else {
                this.b.ins().icmp(int_cc(op, scalar), x, y)
            }
        });
        Val {
            ty: Ty {
                scalar: ScalarType::Bool,
                lanes: a.ty.lanes,
            },
            lane: if a.is_vector() {
                mask_lane(a.lane)
            } else {
                types::I8
            },
            parts: parts.parts,
        }
    }

    fn int_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Val {
        let scalar = a.ty.scalar;
        let has_vector_form = match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::And
            | BinOp::Or
            | BinOp::BitAnd
            | BinOp::BitOr
            | BinOp::BitXor => true,
            BinOp::Mul => a.lane != types::I8,
            BinOp::Min | BinOp::Max => a.lane != types::I64,
            _ => false,
        };
        if a.is_vector() && !has_vector_form {
            return self.lanewise(scalar, &[a, b], |this, lanes| {
                this.scalar_int(op, scalar, lanes[0], lanes[1])
            });
        }
        self.each(a, b, |this, x, y| this.scalar_int(op, scalar, x, y))
    }

    /// An operation on scalars, or on registers for those operators that have a vector form.
    fn scalar_int(&mut self, op: BinOp, scalar: ScalarType, x: Value, y: Value) -> Value {
        let unsigned = !scalar.is_signed_int();
        let ins = self.b.ins();
        match op {
            BinOp::Add => ins.iadd(x, y),
            BinOp::Sub => ins.isub(x, y),
            BinOp::Mul => ins.imul(x, y),
            BinOp::Min if unsigned => ins.umin(x, y),
            BinOp::Max if unsigned => ins.umax(x, y),
            BinOp::Min => ins.smin(x, y),
            BinOp::Max => ins.smax(x, y),
            BinOp::And | BinOp::BitAnd => ins.band(x, y),
            BinOp::Or | BinOp::BitOr => ins.bor(x, y),
            BinOp::BitXor => ins.bxor(x, y),
            BinOp::Shl => ins.ishl(x, y),
            BinOp::Shr if unsigned => ins.ushr(x, y),
            BinOp::Shr => ins.sshr(x, y),
            BinOp::Div => self.divide(scalar, x, y).0,
            BinOp::Mod => self.divide(scalar, x, y).1,
            BinOp::FloorDiv => self.floor_divide(scalar, x, y).0,
            BinOp::FloorMod => self.floor_divide(scalar, x, y).1,
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                ins.icmp(int_cc(op, scalar), x, y)
            }
        }
    }

    /// Quotient and remainder towards zero; never traps.
    fn divide(&mut self, scalar: ScalarType, x: Value, y: Value) -> (Value, Value) {
        let lane = lane_type(scalar);
        if !scalar.is_signed_int() {
            let divisor = self.safe_divisor(lane, y, &[0]);
            return (self.b.ins().udiv(x, divisor), self.b.ins().urem(x, divisor));
        }
        // The least integer divided by -1 would trap: dividing by 1 and changing the sign wraps, as it should.
        let divisor = self.safe_divisor(lane, y, &[0, -1]);
        let quotient = self.b.ins().sdiv(x, divisor);
        let remainder = self.b.ins().srem(x, divisor);
        if self.constant(y).is_some_and(|c| c != -1) {
            return (quotient, remainder);
        }
        let minus_one = self.int_const(lane, -1);
        let negate = self.b.ins().icmp(IntCC::Equal, y, minus_one);
        let negated = self.b.ins().ineg(quotient);
        (self.b.ins().select(negate, negated, quotient), remainder)
    }

    fn floor_divide(&mut self, scalar: ScalarType, x: Value, y: Value) -> (Value, Value) {
        let (quotient, remainder) = self.divide(scalar, x, y);
        if !scalar.is_signed_int() {
            return (quotient, remainder);
        }
        let lane = lane_type(scalar);
        let zero = self.int_const(lane, 0);
        let signs = self.b.ins().bxor(remainder, y);
        let differ = self.b.ins().icmp(IntCC::SignedLessThan, signs, zero);
        let inexact = self.b.ins().icmp(IntCC::NotEqual, remainder, zero);
        let adjust = self.b.ins().band(differ, inexact);
        let less = self.b.ins().iadd_imm_s(quotient, -1);
        let moved = self.b.ins().iadd(remainder, y);
        (
            self.b.ins().select(adjust, less, quotient),
            self.b.ins().select(adjust, moved, remainder),
        )
    }

    /// The divisor, or 1 where it is one of `bad`.
    fn safe_divisor(&mut self, lane: Type, y: Value, bad: &[i64]) -> Value {
        if self.constant(y).is_some_and(|c| !bad.contains(&c)) {
            return y;
        }
        let one = self.int_const(lane, 1);
        bad.iter().fold(y, |divisor, &bad| {
            let bad = self.int_const(lane, bad);
            let hit = self.b.ins().icmp(IntCC::Equal, y, bad);
            self.b.ins().select(hit, one, divisor)
        })
    }

    /// The value of an integer constant, sign-extended.
    fn constant(&self, value: Value) -> Option<i64> {
        use cranelift_codegen::ir::{InstructionData, ValueDef};
        let dfg = &self.b.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(value) else {
            return None;
        };
        match &dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: _, imm } => {
                let unused = 64 - dfg.value_type(value).bits();
                Some((imm.bits() << unused) >> unused)
            }
            _ => None,
        }
    }
}

fn float_cc(op: BinOp) -> FloatCC {
    match op {
        BinOp::Eq => FloatCC::Equal,
        BinOp::Lt => FloatCC::LessThan,
        BinOp::Le => FloatCC::LessThanOrEqual,
        BinOp::Gt => FloatCC::GreaterThan,
        BinOp::Ge => FloatCC::GreaterThanOrEqual,
        _ => FloatCC::NotEqual,
    }
}

fn int_cc(op: BinOp, scalar: ScalarType) -> IntCC {
    let signed = scalar.is_signed_int();
    match op {
        BinOp::Eq => IntCC::Equal,
        BinOp::Lt if signed => IntCC::SignedLessThan,
        BinOp::Le if signed => IntCC::SignedLessThanOrEqual,
        BinOp::Gt if signed => IntCC::SignedGreaterThan,
        BinOp::Ge if signed => IntCC::SignedGreaterThanOrEqual,
        BinOp::Lt => IntCC::UnsignedLessThan,
        BinOp::Le => IntCC::UnsignedLessThanOrEqual,
        BinOp::Gt => IntCC::UnsignedGreaterThan,
        BinOp::Ge => IntCC::UnsignedGreaterThanOrEqual,
        _ => IntCC::NotEqual,
    }
}
