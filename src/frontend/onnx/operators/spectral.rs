//! Fourier transforms, as products with constant matrices of cosines and sines, and the windows and filters that go with them.

use std::f64::consts::{LN_10, PI};

use serde_json::json;

use super::Operator;
use super::pieces::{MOST_ELEMENTS, dims_of, floats, part};
use crate::frontend::onnx::call::{Call, Outputs, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::tensor;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("BlackmanWindow", &[17], |c| window(c, [0.42, 0.5, 0.08]))
        .note("a size that follows from the model"),
    Operator::new("DFT", &[17, 20], dft)
        .note("an axis of a constant length; a product with a constant matrix"),
    Operator::new("HammingWindow", &[17], |c| {
        window(c, [25.0 / 46.0, 21.0 / 46.0, 0.0])
    })
    .note("a size that follows from the model"),
    Operator::new("HannWindow", &[17], |c| window(c, [0.5, 0.5, 0.0]))
        .note("a size that follows from the model"),
    Operator::new("MelWeightMatrix", &[17], mel_weights)
        .note("operands that follow from the model"),
    Operator::new("STFT", &[17], stft)
        .note("a signal of a constant length; a product with a constant matrix"),
];

/// A Fourier transform of `length` numbers.
#[derive(Clone, Copy)]
struct Transform {
    length: i64,
    inverse: bool,
    /// Only the first half of the spectrum is there: the other half are the conjugates.
    onesided: bool,
}

impl Transform {
    /// How many numbers of an axis of this extent count.
    fn taken(&self, extent: i64) -> i64 {
        match self.inverse && self.onesided {
            true => extent.min(self.length / 2 + 1),
            false => extent.min(self.length),
        }
    }

    /// Numbers of the result, and their parts: real, or real and imaginary.
    fn results(&self) -> [i64; 2] {
        match (self.inverse, self.onesided) {
            (true, true) => [self.length, 1],
            (false, true) => [self.length / 2 + 1, 2],
            (_, false) => [self.length, 2],
        }
    }

    /// What part `from` of number `at` adds to part `to` of result `k`.
    fn factor(&self, at: i64, from: i64, k: i64, to: i64) -> f64 {
        let turns = (i128::from(at) * i128::from(k)).rem_euclid(i128::from(self.length));
        let angle = 2.0 * PI * turns as f64 / self.length as f64;
        let sine = match self.inverse {
            true => angle.sin(),
            false => -angle.sin(),
        };
        let factor = match (from, to) {
            (0, 0) | (1, 1) => angle.cos(),
            (0, _) => sine,
            (_, _) => -sine,
        };
        let scale = match self.inverse {
            true => 1.0 / self.length as f64,
            false => 1.0,
        };
        // The conjugate of every number but the first, and the middle one of an even length.
        let own = at == 0 || 2 * at == self.length;
        match self.inverse && self.onesided && !own {
            true => 2.0 * scale * factor,
            false => scale * factor,
        }
    }

    /// The matrix for so many numbers of so many parts.
    fn matrix(&self, count: i64, parts: i64, dtype: DType) -> Result<Tensor, Fault> {
        let [results, to] = self.results();
        let (rows, columns) = (count.saturating_mul(parts), results.saturating_mul(to));
        if rows.saturating_mul(columns) > MOST_ELEMENTS as i64 {
            return Err(Fault::Unsupported(format!(
                "a Fourier transform of {} numbers takes a matrix of {rows} by {columns}: it is too long",
                self.length
            )));
        }
        let row = |row: i64| (0..columns).map(move |column| (row, column));
        let values = (0..rows)
            .flat_map(row)
            .map(|(row, column)| self.factor(row / parts, row % parts, column / to, column % to));
        floats(dtype, &[rows as usize, columns as usize], values)
    }

