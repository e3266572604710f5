# Tensor intrinsics on fragments of EXTENT by EXTENT elements. The first function of each pair says in loops what the second computes.
# `FACTORS` is the element type of the factors, `NARROW` its short name.

@T.prim_func
def wmma_load_EXTENTxEXTENTxEXTENT_NARROW_a_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="shared")
    C = T.match_buffer(c, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_a")
    for i, j in T.grid(T.int64(EXTENT), T.int64(EXTENT)):
        with T.block("load"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_load_EXTENTxEXTENTxEXTENT_NARROW_a_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="shared")
    C = T.match_buffer(c, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_a")
    with T.block("root"):
        T.reads(A[0:EXTENT, 0:EXTENT])
        T.writes(C[0:EXTENT, 0:EXTENT])
        T.tvm_load_matrix_sync(T.address_of(C[0, 0]), EXTENT, EXTENT, EXTENT, T.address_of(A[0, 0]), "row_major")

@T.prim_func
def wmma_load_EXTENTxEXTENTxEXTENT_NARROW_b_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="shared")
    C = T.match_buffer(c, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_b")
    for i, j in T.grid(T.int64(EXTENT), T.int64(EXTENT)):
        with T.block("load"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_load_EXTENTxEXTENTxEXTENT_NARROW_b_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="shared")
    C = T.match_buffer(c, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_b")
    with T.block("root"):
        T.reads(A[0:EXTENT, 0:EXTENT])
        T.writes(C[0:EXTENT, 0:EXTENT])
        T.tvm_load_matrix_sync(T.address_of(C[0, 0]), EXTENT, EXTENT, EXTENT, T.address_of(A[0, 0]), "row_major")

@T.prim_func
def wmma_fill_EXTENTxEXTENTxEXTENT_f32_description(c: T.handle):
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    for i, j in T.grid(T.int64(EXTENT), T.int64(EXTENT)):
        with T.block("init"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.float32(0)

@T.prim_func
def wmma_fill_EXTENTxEXTENTxEXTENT_f32_implementation(c: T.handle):
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    with T.block("root"):
        T.reads()
        T.writes(C[0:EXTENT, 0:EXTENT])
        T.tvm_fill_fragment(T.address_of(C[0, 0]), EXTENT, EXTENT, EXTENT, T.float32(0))

@T.prim_func
def wmma_sync_EXTENTxEXTENTxEXTENT_NARROWNARROWf32_description(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_a")
    B = T.match_buffer(b, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_b")
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    for i, j, k in T.grid(T.int64(EXTENT), T.int64(EXTENT), T.int64(EXTENT)):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])

@T.prim_func
def wmma_sync_EXTENTxEXTENTxEXTENT_NARROWNARROWf32_implementation(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_a")
    B = T.match_buffer(b, (EXTENT, EXTENT), "FACTORS", scope="wmma.matrix_b")
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    with T.block("root"):
        T.reads(C[0:EXTENT, 0:EXTENT], A[0:EXTENT, 0:EXTENT], B[0:EXTENT, 0:EXTENT])
        T.writes(C[0:EXTENT, 0:EXTENT])
        T.tvm_mma_sync(T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0]), T.address_of(C[0, 0]))

@T.prim_func
def wmma_store_EXTENTxEXTENTxEXTENT_f32_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="shared")
    for i, j in T.grid(T.int64(EXTENT), T.int64(EXTENT)):
        with T.block("store"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_store_EXTENTxEXTENTxEXTENT_f32_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (EXTENT, EXTENT), "float32", scope="wmma.accumulator")
    C = T.match_buffer(c, (EXTENT, EXTENT), "float32", scope="shared")
    with T.block("root"):
        T.reads(A[0:EXTENT, 0:EXTENT])
        T.writes(C[0:EXTENT, 0:EXTENT])
        T.tvm_store_matrix_sync(T.address_of(A[0, 0]), EXTENT, EXTENT, EXTENT, T.address_of(C[0, 0]), "row_major")
