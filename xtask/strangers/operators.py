"""Single-operator modules, printed and run by TVM: what another compiler's users would hand to weftile.

Each case is a folder with the module in graph operators (`operators.py`), the module that TVM legalised from it
(`legalized.py`), its inputs (`x0.npy`, ...) and what TVM's own LLVM code gave for them (`y0.npy`, ...).
"""

import json
import pathlib
import sys

import ml_dtypes  # noqa: F401  (registers bfloat16 with numpy)
import numpy as np
import tvm
from tvm import relax
from tvm.relax import op

RNG = np.random.default_rng(20261123)


class T:
    """An input: shape, dtype, and how its values are drawn."""

    def __init__(self, shape, dtype="float32", low=None, high=None, values=None):
        self.shape, self.dtype, self.low, self.high, self.values = tuple(shape), dtype, low, high, values

    def draw(self, sizes):
        if self.values is not None:
            return np.asarray(self.values, self.dtype)
        shape = tuple(sizes.get(d, d) if isinstance(d, str) else d for d in self.shape)
        if self.dtype == "bool":
            return RNG.integers(0, 2, shape).astype(bool)
        kind = np.dtype(self.dtype).kind
        if kind in "iu":
            low = self.low if self.low is not None else (-9 if kind == "i" else 0)
            return RNG.integers(low, self.high or 10, shape).astype(self.dtype)
        return RNG.uniform(-2 if self.low is None else self.low, 2 if self.high is None else self.high, shape).astype(self.dtype)


CASES = {}


def case(name, build, *inputs, **sizes):
    """Adds the module `build(*vars)` under a name; letters in shapes are symbolic, with these sizes when run."""
    assert name not in CASES, name
    CASES[name] = (build, inputs, sizes)


def unary():
    ranges = {
        "acos": (-0.99, 0.99), "asin": (-0.99, 0.99), "atanh": (-0.9, 0.9), "acosh": (1.1, 9), "log": (0.01, 9), "rsqrt": (0.01, 9),
        "sqrt": (0.01, 9), "tan": (-1.2, 1.2), "exp": (-20, 20), "sinh": (-9, 9), "cosh": (-9, 9), "tanh": (-12, 12), "sin": (-30, 30), "cos": (-30, 30),
    }
    names = "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc isfinite isinf isnan".split()
    for name in names:
        f = getattr(op, name)
        low, high = ranges.get(name, (-5, 5))
        for dtype in ("float32", "float16"):
            lo, hi = (max(low, -5), min(high, 5)) if dtype == "float16" else (low, high)
            case(f"{name}_{dtype}", f, T((3, 37), dtype, lo, hi))
        case(f"{name}_symbolic", f, T(("n", "m"), "float32", low, high), n=5, m=7)
        case(f"{name}_scalar", f, T((), "float32", low, high))
        case(f"{name}_empty", f, T((0, 4), "float32", low, high))
    for name in "abs negative sign square".split():
        for dtype in ("int8", "int32", "int64"):
            case(f"{name}_{dtype}", getattr(op, name), T((3, 37), dtype))
    for dtype in ("int8", "uint8", "int32", "int64", "uint32"):
        case(f"bitwise_not_{dtype}", op.bitwise_not, T((5, 7), dtype))
        case(f"clip_{dtype}", lambda x: op.clip(x, 2, 6), T((5, 7), dtype))
    case("logical_not", op.logical_not, T((5, 7), "bool"))
    case("bitwise_not_bool", op.bitwise_not, T((5, 7), "bool"))
    case("clip_float32", lambda x: op.clip(x, -0.5, 0.75), T((5, 7)))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 0.5], "float32")
    for name in "isfinite isinf isnan abs sign ceil floor round trunc sqrt exp tanh erf sigmoid".split():
        case(f"{name}_special", getattr(op, name), T((8,), values=special))


