//! Reductions and what is computed with their results, as importers write them, become one loop program that gives the same.

use weftile::interp;
use weftile::ir::Module;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::lower::lower;
use weftile::pipeline::{CompileOptions, compile, compile_until};
use weftile::runtime::{Device, Value};
use weftile::sched::rules::choose;
use weftile::script::parse;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::{ProfileKind, VirtualMachine};

/// A function of `x` and of two rows `g` and `b`, and how many loop programs it becomes.
struct Chain {
    shape: &'static str,
    /// Values of `x`: its shapes.
    sizes: &'static [&'static [usize]],
    lines: &'static [&'static str],
    programs: usize,
}

const SOFTMAX: &[&str] = &[
    "m = R.max(x, axis=-1, keepdims=True)",
    "s = R.subtract(x, m)",
    "e = R.exp(s)",
    "t = R.sum(e, axis=-1, keepdims=True)",
    "z = R.divide(e, t)",
];

const LAYER_NORM: &[&str] = &[
    "u = R.mean(x, axis=-1, keepdims=True)",
    "d = R.subtract(x, u)",
    "q = R.multiply(d, d)",
    "v = R.mean(q, axis=-1, keepdims=True)",
    "a = R.add(v, R.const(1e-5, \"float32\"))",
    "r = R.rsqrt(a)",
    "n = R.multiply(d, r)",
    "w = R.multiply(n, g)",
    "z = R.add(w, b)",
];

const CHAINS: &[Chain] = &[
    Chain {
        shape: r#"("n", 40)"#,
        sizes: &[&[5, 40], &[1, 40], &[0, 40]],
        lines: SOFTMAX,
        programs: 1,
    },
    Chain {
        shape: r#"("n", "k")"#,
        sizes: &[&[4, 17], &[3, 1], &[2, 0]],
        lines: SOFTMAX,
        programs: 1,
    },
    // More of a row than an array of a thread holds.
    Chain {
        shape: "(3, 20000)",
        sizes: &[&[3, 20000]],
        lines: SOFTMAX,
        programs: 1,
    },
    Chain {
        shape: "(1, 6, 40)",
        sizes: &[&[1, 6, 40]],
        lines: LAYER_NORM,
        programs: 1,
    },
    Chain {
        shape: r#"(2, "n", 40)"#,
        sizes: &[&[2, 3, 40], &[2, 0, 40]],
        lines: &[
            "q = R.multiply(x, x)",
            "v = R.mean(q, axis=-1, keepdims=True)",
            "r = R.rsqrt(R.add(v, R.const(1e-5, \"float32\")))",
            "n = R.multiply(x, r)",
            "z = R.multiply(n, g)",
        ],
        programs: 1,
    },
    // Log-softmax without kept dimensions.
    Chain {
        shape: "(4, 40)",
        sizes: &[&[4, 40]],
        lines: &[
            "m = R.max(x, axis=-1, keepdims=True)",
            "s = R.subtract(x, m)",
            "t = R.sum(R.exp(s), axis=[1])",
            "l = R.expand_dims(R.log(t), axis=1)",
            "z = R.subtract(s, l)",
        ],
        programs: 1,
    },
    // An epilogue of a reduction.
    Chain {
        shape: "(6, 40)",
        sizes: &[&[6, 40]],
        lines: &["t = R.sum(x, axis=-1)", "z = R.sqrt(R.abs(t))"],
        programs: 1,
    },
    // The results of a product are scaled with the product, not with the softmax. It reads `x` twice as it lies.
    Chain {
        shape: "(7, 40)",
        sizes: &[&[7, 40]],
        lines: &[
            "p = R.matmul(x, R.permute_dims(x))",
            "x2 = R.multiply(p, R.const(0.1, \"float32\"))",
            "m = R.max(x2, axis=-1, keepdims=True)",
            "e = R.exp(R.subtract(x2, m))",
            "z = R.divide(e, R.sum(e, axis=-1, keepdims=True))",
        ],
        programs: 2,
    },
    // Rows are those of the first dimension here and of the second there.
    Chain {
        shape: "(5, 40)",
        sizes: &[&[5, 40]],
        lines: &["t = R.sum(x, axis=0, keepdims=True)", "z = R.divide(x, t)"],
        programs: 2,
    },
    // What is reduced is used by others too; the sum of both ends goes with one of them.
    Chain {
        shape: "(5, 40)",
        sizes: &[&[5, 40]],
        lines: &[
            "d = R.exp(x)",
            "t = R.sum(d, axis=-1, keepdims=True)",
            "y = R.divide(d, t)",
            "z = R.add(y, R.matmul(d, R.zeros((40, 40), \"float32\")))",
        ],
        programs: 3,
    },
];

