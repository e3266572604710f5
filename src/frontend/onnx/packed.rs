//! Weights of `int4` and `uint4`. Nothing computes with these types, so such a tensor keeps the bits of the file, and the operator that
//! takes it, `DequantizeLinear`, unpacks it in the graph.

use super::call::{Call, cast, number};
use super::error::{Fault, TensorFault};
use super::proto::TensorProto;
use crate::ir::Expr as Size;
use crate::relax::{self, Var};
use crate::tensor::{DType, Tensor};

/// Codes of `TensorProto.DataType`.
const UINT4: i32 = 21;
const INT4: i32 = 22;

/// Numbers of a word.
const OF_WORD: usize = 8;

/// The sign bits of eight numbers, as bytes.
const SIGNS: u8 = 0x88;

/// A tensor of 4-bit integers in row-major order, eight to a word.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    /// `uint32`, of one dimension: the first number in the lowest bits. Numbers of `int4` have 8 added to them; past the end are any.
    pub(super) words: Tensor,
    /// Extents, in numbers.
    pub(super) shape: Vec<usize>,
    /// Whether the type is `int4`.
    pub(super) signed: bool,
}

/// Whether the numbers of a tensor have four bits, and a sign.
pub(super) fn sign_of(proto: &TensorProto) -> Option<bool> {
    match proto.data_type {
        Some(UINT4) => Some(false),
        Some(INT4) => Some(true),
        _ => None,
    }
}

impl Packed {
    /// Bytes that numbers of these extents take in a file.
    pub(super) fn bytes(shape: &[usize]) -> usize {
        shape.iter().product::<usize>().div_ceil(2)
    }

    /// The tensor with the bytes of a file, two numbers each.
    pub(super) fn of(bytes: &[u8], shape: Vec<usize>, signed: bool) -> Result<Self, TensorFault> {
        let words = bytes.len().div_ceil(4);
        let mut words = Tensor::zeros(DType::U32, &[words])?;
        // Adding 8 to a number of two's complement flips its sign bit.
        let flipped = if signed { SIGNS } else { 0 };
        for (word, bytes) in words.bytes_mut()?.chunks_mut(4).zip(bytes.chunks(4)) {
            let mut of_word = [0; 4];
            for (to, from) in of_word.iter_mut().zip(bytes) {
                *to = from ^ flipped;
            }
            word.copy_from_slice(&u32::from_le_bytes(of_word).to_ne_bytes());
        }
        Ok(Self {
            words,
            shape,
            signed,
        })
    }

    /// The name of the element type.
    pub(super) fn dtype_name(&self) -> &'static str {
        if self.signed { "int4" } else { "uint4" }
    }

    /// The numbers in `int32`.
    pub(super) fn unpacked(&self, c: &mut Call<'_, '_>) -> Result<Var, Fault> {
        let count: usize = self.shape.iter().product();
        let dims = self.shape.iter().map(|&dim| Size::i64(dim as i64));
        let dims: Vec<Size> = dims.collect();
        let rows = match self.shape.split_last() {
            Some((last, rest)) if last.is_multiple_of(OF_WORD) && count > 0 => {
                Some([rest, &[last / OF_WORD]].concat())
            }
            _ => None,
        };
        let numbers = match rows {
            // Rows of whole words.
            Some(rows) => {
                let words = self.words.reshape(&rows).map_err(relax::BuildError::from)?;
                c.op("unpack_bits", [relax::constant(words)])?
            }
            None => {
                let words = relax::constant(self.words.clone());
                let all = c.op("unpack_bits", [words])?;
                let (axis, first) = (relax::shape([0i64]), relax::shape([0i64]));
                let end = relax::shape([count as i64]);
                let own = c.op("strided_slice", [(&all).into(), axis, first, end])?;
                c.reshaped(&own, dims)?
            }
        };
        let numbers = cast(&numbers, DType::I32);
        c.emit(match self.signed {
            true => numbers - number(8.0, DType::I32)?,
            false => numbers,
        })
    }
}
