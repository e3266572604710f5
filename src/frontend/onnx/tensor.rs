//! Tensors of a model file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::error::{MAX_RANK, TensorFault};
use super::file::{self, Mapped};
use super::packed::Packed;
use super::proto::{EXTERNAL, SparseTensorProto, TensorProto};
use crate::tensor::{DType, ScalarType, Tensor};

/// Most bytes of a tensor whose elements the file does not hold one by one.
const MAX_SPARSE: usize = 1 << 28;

/// Bytes of a mapped file that are copied before their memory is released.
const AT_ONCE: usize = 1 << 22;

/// The element type of `TensorProto.DataType`.
pub(super) fn dtype(code: i32) -> Result<DType, String> {
    match code {
        1 => Ok(DType::F32),
        2 => Ok(DType::U8),
        3 => Ok(DType::I8),
        4 => Ok(DType::U16),
        5 => Ok(DType::I16),
        6 => Ok(DType::I32),
        7 => Ok(DType::I64),
        9 => Ok(DType::BOOL),
        10 => Ok(DType::F16),
        11 => Ok(DType::F64),
        12 => Ok(DType::U32),
        13 => Ok(DType::U64),
        16 => Ok(DType::BF16),
        8 => Err("string".to_owned()),
        14 => Err("complex64".to_owned()),
        15 => Err("complex128".to_owned()),
        // Devices do not compute with floats of eight bits.
        17 => Err("float8e4m3fn".to_owned()),
        18 => Err("float8e4m3fnuz".to_owned()),
        19 => Err("float8e5m2".to_owned()),
        20 => Err("float8e5m2fnuz".to_owned()),
        21 => Err("uint4".to_owned()),
        22 => Err("int4".to_owned()),
        23 => Err("float4e2m1".to_owned()),
        24 => Err("float8e8m0".to_owned()),
        25 => Err("uint2".to_owned()),
        26 => Err("int2".to_owned()),
        other => Err(format!("number {other}")),
    }
}

/// Reads tensors, and the files beside the model that hold elements.
#[derive(Default)]
pub(super) struct Tensors {
    /// The folder of the model; `None` for a model that came as bytes.
    pub(super) folder: Option<PathBuf>,
    /// The file of the model; nothing of a model that came as bytes.
    own: Mapped,
    /// The files read so far.
    files: HashMap<PathBuf, Mapped>,
    /// The tensors read so far, by the address of their message: the body of a loop is imported once for each iteration.
    read: HashMap<usize, Tensor>,
}

impl Tensors {
    /// Tensors of a model in this folder, which is read from this file.
    pub(super) fn of(folder: Option<&Path>, own: Mapped) -> Self {
        Self {
            folder: folder.map(Path::to_owned),
            own,
            ..Self::default()
        }
    }

    /// The tensor. The message lives as long as the model, so that its address names it.
    pub(super) fn read(&mut self, proto: &TensorProto) -> Result<Tensor, TensorFault> {
        let address = std::ptr::from_ref(proto).addr();
        if let Some(tensor) = self.read.get(&address) {
            return Ok(tensor.clone());
        }
        let tensor = self.read_new(proto)?;
        self.read.insert(address, tensor.clone());
        Ok(tensor)
    }