/// A function that computes `z` in a dataflow block.
fn function(name: &str, params: &str, lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| format!("            {line}\n"));
    let lines: String = lines.collect();
    format!(
        "    @R.function\n    def {name}({params}):\n        with R.dataflow():\n{lines}            R.output(z)\n        return z\n"
    )
}

fn parsed(functions: &str) -> Module {
    let text = format!("@I.ir_module\nclass Module:\n{functions}");
    parse("reductions.py", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn module() -> Module {
    let functions = CHAINS.iter().enumerate().map(|(at, chain)| {
        let shape = chain.shape;
        let params = format!(
            "x: R.Tensor({shape}, \"float32\"), g: R.Tensor((40,), \"float32\"), b: R.Tensor((40,), \"float32\")"
        );
        function(&format!("f{at}"), &params, chain.lines)
    });
    parsed(&functions.collect::<String>())
}

fn tensor(shape: &[usize]) -> Tensor {
    let number = |i: usize| ((i * 37) % 64) as f32 / 16.0 - 2.0;
    let values: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_slice(shape, &values).expect("as many")
}

#[test]
fn chains_are_one_program() {
    let options = CompileOptions::new(crate::vm::cpu().0);
    let module = module();
    for (at, chain) in CHAINS.iter().enumerate() {
        let mut alone = Module::default();
        let name = format!("f{at}");
        let func = module.funcs[&name].clone();
        alone.funcs.insert(name, func);
        let fused = compile_until(&alone, &options, "dead_code_elimination");
        let fused = fused.unwrap_or_else(|e| panic!("{e}")).module;
        let names: Vec<&str> = fused.prim_funcs().map(|(name, _)| name).collect();
        assert_eq!(names.len(), chain.programs, "{:?}: {names:?}", chain.lines);
    }
}

#[test]
fn chains_compute_the_same() {
    let module = module();
    let (g, b) = (tensor(&[40]), tensor(&[40]));
    for (target, device) in crate::vm::devices() {
        let on_gpu = matches!(target, Target::Gpu(_));
        let exec = compile(&module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device.clone()).expect("it loads");
        for (at, chain) in CHAINS.iter().enumerate() {
            for &size in chain.sizes {
                let args = [tensor(size), g.clone(), b.clone()];
                let name = format!("f{at}");
                let given = args.clone().map(interp::Value::Tensor);
                let expected = interp::run_module(&module, &name, &given, &Default::default());
                let Ok(interp::Value::Tensor(expected)) = expected else {
                    panic!("{expected:?}");
                };
                let got = machine.call(&name, &args.map(Value::from));
                let got = machine.to_host(got.expect("it runs")).expect("a tensor");
                let terms = size.last().copied().unwrap_or(1);
                let tolerance = Tolerance::of(ScalarType::F32, terms);
                let got = got.into_tensor().expect("a tensor");
                compare(&expected, &got, tolerance).unwrap_or_else(|e| {
                    panic!("{:?} of {size:?}, GPU {on_gpu}: {e}", chain.lines);
                });
            }
        }
    }
}

/// The shape of `x`, and a reduction of it with what comes before and after: one kernel.
const EPILOGUES: &[(&str, &[&str])] = &[
    (r#"(9, "n", 33)"#, &["t = R.sum(x, axis=1)", "z = R.exp(t)"]),
    (
        r#"(9, "n", 33)"#,
        &["t = R.min(x, axis=1)", "a = R.abs(t)", "z = R.sqrt(a)"],
    ),
    (
        r#"("n", 70, 33)"#,
        &[
            "e = R.abs(x)",
            "s = R.sqrt(e)",
            "t = R.max(s, axis=1)",
            "z = R.negative(t)",
        ],
    ),
    (
        r#"("n", 70, 33)"#,
        &["t = R.sum(x, axis=-1)", "z = R.tanh(t)"],
    ),
    (
        r#"(9, "n", 33)"#,
        &["t = R.argmax(x, axis=1)", "z = R.add(t, t)"],
    ),
    (
        r#"("n", 70, 33)"#,
        &[
            "t = R.argmin(x, axis=-1, keepdims=True)",
            "z = R.astype(t, \"float32\")",
        ],
    ),
    (
        r#"("n", 70, 33)"#,
        &[
            "a = R.negative(x)",
            "t = R.argmax(a, axis=1)",
            "z = R.multiply(t, R.const(3, \"int64\"))",
        ],
    ),
];

/// Numbers of which several are the same, and a few are none.
fn with_ties() -> Tensor {
    let number = |i: usize| match i % 97 {
        13 => f32::NAN,
        _ => ((i * 37) % 11) as f32 - 5.0,
    };
    let values: Vec<f32> = (0..9 * 70 * 33).map(number).collect();
    Tensor::from_slice(&[9, 70, 33], &values).expect("as many")
}

/// The devices, and the GPU with the default schedules of two other classes.
fn devices_and_classes() -> Vec<(Target, Device)> {
    let mut targets = crate::vm::devices();
    if let Some((Target::Gpu(gpu), device)) = targets.last().cloned() {
        for class in [GpuClass::Nvidia, GpuClass::Mobile] {
            let gpu = GpuTarget {
                class,
                ..gpu.clone()
            };
            targets.push((Target::Gpu(gpu), device.clone()));
        }
    }
    targets
}

#[test]
fn epilogues_run_in_the_kernel_of_their_reduction() {
    let x = with_ties();
    let targets = devices_and_classes();
    for (shape, lines) in EPILOGUES {
        let params = format!("x: R.Tensor({shape}, \"float32\")");
        let module = parsed(&function("main", &params, lines));
        let given = [interp::Value::Tensor(x.clone())];
        let expected = interp::run_module(&module, "main", &given, &Default::default());
        let Ok(interp::Value::Tensor(expected)) = expected else {
            panic!("{expected:?}");
        };
        for (target, device) in &targets {
            let exec = compile(&module, &CompileOptions::new(target.clone()));
            let exec = exec.unwrap_or_else(|e| panic!("{lines:?}: {e}"));
            let mut machine = VirtualMachine::new(exec, device.clone()).expect("it loads");
            let (got, profile) = machine
                .profile("main", &[x.clone().into()])
                .expect("it runs");
            let kernels = profile.entries.iter();
            let kernels = kernels.filter(|e| e.kind == ProfileKind::Kernel).count();
            assert_eq!(kernels, 1, "{lines:?}, {target:?}: {profile}");
            let got = machine.to_host(got).expect("it can be read");
            let got = got.into_tensor().expect("a tensor");
            let tolerance = Tolerance::of(ScalarType::F32, 70);
            compare(&expected, &got, tolerance)
                .unwrap_or_else(|e| panic!("{lines:?}, {target:?}: {e}"));
        }
    }
}

/// Few rows, and long ones.
const LONG_ROWS: &[(&[usize], &[&str])] = &[
    (&[262144], &["z = R.sum(x)"]),
    (&[99990], &["z = R.max(x)"]),
    (
        &[2, 40000],
        &["t = R.sum(x, axis=-1)", "z = R.sqrt(R.abs(t))"],
    ),
    (&[600, 250], &["z = R.mean(x)"]),
    (&[3, 40000, 1], &["z = R.sum(x, axis=[1, 2])"]),
    (&[2, 1, 40000], &["z = R.sum(x, axis=[1, 2])"]),
    (&[3, 512, 33], &["z = R.min(x, axis=[1, 2], keepdims=True)"]),
    (&[16384], &["t = R.abs(x)", "z = R.sum(t, axis=0)"]),
    (&[65536], &["t = R.max(x)", "z = R.divide(x, t)"]),
    (&[1, 50000], &["z = R.argmax(x, axis=1)"]),
    (&[2, 30000], &["z = R.nn.softmax(x, axis=-1)"]),
];

#[test]
fn long_rows_are_reduced_by_several_workgroups() {
    let targets = devices_and_classes();
    let mut split = 0;
    for (shape, lines) in LONG_ROWS {
        let extents = shape.iter().map(|n| format!("{n}, ")).collect::<String>();
        let params = format!("x: R.Tensor(({extents}), \"float32\")");
        let module = parsed(&function("main", &params, lines));
        let x = tensor(shape);
        let given = [interp::Value::Tensor(x.clone())];
        let expected = interp::run_module(&module, "main", &given, &Default::default());
        let Ok(interp::Value::Tensor(expected)) = expected else {
            panic!("{expected:?}");
        };
        for (target, device) in &targets {
            let options = CompileOptions::new(target.clone());
            let compiled = compile_until(&module, &options, "bytecode");
            let compiled = compiled.unwrap_or_else(|e| panic!("{lines:?}: {e}"));
            let rules = compiled.scheduled.values().flat_map(|s| &s.rules);
            split += rules.filter(|rule| **rule == "split_rows").count();
            let exec = compiled.executable.expect("the last stage makes it");
            let mut machine = VirtualMachine::new(exec, device.clone()).expect("it loads");
            let got = machine.call("main", &[x.clone().into()]).expect("it runs");
            let got = machine.to_host(got).expect("it can be read");
            let got = got.into_tensor().expect("a tensor");
            let terms = shape.iter().product();
            compare(&expected, &got, Tolerance::of(ScalarType::F32, terms))
                .unwrap_or_else(|e| panic!("{lines:?}, {target:?}: {e}"));
        }
    }
    let gpus = targets.iter().filter(|(t, _)| matches!(t, Target::Gpu(_)));
    assert!(split >= 5 * gpus.count(), "{split} reductions were split");
}

/// The lengths are such that nothing is known of what threads add to an index.
#[test]
fn a_reduction_of_what_open_lengths_join_compiles_for_each_class() {
    let lines = [
        "p = R.matmul(x, R.permute_dims(x, axes=[0, 2, 1]))",
        "z = R.std(R.concat([p, x], axis=2), axis=[1, 2])",
    ];
    let params = r#"x: R.Tensor(("k", "k", "m"), "float32")"#;
    let module = parsed(&function("main", params, &lines));
    for class in [GpuClass::Software, GpuClass::Nvidia] {
        let target = Target::Gpu(GpuTarget::usual(class));
        let compiled = compile(&module, &CompileOptions::new(target));
        assert!(compiled.is_ok(), "{class:?}: {:?}", compiled.err());
    }
}

/// Fewer results than a workgroup has threads, whose last extent divides no number of threads.
#[test]
fn few_results_are_threads_of_a_gpu() {
    for (shape, reduced) in [
        ("5, 7, 3", "z = R.sum(x, axis=0)"),
        ("2, 3, 4, 5", "z = R.max(x, axis=1)"),
        ("3, 5, 7, 9", "z = R.mean(x, axis=[0, 2])"),
        ("5, 7, 3", "z = R.argmin(x, axis=0)"),
        (
            "3, 20, 3",
            "z = R.matmul(R.sum(x, axis=0), R.ones((3, 5), \"float32\"))",
        ),
    ] {
        let params = format!("x: R.Tensor(({shape}), \"float32\")");
        let module = parsed(&function("main", &params, &[reduced]));
        for class in [GpuClass::Software, GpuClass::Nvidia] {
            let target = Target::Gpu(GpuTarget::usual(class));
            let options = CompileOptions::new(target.clone());
            let fused = compile_until(&module, &options, "dead_code_elimination");
            let fused = fused.unwrap_or_else(|e| panic!("{e}")).module;
            for (name, func) in fused.prim_funcs() {
                let (scheduled, lowered) = choose(func, &target, |f| lower(f, &target));
                assert!(lowered.is_ok(), "{reduced}: {:?}", lowered.err());
                let rules = scheduled.rules;
                assert!(!rules.contains(&"serial"), "{name} of {reduced}: {rules:?}");
            }
        }
    }
}

/// Written out, the last value of each has more than 2 to the power of 40 parts.
#[test]
fn chains_of_values_that_are_used_twice_compile() {
    let targets = crate::vm::devices();
    let x = tensor(&[6, 5]);
    for (first, step) in [
        (
            "a0 = R.abs(x)",
            &["a{next} = R.sqrt(R.multiply(a{at}, a{at}))"][..],
        ),
        (
            "a0 = R.abs(x)",
            &["a{next} = R.maximum(R.negative(a{at}), a{at})"][..],
        ),
        ("a0 = R.sum(x, axis=0)", &["a{next} = R.nn.silu(a{at})"][..]),
        (
            "a0 = R.matmul(x, R.permute_dims(x))",
            &[
                "t{at} = R.tanh(a{at})",
                "a{next} = R.subtract(a{at}, t{at})",
            ][..],
        ),
    ] {
        let mut lines = vec![first.to_owned()];
        for at in 0..40 {
            let step = step.iter().map(|line| {
                let line = line.replace("{next}", &(at + 1).to_string());
                line.replace("{at}", &at.to_string())
            });
            lines.extend(step);
        }
        lines.push("z = R.negative(a40)".to_owned());
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let params = "x: R.Tensor((6, 5), \"float32\")";
        let module = parsed(&function("main", params, &lines));
        let given = [interp::Value::Tensor(x.clone())];
        let expected = interp::run_module(&module, "main", &given, &Default::default());
        let Ok(interp::Value::Tensor(expected)) = expected else {
            panic!("{expected:?}");
        };
        for (target, device) in &targets {
            let exec = compile(&module, &CompileOptions::new(target.clone()));
            let exec = exec.unwrap_or_else(|e| panic!("{first}: {e}"));
            let mut machine = VirtualMachine::new(exec, device.clone()).expect("it loads");
            let got = machine.call("main", &[x.clone().into()]).expect("it runs");
            let got = machine.to_host(got).expect("it can be read");
            let got = got.into_tensor().expect("a tensor");
            compare(&expected, &got, Tolerance::of(ScalarType::F32, 40))
                .unwrap_or_else(|e| panic!("{first}, {target:?}: {e}"));
        }
    }
}
