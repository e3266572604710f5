//! Values against what is declared of them, which gives symbolic dimensions their values.

use super::InterpError;
use super::module::{Frame, Run, Value, eval};
use crate::ir::{ShapeInfo, StructInfo};
use crate::tensor::scalar::{BinOp, Scalar, eval_binary, wrap_int};

impl Run<'_> {
    /// Checks a value against what is declared of it, and gives new symbolic dimensions their values.
    #[inline(never)]
    pub(super) fn match_info(
        &self,
        func: &str,
        param: &str,
        info: &StructInfo,
        value: &Value,
        frame: &mut Frame,
    ) -> Result<(), InterpError> {
        let wrong = |expected| {
            Err(InterpError::WrongKind {
                value: param.to_owned(),
                expected,
            })
        };
        match (info, value) {
            (StructInfo::Object, _)
            | (
                StructInfo::Callable {
                    params: _,
                    ret: _,
                    pure: _,
                },
                Value::Closure(_),
            ) => Ok(()),
            (StructInfo::Tensor(info), Value::Tensor(tensor)) => {
                if let Some(expected) = info.dtype
                    && expected != tensor.dtype()
                {
                    let (func, param, got) = (func.to_owned(), param.to_owned(), tensor.dtype());
                    return Err(InterpError::ArgumentDType {
                        func,
                        param,
                        expected,
                        got,
                    });
                }
                match_shape(func, param, &info.shape, tensor.shape(), frame)
            }
            (StructInfo::Shape(shape), Value::Shape(dims)) => {
                let dims: Vec<_> = dims.iter().map(|&d| d as usize).collect();
                match_shape(func, param, shape, &dims, frame)
            }
            (
                StructInfo::Prim {
                    dtype,
                    value: known,
                },
                Value::Scalar(given),
            ) => {
                let of_type = match given {
                    Scalar::Int(v) => !dtype.is_float() && wrap_int(*v, dtype.scalar) == *v,
                    Scalar::Float(_) => dtype.is_float(),
                };
                if !of_type {
                    return wrong("a scalar of its type");
                }
                let Some(known) = known else {
                    return Ok(());
                };
                if let Some(var) = known.as_var() {
                    frame.dims.entry(var.clone()).or_insert(*given);
                }
                let expected = eval(known, frame)?;
                if eval_binary(BinOp::Eq, dtype.scalar, expected, *given)?.is_true() {
                    return Ok(());
                }
                Err(InterpError::ArgumentValue {
                    func: func.to_owned(),
                    param: param.to_owned(),
                    expected: text(expected),
                    got: text(*given),
                })
            }
            (StructInfo::Tuple(infos), Value::Tuple(values)) if infos.len() == values.len() => {
                infos
                    .iter()
                    .zip(values)
                    .try_for_each(|(i, v)| self.match_info(func, param, i, v, frame))
            }
            (StructInfo::Tensor(_), _) => wrong("a tensor"),
            (StructInfo::Shape(_), _) => wrong("a shape"),
            (StructInfo::Prim { dtype: _, value: _ }, _) => wrong("a scalar"),
            (StructInfo::Tuple(_), _) => wrong("a tuple of this size"),
            (
                StructInfo::Callable {
                    params: _,
                    ret: _,
                    pure: _,
                },
                _,
            ) => wrong("a function"),
        }
    }
}

fn match_shape(
    func: &str,
    param: &str,
    shape: &ShapeInfo,
    got: &[usize],
    frame: &mut Frame,
) -> Result<(), InterpError> {
    if let Some(expected) = shape.ndim()
        && expected != got.len()
    {
        let (func, param) = (func.to_owned(), param.to_owned());
        return Err(InterpError::ArgumentNdim {
            func,
            param,
            expected,
            got: got.len(),
        });
    }
    let ShapeInfo::Known(dims) = shape else {
        return Ok(());
    };
    for (extent, &got) in dims.iter().zip(got) {
        if let Some(var) = extent.as_var() {
            frame
                .dims
                .entry(var.clone())
                .or_insert(Scalar::Int(got as i64));
        }
    }
    for (dim, (extent, &got)) in dims.iter().zip(got).enumerate() {
        let expected = eval(extent, frame)?.as_int();
        if expected != got as i64 {
            let (func, param) = (func.to_owned(), param.to_owned());
            return Err(InterpError::ArgumentShape {
                func,
                param,
                dim,
                expected: expected.to_string(),
                got,
            });
        }
    }
    Ok(())
}

fn text(value: Scalar) -> String {
    match value {
        Scalar::Int(v) => v.to_string(),
        Scalar::Float(v) => v.to_string(),
    }
}
