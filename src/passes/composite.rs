//! Composite functions: groups that match a pattern, and functions around them that an external code generator compiles.
//!
//! The name of a pattern is that of the code generator, a point, and its own: `gemm.matmul_bias`. A function for a code generator
//! is public, has the attribute `Codegen`, and calls composite functions that it holds as closures.

use std::collections::HashMap;
use std::convert::Infallible;

use super::groups::{CODEGEN, COMPOSITE, PRIMITIVE};
use crate::ir::graph::{
    Arg, Become, Callee, Def, Function, Globals, GraphBuilder, ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Func, Module};

/// The name of the pattern that the function matches.
pub(super) fn composite(function: &Function) -> Option<&str> {
    function.attrs.get(COMPOSITE).and_then(AttrValue::as_str)
}

/// The code generator of a composite function.
pub(super) fn codegen(function: &Function) -> Option<&str> {
    let pattern = composite(function)?;
    Some(pattern.split('.').next().unwrap_or(pattern))
}

/// The function of the module that a binding calls, and the arguments.
pub(super) fn called(def: &Def) -> Option<(&str, &[Arg])> {
    match def {
        Def::Call {
            callee: Callee::Global(name),
            args,
            attrs: _,
            sinfo_args: _,
        } => Some((name, args)),
        _ => None,
    }
}

/// Binds a copy of the composite function as a closure.
fn closure(builder: &mut GraphBuilder, function: &Function) -> ValueId {
    let mut inner = function.with_own_vars();
    inner.attrs.shift_remove(PRIMITIVE);
    inner.private = false;
    "local_func".clone_into(&mut inner.name);
    let sinfo = inner.signature();
    builder.bind_as("local_func", Def::Function(Box::new(inner)), sinfo)
}

/// A function that calls the composite one, for its code generator.
fn around(function: &Function, name: &str, codegen: &str) -> Function {
    let own = function.with_own_vars();
    let mut builder = GraphBuilder::new(name);
    *builder.attrs() = for_codegen(&Attrs::new(), codegen);
    let params = own.params.iter().map(|param| {
        let value = &own.values[*param];
        Arg::Value(builder.param(value.name.as_str(), value.sinfo.clone()))
    });
    let args = params.collect();
    let callee = Callee::Value(closure(&mut builder, function));
    let call = Def::Call {
        callee,
        args,
        attrs: Attrs::new(),
        sinfo_args: vec![],
    };
    let output = builder.bind_as("output", call, own.ret.clone());
    builder.finish_as(Arg::Value(output), own.ret)
}

/// The function with closures of the composite functions that it calls, in plain blocks. It has no branches.
fn with_closures(module: &Module, function: &Function, name: &str, codegen: &str) -> Function {
    let globals = Globals::of(module);
    let mut plain = function.clone();
    super::bodies::for_each_body(&mut plain, &mut super::dataflow::join_blocks);
    let mut closures = HashMap::new();
    let Ok(mut new) = rewrite::<Infallible>(&plain, &globals, &mut |rewriter, old| {
        let callee = called(old.def).and_then(|(name, _)| Some((name, module.function(name)?)));
        let callee = callee.filter(|(_, function)| composite(function).is_some());
        let Some((name, function)) = callee else {
            return Ok(Become::Kept);
        };
        let bound = closures.entry(name.to_owned());
        let bound = bound.or_insert_with(|| closure(rewriter.builder(), function));
        let mut def = old.def.clone();
        if let Def::Call { callee, .. } = &mut def {
            *callee = Callee::Value(*bound);
        }
        Ok(Become::Def(def))
    });
    name.clone_into(&mut new.name);
    new.private = false;
    new.attrs = for_codegen(&new.attrs, codegen);
    new
}

fn for_codegen(attrs: &Attrs, codegen: &str) -> Attrs {
    let mut attrs = attrs.clone();
    attrs.shift_remove(PRIMITIVE);
    let codegen = AttrValue::Str(codegen.to_owned());
    attrs.insert(CODEGEN.to_owned(), codegen);
    attrs
}

/// The module where the functions that are neither composite nor for a code generator call functions for code generators in the
/// place of composite ones: each composite function that is called gets a function around it.
pub(super) fn annotate(module: &Module) -> Module {
    let wrap = |function: &Function, name: &str, codegen: &str| around(function, name, codegen);
    let wanted = |_: &str, function: &Function| codegen(function).map(str::to_owned);
    replace_callees(module, &wanted, &wrap)
}

/// The module where the functions of groups that a code generator compiles hold the composite functions that they call.
pub(super) fn enclose(module: &Module, made: &dyn Fn(&str) -> bool) -> Module {
    let wrap = |function: &Function, name: &str, codegen: &str| {
        with_closures(module, function, name, codegen)
    };
    let wanted = |name: &str, function: &Function| {
        let codegen = function.attrs.get(CODEGEN).and_then(AttrValue::as_str);
        codegen.filter(|_| made(name)).map(str::to_owned)
    };
    replace_callees(module, &wanted, &wrap)
}

/// Replaces functions that others call by those that `wrap` makes of them, with the name of the code generator behind theirs.
fn replace_callees(
    module: &Module,
    wanted: &dyn Fn(&str, &Function) -> Option<String>,
    wrap: &dyn Fn(&Function, &str, &str) -> Function,
) -> Module {
    let globals = Globals::of(module);
    let mut out = module.clone();
    let mut instead = indexmap::IndexMap::new();
    for (name, function) in module.functions() {
        if composite(function).is_some() || function.attrs.contains_key(CODEGEN) {
            continue;
        }
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
            let callee = called(old.def).map(|(name, _)| name);
            let callee = callee.and_then(|name| Some((name, module.function(name)?)));
            let Some((name, function)) = callee else {
                return Ok(Become::Kept);
            };
            let Some(codegen) = wanted(name, function) else {
                return Ok(Become::Kept);
            };
            let new = instead.entry(name.to_owned()).or_insert_with(|| {
                let new = free_name(&out, &format!("{name}_{codegen}"));
                let function = wrap(function, &new, &codegen);
                out.funcs.insert(new.clone(), Func::Graph(function));
                new
            });
            let mut def = old.def.clone();
            if let Def::Call { callee, .. } = &mut def {
                *callee = Callee::Global(new.clone());
            }
            Ok(Become::Def(def))
        });
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    for name in instead.keys() {
        out.funcs.shift_remove(name);
    }
    out
}

/// The name, with a number if a function of the module has it.
fn free_name(module: &Module, name: &str) -> String {
    let numbered = (1..).map(|count| format!("{name}{count}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !module.funcs.contains_key(name));
    free.expect("numbers do not end")
}
