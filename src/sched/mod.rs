//! Layer 4: `Schedule`: primitives on loop programs, one file each; the trace; default rules for each target.
