//! The partial tile that a loop over tiles ends with, run element by element.
//!
//! Where a loop over tiles of `s` elements, `for t { .. for v in unrolled(s): if t * s + v < n { .. } }`, has run the
//! `n // s` full tiles, the rest is `for j in n // s * s .. n { .. }` with `j` in place of `t * s + v`: one version of the body
//! without conditions, instead of one for each number of elements. Vectors that can be masked run for the lanes that there are;
//! others end in narrower vectors first.
//!
//! `n` may depend on loops around; the number of tiles is then that of `min(n, extent * s)`.
//!
//! The loop over elements moves out of the loops between the two, so iterations for different `j` must not meet in memory: in
//! every array that the body writes, some index must be the same function of `j` in all accesses, or two must be the digits `x // c` and
//! `x % c` of one.

use super::emit::vector::is_contiguous;
use super::facts::Facts;
use super::host::Dims;
use super::node::{Node, map_exprs, substitute_nodes, walk_nodes};
use super::speculate::may_fail;
use super::wrapping_sum::WrappingSum;
use crate::ir::sum::Sum;
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Var};
use crate::tensor::scalar::BinOp;

/// Lanes of the vectors in the rest of a loop over wider ones.
const LANES: i64 = 4;

/// The full tiles of a loop, and what follows them.
pub(super) struct Tail {
    /// Number of full tiles.
    pub(super) tiles: Expr,
    /// Loops over the elements after them.
    pub(super) rest: Vec<Node>,
}

/// The tail of a loop whose body has this condition; `None` if it is no loop over tiles, or elements cannot run one by one.
pub(super) fn tail(
    facts: &Facts,
    dims: &Dims,
    var: &Var,
    extent: &Expr,
    cond: &Expr,
    body: &[Node],
) -> Option<Tail> {
    let (a, _) = cond.as_binary(BinOp::Lt)?;
    let (stride, _) = WrappingSum::of(a).join_div_mod().split(var)?;
    let size = stride.as_const().filter(|s| *s > 1)?;
    let mut tile = Tile {
        facts,
        var,
        size,
        limit: None,
    };
    let (mut vectors, mut masked, mut inner) = (false, false, vec![]);
    walk_nodes(body, &mut |node| {
        let Node::For { var, .. } = node else {
            return;
        };
        inner.push(var.clone());
        // The limit is that of the condition which goes: another one may end sooner.
        if tile.limit.is_none() && tile.is_over_elements(node) {
            tile.limit = tile.limit_of(cond, var);
        }
        if let Some(kind) = tile.limit.as_ref().and_then(|_| tile.elements(node)) {
            vectors |= kind == LoopKind::Vectorized;
            masked |= is_masked(node);
        }
    });
    if masked {
        return None;
    }
    let mut limit = tile.limit.clone()?;
    if inner.iter().any(|var| limit.uses(var)) {
        return None;
    }
    let analyzer = &facts.analyzer;
    let all = extent * size;
    if !analyzer.can_prove(&limit.le(&all)) {
        // Loops around may end after this one.
        if dims.always_host(&limit).is_some() {
            return None;
        }
        limit = limit.min(all);
    }
    if !facts.nonnegative(&limit)
        || dims.always_host(&limit).is_none() && !is_bounded(facts, &limit)
    {
        return None;
    }
    let tiles = analyzer.simplify(&limit.floor_div(size));
    let mut rest = Vec::new();
    let mut done = &tiles * size;
    if vectors && size > LANES && size % LANES == 0 {
        let first = &tiles * (size / LANES);
        let last = limit.floor_div(LANES);
        rest.push(tile.loop_over(body, &tiles, &first, &last, LANES)?);
        done = last * LANES;
    }
    let scalars = tile.loop_over(body, &tiles, &done, &limit, 1)?;
    let Node::For { var, body, .. } = &scalars else {
        return None;
    };
    if !apart(body, var) {
        return None;
    }
    rest.push(scalars);
    Some(Tail { tiles, rest })
}

/// Whether loops around decide the number, and its bounds are finite.
pub(super) fn is_bounded(facts: &Facts, e: &Expr) -> bool {
    let analyzer = &facts.analyzer;
    !e.is_data() && analyzer.bound(e).is_finite() && !may_fail(e, analyzer)
}

