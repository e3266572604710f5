//! Integers and `bool`: operators with the meaning that `tensor::scalar` gives them.
//!
//! A scalar is computed in 64 bits and then extended again from its type, so that it wraps as the type does.

use iced_x86::Code;
use regalloc2::VReg;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Base, Condition, GENERAL, Kind, Lane, MASK, Mem, VECTOR, Width};
use super::memory::extension;
use super::value::{Part, Val};
use super::{Isa, Refusal, refuse};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// How a comparison of integers of this type is made.
pub(super) fn condition(op: BinOp, scalar: ScalarType) -> Condition {
    let signed = scalar.is_signed_int();
    match op {
        BinOp::Eq => Condition::Equal,
        BinOp::Lt if signed => Condition::Less,
        BinOp::Le if signed => Condition::LessEqual,
        BinOp::Gt if signed => Condition::Greater,
        BinOp::Ge if signed => Condition::GreaterEqual,
        BinOp::Lt => Condition::Below,
        BinOp::Le => Condition::BelowEqual,
        BinOp::Gt => Condition::Above,
        BinOp::Ge => Condition::AboveEqual,
        _ => Condition::NotEqual,
    }
}

/// 64-bit operations on scalars.
impl Emitter<'_> {
    fn in_place(&mut self, code: Code, args: Vec<Arg>) -> Part {
        Part::Reg(self.b.pure(Kind::InPlace(code), GENERAL, args))
    }

    pub(super) fn add(&mut self, a: Part, b: Part) -> Part {
        match (a, b) {
            (Part::Int(a), Part::Int(b)) => Part::Int(a.wrapping_add(b)),
            (Part::Int(0), other) | (other, Part::Int(0)) => other,
            (Part::Reg(reg), Part::Int(by)) | (Part::Int(by), Part::Reg(reg))
                if i32::try_from(by).is_ok() =>
            {
                let mem = Mem {
                    base: Base::Reg(reg),
                    index: None,
                    disp: by as i32,
                };
                Part::Reg(self.lea(mem))
            }
            (a, b) => {
                let (a, b) = (self.general(a), self.general(b));
                let mem = Mem {
                    base: Base::Reg(a),
                    index: Some((b, 1)),
                    disp: 0,
                };
                Part::Reg(self.lea(mem))
            }
        }
    }

    pub(super) fn sub(&mut self, a: Part, b: Part) -> Part {
        match (a, b) {
            (Part::Int(a), Part::Int(b)) => Part::Int(a.wrapping_sub(b)),
            (a, Part::Int(by)) if by != i64::MIN => self.add(a, Part::Int(-by)),
            (a, b) => {
                let args = vec![Arg::Reg(self.general(a)), Arg::Reg(self.general(b))];
                self.in_place(Code::Sub_r64_rm64, args)
            }
        }
    }

    pub(super) fn mul(&mut self, a: Part, b: Part) -> Part {
        match (a, b) {
            (Part::Int(a), Part::Int(b)) => Part::Int(a.wrapping_mul(b)),
            (other, Part::Int(1)) | (Part::Int(1), other) => other,
            (Part::Reg(reg), Part::Int(by)) | (Part::Int(by), Part::Reg(reg)) => {
                self.times(reg, by)
            }
            (a, b) => {
                let args = vec![Arg::Reg(self.general(a)), Arg::Reg(self.general(b))];
                self.in_place(Code::Imul_r64_rm64, args)
            }
        }
    }

    fn times(&mut self, reg: VReg, by: i64) -> Part {
        if by > 0 && by.count_ones() == 1 {
            let places = i64::from(by.trailing_zeros());
            return self.shift(Code::Shl_rm64_imm8, Part::Reg(reg), places);
        }
        match self.immediate(Part::Int(by)) {
            Arg::Imm(by) => {
                let args = vec![Arg::Reg(reg), Arg::Imm(by)];
                let code = Kind::Code(Code::Imul_r64_rm64_imm32);
                Part::Reg(self.b.pure(code, GENERAL, args))
            }
            other => self.in_place(Code::Imul_r64_rm64, vec![Arg::Reg(reg), other]),
        }
    }

    pub(super) fn shift(&mut self, code: Code, part: Part, places: i64) -> Part {
        let args = vec![Arg::Reg(self.general(part)), Arg::Imm(places)];
        self.in_place(code, args)
    }

    pub(super) fn and(&mut self, a: Part, b: Part) -> Part {
        self.bitwise(Code::And_r64_rm64, Code::And_rm64_imm32, a, b)
    }

    pub(super) fn bitwise(&mut self, code: Code, with_imm: Code, a: Part, b: Part) -> Part {
        let (a, b) = match a {
            Part::Int(_) => (b, a),
            _ => (a, b),
        };
        let a = Arg::Reg(self.general(a));
        match self.immediate(b) {
            Arg::Imm(imm) => self.in_place(with_imm, vec![a, Arg::Imm(imm)]),
            other => self.in_place(code, vec![a, other]),
        }
    }

    /// 1 if the comparison holds, else 0.
    pub(super) fn set_if(&mut self, cond: Condition, a: Part, b: Part) -> Part {
        if let (Part::Int(a), Part::Int(b)) = (a, b) {
            return Part::Int(cond.holds(a, b).into());
        }
        let (a, b) = (self.general(a), self.immediate(b));
        let args = vec![Arg::Reg(a), b];
        let truth = self.b.pure(Kind::SetIf(cond), GENERAL, args);
        self.compared.insert(truth, (cond, a, b));
        Part::Reg(truth)
    }

    /// The comparison that a truth value came from, else whether it is 1.
    pub(super) fn comparison(&mut self, truth: Part) -> (Condition, VReg, Arg) {
        let truth = self.general(truth);
        let is_one = (Condition::NotEqual, truth, Arg::Imm(0));
        self.compared.get(&truth).copied().unwrap_or(is_one)
    }

    /// `cond ? a : b`
    pub(super) fn choose(&mut self, cond: Part, a: Part, b: Part) -> Part {
        match cond {
            Part::Int(0) => return b,
            Part::Int(_) => return a,
            Part::Reg(_) | Part::Same(_) => {}
        }
        let (cond, x, y) = self.comparison(cond);
        let [a, b] = [a, b].map(|part| Arg::Reg(self.general(part)));
        let args = vec![b, Arg::Reg(x), y, a];
        Part::Reg(self.b.pure(Kind::SelectIf(cond), GENERAL, args))
    }

    /// The value that the lowest bits have in the type.
    pub(super) fn extended(&mut self, scalar: ScalarType, part: Part) -> Part {
        if let Part::Int(value) = part {
            return Part::Int(crate::tensor::scalar::wrap_int(value, scalar));
        }
        match extension(scalar) {
            Some(code) => {
                let args = vec![Arg::Reg(self.general(part))];
                Part::Reg(self.b.pure(Kind::Code(code), GENERAL, args))
            }
            None => part,
        }
    }
}

