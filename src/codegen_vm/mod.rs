//! Layer 6: graph functions to bytecode.
