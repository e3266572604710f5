//! `MatMulNBits` of `com.microsoft`: a product with weights of a few bits, which language models carry.

use serde_json::json;

use super::Operator;
use super::pieces::{dims_of, part};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[Operator::new("MatMulNBits", &[1], matmul)
    .of("com.microsoft")
    .note("2, 4 or 8 bits; no `g_idx`, no weights packed for one device")];

/// How the weights (N, K) are packed: blocks along K, each with a scale and a zero point.
struct Packing {
    bits: i64,
    /// Elements of a block.
    block: i64,
    /// Blocks of a row.
    blocks: i64,
    n: i64,
    k: i64,
}

impl Packing {
    fn of(c: &Call<'_, '_>) -> Result<Self, Fault> {
        let positive = |name: &str, most: i64| {
            let given = c.attributes.int(name)?;
            let given = given.ok_or_else(|| Fault::NoAttribute(name.to_owned()))?;
            match given >= 1 && given <= most {
                true => Ok(given),
                false => Err(Fault::Attribute {
                    name: name.to_owned(),
                    given: given.to_string(),
                    expected: format!("from 1 to {most}"),
                }),
            }
        };
        let refused = |name: &str, given: i64, expected: &str| Fault::Attribute {
            name: name.to_owned(),
            given: given.to_string(),
            expected: expected.to_owned(),
        };
        let most = i64::from(i32::MAX);
        let bits = c.attributes.int_or("bits", 4)?;
        if ![2, 4, 8].contains(&bits) {
            return Err(refused("bits", bits, "2, 4 or 8"));
        }
        let block = positive("block_size", most)?;
        if block < 16 || block.count_ones() != 1 {
            return Err(refused("block_size", block, "a power of 2, 16 or more"));
        }
        let (n, k) = (positive("N", most)?, positive("K", most)?);
        Ok(Self {
            bits,
            block,
            blocks: (k + block - 1) / block,
            n,
            k,
        })
    }

    /// The numbers of some bits in bytes (.., bytes), the lowest bits first: (.., bytes * 8 / bits).
    fn unpacked(&self, c: &mut Call<'_, '_>, bytes: &Var) -> Result<Var, Fault> {
        if self.bits == 8 {
            return Ok(bytes.clone());
        }
        let mut dims = dims_of(c, bytes)?;
        let per_byte = 8 / self.bits;
        let shifts: Vec<u8> = (0..per_byte).map(|at| (at * self.bits) as u8).collect();
        let shifts = Tensor::from_slice(&[shifts.len()], &shifts);
        let shifts = relax::constant(shifts.map_err(relax::BuildError::from)?);
        let mask = number(((1i64 << self.bits) - 1) as f64, DType::U8)?;
        let apart = relax::op_with("expand_dims", [bytes], attrs(&json!({"axis": [-1]})));
        let shifted = relax::op("right_shift", [apart, shifts]);
        let numbers = c.op("bitwise_and", [shifted, mask])?;
        if let Some(last) = dims.last_mut() {
            *last = c.importer.arith.simplify(&(&*last * per_byte));
        }
        c.reshaped(&numbers, dims)
    }

    /// A number for each block, to be broadcast along it.
    fn of_blocks(&self, c: &mut Call<'_, '_>, x: &Var) -> Result<Var, Fault> {
        c.reshaped(x, [self.n, self.blocks, 1].map(Size::i64))
    }

    /// Refuses an operand of another number of elements.
    fn check(&self, c: &Call<'_, '_>, index: usize, shape: [i64; 3]) -> Result<(), Fault> {
        let dims = c.dims(index)?;
        let given: Option<i64> = dims.iter().map(Size::as_int).product();
        match given == Some(shape.iter().product()) {
            true => Ok(()),
            false => Err(c.bad(index, shown(&dims), format!("a tensor of {shape:?}"))),
        }
    }

    /// What is taken from each number: a number for each block, or half of the range.
    fn zero(&self, c: &mut Call<'_, '_>, dtype: DType) -> Result<Expr, Fault> {
        if !c.has(3) {
            return number((1i64 << (self.bits - 1)) as f64, dtype);
        }
        if c.dtype(3)? != DType::U8 {
            self.check(c, 3, [self.n, self.blocks, 1])?;
            let zero = c.var(3)?;
            return Ok(cast(&self.of_blocks(c, &zero)?, dtype));
        }
        let bytes = (self.blocks * self.bits + 7) / 8;
        self.check(c, 3, [self.n, bytes, 1])?;
        let zero = c.var(3)?;
        let zero = c.reshaped(&zero, [self.n, bytes].map(Size::i64))?;
        let zero = self.unpacked(c, &zero)?;
        let zero = part(c, &zero, 1, 0, self.blocks)?;
        Ok(cast(&self.of_blocks(c, &zero)?, dtype))
    }
}

fn matmul(c: &mut Call<'_, '_>) -> Outputs {
    c.attributes.only("weight_prepacked", 0)?;
    // How much the device may round: what is computed here is at least as precise.
    c.attributes.ignore("accuracy_level");
    if c.has(4) {
        let text = "columns in another order than their blocks (`g_idx`)".to_owned();
        return Err(Fault::Unsupported(text));
    }
    let packing = Packing::of(c)?;
    let Packing {
        bits,
        block,
        blocks,
        n,
        k,
    } = packing;
    let bytes = block * bits / 8;
    packing.check(c, 1, [n, blocks, bytes])?;
    packing.check(c, 2, [n, blocks, 1])?;
    let dtype = c.dtype(0)?;
    let packed = c.var(1)?;
    let packed = c.reshaped(&packed, [n, blocks, bytes].map(Size::i64))?;
    let numbers = packing.unpacked(c, &packed)?;
    let zero = packing.zero(c, dtype)?;
    let scale = c.var(2)?;
    let scale = packing.of_blocks(c, &scale)?;
    let weights = c.emit((cast(&numbers, dtype) - zero) * Expr::from(&scale))?;
    let weights = c.reshaped(&weights, [n, blocks * block].map(Size::i64))?;
    let weights = part(c, &weights, 1, 0, k)?;
    let transposed = c.op_with("permute_dims", [&weights], &json!({"axes": [1, 0]}))?;
    let x = c.x(0)?;
    let mut y = relax::op("matmul", [x, (&transposed).into()]);
    if let Some(bias) = c.optional(5)? {
        y = y + bias;
    }
    one(c.emit(y)?)
}
