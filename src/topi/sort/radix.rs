//! Sorting by digits of keys, for machines with few threads: each pass puts the elements in the order of one digit, from the last digit
//! to the first, and keeps the order of equal ones. A thread counts the digits of a line, or of a chunk of a long one, and then puts
//! each element where those with a smaller digit, and earlier ones with the same, end.
//!
//! # References
//! D. Knuth, "The Art of Computer Programming", volume 3, 5.2.5; M. Zagha, G. Blelloch, "Radix Sort for Vector Multiprocessors", 1991
//! (chunks).

use super::key::KeyType;
use super::lines::{Lines, Ranked, line};
use super::local::Local;
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;
use crate::topi::extent::{clamped, product, quotient, shifted, sum};

/// Bits of a digit of a short line: the counts are few then.
const NARROW: u32 = 8;
/// Bits of a digit of a long line: there are fewer passes then.
const WIDE: u32 = 11;
/// From so many elements on, a line is long.
const LONG: i64 = 6000;
/// Elements of a chunk, at least.
const CHUNK: i64 = 8192;
/// Most chunks of a line.
const MOST_CHUNKS: i64 = 16;
/// Chunks of a line of unknown length.
const CHUNKS: i64 = 4;
/// As many lines keep all threads busy.
pub(super) const MANY: i64 = 8;

/// The positions of the elements of each line in the order of their keys.
pub(super) fn sort(name: &str, lines: &Lines) -> Tensor {
    let bits = match lines.extent().as_int() {
        Some(LONG..) => WIDE,
        _ => NARROW,
    };
    let passes = lines.key.bits.div_ceil(bits).max(1);
    let bits = lines.key.bits.div_ceil(passes);
    let chunks = chunks(lines);
    let mut ranked = Ranked::unsorted(lines);
    for pass in 0..passes {
        let digit = Digit {
            key: lines.key,
            shift: pass * bits,
            bits: bits.min(lines.key.bits - pass * bits),
        };
        let wanted = match pass + 1 < passes {
            true => Wanted::Both,
            false => Wanted::Positions,
        };
        ranked = match chunks {
            1 => by_digit(name, &ranked, digit, wanted),
            _ => by_digit_in_chunks(name, &ranked, digit, wanted, chunks),
        };
    }
    ranked.positions.expect("every pass gives positions")
}

/// Chunks of a line.
fn chunks(lines: &Lines) -> i64 {
    match (lines.count(), lines.extent().as_int()) {
        (Some(MANY..), _) => 1,
        (_, None) => CHUNKS,
        (_, Some(n)) => 1 << (n / CHUNK).clamp(1, MOST_CHUNKS).ilog2(),
    }
}

/// Some bits of keys.
#[derive(Clone, Copy)]
struct Digit {
    key: KeyType,
    shift: u32,
    bits: u32,
}

impl Digit {
    fn count(self) -> i64 {
        1 << self.bits
    }

    /// The digit of a key. The first one has the sign, which is upside down.
    fn of(self, key: &Expr) -> Expr {
        let digit = self.key.shifted(key, self.shift);
        let mask = self.key.int(self.count() - 1);
        let digit = match self.shift + self.bits == self.key.bits {
            true => {
                let sign = self.key.int(1 << (self.bits - 1));
                Expr::binary(BinOp::BitXor, digit, sign)
            }
            false => digit,
        };
        Expr::binary(BinOp::BitAnd, digit, mask).cast(DType::I64)
    }
}

/// What a pass gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Both,
    Positions,
}

fn results(of: &Ranked, wanted: Wanted) -> Vec<(Vec<Expr>, DType)> {
    let shape = of.keys.shape().to_vec();
    let keys = (wanted == Wanted::Both).then(|| (shape.clone(), of.keys.dtype()));
    keys.into_iter().chain([(shape, DType::I32)]).collect()
}

fn ranked(mut results: Vec<Tensor>, of: &Ranked) -> Ranked {
    let positions = results.pop();
    Ranked {
        keys: results.pop().unwrap_or_else(|| of.keys.clone()),
        positions,
    }
}

/// A pass over lines of one thread each.
fn by_digit(name: &str, from: &Ranked, digit: Digit, wanted: Wanted) -> Ranked {
    let (outer, _) = line(from.keys.shape());
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let extent = line(from[0].shape()).1.clone();
        let starts = Local::new(b, "starts", digit.count(), DType::I32);
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let keys = &from[0];
        starts.fill(b, &Expr::i32(0));
        b.grid([("i", extent.clone())], |b, i| {
            let key = element(keys, &at, &i[0].expr());
            b.let_("digit", digit.of(&key), |b, digit| {
                starts.add(b, &digit.expr(), Expr::i32(1));
            });
        });
        let running = Local::new(b, "running", 1, DType::I32);
        running.fill(b, &Expr::i32(0));
        b.grid([("d", digit.count())], |b, d| {
            let zero = Expr::i64(0);
            b.let_("count", starts.at(&d[0].expr()), |b, count| {
                starts.set(b, &d[0].expr(), running.at(&zero));
                running.set(b, &zero, running.at(&zero) + count.expr());
            });
        });
        b.grid([("i", extent.clone())], |b, i| {
            put(b, &starts, digit, (&at, &i[0].expr()), from, to);
        });
    };
    let results = te::extern_each(
        name,
        outer.to_vec(),
        &inputs(from),
        results(from, wanted),
        write,
    );
    ranked(results, from)
}

