//! Convolutions by minimal filtering (`winograd_conv2d`) against sums in `float64`.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use weftile::ir::{AttrValue, Module};
use weftile::passes::{self, bind_params};
use weftile::pipeline::{CompileOptions, compile, weights_apart};
use weftile::runtime::Value;
use weftile::script::parse;
use weftile::tensor::Tensor;
use weftile::vm::{Profile, VirtualMachine};

use crate::vm::cpu;

/// Of the largest result, the most that another one is off. F(4, 3) has been seen to be off by 3e-6 with 256 channels.
const MOST_OFF: f64 = 1e-5;

/// A convolution of images with their channels first, or last.
struct Case {
    batch: usize,
    inputs: usize,
    outputs: usize,
    image: [usize; 2],
    /// Above, left, below, right.
    pad: [usize; 4],
    channels_last: bool,
    /// Whether the module leaves the number of images open.
    open: bool,
    /// Whether a bias and an activation follow.
    relu: bool,
}

const CASES: &[Case] = &[
    // Whole tiles, with a border.
    Case {
        batch: 1,
        inputs: 32,
        outputs: 48,
        image: [24, 28],
        pad: [1; 4],
        channels_last: false,
        open: false,
        relu: true,
    },
    // Parts of tiles, no border, channels that fill no vector, any number of images.
    Case {
        batch: 3,
        inputs: 37,
        outputs: 41,
        image: [19, 23],
        pad: [0; 4],
        channels_last: false,
        open: true,
        relu: false,
    },
    // Another border on each side; images of one tile, and channels of less than a vector.
    Case {
        batch: 2,
        inputs: 3,
        outputs: 5,
        image: [4, 3],
        pad: [2, 0, 1, 2],
        channels_last: false,
        open: false,
        relu: true,
    },
    // Rows of so many tiles that no part of them is a task.
    Case {
        batch: 1,
        inputs: 128,
        outputs: 17,
        image: [5, 50],
        pad: [1; 4],
        channels_last: false,
        open: false,
        relu: true,
    },
    // More weights than pixels.
    Case {
        batch: 1,
        inputs: 128,
        outputs: 96,
        image: [5, 5],
        pad: [1; 4],
        channels_last: false,
        open: false,
        relu: false,
    },
    // Tiles of another height than width.
    Case {
        batch: 1,
        inputs: 256,
        outputs: 128,
        image: [7, 7],
        pad: [1; 4],
        channels_last: false,
        open: false,
        relu: true,
    },
    Case {
        batch: 1,
        inputs: 24,
        outputs: 32,
        image: [28, 32],
        pad: [1; 4],
        channels_last: true,
        open: false,
        relu: true,
    },
    Case {
        batch: 2,
        inputs: 40,
        outputs: 24,
        image: [21, 18],
        pad: [0, 1, 2, 1],
        channels_last: true,
        open: true,
        relu: false,
    },
];

/// Numbers without a pattern, about as large as those of trained weights.
fn tensor(shape: &[usize], seed: usize) -> Tensor {
    let number = |i: usize| ((i * 7919 + seed * 104_729) % 1021) as f32 / 510.0 - 1.0;
    let values: Vec<f32> = (0..shape.iter().product()).map(number).collect();
    Tensor::from_slice(shape, &values).expect("as many")
}

impl Case {
    fn dims(&self, rows: usize, columns: usize, channels: usize) -> [usize; 4] {
        if self.channels_last {
            [self.batch, rows, columns, channels]
        } else {
            [self.batch, channels, rows, columns]
        }
    }

    fn image_shape(&self) -> [usize; 4] {
        self.dims(self.image[0], self.image[1], self.inputs)
    }

    fn weight_shape(&self) -> [usize; 4] {
        if self.channels_last {
            [3, 3, self.inputs, self.outputs]
        } else {
            [self.outputs, self.inputs, 3, 3]
        }
    }

    fn bias_shape(&self) -> Vec<usize> {
        if self.channels_last {
            vec![self.outputs]
        } else {
            vec![self.outputs, 1, 1]
        }
    }

    fn pixels(&self) -> [usize; 2] {
        let [above, left, below, right] = self.pad;
        let [rows, columns] = self.image;
        [rows + above + below - 2, columns + left + right - 2]
    }

