// Y_rf_init, X_pad_local, W_pad_local, Y_rf_update, Y.rf_shared_local, Y, Y_local
@group(0) @binding(0) var<storage, read> X: array<f32>;
@group(0) @binding(1) var<storage, read> W: array<f32>;
@group(0) @binding(2) var<storage, read> B: array<f32>;
@group(0) @binding(3) var<storage, read_write> Z: array<f32>;
var<workgroup> Y_parts: array<f32, 256>;
var<workgroup> Y_rf_shared: array<f32, 288>;
struct Args {
    size: i32,
    m: i32,
    n: i32,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
}
var<immediate> args: Args;

@compute @workgroup_size(4, 64, 1)
fn linear0(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>, @builtin(num_workgroups) num_groups: vec3<u32>) {
    let group = block_idx.x + block_idx.y * num_groups.x;
    let bx = i32(group % args.grid_x);
    let tx = i32(thread_idx.x);
    let ty = i32(thread_idx.y);
    var Y_part_0: f32;
    var Y_rf_shared_local_0: f32;
    var X_pad_local_0: f32;
    var W_pad_local_0: f32;
    var Y_local_0: f32;
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        Y_rf_shared_local_0 = 0.0f;
        for (var ax3: i32 = 0; ax3 < args.size; ax3++) {
            X_pad_local_0 = select(0.0f, X[min(ax3 * 64 + (ty & 15) * 4 + tx, args.m - 1)], ax3 * 64 + (ty & 15) * 4 + tx < args.m);
            W_pad_local_0 = select(0.0f, W[min(bx * 4 + (ty >> 4u), args.n - 1) * args.m + min(ax3 * 64 + (ty & 15) * 4 + tx, args.m - 1)], ax3 * 64 + (ty & 15) * 4 + tx < args.m);
            Y_rf_shared_local_0 = Y_rf_shared_local_0 + X_pad_local_0 * W_pad_local_0;
        }
        Y_rf_shared[(ty >> 4u) * 72 + (ty & 15) * 4 + tx] = Y_rf_shared_local_0;
        Y_part_0 = 0.0f;
        workgroupBarrier();
        if (bx * 4 + tx < args.n) {
            Y_part_0 = Y_part_0 + Y_rf_shared[tx * 72 + ty];
        }
        Y_parts[ty * 4 + tx] = Y_part_0;
        workgroupBarrier();
        if (ty < 32) {
            Y_parts[ty * 4 + tx] = Y_parts[ty * 4 + tx] + Y_parts[ty * 4 + tx + 128];
        }
        workgroupBarrier();
        if (ty < 16) {
            Y_parts[ty * 4 + tx] = Y_parts[ty * 4 + tx] + Y_parts[ty * 4 + tx + 64];
        }
        workgroupBarrier();
        if (ty < 8) {
            Y_parts[ty * 4 + tx] = Y_parts[ty * 4 + tx] + Y_parts[ty * 4 + tx + 32];
        }
        workgroupBarrier();
        if (bx * 4 + tx < args.n) {
            Y_local_0 = Y_parts[tx] + Y_parts[tx + 16] + (Y_parts[tx + 8] + Y_parts[tx + 24]) + (Y_parts[tx + 4] + Y_parts[tx + 20] + (Y_parts[tx + 12] + Y_parts[tx + 28]));
            if (ty == 0) {
                Z[bx * 4 + tx] = Y_local_0 + B[bx * 4 + tx];
            }
        }
    }
}
