//! `decompose_conv_transpose`: a transposed convolution with strides becomes a convolution that computes all elements between two strides
//! as channels.
//!
//! With a stride of `s` a result at `s q + r` is made of every `s`-th element of the weight, from the `r`-th on: for each `r` that is a
//! convolution of the data as it is, by a weight with an `s`-th of the taps. The operator itself spreads the data with zeros between its
//! elements, most of which it multiplies.
//!
//! Reference: Shi et al., "Is the deconvolution layer the same as a convolutional layer?" (2016).

use super::PassError;
use super::rewrite_call::replace_calls;
use crate::arith::Analyzer;
use crate::ir::graph::{Arg, Callee, Def, GraphBuilder, InferError, Op, OpCall, Scope};
use crate::ir::{AttrValue, Attrs, Expr, Module};
use crate::ops::{self, nn, nn::Window};

const OPS: [(Op, Op); 3] = [
    (ops::op("nn.conv1d_transpose"), ops::op("nn.conv1d")),
    (ops::op("nn.conv2d_transpose"), ops::op("nn.conv2d")),
    (ops::op("nn.conv3d_transpose"), ops::op("nn.conv3d")),
];

/// The module where transposed convolutions with strides that divide the extents of their windows are convolutions. Calls stay that have
/// groups or dilated windows, other layouts than those with channels second, or windows of open extents.
///
/// ```text
///                                            v = R.reshape(R.flip(…(w)), (o * s, c, k / s))
/// y = R.nn.conv1d_transpose(x, w, s)    →    t = R.nn.conv1d(x, v)
///                                            y = R.nn.pad(R.reshape(R.permute_dims(R.reshape(t, (n, o, s, q))), (n, o, q * s)))
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn decompose_conv_transpose(module: &Module) -> Result<Module, PassError> {
    replace_calls(module, &mut |rewriter, def| {
        let found = Transposed::of(def, &rewriter.scope());
        let made = found.map(|found| found.convolution(rewriter.builder()));
        made.transpose()
    })
}

/// A transposed convolution of one group.
struct Transposed {
    /// The operator that takes its place.
    conv: Op,
    data: Arg,
    weight: Arg,
    batch: Expr,
    /// Channels of the data, and of the result.
    channels: [Expr; 2],
    dims: Vec<Dim>,
    out_dtype: Option<AttrValue>,
}

/// A spatial dimension: `f = s q + r` counts results from where the first window starts, before anything is cut off.
struct Dim {
    /// Results between two elements of the data: how many `r` there are.
    stride: i64,
    /// Elements of the weight for each `r`.
    taps: i64,
    /// Padding of the convolution, which computes `q` from the first on that the result has an element of.
    padding: [i64; 2],
    /// Results before the first and after the last.
    cut: [i64; 2],
    /// How many `q` there are.
    count: Expr,
}

impl Dim {
    /// `None` if a window of the convolution would not start before the data, or not end after it.
    fn of(window: &Window, more: i64, size: i64, extent: &Expr) -> Option<Self> {
        let Window {
            stride,
            dilation: 1,
            padding: (before, after),
        } = *window
        else {
            return None;
        };
        let small = |n: i64| n.unsigned_abs() <= MOST.unsigned_abs();
        let sizes = [stride, before, after, more, size];
        if !sizes.into_iter().all(small) || size < 1 || stride < 1 || size % stride != 0 {
            return None;
        }
        let taps = size / stride;
        // The first and the last result, the last counted from the last element of the data.
        let (first, last) = (before, size - 1 - after + more);
        let (first_q, last_q) = (first.div_euclid(stride), last.div_euclid(stride));
        let padding = [taps - 1 - first_q, last_q];
        if padding.iter().any(|n| *n < 0) {
            return None;
        }
        Some(Self {
            stride,
            taps,
            padding,
            cut: [
                first - first_q * stride,
                last_q * stride + stride - 1 - last,
            ],
            count: folded(extent + (last_q - first_q)),
        })
    }
}

/// Most elements of a window, of a stride and of padding: sums of a few are far from overflowing.
const MOST: i64 = i32::MAX as i64;

impl Transposed {
    fn of(def: &Def, scope: &Scope<'_>) -> Option<Self> {
        let (op, args, attrs) = def.op_call()?;
        let (spatial, (_, conv)) = (1..).zip(OPS).find(|(_, (of, _))| *of == op)?;
        let [data, weight] = args else {
            return None;
        };
        let infos = [data, weight].map(|arg| scope.arg(arg));
        let [x, w] = infos.each_ref().map(|info| info.as_tensor());
        let (x, w) = (x?.shape.dims()?, w?.shape.dims()?);
        let call = OpCall::new(op, args, &infos, attrs);
        let windows = nn::windows_of_transposed(&call, spatial).ok()??;
        if windows.iter().all(|(window, _)| window.stride == 1) {
            return None;
        }
        let sizes = windows.iter().zip(&x[2..]).zip(&w[2..]);
        let dims = sizes.map(|(((window, more), x), w)| Dim::of(window, *more, w.as_int()?, x));
        let dims = dims.collect::<Option<Vec<_>>>()?;
        let mut strides = dims.iter().map(|dim| dim.stride);
        strides.try_fold(1, |all: i64, stride| {
            all.checked_mul(stride).filter(|all| *all <= MOST)
        })?;
        Some(Self {
            conv,
            data: data.clone(),
            weight: weight.clone(),
            batch: x[0].clone(),
            channels: [w[0].clone(), w[1].clone()],
            dims,
            out_dtype: attrs.get("out_dtype").cloned(),
        })
    }

