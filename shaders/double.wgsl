// Doubles the elements of `a`, as far as there are any. For tests of the runtime: kernels of operators are never written by
// hand, they come out of the loop IR.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(64)
fn double(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&a) {
        b[id.x] = a[id.x] * 2.0;
    }
}
