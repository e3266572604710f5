//! The part of a tile that a loop over tiles ends with, in smaller tiles: `for t { .. for v in unrolled(8): if t * 8 + v < n { .. } }`
//! runs the `n // 8` whole tiles, then a tile of four elements if so many are left, and one of the last three, two or one. So three rows
//! of a product cost as three, where the whole tile costs as eight, and read the other operand once.
//!
//! Only for tiles whose elements past the end may run or not (`speculate`), and whose body has loops: without, a branch costs what it
//! saves. Elements of a tile then run apart from each other, so they must not meet in memory: in every array that the body writes, some
//! index must be the same function of the element in all accesses.
//!
//! `tail` runs such a part element by element instead, where the elements are those of vectors that no mask is for.
//!
//! Reference: Goto, van de Geijn, "Anatomy of High-Performance Matrix Multiplication"; its edge cases are kernels of fewer rows.

use super::node::{Node, branch, map_exprs, substitute_nodes, walk_nodes};
use super::tail;
use crate::arith::{Analyzer, IntBound};
use crate::ir::{Expr, ExprKind, LoopKind, Range, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// A loop over the elements of a tile that is written out. Elements past the end compute nothing that is read.
#[derive(Clone, Debug)]
pub(super) struct WrittenOut {
    /// Whether the first element is before the end.
    pub(super) cond: Expr,
    /// Counts elements.
    pub(super) element: Var,
}

/// Where the tiles of a loop end: tile `t` has an element before the end if `t * size < left`.
pub(super) struct End {
    pub(super) left: Expr,
    pub(super) size: i64,
}

impl End {
    /// The number of tiles that have an element before the end.
    pub(super) fn tiles(&self) -> Expr {
        (&self.left + (self.size - 1)).floor_div(self.size)
    }
}

/// A loop over tiles that has no more iterations than `extent`.
pub(super) struct Tiles<'a> {
    pub(super) analyzer: &'a Analyzer,
    pub(super) var: &'a Var,
    pub(super) extent: &'a Expr,
    pub(super) end: End,
    /// The loops over elements in its body.
    pub(super) elements: Vec<Var>,
}

