//! Lanes of vectors: taken out, put together, made wider and narrower.
//!
//! What has no instruction on whole registers is done on pieces of 128 bits, of which every x86 shuffle can reach all lanes.

use iced_x86::Code;
use regalloc2::VReg;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Condition, GENERAL, Kind, Lane, MASK, VECTOR, Width};
use super::value::{Part, Val, lane_of, shape};
use super::{Isa, Refusal, refuse};
use crate::kernel::Ty;
use crate::tensor::ScalarType;
use crate::tensor::scalar::wrap_int;

/// Lanes 0 and 2 of each register, as immediate of a shuffle of 32-bit lanes.
const EVEN: i64 = 0b1000_1000;

impl Emitter<'_> {
    /// The registers of a vector as pieces of 128 bits.
    pub(super) fn pieces(&mut self, value: &Val) -> Vec<Part> {
        let widths = self.widths(value);
        let mut pieces = vec![];
        for (&part, width) in value.parts.iter().zip(widths) {
            let Part::Reg(reg) = part else {
                pieces.extend(vec![part; width.bytes() / 16]);
                continue;
            };
            // The lowest piece is the register, read as a short one.
            pieces.push(part);
            for i in 1..width.bytes() / 16 {
                let code = match (self.isa, width) {
                    (Isa::Avx2, _) => Code::VEX_Vextractf128_xmmm128_ymm_imm8,
                    (_, Width::Z) => Code::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8,
                    _ => Code::EVEX_Vextractf32x4_xmmm128_k1z_ymm_imm8,
                };
                let args = vec![Arg::Reg(reg), Arg::Imm(i as i64)];
                let piece = self.b.pure(Kind::Code(code), VECTOR, args);
                pieces.push(Part::Reg(piece));
            }
        }
        pieces
    }

    /// Pieces of 128 bits as the registers of a vector.
    pub(super) fn join(&mut self, pieces: &[Part], ty: Ty, lane: Lane) -> Val {
        let mut left = pieces.iter().copied();
        let mut parts = vec![];
        for width in shape(self.isa, ty.lanes, lane) {
            let own: Vec<Part> = left.by_ref().take(width.bytes() / 16).collect();
            if own.iter().all(|part| *part == own[0]) && !matches!(own[0], Part::Reg(_)) {
                parts.push(own[0]);
                continue;
            }
            let mut whole = self.vector(own[0], lane, Width::X);
            for (i, &piece) in own.iter().enumerate().skip(1) {
                let code = match (self.isa, width) {
                    (Isa::Avx2, _) => Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8,
                    (_, Width::Z) => Code::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8,
                    _ => Code::EVEX_Vinsertf32x4_ymm_k1z_ymm_xmmm128_imm8,
                };
                let piece = self.operand(piece, lane, Width::X);
                let args = vec![Arg::Reg(whole), piece, Arg::Imm(i as i64)];
                whole = self.b.pure(Kind::Code(code), VECTOR, args);
            }
            parts.push(Part::Reg(whole));
        }
        Val { ty, lane, parts }
    }

    /// One lane, as a scalar.
    pub(super) fn lane(&mut self, value: &Val, index: usize) -> Result<Val, Refusal> {
        if !value.is_vector() {
            return Ok(value.clone());
        }
        let per_piece = 16 / value.lane.bytes();
        let Some(&piece) = self.pieces(value).get(index / per_piece) else {
            return refuse("a lane that is not there");
        };
        let at = (index % per_piece) as i64;
        let scalar = value.ty.scalar;
        if scalar.is_float() {
            let part = match piece {
                Part::Reg(_) if at != 0 => {
                    let reg = self.vector(piece, value.lane, Width::X);
                    let args = vec![Arg::Reg(reg), Arg::Reg(reg), Arg::Imm(at)];
                    self.vec(Op::Shuffle, value.lane, Width::X, args)?
                }
                other => other,
            };
            return Ok(Val::scalar(scalar, part));
        }
        if let Part::Same(bits) = piece
            && scalar != ScalarType::Bool
        {
            return Ok(Val::scalar(
                scalar,
                Part::Int(wrap_int(bits as i64, scalar)),
            ));
        }
        let isa = self.isa;
        let code = match value.lane {
            Lane::I8 => isa.pick(
                Code::VEX_Vpextrb_r32m8_xmm_imm8,
                Code::EVEX_Vpextrb_r32m8_xmm_imm8,
            ),
            Lane::I16 => isa.pick(
                Code::VEX_Vpextrw_r32_xmm_imm8,
                Code::EVEX_Vpextrw_r32_xmm_imm8,
            ),
            Lane::I32 | Lane::F32 => isa.pick(
                Code::VEX_Vpextrd_rm32_xmm_imm8,
                Code::EVEX_Vpextrd_rm32_xmm_imm8,
            ),
            Lane::I64 | Lane::F64 => isa.pick(
                Code::VEX_Vpextrq_rm64_xmm_imm8,
                Code::EVEX_Vpextrq_rm64_xmm_imm8,
            ),
        };
        let reg = Arg::Reg(self.vector(piece, value.lane, Width::X));
        let reg = self
            .b
            .pure(Kind::Code(code), GENERAL, vec![reg, Arg::Imm(at)]);
        let part = if value.is_bool() {
            self.and(Part::Reg(reg), Part::Int(1))
        } else {
            self.extended(scalar, Part::Reg(reg))
        };
        Ok(Val::scalar(scalar, part))
    }

    /// A vector (or scalar, if there is one) of these scalars.
    pub(super) fn pack(&mut self, scalar: ScalarType, lanes: &[Val]) -> Result<Val, Refusal> {
        if let [value] = lanes {
            return Ok(value.clone());
        }
        let ty = Ty {
            scalar,
            lanes: lanes.len() as u16,
        };
        if lanes.iter().all(|lane| lane.parts == lanes[0].parts) {
            return self.splat(&lanes[0], ty.lanes);
        }
        let lane = lane_of(scalar);
        let mut pieces = vec![];
        for chunk in lanes.chunks(16 / lane.bytes()) {
            let mut piece = None;
            for (i, value) in chunk.iter().enumerate() {
                piece = Some(self.insert(piece, lane, value, i)?);
            }
            pieces.extend(piece);
        }
        Ok(self.join(&pieces, ty, lane))
    }

    /// A piece with one more lane; the first lane makes it.
    fn insert(
        &mut self,
        piece: Option<Part>,
        lane: Lane,
        value: &Val,
        at: usize,
    ) -> Result<Part, Refusal> {
        let isa = self.isa;
        if lane.is_float() {
            let value = value.parts[0];
            let Some(piece) = piece else {
                return Ok(Part::Reg(self.vector(value, lane, Width::X)));
            };
            if lane == Lane::F64 {
                return self.vec2(Op::UnpackLow, lane, Width::X, piece, value);
            }
            let code = isa.pick(
                Code::VEX_Vinsertps_xmm_xmm_xmmm32_imm8,
                Code::EVEX_Vinsertps_xmm_xmm_xmmm32_imm8,
            );
            let args = vec![
                Arg::Reg(self.vector(piece, lane, Width::X)),
                Arg::Reg(self.vector(value, lane, Width::X)),
                Arg::Imm((at << 4) as i64),
            ];
            return Ok(Part::Reg(self.b.pure(Kind::Code(code), VECTOR, args)));
        }
        let mut part = value.parts[0];
        if value.is_bool() {
            part = self.sub(Part::Int(0), part);
        }
        let value = Arg::Reg(self.general(part));
        let Some(piece) = piece else {
            return Ok(self.in_vector(part));
        };
        let code = match lane {
            Lane::I8 => isa.pick(
                Code::VEX_Vpinsrb_xmm_xmm_r32m8_imm8,
                Code::EVEX_Vpinsrb_xmm_xmm_r32m8_imm8,
            ),
            Lane::I16 => isa.pick(
                Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8,
                Code::EVEX_Vpinsrw_xmm_xmm_r32m16_imm8,
            ),
            Lane::I32 | Lane::F32 => isa.pick(
                Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8,
                Code::EVEX_Vpinsrd_xmm_xmm_rm32_imm8,
            ),
            Lane::I64 | Lane::F64 => isa.pick(
                Code::VEX_Vpinsrq_xmm_xmm_rm64_imm8,
                Code::EVEX_Vpinsrq_xmm_xmm_rm64_imm8,
            ),
        };
        let piece = Arg::Reg(self.vector(piece, lane, Width::X));
        let args = vec![piece, value, Arg::Imm(at as i64)];
        Ok(Part::Reg(self.b.pure(Kind::Code(code), VECTOR, args)))
    }

    /// The bits of a general register in the lowest lane of a vector register.
    pub(super) fn in_vector(&mut self, part: Part) -> Part {
        let code = self
            .isa
            .pick(Code::VEX_Vmovq_xmm_rm64, Code::EVEX_Vmovq_xmm_rm64);
        let reg = Arg::Reg(self.general(part));
        Part::Reg(self.b.pure(Kind::Code(code), VECTOR, vec![reg]))
    }

    /// The bits of the lowest lane of a vector register.
    pub(super) fn in_general(&mut self, part: Part, lane: Lane) -> Part {
        let isa = self.isa;
        let code = if lane.bytes() == 8 {
            isa.pick(Code::VEX_Vmovq_rm64_xmm, Code::EVEX_Vmovq_rm64_xmm)
        } else {
            isa.pick(Code::VEX_Vmovd_rm32_xmm, Code::EVEX_Vmovd_rm32_xmm)
        };
        let reg = Arg::Reg(self.vector(part, lane, Width::X));
        Part::Reg(self.b.pure(Kind::Code(code), GENERAL, vec![reg]))
    }

    /// Whether any lane of a vector of `bool` is true.
    pub(super) fn any(&mut self, mask: &Val) -> Result<Val, Refusal> {
        let mask = match mask.lane.bytes() {
            1 | 2 => self.mask_as(mask, Lane::I32)?,
            _ => mask.clone(),
        };
        let words = usize::from(mask.ty.lanes) * mask.lane.bytes() / 4;
        let mut found = Part::Int(0);
        let mut at = 0;
        for (&part, width) in mask.parts.iter().zip(self.widths(&mask)) {
            let mut set = Part::Reg(self.lanes_set(part, width));
            // The last register may be partly used. Only such of 128 bits are, of which each word has a bit.
            if words - at < width.bytes() / 4 {
                set = self.and(set, Part::Int((1 << (words - at)) - 1));
            }
            // Of small numbers, of which none is less than 0.
            found = self.add(found, set);
            at += width.bytes() / 4;
        }
        let any = self.set_if(Condition::NotEqual, found, Part::Int(0));
        Ok(Val::scalar(ScalarType::Bool, any))
    }

    /// A number that is 0 if a comparison of lanes of 32 or 64 bits holds in none.
    pub(super) fn lanes_set(&mut self, compared: Part, width: Width) -> VReg {
        let lanes = self.vector(compared, Lane::F32, width);
        if let Some(&(mask, _)) = self.masks.get(&lanes) {
            return self.mask_bits(mask);
        }
        // What moves signs to a general register knows the first 16 vector registers only.
        let code = match (self.isa.is_evex(), width) {
            (true, Width::X) => Code::EVEX_Vpmovd2m_kr_xmm,
            (true, Width::Y) => Code::EVEX_Vpmovd2m_kr_ymm,
            (true, Width::Z) => Code::EVEX_Vpmovd2m_kr_zmm,
            (false, Width::X) => Code::VEX_Vmovmskps_r32_xmm,
            (false, _) => Code::VEX_Vmovmskps_r32_ymm,
        };
        let class = if self.isa.is_evex() { MASK } else { GENERAL };
        let bits = self.b.pure(Kind::Code(code), class, vec![Arg::Reg(lanes)]);
        match self.isa.is_evex() {
            true => self.mask_bits(bits),
            false => bits,
        }
    }

    /// A mask as bits of a general register.
    fn mask_bits(&mut self, mask: VReg) -> VReg {
        let code = Kind::Code(Code::VEX_Kmovw_r32_kr);
        self.b.pure(code, GENERAL, vec![Arg::Reg(mask)])
    }

    /// The same scalar in every lane.
    pub(super) fn splat(&mut self, value: &Val, lanes: u16) -> Result<Val, Refusal> {
        if lanes == 1 {
            return Ok(value.clone());
        }
        let ty = Ty {
            scalar: value.ty.scalar,
            lanes,
        };
        let lane = value.lane;
        let widths = shape(self.isa, lanes, lane);
        let mut part = value.parts[0];
        if value.is_bool() {
            part = self.sub(Part::Int(0), part);
        }
        let part = match part {
            Part::Reg(_) => {
                if value.is_general() {
                    part = self.in_vector(part);
                }
                let of = if lane == Lane::F32 {
                    lane
                } else {
                    lane.as_int()
                };
                self.vec1(Op::Broadcast, of, widths[0], part)?
            }
            Part::Int(value) => Part::Same(value as u64),
            same @ Part::Same(_) => same,
        };
        Ok(Val {
            ty,
            lane,
            parts: vec![part; widths.len()],
        })
    }

    pub(super) fn ramp(&mut self, base: &Val, stride: &Val, lanes: u16) -> Result<Val, Refusal> {
        self.check_lanes(lanes)?;
        if base.ty != stride.ty || !base.is_general() || base.is_bool() {
            return refuse("a ramp that is not of integers");
        }
        let scalar = base.ty.scalar;
        if lanes == 1 {
            return Ok(base.clone());
        }
        let Some(stride) = stride.as_int() else {
            let mut at = base.parts[0];
            let mut values = vec![base.clone()];
            for _ in 1..lanes {
                at = self.add(at, stride.parts[0]);
                at = self.extended(scalar, at);
                values.push(Val::scalar(scalar, at));
            }
            return self.pack(scalar, &values);
        };
        let first = self.splat(base, lanes)?;
        let bytes = base.lane.bytes();
        let mut at: i64 = 0;
        self.each(&first, |this, width, part| {
            let mut steps = vec![];
            while steps.len() < width.bytes() {
                steps.extend(&at.to_le_bytes()[..bytes]);
                at = at.wrapping_add(stride);
            }
            let steps = Arg::Pool(this.b.constant(steps));
            let part = Arg::Reg(this.vector(part, base.lane, width));
            this.vec(Op::Add, base.lane, width, vec![part, steps])
        })
    }

    /// Applies `f` to scalars lane by lane: for what has no vector instruction.
    pub(super) fn lanewise(
        &mut self,
        args: &[&Val],
        mut f: impl FnMut(&mut Self, &[Val]) -> Result<Val, Refusal>,
    ) -> Result<Val, Refusal> {
        let mut results = vec![];
        for i in 0..usize::from(args[0].ty.lanes) {
            let lanes = args.iter().map(|value| self.lane(value, i));
            let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
            results.push(f(self, &lanes)?);
        }
        let scalar = results[0].ty.scalar;
        self.pack(scalar, &results)
    }

    /// A mask with lanes of this integer type.
    pub(super) fn mask_as(&mut self, mask: &Val, lane: Lane) -> Result<Val, Refusal> {
        if !mask.is_vector() || mask.lane == lane {
            return Ok(mask.clone());
        }
        if mask.lane.bytes() < lane.bytes() {
            return self.widen(mask, mask.ty, lane, "sign");
        }
        self.narrow(mask, mask.ty, lane, Op::PackSigned)
    }

    /// Integer lanes as wider ones.
    pub(super) fn widen(
        &mut self,
        value: &Val,
        ty: Ty,
        lane: Lane,
        extend: &'static str,
    ) -> Result<Val, Refusal> {
        let op = match (value.lane, extend) {
            (Lane::I8, "sign") => Op::SignExtend8,
            (Lane::I16, "sign") => Op::SignExtend16,
            (_, "sign") => Op::SignExtend32,
            (Lane::I8, _) => Op::ZeroExtend8,
            (Lane::I16, _) => Op::ZeroExtend16,
            _ => Op::ZeroExtend32,
        };
        let pieces = self.pieces(value);
        let mut parts = vec![];
        let mut at = 0;
        for width in shape(self.isa, ty.lanes, lane) {
            let bytes = width.bytes() * value.lane.bytes() / lane.bytes();
            let source = self.slice(&pieces, at, bytes, value)?;
            let from = if bytes > 16 { Width::Y } else { Width::X };
            let source = Arg::Reg(self.vector(source, value.lane, from));
            parts.push(self.vec(op, lane, width, vec![source])?);
            at += bytes;
        }
        Ok(Val { ty, lane, parts })
    }

    /// Bytes `at ..` of a vector that is given in pieces, at the bottom of a register.
    fn slice(
        &mut self,
        pieces: &[Part],
        at: usize,
        bytes: usize,
        value: &Val,
    ) -> Result<Part, Refusal> {
        if bytes > 16 {
            let ty = Ty {
                lanes: (bytes / value.lane.bytes()) as u16,
                ..value.ty
            };
            let both = &pieces[at / 16..at / 16 + bytes / 16];
            return Ok(self.join(both, ty, value.lane).parts[0]);
        }
        let piece = pieces[at / 16];
        match at % 16 {
            0 => Ok(piece),
            skip => self.vec_imm(Op::ShiftBytes, Lane::I8, Width::X, piece, skip as i64),
        }
    }

    /// A conversion between lanes of 32 and 64 bits, by an instruction that reads or writes a register half as wide.
    pub(super) fn resized(&mut self, a: &Val, to: Ty, op: Op) -> Result<Val, Refusal> {
        let lane = lane_of(to.scalar);
        let pieces = self.pieces(a);
        let mut parts = vec![];
        if a.lane.bytes() < lane.bytes() {
            let mut at = 0;
            for width in shape(self.isa, to.lanes, lane) {
                let bytes = width.bytes() / 2;
                let source = self.slice(&pieces, at, bytes, a)?;
                let source = Arg::Reg(self.vector(source, a.lane, width));
                parts.push(self.vec(op, lane, width, vec![source])?);
                at += bytes;
            }
            return Ok(Val {
                ty: to,
                lane,
                parts,
            });
        }
        let mut halves = vec![];
        for (part, width) in a.parts.iter().zip(self.widths(a)) {
            let half = self.vec1(op, a.lane, width, *part)?;
            if width < Width::Z {
                halves.push((half, width));
                continue;
            }
            let whole = Val {
                ty: Ty { lanes: 8, ..to },
                lane,
                parts: vec![half],
            };
            parts.extend(self.pieces(&whole));
        }
        // Of a short register half a piece is left.
        for pair in halves.chunks(2) {
            match pair {
                [(low, Width::X), (high, Width::X)] => {
                    parts.push(self.vec2(Op::UnpackLow, Lane::F64, Width::X, *low, *high)?);
                }
                _ => parts.extend(pair.iter().map(|(half, _)| *half)),
            }
        }
        Ok(self.join(&parts, to, lane))
    }

    /// Integer lanes as narrower ones; `pack` is what joins two registers whose lanes fit the narrower type.
    pub(super) fn narrow(
        &mut self,
        value: &Val,
        ty: Ty,
        lane: Lane,
        pack: Op,
    ) -> Result<Val, Refusal> {
        if pack == Op::PackUnsigned
            && let Some(cut) = self.lower_parts(value, ty, lane)?
        {
            return Ok(cut);
        }
        let mut pieces = self.pieces(value);
        let mut have = value.lane.bytes();
        while have > lane.bytes() {
            let of = Lane::int_of(have);
            let mut halves = vec![];
            for pair in pieces.chunks(2) {
                let (low, high) = (pair[0], pair[pair.len() - 1]);
                halves.push(if have == 8 {
                    let args = vec![
                        Arg::Reg(self.vector(low, of, Width::X)),
                        self.operand(high, of, Width::X),
                        Arg::Imm(EVEN),
                    ];
                    self.vec(Op::Shuffle, Lane::F32, Width::X, args)?
                } else {
                    let (mut low, mut high) = (low, high);
                    if pack == Op::PackUnsigned {
                        let keep = Part::Same((1 << (4 * have)) - 1);
                        low = self.masked(low, keep, of)?;
                        high = self.masked(high, keep, of)?;
                    }
                    self.vec2(pack, of, Width::X, low, high)?
                });
            }
            pieces = halves;
            have /= 2;
        }
        Ok(self.join(&pieces, ty, lane))
    }

    /// Integer lanes of whole registers of 512 bits as narrower ones, by one instruction each, if there is one.
    fn lower_parts(&mut self, value: &Val, ty: Ty, lane: Lane) -> Result<Option<Val>, Refusal> {
        let (of, ratio) = (value.lane.as_int(), value.lane.bytes() / lane.bytes());
        let op = match ratio {
            2 => Op::LowerHalves,
            4 => Op::LowerQuarters,
            _ => return Ok(None),
        };
        let whole = self.widths(value).iter().all(|&width| width == Width::Z);
        if !whole || form(self.isa, op, of, Width::Z).is_none() {
            return Ok(None);
        }
        let mut pieces = vec![];
        for &part in &value.parts {
            let cut = Val {
                ty: Ty {
                    lanes: (Width::Z.bytes() / of.bytes()) as u16,
                    ..ty
                },
                lane,
                parts: vec![self.vec1(op, of, Width::Z, part)?],
            };
            if value.parts.len() == 1 {
                return Ok(Some(Val { ty, ..cut }));
            }
            pieces.extend(self.pieces(&cut));
        }
        Ok(Some(self.join(&pieces, ty, lane)))
    }

    fn masked(&mut self, piece: Part, keep: Part, lane: Lane) -> Result<Part, Refusal> {
        let args = vec![
            Arg::Reg(self.vector(piece, lane, Width::X)),
            self.operand(keep, lane, Width::X),
        ];
        self.vec(Op::And, Lane::F32, Width::X, args)
    }
}
