//! `Display` of `StructInfo` for messages: what the printer of `script` writes, with symbolic variables by the names they
//! were given.

use std::fmt::{self, Display as _};

use crate::ir::{Expr, ExprKind, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::scalar::BinOp;

/// How tightly an expression binds: sums, products, everything else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Atom,
}

fn write_dim(f: &mut dyn fmt::Write, e: &Expr, outer: Level) -> fmt::Result {
    let (op, level, a, b) = match e.kind() {
        ExprKind::Binary(BinOp::Add, a, b) => (" + ", Level::Sum, a, b),
        ExprKind::Binary(BinOp::Sub, a, b) => (" - ", Level::Sum, a, b),
        ExprKind::Binary(BinOp::Mul, a, b) => (" * ", Level::Product, a, b),
        ExprKind::Binary(BinOp::FloorDiv, a, b) => (" // ", Level::Product, a, b),
        ExprKind::Binary(BinOp::FloorMod, a, b) => (" % ", Level::Product, a, b),
        ExprKind::Cast(a) => return write_dim(f, a, outer),
        _ => return write!(f, "{e:?}"),
    };
    let right = if level == Level::Sum {
        Level::Product
    } else {
        Level::Atom
    };
    if level < outer {
        f.write_char('(')?;
    }
    write_dim(f, a, level)?;
    f.write_str(op)?;
    write_dim(f, b, right)?;
    if level < outer {
        f.write_char(')')?;
    }
    Ok(())
}

/// An extent for a message.
pub(crate) fn dim_text(e: &Expr) -> String {
    let mut text = String::new();
    write_dim(&mut text, e, Level::Sum).expect("a String takes all text");
    text
}

fn write_dims(f: &mut fmt::Formatter<'_>, dims: &[Expr]) -> fmt::Result {
    for (at, dim) in dims.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write_dim(f, dim, Level::Sum)?;
    }
    Ok(())
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[StructInfo]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for TensorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("R.Tensor(")?;
        let mut separator = "";
        if let ShapeInfo::Known(dims) = &self.shape {
            f.write_str("(")?;
            write_dims(f, dims)?;
            f.write_str(if dims.len() == 1 { ",)" } else { ")" })?;
            separator = ", ";
        }
        if let Some(dtype) = self.dtype {
            write!(f, "{separator}dtype=\"{dtype}\"")?;
            separator = ", ";
        }
        if let Some(device) = &self.vdevice {
            let (target, index, scope) = (&device.target, device.index, &device.scope);
            write!(f, "{separator}vdevice=\"{target}:{index}:{scope}\"")?;
            separator = ", ";
        }
        if let ShapeInfo::Ndim(n) = self.shape {
            write!(f, "{separator}ndim={n}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for StructInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object => f.write_str("R.Object"),
            Self::Prim {
                dtype: _,
                value: Some(value),
            } => {
                f.write_str("R.Prim(value=")?;
                write_dim(f, value, Level::Sum)?;
                f.write_str(")")
            }
            Self::Prim { dtype, value: None } => write!(f, "R.Prim(\"{dtype}\")"),
            Self::Shape(ShapeInfo::Known(dims)) => {
                f.write_str("R.Shape([")?;
                write_dims(f, dims)?;
                f.write_str("])")
            }
            Self::Shape(ShapeInfo::Ndim(n)) => write!(f, "R.Shape(ndim={n})"),
            Self::Shape(ShapeInfo::Unknown) => f.write_str("R.Shape"),
            Self::Tensor(info) => info.fmt(f),
            Self::Tuple(items) => {
                f.write_str("R.Tuple(")?;
                write_list(f, items)?;
                f.write_str(")")
            }
            Self::Callable { params, ret, pure } => {
                f.write_str("R.Callable(")?;
                if let Some(params) = params {
                    f.write_str("(")?;
                    write_list(f, params)?;
                    f.write_str(if params.len() == 1 { ",), " } else { "), " })?;
                } else {
                    f.write_str("None, ")?;
                }
                ret.fmt(f)?;
                f.write_str(if *pure { ", True)" } else { ", False)" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Var;
    use crate::tensor::DType;

    #[test]
    fn types_read_as_in_the_text() {
        let n = Var::new("n", DType::I64);
        let info = StructInfo::tensor(vec![(n.expr() + 1) * 2, Expr::i64(3)], DType::F32);
        assert_eq!(
            info.to_string(),
            "R.Tensor(((n + 1) * 2, 3), dtype=\"float32\")"
        );
        let one = StructInfo::tensor(vec![n.expr()], DType::F32);
        assert_eq!(one.to_string(), "R.Tensor((n,), dtype=\"float32\")");
    }
}
