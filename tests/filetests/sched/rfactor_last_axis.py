# test: sched
# run: rfactor(loop("B", 1), -1)
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 64), "float32"), B: T.Buffer((16,), "float32")):
    # with T.block("root"):
    B_rf = T.alloc_buffer((16, 64))
    for i, k in T.grid(16, 64):
        with T.block("B_rf"):
            vk, vi = T.axis.remap("SS", [k, i])
            T.reads(A[vi, vk])
            T.writes(B_rf[vi, vk])
            B_rf[vi, vk] = A[vi, vk]
    for i, k in T.grid(16, 64):
        with T.block("B"):
            vk, vi = T.axis.remap("RS", [k, i])
            T.reads(B_rf[vi, vk])
            T.writes(B[vi])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + B_rf[vi, vk]
