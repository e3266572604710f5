//! Running past the end: a block that writes only memory of its thread or workgroup may also run for iterations past the
//! end of its tensors. What it computes there is never read: it writes elements outside of the shape of the buffer, to which
//! every reader keeps; its loads from tensors are clamped. So a tile needs no branch in its inner loops: only conditions that
//! keep some element inside of the shape unwritten stay, as those on reduce loops. On the CPU the condition of a tile that
//! is written out becomes that its first element is before the end, so that loops over tiles end there (`trim`).

use std::collections::HashSet;

use super::nest::{Unblock, stored_below};
use super::node::{Node, map_exprs, walk_nodes};
use super::part_tile::WrittenOut;
use super::storage::Memory;
use super::widen::widen;
use super::wrapping_sum::WrappingSum;
use crate::arith::Analyzer;
use crate::ir::sum::Sum;
use crate::ir::{BlockId, Expr, ExprKind, Place, Var};
use crate::tensor::scalar::{BinOp, Intrin};

/// Clamps the loads of a block that may run past the end, and gives what of its predicate must stay.
pub(super) fn run_past_the_end(
    at: &mut Unblock<'_>,
    block: BlockId,
    nodes: &mut [Node],
    predicate: &Expr,
    reduce_vars: &[Var],
) -> Expr {
    let private = stored_below(at.func, Place::Block(block))
        .iter()
        .all(|b| at.memory_plan.of(b) != Memory::Device);
    if predicate.as_bool().is_some() || !private || !harmless(nodes, &at.analyzer) {
        return predicate.clone();
    }
    let mut stores = Vec::new();
    walk_nodes(nodes, &mut |node| {
        if let Node::Store {
            buffer, indices, ..
        } = node
        {
            stores.push((buffer.clone(), indices.clone()));
        }
    });
    let (kept, dropped): (Vec<Expr>, Vec<Expr>) =
        predicate.conjuncts().into_iter().partition(|c| {
            c.free_vars().iter().any(|v| reduce_vars.contains(v))
                || !stores.iter().all(|(buffer, indices)| {
                    only_past_the_end(&at.analyzer, c, buffer.shape(), indices)
                })
        });
    if dropped.is_empty() {
        return Expr::all(kept);
    }
    // On a GPU threads past the end read the element of the last thread.
    let end = at.launch.is_none().then(|| End::of(&at.analyzer, &dropped));
    let end = end.as_ref();
    map_exprs(nodes, &mut |e| {
        e.rewrite_bottom_up(&mut |e| mask_load(at, end, e))
    });
    let mut needed = kept;
    for cond in &dropped {
        let of_tile = of_tile(at, cond);
        let known = at.analyzer.simplify(&of_tile);
        // That each tile has an element before the end says where the last tile ends, too.
        if let Some(element) = only_element(at, cond).filter(|_| !of_tile.free_vars().is_empty()) {
            let cond = match known.as_bool() {
                Some(true) => of_tile,
                _ => known,
            };
            needed.push(cond.clone());
            at.nest.written_out.push(WrittenOut { cond, element });
        } else {
            needed.push(known);
        }
    }
    Expr::all(needed)
}

/// The condition of the first element of the tile that loops around here are written out to: if that is past the end, all are. It is
/// not simplified.
fn of_tile(at: &Unblock<'_>, cond: &Expr) -> Expr {
    let Some((index, end)) = cond.as_binary(BinOp::Lt).filter(|_| at.launch.is_none()) else {
        return Expr::bool(true);
    };
    let mut index = WrappingSum::of(index).join_div_mod();
    for (var, first) in &at.written_out {
        let Some((stride, base)) = index.split(var) else {
            return Expr::bool(true);
        };
        match stride.as_const() {
            Some(stride @ 0..) => index = base.plus(&WrappingSum::of(first), stride),
            _ => return Expr::bool(true),
        }
    }
    index.to_expr(end.dtype(), &|_| false).lt(end)
}

/// The loop that is written out around here which alone counts the elements that a condition is about.
fn only_element(at: &Unblock<'_>, cond: &Expr) -> Option<Var> {
    let (index, _) = cond.as_binary(BinOp::Lt)?;
    let index = WrappingSum::of(index).join_div_mod();
    let vars = at.written_out.iter().map(|(var, _)| var);
    let mut counting = vars.filter(|var| cond.uses(var));
    let element = counting.next().filter(|_| counting.next().is_none())?;
    let (stride, _) = index.split(element)?;
    (stride.as_const() == Some(1) && !at.vectorized.contains(element)).then(|| element.clone())
}

/// Whether in some dimension the index is not below the end wherever the condition does not hold.
pub(super) fn only_past_the_end(
    known: &Analyzer,
    cond: &Expr,
    ends: &[Expr],
    indices: &[Expr],
) -> bool {
    let mut facts = known.clone();
    facts.assume(&cond.not());
    let mut dims = indices.iter().zip(ends);
    dims.any(|(index, end)| {
        let end = widen(end);
        facts.can_prove(&end.le(index))
            || match index.kind() {
                // n <= x // c where n * c <= x
                ExprKind::Binary(BinOp::FloorDiv, x, c) if known.bound(c).min > 0 => {
                    facts.can_prove(&(end * c).le(x))
                }
                _ => false,
            }
    })
}

/// Whether nothing in the statements can fail or run forever for arbitrary values.
fn harmless(nodes: &[Node], known: &Analyzer) -> bool {
    nodes.iter().all(|node| {
        let waits = matches!(
            node,
            Node::While { .. } | Node::Barrier(_) | Node::Fragment(_)
        );
        let fails = node.exprs().into_iter().any(|e| may_fail(e, known));
        !waits && !fails && node.nested().into_iter().all(|n| harmless(n, known))
    })
}

