//! Accesses of which the first lanes are active alone: loads and stores under masks.
//!
//! The mask of a register compares the number of active lanes with the numbers of its own. It is lanes of ones with VEX forms, a
//! mask register with EVEX forms. Where the number is a constant, registers all of whose lanes are active have none, and with VEX forms
//! the last register is stored in parts of 16, 8 and 4 bytes: a store under a mask of lanes is dozens of steps on machines by AMD.

use iced_x86::Code;
use regalloc2::VReg;

use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Kind, Lane, MASK, Mem, VECTOR, Width};
use super::int::int_predicate;
use super::value::{Part, Val, lane_of, shape};
use super::{Isa, Refusal, refuse};
use crate::kernel::{ArrayId, Expr, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Whether there are masked accesses to arrays of this type: machines have them for 32 and 64 bits.
pub(super) fn is_covered(scalar: ScalarType) -> bool {
    use ScalarType::{F32, F64, I32, I64, U32, U64};
    matches!(scalar, F32 | F64 | I32 | I64 | U32 | U64)
}

/// A register of a vector, and which of its lanes are active.
#[derive(Clone, Copy)]
struct Masked {
    width: Width,
    mask: Arg,
    /// Bytes of the active lanes, if their number is a constant.
    bytes: Option<usize>,
}

impl Emitter<'_> {
    pub(super) fn load_active(
        &mut self,
        id: ArrayId,
        index: &Expr,
        lanes: u16,
        active: &Expr,
    ) -> Result<Val, Refusal> {
        self.check_lanes(lanes)?;
        if let Some(value) = self.load_local(id, index, lanes)? {
            return self.zero_elsewhere(&value, active);
        }
        let (scalar, mut from) = self.element(id, index)?;
        let masks = self.masks(scalar, lanes, active)?;
        let lane = lane_of(scalar);
        let mut parts = vec![];
        for Masked { width, mask, bytes } in masks {
            let all = width.bytes();
            parts.push(match bytes {
                Some(0) => Part::Same(0),
                Some(16) => self.load_form(id, Op::Load, Lane::F32, Width::X, from)?,
                Some(bytes) if bytes == all => {
                    self.load_form(id, Op::Load, Lane::F32, width, from)?
                }
                _ => self.load_masked(id, lane, width, from, mask)?,
            });
            from.disp += all as i32;
        }
        let ty = Ty { scalar, lanes };
        Ok(Val { ty, lane, parts })
    }

    /// A register of `f32` of which so many first elements are read.
    pub(super) fn load_first(
        &mut self,
        id: ArrayId,
        width: Width,
        from: Mem,
        count: i64,
    ) -> Result<Part, Refusal> {
        let lane = Lane::F32;
        let lanes = (width.bytes() / lane.bytes()) as u16;
        let count = Expr::Int(count, ScalarType::I64);
        let masks = self.masks(ScalarType::F32, lanes, &count)?;
        let &[Masked { width, mask, .. }] = masks.as_slice() else {
            return refuse("a register without a mask");
        };
        self.load_masked(id, lane, width, from, mask)
    }

    fn load_masked(
        &mut self,
        id: ArrayId,
        lane: Lane,
        width: Width,
        from: Mem,
        mask: Arg,
    ) -> Result<Part, Refusal> {
        let code = masked(self.isa, Op::LoadMasked, lane, width)?;
        let args = match self.isa {
            Isa::Avx2 => vec![mask, Arg::Mem(from)],
            Isa::Avx512 | Isa::Avx512Vnni => vec![Arg::Mem(from), mask],
        };
        Ok(Part::Reg(self.b.load(id, code, VECTOR, args)))
    }

    /// A vector with zeros in the lanes that are not active.
    fn zero_elsewhere(&mut self, value: &Val, active: &Expr) -> Result<Val, Refusal> {
        let mut masks = self
            .masks(value.ty.scalar, value.ty.lanes, active)?
            .into_iter();
        self.each(value, |this, width, part| {
            let Some(Masked { mask, .. }) = masks.next() else {
                return refuse("a register without a mask");
            };
            let part = Arg::Reg(this.vector(part, value.lane, width));
            match this.isa {
                Isa::Avx2 => this.vec(Op::And, Lane::F32, width, vec![mask, part]),
                Isa::Avx512 | Isa::Avx512Vnni => {
                    let code = masked(this.isa, Op::LoadMasked, value.lane, width)?;
                    let args = vec![part, mask];
                    Ok(Part::Reg(this.b.pure(Kind::Code(code), VECTOR, args)))
                }
            }
        })
    }

    pub(super) fn store_active(
        &mut self,
        id: ArrayId,
        index: &Expr,
        value: &Val,
        active: &Expr,
    ) -> Result<(), Refusal> {
        let (scalar, mut to) = self.element(id, index)?;
        if value.ty.scalar != scalar {
            return refuse("a store of another type");
        }
        let masks = self.masks(scalar, value.ty.lanes, active)?;
        for (&part, Masked { width, mask, bytes }) in value.parts.iter().zip(masks) {
            let part = self.vector(part, value.lane, width);
            let is_whole = |bytes: usize| bytes == 0 || bytes == width.bytes();
            if let Some(bytes) = bytes.filter(|&b| is_whole(b) || self.isa == Isa::Avx2) {
                self.store_start(id, part, width, bytes, to)?;
            } else {
                let code = masked(self.isa, Op::StoreMasked, value.lane, width)?;
                let args = match self.isa {
                    Isa::Avx2 => vec![Arg::Mem(to), mask, Arg::Reg(part)],
                    Isa::Avx512 | Isa::Avx512Vnni => vec![Arg::Mem(to), Arg::Reg(part), mask],
                };
                self.b.store(id, code, args);
            }
            to.disp += width.bytes() as i32;
        }
        Ok(())
    }

    /// Stores so many bytes of the start of a register: all of them, or, with VEX forms, parts of 16, 8 and 4.
    fn store_start(
        &mut self,
        id: ArrayId,
        part: VReg,
        width: Width,
        bytes: usize,
        mut to: Mem,
    ) -> Result<(), Refusal> {
        if bytes == width.bytes() {
            return self.store_form(id, part, width, to);
        }
        let (mut rest, mut left) = (part, bytes);
        if left >= 16 {
            self.store_form(id, rest, Width::X, to)?;
            left -= 16;
            to.disp += 16;
            if left > 0 {
                let upper = Kind::Code(Code::VEX_Vextractf128_xmmm128_ymm_imm8);
                let args = vec![Arg::Reg(rest), Arg::Imm(1)];
                rest = self.b.pure(upper, VECTOR, args);
            }
        }
        if left >= 8 {
            let code = Code::VEX_Vmovq_xmmm64_xmm;
            self.b.store(id, code, vec![Arg::Mem(to), Arg::Reg(rest)]);
            left -= 8;
            to.disp += 8;
            if left > 0 {
                let args = vec![Arg::Reg(rest), Arg::Reg(rest), Arg::Imm(1)];
                let upper = self.vec(Op::Shuffle, Lane::F64, Width::X, args)?;
                rest = self.vector(upper, Lane::F64, Width::X);
            }
        }
        if left > 0 {
            let code = Code::VEX_Vmovd_rm32_xmm;
            self.b.store(id, code, vec![Arg::Mem(to), Arg::Reg(rest)]);
        }
        Ok(())
    }

    fn store_form(
        &mut self,
        id: ArrayId,
        part: VReg,
        width: Width,
        to: Mem,
    ) -> Result<(), Refusal> {
        let Some(code) = form(self.isa, Op::Store, Lane::F32, width) else {
            return refuse("a store that the machine lacks");
        };
        self.b.store(id, code, vec![Arg::Mem(to), Arg::Reg(part)]);
        Ok(())
    }

    /// The registers of a vector and their masks.
    fn masks(
        &mut self,
        scalar: ScalarType,
        lanes: u16,
        active: &Expr,
    ) -> Result<Vec<Masked>, Refusal> {
        if lanes < 2 || !is_covered(scalar) {
            return refuse("active lanes of such a vector");
        }
        let lane = lane_of(scalar).as_int();
        let known = match active {
            Expr::Int(count, _) => Some((*count).clamp(0, lanes.into()) as usize),
            _ => None,
        };
        let active = self.expr(active)?;
        let bound = |value: i64| Val::scalar(active.ty.scalar, Part::Int(value));
        let most = self.binary(BinOp::Min, &active, &bound(lanes.into()))?;
        let active = self.binary(BinOp::Max, &most, &bound(0))?;
        let narrow = match lane {
            Lane::I32 => ScalarType::I32,
            _ => ScalarType::I64,
        };
        let active = self.splat(&Val::scalar(narrow, active.parts[0]), lanes)?;
        let mut first = 0;
        let mut masks = vec![];
        for (&part, width) in active.parts.iter().zip(shape(self.isa, lanes, lane)) {
            let count = width.bytes() / lane.bytes();
            let numbers = (first..first + count).map(|i| (i as u64).to_le_bytes());
            let numbers = numbers.flat_map(|bytes| bytes[..lane.bytes()].to_vec());
            let numbers = Arg::Pool(self.b.constant(numbers.collect()));
            let active = Arg::Reg(self.vector(part, lane, width));
            let own = |known: usize| known.saturating_sub(first).min(count);
            masks.push(Masked {
                width,
                mask: self.mask(lane, width, active, numbers)?,
                bytes: known.map(|known| own(known) * lane.bytes()),
            });
            first += count;
        }
        Ok(masks)
    }

    /// Lanes where the first is greater, as masked accesses take them.
    fn mask(&mut self, lane: Lane, width: Width, a: Arg, b: Arg) -> Result<Arg, Refusal> {
        let (op, class, mut args) = match self.isa {
            Isa::Avx2 => (Op::CmpGt, VECTOR, vec![]),
            Isa::Avx512 | Isa::Avx512Vnni => {
                (Op::Cmp, MASK, vec![Arg::Imm(int_predicate(BinOp::Gt))])
            }
        };
        args.splice(0..0, [a, b]);
        let Some(code) = form(self.isa, op, lane, width) else {
            return refuse("a mask that the machine lacks");
        };
        Ok(Arg::Reg(self.b.pure(Kind::Code(code), class, args)))
    }

    /// The type and the address of an element of an array in memory.
    fn element(&mut self, id: ArrayId, index: &Expr) -> Result<(ScalarType, Mem), Refusal> {
        let (scalar, place) = self.array(id)?;
        Ok((scalar, self.address(place, scalar, index)?))
    }
}

fn masked(isa: Isa, op: Op, lane: Lane, width: Width) -> Result<Code, Refusal> {
    let lane = match lane.bytes() {
        4 => Lane::F32,
        _ => Lane::F64,
    };
    match form(isa, op, lane, width) {
        Some(code) => Ok(code),
        None => refuse("a masked access that the machine lacks"),
    }
}
