//! `winograd_conv2d`: convolutions by 3 x 3 filters with down to a quarter of the multiplications (TVM:
//! `conv2d_nchw_winograd_without_weight_transform`).
//!
//! - The weight, which has to be one, is transformed by a call of its own, which `fold_constant` or `lift_transform_params` takes out of
//!   inference; it is four times as large then (F(4 × 4, 3 × 3)), 2.7 times (F(4 × 2, 3 × 3)) or 1.8 times (F(2 × 2, 3 × 3)).
//! - The image is transformed, multiplied and transformed back. These steps are one loop program, of which tasks keep everything in their
//!   caches, or three whose tensors the memory plan knows ([`Form`]). What follows the convolution is fused with the call that puts its
//!   result in place.
//! - A model of the CPU's cost decides ([`cost`]): memory counts beside arithmetic.
//!
//! Results differ from those of sums by a few units in the sixth digit of the largest (`algorithm.rs`). An infinity or a NaN in the image
//! makes NaN of all results whose tiles read it: up to 64 (F(4 × 4, 3 × 3)) or 16 (F(2 × 2, 3 × 3)), where sums have nine. Numbers beyond
//! 1e36 overflow in the transforms. To keep sums, disable the pass.

mod algorithm;
mod convolution;
mod cost;
mod programs;

use std::collections::HashMap;
use std::convert::Infallible;

use super::op_pattern::{OP_PATTERN, number};
use super::pack_weights::{FreeLayouts, Weights};
use super::{Cx, PassError};
use crate::ir::graph::{Arg, Become, Def, DpsCallee, Globals, Rewriter, rewrite};
use crate::ir::{AttrValue, Expr, Func, Module, PrimFunc, StructInfo};
use crate::kernel::{CpuTarget, Target};
use crate::ops::Pattern;
use crate::tensor::DType;
use convolution::Convolution;
use cost::{Form, Plan};
use programs::Shapes;

/// Which convolutions are rewritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    /// Those that the model of costs takes to be faster by filtering.
    Faster,
    /// All.
    Always,
}

impl When {
    fn plan(self, conv: &Convolution, target: &CpuTarget) -> Option<Plan> {
        match self {
            Self::Faster => cost::best(conv, target),
            Self::Always => Some(cost::fastest(conv, target)),
        }
    }
}

/// The module where convolutions by weights are computed by minimal filtering. Only in dataflow blocks, on the CPU. The three calls in the
/// middle are one, `winograd_conv2d`, in the fused form.
///
/// ```text
///                                              u = R.call_tir(cls.winograd_weights, (w,), …)
///                                              t = R.call_tir(cls.channels_last, (x,), …)
///                                              v = R.call_tir(cls.winograd_inputs, (t,), …)
/// y = R.call_tir(cls.conv2d, (x, w), …)   →    m = R.call_tir(cls.winograd_products, (v, u), …)
///                                              z = R.call_tir(cls.winograd_results, (m,), …)
///                                              y = R.call_tir(cls.channels_placed, (z,), …)
/// ```
pub(super) fn winograd_conv2d(
    module: &Module,
    cx: &Cx,
    weights: Weights,
    when: When,
) -> Result<Module, PassError> {
    let Target::Cpu(cpu) = &cx.target else {
        return Ok(module.clone());
    };
    let mut found = HashMap::new();
    for (name, func) in module.prim_funcs() {
        if let Some(conv) = Convolution::of(func)
            && let Some(plan) = when.plan(&conv, cpu)
        {
            found.insert(name.to_owned(), (conv, plan));
        }
    }
    let mut out = module.clone();
    if found.is_empty() {
        return Ok(out);
    }
    let globals = Globals::of(module);
    for (name, function) in module.functions() {
        let free = FreeLayouts::of(function, weights);
        let mut steps = Steps {
            found: &found,
            free: &free,
            out: &mut out,
        };
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let at = free.may_rewrite(old.id) && old.depth == 0;
            let own = function.values.get(old.id).filter(|_| at);
            let became = own.and_then(|own| steps.call(&own.def, rewriter, old.def));
            Ok(became.unwrap_or(Become::Kept))
        });
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

