//! The memory plan: how much it takes, what it must not overwrite, and what an executable may not say of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use weftile::artifact::{BytecodeError, Executable, Instr, Operand, Pc, Reg};
use weftile::interp::{self, run_module};
use weftile::kernel::Target;
use weftile::passes::memory_usage;
use weftile::pipeline::{CompileOptions, compile, compile_until};
use weftile::runtime::{Device, Override, Registry, Value};
use weftile::script;
use weftile::support::Id;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::{Verdict, VirtualMachine, VmError};

use crate::vm::devices;

/// Tensors of many sizes, some of which are needed much later.
const TREE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 96), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.concat([a, a, a], axis=1)
            c = R.strided_slice(b, axes=[1], begin=[0], end=[32])
            d = R.sum(b, axis=[1], keepdims=True)
            e = R.concat([c, c, c, c, c], axis=1)
            f = R.strided_slice(e, axes=[1], begin=[7], end=[103])
            g = R.add(f, a)
            h = R.divide(g, d)
            i = R.concat([h, h], axis=1)
            j = R.max(i, axis=[1], keepdims=True)
            k = R.subtract(h, j)
            l = R.concat([k, c, c], axis=1)
            m = R.strided_slice(l, axes=[1], begin=[64], end=[160])
            o = R.multiply(m, f)
            p = R.sum(o, axis=[1])
            R.output(p)
        return p
"#;

fn parse(text: &str) -> weftile::ir::Module {
    script::parse("memory.py", text).unwrap_or_else(|e| panic!("{e}"))
}

fn rows(count: usize, columns: usize) -> Tensor {
    let elements: Vec<f32> = (0..count * columns)
        .map(|i| (i % 13) as f32 * 0.07 - 0.4)
        .collect();
    Tensor::from_slice(&[count, columns], &elements).expect("as many elements")
}

/// Sums of at most a row.
#[track_caller]
pub(crate) fn same(expected: &Tensor, got: &Tensor) {
    let tolerance = Tolerance::of(ScalarType::F32, 288);
    compare(expected, got, tolerance).unwrap_or_else(|e| panic!("{e}"));
}

/// Options under which nothing is fused, so that every operator has a tensor.
fn unfused(target: &Target) -> CompileOptions {
    let mut options = CompileOptions::new(target.clone());
    for pass in ["fuse_ops", "fuse_reductions", "fuse_tir"] {
        options.passes.disabled.insert(pass.to_owned());
    }
    options
}

#[test]
fn a_plan_takes_what_is_needed_together() {
    let module = parse(TREE);
    for bounded in [false, true] {
        let mut module = module.clone();
        if bounded {
            let text = TREE.replace(
                "        n = T.int64()\n",
                "        n = T.int64()\n        R.func_attr({\"tir_var_upper_bound\": {\"n\": 64}})\n",
            );
            module = parse(&text);
        }
        for (target, _) in devices() {
            let compiled = compile_until(&module, &unfused(&target), "kill_after_last_use");
            let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
            let main = compiled.module.function("main").expect("it stays");
            let usage = memory_usage(main, &HashMap::from([("n", 64)])).expect("n is all");
            assert_eq!(usage.tensors, 15, "{usage:?}");
            let limit = usage.live * 11 / 10;
            assert!(usage.planned <= limit, "{target:?}: {usage:?}");
            assert!(usage.planned >= usage.live, "{usage:?}");
        }
    }
}

/// The result is as large as what it is made of, so others must have been in its memory.
const LARGE_RESULT: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 96), "float32")) -> R.Tensor(("n", 96), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.abs(a)
            d = R.add(b, R.multiply(c, x))
            e = R.tanh(d)
            R.output(e)
        return e
"#;

/// Sizes with symbols and without, of which now these and now those are larger.
const MIXED: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 96), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.concat([x, x, x, x], axis=1)
            b = R.max(R.reshape(a, (n, 96, 4)), axis=[2])
            c = R.concat([b, b], axis=1)
            w = R.full((192, 97), R.const(0.25, "float32"), dtype="float32")
            u = R.multiply(w, R.full((192, 97), R.const(2, "float32"), dtype="float32"))
            v = R.permute_dims(u)
            d = R.matmul(c, R.permute_dims(v))
            e = R.nn.softmax(d)
            f = R.add(e, d)
            g = R.sum(f, axis=[1])
            R.output(g)
        return g
