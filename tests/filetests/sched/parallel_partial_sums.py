# test: sched
# run: reorder([loop("B", 1), loop("B", 0)])
# run: parallel(loop("B", 0))
# The predicate joins two loops, each of which is an iter variable: what it leaves out is left out in any order.
@T.prim_func
def before(A: T.Buffer((16, 70), "float32"), B: T.Buffer((5, 16), "float32")):
    for i, ko, ki in T.grid(16, 5, 16):
        with T.block("B"):
            vi, vko, vki = T.axis.remap("SSR", [i, ko, ki])
            T.where(ko * 16 + ki < 70)
            with T.init():
                B[vko, vi] = T.float32(0)
            B[vko, vi] = B[vko, vi] + A[vi, vko * 16 + vki]
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16, 70), "float32"), B: T.Buffer((5, 16), "float32")):
    # with T.block("root"):
    for ko in T.parallel(5):
        for i, ki in T.grid(16, 16):
            with T.block("B"):
                vi, vko, vki = T.axis.remap("SSR", [i, ko, ki])
                T.where(ko * 16 + ki < 70)
                T.reads(A[vi, vko * 16 + vki])
                T.writes(B[vko, vi])
                with T.init():
                    B[vko, vi] = T.float32(0)
                B[vko, vi] = B[vko, vi] + A[vi, vko * 16 + vki]