fn inputs(from: &Ranked) -> Vec<Tensor> {
    let keys = [from.keys.clone()].into_iter();
    keys.chain(from.positions.clone()).collect()
}

fn element(of: &Buffer, outer: &[Expr], along: &Expr) -> Expr {
    let mut index = outer.to_vec();
    index.push(along.clone());
    Expr::load(of, index)
}

/// Puts an element in its place.
fn put(
    b: &mut PrimFuncBuilder,
    starts: &Local,
    digit: Digit,
    (outer, along): (&[Expr], &Expr),
    from: &[Buffer],
    to: &[Buffer],
) {
    let extent = line(from[0].shape()).1.clone();
    b.let_("key", element(&from[0], outer, along), |b, key| {
        b.let_("digit", digit.of(&key.expr()), |b, digit| {
            b.let_("place", starts.at(&digit.expr()), |b, place| {
                starts.set(b, &digit.expr(), place.expr() + 1);
                let position = match from.get(1) {
                    Some(positions) => element(positions, outer, along),
                    None => along.cast(DType::I32),
                };
                let mut there = outer.to_vec();
                there.push(clamped(&place.expr().cast(DType::I64), &extent));
                if to.len() > 1 {
                    b.store(&to[0], there.clone(), key.expr());
                }
                b.store(&to[to.len() - 1], there, position);
            });
        });
    });
}

/// A pass over lines in chunks of a thread each.
fn by_digit_in_chunks(
    name: &str,
    from: &Ranked,
    digit: Digit,
    wanted: Wanted,
    chunks: i64,
) -> Ranked {
    let (outer, _) = line(from.keys.shape());
    let parts = || outer.iter().cloned().chain([Expr::i64(chunks)]);
    let counts_shape: Vec<Expr> = parts().chain([Expr::i64(digit.count())]).collect();
    let counts = {
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let at: Vec<Expr> = at.iter().map(Var::expr).collect();
            let counts = Local::new(b, "counts", digit.count(), DType::I32);
            counts.fill(b, &Expr::i32(0));
            Chunk::of(&from[0], chunks).each(b, &at, |b, outer, along| {
                let key = element(&from[0], outer, along);
                b.let_("digit", digit.of(&key), |b, digit| {
                    counts.add(b, &digit.expr(), Expr::i32(1));
                });
            });
            b.grid([("d", digit.count())], |b, d| {
                let mut there = at.clone();
                there.push(d[0].expr());
                b.store(&to[0], there, counts.at(&d[0].expr()));
            });
        };
        let keys = std::slice::from_ref(&from.keys);
        let result = vec![(counts_shape.clone(), DType::I32)];
        te::extern_each(format!("{name}_counts"), parts(), keys, result, write).remove(0)
    };
    let starts = {
        let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
            let at: Vec<Expr> = at.iter().map(Var::expr).collect();
            let running = Local::new(b, "running", 1, DType::I32);
            running.fill(b, &Expr::i32(0));
            b.grid([("d", digit.count()), ("c", chunks)], |b, v| {
                let index: Vec<Expr> = at
                    .iter()
                    .cloned()
                    .chain([v[1].expr(), v[0].expr()])
                    .collect();
                let zero = Expr::i64(0);
                b.store(&to[0], index.clone(), running.at(&zero));
                running.set(b, &zero, running.at(&zero) + Expr::load(&from[0], index));
            });
        };
        let result = vec![(counts_shape, DType::I32)];
        te::extern_each(
            format!("{name}_starts"),
            outer.to_vec(),
            &[counts],
            result,
            write,
        )
        .remove(0)
    };
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let at: Vec<Expr> = at.iter().map(Var::expr).collect();
        let starts = Local::new(b, "places", digit.count(), DType::I32);
        let chunk = Chunk::of(&from[0], chunks);
        let (known, from) = from.split_last().expect("starts come last");
        b.grid([("d", digit.count())], |b, d| {
            let mut there = at.clone();
            there.push(d[0].expr());
            starts.set(b, &d[0].expr(), Expr::load(known, there));
        });
        chunk.each(b, &at, |b, outer, along| {
            put(b, &starts, digit, (outer, along), from, to);
        });
    };
    let mut given = inputs(from);
    given.push(starts);
    let results = te::extern_each(name, parts(), &given, results(from, wanted), write);
    ranked(results, from)
}

/// Chunks of lines.
struct Chunk {
    /// Elements of a line.
    extent: Expr,
    /// Elements of a chunk.
    width: Expr,
}

impl Chunk {
    /// Those of lines in a buffer, so many for each.
    fn of(keys: &Buffer, chunks: i64) -> Self {
        let extent = line(keys.shape()).1.clone();
        let width = quotient(&shifted(&extent, chunks - 1), &Expr::i64(chunks));
        Self { extent, width }
    }

    /// Goes through the elements of a chunk: `at` is the line and which chunk of it.
    fn each(
        &self,
        b: &mut PrimFuncBuilder,
        at: &[Expr],
        body: impl FnOnce(&mut PrimFuncBuilder, &[Expr], &Expr),
    ) {
        let (chunk, outer) = at.split_last().expect("a chunk");
        let first = product(chunk, &self.width);
        b.grid([("i", self.width.clone())], |b, i| {
            let along = sum(&first, &i[0].expr());
            b.if_(along.lt(&self.extent), |b| body(b, outer, &along));
        });
    }
}
