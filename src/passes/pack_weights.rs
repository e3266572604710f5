//! `pack_weights`: weights get the layouts that schedules want (TVM: `AttachAttrLayoutFreeBuffers`, `SplitLayoutRewritePreproc`).

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use super::{Cx, PassError};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Function, Globals, Rewriter, ValueId, rewrite,
};
use crate::ir::{AttrValue, Expr, Func, Module, Param, PrimFunc, StructInfo};
use crate::sched::rules::layouts::{Panels, Wanted, wanted, with_panels};
use crate::te;
use crate::tensor::DType;

/// Which weights are packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weights {
    /// Constants, which `fold_constant` then packs.
    Constants,
    /// Also parameters after `num_input`, and what is made of these alone: `lift_transform_params` moves the packing out of the
    /// function. Without it, each call would pack.
    Parameters,
}

/// The module where a weight that only one call of a loop program uses is rewritten by a call of its own to the layout that the
/// default schedule of that program wants, and the program reads it so. Only in dataflow blocks.
///
/// ```text
///                                                  p = R.call_tir(cls.panels, (w,), R.Tensor((8, 784, 16), …))
/// y = R.call_tir(cls.matmul, (x, w), …)      →     y = R.call_tir(cls.matmul_packed, (x, p), …)
/// ```
pub(super) fn pack_weights(
    module: &Module,
    cx: &Cx,
    weights: Weights,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut packing = Packing {
        wanted: module
            .prim_funcs()
            .map(|(name, func)| (name.to_owned(), wanted(func, &cx.target)))
            .collect(),
        out: module.clone(),
    };
    packing.wanted.retain(|_, wanted| !wanted.is_empty());
    if packing.wanted.is_empty() {
        return Ok(packing.out);
    }
    for (name, function) in module.functions() {
        let free = FreeLayouts::of(function, weights);
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let at = free.may_rewrite(old.id) && old.depth == 0;
            let own = function.values.get(old.id).filter(|_| at);
            Ok(match own {
                Some(own) => packing.call(&free, &own.def, rewriter, old.def),
                None => Become::Kept,
            })
        });
        packing.out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(packing.out)
}

struct Packing {
    /// By loop program.
    wanted: HashMap<String, Vec<Wanted>>,
    out: Module,
}

impl Packing {
    /// What becomes of a call, with its arguments in the old function and in the new one.
    fn call(
        &mut self,
        free: &FreeLayouts,
        old: &Def,
        rewriter: &mut Rewriter<'_>,
        new: &Def,
    ) -> Become {
        let (
            Def::CallDps {
                callee: _,
                args: old_args,
                ..
            },
            Def::CallDps {
                callee: DpsCallee::Prim(name),
                args,
                tir_vars,
                inplace: None,
                out,
            },
        ) = (old, new)
        else {
            return Become::Kept;
        };
        let Some(program) = self.out.prim_func(name).cloned() else {
            return Become::Kept;
        };
        let wanted = self.wanted.get(name).cloned().unwrap_or_default();
        let wanted = wanted.into_iter().filter(|wanted| {
            let arg = old_args.get(wanted.param);
            arg.is_some_and(|arg| free.is_free(arg))
        });
        let (mut args, mut packed) = (args.clone(), program);
        let mut any = false;
        for wanted in wanted {
            let Some(weight) = self.packed(&packed, &wanted, &args[wanted.param], rewriter) else {
                continue;
            };
            args[wanted.param] = weight;
            packed = with_panels(&packed, &wanted);
            any = true;
        }
        if !any {
            return Become::Kept;
        }
        Become::Def(Def::CallDps {
            callee: DpsCallee::Prim(self.out.add_prim_func(&format!("{name}_packed"), packed)),
            args,
            tir_vars: tir_vars.clone(),
            inplace: None,
            out: out.clone(),
        })
    }

