// Y
@group(0) @binding(0) var<storage, read> A: array<f32>;
@group(0) @binding(1) var<storage, read_write> Y: array<f32>;
var<workgroup> Y_parts: array<f32, 8>;
struct Args {
    size: i32,
    m: i32,
    size_1: i32,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
}
var<immediate> args: Args;

@compute @workgroup_size(256, 1, 1)
fn row_sums(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>, @builtin(num_workgroups) num_groups: vec3<u32>) {
    let group = block_idx.x + block_idx.y * num_groups.x;
    let bx = i32(group % args.grid_x);
    let tx = i32(thread_idx.x);
    var Y_part_0: f32;
    var Y_other_0: f32;
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        Y_part_0 = 0.0f;
        for (var k_0: i32 = 0; k_0 < args.size; k_0++) {
            Y_part_0 = Y_part_0 + A[bx * args.m + (k_0 * 256 + tx)];
        }
        for (var k_0_1: i32 = 0; k_0_1 < args.size_1; k_0_1++) {
            if ((k_0_1 + args.size) * 256 + tx < args.m) {
                Y_part_0 = Y_part_0 + A[bx * args.m + (k_0_1 * 256 + args.size * 256 + tx)];
            }
        }
        Y_other_0 = subgroupShuffleDown(Y_part_0, 16u);
        Y_part_0 = Y_part_0 + Y_other_0;
        Y_other_0 = subgroupShuffleDown(Y_part_0, 8u);
        Y_part_0 = Y_part_0 + Y_other_0;
        Y_other_0 = subgroupShuffleDown(Y_part_0, 4u);
        Y_part_0 = Y_part_0 + Y_other_0;
        Y_other_0 = subgroupShuffleDown(Y_part_0, 2u);
        Y_part_0 = Y_part_0 + Y_other_0;
        Y_other_0 = subgroupShuffleDown(Y_part_0, 1u);
        Y_part_0 = Y_part_0 + Y_other_0;
        if ((tx & 31) == 0) {
            Y_parts[tx >> 5u] = Y_part_0;
        }
        workgroupBarrier();
        if (tx == 0) {
            Y[bx] = Y_parts[0] + Y_parts[4] + (Y_parts[2] + Y_parts[6]) + (Y_parts[1] + Y_parts[5] + (Y_parts[3] + Y_parts[7]));
        }
    }
}
