//! `fold_batchnorm_to_conv2d`: a batch normalisation after a convolution goes into its weight (Relax: `FoldBatchnormToConv2D`).

use super::PassError;
use super::early::Early;
use super::pack_weights::Weights;
use super::rewrite_call::{Site, rewrite_each};
use crate::ir::graph::pattern::{DfPattern, is_op, is_tuple_get_item, wildcard};
use crate::ir::graph::{Arg, Become, Callee, Def, GraphBuilder, InferError, Rewriter, ValueId};
use crate::ir::{AttrValue, Attrs, Expr, Module, StructInfo};
use crate::ops;
use crate::tensor::DType;

/// The module where `R.nn.conv2d` with a constant weight has a scaled weight and a bias, in the place of an `R.nn.batch_norm` with
/// constants after it. The normalisation is that for inference, with the running mean and variance, as in
/// `decompose_ops_for_inference`. `fold_constant` computes the new weight.
///
/// ```text
/// a = R.nn.conv2d(x, w)                                       s = gamma / sqrt(variance + epsilon)
/// b = R.nn.batch_norm(a, gamma, beta, mean, variance)    →    a = R.nn.conv2d(x, w * s)
/// c = b[0]                                                    c = a + (beta - mean * s)
/// ```
///
/// With [`Weights::Parameters`], parameters after `num_input` and what is made of them count as constants: `lift_transform_params`
/// takes the new weight out of inference.
///
/// A normalisation of another axis than that of the channels, or one without scale or offset, stays; so does a convolution with
/// elements of several types, or with its weights in several groups of layout IOHW.
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn fold_batchnorm_to_conv2d(
    module: &Module,
    weights: Weights,
    training: Training,
) -> Result<Module, PassError> {
    let normalized = Normalized::new();
    rewrite_each(
        module,
        &normalized.result,
        &mut |function, rewriter, site| {
            let scope = rewriter.scope();
            let mut early = Early::new(&scope, function);
            let mut is_weight = |part: &DfPattern| match &site.matches[part] {
                Arg::Const(_) | Arg::Omitted(_) => true,
                arg => weights == Weights::Parameters && early.is(arg),
            };
            let statistics = normalized.statistics.iter();
            if !statistics.chain([&normalized.weight]).all(&mut is_weight) {
                return Ok(Become::Kept);
            }
            match Fold::of(&normalized, training, rewriter, site) {
                Some(fold) => fold.def(rewriter.builder()).map(Become::Def),
                None => Ok(Become::Kept),
            }
        },
    )
}

/// What becomes of normalisations that say that they are trained (`training=True`, the default of the operator).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Training {
    /// They are taken as those for inference.
    IsOver,
    /// They stay: they take mean and variance of the batch.
    GoesOn,
}

/// A convolution and its normalisation.
struct Normalized {
    input: DfPattern,
    weight: DfPattern,
    convolution: DfPattern,
    /// Scale, offset, mean and variance.
    statistics: [DfPattern; 4],
    normalisation: DfPattern,
    result: DfPattern,
}

impl Normalized {
    fn new() -> Self {
        let (input, weight) = (wildcard(), wildcard());
        let convolution = is_op(ops::op("nn.conv2d"), [&input, &weight]);
        let statistics = std::array::from_fn(|_| wildcard());
        let operands = std::iter::once(&convolution).chain(&statistics);
        let normalisation = is_op(ops::op("nn.batch_norm"), operands);
        let result = is_tuple_get_item(&normalisation, Some(0));
        Self {
            input,
            weight,
            convolution,
            statistics,
            normalisation,
            result,
        }
    }
}

/// What is to be computed instead.
struct Fold {
    input: Arg,
    weight: Arg,
    /// Attributes of the convolution.
    attrs: Attrs,
    /// Scale, offset, mean and variance.
    statistics: [Arg; 4],
    epsilon: Expr,
    /// The shape of the factors beside the weight, and of the bias beside the result.
    factors: Vec<Expr>,
    bias: Vec<Expr>,
}

impl Fold {
    /// The convolution in the place of this value, if it computes the same.
    fn of(
        normalized: &Normalized,
        training: Training,
        rewriter: &Rewriter<'_>,
        site: &Site<'_>,
    ) -> Option<Self> {
        let scope = rewriter.scope();
        let attrs = site.matches.attrs(&normalized.convolution, &scope)?;
        let own = site.matches.attrs(&normalized.normalisation, &scope)?;
        let text = |name: &str| attrs.get(name).and_then(AttrValue::as_str);
        let int = |attrs: &Attrs, name: &str| attrs.get(name).and_then(AttrValue::as_int);
        if training == Training::GoesOn && int(own, "training") != Some(0) {
            return None;
        }
        let out_layout = text("out_layout").or(text("data_layout"));
        let whole = int(own, "center") == Some(1) && int(own, "scale") == Some(1);
        if out_layout != Some("NCHW") || int(own, "axis") != Some(1) || !whole {
            return None;
        }
        let statistics = (normalized.statistics.each_ref()).map(|p| site.matches[p].clone());
        let weight = site.matches[&normalized.weight].clone();
        let dtype = dtype(&scope.arg(&site.matches[&normalized.convolution]))?;
        let mut constants = std::iter::once(&weight).chain(&statistics);
        if !constants.all(|arg| self::dtype(&scope.arg(arg)) == Some(dtype)) {
            return None;
        }
        let channels = scope.arg(&statistics[0]);
        let [channels] = channels.as_tensor()?.shape.dims()? else {
            return None;
        };
        let one = || Expr::i64(1);
        let factors = match text("kernel_layout") {
            Some("OIHW") => vec![channels.clone(), one(), one(), one()],
            Some("IOHW") if int(attrs, "groups") == Some(1) => {
                vec![one(), channels.clone(), one(), one()]
            }
            _ => return None,
        };
        let epsilon = match own.get("epsilon")? {
            AttrValue::Float(epsilon) => Expr::float(*epsilon, dtype),
            _ => return None,
        };
        Some(Self {
            input: site.matches[&normalized.input].clone(),
            weight,
            attrs: attrs.clone(),
            statistics,
            epsilon,
            factors,
            bias: vec![one(), channels.clone(), one(), one()],
        })
    }

