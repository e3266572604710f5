# test: sched
# run: tensorize(loop("C", 0), "mma")
# The loops of the description are of another type than those of the program.
@T.prim_func
def mma_description(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 4), "float32")
    B = T.match_buffer(b, (4, 4), "float32")
    C = T.match_buffer(c, (4, 4), "float32")
    for i, j, k in T.grid(T.int64(4), T.int64(4), T.int64(4)):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

@T.prim_func
def mma_implementation(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4, 4), "float32")
    B = T.match_buffer(b, (4, 4), "float32")
    C = T.match_buffer(c, (4, 4), "float32")
    with T.block("root"):
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
        T.evaluate(T.call_extern("int32", "mma", T.address_of(A[0, 0]), T.address_of(B[0, 0]), T.address_of(C[0, 0])))

@T.prim_func
def before(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    # with T.block("root"):
    with T.block("C_o"):
        vi_o = T.axis.spatial(1, 0)
        vj_o = T.axis.spatial(1, 0)
        vk_o = T.axis.reduce(1, 0)
        T.reads(C[0:4, 0:4], A[0:4, 0:4], B[0:4, 0:4])
        T.writes(C[0:4, 0:4])
        A_1 = T.match_buffer(A[0:4, 0:4], (4, 4))
        B_1 = T.match_buffer(B[0:4, 0:4], (4, 4))
        C_1 = T.match_buffer(C[0:4, 0:4], (4, 4))
        T.evaluate(T.call_extern("int32", "mma", T.address_of(A_1[0, 0]), T.address_of(B_1[0, 0]), T.address_of(C_1[0, 0])))
