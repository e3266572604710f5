// C_init, A_shared, B_shared, A_shared_local, B_shared_local, C_update, C_local
@group(0) @binding(0) var<storage, read> A: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> B: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> C: array<vec4<f32>>;
var<workgroup> A_shared: array<vec4<f32>, 144>;
var<workgroup> B_shared: array<vec4<f32>, 128>;

@compute @workgroup_size(8, 8, 1)
fn matmul(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
    let bx = i32(block_idx.x);
    let by = i32(block_idx.y);
    let tx = i32(thread_idx.x);
    let ty = i32(thread_idx.y);
    var C_local_0: vec4<f32>;
    var C_local_1: vec4<f32>;
    var C_local_2: vec4<f32>;
    var C_local_3: vec4<f32>;
    var A_shared_local_0: vec4<f32>;
    var B_shared_local_0: vec4<f32>;
    var next_0: vec4<f32>;
    var next_1: vec4<f32>;
    var next_2: vec4<f32>;
    var next_3: vec4<f32>;
    C_local_0 = vec4<f32>(0.0f);
    C_local_1 = vec4<f32>(0.0f);
    C_local_2 = vec4<f32>(0.0f);
    C_local_3 = vec4<f32>(0.0f);
    next_0 = A[by * 2048 + ty * 256 + (tx >> 1u) * 64 + 0 + (tx & 1)];
    next_1 = A[by * 2048 + ty * 256 + (tx >> 1u) * 64 + 0 + (tx & 1) + 2];
    next_2 = B[0 + ty * 64 + bx * 8 + tx];
    next_3 = B[0 + ty * 64 + bx * 8 + tx + 512];
    for (var k_0: i32 = 0; k_0 < 16; k_0++) {
        let lanes = next_0;
        let common_1 = (tx & 1) * 144 + ty * 4 + (tx >> 1u);
        workgroupBarrier();
        A_shared[u32(common_1) / 4u][u32(common_1) % 4u] = lanes.x;
        let t = common_1 + 36;
        A_shared[u32(t) / 4u][u32(t) % 4u] = lanes.y;
        let t_1 = common_1 + 72;
        A_shared[u32(t_1) / 4u][u32(t_1) % 4u] = lanes.z;
        let t_2 = common_1 + 108;
        A_shared[u32(t_2) / 4u][u32(t_2) % 4u] = lanes.w;
        let lanes_1 = next_1;
        let t_3 = common_1 + 288;
        A_shared[u32(t_3) / 4u][u32(t_3) % 4u] = lanes_1.x;
        let t_4 = common_1 + 324;
        A_shared[u32(t_4) / 4u][u32(t_4) % 4u] = lanes_1.y;
        let t_5 = common_1 + 360;
        A_shared[u32(t_5) / 4u][u32(t_5) % 4u] = lanes_1.z;
        let t_6 = common_1 + 396;
        A_shared[u32(t_6) / 4u][u32(t_6) % 4u] = lanes_1.w;
        B_shared[ty * 8 + tx] = next_2;
        B_shared[ty * 8 + tx + 64] = next_3;
        workgroupBarrier();
        let k_0_1 = min(k_0 + 1, 15);
        next_0 = A[by * 2048 + ty * 256 + (tx >> 1u) * 64 + k_0_1 * 4 + (tx & 1)];
        next_1 = A[by * 2048 + ty * 256 + (tx >> 1u) * 64 + k_0_1 * 4 + (tx & 1) + 2];
        next_2 = B[k_0_1 * 1024 + ty * 64 + bx * 8 + tx];
        next_3 = B[k_0_1 * 1024 + ty * 64 + bx * 8 + tx + 512];
        for (var k_1: i32 = 0; k_1 < 4; k_1++) {
            A_shared_local_0 = A_shared[k_1 * 36 + ty];
            B_shared_local_0 = B_shared[k_1 * 32 + tx];
            C_local_0 = C_local_0 + vec4<f32>(A_shared_local_0.x) * B_shared_local_0;
            C_local_1 = C_local_1 + vec4<f32>(A_shared_local_0.y) * B_shared_local_0;
            C_local_2 = C_local_2 + vec4<f32>(A_shared_local_0.z) * B_shared_local_0;
            C_local_3 = C_local_3 + vec4<f32>(A_shared_local_0.w) * B_shared_local_0;
            A_shared_local_0 = A_shared[k_1 * 36 + ty + 9];
            B_shared_local_0 = B_shared[k_1 * 32 + tx + 8];
            C_local_0 = C_local_0 + vec4<f32>(A_shared_local_0.x) * B_shared_local_0;
            C_local_1 = C_local_1 + vec4<f32>(A_shared_local_0.y) * B_shared_local_0;
            C_local_2 = C_local_2 + vec4<f32>(A_shared_local_0.z) * B_shared_local_0;
            C_local_3 = C_local_3 + vec4<f32>(A_shared_local_0.w) * B_shared_local_0;
            A_shared_local_0 = A_shared[k_1 * 36 + ty + 18];
            B_shared_local_0 = B_shared[k_1 * 32 + tx + 16];
            C_local_0 = C_local_0 + vec4<f32>(A_shared_local_0.x) * B_shared_local_0;
            C_local_1 = C_local_1 + vec4<f32>(A_shared_local_0.y) * B_shared_local_0;
            C_local_2 = C_local_2 + vec4<f32>(A_shared_local_0.z) * B_shared_local_0;
            C_local_3 = C_local_3 + vec4<f32>(A_shared_local_0.w) * B_shared_local_0;
            A_shared_local_0 = A_shared[k_1 * 36 + ty + 27];
            B_shared_local_0 = B_shared[k_1 * 32 + tx + 24];
            C_local_0 = C_local_0 + vec4<f32>(A_shared_local_0.x) * B_shared_local_0;
            C_local_1 = C_local_1 + vec4<f32>(A_shared_local_0.y) * B_shared_local_0;
            C_local_2 = C_local_2 + vec4<f32>(A_shared_local_0.z) * B_shared_local_0;
            C_local_3 = C_local_3 + vec4<f32>(A_shared_local_0.w) * B_shared_local_0;
        }
    }
    C[by * 2048 + ty * 256 + bx * 8 + tx] = C_local_0;
    C[by * 2048 + ty * 256 + bx * 8 + tx + 64] = C_local_1;
    C[by * 2048 + ty * 256 + bx * 8 + tx + 128] = C_local_2;
    C[by * 2048 + ty * 256 + bx * 8 + tx + 192] = C_local_3;
}
