//! TVMScript, the one text form of programs: parse and print, both dialects (`T`: loops, `R`: graphs).
//!
//! The syntax is Python's. Scripts of all eras of TVM are read; one canonical form is printed (`T.block` spelling), and
//! `parse(print(m))` is `alpha_eq` to `m`.

mod constant;
mod error;
mod highlight;
mod parse;
pub mod picture;
mod print;
mod show;
mod tvm_json;
mod well_formed;

pub use error::{ScriptError, ScriptErrorKind, ScriptErrors};
pub use highlight::highlight;
pub use parse::{parse, parse_lambda};
pub use print::{
    PrintOptions, Printed, PrintedModule, print, print_module, print_prim_func, print_with,
};
pub use well_formed::{IllFormed, Violation, ViolationKind, well_formed, well_formed_prim_func};
