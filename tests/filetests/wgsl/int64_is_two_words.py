# test: wgsl

# Arithmetic on data in two words; the index that data choose is one.
@T.prim_func
def take(X: T.Buffer((9,), "int64"), R: T.Buffer((64,), "int64"), Y: T.Buffer((64,), "int64")):
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = X[R[vi]] * T.int64(3) + vi

# expect-listing:
# // Y
# @group(0) @binding(0) var<storage, read> X: array<vec2<u32>>;
# @group(0) @binding(1) var<storage, read> R: array<vec2<u32>>;
# @group(0) @binding(2) var<storage, read_write> Y: array<vec2<u32>>;
#
# fn i64_from_i32(x: i32) -> vec2<u32> {
#     return vec2<u32>(u32(x), u32(x >> 31u));
# }
#
# fn u32_mul_wide(a: u32, b: u32) -> vec2<u32> {
#     let low = (a & 0xffffu) * (b & 0xffffu);
#     let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
#     let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
#     return vec2<u32>((second << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u));
# }
#
# fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
#     let low = a.x + b.x;
#     return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
# }
#
# fn wide_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
#     let low = u32_mul_wide(a.x, b.x);
#     return vec2<u32>(low.x, low.y + a.x * b.y + a.y * b.x);
# }
#
# @compute @workgroup_size(64, 1, 1)
# fn take(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
#     let tx = i32(thread_idx.x);
#     if (tx < 16) {
#         Y[tx * 4] = wide_add(wide_mul(X[i32(R[tx * 4].x)], vec2<u32>(3u, 0u)), i64_from_i32(tx * 4));
#         Y[tx * 4 + 1] = wide_add(wide_mul(X[i32(R[tx * 4 + 1].x)], vec2<u32>(3u, 0u)), i64_from_i32(tx * 4 + 1));
#         Y[tx * 4 + 2] = wide_add(wide_mul(X[i32(R[tx * 4 + 2].x)], vec2<u32>(3u, 0u)), i64_from_i32(tx * 4 + 2));
#         Y[tx * 4 + 3] = wide_add(wide_mul(X[i32(R[tx * 4 + 3].x)], vec2<u32>(3u, 0u)), i64_from_i32(tx * 4 + 3));
#     }
# }
