# test: sched
# run: blockize([block("B"), block("C")])
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
    with T.block("outer_B_C_"):
        vi_o = T.axis.spatial(1, 0)
        vj_o = T.axis.spatial(1, 0)
        T.reads(B[0:10, 0:12], A[0:10, 0:12])
        T.writes(C[0:10, 0:12], B[0:10, 0:12])
        for i, j in T.grid(10, 12):
            with T.block("B"):
                vi_i, vj_i = T.axis.remap("SS", [i, j])
                T.reads(A[vi_i, vj_i])
                T.writes(B[vi_i, vj_i])
                B[vi_i, vj_i] = A[vi_i, vj_i] * T.float32(2)
        for i, j in T.grid(10, 12):
            with T.block("C"):
                vi_i, vj_i = T.axis.remap("SS", [i, j])
                T.reads(B[vi_i, vj_i])
                T.writes(C[vi_i, vj_i])
                C[vi_i, vj_i] = B[vi_i, vj_i] + T.float32(1)
