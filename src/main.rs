//! The `weftile` command.

fn main() {}
