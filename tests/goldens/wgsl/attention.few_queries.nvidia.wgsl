enable f16;

// attention_parts, queries, maximum_first, total_first, mixed_first, tile, keys, values, products_init, queries_shared_local, keys_shared_local, products_update, scores, greatest, raised, shift, shrink, weights, added, weights_shared, share_init, weights_shared_local, values_shared_local, share_update, total_next, mixed_next, maximum_next, mixed_part, maximum_part, total_part
@group(0) @binding(0) var<storage, read> query: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read> key: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> value: array<vec2<f16>>;
@group(0) @binding(3) var<storage, read_write> attention_parts_v0: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> attention_parts_v1: array<f32>;
@group(0) @binding(5) var<storage, read_write> attention_parts_v2: array<f32>;
var<workgroup> queries_shared: array<vec4<f32>, 68>;
var<workgroup> keys_shared: array<vec4<f16>, 544>;
var<workgroup> values_shared: array<vec2<f16>, 1024>;
var<workgroup> weights_shared: array<vec2<f32>, 288>;
struct Args {
    size: i32,
    size_1: i32,
    n: i32,
}
var<immediate> args: Args;

fn f32_from_bits(bits: u32) -> f32 {
    var word = bits;
    return bitcast<f32>(word);
}

@compute @workgroup_size(32, 2, 1)
fn attention_0(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
    let bx = i32(block_idx.x);
    let tx = i32(thread_idx.x);
    let ty = i32(thread_idx.y);
    var greatest_part_0: f32;
    var greatest_other_0: f32;
    var added_part_0: f32;
    var added_other_0: f32;
    var maximum_0: vec2<f32>;
    var total_0: vec2<f32>;
    var mixed_0: vec2<f32>;
    var mixed_1: vec2<f32>;
    var products_0: vec2<f32>;
    var queries_shared_local_0: vec4<f32>;
    var queries_shared_local_1: vec4<f32>;
    var keys_shared_local_0: vec4<f16>;
    var scores_0: vec2<f32>;
    var greatest_0: vec2<f32>;
    var raised_0: vec2<f32>;
    var shift_0: vec2<f32>;
    var shrink_0: vec2<f32>;
    var weights_0: vec2<f32>;
    var added_0: vec2<f32>;
    var share_0: vec2<f32>;
    var share_1: vec2<f32>;
    var weights_shared_local_0: vec2<f32>;
    var values_shared_local_0: vec2<f16>;
    queries_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15)] = vec4<f32>(query[(bx >> 6u) * 64 + ty * 32 + tx]) * vec4<f32>(0.125f);
    maximum_0 = vec2<f32>(f32_from_bits(0xff800000u));
    total_0 = vec2<f32>(0.0f);
    mixed_0 = vec2<f32>(0.0f);
    mixed_1 = vec2<f32>(0.0f);
    workgroupBarrier();
    let end = min((bx & 63) * args.size + args.size, args.size_1);
    for (var t: i32 = min((bx & 63) * args.size, args.size_1); t < end; t++) {
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15)] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 1) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 68] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 5) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 136] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 9) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 204] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 13) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 272] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 17) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 340] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 21) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 408] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 25) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        keys_shared[ty * 34 + (tx >> 4u) * 17 + (tx & 15) + 476] = key[min(args.n, t * 32 + ty * 2 + (tx >> 4u) + 29) * 32 + (bx >> 6u) * 16 + (tx & 15) - 32];
        workgroupBarrier();
        values_shared[ty * 32 + tx] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 1), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + ty < args.n));
        values_shared[ty * 32 + tx + 64] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 3), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 2 + ty < args.n));
        values_shared[ty * 32 + tx + 128] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 5), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 4 + ty < args.n));
        values_shared[ty * 32 + tx + 192] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 7), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 6 + ty < args.n));
        values_shared[ty * 32 + tx + 256] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 9), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 8 + ty < args.n));
        values_shared[ty * 32 + tx + 320] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 11), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 10 + ty < args.n));
        values_shared[ty * 32 + tx + 384] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 13), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 12 + ty < args.n));
        values_shared[ty * 32 + tx + 448] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 15), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 14 + ty < args.n));
        values_shared[ty * 32 + tx + 512] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 17), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 16 + ty < args.n));
        values_shared[ty * 32 + tx + 576] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 19), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 18 + ty < args.n));
        values_shared[ty * 32 + tx + 640] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 21), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 20 + ty < args.n));
        values_shared[ty * 32 + tx + 704] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 23), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 22 + ty < args.n));
        values_shared[ty * 32 + tx + 768] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 25), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 24 + ty < args.n));
        values_shared[ty * 32 + tx + 832] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 27), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 26 + ty < args.n));
        values_shared[ty * 32 + tx + 896] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 29), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 28 + ty < args.n));
        values_shared[ty * 32 + tx + 960] = select(vec2<f16>(f16(0.0)), value[max(min(args.n, t * 32 + ty + 31), 1) * 64 + (bx >> 6u) * 32 + tx - 64], vec2<bool>(t * 32 + 30 + ty < args.n));
        products_0 = vec2<f32>(0.0f);
        for (var e_0: i32 = 0; e_0 < 16; e_0++) {
            queries_shared_local_0 = queries_shared[ty * 34 + e_0];
            queries_shared_local_1 = queries_shared[ty * 34 + e_0 + 17];
            keys_shared_local_0 = keys_shared[tx * 17 + e_0];
            products_0 = products_0 + vec2<f32>(queries_shared_local_0.x, queries_shared_local_1.x) * vec2<f32>(f32(keys_shared_local_0.x));
            products_0 = products_0 + vec2<f32>(queries_shared_local_0.y, queries_shared_local_1.y) * vec2<f32>(f32(keys_shared_local_0.y));
            products_0 = products_0 + vec2<f32>(queries_shared_local_0.z, queries_shared_local_1.z) * vec2<f32>(f32(keys_shared_local_0.z));
            products_0 = products_0 + vec2<f32>(queries_shared_local_0.w, queries_shared_local_1.w) * vec2<f32>(f32(keys_shared_local_0.w));
        }
        scores_0 = select(vec2<f32>(f32_from_bits(0xff800000u)), products_0, vec2<bool>(t * 32 + tx < args.n));
        greatest_part_0 = f32_from_bits(0xff800000u);
        let t_1 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(scores_0.x) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, scores_0.x, greatest_part_0 < scores_0.x), bitcast<f32>(t_1), t_1 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 16u);
        let t_2 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_2), t_2 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 8u);
        let t_3 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_3), t_3 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 4u);
        let t_4 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_4), t_4 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 2u);
        let t_5 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_5), t_5 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 1u);
        let t_6 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_6), t_6 > 0x7f800000u);
        greatest_0.x = greatest_part_0;
        greatest_part_0 = f32_from_bits(0xff800000u);
        let t_7 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(scores_0.y) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, scores_0.y, greatest_part_0 < scores_0.y), bitcast<f32>(t_7), t_7 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 16u);
        let t_8 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_8), t_8 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 8u);
        let t_9 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_9), t_9 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 4u);
        let t_10 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_10), t_10 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 2u);
        let t_11 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_11), t_11 > 0x7f800000u);
        greatest_other_0 = subgroupShuffleXor(greatest_part_0, 1u);
        let t_12 = max(bitcast<u32>(greatest_part_0) & 0x7fffffffu, bitcast<u32>(greatest_other_0) & 0x7fffffffu);
        greatest_part_0 = select(select(greatest_part_0, greatest_other_0, greatest_part_0 < greatest_other_0), bitcast<f32>(t_12), t_12 > 0x7f800000u);
        greatest_0.y = greatest_part_0;
        let t_13 = max(bitcast<vec2<u32>>(maximum_0) & vec2<u32>(0x7fffffffu), bitcast<vec2<u32>>(greatest_0) & vec2<u32>(0x7fffffffu));
        raised_0 = select(select(maximum_0, greatest_0, maximum_0 < greatest_0), bitcast<vec2<f32>>(t_13), t_13 > vec2<u32>(0x7f800000u));
        shift_0 = select(raised_0, vec2<f32>(0.0f), raised_0 == vec2<f32>(f32_from_bits(0xff800000u)));
        shrink_0 = exp(maximum_0 - shift_0);
        weights_0 = exp(scores_0 - shift_0);
        added_part_0 = 0.0f;
        added_part_0 = added_part_0 + weights_0.x;
        added_other_0 = subgroupShuffleXor(added_part_0, 16u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 8u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 4u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 2u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 1u);
        added_part_0 = added_part_0 + added_other_0;
        added_0.x = added_part_0;
        added_part_0 = 0.0f;
        added_part_0 = added_part_0 + weights_0.y;
        added_other_0 = subgroupShuffleXor(added_part_0, 16u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 8u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 4u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 2u);
        added_part_0 = added_part_0 + added_other_0;
        added_other_0 = subgroupShuffleXor(added_part_0, 1u);
        added_part_0 = added_part_0 + added_other_0;
        added_0.y = added_part_0;
        weights_shared[tx * 9 + ty] = weights_0;
        share_0 = vec2<f32>(0.0f);
        share_1 = vec2<f32>(0.0f);
        workgroupBarrier();
        for (var j_c_0: i32 = 0; j_c_0 < 8; j_c_0++) {
            weights_shared_local_0 = weights_shared[j_c_0 * 36 + ty];
            values_shared_local_0 = values_shared[j_c_0 * 128 + tx];
            share_0 = share_0 + vec2<f32>(weights_shared_local_0.x) * vec2<f32>(values_shared_local_0);
            share_1 = share_1 + vec2<f32>(weights_shared_local_0.y) * vec2<f32>(values_shared_local_0);
            weights_shared_local_0 = weights_shared[j_c_0 * 36 + ty + 9];
            values_shared_local_0 = values_shared[j_c_0 * 128 + tx + 32];
            share_0 = share_0 + vec2<f32>(weights_shared_local_0.x) * vec2<f32>(values_shared_local_0);
            share_1 = share_1 + vec2<f32>(weights_shared_local_0.y) * vec2<f32>(values_shared_local_0);
            weights_shared_local_0 = weights_shared[j_c_0 * 36 + ty + 18];
            values_shared_local_0 = values_shared[j_c_0 * 128 + tx + 64];
            share_0 = share_0 + vec2<f32>(weights_shared_local_0.x) * vec2<f32>(values_shared_local_0);
            share_1 = share_1 + vec2<f32>(weights_shared_local_0.y) * vec2<f32>(values_shared_local_0);
            weights_shared_local_0 = weights_shared[j_c_0 * 36 + ty + 27];
            values_shared_local_0 = values_shared[j_c_0 * 128 + tx + 96];
            share_0 = share_0 + vec2<f32>(weights_shared_local_0.x) * vec2<f32>(values_shared_local_0);
            share_1 = share_1 + vec2<f32>(weights_shared_local_0.y) * vec2<f32>(values_shared_local_0);
        }
        total_0 = total_0 * shrink_0 + added_0;
        mixed_0 = mixed_0 * vec2<f32>(shrink_0.x) + share_0;
        mixed_1 = mixed_1 * vec2<f32>(shrink_0.y) + share_1;
        maximum_0 = raised_0;
    }
    attention_parts_v0[(bx >> 6u) * 8192 + ty * 4096 + (bx & 63) * 32 + tx] = select(mixed_0, vec2<f32>(0.0f), vec2<bool>(args.n < 1));
    attention_parts_v0[(bx >> 6u) * 8192 + ty * 4096 + (bx & 63) * 32 + tx + 2048] = select(mixed_1, vec2<f32>(0.0f), vec2<bool>(args.n < 1));
    let common_1 = (bx >> 6u) * 256 + ty * 128 + (bx & 63);
    if (tx == 0) {
        attention_parts_v1[common_1] = select(maximum_0.x, 0.0f, args.n < 1);
        attention_parts_v1[common_1 + 64] = select(maximum_0.y, 0.0f, args.n < 1);
        attention_parts_v2[common_1] = select(total_0.x, 1.0f, args.n < 1);
        attention_parts_v2[common_1 + 64] = select(total_0.y, 1.0f, args.n < 1);
    }
}
enable f16;

