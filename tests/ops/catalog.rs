//! A call of every operator that loops compute, for every element type that it takes: see [`super::every_type`].
//!
//! A line has the operands with their extents, the call, and how many roundings to the element type a result may have gone
//! through, 1 if nothing is said. `$T` is the element type. `n` is a symbolic extent. What an operand is, its letter says:
//!
//! - `x y z w v u`: numbers of both signs; `p q r s`: above 0; `t`: between -1 and 1; `g`: at least 1;
//! - `i j`: `int32` from 0, below the number after `<`; `k`: `int32`, 0, 2, 4, …; `m`: `bool`; `f`: `float32` above 0.

/// Operators of one operand that have no attributes, by the letter of the operand.
pub(super) const UNARY: &[(&str, &str)] = &[
    (
        "x",
        "abs asinh atan ceil cos cosh erf exp exp2 expm1 floor isfinite isinf isnan negative round sigmoid sign sin sinh \
         square tan tanh trunc bitwise_not logical_not ones_like zeros_like size flatten nn.celu nn.elu nn.gelu nn.gelu_tanh \
         nn.hardsigmoid nn.hardswish nn.hardtanh nn.leakyrelu nn.mish nn.relu nn.relu6 nn.selu nn.shrink nn.silu nn.softplus \
         nn.softsign nn.thresholded_relu nn.dropout",
    ),
    ("t", "acos asin atanh"),
    ("g", "acosh"),
    ("p", "log log10 log1p log2 rsqrt sqrt"),
];

/// Operators of two operands that have no attributes, by the letters of the operands.
pub(super) const BINARY: &[(&str, &str, &str)] = &[
    (
        "x",
        "y",
        "add atan2 bitwise_and bitwise_or bitwise_xor equal greater greater_equal less less_equal log_add_exp logical_and \
         logical_or logical_xor maximum minimum multiply not_equal subtract",
    ),
    ("x", "q", "divide floor_divide floor_mod mod"),
    ("p", "q", "power left_shift right_shift"),
];

