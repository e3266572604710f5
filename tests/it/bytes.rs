//! Products of 8-bit integers, which the CPU computes four bytes a word (`pack_bytes`), against sums in `int64`.

use weftile::ir::Module;
use weftile::kernel::Target;
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::Value;
use weftile::script::parse;
use weftile::support::tolerance::{Tolerance, compare};
use weftile::tensor::{ScalarType, Tensor};
use weftile::vm::VirtualMachine;

use crate::vm::cpu;

/// Whether code for this machine multiplies bytes in words: all of them, or those between floats.
fn packs(floats: bool) -> bool {
    let (Target::Cpu(cpu), _) = cpu() else {
        unreachable!("it is the CPU");
    };
    cpu.f32_lanes >= 8 && (cpu.dot_bytes || !floats)
}

/// A machine for the module, of which this loop program has the products, if there are words.
fn machine(module: &Module, products: &str, floats: bool) -> VirtualMachine {
    let (target, device) = cpu();
    let executable =
        compile(module, &CompileOptions::new(target)).unwrap_or_else(|e| panic!("{e}"));
    let programs: Vec<&String> = executable.traces.keys().collect();
    let is_there = programs.iter().any(|name| name.contains(products));
    assert_eq!(is_there, packs(floats), "{products}: {programs:?}");
    VirtualMachine::new(executable, device).unwrap_or_else(|e| panic!("{e}"))
}

/// Bytes of all kinds, the least and the greatest among them.
fn bytes(count: usize, seed: u32) -> Vec<u8> {
    let hash = |at: u32| (at ^ seed).wrapping_mul(2_654_435_761) >> 15;
    let byte = |at| match hash(at) % 8 {
        0 => 0,
        1 => 0x80,
        2 => 0x7f,
        3 => 0xff,
        _ => (hash(at) >> 3) as u8,
    };
    (0..count as u32).map(byte).collect()
}

/// A tensor of bytes, and its elements.
fn operand(shape: &[usize], signed: bool, seed: u32) -> (Tensor, Vec<i64>) {
    let bytes = bytes(shape.iter().product(), seed);
    let elements = bytes.iter().map(|&byte| element(byte, signed)).collect();
    let tensor = if signed {
        let signed: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
        Tensor::from_slice(shape, &signed)
    } else {
        Tensor::from_slice(shape, &bytes)
    };
    (tensor.expect("a tensor"), elements)
}

fn element(byte: u8, signed: bool) -> i64 {
    if signed {
        (byte as i8).into()
    } else {
        byte.into()
    }
}

fn call(machine: &mut VirtualMachine, args: &[&Tensor]) -> Vec<i64> {
    let args: Vec<Value> = args.iter().map(|t| Value::from((*t).clone())).collect();
    let result = machine.call("main", &args).expect("runs");
    let result = result.into_tensor().expect("a tensor");
    let numbers = result.as_slice::<i32>().expect("int32");
    numbers.iter().map(|&x| x.into()).collect()
}

fn name(signed: bool) -> &'static str {
    if signed { "int8" } else { "uint8" }
}

#[test]
fn products_of_open_rows_by_matrices_are_exact() {
    for (steps, columns) in [(4, 1), (7, 5), (64, 48), (129, 100), (300, 17)] {
        for (signed, by_signed) in [(false, true), (true, true), (false, false), (true, false)] {
            let text = format!(
                r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", {steps}), "{0}"), w: R.Tensor(({steps}, {columns}), "{1}"), zx: R.Tensor((), "{0}"), zw: R.Tensor(({columns},), "{1}")):
        with R.dataflow():
            a = R.subtract(R.astype(x, "int32"), R.astype(zx, "int32"))
            b = R.subtract(R.astype(w, "int32"), R.astype(zw, "int32"))
            y = R.matmul(a, b)
            R.output(y)
        return y
"#,
                name(signed),
                name(by_signed)
            );
            let module = parse("bytes.py", &text).unwrap_or_else(|e| panic!("{e}"));
            let mut machine = machine(&module, "matmul_of_words", false);
            let (w, weights) = operand(&[steps, columns], by_signed, 2);
            let (zw, of_weights) = operand(&[columns], by_signed, 3);
            let (zx, zero) = operand(&[], signed, 4);
            for rows in [1, 3, 16, 37] {
                let (x, elements) = operand(&[rows, steps], signed, 1);
                let got = call(&mut machine, &[&x, &w, &zx, &zw]);
                let mut expected = vec![];
                for (row, column) in (0..rows * columns).map(|at| (at / columns, at % columns)) {
                    let product = |k: usize| {
                        let x = elements[row * steps + k] - zero[0];
                        x * (weights[k * columns + column] - of_weights[column])
                    };
                    expected.push((0..steps).map(product).sum::<i64>());
                }
                assert_eq!(
                    got, expected,
                    "{rows} x {steps} x {columns}, {signed} {by_signed}"
                );
            }
        }
    }
}

