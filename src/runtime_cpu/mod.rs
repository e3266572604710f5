//! Layer 7: the CPU: native kernels in memory, parallel loops.
