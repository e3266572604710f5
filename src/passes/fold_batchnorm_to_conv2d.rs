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
/// With [`Reach::All`], also convolutions over one dimension and over three, and those with a bias, whose offset is then
/// `beta + (bias - mean) * s`. A normalisation that says that it is trained stays then: it takes mean and variance of the batch.
///
/// A normalisation of another axis than that of the channels, or one without scale or offset, stays; so does a convolution with
/// elements of several types, or with its weights in several groups of layout IOHW.
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn fold_batchnorm_to_conv2d(
    module: &Module,
    weights: Weights,
    reach: Reach,
) -> Result<Module, PassError> {
    let kinds: &[(&Kind, Bias)] = match reach {
        Reach::Relax => &[(&CONV2D, Bias::No)],
        Reach::All => &[
            (&CONV1D, Bias::No),
            (&CONV1D, Bias::Yes),
            (&CONV2D, Bias::No),
            (&CONV2D, Bias::Yes),
            (&CONV3D, Bias::No),
            (&CONV3D, Bias::Yes),
        ],
    };
    let mut module = module.clone();
    for &(kind, bias) in kinds {
        module = fold(&module, weights, reach, &Normalized::new(kind, bias))?;
    }
    Ok(module)
}

fn fold(
    module: &Module,
    weights: Weights,
    reach: Reach,
    normalized: &Normalized,
) -> Result<Module, PassError> {
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
            let parts = normalized.statistics.iter().chain([&normalized.weight]);
            let mut parts = parts.chain(normalized.bias.as_ref().map(|bias| &bias.vector));
            if !parts.all(&mut is_weight) {
                return Ok(Become::Kept);
            }
            match Fold::of(normalized, reach, rewriter, site) {
                Some(fold) => fold.def(rewriter.builder()).map(Become::Def),
                None => Ok(Become::Kept),
            }
        },
    )
}

/// Which normalisations go into a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// Those that Relax folds: after `nn.conv2d` without a bias, all taken as those for inference, whatever they say.
    Relax,
    /// Those of inference after a convolution over one to three dimensions, with or without a bias.
    All,
}

/// A convolution: the operator, the layout of its data, and those of its weight that are folded.
struct Kind {
    op: &'static str,
    data: &'static str,
    weight: &'static str,
    /// With the channels of the result second: of one group only.
    weight_swapped: &'static str,
    spatial: usize,
}

const CONV1D: Kind = Kind {
    op: "nn.conv1d",
    data: "NCW",
    weight: "OIW",
    weight_swapped: "IOW",
    spatial: 1,
};
const CONV2D: Kind = Kind {
    op: "nn.conv2d",
    data: "NCHW",
    weight: "OIHW",
    weight_swapped: "IOHW",
    spatial: 2,
};
const CONV3D: Kind = Kind {
    op: "nn.conv3d",
    data: "NCDHW",
    weight: "OIDHW",
    weight_swapped: "IODHW",
    spatial: 3,
};

/// Whether the convolution has a bias.
#[derive(Clone, Copy)]
enum Bias {
    Yes,
    No,
}

/// What is added to each channel: a vector, reshaped to lie beside the channels.
struct Added {
    vector: DfPattern,
    reshaped: DfPattern,
}

/// A convolution and its normalisation.
struct Normalized {
    kind: &'static Kind,
    input: DfPattern,
    weight: DfPattern,
    convolution: DfPattern,
    bias: Option<Added>,
    /// Scale, offset, mean and variance.
    statistics: [DfPattern; 4],
    normalisation: DfPattern,
    result: DfPattern,
}

