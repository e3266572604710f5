//! The tensor intrinsics that every schedule knows: products of tiles of 16 by 16 elements by the threads of a subgroup, under TVM's
//! names (`tvm.tir.tensor_intrin.cuda`). Their calls are those of [`FragmentCall`](crate::ir::FragmentCall).

use std::sync::LazyLock;

use super::{TensorIntrin, TensorIntrins};
use crate::script;

/// Each intrinsic as a description and an implementation.
const SCRIPT: &str = include_str!("wmma.py");

static INTRINS: LazyLock<TensorIntrins> = LazyLock::new(|| {
    let module = script::parse("wmma.py", SCRIPT).expect("a program of the crate");
    let mut intrins = TensorIntrins::default();
    for (name, description) in module.prim_funcs() {
        if let Some(name) = name.strip_suffix("_description") {
            let implementation = module.prim_func(&format!("{name}_implementation"));
            let implementation = implementation.expect("each has one").clone();
            let intrin = TensorIntrin::new(name, description.clone(), implementation);
            intrins.register(intrin.expect("both take the same tiles"));
        }
    }
    intrins
});

/// All of them.
pub(super) fn intrins() -> &'static TensorIntrins {
    &INTRINS
}
