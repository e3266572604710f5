//! Generated programs: the interpreter, every back end of the CPU and the GPU must agree.
//!
//! Programs are generated as TVMScript text from bytes, so a failure prints a seed and a program to paste. Sizes include 0, 1,
//! 2, primes and more rows than a dispatch has workgroups in one dimension; inputs include NaN, infinities and -0.0, and the
//! ends of `int32`.

use std::fmt::Write as _;

use arbitrary::{Arbitrary, Result, Unstructured};
use weftile::codegen_cpu::Backend;
use weftile::kernel::Target;
use weftile::pipeline::{self, CompileOptions};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::{self, Checks};
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::scalar::{Scalar, encode};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

/// A module whose `main` takes `inputs` and gives one tensor.
struct Case {
    text: String,
    inputs: Vec<Tensor>,
    dtype: ScalarType,
    /// Length of the longest sum behind one output element.
    reduction: usize,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "inputs {:?}\n{}", self.inputs, self.text)
    }
}

/// A dimension: its extent, and how the text says it.
#[derive(Clone)]
struct Dim {
    extent: usize,
    text: String,
}

/// The program of a seed, with elements of this type.
fn case_of(seed: u64, dtype: ScalarType) -> Case {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
    .take(512)
    .collect();
    case(&mut Unstructured::new(&bytes), dtype).expect("enough bytes")
}

/// The text of the program of a seed, of `float32`.
pub(crate) fn program(seed: u64) -> String {
    case_of(seed, ScalarType::F32).text
}

struct Generator<'a, 'b> {
    bytes: &'a mut Unstructured<'b>,
    dtype: ScalarType,
    symbolic: bool,
    dims: Vec<Dim>,
}

const EXTENTS: [usize; 12] = [0, 1, 2, 3, 5, 7, 13, 17, 31, 64, 67, 130];

/// Extents of sums.
const SUMS: [usize; 9] = [0, 1, 2, 7, 31, 64, 67, 257, 1031];

impl Generator<'_, '_> {
    /// A new dimension; a symbolic one has a name of its own.
    fn dim(&mut self, extents: &[usize]) -> Result<Dim> {
        let extent = *self.bytes.choose(extents)?;
        let text = if self.symbolic && self.bytes.ratio(2, 3)? {
            format!("n{}", self.dims.len())
        } else {
            extent.to_string()
        };
        let dim = Dim { extent, text };
        self.dims.push(dim.clone());
        Ok(dim)
    }

