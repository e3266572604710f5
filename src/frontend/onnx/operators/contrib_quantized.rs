//! Products of `com.microsoft` with quantized matrices: weights of a few bits, and integers that a scale turns into floats.

use serde_json::json;

use super::Operator;
use super::contrib_attention::float_type;
use super::pieces::{part, volume, zeros};
use super::quantize::dynamically_quantized;
use super::recurrent::lstm;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::{DType, Tensor};

const DOMAIN: &str = "com.microsoft";

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("DynamicQuantizeLSTM", &[1], dynamic_quantize_lstm)
        .of(DOMAIN)
        .note("data and states are not quantized"),
    Operator::new("DynamicQuantizeMatMul", &[1], dynamic_quantize_matmul).of(DOMAIN),
    Operator::new("MatMulIntegerToFloat", &[1], matmul_integer_to_float).of(DOMAIN),
    Operator::new("MatMulNBits", &[1], matmul_n_bits)
        .of(DOMAIN)
        .note("2, 4 or 8 bits; products are those of dequantized weights, whatever `accuracy_level` allows; `weight_prepacked` only 0"),
];

/// How a matrix (N, K) of integers of a few bits is packed: rows of blocks, and each block in bytes of its own, its first number in the
/// lowest bits.
struct Packing {
    rows: i64,
    columns: i64,
    bits: i64,
    block: i64,
}

impl Packing {
    fn of(c: &Call<'_, '_>) -> Result<Self, Fault> {
        let at_least_1 = |name: &str| match c.attributes.int(name)? {
            Some(value @ 1..) => Ok(value),
            Some(value) => Err(Fault::Attribute {
                name: name.to_owned(),
                given: value.to_string(),
                expected: "at least 1".to_owned(),
            }),
            None => Err(Fault::NoAttribute(name.to_owned())),
        };
        let (rows, columns, block) = (
            at_least_1("N")?,
            at_least_1("K")?,
            at_least_1("block_size")?,
        );
        let bits = c.attributes.int_or("bits", 4)?;
        let unfit = |name: &str, given: i64, expected: &str| {
            Err(Fault::Attribute {
                name: name.to_owned(),
                given: given.to_string(),
                expected: expected.to_owned(),
            })
        };
        if ![2, 4, 8].contains(&bits) {
            return unfit("bits", bits, "2, 4 or 8");
        }
        if block % (8 / bits) != 0 {
            return unfit(
                "block_size",
                block,
                "a number of elements that fills whole bytes",
            );
        }
        let packing = Self {
            rows,
            columns,
            bits,
            block,
        };
        let all = packing.blocks().checked_mul(block);
        if all.and_then(|row| row.checked_mul(rows)).is_none() {
            return unfit("N", rows, "so small that K * N elements are addressed");
        }
        Ok(packing)
    }

    /// Blocks of a row.
    fn blocks(&self) -> i64 {
        (self.columns - 1) / self.block + 1
    }

    /// Numbers of a byte.
    fn each_byte(&self) -> i64 {
        8 / self.bits
    }

    /// The operand as a tensor of this shape, which must have as many elements.
    fn reshaped(c: &mut Call<'_, '_>, index: usize, shape: [i64; 3]) -> Result<Var, Fault> {
        let dims = c.dims(index)?;
        let expected = shape.map(Size::i64);
        let wanted = c.importer.arith.simplify(&volume(&expected));
        let given = c.importer.arith.simplify(&volume(&dims));
        if given.as_int().is_some() && given != wanted {
            return Err(c.bad(index, shown(&dims), shown(&expected)));
        }
        let x = c.x(index)?;
        c.reshaped(x, expected)
    }

    /// The numbers of packed bytes or words (rows, n, count), as (rows, n, numbers), in the type of the bytes or words.
    fn unpacked(&self, c: &mut Call<'_, '_>, x: &Var) -> Result<Var, Fault> {
        c.op_with("unpack_bits", [x], &json!({"bits": self.bits}))
    }

