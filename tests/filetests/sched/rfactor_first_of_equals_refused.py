# test: sched
# run: rfactor(loop("B", 1), 0)
# Of equal elements the last one is chosen, whatever its index.
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), I: T.Buffer((16,), "int64"), V: T.Buffer((16,), "float32")):
    for i, k in T.grid(T.int64(16), T.int64(64)):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = T.int64(64)
                V[vi] = T.float32("-inf")
            v_i: T.int64 = T.Select(V[vi] > A[vi, vk], I[vi], vk)
            v_v: T.float32 = T.Select(V[vi] > A[vi, vk], V[vi], A[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
# expect-error:
# error: rfactor: block `B` is not of the form `B[i] = init; B[i] = B[i] op value`, for one element or for several that are chosen together: of equal elements the first or the last iteration is chosen
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
