# test: parse
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    C = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.landid, 1)]))
    D = T.alloc_buffer((64,), layout=T.TileLayout(T.R[32:1]))
    E = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):1]))
    F = A.permute(1)
    T.tile.copi(A[0:64], B[0:64])
    T.block.fill(A[0:32], T.float32(0.0))
# expect-error:
# error: undefined name `Axis.landid`
#   --> tiles.py:4:68
#   |
# 4 |     C = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.landid, 1)]))
#   |                                                                    ^^^^^^^^^^^ not defined here
#   |
#   = did you mean `Axis.laneid`?
#
# error: expected `T.S[extents:strides]` among the terms, found `T.R[32:1]`
#   --> tiles.py:5:51
#   |
# 5 |     D = T.alloc_buffer((64,), layout=T.TileLayout(T.R[32:1]))
#   |                                                   ^^^^^^^^^
#
# error: expected a stride for each extent, found `1`
#   --> tiles.py:6:63
#   |
# 6 |     E = T.alloc_buffer((64,), layout=T.TileLayout(T.S[(32, 2):1]))
#   |                                                               ^
#
# error: expected each dimension of a buffer without strides once, found `A.permute(1)`
#   --> tiles.py:7:9
#   |
# 7 |     F = A.permute(1)
#   |         ^^^^^^^^^^^^
#
# error: unknown function `T.tile.copi`
#   --> tiles.py:8:5
#   |
# 8 |     T.tile.copi(A[0:64], B[0:64])
#   |     ^^^^^^^^^^^
#
# error: unknown function `T.block.fill`
#   --> tiles.py:9:5
#   |
# 9 |     T.block.fill(A[0:32], T.float32(0.0))
#   |     ^^^^^^^^^^^^
