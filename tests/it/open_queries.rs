//! Attention of an open number of queries to another open number of keys, as a model with a cache has it: one executable for one query
//! and for many, against sums in float64.

use weftile::arith::specialized;
use weftile::codegen_cpu::host_target;
use weftile::ir::PrimFunc;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::passes::{self, Cx};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::sched::rules;
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::{ProfileKind, VirtualMachine};

use crate::cpu;
use crate::gpu::attention::cast;
use crate::gpu::cases::{data, gpu};

const SIZE: usize = 16;
const SHARED: usize = 2;

/// A call of two heads of keys, of elements of this type.
#[derive(Clone, Copy, Debug)]
struct Call {
    group: usize,
    causal: bool,
    dtype: DType,
}

impl Call {
    fn heads(&self) -> usize {
        SHARED * self.group
    }

    fn text(&self) -> String {
        let (heads, dtype) = (self.heads(), self.dtype);
        let mask = match self.causal {
            true => ", causal_mask=\"BottomRight\"",
            false => "",
        };
        format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(q: R.Tensor((1, \"s\", {heads}, {SIZE}), \"{dtype}\"), \
             k: R.Tensor((1, \"m\", {SHARED}, {SIZE}), \"{dtype}\"), v: R.Tensor((1, \"m\", {SHARED}, {SIZE}), \"{dtype}\")):\n        \
             with R.dataflow():\n            y = R.nn.attention(q, k, v{mask})\n            R.output(y)\n        return y\n"
        )
    }

    fn tensors(&self, queries: usize, keys: usize) -> [Tensor; 3] {
        let shapes = [
            [1, queries, self.heads(), SIZE],
            [1, keys, SHARED, SIZE],
            [1, keys, SHARED, SIZE],
        ];
        shapes.map(|shape| cast(&data(&shape, false), self.dtype))
    }

    /// The result in float64.
    fn expected(&self, tensors: &[Tensor; 3]) -> Tensor {
        let [q, k, v] = tensors.each_ref().map(numbers);
        let (queries, keys) = (tensors[0].shape()[1], tensors[1].shape()[1]);
        let heads = self.heads();
        let mut result = vec![];
        for row in 0..queries * heads {
            let (query, shared) = (row / heads, row % heads / self.group);
            let seen = match self.causal {
                true => (query + keys + 1).saturating_sub(queries),
                false => keys,
            };
            let weight = |key: usize| {
                let of_key = (key * SHARED + shared) * SIZE;
                let terms = (0..SIZE).map(|e| q[row * SIZE + e] * k[of_key + e]);
                (terms.sum::<f64>() / (SIZE as f64).sqrt()).exp()
            };
            let weights: Vec<f64> = (0..seen).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            for e in 0..SIZE {
                let values = weights.iter().enumerate();
                let values = values.map(|(key, w)| w * v[(key * SHARED + shared) * SIZE + e]);
                result.push((values.sum::<f64>() / sum) as f32);
            }
        }
        let result = Tensor::from_slice(&[1, queries, heads, SIZE], &result).expect("as many");
        cast(&result, self.dtype)
    }

    fn machine(&self, target: Target, device: Device) -> VirtualMachine {
        let module = script::parse("open.py", &self.text()).unwrap_or_else(|e| panic!("{e}"));
        let exec = compile(&module, &CompileOptions::new(target)).expect("it compiles");
        VirtualMachine::new(exec, device).expect("it loads")
    }
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    let bytes = tensor.bytes();
    match tensor.dtype().scalar {
        ScalarType::F16 => (bytes.chunks_exact(2))
            .map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f64())
            .collect(),
        _ => (tensor.as_slice::<f32>().expect("float32").iter())
            .map(|x| f64::from(*x))
            .collect(),
    }
}

const CALLS: [(usize, bool, DType); 5] = [
    (1, false, DType::F32),
    (1, true, DType::F32),
    (4, false, DType::F32),
    (4, true, DType::F32),
    (4, true, DType::F16),
];

/// Numbers of queries, and of keys before them.
fn lengths() -> Vec<(usize, usize)> {
    let queries = [1, 2, 7, 15, 16, 17, 33, 100];
    let all = queries
        .into_iter()
        .flat_map(|s| [0, 1, 31, 100].map(|past| (s, past)));
    all.chain([(0, 0), (0, 5)]).collect()
}

/// Runs calls of these lengths; gives the names of the kernels of each.
fn check(
    call: &Call,
    machine: &mut VirtualMachine,
    lengths: &[(usize, usize)],
) -> Vec<(usize, Vec<String>)> {
    let mut all = vec![];
    for &(queries, past) in lengths {
        let tensors = call.tensors(queries, past + queries);
        let args: Vec<Value> = tensors.iter().cloned().map(Into::into).collect();
        let (result, profile) = machine.profile("main", &args).expect("it runs");
        let result = machine.to_host(result).expect("it can be read");
        let result = result.into_tensor().expect("a tensor");
        let tolerance = Tolerance::of(call.dtype.scalar, past + queries + SIZE);
        compare(&call.expected(&tensors), &result, tolerance)
            .unwrap_or_else(|e| panic!("{call:?}, {queries} queries after {past}: {e}"));
        let kernels = profile.entries.into_iter();
        let kernels = kernels.filter(|entry| entry.kind == ProfileKind::Kernel);
        all.push((queries, kernels.map(|entry| entry.name).collect()));
    }
    all
}

#[test]
fn one_executable_of_the_cpu_is_right_for_few_and_for_many() {
    for (group, causal, dtype) in CALLS {
        let call = Call {
            group,
            causal,
            dtype,
        };
        let mut machine = call.machine(Target::Cpu(host_target(2)), Device::Cpu);
        for (queries, names) in check(&call, &mut machine, &lengths()) {
            let is_few = names.iter().any(|name| name.contains("s_to_15"));
            assert!(
                queries == 0 || is_few == (queries < 16),
                "{queries}: {names:?}"
            );
        }
    }
}

#[test]
fn one_executable_of_a_gpu_is_right_for_few_and_for_many() {
    let Some(gpu) = gpu() else { return };
    for (group, causal, dtype) in [CALLS[0], CALLS[4]] {
        let call = Call {
            group,
            causal,
            dtype,
        };
        let target = GpuTarget {
            class: GpuClass::Nvidia,
            known_cores: None,
            ..gpu.target().clone()
        };
        let mut machine = call.machine(Target::Gpu(target), Device::Gpu(gpu.clone()));
        check(&call, &mut machine, &[(1, 31), (2, 0), (15, 1), (17, 31)]);
    }
}

/// The loop program of a call on the CPU.
fn program(call: &Call) -> PrimFunc {
    let module = script::parse("open.py", &call.text()).unwrap_or_else(|e| panic!("{e}"));
    let cx = Cx::new(&module, &Target::Cpu(host_target(2)));
    let pass = passes::pass("legalize_ops").expect("it is a pass");
    let module = cx.run(&pass, &module).expect("it has a program");
    let mut programs = module.prim_funcs().map(|(_, func)| func.clone());
    programs.next().expect("attention is a loop program")
}

/// Each side of the choice by each back end, and the choice itself by the interpreter.
#[test]
fn sides_of_the_choice_are_the_choice() {
    let call = Call {
        group: 2,
        causal: true,
        dtype: DType::F32,
    };
    let func = program(&call);
    let sides = rules::alternatives(&func);
    let [few, many] = sides.as_slice() else {
        panic!("{} sides", sides.len())
    };
    assert_eq!(few.sizes, "s_to_15");
    for (side, lengths) in [
        (few, [(1, 0), (1, 40), (15, 3)]),
        (many, [(16, 0), (17, 31), (70, 9)]),
    ] {
        let compiled = cpu::compile(&side.func);
        for kernel in &compiled.lowered.kernels {
            assert!(kernel.in_bounds, "{} has unproved accesses", kernel.name);
        }
        for (queries, past) in lengths {
            let mut tensors = call.tensors(queries, past + queries).to_vec();
            tensors.push(data(&[1, queries, call.heads(), SIZE], false));
            cpu::check(&func, &compiled, &tensors, past + queries + SIZE);
        }
    }
}

/// A size that is known leaves one side.
#[test]
fn a_known_number_of_queries_leaves_one_side() {
    let call = Call {
        group: 1,
        causal: false,
        dtype: DType::F32,
    };
    let func = program(&call);
    let queries = func.buffer_params().next().expect("queries").shape()[1].clone();
    let var = queries.as_var().expect("an open number");
    for (number, rules_of_many) in [(1, false), (64, true)] {
        let known = specialized(&func, &[(var.clone(), number)]);
        let sides = rules::alternatives(&known);
        assert_eq!(sides.len(), 1);
        let compiled = cpu::compile(&sides[0].func);
        assert_eq!(compiled.rules == ["attention"], rules_of_many);
    }
}
