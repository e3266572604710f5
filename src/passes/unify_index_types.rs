//! `unify_index_types`: loops of `int32` beside loops of `int64` become loops of `int64`.
//!
//! ```text
//! for i, j in T.grid(m, 512):                →   for i, j in T.grid(m, T.int64(512)):
//! ```
//!
//! TVMScript mixes both types where a symbolic extent has type `int64` and a number is written as it is. A loop program with its own
//! schedule stays as it is written.

use super::bind_target::is_of_host;
use crate::ir::{Func, Module};
use crate::sched::rules::is_scheduled;
use crate::sched::{has_mixed_index_types, widen_indices};

/// The module with loop programs whose loops and iter variables have one integer type.
pub(super) fn unify_index_types(module: &Module) -> Module {
    let mut module = module.clone();
    for func in module.funcs.values_mut() {
        if let Func::Prim(program) = func
            && !is_of_host(program)
            && !is_scheduled(program)
            && has_mixed_index_types(program)
        {
            let root = program.root;
            widen_indices(program, root);
        }
    }
    module
}
