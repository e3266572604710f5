# test: sched
# run: a, b = loop_partition(loop("B", 1), [4])
# run: c, d, e = loop_partition(loop("B_j0", 0), [1, None, 2])
# run: parallel(b)
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
                with T.block("B_j0_j0_common"):
                    T.reads()
                    T.writes()
                    with T.block("B_j0_j00_partition"):
                        T.reads()
                        T.writes()
                        for j00 in range(1):
                            with T.block("B_j0_j00"):
                                vi, vj = T.axis.remap("SS", [i, j00])
                                T.reads(A[0:8, 0])
                                T.writes(B[0:8, 0])
                                B[vi, vj] = A[vi, vj] + T.float32(1)
                    with T.block("B_j0_j01_partition"):
                        T.reads()
                        T.writes()
                        for j01 in range(1, 2):
                            with T.block("B_j0_j01"):
                                vi, vj = T.axis.remap("SS", [i, j01])
                                T.reads(A[0:8, 1])
                                T.writes(B[0:8, 1])
                                B[vi, vj] = A[vi, vj] + T.float32(1)
                    with T.block("B_j0_j02_partition"):
                        T.reads()
                        T.writes()
                        for j02 in range(2, 4):
                            with T.block("B_j0_j02"):
                                vi, vj = T.axis.remap("SS", [i, j02])
                                T.reads(A[0:8, 2:4])
                                T.writes(B[0:8, 2:4])
                                B[vi, vj] = A[vi, vj] + T.float32(1)
            with T.block("B_j1_partition"):
                T.reads()
                T.writes()
                for j1 in T.parallel(4, 20):
                    with T.block("B_j1"):
                        vi, vj = T.axis.remap("SS", [i, j1])
                        T.reads(A[0:8, 4:20])
                        T.writes(B[0:8, 4:20])
                        B[vi, vj] = A[vi, vj] + T.float32(1)
