# test: sched
# run: i0, i1 = split(loop("C", 0), [None, 8])
# run: k0, k1 = split(loop("C", 3), [None, 8])
# run: reorder([i0, k0, i1, loop("C", 2), k1])
# run: inner = blockize(i1)
# run: blockize(k0)
@T.prim_func
def before(A: T.Buffer((32, 24), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((32, 40), "float32")):
    for i, j, k in T.grid(32, 40, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