/// Whether a loop over lanes can run for the first of them alone.
pub(super) fn is_masked(node: &Node) -> bool {
    match node {
        Node::For {
            var,
            kind: LoopKind::Vectorized,
            body,
            ..
        } => is_contiguous(body, var),
        _ => false,
    }
}

struct Tile<'a> {
    facts: &'a Facts,
    /// Counts tiles.
    var: &'a Var,
    /// Elements of a tile.
    size: i64,
    /// Number of elements.
    limit: Option<Expr>,
}

impl Tile<'_> {
    /// Whether the statement is a loop over as many elements as a tile has.
    fn is_over_elements(&self, node: &Node) -> bool {
        matches!(
            node,
            Node::For {
                min,
                extent,
                kind: LoopKind::Unrolled | LoopKind::Vectorized,
                ..
            } if min.is_zero() && extent.as_int() == Some(self.size)
        )
    }

    /// The kind of a loop over the elements of a tile that are below the limit.
    fn elements(&self, node: &Node) -> Option<LoopKind> {
        match node {
            Node::For {
                var, kind, body, ..
            } if self.is_over_elements(node) => self.only_below(body, var).then_some(*kind),
            _ => None,
        }
    }

    /// Whether all statements run for elements below the limit only.
    fn only_below(&self, nodes: &[Node], element: &Var) -> bool {
        nodes.iter().all(|node| match node {
            Node::If {
                cond,
                then: _,
                otherwise,
            } if otherwise.is_empty() => cond.conjuncts().iter().any(|c| {
                let own = self.limit_of(c, element);
                own.is_some() && own == self.limit
            }),
            Node::For { body, .. } => self.only_below(body, element),
            Node::If { .. }
            | Node::Store { .. }
            | Node::Let { .. }
            | Node::While { .. }
            | Node::Fragment(_)
            | Node::Barrier(_) => false,
        })
    }

    /// `n`, if the condition is `tile * size + element < n`.
    fn limit_of(&self, cond: &Expr, element: &Var) -> Option<Expr> {
        let (a, b) = cond.as_binary(BinOp::Lt)?;
        let (stride, rest) = WrappingSum::of(a).join_div_mod().split(self.var)?;
        let (step, rest) = rest.split(element)?;
        if stride.as_const() != Some(self.size) || step.as_const() != Some(1) {
            return None;
        }
        let rest = rest.to_expr(a.dtype(), &|_| false);
        Some(self.facts.analyzer.simplify(&(b - rest)))
    }

    /// A loop over `first .. last`, each iteration for `lanes` elements.
    fn loop_over(
        &self,
        body: &[Node],
        tiles: &Expr,
        first: &Expr,
        last: &Expr,
        lanes: i64,
    ) -> Option<Node> {
        let var = self.var.renamed(self.var.name());
        let element = var.expr() * lanes - tiles * self.size;
        let body = self.one_by_one(body, &element, lanes)?;
        let mut body = substitute_nodes(&body, self.var, tiles);
        let (min, extent) = (first.clone(), last - first);
        let mut facts = self.facts.clone();
        facts.bind(&var, &min, &extent);
        map_exprs(&mut body, &mut |e| facts.analyzer.simplify(e));
        // The extent is kept as it is: proofs need that `min + extent` is `last`.
        Some(Node::For {
            var,
            min,
            extent,
            kind: LoopKind::Serial,
            body,
        })
    }

    /// The statements for the elements from this one on; `None` if some are not under a loop over elements.
    fn one_by_one(&self, nodes: &[Node], element: &Expr, lanes: i64) -> Option<Vec<Node>> {
        let mut out = Vec::new();
        for node in nodes {
            let mut node = node.clone();
            if self.elements(&node).is_some()
                && let Node::For {
                    var,
                    min: _,
                    extent,
                    kind: _,
                    body,
                } = &mut node
            {
                self.drop_condition(body, var);
                let lane = var.renamed(var.name());
                let index = if lanes == 1 {
                    element.clone()
                } else {
                    element + &lane
                };
                *body = substitute_nodes(body, var, &index);
                if lanes == 1 {
                    out.append(body);
                    continue;
                }
                (*var, *extent) = (lane, Expr::int(lanes, extent.dtype()));
            } else if matches!(
                node,
                Node::Store { .. } | Node::While { .. } | Node::Fragment(_) | Node::Barrier(_)
            ) {
                return None;
            } else {
                for inner in node.nested_mut() {
                    *inner = self.one_by_one(inner, element, lanes)?;
                }
            }
            out.push(node);
        }
        Some(out)
    }

    /// Takes the condition that there is such an element out of all branches.
    fn drop_condition(&self, nodes: &mut Vec<Node>, element: &Var) {
        for mut node in std::mem::take(nodes) {
            for inner in node.nested_mut() {
                self.drop_condition(inner, element);
            }
            match node {
                Node::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => {
                    let holds = |c: &Expr| self.limit_of(c, element) == self.limit;
                    let left = cond.conjuncts().into_iter().filter(|c| !holds(c));
                    nodes.extend(super::node::branch(Expr::all(left), then));
                }
                other => nodes.push(other),
            }
        }
    }
}

