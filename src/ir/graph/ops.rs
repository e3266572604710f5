//! Facts about operators that the text and the inference need: which positional arguments are attributes, what is known of
//! the result, and which operators have side effects.
//!
//! The table holds the common operators. A call of an operator that is not in it keeps its arguments as they were written,
//! and of its result nothing is known (`R.Object`) unless it is annotated or gives `sinfo_args`.

/// How what is known of the result follows from the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// Nothing is known.
    Object,
    /// Nothing is returned.
    Unit,
    /// The same as the first operand.
    Same,
    /// Broadcast of all operands, in the element type that they share; the condition of `where` has its own.
    Broadcast,
    /// Broadcast of all operands, as `bool`.
    Compare,
    /// Matrix product with broadcast batch dimensions.
    Matmul,
    /// Dimensions permuted by `axes`, or reversed.
    PermuteDims,
    /// The shape that the second operand says.
    Reshape,
    /// `axis` taken out, or kept as 1 with `keepdims`.
    Reduce,
    /// As `Reduce`, with positions as the result.
    ArgReduce,
    /// The element type that `dtype` says.
    AsType,
    /// The shape of the first operand, the element type of `dtype`.
    Fill,
    /// Joined along `axis`.
    Concat,
    /// Cut along `axis`.
    Split,
    /// New dimensions of 1 at `axis`.
    ExpandDims,
    /// A two-dimensional convolution.
    Conv2d,
    /// A two-dimensional pooling.
    Pool2d,
    /// The same as the first operand, then running mean and variance.
    BatchNorm,
    /// The first operand on another device.
    ToVDevice,
    /// A tensor of the shape in operand `.0` and of the element type in operand `.1`.
    Alloc(usize, usize),
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpDef {
    /// Number of operands; positional arguments after them are attributes.
    pub(crate) operands: usize,
    /// Names of those attributes, in order.
    pub(crate) attrs: &'static [&'static str],
    /// The result.
    pub(crate) rule: Rule,
    /// Whether it has no side effect.
    pub(crate) pure: bool,
}

impl OpDef {
    /// The operand that is a shape, if one is.
    pub(crate) fn shape_operand(&self) -> Option<usize> {
        match self.rule {
            Rule::Reshape => Some(1),
            Rule::Fill => Some(0),
            Rule::Alloc(shape, _) => Some(shape),
            _ => None,
        }
    }
}