impl Normalized {
    fn new(kind: &'static Kind, bias: Bias) -> Self {
        let (input, weight) = (wildcard(), wildcard());
        let convolution = is_op(ops::op(kind.op), [&input, &weight]);
        let bias = match bias {
            Bias::Yes => {
                let vector = wildcard();
                let reshaped = is_op(ops::op("reshape"), [&vector, &wildcard()]);
                Some(Added { vector, reshaped })
            }
            Bias::No => None,
        };
        let convolved = match &bias {
            Some(bias) => is_op(ops::op("add"), [&convolution, &bias.reshaped]),
            None => convolution.clone(),
        };
        let statistics = std::array::from_fn(|_| wildcard());
        let operands = std::iter::once(&convolved).chain(&statistics);
        let normalisation = is_op(ops::op("nn.batch_norm"), operands);
        let result = is_tuple_get_item(&normalisation, Some(0));
        Self {
            kind,
            input,
            weight,
            convolution,
            bias,
            statistics,
            normalisation,
            result,
        }
    }
}

/// What is to be computed instead.
struct Fold {
    /// The convolution.
    op: &'static str,
    input: Arg,
    weight: Arg,
    /// Attributes of the convolution.
    attrs: Attrs,
    /// Scale, offset, mean and variance.
    statistics: [Arg; 4],
    epsilon: Expr,
    /// What the convolution adds to each channel.
    bias: Option<Arg>,
    /// The shape of the factors beside the weight, and of the offset beside the result.
    factors: Vec<Expr>,
    offset: Vec<Expr>,
}

