//! `legalize_ops`: calls of operators become calls of loop programs (Relax: `LegalizeOps`).

use super::PassError;
use super::obligations::check;
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Globals, Obligations, Old, OpCall, Rewriter, rewrite,
};
use crate::ir::{Attrs, Expr, Func, Module, StructInfo};
use crate::ops::{self, Compute, Operand};

/// Replaces each call of an operator by a `call_tir` of a loop program, made by the definition of the operator for the shapes
/// of that call, or of a function of the host. Calls with equal programs share one. What the virtual machine does itself stays, and
/// so do operators that nothing here computes: who needs them to run reports them. What an operator asks of symbolic extents is
/// checked before its call (`R.match_cast`), once for all calls that ask the same. Where a value is declared to be less than what
/// is known of it then, what is known counts.
///
/// # Errors
/// [`PassError::Legalize`] if shapes or element types of a call are not known.
pub(super) fn legalize_ops(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, func) in module.functions() {
        let function = rewrite(func, &globals, &mut |rewriter, old| {
            replace(&mut out, name, rewriter, old)
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(function));
    }
    Ok(out)
}

/// What becomes of a value of `function`; programs are added to `module`.
fn replace(
    module: &mut Module,
    function: &str,
    rewriter: &mut Rewriter<'_>,
    old: Old<'_>,
) -> Result<Become, PassError> {
    let Def::Call {
        callee: Callee::Op(op),
        args,
        attrs,
        sinfo_args: _,
    } = old.def
    else {
        return Ok(Become::Kept);
    };
    let compute = ops::def(*op).compute;
    if matches!(compute, Compute::Machine(_) | Compute::Nothing(_)) {
        return Ok(Become::Kept);
    }
    let scope = rewriter.scope();
    let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
    let obligations = Obligations::default();
    let call = OpCall {
        op: *op,
        args,
        operands: &operands,
        attrs,
        obligations: Some(&obligations),
    };
    let failed = |error| PassError::Legalize {
        func: function.to_owned(),
        value: old.value.name.clone(),
        error: Box::new(error),
    };
    let inferred = call.infer().map_err(|error| failed(error.into()))?;
    let declared = &old.value.sinfo;
    let result = match is_base_of(declared, &inferred) {
        Proof::Yes => inferred,
        Proof::No | Proof::Unknown => declared.clone(),
    };
    let call = OpCall {
        obligations: None,
        ..call
    };
    let name = op.name().rsplit('.').next().unwrap_or_default();
    for obligation in obligations.take() {
        check(rewriter.builder(), *op, &obligation).map_err(|error| failed(error.into()))?;
    }
    if let Compute::Host(host) = compute {
        let numbers = (host.numbers)(&call).map_err(|error| failed(error.into()))?;
        let tensors = args.iter().zip(&operands).filter(|(_, info)| {
            matches!(
                info,
                StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Object
            )
        });
        let numbers = numbers.into_iter().map(|n| Arg::Prim(Expr::i64(n)));
        let call = Def::Call {
            callee: Callee::PurePacked(host.name.to_owned()),
            args: tensors.map(|(arg, _)| arg.clone()).chain(numbers).collect(),
            attrs: Attrs::new(),
            sinfo_args: vec![result.clone()],
        };
        return Ok(bound(rewriter, &old, call, result));
    }
    // Nothing has no places to compute.
    let is_empty = |info: &StructInfo| {
        let dims = info.as_tensor().and_then(|info| info.shape.dims());
        dims.is_some_and(|dims| dims.iter().any(Expr::is_zero))
    };
    let empty = is_empty(&result) || operands.iter().any(is_empty);
    if empty && matches!(compute, Compute::View(_)) {
        return Ok(Become::Kept);
    }
    let kernel = match (ops::kernel(call, &result, name), compute) {
        (Ok(kernel), _) => kernel,
        // The machine finds out at run time what is not known here.
        (Err(_), Compute::View(_)) => return Ok(Become::Kept),
        (Err(error), _) => return Err(failed(error)),
    };
    let mut inputs = Vec::new();
    for operand in &kernel.args {
        inputs.push(match *operand {
            Operand::Whole(index) => args[index].clone(),
            Operand::Item(index, at) => match &args[index] {
                Arg::Tuple(items) => items[at].clone(),
                tuple => {
                    let item = Def::TupleItem(tuple.clone(), at);
                    let item = rewriter.builder().bind("lv", item);
                    Arg::Value(item.expect("the operand is a tuple of tensors"))
                }
            },
        });
    }
    let call = Def::CallDps {
        callee: DpsCallee::Prim(module.add_prim_func(name, kernel.func)),
        args: inputs,
        tir_vars: kernel.scalars,
        inplace: None,
        out: result.clone(),
    };
    Ok(bound(rewriter, &old, call, result))
}

/// The call in the place of the old value, of which `sinfo` is known.
fn bound(rewriter: &mut Rewriter<'_>, old: &Old<'_>, call: Def, sinfo: StructInfo) -> Become {
    let name = old.value.name.as_str();
    Become::Arg(Arg::Value(rewriter.builder().bind_as(name, call, sinfo)))
}
