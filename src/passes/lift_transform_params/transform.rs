//! The function that computes what weights alone decide.

use std::collections::HashMap;
use std::convert::Infallible;

use indexmap::IndexMap;

use super::group::Group;
use super::targets::Form;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Body, Def, Function, Globals, GraphBuilder, ValueId, dims, erase,
    rewrite,
};
use crate::ir::{AttrValue, StructInfo, Var};
use crate::passes::PassError;
use crate::passes::bundle_model_params::bundle;
use crate::passes::canonicalize_bindings::canonical;
use crate::passes::dead_code_elimination::without_unused;

/// The function for the weights of a group: a tuple of weights to a tuple of what inference gets.
pub(super) fn transform(
    group: &Group<'_, '_>,
    name: &str,
    globals: &Globals,
) -> Result<Function, PassError> {
    let first = group.first();
    let old = first.function;
    let weights = &old.params[first.weights.clone()];
    let mut builder = GraphBuilder::in_module(name, globals.clone());
    let mut new: HashMap<ValueId, ValueId> = HashMap::new();
    // Sizes that inference alone knows: no computation of weights needs them.
    let infos = || weights.iter().map(|&weight| &old.values[weight].sinfo);
    let known: Vec<Var> = infos().flat_map(StructInfo::defined_vars).collect();
    let mut open: Vec<Var> = infos().flat_map(StructInfo::free_vars).collect();
    open.retain(|var| !known.contains(var));
    for &weight in weights {
        let value = &old.values[weight];
        builder.set_origin(value.origin.clone());
        let sinfo = erase(&value.sinfo, &open);
        new.insert(weight, builder.param(value.name.as_str(), sinfo));
    }
    let everything = group.sizes.is_empty() && group.outputs == weights && !weights.is_empty();
    let mut outputs = vec![];
    if !everything {
        builder.begin_dataflow();
        for &id in &group.liftable {
            let value = &old.values[id];
            let mut leaf = |leaf: &Arg| match leaf {
                Arg::Value(id) => Arg::Value(new[id]),
                other => other.clone(),
            };
            let def = value.def.map(&mut leaf, &mut Clone::clone);
            builder.set_origin(value.origin.clone());
            new.insert(
                id,
                builder.bind_as(value.name.as_str(), def, value.sinfo.clone()),
            );
        }
        if !group.sizes.is_empty() {
            outputs.push(Arg::Shape(group.sizes.iter().map(Var::expr).collect()));
        }
        outputs.extend(group.outputs.iter().map(|id| Arg::Value(new[id])));
    }
    let result = if outputs.is_empty() {
        if !everything {
            builder.end_dataflow(vec![]);
        }
        Arg::Tuple(vec![])
    } else {
        let tuple = Arg::Tuple(outputs);
        let sinfo = builder.scope().arg(&tuple);
        let tuple = builder.bind_as("output_tuple", Def::Arg(tuple), sinfo);
        builder.end_dataflow(vec![tuple]);
        Arg::Value(tuple)
    };
    let param = match first.form {
        Form::Separate => {
            let attrs = builder.attrs();
            attrs.insert("num_input".to_owned(), AttrValue::Int(0));
            "model_params"
        }
        Form::Tuple => "params",
    };
    let function = builder.finish(result);
    let mut function = bundle(&function, globals, 0..weights.len(), param);
    if everything {
        let tuple = function.params[0];
        function.ret = function.values[tuple].sinfo.clone();
        function.body.result = Arg::Value(tuple);
    }
    let function = canonical(&function, globals)?;
    Ok(without_unused(&function, globals).with_own_vars())
}

/// The function that does what `earlier` does, and with its result what `later` does.
pub(super) fn compose(earlier: &Function, later: &Function, globals: &Globals) -> Function {
    let earlier = earlier.with_own_vars();
    let param = later.params[0];
    let wanted = &later.values[param].sinfo;
    let mut vars = IndexMap::new();
    dims::bind_vars(wanted, &earlier.ret, &mut vars);
    let later = later.substitute(&|var| vars.get(var).cloned());
    let items = elements(&earlier);
    // The values of the later function follow those of the earlier one, whose result stands for the parameter.
    let mut out = earlier.clone();
    let mut new: HashMap<ValueId, Arg> = HashMap::from([(param, earlier.body.result.clone())]);
    let mut blocks = vec![];
    for block in &later.body.blocks {
        let mut bindings = vec![];
        for &id in &block.bindings {
            let mut value = later.values[id].clone();
            let item = match (&value.def, &items) {
                (Def::TupleItem(Arg::Value(tuple), at), Some(items)) if *tuple == param => {
                    items.get(*at).filter(|item| fits(&out, item, &value.sinfo))
                }
                _ => None,
            };
            if let Some(item) = item {
                new.insert(id, item.clone());
                continue;
            }
            let mut leaf = |leaf: &Arg| moved(leaf, &new);
            value.def = value.def.map(&mut leaf, &mut Clone::clone);
            let own = out.values.push(value);
            new.insert(id, Arg::Value(own));
            bindings.push(own);
        }
        let outputs = block.dataflow.iter().flatten();
        blocks.push(BindingBlock {
            dataflow: block.dataflow.as_ref().map(|_| {
                let outputs = outputs.filter_map(|id| match &new[id] {
                    Arg::Value(id) => Some(*id),
                    _ => None,
                });
                outputs.collect()
            }),
            bindings,
        });
    }
    out.body = Body {
        blocks: joined(earlier.body.blocks.into_iter().chain(blocks)),
        result: moved(&later.body.result, &new),
    };
    out.ret.clone_from(&later.ret);
    if same_tuple(&out, items.as_deref()) {
        out.body.result = earlier.body.result;
    }
    let Ok(ordered) = rewrite::<Infallible>(&out, globals, &mut |_, _| Ok(Become::Kept));
    without_unused(&ordered, globals)
}

/// An argument of the later function, in the composed one.
fn moved(arg: &Arg, new: &HashMap<ValueId, Arg>) -> Arg {
    arg.map_leaves(&mut |leaf| match leaf {
        Arg::Value(id) => new[id].clone(),
        other => other.clone(),
    })
}

/// The elements of the result where it is a tuple that the function makes.
fn elements(function: &Function) -> Option<Vec<Arg>> {
    match &function.body.result {
        Arg::Tuple(items) => Some(items.clone()),
        Arg::Value(id) => match &function.values[*id].def {
            Def::Arg(Arg::Tuple(items)) => Some(items.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether as much is known of an element as is said of it.
fn fits(function: &Function, item: &Arg, said: &StructInfo) -> bool {
    matches!(item, Arg::Value(id) if function.values[*id].sinfo == *said)
}

/// Whether the result is a tuple of these elements.
fn same_tuple(function: &Function, items: Option<&[Arg]>) -> bool {
    let made = elements(function);
    items.is_some() && made.as_deref() == items
}

/// The blocks with neighbouring dataflow blocks joined, so that values of the one are visible in the other.
fn joined(blocks: impl Iterator<Item = BindingBlock>) -> Vec<BindingBlock> {
    let mut out: Vec<BindingBlock> = vec![];
    for block in blocks {
        match (out.last_mut(), &block.dataflow) {
            (
                Some(BindingBlock {
                    dataflow: Some(outputs),
                    bindings,
                }),
                Some(more),
            ) => {
                outputs.extend(more);
                bindings.extend(block.bindings);
            }
            _ => out.push(block),
        }
    }
    out
}
