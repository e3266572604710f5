//! Views that a buffer makes (`A.view(n, m)`, `A.local()`, `A.permute(1, 0)`), and scalars in its memory.

use std::sync::Arc;

use ruff_python_ast as ast;

use super::FuncParser;
use super::scope::Header;
use crate::ir::{Buffer, BufferNode, Expr, Layout, Scope, TileLayout};
use crate::script::parse::context::{Parse, int_literal};
use crate::script::parse::scope::Binding;

/// A view of a buffer that one of its methods makes.
#[derive(Clone, Copy)]
pub(super) enum ViewMethod {
    /// The same memory in another shape, or of another type.
    View,
    /// What the thread holds of it.
    Local,
    /// The same elements with the dimensions in another order.
    Permute,
}

impl ViewMethod {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "view" => Some(Self::View),
            "local" => Some(Self::Local),
            "permute" => Some(Self::Permute),
            _ => None,
        }
    }
}

impl FuncParser<'_, '_> {
    /// The buffer that `A.view(…)`, `A.local(…)` or `A.permute(…)` views.
    pub(super) fn view_of(&self, call: &ast::ExprCall) -> Option<(Buffer, ViewMethod)> {
        let method = call.func.as_attribute_expr()?;
        let name = method.value.as_name_expr()?;
        match self.cx.scopes.get(&name.id)? {
            Binding::Buffer(buffer) => {
                Some((buffer.clone(), ViewMethod::parse(method.attr.as_str())?))
            }
            _ => None,
        }
    }

    /// `B = A.view(n, m)` and its kin.
    pub(super) fn view(
        &mut self,
        name: &ast::ExprName,
        of: &Buffer,
        method: ViewMethod,
        call: &ast::ExprCall,
    ) -> Parse<Header> {
        let mut node = of.node().clone();
        node.name = name.id.to_string();
        let node = match method {
            ViewMethod::View => self.reshaped(node, call)?,
            ViewMethod::Local => self.local(node, call)?,
            ViewMethod::Permute => self.permuted(node, call)?,
        };
        let buffer = Buffer::from_node(node);
        let binding = Binding::Buffer(buffer.clone());
        self.cx.scopes.define(name.id.as_str(), binding);
        let memory = Expr::data(of);
        Ok(Header::View { buffer, memory })
    }

