//! Operators of the compiler that do nothing to elements, and properties of tensors.

use super::cases::devices;
use super::{Cases, f32s, tensor};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::tensor::DType;
use weftile::vm::VirtualMachine;
use weftile::{interp, script};

#[test]
fn operands_go_through() {
    let mut cases = Cases::default();
    let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for call in [
        "R.add(R.builtin.stop_lift_params(x), R.zeros_like(x))",
        "R.hint_on_device(x, \"cpu:0\")",
        "R.memory.ensure_zero_offset(x)",
        "R.add(R.wrap_param(x, dtype=\"float32\"), R.zeros_like(x))",
    ] {
        cases.case(call, &[("x", &x)], std::slice::from_ref(&x));
    }
    let types = ["R.Tensor((\"n\", 3), \"float32\")"];
    let call = "R.hint_on_device(x, \"cpu:0\")";
    cases.case_of(call, &types, &[("x", &x)], std::slice::from_ref(&x));
    let whole = tensor(&[3], &[1i32, -2, 300]);
    let floats = f32s(&[3], &[1.0, -2.0, 300.0]);
    cases.case("R.wrap_param(x)", &[("x", &whole)], &[floats]);
    cases.run();
}

#[test]
fn properties_of_tensors() {
    let properties = [
        ("tensor_byte_offset(x)", 0),
        ("tensor_dtype_bits(x)", 16),
        ("tensor_dtype_code(x)", 2),
        ("tensor_dtype_lanes(x)", 1),
        ("tensor_elem_offset(x)", 0),
        ("tensor_ndim(x)", 3),
        ("tensor_shape_i(x, 0)", 2),
        ("tensor_shape_i(x, 1)", 5),
        ("tensor_stride_i(x, 0)", 15),
        ("tensor_stride_i(x, 2)", 1),
    ];
    let x = weftile::tensor::Tensor::zeros("float16".parse::<DType>().expect("a type"), &[2, 5, 3]);
    let x = x.expect("it is small");
    for (property, expected) in properties {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", 5, 3), \"float16\")):\n        \
             y = R.inspect.{property}\n        return y\n"
        );
        let module = script::parse("property.py", &text).unwrap_or_else(|e| panic!("{e}"));
        let args = [interp::Value::Tensor(x.clone())];
        let result = interp::run_module(&module, "main", &args, &Default::default());
        let interp::Value::Scalar(weftile::tensor::scalar::Scalar::Int(got)) =
            result.unwrap_or_else(|e| panic!("{property}: {e}"))
        else {
            panic!("{property} is no integer")
        };
        assert_eq!(got, expected, "{property}");
        for (target, device) in devices() {
            let executable = compile(&module, &CompileOptions::new(target));
            let executable = executable.unwrap_or_else(|e| panic!("{property}: {e}"));
            let mut vm = VirtualMachine::new(executable, device).expect("it loads");
            match vm.call("main", &[Value::Tensor(x.clone())]) {
                Ok(Value::Int(got)) => assert_eq!(got, expected, "{property}"),
                other => panic!("{property}: {other:?}"),
            }
        }
    }
}
