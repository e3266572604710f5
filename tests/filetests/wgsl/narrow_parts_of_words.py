# test: wgsl

# Neighbouring threads store parts of one word.
@T.prim_func
def transpose(A: T.Buffer((5, 7), "int8"), Y: T.Buffer((7, 5), "int8")):
    for i, j in T.grid(7, 5):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vj, vi] + T.int8(1)

# expect-listing:
# // Y
# @group(0) @binding(0) var<storage, read> A: array<u32>;
# @group(0) @binding(1) var<storage, read_write> Y: array<atomic<u32>>;
#
# @compute @workgroup_size(64, 1, 1)
# fn transpose_1(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
#     let tx = i32(thread_idx.x);
#     if (tx < 35) {
#         let t = i32(u32(tx) % 5u) * 7 + i32(u32(tx) / 5u);
#         let t_1 = (((extractBits(bitcast<i32>(A[u32(t) / 4u]), 8u * (u32(t) % 4u), 8u) + 1) << 24u) >> 24u);
#         atomicAnd(&Y[u32(tx) / 4u], ~(0xffu << (8u * (u32(tx) % 4u))));
#         atomicOr(&Y[u32(tx) / 4u], (u32(t_1) & 0xffu) << (8u * (u32(tx) % 4u)));
#     }
# }