"#;

#[test]
fn plans_hold_for_small_and_large_sizes() {
    for text in [LARGE_RESULT, MIXED] {
        let module = parse(text);
        let inputs = [3, 40, 0].map(|count| rows(count, 96));
        let expected = inputs.each_ref().map(|x| interpreted(&module, x));
        for (target, device) in devices() {
            let mut options = unfused(&target);
            options.passes.disabled.insert("fold_constant".to_owned());
            let compiled = compile_until(&module, &options, "kill_after_last_use");
            let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
            let main = compiled.module.function("main").expect("it stays");
            for n in [40, 400, 4000] {
                let usage = memory_usage(main, &HashMap::from([("n", n)])).expect("n is all");
                let limit = usage.live * 11 / 10;
                assert!(usage.planned <= limit, "{n}: {target:?}: {usage:?}");
            }
            let exec = compile(&module, &options).unwrap_or_else(|e| panic!("{e}"));
            let mut machine = VirtualMachine::new(exec, device).expect("it runs");
            let main = machine.function("main").expect("it is there");
            let mut out = [Value::None];
            for (x, expected) in inputs.iter().zip(&expected) {
                for _ in 0..2 {
                    let args = [x.clone().into()];
                    machine.call_into(main, &args, &mut out).expect("it runs");
                    let got = machine.to_host(out[0].clone()).expect("it can be read");
                    same(expected, got.as_tensor().expect("a tensor"));
                }
            }
        }
    }
}

/// The size `n - 100` is negative where the branch is not taken.
const BRANCHES: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.sum(R.concat([x, x, x, x, x, x], axis=0))
        b = R.concat([x, x, x, x], axis=0)
        d = R.concat([x, x], axis=0)
        if c:
            e = R.full((n - 100, 3), R.const(2, "float32"), dtype="float32")
            r = R.sum(e)
        else:
            r = R.sum(x)
        h = R.add(R.add(R.sum(d), R.sum(b)), a)
        z = R.add(x, R.add(r, h))
        return z
"#;

#[test]
fn branches_that_are_not_taken_take_no_memory() {
    let module = parse(BRANCHES);
    let scalar = |taken: bool| Tensor::from_bytes(DType::BOOL, &[], &[u8::from(taken)]);
    for (target, device) in devices() {
        let exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        // On a GPU an arena must save more.
        let inside = exec.code.iter().any(|instr| is_inside(&exec, instr));
        assert!(
            inside || matches!(target, Target::Gpu(_)),
            "they do not lie side by side"
        );
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        for (n, taken) in [(80, false), (10, false), (99, false), (130, true)] {
            let elements: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let x = Tensor::from_slice(&[n], &elements).expect("as many elements");
            let taken_value = scalar(taken).expect("a scalar");
            let args = [
                interp::Value::Tensor(x.clone()),
                interp::Value::Tensor(taken_value.clone()),
            ];
            let expected = run_module(&module, "main", &args, &HashMap::new());
            let Ok(interp::Value::Tensor(expected)) = expected else {
                panic!("{expected:?}");
            };
            let args = [x.into(), taken_value.into()];
            let got = machine.call("main", &args);
            let got = got.unwrap_or_else(|e| panic!("{n} on {target:?}: {e}"));
            let got = machine.to_host(got).expect("it can be read");
            same(&expected, got.as_tensor().expect("a tensor"));
        }
    }
}

/// What the interpreter makes of a module.
#[track_caller]
fn interpreted(module: &weftile::ir::Module, x: &Tensor) -> Tensor {
    let args = [interp::Value::Tensor(x.clone())];
    match run_module(module, "main", &args, &HashMap::new()) {
        Ok(interp::Value::Tensor(made)) => made,
        other => panic!("{other:?}"),
    }
}

