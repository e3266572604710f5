//! What reaches beyond arithmetic: calls that leave the language, addresses, properties of buffers, functions of scalars.

use ruff_python_ast as ast;

use super::context::{Context, Parse, dotted, int_literal};
use super::scope::Binding;
use crate::ir::{
    AttrValue, Buffer, Expr, ExprKind, External, ExternalType, Lambda, Reducer, TileLayout, Var,
};
use crate::script::ScriptErrorKind;
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// Starts of the names of instructions that one vendor's hardware has.
const VENDOR_PREFIXES: [&str; 16] = [
    "ptx",
    "s_tir.cp_async",
    "cuda.",
    "metal.",
    "nvshmem.",
    "nki.",
    "amdgcn",
    "hexagon",
    "call_llvm_",
    "mma_",
    "simdgroup_",
    "make_filled_simdgroup",
    "texture2d_",
    "dma_",
    "wgmma",
    "tcgen05",
];

/// Names of other such instructions.
const VENDOR_NAMES: [&str; 6] = [
    "tvm_bmma_sync",
    "dp4a",
    "get_active_lane_mask",
    "create_barriers",
    "start_profile_intrinsic",
    "end_profile_intrinsic",
];

/// Functions without an [`Intrin`] of their own that may stand where a statement does.
const VALUES: [&str; 8] = [
    "reinterpret",
    "fmod",
    "hypot",
    "copysign",
    "ldexp",
    "Cast",
    "Select",
    "if_then_else",
];

/// Whether `T.name` is an instruction of one vendor's hardware.
fn is_vendor(name: &str) -> bool {
    VENDOR_NAMES.contains(&name) || VENDOR_PREFIXES.iter().any(|p| name.starts_with(p))
}