    fn input(&mut self, dims: &[Dim], special: bool) -> Result<Tensor> {
        let shape: Vec<_> = dims.iter().map(|d| d.extent).collect();
        let mut state = u64::arbitrary(self.bytes)? | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let floats = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            0.0,
            f64::from(f32::MIN_POSITIVE / 2.0),
        ];
        let ints = [i32::MIN, i32::MAX, -1, 0];
        let mut element = || {
            let at = (next() % 64) as usize;
            let value = next();
            match self.dtype {
                ScalarType::Bool => Scalar::Int((value % 2) as i64),
                ScalarType::I32 if special && at < ints.len() => Scalar::Int(ints[at].into()),
                ScalarType::I32 => Scalar::Int((value % 201) as i64 - 100),
                _ if special && at < floats.len() => Scalar::Float(floats[at]),
                _ => Scalar::Float((value % 2001) as f64 / 500.0 - 2.0),
            }
        };
        let width = DType::from(self.dtype).bytes();
        let mut bytes = vec![0; shape.iter().product::<usize>() * width];
        for out in bytes.chunks_exact_mut(width) {
            encode(element(), self.dtype, out);
        }
        let tensor = Tensor::from_bytes(self.dtype.into(), &shape, &bytes);
        Ok(tensor.expect("as many as the shape says"))
    }

    /// A number of the element type, as text.
    fn literal(&self, value: f64) -> String {
        match self.dtype {
            ScalarType::Bool => if value == 0.0 {
                "T.bool(False)"
            } else {
                "T.bool(True)"
            }
            .to_owned(),
            ScalarType::I32 => format!("T.int32({})", value as i32),
            ty => format!("T.{ty}({value})"),
        }
    }

    /// An element expression over the loads.
    fn expr(&mut self, loads: &[String], depth: u32) -> Result<String> {
        if depth == 0 || self.bytes.ratio(1, 4)? {
            return if self.bytes.ratio(1, 4)? {
                self.constant()
            } else {
                Ok(self.bytes.choose(loads)?.clone())
            };
        }
        let a = self.expr(loads, depth - 1)?;
        match self.dtype {
            ScalarType::Bool => self.of_truth_values(a, loads, depth - 1),
            ScalarType::I32 => self.of_integers(a, loads, depth - 1),
            _ => self.of_floats(a, loads, depth - 1),
        }
    }

    fn constant(&mut self) -> Result<String> {
        let byte = u8::arbitrary(self.bytes)?;
        Ok(match self.dtype {
            ScalarType::Bool => self.literal((byte % 2).into()),
            ScalarType::I32 => self.literal(f64::from(byte) - 128.0),
            ty => format!("T.{ty}({:.2})", f64::from(byte) / 50.0 - 2.0),
        })
    }

    fn of_floats(&mut self, a: String, loads: &[String], depth: u32) -> Result<String> {
        Ok(match self.bytes.int_in_range(0..=9)? {
            0 => format!("T.exp({a})"),
            1 => format!("T.tanh({a})"),
            2 => format!("T.sqrt(T.abs({a}))"),
            3 => format!("T.max({a}, {})", self.expr(loads, depth)?),
            4 => format!("T.min({a}, {})", self.expr(loads, depth)?),
            5 => format!("({a} - {})", self.expr(loads, depth)?),
            6 => format!("{a} * {}", self.expr(loads, depth)?),
            7 => {
                let (b, c) = (self.expr(loads, depth)?, self.expr(loads, depth)?);
                format!("T.if_then_else({a} < {b}, {b}, {c})")
            }
            _ => format!("({a} + {})", self.expr(loads, depth)?),
        })
    }

    fn of_integers(&mut self, a: String, loads: &[String], depth: u32) -> Result<String> {
        let positive = |bytes: &mut Unstructured<'_>| bytes.int_in_range(1..=17);
        Ok(match self.bytes.int_in_range(0..=11)? {
            0 => format!("({a} // T.int32({}))", positive(self.bytes)?),
            1 => format!("({a} % T.int32({}))", positive(self.bytes)?),
            2 => format!("T.shift_right({a}, T.int32({}))", positive(self.bytes)?),
            3 => format!("T.bitwise_and({a}, {})", self.expr(loads, depth)?),
            4 => format!("T.bitwise_xor({a}, {})", self.expr(loads, depth)?),
            5 => format!("T.max({a}, {})", self.expr(loads, depth)?),
            6 => format!("T.min({a}, {})", self.expr(loads, depth)?),
            7 => format!("({a} - {})", self.expr(loads, depth)?),
            8 => format!("({a} * {})", self.expr(loads, depth)?),
            9 => {
                let (b, c) = (self.expr(loads, depth)?, self.expr(loads, depth)?);
                format!("T.if_then_else({a} < {b}, {b}, {c})")
            }
            _ => format!("({a} + {})", self.expr(loads, depth)?),
        })
    }

    fn of_truth_values(&mut self, a: String, loads: &[String], depth: u32) -> Result<String> {
        Ok(match self.bytes.int_in_range(0..=4)? {
            0 => format!("(not {a})"),
            1 => format!("({a} and {})", self.expr(loads, depth)?),
            2 => format!("({a} or {})", self.expr(loads, depth)?),
            3 => format!("({a} != {})", self.expr(loads, depth)?),
            _ => {
                let (b, c) = (self.expr(loads, depth)?, self.expr(loads, depth)?);
                format!("T.if_then_else({a}, {b}, {c})")
            }
        })
    }
}

