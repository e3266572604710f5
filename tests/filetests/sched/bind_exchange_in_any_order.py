# test: sched
# Pairs of elements change places: no pair meets another one, as the annotation says.
# run: bind(loop("exchange", 1), "threadIdx.x")
@T.prim_func
def before(A: T.Buffer((16,), "int32")):
    for step, pair in T.grid(3, 8):
        with T.block("exchange"):
            v_step = T.axis.scan(3, step)
            v_pair = T.axis.spatial(8, pair)
            T.reads(A[0:16])
            T.writes(A[0:16])
            T.block_attr({"any_order": True})
            with T.LetStmt(A[v_pair]) as a:
                A[v_pair] = A[v_pair + 8]
                A[v_pair + 8] = a
# expect:
# from tvm.script import tir as T

@T.prim_func
def after(A: T.Buffer((16,), "int32")):
    # with T.block("root"):
    for step in range(3):
        for pair in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("exchange"):
                v_step = T.axis.scan(3, step)
                v_pair = T.axis.spatial(8, pair)
                T.reads(A[0:16])
                T.writes(A[0:16])
                T.block_attr({"any_order": True})
                a: T.int32 = A[v_pair]
                A[v_pair] = A[v_pair + 8]
                A[v_pair + 8] = a
