//! Elements of an array that are close to each other in memory, in any order: registers that cover them are read, and their lanes
//! are picked.
//!
//! The first and the last of the elements lie within two registers. No register reaches behind the last element that a lane needs, so
//! that nothing there is read.

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Lane, Mem, Width};
use super::value::{Part, Val, is_word, lane_of, shape};
use super::{Isa, Refusal, refuse};
use crate::kernel::{ArrayId, Expr, Ty};
use crate::tensor::ScalarType;

/// Of each 128 bits, lanes 0 and 2 of the first register and 1 and 3 of the second; of 64-bit lanes, the middle two swapped.
const INTERLEAVED: i64 = 0b1101_1000;

/// Elements of a register of 256 bits.
const COUNT_OF_Y: u32 = 8;

/// Set in the number of a lane of the second register: a blend takes it by this bit, and a permutation does not see it.
const IN_SECOND: u32 = 1 << 31;

/// Fewest lanes for which reading registers pays.
const FEWEST_LANES: usize = 4;

/// The farthest that a lane is from the first one.
const FARTHEST: i64 = 1 << 16;

/// Elements of one array, at distances from the first of them that are known.
struct Close<'e> {
    array: ArrayId,
    first: &'e Expr,
    distances: Vec<i64>,
}

/// Whether lanes of elements at these distances from the first one are picked of registers that cover them.
pub(super) fn is_picked(isa: Isa, distances: &[i64]) -> bool {
    let mut left = distances;
    let mut widths = shape(isa, distances.len() as u16, Lane::F32).into_iter();
    distances.len() >= FEWEST_LANES
        && widths.all(|width| {
            let (own, others) = left.split_at(left.len().min(lanes_of(width)));
            left = others;
            Window::of(width, own).is_some()
        })
}

