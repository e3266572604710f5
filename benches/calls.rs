//! What a call costs beside its kernels: `cargo bench --bench calls`.
//!
//! A loop program over four elements is called through each way that a machine has, on the CPU, with arguments that are there
//! already: by name, by a handle, with memory for the result, with inputs set before, as a saved call with its result and without it,
//! and as a future. A function that calls that one, and one that takes a branch, show what an activation and a branch cost.

#![allow(missing_docs, reason = "criterion's macros write public items")]

use criterion::{Criterion, criterion_group, criterion_main};
use weftile::codegen_cpu::host_target;
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::script::parse;
use weftile::tensor::{DType, Tensor};
use weftile::vm::{IncludeReturn, VirtualMachine};

const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = T.max(X[vi], T.float32(0))

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return y

    @R.function
    def nested(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        cls = Module
        y = cls.main(x)
        return y

    @R.function
    def branch(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        if c:
            y = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((n,), "float32"))
        else:
            y = x
        return y
"#;

fn calls(c: &mut Criterion) {
    let module = parse("calls.py", MODULE).unwrap_or_else(|e| panic!("{e}"));
    let options = CompileOptions::new(Target::Cpu(host_target(1)));
    let executable = compile(&module, &options).unwrap_or_else(|e| panic!("{e}"));
    let mut vm = VirtualMachine::new(executable, Device::Cpu).expect("loads");
    let x = Tensor::from_slice(&[4], &[-1.0f32, 0.0, 1.0, 2.0]).expect("four");
    let args = [Value::from(x)];
    let mut group = c.benchmark_group("call");

    group.bench_function("by name", |b| {
        b.iter(|| vm.call("main", &args).expect("runs"))
    });
    let main = vm.function("main").expect("there is one");
    group.bench_function("by handle", |b| {
        b.iter(|| vm.call_func(main, &args).expect("runs"));
    });
    let mut outputs = [vm.call_func(main, &args).expect("runs")];
    group.bench_function("into", |b| {
        b.iter(|| vm.call_into(main, &args, &mut outputs).expect("runs"));
    });
    vm.set_input("main", &args).expect("it fits");
    group.bench_function("stateful", |b| {
        b.iter(|| vm.invoke_stateful("main").expect("runs"));
    });
    for (name, include_return) in [
        ("saved", IncludeReturn::Yes),
        ("saved without return", IncludeReturn::No),
    ] {
        let saved = vm.save_function("main", name, &args, include_return);
        let saved = saved.expect("the name is free");
        group.bench_function(name, |b| b.iter(|| vm.call_func(saved, &[]).expect("runs")));
    }
    group.bench_function("future", |b| {
        b.iter(|| pollster::block_on(vm.call_async("main", &args)).expect("runs"));
    });
    let nested = vm.function("nested").expect("there is one");
    group.bench_function("nested", |b| {
        b.iter(|| vm.call_func(nested, &args).expect("runs"));
    });
    let branch = vm.function("branch").expect("there is one");
    let condition = Tensor::from_bytes(DType::BOOL, &[], &[1]).expect("a scalar");
    let args = [condition.into(), args[0].clone()];
    group.bench_function("branch", |b| {
        b.iter(|| vm.call_func(branch, &args).expect("runs"));
    });
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