/// Name of an operator, its operands, its positional attributes, its result.
type Row = (&'static str, usize, &'static [&'static str], Rule);

const PURE: &[Row] = &[
    ("add", 2, &[], Rule::Broadcast),
    ("subtract", 2, &[], Rule::Broadcast),
    ("multiply", 2, &[], Rule::Broadcast),
    ("divide", 2, &[], Rule::Broadcast),
    ("floor_divide", 2, &[], Rule::Broadcast),
    ("mod", 2, &[], Rule::Broadcast),
    ("floor_mod", 2, &[], Rule::Broadcast),
    ("power", 2, &[], Rule::Broadcast),
    ("maximum", 2, &[], Rule::Broadcast),
    ("minimum", 2, &[], Rule::Broadcast),
    ("where", 3, &[], Rule::Broadcast),
    ("equal", 2, &[], Rule::Compare),
    ("not_equal", 2, &[], Rule::Compare),
    ("less", 2, &[], Rule::Compare),
    ("less_equal", 2, &[], Rule::Compare),
    ("greater", 2, &[], Rule::Compare),
    ("greater_equal", 2, &[], Rule::Compare),
    ("abs", 1, &[], Rule::Same),
    ("ceil", 1, &[], Rule::Same),
    ("clip", 1, &["min", "max"], Rule::Same),
    ("cos", 1, &[], Rule::Same),
    ("erf", 1, &[], Rule::Same),
    ("exp", 1, &[], Rule::Same),
    ("floor", 1, &[], Rule::Same),
    ("log", 1, &[], Rule::Same),
    ("negative", 1, &[], Rule::Same),
    ("round", 1, &[], Rule::Same),
    ("rsqrt", 1, &[], Rule::Same),
    ("sigmoid", 1, &[], Rule::Same),
    ("sin", 1, &[], Rule::Same),
    ("sqrt", 1, &[], Rule::Same),
    ("square", 1, &[], Rule::Same),
    ("tanh", 1, &[], Rule::Same),
    ("nn.relu", 1, &[], Rule::Same),
    ("nn.gelu", 1, &[], Rule::Same),
    ("nn.silu", 1, &[], Rule::Same),
    ("nn.softmax", 1, &["axis"], Rule::Same),
    ("nn.log_softmax", 1, &["axis"], Rule::Same),
    ("builtin.stop_lift_params", 1, &[], Rule::Same),
    ("matmul", 2, &["out_dtype"], Rule::Matmul),
    ("permute_dims", 1, &["axes"], Rule::PermuteDims),
    ("reshape", 2, &[], Rule::Reshape),
    ("broadcast_to", 2, &[], Rule::Reshape),
    ("sum", 1, &["axis", "keepdims"], Rule::Reduce),
    ("mean", 1, &["axis", "keepdims"], Rule::Reduce),
    ("prod", 1, &["axis", "keepdims"], Rule::Reduce),
    ("max", 1, &["axis", "keepdims"], Rule::Reduce),
    ("min", 1, &["axis", "keepdims"], Rule::Reduce),
    ("variance", 1, &["axis", "keepdims"], Rule::Reduce),
    ("std", 1, &["axis", "keepdims"], Rule::Reduce),
    ("argmax", 1, &["axis", "keepdims"], Rule::ArgReduce),
    ("argmin", 1, &["axis", "keepdims"], Rule::ArgReduce),
    ("astype", 1, &["dtype"], Rule::AsType),
    ("zeros", 1, &["dtype"], Rule::Fill),
    ("ones", 1, &["dtype"], Rule::Fill),
    ("full", 2, &["dtype"], Rule::Fill),
    ("concat", 1, &["axis"], Rule::Concat),
    ("split", 1, &["indices_or_sections", "axis"], Rule::Split),
    ("expand_dims", 1, &["axis"], Rule::ExpandDims),
    (
        "nn.conv2d",
        2,
        &[
            "strides",
            "padding",
            "dilation",
            "groups",
            "data_layout",
            "kernel_layout",
            "out_layout",
            "out_dtype",
        ],
        Rule::Conv2d,
    ),
    (
        "nn.max_pool2d",
        1,
        &["pool_size", "strides", "padding", "dilation"],
        Rule::Pool2d,
    ),
    (
        "nn.avg_pool2d",
        1,
        &["pool_size", "strides", "padding", "dilation"],
        Rule::Pool2d,
    ),
    ("nn.batch_norm", 5, &["axis"], Rule::BatchNorm),
    (
        "hint_on_device",
        1,
        &["dst_vdevice", "memory_scope"],
        Rule::Same,
    ),
    ("to_vdevice", 1, &["dst_vdevice"], Rule::ToVDevice),
    ("builtin.alloc_tensor", 4, &[], Rule::Alloc(0, 1)),
    ("memory.alloc_storage", 4, &[], Rule::Object),
    ("memory.alloc_tensor", 5, &[], Rule::Alloc(2, 3)),
    ("make_closure", 2, &[], Rule::Object),
    ("invoke_pure_closure", 2, &[], Rule::Object),
];

/// Operators with side effects.
const IMPURE: &[Row] = &[
    ("print", usize::MAX, &[], Rule::Unit),
    ("assert_op", usize::MAX, &[], Rule::Unit),
    ("memory.kill_storage", 1, &[], Rule::Unit),
    ("memory.kill_tensor", 1, &[], Rule::Unit),
    ("invoke_closure", 2, &[], Rule::Object),
];

/// Operators, forms and system calls of Relax of which nothing more is known here than that they exist. They are no
/// misspellings of others, however near.
#[rustfmt::skip]
const UNDESCRIBED: &[&str] = &[
    "acos", "acosh", "arange", "argsort", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "bucketize", "cosh", "cumprod", "cumsum", "dynamic_strided_slice", "einsum", "exp2", "ewise_fma", "eye",
    "eye_like", "flatten", "flip", "full_like", "gather_elements", "gather_nd", "hamming_window", "hardswish", "index_put",
    "index_tensor", "isfinite", "isinf", "isnan", "layout_transform", "left_shift", "linear", "log10", "log1p", "log2",
    "log_add_exp", "logical_and", "logical_not", "logical_or", "logical_xor", "masked_scatter", "median", "meshgrid",
    "multinomial_from_uniform", "nonzero", "one_hot", "ones_like", "outer", "quantize", "dequantize", "repeat", "reverse_sequence",
    "right_shift", "scatter_elements", "scatter_nd", "shape_of", "shape_to_tensor", "sign", "sinh", "size", "slice_scatter",
    "sort", "squeeze", "stack", "strided_slice", "take", "tan", "tensor_to_shape", "tile", "topk", "tril", "triu", "trunc",
    "unique", "wrap_param", "zeros_like", "mod_floor", "bmm", "collapse_sum_like", "collapse_sum_to", "dot", "transpose",
    "nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d", "nn.attention", "nn.attention_bias",
    "nn.attention_var_len", "nn.avg_pool1d", "nn.avg_pool3d", "nn.batch_flatten", "nn.celu", "nn.conv1d", "nn.conv1d_transpose",
    "nn.conv2d_transpose", "nn.conv3d", "nn.conv3d_transpose", "nn.cross_entropy_with_logits", "nn.dropout", "nn.elu",
    "nn.gelu_tanh", "nn.group_norm", "nn.instance_norm", "nn.layer_norm", "nn.leakyrelu", "nn.max_pool1d", "nn.max_pool3d",
    "nn.nll_loss", "nn.pad", "nn.pixel_shuffle", "nn.prelu", "nn.relu6", "nn.rms_norm", "nn.selu", "nn.sigmoid", "nn.softplus",
    "nn.softsign", "nn.swish", "nn.tanh",
    "call_builtin_with_ctx", "call_inplace_packed", "call_tir_with_grad", "device", "emit_te", "null_value",
    "call_py_func", "to_device", "memory.ensure_zero_offset", "memory.view",
    "vm.alloc_storage", "vm.alloc_tensor", "vm.call_tir_dyn", "vm.kill_object",
];

/// Names of all operators known here, described or not.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let described = PURE.iter().chain(IMPURE).map(|(name, ..)| *name);
    described.chain(UNDESCRIBED.iter().copied())
}

/// The operator with this name, if the table has it.
pub(crate) fn op_def(name: &str) -> Option<OpDef> {
    let find = |rows: &'static [Row], pure| {
        let row = rows.iter().find(|(op, ..)| *op == name)?;
        let &(_, operands, attrs, rule) = row;
        Some(OpDef {
            operands,
            attrs,
            rule,
            pure,
        })
    };
    find(PURE, true).or_else(|| find(IMPURE, false))
}

/// Whether a call of this operator has no side effect. Operators that the table lacks are taken to have none, as most.
pub(crate) fn is_pure(name: &str) -> bool {
    let impure = ["vm.kill", "vm.call", "ccl.", "memory.kill"];
    op_def(name).map_or(
        !impure.iter().any(|prefix| name.starts_with(prefix)),
        |op| op.pure,
    )
}