def binary():
    floats = "add subtract multiply divide power maximum minimum floor_divide mod floor_mod atan2 log_add_exp".split()
    for name in floats:
        f = getattr(op, name)
        low = 0.2 if name in ("power",) else -3
        for dtype in ("float32", "float16"):
            if dtype == "float16" and name in ("floor_divide", "mod", "floor_mod"):
                continue
            case(f"{name}_{dtype}", f, T((4, 1, 5), dtype, low, 3), T((3, 1), dtype, 0.3, 2.5))
        case(f"{name}_symbolic", f, T(("n", "m"), "float32", low, 3), T(("m",), "float32", 0.3, 2.5), n=3, m=11)
    for name in "add subtract multiply maximum minimum floor_divide mod floor_mod divide".split():
        for dtype in ("int8", "uint8", "int32", "int64"):
            case(f"{name}_{dtype}", getattr(op, name), T((4, 5), dtype, 0, 10), T((5,), dtype, 1, 7))
    for name in "floor_divide mod floor_mod".split():
        case(f"{name}_negative", getattr(op, name), T((4, 5), "int32", -20, 20), T((5,), "int32", 1, 7))
    for name in "equal not_equal less less_equal greater greater_equal".split():
        for dtype in ("float32", "int32", "int64", "int8", "uint8", "bool"):
            case(f"{name}_{dtype}", getattr(op, name), T((4, 5), dtype, 0, 3), T((5,), dtype, 0, 3))
    for name in "logical_and logical_or logical_xor".split():
        case(name, getattr(op, name), T((4, 5), "bool"), T((5,), "bool"))
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        for dtype in ("int8", "uint8", "int32", "int64", "bool"):
            case(f"{name}_{dtype}", getattr(op, name), T((4, 5), dtype, 0, 9), T((5,), dtype, 0, 9))
    for name in "left_shift right_shift".split():
        for dtype in ("int32", "int64", "uint8"):
            case(f"{name}_{dtype}", getattr(op, name), T((4, 5), dtype, 0, 9), T((5,), dtype, 0, 5))
    case("ewise_fma", op.ewise_fma, T((4, 5)), T((4, 5)), T((4, 5)))
    for dtype in ("float32", "int32", "int64", "bool", "int8", "float16"):
        case(f"where_{dtype}", op.where, T((4, 1), "bool"), T((3,), dtype), T((4, 3), dtype))
    case("add_const", lambda x: op.add(x, relax.const(2.5, "float32")), T((4, 5)))


def reduction():
    for name in "sum mean max min prod variance std".split():
        f = getattr(op, name)
        case(f"{name}_all", lambda x, f=f: f(x), T((3, 17, 5), "float32", 0.5, 1.5))
        for axis in (0, 1, -1, [0, 2]):
            for keep in (False, True):
                tag = "_".join(map(str, axis)) if isinstance(axis, list) else axis
                case(f"{name}_axis{tag}_{keep}", lambda x, f=f, axis=axis, keep=keep: f(x, axis, keep), T((3, 17, 5), "float32", 0.5, 1.5))
        case(f"{name}_symbolic", lambda x, f=f: f(x, -1), T(("n", "m"), "float32", 0.5, 1.5), n=3, m=70)
        case(f"{name}_large", lambda x, f=f: f(x, 1), T((2, 1031), "float32", 0.99, 1.01))
    for name in "sum max min prod".split():
        for dtype in ("int32", "int64", "float16"):
            case(f"{name}_{dtype}", lambda x, f=getattr(op, name): f(x, 1), T((5, 13), dtype, 1, 3))
    for name in "sum prod".split():
        case(f"{name}_bool", lambda x, f=getattr(op, name): f(x, 1), T((9, 2), "bool"))
    for name in "argmax argmin".split():
        f = getattr(op, name)
        for dtype in ("float32", "int32", "int64"):
            case(f"{name}_{dtype}", lambda x, f=f: f(x, 1), T((5, 13), dtype, 0, 4))
        case(f"{name}_all", lambda x, f=f: f(x), T((5, 13)))
        case(f"{name}_keep", lambda x, f=f: f(x, 0, True), T((5, 13)))
        case(f"{name}_symbolic", lambda x, f=f: f(x, -1), T(("n", "m")), n=4, m=33)
    case("median_axis", lambda x: op.median(x, [1]), T((4, 7)))
    for name in "cumsum cumprod".split():
        f = getattr(op, name)
        for axis in (0, 1):
            case(f"{name}_{axis}", lambda x, f=f, axis=axis: f(x, axis), T((4, 9), "float32", 0.5, 1.5))
        case(f"{name}_exclusive", lambda x, f=f: f(x, 1, exclusive=True), T((4, 9), "float32", 0.5, 1.5))
        case(f"{name}_flat", lambda x, f=f: f(x), T((4, 9), "float32", 0.5, 1.5))
        case(f"{name}_int32", lambda x, f=f: f(x, 0), T((4, 9), "int32", 1, 3))
        case(f"{name}_to_int64", lambda x, f=f: f(x, 0, "int64"), T((4, 9), "int32", 1, 3))


