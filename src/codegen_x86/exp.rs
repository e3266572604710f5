//! `exp` of `f32`, in all lanes at once.
//!
//! `exp(x) = 2^n * exp(r)` with `n` the integer nearest to `x / ln 2` and `|r| <= ln 2 / 2`. `r` is found with `ln 2` in two parts
//! (Cody and Waite, *Software Manual for the Elementary Functions*, chapter 6), `exp(r)` by the polynomial of Cephes' `expf`. At most 2
//! units in the last place from the true value; NaN, infinities, overflow and subnormal results as in IEEE 754.

use super::build::RegionKind;
use super::emit::Emitter;
use super::float::predicate;
use super::forms::Op;
use super::inst::{Arg, Condition, Lane, Term, VECTOR, Width};
use super::value::{Part, Val, float_bits};
use super::{Isa, Refusal};
use crate::codegen_common::exp::{LEAST, LN_2, POLYNOMIAL, RANGE, ROUND};
use crate::kernel::Expr;
use crate::tensor::scalar::{BinOp, Intrin};

/// What results may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Results {
    /// All numbers.
    Any,
    /// No subnormal ones, and not 0.
    Normal,
}

impl Results {
    /// Of an argument: `exp` is normal from -86 on.
    pub(super) fn of(x: &Expr) -> Self {
        match least(x) {
            Some(-86.0..) => Self::Normal,
            _ => Self::Any,
        }
    }
}

/// The least value of an expression of `f32` that is no NaN, if that can be seen. Sums are rounded as the kernel rounds them, and rounding is
/// monotone.
fn least(e: &Expr) -> Option<f32> {
    match e {
        Expr::Float(value, _) => Some(*value as f32),
        Expr::Splat(e, _) => least(e),
        Expr::Binary(BinOp::Max, a, b) => {
            let known = [least(a), least(b)].into_iter().flatten();
            known.reduce(f32::max)
        }
        Expr::Binary(BinOp::Add, a, b) => Some(least(a)? + least(b)?),
        Expr::Call(Intrin::Abs, _) => Some(0.0),
        _ => None,
    }
}

fn number(value: f64) -> Part {
    Part::Same(float_bits(Lane::F32, value))
}

/// A number in two parts: `power * 2^n`.
#[derive(Clone, Copy)]
struct Scaled {
    power: Part,
    n: Part,
    /// [`ROUND`] more than `n`, which is in the last bits then.
    shifted: Part,
}