    fn read_new(&mut self, proto: &TensorProto) -> Result<Tensor, TensorFault> {
        let dtype = dtype(proto.data_type.unwrap_or(0)).map_err(TensorFault::ElementType)?;
        let shape = extents(&proto.dims)?;
        if proto.data_location == Some(EXTERNAL) {
            let (file, bytes) = self.external(proto)?;
            return of_bytes(dtype, &shape, &bytes, &file);
        }
        if let Some(raw) = &proto.raw_data {
            return of_bytes(dtype, &shape, raw, &self.own);
        }
        match dtype.scalar {
            ScalarType::F32 => of_elements(dtype, &shape, &proto.float_data, |v| v.to_le_bytes()),
            ScalarType::F64 => of_elements(dtype, &shape, &proto.double_data, |v| v.to_le_bytes()),
            ScalarType::I64 => of_elements(dtype, &shape, &proto.int64_data, |v| v.to_le_bytes()),
            ScalarType::U64 => of_elements(dtype, &shape, &proto.uint64_data, |v| v.to_le_bytes()),
            ScalarType::U32 => of_elements(dtype, &shape, &proto.uint64_data, |v| {
                (*v as u32).to_le_bytes()
            }),
            ScalarType::I32 => of_elements(dtype, &shape, &proto.int32_data, |v| v.to_le_bytes()),
            // Halves by their bits.
            ScalarType::I16 | ScalarType::U16 | ScalarType::F16 | ScalarType::BF16 => {
                of_elements(dtype, &shape, &proto.int32_data, |v| {
                    (*v as u16).to_le_bytes()
                })
            }
            ScalarType::Bool => {
                of_elements(dtype, &shape, &proto.int32_data, |v| [u8::from(*v != 0)])
            }
            ScalarType::I8 | ScalarType::U8 | ScalarType::Small(_) => {
                of_elements(dtype, &shape, &proto.int32_data, |v| [*v as u8])
            }
        }
    }

    /// A tensor of 4-bit integers, packed as in the file.
    pub(super) fn read_packed(
        &mut self,
        proto: &TensorProto,
        signed: bool,
    ) -> Result<Packed, TensorFault> {
        let shape = extents(&proto.dims)?;
        let expected = Packed::bytes(&shape);
        if proto.data_location == Some(EXTERNAL) {
            let (file, bytes) = self.external(proto)?;
            counted(DType::U8, &[expected], bytes.len())?;
            let packed = Packed::of(&bytes, shape, signed)?;
            file.release(&bytes);
            return Ok(packed);
        }
        if let Some(raw) = &proto.raw_data {
            counted(DType::U8, &[expected], raw.len())?;
            return Packed::of(raw, shape, signed);
        }
        counted(DType::U8, &[expected], proto.int32_data.len())?;
        let bytes: Vec<u8> = proto.int32_data.iter().map(|v| *v as u8).collect();
        Packed::of(&bytes, shape, signed)
    }

    /// The file that holds the elements, and the part of it that they are.
    fn external(&mut self, proto: &TensorProto) -> Result<(Mapped, Bytes), TensorFault> {
        let entry = |key: &str| {
            let entries = proto.external_data.iter();
            let mut found = entries.filter(|entry| entry.key.as_deref() == Some(key));
            found.next().and_then(|entry| entry.value.as_deref())
        };
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => text.parse::<usize>().map(Some).map_err(|_| {
                TensorFault::External(format!("its {key} `{text}` is no number of bytes"))
            }),
        };
        let said = |text: &str| TensorFault::External(text.to_owned());
        let location = entry("location").ok_or_else(|| said("the file is not named"))?;
        let folder = self.folder.as_deref();
        let folder = folder.ok_or_else(|| said("the model came as bytes, without a folder"))?;
        let path = file::beside(folder, location)?;
        let file = match self.files.get(&path) {
            Some(file) => file.clone(),
            None => {
                let file = Mapped::open(&path).map_err(|source| TensorFault::Read {
                    path: path.clone(),
                    source,
                })?;
                self.files.insert(path, file.clone());
                file
            }
        };
        let bytes = file.bytes();
        let start = number("offset")?.unwrap_or(0);
        let length = number("length")?.unwrap_or(bytes.len().saturating_sub(start));
        match start.checked_add(length) {
            Some(end) if end <= bytes.len() => Ok((file, bytes.slice(start..end))),
            _ => Err(TensorFault::External(format!(
                "{location} has {} bytes, not {length} from {start} on",
                bytes.len()
            ))),
        }
    }

    /// A sparse tensor with all of its elements.
    pub(super) fn read_sparse(&mut self, proto: &SparseTensorProto) -> Result<Tensor, TensorFault> {
        let missing = || TensorFault::External("it has no values".to_owned());
        let values = self.read(proto.values.as_ref().ok_or_else(missing)?)?;
        let indices = self.read(proto.indices.as_ref().ok_or_else(missing)?)?;
        let shape = extents(&proto.dims)?;
        let dense = bytes_of(values.dtype(), &shape).filter(|bytes| *bytes <= MAX_SPARSE);
        dense.ok_or_else(|| TensorFault::Shape(proto.dims.clone()))?;
        let mut tensor = Tensor::zeros(values.dtype(), &shape)?;
        let width = values.dtype().bytes();
        let outside = || TensorFault::Index(shape.clone());
        let numbers = indices.as_slice::<i64>()?;
        let count = values.len();
        let per = numbers.len().checked_div(count).unwrap_or(0);
        if count * per != numbers.len() || (count > 0 && per != 1 && per != shape.len()) {
            return Err(outside());
        }
        let elements = tensor.len();
        let bytes = tensor.bytes_mut()?;
        for at in 0..count {
            let index = &numbers[at * per..(at + 1) * per];
            let place = match index {
                [linear] => usize::try_from(*linear).ok(),
                many => many
                    .iter()
                    .zip(&shape)
                    .try_fold(0usize, |place, (&i, &dim)| {
                        let i = usize::try_from(i).ok().filter(|i| *i < dim)?;
                        Some(place * dim + i)
                    }),
            };
            let place = place.filter(|p| *p < elements).ok_or_else(outside)?;
            let from = &values.bytes()[at * width..(at + 1) * width];
            bytes[place * width..(place + 1) * width].copy_from_slice(from);
        }
        Ok(tensor)
    }
}

