//! Pickles of a dict from name to numpy array, protocols 2 to 5.
//!
//! Unpickling in Python calls whatever the file names. This reader knows the few constructors that numpy's own arrays are
//! made of (see [`machine::Global`]) and refuses every other name; nothing is ever called. Values live in one flat arena,
//! so neither nesting nor cycles in the file become recursion here, and no file makes more data than it is long.

mod array;
mod error;
mod machine;

pub use error::PickleError;

use indexmap::IndexMap;

use crate::tensor::Tensor;
use array::Arrays;
use machine::{Machine, Object, Value};

/// Reads a pickled dict from name to numpy array. Names keep the order of the file.
///
/// # Errors
/// [`PickleError`] if the bytes are no pickle, or hold anything but numpy arrays of plain element types.
pub fn parse_pickle(bytes: &[u8]) -> Result<IndexMap<String, Tensor>, PickleError> {
    let mut machine = Machine::new(bytes);
    let top = machine.run()?;
    let Value::Object(top) = top else {
        return Err(PickleError::NotADict {
            found: machine.describe(top),
        });
    };
    let Object::Dict(entries) = machine.object(top) else {
        return Err(PickleError::NotADict {
            found: machine.describe(Value::Object(top)),
        });
    };
    let mut arrays = Arrays::new(&machine, bytes.len());
    let mut tensors = IndexMap::new();
    for &(key, value) in entries {
        let name = machine.text(key).ok_or_else(|| PickleError::KeyNotText {
            found: machine.describe(key),
        })?;
        let tensor = arrays.tensor(&name, value)?;
        tensors.insert(name, tensor);
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests;
