//! Layer 2: simplification, bounds, affine iter-map detection, region algebra.
