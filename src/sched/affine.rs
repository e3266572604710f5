//! Block bindings as affine maps of the loops: simplified after loops were cut or joined, and checked before loops are moved.

use super::{Reason, Refusal};
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map, iter_map_simplify};
use crate::arith::{Analyzer, IntBound};
use crate::ir::{BlockId, Expr, ExprKind, LoopId, Param, Place, PrimFunc, Range, Stmt, Var};
use crate::tensor::scalar::BinOp;

/// An analyzer that knows the symbolic dimensions of the function's parameters to be at least 0, and what the program asserts of them.
pub(crate) fn shape_facts(func: &PrimFunc) -> Analyzer {
    let mut facts = Analyzer::new();
    let shapes = func.params.iter().filter_map(|param| match param {
        Param::Buffer { handle: _, buffer } => Some(buffer.shape()),
        Param::Scalar(_) => None,
    });
    for var in shapes.clone().flatten().flat_map(Expr::free_vars) {
        facts.bind_shape_var(&var);
    }
    for extent in shapes.flatten() {
        facts.bind_extent(extent);
    }
    // A launch takes place only where these hold.
    for stmt in func.tree.body(func.root) {
        if let Stmt::Assert { cond, message: _ } = stmt
            && is_checked(cond)
        {
            assume_of_sizes(&mut facts, cond);
        }
    }
    facts
}

/// Whether a launch checks an assertion, as a whole: the host evaluates integers alone, and divides by constants.
fn is_checked(cond: &Expr) -> bool {
    let mut checked = true;
    cond.walk(&mut |e| {
        checked &= match e.kind() {
            ExprKind::Int(_) | ExprKind::Var(_) => !e.dtype().is_float(),
            ExprKind::Cast(inner) => widens(e, inner),
            ExprKind::Binary(op, a, b) => {
                use BinOp::{Div, FloorDiv, FloorMod, Mod};
                let divides = matches!(op, Div | Mod | FloorDiv | FloorMod);
                !a.dtype().is_float() && (!divides || b.as_int().is_some_and(|b| b != 0))
            }
            ExprKind::Not(_) | ExprKind::Select(..) | ExprKind::IfThenElse(..) => true,
            _ => false,
        };
        checked
    });
    checked
}

/// Whether a conversion keeps every integer.
fn widens(to: &Expr, from: &Expr) -> bool {
    let (to, from) = (to.dtype(), from.dtype());
    to.is_int() && from.is_int() && to.scalar.bytes() >= from.scalar.bytes()
}

/// Learns what an assertion says of sizes alone. Limits of one size are bounds of its variable: these decide quotients.
fn assume_of_sizes(facts: &mut Analyzer, cond: &Expr) {
    if let Some((a, b)) = cond.as_binary(BinOp::And) {
        assume_of_sizes(facts, a);
        assume_of_sizes(facts, b);
        return;
    }
    if let Some((a, b)) = cond.as_binary(BinOp::Le) {
        let limits = match (size(a), size(b)) {
            (Some(var), None) => b
                .as_int()
                .map(|n| (var, IntBound::new(IntBound::NEG_INF, n))),
            (None, Some(var)) => a
                .as_int()
                .map(|n| (var, IntBound::new(n, IntBound::POS_INF))),
            _ => None,
        };
        if let Some((var, limits)) = limits {
            let known = facts.bound(&var.expr());
            facts.bind_bound(var, known.intersect(limits));
            return;
        }
    }
    facts.assume(cond);
}

/// The variable that a size is, whatever type it is converted to.
fn size(e: &Expr) -> Option<&Var> {
    match e.kind() {
        ExprKind::Cast(inner) if widens(e, inner) => size(inner),
        _ => e.as_var(),
    }
}

/// Variables and ranges of these loops.
pub(crate) fn loop_ranges(func: &PrimFunc, loops: &[LoopId]) -> Vec<(Var, Range)> {
    let range = |&id: &LoopId| {
        let l = &func.loops[id];
        let (min, extent) = (l.min.clone(), l.extent.clone());
        (l.var.clone(), Range { min, extent })
    };
    loops.iter().map(range).collect()
}

