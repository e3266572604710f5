//! What is left of a function when its weights come transformed.

use std::collections::HashMap;
use std::convert::Infallible;

use super::group::Group;
use super::targets::Form;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, Function, Globals, GraphBuilder, Value, ValueId,
    rewrite,
};
use crate::ir::{Expr, Origin, ShapeInfo, StructInfo, Var};
use crate::ops;
use crate::passes::PassError;
use crate::passes::bodies::for_each_body;
use crate::passes::bundle_model_params::bundle;
use crate::passes::canonicalize_bindings::canonical;

/// The parameter with symbolic dimensions that only weights say.
const SIZES: &str = "vars_from_compile_time_params";
/// The one parameter for all weights of the older form.
const PARAMS: &str = "params";

/// A member of the group without what is lifted from it.
pub(super) fn inference(
    group: &Group<'_, '_>,
    at: usize,
    globals: &Globals,
) -> Result<Function, PassError> {
    let target = group.members[at].target;
    let (old, lifted) = (target.function, group.lifted(at));
    let begin = target.weights.start;
    let weights = &old.params[target.weights.clone()];
    let firsts: HashMap<ValueId, ValueId> = group.members[at]
        .own
        .iter()
        .map(|(first, own)| (*own, *first))
        .collect();
    let stop = ops::op("builtin.stop_lift_params");
    let mut given: HashMap<ValueId, ValueId> = HashMap::new();
    let Ok(mut new) = rewrite::<Infallible>(old, globals, &mut |rewriter, value| {
        if value.depth > 0 {
            return Ok(Become::Kept);
        }
        if weights.first() == Some(&value.id) {
            given = params(group, at, rewriter.builder());
        }
        if let Def::Call {
            callee: Callee::Op(op),
            args,
            ..
        } = value.def
            && *op == stop
        {
            return Ok(Become::Arg(args[0].clone()));
        }
        if !lifted.contains_key(&value.id) && !weights.contains(&value.id) {
            return Ok(Become::Kept);
        }
        let param = firsts.get(&value.id).and_then(|first| given.get(first));
        Ok(param.map_or(Become::Nothing, |param| Become::Arg(Arg::Value(*param))))
    });
    new.attrs = target.attrs();
    if target.form == Form::Tuple {
        let count = group.outputs.len() + usize::from(!group.sizes.is_empty());
        new = bundle(&new, globals, begin..begin + count, PARAMS);
    }
    for_each_body(&mut new, &mut |body| {
        body.blocks.retain(|block| !block.bindings.is_empty());
    });
    bind_result(&mut new);
    canonical(&new, globals)
}

/// Gives a tuple that is the result a name, as Relax does.
fn bind_result(function: &mut Function) {
    match &function.body.result {
        Arg::Tuple(items) if !items.is_empty() => {}
        _ => return,
    }
    let tuple = std::mem::replace(&mut function.body.result, Arg::Tuple(vec![]));
    let id = function.values.push(Value {
        name: "gv".to_owned(),
        sinfo: function.ret.clone(),
        def: Def::Arg(tuple),
        origin: Origin::Unknown,
    });
    function.body.blocks.push(BindingBlock {
        dataflow: None,
        bindings: vec![id],
    });
    function.body.result = Arg::Value(id);
}

/// Makes the parameters for transformed weights: those for values of the first function.
fn params(
    group: &Group<'_, '_>,
    at: usize,
    builder: &mut GraphBuilder,
) -> HashMap<ValueId, ValueId> {
    let member = &group.members[at];
    let own = |var: &Var| member.own_vars.get(var).map(Var::expr);
    if !group.sizes.is_empty() {
        let sizes = group
            .sizes
            .iter()
            .map(|var| own(var).unwrap_or_else(|| var.expr()));
        let sizes: Vec<Expr> = sizes.collect();
        builder.param(SIZES, StructInfo::Shape(ShapeInfo::Known(sizes)));
    }
    let mut given = HashMap::new();
    for first in &group.outputs {
        let shown = match member.own.get(first) {
            Some(own) => member.target.function.values[*own].clone(),
            None => group.first().function.values[*first].clone(),
        };
        given.insert(
            *first,
            builder.param(shown.name, shown.sinfo.substitute(&own)),
        );
    }
    given
}
