# test: sched
# run: pad_einsum("C", [4, 5])
@T.prim_func
def before(A: T.Buffer((6, 10), "float32"), C: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 10):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.min_value("float32")
            C[vi] = T.max(C[vi], A[vi, vk])
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((6, 10), "float32"), C: T.Buffer((6,), "float32")):
    # with T.block("root"):
    A_pad = T.alloc_buffer((8, 10))
    C_pad = T.alloc_buffer((8,))
    for i0, i1 in T.grid(8, 10):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(A[v0, v1])
            T.writes(A_pad[v0, v1])
            A_pad[v0, v1] = T.if_then_else(v0 < 6, A[v0, v1], T.float32(0))
    for i, k in T.grid(8, 10):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(A_pad[vi, vk])
            T.writes(C_pad[vi])
            with T.init():
                C_pad[vi] = T.float32(-3.4028235e38)
            C_pad[vi] = T.max(C_pad[vi], A_pad[vi, vk])
    for i0 in range(6):
        with T.block("C_pad"):
            v0 = T.axis.spatial(6, i0)
            T.reads(C_pad[v0])
            T.writes(C[v0])
            C[v0] = C_pad[v0]
