//! Default schedules on the GPU against the interpreter, and the emitted WGSL against goldens.

mod accuracy;
pub(crate) mod attention;
pub(crate) mod cases;
mod checks;
mod classes;
mod few_queries;
mod fragments;
mod goldens;
mod launch;
mod loops;
mod nan;
mod narrow;
mod quantized;
mod rows;
mod scans;
mod serial;
mod sorts;
mod types;
mod wide;
