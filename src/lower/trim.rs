//! Loops end after the last iteration whose condition holds: `for i in 0 .. e: if i * c + r < n { .. }` becomes
//! `for i in 0 .. min(e, (n - r) // c)`, rounded up, and a condition that an iteration does not decide stands outside of the loop. The
//! body stands once and has no branch; `partition` would write a second copy. Part of a tile at the end runs in smaller tiles
//! (`part_tile`).
//!
//! A condition is then evaluated also where the loop has no iterations: integer division of native code does not trap.
//!
//! Reference: Halide's `trim_no_ops`.

use super::host::Dims;
use super::node::{Node, branch};
use super::part_tile::{End, Tiles, WrittenOut};
use super::wrapping_sum::WrappingSum;
use crate::arith::Analyzer;
use crate::ir::{Expr, LoopKind, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// What is known where loops are trimmed.
pub(super) struct Trim<'a> {
    pub(super) analyzer: &'a Analyzer,
    pub(super) dims: &'a Dims,
    /// The loops over elements of tiles that may run past the end.
    pub(super) written_out: &'a [WrittenOut],
    /// The variables of the loops around a place.
    pub(super) loops: Vec<Var>,
}

impl Trim<'_> {
    /// The statements with their loops trimmed.
    pub(super) fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let trimmed = nodes.into_iter().flat_map(|node| self.node(node));
        trimmed.collect()
    }

    fn node(&mut self, mut node: Node) -> Vec<Node> {
        let around = self.loops.len();
        if let Node::For { var, .. } = &node {
            self.loops.push(var.clone());
        }
        for inner in node.nested_mut() {
            *inner = self.nodes(std::mem::take(inner));
        }
        self.loops.truncate(around);
        let Node::For {
            var,
            min,
            extent,
            kind: kind @ (LoopKind::Serial | LoopKind::Unrolled | LoopKind::Vectorized),
            body,
        } = &mut node
        else {
            return vec![node];
        };
        let [
            Node::If {
                cond,
                then,
                otherwise,
            },
        ] = body.as_mut_slice()
        else {
            return vec![node];
        };
        if !otherwise.is_empty() {
            return vec![node];
        }
        let (mut outside, mut inside) = (Expr::bool(true), Expr::bool(true));
        let (all, mut ends) = (extent.clone(), Vec::new());
        for c in cond.conjuncts() {
            // A store may change what it reads before the place of the condition.
            if c.loads() {
                inside = inside.and(c);
            } else if !c.uses(var) {
                outside = outside.and(c);
            } else if *kind == LoopKind::Serial
                && let Some(end) = self.end(&c, var)
            {
                let iterations = end.tiles() - &*min;
                *extent = self.analyzer.simplify(&extent.clone().min(iterations));
                ends.push((c, end));
            } else {
                inside = inside.and(c);
            }
        }
        *body = branch(inside, std::mem::take(then));
        if min.is_zero()
            && ends.len() == 1
            && let Some((cond, end)) = ends.pop()
        {
            let of_tile = self.written_out.iter().filter(|w| w.cond == cond);
            let tiles = Tiles {
                analyzer: self.analyzer,
                var,
                extent: &all,
                end,
                elements: of_tile.map(|w| w.element.clone()).collect(),
            };
            if let Some(nodes) = tiles.parted(body) {
                return branch(outside, nodes);
            }
        }
        branch(outside, vec![node])
    }

    /// The least value of the variable for which `var * c + r < n` is false; it is false for all greater values. Only of extents and
    /// variables of loops, whose sums do not wrap: `n` may be any number if it is data or a scalar parameter.
    fn end(&self, cond: &Expr, var: &Var) -> Option<End> {
        let (index, n) = cond.as_binary(BinOp::Lt)?;
        if index.is_data() || n.is_data() || index.dtype() != DType::I64 {
            return None;
        }
        let difference = WrappingSum::of(n).plus(&WrappingSum::of(index).join_div_mod(), -1);
        let (stride, left) = difference.split(var)?;
        let size = stride.as_const()?.checked_neg().filter(|s| *s > 0)?;
        let left = left.to_expr(index.dtype(), &|_| false);
        let is_bounded = |var: &Var| self.loops.contains(var) || self.dims.is_extent(var);
        let bounded = left.free_vars().iter().all(is_bounded);
        bounded.then_some(End { left, size })
    }
}
