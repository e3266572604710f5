//! Inference of `StructInfo`: what is known of a value from how it is computed.
//!
//! Where a symbolic extent cannot be decided the result says less (`ndim` instead of a shape); only what is wrong for every
//! value of the variables is an error.

use std::sync::Arc;

use indexmap::IndexMap;

use super::dims::{Proof, bind_vars, is_base_of};
use super::{Arg, Callee, Def, DpsCallee, Function, OpCall, Value, ValueId};
use crate::ir::{
    Attrs, Expr, Func, Module, Param, PrimFunc, ShapeInfo, StructInfo, TensorInfo, Var,
};
use crate::support::Arena;

mod error;
#[cfg(test)]
mod tests;

pub use error::InferError;

/// What is known of the functions of a module, by name.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// Absent: nothing is known of the module, and every name is accepted.
    known: Option<Arc<IndexMap<String, StructInfo>>>,
}

impl Globals {
    /// These functions and no others.
    pub fn new(signatures: IndexMap<String, StructInfo>) -> Self {
        Self {
            known: Some(Arc::new(signatures)),
        }
    }

    /// Says more of a function.
    pub fn insert(&mut self, name: impl Into<String>, signature: StructInfo) {
        let known = self.known.get_or_insert_default();
        Arc::make_mut(known).insert(name.into(), signature);
    }

    /// The functions of a module.
    pub fn of(module: &Module) -> Self {
        let signature = |func: &Func| match func {
            Func::Prim(func) => prim_func_signature(func),
            Func::Graph(func) => func.signature(),
        };
        let externs = module.externs.iter();
        let externs = externs.map(|(name, func)| (name.clone(), func.sinfo.clone()));
        let funcs = module.funcs.iter();
        let funcs = funcs.map(|(name, func)| (name.clone(), signature(func)));
        Self::new(funcs.chain(externs).collect())
    }

    /// What is known of the function.
    ///
    /// # Errors
    /// [`InferError::UnknownGlobal`] if the module does not have it.
    pub fn signature(&self, name: &str) -> Result<StructInfo, InferError> {
        let Some(known) = &self.known else {
            return Ok(StructInfo::Callable {
                params: None,
                ret: Box::new(StructInfo::Object),
                pure: true,
            });
        };
        known
            .get(name)
            .cloned()
            .ok_or_else(|| InferError::UnknownGlobal {
                name: name.to_owned(),
            })
    }
}

/// What is known of a loop program as a graph value: it returns a scalar or nothing, and writes its last parameters.
pub fn prim_func_signature(func: &PrimFunc) -> StructInfo {
    let param = |param: &Param| match param {
        Param::Buffer { handle: _, buffer } => {
            StructInfo::tensor(buffer.shape().to_vec(), buffer.dtype())
        }
        // An address may be that of anything.
        Param::Scalar(var) if var.dtype() == crate::tensor::DType::U64 => StructInfo::Object,
        Param::Scalar(var) => StructInfo::Prim {
            dtype: var.dtype(),
            value: Some(var.expr()),
        },
    };
    StructInfo::Callable {
        params: Some(func.params.iter().map(param).collect()),
        ret: Box::new(match func.ret {
            Some(dtype) => StructInfo::Prim { dtype, value: None },
            None => StructInfo::Tuple(vec![]),
        }),
        pure: func.is_pure(),
    }
}

/// Where arguments get their meaning.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// The functions of the module.
    pub globals: &'a Globals,
    /// Values of the functions around a closure, outermost first, and last those of the function itself.
    pub frames: Vec<&'a Arena<ValueId, Value>>,
}

