//! Default schedules on the GPU against the interpreter, and the emitted WGSL against goldens.

mod cases;
mod goldens;
mod launch;
