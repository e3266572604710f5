//! Loop programs that are equal but for names: what is made of the first of them serves the others.

use std::borrow::Cow;
use std::collections::HashMap;

use indexmap::IndexSet;

use crate::ir::{Expr, Param, PrimFunc, Var, alpha_eq, attrs};
use crate::kernel::LoweredFunc;

/// What equal programs have in common, and most others do not: how many loops and blocks there are, and the shapes of parameters.
type Outline = (usize, usize, Vec<Vec<Option<i64>>>);

/// The programs that were scheduled, by their outlines.
#[derive(Default)]
pub(super) struct Known<'m>(HashMap<Outline, Vec<(&'m str, &'m PrimFunc, Place)>>);

/// Who runs a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Host,
    Device,
}

impl<'m> Known<'m> {
    pub(super) fn add(&mut self, name: &'m str, func: &'m PrimFunc, place: Place) {
        let alike = self.0.entry(outline(func)).or_default();
        alike.push((name, func, place));
    }

    /// The program added before that is this one under another name.
    pub(super) fn equal_to(
        &self,
        func: &PrimFunc,
        place: Place,
    ) -> Option<(&'m str, &'m PrimFunc)> {
        let alike = self.0.get(&outline(func))?;
        let equal = |(_, known, at): &&(&str, &PrimFunc, Place)| {
            *at == place && alpha_eq::prim_func(&unnamed(known), &unnamed(func)).is_ok()
        };
        alike
            .iter()
            .find(equal)
            .map(|&(name, known, _)| (name, known))
    }
}

/// The program without the name of the one that it is a variant of.
fn unnamed(func: &PrimFunc) -> Cow<'_, PrimFunc> {
    if !func.attrs.contains_key(attrs::VARIANT_OF) {
        return Cow::Borrowed(func);
    }
    let mut func = func.clone();
    func.attrs.shift_remove(attrs::VARIANT_OF);
    Cow::Owned(func)
}

fn outline(func: &PrimFunc) -> Outline {
    let shapes = func.buffer_params().map(|buffer| buffer.shape());
    let shapes = shapes.map(|shape| shape.iter().map(Expr::as_int).collect());
    (
        func.loops.iter().count(),
        func.blocks.iter().count(),
        shapes.collect(),
    )
}

/// The kernels of `known` as those of `func`, which is equal: the function, its parameters and its dims have the names of its own text.
/// Arrays in the kernels and in the schedule keep those of `known`.
pub(super) fn renamed(lowered: &LoweredFunc, known: &PrimFunc, func: &PrimFunc) -> LoweredFunc {
    let mut renamed = lowered.clone();
    renamed.name.clone_from(&func.name);
    for kernel in &mut renamed.kernels {
        if let Some(suffix) = kernel.name.strip_prefix(&lowered.name) {
            kernel.name = format!("{}{suffix}", func.name);
        }
    }
    for (param, buffer) in renamed.params.iter_mut().zip(func.buffer_params()) {
        buffer.name().clone_into(&mut param.name);
    }
    let (old, new) = (dims(known), dims(func));
    for dim in &mut renamed.dims {
        let at = old.iter().position(|var| var.name() == dim.as_str());
        if let Some(var) = at.and_then(|at| new.get_index(at)) {
            var.name().clone_into(dim);
        }
    }
    renamed
}

/// Symbolic extents of parameters, and scalar parameters.
fn dims(func: &PrimFunc) -> IndexSet<Var> {
    let vars = func.params.iter().flat_map(|param| match param {
        Param::Buffer { handle: _, buffer } => {
            buffer.shape().iter().flat_map(Expr::free_vars).collect()
        }
        Param::Scalar(var) => vec![var.clone()],
    });
    vars.collect()
}