fn tuple(dims: &[Dim], quote: bool) -> String {
    let mut out = String::from("(");
    for dim in dims {
        let symbolic = quote && dim.text.starts_with('n');
        let _ = write!(
            out,
            "{}{}{}, ",
            if symbolic { "\"" } else { "" },
            dim.text,
            if symbolic { "\"" } else { "" }
        );
    }
    out.trim_end().to_owned() + ")"
}

/// The module around a loop body: parameters `A`, `B`, … of these dims, output `Y`.
fn module(
    generator: &Generator<'_, '_>,
    inputs: &[Vec<Dim>],
    output: &[Dim],
    body: &str,
) -> String {
    let dtype = generator.dtype;
    let names = ["A", "B", "C", "D"];
    let lower: Vec<_> = names.iter().map(|n| n.to_lowercase()).collect();
    let mut symbolic: Vec<_> = generator
        .dims
        .iter()
        .map(|d| d.text.as_str())
        .filter(|t| t.starts_with('n'))
        .collect();
    symbolic.dedup();
    let mut text = String::from("@I.ir_module\nclass Module:\n    @T.prim_func\n    def f(");
    inputs.iter().zip(&lower).for_each(|(_, n)| {
        let _ = write!(text, "{n}: T.handle, ");
    });
    text.push_str("y: T.handle):\n");
    symbolic.iter().for_each(|n| {
        let _ = writeln!(text, "        {n} = T.int64()");
    });
    for (dims, (name, handle)) in inputs.iter().zip(names.iter().zip(&lower)) {
        let _ = writeln!(
            text,
            "        {name} = T.match_buffer({handle}, {}, \"{dtype}\")",
            tuple(dims, false)
        );
    }
    let _ = writeln!(
        text,
        "        Y = T.match_buffer(y, {}, \"{dtype}\")",
        tuple(output, false)
    );
    body.lines().for_each(|line| {
        let _ = writeln!(text, "        {line}");
    });
    text.push_str("\n    @R.function\n    def main(");
    let params: Vec<_> = inputs
        .iter()
        .zip(&lower)
        .map(|(dims, n)| format!("{n}: R.Tensor({}, \"{dtype}\")", tuple(dims, true)))
        .collect();
    let _ = writeln!(text, "{}):", params.join(", "));
    symbolic.iter().for_each(|n| {
        let _ = writeln!(text, "        {n} = T.int64()");
    });
    let args: Vec<_> = inputs
        .iter()
        .zip(&lower)
        .map(|(_, n)| format!("{n}, "))
        .collect();
    let _ = writeln!(text, "        with R.dataflow():");
    let out = tuple(output, false);
    let _ = writeln!(
        text,
        "            out = R.call_tir(Module.f, ({}), R.Tensor({out}, \"{dtype}\"))",
        args.concat().trim_end()
    );
    text.push_str("            R.output(out)\n        return out\n");
    text
}

/// Loops over the dims with one block; `reduce` dims come last.
fn nest(block: &str, dims: &[Dim], reduce: usize, init: Option<&str>, store: &str) -> String {
    let vars: Vec<_> = (0..dims.len()).map(|i| format!("i{i}")).collect();
    let iters: Vec<_> = (0..dims.len()).map(|i| format!("v{i}")).collect();
    let kinds: String = (0..dims.len())
        .map(|i| if i + reduce >= dims.len() { 'R' } else { 'S' })
        .collect();
    let extents: Vec<_> = dims.iter().map(|d| d.text.clone()).collect();
    let mut text = format!(
        "for {} in T.grid({}):\n",
        vars.join(", "),
        extents.join(", ")
    );
    let _ = writeln!(text, "    with T.block(\"{block}\"):");
    let iters = if iters.len() == 1 {
        iters[0].clone()
    } else {
        iters.join(", ")
    };
    let remap = if dims.len() == 1 {
        format!(
            "T.axis.{}({}, i0)",
            if reduce == 1 { "reduce" } else { "spatial" },
            extents[0]
        )
    } else {
        format!("T.axis.remap(\"{kinds}\", [{}])", vars.join(", "))
    };
    let _ = writeln!(text, "        {iters} = {remap}");
    if let Some(init) = init {
        let _ = writeln!(text, "        with T.init():\n            {init}");
    }
    let _ = writeln!(text, "        {store}");
    text
}

