//! The rules that `parallel`, `vectorize` and `bind` share: iterations that run at the same time must be independent.
//!
//! Requires: the blocks below the loop are complete or reductions within it and affinely bound, and the loop is part of
//! spatial iter variables only. A loop bound to `threadIdx` may be part of reduce iter variables too: threads of a workgroup
//! combine their results.

use super::affine::check_affine_below;
use super::analysis::check_compact_dataflow;
use super::{Refusal, Rule, living_loop};
use crate::ir::{IterKind, LoopId, LoopKind, Place, PrimFunc};

/// A loop and the kind that it may be given.
pub(super) struct LoopKindPlan {
    target: LoopId,
    kind: LoopKind,
}

impl LoopKindPlan {
    pub(super) fn check(func: &PrimFunc, target: LoopId, kind: LoopKind) -> Result<Self, Refusal> {
        let var = living_loop(func, target)?.var.clone();
        check_compact_dataflow(func, target.into())?;
        let reduces = matches!(kind, LoopKind::ThreadBinding(axis) if axis.is_thread());
        for block in func.blocks_under(target.into()) {
            let node = &func.blocks[block];
            check_affine_below(func, block, target.into())?;
            for (iter, binding) in node.iters.iter().zip(&node.bindings) {
                let allowed = match iter.kind {
                    IterKind::Spatial => true,
                    IterKind::Reduce => reduces,
                    IterKind::Scan | IterKind::Opaque => false,
                };
                if !allowed && binding.uses(&var) {
                    let rule = Rule::WrongBlockIterKind {
                        var: var.name().to_owned(),
                        kind: describe(kind),
                        iter: iter.var.name().to_owned(),
                        block: node.name.clone(),
                    };
                    return Err(rule.at([Place::Loop(target), Place::Block(block)]));
                }
            }
        }
        Ok(Self { target, kind })
    }

    pub(super) fn apply(self, func: &mut PrimFunc) {
        func.loops[self.target].kind = self.kind;
    }
}

fn describe(kind: LoopKind) -> String {
    match kind {
        LoopKind::Serial => "made serial".to_owned(),
        LoopKind::Parallel => "made parallel".to_owned(),
        LoopKind::Vectorized => "made vectorized".to_owned(),
        LoopKind::Unrolled => "unrolled".to_owned(),
        LoopKind::ThreadBinding(axis) => format!("bound to {}", axis.name()),
    }
}
