# test: print
# Where the elements of buffers lie over memory and threads, and views that follow from it. A layout that says what the extents
# say is none.

@T.prim_func
def main(A: T.Buffer((8, 4), "float16", layout=T.TileLayout(T.S[(8, 4):(4, 1)])), B: T.Buffer((8,), layout=None)):
    tiles = T.alloc_shared((64, 64), "float16", layout=T.TileLayout(T.S[(8, 8, 8, 4, 2):(64, 4 @ Axis.laneid, 8, 2, 1)]))
    copies = T.alloc_shared((8,), layout=T.TileLayout(T.S[8:4 @ Axis.laneid] + T.R[4:1 @ Axis.laneid] + (2 @ Axis.warpid + 64)))
    swizzled = T.alloc_shared((512,), layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[512:1]), swizzle_inner=False))
    placed = T.alloc_buffer((128, 512), scope="trn.sbuf", layout=T.TileLayout(T.S[(128, 512):(1 @ Axis.P, 1 @ Axis.F)]), allocated_addr=[1024, 0])
    registers = T.alloc_local((6,))
    lanes = registers.view(32, 2, layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 2)] + 3))
    flat = lanes.local()
    square = lanes.local(2, 3)
    stored = lanes.local(layout=T.TileLayout(T.S[2:2] + 3))
    turned = A.permute(1, 0)
    tiles_turned = tiles.permute(1, 0)
    mbar = T.decl_scalar(T.uint64, data=placed.data, elem_offset=4, scope="shared")
    mbar = T.uint64(1)
    flat[0] = square[0, 1] + stored[1] + swizzled[0] + copies[0] + T.Cast("float32", turned[3, 7] + tiles_turned[0, 0])
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8, 4), "float16"), var_B: T.handle):
        B = T.match_buffer(var_B, (8,), layout=None)
        # with T.block("root"):
        tiles = T.alloc_buffer((64, 64), "float16", scope="shared", layout=T.TileLayout(T.S[(8, 8, 8, 4, 2):(64, 4 @ Axis.laneid, 8, 2, 1)]))
        copies = T.alloc_buffer((8,), scope="shared", layout=T.TileLayout(T.S[8:4 @ Axis.laneid] + T.R[4:1 @ Axis.laneid] + 64 + 2 @ Axis.warpid))
        swizzled = T.alloc_buffer((512,), scope="shared", layout=T.ComposeLayout(3, 3, 3, T.TileLayout(T.S[512:1]), swizzle_inner=False))
        placed = T.alloc_buffer((128, 512), scope="trn.sbuf", layout=T.TileLayout(T.S[(128, 512):(1 @ Axis.P, 1 @ Axis.F)]), allocated_addr=[1024, 0])
        registers = T.alloc_buffer((6,), scope="local")
        lanes = T.decl_buffer((32, 2), scope="local", layout=T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 2)] + 3), data=registers.data)
        flat = T.decl_buffer((6,), scope="local", data=lanes.data)
        square = T.decl_buffer((2, 3), scope="local", data=lanes.data)
        stored = T.decl_buffer((2,), scope="local", layout=T.TileLayout(T.S[2:2] + 3), data=lanes.data)
        turned = T.decl_buffer((4, 8), "float16", layout=T.TileLayout(T.S[(4, 8):(1, 4)]), data=A.data)
        tiles_turned = T.decl_buffer((64, 64), "float16", scope="shared", layout=T.TileLayout(T.S[(8, 4, 2, 8, 8):(8, 2, 1, 64, 4 @ Axis.laneid)]), data=tiles.data)
        mbar = T.decl_buffer((), "uint64", elem_offset=4, scope="shared", data=placed.data)
        mbar[()] = T.uint64(1)
        flat[0] = square[0, 1] + stored[1] + swizzled[0] + copies[0] + T.Cast("float32", turned[3, 7] + tiles_turned[0, 0])
