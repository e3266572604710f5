//! Products of the bytes of words: unsigned ones of the first by signed ones of the second.
//!
//! VNNI has an instruction for that. Elsewhere bytes become lanes of 16 bits, of which machines add up the products of two
//! neighbours exactly: 255 * 128 * 2 fits 32 bits. (`vpmaddubsw`, on bytes, saturates at 16 bits.) The lanes of an operand are
//! numbered by value, so that the products of a tile share them.

use iced_x86::Code;

use super::Refusal;
use super::emit::Emitter;
use super::forms::{Op, form};
use super::inst::{Arg, Lane, Width};
use super::value::{Part, Val};

/// The lower byte of each lane of 16 bits.
const LOWER: u64 = 0x00ff_00ff_00ff_00ff;

impl Emitter<'_> {
    /// `sums` and the products of the bytes of `a` and `b`.
    pub(super) fn dot_bytes(&mut self, a: &Val, b: &Val, sums: &Val) -> Result<Val, Refusal> {
        let mut addends = sums.parts.iter();
        self.each2(a, b, |this, width, a, b| {
            let sum = *addends.next().expect("operands have the same parts");
            this.dot_of_part(width, a, b, sum)
        })
    }

    fn dot_of_part(&mut self, width: Width, a: Part, b: Part, sum: Part) -> Result<Part, Refusal> {
        let lane = Lane::I32;
        if form(self.isa, Op::DotBytes, lane, width).is_some() {
            let args = vec![
                Arg::Reg(self.vector(sum, lane, width)),
                Arg::Reg(self.vector(a, lane, width)),
                self.operand(b, lane, width),
            ];
            return self.vec(Op::DotBytes, lane, width, args);
        }
        // A constant is one of words, not of halves.
        let [a, b] = [a, b].map(|part| Part::Reg(self.vector(part, lane, width)));
        let halves = Lane::I16;
        let lower = Part::Same(LOWER);
        let even_a = {
            let args = vec![
                Arg::Reg(self.vector(a, lane, width)),
                self.operand(lower, Lane::I64, width),
            ];
            self.vec(Op::And, Lane::F32, width, args)?
        };
        let odd_a = self.vec_imm(Op::ShrImm, halves, width, a, 8)?;
        let moved = self.vec_imm(Op::ShlImm, halves, width, b, 8)?;
        let even_b = self.vec_imm(Op::SarImm, halves, width, moved, 8)?;
        let odd_b = self.vec_imm(Op::SarImm, halves, width, b, 8)?;
        let even = self.vec2(Op::MulAddPairs, halves, width, even_a, even_b)?;
        let odd = self.vec2(Op::MulAddPairs, halves, width, odd_a, odd_b)?;
        let products = self.vec2(Op::Add, lane, width, even, odd)?;
        self.vec2(Op::Add, lane, width, sum, products)
    }

    /// `dp4a` of scalars in 64-bit registers; the caller wraps the result to `int32`.
    pub(super) fn dot_of_words(&mut self, v: &[Val]) -> Part {
        let [a, b, sum] = [0, 1, 2].map(|i| v[i].parts[0]);
        (0..4).fold(sum, |sum, byte| {
            let unsigned = self.shift(Code::Shr_rm64_imm8, a, 8 * byte);
            let unsigned = self.and(unsigned, Part::Int(0xff));
            let signed = self.shift(Code::Shl_rm64_imm8, b, 56 - 8 * byte);
            let signed = self.shift(Code::Sar_rm64_imm8, signed, 56);
            let product = self.mul(unsigned, signed);
            self.add(sum, product)
        })
    }
}