    /// Binds the convolution, and gives its result in order.
    fn convolution(&self, builder: &mut GraphBuilder) -> Result<Def, InferError> {
        let weight = self.weight(builder)?;
        let sides = [0, 1].map(|side| self.dims.iter().map(move |dim| dim.padding[side]));
        let mut attributes = attrs([("padding", ints(sides.into_iter().flatten()))]);
        if let Some(dtype) = &self.out_dtype {
            attributes.insert("out_dtype".to_owned(), dtype.clone());
        }
        let operands = vec![self.data.clone(), weight];
        let result = builder.op("lv", self.conv, operands, attributes)?;
        self.in_order(builder, Arg::Value(result))
    }

    fn strides(&self) -> Vec<Expr> {
        let strides = self.dims.iter().map(|dim| Expr::i64(dim.stride));
        strides.collect()
    }

    /// `[inputs, outputs, taps, strides, …]` as `[outputs, strides, …, inputs, taps, …]`, the last tap first.
    fn weight(&self, builder: &mut GraphBuilder) -> Result<Arg, InferError> {
        let [inputs, outputs] = &self.channels;
        let of_taps = (0..self.dims.len()).map(|at| 2 + 2 * at);
        let apart = self.dims.iter().flat_map(|dim| [dim.taps, dim.stride]);
        let apart = [inputs.clone(), outputs.clone()]
            .into_iter()
            .chain(apart.map(Expr::i64));
        let mut weight = reshaped(builder, self.weight.clone(), apart.collect())?;
        for at in of_taps.clone().filter(|at| self.dims[at / 2 - 1].taps > 1) {
            let axis = attrs([("axis", AttrValue::Int(at as i64))]);
            weight = bound(builder, def("flip", weight, axis)?)?;
        }
        let of_strides = of_taps.clone().map(|at| at + 1);
        let axes = [1].into_iter().chain(of_strides).chain([0]).chain(of_taps);
        let axes = attrs([("axes", ints(axes.map(|at| at as i64)))]);
        weight = bound(builder, def("permute_dims", weight, axes)?)?;
        let strides = self.dims.iter().map(|dim| dim.stride).product::<i64>();
        let filters = folded(outputs * strides);
        let taps = self.dims.iter().map(|dim| Expr::i64(dim.taps));
        let shape = [filters, inputs.clone()].into_iter().chain(taps);
        reshaped(builder, weight, shape.collect())
    }

    /// `[batch, outputs strides …, counts, …]` as `[batch, outputs, count stride, …]`, without what is cut off.
    fn in_order(&self, builder: &mut GraphBuilder, conv: Arg) -> Result<Def, InferError> {
        let spatial = self.dims.len();
        let image = [self.batch.clone(), self.channels[1].clone()];
        let counts: Vec<Expr> = self.dims.iter().map(|dim| dim.count.clone()).collect();
        let apart = [&image[..], &self.strides(), &counts].concat();
        let apart = reshaped(builder, conv, apart)?;
        let in_turn = (0..spatial).flat_map(|at| [2 + spatial + at, 2 + at]);
        let axes = [0, 1].into_iter().chain(in_turn).map(|at| at as i64);
        let in_turn = def("permute_dims", apart, attrs([("axes", ints(axes))]));
        let in_turn = bound(builder, in_turn?)?;
        let extents = self.dims.iter().map(|dim| folded(&dim.count * dim.stride));
        let shape = image.into_iter().chain(extents).collect();
        let whole = reshape(in_turn, shape);
        if self.dims.iter().all(|dim| dim.cut == [0, 0]) {
            return Ok(whole);
        }
        let whole = bound(builder, whole)?;
        let cut = self.dims.iter().flat_map(|dim| dim.cut.map(|n| -n));
        let width = ints([0; 4].into_iter().chain(cut));
        def("nn.pad", whole, attrs([("pad_width", width)]))
    }
}

fn folded(extent: Expr) -> Expr {
    Analyzer::new().simplify(&extent)
}

fn def(op: &str, x: Arg, attrs: Attrs) -> Result<Def, InferError> {
    let op = ops::op(op);
    Ok(Def::Call {
        callee: Callee::Op(op),
        args: vec![x],
        attrs: op.complete(attrs)?,
        sinfo_args: vec![],
    })
}

fn reshape(x: Arg, shape: Vec<Expr>) -> Def {
    Def::Call {
        callee: Callee::Op(ops::op("reshape")),
        args: vec![x, Arg::Shape(shape)],
        attrs: Attrs::new(),
        sinfo_args: vec![],
    }
}

fn reshaped(builder: &mut GraphBuilder, x: Arg, shape: Vec<Expr>) -> Result<Arg, InferError> {
    bound(builder, reshape(x, shape))
}

fn bound(builder: &mut GraphBuilder, def: Def) -> Result<Arg, InferError> {
    Ok(Arg::Value(builder.bind("lv", def)?))
}

fn attrs<const N: usize>(all: [(&str, AttrValue); N]) -> Attrs {
    let named = all.map(|(name, value)| (name.to_owned(), value));
    Attrs::from_iter(named)
}

fn ints(numbers: impl IntoIterator<Item = i64>) -> AttrValue {
    AttrValue::List(numbers.into_iter().map(AttrValue::Int).collect())
}