#[test]
fn planned_tensors_hold_what_was_written() {
    let module = parse(TREE);
    // Sizes grow and shrink between the calls of one machine.
    let inputs = [5, 0, 1, 40, 40].map(|count| rows(count, 96));
    let expected = inputs.each_ref().map(|x| interpreted(&module, x));
    for (target, device) in devices() {
        let cx = weftile::passes::Cx::new(&module, &target);
        let pass = weftile::passes::pass("dataflow_use_inplace_calls").expect("it is there");
        let in_place = cx.run(&pass, &module).expect("it applies");
        for module in [&module, &in_place] {
            let exec = compile(module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
            let mut machine = VirtualMachine::new(exec, device.clone()).expect("it runs");
            for (x, expected) in inputs.iter().zip(&expected) {
                let got = machine.call("main", &[x.clone().into()]).expect("it runs");
                let got = machine.to_host(got).expect("it can be read");
                same(expected, got.as_tensor().expect("a tensor"));
            }
        }
    }
}

/// Elements of one byte, in tensors that end within a word, beside each other; and some that hold nothing.
#[test]
fn narrow_tensors_leave_their_neighbours_alone() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((73, 7), "int8")) -> R.Tensor((73, 7), "int8"):
        with R.dataflow():
            a = R.add(x, R.const(3, "int8"))
            b = R.greater(a, x)
            c = R.concat([a, a, x], axis=1)
            d = R.strided_slice(c, axes=[1], begin=[3], end=[10])
            e = R.where(b, d, a)
            f = R.concat([e, c, e], axis=1)
            g = R.strided_slice(f, axes=[1], begin=[21], end=[28])
            h = R.greater(g, e)
            i = R.strided_slice(f, axes=[1], begin=[4], end=[4])
            j = R.sum(i, axis=[1], keepdims=True)
            k = R.where(h, R.add(g, j), a)
            l = R.add(k, d)
            R.output(l)
        return l
"#;
    let module = parse(text);
    let elements: Vec<i8> = (0..73 * 7).map(|i| (i * 29 % 251 - 125) as i8).collect();
    let x = Tensor::from_slice(&[73, 7], &elements).expect("as many elements");
    let expected = interpreted(&module, &x);
    for (target, device) in devices() {
        let exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let mut code = exec.code.iter();
        assert!(
            code.any(|instr| is_inside(&exec, instr)),
            "{target:?}: they do not lie side by side"
        );
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        for _ in 0..2 {
            let got = machine.call("main", &[x.clone().into()]).expect("it runs");
            let got = machine.to_host(got).expect("it can be read");
            assert_eq!(got.as_tensor().expect("a tensor"), &expected);
        }
    }
}

#[test]
fn sizes_beyond_the_bound_are_refused() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"tir_var_upper_bound": {"n": 16}})
        a = R.cumsum(x, axis=0)
        b = R.cumsum(a, axis=0)
        return b
"#;
    for (target, device) in devices() {
        let exec = compile(&parse(text), &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        let ones = |count| Tensor::from_slice(&[count], &vec![1.0f32; count]).expect("ones");
        assert!(machine.call("main", &[ones(16).into()]).is_ok());
        let error = machine
            .call("main", &[ones(17).into()])
            .expect_err("beyond the bound");
        let text = error.to_string();
        assert_eq!(text, "`main`: n must be at most 16, got 17");
    }
}

