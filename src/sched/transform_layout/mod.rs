//! `transform_layout`: the elements of a buffer lie elsewhere, as a map of their indices says; all that use the buffer find them
//! there. A buffer that is a parameter is another parameter then: who calls the function passes it in the new layout.
//!
//! ```text
//! B = T.alloc_buffer((8, 10))             B = T.alloc_buffer((8, 4, 3))
//! for i, j in T.grid(8, 10):              for i, axis1, axis2 in T.grid(8, 4, 3):
//!     with T.block("B"):                      with T.block("B"):
//!         vi, vj = …                              v_i, v_axis1, v_axis2 = …
//!         B[vi, vj] = A[vi, vj] * 2               B[v_i, v_axis1, v_axis2] = T.if_then_else(
//!                                                     v_axis1 == 3 and v_axis2 >= 1, 0, A[v_i, v_axis1 * 3 + v_axis2] * 2)
//! ```
//!
//! above with the map `lambda i, j: (i, j // 3, j % 3)` and the value 0 for padding. Without padding the loops stay.
//!
//! Requires: no view of the buffer and no strides; a map with a parameter for each dimension that is affine and gives each element
//! a place of its own, from 0 on; a value of the element type for padding, if there is some. Meaning is kept: an element is read
//! at the place to which it was written. Padding is written where a block writes all elements one by one, else after the last
//! block that writes; of a buffer that nobody writes it is assumed (`T.assume`). TVM does not notice maps that forget an
//! index.

mod layout_map;
mod padding;
mod writes;

pub use self::layout_map::Injectivity;

use self::layout_map::LayoutMap;
use self::padding::Padding;
use super::affine::shape_facts;
use super::analysis::facts_inside;
use super::body::rewrite_own;
use super::error::LayoutReason;
use super::{Arg, BufferAccess, Refusal, Schedule, ScheduleError};
use crate::arith::access_regions;
use crate::ir::{
    BlockId, Buffer, BufferNode, BufferRegion, Expr, ExprKind, Lambda, Param, PrimFunc, Stmt,
};

impl Schedule {
    /// Puts the elements of the buffer of the block's read or write region `index` to the places that `map` gives for their
    /// indices, and `pad_value` to the places of no element.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken, or there is no such region.
    pub fn transform_layout(
        &mut self,
        block: BlockId,
        access: BufferAccess,
        index: usize,
        map: &Lambda,
        pad_value: Option<&Expr>,
        injectivity: Injectivity,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(
            &self.func,
            block,
            access,
            index,
            map,
            pad_value,
            injectivity,
        )
        .map_err(|refusal| refusal.of("transform_layout"))?;
        let args = vec![
            block.into(),
            access.name().into(),
            index.into(),
            map.into(),
            pad_value.map_or(Arg::None, Arg::of_number),
            Arg::Bool(injectivity == Injectivity::Assumed),
        ];
        self.record("transform_layout", args, |func| plan.apply(func));
        Ok(())
    }
}

struct Plan {
    old: Buffer,
    new: Buffer,
    map: LayoutMap,
    padding: Padding,
    /// The block that allocates the buffer, or that holds all uses of a parameter.
    site: BlockId,
}

impl Plan {
    fn check(
        func: &PrimFunc,
        block: BlockId,
        access: BufferAccess,
        index: usize,
        map: &Lambda,
        pad_value: Option<&Expr>,
        injectivity: Injectivity,
    ) -> Result<Self, Refusal> {
        let old = access.region(func, block, index)?.buffer.clone();
        let refuse = |reason: LayoutReason| Err(reason.at([block.into()]));
        let name = || old.name().to_owned();
        let facts = shape_facts(func);
        let map_of = LayoutMap::check(block, &old, map, injectivity, &facts)?;
        let site = defining_block(func, &old);
        let Some(site) = site.filter(|_| !is_opaque(func, &old)) else {
            return refuse(LayoutReason::Subregion { buffer: name() });
        };
        let node = old.node();
        let is_dense = node.strides.is_empty() && node.layout.is_none() && node.address.is_empty();
        if !is_dense || node.elem_offset.is_some() || !node.hints.axis_separators.is_empty() {
            return refuse(LayoutReason::HasLayout { buffer: name() });
        }
        if let Some(value) = pad_value {
            if value.dtype() != old.dtype() {
                return refuse(LayoutReason::PaddingType {
                    buffer: name(),
                    dtype: old.dtype(),
                    pad: value.dtype(),
                });
            }
            if value.as_int().is_none() && value.as_float().is_none() {
                let value = value.clone();
                return refuse(LayoutReason::PaddingValue { value });
            }
        }
        if !map_of.is_dense() && pad_value.is_none() {
            return refuse(LayoutReason::Padding {
                map: map.to_string(),
                buffer: name(),
                padding: map_of.padding.clone(),
            });
        }
        let new = Buffer::from_node(BufferNode {
            shape: map_of.shape.clone(),
            producer: None,
            ..node.clone()
        });
        check_extents_known(func, block, &old, &new)?;
        let padding = match pad_value.filter(|_| !map_of.is_dense()) {
            None => Padding::Nowhere,
            Some(value) => Padding::plan(func, site, &old, &map_of, value),
        };
        Ok(Self {
            old,
            new,
            map: map_of,
            padding,
            site,
        })
    }

