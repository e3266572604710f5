// Y_init, X_shared, W_shared, X_shared_local, W_shared_local, Y_update, Y_local
@group(0) @binding(0) var<storage, read> X: array<f32>;
@group(0) @binding(1) var<storage, read> W: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> Z: array<f32>;
var<workgroup> X_shared: array<f32, 128>;
var<workgroup> W_shared: array<f32, 1056>;
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
    var X_shared_local_0: f32;
    var W_shared_local_0: f32;
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        Y_local_0 = 0.0f;
        for (var k_0: i32 = 0; k_0 < args.size; k_0++) {
            workgroupBarrier();
            if (tx < 16) {
                X_shared[tx * 2] = X[min(k_0 * 16 + tx, args.m - 1)];
            }
            for (var ax0_ax1_fused_0: i32 = 0; ax0_ax1_fused_0 < 16; ax0_ax1_fused_0++) {
                W_shared[(tx & 15) * 66 + ax0_ax1_fused_0 * 4 + (tx >> 4u)] = W[min(bx * 64 + ax0_ax1_fused_0 * 4 + (tx >> 4u), args.n - 1) * args.m + min(k_0 * 16 + (tx & 15), args.m - 1)];
            }
            workgroupBarrier();
            for (var k_1: i32 = 0; k_1 < 4; k_1++) {
                X_shared_local_0 = X_shared[k_1 * 8];
                W_shared_local_0 = W_shared[k_1 * 264 + tx];
                Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                X_shared_local_0 = X_shared[k_1 * 8 + 2];
                W_shared_local_0 = W_shared[k_1 * 264 + tx + 66];
                Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                X_shared_local_0 = X_shared[k_1 * 8 + 4];
                W_shared_local_0 = W_shared[k_1 * 264 + tx + 132];
                Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                X_shared_local_0 = X_shared[k_1 * 8 + 6];
                W_shared_local_0 = W_shared[k_1 * 264 + tx + 198];
                Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
            }
        }
        workgroupBarrier();
        for (var k_0_1: i32 = 0; k_0_1 < args.size_1; k_0_1++) {
            workgroupBarrier();
            if (tx < 16) {
                X_shared[tx * 2] = X[min((k_0_1 + args.size) * 16 + tx, args.m - 1)];
            }
            for (var ax0_ax1_fused_0_1: i32 = 0; ax0_ax1_fused_0_1 < 16; ax0_ax1_fused_0_1++) {
                W_shared[(tx & 15) * 66 + ax0_ax1_fused_0_1 * 4 + (tx >> 4u)] = W[min(bx * 64 + ax0_ax1_fused_0_1 * 4 + (tx >> 4u), args.n - 1) * args.m + min((k_0_1 + args.size) * 16 + (tx & 15), args.m - 1)];
            }
            workgroupBarrier();
            for (var k_1_1: i32 = 0; k_1_1 < 4; k_1_1++) {
                X_shared_local_0 = X_shared[k_1_1 * 8];
                W_shared_local_0 = W_shared[k_1_1 * 264 + tx];
                if (k_1_1 * 4 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                }
                X_shared_local_0 = X_shared[k_1_1 * 8 + 2];
                W_shared_local_0 = W_shared[k_1_1 * 264 + tx + 66];
                if (k_1_1 * 4 + 1 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                }
                X_shared_local_0 = X_shared[k_1_1 * 8 + 4];
                W_shared_local_0 = W_shared[k_1_1 * 264 + tx + 132];
                if (k_1_1 * 4 + 2 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                }
                X_shared_local_0 = X_shared[k_1_1 * 8 + 6];
                W_shared_local_0 = W_shared[k_1_1 * 264 + tx + 198];
                if (k_1_1 * 4 + 3 < args.size_2) {
                    Y_local_0 = Y_local_0 + X_shared_local_0 * W_shared_local_0;
                }
            }
        }
        if (bx * 64 + tx < args.n) {
            Z[bx * 64 + tx] = Y_local_0 + B[bx * 64 + tx];
        }
    }
}
