//! Layer 8: the bytecode machine.
