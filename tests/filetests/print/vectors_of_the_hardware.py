# test: print
# Vectors whose length the hardware chooses, and places in a launch.

@T.prim_func
def vectors(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for i in T.vectorized(T.vscale() * 4):
        B[i] = A[i]
    B[0:T.vscale() * 4] = T.Broadcast(T.float32(3.0), T.vscale() * 4) * A[T.Ramp(0, 1, T.vscale() * 4)]
    B[8:8 + T.vscale() * 4] = T.Cast("float32xvscalex4", A[T.Ramp(8, 2, T.vscale() * 4)] < B[8:8 + T.vscale() * 4])
    B[11:11 + T.vscale() * 4 * 2:2] = T.Broadcast(T.float32(1.0), T.vscale() * 4)

@T.prim_func
def vectors_as_elements(A: T.Buffer((25,), "float32xvscalex4")):
    A[3] = T.Broadcast(T.float32(1.0), T.vscale() * 4)

@T.prim_func
def places(A: T.Buffer((128,), "float32")):
    T.attr({"tirx.device_entry": T.bool(True)})
    bx, by = T.cta_id([4, 8])
    cx = T.cta_id_in_cluster([2], preferred=[4])
    warp = T.warp_id([4], dtype="uint32")
    lane = T.lane_id()
    A[bx + by + lane] = T.Cast("float32", warp) + T.Cast("float32", cx)
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def places(A: T.Buffer((128,), "float32")):
        # with T.block("root"):
        with T.attr(None, "tirx.device_entry", T.bool(True)):
            bx, by = T.cta_id([4, 8])
            cx = T.cta_id_in_cluster([2], preferred=[4])
            warp = T.warp_id([4], dtype="uint32")
            lane = T.lane_id()
            A[bx + by + lane] = T.Cast("float32", warp) + T.Cast("float32", cx)

    @T.prim_func
    def vectors(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        # with T.block("root"):
        for i in T.vectorized(T.vscale() * 4):
            B[i] = A[i]
        B[0:T.vscale() * 4] = T.Broadcast(T.float32(3), T.vscale() * 4) * A[0:T.vscale() * 4]
        B[8:8 + T.vscale() * 4] = T.Cast("float32xvscalex4", A[T.Ramp(8, 2, T.vscale() * 4)] < B[8:8 + T.vscale() * 4])
        B[T.Ramp(11, 2, T.vscale() * 4)] = T.Broadcast(T.float32(1), T.vscale() * 4)

    @T.prim_func
    def vectors_as_elements(A: T.Buffer((25,), "float32xvscalex4")):
        # with T.block("root"):
        A[3] = T.Broadcast(T.float32(1), T.vscale() * 4)
