// X_shared, Y
@group(0) @binding(0) var<storage, read> X: array<f32>;
@group(0) @binding(1) var<storage, read_write> Y: array<f32>;
var<workgroup> X_shared: array<f32, 1056>;

@compute @workgroup_size(32, 8, 1)
fn transpose_1(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
    let bx = i32(block_idx.x);
    let by = i32(block_idx.y);
    let tx = i32(thread_idx.x);
    let ty = i32(thread_idx.y);
    let common_1 = bx * 32768 + ty * 1024 + by * 32 + tx;
    X_shared[ty * 33 + tx] = X[common_1];
    X_shared[ty * 33 + tx + 264] = X[common_1 + 8192];
    X_shared[ty * 33 + tx + 528] = X[common_1 + 16384];
    X_shared[ty * 33 + tx + 792] = X[common_1 + 24576];
    let common_2 = by * 32768 + ty * 1024 + bx * 32 + tx;
    workgroupBarrier();
    Y[common_2] = X_shared[tx * 33 + ty];
    Y[common_2 + 8192] = X_shared[tx * 33 + ty + 8];
    Y[common_2 + 16384] = X_shared[tx * 33 + ty + 16];
    Y[common_2 + 24576] = X_shared[tx * 33 + ty + 24];
}
