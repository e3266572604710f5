//! The part of a tile that a loop over tiles ends with, in smaller tiles: `for t { .. for v in unrolled(8): if t * 8 + v < n { .. } }`
//! runs the `n // 8` whole tiles, then a tile of four elements if so many are left, and one of three or two. So three rows of a product
//! cost as three, where the whole tile costs as eight, and read the other operand once. A single element joins the last whole tile, which
//! then has nine, since alone it would wait for each of its sums. It has a tile of its own only if there is no whole one, or if the body
//! tells a tile from its elements.
//!
//! A loop is parted if elements past the end may run or not (`speculate`), and if its body has loops: in a body without loops a branch
//! costs what it saves. The smaller tiles run one after the other, each with all iterations of the loops inside, so elements of a tile
//! must not meet in memory: in every array that the body writes, some index must be the same function of the element in all accesses.
//!
//! Code for a tile of eight is written out for at most 27 elements instead of eight, which is three times the code of a product. Tiles of four, two
//! and one would do with 15, but three rows would read all of the other operand twice, and the last row of five wait for its sums. A tile
//! of six, which has no registers for another element, is written out for 21.
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
        let rests = self.rests(body)?;
        let joins = rests.last() == Some(&(size + 1));
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
        // Whole tiles alone are left where the end is behind the loop, and nothing where it is before the loop.
        let inside = self.end.left.min(self.extent * size).max(0);
        let behind = inside.floor_mod(size);
        let rest = match joins {
            true => {
                let joined = behind.equals(1).and(Expr::i64(1).lt(&inside));
                name("rest", Expr::select(joined, Expr::i64(size + 1), behind))
            }
            false => name("rest", behind),
        };
        let joined = match joins {
            true => rest.floor_div(size + 1),
            false => Expr::i64(0),
        };
        let tiles = self.end.left.floor_div(size);
        let whole = self.extent.min(tiles.clone()) - &joined;
        let tile = tiles.min(self.extent - 1) - &joined;
        let tile = name(self.var.name(), tile.max(0));
        let mut parts = vec![self.whole(body, whole)];
        for part in parts_of(size, &rests) {
            let first = facts.simplify(&part.first(&rest));
            let tile = match part.count > size {
                true => facts.simplify(&tile.min(self.extent - 2).max(0)),
                false => tile.clone(),
            };
            let body = self.part(body, &first, part.count);
            let body = substitute_nodes(&body, self.var, &tile);
            parts.extend(branch(facts.simplify(&part.is_there(&rest)), body));
        }
        let named = named.into_iter().rev();
        Some(named.fold(parts, |body, (var, value)| {
            vec![Node::Let { var, value, body }]
        }))
    }

    /// The numbers of elements that may be left behind the whole tiles; `size + 1` stands for one that joins the last of them. `None` if none
    /// are left, or all but one of a tile.
    fn rests(&self, body: &[Node]) -> Option<Vec<i64>> {
        let size = self.end.size;
        let usual = self.analyzer.simplify(&self.end.left.floor_mod(size));
        if usual.is_zero() || usual.as_int() == Some(size - 1) {
            return None;
        }
        let can_be = |rest: &i64| {
            let is = self.analyzer.simplify(&usual.equals(*rest));
            is.as_bool() != Some(false)
        };
        let mut rests: Vec<i64> = (1..size).filter(can_be).collect();
        let may_have_several = self.extent.as_int() != Some(1);
        if size > MOST_WITHOUT_JOINED
            && may_have_several
            && rests.first() == Some(&1)
            && self.runs_on(body, None)
        {
            rests.push(size + 1);
        }
        Some(rests)
    }

    /// Whether the element behind a tile is the first one of the next tile, wherever the body names an element. What is simplified for the
    /// elements of a tile may tell them from the tile: `(tile * 8 + element) % 8` is `element`.
    fn runs_on(&self, nodes: &[Node], element: Option<&Var>) -> bool {
        let is_one_index = |e: &Expr, element: &Var| {
            let behind =
                e.substitute(&|v| (v == element).then(|| Expr::int(self.end.size, v.dtype())));
            let next = e.substitute(&|v| match v {
                v if v == element => Some(Expr::int(0, v.dtype())),
                v if v == self.var => Some(v.expr() + 1),
                _ => None,
            });
            self.analyzer.simplify(&behind) == self.analyzer.simplify(&next)
        };
        nodes.iter().all(|node| {
            let element = match (node, element) {
                (Node::For { var, .. }, None) if self.elements.contains(var) => Some(var),
                (Node::For { var, .. }, Some(_)) if self.elements.contains(var) => return false,
                _ => element,
            };
            let mut exprs = node.exprs().into_iter();
            exprs.all(|e| match element {
                Some(element) => is_one_index(e, element),
                None => !e.uses(self.var),
            }) && node
                .nested()
                .into_iter()
                .all(|inner| self.runs_on(inner, element))
        })
    }

    /// The loop over so many tiles, all of whose elements are before the end: their loads need no clamps.
    fn whole(&self, body: &[Node], extent: Expr) -> Node {
        let size = self.end.size;
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
            extent: self.analyzer.simplify(&extent),
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

/// The largest tile that no element joins, and of which each smaller number of elements has a tile of its own: tiles for vectors of 256 bits
/// have at most six rows, and a seventh would be spilled.
const MOST_WITHOUT_JOINED: i64 = 6;

/// A tile of `count` of the elements behind the whole tiles.
struct Part {
    count: i64,
    /// The numbers of elements left of which it is a part, each with the first element of the part.
    firsts: Vec<(i64, i64)>,
}

impl Part {
    /// Whether it is a part of so many elements.
    fn is_there(&self, rest: &Expr) -> Expr {
        let of = self.firsts.iter().map(|(of, _)| rest.equals(*of));
        let any = of.reduce(|a, b| Expr::binary(BinOp::Or, a, b));
        any.unwrap_or(Expr::bool(false))
    }

    /// Its first element, where so many are left.
    fn first(&self, rest: &Expr) -> Expr {
        let behind = self.firsts.iter().filter(|(_, first)| *first > 0);
        behind.fold(Expr::i64(0), |others, (of, first)| {
            Expr::select(rest.equals(*of), Expr::i64(*first), others)
        })
    }
}

/// The tiles of these numbers of elements left of a tile of this size, in the order of their elements.
fn parts_of(size: i64, rests: &[i64]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for rest in rests {
        let mut first = 0;
        for count in counts_of(size, *rest) {
            let at = (*rest, first);
            first += count;
            match parts.iter_mut().find(|part| part.count == count) {
                Some(part) => part.firsts.push(at),
                None => parts.push(Part {
                    count,
                    firsts: vec![at],
                }),
            }
        }
    }
    parts.sort_by_key(|part| -part.count);
    parts
}

/// The sizes of the tiles of `rest` elements: powers of two, and three or two. A single element would wait for its own sums, so none has one
/// if the rest has more.
fn counts_of(size: i64, rest: i64) -> Vec<i64> {
    if size <= MOST_WITHOUT_JOINED || rest > size || rest <= 3 {
        return vec![rest];
    }
    if rest == 5 {
        return vec![3, 2];
    }
    let power = 1 << rest.ilog2();
    let first = match rest - power {
        1 => power / 2,
        _ => power,
    };
    let mut counts = vec![first];
    if rest > first {
        counts.extend(counts_of(size, rest - first));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part has another number of elements, so its body stands once.
    #[test]
    fn parts_of_a_rest_are_its_elements() {
        for size in 2..=33 {
            let rests: Vec<i64> = (1..size).chain([size + 1]).collect();
            let parts = parts_of(size, &rests);
            assert!(parts.is_sorted_by(|a, b| a.count > b.count), "of {size}");
            for rest in rests {
                let mut elements = 0;
                for part in &parts {
                    let first = part.firsts.iter().find(|(of, _)| *of == rest);
                    if let Some((_, first)) = first {
                        assert_eq!(*first, elements, "{rest} of {size}");
                        elements += part.count;
                    }
                }
                assert_eq!(elements, rest, "{rest} of {size}");
                let single = counts_of(size, rest).contains(&1);
                assert!(!single || rest == 1 || size <= MOST_WITHOUT_JOINED);
            }
        }
    }
}