    /// Positional arguments, and the value of `layout=`.
    fn view_arguments<'n>(
        &mut self,
        call: &'n ast::ExprCall,
    ) -> Parse<(&'n [ast::Expr], Option<&'n ast::Expr>)> {
        let mut layout = None;
        for keyword in &call.arguments.keywords {
            match &keyword.arg {
                Some(name) if name == "layout" && layout.is_none() => {
                    layout = Some(&keyword.value);
                }
                _ => return Err(self.cx.expected(keyword, "`layout=`")),
            }
        }
        let layout = layout.filter(|layout| !layout.is_none_literal_expr());
        Ok((&call.arguments.args, layout))
    }

    /// `A.view(n, m)`: the memory in another shape, in the same layout or another; `A.view("int32")`: its elements as another type.
    fn reshaped(&mut self, mut node: BufferNode, call: &ast::ExprCall) -> Parse<BufferNode> {
        let (args, layout) = self.view_arguments(call)?;
        if let ([dtype @ ast::Expr::StringLiteral(_)], None) = (args, layout) {
            let dtype = self.cx.dtype(dtype)?;
            if matches!(
                node.layout.as_deref(),
                Some(Layout::Tile(_) | Layout::Swizzle(_))
            ) {
                let what = "a view of another type of a buffer with a layout";
                return Err(self.cx.unsupported(call, what, ""));
            }
            let (from, to) = (node.dtype.bytes() as i64, dtype.bytes() as i64);
            // The last dimension has as many bytes as before.
            if let Some(last) = node.shape.last_mut() {
                let whole = |extent: i64| {
                    let bytes = extent.checked_mul(from)?;
                    (bytes % to == 0).then_some(bytes / to)
                };
                *last = match last.as_int() {
                    Some(extent) => {
                        let no_whole = || {
                            let what = "a view of another type whose last dimension is no whole number of its elements";
                            self.cx.unsupported(call, what, "")
                        };
                        Expr::int(whole(extent).ok_or_else(no_whole)?, last.dtype())
                    }
                    None if from >= to => last.clone() * (from / to),
                    None => last.floor_div(to / from),
                };
            }
            node.dtype = dtype;
            return Ok(node);
        }
        let dims = args.iter().map(|dim| self.cx.integer_scalar(dim));
        node.shape = dims.collect::<Parse<_>>()?;
        node.strides = vec![];
        if layout.is_some() {
            node.layout = self.cx.layout(layout, &node.shape)?;
        }
        Ok(node)
    }

    /// `A.local()`, `A.local(n, m)`: the memory that the thread holds of the buffer, from its first place on.
    fn local(&mut self, mut node: BufferNode, call: &ast::ExprCall) -> Parse<BufferNode> {
        let (args, layout) = self.view_arguments(call)?;
        let dims = args.iter().map(|dim| self.cx.integer_scalar(dim));
        let dims = dims.collect::<Parse<Vec<_>>>()?;
        node.shape = if dims.is_empty() {
            let storage = match node.layout.as_deref() {
                None => TileLayout::row_major(&node.shape),
                Some(layout) => match layout.tile() {
                    Some(tile) => tile.storage(),
                    None => return Err(self.cx.expected(call, "the extents of the view")),
                },
            };
            vec![match layout {
                Some(_) => storage.size(),
                None => storage.span(),
            }]
        } else {
            dims
        };
        node.strides = vec![];
        node.layout = self.cx.layout(layout, &node.shape)?;
        Ok(node)
    }

    /// `A.permute(1, 0)`: dimension `i` of the view is dimension `dims[i]` of the buffer.
    fn permuted(&mut self, mut node: BufferNode, call: &ast::ExprCall) -> Parse<BufferNode> {
        let dims = self.cx.positional(call, "permute")?.iter();
        let dims = dims.map(|dim| int_literal(dim).and_then(|dim| usize::try_from(dim).ok()));
        let dims = dims.collect::<Option<Vec<usize>>>().unwrap_or_default();
        let mut sorted = dims.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..node.shape.len()) || !node.strides.is_empty() {
            return Err(self
                .cx
                .expected(call, "each dimension of a buffer without strides once"));
        }
        let layout = match node.layout.as_deref() {
            Some(layout) => layout.clone(),
            None => Layout::Tile(TileLayout::row_major(&node.shape)),
        };
        let Some(layout) = layout.permuted(&node.shape, &dims) else {
            return Err(self
                .cx
                .expected(call, "a layout that keeps the dimensions apart"));
        };
        node.shape = dims.iter().map(|dim| node.shape[*dim].clone()).collect();
        let plain = matches!(&layout, Layout::Tile(tile) if tile.is_row_major(&node.shape));
        node.layout = (!plain).then(|| Arc::new(layout));
        Ok(node)
    }

    /// `v = T.decl_scalar(dtype, data, scope, elem_offset)`: a scalar in memory that statements may assign.
    pub(super) fn decl_scalar(
        &mut self,
        name: &ast::ExprName,
        call: &ast::ExprCall,
    ) -> Parse<Header> {
        let names = ["dtype", "data", "scope", "elem_offset"];
        let [dtype, data, scope, offset] = self.cx.bind(call, "T.decl_scalar", names, 3)?;
        let required = "it is a required argument";
        let memory = self.address(data.expect(required))?;
        let scope = self.cx.string(scope.expect(required))?;
        let cell = Buffer::with_scope(
            name.id.as_str(),
            vec![],
            self.cx.dtype(dtype.expect(required))?,
            Scope::parse(&scope),
        );
        let buffer = Buffer::from_node(BufferNode {
            elem_offset: match offset {
                Some(offset) => {
                    Some(self.cx.integer_scalar(offset)?).filter(|offset| !offset.is_zero())
                }
                None => None,
            },
            ..cell.node().clone()
        });
        let binding = Binding::Buffer(buffer.clone());
        self.cx.scopes.define(name.id.as_str(), binding);
        Ok(Header::View { buffer, memory })
    }
}
