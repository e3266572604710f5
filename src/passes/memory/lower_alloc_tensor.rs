//! `lower_alloc_tensor`: tensors without planned memory get memory of their own (Relax: `LowerAllocTensor`).

use std::convert::Infallible;

use super::size::Size;
use super::static_plan::Alloc;
use super::{alloc_storage, alloc_tensor_in};
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Become, Globals, rewrite};
use crate::ir::{Expr, Func, Module};
use crate::tensor::DType;

/// The module in which each `R.builtin.alloc_tensor` is a tensor in storage of its own.
///
/// ```text
///                                    storage = R.memory.alloc_storage(R.shape([64]), …)
/// a = R.builtin.alloc_tensor(…)   →  a = R.memory.alloc_tensor(storage, 0, …)
/// ```
pub(in crate::passes) fn lower_alloc_tensor(module: &Module) -> Module {
    let globals = Globals::of(module);
    let unbounded = Analyzer::new();
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        let Func::Graph(function) = func else {
            continue;
        };
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let Some(alloc) = Alloc::of(old.def) else {
                return Ok(Become::Kept);
            };
            let size = Size::of(alloc.shape, alloc.dtype, &unbounded).expr();
            let (def, info) = alloc_storage(&size, alloc.device, alloc.scope, DType::U8);
            let storage = Arg::Value(rewriter.builder().bind_as("storage", def, info));
            let start = Expr::i64(0);
            let def = alloc_tensor_in(storage, &start, alloc.shape, alloc.dtype, alloc.device);
            Ok(Become::Def(def))
        });
        *function = new;
    }
    out
}