impl Context<'_> {
    /// Whether the path is that of a function that makes a value.
    pub(super) fn is_function(&self, path: &str) -> bool {
        let of_module = path
            .split_once('.')
            .is_some_and(|(_, name)| !path.starts_with("T.") && self.functions.contains(name));
        of_module
            || path.strip_prefix("T.").is_some_and(|name| {
                is_vendor(name)
                    || External::parse(name).is_some()
                    || Intrin::ALL.iter().any(|intrin| intrin.name() == name)
                    || VALUES.contains(&name)
            })
    }

    /// Refuses an instruction of one vendor's hardware.
    pub(super) fn refuse_vendor(&mut self, call: &ast::ExprCall, path: &str) -> Parse<()> {
        match path.strip_prefix("T.") {
            Some(function) if is_vendor(function) => {
                let name = path.to_owned();
                Err(self.error(&*call.func, ScriptErrorKind::Vendor { name }))
            }
            _ => Ok(()),
        }
    }

    /// A call that leaves the language or deals with addresses; `None` if it is none.
    pub(super) fn external(
        &mut self,
        node: &ast::ExprCall,
        path: &str,
        name: &str,
    ) -> Parse<Option<Expr>> {
        self.refuse_vendor(node, path)?;
        Ok(Some(match name {
            "reinterpret" => {
                let [dtype, value] = self.bind_all(node, path, ["dtype", "value"])?;
                let (dtype, value_node) = (self.dtype(dtype)?, value);
                let value = self.expr(value_node)?;
                if value.dtype().bytes() != dtype.bytes() {
                    let expected = format!("as many bits as {dtype}");
                    let found = value.dtype();
                    return Err(self.error(value_node, ScriptErrorKind::Type { expected, found }));
                }
                value.reinterpret(dtype)
            }
            // Addresses are numbers.
            "isnullptr" => {
                let [address] = self.bind_all(node, path, ["span"])?;
                let zero = Expr::int(0, DType::U64);
                Expr::binary(BinOp::Eq, self.expr(address)?, zero)
            }
            "handle_add_byte_offset" | "ptr_byte_offset" => {
                let names = ["handle", "offset", "type_annotation"];
                let [address, offset, _] = self.bind(node, path, names, 2)?;
                let address = self.expr(address.expect("it is required"))?;
                let offset = self.integer_scalar(offset.expect("it is required"))?;
                Expr::binary(BinOp::Add, address, offset.cast(DType::U64))
            }
            _ => match External::parse(name) {
                Some(external) => self.external_call(node, path, external)?,
                None => return Ok(None),
            },
        }))
    }

    fn external_call(
        &mut self,
        node: &ast::ExprCall,
        path: &str,
        external: External,
    ) -> Parse<Expr> {
        let mut nodes = self.positional(node, path)?;
        let missing = ScriptErrorKind::MissingArgument {
            function: path.to_owned(),
            argument: "dtype".to_owned(),
        };
        let written = match external.result() {
            ExternalType::Written | ExternalType::WrittenLast => {
                let split = if external.result() == ExternalType::Written {
                    nodes.split_first()
                } else {
                    nodes.split_last()
                };
                let Some((dtype, rest)) = split else {
                    return Err(self.error(node, missing));
                };
                nodes = rest;
                Some(self.dtype(dtype)?)
            }
            ExternalType::Fixed(dtype) => Some(dtype),
            ExternalType::Operand(_) => None,
        };
        let args = nodes.iter().map(|arg| self.external_argument(arg));
        let args = args.collect::<Parse<Vec<_>>>()?;
        let dtype = match (written, external.result()) {
            (Some(dtype), _) => Some(dtype),
            (None, ExternalType::Operand(at)) => args.get(at).map(Expr::dtype),
            (None, _) => None,
        };
        let Some(dtype) = dtype else {
            return Err(self.error(node, missing));
        };
        Ok(Expr::new(ExprKind::External(external, args), dtype))
    }

    /// A call of another function of the module (`Module.f(…)`, `cls.f(…)`); `None` if it is none.
    pub(super) fn function_call(&mut self, node: &ast::ExprCall) -> Parse<Option<Expr>> {
        let Some(attribute) = node.func.as_attribute_expr() else {
            return Ok(None);
        };
        let Some(module) = attribute.value.as_name_expr() else {
            return Ok(None);
        };
        let is_module = match self.scopes.get(&module.id) {
            Some(binding) => matches!(binding, Binding::Module),
            None => self.module_name.as_deref() == Some(module.id.as_str()) || module.id == "cls",
        };
        if !is_module || !self.functions.contains(attribute.attr.as_str()) {
            return Ok(None);
        }
        let name = attribute.attr.as_str();
        let args = self.positional(node, name)?.iter();
        let args = args.map(|arg| self.external_argument(arg));
        let args = args.collect::<Parse<Vec<_>>>()?;
        let all = [vec![Expr::str(name)], args].concat();
        let dtype = self.results.get(name).copied().unwrap_or(DType::I32);
        let call = ExprKind::External(External::CallFunction, all);
        Ok(Some(Expr::new(call, dtype)))
    }

    fn external_argument(&mut self, node: &ast::Expr) -> Parse<Expr> {
        match node {
            ast::Expr::StringLiteral(s) => Ok(Expr::str(s.value.to_str())),
            _ => self.expr(node),
        }
    }

    /// `A.data`, `A.elem_offset`, and `A.shape[0]`, `A.strides[0]`.
    pub(super) fn buffer_property(&mut self, node: &ast::ExprAttribute) -> Parse<Expr> {
        let buffer = self.buffer(&node.value)?;
        match node.attr.as_str() {
            "data" => Ok(Expr::data(&buffer)),
            "elem_offset" => {
                let offset = buffer.node().elem_offset.clone();
                Ok(offset.unwrap_or_else(|| Expr::i32(0)))
            }
            _ => Err(self.expected(node, "`data`, `elem_offset`, `shape[…]` or `strides[…]`")),
        }
    }

    /// `A.shape[0]` or `A.strides[0]`; `None` if the subscript is none of them.
    pub(super) fn buffer_extent(&mut self, node: &ast::ExprSubscript) -> Parse<Option<Expr>> {
        let Some(list) = node.value.as_attribute_expr() else {
            return Ok(None);
        };
        let buffer = self.buffer(&list.value)?;
        let exprs = match list.attr.as_str() {
            "shape" => buffer.shape().to_vec(),
            "strides" => strides(&buffer),
            _ => return Err(self.expected(list, "`shape` or `strides`")),
        };
        let at = int_literal(&node.slice).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| exprs.get(at)) {
            Some(e) => Ok(Some(e.clone())),
            None => Err(self.expected(&*node.slice, "the number of a dimension")),
        }
    }

    /// `T.index_map(lambda i, j: …)` and `T.comm_reducer(lambda x, y: …, [0])`; `None` if the call is neither.
    pub(super) fn function_value(&mut self, call: &ast::ExprCall) -> Parse<Option<AttrValue>> {
        match dotted(&call.func).as_deref() {
            Some(path @ ("T.index_map" | "tir.index_map")) => {
                let names = ["mapping", "inverse_index_map", "index_dtype"];
                let [map, _, dtype] = self.bind(call, path, names, 1)?;
                let dtype = match dtype {
                    Some(dtype) => self.dtype(dtype)?,
                    None => DType::I64,
                };
                let map = map.expect("it is required");
                self.lambda(map, &|_| dtype)
                    .map(AttrValue::IndexMap)
                    .map(Some)
            }
            Some(path @ ("T.comm_reducer" | "tir.comm_reducer")) => {
                let [combine, identity] = self.bind_all(call, path, ["combiner", "identity"])?;
                let identity = Self::elements(identity).iter().map(|e| self.expr(e));
                let identity = identity.collect::<Parse<Vec<_>>>()?;
                if identity.is_empty() {
                    return Err(self.expected(call, "an identity for each result"));
                }
                let dtype = |at: usize| identity[at % identity.len()].dtype();
                let combine = self.lambda(combine, &dtype)?;
                let reducer = Reducer { combine, identity };
                Ok(Some(AttrValue::Reducer(reducer)))
            }
            _ => Ok(None),
        }
    }

    /// `lambda x, y: (…, …)` with a type for each parameter.
    pub(super) fn lambda(
        &mut self,
        node: &ast::Expr,
        dtype: &dyn Fn(usize) -> DType,
    ) -> Parse<Lambda> {
        let ast::Expr::Lambda(lambda) = node else {
            return Err(self.expected(node, "`lambda x, y: …`"));
        };
        self.scopes.push();
        let mut params = Vec::new();
        if let Some(list) = &lambda.parameters {
            for (at, param) in list.iter_non_variadic_params().enumerate() {
                let name = param.parameter.name.as_str();
                let var = Var::new(name, dtype(at));
                self.scopes.define(name, Binding::Var(var.clone()));
                params.push(var);
            }
        }
        let results = Self::elements(&lambda.body).iter().map(|e| self.expr(e));
        let results = results.collect::<Parse<Vec<_>>>();
        self.scopes.pop();
        Ok(Lambda {
            params,
            results: results?,
        })
    }
}

/// Distances of neighbours in each dimension, those of a dense buffer from its extents.
fn strides(buffer: &Buffer) -> Vec<Expr> {
    if !buffer.node().strides.is_empty() {
        return buffer.node().strides.clone();
    }
    let dense = TileLayout::row_major(buffer.shape()).shard;
    dense.into_iter().map(|iter| iter.stride).collect()
}
