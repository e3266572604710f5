//! An accepted trace keeps meaning: random primitives on small programs, checked with the interpreter.
//!
//! `WEFTILE_TRACES` gives the number of traces per program, for longer runs.

use super::{BufferAccess, Factor, Injectivity, InsertAt, Schedule, UnitIters};
use crate::interp::same_results;
use crate::ir::{BlockId, Buffer, Expr, Lambda, LoopId, PrimFunc, ThreadAxis, Var};
use crate::script;
use crate::tensor::DType;

const PROGRAMS: &[&str] = &[
    r#"
def matmul_bias_relu(A: T.Buffer((6, 8), "float32"), W: T.Buffer((8, 10), "float32"), bias: T.Buffer((10,), "float32"), out: T.Buffer((6, 10), "float32")):
    mm = T.alloc_buffer((6, 10), "float32")
    added = T.alloc_buffer((6, 10), "float32")
    for i, j, k in T.grid(6, 10, 8):
        with T.block("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                mm[vi, vj] = T.float32(0)
            mm[vi, vj] = mm[vi, vj] + A[vi, vk] * W[vk, vj]
    for i, j in T.grid(6, 10):
        with T.block("bias_add"):
            vi, vj = T.axis.remap("SS", [i, j])
            added[vi, vj] = mm[vi, vj] + bias[vj]
    for i, j in T.grid(6, 10):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = T.max(added[vi, vj], T.float32(0))
"#,
    r#"
def stencil(A: T.Buffer((20,), "float32"), C: T.Buffer((16,), "float32"), S: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((18,), "float32")
    for i in range(18):
        with T.block("B"):
            vi = T.axis.spatial(18, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi] + B[vi + 2]
    for k in range(18):
        with T.block("S"):
            vk = T.axis.reduce(18, k)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + B[vk]
"#,
    r#"
def softmax(x: T.handle, y: T.handle):
    n = T.int32()
    X = T.match_buffer(x, (n, 9), "float32")
    Y = T.match_buffer(y, (n, 9), "float32")
    top = T.alloc_buffer((n,), "float32")
    ex = T.alloc_buffer((n, 9), "float32")
    total = T.alloc_buffer((n,), "float32")
    for i, k in T.grid(n, 9):
        with T.block("max"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                top[vi] = T.float32(-3.4028234663852886e38)
            top[vi] = T.max(top[vi], X[vi, vk])
    for i, j in T.grid(n, 9):
        with T.block("exp"):
            vi, vj = T.axis.remap("SS", [i, j])
            ex[vi, vj] = T.exp(X[vi, vj] - top[vi])
    for i, k in T.grid(n, 9):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                total[vi] = T.float32(0)
            total[vi] = total[vi] + ex[vi, vk]
    for i, j in T.grid(n, 9):
        with T.block("norm"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = ex[vi, vj] / total[vi]
"#,
    r#"
def in_place(A: T.Buffer((7, 6), "float32"), B: T.Buffer((7, 6), "float32"), D: T.Buffer((7, 6), "float32")):
    C = T.alloc_buffer((7, 6), "float32")
    for i, j in T.grid(7, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(7, 6):
        with T.block("acc"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = A[vi, vj] + B[vi, vj]
    for i, j in T.grid(7, 6):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] - T.float32(1)
"#,
    r#"
def padded_rows(A: T.Buffer((10, 3), "float32"), S: T.Buffer((14,), "float32"), R: T.Buffer((42,), "float32")):
    P = T.alloc_buffer((14, 3), "float32")
    Q = T.alloc_buffer((42,), "float32")
    for io, ii, j in T.grid(3, 5, 3):
        with T.block("P"):
            vi = T.axis.spatial(14, io * 5 + ii)
            vj = T.axis.spatial(3, j)
            T.where(io * 5 + ii < 14)
            P[vi, vj] = T.if_then_else(2 <= vi and vi < 12, A[vi - 2, vj], T.float32(0))
    for i, k in T.grid(14, 3):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(1)
            S[vi] = S[vi] + P[vi, vk]
    for i in range(42):
        with T.block("Q"):
            vi = T.axis.spatial(42, i)
            Q[vi] = P[vi // 3, vi % 3]
    for i in range(42):
        with T.block("R"):
            vi = T.axis.spatial(42, i)
            R[vi] = Q[41 - vi] * T.float32(0.5)
"#,
    r#"
def blocks_in_blocks(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), L: T.Buffer((8, 8), "float32")):
    for io, jo in T.grid(2, 4):
        with T.block("outer"):
            vio, vjo = T.axis.remap("SS", [io, jo])
            T.reads(A[vio * 4:vio * 4 + 4, vjo * 2:vjo * 2 + 2])
            T.writes(B[vio * 4:vio * 4 + 4, vjo * 2:vjo * 2 + 2])
            for ii, ji in T.grid(4, 2):
                with T.block("inner"):
                    vii, vji = T.axis.remap("SS", [ii, ji])
                    B[vio * 4 + vii, vjo * 2 + vji] = A[vio * 4 + vii, vjo * 2 + vji] * T.float32(1.5)
    for i in range(8):
        for j in range(i + 1):
            with T.block("triangle"):
                vi, vj = T.axis.remap("SS", [i, j])
                L[vi, vj] = B[vi, vj] + T.float32(1)
"#,
    r#"
def argmax(idx: T.Buffer((5, 7), "int32"), val: T.Buffer((5, 7), "float32"), am: T.Buffer((5,), "int32"), mx: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, 7):
        with T.block("argmax"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.reads(idx[vi, vk], val[vi, vk])
            T.writes(am[vi], mx[vi])
            with T.init():
                am[vi] = -1
                mx[vi] = T.float32(-3.4028234663852886e38)
            v_am: T.int32 = T.Select(mx[vi] >= val[vi, vk], am[vi], idx[vi, vk])
            v_mx: T.float32 = T.Select(mx[vi] >= val[vi, vk], mx[vi], val[vi, vk])
            am[vi] = v_am
            mx[vi] = v_mx
"#,
    r#"
def two_writers(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8, 4), "float32")):
    B = T.alloc_buffer((8, 4), "float32")
    for i, j in T.grid(4, 4):
        with T.block("low"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(4, 4):
        with T.block("high"):
            vi = T.axis.spatial(8, i + 4)
            vj = T.axis.spatial(4, j)
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(8, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
"#,
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.below(from.len())])
    }
}

fn parse(text: &str) -> PrimFunc {
    let text = format!("@T.prim_func{text}");
    let module = script::parse("test", &text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

fn loop_around(sch: &Schedule, random: &mut Random, blocks: &[BlockId]) -> Option<LoopId> {
    let block = random.pick(blocks)?;
    random.pick(&sch.func().loops_above(block.into()))
}

/// Tries one primitive; a refusal is as good as an acceptance.
fn random_step(sch: &mut Schedule, random: &mut Random) -> Option<()> {
    let mut blocks = sch.func().blocks_under(sch.func().root.into());
    blocks.retain(|&b| b != sch.func().root);
    let block = random.pick(&blocks)?;
    let target = loop_around(sch, random, &blocks)?;
    let units = if random.below(2) == 0 {
        UnitIters::Simplify
    } else {
        UnitIters::Preserve
    };
    let at = random.pick(&[InsertAt::Latest, InsertAt::Earliest, InsertAt::Index(0)])?;
    let scope = random.pick(&["local", "shared", "global"])?;
    let consumers = if random.below(4) == 0 {
        vec![random.pick(&blocks)?]
    } else {
        vec![]
    };
    let index = random.below(2);
    // A reduction split across a fused loop may be reordered so that its first value comes late, which is not looked at yet.
    let fused = |b: &BlockId| {
        let loops = sch.func().loops_above((*b).into());
        let has_fused = |l: &LoopId| sch.func().loops[*l].var.name().contains("fused");
        loops.iter().any(has_fused)
    };
    match random.below(20) {
        3 if fused(&block) => return None,
        0 | 1 => {
            let factor = Factor::Of(2 + random.below(4) as i64);
            sch.split(target, &[Factor::Infer, factor]).ok()?;
        }
        2 => {
            let loops = sch.func().loops_above(block.into());
            let start = random.below(loops.len());
            let pair = loops.get(start..start + 2)?.to_vec();
            sch.fuse(&pair).ok()?;
        }
        3 => {
            let mut loops = sch.func().loops_above(block.into());
            let end = loops.len();
            if end == 0 {
                return None;
            }
            loops.swap(random.below(end), random.below(end));
            sch.reorder(&loops).ok()?;
        }
        4 => {
            sch.cache_read(block, index, scope, &consumers).ok()?;
        }
        5 => {
            sch.cache_write(block, index, scope, &consumers).ok()?;
        }
        6..=8 => sch.compute_at(block, target, units, at).ok()?,
        9..=11 => sch.reverse_compute_at(block, target, units, at).ok()?,
        12 => sch.compute_inline(block).ok()?,
        13 => sch.reverse_compute_inline(block).ok()?,
        14 => {
            sch.decompose_reduction(block, target).ok()?;
        }
        15..=18 => random_block_step(sch, random, block, target)?,
        _ => {
            let axis = random.pick(&[ThreadAxis::BlockIdxX, ThreadAxis::ThreadIdxX])?;
            sch.bind(target, axis).ok()?;
        }
    }
    Some(())
}

/// Tries one of the primitives that make blocks of blocks, take reductions apart, or lay buffers out anew.
fn random_block_step(
    sch: &mut Schedule,
    random: &mut Random,
    block: BlockId,
    target: LoopId,
) -> Option<()> {
    let units = random.pick(&[UnitIters::Simplify, UnitIters::Preserve])?;
    let access = random.pick(&[BufferAccess::Read, BufferAccess::Write])?;
    let index = random.below(2);
    match random.below(7) {
        0 | 1 => {
            sch.blockize(target, units).ok()?;
        }
        2 => {
            let scope = sch.func().scope_block(block.into())?;
            let siblings = sch.func().child_blocks(scope.into());
            let at = siblings.iter().position(|&b| b == block)?;
            let pair = siblings.get(at..at + 2)?.to_vec();
            sch.blockize_blocks(&pair, units).ok()?;
        }
        3 => {
            let axis = random.below(4) as i64 - 2;
            sch.rfactor(target, axis).ok()?;
        }
        4 => {
            sch.reindex(block, access, index).ok()?;
        }
        5 => {
            let scope = random.pick(&["local", "shared", "global"])?;
            sch.set_scope(block, index, scope).ok()?;
        }
        _ => {
            let node = &sch.func().blocks[block];
            let regions = match access {
                BufferAccess::Read => &node.reads,
                BufferAccess::Write => &node.writes,
            };
            let buffer = regions.get(index)?.buffer.clone();
            // A parameter in another layout is another program.
            if sch.func().buffer_params().any(|param| *param == buffer) {
                return None;
            }
            let (map, pad) = random_layout(random, &buffer)?;
            sch.transform_layout(
                block,
                access,
                index,
                &map,
                pad.as_ref(),
                Injectivity::Proved,
            )
            .ok()?;
        }
    }
    Some(())
}

/// A map of the indices of a buffer, and perhaps a value for padding.
fn random_layout(random: &mut Random, buffer: &Buffer) -> Option<(Lambda, Option<Expr>)> {
    let params: Vec<Var> = (0..buffer.ndim())
        .map(|at| Var::new(format!("i{at}"), DType::I32))
        .collect();
    let mut results: Vec<Expr> = params.iter().map(Var::expr).collect();
    let (at, factor) = (random.below(results.len()), 2 + random.below(3) as i32);
    match random.below(3) {
        0 => results.reverse(),
        1 => {
            let index = results.get(at)?.clone();
            results[at] = index.floor_div(factor);
            results.push(index.floor_mod(factor));
        }
        _ => {
            let extent = buffer.shape().last()?.clone();
            let last = results.pop()?;
            let next = results.pop()?;
            results.push(next * Expr::i32(i32::try_from(extent.as_int()?).ok()?) + last);
        }
    }
    let pad = (random.below(2) == 0).then(|| Expr::float(1.5, DType::F32));
    Some((Lambda { params, results }, pad))
}

#[test]
fn accepted_traces_keep_meaning() {
    let traces = std::env::var("WEFTILE_TRACES").ok();
    let traces: u64 = traces.and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut accepted = 0;
    let mut wrong = Vec::new();
    for text in PROGRAMS {
        let before = parse(text);
        for seed in 1..=traces {
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            let mut sch = Schedule::new(before.clone());
            for _ in 0..3 + random.below(10) {
                let earlier = sch.clone();
                let state = random.0;
                let step = std::panic::AssertUnwindSafe(|| random_step(&mut sch, &mut random));
                match std::panic::catch_unwind(step) {
                    Ok(done) => accepted += usize::from(done.is_some()),
                    Err(_) => {
                        sch = earlier;
                        wrong.push(format!(
                            "{} {seed}: panic in state {state}\n{}\n{}",
                            before.name,
                            sch.trace(),
                            script::print_prim_func(sch.func()).text
                        ));
                        break;
                    }
                }
            }
            if let Err(mismatch) = same_results(&before, sch.func(), seed) {
                wrong.push(format!(
                    "{} {seed}: {mismatch}\n{}\n{}",
                    before.name,
                    sch.trace(),
                    script::print_prim_func(sch.func()).text
                ));
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{count} are wrong\n{}", wrong.join("\n"));
    assert!(
        accepted > traces as usize * PROGRAMS.len(),
        "only {accepted} steps were accepted"
    );
}
