//! Integration tests, one binary: linking the GPU and code generation crates once is dear enough.

mod data;
mod frontend;
mod sched_move;
mod script;
mod script_relax;
mod vm;
