# test: sched
# run: reverse_compute_at(block("D"), loop("C", 0))
@T.prim_func
def before(A: T.Buffer((64,), "float32"), D: T.Buffer((1,), "float32")):
    C = T.alloc_buffer((64,), "float32")
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = A[vi] * T.float32(2)
    for o, k in T.grid(1, 64):
        with T.block("D"):
            vo = T.axis.spatial(1, o)
            vk = T.axis.reduce(64, k)
            with T.init():
                D[vo] = T.float32(0)
            D[vo] = D[vo] + C[vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((64,), "float32"), D: T.Buffer((1,), "float32")):
    # with T.block("root"):
    C = T.alloc_buffer((64,))
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi])
            T.writes(C[vi])
            C[vi] = A[vi] * T.float32(2)
        with T.block("D"):
            vo = T.axis.spatial(1, 0)
            vk = T.axis.reduce(64, i)
            T.reads(C[vk])
            T.writes(D[vo])
            with T.init():
                D[vo] = T.float32(0)
            D[vo] = D[vo] + C[vk]