#[test]
fn what_packed_functions_keep_is_not_overwritten() {
    let text = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        a = R.exp(x)
        _ = R.call_packed("test.keep", a, sinfo_args=R.Object)
        b = R.negative(x)
        c = R.concat([b, b], axis=0)
        d = R.strided_slice(c, axes=[0], begin=[3], end=[11])
        e = R.add(d, b)
        return e
"#;
    let target = Target::Cpu(weftile::codegen_cpu::host_target(1));
    let exec = compile(&parse(text), &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
    let kept = Arc::new(Mutex::new(vec![]));
    let mut registry = Registry::new();
    let keeps = kept.clone();
    let keep = move |args: &mut [Value]| {
        keeps.lock().expect("not poisoned").push(args[0].clone());
        Ok(Value::None)
    };
    registry
        .register("test.keep", keep, Override::No)
        .expect("free");
    let mut machine = VirtualMachine::with_registry(exec, Device::Cpu, &registry).expect("it runs");
    for scale in [1.0f32, 2.0] {
        let x = Tensor::from_slice(&[8], &[scale; 8]).expect("eight");
        machine.call("main", &[x.into()]).expect("it runs");
    }
    for (value, scale) in kept.lock().expect("not poisoned").iter().zip([1.0f32, 2.0]) {
        let tensor = value.as_tensor().expect("a tensor");
        for element in tensor.as_slice::<f32>().expect("float32") {
            assert!(
                (element - scale.exp()).abs() < 1e-5,
                "{element} is not exp({scale})"
            );
        }
    }
}

fn is_alloc(exec: &Executable, instr: &Instr) -> bool {
    matches!(instr, Instr::Call { callee, .. }
        if exec.callee_name(&exec.callees[*callee as usize]) == "vm.builtin.alloc_tensor")
}

/// Whether the instruction places a tensor anywhere but at the start of its memory.
fn is_inside(exec: &Executable, instr: &Instr) -> bool {
    is_alloc(exec, instr)
        && matches!(instr, Instr::Call { args, .. } if args[args.len() - 3] != Operand::Imm(0))
}

/// The register of a tensor in an arena.
fn tensor_inside(exec: &Executable) -> Option<Reg> {
    exec.code.iter().find_map(|instr| match instr {
        Instr::Call { dst: Some(dst), .. } if is_inside(exec, instr) => Some(*dst),
        _ => None,
    })
}

#[test]
fn tensors_of_arenas_stay_inside() {
    let module = parse(TREE);
    for (target, device) in devices() {
        let mut exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let inside = tensor_inside(&exec);
        let inside = inside.expect("an arena");
        for instr in &mut exec.code {
            if let Instr::Ret { result } = instr {
                *result = inside;
            }
        }
        let error = VirtualMachine::new(exec, device).map(drop);
        let Err(VmError::Bytecode(BytecodeError { problem, .. })) = error else {
            panic!("{error:?}");
        };
        assert_eq!(problem, "a tensor of an arena leaves it");
    }
}

/// A storage's one tensor may become a result. If an instruction puts it into the register of an arena, the next tensor of the storage
/// would take over bytes of the arena.
#[test]
fn tensors_of_storages_stay_out_of_arenas() {
    // Nothing is there before the result that is made first.
    let text = TREE
        .replace(
            "            a = R.exp(x)",
            "            q = R.abs(x)\n            a = R.exp(x)",
        )
        .replace("R.output(p)", "R.output(p, q)")
        .replace("return p", "return (p, q)")
        .replace(
            "R.Tensor((\"n\",), \"float32\"):",
            "R.Tuple(R.Tensor((\"n\",), \"float32\"), R.Tensor((\"n\", 96), \"float32\")):",
        );
    let module = parse(&text);
    for (target, device) in devices() {
        let mut exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let inside = tensor_inside(&exec);
        let made = exec.code.iter().position(|instr| is_alloc(&exec, instr));
        let made = made.expect("the result has a storage");
        let mut first = exec.code[made].clone();
        if let Instr::Call { dst, .. } = &mut first {
            *dst = inside;
        }
        exec.code.insert(made, first);
        let end = exec.code.len();
        exec.functions[0].end = Pc::from_index(end);
        let error = VirtualMachine::new(exec, device).map(drop);
        let Err(VmError::Bytecode(BytecodeError { problem, .. })) = error else {
            panic!("{error:?}");
        };
        assert_eq!(
            problem,
            "a register holds tensors of an arena and of another storage"
        );
    }
}

#[test]
fn tensors_that_would_overlap_are_refused() {
    let text = TREE
        .replace("\"n\"", "64")
        .replace("        n = T.int64()\n", "");
    let module = parse(&text);
    let x = rows(64, 96);
    for (target, device) in devices() {
        let mut exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let at: Vec<bool> = exec.code.iter().map(|i| is_inside(&exec, i)).collect();
        let inside = exec.code.iter_mut().zip(at).filter(|(_, inside)| *inside);
        for (instr, _) in inside {
            if let Instr::Call { args, .. } = instr {
                args[1] = Operand::Imm(256);
            }
        }
        let mut machine = VirtualMachine::new(exec, device).expect("nothing is wrong with it");
        let error = machine.call("main", &[x.clone().into()]);
        assert!(error.is_err(), "{target:?}: kernels read what they write");
    }
}

#[test]
fn operands_are_overwritten() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 33), "float32")) -> R.Tensor(("n", 33), "float32"):
        with R.dataflow():
            a = R.cumsum(x, axis=1)
            b = R.exp(R.negative(a))
            c = R.multiply(b, x)
            R.output(c)
        return c
