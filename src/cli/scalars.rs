//! Scalar parameters of a loop program: the command line gives them as numbers, and they are compiled in.

use super::args::InputArgs;
use super::error::CliError;
use crate::ir::{Definitions, Expr, Param, PrimFunc, Substitution, Var};
use crate::tensor::scalar::{round_float, wrap_int};
use crate::tensor::{DType, ScalarType};

/// The loop program for the numbers that are said of its scalar parameters (`--input alpha=0.5`, `--shape n=128`), and what is said of
/// the other parameters.
///
/// # Errors
/// If nothing is said of one of them, what is said is no number of its type, or with these numbers a buffer has less than no elements.
pub(super) fn bind_scalars(
    func: &PrimFunc,
    inputs: &InputArgs,
) -> Result<(PrimFunc, InputArgs), CliError> {
    let mut inputs = inputs.clone();
    let mut values = Substitution::new(Definitions::Kept);
    for param in &func.params {
        if let Param::Scalar(var) = param {
            values.set_var(var, take(var, &mut inputs)?);
        }
    }
    let mut bound = func.clone();
    bound
        .params
        .retain(|param| matches!(param, Param::Buffer { .. }));
    if bound.params.len() < func.params.len() {
        bound = bound.map(&mut values);
    }
    for buffer in bound.buffer_params() {
        let extents = buffer.shape().iter().filter_map(Expr::as_int);
        if let Some(extent) = extents.into_iter().find(|extent| *extent < 0) {
            let param = buffer.name().to_owned();
            return Err(CliError::NegativeExtent { param, extent });
        }
    }
    Ok((bound, inputs))
}

/// The value of a scalar parameter, taken out of the arguments. `--shape` gives it too, for it may be an extent as well.
fn take(var: &Var, inputs: &mut InputArgs) -> Result<Expr, CliError> {
    let param = var.name().to_owned();
    let said = inputs.inputs.iter().position(|(name, _)| *name == param);
    let size = inputs.shapes.iter().position(|(name, _)| *name == param);
    let text = match (said, size) {
        (Some(at), _) => inputs.inputs.remove(at).1.display().to_string(),
        (None, Some(at)) => match &inputs.shapes.remove(at).1[..] {
            [size] => size.to_string(),
            _ => String::new(),
        },
        (None, None) => String::new(),
    };
    number(&text, var.dtype()).ok_or(CliError::NotANumber {
        param,
        dtype: var.dtype(),
        text,
    })
}

/// The number that a text is, if the type has it.
fn number(text: &str, dtype: DType) -> Option<Expr> {
    let ty = dtype.scalar;
    if dtype.is_float() {
        let value = round_float(text.parse().ok()?, ty);
        // A number too large for the type is none of it.
        let is_said = value.is_finite() || text.contains(['n', 'N']);
        return is_said.then(|| Expr::float(value, dtype));
    }
    match ty {
        ScalarType::Bool => text.parse().ok().map(Expr::bool),
        // An `i64` keeps the bits of a `uint64`.
        ScalarType::U64 => {
            let value: u64 = text.parse().ok()?;
            Some(Expr::int(value.cast_signed(), dtype))
        }
        _ => {
            let value = text.parse().ok()?;
            (wrap_int(value, ty) == value).then(|| Expr::int(value, dtype))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    const FILL: &str = r#"
@T.prim_func
def fill(x: T.handle, n: T.int32, v: T.float32):
    X = T.match_buffer(x, (n,), "float32")
    for i in range(n):
        X[i] = v
"#;

    fn bound(said: &[(&str, &str)], shapes: &[(&str, usize)]) -> Result<String, String> {
        let module = script::parse("fill.py", FILL).unwrap_or_else(|e| panic!("{e}"));
        let (_, func) = module.prim_funcs().next().expect("a loop program");
        let shapes = shapes
            .iter()
            .map(|(name, n)| ((*name).to_owned(), vec![*n]));
        let inputs = InputArgs {
            inputs: said
                .iter()
                .map(|(name, v)| ((*name).to_owned(), v.into()))
                .collect(),
            shapes: shapes.collect(),
        };
        let (func, left) = bind_scalars(func, &inputs).map_err(|e| e.to_string())?;
        assert!(left.inputs.is_empty() && left.shapes.is_empty(), "{left:?}");
        Ok(script::print_prim_func(&func).text)
    }

    #[test]
    fn scalar_parameters_are_compiled_in() {
        let text = bound(&[("v", "0.5")], &[("n", 3)]).expect("all are said");
        assert!(text.contains("(X: T.Buffer((3,), \"float32\")):"), "{text}");
        assert!(text.contains("X[i] = T.float32(0.5)"), "{text}");
    }

    #[test]
    fn what_is_no_number_of_the_type_is_refused() {
        let error = bound(&[("v", "0.5")], &[]).expect_err("n is missing");
        assert_eq!(
            error,
            "parameter `n` is a number of type int32: say it with --input n=NUMBER"
        );
        let error = bound(&[("v", "half"), ("n", "3")], &[]).expect_err("half");
        assert_eq!(
            error,
            "parameter `v` is a number of type float32, which `half` is not"
        );
        let error = bound(&[("v", "1"), ("n", "3000000000")], &[]).expect_err("too large");
        assert_eq!(
            error,
            "parameter `n` is a number of type int32, which `3000000000` is not"
        );
        let error = bound(&[("v", "1e39"), ("n", "3")], &[]).expect_err("too large");
        assert_eq!(
            error,
            "parameter `v` is a number of type float32, which `1e39` is not"
        );
        let text = bound(&[("v", "-inf"), ("n", "3")], &[]).expect("a float");
        assert!(text.contains("T.float32(\"-inf\")"), "{text}");
        let error = bound(&[("v", "1"), ("n", "-3")], &[]).expect_err("less than no elements");
        assert_eq!(
            error,
            "the numbers that are said of the scalar parameters give `X` the extent -3"
        );
    }
}
