//! Layouts: `T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 1)])`.

use std::sync::Arc;

use ruff_python_ast as ast;

use crate::ir::{Expr, Layout, Swizzle, TileAxis, TileIter, TileLayout};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted};
use crate::script::parse::scope::most_similar;

impl Context<'_> {
    /// The value of `layout=`. The layout of a dense row-major buffer is none.
    pub(super) fn layout(
        &mut self,
        node: Option<&ast::Expr>,
        shape: &[Expr],
    ) -> Parse<Option<Arc<Layout>>> {
        let layout = match node {
            None => return Ok(None),
            Some(ast::Expr::StringLiteral(s)) if s.value.to_str() == "default" => return Ok(None),
            Some(ast::Expr::NoneLiteral(_)) => Layout::Strided,
            Some(ast::Expr::Call(call)) => match dotted(&call.func).as_deref() {
                Some("T.ComposeLayout") => Layout::Swizzle(self.swizzle(call)?),
                _ => Layout::Tile(self.tile_layout(call)?),
            },
            Some(other) => return Err(self.expected(other, LAYOUT)),
        };
        let plain = matches!(&layout, Layout::Tile(tile) if tile.is_row_major(shape));
        Ok((!plain).then(|| Arc::new(layout)))
    }

    /// `T.ComposeLayout(per_element, swizzle_len, atom_len, T.TileLayout(…))`
    fn swizzle(&mut self, call: &ast::ExprCall) -> Parse<Swizzle> {
        let names = [
            "per_element",
            "swizzle_len",
            "atom_len",
            "tile_layout",
            "swizzle_inner",
        ];
        let required = "it is a required argument";
        let [per_element, swizzle_len, atom_len, tile, inner] =
            self.bind(call, "T.ComposeLayout", names, 4)?;
        let tile = match tile.expect(required) {
            ast::Expr::Call(call) => self.tile_layout(call)?,
            other => return Err(self.expected(other, "`T.TileLayout(…)`")),
        };
        Ok(Swizzle {
            per_element: self.integer(per_element.expect(required))?,
            swizzle_len: self.integer(swizzle_len.expect(required))?,
            atom_len: self.integer(atom_len.expect(required))?,
            swizzle_inner: match inner {
                Some(inner) => self.boolean(inner)?,
                None => true,
            },
            tile,
        })
    }

    /// `T.TileLayout(T.S[…] + T.R[…] + offset)`
    fn tile_layout(&mut self, call: &ast::ExprCall) -> Parse<TileLayout> {
        if dotted(&call.func).as_deref() != Some("T.TileLayout") {
            return Err(self.expected(&*call.func, LAYOUT));
        }
        let [spec] = self.bind_all(call, "T.TileLayout", ["spec"])?;
        let mut layout = TileLayout {
            shard: vec![],
            replica: vec![],
            offset: vec![],
        };
        self.layout_terms(spec, &mut layout)?;
        if layout.shard.is_empty() {
            return Err(self.expected(spec, "`T.S[extents:strides]` among the terms"));
        }
        layout.offset.sort_by_key(|(axis, _)| axis.name());
        Ok(layout)
    }

    /// Adds the terms of a sum to a layout.
    fn layout_terms(&mut self, node: &ast::Expr, layout: &mut TileLayout) -> Parse<()> {
        match node {
            ast::Expr::BinOp(sum) if sum.op == ast::Operator::Add => {
                self.layout_terms(&sum.left, layout)?;
                self.layout_terms(&sum.right, layout)
            }
            ast::Expr::Subscript(iters) => {
                let slot = match dotted(&iters.value).as_deref() {
                    Some("T.S") => &mut layout.shard,
                    Some("T.R") => &mut layout.replica,
                    _ => return Err(self.expected(node, "`T.S[…]`, `T.R[…]` or an offset")),
                };
                if !slot.is_empty() {
                    return Err(self.expected(node, "`T.S[…]` and `T.R[…]` once each"));
                }
                *slot = self.tile_iters(&iters.slice)?;
                Ok(())
            }
            _ => {
                let (offset, axis) = self.along(node)?;
                match layout.offset.iter_mut().find(|(known, _)| *known == axis) {
                    Some((_, known)) => *known = known.clone() + &offset,
                    None => layout.offset.push((axis, offset)),
                }
                Ok(())
            }
        }
    }

    /// `(32, 2):(1 @ Axis.laneid, 1)`, or extents alone of a row-major layout.
    fn tile_iters(&mut self, node: &ast::Expr) -> Parse<Vec<TileIter>> {
        let (extents, strides) = match node {
            ast::Expr::Slice(slice) if slice.step.is_none() => {
                match (slice.lower.as_deref(), slice.upper.as_deref()) {
                    (Some(extents), Some(strides)) => (extents, Some(strides)),
                    _ => return Err(self.expected(node, "`extents:strides`")),
                }
            }
            extents => (extents, None),
        };
        let nodes = Self::elements(extents).iter();
        let extents = nodes.map(|extent| self.integer_scalar(extent));
        let extents = extents.collect::<Parse<Vec<_>>>()?;
        let Some(strides_node) = strides else {
            return Ok(TileLayout::row_major(&extents).shard);
        };
        let strides = Self::elements(strides_node);
        if strides.len() != extents.len() {
            return Err(self.expected(strides_node, "a stride for each extent"));
        }
        let iters = extents.into_iter().zip(strides);
        let iters = iters.map(|(extent, stride)| {
            let (stride, axis) = self.along(stride)?;
            Ok(TileIter {
                extent,
                stride,
                axis,
            })
        });
        iters.collect()
    }

    /// `1 @ Axis.laneid`; without an axis it goes along memory.
    fn along(&mut self, node: &ast::Expr) -> Parse<(Expr, TileAxis)> {
        let ast::Expr::BinOp(at) = node else {
            return Ok((self.integer_scalar(node)?, TileAxis::MEMORY));
        };
        if at.op != ast::Operator::MatMult {
            return Ok((self.integer_scalar(node)?, TileAxis::MEMORY));
        }
        let path = dotted(&at.right).unwrap_or_default();
        let Some(name) = path
            .strip_prefix("Axis.")
            .or_else(|| path.strip_prefix("T.Axis."))
        else {
            return Err(self.expected(&*at.right, "an axis, as `Axis.laneid`"));
        };
        let Some(axis) = TileAxis::parse(name) else {
            let similar = most_similar(name, TileAxis::names()).map(|n| format!("Axis.{n}"));
            let name = path.clone();
            let kind = ScriptErrorKind::Undefined { name, similar };
            return Err(self.error(&*at.right, kind));
        };
        Ok((self.integer_scalar(&at.left)?, axis))
    }
}

/// What the value of `layout=` may be.
const LAYOUT: &str = "`T.TileLayout(…)`, `T.ComposeLayout(…)`, `None` or \"default\"";
