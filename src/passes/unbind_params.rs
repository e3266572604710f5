//! The way back from `bind_params`: constants become parameters again.

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};

use super::PassError;
use super::lazy_transform_params::NUM_INPUT;
use super::signature::{function, not_called};
use crate::ir::graph::{Arg, Def, Value, ValueId};
use crate::ir::{AttrValue, Expr, Func, Module, Origin, StructInfo};
use crate::tensor::Tensor;

/// The module in which a function takes constants as parameters, after those it has: the weights of these that it uses, each of which
/// must be the very tensor (a clone of it, not a copy). Gives their names, too, in order. `num_input` says where they begin. Constants
/// of functions inside stay.
///
/// ```text
/// def main(x: R.Tensor((1, 784))):            # a constant of shape [128, 784], called `w` by its author
/// def main(x: R.Tensor((1, 784)), w: R.Tensor((128, 784))):
/// ```
///
/// # Errors
/// If the function does not exist, or another function of the module calls it.
pub fn unbind_params(
    module: &Module,
    func: &str,
    weights: &IndexMap<String, Tensor>,
) -> Result<(Module, Vec<String>), PassError> {
    let mut function = function(module, func)?.clone();
    not_called(module, func)?;
    let inputs = function.params.len() as i64;
    let mut used: IndexSet<usize> = IndexSet::new();
    for (_, value) in function.values.iter() {
        for arg in value.def.args() {
            arg.walk(&mut |leaf| used.extend(weight_of(leaf, weights)));
        }
    }
    let constants: Vec<ValueId> = function.values.iter().map(|(id, _)| id).collect();
    let mut params: HashMap<usize, ValueId> = HashMap::new();
    let mut names = vec![];
    for at in used {
        let (name, tensor) = weights.get_index(at).expect("it was found there");
        let dims = tensor.shape().iter().map(|&dim| Expr::i64(dim as i64));
        let id = function.values.push(Value {
            name: format!("w{}", names.len()),
            sinfo: StructInfo::tensor(dims.collect(), tensor.dtype()),
            def: Def::Param,
            origin: Origin::Unknown,
        });
        function.params.push(id);
        params.insert(at, id);
        names.push(name.clone());
    }
    let mut leaf = |arg: &Arg| {
        let param = weight_of(arg, weights).and_then(|at| params.get(&at));
        param.map_or_else(|| arg.clone(), |&id| Arg::Value(id))
    };
    for id in constants {
        let def = function.values[id].def.map(&mut leaf, &mut Expr::clone);
        function.values[id].def = def;
    }
    let attrs = &mut function.attrs;
    attrs.insert(NUM_INPUT.to_owned(), AttrValue::Int(inputs));
    let mut out = module.clone();
    out.funcs.insert(func.to_owned(), Func::Graph(function));
    Ok((out, names))
}

/// Which of the weights a constant is.
fn weight_of(arg: &Arg, weights: &IndexMap<String, Tensor>) -> Option<usize> {
    let Arg::Const(constant) = arg else {
        return None;
    };
    weights.values().position(|weight| {
        let (a, b) = (weight.bytes(), constant.bytes());
        let whole = a.as_ptr() == b.as_ptr() && a.len() == b.len() && !a.is_empty();
        whole && weight.dtype() == constant.dtype() && weight.shape() == constant.shape()
    })
}
