//! Messages of programs: what `R.print` prints, and what `R.assert_op` fails with.
//!
//! Each `{}` of the format is one operand. Without a format all operands follow each other.

use std::fmt::Write;

use super::Tensor;
use super::host_ops::{HostArgs, HostError, HostResult};
use super::scalar::{Scalar, decode};

/// Prints the operands to standard output.
#[expect(clippy::print_stdout, reason = "the program asks for it")]
pub(super) fn print(args: &HostArgs) -> Result<HostResult, HostError> {
    println!("{}", message(args, &args.tensors, &args.numbers));
    Ok(HostResult::Tuple(vec![]))
}

/// Fails with the operands after the condition if the condition is false. The condition is a tensor without dimensions, or a number
/// where no tensor without dimensions is the first one.
pub(super) fn assert(args: &HostArgs) -> Result<HostResult, HostError> {
    let is_scalar = |tensor: &&Tensor| tensor.shape().is_empty();
    let (holds, tensors, numbers) = match (args.tensors.first().filter(is_scalar), &*args.numbers) {
        (Some(cond), numbers) => {
            let holds = decode(cond.bytes(), cond.dtype().scalar).is_true();
            (holds, &args.tensors[1..], numbers)
        }
        (None, [cond, numbers @ ..]) => (*cond != 0, &*args.tensors, numbers),
        (None, []) => return Err(HostError::Arguments("a condition")),
    };
    if holds {
        return Ok(HostResult::Tuple(vec![]));
    }
    Err(HostError::Assertion {
        message: message(args, tensors, numbers),
    })
}

fn message(args: &HostArgs, tensors: &[Tensor], numbers: &[i64]) -> String {
    let operands = tensors.iter().map(text);
    let mut operands = operands.chain(numbers.iter().map(i64::to_string));
    let format = args.texts.first().map_or("", String::as_str);
    if format.is_empty() {
        return operands.collect::<Vec<_>>().join(" ");
    }
    let mut parts = format.split("{}");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(&operands.next().unwrap_or_else(|| "{}".to_owned()));
        out.push_str(part);
    }
    out
}

/// The elements, with brackets around each dimension.
fn text(tensor: &Tensor) -> String {
    let (size, scalar) = (tensor.dtype().bytes(), tensor.dtype().scalar);
    let elements = tensor.bytes().chunks_exact(size.max(1));
    let mut elements = elements.map(|bytes| match decode(bytes, scalar) {
        Scalar::Int(v) => v.to_string(),
        Scalar::Float(v) => format!("{v:?}"),
    });
    let mut out = String::new();
    nested(tensor.shape(), &mut elements, &mut out);
    out
}

fn nested(shape: &[usize], elements: &mut dyn Iterator<Item = String>, out: &mut String) {
    let [extent, inner @ ..] = shape else {
        let _ = write!(out, "{}", elements.next().unwrap_or_default());
        return;
    };
    out.push('[');
    for at in 0..*extent {
        if at > 0 {
            out.push_str(", ");
        }
        nested(inner, elements, out);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(format: &str, tensors: Vec<Tensor>) -> HostArgs {
        HostArgs {
            tensors,
            numbers: vec![7],
            texts: vec![format.to_owned()],
        }
    }

    #[test]
    fn operands_stand_in_the_places_of_the_format() {
        let x = Tensor::from_slice(&[2, 2], &[1.0f32, 2.5, -3.0, 0.0]).expect("four elements");
        let args = args("x = {}, n = {}", vec![x]);
        let said = message(&args, &args.tensors, &args.numbers);
        assert_eq!(said, "x = [[1.0, 2.5], [-3.0, 0.0]], n = 7");
    }

    #[test]
    fn a_condition_that_is_false_fails_with_the_message() {
        let cond = |holds: i64| Tensor::from_slice(&[], &[holds]).expect("one element");
        assert!(assert(&args("", vec![cond(1)])).is_ok());
        let error = assert(&args("n is {}", vec![cond(0)])).expect_err("it is false");
        assert_eq!(error.to_string(), "assertion failed: n is 7");
    }
}
