# test: lower
# target: avx512
# run: default rules
# The index and the value of the greatest element of each column: named values are vectors.

@T.prim_func
def argmax(A: T.Buffer((5, 40), "float32"), I: T.Buffer((40,), "int32")):
    V = T.alloc_buffer((40,))
    for i, k in T.grid(40, 5):
        with T.block("I"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = 5
                V[vi] = T.float32("-inf")
            v_i: T.int32 = T.Select(V[vi] > A[vk, vi] or V[vi] == A[vk, vi] and I[vi] < vk, I[vi], vk)
            v_v: T.float32 = T.Select(V[vi] > A[vk, vi] or V[vi] == A[vk, vi] and I[vi] < vk, V[vi], A[vk, vi])
            I[vi] = v_i
            V[vi] = v_v
# expect-listing:
# func argmax()
#   param 0 A: float32[5, 40]
#   param 1 I: int32[40] written
#
# kernel argmax  # I_init, I_update, I_local
#   array A: float32, 200 elements, global read param 0
#   array I: int32, 40 elements, global write param 1
#   array I_local: int32, 8 elements, local
#   array V: float32, 8 elements, local
#   cost 800 flop, 960 bytes; accesses proved
#   parallel for i_0 from 0, 5 times:
#     I_local[0] = splat8(5)
#     V[0] = splat8(-inf)
#     for k from 0, 5 times:
#       let v_i = select((V[0 : 8] > A[(k * 40) + (i_0 * 8) : 8]) or ((V[0 : 8] == A[(k * 40) + (i_0 * 8) : 8]) and (I_local[0 : 8] < splat8(int32(k)))), I_local[0 : 8], splat8(int32(k)))
#       let v_v = select((V[0 : 8] > A[(k * 40) + (i_0 * 8) : 8]) or ((V[0 : 8] == A[(k * 40) + (i_0 * 8) : 8]) and (I_local[0 : 8] < splat8(int32(k)))), V[0 : 8], A[(k * 40) + (i_0 * 8) : 8])
#       I_local[0] = v_i
#       V[0] = v_v
#     I[i_0 * 8] = I_local[0 : 8]
