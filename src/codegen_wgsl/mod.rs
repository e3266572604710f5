//! Layer 6: kernel IR to WGSL text, and through naga to SPIR-V.
