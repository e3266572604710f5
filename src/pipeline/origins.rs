//! What graph functions hand to a loop program that is refused, and where the calls come from.

use std::fmt;

use super::Error;
use crate::ir::graph::{Arg, Def, Function, INPUT_NAMES, ValueId};
use crate::ir::{AttrValue, Buffer, Module, Origin};
use crate::lower::LowerProblem;
use crate::tensor::DType;

/// What a call hands over for a buffer of a loop program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The buffer.
    pub buffer: String,
    /// The name of the value in the graph function.
    pub value: String,
    /// The graph function, if the value is one of its parameters.
    pub parameter_of: Option<String>,
    /// Where the value comes from, if it is computed.
    pub origin: Origin,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            buffer,
            value,
            parameter_of,
            origin,
        } = self;
        match (parameter_of, origin) {
            (Some(function), _) => {
                write!(f, "`{buffer}` is parameter `{value}` of `{function}`")
            }
            (None, Origin::Unknown) => write!(f, "`{buffer}` is value `{value}`"),
            (None, origin) => write!(f, "`{buffer}` is value `{value}`, from {origin}"),
        }
    }
}

impl Error {
    /// The error, said of a loop program of this module.
    pub(super) fn in_program(self, module: &Module, name: &str) -> Self {
        let origin = called_from(module, name);
        let operand = match &self {
            Self::Lower { error, .. } => match &*error.problem {
                LowerProblem::WideType { buffer, dtype, .. } => {
                    operand(module, name, buffer.as_deref(), *dtype)
                }
                _ => None,
            },
            _ => None,
        };
        if origin.is_unknown() && operand.is_none() {
            return self;
        }
        Self::From {
            origin,
            operand: operand.map(Box::new),
            source: Box::new(self),
        }
    }
}

/// Where the calls of a loop program come from, or it itself where there are none.
fn called_from(module: &Module, name: &str) -> Origin {
    let mut origins = vec![];
    for (_, function) in module.functions() {
        function.for_each_value(&mut |value| {
            if value.def.callee() == Some(name) {
                origins.push(&value.origin);
            }
        });
    }
    match Origin::of_all(origins) {
        Origin::Unknown => module
            .prim_func(name)
            .map_or(Origin::Unknown, |f| f.origin.clone()),
        known => known,
    }
}

/// What the first call of the loop program hands over for the buffer of that name among its parameters, or else for the first
/// one of that type.
fn operand(module: &Module, program: &str, buffer: Option<&str>, dtype: DType) -> Option<Operand> {
    let buffers: Vec<&Buffer> = module.prim_func(program)?.buffer_params().collect();
    let named = |param: &&Buffer| Some(param.name()) == buffer;
    let position = buffers.iter().position(named);
    let typed = || buffers.iter().position(|param| param.dtype() == dtype);
    let position = position.or_else(typed)?;
    module.functions().find_map(|(name, function)| {
        let mut values = function.values.iter();
        let (_, call) = values.find(|(_, value)| value.def.callee() == Some(program))?;
        let Arg::Value(id) = tensors(&call.def).into_iter().nth(position)? else {
            return None;
        };
        let id = renamed(function, id);
        let parameter = function.params.iter().position(|param| *param == id);
        Some(Operand {
            buffer: buffers[position].name().to_owned(),
            value: match parameter {
                Some(at) => parameter_name(function, at),
                None => function.values[id].name.clone(),
            },
            parameter_of: parameter.map(|_| name.to_owned()),
            origin: function.values[id].origin.clone(),
        })
    })
}

/// The operands of a call of a loop program, those in a tuple one by one.
fn tensors(call: &Def) -> Vec<Arg> {
    let args = match call {
        Def::Call { args, .. } | Def::CallDps { args, .. } => args.as_slice(),
        _ => &[],
    };
    let flat = args.iter().flat_map(|arg| match arg {
        Arg::Tuple(items) => items.clone(),
        Arg::Global(_) => vec![],
        other => vec![other.clone()],
    });
    flat.collect()
}

/// The value that this one is another name of.
fn renamed(function: &Function, mut id: ValueId) -> ValueId {
    while let Def::Arg(Arg::Value(other)) | Def::MatchCast(Arg::Value(other), _) =
        &function.values[id].def
    {
        id = *other;
    }
    id
}

/// A parameter in the words of the author of the function.
fn parameter_name(function: &Function, at: usize) -> String {
    let authors = match function.attrs.get(INPUT_NAMES) {
        Some(AttrValue::List(names)) => names.get(at).and_then(AttrValue::as_str),
        _ => None,
    };
    let own = || function.values[function.params[at]].name.clone();
    authors.map_or_else(own, str::to_owned)
}
