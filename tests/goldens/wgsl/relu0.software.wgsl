// Y
@group(0) @binding(0) var<storage, read> X: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> Y: array<vec4<f32>>;
struct Args {
    n: i32,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
}
var<immediate> args: Args;

@compute @workgroup_size(64, 1, 1)
fn relu0(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>, @builtin(num_workgroups) num_groups: vec3<u32>) {
    let group = block_idx.x + block_idx.y * num_groups.x;
    let bx = i32(group % args.grid_x);
    let tx = i32(thread_idx.x);
    if (group < args.grid_x * args.grid_y * args.grid_z) {
        if (bx * 1024 + tx * 16 < args.n) {
            let t = X[bx * 256 + tx * 4];
            Y[bx * 256 + tx * 4] = select(t, vec4<f32>(0.0f), bitcast<vec4<i32>>(t) <= vec4<i32>(-8388608i));
        }
        if (bx * 1024 + tx * 16 + 4 < args.n) {
            let t_1 = X[bx * 256 + tx * 4 + 1];
            Y[bx * 256 + tx * 4 + 1] = select(t_1, vec4<f32>(0.0f), bitcast<vec4<i32>>(t_1) <= vec4<i32>(-8388608i));
        }
        if (bx * 1024 + tx * 16 + 8 < args.n) {
            let t_2 = X[bx * 256 + tx * 4 + 2];
            Y[bx * 256 + tx * 4 + 2] = select(t_2, vec4<f32>(0.0f), bitcast<vec4<i32>>(t_2) <= vec4<i32>(-8388608i));
        }
        if (bx * 1024 + tx * 16 + 12 < args.n) {
            let t_3 = X[bx * 256 + tx * 4 + 3];
            Y[bx * 256 + tx * 4 + 3] = select(t_3, vec4<f32>(0.0f), bitcast<vec4<i32>>(t_3) <= vec4<i32>(-8388608i));
        }
    }
}
