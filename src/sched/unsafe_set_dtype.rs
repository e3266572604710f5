//! `unsafe_set_dtype`: the elements of an allocated buffer get another type, and what is stored and loaded is converted.
//!
//! ```text
//! B = T.alloc_buffer((128,), "float32")      B = T.alloc_buffer((128,), "float16")
//! B[vi] = A[vi] * T.float32(2)               B[vi] = T.Cast("float16", A[vi] * T.float32(2))
//! C[vi] = B[vi] + T.float32(1)               C[vi] = T.Cast("float32", B[vi]) + T.float32(1)
//! ```
//!
//! Requires: the block writes the buffer; a block of the function allocates the buffer; the type is one of scalar elements.
//! *Unsafe*: each stored value is rounded to the new type, so the function computes something else where that loses digits.

use super::body::rewrite_own;
use super::{BufferReason, Reason, Refusal, Schedule, ScheduleError, attached_block};
use crate::ir::{BlockId, Buffer, BufferNode, Expr, ExprKind, PrimFunc, Stmt};
use crate::tensor::DType;

impl Schedule {
    /// Gives the buffer of the block's write region `index` the element type `dtype`, by TVM's name.
    ///
    /// # Errors
    /// If a rule of the module's documentation is broken.
    pub fn unsafe_set_dtype(
        &mut self,
        block: BlockId,
        index: usize,
        dtype: &str,
    ) -> Result<(), ScheduleError> {
        let plan = Plan::check(&self.func, block, index, dtype)
            .map_err(|refusal| refusal.of("unsafe_set_dtype"))?;
        let args = vec![block.into(), index.into(), dtype.into()];
        self.record("unsafe_set_dtype", args, |func| {
            if let Some(plan) = plan {
                plan.apply(func);
            }
        });
        Ok(())
    }
}

struct Plan {
    /// The block that allocates the buffer.
    allocates: BlockId,
    old: Buffer,
    dtype: DType,
}

impl Plan {
    /// No plan if the buffer has the type already.
    fn check(
        func: &PrimFunc,
        block: BlockId,
        index: usize,
        dtype: &str,
    ) -> Result<Option<Self>, Refusal> {
        let node = attached_block(func, block)?;
        let Some(write) = node.writes.get(index) else {
            let reason = Reason::BufferIndexOutOfRange {
                block: node.name.clone(),
                index,
                count: node.writes.len(),
            };
            return Err(reason.at([block.into()]));
        };
        let old = write.buffer.clone();
        let parsed = dtype.parse::<DType>().ok();
        let Some(dtype) = parsed.filter(|dtype| !dtype.is_vector() && !old.dtype().is_vector())
        else {
            let name = dtype.to_owned();
            return Err(BufferReason::UnknownDType { name }.at([block.into()]));
        };
        if old.dtype() == dtype {
            return Ok(None);
        }
        let mut blocks = func.blocks_under(func.root.into()).into_iter();
        let Some(allocates) = blocks.find(|&id| func.blocks[id].alloc_buffers.contains(&old))
        else {
            let buffer = old.name().to_owned();
            return Err(Reason::NotAllocated { buffer }.at([block.into()]));
        };
        Ok(Some(Self {
            allocates,
            old,
            dtype,
        }))
    }

    fn apply(self, func: &mut PrimFunc) {
        let new = with_dtype(&self.old, self.dtype);
        // The buffer and all views of it, before and after.
        let mut pairs = vec![(self.old, new)];
        for id in func.blocks_under(self.allocates.into()) {
            for view in &mut func.blocks[id].match_buffers {
                let source = pairs.iter().find(|(old, _)| *old == view.source.buffer);
                if let Some((_, source)) = source {
                    view.source.buffer = source.clone();
                    let retyped = with_dtype(&view.buffer, self.dtype);
                    pairs.push((view.buffer.clone(), retyped.clone()));
                    view.buffer = retyped;
                }
            }
            let node = &mut func.blocks[id];
            let regions = node.reads.iter_mut().chain(&mut node.writes);
            let named = regions.map(|region| &mut region.buffer);
            for buffer in named.chain(&mut node.alloc_buffers) {
                if let Some((_, new)) = pairs.iter().find(|(old, _)| old == buffer) {
                    *buffer = new.clone();
                }
            }
            let mut converted = |e: &Expr| e.rewrite_bottom_up(&mut |e| converted_load(&pairs, e));
            for region in node.reads.iter_mut().chain(&mut node.writes) {
                for range in &mut region.region {
                    range.min = converted(&range.min);
                    range.extent = converted(&range.extent);
                }
            }
            rewrite_own(func, id, &mut converted, &mut |stmt| {
                converted_store(&pairs, stmt)
            });
        }
    }
}

fn with_dtype(buffer: &Buffer, dtype: DType) -> Buffer {
    Buffer::from_node(BufferNode {
        dtype,
        ..buffer.node().clone()
    })
}

/// A load of the old buffer as one of the new, converted to the old type.
fn converted_load(pairs: &[(Buffer, Buffer)], e: &Expr) -> Expr {
    let new = |buffer: &Buffer| pairs.iter().find(|(old, _)| old == buffer);
    match e.kind() {
        ExprKind::Load(buffer, indices) => new(buffer).map_or_else(
            || e.clone(),
            |(_, new)| Expr::load(new, indices.clone()).cast(e.dtype()),
        ),
        ExprKind::Data(buffer) => new(buffer).map_or_else(|| e.clone(), |(_, new)| Expr::data(new)),
        _ => e.clone(),
    }
}

/// A store to the old buffer as one to the new, of the converted value.
fn converted_store(pairs: &[(Buffer, Buffer)], stmt: Stmt) -> Stmt {
    match stmt {
        Stmt::Store {
            buffer,
            indices,
            value,
        } => match pairs.iter().find(|(old, _)| *old == buffer) {
            Some((_, new)) => {
                let dtype = new.dtype().with_lanes(value.dtype().lanes);
                Stmt::Store {
                    buffer: new.clone(),
                    indices,
                    value: value.cast(dtype),
                }
            }
            None => Stmt::Store {
                buffer,
                indices,
                value,
            },
        },
        other => other,
    }
}
