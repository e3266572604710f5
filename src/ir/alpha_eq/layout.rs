//! Layouts of buffers.

use super::{Alpha, AlphaEq};
use crate::ir::{Layout, Swizzle, TileAxis, TileIter, TileLayout};

impl Alpha {
    pub(super) fn layout(&mut self, a: Option<&Layout>, b: Option<&Layout>) -> AlphaEq {
        match (a, b) {
            (None, None) | (Some(Layout::Strided), Some(Layout::Strided)) => Ok(()),
            (Some(Layout::Tile(a)), Some(Layout::Tile(b))) => self.tile(a, b),
            (Some(Layout::Swizzle(a)), Some(Layout::Swizzle(b))) => {
                let bits = |s: &Swizzle| vec![s.per_element, s.swizzle_len, s.atom_len];
                self.same("swizzled bits", &bits(a), &bits(b))?;
                self.same("swizzle_inner", &a.swizzle_inner, &b.swizzle_inner)?;
                self.tile(&a.tile, &b.tile)
            }
            (a, b) => {
                let kind = |layout: Option<&Layout>| match layout {
                    None => "row-major",
                    Some(Layout::Strided) => "strided",
                    Some(Layout::Tile(_)) => "a tile layout",
                    Some(Layout::Swizzle(_)) => "a swizzled layout",
                };
                self.fail("layout", &kind(a), &kind(b))
            }
        }
    }

    fn tile(&mut self, a: &TileLayout, b: &TileLayout) -> AlphaEq {
        self.iters("layout", &a.shard, &b.shard)?;
        self.iters("replicas of a layout", &a.replica, &b.replica)?;
        let axes = |offset: &[(TileAxis, _)]| {
            let names = offset.iter().map(|(axis, _)| axis.name());
            names.collect::<Vec<_>>()
        };
        self.same("axes of an offset", &axes(&a.offset), &axes(&b.offset))?;
        for ((_, a), (_, b)) in a.offset.iter().zip(&b.offset) {
            self.dim("offset of a layout", a, b)?;
        }
        Ok(())
    }

    fn iters(&mut self, what: &str, a: &[TileIter], b: &[TileIter]) -> AlphaEq {
        self.same(what, &a.len(), &b.len())?;
        for (a, b) in a.iter().zip(b) {
            self.dim(what, &a.extent, &b.extent)?;
            self.dim(what, &a.stride, &b.stride)?;
            self.same(what, &a.axis.name(), &b.axis.name())?;
        }
        Ok(())
    }
}