    fn module(&self) -> Module {
        let text = |shape: &[usize]| {
            let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
            extents.join(", ")
        };
        let mut image = text(&self.image_shape());
        if self.open {
            image = image.replacen(&self.batch.to_string(), "\"n\"", 1);
        }
        let (weight, bias) = (text(&self.weight_shape()), text(&self.bias_shape()));
        let [above, left, below, right] = self.pad;
        let layout = if self.channels_last {
            r#"data_layout="NHWC", kernel_layout="HWIO""#
        } else {
            r#"data_layout="NCHW""#
        };
        let result = if self.relu {
            "R.nn.relu(R.add(y, b))"
        } else {
            "y"
        };
        let text = format!(
            r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({image}), "float32"), w: R.Tensor(({weight}), "float32"), b: R.Tensor(({bias},), "float32")):
        R.func_attr({{"num_input": 1}})
        with R.dataflow():
            y = R.nn.conv2d(x, w, padding=[{above}, {left}, {below}, {right}], {layout})
            z = {result}
            R.output(z)
        return z
"#
        );
        parse("winograd.py", &text).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The results, by sums.
    fn expected(&self, x: &Tensor, w: &Tensor, b: &Tensor) -> Vec<f64> {
        let [x, w, b] = [x, w, b].map(|t| t.as_slice::<f32>().expect("float32"));
        let [rows, columns] = self.image;
        let [out_rows, out_columns] = self.pixels();
        let [_, d1, d2, d3] = self.image_shape();
        let at_image = |n: usize, y: usize, x: usize, c: usize| {
            let [i, j, k] = if self.channels_last {
                [y, x, c]
            } else {
                [c, y, x]
            };
            ((n * d1 + i) * d2 + j) * d3 + k
        };
        let at_weight = |o: usize, c: usize, r: usize, s: usize| {
            if self.channels_last {
                ((r * 3 + s) * self.inputs + c) * self.outputs + o
            } else {
                ((o * self.inputs + c) * 3 + r) * 3 + s
            }
        };
        let sum = |n: usize, o: usize, y: usize, at: usize| {
            let mut sum = 0.0;
            for (r, s) in (0..9).map(|tap| (tap / 3, tap % 3)) {
                let (row, column) = (
                    (y + r).wrapping_sub(self.pad[0]),
                    (at + s).wrapping_sub(self.pad[1]),
                );
                if row >= rows || column >= columns {
                    continue;
                }
                for c in 0..self.inputs {
                    sum += f64::from(x[at_image(n, row, column, c)])
                        * f64::from(w[at_weight(o, c, r, s)]);
                }
            }
            if self.relu {
                (sum + f64::from(b[o])).max(0.0)
            } else {
                sum
            }
        };
        let [_, e1, e2, e3] = self.dims(out_rows, out_columns, self.outputs);
        let count = self.batch * e1 * e2 * e3;
        let result = |at: usize| {
            let (n, i, j, k) = (
                at / (e1 * e2 * e3),
                at / (e2 * e3) % e1,
                at / e3 % e2,
                at % e3,
            );
            if self.channels_last {
                sum(n, k, i, j)
            } else {
                sum(n, i, j, k)
            }
        };
        (0..count).map(result).collect()
    }

    #[track_caller]
    fn is_close(&self, what: &str, got: Value, expected: &[f64]) {
        let got = got.into_tensor().expect("a tensor");
        let [rows, columns] = self.pixels();
        assert_eq!(
            got.shape(),
            self.dims(rows, columns, self.outputs),
            "{what}"
        );
        let got = got.as_slice::<f32>().expect("float32");
        let largest = expected.iter().fold(0f64, |all, x| all.max(x.abs()));
        assert!(largest > 0.0, "{what}: all is zero");
        for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
            let off = (f64::from(*got) - expected).abs();
            // NaN is no number that is less.
            let close = off <= MOST_OFF * largest;
            assert!(
                close,
                "{what}, element {at}: {got} for {expected}, the largest is {largest}"
            );
        }
    }
}

fn options() -> CompileOptions {
    CompileOptions::new(cpu().0)
}

/// Whether a kernel multiplies transformed tiles.
fn filters(module: &Module, options: &CompileOptions) -> bool {
    let executable = compile(module, options).unwrap_or_else(|e| panic!("{e}"));
    let mut programs = executable.traces.keys();
    programs.any(|name| name.contains("winograd"))
}

