//! `to_non_dataflow` and `convert_to_dataflow`: dataflow blocks become plain ones, and plain ones dataflow blocks (Relax:
//! `ToNonDataflow`, `ConvertToDataflow`).

use super::PassError;
use super::bodies::for_each_body;
use super::canonicalize_bindings::canonicalize_bindings;
use crate::ir::graph::{BindingBlock, Body, Def, Function, Globals, ValueId};
use crate::ir::{Func, Module};
use crate::support::Id;

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

/// Makes one plain block of all.
pub(super) fn join_blocks(body: &mut Body) {
    let bindings: Vec<_> = body.blocks.drain(..).flat_map(|b| b.bindings).collect();
    if !bindings.is_empty() {
        body.blocks.push(BindingBlock {
            dataflow: None,
            bindings,
        });
    }
}

/// The module with dataflow blocks of all runs of at least `min_size` bindings without branches and side effects. Dataflow
/// blocks that are there grow by what stands next to them. They output what is used outside, and bindings get canonical.
///
/// ```text
/// a = R.exp(x)                             with R.dataflow():
/// b = R.negative(a)                            a = R.exp(x)
/// c = R.call_packed("print", b)      →         b = R.negative(a)
/// return b                                     R.output(b)
///                                          c = R.call_packed("print", b)
///                                          return b
/// ```
///
/// # Errors
/// Those of `canonicalize_bindings`.
pub(super) fn convert_to_dataflow(module: &Module, min_size: usize) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            extract(function, &globals, min_size);
        }
    }
    canonicalize_bindings(&out)
}

fn extract(function: &mut Function, globals: &Globals, min_size: usize) {
    for index in 0..function.values.bound() {
        let id = ValueId::from_index(index);
        let Some(value) = function.values.get_mut(id) else {
            continue;
        };
        match &mut value.def {
            Def::Function(inner) => extract(inner, globals, min_size),
            Def::If { .. } => {
                let mut def = std::mem::replace(&mut value.def, Def::Param);
                if let Def::If {
                    cond: _,
                    then,
                    otherwise,
                } = &mut def
                {
                    for branch in [then, otherwise] {
                        branch.blocks = extracted(function, globals, branch, min_size);
                    }
                }
                function.values[id].def = def;
            }
            _ => {}
        }
    }
    function.body.blocks = extracted(function, globals, &function.body, min_size);
}

/// The blocks of a body with its dataflow blocks grown and made.
fn extracted(
    function: &Function,
    globals: &Globals,
    body: &Body,
    min_size: usize,
) -> Vec<BindingBlock> {
    let is_dataflow = |id: &ValueId| match &function.values[*id].def {
        Def::If { .. } => false,
        Def::Call {
            callee,
            args: _,
            attrs: _,
            sinfo_args: _,
        } => callee.is_pure(globals, &function.values),
        _ => true,
    };
    let mut run = Run {
        plain: vec![],
        dataflow: vec![],
        was_block: false,
        blocks: vec![],
        min_size,
    };
    for block in &body.blocks {
        for id in &block.bindings {
            if block.dataflow.is_some() || is_dataflow(id) {
                run.dataflow.push(*id);
            } else {
                run.end();
                run.plain.push(*id);
            }
        }
        run.was_block |= block.dataflow.is_some();
    }
    run.end();
    run.end_plain();
    run.blocks
}

/// The blocks so far.
struct Run {
    /// Bindings that stay outside of dataflow blocks.
    plain: Vec<ValueId>,
    /// Bindings after these that can be a dataflow block.
    dataflow: Vec<ValueId>,
    /// Whether some of them are a dataflow block already.
    was_block: bool,
    blocks: Vec<BindingBlock>,
    min_size: usize,
}

impl Run {
    /// Ends the run of bindings that can be a dataflow block.
    fn end(&mut self) {
        let bindings = std::mem::take(&mut self.dataflow);
        if bindings.len() < self.min_size && !self.was_block {
            self.plain.extend(bindings);
        } else if !bindings.is_empty() {
            self.end_plain();
            self.blocks.push(BindingBlock {
                dataflow: Some(bindings.clone()),
                bindings,
            });
        }
        self.was_block = false;
    }

    fn end_plain(&mut self) {
        let bindings = std::mem::take(&mut self.plain);
        if !bindings.is_empty() {
            self.blocks.push(BindingBlock {
                dataflow: None,
                bindings,
            });
        }
    }
}
