//! Primitives that move computation, chained as the GPU and CPU rules chain them, on symbolic shapes: the result computes the
//! same, and tiles are as small as they can be.

use weftile::interp::run_prim_func;
use weftile::ir::{BlockId, PrimFunc, ThreadAxis};
use weftile::sched::{Factor, InsertAt, Schedule, UnitIters};
use weftile::script;
use weftile::tensor::Tensor;

const MATMUL: &str = r#"
@T.prim_func
def matmul(a: T.handle, b: T.handle, c: T.handle):
    n, m, l = T.int64(), T.int64(), T.int64()
    A = T.match_buffer(a, (n, l), "float32")
    B = T.match_buffer(b, (l, m), "float32")
    C = T.match_buffer(c, (n, m), "float32")
    for i, j, k in T.grid(n, m, l):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;

const LINEAR_RELU: &str = r#"
@T.prim_func
def linear_relu(a: T.handle, w: T.handle, bias: T.handle, out: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 20), "float32")
    W = T.match_buffer(w, (T.int64(12), T.int64(20)), "float32")
    Bias = T.match_buffer(bias, (T.int64(12),), "float32")
    Out = T.match_buffer(out, (n, 12), "float32")
    mm = T.alloc_buffer((n, 12), "float32")
    added = T.alloc_buffer((n, 12), "float32")
    for i, j, k in T.grid(n, T.int64(12), T.int64(20)):
        with T.block("mm"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                mm[vi, vj] = T.float32(0)
            mm[vi, vj] = mm[vi, vj] + A[vi, vk] * W[vj, vk]
    for i, j in T.grid(n, T.int64(12)):
        with T.block("bias"):
            vi, vj = T.axis.remap("SS", [i, j])
            added[vi, vj] = mm[vi, vj] + Bias[vj]
    for i, j in T.grid(n, T.int64(12)):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            Out[vi, vj] = T.max(added[vi, vj], T.float32(0))
"#;

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

fn seeded(shape: &[usize], seed: u32) -> Tensor {
    let count: usize = shape.iter().product();
    let mut state = seed;
    let values: Vec<f32> = (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as f32 / 32768.0 - 1.0
        })
        .collect();
    Tensor::from_slice(shape, &values).expect("as many values as the shape says")
}

/// Both functions on the same inputs; the last parameter is the output, bitwise equal as no sum is reordered.
#[track_caller]
fn assert_same(before: &PrimFunc, after: &PrimFunc, shapes: &[&[usize]]) {
    let run = |func: &PrimFunc| {
        let mut args: Vec<Tensor> = shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| seeded(shape, at as u32 + 7))
            .collect();
        run_prim_func(func, &mut args)
            .unwrap_or_else(|e| panic!("{e}\n{}", script::print_prim_func(func).text));
        let out = args.pop().expect("an output");
        out.as_slice::<f32>().expect("float32").to_vec()
    };
    assert_eq!(
        run(before),
        run(after),
        "{shapes:?}\n{}",
        script::print_prim_func(after).text
    );
}

fn infer(inner: &[i64]) -> Vec<Factor> {
    let mut factors = vec![Factor::Infer];
    factors.extend(inner.iter().copied().map(Factor::Of));
    factors
}

/// Extents of the loops around a block as text, outermost first.
fn extents(sch: &Schedule, block: BlockId) -> Vec<String> {
    let func = sch.func();
    let loops = func.loops_above(block.into());
    loops
        .iter()
        .map(|&id| func.loops[id].extent.to_string())
        .collect()
}

/// The chain of a GPU matmul: thread tiles, operands in shared memory, the result in registers.
fn gpu_tiles(text: &str) -> (PrimFunc, Schedule, [BlockId; 3]) {
    let before = parse(text);
    let mut sch = Schedule::new(before.clone());
    let c = sch.get_block("C").expect("the block");
    let loops = sch.get_loops(c).expect("three loops");
    let i = sch.split(loops[0], &infer(&[4, 2])).expect("splits");
    let j = sch.split(loops[1], &infer(&[2, 4])).expect("splits");
    let k = sch.split(loops[2], &infer(&[8])).expect("splits");
    sch.reorder(&[i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]])
        .expect("reorders");
    sch.bind(i[0], ThreadAxis::BlockIdxY).expect("binds");
    sch.bind(j[0], ThreadAxis::BlockIdxX).expect("binds");
    sch.bind(i[1], ThreadAxis::ThreadIdxY).expect("binds");
    sch.bind(j[1], ThreadAxis::ThreadIdxX).expect("binds");
    let out = sch.cache_write(c, 0, "local", &[]).expect("caches");
    sch.reverse_compute_at(out, j[1], UnitIters::Preserve, InsertAt::Latest)
        .expect("moves the copy out");
    let (units, at) = (UnitIters::Simplify, InsertAt::Latest);
    let a = sch.cache_read(c, 0, "shared", &[]).expect("caches A");
    sch.compute_at(a, k[0], units, at).expect("moves A's copy");
    let b = sch.cache_read(c, 1, "shared", &[]).expect("caches B");
    sch.compute_at(b, k[0], units, at).expect("moves B's copy");
    (before, sch, [a, b, out])
}

