//! Layer 5: passes over modules and graph functions.
