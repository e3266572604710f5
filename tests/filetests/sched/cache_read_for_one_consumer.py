# test: sched
# run: a = cache_read(block("Y"), 0, "shared", [block("Y")])
# run: compute_at(a, loop("Y", 0))
@T.prim_func
def before(A: T.Buffer((12, 20), "float32"), S: T.Buffer((12,), "float32"), Y: T.Buffer((12, 20), "float32")):
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for j in range(20):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj] - S[vi]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((12, 20), "float32"), S: T.Buffer((12,), "float32"), Y: T.Buffer((12, 20), "float32")):
    # with T.block("root"):
    A_shared = T.alloc_buffer((12, 20), scope="shared")
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S[vi])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for ax0 in range(20):
            with T.block("A_shared"):
                v0, v1 = T.axis.remap("SS", [i, ax0])
                T.reads(A[v0, v1])
                T.writes(A_shared[v0, v1])
                A_shared[v0, v1] = A[v0, v1]
        for j in range(20):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A_shared[vi, vj], S[vi])
                T.writes(Y[vi, vj])
                Y[vi, vj] = A_shared[vi, vj] - S[vi]
