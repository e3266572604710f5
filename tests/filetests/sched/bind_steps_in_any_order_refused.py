# test: sched
# Steps of a scan meet: only spatial iter variables tell iterations apart.
# run: bind(loop("exchange", 0), "threadIdx.x")
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
# expect-error:
# error: bind: loop `step` cannot be bound to threadIdx.x: it is part of `v_step` of block `exchange`, which is not a data parallel iter variable
#   --> before:6:5
#   |
# 6 |     for step, pair in T.grid(3, 8):
#   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ loop `step`
# 7 |         with T.block("exchange"):
#   |         ------------------------- block "exchange"
