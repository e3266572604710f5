//! `decompose_ops_for_inference`, `decompose_ops_for_training`: operators that are made of others become those (Relax:
//! `DecomposeOpsForInference`, `DecomposeOpsForTraining`).

use super::PassError;
use crate::ir::graph::{
    Arg, Become, Callee, Def, Globals, GraphBuilder, InferError, Old, Op, OpCall, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, ShapeInfo, StructInfo, Var};
use crate::ops;
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, Tensor};

const BATCH_NORM: Op = ops::op("nn.batch_norm");
const LAYER_NORM: Op = ops::op("nn.layer_norm");
const TENSOR_TO_SHAPE: Op = ops::op("tensor_to_shape");

/// The module where `R.nn.batch_norm` is arithmetic with the running mean and variance, and `R.tensor_to_shape` gives a shape with
/// names for its extents; in the function `only`, or in all if that is empty.
///
/// ```text
///                                     a = R.call_pure_packed("vm.builtin.tensor_to_shape", x)
/// s = R.tensor_to_shape(x)        →   b = R.match_cast(a, R.Shape([n, m]))
///                                     s = R.shape([n, m])
/// ```
///
/// # Errors
/// If the types of a call do not fit.
pub(super) fn decompose_ops_for_inference(
    module: &Module,
    only: &str,
) -> Result<Module, PassError> {
    decompose(module, only, &mut |builder, call| match call.op {
        op if op == BATCH_NORM => batch_norm(builder, call),
        op if op == TENSOR_TO_SHAPE => tensor_to_shape(builder, call),
        _ => Ok(None),
    })
}

/// The module where `R.nn.batch_norm` with running mean and variance (`training=False`) is arithmetic.
///
/// # Errors
/// If the types of a call do not fit.
pub(super) fn decompose_batch_norm(module: &Module) -> Result<Module, PassError> {
    decompose(module, "", &mut |builder, call| {
        let running = call.op == BATCH_NORM && !call.flag("training")?;
        match running {
            true => batch_norm(builder, call),
            false => Ok(None),
        }
    })
}

/// The same as `decompose_ops_for_inference` for training: `R.nn.batch_norm` takes mean and variance of the batch and moves the running ones towards them, and
/// `R.nn.layer_norm` is arithmetic too.
///
/// # Errors
/// If the types of a call do not fit.
pub(super) fn decompose_ops_for_training(module: &Module, only: &str) -> Result<Module, PassError> {
    let module = decompose(module, only, &mut |builder, call| match call.op {
        op if op == BATCH_NORM => batch_norm_in_training(builder, call),
        op if op == LAYER_NORM => layer_norm(builder, call),
        _ => Ok(None),
    })?;
    decompose_ops_for_inference(&module, only)
}

/// What a call becomes; bindings that it needs are made before it. `None` leaves the call as it is.
pub(super) type Made = Result<Option<Def>, InferError>;