fn extents(dims: &[i64]) -> Result<Vec<usize>, TensorFault> {
    if dims.len() > MAX_RANK {
        return Err(TensorFault::Rank(dims.len()));
    }
    let shape: Option<Vec<usize>> = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let shape = shape.ok_or_else(|| TensorFault::Shape(dims.to_vec()))?;
    // Also with an extent of 0: what follows multiplies the others.
    let product = shape
        .iter()
        .try_fold(8usize, |product, &dim| product.checked_mul(dim.max(1)));
    match product {
        Some(product) if product <= isize::MAX as usize => Ok(shape),
        _ => Err(TensorFault::Shape(dims.to_vec())),
    }
}

fn bytes_of(dtype: DType, shape: &[usize]) -> Option<usize> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &dim| n.checked_mul(dim))?;
    count.checked_mul(dtype.bytes())
}

/// The number of bytes is compared before memory is taken.
fn counted(dtype: DType, shape: &[usize], given: usize) -> Result<(), TensorFault> {
    let expected = bytes_of(dtype, shape).unwrap_or(usize::MAX);
    match expected == given {
        true => Ok(()),
        false => Err(TensorFault::Count {
            dtype,
            shape: shape.to_vec(),
            expected,
            given,
        }),
    }
}

/// A copy of these bytes of a file, which do not stay in memory. ONNX keeps them little-endian, as all hosts that we run on.
fn of_bytes(
    dtype: DType,
    shape: &[usize],
    bytes: &[u8],
    file: &Mapped,
) -> Result<Tensor, TensorFault> {
    counted(dtype, shape, bytes.len())?;
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let to = tensor.bytes_mut()?.chunks_mut(AT_ONCE);
    for (to, from) in to.zip(bytes.chunks(AT_ONCE)) {
        to.copy_from_slice(from);
        file.release(from);
    }
    Ok(tensor)
}

fn of_elements<T, const N: usize>(
    dtype: DType,
    shape: &[usize],
    elements: &[T],
    bytes: impl Fn(&T) -> [u8; N],
) -> Result<Tensor, TensorFault> {
    counted(dtype, shape, elements.len().saturating_mul(N))?;
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let to = tensor.bytes_mut()?.chunks_exact_mut(N);
    to.zip(elements)
        .for_each(|(to, v)| to.copy_from_slice(&bytes(v)));
    Ok(tensor)
}
