//! Normalisations over channels, recurrent layers, and numbers as small integers.

use super::windows::places;
use super::{Numbers, mean, variance};

const EPSILON: f64 = 1e-5;

fn normalised(x: f64, (mean, variance): (f64, f64), gamma: f64, beta: f64) -> f64 {
    (x - mean) / (variance + EPSILON).sqrt() * gamma + beta
}

/// Elements relative to those of the same batch and group of channels.
fn over_groups(x: &Numbers, channels: usize, gamma: &Numbers, beta: &Numbers) -> Vec<f64> {
    let of_group = x.shape[2..].iter().product::<usize>() * channels;
    let of_channel = of_group / channels;
    let groups = x.shape[1] / channels;
    let group = |(at, part): (usize, &[f64])| {
        let statistics = (mean(part), variance(part));
        let first = at % groups * channels;
        let channel = |at: usize| first + at / of_channel;
        let at = part.iter().enumerate();
        at.map(|(at, x)| normalised(*x, statistics, gamma.at[channel(at)], beta.at[channel(at)]))
            .collect::<Vec<f64>>()
    };
    x.at.chunks(of_group).enumerate().flat_map(group).collect()
}

fn by_channel(x: &Numbers, of: &[Numbers]) -> Vec<f64> {
    let element = |at: Vec<usize>| {
        let [gamma, beta, mean, variance] = [0, 1, 2, 3].map(|which| of[which].at[at[1]]);
        normalised(x.get(&at), (mean, variance), gamma, beta)
    };
    places(&x.shape).map(element).collect()
}

/// `x / (2 + 1e-5 / 3 * squares of 3 neighbouring channels) ** 0.75`
fn local_response(x: &Numbers) -> Vec<f64> {
    let element = |at: Vec<usize>| {
        let near = at[1].saturating_sub(1)..(at[1] + 2).min(x.shape[1]);
        let squares = near.map(|c| x.get(&[at[0], c, at[2], at[3]]).powi(2));
        x.get(&at) / (2.0 + 1e-5 / 3.0 * squares.sum::<f64>()).powf(0.75)
    };
    places(&x.shape).map(element).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The operands of a recurrent layer of one direction.
struct Layer<'a> {
    x: &'a Numbers,
    weight: &'a Numbers,
    recurrence: &'a Numbers,
    bias: &'a Numbers,
    /// Units.
    units: usize,
}

impl Layer<'_> {
    /// What the input adds to a gate of a unit, with its bias.
    fn input(&self, t: usize, batch: usize, row: usize) -> f64 {
        let terms = (0..self.x.shape[2])
            .map(|k| self.x.get(&[t, batch, k]) * self.weight.get(&[0, row, k]));
        terms.sum::<f64>() + self.bias.at[row]
    }

    /// What the state adds to a gate of a unit, with its bias.
    fn state(&self, h: &[f64], row: usize) -> f64 {
        let terms = (0..self.units).map(|k| h[k] * self.recurrence.get(&[0, row, k]));
        terms.sum::<f64>() + self.bias.at[self.weight.shape[1] + row]
    }

    /// All states, the last ones, and the last content of the cells, where `step` gives the next state and content.
    fn run(
        &self,
        h: &Numbers,
        c: Option<&Numbers>,
        step: impl Fn(&dyn Fn(usize, &[f64]) -> f64, &[f64], &[f64]) -> (Vec<f64>, Vec<f64>),
    ) -> Vec<Vec<f64>> {
        let (steps, batches, units) = (self.x.shape[0], self.x.shape[1], self.units);
        let of = |all: &Numbers| {
            all.at
                .chunks(units)
                .map(<[f64]>::to_vec)
                .collect::<Vec<_>>()
        };
        let (mut h, mut c) = (of(h), of(c.unwrap_or(h)));
        let mut all = vec![];
        for t in 0..steps {
            for b in 0..batches {
                // The rows of gate `g` begin at `g * units`.
                let gate = |row: usize, h: &[f64]| self.input(t, b, row) + self.state(h, row);
                (h[b], c[b]) = step(&gate, &h[b], &c[b]);
            }
            all.extend(h.concat());
        }
        vec![all, h.concat(), c.concat()]
    }
}

fn recurrent(op: &str, x: &Numbers, others: &[Numbers]) -> Option<Vec<Vec<f64>>> {
    let [weight, recurrence, bias, h, rest @ ..] = others else {
        return None;
    };
    let units = recurrence.shape[2];
    let layer = Layer {
        x,
        weight,
        recurrence,
        bias,
        units,
    };
    Some(match op {
        "nn.rnn" => {
            let mut results = layer.run(h, None, |gate, h, _| {
                let next: Vec<f64> = (0..units).map(|j| gate(j, h).tanh()).collect();
                (next.clone(), next)
            });
            results.truncate(2);
            results
        }
        // Gates z, r and h.
        "nn.gru" => {
            let mut results = layer.run(h, None, |gate, h, _| {
                let reset: Vec<f64> = (0..units)
                    .map(|j| sigmoid(gate(units + j, h)) * h[j])
                    .collect();
                let next = |j: usize| {
                    let kept = sigmoid(gate(j, h));
                    (1.0 - kept) * gate(2 * units + j, &reset).tanh() + kept * h[j]
                };
                let next: Vec<f64> = (0..units).map(next).collect();
                (next.clone(), next)
            });
            results.truncate(2);
            results
        }
        // Gates i, o, f and c.
        "nn.lstm" => layer.run(h, Some(rest.first()?), |gate, h, c| {
            let cell = |j: usize| {
                let (input, forget) = (sigmoid(gate(j, h)), sigmoid(gate(2 * units + j, h)));
                forget * c[j] + input * gate(3 * units + j, h).tanh()
            };
            let cells: Vec<f64> = (0..units).map(cell).collect();
            let next = (0..units).map(|j| sigmoid(gate(units + j, h)) * cells[j].tanh());
            (next.collect(), cells)
        }),
        _ => return None,
    })
}

/// What a call of one of these operators gives.
pub(super) fn layers(
    call: &str,
    op: &str,
    x: &Numbers,
    others: &[Numbers],
) -> Option<Vec<Vec<f64>>> {
    let scaled = |f: fn(f64, f64) -> f64| {
        let at = x.at.iter().enumerate();
        at.map(|(at, x)| f(*x, others[0].at[at % 3]))
            .collect::<Vec<f64>>()
    };
    Some(match call {
        "R.nn.batch_norm(x, y, z, w, p, axis=1, training=False)" => {
            vec![
                by_channel(x, others),
                others[2].at.clone(),
                others[3].at.clone(),
            ]
        }
        "R.nn.group_norm(x, y, z, num_groups=2, channel_axis=1, axes=[2])" => {
            vec![over_groups(x, 2, &others[0], &others[1])]
        }
        "R.nn.instance_norm(x, y, z, channel_axis=1, axes=[2])" => {
            vec![over_groups(x, 1, &others[0], &others[1])]
        }
        "R.nn.lrn(x, size=3)" => vec![local_response(x)],
        "R.quantize(x, f, R.const(0, \"int8\"), axis=1)" => {
            vec![scaled(|x, scale| {
                (x / scale).round_ties_even().clamp(-128.0, 127.0)
            })]
        }
        "R.dequantize(x, f, R.const(0, \"$T\"), axis=1)" => vec![scaled(|x, scale| x * scale)],
        _ => return recurrent(op, x, others),
    })
}
