//! Recurrent layers: a loop over time, in which each step reads the state that the step before left. Sequences of a batch are
//! independent, and so are the units of a step.
//!
//! Data is `[time, batch, input]`, states are `[directions, batch, hidden]`. The rows of the weights stand gate after gate, in the
//! order of ONNX, whose operators LSTM, GRU and RNN these are.

use std::sync::Arc;

use super::extent::{clamped, product, shifted, sum};
use super::{accumulator, activation};
use crate::ir::{AttrValue, Axis, Buffer, Expr, IterKind, PrimFuncBuilder, Scope, Var, attrs};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::Intrin;

/// In which order a direction reads the time steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the first to the last.
    Forward,
    /// From the last to the first.
    Reverse,
}

/// A function that an activation of a cell is; the numbers are those that ONNX calls alpha and beta.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Activation {
    /// `alpha * x + beta`
    Affine(f64, f64),
    /// `x`, or `alpha * (exp(x) - 1)` below 0.
    Elu(f64),
    /// `alpha * x + beta`, between 0 and 1.
    HardSigmoid(f64, f64),
    /// `x`, or `alpha * x` below 0.
    LeakyRelu(f64),
    /// `alpha * tanh(beta * x)`
    ScaledTanh(f64, f64),
    /// `log(1 + exp(x))`
    Softplus,
    /// `x / (1 + |x|)`
    Softsign,
    /// `x` above alpha, else 0.
    ThresholdedRelu(f64),
    /// `1 / (1 + exp(-x))`
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `max(x, 0)`
    Relu,
}

impl Activation {
    fn of(self, x: Expr) -> Expr {
        let number = |v: f64| Expr::float(v, x.dtype());
        match self {
            Self::Affine(alpha, beta) => &x * number(alpha) + number(beta),
            Self::Elu(alpha) => activation::elu(&x, alpha),
            Self::HardSigmoid(alpha, beta) => activation::hard_sigmoid(&x, alpha, beta),
            Self::LeakyRelu(alpha) => activation::leaky_relu(&x, alpha),
            Self::ScaledTanh(alpha, beta) => {
                Expr::call(Intrin::Tanh, vec![&x * number(beta)]) * number(alpha)
            }
            Self::Softplus => activation::softplus(&x, 1.0, 20.0),
            Self::Softsign => activation::softsign(&x),
            Self::ThresholdedRelu(alpha) => activation::thresholded_relu(&x, alpha),
            Self::Sigmoid => Expr::call(Intrin::Sigmoid, vec![x]),
            Self::Tanh => Expr::call(Intrin::Tanh, vec![x]),
            Self::Relu => {
                let zero = Expr::float(0.0, x.dtype());
                x.max(zero)
            }
        }
    }
}

/// What a cell does in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// `h = f(x W + h R + b)`
    Rnn,
    /// Update gate, reset gate, candidate.
    Gru {
        /// The reset gate multiplies the product of the state, not the state.
        linear_before_reset: bool,
    },
    /// Input gate, output gate, forget gate, candidate; a second state.
    Lstm {
        /// The forget gate is one less the input gate.
        input_forget: bool,
    },
}

impl Cell {
    /// Number of gates.
    pub fn gates(self) -> i64 {
        match self {
            Self::Rnn => 1,
            Self::Gru { .. } => 3,
            Self::Lstm { .. } => 4,
        }
    }

    /// Number of activations.
    pub fn activations(self) -> usize {
        match self {
            Self::Rnn => 1,
            Self::Gru { .. } => 2,
            Self::Lstm { .. } => 3,
        }
    }

    /// Number of states.
    pub fn states(self) -> usize {
        match self {
            Self::Rnn | Self::Gru { .. } => 1,
            Self::Lstm { .. } => 2,
        }
    }
}

