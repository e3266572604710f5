//! Costs of kernels that can be counted by hand.

mod bars;
mod sectors;

use weftile::explain::{
    AccessCost, Control, Direction, GpuModel, KernelCost, Limit, explain, predict, time,
};
use weftile::ir::{Module, PrimFunc};
use weftile::kernel::{GpuClass, GpuTarget, Kernel, LoweredFunc, Target};
use weftile::lower::lower;
use weftile::sched::rules::{self, Search};
use weftile::script;

use crate::cli::{refused, stdout, weftile};

fn module(body: &str) -> Module {
    let text = format!(
        "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n{body}"
    );
    script::parse("explain.py", &text).expect("a module")
}

/// The costs of the kernels of the only loop program, as it is written, or else as the default rules schedule it.
fn costs(body: &str, class: GpuClass, dims: &[i64]) -> Vec<KernelCost> {
    let model = GpuModel::of(class);
    kernels(body, class)
        .iter()
        .map(|kernel| explain(kernel, dims, &model).expect("a cost"))
        .collect()
}

/// The kernels of the only loop program, as it is written, or else as the default rules schedule it.
fn kernels(body: &str, class: GpuClass) -> Vec<Kernel> {
    let module = module(body);
    let (_, func) = module.prim_funcs().next().expect("a loop program");
    fastest(func, class, Search::Promising).kernels
}

/// What the default rules make of a program in the fastest of these ways, on a device without fragments, as Apple's before M1: products on
/// those have tests of their own (`gpu/fragments`).
fn fastest(func: &PrimFunc, class: GpuClass, search: Search) -> LoweredFunc {
    let target = Target::Gpu(GpuTarget {
        fragments: vec![],
        ..GpuTarget::usual(class)
    });
    let time = |lowered: &LoweredFunc| {
        let sizes = lowered.dims.iter();
        let sizes: Vec<i64> = sizes.map(|name| rules::usual_size(func, name)).collect();
        time(lowered, &sizes, &GpuModel::of(class)).ok()
    };
    let lower = |func: &PrimFunc| lower(func, &target);
    let (_, lowered) = rules::choose_fastest(func, &target, lower, time, search);
    lowered.expect("kernels")
}

/// Seconds that kernels take by all their workgroups.
fn seconds(lowered: &LoweredFunc, class: GpuClass) -> f64 {
    let model = GpuModel::of(class);
    let costs = lowered
        .kernels
        .iter()
        .map(|kernel| explain(kernel, &[], &model));
    let times = costs.map(|cost| predict(&cost.expect("a cost"), &model).time);
    times.sum()
}

fn cost(body: &str) -> KernelCost {
    let mut costs = costs(body, GpuClass::Nvidia, &[]);
    assert_eq!(costs.len(), 1);
    costs.remove(0)
}

fn of<'c>(cost: &'c KernelCost, array: &str, direction: Direction) -> &'c AccessCost {
    let mut rows = cost.accesses.iter();
    let is = |row: &&AccessCost| row.array == array && row.direction == direction;
    rows.find(is).expect("such an access")
}

/// As of queries that see what came before: nine workgroups of 32 threads load 1, 2, ... 9 elements a thread, alone, and for each of four
/// heads.
#[test]
fn work_that_grows_from_one_workgroup_to_the_next_counts_as_it_is_on_average() {
    for (groups, length, loads) in [(9, "b + 1", 45.0), (36, "b % 9 + 1", 180.0)] {
        let cost = cost(&format!(
            r#"
    @T.prim_func
    def f(A: T.Buffer((288,), "float32"), B: T.Buffer(({groups} * 32,), "float32")):
        for b in T.thread_binding({groups}, thread="blockIdx.x"):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                with T.block("B"):
                    v = T.axis.spatial({groups} * 32, b * 32 + t)
                    B[v] = T.float32(0)
                    for k in range({length}):
                        B[v] = B[v] + A[k * 32 + t]
"#
        ));
        assert_eq!(of(&cost, "A", Direction::Read).accesses, loads);
    }
}

