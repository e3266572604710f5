# test: sched
# run: decompose_reduction("C", loop("C", 1))
# run: loop_partition(loop("C_update", 1), [4, None])
# run: cache_inplace("C_update_j1", 0, "local")
# The block of a part declares more than it touches: the rows below are not written yet.
@T.prim_func
def before(A: T.Buffer((7, 12), "float32"), B: T.Buffer((12, 10), "float32"), C: T.Buffer((7, 10), "float32")):
    for i, j, k in T.grid(7, 10, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((7, 12), "float32"), B: T.Buffer((12, 10), "float32"), C: T.Buffer((7, 10), "float32")):
    # with T.block("root"):
    for i in range(7):
        for j_init in range(10):
            with T.block("C_init"):
                vi, vj = T.axis.remap("SS", [i, j_init])
                T.reads()
                T.writes(C[vi, vj])
                C[vi, vj] = T.float32(0)
        with T.block("C_update_j_common"):
            T.reads()
            T.writes()
            with T.block("C_update_j0_partition"):
                T.reads()
                T.writes()
                for j0, k in T.grid(4, 12):
                    with T.block("C_update_j0"):
                        vi, vj, vk = T.axis.remap("SSR", [i, j0, k])
                        T.reads(C[0:7, 0:4], A[0:7, 0:12], B[0:12, 0:4])
                        T.writes(C[0:7, 0:4])
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
            with T.block("C_update_j1_partition"):
                T.reads()
                T.writes()
                C_local = T.alloc_buffer((7, 10), scope="local")
                for j1 in range(4, 10):
                    for k in range(12):
                        for ax0, ax1 in T.grid(1, 1):
                            with T.block("C_local"):
                                v0 = T.axis.spatial(7, i + ax0)
                                v1 = T.axis.spatial(10, j1 + ax1)
                                T.reads(C[v0, v1])
                                T.writes(C_local[v0, v1])
                                C_local[v0, v1] = C[v0, v1]
                        with T.block("C_update_j1"):
                            vi, vj, vk = T.axis.remap("SSR", [i, j1, k])
                            T.reads(C_local[0:7, 4:10], A[0:7, 0:12], B[0:12, 4:10])
                            T.writes(C_local[0:7, 4:10])
                            C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]
                        for ax0, ax1 in T.grid(1, 1):
                            with T.block("C_local"):
                                v0 = T.axis.spatial(7, i + ax0)
                                v1 = T.axis.spatial(10, j1 + ax1)
                                T.reads(C_local[v0, v1])
                                T.writes(C[v0, v1])
                                C[v0, v1] = C_local[v0, v1]
