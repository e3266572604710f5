//! `pad_einsum`: the iter variables of an einsum run up to multiples of given numbers, over copies of its buffers that are padded
//! with zeros.
//!
//! ```text
//! for i, j, k in T.grid(7, 9, 5):                     for i0, i1 in T.grid(8, 8):
//!     with T.block("C"):                                  with T.block("A_pad"):
//!         vi, vj, vk = …                                      A_pad[v0, v1] = T.if_then_else(
//!         with T.init():                                          v0 < 7 and v1 < 5, A[v0, v1], T.float32(0))
//!             C[vi, vj] = T.float32(0)                …
//!         C[vi, vj] = C[vi, vj]                       for i, j, k in T.grid(8, 16, 8):
//!             + A[vi, vk] * B[vk, vj]                     with T.block("C"):
//!                                                             … C_pad[vi, vj] = C_pad[vi, vj] + A_pad[vi, vk] * B_pad[vk, vj]
//!                                                     for i0, i1 in T.grid(7, 9):
//!                                                         with T.block("C_pad"):
//!                                                             C[v0, v1] = C_pad[v0, v1]
//! ```
//!
//! above with the padding `[8, 8, 8]`. So tiles of a fixed size divide what they tile. An open extent becomes a number where the program
//! asserts at its root that it is no greater, and greater than 0.
//!
//! Requires: a stage pipeline as scope; a positive number for each iter variable; each buffer that the block uses is used once, at
//! constants and variables. TVM requires no more. That the meaning is kept takes: the padded iter variables run over the whole
//! dimensions that they index, and from 0; what the block writes to a padded buffer is the whole buffer; what a padded reduction adds
//! past its domain is 0, as a product of padded elements is; nothing divides integers by padding; no other block is in a loop that
//! gets longer, or writes a padded buffer in the nest. An iter variable whose value is no loop variable gets the larger domain,
//! though no instance runs there.

mod plan;
mod sound;

use super::body::{insert_at, nest, rewrite_own};
use super::{Schedule, ScheduleError};
use crate::ir::{
    Attrs, Block, BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, IterVar, Loop, PrimFunc,
    Range, Stmt, Var,
};
use crate::tensor::DType;
use plan::Plan;

impl Schedule {
    /// Pads the domain of each iter variable of the block to a multiple of its number.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn pad_einsum(&mut self, block: BlockId, padding: &[i64]) -> Result<(), ScheduleError> {
        let plan =
            Plan::check(&self.func, block, padding).map_err(|refusal| refusal.of("pad_einsum"))?;
        let args = vec![block.into(), padding.into()];
        self.record("pad_einsum", args, |func| plan.apply(func));
        Ok(())
    }
}

/// A buffer of the block and its padded copy.
struct PaddedBuffer {
    old: Buffer,
    new: Buffer,
    access: Access,
    /// Types of the indices.
    dtypes: Vec<DType>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Written,
}

impl Plan {
    fn apply(self, func: &mut PrimFunc) {
        let node = &mut func.blocks[self.block];
        for (at, extent) in self.iters {
            node.iters[at].dom.extent = extent;
        }
        for (id, extent) in self.loops {
            func.loops[id].extent = extent;
        }
        for block in func.blocks_under(self.top) {
            redirect(func, block, &self.buffers);
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for padded in &self.buffers {
            match padded.access {
                Access::Read => before.push(padded.copy_in(func)),
                Access::Written => after.push(padded.copy_out(func)),
            }
        }
        let (place, position) = (self.scope.into(), self.position);
        for stmt in after.into_iter().rev() {
            insert_at(func, place, position + 1, stmt);
        }
        for stmt in before.into_iter().rev() {
            insert_at(func, place, position, stmt);
        }
        let new = self.buffers.into_iter().map(|padded| padded.new);
        func.blocks[self.scope].alloc_buffers.extend(new);
    }
}

/// Lets a block use the padded buffers.
fn redirect(func: &mut PrimFunc, block: BlockId, buffers: &[PaddedBuffer]) {
    let padded = |buffer: &Buffer| {
        let found = buffers.iter().find(|padded| padded.old == *buffer);
        found.map(|padded| padded.new.clone())
    };
    let node = &mut func.blocks[block];
    for region in node.reads.iter_mut().chain(&mut node.writes) {
        if let Some(new) = padded(&region.buffer) {
            region.buffer = new;
        }
    }
    let mut load = |e: &Expr| {
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) => match padded(buffer) {
                Some(new) => Expr::load(&new, indices.clone()),
                None => e.clone(),
            },
            _ => e.clone(),
        })
    };
    rewrite_own(func, block, &mut load, &mut |stmt| match stmt {
        Stmt::Store {
            buffer,
            indices,
            value,
        } => Stmt::Store {
            buffer: padded(&buffer).unwrap_or(buffer),
            indices,
            value,
        },
        other => other,
    });
}

impl PaddedBuffer {
    /// Fills the copy: with the elements of the buffer, and zeros beyond.
    fn copy_in(&self, func: &mut PrimFunc) -> Stmt {
        let (old, new) = (self.old.clone(), self.new.clone());
        self.copy(func, (&old, &new), &mut |indices: &[Expr]| {
            let load = Expr::load(&old, indices.to_vec());
            let zero = Expr::constant(0, old.dtype());
            let dims = indices.iter().zip(old.shape().iter().zip(new.shape()));
            let longer = dims.filter(|(_, (extent, padded))| extent != padded);
            let inside = Expr::all(longer.map(|(index, (extent, _))| index.lt(extent)));
            Expr::if_then_else(inside, load, zero)
        })
    }

    /// Copies what the block wrote back.
    fn copy_out(&self, func: &mut PrimFunc) -> Stmt {
        let (old, new) = (self.old.clone(), self.new.clone());
        self.copy(func, (&new, &old), &mut |indices: &[Expr]| {
            Expr::load(&new, indices.to_vec())
        })
    }

    /// Loops over `to` around a block that stores what `value` gives for the indices.
    fn copy(
        &self,
        func: &mut PrimFunc,
        (from, to): (&Buffer, &Buffer),
        value: &mut dyn FnMut(&[Expr]) -> Expr,
    ) -> Stmt {
        let extents = to.shape().iter().zip(&self.dtypes);
        let ranges: Vec<Range> = extents
            .map(|(extent, dtype)| Range::to(extent.cast(*dtype)))
            .collect();
        let iters: Vec<IterVar> = (ranges.iter().enumerate())
            .map(|(dim, range)| IterVar {
                var: Var::new(format!("v{dim}"), range.extent.dtype()),
                dom: range.clone(),
                kind: IterKind::Spatial,
            })
            .collect();
        let loops: Vec<Loop> = (ranges.into_iter().enumerate())
            .map(|(dim, range)| Loop::serial(format!("i{dim}"), range))
            .collect();
        let indices: Vec<Expr> = iters.iter().map(|iter| iter.var.expr()).collect();
        let store = Stmt::Store {
            buffer: to.clone(),
            value: value(&indices),
            indices: indices.clone(),
        };
        let block = func.blocks.push(Block {
            iters,
            bindings: loops.iter().map(|l| l.var.expr()).collect(),
            reads: vec![BufferRegion::point(from, &indices)],
            writes: vec![BufferRegion::point(to, &indices)],
            annotations: Attrs::new(),
            ..Block::named(self.new.name())
        });
        func.tree.set_body(block, vec![store]);
        nest(func, loops, Stmt::Block(block))
    }
}
