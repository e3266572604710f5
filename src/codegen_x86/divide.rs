//! Division of scalars: by powers of two with shifts, by other constants with a multiplication (`reciprocal`), else with the
//! instruction for it.
//!
//! Where a quotient has no value the code still must not trap: an integer divided by zero gives the dividend, and a remainder by zero
//! gives 0.

use iced_x86::Code;

use super::emit::Emitter;
use super::inst::{Arg, Condition, GENERAL, Kind, Sign};
use super::reciprocal::Reciprocal;
use super::value::Part;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Emitter<'_> {
    /// Quotient or remainder towards zero; never traps.
    pub(super) fn divide(&mut self, op: BinOp, scalar: ScalarType, x: Part, y: Part) -> Part {
        let signed = scalar.is_signed_int();
        let quotient = op == BinOp::Div;
        if let Part::Int(by) = y
            && by > 0
            && by.count_ones() == 1
        {
            return self.divide_by_power(quotient, signed, x, by);
        }
        // Narrower unsigned numbers are none below 0 in a register.
        if let Part::Int(by @ 3..) = y
            && (signed || scalar.bytes() < 8)
        {
            return self.divide_by_constant(quotient, signed, x, by);
        }
        // The least integer divided by -1 would trap: dividing by 1 and changing the sign wraps, as it should.
        let bad: &[i64] = if signed { &[0, -1] } else { &[0] };
        let divisor = match y {
            Part::Int(by) if !bad.contains(&by) => y,
            _ => bad.iter().fold(y, |divisor, &bad| {
                let hit = self.set_if(Condition::Equal, y, Part::Int(bad));
                self.choose(hit, Part::Int(1), divisor)
            }),
        };
        let sign = if signed { Sign::Signed } else { Sign::Unsigned };
        let kind = if quotient {
            Kind::Quotient(sign)
        } else {
            Kind::Remainder(sign)
        };
        let args = [x, divisor].map(|part| Arg::Reg(self.general(part)));
        let value = Part::Reg(self.b.pure(kind, GENERAL, args.to_vec()));
        let may_negate = signed && !matches!(y, Part::Int(by) if by != -1);
        if !quotient || !may_negate {
            return value;
        }
        let negate = self.set_if(Condition::Equal, y, Part::Int(-1));
        let negated = self.sub(Part::Int(0), value);
        self.choose(negate, negated, value)
    }

    /// Division by a constant from 3 on, of numbers that are signed in a register of 64 bits.
    fn divide_by_constant(&mut self, quotient: bool, signed: bool, x: Part, by: i64) -> Part {
        let Reciprocal { factor, places } = Reciprocal::of(by);
        let args = [x, Part::Int(factor)].map(|part| Arg::Reg(self.general(part)));
        let kind = Kind::UpperProduct;
        let mut value = Part::Reg(self.b.pure(kind, GENERAL, args.to_vec()));
        if factor < 0 {
            value = self.add(value, x);
        }
        if places > 0 {
            value = self.shift(Code::Sar_rm64_imm8, value, places);
        }
        if signed {
            // Towards zero: it was rounded down.
            let is_negative = self.shift(Code::Shr_rm64_imm8, x, 63);
            value = self.add(value, is_negative);
        }
        if quotient {
            return value;
        }
        let product = self.mul(value, Part::Int(by));
        self.sub(x, product)
    }

    /// Division by a power of two, without the instruction for it: that takes as long as some twenty others.
    fn divide_by_power(&mut self, quotient: bool, signed: bool, x: Part, by: i64) -> Part {
        let places = i64::from(by.trailing_zeros());
        if !signed {
            return if quotient {
                self.shift(Code::Shr_rm64_imm8, x, places)
            } else {
                self.and(x, Part::Int(by - 1))
            };
        }
        // Towards zero: `by - 1` is added to what is negative.
        let sign = self.shift(Code::Sar_rm64_imm8, x, 63);
        let bias = self.and(sign, Part::Int(by - 1));
        let biased = self.add(x, bias);
        if quotient {
            return self.shift(Code::Sar_rm64_imm8, biased, places);
        }
        let rest = self.and(biased, Part::Int(by - 1));
        self.sub(rest, bias)
    }

    /// Quotient or remainder towards minus infinity.
    pub(super) fn floor_divide(&mut self, op: BinOp, scalar: ScalarType, x: Part, y: Part) -> Part {
        let quotient = op == BinOp::FloorDiv;
        if !scalar.is_signed_int() {
            let op = if quotient { BinOp::Div } else { BinOp::Mod };
            return self.divide(op, scalar, x, y);
        }
        if let Part::Int(by) = y
            && by > 0
            && by.count_ones() == 1
        {
            return self.divide_by_power_down(quotient, x, by);
        }
        let remainder = self.divide(BinOp::Mod, scalar, x, y);
        let signs = self.bitwise(Code::Xor_r64_rm64, Code::Xor_rm64_imm32, remainder, y);
        let differ = self.set_if(Condition::Less, signs, Part::Int(0));
        let inexact = self.set_if(Condition::NotEqual, remainder, Part::Int(0));
        let adjust = self.and(differ, inexact);
        if quotient {
            let value = self.divide(BinOp::Div, scalar, x, y);
            let less = self.add(value, Part::Int(-1));
            return self.choose(adjust, less, value);
        }
        let moved = self.add(remainder, y);
        self.choose(adjust, moved, remainder)
    }

    fn divide_by_power_down(&mut self, quotient: bool, x: Part, by: i64) -> Part {
        if quotient {
            let places = i64::from(by.trailing_zeros());
            self.shift(Code::Sar_rm64_imm8, x, places)
        } else {
            self.and(x, Part::Int(by - 1))
        }
    }
}
