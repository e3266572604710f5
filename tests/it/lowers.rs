//! Every program has kernels on every target without a schedule of its own, and they compute what the interpreter computes.

use std::collections::BTreeSet;
use std::io::Read as _;

use weftile::ir::{Func, LoopKind, Module, PrimFunc, verify};
use weftile::kernel::{CpuTarget, GpuClass, GpuTarget, LoweredFunc, Target};
use weftile::lower::{LowerError, LowerProblem, lower};
use weftile::sched::rules::{self, Scheduled};
use weftile::tensor::ScalarType;
use weftile::{passes, script};

use crate::data::data_dir;
use crate::{differential, runs};

/// The CPU, and GPUs for which the rules differ; lavapipe, which is one of the software adapters, ends long loops.
fn targets() -> Vec<(String, Target)> {
    let classes = [GpuClass::Nvidia, GpuClass::Software, GpuClass::Unknown];
    let gpu = |class| {
        let target = GpuTarget {
            class,
            f16: true,
            max_loop_passes: (class == GpuClass::Software).then_some(65_535),
            ..GpuTarget::default()
        };
        (format!("{class:?}"), Target::Gpu(target))
    };
    let gpus = classes.into_iter().map(gpu);
    gpus.chain([("CPU".to_owned(), cpu())]).collect()
}

fn cpu() -> Target {
    Target::Cpu(CpuTarget {
        threads: 2,
        f32_lanes: 4,
        vector_registers: 16,
        fma: true,
        dot_bytes: false,
    })
}

/// The program as the default rules schedule it for the device that it is of, and its kernels.
fn choose(func: &PrimFunc, target: &Target) -> (Scheduled, Result<LoweredFunc, LowerError>) {
    let mut module = Module::default();
    module
        .funcs
        .insert(func.name.clone(), Func::Prim(func.clone()));
    let bind = passes::pass("bind_target").expect("is there");
    let bound = passes::Cx::new(&module, target).run(&bind, &module);
    let bound = bound.expect("it refuses nothing");
    let func = bound.prim_func(&func.name).expect("it stays");
    let target = match passes::is_of_host(func) {
        true => &cpu(),
        false => target,
    };
    let chosen = rules::choose(func, target, |func| lower(func, target));
    match &chosen.1 {
        // The host runs these, as in `pipeline`.
        Err(error) if error.problem.is_of_long_loops() => {
            rules::choose(func, &cpu(), |func| lower(func, &cpu()))
        }
        _ => chosen,
    }
}

/// Whether the device cannot run the program in any schedule: it lacks a type. All devices have types of 16 to 64 bits, but GPUs
/// not all floats among them.
fn is_beyond(problem: &LowerProblem, target: &Target) -> bool {
    match problem {
        LowerProblem::WideType { .. } => matches!(target, Target::Gpu(_)),
        LowerProblem::DType { dtype, .. } => matches!(dtype.scalar, ScalarType::Small(_)),
        _ => false,
    }
}

/// The texts of recorded programs: these fields of the cases of a corpus, each once.
fn recorded(corpus: &str, fields: &[&str]) -> BTreeSet<String> {
    let Some(dir) = data_dir(corpus) else {
        return BTreeSet::new();
    };
    let path = dir.join(corpus).join("cases.jsonl.gz");
    let file = std::fs::File::open(path).expect("the corpus is there");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut lines)
        .expect("gzip");
    let texts = lines.lines().flat_map(|line| {
        let case: serde_json::Value = serde_json::from_str(line).expect("json");
        let texts = fields.iter().filter_map(|field| case[field].as_str());
        texts.map(str::to_owned).collect::<Vec<_>>()
    });
    texts.collect()
}