/// All others.
pub(super) const CALLS: &str = r#"
x[n] y[n] z[n] | R.ewise_fma(x, y, z) | 2
m[n] x[n] y[n] | R.where(m, x, y)
x[n,1] y[3] | R.add(x, y)
x[n] | R.full(R.shape([n, 2]), R.const(1, "$T"))
x[n] | R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype="$T")
x[n] | R.eye(R.prim_value(n), R.prim_value(3), R.prim_value(1), dtype="$T")
x[n,3] | R.eye_like(x, R.prim_value(-1))
x[n,2] | R.full_like(x, R.const(1, "$T"))
x[n] | R.hamming_window(R.prim_value(n), R.prim_value(1), R.prim_value(0.54), R.prim_value(0.46), dtype="$T") | 4
x[n] y[3] | R.meshgrid((x, y))
i<3[n] | R.one_hot(i, R.prim_value(T.$T(1)), R.prim_value(T.$T(0)), depth=3)
x[n,3] | R.tril(x)
x[n,3] | R.trilu(x, upper=False)
x[n,3] | R.triu(x, R.prim_value(1))
x[n] | R.ones(R.shape([n, 2]), "$T")
x[n] | R.zeros(R.shape([n, 2]), "$T")
x[n] | R.astype(x, "float32")
x[n] | R.reinterpret(x, dtype="$T")
x[n,1] | R.broadcast_to(x, R.shape([n, 5]))
x[n,2] y[3,2] | R.concat((x, y), axis=0)
x[n,2] | R.expand_dims(x, axis=[1])
x[n,2,3] | R.permute_dims(x, axes=[2, 0, 1])
x[n,6] | R.reshape(x, R.shape([n, 2, 3]))
x[n,7] | R.split(x, 3, axis=1)
x[2,5] y[1,5] | R.collapse_sum_like(x, y)
x[2,5] | R.collapse_sum_to(x, R.shape([2, 1]))
x[1,4,2,3] | R.depth_to_space(x, 2)
x[n,5] | R.flip(x, axis=1)
x[4,6] | R.layout_transform(x, index_map=T.index_map(lambda a, b: (a, b // 3, b % 3)))
x[n,3] | R.repeat(x, 2, axis=1)
x[n,5] | R.roll(x, 2, axis=1)
x[1,2,4,6] | R.space_to_depth(x, 2)
x[n,1,3] | R.squeeze(x, axis=[1])
x[n] y[n] | R.stack((x, y), axis=1)
x[n,3] | R.tile(x, [2, 2])
x[3,5] i<5[3] | R.reverse_sequence(x, i)
x[7,2] y[3,2] | R.slice_scatter(x, y, R.prim_value(1), R.prim_value(6), R.prim_value(2), axis=0)
x[7,n] | R.strided_slice(x, (R.prim_value(0),), (R.prim_value(1),), (R.prim_value(6),), (R.prim_value(2),))
x[n] y[3] | R.bucketize(x, R.sort(y))
x[5,3] i<5[2,3] | R.gather_elements(x, i, axis=0)
x[5,3] i<3[4,2] | R.gather_nd(x, i)
x[5,3] i<3[4] j<3[4] | R.index_tensor(x, (i, j))
p[2,5] q[3,1] i<2[3,1] | R.multinomial_from_uniform(R.divide(p, R.sum(p, axis=[1], keepdims=True)), R.divide(q, R.const(2, "$T")), i)
x[5,3] i<5[2,2] | R.take(x, i, axis=0)
y[3] x[n] | R.searchsorted(R.sort(y), x)
x[5,3] i<5[4] j<3[4] y[4] | R.index_put(x, (i, j), y)
x[3,5] m[3,5] y[15] | R.masked_scatter(x, m, y)
x[5,3] i<5[2,3] y[2,3] | R.scatter_elements(x, i, y, axis=0)
x[5,3] i<5[4,1] y[4,3] | R.scatter_nd(x, i, y)
x[3,7] | R.argsort(x)
x[3,5] | R.cumprod(x, axis=1) | 5
x[3,7] | R.cumsum(x, axis=1) | 7
x[3,7] | R.median(x, axis=[1])
x[3,7] | R.sort(x, descending=True)
x[3,7] | R.topk(x, k=2)
x[2,3] f[3] | R.dequantize(x, f, R.const(0, "$T"), axis=1)
x[2,3] f[3] | R.quantize(x, f, R.const(0, "int8"), axis=1)
x[3,7] | R.argmax(x, axis=1)
x[3,7] | R.argmin(x, axis=1)
x[3,7] | R.max(x, axis=[1])
x[3,7] | R.mean(x, axis=[1]) | 2
x[3,7] | R.min(x, axis=[0])
x[3,5] | R.prod(x, axis=[1]) | 2
x[3,7] | R.std(x, axis=[1]) | 4
x[3,7] | R.sum(x) | 2
x[3,7] | R.variance(x, axis=[0]) | 4
x[2,3] y[3,5] | R.einsum((x, y), subscripts="ij,jk->ik") | 2
x[3,3] | R.det(x) | 12
x[3] y[5] | R.outer(x, y)
x[n,3] y[3,5] | R.matmul(x, y) | 2
x[n] | R.clip(x, 0, 1)
x[3,7] | R.nn.log_softmax(x) | 4
x[2,3,2] y[3] | R.nn.prelu(x, y)
x[3,7] | R.nn.softmax(x) | 4
x[1,2,7] y[3,2,3] | R.nn.conv1d(x, y) | 2
x[1,2,5,4] y[3,2,3,3] | R.nn.conv2d(x, y, padding=[1, 1], strides=[2, 1]) | 2
x[1,2,3,4,3] y[2,2,2,2,2] | R.nn.conv3d(x, y) | 2
x[1,2,4] y[2,3,3] | R.nn.conv1d_transpose(x, y, strides=[2]) | 2
x[1,2,3,4] y[2,3,3,2] | R.nn.conv2d_transpose(x, y, strides=[2, 1]) | 2
x[1,2,2,2,3] y[2,1,2,2,2] | R.nn.conv3d_transpose(x, y) | 2
x[1,2,7] | R.nn.adaptive_avg_pool1d(x, output_size=[3]) | 2
x[1,2,5,7] | R.nn.adaptive_avg_pool2d(x, output_size=[2, 3]) | 2
x[1,2,3,5,3] | R.nn.adaptive_avg_pool3d(x, output_size=[1, 2, 3]) | 2
x[1,2,7] | R.nn.adaptive_max_pool1d(x, output_size=[3])
x[1,2,5,7] | R.nn.adaptive_max_pool2d(x, output_size=[2, 3])
x[1,2,3,5,3] | R.nn.adaptive_max_pool3d(x, output_size=[1, 2, 3])
x[1,2,7] | R.nn.avg_pool1d(x, pool_size=[3], strides=[2]) | 2
x[1,2,5,7] | R.nn.avg_pool2d(x, pool_size=[3, 2], strides=[2, 1]) | 2
x[1,2,3,5,3] | R.nn.avg_pool3d(x, pool_size=[2, 2, 2]) | 2
x[1,2,7] | R.nn.lp_pool1d(x, pool_size=[3], strides=[2]) | 4
x[1,2,5,7] | R.nn.lp_pool2d(x, pool_size=[3, 2]) | 4
x[1,2,3,5,3] | R.nn.lp_pool3d(x, pool_size=[2, 2, 2]) | 4
x[1,2,7] | R.nn.max_pool1d(x, pool_size=[3], strides=[2])
x[1,2,5,7] | R.nn.max_pool2d(x, pool_size=[3, 2], padding=[1, 1])
x[1,2,3,5,3] | R.nn.max_pool3d(x, pool_size=[2, 2, 2])
x[1,2,7] | R.nn.max_pool1d_with_positions(x, pool_size=[3], strides=[2])
x[1,2,5,7] | R.nn.max_pool2d_with_positions(x, pool_size=[3, 2])
x[1,2,3,5,3] | R.nn.max_pool3d_with_positions(x, pool_size=[2, 2, 2])
x[2,3,5] y[3] z[3] w[3] p[3] | R.nn.batch_norm(x, y, z, w, p, axis=1, training=False) | 6
x[2,4,5] y[4] z[4] | R.nn.group_norm(x, y, z, num_groups=2, channel_axis=1, axes=[2]) | 6
x[2,3,5] y[3] z[3] | R.nn.instance_norm(x, y, z, channel_axis=1, axes=[2]) | 6
x[3,7] y[7] z[7] | R.nn.layer_norm(x, y, z, axes=[-1]) | 6
x[1,5,2,2] | R.nn.lrn(x, size=3) | 4
x[3,7] y[7] | R.nn.rms_norm(x, y) | 4
x[2,3,2] | R.nn.batch_flatten(x)
x[2,3] | R.nn.pad(x, pad_width=[1, 1, 0, 2])
x[1,4,2,3] | R.nn.pixel_shuffle(x, upscale_factor=2)
x[3,5] p[3,5] | R.nn.cross_entropy_with_logits(x, p) | 4
x[3,5] i<5[3] p[5] | R.nn.nll_loss(x, i, p) | 4
x[1,3,2,4] y[1,5,2,4] z[1,5,2,3] | R.nn.attention(x, y, z) | 8
x[1,3,2,4] y[1,5,2,4] z[1,5,2,3] w[1,2,3,5] | R.nn.attention_bias(x, y, z, w) | 8
x[1,4,2,4] y[1,4,2,4] z[1,4,2,3] k[3] | R.nn.attention_var_len(x, y, z, k, k, R.const([2], "int32"), R.const([2], "int32")) | 8
x[2,3,5,4] y[7,2] z[7,2] i<7[2,5] | R.nn.rotary_embedding(x, y, z, i) | 4
x[3,2,4] y[1,9,4] z[1,9,3] w[1,18] v[1,2,3] | R.nn.gru(x, y, z, w, v) | 12
x[3,2,4] y[1,12,4] z[1,12,3] w[1,24] v[1,2,3] u[1,2,3] | R.nn.lstm(x, y, z, w, v, u) | 12
x[3,2,4] y[1,3,4] z[1,3,3] w[1,6] v[1,2,3] | R.nn.rnn(x, y, z, w, v) | 12
x[2,2,3] | R.image.affine_grid(x, R.shape([3, 4])) | 4
x[1,2,5,4] t[1,2,3,3] | R.image.grid_sample(x, t) | 8
x[1,2,5] | R.image.resize1d(x, R.shape([7])) | 4
x[1,2,5,4] | R.image.resize2d(x, R.shape([7, 3])) | 4
x[1,2,3,5,4] | R.image.resize3d(x, R.shape([2, 7, 3])) | 4
x[2,2,5,4] p[3,5] | R.vision.roi_align(x, p, pooled_size=[2, 3], spatial_scale=1.0, sample_ratio=2) | 8
x[n] | R.wrap_param(x, dtype="float32")
"#;
