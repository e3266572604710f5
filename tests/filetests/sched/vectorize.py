# test: sched
# run: j0, j1 = split(loop("C", 1), [None, 4])
# run: vectorize(j1)
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
    for i, j_0 in T.grid(32, 6):
        for j_1 in T.vectorized(4):
            for k in range(16):
                with T.block("C"):
                    vi = T.axis.spatial(32, i)
                    vj = T.axis.spatial(24, j_0 * 4 + j_1)
                    vk = T.axis.reduce(16, k)
                    T.reads(A[vi, vk], B[vk, vj])
                    T.writes(C[vi, vj])
                    with T.init():
                        C[vi, vj] = T.float32(0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
