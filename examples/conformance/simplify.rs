//! Simplification of a whole loop program: every expression under what the loops, blocks and predicates around it say.

use weftile::arith::Analyzer;
use weftile::ir::{
    Buffer, BufferNode, BufferRegion, Definitions, Expr, ExprKind, Param, Place, PrimFunc, Range,
    Stmt, Substitution,
};
use weftile::tensor::scalar::BinOp;

/// The function with every index, bound, region, predicate and shape simplified. Loops and blocks stay as they are.
pub(crate) fn simplify_prim_func(func: &PrimFunc) -> PrimFunc {
    let mut out = func.clone();
    let mut facts = Analyzer::new();
    for param in &func.params {
        if let Param::Buffer { handle: _, buffer } = param {
            for var in buffer.shape().iter().flat_map(Expr::free_vars) {
                facts.bind_shape_var(&var);
            }
        }
    }
    simplify_place(&mut out, func.root.into(), &facts);
    let mut shapes = Substitution::new(Definitions::Kept);
    for buffer in out.buffer_params().chain(out.allocated()) {
        let shape: Vec<Expr> = buffer.shape().iter().map(|e| facts.simplify(e)).collect();
        if shape != buffer.shape() {
            let node = buffer.node().clone();
            shapes.set_buffer(buffer, &Buffer::from_node(BufferNode { shape, ..node }));
        }
    }
    out.map(&mut shapes)
}

/// Simplifies the body of a place, of which the facts speak.
fn simplify_place(func: &mut PrimFunc, place: Place, facts: &Analyzer) {
    let body = func.tree.take_body(place);
    let body: Vec<Stmt> = body
        .iter()
        .map(|stmt| stmt.map(&mut |e: &Expr| simplify(e, facts)))
        .collect();
    func.tree.set_body(place, body);
    for child in func.tree.children(place) {
        let mut inner = facts.clone();
        match child {
            Place::Loop(id) => {
                let l = &mut func.loops[id];
                l.min = facts.simplify(&l.min);
                l.extent = facts.simplify(&l.extent);
                let (min, extent) = (l.min.clone(), l.extent.clone());
                inner.bind(&l.var, &Range { min, extent });
            }
            Place::Block(id) => {
                let block = &mut func.blocks[id];
                block.predicate = facts.simplify(&block.predicate);
                let mut here = facts.clone();
                here.assume(&block.predicate);
                for binding in &mut block.bindings {
                    *binding = here.simplify(binding);
                }
                for iter in &mut block.iters {
                    simplify_range(&mut iter.dom, facts);
                    inner.bind(&iter.var, &iter.dom);
                }
                let views = block.match_buffers.iter_mut().map(|m| &mut m.source);
                for region in block.reads.iter_mut().chain(&mut block.writes).chain(views) {
                    simplify_region(region, &inner);
                }
                if let Some(init) = &mut block.init {
                    *init = init
                        .iter()
                        .map(|stmt| stmt.map(&mut |e: &Expr| simplify(e, &inner)))
                        .collect();
                }
            }
        }
        simplify_place(func, child, &inner);
    }
}

/// The expression simplified, with comparisons of elements in one direction.
fn simplify(e: &Expr, facts: &Analyzer) -> Expr {
    facts
        .simplify(e)
        .rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Binary(BinOp::Ge, a, b) => b.le(a),
            ExprKind::Binary(BinOp::Gt, a, b) => b.lt(a),
            _ => e.clone(),
        })
}

fn simplify_range(range: &mut Range, facts: &Analyzer) {
    range.min = facts.simplify(&range.min);
    range.extent = facts.simplify(&range.extent);
}

fn simplify_region(region: &mut BufferRegion, facts: &Analyzer) {
    for range in &mut region.region {
        simplify_range(range, facts);
    }
}
