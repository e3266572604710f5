# test: pass
# target: gpu
# run: legalize_ops, fuse_transpose_matmul
# Few rows by a matrix read it as it lies. Many rows have it transposed first, and so has what uses the transpose twice.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 32), "float32"), y: R.Tensor((200, 32), "float32"), w: R.Tensor((24, 32), "float32"), v: R.Tensor((24, 32), "float32")):
        with R.dataflow():
            few = R.matmul(x, R.permute_dims(w))
            many = R.matmul(y, R.permute_dims(w))
            t = R.permute_dims(v)
            twice = R.matmul(x, t)
            R.output(few, many, t, twice)
        return (few, many, t, twice)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def matmul(x1: T.Buffer((4, 32), "float32"), x2: T.Buffer((32, 24), "float32"), matmul: T.Buffer((4, 24), "float32")):
        # with T.block("root"):
        for i0, i1, k in T.grid(T.int64(4), T.int64(24), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def matmul1(x1: T.Buffer((200, 32), "float32"), x2: T.Buffer((32, 24), "float32"), matmul: T.Buffer((200, 24), "float32")):
        # with T.block("root"):
        for i0, i1, k in T.grid(T.int64(200), T.int64(24), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_k, v_i1]

    @T.prim_func(private=True)
    def matmul_transposed(x1: T.Buffer((4, 32), "float32"), x2: T.Buffer((24, 32), "float32"), matmul: T.Buffer((4, 24), "float32")):
        # with T.block("root"):
        for i0, i1, k in T.grid(T.int64(4), T.int64(24), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x1[v_i0, v_k], x2[v_i1, v_k])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x1[v_i0, v_k] * x2[v_i1, v_k]

    @T.prim_func(private=True)
    def permute_dims(x: T.Buffer((24, 32), "float32"), permute_dims: T.Buffer((32, 24), "float32")):
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(32), T.int64(24)):
            with T.block("permute_dims"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i1, v_i0])
                T.writes(permute_dims[v_i0, v_i1])
                permute_dims[v_i0, v_i1] = x[v_i1, v_i0]

    @R.function
    def main(x: R.Tensor((4, 32), dtype="float32"), y: R.Tensor((200, 32), dtype="float32"), w: R.Tensor((24, 32), dtype="float32"), v: R.Tensor((24, 32), dtype="float32")) -> R.Tuple(R.Tensor((4, 24), dtype="float32"), R.Tensor((200, 24), dtype="float32"), R.Tensor((32, 24), dtype="float32"), R.Tensor((4, 24), dtype="float32")):
        cls = Module
        with R.dataflow():
            few = R.call_tir(cls.matmul_transposed, (x, w), out_sinfo=R.Tensor((4, 24), dtype="float32"))
            lv = R.call_tir(cls.permute_dims, (w,), out_sinfo=R.Tensor((32, 24), dtype="float32"))
            many = R.call_tir(cls.matmul1, (y, lv), out_sinfo=R.Tensor((200, 24), dtype="float32"))
            t = R.call_tir(cls.permute_dims, (v,), out_sinfo=R.Tensor((32, 24), dtype="float32"))
            twice = R.call_tir(cls.matmul, (x, t), out_sinfo=R.Tensor((4, 24), dtype="float32"))
            R.output(few, many, t, twice)
        return (few, many, t, twice)
