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
