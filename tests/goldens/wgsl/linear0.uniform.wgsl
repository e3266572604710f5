// Y_init, X_shared, W_shared, X_shared_local, W_shared_local, Y_update, Y_local
@group(0) @binding(0) var<storage, read> X: array<f32>;
@group(0) @binding(1) var<storage, read> W: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> Z: array<f32>;
var<workgroup> X_shared: array<vec4<f32>, 16>;
var<workgroup> W_shared: array<vec4<f32>, 256>;
struct Args {
    size: i32,
    m: i32,
    n: i32,
    size_1: i32,
    size_2: i32,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
}
@group(0) @binding(4) var<uniform> args: Args;

@compute @workgroup_size(64, 1, 1)
fn linear0(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>, @builtin(num_workgroups) num_groups: vec3<u32>) {
    let group = block_idx.x + block_idx.y * num_groups.x;
    let bx = i32(group % args.grid_x);
    let tx = i32(thread_idx.x);
    var Y_local_0: f32;
    var X_shared_local_0: vec4<f32>;
    var W_shared_local_0: vec4<f32>;
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        Y_local_0 = 0.0f;
        for (var k_0: i32 = 0; k_0 < args.size; k_0++) {
            workgroupBarrier();
            if (tx < 16) {
                X_shared[u32(tx) / 4u][u32(tx) % 4u] = X[min(k_0 * 16 + tx, args.m - 1)];
            }
            let t = (min(args.n, bx * 64 + (tx >> 2u) + 1) - 1) * args.m + (k_0 * 16 + (tx & 3) * 4);
            W_shared[tx] = vec4<f32>(W[t], W[t + 1], W[t + 2], W[t + 3]);
            let t_1 = (min(args.n, bx * 64 + (tx >> 2u) + 17) - 1) * args.m + (k_0 * 16 + (tx & 3) * 4);
            W_shared[tx + 64] = vec4<f32>(W[t_1], W[t_1 + 1], W[t_1 + 2], W[t_1 + 3]);
            let t_2 = (min(args.n, bx * 64 + (tx >> 2u) + 33) - 1) * args.m + (k_0 * 16 + (tx & 3) * 4);
            W_shared[tx + 128] = vec4<f32>(W[t_2], W[t_2 + 1], W[t_2 + 2], W[t_2 + 3]);
            let t_3 = (min(args.n, bx * 64 + (tx >> 2u) + 49) - 1) * args.m + (k_0 * 16 + (tx & 3) * 4);
            W_shared[tx + 192] = vec4<f32>(W[t_3], W[t_3 + 1], W[t_3 + 2], W[t_3 + 3]);
            workgroupBarrier();
            for (var k_1: i32 = 0; k_1 < 4; k_1++) {
                X_shared_local_0 = X_shared[k_1];
                W_shared_local_0 = W_shared[tx * 4 + k_1];
                Y_local_0 = Y_local_0 + X_shared_local_0.x * W_shared_local_0.x;
                Y_local_0 = Y_local_0 + X_shared_local_0.y * W_shared_local_0.y;
                Y_local_0 = Y_local_0 + X_shared_local_0.z * W_shared_local_0.z;
                Y_local_0 = Y_local_0 + X_shared_local_0.w * W_shared_local_0.w;
            }
        }
        workgroupBarrier();
        for (var k_0_1: i32 = 0; k_0_1 < args.size_1; k_0_1++) {
            workgroupBarrier();
            if (tx < 16) {
                X_shared[u32(tx) / 4u][u32(tx) % 4u] = X[min((k_0_1 + args.size) * 16 + tx, args.m - 1)];
            }
            W_shared[tx] = vec4<f32>(W[(min(args.n, bx * 64 + (tx >> 2u) + 1) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 1) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 1) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 2) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 1) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 3) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 1) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 4) - 1)]);
            W_shared[tx + 64] = vec4<f32>(W[(min(args.n, bx * 64 + (tx >> 2u) + 17) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 1) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 17) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 2) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 17) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 3) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 17) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 4) - 1)]);
            W_shared[tx + 128] = vec4<f32>(W[(min(args.n, bx * 64 + (tx >> 2u) + 33) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 1) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 33) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 2) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 33) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 3) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 33) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 4) - 1)]);
            W_shared[tx + 192] = vec4<f32>(W[(min(args.n, bx * 64 + (tx >> 2u) + 49) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 1) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 49) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 2) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 49) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 3) - 1)], W[(min(args.n, bx * 64 + (tx >> 2u) + 49) - 1) * args.m + (min(args.m, args.size * 16 + (tx & 3) * 4 + 4) - 1)]);
            workgroupBarrier();
            for (var k_1_1: i32 = 0; k_1_1 < 4; k_1_1++) {
                X_shared_local_0 = X_shared[k_1_1];
                W_shared_local_0 = W_shared[tx * 4 + k_1_1];
                if (k_1_1 * 4 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0.x * W_shared_local_0.x;
                }
                if (k_1_1 * 4 + 1 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0.y * W_shared_local_0.y;
                }
                if (k_1_1 * 4 + 2 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0.z * W_shared_local_0.z;
                }
                if (k_1_1 * 4 + 3 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0.w * W_shared_local_0.w;
                }
            }
        }
        if (bx * 64 + tx < args.n) {
            Z[bx * 64 + tx] = Y_local_0 + B[bx * 64 + tx];
        }
    }
}
