//! `legalize_ops`: calls of operators become calls of loop programs (Relax: `LegalizeOps`).

use std::collections::HashSet;

use indexmap::IndexMap;

use super::PassError;
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Globals, Old, Op, OpCall, Rewriter, rewrite,
};
use crate::ir::{Func, Module, PrimFunc, alpha_eq};
use crate::ops::{self, Compute, Operand};

/// Replaces each call of an operator by a `call_tir` of a loop program, made by the definition of the operator for the shapes
/// of that call. Calls with equal programs share one. What the virtual machine does itself stays, and so do operators that
/// nothing here computes: who needs them to run reports them.
///
/// # Errors
/// [`PassError::Legalize`] if shapes or element types of a call are not known.
pub(super) fn legalize_ops(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut kernels = Kernels {
        made: IndexMap::new(),
        taken: module.funcs.keys().cloned().collect(),
    };
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let name = function.name.clone();
            *function = rewrite(function, &globals, &mut |rewriter, old| {
                kernels.replace(&name, rewriter, old)
            })?;
        }
    }
    for (name, func) in kernels.made.into_values().flatten() {
        out.funcs.insert(name, Func::Prim(func));
    }
    Ok(out)
}

struct Kernels {
    /// The programs made so far with their names, by operator.
    made: IndexMap<Op, Vec<(String, PrimFunc)>>,
    /// Names of the module.
    taken: HashSet<String>,
}

impl Kernels {
    fn replace(
        &mut self,
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
        if !matches!(ops::def(*op).compute, Compute::Kernel(_)) {
            return Ok(Become::Kept);
        }
        let scope = rewriter.scope();
        let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
        let call = OpCall {
            op: *op,
            args,
            operands: &operands,
            attrs,
        };
        let name = op.name().rsplit('.').next().unwrap_or_default();
        let kernel = ops::kernel(call, &old.value.sinfo, name);
        let kernel = kernel.map_err(|error| PassError::Legalize {
            func: function.to_owned(),
            value: old.value.name.clone(),
            error: Box::new(error),
        })?;
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
        Ok(Become::Def(Def::CallDps {
            callee: DpsCallee::Prim(self.share(*op, name, kernel.func)),
            args: inputs,
            tir_vars: kernel.scalars,
            inplace: None,
            out: old.value.sinfo.clone(),
        }))
    }

    /// The name of the program in the module: that of an equal one, or a new one.
    fn share(&mut self, op: Op, short: &str, mut func: PrimFunc) -> String {
        let made = self.made.entry(op).or_default();
        let equal = |(_, other): &&(String, PrimFunc)| alpha_eq::prim_func(other, &func).is_ok();
        if let Some((name, _)) = made.iter().find(equal) {
            return name.clone();
        }
        let mut name = short.to_owned();
        let mut count = 0;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{short}{count}");
        }
        func.name.clone_from(&name);
        func.private = true;
        made.push((name.clone(), func));
        name
    }
}
