//! numpy arrays of a pickle as tensors.

use std::collections::HashMap;

use super::PickleError;
use super::machine::{ArrayState, Machine, Object, Value};
use crate::frontend::npy::row_major;
use crate::tensor::{DType, Tensor};

/// The most dimensions of a numpy array.
const MAX_NDIM: usize = 64;

/// Makes tensors, each array once, and no more bytes than the file has.
pub(super) struct Arrays<'m, 'a> {
    machine: &'m Machine<'a>,
    done: HashMap<usize, Tensor>,
    limit: usize,
    made: usize,
}

impl<'m, 'a> Arrays<'m, 'a> {
    pub(super) fn new(machine: &'m Machine<'a>, limit: usize) -> Self {
        Self {
            machine,
            done: HashMap::new(),
            limit,
            made: 0,
        }
    }

    /// The tensor that a value of the dict is.
    pub(super) fn tensor(&mut self, name: &str, value: Value) -> Result<Tensor, PickleError> {
        let not_an_array = || PickleError::NotAnArray {
            name: name.to_owned(),
            found: self.machine.describe(value),
        };
        let Value::Object(index) = value else {
            return Err(not_an_array());
        };
        if let Some(tensor) = self.done.get(&index) {
            return Ok(tensor.clone());
        }
        let Object::Array(Some(state)) = self.machine.object(index) else {
            return Err(not_an_array());
        };
        let tensor = self.make(name, *state)?;
        self.done.insert(index, tensor.clone());
        Ok(tensor)
    }

    fn make(&mut self, name: &str, state: ArrayState) -> Result<Tensor, PickleError> {
        let (dtype, swapped) = self.dtype(name, state.dtype)?;
        let shape = self.shape(name, state.shape)?;
        let Some(Object::Bytes(data)) = self.machine.resolve(state.data) else {
            return Err(PickleError::NotAnArray {
                name: name.to_owned(),
                found: self.machine.describe(state.data),
            });
        };
        self.made += data.len();
        if self.made > self.limit {
            return Err(PickleError::TooLarge { limit: self.limit });
        }
        // Checks the number of bytes against the shape, before they are moved about.
        let fault = |source| PickleError::Tensor {
            name: name.to_owned(),
            source,
        };
        let tensor = Tensor::from_bytes(dtype, &shape, data).map_err(fault)?;
        if !swapped && !state.fortran {
            return Ok(tensor);
        }
        let size = dtype.bytes();
        let mut bytes = data.to_vec();
        if swapped {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if state.fortran {
            bytes = row_major(&bytes, &shape, size);
        }
        Tensor::from_bytes(dtype, &shape, &bytes).map_err(fault)
    }

    fn shape(&self, name: &str, shape: Value) -> Result<Vec<usize>, PickleError> {
        let fault = || PickleError::Shape {
            name: name.to_owned(),
        };
        let items = self
            .machine
            .tuple(shape)
            .filter(|items| items.len() <= MAX_NDIM)
            .ok_or_else(fault)?;
        items
            .iter()
            .map(|item| match item {
                Value::Int(extent) => usize::try_from(*extent).map_err(|_| fault()),
                _ => Err(fault()),
            })
            .collect()
    }

    /// Our element type, and whether its bytes must be swapped. The byte order stands in the state.
    fn dtype(&self, name: &str, value: Value) -> Result<(DType, bool), PickleError> {
        let unsupported = |dtype: String| PickleError::ElementType {
            name: name.to_owned(),
            dtype,
        };
        let Some(Object::DType { name: code, state }) = self.machine.resolve(value) else {
            return Err(unsupported(self.machine.describe(value)));
        };
        let code = self
            .machine
            .text(*code)
            .ok_or_else(|| unsupported(self.machine.describe(*code)))?;
        let dtype = match code.as_str() {
            "b1" => DType::BOOL,
            "i1" => DType::I8,
            "i2" => DType::I16,
            "i4" => DType::I32,
            "i8" => DType::I64,
            "u1" => DType::U8,
            "u2" => DType::U16,
            "u4" => DType::U32,
            "u8" => DType::U64,
            "f2" => DType::F16,
            "f4" => DType::F32,
            "f8" => DType::F64,
            _ => return Err(unsupported(code)),
        };
        let order = state
            .and_then(|state| self.machine.tuple(state))
            .and_then(|items| self.machine.text(*items.get(1)?));
        let big = match order.as_deref() {
            Some(">") => true,
            Some("<") => false,
            // `|`, `=` and none: the order of the machine, or none that matters.
            _ => cfg!(target_endian = "big"),
        };
        let swapped = dtype.bytes() > 1 && big != cfg!(target_endian = "big");
        Ok((dtype, swapped))
    }
}