/// A recurrent layer, but for its tensors.
#[derive(Clone, Debug)]
pub struct Recurrent {
    /// What a step does.
    pub cell: Cell,
    /// Directions with their activations.
    pub directions: Vec<(Direction, Vec<Activation>)>,
    /// The absolute value that the arguments of activations do not pass.
    pub clip: Option<f64>,
}

/// The tensors of a recurrent layer.
#[derive(Clone, Copy, Debug)]
pub struct Operands<'a> {
    /// `[time, batch, input]`
    pub data: &'a Tensor,
    /// `[directions, gates * hidden, input]`
    pub weight: &'a Tensor,
    /// `[directions, gates * hidden, hidden]`
    pub recurrence: &'a Tensor,
    /// `[directions, 2 * gates * hidden]`: that of the input, then that of the state.
    pub bias: &'a Tensor,
    /// `[directions, batch, hidden]`, one for each state.
    pub initial: &'a [&'a Tensor],
    /// `[batch]`: steps of each sequence; all where it is absent.
    pub lengths: Option<&'a Tensor>,
    /// `[directions, 3 * hidden]`: how gates of an LSTM see the second state.
    pub peepholes: Option<&'a Tensor>,
}

/// The states of all steps, `[time, directions, batch, hidden]`, and the last ones, `[directions, batch, hidden]`. Steps beyond
/// the length of a sequence give 0 and leave its state.
pub fn recurrent(name: &str, of: &Operands<'_>, layer: &Recurrent) -> Vec<Tensor> {
    let dtype = of.data.dtype();
    let wide = accumulator(dtype);
    let [time, batch] = [0, 1].map(|at| of.data.shape()[at].clone());
    let directions = Expr::i64(layer.directions.len() as i64);
    let rows = of.weight.shape()[1].clone();
    let hidden = of.recurrence.shape()[2].clone();
    // What does not depend on the state is computed for all steps at once: for each direction a product of matrices.
    let projected = (0..layer.directions.len() as i64).map(|direction| {
        let k = te::reduce_axis("k", of.data.shape()[2].clone());
        let shape = [time.clone(), batch.clone(), rows.clone()];
        te::compute(format!("{name}_input_{direction}"), shape, |i| {
            let x = of.data.at([&i[0], &i[1], &k.expr()]).cast(wide);
            let weight = of.weight.at([&Expr::i64(direction), &i[2], &k.expr()]);
            te::sum(x * weight.cast(wide), [&k])
        })
    });
    let mut inputs: Vec<Tensor> = projected.collect();
    let first = inputs.len();
    inputs.extend([of.recurrence.clone(), of.bias.clone()]);
    inputs.extend(of.initial.iter().map(|&state| state.clone()));
    inputs.extend([of.lengths, of.peepholes].into_iter().flatten().cloned());
    let state = (
        vec![directions.clone(), batch.clone(), hidden.clone()],
        dtype,
    );
    let mut results = vec![(vec![time, directions, batch.clone(), hidden], dtype)];
    results.extend(vec![state; layer.cell.states()]);
    let (states, lengths) = (layer.cell.states(), of.lengths.is_some());
    let (layer, peepholes) = (Arc::new(layer.clone()), of.peepholes.is_some());
    te::extern_each(
        name,
        [batch],
        &inputs,
        results,
        move |b, sequence, inputs, results| {
            let (projected, inputs) = inputs.split_at(first);
            let initial = 2 + states;
            let writer = Steps {
                layer: &layer,
                sequence: sequence[0].expr(),
                wide,
                projected,
                recurrence: &inputs[0],
                bias: &inputs[1],
                initial: &inputs[2..initial],
                lengths: lengths.then(|| &inputs[initial]),
                peepholes: peepholes.then(|| &inputs[initial + usize::from(lengths)]),
                results,
            };
            writer.write(b);
        },
    )
}

