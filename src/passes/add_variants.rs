//! `add_variants`: beside a program of open sizes stand others for sizes for which default rules make a faster schedule.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::bind_target::is_of_host;
use super::vm_shape_lower::shape_funcs;
use crate::arith::specialized;
use crate::ir::{AttrValue, Expr, Func, Module, Place, PrimFunc, Stmt, Var, attrs, unique_name};
use crate::kernel::Target;
use crate::sched::rules;
use crate::tensor::DType;

/// The module with variants of its loop programs, each in front of the program that it is a variant of. Calls name the program; a
/// launch takes the first variant that has the sizes of its arguments and whose assertions hold. A program of the input is a variant of
/// nothing, whatever its attributes say: calls may name it.
///
/// ```text
/// def dense(X: T.Buffer((batch, 784)), …):       def dense_batch_1(X: T.Buffer((1, 784)), …):    # T.func_attr: variant_of
///                                           →    def dense_batch_to_23(X: T.Buffer((batch, 784)), …):    # the same
///                                                    assert batch <= 23
///                                                def dense(X: T.Buffer((batch, 784)), …):
/// ```
pub(super) fn add_variants(module: &Module, target: &Target) -> Module {
    let shape_funcs = shape_funcs(module);
    let mut names: HashSet<String> = module.funcs.keys().cloned().collect();
    let mut funcs = IndexMap::new();
    for (name, func) in &module.funcs {
        let mut func = func.clone();
        if let Func::Prim(program) = &mut func {
            program.attrs.shift_remove(attrs::VARIANT_OF);
            if program.as_scalar().is_none()
                && !shape_funcs.contains(name.as_str())
                && !is_of_host(program)
                && let Some(variants) = rules::variants(program, target)
            {
                for mut variant in made(program, &variants) {
                    variant.name = unique_name(&variant.name, &mut names);
                    let of = AttrValue::Str(name.clone());
                    variant.attrs.insert(attrs::VARIANT_OF.to_owned(), of);
                    funcs.insert(variant.name.clone(), Func::Prim(variant));
                }
                if let Some(rows) = variants.usual {
                    set_usual(program, &variants.rows, rows);
                }
            }
        }
        funcs.insert(name.clone(), func);
    }
    Module {
        funcs,
        ..module.clone()
    }
}

/// The variants of a program, in the order in which a launch tries them.
fn made(func: &PrimFunc, variants: &rules::Variants) -> Vec<PrimFunc> {
    let rows = &variants.rows;
    let mut made = vec![];
    if variants.one_row {
        let one: Vec<(Var, i64)> = rows.iter().map(|var| (var.clone(), 1)).collect();
        let mut variant = specialized(func, &one);
        let said = rows.iter().map(|var| format!("_{}_1", var.name()));
        variant.name = format!("{}{}", func.name, said.collect::<String>());
        made.push(variant);
    }
    for range in &variants.ranges {
        let mut variant = func.clone();
        let said = rows.iter().map(|var| format!("_{}", var.name()));
        let said = said.collect::<String>();
        variant.name = format!("{}{said}_to_{}", func.name, range.most);
        set_usual(&mut variant, rows, range.usual);
        let all = rows.iter().map(|var| var.expr().cast(DType::I64));
        let all = all.reduce(|a, b| a * b).unwrap_or(Expr::i64(1));
        let assertion = Stmt::Assert {
            cond: all.le(range.most),
            message: format!("a variant for up to {} rows", range.most),
        };
        let root: Place = variant.root.into();
        let mut body = variant.tree.take_body(root);
        body.insert(0, assertion);
        variant.tree.set_body(root, body);
        made.push(variant);
    }
    made
}

/// Notes for which sizes the schedule of a program is chosen: so many rows, which these sizes number.
fn set_usual(func: &mut PrimFunc, rows: &[Var], number: i64) {
    let sizes = rows.iter().enumerate().map(|(at, var)| {
        let size = if at == 0 { number } else { 1 };
        (var.name().to_owned(), AttrValue::Int(size))
    });
    let sizes = AttrValue::Dict(sizes.collect());
    let usual = func.attrs.entry(attrs::USUAL_SIZES.to_owned());
    usual.or_insert(sizes);
}