fn index(buffer: &str, iters: &[usize]) -> String {
    let iters: Vec<_> = iters.iter().map(|i| format!("v{i}")).collect();
    format!("{buffer}[{}]", iters.join(", "))
}

/// A case of any family.
fn case(bytes: &mut Unstructured<'_>, dtype: ScalarType) -> Result<Case> {
    let symbolic = bool::arbitrary(bytes)?;
    let family = bytes.int_in_range(0..=4)?;
    let mut g = Generator {
        bytes,
        dtype,
        symbolic,
        dims: vec![],
    };
    match family {
        0 => elementwise(&mut g, &EXTENTS),
        1 => matmul(&mut g),
        2 => reduction(&mut g),
        3 => transpose(&mut g),
        _ => elementwise(&mut g, &[65_536, 65_537, 70_001]),
    }
}

fn elementwise(g: &mut Generator<'_, '_>, rows: &[usize]) -> Result<Case> {
    let mut dims = vec![g.dim(rows)?];
    for _ in 0..g
        .bytes
        .int_in_range(0..=if rows.len() > 3 { 2 } else { 0 })?
    {
        dims.push(g.dim(&EXTENTS)?);
    }
    // B is A's shape without the first dimension: a broadcast.
    let all: Vec<_> = (0..dims.len()).collect();
    let mut inputs = vec![dims.clone()];
    let mut loads = vec![index("A", &all)];
    if dims.len() > 1 {
        inputs.push(dims[1..].to_vec());
        loads.push(index("B", &all[1..]));
    }
    let value = g.expr(&loads, 3)?;
    let body = nest(
        "Y",
        &dims,
        0,
        None,
        &format!("{} = {value}", index("Y", &all)),
    );
    let tensors = inputs
        .iter()
        .map(|d| g.input(d, true))
        .collect::<Result<_>>()?;
    Ok(Case {
        text: module(g, &inputs, &dims, &body),
        inputs: tensors,
        dtype: g.dtype,
        reduction: 1,
    })
}

fn matmul(g: &mut Generator<'_, '_>) -> Result<Case> {
    let (m, n, k) = (g.dim(&EXTENTS)?, g.dim(&EXTENTS)?, g.dim(&SUMS)?);
    let transposed = bool::arbitrary(g.bytes)?;
    let b = if transposed {
        vec![n.clone(), k.clone()]
    } else {
        vec![k.clone(), n.clone()]
    };
    let load = index("B", if transposed { &[1, 2] } else { &[2, 1] });
    let y = index("Y", &[0, 1]);
    let a = index("A", &[0, 2]);
    let store = match g.dtype {
        ScalarType::Bool => format!("{y} = {y} or {a} and {load}"),
        _ => format!("{y} = {y} + {a} * {load}"),
    };
    let init = format!("{y} = {}", g.literal(0.0));
    let body = nest(
        "Y",
        &[m.clone(), n.clone(), k.clone()],
        1,
        Some(&init),
        &store,
    );
    let inputs = [vec![m.clone(), k.clone()], b];
    let tensors = inputs
        .iter()
        .map(|d| g.input(d, false))
        .collect::<Result<_>>()?;
    Ok(Case {
        text: module(g, &inputs, &[m, n], &body),
        inputs: tensors,
        dtype: g.dtype,
        reduction: k.extent,
    })
}

