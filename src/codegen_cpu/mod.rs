//! Layer 6: kernel IR to native code through Cranelift.
