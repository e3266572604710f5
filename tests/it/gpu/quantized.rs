//! Products with weights of a few bits: kernels read them packed, and compute what the interpreter computes.

use std::collections::HashMap;

use weftile::artifact::Executable;
use weftile::kernel::{GpuClass, GpuTarget, Target, TempInfo};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::runtime_gpu::Gpu;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::{ProfileKind, VirtualMachine};
use weftile::{interp, script};

use super::cases::{data, gpu};

/// A product `x @ w` with weights of so many bits in `uint32` or `uint8`, in blocks along the sum.
#[derive(Clone, Copy)]
struct Case {
    /// Columns, and steps of the sum.
    n: usize,
    k: usize,
    bits: usize,
    block: usize,
    words: &'static str,
    zeros: bool,
    /// Whether numbers that lie side by side are those of a sum: `w` is (n, k), else (k, n).
    along_k: bool,
}

/// What a language model has, and MLC-LLM and onnxruntime write.
const USUAL: Case = Case {
    n: 40,
    k: 256,
    bits: 4,
    block: 32,
    words: "uint32",
    zeros: true,
    along_k: true,
};

impl Case {
    /// Numbers of a packed element.
    fn each(self) -> usize {
        let width = if self.words == "uint8" { 8 } else { 32 };
        width / self.bits
    }

    /// Extents of the packed weight, and of scales and zero points.
    fn shapes(self) -> [[usize; 2]; 2] {
        let blocks = self.k.div_ceil(self.block);
        match self.along_k {
            true => [[self.n, self.k.div_ceil(self.each())], [self.n, blocks]],
            false => [[self.k, self.n.div_ceil(self.each())], [blocks, self.n]],
        }
    }

    /// The module. The rows are a number, or "m".
    fn text(self, rows: &str) -> String {
        let Self {
            n,
            k,
            bits,
            block,
            words,
            ..
        } = self;
        let [packed, blocks] = self.shapes().map(|[a, b]| format!("({a}, {b})"));
        let axis = if self.along_k { 1 } else { 0 };
        let each = |x: &str| {
            format!(
                "R.strided_slice(R.repeat({x}, {block}, axis={axis}), axes=[{axis}], begin=[0], end=[{k}])"
            )
        };
        let numbers = format!("R.unpack_bits(w, bits={bits})");
        let ends = match self.along_k {
            true => format!("R.strided_slice({numbers}, axes=[1], begin=[0], end=[{k}])"),
            false => format!("R.strided_slice({numbers}, axes=[1], begin=[0], end=[{n}])"),
        };
        let middle = 1 << (bits - 1);
        let zero = match self.zeros {
            true => format!("R.astype({}, \"float32\")", each("z")),
            false => format!("R.const({middle}, \"float32\")"),
        };
        let (scale, weight) = (
            each("s"),
            if self.along_k {
                "R.permute_dims(d)"
            } else {
                "d"
            },
        );
        let m = match rows.parse::<usize>() {
            Ok(_) => String::new(),
            Err(_) => "        m = T.int64()\n".to_owned(),
        };
        let quoted = if m.is_empty() {
            rows.to_owned()
        } else {
            format!("\"{rows}\"")
        };
        format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({quoted}, {k}), "float32"), w: R.Tensor({packed}, "{words}"), s: R.Tensor({blocks}, "float32"), z: R.Tensor({blocks}, "int8")):
{m}        with R.dataflow():
            q = R.astype({ends}, "float32")
            d = R.multiply(R.subtract(q, {zero}), {scale})
            y = R.nn.relu(R.matmul(x, {weight}))
            R.output(y)
        return y
"#
        )
    }

    fn inputs(self, rows: usize) -> [Tensor; 4] {
        let [packed, blocks] = self.shapes();
        let mut state = 0x9e37_79b9_u32 ^ (self.k as u32);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let count = packed[0] * packed[1];
        let weights = match self.words {
            "uint8" => {
                let bytes: Vec<u8> = (0..count).map(|_| next() as u8).collect();
                Tensor::from_slice(&packed, &bytes)
            }
            _ => {
                let words: Vec<u32> = (0..count).map(|_| next()).collect();
                Tensor::from_slice(&packed, &words)
            }
        };
        let zeros = (0..blocks[0] * blocks[1]).map(|_| (next() % (1 << self.bits)) as i8);
        let zeros = Tensor::from_slice(&blocks, &zeros.collect::<Vec<i8>>());
        let weights = weights.expect("the shape fits");
        let zeros = zeros.expect("the shape fits");
        [
            data(&[rows, self.k], false),
            weights,
            data(&blocks, false),
            zeros,
        ]
    }
}

