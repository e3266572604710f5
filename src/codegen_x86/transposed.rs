//! Tiles that are transposed in registers: vectors of the same lane of several vectors.
//!
//! A tree of shuffles picks a lane of each row. Columns of a tile share the inner nodes of their trees, which are numbered by value: a tile
//! of 16 by 16 takes 64 shuffles.

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Lane, Width};
use super::value::{Part, Val, is_word, lane_of, shape};
use super::{Isa, Refusal};
use crate::kernel::{Expr, Ty};
use crate::tensor::ScalarType;

/// Columns of a tile, the most first.
pub(super) const WIDTHS: [usize; 3] = [16, 8, 4];

/// Lanes of 128 bits, which shuffles transpose in two steps.
pub(super) const QUAD: usize = 4;

impl Emitter<'_> {
    /// A vector of the same lane of several vectors; `None` if the lanes are something else.
    pub(super) fn same_lane(&mut self, lanes: &[Expr]) -> Result<Option<Val>, Refusal> {
        let lane = |lane: &Expr| match lane {
            Expr::Lane(row, at) => match **row {
                Expr::Var(row) => Some((row, usize::from(*at))),
                _ => None,
            },
            _ => None,
        };
        let Some(found) = lanes.iter().map(lane).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let at = found[0].1;
        let rows = found.iter().map(|(row, _)| self.var(*row));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let ty = rows[0].ty;
        let fits = is_word(ty.scalar) && WIDTHS.contains(&ty.lanes.into());
        let same = found.iter().all(|(_, other)| *other == at) && rows.iter().all(|r| r.ty == ty);
        if !fits || !same || !lanes.len().is_multiple_of(QUAD) {
            return Ok(None);
        }
        let widths = self.widths(&rows[0]);
        let ty = Ty {
            lanes: lanes.len() as u16,
            ..ty
        };
        let (mut left, mut parts) = (rows.as_slice(), vec![]);
        for width in shape(self.isa, ty.lanes, Lane::F32) {
            let count = width.bytes() / Lane::F32.bytes();
            let (own, others) = left.split_at(count);
            left = others;
            parts.push(match widths.get(at / count) {
                Some(of_rows) if *of_rows == width => {
                    let rows: Vec<Part> = own.iter().map(|row| row.parts[at / count]).collect();
                    self.transposed(&rows, at % count, width)?
                }
                _ => self.transposed_in_pieces(own, at, width)?,
            });
        }
        Ok(Some(Val {
            ty,
            lane: lane_of(ty.scalar),
            parts,
        }))
    }

    /// A lane of as many registers as each has lanes.
    fn transposed(&mut self, rows: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let quads = rows
            .chunks(QUAD)
            .map(|quad| self.transposed_quad(quad, at % QUAD, width));
        let quads = quads.collect::<Result<Vec<_>, _>>()?;
        self.quads_of(&quads, at / QUAD, width)
    }

    /// Of each 128 bits of four registers one lane.
    fn transposed_quad(&mut self, quad: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let pairs = [Op::UnpackLow, Op::UnpackHigh];
        let (of_pairs, of_lanes) = (pairs[at / 2], pairs[at % 2]);
        let low = self.vec2(of_pairs, Lane::F32, width, quad[0], quad[1])?;
        let high = self.vec2(of_pairs, Lane::F32, width, quad[2], quad[3])?;
        self.vec2(of_lanes, Lane::F64, width, low, high)
    }

    /// The same 128 bits of as many registers as each has of them.
    fn quads_of(&mut self, quads: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let (low, high) = match (self.isa, width) {
            (_, Width::X) => return Ok(quads[0]),
            (Isa::Avx2, _) => (0x20, 0x31),
            (_, Width::Y) => (0b00, 0b11),
            (_, Width::Z) => (0b1000_1000, 0b1101_1101),
        };
        let mut quads = quads.to_vec();
        let mut at = at;
        while quads.len() > 1 {
            let halves = if at.is_multiple_of(2) { low } else { high };
            at /= 2;
            let pairs = quads.chunks(2).map(|pair| {
                let args = [pair[0], pair[1]].map(|q| Arg::Reg(self.vector(q, Lane::F32, width)));
                self.vec(
                    Op::Quads,
                    Lane::F32,
                    width,
                    [&args[..], &[Arg::Imm(halves)]].concat(),
                )
            });
            quads = pairs.collect::<Result<_, _>>()?;
        }
        Ok(quads[0])
    }

    /// The same where registers of rows and of the column differ in width.
    fn transposed_in_pieces(
        &mut self,
        rows: &[Val],
        at: usize,
        width: Width,
    ) -> Result<Part, Refusal> {
        let mut quads = vec![];
        for quad in rows.chunks(QUAD) {
            let pieces: Vec<Part> = quad.iter().map(|row| self.pieces(row)[at / QUAD]).collect();
            quads.push(self.transposed_quad(&pieces, at % QUAD, Width::X)?);
        }
        let ty = Ty {
            scalar: ScalarType::F32,
            lanes: (width.bytes() / Lane::F32.bytes()) as u16,
        };
        Ok(self.join(&quads, ty, Lane::F32).parts[0])
    }
}
