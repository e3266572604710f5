//! Which functions have weights, and which parameters these are.

use std::ops::Range;

use super::Shared;
use crate::ir::graph::Function;
use crate::ir::{Attrs, Module};
use crate::passes::{PassError, function, not_called};

/// Number of the parameters before the weights.
const NUM_INPUT: &str = "num_input";
/// Index of the first weight, in the older form.
const PARAM_BEGIN: &str = "param_begin";
/// Index behind the last weight, in the older form.
const PARAM_END: &str = "param_end";

/// How a function takes its weights once they are transformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Each as a parameter (`num_input`).
    Separate,
    /// As one tuple (`param_begin`, `param_end`).
    Tuple,
}

/// A function with weights.
#[derive(Clone, Debug)]
pub(super) struct Target<'m> {
    pub(super) name: &'m str,
    pub(super) function: &'m Function,
    /// Which of its parameters are weights.
    pub(super) weights: Range<usize>,
    pub(super) form: Form,
}

impl Target<'_> {
    /// The attributes of the function without those that the older form is done with.
    pub(super) fn attrs(&self) -> Attrs {
        let mut attrs = self.function.attrs.clone();
        attrs.retain(|name, _| name != PARAM_BEGIN && name != PARAM_END);
        attrs
    }
}

/// The parameters that the attribute `num_input` says are weights, if the function has it.
pub(crate) fn weights(name: &str, function: &Function) -> Result<Option<Range<usize>>, PassError> {
    let count = function.params.len();
    range(name, function, NUM_INPUT, count as i64)
}

fn range(
    name: &str,
    function: &Function,
    begin: &str,
    end: i64,
) -> Result<Option<Range<usize>>, PassError> {
    let Some(attr) = function.attrs.get(begin) else {
        return Ok(None);
    };
    let count = function.params.len();
    let index = |index: i64| usize::try_from(index).ok().filter(|index| *index <= count);
    match (attr.as_int().and_then(index), index(end)) {
        (Some(begin), Some(end)) if begin <= end => Ok(Some(begin..end)),
        _ => Err(PassError::WeightRange {
            func: name.to_owned(),
            attr: begin.to_owned(),
            given: attr.to_string(),
            params: count,
        }),
    }
}

/// The weights of a function and their form, if it has some.
fn target<'m>(name: &'m str, function: &'m Function) -> Result<Option<Target<'m>>, PassError> {
    let end = function.attrs.get(PARAM_END).and_then(|end| end.as_int());
    let tuple = match end {
        Some(end) => range(name, function, PARAM_BEGIN, end)?,
        None => None,
    };
    let found = match (tuple, weights(name, function)?) {
        (Some(weights), _) => Some((weights, Form::Tuple)),
        (None, weights) => weights.map(|weights| (weights, Form::Separate)),
    };
    Ok(found.map(|(weights, form)| Target {
        name,
        function,
        weights,
        form,
    }))
}

/// The functions to divide, by name. Functions that an earlier run made for weights are none.
pub(super) fn targets<'m>(
    module: &'m Module,
    shared: &'m Shared,
) -> Result<Vec<Target<'m>>, PassError> {
    let mut targets = vec![];
    match shared {
        Shared::Of(names) => {
            for name in names {
                let found = target(name, function(module, name)?)?;
                targets.push(found.ok_or_else(|| PassError::NoWeights { func: name.clone() })?);
            }
        }
        Shared::No | Shared::All => {
            let functions = module.functions();
            for (name, function) in
                functions.filter(|(name, _)| !name.ends_with("transform_params"))
            {
                targets.extend(target(name, function)?);
            }
            targets.sort_by_key(|target| target.name);
        }
    }
    for target in &targets {
        not_called(module, target.name)?;
    }
    Ok(targets)
}