impl Emitter<'_> {
    /// An operator on integers or `bool`, no comparison.
    pub(super) fn int_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, Refusal> {
        let scalar = a.ty.scalar;
        let logical = matches!(
            op,
            BinOp::And | BinOp::Or | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor
        );
        if op.is_logical() && !a.is_bool() {
            return refuse("`and` and `or` of numbers");
        }
        if a.is_vector() {
            let form = match op {
                BinOp::And | BinOp::BitAnd => Some((Op::And, Lane::F32)),
                BinOp::Or | BinOp::BitOr => Some((Op::Or, Lane::F32)),
                BinOp::BitXor => Some((Op::Xor, Lane::F32)),
                _ if a.is_bool() => None,
                _ => vector_op(op, scalar).map(|op| (op, a.lane)),
            };
            let width = self.widths(a)[0];
            if let (Some(op), Some(places)) = (shift_op(op, scalar), same_places(b))
                && super::forms::form(self.isa, op, a.lane, width).is_some()
            {
                let bits = 8 * a.lane.bytes() as i64;
                return self.each(a, |this, width, part| {
                    this.vec_imm(op, a.lane, width, part, places & (bits - 1))
                });
            }
            if let Some((op, lane)) = form
                && super::forms::form(self.isa, op, lane, width).is_some()
            {
                return self.each2(a, b, |this, width, x, y| {
                    let x = Arg::Reg(this.vector(x, a.lane, width));
                    let y = this.operand(y, a.lane, width);
                    this.vec(op, lane, width, vec![x, y])
                });
            }
            if op == BinOp::Mul && a.lane == Lane::I64 {
                return self.each2(a, b, Self::multiply_halves);
            }
            return self.lanewise(&[a, b], |this, v| this.int_binary(op, &v[0], &v[1]));
        }
        let (x, y) = (a.parts[0], b.parts[0]);
        let value = if a.is_bool() && !logical {
            let number = self.scalar_int(op, ScalarType::U8, x, y)?;
            self.set_if(Condition::NotEqual, number, Part::Int(0))
        } else {
            self.scalar_int(op, scalar, x, y)?
        };
        Ok(a.with_parts(vec![value]))
    }

    /// Products of lanes of 64 bits, of their halves: machines without AVX-512 multiply 32 bits at most.
    fn multiply_halves(&mut self, width: Width, x: Part, y: Part) -> Result<Part, Refusal> {
        let lane = Lane::I64;
        let upper = |this: &mut Self, part| this.vec_imm(Op::ShrImm, lane, width, part, 32);
        let (x_upper, y_upper) = (upper(self, x)?, upper(self, y)?);
        let first = self.vec2(Op::MulLower, lane, width, x_upper, y)?;
        let second = self.vec2(Op::MulLower, lane, width, x, y_upper)?;
        let crossed = self.vec2(Op::Add, lane, width, first, second)?;
        let crossed = self.vec_imm(Op::ShlImm, lane, width, crossed, 32)?;
        let lower = self.vec2(Op::MulLower, lane, width, x, y)?;
        self.vec2(Op::Add, lane, width, lower, crossed)
    }

    fn scalar_int(
        &mut self,
        op: BinOp,
        scalar: ScalarType,
        x: Part,
        y: Part,
    ) -> Result<Part, Refusal> {
        let wide = match op {
            BinOp::Add => self.add(x, y),
            BinOp::Sub => self.sub(x, y),
            BinOp::Mul => self.mul(x, y),
            BinOp::And | BinOp::BitAnd => return Ok(self.and(x, y)),
            BinOp::Or | BinOp::BitOr => {
                return Ok(self.bitwise(Code::Or_r64_rm64, Code::Or_rm64_imm32, x, y));
            }
            BinOp::BitXor => {
                return Ok(self.bitwise(Code::Xor_r64_rm64, Code::Xor_rm64_imm32, x, y));
            }
            BinOp::Min | BinOp::Max => {
                let compare = if op == BinOp::Min {
                    BinOp::Lt
                } else {
                    BinOp::Gt
                };
                let wins = self.set_if(condition(compare, scalar), x, y);
                return Ok(self.choose(wins, x, y));
            }
            BinOp::Shl | BinOp::Shr => {
                let bits = scalar.bytes() as i64 * 8;
                let (by, code) = match op {
                    BinOp::Shl => (Code::Shl_rm64_imm8, Code::VEX_Shlx_r64_rm64_r64),
                    _ if scalar.is_signed_int() => {
                        (Code::Sar_rm64_imm8, Code::VEX_Sarx_r64_rm64_r64)
                    }
                    _ => (Code::Shr_rm64_imm8, Code::VEX_Shrx_r64_rm64_r64),
                };
                if let Part::Int(places) = y {
                    self.shift(by, x, places & (bits - 1))
                } else {
                    let places = self.and(y, Part::Int(bits - 1));
                    let args = [x, places].map(|part| Arg::Reg(self.general(part)));
                    Part::Reg(self.b.pure(Kind::Code(code), GENERAL, args.to_vec()))
                }
            }
            BinOp::Div | BinOp::Mod => self.divide(op, scalar, x, y),
            BinOp::FloorDiv | BinOp::FloorMod => self.floor_divide(op, scalar, x, y),
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                return Ok(self.set_if(condition(op, scalar), x, y));
            }
        };
        Ok(self.extended(scalar, wide))
    }

    /// A comparison of integers (or masks, which are -1 and 0: unsigned comparison gives their order).
    pub(super) fn int_compare(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val, Refusal> {
        let scalar = a.ty.scalar;
        let ty = Ty {
            scalar: ScalarType::Bool,
            lanes: a.ty.lanes,
        };
        if !a.is_vector() {
            let value = self.set_if(condition(op, scalar), a.parts[0], b.parts[0]);
            return Ok(Val::scalar(ScalarType::Bool, value));
        }
        let value = self.each2(a, b, |this, width, x, y| match this.isa {
            Isa::Avx2 => this.compare_lanes(op, scalar, a.lane, width, x, y),
            Isa::Avx512 | Isa::Avx512Vnni => {
                let of = if scalar.is_signed_int() {
                    Op::Cmp
                } else {
                    Op::CmpU
                };
                this.compare_masked(of, a.lane, width, (x, y), int_predicate(op))
            }
        })?;
        Ok(Val { ty, ..value })
    }

    /// A comparison into a mask register, and that as lanes.
    pub(super) fn compare_masked(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        (x, y): (Part, Part),
        predicate: i64,
    ) -> Result<Part, Refusal> {
        let Some(code) = form(self.isa, op, lane, width) else {
            return refuse("a comparison that the machine lacks");
        };
        let args = vec![
            Arg::Reg(self.vector(x, lane, width)),
            self.operand(y, lane, width),
            Arg::Imm(predicate),
        ];
        let mask = self.b.pure(Kind::Code(code), MASK, args);
        let code = form(self.isa, Op::MaskToLanes, lane.as_int(), width);
        let code = code.expect("every lane has a mask");
        let lanes = self.b.pure(Kind::Code(code), VECTOR, vec![Arg::Reg(mask)]);
        self.masks.insert(lanes, (mask, lane.bytes()));
        Ok(Part::Reg(lanes))
    }

    /// The comparisons that AVX2 has are `==` and signed `>`.
    fn compare_lanes(
        &mut self,
        op: BinOp,
        scalar: ScalarType,
        lane: Lane,
        width: Width,
        x: Part,
        y: Part,
    ) -> Result<Part, Refusal> {
        let (mut x, mut y) = (x, y);
        let equal = matches!(op, BinOp::Eq | BinOp::Ne);
        if !scalar.is_signed_int() && !equal {
            let top = Part::Same(1 << (8 * lane.bytes() - 1));
            x = self.flipped(x, top, lane, width)?;
            y = self.flipped(y, top, lane, width)?;
        }
        let value = match op {
            BinOp::Gt | BinOp::Le => self.vec2(Op::CmpGt, lane, width, x, y)?,
            BinOp::Lt | BinOp::Ge => self.vec2(Op::CmpGt, lane, width, y, x)?,
            _ => self.vec2(Op::CmpEq, lane, width, x, y)?,
        };
        if matches!(op, BinOp::Ne | BinOp::Le | BinOp::Ge) {
            return self.flipped(value, Part::Same(u64::MAX), lane, width);
        }
        Ok(value)
    }

    /// The bits of a part, with these inverted.
    pub(super) fn flipped(
        &mut self,
        part: Part,
        bits: Part,
        lane: Lane,
        width: Width,
    ) -> Result<Part, Refusal> {
        let args = vec![
            Arg::Reg(self.vector(part, lane, width)),
            self.operand(bits, lane, width),
        ];
        self.vec(Op::Xor, Lane::F32, width, args)
    }

    /// Lanes of `a` where the mask has ones, else of `b`.
    pub(super) fn blend(
        &mut self,
        lane: Lane,
        width: Width,
        mask: Part,
        a: Part,
        b: Part,
    ) -> Result<Part, Refusal> {
        /// Bits of the second operand where the first has ones, else of the third.
        const SELECT: i64 = 0xca;
        if let Part::Reg(lanes) = mask
            && let Some(&(mask, bytes)) = self.masks.get(&lanes)
            && bytes == lane.bytes()
        {
            let b = Arg::Reg(self.vector(b, lane, width));
            let a = self.operand(a, lane, width);
            let lane = match lane {
                Lane::I32 => Lane::F32,
                Lane::I64 => Lane::F64,
                other => other,
            };
            return self.vec(Op::BlendMasked, lane, width, vec![b, a, Arg::Reg(mask)]);
        }
        let mask = Arg::Reg(self.vector(mask, lane.as_int(), width));
        match self.isa {
            Isa::Avx2 => {
                let b = Arg::Reg(self.vector(b, lane, width));
                let a = self.operand(a, lane, width);
                self.vec(Op::Blend, Lane::I8, width, vec![b, a, mask])
            }
            Isa::Avx512 | Isa::Avx512Vnni => {
                let a = Arg::Reg(self.vector(a, lane, width));
                let b = self.operand(b, lane, width);
                self.vec(
                    Op::Ternary,
                    Lane::I32,
                    width,
                    vec![mask, a, b, Arg::Imm(SELECT)],
                )
            }
        }
    }
}