fn reduction(g: &mut Generator<'_, '_>) -> Result<Case> {
    let (n, k) = (g.dim(&EXTENTS)?, g.dim(&SUMS)?);
    let max = bool::arbitrary(g.bytes)?;
    let (y, a) = (index("Y", &[0]), index("A", &[0, 1]));
    let (store, least) = match (g.dtype, max) {
        (ScalarType::Bool, true) => (format!("{y} = {y} or {a}"), 0.0),
        (ScalarType::Bool, false) => (format!("{y} = {y} and {a}"), 1.0),
        (_, true) => (format!("{y} = T.max({y}, {a})"), -1000.0),
        (_, false) => (format!("{y} = {y} + {a}"), 0.0),
    };
    let init = format!("{y} = {}", g.literal(least));
    let body = nest("Y", &[n.clone(), k.clone()], 1, Some(&init), &store);
    let inputs = [vec![n.clone(), k.clone()]];
    let tensors = vec![g.input(&inputs[0], max)?];
    Ok(Case {
        text: module(g, &inputs, &[n], &body),
        inputs: tensors,
        dtype: g.dtype,
        reduction: if max { 1 } else { k.extent },
    })
}

fn transpose(g: &mut Generator<'_, '_>) -> Result<Case> {
    let (m, n) = (g.dim(&EXTENTS)?, g.dim(&EXTENTS)?);
    let store = format!("{} = {}", index("Y", &[0, 1]), index("A", &[1, 0]));
    let body = nest("Y", &[n.clone(), m.clone()], 0, None, &store);
    let inputs = [vec![m.clone(), n.clone()]];
    let tensors = vec![g.input(&inputs[0], true)?];
    Ok(Case {
        text: module(g, &inputs, &[n, m], &body),
        inputs: tensors,
        dtype: g.dtype,
        reduction: 1,
    })
}

/// Cases of `float32` that one run of the test tries.
const CASES: u64 = 120;

/// Cases of each other element type.
const OTHERS: u64 = 30;

/// A device and what the compiler must know of it.
struct Place {
    name: String,
    device: Device,
    target: Target,
    /// What makes native code.
    backend: Backend,
}

fn back_ends() -> Vec<Place> {
    let place = |backend: Backend| Place {
        name: format!("the CPU by {}", backend.name()),
        device: Device::Cpu,
        target: Target::Cpu(backend.target(2)),
        backend,
    };
    crate::vm::back_ends().map(place).collect()
}

fn gpu() -> Option<Place> {
    let adapter = runtime_gpu::adapters().into_iter().next();
    let required = std::env::var_os("WEFTILE_REQUIRE_GPU").is_some_and(|v| v == "1");
    let Some(adapter) = adapter else {
        assert!(!required, "WEFTILE_REQUIRE_GPU=1, but there is no adapter");
        return None;
    };
    let gpu = adapter.open(Checks::default()).expect("the adapter opens");
    Some(Place {
        name: "the GPU".to_owned(),
        target: Target::Gpu(gpu.target().clone()),
        device: Device::Gpu(gpu),
        backend: Backend::default(),
    })
}

fn run(place: &Place, case: &Case) -> std::result::Result<Tensor, String> {
    let module = script::parse("case.py", &case.text).map_err(|e| e.to_string())?;
    let options = CompileOptions::new(place.target.clone());
    let executable = pipeline::compile(&module, &options).map_err(|e| e.to_string())?;
    let vm = VirtualMachine::with_backend(executable, place.device.clone(), place.backend);
    let mut vm = vm.map_err(|e| e.to_string())?;
    let args: Vec<_> = case.inputs.iter().cloned().map(Value::Tensor).collect();
    let result = vm.call("main", &args).map_err(|e| e.to_string())?;
    let result = vm.to_host(result).map_err(|e| e.to_string())?;
    result.into_tensor().map_err(|e| e.to_string())
}

