//! Attention in blocks on a GPU: what the interpreter computes of the products, and of numbers of others; costs that need no GPU.

use weftile::explain::{Direction, KernelCost, Memory, explain, predict, time};
use weftile::ir::PrimFunc;
use weftile::kernel::{GpuClass, GpuModel, GpuTarget, LoweredFunc, Target};
use weftile::passes::{self, Cx};
use weftile::sched::rules::{self, Search};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::{interp, lower, script};

use super::cases::{data, gpu};
use super::launch::launch;

const NAMES: [&str; 4] = ["q", "k", "v", "b"];

/// The loop programs of a call, of tensors of these shapes, after these passes for a target.
fn programs(
    call: &str,
    shapes: &[&str],
    dtype: DType,
    target: &GpuTarget,
    before: Option<&GpuTarget>,
) -> Vec<PrimFunc> {
    let params: Vec<String> = NAMES
        .into_iter()
        .zip(shapes)
        .map(|(name, shape)| format!("{name}: R.Tensor({shape}, \"{dtype}\")"))
        .collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({}):\n        y = {call}\n        return y\n",
        params.join(", ")
    );
    let mut module = script::parse("attention.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let runs = [
        ("decompose_attention", before.unwrap_or(target)),
        ("legalize_ops", target),
    ];
    for (name, target) in runs {
        let cx = Cx::new(&module, &Target::Gpu(target.clone()));
        let pass = passes::pass(name).expect("it is a pass");
        module = cx.run(&pass, &module).expect("it runs");
    }
    module.prim_funcs().map(|(_, func)| func.clone()).collect()
}

/// The program in blocks of a call.
pub(super) fn in_blocks(call: &str, shapes: &[&str], dtype: DType, target: &GpuTarget) -> PrimFunc {
    let mut programs = programs(call, shapes, dtype, target, None);
    assert_eq!(programs.len(), 1, "{call} of {shapes:?}");
    programs.remove(0)
}

/// What the default rules make of a program on a device, the fastest of its ways.
pub(super) fn lowered(func: &PrimFunc, target: &GpuTarget) -> (Vec<&'static str>, LoweredFunc) {
    let model = GpuModel::of_target(target);
    let target = Target::Gpu(target.clone());
    let seconds = |lowered: &LoweredFunc| {
        let sizes: Vec<i64> = lowered
            .dims
            .iter()
            .map(|name| rules::usual_size(func, name))
            .collect();
        time(lowered, &sizes, &model).ok()
    };
    let (scheduled, lowered) = rules::choose_fastest(
        func,
        &target,
        |func| lower::lower(func, &target),
        seconds,
        Search::Promising,
    );
    (scheduled.rules, lowered.expect("lowers"))
}

/// The adapter, as if its shared memory were fast: then all attention is in blocks.
fn target_of(gpu: &weftile::runtime_gpu::Gpu) -> GpuTarget {
    GpuTarget {
        class: GpuClass::Unknown,
        ..gpu.target().clone()
    }
}

/// A call whose lengths may be open, of shapes that are text, and what these are in some calls; the last is that of the result.
struct Case<'a> {
    call: &'a str,
    types: &'a [&'a str],
    calls: &'a [&'a [&'a [usize]]],
    keys: usize,
}

fn check(case: &Case<'_>, dtype: DType) {
    let Some(gpu) = gpu() else { return };
    let target = target_of(&gpu);
    let func = in_blocks(case.call, case.types, dtype, &target);
    let (taken, lowered) = lowered(&func, &target);
    assert_eq!(taken, ["attention"], "{}", case.call);
    for kernel in &lowered.kernels {
        assert!(kernel.in_bounds, "{} has unproved accesses", kernel.name);
    }
    for shapes in case.calls {
        let make = || -> Vec<Tensor> {
            let tensors = shapes.iter().map(|shape| data(shape, false));
            tensors.map(|tensor| cast(&tensor, dtype)).collect()
        };
        let (mut tensors, mut expected) = (make(), make());
        interp::run_prim_func(&func, &mut expected).expect("the interpreter runs it");
        launch(&gpu, &lowered, &mut tensors, 1);
        let terms = case.keys + 64;
        let tolerance = Tolerance::of(dtype.scalar, terms);
        let at = shapes.len() - 1;
        let difference = compare(&expected[at], &tensors[at], tolerance);
        assert!(
            difference.is_ok(),
            "{} {shapes:?}: {difference:?}",
            case.call
        );
    }
}

