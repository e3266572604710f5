//! Layer 10: the `weftile` command line.
