//! Facts about blocks and scopes that the primitives' rules ask for.