pub(crate) fn cast(tensor: &Tensor, dtype: DType) -> Tensor {
    match dtype.scalar {
        ScalarType::F16 => {
            let values = tensor.as_slice::<f32>().expect("float32").iter();
            let bytes: Vec<u8> = values
                .flat_map(|x| half::f16::from_f32(*x).to_le_bytes())
                .collect();
            Tensor::from_bytes(dtype, tensor.shape(), &bytes).expect("two bytes each")
        }
        _ => tensor.clone(),
    }
}

#[test]
fn blocks_of_all_sizes_of_heads() {
    for (length, size) in [(77, 40), (20, 64), (33, 80), (37, 128), (16, 20)] {
        let shape = format!("(1, {length}, 2, {size})");
        let dims: &[usize] = &[1, length, 2, size];
        check(
            &Case {
                call: "R.nn.attention(q, k, v)",
                types: &[shape.as_str(); 3],
                calls: &[&[dims; 4]],
                keys: length + size,
            },
            DType::F32,
        );
    }
}

#[test]
fn masks_biases_and_shared_heads() {
    let types = [
        "(2, 37, 2, 32)",
        "(2, 141, 1, 32)",
        "(2, 141, 1, 48)",
        "(2, 1, 141)",
    ];
    let dims: &[&[usize]] = &[
        &[2, 37, 2, 32],
        &[2, 141, 1, 32],
        &[2, 141, 1, 48],
        &[2, 1, 141],
        &[2, 37, 2, 48],
    ];
    for mask in [
        "",
        ", causal_mask=\"TopLeft\"",
        ", causal_mask=\"BottomRight\"",
        ", causal_mask=\"BottomRight\", window_size=20",
    ] {
        let call = format!("R.nn.attention_bias(q, k, v, b{mask})");
        let case = Case {
            call: &call,
            types: &types,
            calls: &[dims],
            keys: 173,
        };
        check(&case, DType::F32);
    }
}

#[test]
fn halves_with_a_state_of_float32() {
    let case = Case {
        call: "R.nn.attention(q, k, v, causal_mask=\"TopLeft\")",
        types: &["(1, 70, 4, 64)", "(1, 70, 2, 64)", "(1, 70, 2, 64)"],
        calls: &[&[
            &[1, 70, 4, 64],
            &[1, 70, 2, 64],
            &[1, 70, 2, 64],
            &[1, 70, 4, 64],
        ]],
        keys: 70,
    };
    check(&case, DType::F16);
}

#[test]
fn open_lengths() {
    let of = |batch: usize, length: usize| [batch, length, 2, 16];
    let sizes = [(1, 1), (3, 9), (1, 64), (1, 70), (1, 0), (0, 5)];
    let shapes = sizes.map(|(batch, length)| of(batch, length));
    let shapes: Vec<[&[usize]; 4]> = shapes.iter().map(|shape| [&shape[..]; 4]).collect();
    let calls: Vec<&[&[usize]]> = shapes.iter().map(|shapes| &shapes[..]).collect();
    let case = Case {
        call: "R.nn.attention(q, k, v, causal_mask=\"TopLeft\")",
        types: &["(\"b\", \"n\", 2, 16)"; 3],
        calls: &calls,
        keys: 70,
    };
    check(&case, DType::F32);
}

/// Threads of a scheduled program are those of the interpreter, too.
#[test]
fn the_schedule_keeps_the_meaning() {
    let target = GpuTarget::usual(GpuClass::Nvidia);
    let call = "R.nn.attention(q, k, v, causal_mask=\"BottomRight\")";
    let types = ["(1, 19, 1, 8)", "(1, 37, 1, 8)", "(1, 37, 1, 12)"];
    let func = in_blocks(call, &types, DType::F32, &target);
    let scheduled = rules::schedule(&func, &Target::Gpu(target));
    assert_eq!(scheduled.rules, ["attention"]);
    let shapes: [&[usize]; 4] = [
        &[1, 19, 1, 8],
        &[1, 37, 1, 8],
        &[1, 37, 1, 12],
        &[1, 19, 1, 12],
    ];
    let make = || shapes.map(|shape| data(shape, false)).to_vec();
    let (mut before, mut after) = (make(), make());
    interp::run_prim_func(&func, &mut before).expect("runs");
    interp::run_prim_func(scheduled.schedule.func(), &mut after).expect("runs");
    let tolerance = Tolerance::of(ScalarType::F32, 45);
    compare(&before[3], &after[3], tolerance).expect("the same");
}

