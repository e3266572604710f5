//! `Display` of `StructInfo` for messages: what the printer of `script` writes, with symbolic variables by the names they
//! were given.

use std::fmt::{self, Display as _};

use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};

fn write_dims(f: &mut fmt::Formatter<'_>, dims: &[Expr]) -> fmt::Result {
    for (at, dim) in dims.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{dim:#}")?;
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
            write!(f, "{separator}vdevice=\"{device}\"")?;
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
            } => write!(f, "R.Prim(value={value:#})"),
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
