//! Views: buffers whose elements are those of another one.

use super::nest::Unblock;
use super::{LowerError, LowerProblem, layout};
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
            let layout = Layout::of(at, source).of_region(&region, view.buffer.ndim());
            let strides = node.strides.iter().zip(&layout.strides);
            let offset = node.elem_offset.as_ref().zip(Some(&layout.offset));
            for (name, value) in strides.chain(offset) {
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

    /// The view of the memory of a buffer. The address of a view is that of the memory it is in.
    pub(super) fn of_memory(
        at: &Unblock<'_>,
        view: &Buffer,
        memory: &Expr,
    ) -> Result<Self, LowerError> {
        let source = match memory.kind() {
            ExprKind::Data(source) if source.dtype() == view.dtype() => at.owner(source),
            _ => {
                let view = view.name().to_owned();
                return Err(LowerProblem::AddressView { view }.into());
            }
        };
        let node = view.node();
        let offset = node.elem_offset.as_ref();
        Ok(Self::Strided {
            source,
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

/// How elements lie in the memory that owns them, in elements.
struct Layout {
    /// Distance of neighbours in each dimension.
    strides: Vec<Expr>,
    /// Offset of the first element.
    offset: Expr,
}

impl Layout {
    /// The layout of a buffer that a program may use here.
    fn of(at: &Unblock<'_>, buffer: &Buffer) -> Self {
        match at.views.get(buffer) {
            Some(View::Region(view)) => {
                Self::of(at, &view.buffer).of_region(&view.region, buffer.ndim())
            }
            Some(View::Strided {
                source: _,
                strides,
                offset,
            }) => Self {
                strides: strides.clone(),
                offset: offset.clone(),
            },
            None => Self {
                strides: strides_of(at, buffer),
                offset: Expr::i64(0),
            },
        }
    }

    /// The layout of the last `ndim` dimensions of a region of a buffer with this layout.
    fn of_region(self, region: &[Range], ndim: usize) -> Self {
        let starts = region.iter().zip(&self.strides);
        let starts = starts.map(|(r, stride)| &r.min * stride);
        Self {
            offset: starts.fold(self.offset, |sum, start| sum + start),
            strides: self.strides[region.len() - ndim..].to_vec(),
        }
    }
}

/// The distances of neighbours in the dimensions of a buffer, as the program says them, in elements.
fn strides_of(at: &Unblock<'_>, buffer: &Buffer) -> Vec<Expr> {
    let node = buffer.node();
    let strides = if node.strides.is_empty() {
        layout::dense_strides(&node.shape)
    } else {
        node.strides.clone()
    };
    strides.iter().map(|stride| at.index(stride)).collect()
}
