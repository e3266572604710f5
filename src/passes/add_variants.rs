//! `add_variants`: beside a program of open sizes stands another for sizes for which default rules make a faster schedule.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::bind_target::is_of_host;
use super::vm_shape_lower::shape_funcs;
use crate::arith::specialized;
use crate::ir::{AttrValue, Func, Module, PrimFunc, Var, attrs, unique_name};
use crate::kernel::Target;
use crate::sched::rules;

/// The module with variants of its loop programs, each in front of the program that it is a variant of. Calls name the program; a
/// launch takes the first variant that has the sizes of its arguments. A program of the input is a variant of nothing, whatever its
/// attributes say: calls may name it.
///
/// ```text
/// def dense(X: T.Buffer((batch, 784)), …):       def dense_batch_1(X: T.Buffer((1, 784)), …):    # T.func_attr: variant_of
///                                           →    def dense(X: T.Buffer((batch, 784)), …):
/// ```
pub(super) fn add_variants(module: &Module, target: &Target) -> Module {
    let shape_funcs = shape_funcs(module);
    let mut names: HashSet<String> = module.funcs.keys().cloned().collect();
    let mut funcs = IndexMap::new();
    for (name, func) in &module.funcs {
        if let Func::Prim(program) = func
            && program.as_scalar().is_none()
            && !shape_funcs.contains(name.as_str())
            && !is_of_host(program)
            && let Some(sizes) = rules::variant(program, target)
        {
            let variant = variant(program, name, &sizes, &mut names);
            funcs.insert(variant.name.clone(), Func::Prim(variant));
        }
        let mut func = func.clone();
        if let Func::Prim(program) = &mut func {
            program.attrs.shift_remove(attrs::VARIANT_OF);
        }
        funcs.insert(name.clone(), func);
    }
    Module {
        funcs,
        ..module.clone()
    }
}

fn variant(
    func: &PrimFunc,
    name: &str,
    sizes: &[(Var, i64)],
    names: &mut HashSet<String>,
) -> PrimFunc {
    let mut variant = specialized(func, sizes);
    let said = sizes
        .iter()
        .map(|(var, value)| format!("_{}_{value}", var.name()));
    let base = format!("{name}{}", said.collect::<String>());
    variant.name = unique_name(&base, names);
    variant.attrs.insert(
        attrs::VARIANT_OF.to_owned(),
        AttrValue::Str(name.to_owned()),
    );
    variant
}
