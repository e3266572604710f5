//! Constants: `R.const(...)`, and the data of `metadata = tvm.ir.load_json("...")`.

use std::fmt;

use ruff_python_ast as ast;
use serde_json::Value;

use super::super::context::{Context, Parse, dotted, float_literal, int_literal, not_finite};
use crate::script::ScriptErrorKind;
use crate::script::constant::{element_bytes, from_json};
use crate::script::tvm_json::constants;
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, ScalarType, Tensor};

/// Reads `metadata = tvm.ir.load_json("""...""")`, the constants that the functions refer to.
pub(in crate::script::parse) fn metadata(cx: &mut Context<'_>, value: &ast::Expr) -> Parse<()> {
    let ast::Expr::Call(call) = value else {
        return Err(cx.expected(value, "`tvm.ir.load_json(\"...\")`"));
    };
    let path = dotted(&call.func).unwrap_or_default();
    if path.rsplit('.').next() != Some("load_json") {
        return Err(cx.expected(&*call.func, "`tvm.ir.load_json`"));
    }
    let [text] = cx.bind_all(call, "load_json", ["json_str"])?;
    let json = cx.string(text)?;
    let bad = |message: String| ScriptErrorKind::Metadata { message };
    let Ok(Value::Object(lists)) = serde_json::from_str(&json) else {
        return Err(cx.error(text, bad("not a JSON object".to_owned())));
    };
    if let Some(found) = constants(&lists) {
        return match found {
            Ok(found) => {
                let some = |tensors: Vec<Tensor>| tensors.into_iter().map(Some).collect();
                let tensors = found.tensors.into_iter();
                let tensors = tensors.map(|(key, list)| (key, some(list)));
                cx.graph.metadata.extend(tensors);
                cx.graph.texts.extend(found.texts);
                Ok(())
            }
            Err(error) => Err(cx.error(text, bad(error.to_string()))),
        };
    }
    for (key, list) in lists {
        let Value::Array(list) = list else {
            return Err(cx.error(text, bad(format!("\"{key}\" is not a list"))));
        };
        let tensors = list.iter().map(|entry| match entry {
            Value::Null => Ok(None),
            entry => from_json(entry).map(Some),
        });
        let tensors = tensors.collect::<Result<_, _>>();
        match tensors {
            Ok(tensors) => cx.graph.metadata.insert(key, tensors),
            Err(error) => {
                return Err(cx.error(text, bad(format!("\"{key}\": {error}"))));
            }
        };
    }
    Ok(())
}

impl Context<'_> {
    /// A constant: a number, or nested lists of numbers. Without a type, integers are `int32`, others `float32`.
    pub(super) fn tensor_constant(
        &mut self,
        node: &ast::Expr,
        dtype: Option<DType>,
    ) -> Parse<Tensor> {
        let mut numbers = Vec::new();
        let mut shape = Vec::new();
        self.numbers(node, 0, &mut shape, &mut numbers)?;
        let dtype = dtype.unwrap_or_else(|| match numbers.first() {
            Some(Written::Number(Scalar::Float(_))) | None => DType::F32,
            Some(Written::Number(Scalar::Int(_))) if is_bool(node) => DType::BOOL,
            Some(Written::Number(Scalar::Int(_)) | Written::Large(_)) => DType::I32,
        });
        let mut bytes = Vec::new();
        for number in numbers {
            let Some(element) = number.element(dtype.scalar) else {
                let number = number.to_string();
                let expected = format!("elements are {dtype}");
                return Err(self.error(node, ScriptErrorKind::OutOfRange { number, expected }));
            };
            bytes.extend(element);
        }
        match Tensor::from_bytes(dtype, &shape, &bytes) {
            Ok(tensor) => Ok(tensor),
            Err(_) => Err(self.expected(node, "lists of the same length")),
        }
    }

    fn numbers(
        &mut self,
        node: &ast::Expr,
        depth: usize,
        shape: &mut Vec<usize>,
        out: &mut Vec<Written>,
    ) -> Parse<()> {
        if let ast::Expr::List(_) | ast::Expr::Tuple(_) = node {
            let items = Self::elements(node);
            match shape.get(depth) {
                None => shape.push(items.len()),
                Some(len) if *len == items.len() => {}
                Some(_) => return Err(self.expected(node, "lists of the same length")),
            }
            return items
                .iter()
                .try_for_each(|item| self.numbers(item, depth + 1, shape, out));
        }
        if depth != shape.len() {
            return Err(self.expected(node, "lists of the same depth"));
        }
        let number = match node {
            ast::Expr::BooleanLiteral(b) => Scalar::Int(b.value.into()),
            _ if let Some(value) = int_literal(node) => Scalar::Int(value),
            _ if let Some(value) = float_literal(node) => Scalar::Float(value),
            ast::Expr::StringLiteral(s) if let Some(value) = not_finite(s.value.to_str()) => {
                Scalar::Float(value)
            }
            ast::Expr::NumberLiteral(n) if let Some(value) = large(n) => {
                out.push(Written::Large(value));
                return Ok(());
            }
            _ => return Err(self.expected(node, "a number, `True` or `False`")),
        };
        out.push(Written::Number(number));
        Ok(())
    }
}

/// A number of a constant as the text says it.
enum Written {
    Number(Scalar),
    /// An integer above those of `int64`.
    Large(u64),
}

impl Written {
    /// Its bytes as an element, if the type has it.
    fn element(&self, scalar: ScalarType) -> Option<Vec<u8>> {
        match *self {
            Self::Number(Scalar::Int(value)) if value < 0 && scalar.is_unsigned_int() => None,
            Self::Number(number) => element_bytes(number, scalar),
            Self::Large(value) if scalar == ScalarType::U64 => {
                element_bytes(Scalar::Int(value.cast_signed()), scalar)
            }
            Self::Large(value) if scalar.is_float() => {
                element_bytes(Scalar::Float(value as f64), scalar)
            }
            Self::Large(_) => None,
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(Scalar::Int(value)) => value.fmt(f),
            Self::Number(Scalar::Float(value)) => value.fmt(f),
            Self::Large(value) => value.fmt(f),
        }
    }
}

fn large(n: &ast::ExprNumberLiteral) -> Option<u64> {
    n.value.as_int()?.as_u64()
}

fn is_bool(node: &ast::Expr) -> bool {
    match node {
        ast::Expr::BooleanLiteral(_) => true,
        ast::Expr::List(list) => list.elts.first().is_some_and(is_bool),
        _ => false,
    }
}
