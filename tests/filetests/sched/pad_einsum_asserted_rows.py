# test: sched
# run: pad_einsum(block("C"), [8, 1, 1])
# The program asserts that there are two to eight rows: they become eight.
@T.prim_func
def before(a: T.handle, B: T.Buffer((16, 32), "float32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 32), "float32")
    C = T.match_buffer(c, (n, 16), "float32")
    assert T.int64(2) <= n, "few rows"
    assert n <= T.int64(8), "few rows"
    for i, j, k in T.grid(n, 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, B: T.Buffer((16, 32), "float32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 32))
    C = T.match_buffer(c, (n, 16))
    # with T.block("root"):
    A_pad = T.alloc_buffer((8, 32))
    C_pad = T.alloc_buffer((8, 16))
    assert T.int64(2) <= n, "few rows"
    assert n <= T.int64(8), "few rows"
    for i0, i1 in T.grid(T.int64(8), 32):
        with T.block("A_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(A[v0, v1])
            T.writes(A_pad[v0, v1])
            A_pad[v0, v1] = T.if_then_else(v0 < n, A[v0, v1], T.float32(0))
    for i, j, k in T.grid(T.int64(8), 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A_pad[vi, vk], B[vj, vk])
            T.writes(C_pad[vi, vj])
            with T.init():
                C_pad[vi, vj] = T.float32(0)
            C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B[vj, vk]
    for i0, i1 in T.grid(n, 16):
        with T.block("C_pad"):
            v0, v1 = T.axis.remap("SS", [i0, i1])
            T.reads(C_pad[v0, v1])
            T.writes(C[v0, v1])
            C[v0, v1] = C_pad[v0, v1]
