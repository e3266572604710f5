//! Views: buffers whose elements are those of another one, and how elements lie in memory.

use super::InterpError;
use super::eval::{Env, unbound};
use super::memory::check_index;
use crate::ir::{Buffer, Expr, ExprKind, MatchBuffer, Var};
use crate::tensor::scalar::Scalar;

/// A part of a buffer under a name of its own.
#[derive(Clone)]
pub(super) struct View {
    /// The buffer with the elements, which may be a view.
    source: Buffer,
    /// Its own extents.
    shape: Vec<i64>,
    /// Where its elements are in the source.
    place: Placement,
}

/// How the elements of a view lie in its source.
#[derive(Clone)]
enum Placement {
    /// A box from this index on; the view has the trailing dimensions of the source.
    Region(Vec<i64>),
    /// In this layout, in the memory of the source.
    Strided(Layout),
}

/// How elements lie in the memory that owns them, in elements.
#[derive(Clone)]
pub(super) struct Layout {
    /// Distance of neighbours in each dimension.
    strides: Vec<i64>,
    /// Offset of the first element.
    offset: i64,
}

impl Layout {
    /// The layout of a row-major array from the begin of its memory.
    pub(super) fn dense(shape: &[i64]) -> Self {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim];
        }
        Self { strides, offset: 0 }
    }

    fn offset_of(&self, index: &[i64]) -> i64 {
        let distances = self.strides.iter().zip(index);
        self.offset + distances.map(|(stride, i)| stride * i).sum::<i64>()
    }

    /// The layout of the last `ndim` dimensions of a box that begins at `origin`.
    fn of_region(&self, origin: &[i64], ndim: usize) -> Self {
        Self {
            strides: self.strides[origin.len() - ndim..].to_vec(),
            offset: self.offset_of(origin),
        }
    }

    /// The strides and the offset that the program writes for a buffer, each with its value here.
    fn said<'b>(&self, buffer: &'b Buffer) -> Vec<(&'b Expr, i64)> {
        let node = buffer.node();
        let strides = node.strides.iter().zip(self.strides.iter().copied());
        let offset = node.elem_offset.as_ref().map(|said| (said, self.offset));
        strides.chain(offset).collect()
    }
}

impl Env {
    /// Places a view of the memory of another buffer (`T.decl_buffer`).
    pub(super) fn view_memory(
        &mut self,
        buffer: &Buffer,
        memory: &Expr,
    ) -> Result<(), InterpError> {
        let beyond = |what: &str| InterpError::BeyondProgram {
            what: format!("buffer `{}`: {what}", buffer.name()),
        };
        let ExprKind::Data(source) = memory.kind() else {
            return Err(beyond("its memory is given by an address"));
        };
        if source.dtype() != buffer.dtype() {
            return Err(beyond("its memory is that of elements of another type"));
        }
        // The address of a view is that of the memory it is in.
        let mut owner = source;
        while let Some(view) = self.views.get(owner) {
            owner = &view.source;
        }
        let owner = owner.clone();
        if !self.is_dense(&owner)? {
            return Err(InterpError::StridedMemory {
                view: buffer.name().to_owned(),
                source_buffer: owner.name().to_owned(),
            });
        }
        let node = buffer.node();
        let shape = self.ints(&node.shape)?;
        let mut layout = Layout::dense(&shape);
        if !node.strides.is_empty() {
            layout.strides = self.ints(&node.strides)?;
        }
        if let Some(offset) = &node.elem_offset {
            layout.offset = self.int(offset)?;
        }
        let view = View {
            source: owner,
            shape,
            place: Placement::Strided(layout),
        };
        self.views.insert(buffer.clone(), view);
        Ok(())
    }