    fn apply(self, func: &mut PrimFunc) {
        for param in &mut func.params {
            if let Param::Buffer { handle: _, buffer } = param
                && *buffer == self.old
            {
                *buffer = self.new.clone();
            }
        }
        self.padding.apply(func, self.site, &self.new, &self.map);
        let blocks = func.blocks_within(self.site.into());
        for &block in &blocks {
            self.rewrite(func, block);
        }
        for &block in blocks.iter().rev() {
            self.find_regions(func, block);
        }
    }

    /// Rewrites what one block itself does with the buffer.
    fn rewrite(&self, func: &mut PrimFunc, block: BlockId) {
        let facts = facts_inside(func, block);
        let mut load = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, indices) if *buffer == self.old => {
                    Expr::load(&self.new, self.map.place_of(indices, &facts))
                }
                _ => e.clone(),
            })
        };
        let mut store = |stmt: Stmt| match stmt {
            Stmt::Store {
                buffer,
                indices,
                value,
            } if buffer == self.old => Stmt::Store {
                buffer: self.new.clone(),
                indices: self.map.place_of(&indices, &facts),
                value,
            },
            other => other,
        };
        rewrite_own(func, block, &mut load, &mut store);
        for buffer in &mut func.blocks[block].alloc_buffers {
            if *buffer == self.old {
                *buffer = self.new.clone();
            }
        }
    }

    /// Gives the regions of a block in terms of the new layout: those of its statements.
    fn find_regions(&self, func: &mut PrimFunc, block: BlockId) {
        let node = &func.blocks[block];
        let mut regions = node.reads.iter().chain(&node.writes);
        if !regions.any(|region| region.buffer == self.old) {
            return;
        }
        let found = access_regions(func, block);
        let node = &mut func.blocks[block];
        let lists = [
            (&mut node.reads, &found.reads),
            (&mut node.writes, &found.writes),
        ];
        for (declared, found) in lists {
            for region in declared.iter_mut().filter(|r| r.buffer == self.old) {
                let same = found.iter().find(|found| found.buffer == self.new);
                *region = same.map_or_else(|| BufferRegion::full(&self.new), Clone::clone);
            }
        }
    }
}

/// The block that allocates the buffer, the root block for a parameter; none for a view.
fn defining_block(func: &PrimFunc, buffer: &Buffer) -> Option<BlockId> {
    if func.buffer_params().any(|param| param == buffer) {
        return Some(func.root);
    }
    let blocks = func.blocks_under(func.root.into()).into_iter();
    let allocates = |id: &BlockId| func.blocks[*id].alloc_buffers.contains(buffer);
    blocks.into_iter().find(allocates)
}

/// Whether the memory of the buffer is used in another way than by its indices.
fn is_opaque(func: &PrimFunc, buffer: &Buffer) -> bool {
    let mut copy = func.clone();
    let mut opaque = false;
    copy.map_below(func.root, &mut |e: &Expr| {
        e.walk(&mut |e| {
            opaque |= matches!(e.kind(), ExprKind::Data(source) if source == buffer);
            !opaque
        });
        e.clone()
    });
    let viewed = |id: &BlockId| {
        let mut views = func.blocks[*id].match_buffers.iter();
        views.any(|view| view.source.buffer == *buffer)
    };
    opaque || func.blocks_within(func.root.into()).iter().any(viewed)
}

/// Refuses a parameter whose shape gave a symbolic extent its value, and no longer would.
fn check_extents_known(
    func: &PrimFunc,
    block: BlockId,
    old: &Buffer,
    new: &Buffer,
) -> Result<(), Refusal> {
    if !func.buffer_params().any(|param| param == old) {
        return Ok(());
    }
    let others = func.buffer_params().filter(|param| *param != old);
    let known: Vec<&Expr> = others.chain([new]).flat_map(Buffer::shape).collect();
    let scalar = |param: &Param| match param {
        Param::Scalar(var) => Some(var.clone()),
        Param::Buffer { .. } => None,
    };
    let scalars: Vec<_> = func.params.iter().filter_map(scalar).collect();
    for var in old.shape().iter().flat_map(Expr::free_vars) {
        let is_known = known.iter().any(|e| e.as_var() == Some(&var)) || scalars.contains(&var);
        if !is_known {
            let reason = LayoutReason::ExtentLost {
                buffer: old.name().to_owned(),
                var: var.name().to_owned(),
            };
            return Err(reason.at([block.into()]));
        }
    }
    Ok(())
}
