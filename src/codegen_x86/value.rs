//! Values of kernel IR in registers.
//!
//! - A scalar integer is in a general register, extended to 64 bits by its own sign. A scalar `bool` is 0 or 1 there.
//! - A scalar float is the lowest lane of a vector register; the other lanes mean nothing.
//! - A vector is split into registers: as many of the full width as it fills, then halves of that. The last may be partly used.
//! - `f16` and `bf16` are computed in `f32` lanes, always rounded to their own precision.
//! - A vector of `bool` has lanes of ones or zeros, as wide as those of the values that were compared, with AVX-512 too.
//!   Blends of such lanes read the mask register that they were made of.

use regalloc2::VReg;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, GENERAL, Kind, Lane, Mem, VECTOR, Width};
use super::{Isa, Refusal, refuse};
use crate::kernel::Ty;
use crate::tensor::ScalarType;

/// A register, or a constant that needs none yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Part {
    Reg(VReg),
    /// A scalar integer.
    Int(i64),
    /// The same bits in every lane of a vector register.
    Same(u64),
}

/// A value: its type in kernel IR and the registers that hold it.
#[derive(Clone, Debug)]
pub(super) struct Val {
    pub(super) ty: Ty,
    /// Type of a lane in the register.
    pub(super) lane: Lane,
    pub(super) parts: Vec<Part>,
}

/// Type in which a lane is computed.
pub(super) fn lane_of(scalar: ScalarType) -> Lane {
    match scalar {
        // Kernels with small types are refused before anything is emitted.
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 | ScalarType::Small(_) => Lane::I8,
        ScalarType::I16 | ScalarType::U16 => Lane::I16,
        ScalarType::I32 | ScalarType::U32 => Lane::I32,
        ScalarType::I64 | ScalarType::U64 => Lane::I64,
        ScalarType::F16 | ScalarType::BF16 | ScalarType::F32 => Lane::F32,
        ScalarType::F64 => Lane::F64,
    }
}

/// Whether elements are numbers that fill lanes of 32 bits.
pub(super) fn is_word(scalar: ScalarType) -> bool {
    use ScalarType::{F32, I32, U32};
    matches!(scalar, F32 | I32 | U32)
}

/// Whether the type is computed in `f32` and rounded.
pub(super) fn is_half(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::F16 | ScalarType::BF16)
}

/// The registers of a vector.
pub(super) fn shape(isa: Isa, lanes: u16, lane: Lane) -> Vec<Width> {
    let mut left = usize::from(lanes) * lane.bytes();
    let mut widths = vec![];
    while left > 0 {
        let fits = |width: &Width| *width <= isa.width() && width.bytes() <= left;
        let width = [Width::Z, Width::Y].into_iter().find(fits);
        let width = width.unwrap_or(Width::X);
        widths.push(width);
        left = left.saturating_sub(width.bytes());
    }
    widths
}

impl Val {
    pub(super) fn scalar(scalar: ScalarType, part: Part) -> Self {
        Self {
            ty: Ty::scalar(scalar),
            lane: lane_of(scalar),
            parts: vec![part],
        }
    }

    pub(super) fn is_vector(&self) -> bool {
        self.ty.lanes > 1
    }

    /// Whether it is in a general register.
    pub(super) fn is_general(&self) -> bool {
        !self.is_vector() && !self.ty.scalar.is_float()
    }

    pub(super) fn is_bool(&self) -> bool {
        self.ty.scalar == ScalarType::Bool
    }

    /// The same type, other registers.
    pub(super) fn with_parts(&self, parts: Vec<Part>) -> Self {
        Self {
            ty: self.ty,
            lane: self.lane,
            parts,
        }
    }

    /// The constant, if it is a scalar integer.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self.parts[..] {
            [Part::Int(value)] => Some(value),
            _ => None,
        }
    }
}

