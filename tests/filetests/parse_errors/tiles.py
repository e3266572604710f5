# test: parse
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    C = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 1)]))
    T.tile.copy(A[0:64], B[0:64])
    T.cta.fill(A[0:32], T.float32(0.0))
# expect-error:
# error: `layout` spreads a program over tiles of a workgroup, which this compiler does not
#   --> tiles.py:4:9
#   |
# 4 |     C = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 1)]))
#   |         ^^^^^^^^^^^^^^
#
# error: `T.tile.copy` spreads a program over tiles of a workgroup, which this compiler does not
#   --> tiles.py:5:5
#   |
# 5 |     T.tile.copy(A[0:64], B[0:64])
#   |     ^^^^^^^^^^^
#
# error: `T.cta.fill` spreads a program over tiles of a workgroup, which this compiler does not
#   --> tiles.py:6:5
#   |
# 6 |     T.cta.fill(A[0:32], T.float32(0.0))
#   |     ^^^^^^^^^^