/// Writes the loops.
struct Steps<'a> {
    layer: &'a Recurrent,
    /// The sequence of the batch whose steps these are.
    sequence: Expr,
    wide: DType,
    /// `[time, batch, gates * hidden]` for each direction.
    projected: &'a [Buffer],
    recurrence: &'a Buffer,
    bias: &'a Buffer,
    initial: &'a [Buffer],
    lengths: Option<&'a Buffer>,
    peepholes: Option<&'a Buffer>,
    results: &'a [Buffer],
}

/// The buffers of one step.
struct Memory {
    /// Products of the state, `[batch, gates * hidden]`.
    products: Buffer,
    /// The states, `[batch, hidden]` each.
    states: Vec<Buffer>,
    reset: Option<Reset>,
}

/// State and products of the candidate gate of a GRU whose reset gate multiplies the state, `[batch, hidden]` each.
struct Reset {
    state: Buffer,
    products: Buffer,
}

/// Where a step is: its direction, its number, and an element of the state.
struct At {
    direction: usize,
    step: Expr,
    unit: Expr,
}

impl At {
    /// From the iter variables of a block.
    fn new(direction: usize, iters: &[Var]) -> Self {
        Self {
            direction,
            step: iters[0].expr(),
            unit: iters[1].expr(),
        }
    }
}

fn load(buffer: &Buffer, index: &[&Expr]) -> Expr {
    Expr::load(buffer, index.iter().map(|&e| e.clone()).collect())
}

