# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: reorder([loop("C", 3), i0])
@T.prim_func
def before(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 24), "float32"), C: T.Buffer((32, 24), "float32")):
    for i, j, k in T.grid(32, 24, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 24), "float32"), C: T.Buffer((32, 24), "float32")):
    # with T.block("root"):
    for k, i_1, j, i_0 in T.grid(16, 8, 24, 4):
        with T.block("C"):
            vi = T.axis.spatial(32, i_0 * 8 + i_1)
            vj, vk = T.axis.remap("SR", [j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