impl Emitter<'_> {
    /// A vector of such elements, one for each lane; `None` if the lanes are something else.
    pub(super) fn load_close(&mut self, lanes: &[Expr]) -> Result<Option<Val>, Refusal> {
        let Some(close) = self.close(lanes) else {
            return Ok(None);
        };
        let (lane, count) = (Lane::F32, lanes.len() as u16);
        let mut left = close.distances.as_slice();
        let mut windows = vec![];
        for width in shape(self.isa, count, lane) {
            let (own, others) = left.split_at(left.len().min(lanes_of(width)));
            left = others;
            let Some(window) = Window::of(width, own) else {
                return Ok(None);
            };
            windows.push(window);
        }
        let (scalar, place) = self.array(close.array)?;
        let from = self.address(place, scalar, close.first)?;
        let parts = windows
            .iter()
            .map(|window| self.picked(close.array, window, from));
        Ok(Some(Val {
            ty: Ty {
                scalar,
                lanes: count,
            },
            lane: lane_of(scalar),
            parts: parts.collect::<Result<_, _>>()?,
        }))
    }

    /// The array and where each lane reads it, if all are loads of one array at known distances.
    fn close<'e>(&self, lanes: &'e [Expr]) -> Option<Close<'e>> {
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
        if !is_word(self.kernel.arrays.get(array)?.dtype)
            || self.in_registers(array)
            || lanes.len() < FEWEST_LANES
        {
            return None;
        }
        let start = self.scope.poly(self.kernel, first);
        let distance = |lane: &'e Expr| {
            let (_, index) = element(lane).filter(|(other, _)| *other == array)?;
            let at = self.scope.poly(self.kernel, index);
            let distance = at.wrapping_plus(&start, -1).as_constant()?;
            (-FARTHEST..=FARTHEST)
                .contains(&distance)
                .then_some(distance)
        };
        Some(Close {
            array,
            first,
            distances: lanes.iter().map(distance).collect::<Option<_>>()?,
        })
    }

    /// The lanes of one register.
    fn picked(&mut self, id: ArrayId, window: &Window, from: Mem) -> Result<Part, Refusal> {
        let (lane, width) = (Lane::F32, window.width);
        let at = |distance: i64| {
            let mut at = from;
            at.disp += (distance * lane.bytes() as i64) as i32;
            at
        };
        let low = if window.span < lanes_of(width) {
            self.load_first(id, width, at(window.low), window.span as i64)?
        } else {
            self.load_form(id, Op::Load, lane, width, at(window.low))?
        };
        let high = match window.high {
            None => low,
            Some(high) => self.load_form(id, Op::Load, lane, width, at(high))?,
        };
        if self.isa == Isa::Avx2 {
            return self.picked_by_vex(window, [low, high]);
        }
        let [low, high] = [low, high].map(|part| Arg::Reg(self.vector(part, lane, width)));
        let numbers = window.numbers.iter().copied();
        let numbers = self.numbers(numbers.collect(), width)?;
        self.vec(Op::PermuteBoth, lane, width, vec![low, numbers, high])
    }

    /// The same without instructions that pick lanes of two registers by number.
    fn picked_by_vex(&mut self, window: &Window, parts: [Part; 2]) -> Result<Part, Refusal> {
        let (lane, width) = (Lane::F32, window.width);
        let [low, high] = parts.map(|part| Arg::Reg(self.vector(part, lane, width)));
        if window.is_every_second() {
            let args = vec![low, high, Arg::Imm(INTERLEAVED)];
            let mixed = self.vec(Op::Shuffle, lane, width, args)?;
            return match width {
                Width::X => Ok(mixed),
                _ => self.vec_imm(Op::Permute, Lane::F64, width, mixed, INTERLEAVED),
            };
        }
        let halves = width == Width::X;
        let numbers = window.numbers.iter().map(|&number| match halves {
            true => number,
            false if number < COUNT_OF_Y => number,
            false => number | IN_SECOND,
        });
        let numbers = self.numbers(numbers.collect(), Width::Y)?;
        let permuted =
            |this: &mut Self, of: Arg| this.vec(Op::PermuteBy, lane, Width::Y, vec![numbers, of]);
        if window.high.is_none() {
            return permuted(self, low);
        }
        if halves {
            let ty = Ty {
                scalar: ScalarType::F32,
                lanes: 2 * lanes_of(width) as u16,
            };
            let joined = self.join(&parts, ty, lane).parts[0];
            let joined = self.vector(joined, lane, Width::Y);
            return permuted(self, Arg::Reg(joined));
        }
        let [low, high] = [permuted(self, low)?, permuted(self, high)?];
        let [low, high] = [low, high].map(|part| Arg::Reg(self.vector(part, lane, width)));
        self.vec(Op::Blend, lane, width, vec![low, high, numbers])
    }

    /// Numbers of lanes in a register.
    fn numbers(&mut self, numbers: Vec<u32>, width: Width) -> Result<Arg, Refusal> {
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.resize(width.bytes(), 0);
        let numbers = Arg::Pool(self.b.constant(bytes));
        self.loaded(numbers, width)
    }

    /// A constant of the pool in a register.
    fn loaded(&mut self, constant: Arg, width: Width) -> Result<Arg, Refusal> {
        match self.vec(Op::Load, Lane::F32, width, vec![constant])? {
            Part::Reg(reg) => Ok(Arg::Reg(reg)),
            Part::Int(_) | Part::Same(_) => refuse("a constant that is in no register"),
        }
    }
}

/// Neighbours in memory of which the lanes of a register are picked.
struct Window {
    width: Width,
    /// The distance of the first of them, and how many there are.
    low: i64,
    span: usize,
    /// The distance of the first of a second register, which ends where they end; `None` if they fit one.
    high: Option<i64>,
    /// For each lane its number in the first register; those in the second count on.
    numbers: Vec<u32>,
}

impl Window {
    /// The window of some distances; `None` if two registers do not cover it.
    fn of(width: Width, distances: &[i64]) -> Option<Self> {
        let count = lanes_of(width);
        let (low, last) = (*distances.iter().min()?, *distances.iter().max()?);
        let span = usize::try_from(last - low + 1).ok()?;
        if span > 2 * count {
            return None;
        }
        let high = (span > count).then_some(last + 1 - count as i64);
        let number = |distance: i64| match high {
            Some(high) if distance - low >= count as i64 => distance - high + count as i64,
            _ => distance - low,
        };
        // Lanes of a register that is partly used hold anything.
        let all = distances.iter().copied().chain(std::iter::repeat(low));
        Some(Self {
            width,
            low,
            span,
            high,
            numbers: all.take(count).map(|d| number(d) as u32).collect(),
        })
    }

    /// Whether each lane has the element two behind that of the lane before.
    fn is_every_second(&self) -> bool {
        let count = lanes_of(self.width);
        let place = |i: usize| 2 * i + usize::from(2 * i >= count);
        let mut numbers = self.numbers.iter().enumerate();
        self.high.is_some() && numbers.all(|(i, number)| *number as usize == place(i))
    }
}

/// Elements of a register.
fn lanes_of(width: Width) -> usize {
    width.bytes() / Lane::F32.bytes()
}
