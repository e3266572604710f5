//! Strides and offsets of parameters and allocated buffers.
//!
//! A tensor that is passed is dense and begins at offset 0. A variable that stands alone as a stride or as the offset of a
//! parameter gets its value from the tensor; any other stride or offset must be that of a dense tensor. An allocated buffer
//! is dense as well: a program sees another layout only through a view of the memory, which is refused. A parameter is in device
//! memory whatever scope it names: no caller reaches the memory of a workgroup (tensor intrinsics name such parameters).

use std::borrow::Cow;

use super::host::Dims;
use super::widen::widen;
use super::{LowerError, LowerProblem, storage};
use crate::arith::Analyzer;
use crate::ir::{Buffer, BufferNode, Definitions, Expr, PrimFunc, Scope, Substitution, Var};

/// The function with dense parameters and allocated buffers. Loops and blocks keep their handles.
///
/// # Errors
/// If a parameter is not dense, or a view shows the layout of an allocated buffer.
pub(super) fn dense<'f>(func: &'f PrimFunc, dims: &Dims) -> Result<Cow<'f, PrimFunc>, LowerError> {
    let allocated: Vec<Buffer> = func
        .allocated()
        .filter(|b| has_layout(b))
        .cloned()
        .collect();
    let params: Vec<Buffer> = func
        .buffer_params()
        .filter(|b| !is_passed(b))
        .cloned()
        .collect();
    if allocated.is_empty() && params.is_empty() {
        return Ok(Cow::Borrowed(func));
    }
    let mut bound = Bound::default();
    for buffer in params.iter().chain(&allocated) {
        for (said, value) in layout(buffer) {
            bound.bind(dims, &said, value);
        }
    }
    for buffer in &params {
        if let Some((said, value)) = bound.mismatch(buffer) {
            return Err(LowerProblem::ParamLayout {
                param: buffer.name().to_owned(),
                said,
                value,
            }
            .into());
        }
    }
    for (view, source) in storage::memory_views(func) {
        if allocated.contains(&source) && bound.mismatch(&source).is_some() {
            return Err(LowerProblem::StridedMemory {
                view: view.name().to_owned(),
                source_buffer: source.name().to_owned(),
            }
            .into());
        }
    }
    let mut substitution = Substitution::new(Definitions::Kept);
    for buffer in &params {
        let passed = without_layout(buffer).node().clone();
        let scope = Scope::Global;
        substitution.set_buffer(buffer, &Buffer::from_node(BufferNode { scope, ..passed }));
    }
    for buffer in &allocated {
        substitution.set_buffer(buffer, &without_layout(buffer));
    }
    for (var, value) in &bound.values {
        substitution.set_var(var, value.clone());
    }
    Ok(Cow::Owned(func.map(&mut substitution)))
}

/// Values of the variables that layouts name.
#[derive(Default)]
struct Bound {
    values: Vec<(Var, Expr)>,
}

impl Bound {
    fn bind(&mut self, dims: &Dims, said: &Expr, value: Expr) {
        if let Some(var) = said.as_var()
            && dims.index(var).is_none()
            && self.value(var).is_none()
        {
            self.values.push((var.clone(), value.cast(var.dtype())));
        }
    }

    fn value(&self, var: &Var) -> Option<Expr> {
        let mut values = self.values.iter();
        Some(values.find(|(bound, _)| bound == var)?.1.clone())
    }

    /// A stride or offset in the program that is not proved to be that of the dense buffer, with the latter.
    fn mismatch(&self, buffer: &Buffer) -> Option<(Expr, Expr)> {
        let analyzer = Analyzer::new();
        let is_other = |(said, value): &(Expr, Expr)| {
            let said = widen(&said.substitute(&|var| self.value(var)));
            !analyzer.can_prove_equal(&said, value)
        };
        let (said, value) = layout(buffer).into_iter().find(is_other)?;
        Some((said, analyzer.simplify(&value)))
    }
}

/// Whether a buffer says more of its layout than its extents.
fn has_layout(buffer: &Buffer) -> bool {
    let node = buffer.node();
    !node.strides.is_empty() || node.elem_offset.is_some()
}

/// Whether a parameter is written as what a caller passes.
fn is_passed(param: &Buffer) -> bool {
    !has_layout(param) && *param.scope() == Scope::Global
}

/// What a buffer says of its strides and its offset, each with the value that a dense buffer has there.
fn layout(buffer: &Buffer) -> Vec<(Expr, Expr)> {
    let node = buffer.node();
    let dense = dense_strides(&node.shape);
    let strides = node.strides.iter().cloned().zip(dense);
    let offset = node.elem_offset.clone().map(|said| (said, Expr::i64(0)));
    strides.chain(offset).collect()
}

/// The strides of a dense buffer with these extents, in elements.
pub(super) fn dense_strides(shape: &[Expr]) -> Vec<Expr> {
    let mut strides = vec![Expr::i64(1)];
    for extent in shape.iter().skip(1).rev() {
        strides.push(&strides[strides.len() - 1] * widen(extent));
    }
    strides.truncate(shape.len());
    strides.reverse();
    strides
}

fn without_layout(buffer: &Buffer) -> Buffer {
    let node = buffer.node();
    Buffer::from_node(BufferNode {
        strides: vec![],
        elem_offset: None,
        ..node.clone()
    })
}
