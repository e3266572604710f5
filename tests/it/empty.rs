//! Tensors without elements, and sums of no terms.

use weftile::interp;
use weftile::runtime::Value;
use weftile::script;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::{build, cpu, devices};

/// Nothing outside of a tensor is read, on the CPU.
#[test]
fn an_element_of_an_empty_tensor_reads_as_zero() {
    let text = r#"
@I.ir_module
class Module:
    @T.prim_func
    def add_first(x: T.handle, b: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(b, (m,), "float32")
        Y = T.match_buffer(y, (m,), "float32")
        for i in range(m):
            with T.block("Y"):
                vi = T.axis.spatial(m, i)
                Y[vi] = X[0] + B[vi]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), b: R.Tensor(("m",), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.call_tir(add_first, (x, b), R.Tensor((m,), "float32"))
            R.output(y)
        return y
"#;
    let (target, device) = cpu();
    let mut vm = VirtualMachine::new(build(text, &target), device).expect("loads");
    let b = Tensor::from_slice(&[3], &[1.0f32, 2.0, 3.0]).expect("fits");
    for (x, expected) in [
        (vec![10.0f32], [11.0, 12.0, 13.0]),
        (vec![], [1.0, 2.0, 3.0]),
        (vec![20.0, 5.0], [21.0, 22.0, 23.0]),
    ] {
        let x = Tensor::from_slice(&[x.len()], &x).expect("fits");
        let y = vm.call("main", &[Value::Tensor(x), Value::Tensor(b.clone())]);
        let y = y.expect("runs").into_tensor().expect("a tensor");
        assert_eq!(y.as_slice::<f32>().expect("float32"), expected);
    }
}

/// Sums of rows that say themselves how their loops run, so that no rule takes the init out of the loop over the terms.
const AS_WRITTEN: [&str; 2] = [
    r#"
        for i in T.parallel(n):
            for j in range(k):
                with T.block("Y"):
                    vi, vk = T.axis.remap("SR", [i, j])
                    with T.init():
                        Y[vi] = T.float32(7)
                    Y[vi] = Y[vi] + A[vi, vk]"#,
    r#"
        for b in T.thread_binding((n + 63) // 64, thread="blockIdx.x"):
            for t in T.thread_binding(64, thread="threadIdx.x"):
                for j in range(k):
                    with T.block("Y"):
                        vi = T.axis.spatial(n, b * 64 + t)
                        vk = T.axis.reduce(k, j)
                        T.where(b * 64 + t < n)
                        with T.init():
                            Y[vi] = T.float32(7)
                        Y[vi] = Y[vi] + A[vi, vk]"#,
];

#[test]
fn a_sum_of_no_terms_is_its_init() {
    for body in AS_WRITTEN {
        let text = format!(
            r#"
@I.ir_module
class Module:
    @T.prim_func
    def sums(a: T.handle, y: T.handle):
        n, k = T.int64(), T.int64()
        A = T.match_buffer(a, (n, k), "float32")
        Y = T.match_buffer(y, (n,), "float32"){body}

    @R.function
    def main(a: R.Tensor(("n", "k"), "float32")):
        n, k = T.int64(), T.int64()
        with R.dataflow():
            y = R.call_tir(sums, (a,), R.Tensor((n,), "float32"))
            R.output(y)
        return y
"#
        );
        let module = script::parse("sums.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let func = module.prim_func("sums").expect("is there");
        for (target, device) in devices() {
            let name = device.to_string();
            let mut vm = VirtualMachine::new(build(&text, &target), device).expect("loads");
            for shape in [[4, 0], [4, 3], [0, 3], [0, 0], [65, 1], [130, 0]] {
                let elements: Vec<f32> = (0..shape[0] * shape[1]).map(|i| i as f32).collect();
                let a = Tensor::from_slice(&shape, &elements).expect("fits");
                let y = Tensor::zeros(DType::F32, &shape[..1]).expect("small");
                let mut tensors = [Tensor::from_slice(&shape, &elements).expect("fits"), y];
                interp::run_prim_func(func, &mut tensors).expect("runs");
                let got = vm.call("main", &[Value::Tensor(a)]).expect("runs");
                let got = vm.to_host(got).expect("comes back");
                let got = got.into_tensor().expect("a tensor");
                let [_, expected] = &tensors;
                let (got, expected) = (got.as_slice::<f32>(), expected.as_slice::<f32>());
                assert_eq!(got.ok(), expected.ok(), "{shape:?} on {name}:{body}");
            }
        }
    }
}
