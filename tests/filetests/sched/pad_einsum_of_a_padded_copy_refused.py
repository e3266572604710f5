# test: sched
# run: split(loop("D", 1), [None, 5])
# run: pad_einsum("D", [3, 3])
# run: pad_einsum("D_pad", [5, 5])
# Nobody writes the last two columns of the padded buffer: a copy of it would read them.
@T.prim_func
def before(A: T.Buffer((6, 10), "float32"), D: T.Buffer((6, 10), "float32")):
    for i, j in T.grid(6, 10):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = A[vi, vj] * T.float32(2)
# expect-error:
# error: pad_einsum: the iter variables of block `D_pad` do not run over all of `D_pad`, of which a padded copy is to be made
#    --> before:22:9
#    |
# 22 |         with T.block("D_pad"):
#    |         ^^^^^^^^^^^^^^^^^^^^^^ block "D_pad"
