# test: clif
# target: cpu
# run: default rules

@T.prim_func
def add(X: T.Buffer((16,), "float32"), Y: T.Buffer((16,), "float32"), Z: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("Z"):
            vi = T.axis.spatial(16, i)
            Z[vi] = X[vi] + Y[vi]

# expect-listing:
# ; add: Z
# function u0:0(i64, i64, i64) system_v {
#     region0 = 0 "X"
#     region1 = 1 "Y"
#     region2 = 2 "Z"
#
# block0(v0: i64, v1: i64, v2: i64):
#     v3 = load.i64 notrap aligned v0
#     v4 = load.i64 notrap aligned v0+8
#     v5 = load.i64 notrap aligned v3
#     v6 = load.i64 notrap aligned v3+8
#     v7 = load.i64 notrap aligned v3+16
#     v8 = load.f32x4 notrap region0 v5
#     v9 = load.f32x4 notrap region0 v5+16
#     v10 = load.f32x4 notrap region0 v5+32
#     v11 = load.f32x4 notrap region0 v5+48
#     v12 = load.f32x4 notrap region1 v6
#     v13 = load.f32x4 notrap region1 v6+16
#     v14 = load.f32x4 notrap region1 v6+32
#     v15 = load.f32x4 notrap region1 v6+48
#     v16 = fadd v8, v12
#     v17 = fadd v9, v13
#     v18 = fadd v10, v14
#     v19 = fadd v11, v15
#     store notrap region2 v16, v7
#     store notrap region2 v17, v7+16
#     store notrap region2 v18, v7+32
#     store notrap region2 v19, v7+48
#     return
# }
