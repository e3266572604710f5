# test: wgsl

# The remainder of the device is not exact: that of a helper function is.
@T.prim_func
def fmod(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float16"), Y: T.Buffer((64,), "float16")):
    for i in range(64):
        with T.block("Y"):
            vi = T.axis.spatial(64, i)
            Y[vi] = T.fmod(A[vi], B[vi])

# expect-listing:
# enable f16;
#
# // Y
# @group(0) @binding(0) var<storage, read> A: array<vec4<f16>>;
# @group(0) @binding(1) var<storage, read> B: array<vec4<f16>>;
# @group(0) @binding(2) var<storage, read_write> Y: array<vec4<f16>>;
#
# fn f32_from_bits(bits: u32) -> f32 {
#     var word = bits;
#     return bitcast<f32>(word);
# }
#
# fn last_places(units: u32, bits: u32) -> f32 {
#     return scale_f32(f32(units), max(i32(bits >> 23u), 1i) - 150i);
# }
#
# fn remainder_f32(a: f32, b: f32) -> f32 {
#     let top = bitcast<u32>(a) & 0x7fffffffu;
#     let bottom = bitcast<u32>(b) & 0x7fffffffu;
#     if (top >= 0x7f800000u || bottom > 0x7f800000u || bottom == 0u) {
#         return f32_from_bits(0x7fc00000u);
#     }
#     if (top < bottom) {
#         return a;
#     }
#     let size = last_places(remainder_places(top, bottom), bottom);
#     return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(a) & 0x80000000u));
# }
#
# fn remainder_places(top: u32, bottom: u32) -> u32 {
#     let divisor = significand(bottom);
#     var left = max(i32(top >> 23u), 1i) - max(i32(bottom >> 23u), 1i);
#     var rest = significand(top) % divisor;
#     rest = remainder_step(rest, divisor, left);
#     rest = remainder_step(rest, divisor, left - 32i);
#     rest = remainder_step(rest, divisor, left - 64i);
#     rest = remainder_step(rest, divisor, left - 96i);
#     rest = remainder_step(rest, divisor, left - 128i);
#     rest = remainder_step(rest, divisor, left - 160i);
#     rest = remainder_step(rest, divisor, left - 192i);
#     return remainder_step(rest, divisor, left - 224i);
# }
#
# fn remainder_step(rest: u32, divisor: u32, left: i32) -> u32 {
#     if (left <= 0i) {
#         return rest;
#     }
#     let bits = u32(min(left, 32i));
#     if (bits == 32u) {
#         return u64_div_narrow(rest, 0u, divisor).y;
#     }
#     return u64_div_narrow(rest >> (32u - bits), rest << bits, divisor).y;
# }
#
# fn scale_f32(x: f32, n: i32) -> f32 {
#     let half = n / 2i;
#     return x * bitcast<f32>(u32(half + 127i) << 23u) * bitcast<f32>(u32(n - half + 127i) << 23u);
# }
#
# fn significand(bits: u32) -> u32 {
#     return select(bits & 0x7fffffu, (bits & 0x7fffffu) | 0x800000u, bits >= 0x800000u);
# }
#
# fn u64_div_narrow(high: u32, low: u32, b: u32) -> vec2<u32> {
#     let n = countLeadingZeros(b);
#     let v = b << n;
#     let v1 = v >> 16u;
#     let v0 = v & 0xffffu;
#     let u32_high = select((high << n) | (low >> (32u - n)), high, n == 0u);
#     let u32_low = low << n;
#     let q1 = wide_digit(u32_high, u32_low >> 16u, v1, v0);
#     let middle = u32_high * 65536u + (u32_low >> 16u) - q1 * v;
#     let q0 = wide_digit(middle, u32_low & 0xffffu, v1, v0);
#     let rest = middle * 65536u + (u32_low & 0xffffu) - q0 * v;
#     return vec2<u32>(q1 * 65536u + q0, rest >> n);
# }
#
# fn wide_digit(u: u32, next: u32, v1: u32, v0: u32) -> u32 {
#     var q = u / v1;
#     var rest = u - q * v1;
#     if (q >= 65536u || q * v0 > rest * 65536u + next) {
#         q -= 1u;
#         rest += v1;
#         if (rest < 65536u && (q >= 65536u || q * v0 > rest * 65536u + next)) {
#             q -= 1u;
#         }
#     }
#     return q;
# }
#
# @compute @workgroup_size(64, 1, 1)
# fn fmod(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
#     let tx = i32(thread_idx.x);
#     if (tx < 16) {
#         let t = A[tx];
#         let t_1 = B[tx];
#         Y[tx] = vec4<f16>(f16(remainder_f32(f32(t.x), f32(t_1.x))), f16(remainder_f32(f32(t.y), f32(t_1.y))), f16(remainder_f32(f32(t.z), f32(t_1.z))), f16(remainder_f32(f32(t.w), f32(t_1.w))));
#     }
# }
