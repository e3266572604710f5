# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: j0, j1 = split(loop("C", 2), [None, 4])
# run: k0, k1 = split(loop("C", 4), [None, 16])
# run: reorder([i0, j0, k0, k1, i1, j1])
# run: bind(i0, "blockIdx.y")
# run: bind(j0, "blockIdx.x")
# run: a = cache_read(block("C"), 0, "shared")
# run: compute_at(a, k0)
# run: b = cache_read(block("C"), 1, "shared")
# run: compute_at(b, k0)
@T.prim_func
def before(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 32), "float32")
    B = T.match_buffer(b, (32, 24), "float32")
    C = T.match_buffer(c, (n, 24), "float32")
    for i, j, k in T.grid(n, 24, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(a: T.handle, B: T.Buffer((32, 24), "float32"), c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 32))
    C = T.match_buffer(c, (n, 24))
    # with T.block("root"):
    A_shared = T.alloc_buffer((n, 32), scope="shared")
    B_shared = T.alloc_buffer((32, 24), scope="shared")
    for i_0 in T.thread_binding((n + 7) // 8, thread="blockIdx.y"):
        for j_0 in T.thread_binding(6, thread="blockIdx.x"):
            for k_0 in range(2):
                for ax0, ax1 in T.grid(8, 16):
                    with T.block("A_shared"):
                        v0 = T.axis.spatial(n, i_0 * 8 + ax0)
                        v1 = T.axis.spatial(32, k_0 * 16 + ax1)
                        T.where(i_0 * 8 + ax0 < n)
                        T.reads(A[v0, v1])
                        T.writes(A_shared[v0, v1])
                        A_shared[v0, v1] = A[v0, v1]
                for ax0, ax1 in T.grid(16, 4):
                    with T.block("B_shared"):
                        v0 = T.axis.spatial(32, k_0 * 16 + ax0)
                        v1 = T.axis.spatial(24, j_0 * 4 + ax1)
                        T.reads(B[v0, v1])
                        T.writes(B_shared[v0, v1])
                        B_shared[v0, v1] = B[v0, v1]
                for k_1, i_1, j_1 in T.grid(16, 8, 4):
                    with T.block("C"):
                        vi = T.axis.spatial(n, i_0 * 8 + i_1)
                        vj = T.axis.spatial(24, j_0 * 4 + j_1)
                        vk = T.axis.reduce(32, k_0 * 16 + k_1)
                        T.where(i_0 * 8 + i_1 < n)
                        T.reads(A_shared[vi, vk], B_shared[vk, vj])
                        T.writes(C[vi, vj])
                        with T.init():
                            C[vi, vj] = T.float32(0)
                        C[vi, vj] = C[vi, vj] + A_shared[vi, vk] * B_shared[vk, vj]
