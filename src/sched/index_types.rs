//! Loops and indices in one integer type. Programs mix `int32` and `int64`, as TVMScript does where it says `T.grid(m, 512)` of an `m` of
//! type `int64`; the value of an index is the same in both.

use std::collections::HashMap;

use super::body::rewrite_own;
use crate::ir::sum::is_index;
use crate::ir::{BlockId, Expr, ExprKind, LoopId, Place, PrimFunc, Range, Rewrite, Stmt, Var};
use crate::tensor::DType;

/// Whether loops and iter variables of the function have both types.
pub fn has_mixed_index_types(func: &PrimFunc) -> bool {
    let vars = index_vars(func, func.root);
    let has = |dtype: DType| vars.iter().any(|var| var.dtype() == dtype);
    has(DType::I32) && has(DType::I64)
}

/// Gives the loops and iter variables of a block and below it, and all indices there, the type `int64`.
pub fn widen_indices(func: &mut PrimFunc, block: BlockId) {
    let vars = index_vars(func, block).into_iter();
    let wide_vars = vars.map(|var| (var.clone(), Var::new(var.name(), DType::I64)));
    let mut widen = Widen(wide_vars.collect());
    func.map_below(block, &mut widen);
    let blocks = func.blocks_within(block.into());
    for id in loops_within(func, &blocks) {
        let l = &mut func.loops[id];
        l.min = wide(&l.min);
        l.extent = wide(&l.extent);
    }
    for id in blocks {
        rewrite_own(func, id, &mut Expr::clone, &mut |mut stmt| {
            if let Stmt::Store { indices, .. } = &mut stmt {
                indices.iter_mut().for_each(|index| *index = wide(index));
            }
            stmt
        });
        let node = &mut func.blocks[id];
        let bindings = node.bindings.iter_mut();
        bindings.for_each(|binding| *binding = wide(binding));
        let domains = node.iters.iter_mut().map(|iter| &mut iter.dom);
        let regions = node.reads.iter_mut().chain(&mut node.writes);
        let views = node.match_buffers.iter_mut().map(|view| &mut view.source);
        let ranges = regions.chain(views).flat_map(|region| &mut region.region);
        for Range { min, extent } in domains.chain(ranges) {
            *min = wide(min);
            *extent = wide(extent);
        }
    }
}

/// The variables of the loops and iter variables of a block and below it.
fn index_vars(func: &PrimFunc, block: BlockId) -> Vec<Var> {
    let blocks = func.blocks_within(block.into());
    let loops = loops_within(func, &blocks).into_iter();
    let loops = loops.map(|id| &func.loops[id].var);
    let iters = blocks.iter().flat_map(|&id| &func.blocks[id].iters);
    let vars = loops.chain(iters.map(|iter| &iter.var));
    vars.filter(|var| is_index(var.dtype())).cloned().collect()
}

/// The loops in these blocks, and in their inits.
fn loops_within(func: &PrimFunc, blocks: &[BlockId]) -> Vec<LoopId> {
    let mut loops = Vec::new();
    for &id in blocks {
        let init = func.blocks[id].init.iter().flatten();
        let of_init = init.flat_map(Stmt::places);
        let mut places: Vec<Place> = of_init.chain(func.tree.children(id)).collect();
        while let Some(place) = places.pop() {
            if let Place::Loop(id) = place {
                loops.push(id);
                places.extend(func.tree.children(place));
            }
        }
    }
    loops
}

/// Variables of `int64` for those of loops and iter variables.
struct Widen(HashMap<Var, Var>);

impl Rewrite for Widen {
    /// Where the variable is data, it has the type that it had.
    fn expr(&mut self, e: &Expr) -> Expr {
        let value = |var: &Var| Some(self.0.get(var)?.expr().cast(var.dtype()));
        let e = e.substitute(&value);
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) => {
                Expr::load(buffer, indices.iter().map(wide).collect())
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && is_index(a.dtype()) => {
                Expr::binary(*op, wide(a), wide(b))
            }
            _ => e.clone(),
        })
    }

    fn define(&mut self, var: &Var) -> Var {
        self.0.get(var).unwrap_or(var).clone()
    }
}

/// An index in `int64`. The arithmetic of data keeps its type.
fn wide(e: &Expr) -> Expr {
    match e.kind() {
        _ if !is_index(e.dtype()) || e.dtype() == DType::I64 => e.clone(),
        // The variable of a loop that was of `int32`.
        ExprKind::Cast(inner) if inner.dtype() == DType::I64 && inner.as_var().is_some() => {
            inner.clone()
        }
        ExprKind::Binary(op, a, b) if !e.is_data() => Expr::binary(*op, wide(a), wide(b)),
        _ => e.cast(DType::I64),
    }
}
