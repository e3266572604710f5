//! Prints what is known of values.

use super::Printer;
use crate::ir::{Expr, ExprKind, ShapeInfo, StructInfo, TensorInfo};
use crate::script::print::{expr, value};
use crate::tensor::DType;

/// Whether symbolic extents are texts, as in a signature, where their names are not known yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Yes,
    No,
}

impl Printer<'_, '_> {
    /// What is known of a value, inside a function.
    pub(super) fn plain(&mut self, sinfo: &StructInfo) -> String {
        self.sinfo(sinfo, Quote::No)
    }

    /// What is known of a value, in a signature.
    pub(super) fn quoted(&mut self, sinfo: &StructInfo) -> String {
        self.sinfo(sinfo, Quote::Yes)
    }

    /// An extent or scalar. Constants print without their type where they are read with it: `int64` ones alone, and any beside
    /// an operand that is no constant.
    pub(super) fn dim(&mut self, e: &Expr) -> String {
        let bare = |value: &Expr, beside: &Expr| match (value.as_int(), beside.as_int()) {
            // The printer of arithmetic leaves out the type of `int32`.
            (Some(v), None) if value.dtype() == DType::I64 => Expr::int(v, DType::I32),
            _ => value.clone(),
        };
        match e.kind() {
            ExprKind::Int(v) if e.dtype() == DType::I64 => v.to_string(),
            ExprKind::Int(v) if e.dtype() == DType::I32 => format!("T.int32({v})"),
            _ => {
                let plain = e.rewrite_bottom_up(&mut |e| match e.kind() {
                    ExprKind::Binary(op, a, b) => {
                        let kind = ExprKind::Binary(*op, bare(a, b), bare(b, a));
                        Expr::new(kind, e.dtype())
                    }
                    _ => e.clone(),
                });
                expr::expr(&mut self.namer, &plain)
            }
        }
    }

    fn dims(&mut self, dims: &[Expr], quote: Quote) -> Vec<String> {
        dims.iter()
            .map(|dim| {
                let text = self.dim(dim);
                match quote {
                    Quote::Yes if dim.as_int().is_none() => quoted(&text),
                    Quote::Yes | Quote::No => text,
                }
            })
            .collect()
    }

    fn sinfo(&mut self, sinfo: &StructInfo, quote: Quote) -> String {
        match sinfo {
            StructInfo::Object => "R.Object".to_owned(),
            StructInfo::Prim { dtype, value: None } => format!("R.Prim(\"{dtype}\")"),
            StructInfo::Prim {
                dtype: _,
                value: Some(e),
            } => format!(
                "R.Prim(value={})",
                self.dims(std::slice::from_ref(e), quote)[0]
            ),
            StructInfo::Shape(ShapeInfo::Known(dims)) => {
                format!("R.Shape([{}])", self.dims(dims, quote).join(", "))
            }
            StructInfo::Shape(ShapeInfo::Ndim(n)) => format!("R.Shape(ndim={n})"),
            StructInfo::Shape(ShapeInfo::Unknown) => "R.Shape".to_owned(),
            StructInfo::Tensor(info) => self.tensor(info, quote),
            StructInfo::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|i| self.sinfo(i, quote)).collect();
                format!("R.Tuple({})", items.join(", "))
            }
            StructInfo::Callable { params, ret, pure } => {
                let params = match params {
                    None => "None".to_owned(),
                    Some(params) => {
                        let params: Vec<_> = params.iter().map(|p| self.sinfo(p, quote)).collect();
                        tuple(&params)
                    }
                };
                let ret = self.sinfo(ret, quote);
                let pure = if *pure { "True" } else { "False" };
                format!("R.Callable({params}, {ret}, {pure})")
            }
        }
    }

    fn tensor(&mut self, info: &TensorInfo, quote: Quote) -> String {
        let mut parts = Vec::new();
        if let ShapeInfo::Known(dims) = &info.shape {
            parts.push(tuple(&self.dims(dims, quote)));
        }
        if let Some(dtype) = info.dtype {
            parts.push(format!("dtype=\"{dtype}\""));
        }
        if let Some(device) = &info.vdevice {
            let device = device.named_in(self.devices).to_string();
            parts.push(format!("vdevice={}", value::string(&device)));
        }
        if let ShapeInfo::Ndim(n) = info.shape {
            parts.push(format!("ndim={n}"));
        }
        if parts.is_empty() {
            "R.Tensor".to_owned()
        } else {
            format!("R.Tensor({})", parts.join(", "))
        }
    }
}

/// An expression as a text. It is read as it stands there, without escapes.
fn quoted(text: &str) -> String {
    if text.contains('"') {
        format!("'{text}'")
    } else {
        format!("\"{text}\"")
    }
}

/// A Python tuple.
pub(super) fn tuple(items: &[String]) -> String {
    match items {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}
