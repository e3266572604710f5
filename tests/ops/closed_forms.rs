//! What calls of the catalog give by closed forms in plain Rust. [`super::every_type`] compares devices with the interpreter in wide
//! types, which is compared with these here: a fault that the interpreter and the devices share does not pass.

mod image;
mod layers;
mod windows;

use weftile::support::tolerance::elements;
use weftile::tensor::scalar::Scalar;
use weftile::tensor::{DType, Tensor};

use super::every_type::{Row, interpreted, rows};

/// An operand as numbers.
struct Numbers {
    shape: Vec<usize>,
    at: Vec<f64>,
}

impl Numbers {
    fn of(tensor: &Tensor) -> Self {
        let number = |value| match value {
            Scalar::Float(v) => v,
            Scalar::Int(v) => v as f64,
        };
        Self {
            shape: tensor.shape().to_vec(),
            at: elements(tensor).map(number).collect(),
        }
    }

    /// The vectors along the last axis.
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.at.chunks(*self.shape.last().expect("an axis"))
    }

    /// The element at these indices.
    fn get(&self, indices: &[usize]) -> f64 {
        let flat = |at: usize, (index, extent): (&usize, &usize)| at * extent + index;
        self.at[indices.iter().zip(&self.shape).fold(0, flat)]
    }

    /// The vectors along the first of two axes.
    fn columns(&self) -> Vec<Vec<f64>> {
        let column = |j| self.rows().map(move |row: &[f64]| row[j]).collect();
        (0..self.shape[1]).map(column).collect()
    }
}

