//! Reductions of many terms to few results, and of several elements at once, by every back end of the CPU: what the interpreter
//! computes, from the same bits for any number of threads.

use weftile::interp;
use weftile::ir::Module;
use weftile::kernel::{CpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile_until};
use weftile::runtime::{Device, Value};
use weftile::script::parse;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::scalar::{Scalar, encode};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::VirtualMachine;

/// A reduction: the shape of `x` as text, values of it, how `z` is computed, the rule that must take some block, and element types.
#[derive(Clone, Copy)]
struct Case {
    shape: &'static str,
    sizes: &'static [&'static [usize]],
    lines: &'static [&'static str],
    rule: &'static str,
    types: &'static [ScalarType],
}

const fn case(
    shape: &'static str,
    sizes: &'static [&'static [usize]],
    lines: &'static [&'static str],
    rule: &'static str,
) -> Case {
    Case {
        shape,
        sizes,
        lines,
        rule,
        types: &TYPES,
    }
}

/// A case of floats alone.
const fn floats(case: Case) -> Case {
    Case {
        types: TYPES.split_at(3).0,
        ..case
    }
}

const FEW: &str = "split_rows";
const OTHER: &str = "reduction";

/// Chunks have 16384 elements; there are at least four, or their number is open.
const CASES: &[Case] = &[
    case("70001,", &[&[70001]], &["z = R.sum(x)"], FEW),
    case("65536,", &[&[65536]], &["z = R.max(x)"], FEW),
    case("65535,", &[&[65535]], &["z = R.min(x)"], OTHER),
    floats(case("300, 257", &[&[300, 257]], &["z = R.mean(x)"], FEW)),
    // Rows are shorter than a vector, or the axes that are reduced are apart.
    case("30000, 3", &[&[30000, 3]], &["z = R.sum(x)"], FEW),
    case(
        "650, 3, 211",
        &[&[650, 3, 211]],
        &["z = R.sum(x, axis=[0, 2])"],
        FEW,
    ),
    // Results are side by side, and chunks have fewer terms.
    case("40000, 5", &[&[40000, 5]], &["z = R.sum(x, axis=0)"], FEW),
    case(
        "1030, 64",
        &[&[1030, 64]],
        &["z = R.max(x, axis=0, keepdims=True)"],
        FEW,
    ),
    // 200 columns, of which a thread has some, and rows of an open number.
    case("50, 200", &[&[50, 200]], &["z = R.sum(x, axis=0)"], OTHER),
    case("9, 512", &[&[9, 512]], &["z = R.sum(x, axis=0)"], OTHER),
    case(
        "\"n\", 256",
        &[&[40, 256], &[1, 256]],
        &["z = R.max(x, axis=0)"],
        OTHER,
    ),
    // Two reductions of one tensor, of which the second needs the first, and elements that follow.
    floats(case(
        "1, 70001",
        &[&[1, 70001]],
        &["z = R.variance(x, axis=1)"],
        FEW,
    )),
    floats(case(
        "1, 70001",
        &[&[1, 70001]],
        &["z = R.divide(x, R.max(x, axis=1, keepdims=True))"],
        FEW,
    )),
    // Open lengths, also such that there is one chunk or none is whole.
    case(
        "\"n\",",
        &[&[70001], &[16384], &[5], &[0]],
        &["z = R.sum(x)"],
        FEW,
    ),
    case(
        "\"n\", 40",
        &[&[2000, 40], &[7, 40]],
        &["z = R.sum(x)"],
        FEW,
    ),
    case(
        "\"n\", 7",
        &[&[20000, 7], &[7, 7], &[0, 7]],
        &["z = R.max(x, axis=0)"],
        FEW,
    ),
    case(
        "\"n\", \"m\"",
        &[&[300, 257], &[1, 3]],
        &["z = R.sum(x)"],
        FEW,
    ),
    // The value and the index of an extreme element.
    case("70001,", &[&[70001]], &["z = R.argmax(x)"], FEW),
    case("300, 257", &[&[300, 257]], &["z = R.argmin(x)"], FEW),
    case(
        "2, 70001",
        &[&[2, 70001]],
        &["z = R.argmax(x, axis=1)"],
        FEW,
    ),
    case(
        "20000, 5",
        &[&[20000, 5]],
        &["z = R.argmax(x, axis=0)"],
        FEW,
    ),
    case(
        "\"n\",",
        &[&[70001], &[31], &[1]],
        &["z = R.argmin(x)"],
        FEW,
    ),
    case("1000,", &[&[1000]], &["z = R.argmax(x)"], OTHER),
    case("5, 100", &[&[5, 100]], &["z = R.argmin(x, axis=1)"], OTHER),
    case(
        "5, 64",
        &[&[5, 64]],
        &["z = R.argmax(x, axis=-1, keepdims=True)"],
        OTHER,
    ),
    case(
        "\"n\", \"m\"",
        &[&[5, 100], &[3, 31], &[1, 1]],
        &["z = R.argmax(x, axis=1)"],
        OTHER,
    ),
    case(
        "2, 19, 5, 33",
        &[&[2, 19, 5, 33]],
        &["z = R.argmax(x, axis=1)"],
        OTHER,
    ),
    case(
        "2, 19, 64",
        &[&[2, 19, 64]],
        &["t = R.argmin(x, axis=1)", "z = R.astype(t, \"int32\")"],
        OTHER,
    ),
    case(
        "\"n\", 7, \"m\"",
        &[&[2, 7, 50], &[1, 7, 3]],
        &["z = R.argmax(x, axis=1)"],
        OTHER,
    ),
    case(
        "8, 700",
        &[&[8, 700]],
        &["t = R.argmax(x, axis=1)", "z = R.add(t, t)"],
        "rows",
    ),
    // Rows that others follow are computed one by one.
    Case {
        types: TYPES.split_at(1).0,
        ..case(
            "8, 65536",
            &[&[8, 65536]],
            &["z = R.divide(x, R.max(x, axis=1, keepdims=True))"],
            "rows",
        )
    },
    case(
        "1, \"n\"",
        &[&[1, 40000], &[1, 3]],
        &["z = R.subtract(x, R.max(x, axis=1, keepdims=True))"],
        FEW,
    ),
    Case {
        types: TYPES.split_at(2).0,
        ..case(
            "6, \"n\"",
            &[&[6, 40000], &[6, 3]],
            &["z = R.sum(x, axis=1)"],
            OTHER,
        )
    },
    case(
        "2, 3, 70001",
        &[&[2, 3, 70001]],
        &["z = R.max(x, axis=[0, 2])"],
        FEW,
    ),
    Case {
        types: TYPES.split_at(1).0,
        ..case(
            "\"n\", 3, 0",
            &[&[2, 3, 0]],
            &["z = R.sum(x, axis=[0, 2])"],
            OTHER,
        )
    },
];