/// The loop programs of a text that are well formed and that nobody has scheduled; none of a text that is no module.
fn programs_of(text: &str) -> Vec<PrimFunc> {
    let module = script::parse("case.py", text).unwrap_or_else(|_| Module::default());
    let unscheduled = |func: &&PrimFunc| {
        let mut loops = func.loops.iter();
        loops.all(|(_, l)| l.kind == LoopKind::Serial)
    };
    let funcs = module.prim_funcs().map(|(_, func)| func);
    funcs
        .filter(|func| verify::prim_func(func).is_ok())
        .filter(unscheduled)
        .cloned()
        .collect()
}

/// Every so many programs of the corpora are tried: they are many, and alike.
const LOWERED: usize = 4;
/// Every so many are run.
const RUN: usize = 6;

/// Lowers each program for each target, and fails with those that have no kernels.
#[track_caller]
fn all_lower(texts: impl IntoIterator<Item = String>, least: usize) {
    let targets = targets();
    let mut failures = vec![];
    let mut count = 0;
    for func in texts.into_iter().flat_map(|text| programs_of(&text)) {
        count += 1;
        for (name, target) in &targets {
            let (scheduled, lowered) = choose(&func, target);
            if let Err(error) = lowered
                && !is_beyond(&error.problem, target)
            {
                let func = scheduled.schedule.func();
                let declined = scheduled.declined.iter().map(|d| format!("{d}\n"));
                let declined: String = declined.collect();
                failures.push(format!("{name}: {}{declined}", error.render(func)));
            }
        }
    }
    crate::script::report(&failures, count);
    assert!(count >= least, "only {count} programs");
}

/// The programs of the two corpora.
fn corpora() -> impl Iterator<Item = String> {
    let schedules = recorded("tvm-schedule-corpus", &["before", "after"]);
    let graphs = recorded("tvm-relax-corpus", &["source", "before", "after"]);
    schedules.into_iter().chain(graphs)
}

/// No program is too few where the corpora are absent.
fn at_least(count: usize) -> usize {
    let corpora = ["tvm-schedule-corpus", "tvm-relax-corpus"];
    let there = corpora.iter().all(|corpus| data_dir(corpus).is_some());
    if there { count } else { 0 }
}

#[test]
fn programs_of_the_corpora_lower_everywhere() {
    all_lower(corpora().step_by(LOWERED), at_least(160));
}

#[test]
fn programs_of_the_corpora_run_everywhere() {
    let programs = corpora().skip(1).step_by(RUN);
    let programs = programs.flat_map(|text| programs_of(&text));
    let count = runs::all_agree(programs);
    assert!(count >= at_least(40), "only {count} programs ran");
}

#[test]
fn programs_of_the_corpora_run_in_short_launches() {
    let programs = corpora().skip(2).step_by(4 * RUN);
    let programs = programs.flat_map(|text| programs_of(&text));
    let count = runs::all_agree_in_short_launches(programs);
    assert!(count >= at_least(10), "only {count} programs ran");
}

/// A program of two loops of which nobody knows how often they run, one for each thread.
const UNBOUNDED: &str = r#"
@T.prim_func
def f(A: T.Buffer((8,), "int32"), Y: T.Buffer((8,), "int32")):
    for t in range(8):
        with T.block("count"):
            vt = T.axis.spatial(8, t)
            while Y[vt] < A[vt]:
                Y[vt] = Y[vt] + 1
    for t in T.thread_binding(8, "threadIdx.x"):
        while Y[t] > 0 and A[t] > 0:
            Y[t] = Y[t] // 2
"#;

#[test]
fn loops_without_a_bound_lower_everywhere() {
    let module = script::parse("case.py", UNBOUNDED).unwrap_or_else(|errors| panic!("{errors}"));
    let func = module.prim_func("f").expect("is there");
    for (name, target) in targets() {
        let (scheduled, lowered) = choose(func, &target);
        let scheduled = scheduled.schedule.func();
        lowered.unwrap_or_else(|error| panic!("{name}: {}", error.render(scheduled)));
    }
}

#[test]
fn generated_programs_lower_everywhere() {
    all_lower((0..64).map(differential::program), 64);
}