/// Whether an expression can fail for some values of its operands, as an integer division can.
pub(super) fn may_fail(e: &Expr, known: &Analyzer) -> bool {
    let divides = |d: &Expr| d.as_int().is_some_and(|d| d != 0) || known.bound(d).min > 0;
    let mut fails = false;
    e.walk(&mut |e| {
        fails |= matches!(
            e.kind(),
            ExprKind::Binary(BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod, _, d)
                if !e.dtype().is_float() && !divides(d)
        ) || matches!(e.kind(), ExprKind::Call(Intrin::Pow, _));
        !fails
    });
    fails
}

/// Where the iterations end that are not past the end.
struct End {
    /// The variables that say it.
    vars: HashSet<Var>,
    /// What is known before the end.
    before: Analyzer,
}

impl End {
    fn of(known: &Analyzer, conds: &[Expr]) -> Self {
        let mut before = known.clone();
        conds.iter().for_each(|cond| before.assume(cond));
        Self {
            vars: conds.iter().flat_map(Expr::free_vars).collect(),
            before,
        }
    }

    /// The index with the terms clamped that grow past the end, if the others stay as they are before it: loops of a sum then do not clamp in
    /// each iteration.
    fn clamp_terms(&self, known: &Analyzer, index: &Expr, extent: &Expr) -> Option<Expr> {
        let sum = Sum::of(index);
        let grows = |atom: &Expr| atom.free_vars().iter().any(|var| self.vars.contains(var));
        let (growing, others) = sum.partition(|term| term.atoms.iter().any(grows));
        let (growing, others) = (growing.to_expr()?, others.to_expr()?);
        let bound = known.bound(&others);
        if !bound.is_finite() || bound.as_point().is_some() {
            return None;
        }
        let most_of_others = Expr::int(bound.max, index.dtype());
        let last = known.simplify(&(extent - 1 - most_of_others));
        if known.bound(&last).min < 0 {
            return None;
        }
        let stays = self.before.can_prove(&growing.le(&last));
        stays.then(|| growing.min(last) + others)
    }
}

fn clamp_load(at: &Unblock<'_>, known: &Analyzer, end: Option<&End>, e: &Expr) -> Expr {
    let ExprKind::Load(buffer, indices) = e.kind() else {
        return e.clone();
    };
    if at.memory_plan.of(buffer) != Memory::Device {
        return e.clone();
    }
    let joined = clamp_digits(at, known, indices, buffer.shape());
    let clamp = |(index, extent): (&Expr, &Expr)| {
        let mut index = index.clone();
        let extent = at.index(extent);
        if !known.can_prove(&index.lt(&extent)) {
            index = end
                .and_then(|end| end.clamp_terms(known, &index, &extent))
                .unwrap_or_else(|| index.min(known.simplify(&(extent - 1))));
        }
        if known.bound(&index).min < 0 {
            index = index.max(Expr::int(0, index.dtype()));
        }
        index
    };
    let clamped: Vec<Expr> = joined.iter().zip(buffer.shape()).map(clamp).collect();
    if clamped == *indices {
        return e.clone();
    }
    Expr::load(buffer, clamped)
}

/// The load under the condition that indices with vectorized variables are below the end, and the indices that are left to clamp:
/// lanes past the end are masked then, where clamped ones would be loaded one by one.
fn mask_load(at: &Unblock<'_>, end: Option<&End>, e: &Expr) -> Expr {
    let ExprKind::Load(buffer, indices) = e.kind() else {
        return e.clone();
    };
    let mut inside = Expr::bool(true);
    for (index, extent) in indices.iter().zip(buffer.shape()) {
        let vectorized = at.vectorized.iter().any(|var| index.uses(var));
        let extent = at.index(extent);
        if vectorized
            && at.analyzer.bound(index).min >= 0
            && !at.analyzer.can_prove(&index.lt(&extent))
        {
            inside = inside.and(below(index, extent));
        }
    }
    if inside.as_bool() == Some(true) || at.memory_plan.of(buffer) != Memory::Device {
        return clamp_load(at, &at.analyzer, end, e);
    }
    let mut within = at.analyzer.clone();
    within.assume(&inside);
    let load = clamp_load(at, &within, end, e);
    Expr::if_then_else(inside, load, Expr::constant(0, e.dtype()))
}

/// `index < end`, written so that lanes can be counted: `x // c < n` is `x < n * c`.
fn below(index: &Expr, end: Expr) -> Expr {
    match index.as_binary(BinOp::FloorDiv) {
        Some((x, c)) if c.as_int().is_some_and(|c| c > 0) => x.lt(end * c),
        _ => index.lt(end),
    }
}

/// The indices with `x` clamped where `x // c` and `x % c` are among them: `x // c < n` is `x < n * c`. The two digits then make up
/// one number still, which two clamps of their own would not.
fn clamp_digits(at: &Unblock<'_>, known: &Analyzer, indices: &[Expr], shape: &[Expr]) -> Vec<Expr> {
    let mut out = indices.to_vec();
    for (index, extent) in indices.iter().zip(shape) {
        let Some((x, c)) = index.as_binary(BinOp::FloorDiv) else {
            continue;
        };
        let low = x.floor_mod(c);
        let extent = at.index(extent);
        if !indices.contains(&low) || known.can_prove(&index.lt(&extent)) {
            continue;
        }
        let last = known.simplify(&(extent * c - 1));
        let x = x.min(last);
        for digit in &mut out {
            if digit == index {
                *digit = x.floor_div(c);
            } else if *digit == low {
                *digit = x.floor_mod(c);
            }
        }
    }
    out
}