impl Emitter<'_> {
    pub(super) fn exp(&mut self, x: &Val, results: Results) -> Result<Val, Refusal> {
        self.each(x, |this, width, part| this.exp_part(width, part, results))
    }

    fn exp_part(&mut self, width: Width, x: Part, results: Results) -> Result<Part, Refusal> {
        let lane = Lane::F32;
        let (low, high) = (number(RANGE.0), number(RANGE.1));
        // The second operand if it is NaN.
        let mut x = self.vec2(Op::Min, lane, width, high, x)?;
        if results == Results::Any {
            x = self.vec2(Op::Max, lane, width, low, x)?;
        }
        let log2_e = number(std::f64::consts::LOG2_E);
        let shifted = self.mul_add(lane, width, x, log2_e, number(ROUND))?;
        let n = self.vec2(Op::Sub, lane, width, shifted, number(ROUND))?;
        let r = self.mul_add(lane, width, n, number(-LN_2.0), x)?;
        let r = self.mul_add(lane, width, n, number(-LN_2.1), r)?;
        let square = self.vec2(Op::Mul, lane, width, r, r)?;
        // Horner's rule in the square, over pairs of terms that do not wait for each other.
        let [a, b, c, d, e, f] = POLYNOMIAL.map(number);
        let mut sum = self.mul_add(lane, width, r, a, b)?;
        for (slope, constant) in [(c, d), (e, f)] {
            let pair = self.mul_add(lane, width, r, slope, constant)?;
            sum = self.mul_add(lane, width, sum, square, pair)?;
        }
        let sum = self.mul_add(lane, width, sum, square, r)?;
        let power = self.vec2(Op::Add, lane, width, sum, number(1.0))?;
        let scaled = Scaled { power, n, shifted };
        if results == Results::Normal {
            return self.product(width, scaled, results);
        }
        // Few vectors have a result that is subnormal or 0: the steps for those are branched around.
        let small = self.is_small(width, shifted)?;
        let any = self.lanes_set(small, width);
        let [rare, usual, exit] = [(); 3].map(|()| self.b.block());
        self.b
            .branch((Condition::NotEqual, any, Arg::Imm(0)), rare, usual);
        for (block, results) in [(rare, Results::Any), (usual, Results::Normal)] {
            self.b.open(RegionKind::Path, block);
            let value = self.product(width, scaled, results)?;
            let value = self.vector(value, lane, width);
            self.b.end(Term::Jump(exit, vec![value]));
            self.b.close();
        }
        self.b.continue_in(exit);
        Ok(Part::Reg(self.b.param(exit, VECTOR)))
    }

    /// `power * 2^n`. A subnormal product is counted in units of `2^-149`: the count is the product's bits, and no step has a
    /// subnormal result, which costs a vector some 150 cycles.
    fn product(&mut self, width: Width, of: Scaled, results: Results) -> Result<Part, Refusal> {
        match self.isa {
            Isa::Avx2 => self.product_by_bits(width, of, results),
            Isa::Avx512 | Isa::Avx512Vnni => self.product_at_once(width, of, results),
        }
    }

    /// The product by a factor whose exponent is put together of bits.
    fn product_by_bits(
        &mut self,
        width: Width,
        of: Scaled,
        results: Results,
    ) -> Result<Part, Refusal> {
        let (lane, ints) = (Lane::F32, Lane::I32);
        // Of `2^(n - 1)`, which is a normal number for all of them, or of `2^(n + 148)`.
        let offset = Part::Same(float_bits(lane, ROUND) - 126);
        let mut exponent = self.vec2(Op::Sub, ints, width, of.shifted, offset)?;
        let small = match results {
            Results::Any => Some(self.is_small(width, of.shifted)?),
            Results::Normal => None,
        };
        if let Some(small) = small {
            let units = self.bits(Op::And, ints, width, small, Part::Same(149))?;
            exponent = self.vec2(Op::Add, ints, width, exponent, units)?;
        }
        let factor = self.vec_imm(Op::ShlImm, ints, width, exponent, 23)?;
        let doubled = self.vec2(Op::Add, lane, width, of.power, of.power)?;
        let value = self.vec2(Op::Mul, lane, width, doubled, factor)?;
        match small {
            Some(small) => self.counted(width, small, value),
            None => Ok(value),
        }
    }

    /// The product by the machine's instruction for powers of two.
    fn product_at_once(
        &mut self,
        width: Width,
        of: Scaled,
        results: Results,
    ) -> Result<Part, Refusal> {
        let lane = Lane::F32;
        if results == Results::Normal {
            return self.vec2(Op::Scale, lane, width, of.power, of.n);
        }
        let small = self.is_small(width, of.shifted)?;
        let in_units = self.vec2(Op::Add, lane, width, of.n, number(149.0))?;
        let exponent = self.blend(lane, width, small, in_units, of.n)?;
        let value = self.vec2(Op::Scale, lane, width, of.power, exponent)?;
        self.counted(width, small, value)
    }

    /// Lanes whose result may be subnormal.
    fn is_small(&mut self, width: Width, shifted: Part) -> Result<Part, Refusal> {
        let least = number(ROUND + LEAST);
        self.compare_part(predicate::LESS, Lane::F32, width, shifted, least)
    }

    /// The value, where lanes are small the number whose bits are that many.
    fn counted(&mut self, width: Width, small: Part, value: Part) -> Result<Part, Refusal> {
        let lane = Lane::F32;
        let count = self.vec2(Op::Add, lane, width, value, number(0.5))?;
        let count = self.vec1(Op::FloatToInt, lane, width, count)?;
        self.blend(lane, width, small, count, value)
    }
}