"#;
    let module = parse(text);
    for (target, device) in devices() {
        let cx = weftile::passes::Cx::new(&module, &target);
        let pass = weftile::passes::pass("dataflow_use_inplace_calls").expect("it is there");
        let made = cx.run(&pass, &module).expect("it applies");
        let exec = compile(&made, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        for count in [1, 40, 0] {
            let x = rows(count, 33);
            let expected = interpreted(&module, &x);
            let given = x.clone();
            let got = machine.call("main", &[x.clone().into()]).expect("it runs");
            let got = machine.to_host(got).expect("it can be read");
            same(&expected, got.as_tensor().expect("a tensor"));
            assert_eq!(x, given, "arguments stay");
        }
    }
}

/// The elements as they are now.
fn elements_now(value: &Value) -> Option<Tensor> {
    match value {
        Value::Tensor(tensor) => {
            let copy = Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes());
            Some(copy.expect("as many bytes"))
        }
        Value::DeviceTensor(tensor) => Some(tensor.to_host().expect("comes back")),
        _ => None,
    }
}

#[test]
fn what_hooks_keep_is_not_overwritten() {
    let module = parse(TREE);
    let x = rows(5, 96);
    for (target, device) in devices() {
        let exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).expect("it runs");
        let kept = Arc::new(Mutex::new(vec![]));
        let keeps = kept.clone();
        machine.set_instrument(move |event| {
            let seen = event.args.iter().chain(event.result);
            let seen = seen.filter_map(|value| Some((value.clone(), elements_now(value)?)));
            keeps.lock().expect("not poisoned").extend(seen);
            Verdict::Run
        });
        machine.call("main", &[x.clone().into()]).expect("it runs");
        let kept = kept.lock().expect("not poisoned");
        assert!(kept.len() > 30, "{}", kept.len());
        for (value, then) in kept.iter() {
            let now = elements_now(value).expect("a tensor");
            assert_eq!(now.bytes(), then.bytes(), "of {target:?}");
        }
    }
}

/// Results in whose memory others lie before: two results, the second of which is made of much.
const HOSTS: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32")) -> R.Tuple(R.Tensor(("n", 64), "float32"), R.Tensor(("n", 512), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.add(R.concat([a, b], axis=1), R.concat([b, a], axis=1))
            q = R.add(R.strided_slice(c, axes=[1], begin=[0], end=[64]), x)
            d = R.concat([c, c, q, q], axis=1)
            e = R.matmul(d, R.permute_dims(d))
            f = R.matmul(e, d)
            p = R.concat([f, c], axis=1)
            R.output(q, p)
        return (q, p)
"#;

#[test]
fn results_lend_their_memory_for_any_size() {
    let module = parse(HOSTS);
    for (target, _) in devices() {
        let compiled = compile_until(&module, &unfused(&target), "kill_after_last_use");
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let main = compiled.module.function("main").expect("it stays");
        for n in [0, 1, 7, 64, 300, 5000] {
            let usage = memory_usage(main, &HashMap::from([("n", n)])).expect("n is all");
            // Tensors start at multiples of 256 bytes on a GPU.
            let limit = usage.live * 11 / 10 + 256 * usage.tensors as u64;
            assert!(usage.planned <= limit, "{target:?}, {n}: {usage:?}");
            assert!(usage.planned >= usage.live, "{usage:?}");
        }
    }
}

