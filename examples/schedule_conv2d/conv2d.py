@T.prim_func
def conv2d(x: T.Buffer((4, 1, 28, 28), "float32"), w: T.Buffer((32, 1, 3, 3), "float32"), conv2d_nchw: T.Buffer((4, 32, 26, 26), "float32")):
    pad_temp = T.alloc_buffer((4, 1, 28, 28))
    for i0, i1, i2, i3 in T.grid(4, 1, 28, 28):
        with T.block("pad_temp"):
            v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
            pad_temp[v_i0, v_i1, v_i2, v_i3] = x[v_i0, v_i1, v_i2, v_i3]
    for i0, i1, i2, i3, i4, i5, i6 in T.grid(4, 32, 26, 26, 1, 3, 3):
        with T.block("conv2d_nchw"):
            nn, ff, yy, xx, rc, ry, rx = T.axis.remap("SSSSRRR", [i0, i1, i2, i3, i4, i5, i6])
            with T.init():
                conv2d_nchw[nn, ff, yy, xx] = T.float32(0)
            conv2d_nchw[nn, ff, yy, xx] = conv2d_nchw[nn, ff, yy, xx] + pad_temp[nn, rc, yy + ry, xx + rx] * w[ff, rc, ry, rx]
