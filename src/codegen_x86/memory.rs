//! Arrays in memory: addresses, loads and stores.
//!
//! An address is a base, a multiple of a loop variable where the instruction can scale it, and a constant. The sum of an index is
//! ordered from the outermost variable inwards, so that all but its last part is placed before the loops that do not change it.

use iced_x86::Code;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Base, Condition, GENERAL, Lane, Mem, VECTOR, Width};
use super::value::{Part, Val, is_half, lane_of, shape};
use super::{Isa, Refusal, refuse};
use crate::codegen_common::KernelArgs;
use crate::codegen_common::streams::{LINE, is_streamed};
use crate::kernel::poly::{Atom, Factor, Term};
use crate::kernel::{ArrayId, Expr, MOST_STACK, Space, Ty};
use crate::tensor::ScalarType;
use regalloc2::VReg;

/// Most lanes of a vector.
const MOST_LANES: u16 = 256;

/// Alignment of each local array: that of the widest register.
const LOCAL_ALIGN: u32 = 64;

/// Where an array is in memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Global(VReg),
    /// Offset in the frame.
    Local(i32),
}

impl Emitter<'_> {
    /// Loads the base of each global array and makes room for the local ones.
    pub(super) fn place_arrays(&mut self, args: VReg) -> Result<(), Refusal> {
        self.declare_locals();
        let buffers = self.word(args, std::mem::offset_of!(KernelArgs, buffers));
        let mut binding = 0;
        for (id, array) in self.kernel.arrays.iter() {
            let place = match array.space {
                Space::Global {
                    buffer: _,
                    access: _,
                } => {
                    let base = self.word(buffers, 8 * binding);
                    binding += 1;
                    Place::Global(base)
                }
                Space::Shared => return refuse("workgroup memory"),
                Space::Local if self.in_registers(id) => continue,
                Space::Local => {
                    let bytes = array
                        .len
                        .as_const()
                        .and_then(|len| len.checked_mul(array.dtype.bytes() as i64));
                    let offset = self.b.func.frame;
                    match bytes {
                        Some(bytes @ 0..) if bytes <= MOST_STACK - i64::from(offset) => {
                            let end = offset + bytes as u32;
                            self.b.func.frame = end.next_multiple_of(LOCAL_ALIGN);
                        }
                        _ => return refuse("local arrays that do not fit the stack"),
                    }
                    Place::Local(offset as i32)
                }
            };
            *self.places.entry(id) = Some(place);
        }
        Ok(())
    }

    pub(super) fn array(&self, id: ArrayId) -> Result<(ScalarType, Place), Refusal> {
        match (self.kernel.arrays.get(id), self.places[id]) {
            (Some(array), Some(place)) => Ok((array.dtype, place)),
            _ => refuse("an array that is not declared"),
        }
    }

    pub(super) fn load(&mut self, id: ArrayId, index: &Expr, lanes: u16) -> Result<Val, Refusal> {
        self.check_lanes(lanes)?;
        if let Some(value) = self.load_local(id, index, lanes)? {
            return Ok(value);
        }
        let (scalar, place) = self.array(id)?;
        let from = self.address(place, scalar, index)?;
        if lanes == 1 {
            return self.load_scalar(id, scalar, from);
        }
        if is_half(scalar) && !lanes.is_multiple_of(4) {
            return self.load_lanes(id, scalar, from, lanes);
        }
        let lane = lane_of(scalar);
        let loaded = self.b.loaded();
        let mut parts = vec![];
        let mut at = from;
        let mut left = usize::from(lanes);
        for width in shape(self.isa, lanes, lane) {
            let part = if is_half(scalar) {
                self.load_half(id, scalar, width, at)?
            } else if left * lane.bytes() >= width.bytes() {
                self.load_form(id, Op::Load, Lane::F32, width, at)?
            } else {
                let rest = self.load_rest(id, scalar, at, left as u16)?;
                parts.push(rest);
                break;
            };
            parts.push(part);
            let count = width.bytes() / lane.bytes();
            left = left.saturating_sub(count);
            at.disp += (count * scalar.bytes()) as i32;
        }
        // A vector that was there already was fetched with its load.
        if self.b.loaded() > loaded {
            self.fetch_ahead(id, index, from, usize::from(lanes) * scalar.bytes());
        }
        let value = Val {
            ty: Ty { scalar, lanes },
            lane,
            parts,
        };
        if scalar != ScalarType::Bool {
            return Ok(value);
        }
        self.not_zero(&value)
    }

    pub(super) fn load_form(
        &mut self,
        id: ArrayId,
        op: Op,
        lane: Lane,
        width: Width,
        from: Mem,
    ) -> Result<Part, Refusal> {
        match form(self.isa, op, lane, width) {
            Some(code) => Ok(Part::Reg(self.b.load(
                id,
                code,
                VECTOR,
                vec![Arg::Mem(from)],
            ))),
            None => refuse("a load that the machine lacks"),
        }
    }

    fn load_half(
        &mut self,
        id: ArrayId,
        scalar: ScalarType,
        width: Width,
        from: Mem,
    ) -> Result<Part, Refusal> {
        if scalar == ScalarType::F16 {
            return self.load_form(id, Op::FromHalf, Lane::F32, width, from);
        }
        let bits = self.load_form(id, Op::ZeroExtend16, Lane::I32, width, from)?;
        self.vec_imm(Op::ShlImm, Lane::I32, width, bits, 16)
    }

    /// The last part of a vector, which fills less than a register of 128 bits.
    fn load_rest(
        &mut self,
        id: ArrayId,
        scalar: ScalarType,
        from: Mem,
        lanes: u16,
    ) -> Result<Part, Refusal> {
        let code = match usize::from(lanes) * scalar.bytes() {
            4 => self
                .isa
                .pick(Code::VEX_Vmovd_xmm_rm32, Code::EVEX_Vmovd_xmm_rm32),
            8 => self
                .isa
                .pick(Code::VEX_Vmovq_xmm_xmmm64, Code::EVEX_Vmovq_xmm_xmmm64),
            _ if lanes == 1 => return refuse("vectors of an odd number of lanes"),
            _ => return Ok(self.load_lanes(id, scalar, from, lanes)?.parts[0]),
        };
        Ok(Part::Reg(self.b.load(
            id,
            code,
            VECTOR,
            vec![Arg::Mem(from)],
        )))
    }

    /// A vector, element by element. Of `bool`, bytes as they are.
    fn load_lanes(
        &mut self,
        id: ArrayId,
        scalar: ScalarType,
        mut from: Mem,
        lanes: u16,
    ) -> Result<Val, Refusal> {
        let scalar = match scalar {
            ScalarType::Bool => ScalarType::U8,
            other => other,
        };
        let mut values = vec![];
        for _ in 0..lanes {
            values.push(self.load_scalar(id, scalar, from)?);
            from.disp += scalar.bytes() as i32;
        }
        self.pack(scalar, &values)
    }

    fn load_scalar(&mut self, id: ArrayId, scalar: ScalarType, from: Mem) -> Result<Val, Refusal> {
        let isa = self.isa;
        let (code, class) = match scalar {
            ScalarType::F32 => (
                isa.pick(Code::VEX_Vmovss_xmm_m32, Code::EVEX_Vmovss_xmm_k1z_m32),
                VECTOR,
            ),
            ScalarType::F64 => (
                isa.pick(Code::VEX_Vmovsd_xmm_m64, Code::EVEX_Vmovsd_xmm_k1z_m64),
                VECTOR,
            ),
            ScalarType::F16 | ScalarType::BF16 => (Code::Movzx_r32_rm16, GENERAL),
            ScalarType::Small(_) => return refuse("types of less than eight bits"),
            int => (extension(int).unwrap_or(Code::Mov_r64_rm64), GENERAL),
        };
        let reg = Part::Reg(self.b.load(id, code, class, vec![Arg::Mem(from)]));
        let value = match scalar {
            ScalarType::F16 | ScalarType::BF16 => self.half_of_bits(scalar, reg)?,
            ScalarType::Bool => self.set_if(Condition::NotEqual, reg, Part::Int(0)),
            _ => reg,
        };
        Ok(Val::scalar(scalar, value))
    }

    /// An element in every lane, read at once where there is such an instruction.
    pub(super) fn load_splat(
        &mut self,
        id: ArrayId,
        index: &Expr,
        lanes: u16,
    ) -> Result<Option<Val>, Refusal> {
        self.check_lanes(lanes)?;
        if self.in_registers(id) {
            return Ok(None);
        }
        let (scalar, place) = self.array(id)?;
        let lane = lane_of(scalar);
        if is_half(scalar) || scalar == ScalarType::Bool {
            return Ok(None);
        }
        let from = self.address(place, scalar, index)?;
        let (op, of) = match lane {
            Lane::F32 => (Op::BroadcastLoad, Lane::F32),
            other => (Op::Broadcast, other.as_int()),
        };
        // Shorter registers are parts of the longest, which is read once.
        let widths = shape(self.isa, lanes, lane);
        let Some(code) = form(self.isa, op, of, widths[0]) else {
            return refuse("a load that the machine lacks");
        };
        let part = Part::Reg(self.b.load_splat(id, code, vec![Arg::Mem(from)]));
        Ok(Some(Val {
            ty: Ty { scalar, lanes },
            lane,
            parts: vec![part; widths.len()],
        }))
    }

    pub(super) fn store(&mut self, id: ArrayId, index: &Expr, value: &Val) -> Result<(), Refusal> {
        if self.store_local(id, index, value)? {
            return Ok(());
        }
        let (scalar, place) = self.array(id)?;
        if value.ty.scalar != scalar {
            return refuse("a store of another type");
        }
        let to = self.address(place, scalar, index)?;
        if !value.is_vector() {
            return self.store_scalar(id, value, to);
        }
        let op = match self.is_line(id, index, value) {
            true => Op::Stream,
            false => Op::Store,
        };
        let value = match scalar {
            ScalarType::Bool => {
                let bytes = self.mask_as(value, Lane::I8)?;
                self.each(&bytes, |this, width, part| {
                    this.vec2(Op::And, Lane::F32, width, part, ones_of_bytes())
                })?
            }
            ScalarType::F16 if value.ty.lanes.is_multiple_of(4) => {
                return self.store_f16(id, value, to);
            }
            ScalarType::F16 => return self.store_lanes(id, value, to),
            ScalarType::BF16 => self.bf16_lanes(value)?,
            _ => value.clone(),
        };
        self.store_parts(id, &value, to, op)
    }

    /// Whether a store fills whole lines of an array that is written past the caches.
    fn is_line(&self, id: ArrayId, index: &Expr, value: &Val) -> bool {
        let array = &self.kernel.arrays[id];
        let bytes = array.dtype.bytes() as i64;
        let whole = |elements: i64| elements.wrapping_mul(bytes) % LINE as i64 == 0;
        let index = self.scope.poly(self.kernel, index);
        let mut terms = index.terms.iter();
        is_streamed(array)
            && whole(value.ty.lanes.into())
            && whole(index.constant)
            && terms.all(|term| whole(term.coefficient))
    }

    fn store_f16(&mut self, id: ArrayId, value: &Val, mut to: Mem) -> Result<(), Refusal> {
        let widths = self.widths(value);
        for (&part, width) in value.parts.iter().zip(widths) {
            let Some(code) = form(self.isa, Op::ToHalf, Lane::F32, width) else {
                return refuse("a store that the machine lacks");
            };
            let reg = Arg::Reg(self.vector(part, Lane::F32, width));
            self.b.store(id, code, vec![Arg::Mem(to), reg, Arg::Imm(0)]);
            to.disp += width.bytes() as i32 / 2;
        }
        Ok(())
    }

    fn store_lanes(&mut self, id: ArrayId, value: &Val, mut to: Mem) -> Result<(), Refusal> {
        for i in 0..usize::from(value.ty.lanes) {
            let lane = self.lane(value, i)?;
            self.store_scalar(id, &lane, to)?;
            to.disp += value.ty.scalar.bytes() as i32;
        }
        Ok(())
    }

    /// Stores a vector whose lanes are in memory as they are in registers.
    fn store_parts(
        &mut self,
        id: ArrayId,
        value: &Val,
        mut to: Mem,
        op: Op,
    ) -> Result<(), Refusal> {
        let isa = self.isa;
        let mut left = usize::from(value.ty.lanes) * value.lane.bytes();
        let widths = self.widths(value);
        self.b.func.streams |= op == Op::Stream;
        for (&part, width) in value.parts.iter().zip(widths) {
            let code = match left {
                4 => isa.pick(Code::VEX_Vmovd_rm32_xmm, Code::EVEX_Vmovd_rm32_xmm),
                8 => isa.pick(Code::VEX_Vmovq_xmmm64_xmm, Code::EVEX_Vmovq_xmmm64_xmm),
                short if short == value.lane.bytes() => {
                    return refuse("vectors of an odd number of lanes");
                }
                short if short < width.bytes() => {
                    let rest = Val {
                        ty: Ty {
                            scalar: bits_type(value),
                            lanes: (short / value.lane.bytes()) as u16,
                        },
                        lane: value.lane,
                        parts: vec![part],
                    };
                    return self.store_lanes(id, &rest, to);
                }
                _ => match form(isa, op, Lane::F32, width) {
                    Some(code) => code,
                    None => return refuse("a store that the machine lacks"),
                },
            };
            let reg = Arg::Reg(self.vector(part, value.lane, width));
            self.b.store(id, code, vec![Arg::Mem(to), reg]);
            left = left.saturating_sub(width.bytes());
            to.disp += width.bytes() as i32;
        }
        Ok(())
    }

    fn store_scalar(&mut self, id: ArrayId, value: &Val, to: Mem) -> Result<(), Refusal> {
        let isa = self.isa;
        let scalar = value.ty.scalar;
        let part = value.parts[0];
        let (code, part) = match scalar {
            ScalarType::F32 => (
                isa.pick(Code::VEX_Vmovss_m32_xmm, Code::EVEX_Vmovss_m32_k1_xmm),
                part,
            ),
            ScalarType::F64 => (
                isa.pick(Code::VEX_Vmovsd_m64_xmm, Code::EVEX_Vmovsd_m64_k1_xmm),
                part,
            ),
            ScalarType::F16 | ScalarType::BF16 => {
                (Code::Mov_rm16_r16, self.bits_of_half(scalar, part)?)
            }
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => (Code::Mov_rm8_r8, part),
            ScalarType::I16 | ScalarType::U16 => (Code::Mov_rm16_r16, part),
            ScalarType::I32 | ScalarType::U32 => (Code::Mov_rm32_r32, part),
            ScalarType::I64 | ScalarType::U64 => (Code::Mov_rm64_r64, part),
            ScalarType::Small(_) => return refuse("types of less than eight bits"),
        };
        let reg = if matches!(scalar, ScalarType::F32 | ScalarType::F64) {
            self.vector(part, value.lane, Width::X)
        } else {
            self.general(part)
        };
        self.b.store(id, code, vec![Arg::Mem(to), Arg::Reg(reg)]);
        Ok(())
    }

    /// A vector has at least one lane, and few enough to be held in registers.
    pub(super) fn check_lanes(&self, lanes: u16) -> Result<(), Refusal> {
        if (1..=MOST_LANES).contains(&lanes) {
            Ok(())
        } else {
            refuse("vectors of so many lanes")
        }
    }

    /// Address of an element.
    pub(super) fn address(
        &mut self,
        place: Place,
        scalar: ScalarType,
        index: &Expr,
    ) -> Result<Mem, Refusal> {
        let bytes = scalar.bytes() as i64;
        let mut poly = self.scope.poly(self.kernel, index);
        let offset = poly.constant.wrapping_mul(bytes);
        poly.terms.sort_by_key(Term::depth);
        let mut mem = match place {
            Place::Global(base) => Mem {
                base: Base::Reg(base),
                index: None,
                disp: 0,
            },
            Place::Local(disp) => Mem {
                base: Base::Frame,
                index: None,
                disp,
            },
        };
        // Room for the registers and lanes that follow.
        let small = i32::try_from(offset).ok();
        match small.filter(|small| small.unsigned_abs() < 1 << 30) {
            Some(small) => mem.disp += small,
            None => {
                let offset = self.general(Part::Int(offset));
                self.shift_base(&mut mem, offset);
            }
        }
        let deepest = poly.terms.last().map(Term::depth);
        let scaled = poly.terms.iter().position(|term| {
            Some(term.depth()) == deepest && term.factors.len() == 1 && scale(term, bytes).is_some()
        });
        let index = match scaled {
            Some(at) => {
                let term = poly.terms.remove(at);
                let factor = self.factor(&term.factors[0].atom)?;
                let scale = scale(&term, bytes).unwrap_or(1);
                Some((self.general(factor), scale))
            }
            None => None,
        };
        let groups: Vec<&[Term]> = poly.terms.chunk_by(|a, b| a.depth() == b.depth()).collect();
        let last = groups.len();
        for (i, group) in groups.into_iter().enumerate() {
            let mut sum = Part::Int(0);
            for term in group {
                let term = self.term(term, bytes)?;
                sum = self.add(sum, term);
            }
            let sum = self.general(sum);
            if i + 1 == last && index.is_none() {
                mem.index = Some((sum, 1));
            } else {
                self.shift_base(&mut mem, sum);
            }
        }
        if index.is_some() {
            mem.index = index;
        }
        Ok(mem)
    }

    /// Adds a register to the base.
    fn shift_base(&mut self, mem: &mut Mem, by: VReg) {
        let base = Mem {
            base: mem.base,
            index: Some((by, 1)),
            disp: 0,
        };
        mem.base = Base::Reg(self.lea(base));
    }

    fn factor(&mut self, atom: &Atom) -> Result<Part, Refusal> {
        match atom {
            Atom::Var(var) => {
                let value = self.var(*var)?;
                if value.is_general() && !value.is_bool() {
                    Ok(value.parts[0])
                } else {
                    refuse("an index that is no integer")
                }
            }
            Atom::Other(e) => self.integer(e),
        }
    }

    /// `coefficient * bytes * factors`, the constant first so that it is placed with the outer factors.
    fn term(&mut self, term: &Term, bytes: i64) -> Result<Part, Refusal> {
        let mut factors = Vec::new();
        for Factor { atom, depth: _ } in &term.factors {
            let depth = match atom {
                Atom::Var(var) => self.scope.depths[*var],
                Atom::Other(_) => term.depth(),
            };
            factors.push((depth, self.factor(atom)?));
        }
        factors.sort_by_key(|(depth, _)| *depth);
        let mut product = Part::Int(term.coefficient.wrapping_mul(bytes));
        for (_, factor) in factors {
            product = self.mul(factor, product);
        }
        Ok(product)
    }
}