// attention
@group(0) @binding(0) var<storage, read_write> attention: array<f16>;
@group(0) @binding(1) var<storage, read> attention_parts_v0: array<f32>;
@group(0) @binding(2) var<storage, read> attention_parts_v1: array<f32>;
@group(0) @binding(3) var<storage, read> attention_parts_v2: array<f32>;

fn f32_from_bits(bits: u32) -> f32 {
    var word = bits;
    return bitcast<f32>(word);
}

@compute @workgroup_size(64, 1, 1)
fn attention_1(@builtin(workgroup_id) block_idx: vec3<u32>, @builtin(local_invocation_id) thread_idx: vec3<u32>) {
    let bx = i32(block_idx.x);
    let tx = i32(thread_idx.x);
    var greatest_0: f32;
    var sums_0: f32;
    var values_0: f32;
    greatest_0 = f32_from_bits(0xff800000u);
    for (var p: i32 = 0; p < 64; p++) {
        let t = attention_parts_v1[p + bx * 64];
        let t_1 = max(bitcast<u32>(greatest_0) & 0x7fffffffu, bitcast<u32>(t) & 0x7fffffffu);
        greatest_0 = select(select(greatest_0, t, greatest_0 < t), bitcast<f32>(t_1), t_1 > 0x7f800000u);
    }
    greatest_0 = select(greatest_0, 0.0f, greatest_0 == f32_from_bits(0xff800000u));
    sums_0 = 0.0f;
    values_0 = 0.0f;
    for (var p_1: i32 = 0; p_1 < 64; p_1++) {
        let common_1 = exp(attention_parts_v1[p_1 + bx * 64] - greatest_0);
        sums_0 = sums_0 + common_1 * attention_parts_v2[p_1 + bx * 64];
        values_0 = values_0 + common_1 * attention_parts_v0[p_1 * 64 + tx + bx * 4096];
    }
    attention[bx * 64 + tx] = f16(values_0 / sums_0);
}
