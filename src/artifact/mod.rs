//! Layer 2: `Executable`: bytecode, kernels, constants and metadata as plain data; saved to and loaded from one file.