/// The series of the error function, for numbers near 0.
fn erf(x: f64) -> f64 {
    let (mut sum, mut power) = (0.0, x);
    for n in 0..60 {
        sum += power / f64::from(2 * n + 1);
        power *= -x * x / f64::from(n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Operators of one number.
fn unary(op: &str, x: f64) -> Option<f64> {
    let sigmoid = 1.0 / (1.0 + (-x).exp());
    let softplus = x.exp().ln_1p();
    let hard_sigmoid = (x / 6.0 + 0.5).clamp(0.0, 1.0);
    Some(match op {
        "abs" => x.abs(),
        "acos" => x.acos(),
        "acosh" => x.acosh(),
        "asin" => x.asin(),
        "asinh" => x.asinh(),
        "atan" => x.atan(),
        "atanh" => x.atanh(),
        "ceil" => x.ceil(),
        "cos" => x.cos(),
        "cosh" => x.cosh(),
        "erf" => erf(x),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "floor" => x.floor(),
        "flatten" | "nn.dropout" => x,
        "isfinite" => truth(x.is_finite()),
        "isinf" => truth(x.is_infinite()),
        "isnan" => truth(x.is_nan()),
        "log" => x.ln(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "log2" => x.log2(),
        "negative" => -x,
        "ones_like" => 1.0,
        "round" => x.round_ties_even(),
        "rsqrt" => 1.0 / x.sqrt(),
        "sigmoid" => sigmoid,
        "sign" if x == 0.0 => 0.0,
        "sign" => x.signum(),
        "sin" => x.sin(),
        "sinh" => x.sinh(),
        "sqrt" => x.sqrt(),
        "square" => x * x,
        "tan" => x.tan(),
        "tanh" => x.tanh(),
        "trunc" => x.trunc(),
        "zeros_like" => 0.0,
        "nn.celu" | "nn.elu" if x < 0.0 => x.exp() - 1.0,
        "nn.celu" | "nn.elu" => x,
        "nn.gelu" => 0.5 * x * (1.0 + erf(x / 2f64.sqrt())),
        "nn.gelu_tanh" => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
        "nn.hardsigmoid" => hard_sigmoid,
        "nn.hardswish" => x * hard_sigmoid,
        "nn.hardtanh" => x.clamp(-1.0, 1.0),
        "nn.leakyrelu" => x.max(0.0) + 0.01 * x.min(0.0),
        "nn.mish" => x * softplus.tanh(),
        "nn.relu" => x.max(0.0),
        "nn.relu6" => x.clamp(0.0, 6.0),
        "nn.selu" => {
            let (scale, alpha) = (1.050_700_987_355_480_5, 1.673_263_242_354_377_2);
            scale * if x < 0.0 { alpha * (x.exp() - 1.0) } else { x }
        }
        "nn.shrink" if x.abs() > 0.5 => x,
        "nn.shrink" => 0.0,
        "nn.silu" => x * sigmoid,
        "nn.softplus" => softplus,
        "nn.softsign" => x / (1.0 + x.abs()),
        "nn.thresholded_relu" if x > 1.0 => x,
        "nn.thresholded_relu" => 0.0,
        _ => return None,
    })
}

/// Operators of two numbers.
fn binary(op: &str, x: f64, y: f64) -> Option<f64> {
    let (i, j) = (x as i64, y as i64);
    Some(match op {
        "add" => x + y,
        "atan2" => x.atan2(y),
        "bitwise_and" => (i & j) as f64,
        "bitwise_or" => (i | j) as f64,
        "bitwise_xor" => (i ^ j) as f64,
        "equal" => truth(x == y),
        "floor_divide" => (x / y).floor(),
        "floor_mod" => x - (x / y).floor() * y,
        "greater" => truth(x > y),
        "greater_equal" => truth(x >= y),
        "left_shift" => (i << j) as f64,
        "less" => truth(x < y),
        "less_equal" => truth(x <= y),
        "log_add_exp" => (x.exp() + y.exp()).ln(),
        "logical_and" => truth(x != 0.0 && y != 0.0),
        "logical_or" => truth(x != 0.0 || y != 0.0),
        "logical_xor" => truth((x != 0.0) != (y != 0.0)),
        "maximum" => x.max(y),
        "mod" => x % y,
        "minimum" => x.min(y),
        "multiply" => x * y,
        "not_equal" => truth(x != y),
        "power" => x.powf(y),
        "right_shift" => (i >> j) as f64,
        "subtract" => x - y,
        _ => return None,
    })
}

fn mean(row: &[f64]) -> f64 {
    row.iter().sum::<f64>() / row.len() as f64
}

fn variance(row: &[f64]) -> f64 {
    let middle = mean(row);
    row.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / row.len() as f64
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let exps: Vec<f64> = row.iter().map(|x| x.exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.into_iter().map(|x| x / sum).collect()
}

/// Positions in the order of the numbers, equal ones as they stand.
fn order(row: &[f64], descending: bool) -> Vec<f64> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    let sign = if descending { -1.0 } else { 1.0 };
    order.sort_by(|&a, &b| (sign * row[a]).total_cmp(&(sign * row[b])));
    order.into_iter().map(|at| at as f64).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What each of the vectors becomes, one after the other.
fn each<'a>(
    rows: impl Iterator<Item = &'a [f64]>,
    f: impl Fn(&'a [f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    vec![rows.flat_map(f).collect()]
}

/// Reductions, scans and orders along an axis.
fn along_axis(call: &str, x: &Numbers) -> Option<Vec<Vec<f64>>> {
    let running = |row: &[f64], f: fn(f64, f64) -> f64| {
        let mut last = None;
        let next = |&x: &f64| {
            let now = last.map_or(x, |last| f(last, x));
            last = Some(now);
            now
        };
        row.iter().map(next).collect::<Vec<f64>>()
    };
    let sorted = |row: &[f64], descending| -> Vec<f64> {
        let order = order(row, descending).into_iter();
        order.map(|at| row[at as usize]).collect()
    };
    let over = |f: &dyn Fn(&[f64]) -> f64| each(x.rows(), |row| vec![f(row)]);
    let down = |f: fn(&[f64]) -> f64| vec![x.columns().iter().map(|c| f(c)).collect()];
    Some(match call {
        "R.argmax(x, axis=1)" => over(&|row| order(row, true)[0]),
        "R.argmin(x, axis=1)" => over(&|row| order(row, false)[0]),
        "R.argsort(x)" => each(x.rows(), |row| order(row, false)),
        "R.cumprod(x, axis=1)" => each(x.rows(), |row| running(row, |a, b| a * b)),
        "R.cumsum(x, axis=1)" => each(x.rows(), |row| running(row, |a, b| a + b)),
        "R.max(x, axis=[1])" => over(&|row| row.iter().copied().fold(f64::MIN, f64::max)),
        "R.mean(x, axis=[1])" => over(&mean),
        "R.median(x, axis=[1])" => over(&|row| sorted(row, false)[row.len() / 2]),
        "R.min(x, axis=[0])" => down(|column| column.iter().copied().fold(f64::MAX, f64::min)),
        "R.nn.log_softmax(x)" => each(x.rows(), |row| {
            softmax(row).iter().map(|p| p.ln()).collect()
        }),
        "R.nn.softmax(x)" => each(x.rows(), softmax),
        "R.prod(x, axis=[1])" => over(&|row| row.iter().product()),
        "R.sort(x, descending=True)" => each(x.rows(), |row| sorted(row, true)),
        "R.std(x, axis=[1])" => over(&|row| variance(row).sqrt()),
        "R.sum(x)" => vec![vec![x.at.iter().sum()]],
        "R.topk(x, k=2)" => vec![
            x.rows()
                .flat_map(|row| sorted(row, true)[..2].to_vec())
                .collect(),
            x.rows()
                .flat_map(|row| order(row, true)[..2].to_vec())
                .collect(),
        ],
        "R.variance(x, axis=[0])" => down(variance),
        _ => return None,
    })
}

/// Elements at other places.
fn arrangement(call: &str, x: &Numbers, others: &[Numbers]) -> Option<Vec<Vec<f64>>> {
    let at = |rows: usize, columns: usize, f: &dyn Fn(usize, usize) -> f64| {
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        vec![places.map(|(i, j)| f(i, j)).collect::<Vec<f64>>()]
    };
    let n = x.shape[0];
    let y = others.first();
    Some(match (call, y) {
        ("R.concat((x, y), axis=0)", Some(y)) => vec![[&x.at[..], &y.at].concat()],
        ("R.flip(x, axis=1)", _) => each(x.rows(), |row| row.iter().rev().copied().collect()),
        ("R.gather_elements(x, i, axis=0)", Some(i)) => {
            at(2, 3, &|a, b| x.get(&[i.get(&[a, b]) as usize, b]))
        }
        ("R.permute_dims(x, axes=[2, 0, 1])", _) => {
            at(3, n * 2, &|k, ij| x.get(&[ij / 2, ij % 2, k]))
        }
        ("R.repeat(x, 2, axis=1)", _) => at(n, 6, &|i, j| x.get(&[i, j / 2])),
        ("R.roll(x, 2, axis=1)", _) => at(n, 5, &|i, j| x.get(&[i, (j + 3) % 5])),
        ("R.scatter_elements(x, i, y, axis=0)", Some(i)) => {
            let mut out = x.at.clone();
            for (flat, row) in i.at.iter().enumerate() {
                out[*row as usize * 3 + flat % 3] = others[1].at[flat];
            }
            vec![out]
        }
        ("R.stack((x, y), axis=1)", Some(y)) => {
            at(n, 2, &|i, j| if j == 0 { x.at[i] } else { y.at[i] })
        }
        ("R.take(x, i, axis=0)", Some(i)) => at(4, 3, &|a, j| x.get(&[i.at[a] as usize, j])),
        ("R.tile(x, [2, 2])", _) => at(2 * n, 6, &|i, j| x.get(&[i % n, j % 3])),
        ("R.tril(x)", _) => at(n, 3, &|i, j| truth(j <= i) * x.get(&[i, j])),
        ("R.triu(x, R.prim_value(1))", _) => at(n, 3, &|i, j| truth(j > i) * x.get(&[i, j])),
        _ => return None,
    })
}

/// Products, windows and normalisations of several operands.
fn composed(call: &str, x: &Numbers, others: &[Numbers]) -> Option<Vec<Vec<f64>>> {
    let y = others.first();
    Some(vec![match (call, y, others.get(1)) {
        ("R.ewise_fma(x, y, z)", Some(y), Some(z)) => {
            let pairs = x.at.iter().zip(&y.at).zip(&z.at);
            pairs.map(|((x, y), z)| x * y + z).collect()
        }
        ("R.where(m, x, y)", Some(a), Some(b)) => {
            let pick = |i: usize| if x.at[i] != 0.0 { a.at[i] } else { b.at[i] };
            (0..x.at.len()).map(pick).collect()
        }
        ("R.matmul(x, y)" | "R.einsum((x, y), subscripts=\"ij,jk->ik\")", Some(y), _) => {
            let columns = y.columns();
            let row = |row: &[f64]| columns.iter().map(|c| dot(row, c)).collect::<Vec<f64>>();
            x.rows().flat_map(row).collect()
        }
        ("R.outer(x, y)", Some(y), _) => {
            x.at.iter()
                .flat_map(|a| y.at.iter().map(move |b| a * b))
                .collect()
        }
        ("R.det(x)", ..) => {
            let turn = |k: usize, step: usize| {
                (0..3)
                    .map(|i| x.get(&[i, (k + step * i) % 3]))
                    .product::<f64>()
            };
            vec![(0..3).map(|k| turn(k, 1) - turn(k, 2)).sum()]
        }
        ("R.nn.layer_norm(x, y, z, axes=[-1])", Some(y), Some(z)) => {
            let norm = |row: &[f64]| -> Vec<f64> {
                let (middle, deviation) = (mean(row), (variance(row) + 1e-5).sqrt());
                let at = |j: usize| (row[j] - middle) / deviation * y.at[j] + z.at[j];
                (0..row.len()).map(at).collect()
            };
            x.rows().flat_map(norm).collect()
        }
        ("R.nn.rms_norm(x, y)", Some(y), _) => {
            let norm = |row: &[f64]| -> Vec<f64> {
                let root = (dot(row, row) / row.len() as f64 + 1e-5).sqrt();
                row.iter().zip(&y.at).map(|(x, y)| x / root * y).collect()
            };
            x.rows().flat_map(norm).collect()
        }
        ("R.nn.attention(x, y, z)", Some(k), Some(v)) => {
            let attend = |s: usize, h: usize| -> Vec<f64> {
                let score = |t: usize| {
                    (0..4)
                        .map(|d| x.get(&[0, s, h, d]) * k.get(&[0, t, h, d]))
                        .sum::<f64>()
                };
                let scores: Vec<f64> = (0..5).map(|t| score(t) / 2.0).collect();
                let weights = softmax(&scores);
                let value = |d: usize| (0..5).map(|t| weights[t] * v.get(&[0, t, h, d])).sum();
                (0..3).map(value).collect()
            };
            (0..3)
                .flat_map(|s| (0..2).flat_map(move |h| attend(s, h)))
                .collect()
        }
        _ => return None,
    }])
}

/// The results of the call for these operands; of integers not those that are fractions.
fn closed(row: &Row, args: &[Numbers], dtype: DType) -> Option<Vec<Vec<f64>>> {
    let fractions = [
        "mean",
        "std",
        "variance",
        "softmax",
        "norm",
        "pool",
        "attention",
        "resize",
    ];
    if !dtype.is_float() && fractions.iter().any(|name| row.op().contains(name)) {
        return None;
    }
    let (x, others) = args.split_first()?;
    let of_elements = match others {
        _ if row.call.contains('=') => None,
        [] => x.at.iter().map(|x| unary(row.op(), *x)).collect(),
        [y] if y.shape == x.shape => {
            let pairs = x.at.iter().zip(&y.at);
            pairs.map(|(x, y)| binary(row.op(), *x, *y)).collect()
        }
        _ => None,
    };
    let of_elements: Option<Vec<f64>> = of_elements;
    let found = of_elements.map(|one| vec![one]);
    let found = found.or_else(|| along_axis(&row.call, x));
    let found = found.or_else(|| arrangement(&row.call, x, others));
    let found = found.or_else(|| composed(&row.call, x, others));
    let found = found.or_else(|| layers::layers(&row.call, row.op(), x, others));
    found.or_else(|| {
        let one = windows::windows(row.op(), &row.call, x, others);
        let one = one.or_else(|| image::images(&row.call, x, others));
        one.map(|one| vec![one])
    })
}

/// Whether numbers are the same, but for what `float64` rounds.
fn near(got: f64, expected: f64) -> bool {
    got == expected || (got - expected).abs() <= 1e-9 * (1.0 + expected.abs())
}

#[test]
fn the_interpreter_gives_what_closed_forms_give() {
    for (dtype, least) in [(DType::F64, 130), (DType::I64, 50)] {
        let mut count = 0;
        let mut failures = vec![];
        for row in rows().iter().filter(|row| row.takes(dtype)) {
            let tensors = row
                .operands
                .iter()
                .map(|o| o.tensor(dtype.scalar, dtype, 7));
            let args: Vec<Numbers> = tensors.map(|tensor| Numbers::of(&tensor)).collect();
            let Some(expected) = closed(row, &args, dtype) else {
                continue;
            };
            count += 1;
            let got = interpreted(row, dtype.scalar, dtype, 7);
            for (got, expected) in got.iter().map(Numbers::of).zip(&expected) {
                let same = got.at.len() == expected.len()
                    && got
                        .at
                        .iter()
                        .zip(expected)
                        .all(|(got, expected)| near(*got, *expected));
                if !same {
                    failures.push(format!("{dtype} {}:\n{:?}\n{expected:?}", row.call, got.at));
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(
            count >= least,
            "only {count} calls of {dtype} have a closed form"
        );
    }
}
