//! Every second element of an array in memory: two registers are read for one, which takes their even lanes.
//!
//! The second register ends with the last element, so that nothing behind it is read.

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Lane, Width};
use super::value::{Part, Val, shape};
use super::{Isa, Refusal, refuse};
use crate::kernel::{ArrayId, Expr, Ty};
use crate::tensor::ScalarType;

/// Of each 128 bits, lanes 0 and 2 of the first register and 1 and 3 of the second; of 64-bit lanes, the middle two swapped.
const INTERLEAVED: i64 = 0b1101_1000;

impl Emitter<'_> {
    /// A vector of such elements, one for each lane; `None` if the lanes are something else.
    pub(super) fn load_every_second(&mut self, lanes: &[Expr]) -> Result<Option<Val>, Refusal> {
        let Some((id, first)) = self.every_second(lanes) else {
            return Ok(None);
        };
        let (scalar, place) = self.array(id)?;
        let mut from = self.address(place, scalar, first)?;
        let ty = Ty {
            scalar,
            lanes: lanes.len() as u16,
        };
        let lane = Lane::F32;
        let mut parts = vec![];
        for width in shape(self.isa, ty.lanes, lane) {
            let low = self.load_form(id, Op::Load, lane, width, from)?;
            from.disp += (width.bytes() - lane.bytes()) as i32;
            let high = self.load_form(id, Op::Load, lane, width, from)?;
            from.disp += (width.bytes() + lane.bytes()) as i32;
            parts.push(self.even_lanes(width, low, high)?);
        }
        Ok(Some(Val { ty, lane, parts }))
    }

    /// The array and the index of the first lane, if each lane reads the second element after that of the one before.
    fn every_second<'e>(&self, lanes: &'e [Expr]) -> Option<(ArrayId, &'e Expr)> {
        let element = |lane: &'e Expr| match lane {
            Expr::Load {
                array,
                index,
                lanes: 1,
                active: None,
            } => Some((*array, &**index)),
            _ => None,
        };
        let (array, first) = element(lanes.first()?)?;
        let of_f32 = self.kernel.arrays.get(array)?.dtype == ScalarType::F32;
        if !of_f32 || self.in_registers(array) || !lanes.len().is_multiple_of(4) {
            return None;
        }
        let start = self.scope.poly(self.kernel, first);
        let mut distances = (0..).step_by(2).zip(lanes);
        let apart = |(distance, lane): (i64, &'e Expr)| {
            element(lane).is_some_and(|(other, index)| {
                let at = self.scope.poly(self.kernel, index);
                other == array && at.wrapping_plus(&start, -1).as_constant() == Some(distance)
            })
        };
        distances.all(apart).then_some((array, first))
    }

    /// The even lanes of neighbouring elements, given those at the first and at the last place.
    fn even_lanes(&mut self, width: Width, low: Part, high: Part) -> Result<Part, Refusal> {
        let lane = Lane::F32;
        let [low, high] = [low, high].map(|part| Arg::Reg(self.vector(part, lane, width)));
        if self.isa == Isa::Avx2 {
            let args = vec![low, high, Arg::Imm(INTERLEAVED)];
            let mixed = self.vec(Op::Shuffle, lane, width, args)?;
            return match width {
                Width::X => Ok(mixed),
                _ => self.vec_imm(Op::Permute, Lane::F64, width, mixed, INTERLEAVED),
            };
        }
        // Lanes of the second register count from that of the first on.
        let count = (width.bytes() / lane.bytes()) as u32;
        let picked = (0..count).map(|i| 2 * i + u32::from(2 * i >= count));
        let picked = picked.flat_map(u32::to_le_bytes).collect();
        let picked = Arg::Pool(self.b.constant(picked));
        let picked = self.loaded(picked, width)?;
        self.vec(Op::PermuteBoth, lane, width, vec![low, picked, high])
    }

    /// A constant of the pool in a register.
    fn loaded(&mut self, constant: Arg, width: Width) -> Result<Arg, Refusal> {
        match self.vec(Op::Load, Lane::F32, width, vec![constant])? {
            Part::Reg(reg) => Ok(Arg::Reg(reg)),
            Part::Int(_) | Part::Same(_) => refuse("a constant that is in no register"),
        }
    }
}