    /// The packed matrix (rows, blocks, bytes) in words, where the model holds it and blocks are whole words: kernels load vectors of those.
    fn in_words(&self, c: &mut Call<'_, '_>, bytes: i64) -> Result<Option<Var>, Fault> {
        let Some(Value::Const(tensor)) = c.inputs.get(1) else {
            return Ok(None);
        };
        let shape = [self.rows, self.blocks(), bytes / 4].map(|n| n as usize);
        if bytes % 4 != 0 || tensor.len() != 4 * shape.iter().product::<usize>() {
            return Ok(None);
        }
        let words = tensor.bytes().as_chunks::<4>().0.iter();
        let words: Vec<u32> = words.map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let words = Tensor::from_slice(&shape, &words).map_err(relax::BuildError::from)?;
        c.emit(relax::constant(words)).map(Some)
    }

    /// A number for each block, (rows, blocks, 1): what is taken from its elements before the scale.
    fn zero_points(&self, c: &mut Call<'_, '_>, dtype: DType) -> Result<Expr, Fault> {
        let blocks = self.blocks();
        if !c.has(3) {
            return number((1 << (self.bits - 1)) as f64, dtype);
        }
        if c.dtype(3)?.is_float() {
            let points = Self::reshaped(c, 3, [self.rows, blocks, 1])?;
            return Ok(in_type(&points, c.dtype(3)?, dtype));
        }
        let bytes = (blocks - 1) / self.each_byte() + 1;
        bytes_only(c, 3)?;
        let packed = Self::reshaped(c, 3, [self.rows, 1, bytes])?;
        let points = self.unpacked(c, &packed)?;
        let points = part(c, &points, 2, 0, blocks)?;
        let points = c.reshaped(&points, [self.rows, blocks, 1].map(Size::i64))?;
        Ok(cast(&points, dtype))
    }

    /// The matrix of floats, (N, K).
    fn dequantized(&self, c: &mut Call<'_, '_>, dtype: DType) -> Result<Var, Fault> {
        let (blocks, block) = (self.blocks(), self.block);
        bytes_only(c, 1)?;
        let bytes = block / self.each_byte();
        let packed = match self.in_words(c, bytes)? {
            Some(words) => words,
            None => Self::reshaped(c, 1, [self.rows, blocks, bytes])?,
        };
        let numbers = self.unpacked(c, &packed)?;
        let scales = Self::reshaped(c, 2, [self.rows, blocks, 1])?;
        let scales = in_type(&scales, c.dtype(2)?, dtype);
        let points = self.zero_points(c, dtype)?;
        let row = [self.rows, blocks * block].map(Size::i64);
        let of_row = |c: &mut Call<'_, '_>, x: &Var| {
            let x = c.reshaped(x, row.clone())?;
            part(c, &x, 1, 0, self.columns)
        };
        if !c.has(4) {
            let floats = c.emit((cast(&numbers, dtype) - points) * scales)?;
            return of_row(c, &floats);
        }
        // Each column says which block has its scale and zero point.
        let numbers = of_row(c, &numbers)?;
        let group = c.x(4)?;
        let each = |x: Expr| {
            let flat = relax::shape([self.rows, blocks]);
            let x = relax::op("reshape", [x, flat]);
            let columns = attrs(&json!({"axis": 1}));
            relax::op_with("take", [x, group.clone()], columns)
        };
        let points = match c.has(3) {
            true => each(points),
            false => points,
        };
        c.emit((cast(&numbers, dtype) - points) * each(scales))
    }
}

/// Refuses an operand that is not packed in bytes.
fn bytes_only(c: &Call<'_, '_>, index: usize) -> Result<(), Fault> {
    match c.dtype(index)? {
        DType::U8 => Ok(()),
        dtype => Err(c.bad(index, format!("a tensor of {dtype}"), "a tensor of uint8")),
    }
}

/// `A * dequantized(B)^T + bias`.
fn matmul_n_bits(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.only("weight_prepacked", 0)?;
    c.attributes.ignore("accuracy_level");
    let dtype = float_type(c)?;
    let packing = Packing::of(c)?;
    let dims = c.dims(0)?;
    let width = dims.last().and_then(Size::as_int);
    if dims.is_empty() || width.is_some_and(|width| width != packing.columns) {
        let expected = format!("a tensor whose last extent is {}", packing.columns);
        return Err(c.bad(0, shown(&dims), expected));
    }
    let [rows, columns] = [packing.rows, packing.columns].map(Size::i64);
    c.expect_extents(4, &[Extent::of("K", &columns)])?;
    c.expect_extents(5, &[Extent::of("N", &rows)])?;
    let left_out = c.dims(1)?.iter().any(|dim| dim.as_int() == Some(0));
    let mut y = match left_out {
        true => {
            let rest = dims[..dims.len() - 1].iter().cloned();
            zeros(rest.chain([Size::i64(packing.rows)]), dtype)
        }
        false => {
            let weights = packing.dequantized(c, dtype)?;
            let turned = attrs(&json!({"axes": [1, 0]}));
            let weights = relax::op_with("permute_dims", [&weights], turned);
            relax::op("matmul", [c.x(0)?, weights])
        }
    };
    if let Some(bias) = c.optional(5)? {
        y = y + bias;
    }
    one(c.emit(y)?)
}

