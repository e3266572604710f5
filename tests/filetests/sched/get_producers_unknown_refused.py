# test: sched
# run: get_producers(block("E"))
@T.prim_func
def before(A: T.Buffer((48, 20), "float32"), D: T.Buffer((48, 20), "float32")):
    B = T.alloc_buffer((48, 20), "float32")
    C = T.alloc_buffer((48, 20), "float32")
    for i, j in T.grid(48, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(48, 20):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * T.float32(2)
    for i, j in T.grid(48, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
# expect-error:
# error: argument 0 is not a block: "E"
