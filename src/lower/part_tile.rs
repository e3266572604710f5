//! The part of a tile that a loop over tiles ends with, in smaller tiles: `for t { .. for v in unrolled(8): if t * 8 + v < n { .. } }`
//! runs the `n // 8` whole tiles, then a tile of four elements if so many are left, and one of the last three, two or one. So three rows
//! of a product cost as three, where the whole tile costs as eight, and read the other operand once.
//!
//! A loop is parted if elements past the end may run or not (`speculate`), and if its body has loops: in a body without loops a branch
//! costs what it saves. The smaller tiles run one after the other, each with all iterations of the loops inside, so elements of a tile
//! must not meet in memory: in every array that the body writes, some index must be the same function of the element in all accesses.
//!
//! Code for a tile of eight is written out for 18 elements instead of eight, which is less than twice the code of a product. With tiles
//! of four, two and one it would be 15, but three rows would read all of the other operand twice. A tile of six is written out for 21.
//!
//! `tail` runs such a part element by element instead, where the elements are those of vectors that no mask is for.

use super::node::{Node, branch, map_exprs, substitute_nodes, walk_nodes};
use super::tail;
use crate::arith::Analyzer;
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
        let (mut named, mut facts) = (Vec::new(), self.analyzer.clone());
        let mut name = |name: &str, value: Expr| {
            let value = self.analyzer.simplify(&value);
            if value.as_int().is_some() {
                return value;
            }
            let var = Var::new(name, DType::I64);
            facts.bind_bound(&var, self.analyzer.bound(&value));
            named.push((var.clone(), value));
            var.expr()
        };
        let last = self.end.left.floor_div(size).min(self.extent - 1).max(0);
        let tile = name(self.var.name(), last);
        // Whole tiles alone are left where the end is behind the loop, and nothing where it is before the loop.
        let inside = self.end.left.min(self.extent * size).max(0);
        let rest = name("rest", inside.floor_mod(size));
        let mut parts = Vec::new();
        for part in parts_of(size) {
            let is_there = |rest: &Expr| {
                let units = rest.floor_mod(part.within).floor_div(part.unit);
                facts.simplify(&units.equals(part.units))
            };
            if is_there(&usual).as_bool() == Some(false) {
                continue;
            }
            let first = (rest.floor_div(part.within) * part.within).min(part.last_first(size));
            let first = facts.simplify(&first);
            let body = self.part(body, &first, part.count());
            let body = substitute_nodes(&body, self.var, &tile);
            parts.extend(branch(is_there(&rest), body));
        }
        let named = named.into_iter();
        let parts = named.fold(parts, |body, (var, value)| {
            vec![Node::Let { var, value, body }]
        });
        let mut out = vec![self.whole(body)];
        out.extend(parts);
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

    /// The last element that it may begin with, in a rest of a tile of this size.
    fn last_first(&self, size: i64) -> i64 {
        (size - 1 - self.count()) / self.within * self.within
    }
}

/// The most elements of which each number has a tile of its own. That is all of a tile of six or less: five rows in tiles of four and one would
/// wait for the sums of the last one.
fn few(size: i64) -> i64 {
    if size <= 6 { size - 1 } else { 3 }
}

/// The smaller tiles of a tile of this size, in the order of their elements: powers of two, then the last few.
fn parts_of(size: i64) -> Vec<Part> {
    let few_at_most = few(size);
    let powers = std::iter::successors(Some(few_at_most + 1), |power| Some(power * 2));
    let powers = powers.take_while(|power| *power < size).map(|unit| Part {
        within: unit * 2,
        unit,
        units: 1,
    });
    let few = (1..=few_at_most).map(|units| Part {
        within: few_at_most + 1,
        unit: 1,
        units,
    });
    let mut parts: Vec<Part> = few.chain(powers).collect();
    parts.reverse();
    parts
}