struct Steps<'a> {
    /// By loop program.
    found: &'a HashMap<String, (Convolution, Plan)>,
    free: &'a FreeLayouts,
    out: &'a mut Module,
}

impl Steps<'_> {
    /// What becomes of a call, with its arguments in the old function and in the new one.
    fn call(&mut self, old: &Def, rewriter: &mut Rewriter<'_>, new: &Def) -> Option<Become> {
        let Def::CallDps { args: old_args, .. } = old else {
            return None;
        };
        let Def::CallDps {
            callee: DpsCallee::Prim(name),
            args,
            tir_vars,
            inplace: None,
            out,
        } = new
        else {
            return None;
        };
        let (conv, Plan { filtering, form }) = self.found.get(name)?;
        let weight = old_args.get(conv.params.weight)?;
        if !self.free.is_free(weight) || !tir_vars.is_empty() || conv.params.result != 2 {
            return None;
        }
        let filtering = *filtering;
        let batch = conv.batch_of(out)?;
        let shapes = Shapes::of(conv, filtering, &batch);
        let info = |shape: &[Expr]| StructInfo::tensor(shape.to_vec(), DType::F32);
        let mut image = args[conv.params.image].clone();
        let weight = args[conv.params.weight].clone();
        // All programs are there before the first call is made.
        let origin = self.out.prim_func(name)?.origin.clone();
        let made = |func: Option<PrimFunc>| {
            Some(PrimFunc {
                origin: origin.clone(),
                ..func?
            })
        };
        let unfused = |func: Option<PrimFunc>| made(func).map(opaque);
        let weights = made(programs::weights(conv, filtering))?;
        let channels_last = made(programs::channels_last(conv, filtering))?;
        let in_layout = made(programs::in_layout(conv, filtering))?;
        let (before, last) = match form {
            Form::Fused => (None, unfused(programs::fused(conv, filtering))?),
            Form::Apart => {
                let inputs = unfused(programs::inputs(conv, filtering))?;
                let products = unfused(programs::products(conv, filtering))?;
                let results = unfused(programs::results(conv, filtering))?;
                (Some((inputs, products)), results)
            }
        };

        let u = self.bind(rewriter, weights, &[weight], info(&shapes.weights));
        if !conv.image.has_channels_last() {
            image = self.bind(rewriter, channels_last, &[image], info(&shapes.image));
        }
        let mut args = vec![image, u];
        if let Some((inputs, products)) = before {
            let [image, u] = [args[0].clone(), args[1].clone()];
            let v = self.bind(rewriter, inputs, &[image], info(&shapes.inputs));
            args = vec![self.bind(rewriter, products, &[v, u], info(&shapes.products))];
        }
        let last = if conv.results_are_in_place(filtering) {
            last
        } else {
            args = vec![self.bind(rewriter, last, &args, info(&shapes.results))];
            in_layout
        };
        let name = last.name.clone();
        let callee = DpsCallee::Prim(self.out.add_prim_func(&name, last));
        Some(Become::Def(call(callee, args, out.clone())))
    }

    fn bind(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        func: PrimFunc,
        args: &[Arg],
        info: StructInfo,
    ) -> Arg {
        let name = func.name.clone();
        let callee = DpsCallee::Prim(self.out.add_prim_func(&name, func));
        let call = call(callee, args.to_vec(), info.clone());
        Arg::Value(rewriter.builder().bind_as(&name, call, info))
    }
}

fn call(callee: DpsCallee, args: Vec<Arg>, out: StructInfo) -> Def {
    Def::CallDps {
        callee,
        args,
        tir_vars: vec![],
        inplace: None,
        out,
    }
}

/// The program as one that is fused with no other: its neighbours would compute its elements several times.
fn opaque(mut func: PrimFunc) -> PrimFunc {
    let pattern = AttrValue::Int(number(Pattern::Opaque));
    func.attrs.insert(OP_PATTERN.to_owned(), pattern);
    func
}