impl Scope<'_> {
    /// What is known of an argument. A handle that names nothing is `Object`; the verifier reports it.
    pub fn arg(&self, arg: &Arg) -> StructInfo {
        let value = |depth: usize, id: &ValueId| {
            let frame = self.frames.len().checked_sub(depth + 1)?;
            Some(self.frames[frame].get(*id)?.sinfo.clone())
        };
        match arg {
            Arg::Value(id) => value(0, id).unwrap_or(StructInfo::Object),
            Arg::Captured { depth, value: id } => value(*depth, id).unwrap_or(StructInfo::Object),
            Arg::Const(tensor) => {
                let dims = tensor.shape().iter().map(|&d| Expr::i64(d as i64));
                StructInfo::tensor(dims.collect(), tensor.dtype())
            }
            Arg::Omitted(_) => StructInfo::Tensor(TensorInfo {
                shape: ShapeInfo::Unknown,
                dtype: None,
                vdevice: None,
            }),
            Arg::Tuple(items) => StructInfo::Tuple(items.iter().map(|i| self.arg(i)).collect()),
            Arg::Shape(dims) => StructInfo::Shape(ShapeInfo::Known(dims.clone())),
            Arg::Prim(e) => StructInfo::Prim {
                dtype: e.dtype(),
                value: Some(e.clone()),
            },
            Arg::Str(_) | Arg::DType(_) => StructInfo::Object,
            Arg::Global(name) => self.globals.signature(name).unwrap_or(StructInfo::Object),
            Arg::Extern(_) => StructInfo::any_function(),
        }
    }
}

/// Parts and nodes of what is known of a value. A tuple of tuples of one tuple, or a sum of sums of one extent, has twice as
/// many with each binding.
const MAX_PARTS: usize = 1 << 16;

/// What is known of the value of a definition.
///
/// # Errors
/// If the arguments can never fit what takes them, or it is too much that is known.
pub fn infer(def: &Def, scope: &Scope<'_>) -> Result<StructInfo, InferError> {
    let inferred = infer_def(def, scope)?;
    if inferred.fits(MAX_PARTS) {
        Ok(inferred)
    } else {
        Err(InferError::TooLarge { limit: MAX_PARTS })
    }
}

fn infer_def(def: &Def, scope: &Scope<'_>) -> Result<StructInfo, InferError> {
    match def {
        Def::Param => Ok(StructInfo::Object),
        Def::Arg(arg) => Ok(scope.arg(arg)),
        Def::TupleItem(arg, index) => match scope.arg(arg) {
            StructInfo::Tuple(mut items) if *index < items.len() => Ok(items.swap_remove(*index)),
            StructInfo::Object => Ok(StructInfo::Object),
            got => Err(InferError::NoItem {
                index: *index,
                got: Box::new(got),
            }),
        },
        Def::CallDps {
            callee,
            args,
            tir_vars,
            inplace,
            out,
        } => infer_call_dps(callee, args, tir_vars, inplace.as_deref(), out, scope),
        Def::Call {
            callee,
            args,
            attrs,
            sinfo_args,
        } => infer_call(callee, args, attrs, sinfo_args, scope),
        Def::MatchCast(_, sinfo) => Ok(sinfo.clone()),
        Def::If {
            cond: _,
            then,
            otherwise,
        } => {
            let (then, otherwise) = (scope.arg(&then.result), scope.arg(&otherwise.result));
            Ok(common(&then, &otherwise))
        }
        Def::Function(inner) => Ok(inner.signature()),
    }
}

/// What is known of a value that is one of two (Relax: the least upper bound).
pub fn common(a: &StructInfo, b: &StructInfo) -> StructInfo {
    if is_base_of(a, b) == Proof::Yes {
        return a.clone();
    }
    if is_base_of(b, a) == Proof::Yes {
        return b.clone();
    }
    let shape = |a: &ShapeInfo, b: &ShapeInfo| match (a.ndim(), b.ndim()) {
        (Some(n), Some(m)) if n == m => ShapeInfo::Ndim(n),
        _ => ShapeInfo::Unknown,
    };
    match (a, b) {
        (StructInfo::Tensor(a), StructInfo::Tensor(b)) => StructInfo::Tensor(TensorInfo {
            shape: if is_base_of(
                &StructInfo::Shape(a.shape.clone()),
                &StructInfo::Shape(b.shape.clone()),
            ) == Proof::Yes
            {
                a.shape.clone()
            } else {
                shape(&a.shape, &b.shape)
            },
            dtype: a.dtype.filter(|_| a.dtype == b.dtype),
            vdevice: a.vdevice.clone().filter(|_| a.vdevice == b.vdevice),
        }),
        (StructInfo::Shape(a), StructInfo::Shape(b)) => StructInfo::Shape(shape(a, b)),
        (StructInfo::Tuple(a), StructInfo::Tuple(b)) if a.len() == b.len() => {
            StructInfo::Tuple(a.iter().zip(b).map(|(a, b)| common(a, b)).collect())
        }
        (
            StructInfo::Prim { dtype, value: _ },
            StructInfo::Prim {
                dtype: other,
                value: _,
            },
        ) if dtype == other => StructInfo::Prim {
            dtype: *dtype,
            value: None,
        },
        _ => StructInfo::Object,
    }
}

