# test: sched
# run: cache_write(block("S"), 0, "local")
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
    S_local = T.alloc_buffer((12,), scope="local")
    for i in range(12):
        for k in range(20):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(S_local[vi])
                with T.init():
                    S_local[vi] = T.float32(0)
                S_local[vi] = S_local[vi] + A[vi, vk]
        for ax0 in range(1):
            with T.block("S_local"):
                v0 = T.axis.spatial(12, i + ax0)
                T.reads(S_local[v0])
                T.writes(S[v0])
                S[v0] = S_local[v0]
        for j in range(20):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj], S[vi])
                T.writes(Y[vi, vj])
                Y[vi, vj] = A[vi, vj] - S[vi]
