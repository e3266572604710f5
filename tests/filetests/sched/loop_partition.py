# test: sched
# run: loop_partition(loop("B", 0), [8, None, 16])
@T.prim_func
def before(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    B = T.alloc_buffer((48, 20), "float32")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] * T.float32(2)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((48, 20))
    with T.block("B_i_common"):
        T.reads()
        T.writes()
        with T.block("B_i0_partition"):
            T.reads()
            T.writes()
            for i0, j in T.grid(8, 20):
                with T.block("B_i0"):
                    vi, vj = T.axis.remap("SS", [i0, j])
                    T.reads(A[0:8, 0:20])
                    T.writes(B[0:8, 0:20])
                    B[vi, vj] = A[vi, vj] + T.float32(1)
        with T.block("B_i1_partition"):
            T.reads()
            T.writes()
            for i1 in range(8, 32):
                for j in range(20):
                    with T.block("B_i1"):
                        vi, vj = T.axis.remap("SS", [i1, j])
                        T.reads(A[8:32, 0:20])
                        T.writes(B[8:32, 0:20])
                        B[vi, vj] = A[vi, vj] + T.float32(1)
        with T.block("B_i2_partition"):
            T.reads()
            T.writes()
            for i2 in range(32, 48):
                for j in range(20):
                    with T.block("B_i2"):
                        vi, vj = T.axis.remap("SS", [i2, j])
                        T.reads(A[32:48, 0:20])
                        T.writes(B[32:48, 0:20])
                        B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(D[vi, vj])
            D[vi, vj] = B[vi, vj] * T.float32(2)