impl Steps<'_> {
    fn hidden(&self) -> &Expr {
        &self.recurrence.shape()[2]
    }

    fn batch(&self) -> &Expr {
        &self.projected[0].shape()[1]
    }

    fn time(&self) -> &Expr {
        &self.projected[0].shape()[0]
    }

    /// The row of a gate for a unit.
    fn row(&self, gate: i64, unit: &Expr) -> Expr {
        sum(&product(self.hidden(), &Expr::i64(gate)), unit)
    }

    fn write(&self, b: &mut PrimFuncBuilder) {
        let (batch, hidden) = (self.batch().clone(), self.hidden().clone());
        let rows = self.recurrence.shape()[1].clone();
        let state = |b: &mut PrimFuncBuilder, name: &str| {
            let shape = [batch.clone(), hidden.clone()];
            b.alloc(name, shape, self.wide, Scope::Global)
        };
        let names = ["hidden", "cell"].into_iter().take(self.initial.len());
        let multiplies_state = Cell::Gru {
            linear_before_reset: false,
        };
        let resets = self.layer.cell == multiplies_state;
        let rows = match resets {
            true => product(&hidden, &Expr::i64(self.layer.cell.gates() - 1)),
            false => rows,
        };
        let memory = Memory {
            states: names.map(|name| state(b, name)).collect(),
            reset: resets.then(|| Reset {
                state: state(b, "reset"),
                products: state(b, "candidates"),
            }),
            products: b.alloc("products", [batch.clone(), rows], self.wide, Scope::Global),
        };
        for direction in 0..self.layer.directions.len() {
            self.direction(b, direction, &memory);
        }
    }

    fn direction(&self, b: &mut PrimFuncBuilder, direction: usize, memory: &Memory) {
        let d = Expr::i64(direction as i64);
        for (state, initial) in memory.states.iter().zip(self.initial) {
            let name = format!("{}_first", state.name());
            b.nest(name, [self.units()], |b, v| {
                let unit = v[0].expr();
                let value = load(initial, &[&d, &self.sequence, &unit]);
                b.store(state, [&self.sequence, &unit], value.cast(self.wide));
            });
        }
        b.grid([("step", self.time().clone())], |b, vars| {
            self.step(b, direction, &vars[0], memory);
        });
        for (state, last) in memory.states.iter().zip(&self.results[1..]) {
            let name = format!("{}_last", state.name());
            b.nest(name, [self.units()], |b, v| {
                let unit = v[0].expr();
                let value = load(state, &[&self.sequence, &unit]).cast(last.dtype());
                b.store(last, [&d, &self.sequence, &unit], value);
            });
        }
    }

    /// An axis for the elements of the state of a sequence.
    fn units(&self) -> Axis {
        Axis::spatial("j", self.hidden().clone())
    }

    fn step(&self, b: &mut PrimFuncBuilder, direction: usize, step: &Var, memory: &Memory) {
        let step_axis =
            || Axis::new(IterKind::Scan, "s", self.time().clone()).bound_to(step.expr());
        let hidden = &memory.states[0];
        self.products(b, direction, 0, hidden, &memory.products);
        if let Some(reset) = &memory.reset {
            let axes = [step_axis(), self.units()];
            b.nest("reset_state", axes, |b, v| {
                b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                let at = At::new(direction, v);
                let gate = self.activate(&at, 0, self.gate(&at, 1, memory));
                let state = load(hidden, &[&self.sequence, &at.unit]);
                b.store(&reset.state, [&self.sequence, &at.unit], gate * state);
            });
            self.products(b, direction, 2, &reset.state, &reset.products);
        }
        let axes = [step_axis(), self.units()];
        b.nest("cell_step", axes, |b, v| {
            // A unit updates its own state.
            b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
            let at = At::new(direction, v);
            self.cell(b, &at, memory);
        });
    }

    /// Products of a state with the rows of as many gates as there are products, from this one on.
    fn products(
        &self,
        b: &mut PrimFuncBuilder,
        direction: usize,
        first: i64,
        state: &Buffer,
        products: &Buffer,
    ) {
        let d = Expr::i64(direction as i64);
        let axes = [
            Axis::spatial("g", products.shape()[1].clone()),
            Axis::reduce("k", self.hidden().clone()),
        ];
        b.nest("product", axes, |b, v| {
            let (gate, unit) = (v[0].expr(), v[1].expr());
            let place = [&self.sequence, &gate];
            b.init(|b| b.store(products, place, Expr::float(0.0, self.wide)));
            let row = self.row(first, &gate);
            let weight = load(self.recurrence, &[&d, &row, &unit]).cast(self.wide);
            let state = load(state, &[&self.sequence, &unit]);
            let sum = load(products, &place) + state * weight;
            b.store(products, place, sum);
        });
    }

    /// The number of steps of a sequence; nothing if it has all. Bounded in its own type, so that indices made from it are.
    fn length(&self) -> Option<Expr> {
        let length = load(self.lengths?, &[&self.sequence]);
        let time = self.time().cast(length.dtype());
        Some(length.min(time).max(0).cast(DType::I64))
    }

    /// Whether the sequence has this step; nothing if all have.
    fn has_step(&self, at: &At) -> Option<Expr> {
        Some(at.step.lt(self.length()?))
    }

    /// The position in time of a step.
    fn position(&self, at: &At) -> Expr {
        match (self.layer.directions[at.direction].0, self.length()) {
            (Direction::Forward, _) => at.step.clone(),
            (Direction::Reverse, None) => shifted(self.time(), -1) - &at.step,
            (Direction::Reverse, Some(length)) => {
                let mirrored = length.clone() - 1 - &at.step;
                let position = Expr::select(at.step.lt(length), mirrored, at.step.clone());
                clamped(&position, self.time())
            }
        }
    }

    /// What the input and the biases give for a gate.
    fn of_input(&self, at: &At, gate: i64) -> Expr {
        let (d, row) = (Expr::i64(at.direction as i64), self.row(gate, &at.unit));
        let projected = &self.projected[at.direction];
        let value = load(projected, &[&self.position(at), &self.sequence, &row]);
        value + load(self.bias, &[&d, &row]).cast(self.wide)
    }

    /// What the state and its bias give for a gate.
    fn of_state(&self, at: &At, gate: i64, memory: &Memory) -> Expr {
        let (d, row) = (Expr::i64(at.direction as i64), self.row(gate, &at.unit));
        let gates = self.layer.cell.gates();
        let bias = self.row(gates + gate, &at.unit);
        let product = match &memory.reset {
            Some(reset) if gate == gates - 1 => load(&reset.products, &[&self.sequence, &at.unit]),
            _ => load(&memory.products, &[&self.sequence, &row]),
        };
        product + load(self.bias, &[&d, &bias]).cast(self.wide)
    }

    fn gate(&self, at: &At, gate: i64, memory: &Memory) -> Expr {
        self.of_input(at, gate) + self.of_state(at, gate, memory)
    }

    /// The activation with this number of a direction.
    fn activate(&self, at: &At, which: usize, x: Expr) -> Expr {
        let x = match self.layer.clip {
            Some(clip) => {
                let bound = |v: f64| Expr::float(v, self.wide);
                x.max(bound(-clip)).min(bound(clip))
            }
            None => x,
        };
        self.layer.directions[at.direction].1[which].of(x)
    }

    /// The second state as a gate sees it, through peephole `which`.
    fn peephole(&self, at: &At, which: i64, state: &Expr, x: Expr) -> Expr {
        let Some(peepholes) = self.peepholes else {
            return x;
        };
        let d = Expr::i64(at.direction as i64);
        let weight = load(peepholes, &[&d, &self.row(which, &at.unit)]).cast(self.wide);
        x + weight * state
    }

    /// Stores a new state, where the sequence has the step.
    fn keep(&self, b: &mut PrimFuncBuilder, at: &At, state: &Buffer, new: Expr) {
        let value = match self.has_step(at) {
            Some(has) => Expr::select(has, new, load(state, &[&self.sequence, &at.unit])),
            None => new,
        };
        b.store(state, [&self.sequence, &at.unit], value);
    }

    fn cell(&self, b: &mut PrimFuncBuilder, at: &At, memory: &Memory) {
        let old = load(&memory.states[0], &[&self.sequence, &at.unit]);
        let one = Expr::float(1.0, self.wide);
        let gate = |gate: i64| self.gate(at, gate, memory);
        let new = match self.layer.cell {
            Cell::Rnn => self.activate(at, 0, gate(0)),
            Cell::Gru {
                linear_before_reset,
            } => {
                let update = self.activate(at, 0, gate(0));
                let candidate = match linear_before_reset {
                    true => {
                        let reset = self.activate(at, 0, gate(1));
                        self.of_input(at, 2) + reset * self.of_state(at, 2, memory)
                    }
                    false => gate(2),
                };
                let candidate = self.activate(at, 1, candidate);
                (one - &update) * candidate + update * old
            }
            Cell::Lstm { input_forget } => {
                let cell = load(&memory.states[1], &[&self.sequence, &at.unit]);
                let input = self.activate(at, 0, self.peephole(at, 0, &cell, gate(0)));
                let forget = match input_forget {
                    true => one - &input,
                    false => self.activate(at, 0, self.peephole(at, 2, &cell, gate(2))),
                };
                let candidate = self.activate(at, 1, gate(3));
                self.keep(b, at, &memory.states[1], forget * &cell + input * candidate);
                // The state that was just stored.
                let output = self.activate(at, 0, self.peephole(at, 1, &cell, gate(1)));
                output * self.activate_cell(at, cell)
            }
        };
        self.keep(b, at, &memory.states[0], new);
        let result = &self.results[0];
        let value = load(&memory.states[0], &[&self.sequence, &at.unit]);
        let value = match self.has_step(at) {
            Some(has) => Expr::select(has, value, Expr::float(0.0, self.wide)),
            None => value,
        };
        let d = Expr::i64(at.direction as i64);
        let place = [&self.position(at), &d, &self.sequence, &at.unit];
        b.store(result, place, value.cast(result.dtype()));
    }

    /// The activation of the second state, which is not clipped.
    fn activate_cell(&self, at: &At, cell: Expr) -> Expr {
        self.layer.directions[at.direction].1[2].of(cell)
    }
}
