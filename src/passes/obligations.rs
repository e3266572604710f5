//! What operators ask of symbolic extents, and the checks that take its place at run time.

use indexmap::IndexMap;

use crate::arith::Analyzer;
use crate::ir::graph::dims::bind_vars;
use crate::ir::graph::{
    Arg, Callee, Def, Function, Globals, GraphBuilder, InferError, Obligation, Obligations, Op,
    OpCall, Scope, Value, ValueId,
};
use crate::ir::{Expr, Origin, StructInfo};
use crate::support::Arena;
use crate::tensor::DType;

/// Binds a check of the obligation at run time, unless it always holds or was checked before. The name of the value is
/// what is asked: the error of the virtual machine gives that name, both numbers and the place of the call.
///
/// # Errors
/// If extents are no scalars.
pub(super) fn check(
    builder: &mut GraphBuilder,
    op: Op,
    obligation: &Obligation,
) -> Result<(), InferError> {
    let Obligation {
        what: _,
        given,
        expected,
    } = obligation;
    let name = obligation.asks(op);
    let [given, expected] = [given, expected].map(|e| e.cast(DType::I64));
    if Analyzer::new().can_prove_equal(&given, &expected) {
        return Ok(());
    }
    let expected = StructInfo::Prim {
        dtype: DType::I64,
        value: Some(expected),
    };
    if !builder.has_cast(&given, &expected) {
        let check = Def::MatchCast(Arg::Prim(given), expected);
        builder.bind(name, check)?;
    }
    Ok(())
}

/// What an operator asks.
pub(super) struct Asked {
    pub(super) op: Op,
    pub(super) obligation: Obligation,
    /// Where the call of the operator comes from.
    pub(super) origin: Origin,
}

/// What the operators of a function and of the closures that it calls ask, where it is called with arguments of which this is known.
///
/// # Errors
/// If operands do not fit.
pub(super) fn obligations(
    function: &Function,
    args: &[StructInfo],
    globals: &Globals,
) -> Result<Vec<Asked>, InferError> {
    within(function, args, globals, &[])
}

fn within(
    function: &Function,
    args: &[StructInfo],
    globals: &Globals,
    around: &[&Arena<ValueId, Value>],
) -> Result<Vec<Asked>, InferError> {
    let mut frames = around.to_vec();
    frames.push(&function.values);
    let scope = Scope { globals, frames };
    let mut asked = vec![];
    for (_, value) in function.values.iter() {
        let Def::Call {
            callee,
            args,
            attrs,
            sinfo_args: _,
        } = &value.def
        else {
            continue;
        };
        let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
        match callee {
            Callee::Op(op) => {
                let own = Obligations::default();
                let call = OpCall::new(*op, args, &operands, attrs).noting(&own);
                call.infer()?;
                asked.extend(own.take().into_iter().map(|obligation| Asked {
                    op: *op,
                    obligation,
                    origin: value.origin.clone(),
                }));
            }
            Callee::Value(id) => {
                if let Def::Function(inner) = &function.values[*id].def {
                    asked.extend(within(inner, &operands, globals, &scope.frames)?);
                }
            }
            Callee::Global(_) | Callee::Packed(_) | Callee::PurePacked(_) => {}
        }
    }
    let mut bound = IndexMap::new();
    for (param, arg) in function.params.iter().zip(args) {
        bind_vars(&function.values[*param].sinfo, arg, &mut bound);
    }
    let here = |e: &Expr| e.substitute(&|var| bound.get(var).cloned());
    for Asked { obligation, .. } in &mut asked {
        obligation.given = here(&obligation.given);
        obligation.expected = here(&obligation.expected);
    }
    Ok(asked)
}
