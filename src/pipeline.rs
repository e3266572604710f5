//! Layer 10: the one ordered list of stages from text to executable.