/// Whether an index is `x % c` with a constant `c`, perhaps of a number that differs from `x` by a multiple of `c`.
fn is_low_digit(index: &Expr, x: &Expr, c: &Expr) -> bool {
    let Some((y, own)) = index.as_binary(BinOp::FloorMod) else {
        return false;
    };
    let Some(by) = c.as_int().filter(|by| *by > 0 && own == c) else {
        return false;
    };
    let difference = Sum::of(&(x - y));
    let by = i128::from(by);
    difference.constant % by == 0 && difference.terms.iter().all(|term| term.coeff % by == 0)
}

/// Whether different values of the variable never have the same index, whatever the variables inside are: those of loops, with their numbers
/// of iterations if these are constant, and names of values.
fn separates(index: &Expr, var: &Var, inside: &[(Var, Option<i64>)]) -> bool {
    // What is loaded may change meanwhile.
    if index.loads() {
        return false;
    }
    let split = WrappingSum::of(index).split(var);
    let Some((stride, mut rest)) =
        split.and_then(|(stride, rest)| Some((stride.as_const()?, rest)))
    else {
        return false;
    };
    // By how much the index changes with the variables inside.
    let mut spread = 0_i64;
    for (inner, iterations) in inside {
        let Some((step, others)) = rest.split(inner) else {
            return false;
        };
        rest = others;
        match (step.as_const(), iterations) {
            (Some(0), _) => {}
            (Some(step), Some(iterations)) => {
                let steps = iterations.saturating_sub(1).max(0);
                spread = spread.saturating_add(step.saturating_abs().saturating_mul(steps));
            }
            _ => return false,
        }
    }
    spread < stride.saturating_abs()
}

/// Whether the statements for different values of the variable never meet in memory that they write.
pub(super) fn apart(body: &[Node], var: &Var) -> bool {
    let mut written: Vec<Buffer> = Vec::new();
    let mut accesses: Vec<(Buffer, Vec<Expr>)> = Vec::new();
    let mut inside: Vec<(Var, Option<i64>)> = Vec::new();
    walk_nodes(body, &mut |node| {
        match node {
            Node::Store {
                buffer, indices, ..
            } => {
                written.push(buffer.clone());
                accesses.push((buffer.clone(), indices.clone()));
            }
            Node::For {
                var: inner, extent, ..
            } if inner != var => inside.push((inner.clone(), extent.as_int())),
            Node::Let { var: inner, .. } => inside.push((inner.clone(), None)),
            _ => {}
        }
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, indices) = e.kind() {
                    accesses.push((buffer.clone(), indices.clone()));
                }
                true
            });
        }
    });
    written.iter().all(|buffer| {
        let own: Vec<&Vec<Expr>> = accesses
            .iter()
            .filter_map(|(b, indices)| (b == buffer).then_some(indices))
            .collect();
        let separates = |e: &Expr| separates(e, var, &inside);
        let same = |d: usize| own.iter().all(|indices| indices[d] == own[0][d]);
        let first = own[0];
        (0..buffer.ndim()).filter(|&d| same(d)).any(|d| {
            separates(&first[d])
                || first[d].as_binary(BinOp::FloorDiv).is_some_and(|(x, c)| {
                    // Both digits of a number that separates.
                    let low = first.iter().position(|e| is_low_digit(e, x, c));
                    low.is_some_and(same) && separates(x)
                })
        })
    })
}