#[test]
fn a_transpose_without_shared_memory_writes_a_sector_a_thread() {
    let cost = cost(
        r#"
    @T.prim_func
    def f(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
        for b in T.thread_binding(64, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("B"):
                    v, u = T.axis.remap("SS", [b, t])
                    B[u, v] = A[v, u]
"#,
    );
    // 64 workgroups of two subgroups each.
    let read = of(&cost, "A", Direction::Read);
    assert_eq!(
        (read.accesses, read.transactions, read.ideal),
        (128.0, 512.0, 512.0)
    );
    let write = of(&cost, "B", Direction::Write);
    assert_eq!((write.accesses, write.transactions), (128.0, 4096.0));
    assert_eq!(write.share_used(), 0.125);
    assert_eq!(
        (cost.threads, cost.groups(), cost.bytes),
        (64, 64.0, 2 * 64 * 64 * 4)
    );
}

#[test]
fn columns_of_a_tile_meet_in_a_bank_unless_its_rows_are_aligned_past_it() {
    let tile = |attribute: &str| {
        cost(&format!(
            r#"
    @T.prim_func
    def f(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
        tile = T.alloc_buffer((32, 32), scope="shared")
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for i in range(32):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("tile"):
                        v, u = T.axis.remap("SS", [i, t])
                        {attribute}
                        tile[v, u] = A[v, u]
            for i in range(32):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.block("B"):
                        v, u = T.axis.remap("SS", [i, t])
                        B[v, u] = tile[u, v]
"#
        ))
    };
    let dense = tile(r#"T.block_attr({"of": "dense"})"#);
    let read = of(&dense, "tile", Direction::Read);
    assert_eq!(
        (read.accesses, read.transactions, read.excess()),
        (32.0, 1024.0, 32.0)
    );
    assert_eq!(dense.shared_bytes, 32 * 32 * 4);
    let aligned = tile(r#"T.block_attr({"buffer_dim_align": [[0, 0, 32, 1]]})"#);
    let read = of(&aligned, "tile", Direction::Read);
    assert_eq!(
        (read.accesses, read.transactions, read.excess()),
        (32.0, 32.0, 1.0)
    );
    assert_eq!(of(&aligned, "tile", Direction::Write).excess(), 1.0);
    assert_eq!(aligned.shared_bytes, 32 * 33 * 4);
    assert_eq!(aligned.barriers, 1.0);
    let met: Vec<Control> = aligned.control.iter().map(|row| row.control).collect();
    assert_eq!(met, [Control::Barrier]);
}

#[test]
fn a_branch_of_half_a_subgroup_diverges() {
    let cost = |threads: usize| {
        cost(&format!(
            r#"
    @T.prim_func
    def f(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for b in T.thread_binding(2, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("B"):
                    v = T.axis.spatial(128, b * 64 + t)
                    if t < {threads}:
                        B[v] = A[v] * T.float32(2)
                    else:
                        B[v] = A[v] + T.float32(2)
"#
        ))
    };
    // Threads 0 to 15 are half of the first subgroup of each of two workgroups; 0 to 31 are the whole of it.
    assert_eq!(cost(16).divergent, 2.0);
    assert_eq!(cost(32).divergent, 0.0);
    let control = &cost(16).control[..];
    assert!(
        matches!(control, [one] if one.control == Control::Divergence && one.count == 2.0),
        "{control:?}"
    );
    assert_eq!(cost(16).arithmetic, 128.0);
    assert_eq!(cost(16).fma, 0.0);
}

#[test]
fn an_index_that_is_loaded_counts_as_scattered() {
    let cost = cost(
        r#"
    @T.prim_func
    def f(A: T.Buffer((64,), "float32"), I: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        for t in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("B"):
                v = T.axis.spatial(64, t)
                B[v] = A[T.min(T.max(I[v], 0), 63)]
"#,
    );
    let read = of(&cost, "A", Direction::Read);
    assert!(read.scattered);
    assert_eq!((read.accesses, read.transactions), (2.0, 64.0));
}

/// Matmuls of all forms and sizes.
fn matmul(m: usize, n: usize, k: usize, transposed: bool) -> String {
    let (shape, element) = if transposed {
        (format!("({n}, {k})"), "B[vj, vk]")
    } else {
        (format!("({k}, {n})"), "B[vk, vj]")
    };
    format!(
        r#"
    @T.prim_func
    def f(A: T.Buffer(({m}, {k}), "float32"), B: T.Buffer({shape}, "float32"), C: T.Buffer(({m}, {n}), "float32")):
        for i, j, k in T.grid({m}, {n}, {k}):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * {element}
"#
    )
}

#[test]
fn a_matmul_multiplies_and_adds_as_often_as_the_formula_says() {
    for (m, n, k) in [(64, 64, 64), (1024, 1024, 1024), (2048, 2048, 2048)] {
        let costs = costs(&matmul(m, n, k, false), GpuClass::Nvidia, &[]);
        let fma: f64 = costs.iter().map(|cost| cost.fma).sum();
        assert_eq!(fma, (m * n * k) as f64, "{m} x {n} x {k}");
    }
    // Tiles of 16 by 32 reach past the ends: 3 by 3 of them. So do steps of 16.
    let costs = costs(&matmul(33, 65, 17, false), GpuClass::Nvidia, &[]);
    assert_eq!(costs[0].fma, f64::from(3 * 16 * 3 * 32 * 2 * 16));
}

#[test]
fn a_large_sum_waits_for_memory_and_a_large_matmul_for_arithmetic() {
    let model = GpuModel::of(GpuClass::Nvidia);
    let sum = r#"
    @T.prim_func
    def f(A: T.Buffer((16777216,), "float32"), B: T.Buffer((16777216,), "float32"), C: T.Buffer((16777216,), "float32")):
        for i in range(16777216):
            with T.block("C"):
                v = T.axis.spatial(16777216, i)
                C[v] = A[v] + B[v]
"#;
    let prediction = predict(&cost(sum), &model);
    assert_eq!(prediction.limit, Limit::Memory);
    // 201 MB at 504 GB/s.
    assert!((prediction.time - 0.4e-3).abs() < 0.02e-3, "{prediction:?}");
    let product = costs(&matmul(2048, 2048, 2048, false), GpuClass::Nvidia, &[]);
    assert_eq!(predict(&product[0], &model).limit, Limit::Arithmetic);
}

#[test]
fn the_command_counts_each_kernel_and_names_sizes_that_it_needs() {
    let folder = tempfile::tempdir().expect("scratch folder");
    let path = folder.path().join("scale.py");
    let text = r#"from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def scale(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("B"):
                v = T.axis.spatial(n, i)
                B[v] = A[v] * T.float32(2)
"#;
    std::fs::write(&path, text).expect("a scratch file");
    let file = path.to_str().expect("a path of text");
    let refusal = refused(&["explain", file], 1);
    assert!(refusal.contains("--size n="), "{refusal}");
    let refusal = refused(&["explain", file, "--size", "m=4"], 1);
    assert!(
        refusal.contains("`m`") && refusal.contains("there are: n"),
        "{refusal}"
    );
    let page = stdout(&weftile(&["explain", file, "--size", "n=4096"]));
    assert!(
        page.contains("32.77 k bytes") && page.contains("read A x4"),
        "{page}"
    );
    let json = stdout(&weftile(&[
        "explain", file, "--size", "n=4096", "--target", "amd", "--json",
    ]));
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let kernel = &report["kernels"][0];
    assert_eq!(kernel["bytes"], 2 * 4 * 4096);
    let read = &kernel["accesses"][0];
    assert_eq!(
        (read["array"].as_str(), read["direction"].as_str()),
        (Some("A"), Some("read"))
    );
    // The line of the statement is that of the shader beside it.
    let statement = read["statements"][0].as_u64().expect("a number") as usize;
    let line = kernel["lines"][statement].as_u64().expect("a line") as usize;
    let shader = kernel["shader"].as_str().expect("text");
    let text = shader.lines().nth(line - 1).expect("such a line");
    assert!(text.contains("A["), "{text}");
    let args = ["show", file, "--stage", "wgsl", "--target", "amd"];
    let shown = stdout(&weftile(&args));
    assert!(shown.contains(shader), "{shown}");
    // Nothing is launched for no elements.
    let empty = stdout(&weftile(&["explain", file, "--size", "n=0"]));
    assert!(empty.contains("launch      0 x 1 x 1"), "{empty}");
    let said = "predicted   nothing: there are no workgroups, so the launch does not take place";
    assert!(empty.contains(said) && !empty.contains(" us "), "{empty}");
    let json = stdout(&weftile(&["explain", file, "--size", "n=0", "--json"]));
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let prediction = &report["kernels"][0]["prediction"];
    assert_eq!(prediction["time"], 0.0);
    assert_eq!(prediction["limit"], "no_workgroups");
    let refusal = refused(&["explain", file, "--size", "n=99999999999999"], 1);
    assert!(refusal.contains("`scale`"), "{refusal}");
}
