# test: print
# Launched threads are loops over them.

@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    tx = T.env_thread("threadIdx.x")
    bx = T.launch_thread("blockIdx.x", 4)
    local = T.alloc_local((1,))
    shared = T.alloc_shared((16,), "float16")
    T.attr({"first": 1, "second": "two"})
    with T.launch_thread(tx, 16), T.attr(A, "storage_alignment", 128):
        with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0.0)]), "reduce_scope", 0):
            local[0] = A[bx * 16 + tx]
        T.tvm_storage_sync("shared")
        A[bx * 16 + tx] = local[0] + T.Cast("float32", shared[tx])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64,), "float32")):
        # with T.block("root"):
        local = T.alloc_buffer((1,), scope="local")
        shared = T.alloc_buffer((16,), "float16", scope="shared")
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            with T.attr(None, "first", 1):
                with T.attr(None, "second", "two"):
                    for tx in T.thread_binding(16, thread="threadIdx.x"):
                        with T.attr(A, "storage_alignment", 128):
                            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", 0):
                                local[0] = A[bx * 16 + tx]
                            T.evaluate(T.tvm_storage_sync("shared"))
                            A[bx * 16 + tx] = local[0] + T.Cast("float32", shared[tx])