/// A matrix of integers as int32, less its zero point, which is one number or one for each column.
fn centred(c: &mut Call<'_, '_>, index: usize, zero: usize) -> Result<Expr, Fault> {
    let x = cast(c.x(index)?, DType::I32);
    Ok(match c.optional(zero)? {
        Some(zero) => x - cast(zero, DType::I32),
        None => x,
    })
}

/// Integer products in floats: the sums times the scales of both factors, and a bias, if there is one.
fn in_floats(
    c: &mut Call<'_, '_>,
    factors: [Expr; 2],
    [a, b]: [Expr; 2],
    bias: usize,
    dtype: DType,
) -> Outputs {
    let sums = cast(relax::op("matmul", factors), DType::F32);
    let mut y = sums * (cast(a, DType::F32) * cast(b, DType::F32));
    if let Some(bias) = c.optional(bias)? {
        y = y + cast(bias, DType::F32);
    }
    one(c.emit(in_type(y, DType::F32, dtype))?)
}

fn matmul_integer_to_float(c: &mut Call<'_, '_>) -> Outputs {
    let factors = [centred(c, 0, 4)?, centred(c, 1, 5)?];
    let scales = [c.x(2)?, c.x(3)?];
    let dtype = c.dtype(3)?;
    in_floats(c, factors, scales, 6, dtype)
}

fn dynamic_quantize_matmul(c: &mut Call<'_, '_>) -> Outputs {
    let dtype = float_type(c)?;
    let a = c.var(0)?;
    let [a, scale, zero] = dynamically_quantized(c, &a)?;
    let a = cast(&a, DType::I32) - cast(&zero, DType::I32);
    let factors = [a, centred(c, 1, 3)?];
    let scales = [(&scale).into(), c.x(2)?];
    in_floats(c, factors, scales, 4, dtype)
}

/// Weights of a recurrent layer, (directions, input, gates), as the floats of the standard's layer, (directions, gates, input). The
/// scale and the zero point after it are one number for each direction, or one for each gate of each unit.
fn layer_weights(c: &mut Call<'_, '_>, index: usize, scale: usize) -> Result<Var, Fault> {
    let dims = c.dims(index)?;
    let [directions, _, gates] = dims.as_slice() else {
        return Err(c.bad(index, shown(&dims), "(directions, input, gates)"));
    };
    let each_direction = |c: &mut Call<'_, '_>, index: usize| {
        let gates = match c.ndim(index)? {
            2 => gates.clone(),
            _ => Size::i64(1),
        };
        let wide = relax::shape([directions.clone(), Size::i64(1), gates]);
        Ok::<_, Fault>(relax::op("reshape", [c.x(index)?, wide]))
    };
    let zero = cast(each_direction(c, scale + 1)?, DType::I32);
    let numbers = cast(c.x(index)?, DType::I32) - zero;
    let weights = cast(numbers, DType::F32) * each_direction(c, scale)?;
    let turned = attrs(&json!({"axes": [0, 2, 1]}));
    c.emit(relax::op_with("permute_dims", [weights], turned))
}

/// The layer of the standard with dequantized weights. In onnxruntime the data and the states of each step are quantized too, so that
/// its results differ by what that rounds.
fn dynamic_quantize_lstm(c: &mut Call<'_, '_>) -> Outputs {
    let weights = layer_weights(c, 1, 8)?;
    let recurrence = layer_weights(c, 2, 10)?;
    c.inputs.truncate(8);
    c.inputs[1] = weights.into();
    c.inputs[2] = recurrence.into();
    lstm(c)
}
