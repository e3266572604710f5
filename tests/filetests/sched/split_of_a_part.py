# test: sched
# run: a, b = loop_partition(loop("B", 1), [3])
# run: split(b, [None, 4])
@T.prim_func
def before(A: T.Buffer((8, 20), "float32"), B: T.Buffer((8, 20), "float32")):
    for i, j in T.grid(8, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((8, 20), "float32"), B: T.Buffer((8, 20), "float32")):
    # with T.block("root"):
    for i in range(8):
        with T.block("B_j_common"):
            T.reads()
            T.writes()
            with T.block("B_j0_partition"):
                T.reads()
                T.writes()
                for j0 in range(3):
                    with T.block("B_j0"):
                        vi, vj = T.axis.remap("SS", [i, j0])
                        T.reads(A[0:8, 0:3])
                        T.writes(B[0:8, 0:3])
                        B[vi, vj] = A[vi, vj] + T.float32(1)
            with T.block("B_j1_partition"):
                T.reads()
                T.writes()
                for j1_0, j1_1 in T.grid(5, 4):
                    with T.block("B_j1"):
                        vi = T.axis.spatial(8, i)
                        vj = T.axis.spatial((3, 20), j1_0 * 4 + j1_1 + 3)
                        T.where(j1_0 * 4 + j1_1 < 17)
                        T.reads(A[0:8, 3:20])
                        T.writes(B[0:8, 3:20])
                        B[vi, vj] = A[vi, vj] + T.float32(1)
