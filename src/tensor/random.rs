//! Random numbers, which the host makes.
//!
//! Programs call these functions as packed functions with side effects: two calls give different numbers, unless a seed is said.

use std::f64::consts::TAU;

use fastrand::Rng;

use super::host_ops::{HostArgs, HostError, HostResult};
use super::scalar::{Scalar, encode};
use super::{DType, Tensor};

/// What a call wants: the numbers are the extents, then the bits of an element (32 or 64), whether there is a seed, and the seed.
struct Wanted {
    shape: Vec<usize>,
    dtype: DType,
    rng: Rng,
}

impl Wanted {
    fn of(args: &HostArgs) -> Result<Self, HostError> {
        let Some((dims, [bits, seeded, seed])) = args.numbers.split_last_chunk() else {
            return Err(HostError::Arguments("extents, bits and a seed"));
        };
        let extent = |&got: &i64| {
            usize::try_from(got).map_err(|_| HostError::Value {
                what: "an extent",
                got,
                expected: "at least 0",
            })
        };
        Ok(Self {
            shape: dims.iter().map(extent).collect::<Result<_, _>>()?,
            dtype: match bits {
                32 => DType::F32,
                64 => DType::F64,
                &got => {
                    return Err(HostError::Value {
                        what: "the number of bits of an element",
                        got,
                        expected: "32 or 64",
                    });
                }
            },
            rng: match seeded {
                0 => Rng::new(),
                _ => Rng::with_seed(*seed as u64),
            },
        })
    }

    /// A tensor of numbers that are made one after the other.
    fn filled(mut self, mut next: impl FnMut(&mut Rng) -> f64) -> Result<HostResult, HostError> {
        let mut tensor = Tensor::zeros(self.dtype, &self.shape)?;
        let elements = tensor.bytes_mut()?.chunks_exact_mut(self.dtype.bytes());
        for element in elements {
            encode(
                Scalar::Float(next(&mut self.rng)),
                self.dtype.scalar,
                element,
            );
        }
        Ok(HostResult::Tensor(tensor))
    }
}

/// Uniform from 0 to below 1.
pub(super) fn uniform(args: &HostArgs) -> Result<HostResult, HostError> {
    let wanted = Wanted::of(args)?;
    match wanted.dtype {
        // A float64 just below 1 would round to 1.
        DType::F32 => wanted.filled(|rng| f64::from(rng.f32())),
        _ => wanted.filled(Rng::f64),
    }
}

/// Normal of mean 0 and variance 1, in pairs: G. E. P. Box and M. E. Muller, A Note on the Generation of Random Normal Deviates.
pub(super) fn normal(args: &HostArgs) -> Result<HostResult, HostError> {
    let mut second = None;
    Wanted::of(args)?.filled(|rng| {
        second.take().unwrap_or_else(|| {
            // The logarithm wants a number above 0.
            let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
            let (sin, cos) = (TAU * rng.f64()).sin_cos();
            second = Some(radius * sin);
            radius * cos
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(run: fn(&HostArgs) -> Result<HostResult, HostError>, numbers: &[i64]) -> Vec<f64> {
        let args = HostArgs {
            tensors: vec![],
            numbers: numbers.to_vec(),
            texts: vec![],
        };
        match run(&args) {
            Ok(HostResult::Tensor(tensor)) => match tensor.as_slice::<f64>() {
                Ok(elements) => elements.to_vec(),
                Err(_) => {
                    let elements = tensor.as_slice::<f32>().expect("float32 or float64");
                    elements.iter().map(|&v| v.into()).collect()
                }
            },
            other => panic!("{other:?}"),
        }
    }

    fn moments(numbers: &[f64]) -> [f64; 4] {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let moment = |power| {
            let sum: f64 = numbers.iter().map(|v| (v - mean).powi(power)).sum();
            sum / count
        };
        [mean, moment(2), moment(3), moment(4)]
    }

    fn near(got: [f64; 4], expected: [f64; 4], by: f64) {
        let mut pairs = got.iter().zip(expected);
        assert!(
            pairs.all(|(a, b)| (a - b).abs() < by),
            "{got:?} is not near {expected:?}"
        );
    }

    /// Six standard deviations of each moment over so many numbers are below what is allowed.
    #[test]
    fn moments_are_those_of_the_distribution() {
        for bits in [32, 64] {
            let numbers = floats(uniform, &[300, 400, bits, 1, 7]);
            assert!(numbers.iter().all(|v| (0.0..1.0).contains(v)));
            near(moments(&numbers), [0.5, 1.0 / 12.0, 0.0, 1.0 / 80.0], 0.006);
            let numbers = floats(normal, &[300, 401, bits, 1, 7]);
            near(moments(&numbers), [0.0, 1.0, 0.0, 3.0], 0.2);
            near([moments(&numbers)[0], 0.0, 0.0, 0.0], [0.0; 4], 0.02);
        }
    }

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        for run in [uniform, normal] {
            let numbers = |seeded, seed| floats(run, &[9, 32, seeded, seed]);
            assert_eq!(numbers(1, 7), numbers(1, 7));
            assert_ne!(numbers(1, 7), numbers(1, 8));
            assert_ne!(numbers(0, 7), numbers(0, 7));
        }
    }

    #[test]
    fn what_makes_no_tensor_is_refused() {
        for numbers in [&[][..], &[32, 0], &[-1, 32, 0, 0], &[1, 16, 0, 0]] {
            let args = HostArgs {
                tensors: vec![],
                numbers: numbers.to_vec(),
                texts: vec![],
            };
            assert!(uniform(&args).is_err(), "{numbers:?}");
        }
    }
}