    /// The weight in panels.
    fn packed(
        &mut self,
        program: &PrimFunc,
        wanted: &Wanted,
        weight: &Arg,
        rewriter: &mut Rewriter<'_>,
    ) -> Option<Arg> {
        let Param::Buffer { handle: _, buffer } = &program.params[wanted.param] else {
            return None;
        };
        let shape = buffer.shape();
        let info = StructInfo::tensor(wanted.panels.shape(shape), buffer.dtype());
        let func = panels("panels", &wanted.panels, shape, buffer.dtype())?;
        let call = Def::CallDps {
            callee: DpsCallee::Prim(self.out.add_prim_func("panels", func)),
            args: vec![weight.clone()],
            tir_vars: vec![],
            inplace: None,
            out: info.clone(),
        };
        Some(Arg::Value(rewriter.builder().bind_as("packed", call, info)))
    }
}

/// The program that writes a tensor in panels.
fn panels(name: &str, panels: &Panels, shape: &[Expr], dtype: DType) -> Option<PrimFunc> {
    let weight = te::placeholder("W", shape.to_vec(), dtype);
    let packed = te::compute("P", panels.shape(shape), |place| {
        let indices = panels.element(place);
        let column = indices[panels.axis].clone();
        let extent = shape[panels.axis].cast(column.dtype());
        te::if_then_else(
            column.lt(extent),
            weight.at(&indices),
            Expr::constant(0, dtype),
        )
    });
    te::create_prim_func(name, &[weight, packed]).ok()
}

/// The weights of a function whose layout is its own affair, and the calls that may use them.
pub(super) struct FreeLayouts {
    /// Values that are weights and have one use.
    values: HashSet<ValueId>,
    /// Constants of several uses, by where their elements are.
    shared: HashSet<*const u8>,
    /// Bindings of dataflow blocks.
    calls: HashSet<ValueId>,
}

impl FreeLayouts {
    pub(super) fn of(function: &Function, weights: Weights) -> Self {
        let mut values = HashSet::new();
        if weights == Weights::Parameters {
            let inputs = function.attrs.get("num_input").and_then(AttrValue::as_int);
            let inputs = inputs.map_or(usize::MAX, |n| n.max(0) as usize);
            values.extend(function.params.iter().skip(inputs));
        }
        let mut calls = HashSet::new();
        let blocks = function.body.blocks.iter();
        for block in blocks.filter(|block| block.dataflow.is_some()) {
            for &id in &block.bindings {
                calls.insert(id);
                if of_weights(&function.values[id].def, &values) {
                    values.insert(id);
                }
            }
        }
        let (mut uses, mut constants) = (HashMap::new(), HashMap::new());
        for arg in function.args() {
            arg.walk(&mut |leaf| match leaf {
                Arg::Value(id) => *uses.entry(*id).or_insert(0) += 1,
                Arg::Const(tensor) => *constants.entry(tensor.bytes().as_ptr()).or_insert(0) += 1,
                _ => {}
            });
        }
        values.retain(|id| uses.get(id) == Some(&1));
        let shared = constants.into_iter().filter(|(_, count)| *count > 1);
        Self {
            values,
            shared: shared.map(|(at, _)| at).collect(),
            calls,
        }
    }

    /// Whether the value is a binding of a dataflow block.
    pub(super) fn may_rewrite(&self, id: ValueId) -> bool {
        self.calls.contains(&id)
    }

    /// Whether the argument is such a weight.
    pub(super) fn is_free(&self, arg: &Arg) -> bool {
        match arg {
            Arg::Value(id) => self.values.contains(id),
            Arg::Const(tensor) => !self.shared.contains(&tensor.bytes().as_ptr()),
            _ => false,
        }
    }
}

/// Whether the definition computes something of weights alone.
fn of_weights(def: &Def, weights: &HashSet<ValueId>) -> bool {
    let computes = matches!(
        def,
        Def::CallDps {
            callee: DpsCallee::Prim(_),
            inplace: None,
            ..
        } | Def::Call {
            callee: Callee::Op(_),
            ..
        } | Def::TupleItem(_, _)
            | Def::Arg(_)
    );
    let (mut all, mut any) = (true, false);
    for arg in def.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Value(id) = leaf {
                all &= weights.contains(id);
                any = true;
            }
        });
    }
    computes && all && any
}
