//! Attention of few queries, whose keys are cut into parts: against sums in float64, on a GPU and in the interpreter; costs that need
//! no GPU.

use weftile::codegen_wgsl;
use weftile::explain::{Direction, Memory};
use weftile::interp;
use weftile::ir::PrimFunc;
use weftile::kernel::{GpuClass, GpuModel, GpuTarget, LoweredFunc};
use weftile::passes::{self, Cx};
use weftile::sched::rules;
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};

use super::attention::{cast, costs, in_blocks, lowered};
use super::cases::{data, gpu};
use super::goldens;
use super::launch::launch;

/// A call of one batch.
#[derive(Clone, Copy, Debug)]
struct Call {
    queries: usize,
    keys: usize,
    heads: usize,
    /// Heads that share keys.
    group: usize,
    /// Elements of a query, and of a value.
    sizes: [usize; 2],
    mask: Mask,
    bias: Bias,
    dtype: DType,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mask {
    None,
    TopLeft,
    BottomRight,
    Window(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bias {
    None,
    /// `[heads, queries, keys]`
    Full,
    /// `[1, 1, keys]`, minus infinity for every key but each third.
    Holes,
    /// The same for all keys.
    Nothing,
}

const PLAIN: Call = Call {
    queries: 1,
    keys: 1000,
    heads: 2,
    group: 1,
    sizes: [16, 16],
    mask: Mask::None,
    bias: Bias::None,
    dtype: DType::F32,
};

impl Call {
    fn shapes(&self) -> Vec<Vec<usize>> {
        let shared = self.heads / self.group;
        let [size, size_of_values] = self.sizes;
        let mut shapes = vec![
            vec![1, self.queries, self.heads, size],
            vec![1, self.keys, shared, size],
            vec![1, self.keys, shared, size_of_values],
        ];
        match self.bias {
            Bias::None => {}
            Bias::Full => shapes.push(vec![self.heads, self.queries, self.keys]),
            Bias::Holes | Bias::Nothing => shapes.push(vec![1, 1, self.keys]),
        }
        shapes
    }

    fn text(&self) -> String {
        let mask = match self.mask {
            Mask::None => String::new(),
            Mask::TopLeft => ", causal_mask=\"TopLeft\"".to_owned(),
            Mask::BottomRight => ", causal_mask=\"BottomRight\"".to_owned(),
            Mask::Window(width) => {
                format!(", causal_mask=\"BottomRight\", window_size={width}")
            }
        };
        match self.bias {
            Bias::None => format!("R.nn.attention(q, k, v{mask})"),
            _ => format!("R.nn.attention_bias(q, k, v, b{mask})"),
        }
    }

    /// The types of the operands, of an open number of keys where `keys` is a name.
    fn types(&self, keys: Option<&str>) -> Vec<String> {
        let shapes = self.shapes().into_iter().enumerate();
        let types = shapes.map(|(at, shape)| {
            let open = match at {
                1 | 2 => Some(1),
                3 => Some(2),
                _ => None,
            };
            let dims = shape.iter().enumerate().map(|(dim, n)| match keys {
                Some(name) if open == Some(dim) => format!("\"{name}\""),
                _ => n.to_string(),
            });
            format!("({})", dims.collect::<Vec<_>>().join(", "))
        });
        types.collect()
    }

    fn program(&self, keys: Option<&str>, target: &GpuTarget) -> PrimFunc {
        let types = self.types(keys);
        let types: Vec<&str> = types.iter().map(String::as_str).collect();
        in_blocks(&self.text(), &types, self.dtype, target)
    }

    /// The operands, rounded to their type, and room for the result.
    fn tensors(&self) -> Vec<Tensor> {
        let mut tensors: Vec<Tensor> = self.shapes().iter().map(|s| data(s, false)).collect();
        if matches!(self.bias, Bias::Holes | Bias::Nothing) {
            let hidden = |at: usize| self.bias == Bias::Nothing || !at.is_multiple_of(3);
            let values = (0..self.keys).map(|at| match hidden(at) {
                true => f32::NEG_INFINITY,
                false => at as f32 / 1000.0,
            });
            let values: Vec<f32> = values.collect();
            tensors[3] = Tensor::from_slice(&[1, 1, self.keys], &values).expect("as many");
        }
        let [_, size] = self.sizes;
        tensors.push(data(&[1, self.queries, self.heads, size], false));
        tensors.iter().map(|x| cast(x, self.dtype)).collect()
    }

    fn sees(&self, query: usize, key: usize) -> bool {
        let (own, width) = match self.mask {
            Mask::None => return true,
            Mask::TopLeft => (query as i64, 1 << 40),
            Mask::BottomRight => (
                query as i64 + self.keys as i64 - self.queries as i64,
                1 << 40,
            ),
            Mask::Window(width) => (query as i64 + self.keys as i64 - self.queries as i64, width),
        };
        (key as i64) <= own && key as i64 + width as i64 > own
    }

    /// The result in float64.
    fn expected(&self, tensors: &[Tensor]) -> Tensor {
        let numbers: Vec<Vec<f64>> = tensors.iter().map(numbers).collect();
        let [q, k, v] = [0, 1, 2].map(|at| &numbers[at]);
        let shared = self.heads / self.group;
        let [size, size_of_values] = self.sizes;
        let mut result = vec![];
        for row in 0..self.queries * self.heads {
            let (query, head) = (row / self.heads, row % self.heads);
            let seen = (0..self.keys).filter(|&key| self.sees(query, key));
            let scores = seen.map(|key| {
                let of_key = (key * shared + head / self.group) * size;
                let terms = (0..size).map(|e| q[row * size + e] * k[of_key + e]);
                let bias = match self.bias {
                    Bias::None => 0.0,
                    Bias::Full => numbers[3][(head * self.queries + query) * self.keys + key],
                    Bias::Holes | Bias::Nothing => numbers[3][key],
                };
                (key, terms.sum::<f64>() / (size as f64).sqrt() + bias)
            });
            let scores: Vec<(usize, f64)> = scores.collect();
            let sum: f64 = scores.iter().map(|(_, score)| score.exp()).sum();
            for e in 0..size_of_values {
                let of_value = |key: usize| (key * shared + head / self.group) * size_of_values + e;
                let values = scores.iter();
                let values = values.map(|(key, score)| score.exp() * v[of_value(*key)]);
                let mean = values.sum::<f64>() / sum;
                result.push(if scores.is_empty() && self.mask != Mask::None {
                    0.0
                } else {
                    mean as f32
                });
            }
        }
        let shape = [1, self.queries, self.heads, size_of_values];
        let result = Tensor::from_slice(&shape, &result).expect("as many");
        cast(&result, self.dtype)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::of(self.dtype.scalar, self.keys + self.sizes[0])
    }
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype().scalar {
        ScalarType::F16 => {
            let halves = tensor.bytes().chunks_exact(2);
            let halves = halves.map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f64());
            halves.collect()
        }
        _ => {
            let values = tensor.as_slice::<f32>().expect("float32").iter();
            values.map(|x| f64::from(*x)).collect()
        }
    }
}

/// The limits of the adapter, as if it were of a class.
fn target_of(gpu: &weftile::runtime_gpu::Gpu, class: GpuClass) -> GpuTarget {
    GpuTarget {
        class,
        known_cores: None,
        ..gpu.target().clone()
    }
}

/// Runs a program by the interpreter and on the GPU.
fn run(call: &Call, func: &PrimFunc, lowered: &LoweredFunc) {
    let Some(gpu) = gpu() else { return };
    let mut tensors = call.tensors();
    let expected = call.expected(&tensors);
    let result = tensors.len() - 1;
    let mut oracle = call.tensors();
    interp::run_prim_func(func, &mut oracle).expect("the interpreter runs it");
    launch(&gpu, lowered, &mut tensors, 1);
    for (by, got) in [("the interpreter", &oracle), ("the GPU", &tensors)] {
        let difference = compare(&expected, &got[result], call.tolerance());
        assert!(difference.is_ok(), "{by}, {call:?}: {difference:?}");
    }
}

fn check(call: &Call, class: GpuClass) {
    let Some(gpu) = gpu() else { return };
    let target = target_of(&gpu, class);
    let func = call.program(None, &target);
    let (taken, lowered) = lowered(&func, &target);
    assert_eq!(taken[0], "attention", "{call:?}");
    for kernel in &lowered.kernels {
        assert!(kernel.in_bounds, "{} has unproved accesses", kernel.name);
    }
    run(call, &func, &lowered);
}

/// A head of 128 elements, of whose keys a tile holds so few that the row is repeated.
#[test]
fn one_row_of_a_wide_head() {
    let call = Call {
        keys: 150,
        heads: 2,
        sizes: [128, 128],
        ..PLAIN
    };
    check(&call, GpuClass::Nvidia);
    check(&call, GpuClass::Amd);
}

#[test]
fn numbers_of_queries_and_keys() {
    for (queries, keys) in [
        (1, 1),
        (1, 63),
        (2, 64),
        (5, 65),
        (15, 130),
        (1, 1000),
        (4, 259),
    ] {
        let call = Call {
            queries,
            keys,
            ..PLAIN
        };
        check(&call, GpuClass::Nvidia);
    }
}

#[test]
fn heads_share_keys() {
    for (queries, group) in [(1, 3), (1, 4), (1, 8), (2, 3), (3, 8)] {
        let call = Call {
            queries,
            keys: 150,
            heads: 2 * group,
            group,
            sizes: [20, 12],
            mask: Mask::BottomRight,
            ..PLAIN
        };
        check(&call, GpuClass::Nvidia);
    }
}

#[test]
fn masks_and_windows() {
    for mask in [
        Mask::TopLeft,
        Mask::BottomRight,
        Mask::Window(1),
        Mask::Window(100),
    ] {
        for (queries, keys) in [(1, 300), (5, 300), (7, 3)] {
            let call = Call {
                queries,
                keys,
                heads: 6,
                group: 3,
                mask,
                ..PLAIN
            };
            check(&call, GpuClass::Nvidia);
        }
    }
}

#[test]
fn biases_that_hide_keys() {
    for bias in [Bias::Full, Bias::Holes, Bias::Nothing] {
        for mask in [Mask::None, Mask::BottomRight] {
            let call = Call {
                queries: 3,
                keys: 200,
                heads: 4,
                group: 2,
                bias,
                mask,
                ..PLAIN
            };
            check(&call, GpuClass::Nvidia);
        }
    }
}

#[test]
fn narrow_elements_and_wide_heads() {
    for (group, sizes) in [(1, [64, 64]), (4, [128, 128]), (2, [40, 72]), (1, [256, 4])] {
        for class in [GpuClass::Nvidia, GpuClass::Apple] {
            let call = Call {
                keys: 300,
                heads: group,
                group,
                sizes,
                mask: Mask::BottomRight,
                dtype: DType::F16,
                ..PLAIN
            };
            check(&call, class);
        }
    }
}

/// The lengths of a cache, one kernel for all, with fewer keys than there are parts, and none.
#[test]
fn open_numbers_of_keys() {
    let Some(gpu) = gpu() else { return };
    let target = target_of(&gpu, GpuClass::Nvidia);
    for (queries, mask, bias) in [
        (1, Mask::None, Bias::None),
        (1, Mask::BottomRight, Bias::Holes),
        (3, Mask::Window(70), Bias::None),
    ] {
        let call = Call {
            queries,
            heads: 4,
            group: 2,
            mask,
            bias,
            ..PLAIN
        };
        let func = call.program(Some("n"), &target);
        let (taken, lowered) = lowered(&func, &target);
        assert_eq!(taken[0], "attention", "{call:?}");
        for keys in [0, 1, 63, 65, 1000, 1501] {
            run(&Call { keys, ..call }, &func, &lowered);
        }
    }
}

/// A part that a row sees nothing of counts for nothing, whatever it holds; so do parts in which all scores are minus infinity.
#[test]
fn threads_of_the_schedule_are_those_of_the_interpreter() {
    let target = GpuTarget::usual(GpuClass::Nvidia);
    let call = Call {
        queries: 2,
        keys: 150,
        heads: 3,
        group: 3,
        sizes: [8, 12],
        mask: Mask::Window(20),
        ..PLAIN
    };
    let func = call.program(None, &target);
    let scheduled = rules::schedule(&func, &weftile::kernel::Target::Gpu(target));
    let mut tensors = call.tensors();
    let expected = call.expected(&tensors);
    interp::run_prim_func(scheduled.schedule.func(), &mut tensors).expect("runs");
    compare(&expected, &tensors[3], call.tolerance()).expect("the same");
}

/// Calls of models: queries, keys, heads, heads that share keys, and elements of a head.
const MODELS: [(usize, usize, usize, usize, usize, DType); 6] = [
    (1, 2048, 8, 1, 128, DType::F32),
    (1, 2048, 12, 1, 64, DType::F32),
    (1, 8192, 12, 1, 64, DType::F32),
    (4, 1024, 12, 1, 64, DType::F32),
    (1, 4096, 32, 4, 128, DType::F16),
    (1, 4096, 32, 8, 128, DType::F16),
];

fn of_model(of: (usize, usize, usize, usize, usize, DType)) -> Call {
    let (queries, keys, heads, group, size, dtype) = of;
    Call {
        queries,
        keys,
        heads,
        group,
        sizes: [size, size],
        dtype,
        ..PLAIN
    }
}

#[test]
fn keys_are_read_once_in_whole_sectors_and_meet_in_no_bank() {
    for class in [GpuClass::Nvidia, GpuClass::Amd, GpuClass::Intel] {
        let target = GpuTarget::usual(class);
        let model = GpuModel::of(class);
        for of in MODELS {
            let call = of_model(of);
            let func = call.program(None, &target);
            let (taken, lowered) = lowered(&func, &target);
            assert_eq!(taken[0], "attention");
            let costs = costs(&lowered, &model);
            assert_eq!(costs.len(), 2, "parts, and what merges them");
            let bytes = call.keys * call.heads / call.group * call.sizes[0] * call.dtype.bytes();
            for access in &costs[0].accesses {
                let place = format!("{class:?} {call:?}: {}", access.array);
                match (access.memory, access.array.as_str()) {
                    (Memory::Shared, _) => assert_eq!(access.excess(), 1.0, "{place}"),
                    (Memory::Global, "key" | "value") => {
                        assert_eq!(access.direction, Direction::Read);
                        assert_eq!(access.share_used(), 1.0, "{place}");
                        // The last part may be shorter than those that stand for all.
                        assert!(access.bytes < 1.05 * bytes as f64, "{place}");
                    }
                    (Memory::Global, _) => {}
                }
            }
        }
    }
}

/// One kernel for a cache of any length, and the kernel that merges its parts.
#[test]
fn kernels_of_an_open_cache() {
    let target = GpuTarget::usual(GpuClass::Nvidia);
    let call = Call {
        heads: 8,
        group: 4,
        sizes: [64, 64],
        mask: Mask::BottomRight,
        dtype: DType::F16,
        ..PLAIN
    };
    let func = call.program(Some("n"), &target);
    let (_, lowered) = lowered(&func, &target);
    let mut text = String::new();
    for kernel in &lowered.kernels {
        let wgsl = codegen_wgsl::emit(kernel, &target).expect("emits");
        codegen_wgsl::validate(&wgsl).expect("naga accepts it");
        text.push_str(&wgsl.text);
    }
    goldens::compare("attention.few_queries.nvidia.wgsl", &text);
}

/// Few rows of a device whose subgroups they do not fill, calls on software adapters, and heads that are no whole vectors, are products.
#[test]
fn other_calls_are_products() {
    let is_one = |call: &Call, class: GpuClass| {
        let types = call.types(None);
        let [q, k, v] = [0, 1, 2].map(|at| &types[at]);
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(q: R.Tensor({q}, \"float32\"), k: R.Tensor({k}, \"float32\"), v: R.Tensor({v}, \"float32\")):\n        y = R.nn.attention(q, k, v)\n        return y\n"
        );
        let module = script::parse("few.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let target = weftile::kernel::Target::Gpu(GpuTarget::usual(class));
        let cx = Cx::new(&module, &target);
        let pass = passes::pass("decompose_attention").expect("it is a pass");
        let after = cx.run(&pass, &module).expect("it runs");
        script::print(&after).contains("nn.attention")
    };
    assert!(is_one(&PLAIN, GpuClass::Nvidia));
    assert!(!is_one(&PLAIN, GpuClass::Software));
    assert!(!is_one(&PLAIN, GpuClass::Mobile));
    let odd = Call {
        sizes: [17, 16],
        ..PLAIN
    };
    assert!(!is_one(&odd, GpuClass::Nvidia));
}