/// The memory of a result that somebody holds is theirs; one that they give back is used again.
#[test]
fn results_that_are_held_stay_as_they_are() {
    let module = parse(HOSTS);
    for (target, device) in devices() {
        let exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(exec, device).unwrap_or_else(|e| panic!("{e}"));
        let input = |count: usize, scale: f32| {
            let rows = rows(count, 64);
            let scaled = rows.as_slice::<f32>().expect("f32").iter();
            let scaled: Vec<f32> = scaled.map(|x| x * scale).collect();
            Tensor::from_slice(&[count, 64], &scaled).expect("as many elements")
        };
        let expected = |count: usize, scale: f32| -> Vec<Tensor> {
            let given = interp::Value::Tensor(input(count, scale));
            let result = run_module(&module, "main", &[given], &HashMap::new());
            let interp::Value::Tuple(items) = result.unwrap_or_else(|e| panic!("{e}")) else {
                panic!("a tuple");
            };
            let tensor = |value: interp::Value| match value {
                interp::Value::Tensor(tensor) => tensor,
                _ => panic!("a tensor"),
            };
            items.into_iter().map(tensor).collect()
        };
        let mut held = vec![];
        for (count, scale) in [(3, 1.0), (9, 0.5), (9, 2.0), (1, 1.0), (0, 1.0), (9, 1.5)] {
            let x = Value::Tensor(input(count, scale));
            let result = machine.call("main", &[x]).unwrap_or_else(|e| panic!("{e}"));
            held.push((count, scale, result));
        }
        // Two pairs of outputs by turns, one of them of plain tensors at first.
        let main = machine.function("main").expect("it is there");
        let zeros =
            |columns| Value::Tensor(Tensor::zeros(DType::F32, &[9, columns]).expect("small"));
        let mut outputs = [[Value::None, Value::None], [zeros(64), zeros(512)]];
        let mut last = [0.0; 2];
        for (round, scale) in [0.25f32, 1.25, 0.75, 1.75, 2.25].into_iter().enumerate() {
            let x = Value::Tensor(input(9, scale));
            let out = &mut outputs[round % 2];
            last[round % 2] = scale;
            machine
                .call_into(main, &[x], out)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        for (scale, out) in last.into_iter().zip(outputs) {
            held.push((9, scale, Value::Tuple(out.to_vec())));
        }
        for (count, scale, result) in held {
            let result = machine.to_host(result).unwrap_or_else(|e| panic!("{e}"));
            let items = result.as_tuple().expect("two").to_vec();
            for (expected, got) in expected(count, scale).iter().zip(items) {
                same(expected, got.as_tensor().expect("a tensor"));
            }
        }
    }
}

/// Nothing may be made in the memory of a result after it.
#[test]
fn results_end_their_storages() {
    let module = parse(HOSTS);
    for (target, device) in devices() {
        let mut exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let last = exec.code.iter().rposition(|instr| is_alloc(&exec, instr));
        let last = last.expect("a result");
        let mut again = exec.code[last].clone();
        if let Instr::Call { dst, args, .. } = &mut again {
            *dst = tensor_inside(&exec);
            let offset = args.len() - 3;
            args[offset] = Operand::Imm(256);
        }
        exec.code.insert(last + 1, again);
        exec.functions[0].end = Pc::from_index(exec.code.len());
        let error = VirtualMachine::new(exec, device).map(drop);
        let Err(VmError::Bytecode(BytecodeError { problem, .. })) = error else {
            panic!("{error:?}");
        };
        assert_eq!(problem, "a tensor of an arena leaves it");
    }
}

/// No kernel may write another tensor of a storage after the result that ends it.
#[test]
fn nothing_is_computed_beside_a_result() {
    let module = parse(HOSTS);
    for (target, device) in devices() {
        let mut exec = compile(&module, &unfused(&target)).unwrap_or_else(|e| panic!("{e}"));
        let launch = |instr: &&Instr| {
            matches!(instr, Instr::Call { dst: None, callee, .. }
                if exec.callee_name(&exec.callees[*callee as usize]).starts_with("exp"))
        };
        let again = exec.code.iter().find(launch).expect("a launch").clone();
        let end = exec.code.iter().rposition(|instr| is_alloc(&exec, instr));
        exec.code.insert(end.expect("a result") + 1, again);
        exec.functions[0].end = Pc::from_index(exec.code.len());
        let error = VirtualMachine::new(exec, device).map(drop);
        let Err(VmError::Bytecode(BytecodeError { problem, .. })) = error else {
            panic!("{error:?}");
        };
        assert_eq!(problem, "a tensor of an arena leaves it");
    }
}
