// Y_init, X_local, W_local, Y_update, Y_local
@group(0) @binding(0) var<storage, read> X: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> W: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> Z: array<f32>;
struct Args {
    size: i32,
    n: i32,
    m: i32,
    size_1: i32,
    size_2: i32,
    size_3: i32,
    size_4: i32,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
}
var<immediate> args: Args;

@compute @workgroup_size(8, 1, 1)
fn linear0(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>, @builtin(num_workgroups) num_groups: vec3<u32>) {
    let group = block_idx.x + block_idx.y * num_groups.x;
    let bx = i32(group % args.grid_x);
    let tx = i32(thread_idx.x);
    var Y_local_0: vec4<f32>;
    var X_local_0: vec4<f32>;
    var W_local_0: vec4<f32>;
    var W_local_1: vec4<f32>;
    var W_local_2: vec4<f32>;
    var W_local_3: vec4<f32>;
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        Y_local_0 = vec4<f32>(0.0f);
        for (var k_0: i32 = 0; k_0 < args.size; k_0++) {
            X_local_0 = X[k_0];
            let t = (min(args.n, bx * 32 + tx * 4 + 1) - 1) * args.m + k_0 * 4;
            W_local_0 = vec4<f32>(W[t], W[t + 1], W[t + 2], W[t + 3]);
            let t_1 = (min(args.n, bx * 32 + tx * 4 + 2) - 1) * args.m + k_0 * 4;
            W_local_1 = vec4<f32>(W[t_1], W[t_1 + 1], W[t_1 + 2], W[t_1 + 3]);
            let t_2 = (min(args.n, bx * 32 + tx * 4 + 3) - 1) * args.m + k_0 * 4;
            W_local_2 = vec4<f32>(W[t_2], W[t_2 + 1], W[t_2 + 2], W[t_2 + 3]);
            let t_3 = (min(args.n, bx * 32 + tx * 4 + 4) - 1) * args.m + k_0 * 4;
            W_local_3 = vec4<f32>(W[t_3], W[t_3 + 1], W[t_3 + 2], W[t_3 + 3]);
            Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.x) * vec4<f32>(W_local_0.x, W_local_1.x, W_local_2.x, W_local_3.x);
            Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.y) * vec4<f32>(W_local_0.y, W_local_1.y, W_local_2.y, W_local_3.y);
            Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.z) * vec4<f32>(W_local_0.z, W_local_1.z, W_local_2.z, W_local_3.z);
            Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.w) * vec4<f32>(W_local_0.w, W_local_1.w, W_local_2.w, W_local_3.w);
        }
        for (var k_0_1: i32 = 0; k_0_1 < args.size_1; k_0_1++) {
            let t_4 = args.m - 1;
            let common_1 = X[u32(t_4) / 4u][u32(t_4) % 4u];
            let t_5 = args.size_2 - 1;
            let t_6 = args.size_3 - 1;
            X_local_0 = vec4<f32>(X[u32(t_5) / 4u][u32(t_5) % 4u], X[u32(t_6) / 4u][u32(t_6) % 4u], common_1, common_1);
            let common_2 = W[min(args.n, bx * 32 + tx * 4 + 1) * args.m - 1];
            W_local_0 = vec4<f32>(W[(min(args.n, bx * 32 + tx * 4 + 1) - 1) * args.m + (args.size_2 - 1)], W[(min(args.n, bx * 32 + tx * 4 + 1) - 1) * args.m + (args.size_3 - 1)], common_2, common_2);
            let common_3 = W[min(args.n, bx * 32 + tx * 4 + 2) * args.m - 1];
            W_local_1 = vec4<f32>(W[(min(args.n, bx * 32 + tx * 4 + 2) - 1) * args.m + (args.size_2 - 1)], W[(min(args.n, bx * 32 + tx * 4 + 2) - 1) * args.m + (args.size_3 - 1)], common_3, common_3);
            let common_4 = W[min(args.n, bx * 32 + tx * 4 + 3) * args.m - 1];
            W_local_2 = vec4<f32>(W[(min(args.n, bx * 32 + tx * 4 + 3) - 1) * args.m + (args.size_2 - 1)], W[(min(args.n, bx * 32 + tx * 4 + 3) - 1) * args.m + (args.size_3 - 1)], common_4, common_4);
            let common_5 = W[min(args.n, bx * 32 + tx * 4 + 4) * args.m - 1];
            W_local_3 = vec4<f32>(W[(min(args.n, bx * 32 + tx * 4 + 4) - 1) * args.m + (args.size_2 - 1)], W[(min(args.n, bx * 32 + tx * 4 + 4) - 1) * args.m + (args.size_3 - 1)], common_5, common_5);
            Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.x) * vec4<f32>(W_local_0.x, W_local_1.x, W_local_2.x, W_local_3.x);
            if (2 <= args.size_4) {
                Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.y) * vec4<f32>(W_local_0.y, W_local_1.y, W_local_2.y, W_local_3.y);
            }
            if (3 <= args.size_4) {
                Y_local_0 = Y_local_0 + vec4<f32>(X_local_0.z) * vec4<f32>(W_local_0.z, W_local_1.z, W_local_2.z, W_local_3.z);
            }
        }
        if (bx * 32 + tx * 4 < args.n) {
            Z[bx * 32 + tx * 4] = Y_local_0.x + B[bx * 32 + tx * 4];
        }
        if (bx * 32 + tx * 4 + 1 < args.n) {
            Z[bx * 32 + tx * 4 + 1] = Y_local_0.y + B[bx * 32 + tx * 4 + 1];
        }
        if (bx * 32 + tx * 4 + 2 < args.n) {
            Z[bx * 32 + tx * 4 + 2] = Y_local_0.z + B[bx * 32 + tx * 4 + 2];
        }
        if (bx * 32 + tx * 4 + 3 < args.n) {
            Z[bx * 32 + tx * 4 + 3] = Y_local_0.w + B[bx * 32 + tx * 4 + 3];
        }
    }
}
