//! `bundle_model_params`: the weights of a function become one tuple (Relax: `BundleModelParams`).

use std::convert::Infallible;
use std::ops::Range;

use super::PassError;
use super::lift_transform_params::weights;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Body, Callee, Def, Function, Globals, Value, ValueId, rewrite,
};
use crate::ir::{Func, Module, Origin, StructInfo};
use crate::support::Arena;

/// The module with one parameter, a tuple, in place of those behind the first `num_input` of each function that has this
/// attribute. Each use takes its element of the tuple.
///
/// ```text
/// def main(x, w, b):                def main(x, model_params):
///     y = R.matmul(x, w)      →         w = model_params[0]
///     z = R.add(y, b)                   y = R.matmul(x, w)
///     return z                          b = model_params[1]
///                                       z = R.add(y, b)
///                                       return z
/// ```
///
/// # Errors
/// If `num_input` is more than a function has parameters, or another function of the module calls it.
pub(super) fn bundle_model_params(module: &Module, tuple: &str) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        if let Some(weights) = weights(name, function)? {
            super::not_called(module, name)?;
            let bundled = bundle(function, &globals, weights, tuple);
            out.funcs.insert(name.to_owned(), Func::Graph(bundled));
        }
    }
    Ok(out)
}

/// The function with a tuple in place of some parameters.
pub(super) fn bundle(
    function: &Function,
    globals: &Globals,
    range: Range<usize>,
    tuple: &str,
) -> Function {
    let mut out = function.clone();
    let params: Vec<ValueId> = out.params.drain(range.clone()).collect();
    let bundled: Vec<Value> = params.iter().map(|&id| out.values[id].clone()).collect();
    let id = out.values.push(Value {
        name: tuple.to_owned(),
        sinfo: StructInfo::Tuple(bundled.iter().map(|value| value.sinfo.clone()).collect()),
        def: Def::Param,
        origin: Origin::Unknown,
    });
    out.params.insert(range.start, id);
    let bundle = Bundle {
        tuple: id,
        params,
        bundled,
    };
    bundle.function(&mut out, 0);
    // Elements were added behind values that use them: the copy has all in order again.
    let Ok(ordered) = rewrite::<Infallible>(&out, globals, &mut |_, _| Ok(Become::Kept));
    ordered
}

/// Parameters that are elements of a tuple now.
struct Bundle {
    tuple: ValueId,
    params: Vec<ValueId>,
    /// What the parameters were, in the same order.
    bundled: Vec<Value>,
}

impl Bundle {
    /// A function `depth` levels inside of the one with the tuple.
    fn function(&self, function: &mut Function, depth: usize) {
        self.body(&mut function.values, &mut function.body, depth);
    }

    fn body(&self, values: &mut Arena<ValueId, Value>, body: &mut Body, depth: usize) {
        for block in &mut body.blocks {
            let mut bindings = vec![];
            for id in std::mem::take(&mut block.bindings) {
                self.binding(values, id, depth, &mut bindings);
                bindings.push(id);
            }
            block.bindings = bindings;
        }
        let mut last = vec![];
        let result = &body.result;
        body.result = result.map_leaves(&mut |leaf| self.leaf(values, leaf, depth, &mut last));
        if !last.is_empty() {
            body.blocks.push(BindingBlock {
                dataflow: None,
                bindings: last,
            });
        }
    }

    /// Adds to `bindings` the elements that a value needs.
    fn binding(
        &self,
        values: &mut Arena<ValueId, Value>,
        id: ValueId,
        depth: usize,
        bindings: &mut Vec<ValueId>,
    ) {
        let mut def = std::mem::replace(&mut values[id].def, Def::Param);
        match &mut def {
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                *cond = cond.map_leaves(&mut |leaf| self.leaf(values, leaf, depth, bindings));
                self.body(values, then, depth);
                self.body(values, otherwise, depth);
            }
            Def::Function(inner) => self.function(inner, depth + 1),
            _ => {
                let mut leaf = |leaf: &Arg| self.leaf(values, leaf, depth, bindings);
                def = def.map(&mut leaf, &mut Clone::clone);
                if let Def::Call {
                    callee: Callee::Value(closure),
                    args: _,
                    attrs: _,
                    sinfo_args: _,
                } = &mut def
                    && let Arg::Value(id) = leaf(&Arg::Value(*closure))
                {
                    *closure = id;
                }
            }
        }
        values[id].def = def;
    }

    /// What stands for a part of an argument: a new element if it is one of the parameters.
    fn leaf(
        &self,
        values: &mut Arena<ValueId, Value>,
        leaf: &Arg,
        depth: usize,
        bindings: &mut Vec<ValueId>,
    ) -> Arg {
        let (out, param) = match leaf {
            Arg::Value(id) => (0, id),
            Arg::Captured { depth, value } => (*depth, value),
            _ => return leaf.clone(),
        };
        let at = self.params.iter().position(|other| other == param);
        let (true, Some(at)) = (out == depth, at) else {
            return leaf.clone();
        };
        let tuple = match depth {
            0 => Arg::Value(self.tuple),
            depth => Arg::Captured {
                depth,
                value: self.tuple,
            },
        };
        let item = values.push(Value {
            def: Def::TupleItem(tuple, at),
            ..self.bundled[at].clone()
        });
        bindings.push(item);
        Arg::Value(item)
    }
}
