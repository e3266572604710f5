# test: sched
# run: rfactor(loop("B", 2), -1)
# The index and the value of the greatest element are chosen together.
@T.prim_func
def before(A: T.Buffer((16, 64), "float32"), I: T.Buffer((16,), "int64"), V: T.Buffer((16,), "float32")):
    for i, ko, ki in T.grid(T.int64(16), T.int64(8), T.int64(8)):
        with T.block("B"):
            vi = T.axis.spatial(T.int64(16), i)
            vk = T.axis.reduce(T.int64(64), ko * T.int64(8) + ki)
            with T.init():
                I[vi] = T.int64(64)
                V[vi] = T.float32("-inf")
            v_i: T.int64 = T.Select(V[vi] > A[vi, vk] or V[vi] == A[vi, vk] and I[vi] < vk, I[vi], vk)
            v_v: T.float32 = T.Select(V[vi] > A[vi, vk] or V[vi] == A[vi, vk] and I[vi] < vk, V[vi], A[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 64), "float32"), I_1: T.Buffer((16,), "int64"), V: T.Buffer((16,), "float32")):
    # with T.block("root"):
    I_rf = T.alloc_buffer((16, 8), "int64")
    V_rf = T.alloc_buffer((16, 8))
    for i, ko, ki in T.grid(T.int64(16), T.int64(8), T.int64(8)):
        with T.block("B_rf"):
            vki, vi, vko = T.axis.remap("SSR", [ki, i, ko])
            T.reads(A[vi, vko * T.int64(8) + vki])
            T.writes(I_rf[vi, vki], V_rf[vi, vki])
            with T.init():
                I_rf[vi, vki] = T.int64(64)
                V_rf[vi, vki] = T.float32("-inf")
            v_I_rf: T.int64 = T.Select(V_rf[vi, vki] > A[vi, vko * T.int64(8) + vki] or V_rf[vi, vki] == A[vi, vko * T.int64(8) + vki] and I_rf[vi, vki] < vko * T.int64(8) + vki, I_rf[vi, vki], vko * T.int64(8) + vki)
            v_V_rf: T.float32 = T.Select(V_rf[vi, vki] > A[vi, vko * T.int64(8) + vki] or V_rf[vi, vki] == A[vi, vko * T.int64(8) + vki] and I_rf[vi, vki] < vko * T.int64(8) + vki, V_rf[vi, vki], A[vi, vko * T.int64(8) + vki])
            I_rf[vi, vki] = v_I_rf
            V_rf[vi, vki] = v_V_rf
    for i, ki in T.grid(T.int64(16), T.int64(8)):
        with T.block("B"):
            vki, vi = T.axis.remap("RS", [ki, i])
            T.reads(I_rf[vi, vki], V_rf[vi, vki])
            T.writes(I_1[vi], V[vi])
            with T.init():
                I_1[vi] = T.int64(64)
                V[vi] = T.float32("-inf")
            v_I: T.int64 = T.Select(V[vi] > V_rf[vi, vki] or V[vi] == V_rf[vi, vki] and I_1[vi] < I_rf[vi, vki], I_1[vi], I_rf[vi, vki])
            v_V: T.float32 = T.Select(V[vi] > V_rf[vi, vki] or V[vi] == V_rf[vi, vki] and I_1[vi] < I_rf[vi, vki], V[vi], V_rf[vi, vki])
            I_1[vi] = v_I
            V[vi] = v_V
