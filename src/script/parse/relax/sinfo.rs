//! Annotations: `R.Tensor(...)` and its kin to [`StructInfo`].

use ruff_python_ast as ast;

use super::super::context::{Context, Parse, dotted};
use super::super::scope::Binding;
use crate::ir::{ShapeInfo, StructInfo, TensorInfo, VDevice};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;

impl Context<'_> {
    /// Reads an annotation. The prefix `R.` may be missing, as in the texts of 2022.
    pub(super) fn struct_info(&mut self, node: &ast::Expr) -> Parse<StructInfo> {
        let (path, call) = match node {
            ast::Expr::Call(call) => (dotted(&call.func), Some(call)),
            other => (dotted(other), None),
        };
        let path = path.unwrap_or_default();
        let name = path.strip_prefix("R.").unwrap_or(&path);
        match (name, call) {
            ("Tensor", Some(call)) => self.tensor_info(call),
            ("Tensor", None) => Ok(StructInfo::Tensor(TensorInfo {
                shape: ShapeInfo::Unknown,
                dtype: None,
                vdevice: None,
            })),
            ("Tuple", Some(call)) => {
                let mut items = self.positional(call, "R.Tuple")?;
                if let [ast::Expr::List(_) | ast::Expr::Tuple(_)] = items {
                    items = Self::elements(&items[0]);
                }
                let items = items.iter().map(|item| self.struct_info(item));
                Ok(StructInfo::Tuple(items.collect::<Parse<_>>()?))
            }
            ("Tuple", None) => Ok(StructInfo::Tuple(vec![])),
            ("Shape", Some(call)) => self.shape_info(call),
            ("Shape", None) => Ok(StructInfo::Shape(ShapeInfo::Unknown)),
            ("Prim", Some(call)) => self.prim_info(call),
            ("Callable", Some(call)) => self.callable_info(call),
            ("Callable", None) => Ok(StructInfo::any_function()),
            ("Object" | "Any", _) => Ok(StructInfo::Object),
            (scalar, None) if scalar.starts_with("T.") => Ok(StructInfo::Prim {
                dtype: self.dtype(node)?,
                value: None,
            }),
            _ => Err(self.expected(node, "a type, as `R.Tensor((2, \"n\"), \"float32\")`")),
        }
    }

    /// Whether the node is an annotation and not a shape.
    pub(super) fn is_struct_info(node: &ast::Expr) -> bool {
        let path = match node {
            ast::Expr::Call(call) => dotted(&call.func),
            other => dotted(other),
        };
        let path = path.unwrap_or_default();
        let name = path.strip_prefix("R.").unwrap_or(&path);
        matches!(
            name,
            "Tensor" | "Tuple" | "Shape" | "Prim" | "Callable" | "Object" | "Any"
        )
    }

    fn tensor_info(&mut self, call: &ast::ExprCall) -> Parse<StructInfo> {
        let names = ["shape", "dtype", "vdevice", "ndim"];
        let [mut shape, mut dtype, vdevice, ndim] = self.bind(call, "R.Tensor", names, 0)?;
        if let (Some(ast::Expr::StringLiteral(_)), None) = (shape, dtype) {
            (shape, dtype) = (None, shape);
        }
        let shape = match (shape.filter(|s| !s.is_none_literal_expr()), ndim) {
            // The extents of a shape that is computed are not known.
            (Some(ast::Expr::Name(name)), _)
                if let Some(Binding::Value { level: _, id: _ }) = self.scopes.get(&name.id) =>
            {
                ShapeInfo::Unknown
            }
            (Some(shape), _) => ShapeInfo::Known(self.extents(shape, DType::I64)?),
            (None, Some(ndim)) => self.ndim(ndim)?,
            (None, None) => ShapeInfo::Unknown,
        };
        let dtype = match dtype {
            Some(node) if is_void(node) => None,
            Some(node) => Some(self.dtype(node)?),
            None => None,
        };
        let vdevice = match vdevice {
            Some(node) if !node.is_none_literal_expr() => Some(self.vdevice(node)?),
            _ => None,
        };
        Ok(StructInfo::Tensor(TensorInfo {
            shape,
            dtype,
            vdevice,
        }))
    }

    /// A number of dimensions; -1 for an unknown one.
    fn ndim(&mut self, node: &ast::Expr) -> Parse<ShapeInfo> {
        /// More dimensions than any tensor has.
        const LIMIT: i64 = 64;
        match self.integer(node)? {
            -1 => Ok(ShapeInfo::Unknown),
            n @ 0..=LIMIT => Ok(ShapeInfo::Ndim(n as usize)),
            n => {
                let expected = format!("a tensor has at most {LIMIT} dimensions");
                let number = n.to_string();
                Err(self.error(node, ScriptErrorKind::OutOfRange { number, expected }))
            }
        }
    }

    /// A device, written as `"vulkan"`, `"vulkan:0"` or `"vulkan:0:global"`.
    pub(super) fn vdevice(&mut self, node: &ast::Expr) -> Parse<VDevice> {
        let text = self.string(node)?;
        match VDevice::parse(&text) {
            Some(named) => Ok(named.meant_in(&self.graph.devices).unwrap_or(named)),
            None => Err(self.expected(node, "a device, as `\"vulkan:0\"`")),
        }
    }

    fn shape_info(&mut self, call: &ast::ExprCall) -> Parse<StructInfo> {
        let [values, ndim] = self.bind(call, "R.Shape", ["values", "ndim"], 0)?;
        Ok(StructInfo::Shape(match (values, ndim) {
            (Some(values), _) => ShapeInfo::Known(self.shape(values, DType::I64)?),
            (None, Some(ndim)) => self.ndim(ndim)?,
            (None, None) => ShapeInfo::Unknown,
        }))
    }

    fn prim_info(&mut self, call: &ast::ExprCall) -> Parse<StructInfo> {
        let [dtype, value] = self.bind(call, "R.Prim", ["dtype", "value"], 0)?;
        match (dtype, value) {
            (Some(dtype), None) => Ok(StructInfo::Prim {
                dtype: self.dtype(dtype)?,
                value: None,
            }),
            (dtype, Some(value)) => {
                let int = match dtype {
                    Some(dtype) => self.dtype(dtype)?,
                    None => DType::I64,
                };
                let value = self.dim(value, int)?;
                Ok(StructInfo::Prim {
                    dtype: value.dtype(),
                    value: Some(value),
                })
            }
            (None, None) => Err(self.expected(call, "`R.Prim(\"int64\")` or `R.Prim(value=...)`")),
        }
    }

    fn callable_info(&mut self, call: &ast::ExprCall) -> Parse<StructInfo> {
        let names = ["params", "ret", "purity", "derive_func"];
        let [params, ret, pure, _] = self.bind(call, "R.Callable", names, 0)?;
        let params = match params.filter(|p| !p.is_none_literal_expr()) {
            Some(params) => {
                let params = Self::elements(params).iter();
                let params = params.map(|param| self.struct_info(param));
                Some(params.collect::<Parse<_>>()?)
            }
            None => None,
        };
        let ret = match ret.filter(|r| !r.is_none_literal_expr()) {
            Some(ret) => self.struct_info(ret)?,
            None => StructInfo::Object,
        };
        let pure = match pure {
            Some(node) => self.boolean(node)?,
            None => params.is_some(),
        };
        Ok(StructInfo::Callable {
            params,
            ret: Box::new(ret),
            pure,
        })
    }
}

fn is_void(node: &ast::Expr) -> bool {
    node.is_none_literal_expr()
        || matches!(node, ast::Expr::StringLiteral(s) if matches!(s.value.to_str(), "" | "void"))
}