fn infer_call_dps(
    callee: &DpsCallee,
    args: &[Arg],
    tir_vars: &[Expr],
    inplace: Option<&[Option<usize>]>,
    out: &StructInfo,
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    let (name, params) = match callee {
        DpsCallee::Prim(name) => (name, scope.globals.signature(name)?),
        // A packed function of that name may be registered at run time instead.
        DpsCallee::Packed(name) => match scope.globals.signature(name) {
            Ok(signature) => (name, signature),
            Err(_) => return Ok(out.clone()),
        },
    };
    let params = match params {
        StructInfo::Callable {
            params: Some(params),
            ret,
            pure: _,
        } if *ret == StructInfo::Tuple(vec![]) => params,
        StructInfo::Callable {
            params: None,
            ret: _,
            pure: _,
        } => return Ok(out.clone()),
        got => {
            return Err(InferError::NotCallable {
                callee: format!("{name} as a loop program"),
                got: Box::new(got),
            });
        }
    };
    let inputs: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
    let outs = match out {
        StructInfo::Tuple(items) => items.clone(),
        single => vec![single.clone()],
    };
    let scalars = tir_vars.iter().map(|e| StructInfo::Prim {
        dtype: e.dtype(),
        value: Some(e.clone()),
    });
    // The verifier refuses indices that no argument has.
    let beyond = |index: &usize| *index >= args.len();
    if inplace.into_iter().flatten().flatten().any(beyond) {
        return Ok(out.clone());
    }
    // An output that overwrites an input is no parameter of its own.
    let fresh = |(at, out): (usize, StructInfo)| match inplace.and_then(|list| list.get(at)) {
        Some(Some(_)) => None,
        _ => Some(out),
    };
    let fresh = outs.into_iter().enumerate().filter_map(fresh);
    let given: Vec<_> = inputs.iter().cloned().chain(fresh).chain(scalars).collect();
    if given.len() != params.len() {
        return Err(InferError::ArgumentCount {
            callee: name.clone(),
            expected: params.len(),
            got: given.len(),
        });
    }
    check_arguments(name, &params, &given, inputs.len())?;
    Ok(out.clone())
}

/// Checks arguments against parameters whose symbolic variables they bind. Those from `outputs` on are declared outputs.
fn check_arguments(
    callee: &str,
    params: &[StructInfo],
    given: &[StructInfo],
    outputs: usize,
) -> Result<IndexMap<Var, Expr>, InferError> {
    let mut bound = IndexMap::new();
    for (param, arg) in params.iter().zip(given) {
        bind_vars(param, arg, &mut bound);
    }
    for (index, (param, got)) in params.iter().zip(given).enumerate() {
        let expected = param.substitute(&|var| bound.get(var).cloned());
        if is_base_of(&expected, got) != Proof::No {
            continue;
        }
        let (callee, got) = (callee.to_owned(), Box::new(got.clone()));
        let expected = Box::new(expected);
        return Err(if index >= outputs {
            InferError::Output {
                callee,
                index: index - outputs,
                expected,
                got,
            }
        } else {
            InferError::Argument {
                callee,
                index,
                expected,
                got,
            }
        });
    }
    Ok(bound)
}