impl Emitter<'_> {
    /// The registers of a value.
    pub(super) fn widths(&self, value: &Val) -> Vec<Width> {
        shape(self.isa, value.ty.lanes, value.lane)
    }

    /// A scalar integer in a register.
    pub(super) fn general(&mut self, part: Part) -> VReg {
        match part {
            Part::Reg(reg) => reg,
            Part::Int(value) => self.constant(value),
            Part::Same(bits) => self.constant(bits as i64),
        }
    }

    fn constant(&mut self, value: i64) -> VReg {
        self.b.pure(Kind::Constant, GENERAL, vec![Arg::Imm(value)])
    }

    /// A scalar integer as an immediate if it fits one.
    pub(super) fn immediate(&mut self, part: Part) -> Arg {
        match part {
            Part::Int(value) if i32::try_from(value).is_ok() => Arg::Imm(value),
            other => Arg::Reg(self.general(other)),
        }
    }

    /// A part of a vector (or scalar float) in a register.
    pub(super) fn vector(&mut self, part: Part, lane: Lane, width: Width) -> VReg {
        match self.operand(part, lane, width) {
            Arg::Reg(reg) => reg,
            pool => {
                let load = form(self.isa, Op::Load, Lane::F32, width);
                let load = load.expect("every width has loads");
                self.b.pure(Kind::Code(load), VECTOR, vec![pool])
            }
        }
    }

    /// A part of a vector where an instruction takes a register or memory.
    pub(super) fn operand(&mut self, part: Part, lane: Lane, width: Width) -> Arg {
        let bits = match part {
            Part::Reg(reg) => return Arg::Reg(reg),
            Part::Int(value) => value as u64,
            Part::Same(bits) => bits,
        };
        let bytes = bits.to_le_bytes();
        let lane = &bytes[..lane.bytes()];
        let repeated = lane.iter().copied().cycle().take(width.bytes()).collect();
        Arg::Pool(self.b.constant(repeated))
    }

    /// An instruction on vector registers.
    pub(super) fn vec(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        args: Vec<Arg>,
    ) -> Result<Part, Refusal> {
        let Some(code) = form(self.isa, op, lane, width) else {
            return refuse("an operation on vectors that the machine lacks");
        };
        let kind = match op {
            Op::Fma231 | Op::Fma213 | Op::Ternary | Op::PermuteBoth | Op::FixUp | Op::DotBytes => {
                Kind::InPlace(code)
            }
            _ => Kind::Code(code),
        };
        Ok(Part::Reg(self.b.pure(kind, VECTOR, args)))
    }

    /// An instruction on two parts.
    pub(super) fn vec2(
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
        self.vec(op, lane, width, args)
    }

    /// An instruction on one part.
    pub(super) fn vec1(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        a: Part,
    ) -> Result<Part, Refusal> {
        let arg = Arg::Reg(self.vector(a, lane, width));
        self.vec(op, lane, width, vec![arg])
    }

    /// An instruction on one part, with an immediate.
    pub(super) fn vec_imm(
        &mut self,
        op: Op,
        lane: Lane,
        width: Width,
        a: Part,
        imm: i64,
    ) -> Result<Part, Refusal> {
        let arg = Arg::Reg(self.vector(a, lane, width));
        self.vec(op, lane, width, vec![arg, Arg::Imm(imm)])
    }

    /// Applies `f` to each register.
    pub(super) fn each(
        &mut self,
        value: &Val,
        mut f: impl FnMut(&mut Self, Width, Part) -> Result<Part, Refusal>,
    ) -> Result<Val, Refusal> {
        let widths = self.widths(value);
        let parts = value.parts.iter().zip(widths);
        let parts = parts.map(|(&part, width)| f(self, width, part));
        let parts = parts.collect::<Result<_, _>>()?;
        Ok(value.with_parts(parts))
    }

    /// The same of pairs of registers.
    pub(super) fn each2(
        &mut self,
        a: &Val,
        b: &Val,
        mut f: impl FnMut(&mut Self, Width, Part, Part) -> Result<Part, Refusal>,
    ) -> Result<Val, Refusal> {
        let mut others = b.parts.iter();
        self.each(a, |this, width, part| match others.next() {
            Some(&other) => f(this, width, part, other),
            None => refuse("operands of different shapes"),
        })
    }

    /// A scalar constant of the type, by its bits in a lane.
    pub(super) fn float(&mut self, lane: Lane, value: f64) -> Part {
        Part::Same(float_bits(lane, value))
    }

    /// Address in a general register.
    pub(super) fn lea(&mut self, mem: Mem) -> VReg {
        let code = iced_x86::Code::Lea_r64_m;
        self.b.pure(Kind::Code(code), GENERAL, vec![Arg::Mem(mem)])
    }
}

/// The bits of a float in a lane.
pub(super) fn float_bits(lane: Lane, value: f64) -> u64 {
    if lane == Lane::F64 {
        value.to_bits()
    } else {
        u64::from((value as f32).to_bits())
    }
}