/// A target with the rules of a real GPU, and the limits of the one that is there.
fn nvidia(gpu: &Gpu) -> Target {
    let mut target = gpu.target().clone();
    target.class = GpuClass::Nvidia;
    Target::Gpu(target)
}

fn executable(text: &str, target: Target) -> Executable {
    let module = script::parse("case.py", text).unwrap_or_else(|e| panic!("{e}"));
    compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Runs the case with these rows, for which the module is made, or which are those of calls of one module. Each call is of loop programs
/// that the whole is fused to.
fn check(case: Case, rows: &[usize], open: bool) {
    let Some(gpu) = gpu() else { return };
    for target in [nvidia(&gpu), Target::Gpu(gpu.target().clone())] {
        check_on(&gpu, &target, case, rows, open);
    }
}

fn check_on(gpu: &Gpu, target: &Target, case: Case, rows: &[usize], open: bool) {
    let modules = if open {
        vec!["m".to_owned()]
    } else {
        rows.iter().map(usize::to_string).collect()
    };
    for of in modules {
        let text = case.text(&of);
        let module = script::parse("case.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let exec = executable(&text, target.clone());
        let mut machine = VirtualMachine::new(exec, Device::Gpu(gpu.clone())).expect("it loads");
        for &rows in rows.iter().filter(|rows| open || rows.to_string() == of) {
            let inputs = case.inputs(rows);
            let args: Vec<Value> = inputs.iter().cloned().map(Into::into).collect();
            let (result, profile) = machine.profile("main", &args).expect("it runs");
            let kernels = profile.entries.iter();
            let kernels = kernels.filter(|entry| entry.kind == ProfileKind::Kernel);
            // Small weights are unpacked by a kernel of their own.
            for kernel in kernels.filter(|_| case.n * case.k > 1024) {
                assert!(kernel.name.contains("matmul"), "{}: {}", kernel.name, text);
            }
            let result = machine.to_host(result).expect("it can be read");
            let args: Vec<_> = inputs.iter().cloned().map(interp::Value::Tensor).collect();
            let expected = match interp::run_module(&module, "main", &args, &HashMap::new()) {
                Ok(interp::Value::Tensor(result)) => result,
                other => panic!("{other:?}"),
            };
            let tolerance = Tolerance::of(ScalarType::F32, case.k);
            let result = result.into_tensor().expect("a tensor");
            compare(&expected, &result, tolerance)
                .unwrap_or_else(|e| panic!("{rows} rows: {e}\n{text}"));
        }
    }
}

#[test]
fn few_rows_many_rows_and_open_rows() {
    for along_k in [true, false] {
        let case = Case { along_k, ..USUAL };
        check(case, &[1, 3, 8, 17], false);
        check(case, &[1, 2, 3, 8, 9, 17, 64, 0], true);
    }
}

#[test]
fn numbers_of_other_widths() {
    for (bits, words) in [(8, "uint32"), (8, "uint8"), (4, "uint8"), (2, "uint32")] {
        for (along_k, block, zeros) in [(true, 32, true), (false, 128, false)] {
            check(
                Case {
                    bits,
                    words,
                    along_k,
                    block,
                    zeros,
                    ..USUAL
                },
                &[1, 8, 17],
                false,
            );
        }
    }
}

/// Sums that are no whole blocks, words or vectors, and columns that fill no workgroup.
#[test]
fn sums_and_columns_of_odd_extents() {
    for (n, k, block) in [
        (37, 264, 32),
        (13, 131, 32),
        (1, 200, 128),
        (130, 33, 128),
        (5, 1, 32),
    ] {
        for along_k in [true, false] {
            check(
                Case {
                    n,
                    k,
                    block,
                    along_k,
                    ..USUAL
                },
                &[1, 3],
                false,
            );
        }
    }
}

/// One kernel, which reads little more than the packed weight.
#[test]
fn no_unpacked_weight_is_in_memory() {
    let case = Case {
        n: 1024,
        k: 4096,
        ..USUAL
    };
    for rows in ["1", "8", "64"] {
        let nvidia = GpuTarget {
            class: GpuClass::Nvidia,
            ..GpuTarget::default()
        };
        let exec = executable(&case.text(rows), Target::Gpu(nvidia));
        for kernel in &exec.kernels {
            let elements = |temp: &TempInfo| temp.len.as_const().expect("all extents are known");
            let most = kernel.func.temps.iter().map(elements).max().unwrap_or(0);
            assert!(
                most < (case.n * case.k) as i64,
                "{rows}: {}",
                kernel.func.name
            );
        }
        assert_eq!(exec.kernels.len(), 1, "{rows}");
    }
}
