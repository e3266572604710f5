//! Recurrent layers against the equations of ONNX, step by step in float64.

use weftile::tensor::Tensor;

use super::array::Array;
use super::{Cases, tensor};

/// One step: the state and what the cell keeps.
type Cell<'a> = dyn Fn(Step<'_>) -> (Vec<f64>, Vec<f64>) + 'a;

/// A layer: data `[T, B, I]`, weights `[D, G * H, I]` and `[D, G * H, H]`, biases `[D, 2 * G * H]`, states `[D, B, H]`.
struct Layer {
    x: Array,
    w: Array,
    r: Array,
    b: Array,
    h: Array,
    c: Array,
    p: Array,
    lengths: Vec<usize>,
}

impl Layer {
    fn new(gates: usize, directions: usize, seed: u64) -> Self {
        let [time, batch, input, hidden] = [4, 2, 3, 5];
        let rows = gates * hidden;
        Self {
            x: Array::random(&[time, batch, input], seed),
            w: Array::random(&[directions, rows, input], seed + 1),
            r: Array::random(&[directions, rows, hidden], seed + 2),
            b: Array::random(&[directions, 2 * rows], seed + 3),
            h: Array::random(&[directions, batch, hidden], seed + 4),
            c: Array::random(&[directions, batch, hidden], seed + 5),
            p: Array::random(&[directions, 3 * hidden], seed + 6),
            lengths: vec![time; batch],
        }
    }

    /// The results, where `cell` makes new states from: the direction, products of input and state with the rows of gates (with
    /// their biases), and the states.
    fn run(&self, reverse: &[bool], cell: &Cell<'_>) -> [Array; 3] {
        let (time, batch, hidden) = (self.x.shape[0], self.x.shape[1], self.r.shape[2]);
        let rows = self.r.shape[1];
        let directions = reverse.len();
        let mut all = Array::new(&[time, directions, batch, hidden], |_| 0.0);
        let (mut last_h, mut last_c) = (self.h.clone(), self.c.clone());
        for (d, &reverse) in reverse.iter().enumerate() {
            for at in 0..batch {
                let state =
                    |of: &Array| (0..hidden).map(|j| of.at(&[d, at, j])).collect::<Vec<_>>();
                let (mut h, mut c) = (state(&self.h), state(&self.c));
                let length = self.lengths[at];
                for step in 0..length {
                    let t = if reverse { length - 1 - step } else { step };
                    let input = |row: usize| {
                        let terms = (0..self.x.shape[2])
                            .map(|k| self.x.at(&[t, at, k]) * self.w.at(&[d, row, k]));
                        terms.sum::<f64>() + self.b.at(&[d, row])
                    };
                    let of_state = |row: usize, h: &[f64]| {
                        let terms = (0..hidden).map(|k| h[k] * self.r.at(&[d, row, k]));
                        terms.sum::<f64>() + self.b.at(&[d, rows + row])
                    };
                    (h, c) = cell(Step {
                        d,
                        input: &input,
                        state: &of_state,
                        h: &h,
                        c: &c,
                    });
                    for (j, h) in h.iter().enumerate() {
                        all.data[((t * directions + d) * batch + at) * hidden + j] = *h;
                    }
                }
                for j in 0..hidden {
                    last_h.data[(d * batch + at) * hidden + j] = h[j];
                    last_c.data[(d * batch + at) * hidden + j] = c[j];
                }
            }
        }
        [all, last_h, last_c]
    }

    fn inputs(&self) -> Vec<(&'static str, Tensor)> {
        let lengths: Vec<i32> = self.lengths.iter().map(|&n| n as i32).collect();
        vec![
            ("x", self.x.f32()),
            ("w", self.w.f32()),
            ("r", self.r.f32()),
            ("b", self.b.f32()),
            ("h", self.h.f32()),
            ("c", self.c.f32()),
            ("n", tensor(&[lengths.len()], &lengths)),
            ("p", self.p.f32()),
        ]
    }
}

