# test: sched
# run: decompose_reduction(block("C"), loop("C", 2))
# run: u = get_block("C_update")
# run: annotate(u, "part", "update")
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    # with T.block("root"):
    for i, j in T.grid(32, 32):
        with T.block("C_init"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads()
            T.writes(C[vi, vj])
            C[vi, vj] = T.float32(0)
        for k in range(32):
            with T.block("C_update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(C[vi, vj], A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                T.block_attr({"part": "update"})
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
