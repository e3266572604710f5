# test: pass
# run: legalize_ops, rewrite_reshape, dead_code_elimination
# What only reshapes becomes a view, of symbolic sizes too; a transpose does not.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6), "float32"), y: R.Tensor(("n", 6), "float32")):
        n = T.int64()
        a = R.reshape(x, (2, 12))
        b = R.flatten(x)
        c = R.expand_dims(a, [1])
        d = R.squeeze(c, [1])
        e = R.permute_dims(x)
        f = R.reshape(y, (n * 6,))
        g = R.reshape(y, (n, 2, 3))
        return (b, d, e, f, g)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def permute_dims(x: T.Buffer((4, 6), "float32"), permute_dims: T.Buffer((6, 4), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(6), T.int64(4)):
            with T.block("permute_dims"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i1, v_i0])
                T.writes(permute_dims[v_i0, v_i1])
                permute_dims[v_i0, v_i1] = x[v_i1, v_i0]

    @R.function
    def main(x: R.Tensor((4, 6), dtype="float32"), y: R.Tensor(("n", 6), dtype="float32")) -> R.Tuple(R.Tensor((24,), dtype="float32"), R.Tensor((2, 12), dtype="float32"), R.Tensor((6, 4), dtype="float32"), R.Tensor(("n * 6",), dtype="float32"), R.Tensor(("n", 2, 3), dtype="float32")):
        n = T.int64()
        cls = Module
        a: R.Tensor((2, 12), dtype="float32") = R.reshape(x, R.shape([2, 12]))
        b: R.Tensor((24,), dtype="float32") = R.reshape(x, R.shape([24]))
        c: R.Tensor((2, 1, 12), dtype="float32") = R.reshape(a, R.shape([2, 1, 12]))
        d: R.Tensor((2, 12), dtype="float32") = R.reshape(c, R.shape([2, 12]))
        e = R.call_tir(cls.permute_dims, (x,), out_sinfo=R.Tensor((6, 4), dtype="float32"))
        f: R.Tensor((n * 6,), dtype="float32") = R.reshape(y, R.shape([n * 6]))
        g: R.Tensor((n, 2, 3), dtype="float32") = R.reshape(y, R.shape([n, 2, 3]))
        return (b, d, e, f, g)