    /// Binds everything but the sum with the bias, and gives that.
    fn def(self, builder: &mut GraphBuilder) -> Result<Def, InferError> {
        let mut call = |name: &str, args: Vec<Arg>, attrs: Attrs| {
            let made: Result<ValueId, _> = builder.op("lv", ops::op(name), args, attrs);
            made.map(Arg::Value)
        };
        let none = Attrs::new;
        let [gamma, beta, mean, variance] = self.statistics;
        let deviation = call("add", vec![variance, Arg::Prim(self.epsilon)], none())?;
        let deviation = call("sqrt", vec![deviation], none())?;
        let scale = call("divide", vec![gamma, deviation], none())?;
        let factors = vec![scale.clone(), Arg::Shape(self.factors)];
        let factors = call("reshape", factors, none())?;
        let weight = call("multiply", vec![self.weight, factors], none())?;
        let convolved = call("nn.conv2d", vec![self.input, weight], self.attrs)?;
        let offset = call("multiply", vec![mean, scale], none())?;
        let offset = call("subtract", vec![beta, offset], none())?;
        let offset = call("reshape", vec![offset, Arg::Shape(self.bias)], none())?;
        Ok(Def::Call {
            callee: Callee::Op(ops::op("add")),
            args: vec![convolved, offset],
            attrs: none(),
            sinfo_args: vec![],
        })
    }
}

fn dtype(info: &StructInfo) -> Option<DType> {
    info.as_tensor().and_then(|info| info.dtype)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::passes::bind_params;
    use crate::tensor::Tensor;
    use crate::{interp, script};

    const TEXT: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3, 3), "float32"), w: R.Tensor((2, 2, 2, 2), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), m: R.Tensor((2,), "float32"), v: R.Tensor((2,), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, w, LAYOUT)
            n = R.nn.batch_norm(c, g, b, m, v, axis=1, NORM)
            y = n[0]
            R.output(y)
        return y
"#;

    fn tensor(shape: &[usize], first: f32) -> Tensor {
        let count: usize = shape.iter().product();
        let elements: Vec<f32> = (0..count).map(|i| first + i as f32 * 0.25).collect();
        Tensor::from_slice(shape, &elements).expect("as many as the shape has")
    }

    /// How many normalisations are left, and the greatest difference of the results.
    fn folded(layout: &str, norm: &str) -> (usize, f32) {
        let text = TEXT.replace("LAYOUT", layout).replace("NORM", norm);
        let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let weights = [("g", 0.5), ("b", -1.0), ("m", 0.75), ("v", 2.0)];
        let weights = weights.map(|(name, first)| (name.to_owned(), tensor(&[2], first)));
        let mut weights: indexmap::IndexMap<_, _> = weights.into_iter().collect();
        weights.insert("w".to_owned(), tensor(&[2, 2, 2, 2], -1.0));
        let module = bind_params(&module, "main", &weights).unwrap_or_else(|e| panic!("{e}"));
        let new = fold_batchnorm_to_conv2d(&module, Weights::Constants, Training::IsOver);
        let new = new.unwrap_or_else(|e| panic!("{e}"));
        script::well_formed(&new).unwrap_or_else(|e| panic!("{e}"));
        let left = script::print(&new).matches("batch_norm").count();
        let x = interp::Value::Tensor(tensor(&[1, 2, 3, 3], 0.5));
        let result = |module: &Module| {
            let args = std::slice::from_ref(&x);
            match interp::run_module(module, "main", args, &HashMap::new()) {
                Ok(interp::Value::Tensor(y)) => y.as_slice::<f32>().expect("float32").to_vec(),
                other => panic!("{other:?}"),
            }
        };
        let (a, b) = (result(&module), result(&new));
        let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        (left, differences.fold(0.0, f32::max))
    }

    #[test]
    fn the_convolution_computes_what_the_normalisation_gave() {
        for layout in ["kernel_layout=\"OIHW\"", "kernel_layout=\"IOHW\""] {
            let (left, difference) = folded(layout, "training=False");
            assert_eq!(left, 0, "{layout}");
            // Values of about 10, each a sum of 8 products.
            assert!(
                difference < 8.0 * 10.0 * f32::EPSILON,
                "{layout}: {difference}"
            );
        }
    }

    #[test]
    fn what_another_weight_would_not_give_stays() {
        for norm in [
            "training=False, scale=False",
            "training=False, center=False",
        ] {
            assert_eq!(folded("groups=1", norm), (1, 0.0), "{norm}");
        }
    }
}
