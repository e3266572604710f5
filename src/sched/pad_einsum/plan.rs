//! What `pad_einsum` changes: domains, loops and buffers.

use super::sound::check_sound;
use super::{Access, PaddedBuffer};
use crate::arith::{Analyzer, access_regions};
use crate::ir::{
    BlockId, Buffer, BufferHints, BufferNode, BufferRegion, Expr, ExprKind, LoopId, Place,
    PrimFunc, Var,
};
use crate::sched::affine::shape_facts;
use crate::sched::analysis::check_stage_pipeline;
use crate::sched::body::position_of;
use crate::sched::reindex::runs_for_all;
use crate::sched::{PaddingReason, Reason, Refusal, attached_block};

pub(super) struct Plan {
    pub(super) block: BlockId,
    /// The block around.
    pub(super) scope: BlockId,
    /// The statement of the scope that the block is in, and its position.
    pub(super) top: Place,
    pub(super) position: usize,
    /// Positions of the padded iter variables, and their new extents.
    pub(super) iters: Vec<(usize, Expr)>,
    /// The loops that get longer.
    pub(super) loops: Vec<(LoopId, Expr)>,
    pub(super) buffers: Vec<PaddedBuffer>,
}

impl Plan {
    pub(super) fn check(func: &PrimFunc, block: BlockId, padding: &[i64]) -> Result<Self, Refusal> {
        let node = attached_block(func, block)?;
        let Some(scope) = func.scope_block(block.into()) else {
            return Err(Reason::RootBlock.at([block.into()]));
        };
        check_stage_pipeline(func, scope)?;
        if padding.len() != node.iters.len() || padding.iter().any(|&n| n <= 0) {
            let reason = PaddingReason::Sizes {
                block: node.name.clone(),
                iters: node.iters.len(),
                padding: padding.to_vec(),
            };
            return Err(reason.at([block.into()]));
        }
        check_einsum(func, block)?;
        let facts = shape_facts(func);
        // What it does not write would be copied back without a value.
        if !runs_for_all(func, block, scope, &facts) {
            let block_name = node.name.clone();
            return Err(Reason::NotTrivialBinding { block: block_name }.at([block.into()]));
        }
        let loops_above = func.loops_above(block.into());
        let (mut iters, mut loops) = (Vec::new(), Vec::new());
        for (at, (iter, &multiple)) in node.iters.iter().zip(padding).enumerate() {
            let Some(padded) = padded_extent(&iter.dom.extent, multiple, &facts) else {
                continue;
            };
            let is_bound = |id: &&LoopId| node.bindings[at].as_var() == Some(&func.loops[**id].var);
            if let Some(&id) = loops_above.iter().find(is_bound) {
                loops.push((id, padded.cast(func.loops[id].var.dtype())));
            }
            iters.push((at, padded));
        }
        let padded = |var: &Var| {
            let found = iters.iter().find(|(at, _)| node.iters[*at].var == *var);
            found.map(|(_, extent)| extent.clone())
        };
        let mut buffers = Vec::new();
        for (regions, access) in [(&node.reads, Access::Read), (&node.writes, Access::Written)] {
            for region in regions {
                let mut mins = region.region.iter().filter_map(|range| range.min.as_var());
                if mins.any(|var| padded(var).is_some()) {
                    buffers.push(PaddedBuffer {
                        old: region.buffer.clone(),
                        new: padded_buffer(region, &padded),
                        access,
                        dtypes: region.region.iter().map(|r| r.min.dtype()).collect(),
                    });
                }
            }
        }
        let mut top = Place::Block(block);
        while let Some(parent) = func.tree.parent(top).filter(|&p| p != Place::Block(scope)) {
            top = parent;
        }
        let position = position_of(func, scope.into(), top);
        let plan = Self {
            block,
            scope,
            top,
            position: position.expect("the block is in its scope"),
            iters,
            loops,
            buffers,
        };
        check_sound(func, &plan)?;
        Ok(plan)
    }
}

/// The next multiple, if it is not the extent itself.
fn padded_extent(extent: &Expr, multiple: i64, facts: &Analyzer) -> Option<Expr> {
    let multiple = Expr::int(multiple, extent.dtype());
    let count = (extent + &multiple - 1).floor_div(&multiple);
    let padded = facts.simplify(&(count * multiple));
    (!facts.can_prove_equal(&padded, extent)).then_some(padded)
}

/// Refuses a block that uses a buffer twice, or elsewhere than at constants and variables, or without a declaration.
fn check_einsum(func: &PrimFunc, block: BlockId) -> Result<(), Refusal> {
    let node = &func.blocks[block];
    let refuse = |buffer: &Buffer| {
        let reason = PaddingReason::NotEinsum {
            block: node.name.clone(),
            buffer: buffer.name().to_owned(),
        };
        Err(reason.at([block.into()]))
    };
    let touched = access_regions(func, block);
    let declared = node.reads.iter().chain(&node.writes);
    for region in touched.reads.iter().chain(&touched.writes) {
        if !declared.clone().any(|known| known.buffer == region.buffer) {
            return refuse(&region.buffer);
        }
    }
    let mut used: Vec<&Buffer> = Vec::new();
    for region in declared {
        let plain = region.region.iter().all(|range| {
            let constant = matches!(range.min.kind(), ExprKind::Int(_));
            range.extent.is_one() && (constant || range.min.as_var().is_some())
        });
        if !plain || used.contains(&&region.buffer) {
            return refuse(&region.buffer);
        }
        used.push(&region.buffer);
    }
    Ok(())
}

/// The buffer with the padded dimensions; one that is indexed by a constant has a single element.
fn padded_buffer(region: &BufferRegion, padded: &dyn Fn(&Var) -> Option<Expr>) -> Buffer {
    let old = &region.buffer;
    let dims = region.region.iter().zip(old.shape());
    let shape = dims.map(|(range, extent)| match range.min.as_var() {
        Some(var) => padded(var).unwrap_or_else(|| extent.clone()),
        None => Expr::int(1, range.min.dtype()),
    });
    Buffer::from_node(BufferNode {
        name: format!("{}_pad", old.name()),
        dtype: old.dtype(),
        shape: shape.collect(),
        strides: vec![],
        elem_offset: None,
        scope: old.scope().clone(),
        layout: None,
        address: vec![],
        hints: BufferHints::default(),
        producer: None,
    })
}
