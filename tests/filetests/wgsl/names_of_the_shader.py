# test: wgsl

# The program is called like a helper function, its arrays like words of WGSL, its loop like a variable of every shader.
@T.prim_func
def tanh_f32(read: T.Buffer((64,), "float32"), vec2f: T.Buffer((64,), "float32")):
    for bx in range(64):
        with T.block("Y"):
            args = T.axis.spatial(64, bx)
            vec2f[args] = T.tanh(read[args])

# expect-listing:
# // Y
# @group(0) @binding(0) var<storage, read> read_1: array<vec4<f32>>;
# @group(0) @binding(1) var<storage, read_write> vec2f_1: array<vec4<f32>>;
#
# fn exp_f32(x: f32) -> f32 {
#     if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
#         return x;
#     }
#     let y = clamp(x, -105.0f, 90.0f);
#     let n = round(y * 1.442695f);
#     let r = (y - n * 0.69335938f) + n * 0.00021219444f;
#     return scale_f32(1.0f + (r + exp_tail(r)), i32(n));
# }
#
# fn exp_tail(r: f32) -> f32 {
#     let p = ((((0.00019875691f * r + 0.0013981999f) * r + 0.008333452f) * r + 0.041665796f) * r + 0.16666666f) * r + 0.5f;
#     return p * r * r;
# }
#
# fn scale_f32(x: f32, n: i32) -> f32 {
#     let half = n / 2i;
#     return x * bitcast<f32>(u32(half + 127i) << 23u) * bitcast<f32>(u32(n - half + 127i) << 23u);
# }
#
# fn tanh_f32_1(x: f32) -> f32 {
#     let a = abs(x);
#     if (a < 0.625f) {
#         let z = x * x;
#         let p = (((-0.0057049887f * z + 0.020639088f) * z - 0.053739715f) * z + 0.13331442f) * z - 0.33333281f;
#         return p * z * x + x;
#     }
#     if ((bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u) {
#         return x;
#     }
#     let size = 1.0f - 2.0f / (exp_f32(2.0f * min(a, 10.0f)) + 1.0f);
#     return select(size, -size, x < 0.0f);
# }
#
# @compute @workgroup_size(64, 1, 1)
# fn tanh_f32(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
#     let tx = i32(thread_idx.x);
#     if (tx < 16) {
#         let t = read_1[tx];
#         vec2f_1[tx] = vec4<f32>(tanh_f32_1(t.x), tanh_f32_1(t.y), tanh_f32_1(t.z), tanh_f32_1(t.w));
#     }
# }
