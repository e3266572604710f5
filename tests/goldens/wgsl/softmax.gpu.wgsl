// X_local, M, X_local, S, Y
@group(0) @binding(0) var<storage, read> X: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> Y: array<vec4<f32>>;
var<workgroup> M_parts: array<f32, 128>;
var<workgroup> S_parts: array<f32, 128>;

fn f32_from_bits(bits: u32) -> f32 {
    var word = bits;
    return bitcast<f32>(word);
}

@compute @workgroup_size(128, 1, 1)
fn softmax(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
    let bx = i32(block_idx.x);
    let tx = i32(thread_idx.x);
    var M_part_0: f32;
    var S_part_0: f32;
    var X_local_0: vec4<f32>;
    var M_0: f32;
    var X_local_1_0: vec4<f32>;
    var S_0: f32;
    M_part_0 = f32_from_bits(0xff800000u);
    let common_1 = X[bx * 250 + tx];
    X_local_0 = common_1;
    let t = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.x) & 0x7fffffffu);
    M_part_0 = select(select(M_part_0, X_local_0.x, M_part_0 < X_local_0.x), bitcast<f32>(t), t > 0x7f800000u);
    let t_1 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.y) & 0x7fffffffu);
    M_part_0 = select(select(M_part_0, X_local_0.y, M_part_0 < X_local_0.y), bitcast<f32>(t_1), t_1 > 0x7f800000u);
    let t_2 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.z) & 0x7fffffffu);
    M_part_0 = select(select(M_part_0, X_local_0.z, M_part_0 < X_local_0.z), bitcast<f32>(t_2), t_2 > 0x7f800000u);
    let t_3 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.w) & 0x7fffffffu);
    M_part_0 = select(select(M_part_0, X_local_0.w, M_part_0 < X_local_0.w), bitcast<f32>(t_3), t_3 > 0x7f800000u);
    let common_2 = X[u32(bx * 1000 + min(tx * 4, 484) + 512) / 4u];
    X_local_0 = common_2;
    if (tx < 122) {
        let t_4 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.x) & 0x7fffffffu);
        M_part_0 = select(select(M_part_0, X_local_0.x, M_part_0 < X_local_0.x), bitcast<f32>(t_4), t_4 > 0x7f800000u);
        let t_5 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.y) & 0x7fffffffu);
        M_part_0 = select(select(M_part_0, X_local_0.y, M_part_0 < X_local_0.y), bitcast<f32>(t_5), t_5 > 0x7f800000u);
        let t_6 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.z) & 0x7fffffffu);
        M_part_0 = select(select(M_part_0, X_local_0.z, M_part_0 < X_local_0.z), bitcast<f32>(t_6), t_6 > 0x7f800000u);
        let t_7 = max(bitcast<u32>(M_part_0) & 0x7fffffffu, bitcast<u32>(X_local_0.w) & 0x7fffffffu);
        M_part_0 = select(select(M_part_0, X_local_0.w, M_part_0 < X_local_0.w), bitcast<f32>(t_7), t_7 > 0x7f800000u);
    }
    M_parts[tx] = M_part_0;
    workgroupBarrier();
    if (tx < 64) {
        let t_8 = M_parts[tx];
        let t_9 = M_parts[tx + 64];
        let t_10 = max(bitcast<u32>(t_8) & 0x7fffffffu, bitcast<u32>(t_9) & 0x7fffffffu);
        M_parts[tx] = select(select(t_8, t_9, t_8 < t_9), bitcast<f32>(t_10), t_10 > 0x7f800000u);
    }
    workgroupBarrier();
    if (tx < 32) {
        let t_11 = M_parts[tx];
        let t_12 = M_parts[tx + 32];
        let t_13 = max(bitcast<u32>(t_11) & 0x7fffffffu, bitcast<u32>(t_12) & 0x7fffffffu);
        M_parts[tx] = select(select(t_11, t_12, t_11 < t_12), bitcast<f32>(t_13), t_13 > 0x7f800000u);
    }
    workgroupBarrier();
    if (tx < 16) {
        let t_14 = M_parts[tx];
        let t_15 = M_parts[tx + 16];
        let t_16 = max(bitcast<u32>(t_14) & 0x7fffffffu, bitcast<u32>(t_15) & 0x7fffffffu);
        M_parts[tx] = select(select(t_14, t_15, t_14 < t_15), bitcast<f32>(t_16), t_16 > 0x7f800000u);
    }
    workgroupBarrier();
    if (tx < 8) {
        let t_17 = M_parts[tx];
        let t_18 = M_parts[tx + 8];
        let t_19 = max(bitcast<u32>(t_17) & 0x7fffffffu, bitcast<u32>(t_18) & 0x7fffffffu);
        M_parts[tx] = select(select(t_17, t_18, t_17 < t_18), bitcast<f32>(t_19), t_19 > 0x7f800000u);
    }
    workgroupBarrier();
    let t_20 = M_parts[0];
    let t_21 = M_parts[4];
    let t_22 = select(t_20, t_21, t_20 < t_21);
    let t_23 = M_parts[2];
    let t_24 = M_parts[6];
    let t_25 = select(t_23, t_24, t_23 < t_24);
    let t_26 = select(t_22, t_25, t_22 < t_25);
    let t_27 = M_parts[1];
    let t_28 = M_parts[5];
    let t_29 = select(t_27, t_28, t_27 < t_28);
    let t_30 = M_parts[3];
    let t_31 = M_parts[7];
    let t_32 = select(t_30, t_31, t_30 < t_31);
    let t_33 = select(t_29, t_32, t_29 < t_32);
    let t_34 = max(max(max(bitcast<u32>(t_20) & 0x7fffffffu, bitcast<u32>(t_21) & 0x7fffffffu), max(bitcast<u32>(t_23) & 0x7fffffffu, bitcast<u32>(t_24) & 0x7fffffffu)), max(max(bitcast<u32>(t_27) & 0x7fffffffu, bitcast<u32>(t_28) & 0x7fffffffu), max(bitcast<u32>(t_30) & 0x7fffffffu, bitcast<u32>(t_31) & 0x7fffffffu)));
    let t_35 = select(select(t_26, t_33, t_26 < t_33), bitcast<f32>(t_34), t_34 > 0x7f800000u);
    M_0 = select(select(t_35, -3.4028235e38f, t_35 < (-3.4028235e38f)), t_35, (bitcast<u32>(t_35) & 0x7fffffffu) > 0x7f800000u);
    S_part_0 = 0.0f;
    X_local_1_0 = common_1;
    S_part_0 = S_part_0 + exp(X_local_1_0.x - M_0);
    S_part_0 = S_part_0 + exp(X_local_1_0.y - M_0);
    S_part_0 = S_part_0 + exp(X_local_1_0.z - M_0);
    S_part_0 = S_part_0 + exp(X_local_1_0.w - M_0);
    X_local_1_0 = common_2;
    if (tx < 122) {
        S_part_0 = S_part_0 + exp(X_local_1_0.x - M_0);
        S_part_0 = S_part_0 + exp(X_local_1_0.y - M_0);
        S_part_0 = S_part_0 + exp(X_local_1_0.z - M_0);
        S_part_0 = S_part_0 + exp(X_local_1_0.w - M_0);
    }
    S_parts[tx] = S_part_0;
    workgroupBarrier();
    if (tx < 64) {
        S_parts[tx] = S_parts[tx] + S_parts[tx + 64];
    }
    workgroupBarrier();
    if (tx < 32) {
        S_parts[tx] = S_parts[tx] + S_parts[tx + 32];
    }
    workgroupBarrier();
    if (tx < 16) {
        S_parts[tx] = S_parts[tx] + S_parts[tx + 16];
    }
    workgroupBarrier();
    if (tx < 8) {
        S_parts[tx] = S_parts[tx] + S_parts[tx + 8];
    }
    workgroupBarrier();
    S_0 = S_parts[0] + S_parts[4] + (S_parts[2] + S_parts[6]) + (S_parts[1] + S_parts[5] + (S_parts[3] + S_parts[7]));
    Y[bx * 250 + tx] = exp(common_1 - vec4<f32>(M_0)) / vec4<f32>(S_0);
    if (tx < 122) {
        Y[bx * 250 + tx + 128] = exp(X[bx * 250 + tx + 128] - vec4<f32>(M_0)) / vec4<f32>(S_0);
    }
}
