# Tensor intrinsics on fragments. The first function of each pair says in loops what the second computes.

@T.prim_func
def wmma_load_16x16x16_f16_a_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="shared")
    C = T.match_buffer(c, (16, 16), "float16", scope="wmma.matrix_a")
    for i, j in T.grid(T.int64(16), T.int64(16)):
        with T.block("load"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_load_16x16x16_f16_a_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="shared")
    C = T.match_buffer(c, (16, 16), "float16", scope="wmma.matrix_a")
    with T.block("root"):
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.tvm_load_matrix_sync(T.address_of(C[0, 0]), 16, 16, 16, T.address_of(A[0, 0]), "row_major")

@T.prim_func
def wmma_load_16x16x16_f16_b_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="shared")
    C = T.match_buffer(c, (16, 16), "float16", scope="wmma.matrix_b")
    for i, j in T.grid(T.int64(16), T.int64(16)):
        with T.block("load"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_load_16x16x16_f16_b_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="shared")
    C = T.match_buffer(c, (16, 16), "float16", scope="wmma.matrix_b")
    with T.block("root"):
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.tvm_load_matrix_sync(T.address_of(C[0, 0]), 16, 16, 16, T.address_of(A[0, 0]), "row_major")

@T.prim_func
def wmma_fill_16x16x16_f32_description(c: T.handle):
    C = T.match_buffer(c, (16, 16), "float32", scope="wmma.accumulator")
    for i, j in T.grid(T.int64(16), T.int64(16)):
        with T.block("init"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.float32(0)

@T.prim_func
def wmma_fill_16x16x16_f32_implementation(c: T.handle):
    C = T.match_buffer(c, (16, 16), "float32", scope="wmma.accumulator")
    with T.block("root"):
        T.reads()
        T.writes(C[0:16, 0:16])
        T.tvm_fill_fragment(T.address_of(C[0, 0]), 16, 16, 16, T.float32(0))

@T.prim_func
def wmma_sync_16x16x16_f16f16f32_description(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="wmma.matrix_a")
    B = T.match_buffer(b, (16, 16), "float16", scope="wmma.matrix_b")
    C = T.match_buffer(c, (16, 16), "float32", scope="wmma.accumulator")
    for i, j, k in T.grid(T.int64(16), T.int64(16), T.int64(16)):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])

@T.prim_func
def wmma_sync_16x16x16_f16f16f32_implementation(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", scope="wmma.matrix_a")
    B = T.match_buffer(b, (16, 16), "float16", scope="wmma.matrix_b")
    C = T.match_buffer(c, (16, 16), "float32", scope="wmma.accumulator")
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.tvm_mma_sync(T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0]), T.address_of(C[0, 0]))

@T.prim_func
def wmma_store_16x16x16_f32_shared_description(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float32", scope="wmma.accumulator")
    C = T.match_buffer(c, (16, 16), "float32", scope="shared")
    for i, j in T.grid(T.int64(16), T.int64(16)):
        with T.block("store"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]

@T.prim_func
def wmma_store_16x16x16_f32_shared_implementation(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float32", scope="wmma.accumulator")
    C = T.match_buffer(c, (16, 16), "float32", scope="shared")
    with T.block("root"):
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.tvm_store_matrix_sync(T.address_of(A[0, 0]), 16, 16, 16, T.address_of(C[0, 0]), "row_major")