const TYPES: [ScalarType; 5] = [
    ScalarType::F32,
    ScalarType::F64,
    ScalarType::F16,
    ScalarType::I32,
    ScalarType::I64,
];

fn module(case: &Case, dtype: ScalarType) -> Module {
    let lines = case.lines.iter();
    let lines: String = lines.map(|line| format!("            {line}\n")).collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor(({}), \"{}\")):\n        with R.dataflow():\n{lines}            R.output(z)\n        return z\n",
        case.shape,
        DType::from(dtype),
    );
    parse("few_results.py", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Small numbers of which many are the same; a few are no numbers and some zeros negative if asked.
fn tensor(shape: &[usize], dtype: ScalarType, special: bool) -> Tensor {
    let width = DType::from(dtype).bytes();
    let mut bytes = vec![0; shape.iter().product::<usize>() * width];
    for (i, out) in bytes.chunks_exact_mut(width).enumerate() {
        let number = (i * 7919 % 1013 % 41) as i64 - 20;
        let value = match (dtype.is_float(), special, i % 89) {
            (false, ..) => Scalar::Int(number),
            (true, true, 61) => Scalar::Float(f64::NAN),
            (true, true, 17) => Scalar::Float(-0.0),
            (true, ..) => Scalar::Float(number as f64 / 16.0),
        };
        encode(value, dtype, out);
    }
    Tensor::from_bytes(dtype.into(), shape, &bytes).expect("as many")
}

fn interpreted(module: &Module, x: &Tensor) -> Option<Tensor> {
    let given = [interp::Value::Tensor(x.clone())];
    match interp::run_module(module, "main", &given, &Default::default()) {
        Ok(interp::Value::Tensor(tensor)) => Some(tensor),
        // The position of one of no elements.
        Err(_) if x.shape().contains(&0) => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn few_results_are_those_of_the_interpreter_for_any_number_of_threads() {
    let back_ends: Vec<_> = crate::vm::back_ends().collect();
    for case in CASES {
        for &dtype in case.types {
            let module = module(case, dtype);
            let by = |backend: weftile::codegen_cpu::Backend, threads: usize| {
                let target = CpuTarget {
                    threads,
                    ..backend.target(2)
                };
                let options = CompileOptions::new(Target::Cpu(target));
                let compiled = compile_until(&module, &options, "bytecode");
                let compiled = compiled.unwrap_or_else(|e| panic!("{:?}: {e}", case.lines));
                let mut rules = compiled.scheduled.values().flat_map(|s| &s.rules);
                let taken = rules.any(|rule| *rule == case.rule);
                assert!(taken, "{:?} of {dtype:?} {}", case.lines, case.shape);
                let exec = compiled.executable.expect("the last stage makes it");
                VirtualMachine::with_backend(exec, Device::Cpu, backend).expect("it loads")
            };
            let mut machines: Vec<_> = back_ends.iter().map(|b| (b.name(), by(*b, 2))).collect();
            let last = *back_ends.last().expect("Cranelift is everywhere");
            let mut others = [1, 5].map(|threads| by(last, threads));
            for &size in case.sizes {
                let special = if dtype.is_float() {
                    &[false, true][..]
                } else {
                    &[false]
                };
                for &special in special {
                    let x = tensor(size, dtype, special);
                    let Some(want) = interpreted(&module, &x) else {
                        continue;
                    };
                    let run = |machine: &mut VirtualMachine| {
                        let got = machine.call("main", &[Value::from(x.clone())]);
                        let got =
                            got.unwrap_or_else(|e| panic!("{:?} of {size:?}: {e}", case.lines));
                        got.into_tensor().expect("a tensor")
                    };
                    let tolerance = Tolerance::of(dtype, x.shape().iter().product());
                    let mut got = vec![];
                    for (name, machine) in &mut machines {
                        got.push(run(machine));
                        compare(&want, &got[got.len() - 1], tolerance).unwrap_or_else(|e| {
                            panic!("{:?} of {dtype:?} {size:?} by {name}: {e}", case.lines)
                        });
                    }
                    let last = got.pop().expect("Cranelift is everywhere");
                    for other in &mut others {
                        let same = run(other).bytes() == last.bytes();
                        assert!(same, "{:?} of {dtype:?} {size:?}: bits differ", case.lines);
                    }
                }
            }
        }
    }
}
