//! Layer 7: devices, device tensors, the registry of packed functions.
