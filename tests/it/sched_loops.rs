//! Loop primitives on whole programs: random sequences keep the meaning and replay, refusals say what and where.

use arbitrary::Unstructured;
use weftile::interp::same_results;
use weftile::ir::{
    AttrValue, Expr, IterKind, LoopId, LoopKind, Place, PrimFunc, Stmt, ThreadAxis, Var, alpha_eq,
};
use weftile::sched::{Factor, Schedule, ScheduleError, Trace};
use weftile::script;

use crate::generated;

const MATMUL: &str = r#"
@T.prim_func
def matmul(A: T.Buffer((7, 12), "float32"), B: T.Buffer((12, 10), "float32"), C: T.Buffer((7, 10), "float32")):
    for i, j, k in T.grid(7, 10, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"#;

const SYMBOLIC: &str = r#"
@T.prim_func
def scale(a: T.handle, b: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "float32")
    C = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
"#;

const PAIR: &str = r#"
@T.prim_func
def pair(A: T.Buffer((8, 12), "float32"), X: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
    B = T.alloc_buffer((8, 12), "float32")
    for i, j in T.grid(8, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + X[vi, vj]
"#;

/// As `PAIR`, but an iteration uses what earlier ones of both loops computed.
const CARRIED: &str = r#"
@T.prim_func
def carried(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
    B = T.alloc_buffer((8, 12), "float32")
    for i, j in T.grid(8, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vi >= 1 and vj < 11, B[vi - 1, vj + 1], T.float32(0))
"#;

/// As `PAIR`, but an iteration overwrites what earlier ones of the inner loop used.
const OVERWRITTEN: &str = r#"
@T.prim_func
def overwritten(A: T.Buffer((8, 12), "float32"), X: T.Buffer((8, 13), "float32"), C: T.Buffer((8, 12), "float32")):
    for i, j in T.grid(8, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = X[vi, vj + 1]
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, vj]
"#;

fn parse(text: &str) -> PrimFunc {
    let module = script::parse("test", text).unwrap_or_else(|e| panic!("{e}"));
    let (_, func) = module.prim_funcs().next().expect("one loop program");
    func.clone()
}

/// One primitive chosen by the bytes, on the loops around block `C`.
fn random_step(u: &mut Unstructured<'_>, sch: &mut Schedule) -> arbitrary::Result<()> {
    let block = sch.get_block("C").expect("no primitive here removes it");
    let loops = sch.get_loops(block).expect("the block is alive");
    let at = u.choose_index(loops.len())?;
    // Whatever is refused must leave the function as it was; that is checked by what follows.
    let _: Result<(), ScheduleError> = match u.int_in_range(0..=8)? {
        0 | 1 => {
            let inner = Factor::Of(u.int_in_range(1..=6)?);
            sch.split(loops[at], &[Factor::Infer, inner]).map(|_| ())
        }
        2 => {
            let middle = Factor::Of(u.int_in_range(1..=4)?);
            let factors = [Factor::Of(2), Factor::Infer, middle];
            sch.split(loops[at], &factors).map(|_| ())
        }
        3 | 4 => {
            let end = (at + 1 + u.choose_index(2)?).min(loops.len());
            sch.fuse(&loops[at..end]).map(|_| ())
        }
        5 => {
            let other = u.choose_index(loops.len())?;
            sch.reorder(&[loops[at], loops[other]])
        }
        6 => sch.vectorize(loops[at]),
        7 => sch.parallel(loops[at]),
        _ => sch.bind(loops[at], ThreadAxis::ThreadIdxX),
    };
    Ok(())
}

/// The program with iterations that may run at the same time in an order that no serial loop has: backwards, and those of a
/// vectorized loop one statement after the other. Loops that count terms of a sum stay as they are, for their init is first.
fn in_another_order(func: &PrimFunc) -> PrimFunc {
    let mut func = func.clone();
    let mut places = Vec::new();
    func.tree
        .walk(func.root.into(), &mut |place| places.push(place));
    for place in places {
        let Place::Loop(id) = place else { continue };
        let kind = func.loops[id].kind;
        let var = func.loops[id].var.clone();
        let counts = |&block: &_| {
            let node = &func.blocks[block];
            let mut iters = node.iters.iter().zip(&node.bindings);
            iters.any(|(iter, e)| iter.kind == IterKind::Reduce && e.uses(&var))
        };
        let serial = matches!(kind, LoopKind::Serial | LoopKind::Unrolled);
        if serial || func.child_blocks(place).iter().any(counts) {
            continue;
        }
        let l = func.loops[id].clone();
        let backwards = &l.min * 2 + &l.extent - 1 - &l.var;
        for stmt in func.tree.body(place).to_vec() {
            replace_var(&mut func, &stmt, &l.var, &backwards);
        }
        if kind == LoopKind::Vectorized {
            one_statement_each(&mut func, id);
        }
    }
    func
}

/// Puts a value in place of a variable in a loop or block and everything below.
fn replace_var(func: &mut PrimFunc, stmt: &Stmt, var: &Var, value: &Expr) {
    let top = match stmt {
        Stmt::Loop(id) => Place::Loop(*id),
        Stmt::Block(id) => Place::Block(*id),
        other => panic!("{other:?} outside of blocks"),
    };
    let put = |e: &Expr| e.substitute(&|v| (v == var).then(|| value.clone()));
    let mut places = Vec::new();
    func.tree.walk(top, &mut |place| places.push(place));
    for place in places {
        match place {
            Place::Loop(id) => {
                let l = &mut func.loops[id];
                (l.min, l.extent) = (put(&l.min), put(&l.extent));
            }
            Place::Block(id) => {
                let node = &mut func.blocks[id];
                node.bindings = node.bindings.iter().map(put).collect();
                node.predicate = put(&node.predicate);
            }
        }
    }
}

/// Gives each statement of the loop a loop of its own.
fn one_statement_each(func: &mut PrimFunc, id: LoopId) {
    let old = func.loops[id].clone();
    let mut loops = Vec::new();
    for stmt in func.tree.take_body(id) {
        let mut l = old.clone();
        l.var = old.var.renamed(old.var.name());
        replace_var(func, &stmt, &old.var, &l.var.expr());
        let new = func.loops.push(l);
        func.tree.set_body(new, vec![stmt]);
        loops.push(Stmt::Loop(new));
    }
    func.tree.replace(id, loops);
}

#[test]
fn random_loop_primitives_keep_the_meaning_and_replay() {
    for program in [MATMUL, SYMBOLIC, PAIR, CARRIED, OVERWRITTEN] {
        let before = parse(program);
        generated::holds(150, |u| {
            let mut sch = Schedule::new(before.clone());
            for _ in 0..u.int_in_range(1..=6)? {
                random_step(u, &mut sch)?;
            }
            let trace = sch.trace().to_json_lines();
            let same = same_results(&before, sch.func(), 3);
            assert!(same.is_ok(), "{:?}\n{}", same, sch.trace());
            let same = same_results(&before, &in_another_order(sch.func()), 3);
            assert!(same.is_ok(), "in another order: {same:?}\n{}", sch.trace());
            let verified = weftile::ir::verify::prim_func(sch.func());
            assert!(verified.is_ok(), "{verified:?}\n{}", sch.trace());
            let again = Trace::replay(&trace, before.clone()).expect("an accepted trace replays");
            assert_eq!(
                alpha_eq::prim_func(sch.func(), again.func()),
                Ok(()),
                "{trace}"
            );
            Ok(())
        });
    }
}

#[test]
fn iterations_that_depend_on_each_other_stay_in_order() {
    for (program, parallel) in [(PAIR, true), (CARRIED, false), (OVERWRITTEN, false)] {
        let mut sch = Schedule::new(parse(program));
        let block = sch.get_block("C").expect("it is there");
        let loops = sch.get_loops(block).expect("it is alive");
        assert_eq!(sch.parallel(loops[1]).is_ok(), parallel, "{program}");
        assert_eq!(sch.vectorize(loops[1]).is_ok(), parallel, "{program}");
        assert_eq!(
            sch.reorder(&[loops[1], loops[0]]).is_ok(),
            parallel,
            "{program}"
        );
    }
}

/// The loops around block `C` of the matmul.
fn matmul() -> (Schedule, Vec<LoopId>) {
    let mut sch = Schedule::new(parse(MATMUL));
    let block = sch.get_block("C").expect("it is there");
    let loops = sch.get_loops(block).expect("it is alive");
    (sch, loops)
}

#[test]
fn a_trace_prints_as_python_and_as_json_lines() {
    let (mut sch, loops) = matmul();
    let parts = sch
        .split(loops[1], &[Factor::Infer, 4.into()])
        .expect("a plain loop");
    sch.reorder(&[parts[0], loops[0]]).expect("a chain");
    sch.bind(parts[0], ThreadAxis::BlockIdxX).expect("spatial");
    sch.annotate(loops[2], "pragma_unroll", AttrValue::Int(16))
        .expect("alive");
    assert_eq!(
        sch.trace().to_string(),
        "\
def apply_trace(sch):
    b0 = sch.get_block(name=\"C\")
    l1, l2, l3 = sch.get_loops(block=b0)
    l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True)
    sch.reorder(loops=[l4, l1])
    sch.bind(loop=l4, thread_axis=\"blockIdx.x\")
    sch.annotate(block_or_loop=l3, ann_key=\"pragma_unroll\", ann_val=16)
"
    );
    assert_eq!(
        sch.trace().to_json_lines().lines().nth(2),
        Some(r#"["split",{"r":[1,1]},[null,4],true]"#)
    );
}

#[test]
fn a_trace_names_loops_that_no_step_gave() {
    let mut sch = Schedule::new(parse(MATMUL));
    let block = sch.func().blocks_under(sch.func().root.into())[1];
    let target = sch.func().loops_above(block.into())[2];
    sch.unroll(target).expect("always allowed");
    assert_eq!(sch.trace().to_json_lines(), "[\"unroll\",[\"C\",2]]\n");
}

#[test]
fn a_refusal_underlines_the_loop_and_the_block() {
    let (mut sch, loops) = matmul();
    let error = sch.parallel(loops[2]).expect_err("a reduction");
    let text = error.render(sch.func());
    assert!(text.starts_with("error: parallel: "), "{text}");
    assert!(
        text.contains("^^^^ loop `k`") || text.contains("block \"C\""),
        "{text}"
    );
    let error = sch
        .split(loops[0], &[2.into(), 3.into()])
        .expect_err("6 < 7");
    let text = error.render(sch.func());
    assert!(
        text.contains(
            "split: the product of the factors, 6, is not known to reach the extent of loop `i`, 7"
        ),
        "{text}"
    );
    assert!(text.contains("for i, j, k in T.grid(7, 10, 12):"), "{text}");
}

#[test]
fn a_parallel_reduction_is_refused_and_changes_nothing() {
    let (mut sch, loops) = matmul();
    let before = sch.func().clone();
    let steps = sch.trace().steps().len();
    assert!(sch.vectorize(loops[2]).is_err());
    assert!(sch.bind(loops[2], ThreadAxis::BlockIdxX).is_err());
    assert!(sch.fuse(&[loops[0], loops[2]]).is_err());
    assert!(sch.reorder(&[loops[0], loops[0]]).is_err());
    assert_eq!(alpha_eq::prim_func(&before, sch.func()), Ok(()));
    assert_eq!(sch.trace().steps().len(), steps);
    // Threads of a workgroup may share a reduction.
    assert!(sch.bind(loops[2], ThreadAxis::ThreadIdxX).is_ok());
}