#[track_caller]
fn rewrites_no_weight(profile: &Profile) {
    let steps: Vec<&str> = profile.entries.iter().map(|e| e.name.as_str()).collect();
    let of_weights = |name: &&str| name.contains("winograd_weights") || name.contains("panels");
    assert!(!steps.iter().any(of_weights), "{steps:?}");
}

/// The module with all of its convolutions rewritten, whether that pays or not.
fn forced(module: &Module) -> Module {
    let cx = passes::Cx::new(module, &cpu().0);
    let always = ["parameters", "always"].map(|name| (name.to_owned(), AttrValue::Bool(true)));
    let passes = [
        passes::pass("legalize_ops"),
        passes::pass_with("winograd_conv2d", always.into()),
    ];
    passes.into_iter().fold(module.clone(), |module, pass| {
        let pass = pass.expect("there is such a pass");
        cx.run(&pass, &module).unwrap_or_else(|e| panic!("{e}"))
    })
}

#[test]
fn convolutions_agree_with_sums() {
    // Cases whose steps are kernels of their own, and one; the points of each tile.
    let (mut seen, mut points) = ([0, 0], BTreeSet::new());
    for (number, case) in CASES.iter().enumerate() {
        let module = forced(&case.module());
        let forms = ["winograd_products", "winograd_conv2d"];
        let form = forms
            .iter()
            .position(|name| module.prim_func(name).is_some());
        seen[form.unwrap_or_else(|| panic!("{number} is as it was"))] += 1;
        let weights = module.prim_func("winograd_weights").expect("it is there");
        let transformed = weights.buffer_params().last().expect("what it writes");
        points.insert([0, 1].map(|d| transformed.shape()[d].as_int()));
        let x = tensor(&case.image_shape(), 1);
        let weights = [
            tensor(&case.weight_shape(), 2),
            tensor(&case.bias_shape(), 3),
        ];
        let [w, b] = weights.clone();
        let expected = case.expected(&x, &w, &b);

        let bound = ["w", "b"]
            .map(str::to_owned)
            .into_iter()
            .zip(weights.clone());
        let bound = bind_params(&module, "main", &bound.collect()).expect("it fits");
        let executable = compile(&bound, &options()).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(executable, cpu().1).expect("loads");
        let (got, profile) = machine.profile("main", &[x.clone().into()]).expect("runs");
        case.is_close(&format!("{number}, bound"), got, &expected);
        rewrites_no_weight(&profile);

        let apart = weights_apart(&module, &options()).unwrap_or_else(|e| panic!("{e}"));
        let executable = compile(&apart, &options()).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = VirtualMachine::new(executable, cpu().1).expect("loads");
        let given = Value::Tuple(weights.map(Value::from).into());
        let lifted = machine
            .call("main_transform_params", &[given])
            .expect("runs");
        let mut args = vec![Value::from(x)];
        args.extend_from_slice(lifted.as_tuple().expect("a tuple"));
        let (got, profile) = machine.profile("main", &args).expect("runs");
        case.is_close(&format!("{number}, apart"), got, &expected);
        rewrites_no_weight(&profile);
    }
    assert!(seen.iter().all(|seen| *seen > 0), "{seen:?}");
    let expected = [[4, 4], [6, 4], [6, 6]].map(|points| points.map(Some));
    assert_eq!(points, BTreeSet::from(expected));
}

/// A convolution of 64 channels of 40 by 40 pixels, with its weight bound.
fn bound(attributes: &str, weight: [usize; 4]) -> Module {
    let [outputs, inputs, rows, columns] = weight;
    let text = format!(
        r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 64, 40, 40), "float32"), w: R.Tensor(({outputs}, {inputs}, {rows}, {columns}), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, {attributes})
            R.output(y)
        return y
"#
    );
    let module = parse("other.py", &text).unwrap_or_else(|e| panic!("{e}"));
    let weights = IndexMap::from([("w".to_owned(), tensor(&weight, 2))]);
    bind_params(&module, "main", &weights).expect("it fits")
}

#[test]
fn who_wants_sums_gets_them() {
    let module = bound("padding=[1, 1, 1, 1]", [64, 64, 3, 3]);
    let mut options = options();
    assert!(filters(&module, &options));
    options.passes.disabled.insert("winograd_conv2d".to_owned());
    assert!(!filters(&module, &options));
}

