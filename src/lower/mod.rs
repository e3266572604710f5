//! Layer 5: scheduled loop programs to kernel IR: blocks away, buffers flat, barriers, launches.
