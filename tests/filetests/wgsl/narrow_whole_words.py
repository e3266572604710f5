# test: wgsl

# Four results share a word: a thread computes four and stores the word.
@T.prim_func
def less(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32"), Y: T.Buffer((1000,), "bool")):
    for i in range(1000):
        with T.block("Y"):
            vi = T.axis.spatial(1000, i)
            Y[vi] = A[vi] < B[vi]

# expect-listing:
# // Y
# @group(0) @binding(0) var<storage, read> A: array<vec4<f32>>;
# @group(0) @binding(1) var<storage, read> B: array<vec4<f32>>;
# @group(0) @binding(2) var<storage, read_write> Y: array<u32>;
#
# @compute @workgroup_size(64, 1, 1)
# fn less(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
#     let bx = i32(block_idx.x);
#     let tx = i32(thread_idx.x);
#     if (bx * 64 + tx < 250) {
#         Y[bx * 64 + tx] = pack4xU8(vec4<u32>(A[bx * 64 + tx] < B[bx * 64 + tx]));
#     }
# }
