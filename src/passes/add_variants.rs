//! `add_variants`: beside a program of open sizes stand others for sizes for which default rules make a faster schedule.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::bind_target::is_of_host;
use super::vm_shape_lower::shape_funcs;
use crate::arith::specialized;
use crate::ir::{AttrValue, Expr, Func, Module, PrimFunc, Var, attrs, unique_name};
use crate::kernel::Target;
use crate::sched::rules;

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
///
/// A program that is one of several by its sizes, an `if` at its root, becomes these: calls name the last one, for the rest of the sizes, and
/// the others are variants, each with variants of its own. Nothing is computed without them, so one that has no schedule is an error.
///
/// Variants of few rows (`dense_batch_to_8`, from two rows on) are those of `gemv`; one of whole tiles (`dense_batch_aligned_64`) is
/// made of fragments. Where several of rows, columns and sums are open, one is for large products (`dense_large`).
pub(super) fn add_variants(module: &Module, target: &Target) -> Module {
    let shape_funcs = shape_funcs(module);
    let mut names: HashSet<String> = module.funcs.keys().cloned().collect();
    let mut funcs = IndexMap::new();
    let mut made = vec![];
    for (name, func) in &module.funcs {
        let Func::Prim(program) = func else {
            funcs.insert(name.clone(), func.clone());
            continue;
        };
        let mut program = program.clone();
        program.attrs.shift_remove(attrs::VARIANT_OF);
        if program.as_scalar().is_some() || shape_funcs.contains(name.as_str()) {
            funcs.insert(name.clone(), Func::Prim(program));
            continue;
        }
        let has_variants = !is_of_host(&program);
        let mut all = rules::alternatives(&program);
        let last = all.pop().expect("the last one is for the rest");
        for alternative in all {
            let mut func = alternative.func;
            func.name = format!("{}_{}", program.name, alternative.sizes);
            let needed = AttrValue::Bool(true);
            let variants = has_variants.then(|| with_variants(&mut func, target));
            func.attrs.insert(attrs::ALTERNATIVE.to_owned(), needed);
            made.extend(variants.into_iter().flatten());
            made.push(func);
        }
        let mut general = last.func;
        if has_variants {
            made.extend(with_variants(&mut general, target));
        }
        for mut variant in made.drain(..) {
            variant.name = unique_name(&variant.name, &mut names);
            let of = AttrValue::Str(name.clone());
            variant.attrs.insert(attrs::VARIANT_OF.to_owned(), of);
            funcs.insert(variant.name.clone(), Func::Prim(variant));
        }
        funcs.insert(name.clone(), Func::Prim(general));
    }
    Module {
        funcs,
        ..module.clone()
    }
}

/// The variants of a program that rules want, for sizes that it is for; its own usual sizes are noted.
fn with_variants(program: &mut PrimFunc, target: &Target) -> Vec<PrimFunc> {
    let Some(variants) = rules::variants(program, target) else {
        return vec![];
    };
    let mut made = made(program, &variants);
    made.retain(rules::can_be_called);
    if let Some(rows) = variants.usual {
        set_usual(program, &of_rows(&variants.rows, rows));
    }
    made
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
    let said = rows.iter().map(|var| format!("_{}", var.name()));
    let said = said.collect::<String>();
    let variant = |name: String, usual: i64, conditions: &[Expr], message: String| {
        let mut variant = rules::asserting(func, conditions, &message);
        variant.name = format!("{}{said}_{name}", func.name);
        set_usual(&mut variant, &of_rows(rows, usual));
        variant
    };
    for &most in &variants.few {
        let message = format!("a variant for two to {most} rows");
        made.push(variant(
            format!("to_{most}"),
            most,
            &rules::few_rows(rows, most),
            message,
        ));
    }
    if let Some(aligned) = variants.aligned {
        let of = aligned.multiple;
        let message = format!("a variant for multiples of {of} rows");
        let name = format!("aligned_{of}");
        made.push(variant(name, aligned.usual, &aligned.rows(rows), message));
    }
    if let Some(large) = &variants.large {
        let message = "a variant for large products";
        let mut variant = rules::asserting(func, &large.conditions, message);
        variant.name = format!("{}_large", func.name);
        set_usual(&mut variant, &large.usual);
        made.push(variant);
    }
    for range in &variants.ranges {
        let most = range.most;
        let message = format!("a variant for up to {most} rows");
        let name = format!("to_{most}");
        made.push(variant(
            name,
            range.usual,
            &[rules::number_of_rows(rows).le(most)],
            message,
        ));
    }
    made
}

/// So many rows, which these sizes number.
fn of_rows(rows: &[Var], number: i64) -> Vec<(Var, i64)> {
    let sizes = rows.iter().enumerate();
    let sizes = sizes.map(|(at, var)| (var.clone(), if at == 0 { number } else { 1 }));
    sizes.collect()
}

/// Notes for which sizes the schedule of a program is chosen.
fn set_usual(func: &mut PrimFunc, sizes: &[(Var, i64)]) {
    let sizes = sizes.iter();
    let sizes = sizes.map(|(var, size)| (var.name().to_owned(), AttrValue::Int(*size)));
    let sizes = AttrValue::Dict(sizes.collect());
    let usual = func.attrs.entry(attrs::USUAL_SIZES.to_owned());
    usual.or_insert(sizes);
}
