# test: sched
# run: cache_index("B", "global", 0)
@T.prim_func
def before(A: T.Buffer((8, 8), "float32"), B: T.Buffer((20, 20), "float32")):
    for y, x in T.grid(20, 20):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            B[vy, vx] = A[vy * 8 // 20, vx * 8 // 20]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((8, 8), "float32"), B: T.Buffer((20, 20), "float32")):
    # with T.block("root"):
    index_var_0 = T.alloc_buffer((20,), "int32", strides=(1,))
    index_var_1 = T.alloc_buffer((20,), "int32", strides=(1,))
    for ax0 in range(20):
        with T.block("index_0"):
            v0 = T.axis.spatial(20, ax0)
            T.reads()
            T.writes(index_var_0[v0])
            index_var_0[v0] = v0 * 8 // 20
    for ax0 in range(20):
        with T.block("index_1"):
            v0 = T.axis.spatial(20, ax0)
            T.reads()
            T.writes(index_var_1[v0])
            index_var_1[v0] = v0 * 8 // 20
    for y, x in T.grid(20, 20):
        with T.block("B"):
            vy, vx = T.axis.remap("SS", [y, x])
            T.reads(A[vy * 8 // 20, vx * 8 // 20])
            T.writes(B[vy, vx])
            B[vy, vx] = A[index_var_0[vy], index_var_1[vx]]
