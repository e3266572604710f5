//! What may be wrong with a pickle of numpy arrays.

use crate::tensor::TensorError;

/// What is wrong with a pickle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PickleError {
    /// It ends before its `STOP`.
    #[error("the pickle ends at byte {offset}, in the middle of an instruction")]
    Truncated {
        /// Where it ends.
        offset: usize,
    },
    /// Its protocol is newer than what is known here.
    #[error("pickle protocol {protocol}, known are 2 to 5")]
    Protocol {
        /// The protocol.
        protocol: u8,
    },
    /// It has an instruction that no dict of numpy arrays needs.
    #[error(
        "pickle instruction {opcode:#04x} at byte {offset} has no place in a dict of numpy arrays"
    )]
    Opcode {
        /// The instruction.
        opcode: u8,
        /// Where it is.
        offset: usize,
    },
    /// It names something that is not part of a numpy array. Nothing was called.
    #[error("refused: the pickle asks for `{module}.{name}`, and only numpy arrays are read")]
    Global {
        /// The Python module.
        module: String,
        /// The name in it.
        name: String,
    },
    /// An instruction finds the wrong kind of value, or too few.
    #[error("damaged pickle: at byte {offset}, expected {expected}, found {found}")]
    Operand {
        /// Where the instruction is.
        offset: usize,
        /// What it needs.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// It refers to a value that was not stored.
    #[error("damaged pickle: no value was stored as {index}")]
    Memo {
        /// The number it asks for.
        index: u32,
    },
    /// It would unpack to more data than it is long.
    #[error("the pickle unpacks to more than its own {limit} bytes")]
    TooLarge {
        /// The most it may unpack to.
        limit: usize,
    },
    /// The whole is not a dict.
    #[error("expected a dict from name to numpy array, found {found}")]
    NotADict {
        /// What it is.
        found: String,
    },
    /// A key of the dict is not text.
    #[error("expected names as keys of the dict, found {found}")]
    KeyNotText {
        /// What it is.
        found: String,
    },
    /// A value of the dict is not a whole array.
    #[error("`{name}` is no numpy array but {found}")]
    NotAnArray {
        /// Its key.
        name: String,
        /// What it is.
        found: String,
    },
    /// An array has elements that are not plain numbers.
    #[error("`{name}` has elements of numpy type {dtype:?}, which are not supported")]
    ElementType {
        /// Its key.
        name: String,
        /// numpy's name of the type.
        dtype: String,
    },
    /// An array's shape is not made of sizes.
    #[error("`{name}` has no proper shape")]
    Shape {
        /// Its key.
        name: String,
    },
    /// An array's bytes are not those of its shape.
    #[error("`{name}`")]
    Tensor {
        /// Its key.
        name: String,
        /// What is wrong.
        source: TensorError,
    },
}