struct Step<'a> {
    d: usize,
    input: &'a dyn Fn(usize) -> f64,
    state: &'a dyn Fn(usize, &[f64]) -> f64,
    h: &'a [f64],
    c: &'a [f64],
}

fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + (-v).exp())
}

/// A call with the operands that it names.
fn case(cases: &mut Cases, layer: &Layer, names: &str, rest: &str, op: &str, expected: &[Array]) {
    let given = layer.inputs();
    let given: Vec<(&str, &Tensor)> = names
        .split_whitespace()
        .map(|name| {
            let (name, tensor) = given.iter().find(|(n, _)| *n == name).expect("it is there");
            (*name, tensor)
        })
        .collect();
    let expected: Vec<Tensor> = expected.iter().map(Array::f32).collect();
    let text = format!("R.{op}({}{rest})", names.replace(' ', ", "));
    cases.case(&text, &given, &expected).terms(64);
}

#[test]
fn long_short_term_memory() {
    let mut cases = Cases::default();
    let hidden = 5;
    let mut layer = Layer::new(4, 2, 1);
    let plain = |s: Step<'_>| {
        let gate = |gate: usize, j: usize| {
            (s.input)(gate * hidden + j) + (s.state)(gate * hidden + j, s.h)
        };
        let c: Vec<f64> = (0..hidden)
            .map(|j| sigmoid(gate(2, j)) * s.c[j] + sigmoid(gate(0, j)) * gate(3, j).tanh())
            .collect();
        let h = (0..hidden)
            .map(|j| sigmoid(gate(1, j)) * c[j].tanh())
            .collect();
        (h, c)
    };
    let expected = layer.run(&[false, true], &plain);
    let bidirectional = ", direction=\"bidirectional\"";
    case(
        &mut cases,
        &layer,
        "x w r b h c",
        bidirectional,
        "nn.lstm",
        &expected,
    );
    layer.lengths = vec![2, 4];
    let expected = layer.run(&[false, true], &plain);
    case(
        &mut cases,
        &layer,
        "x w r b h c n",
        bidirectional,
        "nn.lstm",
        &expected,
    );
    // Peepholes, coupled gates, other activations and a bound for their arguments.
    let mut layer = Layer::new(4, 1, 9);
    layer.lengths = vec![4, 3];
    let clip = |v: f64| v.clamp(-0.5, 0.5);
    let special = |s: Step<'_>| {
        let gate = |gate: usize, j: usize| {
            (s.input)(gate * hidden + j) + (s.state)(gate * hidden + j, s.h)
        };
        let peep = |which: usize, j: usize| layer.p.at(&[s.d, which * hidden + j]);
        let input = |j: usize| sigmoid(clip(gate(0, j) + peep(0, j) * s.c[j]));
        let c: Vec<f64> = (0..hidden)
            .map(|j| (1.0 - input(j)) * s.c[j] + input(j) * clip(gate(3, j)).max(0.0))
            .collect();
        let h = (0..hidden)
            .map(|j| sigmoid(clip(gate(1, j) + peep(1, j) * c[j])) * c[j].tanh())
            .collect();
        (h, c)
    };
    let expected = layer.run(&[true], &special);
    let rest = ", direction=\"reverse\", activations=[\"sigmoid\", \"relu\", \"tanh\"], clip=0.5, input_forget=True";
    case(
        &mut cases,
        &layer,
        "x w r b h c n p",
        rest,
        "nn.lstm",
        &expected,
    );
    // A step is a large shader: one of the three shows that GPUs run it.
    cases.on_gpus_every(3);
    cases.run();
}