    /// The transform along an axis that is not the last one, which has the parts.
    fn of(&self, c: &mut Call<'_, '_>, x: &Var, axis: usize) -> Result<Var, Fault> {
        let dims = dims_of(c, x)?;
        let parts = dims.last().and_then(Size::as_int);
        let (Some(parts @ (1 | 2)), Some(extent)) = (parts, dims[axis].as_int()) else {
            let expected = format!("constant in dimension {axis}, and 1 or 2 in the last one");
            return Err(c.bad(0, shown(&dims), expected));
        };
        let count = self.taken(extent);
        let x = match count == extent {
            true => x.clone(),
            false => part(c, x, axis, 0, count)?,
        };
        let dtype = c.dtype(0)?;
        let matrix = self.matrix(count, parts, dtype)?;
        // The axis next to the parts.
        let last = dims.len() - 1;
        let mut order: Vec<usize> = (0..last).filter(|&at| at != axis).collect();
        let outer: Vec<Size> = order.iter().map(|&at| dims[at].clone()).collect();
        order.extend([axis, last]);
        let x = match axis + 1 == last {
            true => x,
            false => c.op_with("permute_dims", [&x], &json!({"axes": order}))?,
        };
        let mut flat = outer.clone();
        flat.push(Size::i64(count * parts));
        let x = c.reshaped(&x, flat)?;
        let y = c.op("matmul", [(&x).into(), relax::constant(matrix)])?;
        let mut split = outer;
        split.extend(self.results().map(Size::i64));
        let y = c.reshaped(&y, split)?;
        if axis + 1 == last {
            return Ok(y);
        }
        let mut back = vec![0; order.len()];
        for (at, &from) in order.iter().enumerate() {
            back[from] = at;
        }
        c.op_with("permute_dims", [&y], &json!({"axes": back}))
    }
}

/// One integer of an operand.
fn integer(c: &Call<'_, '_>, index: usize) -> Result<i64, Fault> {
    let ints = c.ints(index)?;
    let first = ints.first().copied();
    first.ok_or_else(|| c.bad(index, "empty", "a number"))
}

fn dft(c: &mut Call<'_, '_>) -> Outputs {
    let rank = c.ndim(0)?;
    let axis = match c.version {
        ..20 => c.attributes.int_or("axis", 1)?,
        _ if c.has(2) => integer(c, 2)?,
        _ => -2,
    };
    let axis = c.axis(axis, rank)?;
    if axis + 1 == rank {
        return Err(Fault::Attribute {
            name: "axis".to_owned(),
            given: axis.to_string(),
            expected: "a dimension before the last one".to_owned(),
        });
    }
    let inverse = c.attributes.flag("inverse", false)?;
    let onesided = c.attributes.flag("onesided", false)?;
    let length = match (c.has(1), inverse && onesided) {
        (true, _) => integer(c, 1)?,
        (false, true) => 2 * (c.dim(0, axis)? - 1),
        (false, false) => c.dim(0, axis)?,
    };
    if !(1..=MOST_ELEMENTS as i64).contains(&length) {
        return Err(c.bad(1, length, format!("a length of 1 to {MOST_ELEMENTS}")));
    }
    let transform = Transform {
        length,
        inverse,
        onesided,
    };
    let x = c.var(0)?;
    one(transform.of(c, &x, axis)?)
}

/// Transforms of parts of a signal `(batch, length, 1 or 2)`.
fn stft(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    if dims.len() != 3 {
        return Err(c.bad(0, shown(&dims), "(batch, length, 1 or 2)"));
    }
    let extent = c.dim(0, 1)?;
    let step = integer(c, 1)?;
    let length = match (c.has(3), c.has(2)) {
        (true, _) => integer(c, 3)?,
        (false, true) => c.dim(2, 0)?,
        (false, false) => extent,
    };
    if step < 1 {
        return Err(c.bad(1, step, "a positive number"));
    }
    if !(1..=extent).contains(&length) {
        return Err(c.bad(3, length, format!("1 to {extent}, as the signal has")));
    }
    if c.has(2) && c.dim(2, 0)? != length {
        let window = c.dims(2)?;
        return Err(c.bad(2, shown(&window), format!("a vector of {length}")));
    }
    let frames = (extent - length) / step + 1;
    if frames.saturating_mul(length) > MOST_ELEMENTS as i64 {
        let text = format!("{frames} frames of {length} numbers are too many");
        return Err(Fault::Unsupported(text));
    }
    let starts = (0..frames).map(|frame| frame * step);
    let positions = starts.flat_map(|start| start..start + length);
    let positions: Vec<i64> = positions.collect();
    let positions = Tensor::from_slice(&[frames as usize, length as usize], &positions);
    let positions = relax::constant(positions.map_err(relax::BuildError::from)?);
    let x = c.x(0)?;
    let mut x = c.op_with("take", [x, positions], &json!({"axis": 1}))?;
    if let Some(window) = c.optional(2)? {
        let window = c.reshaped(window, [Size::i64(length), Size::i64(1)])?;
        x = c.op("multiply", [&x, &window])?;
    }
    let transform = Transform {
        length,
        inverse: false,
        onesided: c.attributes.flag("onesided", true)?,
    };
    one(transform.of(c, &x, 2)?)
}

