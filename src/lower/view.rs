//! Views: buffers whose elements are those of another one.

use super::nest::Unblock;
use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, BufferRegion, Expr, ExprKind, MatchBuffer, Range};

/// Where the elements of a view are.
pub(super) enum View {
    /// `T.match_buffer` in a block: the trailing dimensions of a region.
    Region(BufferRegion),
    /// `T.decl_buffer`: so many elements apart in each dimension, from an offset on.
    Strided {
        source: Buffer,
        strides: Vec<Expr>,
        offset: Expr,
    },
}

impl View {
    /// The view of a region, which has its layout: extents, strides and an offset that the program only names get their
    /// values.
    pub(super) fn of_region(at: &mut Unblock<'_>, view: &MatchBuffer) -> Result<Self, LowerError> {
        let source = &view.source.buffer;
        let ranges = view.source.region.iter().map(|r| Range {
            min: at.index(&r.min),
            extent: at.index(&r.extent),
        });
        let region: Vec<Range> = ranges.collect();
        let node = view.buffer.node();
        let dropped = region.len() - view.buffer.ndim();
        for (name, range) in node.shape.iter().zip(&region[dropped..]) {
            at.name(name, &range.extent);
        }
        if !node.strides.is_empty() || node.elem_offset.is_some() {
            let strides = strides_of(at, source);
            let starts = region
                .iter()
                .zip(&strides)
                .map(|(r, stride)| &r.min * stride);
            let offset = starts.fold(Expr::i64(0), |sum, start| sum + start);
            let names = node.strides.iter().zip(&strides[dropped..]);
            let layout = names.chain(node.elem_offset.as_ref().zip(Some(&offset)));
            for (name, value) in layout {
                at.name(name, value);
                let (said, value) = (at.index(name), at.analyzer.simplify(value));
                if said != value {
                    return Err(LowerProblem::ViewLayout {
                        view: view.buffer.name().to_owned(),
                        said,
                        value,
                    }
                    .into());
                }
            }
        }
        Ok(Self::Region(BufferRegion {
            buffer: source.clone(),
            region,
        }))
    }

    /// The view of the memory of a buffer.
    pub(super) fn of_memory(
        at: &Unblock<'_>,
        view: &Buffer,
        memory: &Expr,
    ) -> Result<Self, LowerError> {
        let source = match memory.kind() {
            ExprKind::Data(source) if source.dtype() == view.dtype() => source,
            _ => {
                let view = view.name().to_owned();
                return Err(LowerProblem::AddressView { view }.into());
            }
        };
        let node = view.node();
        let offset = node.elem_offset.as_ref();
        Ok(Self::Strided {
            source: source.clone(),
            strides: strides_of(at, view),
            offset: offset.map_or(Expr::i64(0), |offset| at.index(offset)),
        })
    }

    pub(super) fn source(&self) -> &Buffer {
        match self {
            Self::Region(region) => &region.buffer,
            Self::Strided { source, .. } => source,
        }
    }

    /// The indices in the source.
    pub(super) fn indices(&self, indices: Vec<Expr>) -> Vec<Expr> {
        match self {
            Self::Region(region) => {
                let (dropped, kept) = region.region.split_at(region.region.len() - indices.len());
                let inner = kept.iter().zip(indices).map(|(r, i)| &r.min + i);
                dropped.iter().map(|r| r.min.clone()).chain(inner).collect()
            }
            Self::Strided {
                source,
                strides,
                offset,
            } => {
                let places = indices.into_iter().zip(strides);
                let mut left = places.fold(offset.clone(), |sum, (i, stride)| sum + i * stride);
                let mut out = Vec::new();
                for (dim, extent) in source.shape().iter().enumerate().skip(1).rev() {
                    let (index, above) = (left.floor_mod(extent), left.floor_div(extent));
                    out.push((dim, index));
                    left = above;
                }
                out.push((0, left));
                out.truncate(source.ndim());
                out.into_iter().rev().map(|(_, index)| index).collect()
            }
        }
    }
}

/// The distances of neighbours in the dimensions of a buffer, in elements.
fn strides_of(at: &Unblock<'_>, buffer: &Buffer) -> Vec<Expr> {
    let node = buffer.node();
    if !node.strides.is_empty() {
        return node.strides.iter().map(|stride| at.index(stride)).collect();
    }
    let mut strides = vec![Expr::i64(1)];
    for extent in node.shape.iter().skip(1).rev() {
        let inner = &strides[strides.len() - 1] * at.index(extent);
        strides.push(at.analyzer.simplify(&inner));
    }
    strides.truncate(node.shape.len());
    strides.reverse();
    strides
}