/// Whether the bindings of the block are affine in these loops: independent of each other, each over a whole interval.
pub(crate) fn is_affine_in(func: &PrimFunc, block: BlockId, loops: &[LoopId]) -> bool {
    is_affine_where(func, block, loops, &func.blocks[block].predicate)
}

/// Whether the bindings of the block are affine in these loops but for iterations that the predicate leaves out: conditions on
/// loops that are iterators as they are, whose iterations are independent in any order. TVM refuses those that join several.
/// Domains of iter variables then hold instances that do not run; whoever makes a new predicate from domains must refuse them
/// (`check_predicate_kept`).
pub(crate) fn is_independent_in(func: &PrimFunc, block: BlockId, loops: &[LoopId]) -> bool {
    let node = &func.blocks[block];
    let is_iterator = |var: &Var| {
        let mut using = node.bindings.iter().filter(|e| e.uses(var));
        let own = using.next().is_some_and(|e| e.as_var() == Some(var));
        own && using.next().is_none()
    };
    let of_loops = |cond: &Expr| {
        if cond.is_data() {
            return false;
        }
        let vars = cond.free_vars();
        let is_loop = |var: &&Var| loops.iter().any(|&l| func.loops[l].var == **var);
        vars.iter().filter(is_loop).all(is_iterator)
    };
    let conditions = node.predicate.conjuncts().into_iter();
    let kept = Expr::all(conditions.filter(|cond| !of_loops(cond)));
    is_affine_where(func, block, loops, &kept)
}

fn is_affine_where(func: &PrimFunc, block: BlockId, loops: &[LoopId], predicate: &Expr) -> bool {
    let node = &func.blocks[block];
    if loops.is_empty() {
        return true;
    }
    let map = detect_iter_map(
        &shape_facts(func),
        &node.bindings,
        &loop_ranges(func, loops),
        predicate,
        IterMapLevel::Surjective,
        UnitIters::Preserve,
    );
    let whole = |sum: &crate::arith::iter_map::IterSum| {
        sum.args.first().is_none_or(|split| split.scale.is_one())
    };
    map.is_ok_and(|map| map.indices.iter().all(whole))
}

/// Refuses a block whose bindings are independent neither in all loops around it nor in those below `above`, with the others
/// taken as constants.
pub(crate) fn check_affine_below(
    func: &PrimFunc,
    block: BlockId,
    above: Place,
) -> Result<(), Refusal> {
    let all = func.loops_above(block.into());
    let below: Vec<LoopId> = all
        .iter()
        .copied()
        .filter(|&l| Place::Loop(l) != above && func.tree.is_ancestor(above, l))
        .collect();
    if is_independent_in(func, block, &all) || is_independent_in(func, block, &below) {
        return Ok(());
    }
    let name = func.blocks[block].name.clone();
    Err(Reason::NotAffineBinding { block: name }.at([block.into()]))
}

/// Writes the bindings of the blocks directly below a place with the fewest divisions and remainders. Blocks without iter
/// variables are looked through.
pub(crate) fn simplify_bindings(func: &mut PrimFunc, place: Place, units: UnitIters) {
    let mut loops = func.loops_above(place);
    if let Place::Loop(id) = place {
        loops.push(id);
    }
    simplify_below(func, place, &mut loops, units);
}

fn simplify_below(func: &mut PrimFunc, place: Place, loops: &mut Vec<LoopId>, units: UnitIters) {
    for child in func.tree.children(place) {
        match child {
            Place::Loop(id) => {
                loops.push(id);
                simplify_below(func, child, loops, units);
                loops.pop();
            }
            Place::Block(id) if func.blocks[id].iters.is_empty() => {
                simplify_below(func, child, loops, units);
            }
            Place::Block(id) => {
                let block = &func.blocks[id];
                func.blocks[id].bindings = iter_map_simplify(
                    &shape_facts(func),
                    &block.bindings,
                    &loop_ranges(func, loops),
                    &block.predicate,
                    IterMapLevel::Surjective,
                    units,
                );
            }
        }
    }
}
