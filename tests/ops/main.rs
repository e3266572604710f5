//! Operators against references written here: in the interpreter, on the CPU, and on any GPU adapter that is there.
//!
//! A family has a file; a test there collects [`Cases`] and runs them as one module, so that each device compiles once.

mod cases;
mod elementwise;
mod networks;
mod reduce;

use cases::{Cases, bools, tensor};