#[test]
fn gated_units_and_plain_ones() {
    let mut cases = Cases::default();
    let hidden = 5;
    let layer = Layer::new(3, 1, 1);
    for after in [false, true] {
        let cell = |s: Step<'_>| {
            let gate = |gate: usize, j: usize| {
                sigmoid((s.input)(gate * hidden + j) + (s.state)(gate * hidden + j, s.h))
            };
            let reset: Vec<f64> = (0..hidden).map(|j| gate(1, j) * s.h[j]).collect();
            let h = (0..hidden).map(|j| {
                let row = 2 * hidden + j;
                let state = match after {
                    true => gate(1, j) * (s.state)(row, s.h),
                    false => (s.state)(row, &reset),
                };
                let candidate = ((s.input)(row) + state).tanh();
                (1.0 - gate(0, j)) * candidate + gate(0, j) * s.h[j]
            });
            (h.collect(), s.c.to_vec())
        };
        let [all, last, _] = layer.run(&[false], &cell);
        let rest = if after {
            ", linear_before_reset=True"
        } else {
            ""
        };
        case(
            &mut cases,
            &layer,
            "x w r b h",
            rest,
            "nn.gru",
            &[all, last],
        );
    }
    let mut layer = Layer::new(1, 1, 5);
    layer.lengths = vec![0, 3];
    let cell = |s: Step<'_>| {
        let h = (0..hidden).map(|j| ((s.input)(j) + (s.state)(j, s.h)).max(0.0));
        (h.collect(), s.c.to_vec())
    };
    let [all, last, _] = layer.run(&[false], &cell);
    let rest = ", activations=[\"Relu\"]";
    let expected = [all.f32(), last.f32()];
    case(
        &mut cases,
        &layer,
        "x w r b h n",
        rest,
        "nn.rnn",
        &[all.clone(), last.clone()],
    );
    let inputs = layer.inputs();
    let given: Vec<(&str, &Tensor)> = inputs.iter().map(|(name, t)| (*name, t)).collect();
    let given = [&given[..5], &given[6..7]].concat();
    let types = [
        "R.Tensor((\"t\", \"b\", 3), \"float32\")",
        "R.Tensor((1, 5, 3), \"float32\")",
        "R.Tensor((1, 5, 5), \"float32\")",
        "R.Tensor((1, 10), \"float32\")",
        "R.Tensor((1, \"b\", 5), \"float32\")",
        "R.Tensor((\"b\",), \"int32\")",
    ];
    let text = "R.nn.rnn(x, w, r, b, h, n, activations=[\"Relu\"])";
    cases.case_of(text, &types, &given, &expected).terms(64);
    // In half precision: what is added is so in float32.
    let halves = [&layer.x, &layer.w, &layer.r, &layer.b, &layer.h].map(Array::f16);
    let mut given: Vec<(&str, &Tensor)> =
        ["x", "w", "r", "b", "h"].into_iter().zip(&halves).collect();
    given.push(("n", &inputs[6].1));
    let expected = [all.f16(), last.f16()];
    cases.case(text, &given, &expected).terms(4);
    cases.run();
}

#[test]
fn activations_with_numbers() {
    let mut cases = Cases::default();
    let hidden = 5;
    let layer = Layer::new(1, 1, 3);
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 8] = [
        ("Affine(0.5, 0.25)", |v| 0.5 * v + 0.25),
        ("Elu(0.5)", |v| if v < 0.0 { 0.5 * v.exp_m1() } else { v }),
        ("HardSigmoid", |v| (0.2 * v + 0.5).clamp(0.0, 1.0)),
        ("LeakyRelu(0.25)", |v| if v < 0.0 { 0.25 * v } else { v }),
        ("ScaledTanh(0.5, 2.0)", |v| 0.5 * (2.0 * v).tanh()),
        ("Softplus", |v| v.exp().ln_1p()),
        ("Softsign", |v| v / (1.0 + v.abs())),
        ("ThresholdedRelu(0.25)", |v| if v > 0.25 { v } else { 0.0 }),
    ];
    for (text, function) in functions {
        let cell = |s: Step<'_>| {
            let h = (0..hidden).map(|j| function((s.input)(j) + (s.state)(j, s.h)));
            (h.collect(), s.c.to_vec())
        };
        let [all, last, _] = layer.run(&[false], &cell);
        let rest = format!(", activations=[\"{text}\"]");
        let expected = [all, last];
        case(&mut cases, &layer, "x w r b h", &rest, "nn.rnn", &expected);
    }
    // A step is a large shader: one of the eight shows that GPUs run it.
    cases.on_gpus_every(8);
    cases.run();
}
