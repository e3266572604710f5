//! Layer 9: files that models, weights and data come in.
