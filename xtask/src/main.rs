//! Project chores: `cargo xtask` lists them.

fn main() {}
