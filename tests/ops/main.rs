//! Operators against references written here: in the interpreter, on the CPU, and on any GPU adapter that is there.
//!
//! A family has a file; a test there collects [`Cases`] and runs them as one module, so that each device compiles once.

mod activation;
mod array;
mod attention;
mod cases;
mod catalog;
mod closed_forms;
mod convolution;
mod create;
mod elementwise;
mod every_type;
mod image;
mod index;
mod linalg;
mod networks;
mod normalisation;
mod obligations;
mod one_thread;
mod pooling;
mod quantize;
mod rearrange;
mod recurrent;
mod reduce;
mod refused;
mod refused_networks;
mod resize;
mod scan_lanes;
mod scan_sort;
mod scatter;
mod select;
mod slice;
mod spatial;
mod system;
mod unknown;
mod vision;

use cases::{Cases, bools, f32s, i8s, i32s, i64s, tensor, u8s};
