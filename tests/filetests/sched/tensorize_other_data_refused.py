# test: sched
# run: tensorize(loop("C", 0), "next")
# The arithmetic of data wraps in its type, which must be that of the description.
@T.prim_func
def next_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "int32")
    C = T.match_buffer(c, (4,), "int64")
    for i in T.grid(T.int64(4)):
        with T.block("update"):
            vi = T.axis.spatial(T.int64(4), i)
            C[vi] = T.Cast("int64", A[vi]) + T.int64(1)

@T.prim_func
def next_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "int32")
    C = T.match_buffer(c, (4,), "int64")
    with T.block("root"):
        T.reads(A[0:4])
        T.writes(C[0:4])
        T.evaluate(T.call_extern("int32", "next", T.address_of(A[0]), T.address_of(C[0])))

@T.prim_func
def before(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int64")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = T.Cast("int64", A[vi] + 1)

# error: none
# expect-error:
# error: tensorize: block `C_o` is not what tensor intrinsic `next` describes: block "root", block "C_o", loop `i`, block "C", stored value: A[vi] + 1 is not A[vi_i] + 1
#   --> before:6:5
#   |
# 6 |     for i in range(4):
#   |     ^^^^^^^^^^^^^^^^^^ loop `i`