fn interpret(case: &Case) -> Tensor {
    let module = script::parse("case.py", &case.text).unwrap_or_else(|e| panic!("{e}\n{case:?}"));
    let args: Vec<_> = case
        .inputs
        .iter()
        .cloned()
        .map(interp::Value::Tensor)
        .collect();
    let result = interp::run_module(&module, "main", &args, &Default::default());
    match result.unwrap_or_else(|e| panic!("{e}\n{case:?}")) {
        interp::Value::Tensor(tensor) => tensor,
        other => panic!("main gave {other:?}"),
    }
}

/// The case with ordinary numbers in place of NaN, infinities and subnormal numbers. A shader compiler may assume that there are
/// no NaN and infinities (WGSL, "Floating Point Evaluation") and makes 0 of `x - x`; a device may take subnormal numbers for 0,
/// and then compares them as equal. What kernels do keep of them has tests of its own.
fn ordinary_inputs(case: &Case) -> Case {
    let ordinary = |tensor: &Tensor| {
        let values = tensor.as_slice::<f32>().expect("f32").iter();
        let values: Vec<f32> = values
            .map(|v| if v.is_normal() || *v == 0.0 { *v } else { 0.25 })
            .collect();
        Tensor::from_slice(tensor.shape(), &values).expect("the same shape")
    };
    Case {
        text: case.text.clone(),
        inputs: case.inputs.iter().map(ordinary).collect(),
        dtype: case.dtype,
        reduction: case.reduction,
    }
}

/// `got`, but as expected wherever an overflow is expected.
fn where_finite(expected: &Tensor, got: &Tensor) -> Tensor {
    let pairs = expected
        .as_slice::<f32>()
        .expect("f32")
        .iter()
        .zip(got.as_slice::<f32>().expect("f32"));
    let values: Vec<f32> = pairs
        .map(|(e, g)| if e.is_finite() { *g } else { *e })
        .collect();
    Tensor::from_slice(got.shape(), &values).expect("the same shape")
}

/// What a case computes differs from the interpreter's numbers by no more than rounding explains.
fn check(place: &Place, case: &Case, expected: &Tensor, got: &Tensor) {
    let tolerance = Tolerance::of(case.dtype, case.reduction).max(Tolerance::of(case.dtype, 64));
    if let Err(difference) = compare(expected, got, tolerance) {
        panic!("{}: {difference}\n{case:?}", place.name);
    }
}

fn run_and_check(place: &Place, case: &Case, expected: &Tensor) {
    let got = run(place, case).unwrap_or_else(|e| panic!("{}: {e}\n{case:?}", place.name));
    check(place, case, expected, &got);
}

#[test]
fn generated_programs_agree_on_every_back_end() {
    let back_ends = back_ends();
    for seed in 0..CASES {
        let case = case_of(seed, ScalarType::F32);
        let expected = interpret(&case);
        for place in &back_ends {
            run_and_check(place, &case, &expected);
        }
    }
}

#[test]
fn generated_programs_agree_on_the_gpu() {
    let Some(gpu) = gpu() else { return };
    for seed in 0..CASES {
        let case = ordinary_inputs(&case_of(seed, ScalarType::F32));
        let expected = interpret(&case);
        let got = run(&gpu, &case).unwrap_or_else(|e| panic!("{e}\n{case:?}"));
        check(&gpu, &case, &expected, &where_finite(&expected, &got));
    }
}

/// Programs of these elements agree on every back end of the CPU. Seeds are not those of other types.
fn agree(dtype: ScalarType, first: u64) {
    let back_ends = back_ends();
    for seed in first..first + OTHERS {
        let case = case_of(seed, dtype);
        let expected = interpret(&case);
        for place in &back_ends {
            run_and_check(place, &case, &expected);
        }
    }
}

#[test]
fn generated_programs_of_float64_agree() {
    agree(ScalarType::F64, 1000);
}

#[test]
fn generated_programs_of_float16_agree() {
    agree(ScalarType::F16, 2000);
}

#[test]
fn generated_programs_of_integers_agree() {
    agree(ScalarType::I32, 3000);
}

#[test]
fn generated_programs_of_truth_values_agree() {
    agree(ScalarType::Bool, 4000);
}