fn infer_call(
    callee: &Callee,
    args: &[Arg],
    attrs: &Attrs,
    sinfo_args: &[StructInfo],
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    let declared = || match sinfo_args {
        [] => StructInfo::Object,
        [single] => single.clone(),
        several => StructInfo::Tuple(several.to_vec()),
    };
    match callee {
        Callee::Packed(_) | Callee::PurePacked(_) => Ok(declared()),
        Callee::Global(name) => call_function(name, &scope.globals.signature(name)?, args, scope),
        Callee::Value(id) => {
            let frame = scope.frames.last().expect("the function itself is a frame");
            match frame.get(*id) {
                Some(value) => call_function(&value.name, &value.sinfo, args, scope),
                None => Ok(StructInfo::Object),
            }
        }
        Callee::Op(_) if !sinfo_args.is_empty() => Ok(declared()),
        Callee::Op(op) => {
            let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            OpCall::new(*op, args, &operands, attrs).infer()
        }
    }
}

fn call_function(
    callee: &str,
    signature: &StructInfo,
    args: &[Arg],
    scope: &Scope<'_>,
) -> Result<StructInfo, InferError> {
    match signature {
        StructInfo::Object => Ok(StructInfo::Object),
        StructInfo::Callable {
            params,
            ret,
            pure: _,
        } => {
            let Some(params) = params else {
                return Ok((**ret).clone());
            };
            let given: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            if params.len() != given.len() {
                return Err(InferError::ArgumentCount {
                    callee: callee.to_owned(),
                    expected: params.len(),
                    got: given.len(),
                });
            }
            let bound = check_arguments(callee, params, &given, usize::MAX)?;
            // Variables of the callee that no argument defines mean nothing to the caller.
            let mut open: Vec<Var> = Vec::new();
            for e in params.iter().flat_map(StructInfo::exprs) {
                open.extend(e.free_vars().into_iter().filter(|v| !bound.contains_key(v)));
            }
            let ret = erase(ret, &open);
            Ok(ret.substitute(&|var| bound.get(var).cloned()))
        }
        got => Err(InferError::NotCallable {
            callee: callee.to_owned(),
            got: Box::new(got.clone()),
        }),
    }
}

/// What is known without these symbolic variables: of shapes that use them the rank (Relax: `EraseToWellDefined`).
pub fn erase(info: &StructInfo, open: &[Var]) -> StructInfo {
    let uses = |e: &Expr| open.iter().any(|var| e.uses(var));
    let shape = |shape: &ShapeInfo| match shape {
        ShapeInfo::Known(dims) if dims.iter().any(uses) => ShapeInfo::Ndim(dims.len()),
        known => known.clone(),
    };
    match info {
        StructInfo::Tensor(info) => StructInfo::Tensor(TensorInfo {
            shape: shape(&info.shape),
            ..info.clone()
        }),
        StructInfo::Shape(info) => StructInfo::Shape(shape(info)),
        StructInfo::Prim { dtype, value } => StructInfo::Prim {
            dtype: *dtype,
            value: value.clone().filter(|e| !uses(e)),
        },
        StructInfo::Tuple(items) => {
            StructInfo::Tuple(items.iter().map(|item| erase(item, open)).collect())
        }
        StructInfo::Object
        | StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => info.clone(),
    }
}

/// What is known outside a function of one of its values: without the symbolic variables that no parameter defines.
pub fn open_vars_erased(func: &Function, info: &StructInfo) -> StructInfo {
    let params = func.params.iter();
    let defined: Vec<Var> = params
        .flat_map(|param| func.values[*param].sinfo.defined_vars())
        .collect();
    let mut open = info.free_vars();
    open.retain(|var| !defined.contains(var));
    erase(info, &open)
}

/// What is known of the result of a function's body, which may say more than its declaration.
pub fn infer_return(func: &Function, globals: &Globals) -> StructInfo {
    let scope = Scope {
        globals,
        frames: vec![&func.values],
    };
    scope.arg(&func.body.result)
}
