# test: sched
# run: i0, i1 = split(loop("B", 1), [None, 5])
# run: blockize(i0)
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((10, 12))
    for i in range(10):
        with T.block("B_o"):
            vi_o = T.axis.spatial(10, i)
            vj_o = T.axis.spatial(1, 0)
            T.reads(A[vi_o, 0:12])
            T.writes(B[vi_o, 0:12])
            for j_0, j_1 in T.grid(3, 5):
                with T.block("B"):
                    vj_i = T.axis.spatial(12, j_0 * 5 + j_1)
                    T.where(j_0 * 5 + j_1 < 12)
                    T.reads(A[vi_o, vj_i])
                    T.writes(B[vi_o, vj_i])
                    B[vi_o, vj_i] = A[vi_o, vj_i] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + T.float32(1)