/// The vector instruction of an operator on integers.
fn vector_op(op: BinOp, scalar: ScalarType) -> Option<Op> {
    let signed = scalar.is_signed_int();
    match op {
        BinOp::Add => Some(Op::Add),
        BinOp::Sub => Some(Op::Sub),
        BinOp::Mul => Some(Op::Mul),
        BinOp::Min if signed => Some(Op::Min),
        BinOp::Max if signed => Some(Op::Max),
        BinOp::Min => Some(Op::MinU),
        BinOp::Max => Some(Op::MaxU),
        _ => None,
    }
}

/// The vector instruction of a shift by as many places in each lane.
fn shift_op(op: BinOp, scalar: ScalarType) -> Option<Op> {
    match op {
        BinOp::Shl => Some(Op::ShlImm),
        BinOp::Shr if scalar.is_signed_int() => Some(Op::SarImm),
        BinOp::Shr => Some(Op::ShrImm),
        _ => None,
    }
}

/// The number that all lanes have, if it is a constant.
fn same_places(value: &Val) -> Option<i64> {
    let number = |part: &Part| match part {
        Part::Int(places) => Some(*places),
        Part::Same(bits) => Some(*bits as i64),
        Part::Reg(_) => None,
    };
    let mut parts = value.parts.iter().map(number);
    let first = parts.next()??;
    parts.all(|part| part == Some(first)).then_some(first)
}

/// The predicate of a comparison of integers into a mask register.
pub(super) fn int_predicate(op: BinOp) -> i64 {
    match op {
        BinOp::Eq => 0,
        BinOp::Lt => 1,
        BinOp::Le => 2,
        BinOp::Ge => 5,
        BinOp::Gt => 6,
        _ => 4,
    }
}
