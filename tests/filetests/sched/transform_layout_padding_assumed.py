# test: sched
# run: transform_layout(block("B"), "read", 0, "lambda i, j: (i, j // 5, j % 5)", 0.0)
@T.prim_func
def before(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    B = T.alloc_buffer((10, 12), "float32")
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((10, 3, 5), "float32"), C: T.Buffer((10, 12), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((10, 12))
    for i, axis1, axis2 in T.grid(10, 3, 5):
        with T.block("buffer_A_assumptions"):
            v_i, v_axis1, v_axis2 = T.axis.remap("SSS", [i, axis1, axis2])
            T.reads(A[v_i, v_axis1, v_axis2])
            T.writes()
            T.assume(not (v_axis1 == 2 and 2 <= v_axis2) or A[v_i, v_axis1, v_axis2] == T.float32(0))
    for i, j in T.grid(10, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj // 5, vj % 5])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj // 5, vj % 5] * T.float32(2)
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + T.float32(1)