impl Tiles<'_> {
    /// A loop over the whole tiles, and smaller tiles for what is left; `None` if the body cannot be parted, or nothing is left.
    pub(super) fn parted(&self, body: &[Node]) -> Option<Vec<Node>> {
        let size = self.end.size;
        if size < 2 || !self.is_of_elements(body) || !has_loop(body) || !self.are_apart(body) {
            return None;
        }
        let usual = self.analyzer.simplify(&self.end.left.floor_mod(size));
        if usual.is_zero() || usual.as_int() == Some(size - 1) {
            return None;
        }
        let mut out = vec![self.whole(body)];
        // Tiles that end before the last element leave nothing, and a loop that has no tiles has no part of one.
        let known = |e: Expr| self.analyzer.simplify(&e);
        let inside = self.end.left.min(self.extent * size).max(0);
        let (rest, tile) = (
            Var::new("rest", DType::I64),
            Var::new(self.var.name(), DType::I64),
        );
        let mut facts = self.analyzer.clone();
        facts.bind_bound(&rest, IntBound::new(0, size - 1));
        let mut parts = Vec::new();
        for part in parts_of(size) {
            let is_there = |rest: &Expr| rest.floor_mod(part.within).floor_div(part.unit);
            let is_there = |rest: &Expr| is_there(rest).equals(part.units);
            if self.analyzer.simplify(&is_there(&usual)).as_bool() == Some(false) {
                continue;
            }
            let before = rest.expr().floor_div(part.within) * part.within;
            let body = self.part(body, &facts.simplify(&before), part.count());
            let body = substitute_nodes(&body, self.var, &tile.expr());
            parts.extend(branch(facts.simplify(&is_there(&rest.expr())), body));
        }
        let last = self.end.left.floor_div(size).min(self.extent - 1).max(0);
        let named = [(tile, known(last)), (rest, known(inside.floor_mod(size)))];
        out.extend(named.into_iter().fold(parts, |body, (var, value)| {
            vec![Node::Let { var, value, body }]
        }));
        Some(out)
    }

    /// The loop over the tiles all of whose elements are before the end: their loads need no clamps.
    fn whole(&self, body: &[Node]) -> Node {
        let size = self.end.size;
        let extent = self.extent.min(self.end.left.floor_div(size));
        let mut known = self.analyzer.clone();
        known.bind(self.var, &Range::to(extent.clone()));
        known.assume(&((self.var.expr() + 1) * size).le(&self.end.left));
        for element in &self.elements {
            known.bind(element, &Range::to(Expr::i64(size)));
        }
        let mut body = body.to_vec();
        map_exprs(&mut body, &mut |e| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Binary(BinOp::Min, a, b) if !e.is_data() && known.can_prove(&a.le(b)) => {
                    a.clone()
                }
                _ => e.clone(),
            })
        });
        Node::For {
            var: self.var.clone(),
            min: Expr::i64(0),
            extent,
            kind: LoopKind::Serial,
            body,
        }
    }

    /// The body for so many elements from the first one on.
    fn part(&self, body: &[Node], first: &Expr, count: i64) -> Vec<Node> {
        let mut body = body.to_vec();
        for node in &mut body {
            if let Node::For {
                var, extent, body, ..
            } = node
                && self.elements.contains(var)
            {
                let element = var.renamed(var.name());
                let index = match first.is_zero() {
                    true => element.expr(),
                    false => first + &element,
                };
                *body = substitute_nodes(body, var, &index);
                (*var, *extent) = (element, Expr::i64(count));
                continue;
            }
            for inner in node.nested_mut() {
                *inner = self.part(inner, first, count);
            }
        }
        body
    }

    /// Whether everything that the statements store stands in loops over all elements of a tile.
    fn is_of_elements(&self, nodes: &[Node]) -> bool {
        nodes.iter().all(|node| match node {
            Node::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                if self.elements.contains(var) {
                    let all = min.is_zero() && extent.as_int() == Some(self.end.size);
                    return all && *kind == LoopKind::Unrolled;
                }
                *kind != LoopKind::Parallel && self.is_of_elements(body)
            }
            Node::If {
                cond: _,
                then,
                otherwise,
            } => self.is_of_elements(then) && self.is_of_elements(otherwise),
            Node::Let {
                var: _,
                value: _,
                body,
            } => self.is_of_elements(body),
            Node::Store { .. } | Node::While { .. } | Node::Fragment(_) | Node::Barrier(_) => false,
        })
    }

    /// Whether different elements never meet in memory that one of them writes.
    fn are_apart(&self, body: &[Node]) -> bool {
        let Some((first, others)) = self.elements.split_first() else {
            return false;
        };
        let mut body = body.to_vec();
        for other in others {
            body = substitute_nodes(&body, other, &first.expr());
        }
        tail::apart(&body, first)
    }
}

/// Whether there are loops among the statements that are not written out.
fn has_loop(nodes: &[Node]) -> bool {
    let mut found = false;
    walk_nodes(nodes, &mut |node| {
        found |= matches!(
            node,
            Node::For {
                kind: LoopKind::Serial,
                ..
            }
        );
    });
    found
}

/// A smaller tile: of `units * unit` elements, behind the multiple of `within` that is left at most, if there are so many units behind it.
struct Part {
    within: i64,
    unit: i64,
    units: i64,
}

impl Part {
    fn count(&self) -> i64 {
        self.units * self.unit
    }
}

/// The most elements of which each number has a tile of its own.
const FEW: i64 = 3;

/// The smaller tiles of a tile of this size, in the order of their elements: powers of two, then the last few.
fn parts_of(size: i64) -> Vec<Part> {
    let powers = std::iter::successors(Some(FEW + 1), |power| Some(power * 2));
    let powers = powers.take_while(|power| *power < size).map(|unit| Part {
        within: unit * 2,
        unit,
        units: 1,
    });
    let few = (1..=FEW.min(size - 1)).map(|units| Part {
        within: FEW + 1,
        unit: 1,
        units,
    });
    let mut parts: Vec<Part> = few.chain(powers).collect();
    parts.reverse();
    parts
}
