//! Scans in tiles, with the schedules of real GPUs on whatever adapter is there.

use weftile::interp;
use weftile::kernel::{GpuClass, GpuTarget, Target};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::script;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::scalar::{Scalar, encode};
use weftile::tensor::{DType, ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use super::cases::gpu;

/// A scan or sort of a shape: how the type of the operand is written, and the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) ty: &'a str,
    pub(super) shape: &'a [usize],
    pub(super) call: &'a str,
    pub(super) dtype: ScalarType,
}

impl Case<'_> {
    fn text(&self) -> String {
        let dims: Vec<&str> = ["n", "m"]
            .into_iter()
            .filter(|d| self.ty.contains(*d))
            .collect();
        let dims: String = dims
            .iter()
            .map(|d| format!("        {d} = T.int64()\n"))
            .collect();
        let (ty, call, dtype) = (self.ty, self.call, DType::of(self.dtype));
        format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor(({ty}), \"{dtype}\")):\n{dims}        with R.dataflow():\n            y = {call}\n            R.output(y)\n        return y\n"
        )
    }

    /// Small whole numbers, and ones with a few others for products.
    fn operand(&self) -> Tensor {
        let count: usize = self.shape.iter().product();
        let value = |at: usize| match self.call.contains("cumprod") {
            true => [1.0, 1.0, 2.0, 1.0, 0.5, 1.0, 1.0][at % 7],
            false => (at * 7919 % 13) as f64 - 6.0,
        };
        let dtype = DType::of(self.dtype);
        let mut bytes = vec![0; count * dtype.bytes()];
        for (at, bytes) in bytes.chunks_exact_mut(dtype.bytes()).enumerate() {
            encode(Scalar::Float(value(at)), self.dtype, bytes);
        }
        Tensor::from_bytes(dtype, self.shape, &bytes).expect("as many as the shape has")
    }

    pub(super) fn check(&self, class: GpuClass) {
        let module = script::parse("scan.py", &self.text()).unwrap_or_else(|e| panic!("{e}"));
        let x = self.operand();
        let args = [interp::Value::Tensor(x.clone())];
        let expected = interp::run_module(&module, "main", &args, &Default::default());
        let Ok(interp::Value::Tensor(expected)) = expected else {
            panic!("{self:?}: {expected:?}")
        };
        let Some(gpu) = gpu() else { return };
        let target = Target::Gpu(GpuTarget {
            class,
            known_cores: None,
            ..gpu.target().clone()
        });
        let options = CompileOptions::new(target);
        let exec = compile(&module, &options).unwrap_or_else(|e| panic!("{self:?}: {e}"));
        let mut vm = VirtualMachine::new(exec, Device::Gpu(gpu)).expect("loads");
        let got = vm
            .call("main", &[Value::Tensor(x)])
            .and_then(|got| vm.to_host(got));
        let got = got.expect("runs").into_tensor().expect("a tensor");
        let difference = compare(&expected, &got, Tolerance::of(self.dtype, 16));
        assert!(difference.is_ok(), "{class:?}, {self:?}: {difference:?}");
    }
}

const F32: ScalarType = ScalarType::F32;

/// One element, fewer and more than a tile of 2048, whole and odd numbers of tiles, none.
#[test]
fn lines_of_one_tensor() {
    for n in [0, 1, 2, 31, 63, 255, 2047, 2048, 2049, 8192, 10007] {
        let ty = n.to_string() + ",";
        let shape = [n];
        let of = |ty, call| Case {
            ty,
            shape: &shape,
            call,
            dtype: F32,
        };
        of(&ty, "R.cumsum(x, axis=0)").check(GpuClass::Nvidia);
        of("\"n\",", "R.cumsum(x, axis=0)").check(GpuClass::Mobile);
    }
}

#[test]
fn scans_of_both_directions() {
    for shape in [
        &[5000usize][..],
        &[3, 300],
        &[2, 40, 70],
        &[3000, 3],
        &[70, 40],
    ] {
        let ty: String = shape.iter().map(|n| format!("{n}, ")).collect();
        for axis in [0, shape.len() - 1] {
            for (exclusive, reverse) in [(true, false), (false, true), (true, true)] {
                let flag = |on| if on { "True" } else { "False" };
                let (exclusive, reverse) = (flag(exclusive), flag(reverse));
                for op in ["cumsum", "cumprod"] {
                    let call =
                        format!("R.{op}(x, axis={axis}, exclusive={exclusive}, reverse={reverse})");
                    let case = Case {
                        ty: &ty,
                        shape,
                        call: &call,
                        dtype: F32,
                    };
                    case.check(GpuClass::Nvidia);
                }
            }
        }
    }
}

/// Many short rows, several of which a workgroup takes, and rows of which a workgroup goes through all tiles.
#[test]
fn rows_of_all_lengths() {
    let open = "\"n\", \"m\"";
    for shape in [
        [1000, 1],
        [1001, 5],
        [513, 33],
        [300, 64],
        [200, 129],
        [130, 2500],
        [7, 5000],
        [0, 5],
        [5, 0],
    ] {
        let [n, m] = shape;
        let constant = format!("{n}, {m}");
        for (ty, class) in [
            (constant.as_str(), GpuClass::Nvidia),
            (open, GpuClass::Intel),
        ] {
            for axis in [0, 1] {
                let call = format!("R.cumsum(x, axis={axis})");
                let case = Case {
                    ty,
                    shape: &shape,
                    call: &call,
                    dtype: F32,
                };
                case.check(class);
            }
        }
    }
}

#[test]
fn columns_of_several_dimensions() {
    for shape in [[2usize, 300, 7], [3, 100, 33], [1, 5000, 2], [2, 3000, 31]] {
        let ty = shape.map(|n| n.to_string()).join(", ");
        let case = Case {
            ty: &ty,
            shape: &shape,
            call: "R.cumsum(x, axis=1)",
            dtype: F32,
        };
        case.check(GpuClass::Nvidia);
        case.check(GpuClass::Apple);
    }
}

#[test]
fn scans_of_all_types() {
    for dtype in [
        ScalarType::F16,
        ScalarType::I8,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::U8,
        ScalarType::U64,
    ] {
        for shape in [[2500usize], [100]] {
            let ty = format!("{},", shape[0]);
            let case = Case {
                ty: &ty,
                shape: &shape,
                call: "R.cumsum(x, axis=0)",
                dtype,
            };
            case.check(GpuClass::Nvidia);
        }
    }
}