impl Fold {
    /// The convolution in the place of this value, if it computes the same.
    fn of(
        normalized: &Normalized,
        reach: Reach,
        rewriter: &Rewriter<'_>,
        site: &Site<'_>,
    ) -> Option<Self> {
        let scope = rewriter.scope();
        let attrs = site.matches.attrs(&normalized.convolution, &scope)?;
        let own = site.matches.attrs(&normalized.normalisation, &scope)?;
        let text = |name: &str| attrs.get(name).and_then(AttrValue::as_str);
        let int = |attrs: &Attrs, name: &str| attrs.get(name).and_then(AttrValue::as_int);
        if reach == Reach::All && int(own, "training") != Some(0) {
            return None;
        }
        let out_layout = text("out_layout").or(text("data_layout"));
        let whole = int(own, "center") == Some(1) && int(own, "scale") == Some(1);
        let kind = normalized.kind;
        if out_layout != Some(kind.data) || int(own, "axis") != Some(1) || !whole {
            return None;
        }
        let statistics = (normalized.statistics.each_ref()).map(|p| site.matches[p].clone());
        let weight = site.matches[&normalized.weight].clone();
        let dtype = dtype(&scope.arg(&site.matches[&normalized.convolution]))?;
        let bias = normalized.bias.as_ref();
        let bias = bias.map(|bias| site.matches[&bias.vector].clone());
        let mut constants = std::iter::once(&weight).chain(&statistics).chain(&bias);
        if !constants.all(|arg| self::dtype(&scope.arg(arg)) == Some(dtype)) {
            return None;
        }
        let channels = scope.arg(&statistics[0]);
        let [channels] = channels.as_tensor()?.shape.dims()? else {
            return None;
        };
        // The channels at this place, and an extent of 1 elsewhere.
        let beside = |at: usize| {
            let mut dims = vec![Expr::i64(1); 2 + kind.spatial];
            dims[at] = channels.clone();
            dims
        };
        if let Some(bias) = &normalized.bias {
            let vector = scope.arg(&site.matches[&bias.vector]);
            let reshaped = scope.arg(&site.matches[&bias.reshaped]);
            let whole = beside(1);
            let reshaped = reshaped.as_tensor()?.shape.dims()?.to_vec();
            let of_channels = vector.as_tensor()?.shape.dims()? == [channels.clone()];
            if !of_channels || (reshaped != whole && reshaped != whole[1..]) {
                return None;
            }
        }
        let layout = text("kernel_layout")?;
        let factors = if layout == kind.weight {
            beside(0)
        } else if layout == kind.weight_swapped && int(attrs, "groups") == Some(1) {
            beside(1)
        } else {
            return None;
        };
        let epsilon = match own.get("epsilon")? {
            AttrValue::Float(epsilon) => Expr::float(*epsilon, dtype),
            _ => return None,
        };
        Some(Self {
            op: kind.op,
            input: site.matches[&normalized.input].clone(),
            weight,
            attrs: attrs.clone(),
            statistics,
            epsilon,
            bias,
            factors,
            offset: beside(1),
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
        let convolved = call(self.op, vec![self.input, weight], self.attrs)?;
        let mean = match self.bias {
            Some(bias) => call("subtract", vec![mean, bias], none())?,
            None => mean,
        };
        let offset = call("multiply", vec![mean, scale], none())?;
        let offset = call("subtract", vec![beta, offset], none())?;
        let offset = call("reshape", vec![offset, Arg::Shape(self.offset)], none())?;
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

    /// The normalisation of a convolution over one dimension, as importers write it.
    const BIASED: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 3), "float32"), w: R.Tensor((2, 2, 2), "float32"), o: R.Tensor((2,), "float32"), g: R.Tensor((2,), "float32"), b: R.Tensor((2,), "float32"), m: R.Tensor((2,), "float32"), v: R.Tensor((2,), "float32")):
        with R.dataflow():
            c = R.nn.conv1d(x, w, LAYOUT)
            r = R.reshape(o, R.shape([2, 1]))
            s = R.add(c, r)
            n = R.nn.batch_norm(s, g, b, m, v, axis=1, NORM)
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
    fn folded(text: &str, reach: Reach, layout: &str, norm: &str) -> (usize, f32) {
        let text = text.replace("LAYOUT", layout).replace("NORM", norm);
        let module = script::parse("test.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let main = module.function("main").expect("as written");
        let mut firsts = [0.5, -1.0, 0.75, 2.0, 0.25, -0.5].into_iter();
        let mut weights = indexmap::IndexMap::new();
        let mut shapes = main.params.iter().map(|id| {
            let value = &main.values[*id];
            let dims = value.sinfo.as_tensor().and_then(|info| info.shape.dims());
            let dims = dims.expect("shapes are said").iter();
            let dims = dims.map(|dim| dim.as_int().expect("numbers") as usize);
            (value.name.clone(), dims.collect::<Vec<usize>>())
        });
        let (_, input) = shapes.next().expect("the input");
        weights.extend(shapes.map(|(name, shape)| {
            let first = firsts.next().expect("one for each");
            (name, tensor(&shape, first))
        }));
        let module = bind_params(&module, "main", &weights).unwrap_or_else(|e| panic!("{e}"));
        let new = fold_batchnorm_to_conv2d(&module, Weights::Constants, reach);
        let new = new.unwrap_or_else(|e| panic!("{e}"));
        script::well_formed(&new).unwrap_or_else(|e| panic!("{e}"));
        let left = script::print(&new).matches("batch_norm").count();
        let x = interp::Value::Tensor(tensor(&input, 0.5));
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
        let cases = [
            (TEXT, Reach::Relax, "kernel_layout=\"OIHW\""),
            (TEXT, Reach::Relax, "kernel_layout=\"IOHW\""),
            (TEXT, Reach::All, "kernel_layout=\"IOHW\""),
            (BIASED, Reach::All, "kernel_layout=\"OIW\""),
            (BIASED, Reach::All, "kernel_layout=\"IOW\""),
        ];
        for (text, reach, layout) in cases {
            let (left, difference) = folded(text, reach, layout, "training=False");
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
            let folded = folded(TEXT, Reach::Relax, "groups=1", norm);
            assert_eq!(folded, (1, 0.0), "{norm}");
        }
        let relax = folded(BIASED, Reach::Relax, "groups=1", "training=False");
        assert_eq!(relax, (1, 0.0));
        let trained = folded(BIASED, Reach::All, "groups=1", "training=True");
        assert_eq!(trained.0, 1);
        let other = BIASED.replace("R.shape([2, 1])", "R.shape([1, 2])");
        let along_the_row = folded(&other, Reach::All, "groups=1", "training=False");
        assert_eq!(along_the_row, (1, 0.0));
    }
}
