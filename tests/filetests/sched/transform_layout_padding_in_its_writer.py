# test: sched
# run: transform_layout(block("B"), "write", 0, "lambda i, j: (i // 4, j, i % 4)", 0.0)
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
def after(A: T.Buffer((10, 12), "float32"), C: T.Buffer((10, 12), "float32")):
    # with T.block("root"):
    B = T.alloc_buffer((3, 12, 4))
    for axis0, j, axis2 in T.grid(3, 12, 4):
        with T.block("B"):
            v_axis0, v_j, v_axis2 = T.axis.remap("SSS", [axis0, j, axis2])
            T.reads(A[v_axis0 * 4 + v_axis2, v_j])
            T.writes(B[v_axis0, v_j, v_axis2])
            B[v_axis0, v_j, v_axis2] = T.if_then_else(v_axis0 == 2 and 2 <= v_axis2, T.float32(0), A[v_axis0 * 4 + v_axis2, v_j] * T.float32(2))
    for i, j in T.grid(10, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi // 4, vj, vi % 4])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi // 4, vj, vi % 4] + T.float32(1)
