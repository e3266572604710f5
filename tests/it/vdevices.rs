//! Programs of the host and of a GPU in one executable, and the copies between them.

use std::collections::HashMap;

use weftile::interp::{self, run_module};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::script;
use weftile::tensor::Tensor;
use weftile::vm::{ProfileKind, VirtualMachine};

use crate::memory::same;
use crate::vm::devices;

/// `a` is computed on the GPU, used twice on the host, and what the host makes is used twice on the GPU. `exp` runs on both.
const TEXT: &str = r#"
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def main(x: R.Tensor(("n", 5), "float32", "vulkan:0"), w: R.Tensor((5,), "float32", "llvm:0")) -> R.Tensor(("n", 5), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.to_vdevice(a, "llvm:0")
            c = R.cumsum(b, axis=1)
            d = R.exp(b)
            e = R.multiply(R.add(c, d), w)
            f = R.add(e, R.const([1.0, 2.0, 3.0, 4.0, 5.0], "float32"))
            g = R.to_vdevice(f, "vulkan:0")
            h = R.negative(g)
            i = R.add(h, R.multiply(g, a))
            R.output(i)
        return i
"#;

fn x(rows: usize) -> Tensor {
    let elements: Vec<f32> = (0..rows * 5).map(|i| (i % 7) as f32 * 0.2 - 0.5).collect();
    Tensor::from_slice(&[rows, 5], &elements).expect("as many elements")
}

#[test]
fn tensors_cross_once() {
    let module = script::parse("vdevices.py", TEXT).unwrap_or_else(|e| panic!("{e}"));
    let w = Tensor::from_slice(&[5], &[0.5f32, -1.0, 2.0, 0.0, 3.0]).expect("five");
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target));
        let exec = exec.unwrap_or_else(|e| panic!("{e}"));
        let native = exec
            .kernels
            .iter()
            .filter(|kernel| kernel.is_native())
            .count();
        let on_gpu = matches!(device, Device::Gpu(_));
        assert_eq!(
            native < exec.kernels.len(),
            on_gpu,
            "some kernels are of the GPU"
        );
        assert!(native > 0, "some kernels are of the host");
        let bytes = exec.to_bytes().expect("it can be saved");
        let loaded = weftile::artifact::Executable::from_bytes(&bytes).expect("and loaded");
        for exec in [exec, loaded] {
            let mut machine = VirtualMachine::new(exec, device.clone()).expect("it runs");
            for rows in [1, 4, 4, 0] {
                let args = [x(rows), w.clone()];
                let expected = args.clone().map(interp::Value::Tensor);
                let expected = run_module(&module, "main", &expected, &HashMap::new());
                let Ok(interp::Value::Tensor(expected)) = expected else {
                    panic!("{expected:?}");
                };
                let args = args.map(Value::from);
                let (got, profile) = machine.profile("main", &args).expect("it runs");
                assert_eq!(matches!(got, Value::DeviceTensor(_)), on_gpu);
                let got = machine.to_host(got).expect("it can be read");
                same(&expected, got.as_tensor().expect("a tensor"));
                let copies = profile
                    .entries
                    .iter()
                    .filter(|e| e.kind == ProfileKind::Copy);
                let names: Vec<&str> = copies.map(|e| e.name.as_str()).collect();
                // `x` and `w` come, `w` goes back to the host with `a`, and `f` comes; what has no elements does not.
                let expected = match (on_gpu, rows) {
                    (false, _) => 0,
                    (true, 0) => 2,
                    (true, _) => 5,
                };
                assert_eq!(names.len(), expected, "{profile}");
            }
        }
    }
}

#[test]
fn hints_say_where_programs_run() {
    let text = r#"
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def main(x: R.Tensor((3, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3, 4), "float32"):
        a = R.hint_on_device(x, R.device(7, 0))
        b = R.exp(a)
        d = R.hint_on_device(b, R.device(1, 0))
        if c:
            e = R.negative(d)
            f = R.abs(e)
        else:
            f = R.tanh(d)
        g = R.add(f, f)
        h = R.hint_on_device(g, R.device(7, 0))
        i = R.split(h, 2, axis=1)
        return R.concat([i[1], i[0]], axis=1)
"#;
    let module = script::parse("hints.py", text).unwrap_or_else(|e| panic!("{e}"));
    let elements: Vec<f32> = (0..12).map(|i| i as f32 * 0.1 - 0.3).collect();
    let x = Tensor::from_slice(&[3, 4], &elements).expect("twelve");
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target));
        let exec = exec.unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        for branch in [0u8, 1] {
            let c = Tensor::from_bytes(weftile::tensor::DType::BOOL, &[], &[branch]).expect("one");
            let args = [x.clone(), c].map(interp::Value::Tensor);
            let expected = run_module(&module, "main", &args, &HashMap::new());
            let Ok(interp::Value::Tensor(expected)) = expected else {
                panic!("{expected:?}");
            };
            let c = Tensor::from_bytes(weftile::tensor::DType::BOOL, &[], &[branch]).expect("one");
            let got = machine.call("main", &[x.clone().into(), c.into()]);
            let got = machine
                .to_host(got.expect("it runs"))
                .expect("it can be read");
            same(&expected, got.as_tensor().expect("a tensor"));
        }
    }
}

#[test]
fn branches_may_move_what_is_there() {
    let text = r#"
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32", "llvm:0")):
        if c:
            y = R.to_vdevice(R.exp(x), "vulkan:0")
        else:
            y = R.to_vdevice(x, "vulkan:0")
        return y
"#;
    let module = script::parse("branches.py", text).unwrap_or_else(|e| panic!("{e}"));
    let x = Tensor::from_slice(&[3], &[0.0f32, 1.0, -1.0]).expect("three");
    for (target, device) in devices() {
        let exec = compile(&module, &CompileOptions::new(target));
        let exec = exec.unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        for taken in [false, true] {
            let c = Tensor::from_bytes(weftile::tensor::DType::BOOL, &[], &[taken.into()]);
            let args = [c.expect("one").into(), x.clone().into()];
            let got = machine.call("main", &args).expect("it runs");
            let got = machine.to_host(got).expect("it can be read");
            let expected = [0.0f32, 1.0, -1.0].map(|v| if taken { v.exp() } else { v });
            let expected = Tensor::from_slice(&[3], &expected).expect("three");
            same(&expected, got.as_tensor().expect("a tensor"));
        }
    }
}
