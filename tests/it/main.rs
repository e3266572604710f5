//! Integration tests, one binary: linking the GPU and code generation crates once is dear enough.

mod arithmetic;
mod artifact;
mod as_written;
mod attention;
mod broadcasts;
mod bytes;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_environment;
#[cfg(feature = "cli")]
mod cli_errors;
#[cfg(feature = "cli")]
mod cli_functions;
#[cfg(feature = "cli")]
mod cli_models;
#[cfg(feature = "cli")]
mod cli_report;
#[cfg(all(feature = "gpu", feature = "cpu"))]
mod convolution;
#[cfg(feature = "cpu")]
mod cpu;
mod data;
mod differential;
mod empty;
#[cfg(feature = "cpu")]
mod equal_programs;
mod explain;
#[cfg(feature = "cpu")]
mod few_results;
mod filetest_programs;
mod forge;
mod frontend;
#[cfg(feature = "cpu")]
mod fuzz;
#[path = "../../src/support/generated.rs"]
mod generated;
#[cfg(feature = "gpu")]
mod gpu;
mod gradient;
mod jumps;
mod launches;
mod lowers;
mod memory;
#[cfg(feature = "cpu")]
mod mutate;
#[cfg(all(feature = "gpu", feature = "cpu"))]
mod onnx;
mod open_extents;
#[cfg(all(feature = "gpu", feature = "cpu"))]
mod open_queries;
mod origins;
mod part_tiles;
mod passes;
#[cfg(feature = "cpu")]
#[allow(dead_code, reason = "other tests call the rest")]
mod properties;
#[cfg(feature = "cpu")]
mod reductions;
mod runs;
mod sched_blocks;
mod sched_loops;
mod sched_move;
mod sched_parts;
mod script;
mod script_meaning;
mod script_relax;
mod thread_reductions;
mod threads;
#[cfg(all(feature = "gpu", feature = "cpu"))]
mod variants;
mod vdevices;
mod vectors;
mod vm;
mod vm_async;
mod vm_calls;
mod vm_graph;
mod vm_packed;
mod vm_shapes;
#[cfg(feature = "cpu")]
mod weights;
mod well_formed;
mod winograd;
