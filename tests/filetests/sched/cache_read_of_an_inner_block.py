# test: sched
# run: cache_read(block("outer"), 0, "global", [block("inner")])
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for io in range(2):
        with T.block("outer"):
            vio = T.axis.spatial(2, io)
            T.reads(A[vio * 4:vio * 4 + 4, 0:8])
            T.writes(B[vio * 4:vio * 4 + 4, 0:8])
            for ii, j in T.grid(4, 8):
                with T.block("inner"):
                    vii, vj = T.axis.remap("SS", [ii, j])
                    B[vio * 4 + vii, vj] = A[vio * 4 + vii, vj] * T.float32(1.5)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    # with T.block("root"):
    A_global = T.alloc_buffer((8, 8))
    for ax0, ax1 in T.grid(8, 8):
        with T.block("A_global"):
            v0, v1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(A[v0, v1])
            T.writes(A_global[v0, v1])
            A_global[v0, v1] = A[v0, v1]
    for io in range(2):
        with T.block("outer"):
            vio = T.axis.spatial(2, io)
            T.reads(A[vio * 4:vio * 4 + 4, 0:8], A_global[vio * 4:vio * 4 + 4, 0:8])
            T.writes(B[vio * 4:vio * 4 + 4, 0:8])
            for ii, j in T.grid(4, 8):
                with T.block("inner"):
                    vii, vj = T.axis.remap("SS", [ii, j])
                    T.reads(A_global[vio * 4 + vii, vj])
                    T.writes(B[vio * 4 + vii, vj])
                    B[vio * 4 + vii, vj] = A_global[vio * 4 + vii, vj] * T.float32(1.5)
