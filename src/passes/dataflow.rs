//! `to_non_dataflow`: dataflow blocks become plain ones (Relax: `ToNonDataflow`).

use crate::ir::graph::{BindingBlock, Body};
use crate::ir::{Func, Module};

use super::bodies::for_each_body;

/// The module without dataflow blocks. Blocks that then stand next to each other are one.
///
/// ```text
/// with R.dataflow():             a = R.exp(x)
///     a = R.exp(x)         →     b = R.negative(a)
///     R.output(a)
/// b = R.negative(a)
/// ```
pub(super) fn to_non_dataflow(module: &Module) -> Module {
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            for_each_body(function, &mut join_blocks);
        }
    }
    out
}

fn join_blocks(body: &mut Body) {
    let bindings: Vec<_> = body.blocks.drain(..).flat_map(|b| b.bindings).collect();
    if !bindings.is_empty() {
        body.blocks.push(BindingBlock {
            dataflow: None,
            bindings,
        });
    }
}
