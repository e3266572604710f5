//! Prints layouts: `T.TileLayout(T.S[(32, 2):(1 @ Axis.laneid, 1)] + T.R[4:2] + 3)`.

use super::Printer;
use crate::ir::{Expr, ExprKind, Layout, Swizzle, TileAxis, TileIter, TileLayout};

impl Printer<'_> {
    /// A layout as the value of `layout=`.
    pub(super) fn layout(&mut self, layout: &Layout) -> String {
        match layout {
            Layout::Strided => "None".to_owned(),
            Layout::Tile(tile) => self.tile_layout(tile),
            Layout::Swizzle(Swizzle {
                per_element,
                swizzle_len,
                atom_len,
                swizzle_inner,
                tile,
            }) => {
                let tile = self.tile_layout(tile);
                let inner = if *swizzle_inner {
                    ""
                } else {
                    ", swizzle_inner=False"
                };
                format!("T.ComposeLayout({per_element}, {swizzle_len}, {atom_len}, {tile}{inner})")
            }
        }
    }

    fn tile_layout(&mut self, layout: &TileLayout) -> String {
        let mut terms = vec![format!("T.S[{}]", self.iters(&layout.shard))];
        if !layout.replica.is_empty() {
            terms.push(format!("T.R[{}]", self.iters(&layout.replica)));
        }
        for (axis, offset) in &layout.offset {
            terms.push(self.along(offset, *axis));
        }
        format!("T.TileLayout({})", terms.join(" + "))
    }

    /// `(32, 2):(1 @ Axis.laneid, 1)`
    fn iters(&mut self, iters: &[TileIter]) -> String {
        let tuple = |items: Vec<String>| match &items[..] {
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        };
        let extents = iters.iter().map(|iter| self.expr(&iter.extent));
        let extents = tuple(extents.collect());
        let strides = iters.iter();
        let strides = strides.map(|iter| self.along(&iter.stride, iter.axis));
        format!("{extents}:{}", tuple(strides.collect()))
    }

    fn along(&mut self, e: &Expr, axis: TileAxis) -> String {
        let text = self.expr(e);
        let text = match e.kind() {
            ExprKind::Int(0..) | ExprKind::Var(_) => text,
            _ => format!("({text})"),
        };
        if axis == TileAxis::MEMORY {
            return text;
        }
        format!("{text} @ Axis.{}", axis.name())
    }
}