#[test]
fn shared_tiles_of_a_symbolic_matmul_are_tight() {
    let (_, sch, [a, b, out]) = gpu_tiles(MATMUL);
    let tail = |block| {
        let all = extents(&sch, block);
        all[all.len() - 2..].to_vec()
    };
    let plain = |texts: &[String]| -> Vec<i64> {
        let digits = |t: &String| t.chars().filter(char::is_ascii_digit).collect::<String>();
        let number = |t: &String| digits(&t.replace("int64", "")).parse();
        texts
            .iter()
            .map(|t| number(t).unwrap_or_else(|_| panic!("{t} is no constant")))
            .collect()
    };
    assert_eq!(plain(&tail(a)), [8, 8], "rows of the workgroup by k tile");
    assert_eq!(
        plain(&tail(b)),
        [8, 8],
        "k tile by columns of the workgroup"
    );
    assert_eq!(plain(&tail(out)), [2, 4], "the tile of a thread");
    for block in [a, b, out] {
        let predicate = &sch.func().blocks[block].predicate;
        assert!(
            predicate.as_bool().is_none(),
            "the ends of the matrix are kept"
        );
    }
}

#[test]
fn a_gpu_tiled_matmul_computes_the_same() {
    let (before, mut sch, [a, b, _]) = gpu_tiles(MATMUL);
    // Threads fetch the tiles together.
    for copy in [a, b] {
        let loops = sch.get_loops(copy).expect("loops");
        let fused = sch.fuse(&loops[loops.len() - 2..]).expect("fuses");
        let parts = sch.split(fused, &infer(&[4, 2])).expect("splits");
        sch.bind(parts[1], ThreadAxis::ThreadIdxY).expect("binds");
        sch.bind(parts[2], ThreadAxis::ThreadIdxX).expect("binds");
    }
    let c = sch.get_block("C").expect("the block");
    let loops = sch.get_loops(c).expect("loops");
    let k_outer = loops[loops.len() - 4];
    let init = sch.decompose_reduction(c, k_outer).expect("decomposes");
    assert_eq!(sch.func().blocks[init].name, "C_init");
    for (n, m, l) in [(8, 8, 8), (1, 1, 1), (13, 7, 11), (16, 9, 24), (0, 3, 5)] {
        assert_same(&before, sch.func(), &[&[n, l], &[l, m], &[n, m]]);
    }
}

#[test]
fn an_epilogue_is_inlined_and_moved_under_the_tile() {
    let before = parse(LINEAR_RELU);
    let mut sch = Schedule::new(before.clone());
    let bias = sch.get_block("bias").expect("the block");
    let relu = sch.get_block("relu").expect("the block");
    let mm = sch.get_block("mm").expect("the block");
    sch.compute_inline(bias).expect("inlines");
    let loops = sch.get_loops(mm).expect("loops");
    let i = sch.split(loops[0], &infer(&[8])).expect("splits");
    let j = sch.split(loops[1], &infer(&[5])).expect("splits");
    sch.reorder(&[i[0], j[0], i[1], j[1], loops[2]])
        .expect("reorders");
    sch.reverse_compute_at(relu, j[0], UnitIters::Simplify, InsertAt::Latest)
        .expect("moves");
    let update = sch.decompose_reduction(mm, loops[2]).expect("decomposes");
    assert_eq!(sch.func().blocks[update].name, "mm_init");
    for n in [1, 8, 13] {
        assert_same(&before, sch.func(), &[&[n, 20], &[12, 20], &[12], &[n, 12]]);
    }
}

#[test]
fn a_refused_move_changes_nothing() {
    let before = parse(LINEAR_RELU);
    let mut sch = Schedule::new(before);
    let relu = sch.get_block("relu").expect("the block");
    let mm = sch.get_block("mm").expect("the block");
    let text = script::print_prim_func(sch.func()).text;
    let loops = sch.get_loops(mm).expect("loops");
    let error = sch
        .compute_at(relu, loops[0], UnitIters::Simplify, InsertAt::Latest)
        .expect_err("an output block stays");
    assert_eq!(
        error.to_string(),
        "compute_at: block `relu` is an output block of its scope"
    );
    let error = sch
        .compute_inline(mm)
        .expect_err("a reduction is not inlined");
    assert_eq!(error.to_string(), "compute_inline: block `mm` has an init");
    assert_eq!(script::print_prim_func(sch.func()).text, text);
}