/// Loops inside each other on one thread axis: a thread runs one iteration of both, which must be the same as to run the inner
/// loop in each iteration of the outer one.
#[test]
fn loops_of_one_axis_inside_each_other_repeat_nothing() {
    let lowered = |block: &str| {
        let text = format!(
            r#"
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in T.thread_binding(4, thread="threadIdx.x"):
{block}"#
        );
        let module = script::parse("axes.py", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let func = module.prim_func("main").expect("the program is there");
        lower(func, &Target::Gpu(GpuTarget::default())).map_err(|error| error.render(func))
    };
    let copy = r#"
            with T.block("copy"):
                vj = T.axis.spatial(4, j)
                B[vj] = A[vj]
"#;
    let from_zero = r#"
            with T.block("zero"):
                vj = T.axis.spatial(4, j)
                B[vj] = T.float32(0)
            with T.block("add"):
                vj = T.axis.spatial(4, j)
                B[vj] = B[vj] + A[vj]
"#;
    for good in [copy, from_zero] {
        lowered(good).unwrap_or_else(|error| panic!("{error}"));
    }
    let added_to = r#"
            with T.block("add"):
                vj = T.axis.spatial(4, j)
                B[vj] = B[vj] + A[vj]
"#;
    let outer = r#"
            with T.block("outer"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj] = A[vi]
"#;
    for (refused, message) in [
        (
            added_to,
            "`main`: a loop bound to threadIdx.x repeats updates of `B` inside of another loop of that axis",
        ),
        (
            outer,
            "`main`: a loop bound to threadIdx.x stands inside another one",
        ),
    ] {
        let error = lowered(refused).expect_err("the outer loop means something");
        assert!(error.contains(message), "{error}");
        assert!(
            error.contains("for j in T.thread_binding(4, thread=\"threadIdx.x\")"),
            "{error}"
        );
    }
}

/// Of iterations that store to one element the last one counts.
#[test]
fn iterations_that_may_store_to_one_element_stay_in_order() {
    let text = r#"
@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), Y: T.Buffer((64,), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[INDEX] = A[vi, vj]
"#;
    for (index, in_order) in [("vi * vj", true), ("vi * 8 + vj", false)] {
        let text = text.replace("INDEX", index);
        let module = script::parse("case.py", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let func = module.prim_func("f").expect("is there");
        for (name, target) in targets() {
            let (scheduled, _) = choose(func, &target);
            let serial = scheduled.rules == ["serial"];
            assert_eq!(serial, in_order, "{name}, {index}: {:?}", scheduled.rules);
        }
    }
}

#[test]
fn a_kernel_of_more_tensors_than_the_device_has_buffers_is_refused() {
    let sum = |inputs: usize| {
        let params: Vec<String> = (0..inputs)
            .map(|i| format!("A{i}: T.Buffer((4,), \"float32\"), "))
            .collect();
        let terms: Vec<String> = (0..inputs).map(|i| format!("A{i}[i]")).collect();
        let text = format!(
            r#"
@T.prim_func
def main({}B: T.Buffer((4,), "float32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        B[i] = {}
"#,
            params.concat(),
            terms.join(" + ")
        );
        let module = script::parse("sum.py", &text).unwrap_or_else(|errors| panic!("{errors}"));
        let func = module.prim_func("main").expect("the program is there");
        let lowered = |gpu| lower(func, &Target::Gpu(gpu)).map_err(|error| error.render(func));
        [GpuTarget::default(), GpuTarget::desktop()].map(lowered)
    };
    assert!(sum(7).iter().all(Result::is_ok));
    let [few, more] = sum(11);
    let error = few.expect_err("eight buffers are too few");
    let said = "needs 12 storage buffers (one for each tensor that a kernel reads or writes), the device has 8";
    assert!(error.contains(said), "{error}");
    assert!(more.is_ok(), "desktop GPUs have 16");
    let [_, more] = sum(16);
    assert!(more.is_err_and(|error| error.contains("needs 17 storage buffers")));
}
