# test: sched
# run: unsafe_hide_buffer_access("C", "read", [1])
@T.prim_func
def before(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((7, 5), "float32"), B: T.Buffer((5, 9), "float32"), C: T.Buffer((7, 9), "float32")):
    # with T.block("root"):
    for i, j, k in T.grid(7, 9, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
