# test: sched
# run: inner = get_child_blocks(block("B_o"))
# run: annotate(inner, "inner", True)
@T.prim_func
def before(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    for io, jo in T.grid(4, 8):
        with T.block("B_o"):
            vio, vjo = T.axis.remap("SS", [io, jo])
            T.reads(A[vio * 8:vio * 8 + 8, vjo * 4:vjo * 4 + 4])
            T.writes(B[vio * 8:vio * 8 + 8, vjo * 4:vjo * 4 + 4])
            for ii, ji in T.grid(8, 4):
                with T.block("B"):
                    vii, vji = T.axis.remap("SS", [ii, ji])
                    B[vio * 8 + vii, vjo * 4 + vji] = A[vio * 8 + vii, vjo * 4 + vji] * T.float32(1.5)
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    # with T.block("root"):
    for io, jo in T.grid(4, 8):
        with T.block("B_o"):
            vio, vjo = T.axis.remap("SS", [io, jo])
            T.reads(A[vio * 8:vio * 8 + 8, vjo * 4:vjo * 4 + 4])
            T.writes(B[vio * 8:vio * 8 + 8, vjo * 4:vjo * 4 + 4])
            for ii, ji in T.grid(8, 4):
                with T.block("B"):
                    vii, vji = T.axis.remap("SS", [ii, ji])
                    T.reads(A[vio * 8 + vii, vjo * 4 + vji])
                    T.writes(B[vio * 8 + vii, vjo * 4 + vji])
                    T.block_attr({"inner": True})
                    B[vio * 8 + vii, vjo * 4 + vji] = A[vio * 8 + vii, vjo * 4 + vji] * T.float32(1.5)