/// The element type that an attribute asks for.
fn output_type(c: &Call<'_, '_>) -> Result<DType, Fault> {
    let code = c.attributes.int_or("output_datatype", 1)?;
    let code = i32::try_from(code).unwrap_or(0);
    tensor::dtype(code).map_err(Fault::ElementType)
}

/// As [`floats`], for any type of numbers.
fn numbers(
    c: &mut Call<'_, '_>,
    shape: &[usize],
    values: impl IntoIterator<Item = f64>,
) -> Result<Expr, Fault> {
    let dtype = output_type(c)?;
    Ok(match dtype.is_float() {
        true => relax::constant(floats(dtype, shape, values)?),
        false => {
            let exact = relax::constant(floats(DType::F64, shape, values)?);
            crate::frontend::onnx::call::cast(exact, dtype)
        }
    })
}

/// `a - b cos(t) + c cos(2 t)`, where `t` goes around once.
fn window(c: &mut Call<'_, '_>, [a, b, twice]: [f64; 3]) -> Outputs {
    let size = integer(c, 0)?;
    let count = usize::try_from(size).ok();
    let count = count.filter(|&count| count <= MOST_ELEMENTS);
    let count =
        count.ok_or_else(|| c.bad(0, size, format!("a size of at most {MOST_ELEMENTS}")))?;
    let turn = match c.attributes.flag("periodic", true)? {
        true => size,
        false => size - 1,
    };
    let value = |at: usize| {
        let angle = 2.0 * PI * at as f64 / turn as f64;
        a - b * angle.cos() + twice * (2.0 * angle).cos()
    };
    let window = numbers(c, &[count], (0..count).map(value))?;
    one(c.emit(window)?)
}

/// Triangles over the numbers of a spectrum, whose corners are at equal distances on the mel scale.
fn mel_weights(c: &mut Call<'_, '_>) -> Outputs {
    let (bins, length, rate) = (integer(c, 0)?, integer(c, 1)?, integer(c, 2)?);
    let hertz = |index: usize| {
        let given = c.floats(index)?;
        let first = given.first().copied();
        first.ok_or_else(|| c.bad(index, "empty", "a number"))
    };
    let (low, high) = (hertz(3)?, hertz(4)?);
    let most = MOST_ELEMENTS as i64;
    for (index, given) in [bins, length, rate].into_iter().enumerate() {
        if given < 1 || index < 2 && given > most {
            return Err(c.bad(index, given, "a positive number that is not too great"));
        }
    }
    let rows = length / 2 + 1;
    if rows.saturating_mul(bins) > most {
        let text = format!("a matrix of {rows} by {bins} is too great");
        return Err(Fault::Unsupported(text));
    }
    let mel = |hertz: f64| 2595.0 * (hertz / 700.0).ln_1p() / LN_10;
    let distance = (mel(high) - mel(low)) / (bins + 2) as f64;
    let corner = |at: i64| {
        let hertz = 700.0 * ((at as f64 * distance + mel(low)) / 2595.0 * LN_10).exp_m1();
        ((length + 1) as f64 * hertz / rate as f64).floor()
    };
    let corners: Vec<f64> = (0..bins + 2).map(corner).collect();
    let inside = |&corner: &f64| 0.0 <= corner && corner < rows as f64;
    if !corners.iter().all(inside) || !corners.is_sorted() {
        let given = format!("{low} to {high}");
        return Err(c.bad(3, given, "ascending, and frequencies of the spectrum"));
    }
    let weight = |row: i64, bin: i64| {
        let at = row as f64;
        let [left, middle, right] = [0, 1, 2].map(|next| corners[(bin + next) as usize]);
        if middle <= at && at < right {
            (right - at) / (right - middle)
        } else if left <= at && at <= middle {
            match left == middle {
                true => 1.0,
                false => (at - left) / (middle - left),
            }
        } else {
            0.0
        }
    };
    let row = |row: i64| (0..bins).map(move |bin| (row, bin));
    let values = (0..rows).flat_map(row);
    let shape = [rows as usize, bins as usize];
    let matrix = numbers(c, &shape, values.map(|(row, bin)| weight(row, bin)))?;
    one(c.emit(matrix)?)
}
