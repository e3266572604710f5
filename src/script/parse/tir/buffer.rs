//! Buffers: their types (`T.Buffer`), `T.match_buffer`, `T.alloc_buffer`, and regions of them.

use ruff_python_ast as ast;

use super::{FuncParser, PendingParam};
use crate::ir::{Buffer, BufferNode, BufferRegion, Expr, MatchBuffer, Range, Scope};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Parse, dotted, int_literal};
use crate::script::parse::expr::extent;
use crate::script::parse::scope::Binding;
use crate::tensor::DType;

/// Properties of a buffer in the order of the parameters of `T.Buffer`, `T.alloc_buffer` and, after the first, `T.match_buffer`.
const PROPERTIES: [&str; 10] = [
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
    fn make_buffer(
        &mut self,
        name: &str,
        [shape, dtype, data, strides, elem_offset, scope, hints @ ..]: [Option<&ast::Expr>; 10],
    ) -> Parse<Buffer> {
        self.default_hints(hints)?;
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
        let elem_offset = match elem_offset.filter(|e| !e.is_none_literal_expr()) {
            Some(offset) => Some(self.cx.integer_scalar(offset)?).filter(|e| !e.is_zero()),
            None => None,
        };
        let scope = match scope {
            Some(scope) => Scope::parse(&self.cx.string(scope)?),
            None => Scope::Global,
        };
        Ok(Buffer::from_node(BufferNode {
            name: name.to_owned(),
            dtype,
            shape,
            strides,
            elem_offset,
            scope,
            producer: None,
        }))
    }

    /// Refuses what would promise or ask for more than a plain buffer: an alignment, offsets of a multiple, broadcast dimensions,
    /// axes kept apart.
    fn default_hints(
        &mut self,
        [align, offset_factor, buffer_type, separators]: [Option<&ast::Expr>; 4],
    ) -> Parse<()> {
        let int = |node: &ast::Expr, values: &[i64]| {
            int_literal(node).is_some_and(|value| values.contains(&value))
        };
        let text = |node: &ast::Expr| {
            let text = node.as_string_literal_expr().map(|s| s.value.to_str());
            matches!(text, Some("" | "default"))
        };
        let empty = |node: &ast::Expr| match node {
            ast::Expr::List(list) => list.is_empty(),
            ast::Expr::Tuple(tuple) => tuple.is_empty(),
            _ => node.is_none_literal_expr(),
        };
        let hints = [
            // TVM aligns buffers to 64 bytes where nothing is said.
            align.filter(|node| !int(node, &[-1, 0, 64])),
            offset_factor.filter(|node| !int(node, &[0, 1])),
            buffer_type.filter(|node| !text(node)),
            separators.filter(|node| !empty(node)),
        ];
        match hints.into_iter().flatten().next() {
            None => Ok(()),
            Some(node) => {
                let instead = "buffers here have no alignment, offset factor, type or axis separators of their own";
                Err(self
                    .cx
                    .unsupported(node, "this property of a buffer", instead))
            }
        }
    }

    /// Extents or strides; integers take the widest type among the other extents.
    fn extents(&mut self, node: &ast::Expr) -> Parse<Vec<Expr>> {
        let dims = self.cx.extents(node, DType::I32)?;
        let wide = dims.iter().any(|d| d.dtype() == DType::I64);
        let nodes = crate::script::parse::context::Context::elements(node);
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
    pub(super) fn alloc_buffer(&mut self, name: &ast::ExprName, call: &ast::ExprCall) -> Parse<()> {
        let args = self.cx.bind(call, "T.alloc_buffer", PROPERTIES, 1)?;
        let buffer = self.make_buffer(&name.id, args)?;
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
        ];
        let [source, args @ ..] = self.cx.bind(call, "T.match_buffer", names, 2)?;
        let source = source.expect("it is a required argument");
        let buffer = self.make_buffer(&name.id, args)?;
        let handle = match source {
            ast::Expr::Name(source) => match self.cx.lookup(source, &source.id)? {
                Binding::Handle(index) => Some(index),
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
            let source = self.region(source)?;
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

    /// `A[i, j:j + 4]`, or `A` for the whole buffer.
    pub(super) fn region(&mut self, node: &ast::Expr) -> Parse<BufferRegion> {
        let ast::Expr::Subscript(subscript) = node else {
            let buffer = self.cx.buffer(node)?;
            return Ok(BufferRegion::full(&buffer));
        };
        let buffer = self.cx.buffer(&subscript.value)?;
        let nodes = self.cx.index_nodes(&buffer, subscript)?;
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
            return Ok(Range::point(self.cx.integer_scalar(node)?));
        };
        if let Some(step) = &slice.step {
            return Err(self.cx.unsupported(&**step, "a step in a region", ""));
        }
        let start = match &slice.lower {
            Some(lower) => self.cx.integer_scalar(lower)?,
            None => Expr::int(0, dim.dtype()),
        };
        let end = match &slice.upper {
            Some(upper) => self.cx.integer_scalar(upper)?,
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