/// A convolution of this many channels to that many, of an image, with strides, dilation and padding.
struct Case {
    channels: [usize; 2],
    image: [usize; 2],
    window: [usize; 2],
    stride: usize,
    dilation: usize,
    /// Above, left, below, right.
    pad: [usize; 4],
}

const CASES: [Case; 4] = [
    Case {
        channels: [16, 32],
        image: [9, 21],
        window: [3, 3],
        stride: 1,
        dilation: 1,
        pad: [1; 4],
    },
    // Channels that fill no word, and no tile.
    Case {
        channels: [7, 5],
        image: [12, 13],
        window: [3, 5],
        stride: 2,
        dilation: 1,
        pad: [2, 0, 1, 2],
    },
    Case {
        channels: [8, 24],
        image: [14, 14],
        window: [1, 1],
        stride: 1,
        dilation: 1,
        pad: [0; 4],
    },
    Case {
        channels: [4, 18],
        image: [15, 10],
        window: [3, 3],
        stride: 1,
        dilation: 3,
        pad: [3; 4],
    },
];

impl Case {
    fn module(&self, signed: bool, by_signed: bool) -> Module {
        let [inputs, outputs] = self.channels;
        let ([rows, columns], [down, across]) = (self.image, self.window);
        let [above, left, below, right] = self.pad;
        let (stride, dilation) = (self.stride, self.dilation);
        let (dtype, by) = (name(signed), name(by_signed));
        let text = format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, {inputs}, {rows}, {columns}), "{dtype}"), w: R.Tensor(({outputs}, {inputs}, {down}, {across}), "{by}"), zx: R.Tensor((), "{dtype}"), zw: R.Tensor(({outputs}, 1, 1, 1), "{by}")):
        with R.dataflow():
            a = R.subtract(R.astype(x, "int32"), R.astype(zx, "int32"))
            b = R.subtract(R.astype(w, "int32"), R.astype(zw, "int32"))
            y = R.nn.conv2d(a, b, strides=[{stride}], padding=[{above}, {left}, {below}, {right}], dilation=[{dilation}])
            R.output(y)
        return y
"#
        );
        parse("bytes.py", &text).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Sums of products of pixels and weights less their zero points; around the image there are no pixels.
    fn expected(&self, x: &[i64], w: &[i64], zero: i64, zeros: &[i64]) -> Vec<i64> {
        let [inputs, outputs] = self.channels;
        let (window, stride, dilation) = (self.window, self.stride, self.dilation);
        let extent = |d: usize| {
            let span = (window[d] - 1) * dilation + 1;
            (self.image[d] + self.pad[d] + self.pad[d + 2] - span) / stride + 1
        };
        let [down, across] = [extent(0), extent(1)];
        let mut all = vec![];
        for at in 0..2 * outputs * down * across {
            let (n, o) = (
                at / (outputs * down * across),
                at / (down * across) % outputs,
            );
            let pixel = [at / across % down, at % across];
            let mut sum = 0;
            for (tap, c) in
                (0..window[0] * window[1]).flat_map(|t| (0..inputs).map(move |c| (t, c)))
            {
                let tap = [tap / window[1], tap % window[1]];
                let place = |d: usize| {
                    (pixel[d] * stride + tap[d] * dilation)
                        .checked_sub(self.pad[d])
                        .filter(|at| *at < self.image[d])
                };
                if let (Some(row), Some(column)) = (place(0), place(1)) {
                    let pixel = ((n * inputs + c) * self.image[0] + row) * self.image[1] + column;
                    let weight = ((o * inputs + c) * window[0] + tap[0]) * window[1] + tap[1];
                    sum += (x[pixel] - zero) * (w[weight] - zeros[o]);
                }
            }
            all.push(sum);
        }
        all
    }
}

#[test]
fn convolutions_of_bytes_are_exact() {
    for (number, case) in CASES.iter().enumerate() {
        for (signed, by_signed) in [(false, true), (true, true), (false, false), (true, false)] {
            let module = case.module(signed, by_signed);
            let mut machine = machine(&module, "convolution_of_words", false);
            let [inputs, outputs] = case.channels;
            let [rows, columns] = case.image;
            let (x, elements) = operand(&[2, inputs, rows, columns], signed, 5);
            let (w, weights) = operand(
                &[outputs, inputs, case.window[0], case.window[1]],
                by_signed,
                6,
            );
            let (zx, zero) = operand(&[], signed, 7);
            let (zw, zeros) = operand(&[outputs, 1, 1, 1], by_signed, 8);
            let got = call(&mut machine, &[&x, &w, &zx, &zw]);
            let expected = case.expected(&elements, &weights, zero[0], &zeros);
            assert_eq!(got, expected, "case {number}, {signed} {by_signed}");
        }
    }
}

