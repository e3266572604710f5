# test: sched
# run: blockize(loop("B", 1))
@T.prim_func
def before(A: T.Buffer((64,), "float32"), B: T.Buffer((1,), "float32")):
    for k, r in T.grid(64, 2):
        with T.block("B"):
            vk = T.axis.reduce(64, k)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[vk]
# expect-error:
# error: blockize: the init of reduction `B` cannot run before the loops inside the new block: they repeat elements, or their predicate decides which are initialised
#   --> before:7:9
#   |
# 7 |         with T.block("B"):
#   |         ^^^^^^^^^^^^^^^^^^ block "B"