def manipulation():
    case("reshape", lambda x: op.reshape(x, (6, -1)), T((2, 3, 4)))
    case("reshape_symbolic", lambda x: op.reshape(x, (-1, 4)), T(("n", 2, 4)), n=3)
    case("flatten", op.flatten, T((2, 3, 4)))
    case("batch_flatten", op.nn.batch_flatten, T((2, 3, 4)))
    case("permute_dims", lambda x: op.permute_dims(x, [2, 0, 1]), T((2, 3, 4)))
    case("permute_dims_rev", op.permute_dims, T((2, 3, 4), "int8"))
    for n in (64, 37):
        case(f"transpose_{n}", op.permute_dims, T((n, 65)))
    case("expand_dims", lambda x: op.expand_dims(x, [0, 2]), T((2, 3)))
    case("squeeze", lambda x: op.squeeze(x, [0, 2]), T((1, 3, 1, 2)))
    case("squeeze_all", op.squeeze, T((1, 3, 1, 2)))
    case("broadcast_to", lambda x: op.broadcast_to(x, (4, 3, 5)), T((3, 1)))
    for dtype in ("float32", "int8", "bool", "int64", "float16", "uint8"):
        case(f"concat_{dtype}", lambda x, y: op.concat([x, y], 1), T((2, 3), dtype, 0, 9), T((2, 5), dtype, 0, 9))
        case(f"take_{dtype}", lambda x, i: op.take(x, i, 1), T((3, 7), dtype, 0, 9), T((5,), "int32", 0, 7))
        case(f"tile_{dtype}", lambda x: op.tile(x, (2, 3)), T((2, 3), dtype, 0, 9))
        case(f"strided_slice_{dtype}", lambda x: op.strided_slice(x, [0, 1], [1, 0], [8, 6], [2, 3]), T((9, 7), dtype, 0, 9))
    case("concat3", lambda x, y, z: op.concat([x, y, z], 0), T((2, 3)), T((1, 3)), T((4, 3)))
    case("concat_symbolic", lambda x, y: op.concat([x, y], 0), T(("n", 3)), T(("m", 3)), n=2, m=4)
    case("stack", lambda x, y: op.stack([x, y], 1), T((2, 3)), T((2, 3)))
    case("split_even", lambda x: op.split(x, 3, 1), T((2, 9)))
    case("split_at", lambda x: op.split(x, [2, 5], 1), T((2, 9)))
    case("repeat", lambda x: op.repeat(x, 3, 1), T((2, 3)))
    case("repeat_flat", lambda x: op.repeat(x, 2), T((2, 3)))
    case("flip", lambda x: op.flip(x, 1), T((2, 7)))
    case("reverse_sequence", lambda x, l: op.reverse_sequence(x, l, 1, 0), T((3, 5)), T((3,), values=[2, 5, 1], dtype="int32"))
    case("strided_slice_neg", lambda x: op.strided_slice(x, [0], [8], [0], [-2]), T((9, 7)))
    case("strided_slice_symbolic", lambda x: op.strided_slice(x, [1], [1], [6], [2]), T(("n", 7)), n=4)
    case("dynamic_strided_slice", lambda x, b, e, s: op.dynamic_strided_slice(x, b, e, s), T((8, 9)), T((2,), "int64", values=[1, 0]), T((2,), "int64", values=[7, 9]), T((2,), "int64", values=[2, 3]))
    case("slice_scatter", lambda x, y: op.slice_scatter(x, y, 0, 6, 2, axis=0), T((8, 3)), T((3, 3)))
    for name in "tril triu".split():
        for k in (-1, 0, 2):
            case(f"{name}_{k}", lambda x, f=getattr(op, name), k=k: f(x, k), T((2, 5, 6)))
    case("meshgrid", lambda x, y: op.meshgrid([x, y], "ij"), T((3,)), T((4,)))
    case("layout_transform", lambda x: op.layout_transform(x, lambda n, c, h, w: (n, c // 4, h, w, c % 4)), T((2, 8, 3, 3)))
    case("collapse_sum_to", lambda x: op.collapse_sum_to(x, (3, 1)), T((2, 3, 4)))
    case("collapse_sum_like", op.collapse_sum_like, T((2, 3, 4)), T((1, 4)))
    for a, b in (("float32", "int32"), ("float32", "float16"), ("float16", "float32"), ("int32", "float32"), ("int64", "float32"), ("float32", "int8"), ("float32", "uint8"), ("bool", "float32"), ("float32", "bool"), ("int32", "int64"), ("int64", "int32"), ("int8", "int32"), ("uint8", "int8"), ("int64", "bool"), ("bool", "int64")):
        case(f"astype_{a}_{b}", lambda x, b=b: op.astype(x, b), T((4, 9), a, 0 if b == "uint8" else None, 100 if a[0] == "f" else None))


def creation():
    for dtype in ("float32", "int32", "int64", "bool", "int8", "float16"):
        case(f"full_{dtype}", lambda dtype=dtype: op.full((3, 4), relax.const(1, dtype), dtype))
        case(f"ones_{dtype}", lambda dtype=dtype: op.ones((3, 4), dtype))
        case(f"zeros_{dtype}", lambda dtype=dtype: op.zeros((3, 4), dtype))
        case(f"zeros_like_{dtype}", op.zeros_like, T((2, 3), dtype))
        case(f"ones_like_{dtype}", op.ones_like, T((2, 3), dtype))
    case("full_like", lambda x: op.full_like(x, relax.const(2.5, "float32")), T((2, 3)))
    case("arange_f", lambda: op.arange(1, 7, 0.5, "float32"))
    case("arange_i", lambda: op.arange(2, 17, 3, "int64"))
    case("arange_i32", lambda: op.arange(9, 1, -2, "int32"))
    case("eye", lambda: op.eye(4, 5, 1, "float32"))
    case("eye_like", lambda x: op.eye_like(x, -1), T((4, 3)))
    case("hamming_window", lambda: op.hamming_window(16, True, 0.54, 0.46, "float32"))
    case("shape_of_tensor", lambda x: op.shape_to_tensor(op.shape_of(x)), T((3, 4)))
    case("size", op.size, T((3, 4)))


def indexing():
    case("take_flat", lambda x, i: op.take(x, i), T((20,)), T((3, 2), "int64", 0, 20))
    for mode in ("clip", "wrap"):
        case(f"take_{mode}", lambda x, i, mode=mode: op.take(x, i, 0, mode), T((6, 3)), T((5,), "int32", -9, 12))
    case("take_symbolic", lambda x, i: op.take(x, i, 0), T(("n", 3)), T(("m",), "int64", 0, 5), n=5, m=8)
    for axis in (0, 1):
        case(f"gather_elements_{axis}", lambda x, i, axis=axis: op.gather_elements(x, i, axis), T((4, 5)), T((4, 5), "int64", 0, 4))
    case("gather_nd", lambda x, i: op.gather_nd(x, i), T((4, 5, 6)), T((3, 2), "int64", 0, 4))
    case("gather_nd_batch", lambda x, i: op.gather_nd(x, i, 1), T((3, 5, 6)), T((3, 2), "int64", 0, 5))
    for red in ("update", "add", "mul", "max", "min"):
        unique = np.array([[0, 2, 1], [3, 1, 0]], "int64")
        case(f"scatter_elements_{red}", lambda x, i, u, red=red: op.scatter_elements(x, i, u, 0, red), T((4, 3)), T((2, 3), "int64", values=unique), T((2, 3)))
        case(f"scatter_nd_{red}", lambda x, i, u, red=red: op.scatter_nd(x, i, u, red), T((5, 3)), T((2, 1), "int64", values=[[3], [1]]), T((2, 3)))
    case("scatter_elements_repeats", lambda x, i, u: op.scatter_elements(x, i, u, 0, "add"), T((4, 3)), T((3, 3), "int64", 0, 4), T((3, 3)))
    case("index_tensor", lambda x, i, j: op.index_tensor(x, [i, j]), T((4, 5, 6)), T((3,), "int64", 0, 4), T((3,), "int64", 0, 5))
    case("index_put", lambda x, i, v: op.index_put(x, [i], v, False), T((6,)), T((3,), "int64", values=[4, 0, 2]), T((3,)))
    case("index_put_add", lambda x, i, v: op.index_put(x, [i], v, True), T((6,)), T((4,), "int64", values=[4, 0, 4, 2]), T((4,)))
    case("one_hot", lambda i: op.one_hot(i, 1.0, 0.0, 7, -1), T((2, 3), "int32", 0, 7))
    case("bucketize", lambda x, b: op.bucketize(x, b), T((3, 5)), T((6,), values=[-1.5, -0.5, 0, 0.5, 1, 1.5]))
    case("bucketize_right", lambda x, b: op.bucketize(x, b, right=True), T((3, 5)), T((6,), values=[-1.5, -0.5, 0, 0.5, 1, 1.5]))


def sorting():
    for descending in (False, True):
        for dtype in ("float32", "int32", "int64"):
            values = RNG.permutation(35).reshape(5, 7).astype(dtype)
            case(f"sort_{descending}_{dtype}", lambda x, d=descending: op.sort(x, 1, d), T((5, 7), dtype, values=values))
            case(f"argsort_{descending}_{dtype}", lambda x, d=descending: op.argsort(x, 1, d, "int32"), T((5, 7), dtype, values=values))
    case("sort_axis0", lambda x: op.sort(x, 0), T((5, 7)))
    for ret in ("both", "values", "indices"):
        case(f"topk_{ret}", lambda x, r=ret: op.topk(x, 3, 1, r, True, "int64"), T((5, 7)))
    case("topk_smallest", lambda x: op.topk(x, 3, 0, "both", False, "int32"), T((5, 7)))


def linalg():
    shapes = [((4, 5), (5, 6)), ((1, 784), (784, 128)), ((2, 3, 4), (2, 4, 5)), ((3, 1, 4, 5), (2, 5, 6)), ((5,), (5, 3)), ((3, 5), (5,)), ((7,), (7,)), ((64, 64), (64, 64)), ((33, 65), (65, 17))]
    for a, b in shapes:
        tag = "x".join(map(str, a)) + "_" + "x".join(map(str, b))
        case(f"matmul_{tag}", op.matmul, T(a), T(b))
    case("matmul_float16", op.matmul, T((8, 32), "float16", -1, 1), T((32, 16), "float16", -1, 1))
    case("matmul_f16_f32", lambda x, y: op.matmul(x, y, "float32"), T((8, 32), "float16", -1, 1), T((32, 16), "float16", -1, 1))
    case("matmul_int8", lambda x, y: op.matmul(x, y, "int32"), T((8, 32), "int8"), T((32, 16), "int8"))
    case("matmul_symbolic", op.matmul, T(("n", "k")), T(("k", "m")), n=5, k=37, m=19)
    case("linear", lambda x, w, b: op.linear(x, w, b), T((4, 20)), T((12, 20)), T((12,)))
    for sub, shapes in (("ij,jk->ik", ((4, 5), (5, 6))), ("bij,bjk->bik", ((2, 4, 5), (2, 5, 6))), ("ij->ji", ((4, 5),)), ("i,i->", ((9,), (9,))), ("ijk->j", ((2, 3, 4),)), ("ii->i", ((5, 5),)), ("bhqd,bhkd->bhqk", ((2, 3, 5, 8), (2, 3, 7, 8)))):
        case("einsum_" + sub.replace(",", "_").replace("->", "_to_"), lambda *xs, sub=sub: op.einsum(tuple(xs), sub), *[T(s) for s in shapes])
    case("outer", op.outer, T((4,)), T((7,)))


def quantization():
    for dtype in ("int8", "uint8"):
        case(f"quantize_{dtype}", lambda x, s, z, d=dtype: op.quantize(x, s, z, 1, d), T((3, 5)), T((5,), "float32", 0.01, 0.05), T((5,), dtype, 0, 9))
        case(f"dequantize_{dtype}", lambda x, s, z: op.dequantize(x, s, z, 1), T((3, 5), dtype, 0, 99), T((5,), "float32", 0.01, 0.05), T((5,), dtype, 0, 9))


def nn():
    def conv(dim, transpose=False):
        return getattr(op.nn, f"conv{dim}d" + ("_transpose" if transpose else ""))

    case("conv1d", lambda x, w: conv(1)(x, w, 1, 1), T((2, 3, 17)), T((4, 3, 3)))
    case("conv1d_strided", lambda x, w: conv(1)(x, w, 2, 0, 2), T((2, 4, 19)), T((4, 4, 3)))
    case("conv2d", lambda x, w: conv(2)(x, w, 1, 1), T((2, 8, 14, 14)), T((16, 8, 3, 3)))
    case("conv2d_strided", lambda x, w: conv(2)(x, w, 2, [1, 1, 0, 0]), T((1, 3, 15, 14)), T((8, 3, 3, 3)))
    case("conv2d_dilated", lambda x, w: conv(2)(x, w, 1, 2, 2), T((1, 4, 12, 12)), T((8, 4, 3, 3)))
    case("conv2d_1x1", lambda x, w: conv(2)(x, w), T((2, 16, 7, 7)), T((24, 16, 1, 1)))
    case("conv2d_groups", lambda x, w: conv(2)(x, w, 1, 1, 1, 2), T((1, 8, 9, 9)), T((6, 4, 3, 3)))
    case("conv2d_depthwise", lambda x, w: conv(2)(x, w, 1, 1, 1, 8), T((1, 8, 9, 9)), T((8, 1, 3, 3)))
    case("conv2d_nhwc", lambda x, w: conv(2)(x, w, 1, 1, data_layout="NHWC", kernel_layout="HWIO"), T((1, 9, 9, 5)), T((3, 3, 5, 7)))
    case("conv2d_batch_symbolic", lambda x, w: conv(2)(x, w, 1, 1), T(("n", 3, 8, 8)), T((4, 3, 3, 3)), n=3)
    case("conv2d_size_symbolic", lambda x, w: conv(2)(x, w, 1, 1), T((1, 3, "h", "w")), T((4, 3, 3, 3)), h=7, w=9)
    case("conv2d_float16", lambda x, w: conv(2)(x, w, 1, 1), T((1, 4, 8, 8), "float16", -1, 1), T((4, 4, 3, 3), "float16", -0.5, 0.5))
    case("conv2d_int8", lambda x, w: conv(2)(x, w, 1, 1, out_dtype="int32"), T((1, 4, 8, 8), "int8"), T((4, 4, 3, 3), "int8"))
    case("conv3d", lambda x, w: conv(3)(x, w, 1, 1), T((1, 3, 5, 6, 7)), T((4, 3, 3, 3, 3)))
    case("conv1d_transpose", lambda x, w: conv(1, True)(x, w, 2, 1), T((2, 3, 9)), T((3, 4, 3)))
    case("conv2d_transpose", lambda x, w: conv(2, True)(x, w, 2, 1), T((1, 4, 7, 7)), T((4, 5, 3, 3)))
    case("conv2d_transpose_pad", lambda x, w: conv(2, True)(x, w, 2, 1, 1), T((1, 4, 7, 7)), T((4, 5, 4, 4)))
    case("conv3d_transpose", lambda x, w: conv(3, True)(x, w, 2, 1), T((1, 2, 3, 4, 5)), T((2, 3, 3, 3, 3)))
    for dim in (1, 2, 3):
        shape = (2, 3, 9, 8, 7)[: dim + 2]
        for pool in ("max_pool", "avg_pool"):
            f = getattr(op.nn, f"{pool}{dim}d")
            case(f"{pool}{dim}d", lambda x, f=f: f(x, 2, 2), T(shape))
            case(f"{pool}{dim}d_pad", lambda x, f=f: f(x, 3, 2, 1), T(shape))
            case(f"{pool}{dim}d_ceil", lambda x, f=f: f(x, 3, 2, 0, 1, True), T(shape))
        case(f"adaptive_avg_pool{dim}d", lambda x, f=getattr(op.nn, f"adaptive_avg_pool{dim}d"): f(x, 3), T(shape))
        case(f"global_avg_pool{dim}d", lambda x, f=getattr(op.nn, f"adaptive_avg_pool{dim}d"): f(x, 1), T(shape))
    case("avg_pool2d_count", lambda x: op.nn.avg_pool2d(x, 3, 2, 1, count_include_pad=True), T((1, 2, 8, 8)))
    for name in "relu silu gelu gelu_tanh selu leakyrelu softplus".split():
        for dtype in ("float32", "float16"):
            case(f"{name}_{dtype}", getattr(op.nn, name), T((5, 13), dtype, -4, 4))
    case("relu_int32", op.nn.relu, T((5, 13), "int32"))
    case("relu6", op.nn.relu6, T((5, 13), "float32", -9, 9))
    case("prelu", lambda x, a: op.nn.prelu(x, a, 1), T((2, 3, 4)), T((3,)))
    for name in "softmax log_softmax".split():
        f = getattr(op.nn, name)
        for axis in (-1, 1):
            case(f"{name}_{axis}", lambda x, f=f, axis=axis: f(x, axis), T((2, 7, 5), "float32", -9, 9))
        case(f"{name}_float16", f, T((3, 20), "float16", -4, 4))
        case(f"{name}_symbolic", f, T(("n", "m"), "float32", -9, 9), n=3, m=41)
        case(f"{name}_long", f, T((2, 1025), "float32", -9, 9))
    case("layer_norm", lambda x, g, b: op.nn.layer_norm(x, g, b, -1), T((3, 4, 33)), T((33,)), T((33,)))
    case("layer_norm_2", lambda x, g, b: op.nn.layer_norm(x, g, b, [-2, -1]), T((3, 4, 5)), T((4, 5)), T((4, 5)))
    case("layer_norm_float16", lambda x, g, b: op.nn.layer_norm(x, g, b, -1), T((3, 33), "float16"), T((33,), "float16"), T((33,), "float16"))
    case("layer_norm_symbolic", lambda x, g, b: op.nn.layer_norm(x, g, b, -1), T(("n", 33)), T((33,)), T((33,)), n=4)
    case("rms_norm", lambda x, g: op.nn.rms_norm(x, g, -1), T((3, 33)), T((33,)))
    case("group_norm", lambda x, g, b: op.nn.group_norm(x, g, b, 2, 1, [2, 3]), T((2, 6, 4, 5)), T((6,)), T((6,)))
    case("instance_norm", lambda x, g, b: op.nn.instance_norm(x, g, b, 1, [2, 3]), T((2, 6, 4, 5)), T((6,)), T((6,)))
    case("batch_norm", lambda x, g, b, m, v: op.nn.batch_norm(x, g, b, m, v, 1, training=False), T((2, 6, 4, 5)), T((6,)), T((6,)), T((6,)), T((6,), "float32", 0.5, 2))
    case("batch_norm_training", lambda x, g, b, m, v: op.nn.batch_norm(x, g, b, m, v, 1), T((2, 6, 4, 5)), T((6,)), T((6,)), T((6,)), T((6,), "float32", 0.5, 2))
    case("dropout", lambda x: op.nn.dropout(x, 0.5), T((4, 5)))
    for mode in ("constant", "reflect", "replicate", "circular"):
        case(f"pad_{mode}", lambda x, mode=mode: op.nn.pad(x, [0, 0, 1, 2, 2, 1], mode, 1.5), T((2, 5, 6)))
    case("pixel_shuffle", lambda x: op.nn.pixel_shuffle(x, 2), T((1, 8, 3, 4)))
    case("cross_entropy_with_logits", op.nn.cross_entropy_with_logits, T((3, 10)), T((3, 10), "float32", 0, 1))
    for reduction_ in ("mean", "sum", "none"):
        case(f"nll_loss_{reduction_}", lambda p, t, w, r=reduction_: op.nn.nll_loss(p, t, w, r), T((5, 10)), T((5,), "int64", 0, 10), T((10,), "float32", 0.5, 1))
    for causal in (None, "TopLeft", "BottomRight"):
        case(f"attention_{causal}", lambda q, k, v, c=causal: op.nn.attention(q, k, v, causal_mask=c), T((2, 9, 3, 8)), T((2, 11, 3, 8)), T((2, 11, 3, 8)))
    case("attention_bias", lambda q, k, v, b: op.nn.attention(q, k, v, b, 0.25), T((2, 9, 3, 8)), T((2, 11, 3, 8)), T((2, 11, 3, 8)), T((2, 3, 9, 11)))


def image():
    for method in ("nearest_neighbor", "linear", "cubic"):
        for coords in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
            for size in ((7, 9), (3, 2)):
                case(f"resize2d_{method}_{coords}_{size[0]}", lambda x, s=size, m=method, c=coords: op.image.resize2d(x, s, layout="NCHW", method=m, coordinate_transformation_mode=c, rounding_method="round_prefer_floor" if m == "nearest_neighbor" else "", cubic_alpha=-0.75), T((1, 2, 5, 6)))
    case("resize2d_nhwc", lambda x: op.image.resize2d(x, (7, 9), layout="NHWC", method="linear"), T((1, 5, 6, 2)))
    for method in ("nearest", "bilinear", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                case(f"grid_sample_{method}_{padding}_{align}", lambda x, g, m=method, p=padding, a=align: op.image.grid_sample(x, g, m, "NCHW", p, a), T((1, 2, 5, 6)), T((1, 2, 4, 3), "float32", -1.3, 1.3))
    case("affine_grid", lambda t: op.image.affine_grid(t, (4, 5)), T((2, 2, 3)))
    case("resize3d", lambda x: op.image.resize3d(x, (5, 6, 7), layout="NCDHW", method="linear"), T((1, 2, 3, 4, 5)))


def module_of(build, inputs):
    """The module of a case, its vars with symbolic sizes made once for each letter."""
    bb = relax.BlockBuilder()
    letters = {}

    def dim(d):
        return letters.setdefault(d, tvm.tirx.Var(d, "int64")) if isinstance(d, str) else d

    params = [relax.Var(f"x{i}", relax.TensorType([dim(d) for d in t.shape], t.dtype) if hasattr(relax, "TensorType") else relax.TensorStructInfo([dim(d) for d in t.shape], t.dtype)) for i, t in enumerate(inputs)]
    with bb.function("main", params):
        with bb.dataflow():
            out = bb.emit(build(*params))
            gv = bb.emit_output(out)
        bb.emit_func_output(gv)
    return bb.get()


def flat(value):
    return [y for v in value for y in flat(v)] if isinstance(value, (tuple, list)) or type(value).__name__ == "Array" else [value.numpy()]


def record(folder):
    """Writes every case that TVM can make and run; says which it could not."""
    for family in (unary, binary, reduction, manipulation, creation, indexing, sorting, linalg, quantization, nn, image):
        family()
    folder.mkdir(parents=True, exist_ok=True)
    unmade = {}
    for name, (build, inputs, sizes) in CASES.items():
        try:
            xs = [t.draw(sizes) for t in inputs]
            module = module_of(build, inputs)
            legalized = relax.transform.LegalizeOps()(module)
            executable = tvm.compile(module, target="llvm")
            vm = relax.VirtualMachine(executable, tvm.cpu())
            ys = flat(vm["main"](*[tvm.runtime.tensor(x) for x in xs]))
            at = folder / name
            at.mkdir(exist_ok=True)
            (at / "operators.py").write_text(module.script(show_meta=True))
            (at / "legalized.py").write_text(legalized.script(show_meta=True))
            for letter, arrays in (("x", xs), ("y", ys)):
                for i, array in enumerate(arrays):
                    np.save(at / f"{letter}{i}.npy", array)
        except Exception as error:  # noqa: BLE001  TVM refuses some of what it registers
            unmade[name] = str(error).strip().splitlines()[-1][:200] if str(error).strip() else type(error).__name__
    print(f"{len(CASES) - len(unmade)} of {len(CASES)} modules recorded; TVM {tvm.__version__} made no result for:")
    for name, why in unmade.items():
        print(f"  {name}: {why}")
    (folder / "unmade.json").write_text(json.dumps(unmade, indent=1))


if __name__ == "__main__":
    record(pathlib.Path(sys.argv[1]))