#[test]
fn other_convolutions_are_left_alone() {
    // What is no weight would be transformed again and again.
    assert!(!filters(&CASES[0].module(), &options()));
    let others = [
        ("strides=[2, 2]", [64, 64, 3, 3]),
        ("dilation=[2, 2]", [64, 64, 3, 3]),
        ("groups=2", [64, 32, 3, 3]),
        ("", [64, 64, 5, 5]),
        ("", [8, 64, 3, 3]),
    ];
    for (attributes, weight) in others {
        let module = bound(attributes, weight);
        assert!(!filters(&module, &options()), "{attributes} {weight:?}");
        let forced = forced(&module);
        let rewritten = forced.prim_func("winograd_weights").is_some();
        // It is the number of channels alone that does not pay.
        assert_eq!(rewritten, weight[0] == 8, "{attributes} {weight:?}");
    }
}

#[test]
fn what_only_looks_like_a_convolution_stays() {
    let program = |image: &str, weight: &str, result: &str, init: &str, load: &str, index: &str| {
        let text = format!(
            r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def conv(X: T.Buffer(({image}), "float32"), W: T.Buffer(({weight}), "float32"), Y: T.Buffer(({result}), "float32")):
        for n, o, y, x, c, r, s in T.grid(1, 16, 4, 4, 16, 3, 3):
            with T.block("conv"):
                vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
                with T.init():
                    Y[vn, vo, vy, vx] = T.float32({init})
                Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + X[{load}] * W[{index}]

    @R.function
    def main(x: R.Tensor(({image}), "float32"), w: R.Tensor(({weight}), "float32")):
        R.func_attr({{"num_input": 1}})
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.conv, (x, w), out_sinfo=R.Tensor(({result}), dtype="float32"))
            R.output(y)
        return y
"#
        );
        parse("like.py", &text).unwrap_or_else(|e| panic!("{e}"))
    };
    let rewritten = |module: &Module| forced(module).prim_func("winograd_weights").is_some();
    let (image, weight, result) = ("1, 16, 6, 6", "16, 16, 3, 3", "1, 16, 4, 4");
    let (load, index) = ("vn, vc, vy + vr, vx + vs", "vo, vc, vr, vs");
    assert!(rewritten(&program(image, weight, result, "0", load, index)));
    let others = [
        (
            "sums that start with 1",
            image,
            weight,
            result,
            "1",
            load,
            index,
        ),
        (
            "some of the channels",
            "1, 20, 6, 6",
            weight,
            result,
            "0",
            load,
            index,
        ),
        (
            "some of the taps",
            image,
            "16, 16, 3, 4",
            result,
            "0",
            load,
            index,
        ),
        (
            "a part of the result",
            image,
            weight,
            "1, 17, 4, 4",
            "0",
            load,
            index,
        ),
        (
            "taps the other way",
            image,
            weight,
            result,
            "0",
            "vn, vc, vy + 2 - vr, vx + vs",
            index,
        ),
        (
            "steps of two",
            "1, 16, 9, 9",
            weight,
            result,
            "0",
            "vn, vc, vy * 2 + vr, vx + vs",
            index,
        ),
        (
            "taps along a diagonal",
            image,
            weight,
            result,
            "0",
            "vn, vc, vy + vr, vx + vr",
            index,
        ),
        (
            "channels that are taps",
            image,
            weight,
            result,
            "0",
            "vn, vr, vy + vr, vx + vs",
            index,
        ),
        (
            "five dimensions",
            "1, 16, 16, 6, 6",
            weight,
            result,
            "0",
            "vn, vc, vc, vy + vr, vx + vs",
            index,
        ),
    ];
    for (what, image, weight, result, init, load, index) in others {
        let module = program(image, weight, result, init, load, index);
        assert!(!rewritten(&module), "{what}");
    }
}

#[test]
fn an_image_without_columns_compiles() {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 16, 10, 2), "float32"), w: R.Tensor((16, 16, 3, 3), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w)
            R.output(y)
        return y
"#;
    let module = parse("empty.py", text).unwrap_or_else(|e| panic!("{e}"));
    let weights = IndexMap::from([("w".to_owned(), tensor(&[16, 16, 3, 3], 2))]);
    let bound = bind_params(&module, "main", &weights).expect("it fits");
    compile(&bound, &options()).unwrap_or_else(|e| panic!("{e}"));
}
