# test: pass
# target: avx512
# run: legalize_ops, fuse_transpose_matmul
# Of matrices behind each other. A transpose may move batches, too. Where only one operand is read along the sums, nothing changes.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 32, 200), "float32"), y: R.Tensor((3, 200, 32), "float32"), w: R.Tensor((3, 32, 8), "float32"), z: R.Tensor((24, 3, 32), "float32")):
        with R.dataflow():
            a = R.matmul(R.permute_dims(x, axes=[0, 2, 1]), R.permute_dims(w, axes=[0, 1, 2]))
            b = R.matmul(R.permute_dims(w, axes=[0, 2, 1]), R.permute_dims(y, axes=[0, 2, 1]))
            c = R.matmul(R.permute_dims(w, axes=[0, 2, 1]), R.permute_dims(z, axes=[1, 2, 0]))
            R.output(a, b, c)
        return (a, b, c)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def matmul(x1: T.Buffer((3, 200, 32), "float32"), x2: T.Buffer((3, 32, 8), "float32"), matmul: T.Buffer((3, 200, 8), "float32")):
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(T.int64(3), T.int64(200), T.int64(8), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(x1[v_i0, v_i1, v_k], x2[v_i0, v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x1[v_i0, v_i1, v_k] * x2[v_i0, v_k, v_i2]

    @T.prim_func(private=True)
    def matmul1(x1: T.Buffer((3, 8, 32), "float32"), x2: T.Buffer((3, 32, 200), "float32"), matmul: T.Buffer((3, 8, 200), "float32")):
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(T.int64(3), T.int64(8), T.int64(200), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(x1[v_i0, v_i1, v_k], x2[v_i0, v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x1[v_i0, v_i1, v_k] * x2[v_i0, v_k, v_i2]

    @T.prim_func(private=True)
    def matmul1_transposed(x1: T.Buffer((3, 8, 32), "float32"), x2: T.Buffer((3, 200, 32), "float32"), matmul: T.Buffer((3, 8, 200), "float32")):
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(T.int64(3), T.int64(8), T.int64(200), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(x1[v_i0, v_i1, v_k], x2[v_i0, v_i2, v_k])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x1[v_i0, v_i1, v_k] * x2[v_i0, v_i2, v_k]

    @T.prim_func(private=True)
    def matmul2(x1: T.Buffer((3, 8, 32), "float32"), x2: T.Buffer((3, 32, 24), "float32"), matmul: T.Buffer((3, 8, 24), "float32")):
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(T.int64(3), T.int64(8), T.int64(24), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(x1[v_i0, v_i1, v_k], x2[v_i0, v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x1[v_i0, v_i1, v_k] * x2[v_i0, v_k, v_i2]

    @T.prim_func(private=True)
    def matmul2_transposed(x1: T.Buffer((3, 8, 32), "float32"), x2: T.Buffer((24, 3, 32), "float32"), matmul: T.Buffer((3, 8, 24), "float32")):
        # with T.block("root"):
        for i0, i1, i2, k in T.grid(T.int64(3), T.int64(8), T.int64(24), T.int64(32)):
            with T.block("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(x1[v_i0, v_i1, v_k], x2[v_i2, v_i0, v_k])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x1[v_i0, v_i1, v_k] * x2[v_i2, v_i0, v_k]

    @T.prim_func(private=True)
    def permute_dims(x: T.Buffer((3, 32, 200), "float32"), permute_dims: T.Buffer((3, 200, 32), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(3), T.int64(200), T.int64(32)):
            with T.block("permute_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i0, v_i2, v_i1])
                T.writes(permute_dims[v_i0, v_i1, v_i2])
                permute_dims[v_i0, v_i1, v_i2] = x[v_i0, v_i2, v_i1]

    @T.prim_func(private=True)
    def permute_dims1(x: T.Buffer((3, 32, 8), "float32"), permute_dims: T.Buffer((3, 32, 8), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(3), T.int64(32), T.int64(8)):
            with T.block("permute_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i0, v_i1, v_i2])
                T.writes(permute_dims[v_i0, v_i1, v_i2])
                permute_dims[v_i0, v_i1, v_i2] = x[v_i0, v_i1, v_i2]

    @T.prim_func(private=True)
    def permute_dims2(x: T.Buffer((3, 32, 8), "float32"), permute_dims: T.Buffer((3, 8, 32), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(3), T.int64(8), T.int64(32)):
            with T.block("permute_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i0, v_i2, v_i1])
                T.writes(permute_dims[v_i0, v_i1, v_i2])
                permute_dims[v_i0, v_i1, v_i2] = x[v_i0, v_i2, v_i1]

    @T.prim_func(private=True)
    def permute_dims3(x: T.Buffer((3, 200, 32), "float32"), permute_dims: T.Buffer((3, 32, 200), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(3), T.int64(32), T.int64(200)):
            with T.block("permute_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i0, v_i2, v_i1])
                T.writes(permute_dims[v_i0, v_i1, v_i2])
                permute_dims[v_i0, v_i1, v_i2] = x[v_i0, v_i2, v_i1]

    @T.prim_func(private=True)
    def permute_dims4(x: T.Buffer((24, 3, 32), "float32"), permute_dims: T.Buffer((3, 32, 24), "float32")):
        # with T.block("root"):
        for i0, i1, i2 in T.grid(T.int64(3), T.int64(32), T.int64(24)):
            with T.block("permute_dims"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(x[v_i2, v_i0, v_i1])
                T.writes(permute_dims[v_i0, v_i1, v_i2])
                permute_dims[v_i0, v_i1, v_i2] = x[v_i2, v_i0, v_i1]

    @R.function
    def main(x: R.Tensor((3, 32, 200), dtype="float32"), y: R.Tensor((3, 200, 32), dtype="float32"), w: R.Tensor((3, 32, 8), dtype="float32"), z: R.Tensor((24, 3, 32), dtype="float32")) -> R.Tuple(R.Tensor((3, 200, 8), dtype="float32"), R.Tensor((3, 8, 200), dtype="float32"), R.Tensor((3, 8, 24), dtype="float32")):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.permute_dims, (x,), out_sinfo=R.Tensor((3, 200, 32), dtype="float32"))
            lv_1 = R.call_tir(cls.permute_dims1, (w,), out_sinfo=R.Tensor((3, 32, 8), dtype="float32"))
            a = R.call_tir(cls.matmul, (lv, lv_1), out_sinfo=R.Tensor((3, 200, 8), dtype="float32"))
            lv_2 = R.call_tir(cls.permute_dims2, (w,), out_sinfo=R.Tensor((3, 8, 32), dtype="float32"))
            b = R.call_tir(cls.matmul1_transposed, (lv_2, y), out_sinfo=R.Tensor((3, 8, 200), dtype="float32"))
            lv_3 = R.call_tir(cls.permute_dims2, (w,), out_sinfo=R.Tensor((3, 8, 32), dtype="float32"))
            c = R.call_tir(cls.matmul2_transposed, (lv_3, z), out_sinfo=R.Tensor((3, 8, 24), dtype="float32"))
            R.output(a, b, c)
        return (a, b, c)
