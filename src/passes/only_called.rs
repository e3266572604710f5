//! Functions whose signatures a pass may change, with all their calls.

use indexmap::IndexSet;

use crate::ir::Module;
use crate::ir::graph::{Arg, Def, Function};

/// The private graph functions that the module only calls, and uses nowhere as values.
pub(super) fn only_called(module: &Module) -> IndexSet<String> {
    let mut values = IndexSet::new();
    module
        .functions()
        .for_each(|(_, function)| used_as_values(function, &mut values));
    let private = module.functions().filter(|(_, function)| function.private);
    private
        .map(|(name, _)| name.to_owned())
        .filter(|name| !values.contains(name))
        .collect()
}

fn used_as_values(function: &Function, out: &mut IndexSet<String>) {
    for arg in function.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Global(name) | Arg::Extern(name) = leaf {
                out.insert(name.clone());
            }
        });
    }
    for (_, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            used_as_values(inner, out);
        }
    }
}
