# test: sched
# run: outer = blockize(loop("B", 1))
# run: loop_ = add_unit_loop(outer)
# run: decompose_reduction(outer, loop("B_o", 0))
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
    for i_init in range(16):
        with T.block("B_o_init"):
            vi_o = T.axis.spatial(16, i_init)
            T.reads()
            T.writes(B[vi_o])
            with T.block("B_init"):
                T.reads()
                T.writes(B[vi_o])
                B[vi_o] = T.float32(0)
    for i, u in T.grid(16, 1):
        with T.block("B_o_update"):
            vi_o = T.axis.spatial(16, i)
            vk_o = T.axis.reduce(1, 0)
            T.reads(B[vi_o], A[vi_o, 0:64])
            T.writes(B[vi_o])
            for k in range(64):
                with T.block("B"):
                    vk_i = T.axis.reduce(64, k)
                    T.reads(B[vi_o], A[vi_o, vk_i])
                    T.writes(B[vi_o])
                    B[vi_o] = B[vi_o] + A[vi_o, vk_i]
