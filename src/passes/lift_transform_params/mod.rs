//! `lift_transform_params`: what weights alone decide is computed once, apart from inference (Relax: `LiftTransformParams`).
//!
//! A function says which of its parameters are weights: those behind the first `num_input`, or, in an older form, those from
//! `param_begin` up to `param_end`. Bindings of dataflow blocks that need weights and nothing else move to a function of their own,
//! which takes the weights as a tuple and gives what inference needs of them as a tuple:
//!
//! ```text
//! def main(x, w, b):  # num_input = 1       def main_transform_params(model_params):
//!     t = R.permute_dims(w)                      w = model_params[0]
//!     y = R.matmul(x, t)               →         t = R.permute_dims(w)
//!     z = R.add(y, b)                            b = model_params[1]
//!     return z                                   return (b, t)
//!
//!                                            def main(x, b, t):  # num_input = 1
//!                                                y = R.matmul(x, t)
//!                                                z = R.add(y, b)
//!                                                return z
//! ```
//!
//! In the older form `main` keeps one parameter for all of these, a tuple `params`, and the function for the weights of `main` is
//! `transform_params`. A value that depends on no weight (`R.zeros`) stays in inference: it costs less to make than to store. Where
//! inference needs a symbolic dimension that only weights say, the first element of the tuple is a shape with it.

mod group;
mod inference;
mod targets;
mod transform;

use super::PassError;
use crate::ir::graph::Globals;
use crate::ir::{AttrValue, Func, Module};
use group::Group;
pub(super) use targets::weights;
use targets::{Form, Target, targets};

/// Which functions share one function for their weights.
#[derive(Clone, Debug)]
pub(super) enum Shared {
    /// None: each has its own, `<function>_transform_params`.
    No,
    /// All have one, `transform_params`.
    All,
    /// These have one, and the others are left alone.
    Of(Vec<String>),
}

impl Shared {
    /// The meaning of the option `shared_transform`: a truth value or names.
    pub(super) fn of(value: Option<&AttrValue>) -> Result<Self, PassError> {
        match value {
            None | Some(AttrValue::Bool(false)) => Ok(Self::No),
            Some(AttrValue::Bool(true)) => Ok(Self::All),
            Some(AttrValue::List(items)) => {
                let names = items.iter().filter_map(AttrValue::as_str);
                let names: Vec<String> = names.map(str::to_owned).collect();
                Ok(if names.is_empty() {
                    Self::All
                } else {
                    Self::Of(names)
                })
            }
            Some(other) => Err(PassError::NotNames {
                option: "shared_transform",
                given: other.to_string(),
            }),
        }
    }
}

/// The module with the functions for weights. One that is there already, from an earlier run, is followed by the new one.
///
/// # Errors
/// If attributes of a function say of parameters that it does not have that they are weights, another function calls it, or
/// functions that share their transformation take different weights.
pub(super) fn lift_transform_params(module: &Module, shared: &Shared) -> Result<Module, PassError> {
    let targets = targets(module, shared)?;
    let groups: Vec<(String, Vec<Target<'_>>)> = match shared {
        Shared::No => {
            let name = |target: &Target<'_>| match target.form {
                Form::Tuple if target.name == "main" => "transform_params".to_owned(),
                Form::Tuple | Form::Separate => format!("{}_transform_params", target.name),
            };
            let alone = targets
                .into_iter()
                .map(|target| (name(&target), vec![target]));
            alone.collect()
        }
        Shared::All | Shared::Of(_) if targets.is_empty() => vec![],
        Shared::All | Shared::Of(_) => vec![("transform_params".to_owned(), targets)],
    };
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, targets) in groups {
        let group = Group::new(&targets)?;
        for (at, target) in targets.iter().enumerate() {
            let function = inference::inference(&group, at, &globals)?;
            out.funcs
                .insert(target.name.to_owned(), Func::Graph(function));
        }
        let mut transform = transform::transform(&group, &name, &globals)?;
        if let Some(earlier) = module.function(&name) {
            transform = transform::compose(earlier, &transform, &globals);
        }
        out.funcs.insert(name, Func::Graph(transform));
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