/// Seconds of kernels, and what they cost, of a model.
pub(super) fn costs(lowered: &LoweredFunc, model: &GpuModel) -> Vec<KernelCost> {
    let kernels = lowered.kernels.iter();
    kernels
        .map(|kernel| explain(kernel, &[], model).expect("a cost"))
        .collect()
}

const SIZES: [[usize; 3]; 7] = [
    [512, 12, 64],
    [2048, 12, 64],
    [77, 12, 64],
    [197, 3, 64],
    [256, 8, 40],
    [300, 8, 80],
    [128, 4, 128],
];

#[test]
fn default_attention_meets_in_no_bank_and_reads_whole_sectors() {
    for class in [GpuClass::Nvidia, GpuClass::Amd] {
        let target = GpuTarget::usual(class);
        let model = GpuModel::of(class);
        for [length, heads, size] in SIZES {
            let shape = format!("(1, {length}, {heads}, {size})");
            for mask in ["", ", causal_mask=\"TopLeft\""] {
                let call = format!("R.nn.attention(q, k, v{mask})");
                let func = in_blocks(&call, &[shape.as_str(); 3], DType::F32, &target);
                let (taken, lowered) = lowered(&func, &target);
                assert_eq!(taken, ["attention"], "{class:?} {call} {shape}");
                let [cost] = &costs(&lowered, &model)[..] else {
                    panic!("several kernels of {call} {shape}");
                };
                for access in &cost.accesses {
                    let place = format!(
                        "{class:?} {call} {shape}: {} of {}",
                        access.array, cost.kernel
                    );
                    match access.memory {
                        Memory::Shared => assert_eq!(access.excess(), 1.0, "{place}"),
                        Memory::Global => assert_eq!(access.share_used(), 1.0, "{place}"),
                    }
                }
                let written = cost.accesses.iter();
                let mut written = written.filter(|a| a.direction == Direction::Write);
                let scores = |a: &&weftile::explain::AccessCost| {
                    a.memory == Memory::Global && a.array != "attention"
                };
                assert!(!written.any(|a| scores(&a)), "scores are in memory");
            }
        }
    }
}

/// What one program may take in terms of products with a softmax between them: scores in memory are dearer than that.
const AS_FAST: f64 = 1.02;

/// Where attention stays one program, the model does not say that products with a softmax between them are faster. On Apple's and small
/// GPUs that does not hold for all of these sizes yet.
#[test]
fn blocks_are_taken_where_they_are_faster() {
    let call = "R.nn.attention(q, k, v)";
    let products = GpuTarget::usual(GpuClass::Software);
    for class in [GpuClass::Nvidia, GpuClass::Amd, GpuClass::Intel] {
        let target = GpuTarget::usual(class);
        let model = GpuModel::of(class);
        let seconds = |funcs: &[PrimFunc]| -> f64 {
            let lowered = funcs.iter().map(|func| lowered(func, &target).1);
            let costs = lowered.flat_map(|lowered| costs(&lowered, &model));
            costs.map(|cost| predict(&cost, &model).time).sum()
        };
        for [length, heads, size] in SIZES {
            let shape = format!("(1, {length}, {heads}, {size})");
            let of = |before| programs(call, &[shape.as_str(); 3], DType::F32, &target, before);
            let (taken, others) = (seconds(&of(None)), seconds(&of(Some(&products))));
            assert!(
                taken <= others * AS_FAST,
                "{class:?} {shape}: {taken} s, others {others} s"
            );
        }
    }
}

/// The definition of the operator picks the size of a block and of its panels, the rule the threads: the rule takes every block that is picked,
/// whatever the size of a head.
#[test]
fn the_rule_takes_every_block_that_is_picked() {
    let call = "R.nn.attention(q, k, v)";
    for class in [GpuClass::Nvidia, GpuClass::Mobile] {
        let target = GpuTarget::usual(class);
        let cores = target.cores();
        // As many blocks as the device has cores, of 64 queries, of 32 and of 16.
        for heads in [cores, (cores + 1) / 2, (cores + 3) / 4] {
            let mut taken = 0;
            for size in (4..=256).step_by(4) {
                let shape = format!("(1, 64, {heads}, {size})");
                let programs = programs(call, &[shape.as_str(); 3], DType::F32, &target, None);
                // Several programs are products with a softmax between them.
                if let [func] = programs.as_slice() {
                    let scheduled = rules::schedule(func, &Target::Gpu(target.clone()));
                    assert_eq!(scheduled.rules, ["attention"], "{class:?} {shape}");
                    taken += 1;
                }
            }
            assert!(taken >= 12, "{class:?}, {heads} heads: {taken}");
        }
    }
}
