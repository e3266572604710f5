//! Buffers: their types (`T.Buffer`), `T.match_buffer`, `T.alloc_buffer`, and regions of them.

use ruff_python_ast as ast;

use super::{FuncParser, PendingParam};
use crate::ir::{
    Attrs, Buffer, BufferHints, BufferNode, BufferRegion, Expr, MatchBuffer, Range, Scope, Var,
};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted, int_literal};
use crate::script::parse::expr::extent;
use crate::script::parse::scope::Binding;
use crate::tensor::DType;

/// Properties of a buffer in the order of the parameters of `T.Buffer`, `T.alloc_buffer` and, after the first, `T.match_buffer`.
pub(super) const PROPERTIES: [&str; 13] = [
    "shape",
    "dtype",
    "data",
    "strides",
    "elem_offset",
    "scope",
    "align",
    "offset_factor",
    "buffer_type",
    "axis_separators",
    "annotations",
    "layout",
    "allocated_addr",
];

impl FuncParser<'_, '_> {
    /// `T.Buffer((n, m), "float32")` or, of older scripts, `T.Buffer[(n, m), "float32"]`; `None` if it is neither.
    pub(super) fn buffer_type(&mut self, name: &str, node: &ast::Expr) -> Parse<Option<Buffer>> {
        let is_buffer =
            |f: &ast::Expr| matches!(dotted(f).as_deref(), Some("T.Buffer" | "tir.Buffer"));
        match node {
            ast::Expr::Call(call) if is_buffer(&call.func) => {
                let args = self.cx.bind(call, "T.Buffer", PROPERTIES, 1)?;
                self.make_buffer(name, args).map(Some)
            }
            ast::Expr::Subscript(subscript) if is_buffer(&subscript.value) => {
                let mut args = [None; PROPERTIES.len()];
                match &*subscript.slice {
                    ast::Expr::Tuple(tuple)
                        if tuple.len() == 2 && tuple.elts[1].is_string_literal_expr() =>
                    {
                        args[0] = Some(&tuple.elts[0]);
                        args[1] = Some(&tuple.elts[1]);
                    }
                    shape => args[0] = Some(shape),
                }
                self.make_buffer(name, args).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A buffer with these [`PROPERTIES`]; the shape is there.
    pub(super) fn make_buffer(
        &mut self,
        name: &str,
        [
            shape,
            dtype,
            data,
            strides,
            elem_offset,
            scope,
            hints @ ..,
            layout,
            address,
        ]: [Option<&ast::Expr>; 13],
    ) -> Parse<Buffer> {
        let [_, offset_factor, ..] = hints;
        let hints = self.hints(hints)?;
        if let Some(data) = data.filter(|d| !d.is_none_literal_expr()) {
            return Err(self.cx.unsupported(data, "a data pointer", ""));
        }
        let shape = shape.expect("the shape is a required argument");
        let shape = self.extents(shape)?;
        let dtype = match dtype {
            Some(dtype) => self.cx.dtype(dtype)?,
            None => DType::F32,
        };
        let strides = match strides.filter(|s| !s.is_none_literal_expr()) {
            Some(strides) => self.extents(strides)?,
            None => vec![],
        };
        // TVM's `cache_index` writes one stride for any number of dimensions, and means none.
        let strides = if strides.len() == shape.len() {
            strides
        } else {
            vec![]
        };
        let elem_offset = match elem_offset.filter(|e| !e.is_none_literal_expr()) {
            Some(offset) => Some(self.cx.integer_scalar(offset)?).filter(|e| !e.is_zero()),
            None if self.has_unnamed_offset(offset_factor) => {
                Some(Var::new(format!("{name}_elem_offset"), DType::I32).expr())
            }
            None => None,
        };
        let scope = match scope {
            Some(scope) => Scope::parse(&self.cx.string(scope)?),
            None => Scope::Global,
        };
        let layout = self.cx.layout(layout, &shape)?;
        let address = match address.filter(|a| !a.is_none_literal_expr()) {
            Some(address) => {
                let parts = Context::elements(address).iter();
                let parts = parts.map(|part| self.cx.integer_scalar(part));
                parts.collect::<Parse<_>>()?
            }
            None => vec![],
        };
        Ok(Buffer::from_node(BufferNode {
            name: name.to_owned(),
            dtype,
            shape,
            strides,
            elem_offset,
            layout,
            address,
            scope,
            hints,
            producer: None,
        }))
    }

    /// Whether a factor is said of the offset, which then is some multiple of it. TVM's default, 0, says nothing.
    fn has_unnamed_offset(&mut self, factor: Option<&ast::Expr>) -> bool {
        let factor = factor.filter(|node| !node.is_none_literal_expr());
        factor.is_some_and(|node| self.cx.integer(node).is_ok_and(|factor| factor > 0))
    }

    /// What is said of a buffer beyond its elements. Broadcast dimensions would change the meaning of its indices: they are refused.
    fn hints(
        &mut self,
        [align, offset_factor, buffer_type, separators, annotations]: [Option<&ast::Expr>; 5],
    ) -> Parse<BufferHints> {
        let is_default = |node: &ast::Expr| {
            let text = node.as_string_literal_expr().map(|s| s.value.to_str());
            matches!(text, Some("" | "default"))
        };
        if let Some(node) = buffer_type.filter(|node| !is_default(node)) {
            let instead = "buffers here have no dimensions that are broadcast";
            return Err(self
                .cx
                .unsupported(node, "this property of a buffer", instead));
        }
        let mut int = |node: Option<&ast::Expr>, usual: &[i64]| match node {
            Some(node) if !node.is_none_literal_expr() => {
                let value = self.cx.integer(node)?;
                Ok(if usual.contains(&value) { 0 } else { value })
            }
            _ => Ok(0),
        };
        // TVM aligns buffers to 64 bytes where nothing is said.
        let align = int(align, &[-1, 64])?;
        let offset_factor = int(offset_factor, &[1])?;
        let separators = separators.filter(|node| !node.is_none_literal_expr());
        let axis_separators = match separators {
            Some(node) => {
                let items = Context::elements(node).iter();
                items
                    .map(|item| self.cx.integer(item))
                    .collect::<Parse<_>>()?
            }
            None => vec![],
        };
        Ok(BufferHints {
            align,
            offset_factor,
            axis_separators,
            annotations: match annotations {
                Some(node) => self.cx.attrs(node)?,
                None => Attrs::new(),
            },
        })
    }

    /// Extents or strides; integers take the widest type among the other extents.
    fn extents(&mut self, node: &ast::Expr) -> Parse<Vec<Expr>> {
        let dims = self.cx.extents(node, DType::I32)?;
        let wide = dims.iter().any(|d| d.dtype() == DType::I64);
        let nodes = Context::elements(node);
        Ok(dims
            .into_iter()
            .zip(nodes)
            .map(|(dim, node)| {
                if wide && int_literal(node).is_some() {
                    dim.cast(DType::I64)
                } else {
                    dim
                }
            })
            .collect())
    }

    /// `A = T.alloc_buffer(...)`: a buffer of the block around.
    pub(super) fn alloc_buffer(
        &mut self,
        name: &ast::ExprName,
        call: &ast::ExprCall,
        path: &str,
    ) -> Parse<()> {
        let args = self.cx.bind(call, path, PROPERTIES, 1)?;
        let scope = match path {
            "T.alloc_local" => Some(Scope::Local),
            "T.alloc_shared" => Some(Scope::Shared),
            _ => None,
        };
        let mut buffer = self.make_buffer(&name.id, args)?;
        if let Some(scope) = scope {
            let node = buffer.node().clone();
            buffer = Buffer::from_node(BufferNode { scope, ..node });
        }
        self.frame().alloc_buffers.push(buffer.clone());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Buffer(buffer));
        Ok(())
    }

    /// `A = T.match_buffer(a, ...)`: the buffer of a parameter, or a view of a region in the block around.
    pub(super) fn match_buffer(&mut self, name: &ast::ExprName, call: &ast::ExprCall) -> Parse<()> {
        let names = [
            "param",
            PROPERTIES[0],
            PROPERTIES[1],
            PROPERTIES[2],
            PROPERTIES[3],
            PROPERTIES[4],
            PROPERTIES[5],
            PROPERTIES[6],
            PROPERTIES[7],
            PROPERTIES[8],
            PROPERTIES[9],
            PROPERTIES[10],
            PROPERTIES[11],
            PROPERTIES[12],
        ];
        let [source, args @ ..] = self.cx.bind(call, "T.match_buffer", names, 2)?;
        let source = source.expect("it is a required argument");
        let buffer = self.make_buffer(&name.id, args)?;
        let handle = match source {
            ast::Expr::Name(source) => match self.cx.lookup(source, &source.id)? {
                Binding::Handle { index, var: _ } => Some(index),
                _ => None,
            },
            _ => None,
        };
        if let Some(index) = handle {
            let PendingParam::Handle {
                handle,
                buffer: slot,
            } = &mut self.params[index]
            else {
                return Err(self.cx.expected(source, "a parameter of type `T.handle`"));
            };
            if slot.is_some() {
                let name = handle.name().to_owned();
                return Err(self.cx.error(source, ScriptErrorKind::Duplicate { name }));
            }
            *slot = Some(buffer.clone());
        } else if self.blocks.len() > 1 {
            let source = self.cx.region(source)?;
            let buffer = buffer.clone();
            self.frame()
                .match_buffers
                .push(MatchBuffer { buffer, source });
        } else {
            return Err(self.cx.expected(source, "a parameter of type `T.handle`"));
        }
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Buffer(buffer));
        Ok(())
    }
}

impl Context<'_> {
    /// `A[i, j:j + 4]`, or `A` for the whole buffer.
    pub(in crate::script::parse) fn region(&mut self, node: &ast::Expr) -> Parse<BufferRegion> {
        let ast::Expr::Subscript(subscript) = node else {
            let buffer = self.buffer(node)?;
            return Ok(BufferRegion::full(&buffer));
        };
        let buffer = self.buffer(&subscript.value)?;
        let nodes = self.index_nodes(&buffer, subscript)?;
        let dims = nodes
            .iter()
            .zip(buffer.shape())
            .map(|(index, dim)| self.range(index, dim));
        let region = dims.collect::<Parse<_>>()?;
        Ok(BufferRegion { buffer, region })
    }

    /// One dimension of a region: a point or a slice. An end that is left out is that of the buffer.
    fn range(&mut self, node: &ast::Expr, dim: &Expr) -> Parse<Range> {
        let ast::Expr::Slice(slice) = node else {
            return Ok(Range::point(self.integer_scalar(node)?));
        };
        if let Some(step) = &slice.step {
            return Err(self.unsupported(&**step, "a step in a region", ""));
        }
        let start = match &slice.lower {
            Some(lower) => self.integer_scalar(lower)?,
            None => Expr::int(0, dim.dtype()),
        };
        let end = match &slice.upper {
            Some(upper) => self.integer_scalar(upper)?,
            None => dim.clone(),
        };
        Ok(between(start, &end))
    }
}

/// The range `start .. end`; a constant start takes the type of the extent.
pub(super) fn between(start: Expr, end: &Expr) -> Range {
    let extent = extent(&start, end);
    let min = if start.as_int().is_some() {
        start.cast(extent.dtype())
    } else {
        start
    };
    Range { min, extent }
}