    /// Places a view of a region (`T.match_buffer` in a block). Variables that only the view names get the extents, strides and
    /// offset of the region; gives these variables.
    pub(super) fn view_region(&mut self, view: &MatchBuffer) -> Result<Vec<Var>, InterpError> {
        let (mut origin, mut extents) = (vec![], vec![]);
        for range in &view.source.region {
            origin.push(self.int(&range.min)?);
            extents.push(self.int(&range.extent)?);
        }
        let (mut shape, mut named) = (vec![], vec![]);
        let lead = extents.len().saturating_sub(view.buffer.ndim());
        for (dim, (extent, &got)) in view.buffer.shape().iter().zip(&extents[lead..]).enumerate() {
            named.extend(self.name(extent, got));
            let extent = self.int(extent)?;
            if extent != got {
                let view = view.buffer.name().to_owned();
                return Err(InterpError::ViewExtent {
                    view,
                    dim,
                    extent,
                    got,
                });
            }
            shape.push(extent);
        }
        let source = &view.source.buffer;
        let layout = self.layout(source)?.of_region(&origin, view.buffer.ndim());
        named.extend(self.name_layout(&view.buffer, &layout));
        self.check_layout(&view.buffer, &layout)?;
        let placed = View {
            source: source.clone(),
            shape,
            place: Placement::Region(origin),
        };
        self.views.insert(view.buffer.clone(), placed);
        Ok(named)
    }

    /// Gives the variables that stand alone as a stride or offset of a buffer their values; gives these variables.
    pub(super) fn name_layout(&mut self, buffer: &Buffer, layout: &Layout) -> Vec<Var> {
        let said = layout.said(buffer).into_iter();
        said.filter_map(|(said, value)| self.name(said, value))
            .collect()
    }

    /// Checks that all strides and the offset that the program writes for a buffer are those that it has.
    pub(super) fn check_layout(
        &mut self,
        buffer: &Buffer,
        layout: &Layout,
    ) -> Result<(), InterpError> {
        for (said, value) in layout.said(buffer) {
            let said = self.int(said)?;
            if said != value {
                return Err(InterpError::BufferLayout {
                    buffer: buffer.name().to_owned(),
                    said,
                    value,
                });
            }
        }
        Ok(())
    }

    /// Gives a variable without a value this one.
    fn name(&mut self, name: &Expr, value: i64) -> Option<Var> {
        let var = name.as_var()?;
        if self.vars.contains_key(var) {
            return None;
        }
        self.vars.insert(var.clone(), Scalar::Int(value));
        Some(var.clone())
    }

    /// How the elements of a buffer lie in the memory that owns them.
    fn layout(&self, buffer: &Buffer) -> Result<Layout, InterpError> {
        let Some(view) = self.views.get(buffer) else {
            let memory = self.buffers.get(buffer).ok_or_else(|| unbound(buffer))?;
            return Ok(Layout::dense(&memory.shape));
        };
        Ok(match &view.place {
            Placement::Region(origin) => {
                let source = self.layout(&view.source)?;
                source.of_region(origin, view.shape.len())
            }
            Placement::Strided(layout) => layout.clone(),
        })
    }

    /// Whether the program says nothing else of the memory of a buffer.
    fn is_dense(&mut self, buffer: &Buffer) -> Result<bool, InterpError> {
        for (said, value) in self.layout(buffer)?.said(buffer) {
            if self.int(said)? != value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The buffer that owns the elements, and the index there.
    pub(super) fn resolve(
        &self,
        buffer: &Buffer,
        mut index: Vec<i64>,
    ) -> Result<(Buffer, Vec<i64>), InterpError> {
        let mut owner = buffer;
        while let Some(view) = self.views.get(owner) {
            check_index(owner.name(), &index, &view.shape)?;
            index = match &view.place {
                // A view may drop leading dimensions of extent 1.
                Placement::Region(origin) => {
                    let (dropped, kept) = origin.split_at(origin.len() - view.shape.len());
                    let inner = kept.iter().zip(&index).map(|(o, i)| o + i);
                    dropped.iter().copied().chain(inner).collect()
                }
                Placement::Strided(layout) => {
                    self.unflatten(&view.source, layout.offset_of(&index))?
                }
            };
            owner = &view.source;
        }
        Ok((owner.clone(), index))
    }

    /// The index of the element of a buffer that lies `flat` elements after its first one.
    fn unflatten(&self, buffer: &Buffer, flat: i64) -> Result<Vec<i64>, InterpError> {
        let memory = self.buffers.get(buffer).ok_or_else(|| unbound(buffer))?;
        let len = memory.shape.iter().product::<i64>();
        check_index(buffer.name(), &[flat], &[len])?;
        let mut rest = flat;
        let mut index: Vec<i64> = memory
            .shape
            .iter()
            .rev()
            .map(|&extent| {
                let at = rest % extent;
                rest /= extent;
                at
            })
            .collect();
        index.reverse();
        Ok(index)
    }
}
