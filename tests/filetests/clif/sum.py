# test: clif
# target: cpu

@T.prim_func
def total(X: T.Buffer((7,), "int32"), Y: T.Buffer((1,), "int32")):
    Y[0] = 0
    for i in T.serial(7, annotations={"simd_reduction": True}):
        Y[0] = Y[0] + X[i]

# expect-listing:
# ; total:
# function u0:0(i64, i64, i64) system_v {
#     region0 = 0 "X"
#     region1 = 1 "Y"
#     region2 = 2 "Y_cell"
#     region3 = 3 "partial"
#
# block0(v0: i64, v1: i64, v2: i64):
#     v3 = iconst.i32 0
#     v4 = iconst.i32 0
#     v5 = splat.i32x4 v4  ; v4 = 0
#     v6 = load.i64 notrap aligned v0
#     v7 = load.i64 notrap aligned v0+8
#     v8 = load.i64 notrap aligned v6
#     v9 = load.i64 notrap aligned v6+8
#     v10 = iconst.i32 0
#     store notrap region1 v10, v9  ; v10 = 0
#     v11 = load.i32 notrap region1 v9
#     v27 -> v11
#     v12 = iconst.i32 0
#     v13 = splat.i32x4 v12  ; v12 = 0
#     v28 -> v13
#     v30 -> v13
#     v31 -> v13
#     v34 -> v13
#     v35 -> v13
#     v37 -> v13
#     v38 -> v13
#     v14 = iconst.i64 0
#     v15 = iconst.i64 1
#     v16 = iadd v14, v15  ; v14 = 0, v15 = 1
#     jump block1(v14, v13)  ; v14 = 0
#
# block1(v17: i64, v18: i32x4):
#     v19 = iconst.i64 4
#     v20 = ishl v17, v19  ; v19 = 4
#     v21 = iadd.i64 v8, v20
#     v22 = load.i32x4 notrap region0 v21
#     v23 = iadd v18, v22
#     v24 = iconst.i64 1
#     v25 = iadd v17, v24  ; v24 = 1
#     v26 = icmp slt v25, v16
#     brif v26, block1(v25, v23), block2
#
# block2:
#     v29 = iadd.i32x4 v23, v13
#     v32 = iadd.i32x4 v13, v13
#     v33 = iadd v29, v32
#     v36 = iadd.i32x4 v13, v13
#     v39 = iadd.i32x4 v13, v13
#     v40 = iadd v36, v39
#     v41 = iadd v33, v40
#     v42 = extractlane v41, 0
#     v43 = iadd.i32x4 v23, v28
#     v44 = iadd.i32x4 v30, v31
#     v45 = iadd v43, v44
#     v46 = iadd.i32x4 v34, v35
#     v47 = iadd.i32x4 v37, v38
#     v48 = iadd v46, v47
#     v49 = iadd v45, v48
#     v50 = extractlane v49, 1
#     v51 = iadd v42, v50
#     v52 = iadd.i32x4 v23, v28
#     v53 = iadd.i32x4 v30, v31
#     v54 = iadd v52, v53
#     v55 = iadd.i32x4 v34, v35
#     v56 = iadd.i32x4 v37, v38
#     v57 = iadd v55, v56
#     v58 = iadd v54, v57
#     v59 = extractlane v58, 2
#     v60 = iadd.i32x4 v23, v28
#     v61 = iadd.i32x4 v30, v31
#     v62 = iadd v60, v61
#     v63 = iadd.i32x4 v34, v35
#     v64 = iadd.i32x4 v37, v38
#     v65 = iadd v63, v64
#     v66 = iadd v62, v65
#     v67 = extractlane v66, 3
#     v68 = iadd v59, v67
#     v69 = iadd v51, v68
#     v70 = iadd.i32 v11, v69
#     v71 = iconst.i64 4
#     v72 = iconst.i64 3
#     v73 = iadd v71, v72  ; v71 = 4, v72 = 3
#     jump block3(v71, v70)  ; v71 = 4
#
# block3(v74: i64, v75: i32):
#     v76 = iconst.i64 2
#     v77 = ishl v74, v76  ; v76 = 2
#     v78 = iadd.i64 v8, v77
#     v79 = load.i32 notrap region0 v78
#     v80 = iadd v75, v79
#     v81 = iconst.i64 1
#     v82 = iadd v74, v81  ; v81 = 1
#     v83 = icmp slt v82, v73
#     brif v83, block3(v82, v80), block4
#
# block4:
#     store.i32 notrap region1 v80, v9
#     return
# }