/// As exporters write quantized models: integers less zero points, times scales, multiplied as floats.
#[test]
fn products_of_scaled_bytes_are_those_of_floats() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 6, 9, 20), "uint8"), w: R.Tensor((18, 6, 3, 3), "int8"), zx: R.Tensor((), "uint8"), sx: R.Tensor((), "float32"), sw: R.Tensor((18, 1, 1, 1), "float32"), b: R.Tensor((18, 1, 1), "float32"), v: R.Tensor((20, 24), "uint8"), zv: R.Tensor((1, 24), "uint8"), sv: R.Tensor((1, 24), "float32")):
        with R.dataflow():
            i = R.subtract(R.astype(x, "int32"), R.astype(zx, "int32"))
            a = R.multiply(R.astype(i, "float32"), sx)
            y = R.nn.conv2d(a, R.multiply(R.astype(w, "float32"), sw), padding=[1])
            j = R.subtract(R.astype(v, "int32"), R.astype(zv, "int32"))
            z = R.matmul(a, R.multiply(R.astype(j, "float32"), sv))
            R.output(y, z)
        return (R.nn.relu(R.add(y, b)), z)
"#;
    let module = parse("bytes.py", text).unwrap_or_else(|e| panic!("{e}"));
    let mut machine = machine(&module, "convolution_of_words", true);
    let (x, pixels) = operand(&[2, 6, 9, 20], false, 1);
    let (w, weights) = operand(&[18, 6, 3, 3], true, 2);
    let (v, matrix) = operand(&[20, 24], false, 3);
    let (zv, zeros) = operand(&[1, 24], false, 4);
    let scales = |count: usize| {
        (0..count)
            .map(|i| 0.01 + i as f32 * 0.003)
            .collect::<Vec<f32>>()
    };
    let bias: Vec<f32> = (0..18).map(|i| i as f32 * 7.0 - 60.0).collect();
    let float =
        |shape: &[usize], numbers: &[f32]| Tensor::from_slice(shape, numbers).expect("a tensor");
    let args = [
        x,
        w,
        Tensor::from_slice(&[], &[77u8]).expect("a tensor"),
        float(&[], &[0.02]),
        float(&[18, 1, 1, 1], &scales(18)),
        float(&[18, 1, 1], &bias),
        v,
        zv,
        float(&[1, 24], &scales(24)),
    ];
    let args: Vec<Value> = args.into_iter().map(Value::from).collect();
    let results = machine.call("main", &args).expect("runs");
    let results = results.as_tuple().expect("two tensors").to_vec();

    let case = Case {
        channels: [6, 18],
        image: [9, 20],
        window: [3, 3],
        stride: 1,
        dilation: 1,
        pad: [1; 4],
    };
    let sums = case.expected(&pixels, &weights, 77, &[0; 18]);
    let scaled = sums.iter().enumerate().map(|(at, sum)| {
        let filter = at / (9 * 20) % 18;
        let y = *sum as f64 * f64::from(0.02f32) * f64::from(scales(18)[filter]);
        (y + f64::from(bias[filter])).max(0.0)
    });
    is_close(&results[0], &scaled.collect::<Vec<_>>(), 54);

    let mut products = vec![];
    for (row, column) in (0..2 * 6 * 9 * 24).map(|at| (at / 24, at % 24)) {
        let product =
            |k: usize| (pixels[row * 20 + k] - 77) * (matrix[k * 24 + column] - zeros[column]);
        let sum: i64 = (0..20).map(product).sum();
        products.push(sum as f64 * f64::from(0.02f32) * f64::from(scales(24)[column]));
    }
    is_close(&results[1], &products, 20);
}

/// Whether numbers are those, up to the rounding of sums of so many products.
#[track_caller]
fn is_close(got: &Value, expected: &[f64], terms: usize) {
    let got = got.as_tensor().expect("a tensor");
    let expected: Vec<f32> = expected.iter().map(|x| *x as f32).collect();
    let expected = Tensor::from_slice(got.shape(), &expected).expect("as many elements");
    let tolerance = Tolerance::of(ScalarType::F32, terms);
    compare(&expected, got, tolerance).unwrap_or_else(|e| panic!("{e}"));
}