/// What an address may multiply the only factor of the term by.
fn scale(term: &Term, bytes: i64) -> Option<u32> {
    let scale = u32::try_from(term.coefficient.checked_mul(bytes)?).ok()?;
    matches!(scale, 1 | 2 | 4 | 8).then_some(scale)
}

/// The instruction that reads an integer and extends it to 64 bits; `None` if it has as many.
pub(super) fn extension(scalar: ScalarType) -> Option<Code> {
    match scalar {
        ScalarType::I8 => Some(Code::Movsx_r64_rm8),
        ScalarType::U8 | ScalarType::Bool => Some(Code::Movzx_r32_rm8),
        ScalarType::I16 => Some(Code::Movsx_r64_rm16),
        ScalarType::U16 => Some(Code::Movzx_r32_rm16),
        ScalarType::I32 => Some(Code::Movsxd_r64_rm32),
        ScalarType::U32 => Some(Code::Mov_r32_rm32),
        _ => None,
    }
}

/// 1 in every byte.
fn ones_of_bytes() -> Part {
    Part::Same(0x0101_0101_0101_0101)
}

/// A type whose lanes are stored as those of the registers.
fn bits_type(value: &Val) -> ScalarType {
    match value.lane {
        Lane::I8 => ScalarType::U8,
        Lane::I16 => ScalarType::U16,
        Lane::I32 => ScalarType::I32,
        Lane::I64 => ScalarType::I64,
        Lane::F32 => ScalarType::F32,
        Lane::F64 => ScalarType::F64,
    }
}

impl Isa {
    /// The form of an instruction that has one width.
    pub(super) fn pick(self, vex: Code, evex: Code) -> Code {
        match self {
            Self::Avx2 => vex,
            Self::Avx512 | Self::Avx512Vnni => evex,
        }
    }
}