/// The module where the rule says what calls of operators become, in the function `only`, or in all if that is empty.
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn decompose(
    module: &Module,
    only: &str,
    rule: &mut dyn FnMut(&mut GraphBuilder, &OpCall<'_>) -> Made,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        if !only.is_empty() && only != name {
            continue;
        }
        let new = rewrite(function, &globals, &mut |rewriter, old: Old<'_>| {
            let Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args: _,
            } = old.def
            else {
                return Ok(Become::Kept);
            };
            let scope = rewriter.scope();
            let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
            let call = OpCall::new(*op, args, &operands, attrs);
            let builder = rewriter.builder();
            let bound = rule(builder, &call).and_then(|def| match def {
                Some(Def::Arg(value @ Arg::Value(_))) => Ok(Some(value)),
                Some(def) => {
                    let new = builder.bind(&old.value.name, def)?;
                    Ok(Some(Arg::Value(new)))
                }
                None => Ok(None),
            });
            match bound {
                Ok(Some(new)) => Ok(Become::Arg(new)),
                Ok(None) => Ok(Become::Kept),
                Err(error) => Err(PassError::Type {
                    func: name.to_owned(),
                    value: old.value.name.clone(),
                    error: Box::new(error),
                }),
            }
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

/// Binds the call of an operator.
fn bind(
    builder: &mut GraphBuilder,
    op: &str,
    args: &[&Arg],
    attrs: Attrs,
) -> Result<Arg, InferError> {
    let args = args.iter().map(|&arg| arg.clone()).collect();
    builder.op("lv", ops::op(op), args, attrs).map(Arg::Value)
}

fn attr(name: &str, value: AttrValue) -> Attrs {
    Attrs::from_iter([(name.to_owned(), value)])
}

fn ints(values: impl IntoIterator<Item = usize>) -> AttrValue {
    let values = values.into_iter();
    AttrValue::List(values.map(|v| AttrValue::Int(v as i64)).collect())
}

/// A scalar of this type.
pub(super) fn number(value: f64, dtype: DType) -> Option<Arg> {
    let mut bytes = vec![0; dtype.bytes()];
    encode(Scalar::Float(value), dtype.scalar, &mut bytes);
    let tensor = Tensor::from_bytes(dtype, &[], &bytes);
    tensor.ok().map(Arg::Const)
}

/// The number of dimensions of the data and its element type.
fn data(call: &OpCall<'_>) -> Result<Option<(usize, DType)>, InferError> {
    let info = call.tensor(0)?;
    Ok(info.and_then(|info| Some((info.shape.ndim()?, info.dtype?))))
}

/// Binds a mean or a variance.
type Statistic<'a> = dyn Fn(&mut GraphBuilder) -> Result<Arg, InferError> + 'a;

/// `(data - mean) / sqrt(variance + epsilon)`, scaled and shifted; scale and shift come from `of_channel`.
fn normalised(
    builder: &mut GraphBuilder,
    call: &OpCall<'_>,
    dtype: DType,
    [mean, variance]: [&Statistic<'_>; 2],
    of_channel: &dyn Fn(&mut GraphBuilder, &Arg) -> Result<Arg, InferError>,
) -> Result<Option<Arg>, InferError> {
    let Some(epsilon) = number(call.float("epsilon")?.unwrap_or(1e-5), dtype) else {
        return Ok(None);
    };
    let none = Attrs::new;
    let mean = mean(builder)?;
    let difference = bind(builder, "subtract", &[&call.args[0], &mean], none())?;
    let variance = variance(builder)?;
    let sum = bind(builder, "add", &[&variance, &epsilon], none())?;
    let root = bind(builder, "sqrt", &[&sum], none())?;
    let mut out = bind(builder, "divide", &[&difference, &root], none())?;
    if call.flag("scale")? {
        let gamma = of_channel(builder, &call.args[1])?;
        out = bind(builder, "multiply", &[&out, &gamma], none())?;
    }
    if call.flag("center")? {
        let beta = of_channel(builder, &call.args[2])?;
        out = bind(builder, "add", &[&out, &beta], none())?;
    }
    Ok(Some(out))
}

fn batch_norm(builder: &mut GraphBuilder, call: &OpCall<'_>) -> Made {
    let (Some((ndim, dtype)), Some(axis)) = (data(call)?, call.int("axis")?) else {
        return Ok(None);
    };
    let axis = call.axis(axis, ndim)?;
    let expanded = |builder: &mut GraphBuilder, vector: &Arg| {
        let others = ints((0..ndim).filter(|&at| at != axis));
        bind(builder, "expand_dims", &[vector], attr("axis", others))
    };
    let (mean, variance) = (&call.args[3], &call.args[4]);
    let out = normalised(
        builder,
        call,
        dtype,
        [&|b| expanded(b, mean), &|b| expanded(b, variance)],
        &expanded,
    )?;
    Ok(out.map(|out| Def::Arg(Arg::Tuple(vec![out, mean.clone(), variance.clone()]))))
}

fn layer_norm(builder: &mut GraphBuilder, call: &OpCall<'_>) -> Made {
    let (Some((ndim, dtype)), Some(axes)) = (data(call)?, call.ints("axes")?) else {
        return Ok(None);
    };
    // Scale and shift are broadcast as they are: their dimensions must be the last ones.
    let positions = axes.iter().map(|&axis| call.axis(axis, ndim));
    let positions = positions.collect::<Result<Vec<_>, _>>()?;
    if !positions.iter().copied().eq(ndim - axes.len()..ndim) {
        return Ok(None);
    }
    let reduced = |builder: &mut GraphBuilder, op: &str| {
        let mut attrs = attr(
            "axis",
            AttrValue::List(axes.iter().map(|&a| AttrValue::Int(a)).collect()),
        );
        attrs.insert("keepdims".to_owned(), AttrValue::Bool(true));
        bind(builder, op, &[&call.args[0]], attrs)
    };
    let out = normalised(
        builder,
        call,
        dtype,
        [&|b| reduced(b, "mean"), &|b| reduced(b, "variance")],
        &|_, vector| Ok(vector.clone()),
    )?;
    Ok(out.map(Def::Arg))
}

fn batch_norm_in_training(builder: &mut GraphBuilder, call: &OpCall<'_>) -> Made {
    let (Some((ndim, dtype)), Some(axis)) = (data(call)?, call.int("axis")?) else {
        return Ok(None);
    };
    let axis = call.axis(axis, ndim)?;
    let momentum = call.float("momentum")?.unwrap_or(0.1);
    let (Some(new), Some(old)) = (number(momentum, dtype), number(1.0 - momentum, dtype)) else {
        return Ok(None);
    };
    let reduced = |builder: &mut GraphBuilder, op: &str| {
        let others = ints((0..ndim).filter(|&at| at != axis));
        bind(builder, op, &[&call.args[0]], attr("axis", others))
    };
    let mean = reduced(builder, "mean")?;
    let variance = reduced(builder, "variance")?;
    let mut args = call.args.to_vec();
    args.splice(3..5, [mean.clone(), variance.clone()]);
    let all = builder.op("lv", call.op, args, call.attrs.clone())?;
    let out = builder.bind("lv", Def::TupleItem(Arg::Value(all), 0))?;
    let mut moved = |running: &Arg, now: &Arg| {
        let none = Attrs::new;
        let before = bind(builder, "multiply", &[&old, running], none())?;
        let after = bind(builder, "multiply", &[&new, now], none())?;
        bind(builder, "add", &[&before, &after], none())
    };
    let moved_mean = moved(&call.args[3], &mean)?;
    let moved_variance = moved(&call.args[4], &variance)?;
    let results = vec![Arg::Value(out), moved_mean, moved_variance];
    Ok(Some(Def::Arg(Arg::Tuple(results))))
}

fn tensor_to_shape(builder: &mut GraphBuilder, call: &OpCall<'_>) -> Made {
    let sinfo = call.infer()?;
    let StructInfo::Shape(shape) = &sinfo else {
        return Ok(None);
    };
    let Some(ndim) = shape.ndim() else {
        return Ok(None);
    };
    let given = builder.bind(
        "lv",
        Def::Call {
            callee: Callee::PurePacked("vm.builtin.tensor_to_shape".to_owned()),
            args: call.args.to_vec(),
            attrs: Attrs::new(),
            sinfo_args: vec![StructInfo::Shape(ShapeInfo::Ndim(ndim))],
        },
    )?;
    let dims = (0..ndim).map(|_| Var::new("x", DType::I64).expr());
    let dims: Vec<Expr> = dims.collect();
    let named = StructInfo::Shape(ShapeInfo::Known(dims.clone()));
    builder.bind("y", Def::MatchCast(Arg::Value(given), named))?;
    Ok(Some(Def::Arg(Arg::Shape(dims))))
}
