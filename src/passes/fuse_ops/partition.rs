//! Which values of a dataflow block are computed together (TVM: `GraphPartitioner`).
//!
//! A value is joined to its immediate post-dominator, the first value that all ways from it lead to, if everything between them
//! can be: `conv2d` to the `add` at the end of a diamond of elementwise operators. Three rules, by the pattern of the value:
//!
//! * `OutEWiseFusable`: elementwise ends, over elementwise and broadcast values.
//! * `ElemWise`, `Broadcast`: any end but an opaque one, over injective values.
//! * `Injective`: an injective end; after the other two, so that a convolution takes its epilogue first.
//!
//! Before these, a weight of few bits joins the product that reads it, with all that is computed for it: what follows the product has the room
//! that is left.
//!
//! A reduction starts no group. Chen et al., TVM (OSDI 2018), section 3; the dominator tree is built in one pass, as the graph has
//! no cycles.

use indexmap::IndexSet;

use crate::ops::Pattern;

/// A value of the block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// How it is computed.
    pub(super) pattern: Pattern,
    /// Whether it is used outside of the block.
    pub(super) escapes: bool,
    /// Whether it is a weight of few bits, which a product unpacks where it reads it, or computed for one alone.
    pub(super) of_weight: bool,
    /// Its users in the block, by position, each as often as it uses it.
    pub(super) users: Vec<usize>,
    /// The tensors that it takes: values of the block by position, others by larger numbers.
    pub(super) inputs: Vec<usize>,
}

/// How large a group may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::passes) struct Limits {
    /// Most calls.
    pub(in crate::passes) calls: usize,
    /// Most tensors that it takes and gives: a kernel of a GPU binds no more.
    pub(in crate::passes) arrays: usize,
}

/// By position: the position of the value that stands for its group.
pub(super) fn partition(nodes: &[Node], limits: Limits) -> Vec<usize> {
    let mut groups = Groups::new(nodes);
    for at in (0..nodes.len()).filter(|at| nodes[*at].of_weight) {
        groups.join_to_user(nodes, at, limits);
    }
    let parents = post_dominators(nodes);
    for injective in [false, true] {
        for (at, parent) in parents.iter().enumerate() {
            groups.join_to_post_dominator(nodes, at, *parent, injective, limits);
        }
    }
    (0..nodes.len()).map(|at| groups.root(at)).collect()
}

/// The immediate post-dominator of a value, and the loosest pattern of the uses on the ways there.
#[derive(Clone, Copy)]
struct Parent {
    at: usize,
    pattern: Pattern,
}

/// By position; `None` where the ways do not meet, or the value is used outside.
fn post_dominators(nodes: &[Node]) -> Vec<Option<Parent>> {
    let mut parents: Vec<Option<Parent>> = vec![None; nodes.len()];
    let mut depths = vec![1; nodes.len()];
    for at in (0..nodes.len()).rev() {
        if nodes[at].escapes {
            continue;
        }
        let mut users = nodes[at].users.iter().copied();
        let Some(first) = users.next() else {
            continue;
        };
        let mut pattern = nodes[first].pattern;
        let mut meet = Some(first);
        for user in users {
            pattern = pattern.max(nodes[user].pattern);
            meet = meet.and_then(|meet| ancestor(meet, user, &parents, &depths, &mut pattern));
        }
        if let Some(meet) = meet {
            parents[at] = Some(Parent { at: meet, pattern });
            depths[at] = depths[meet] + 1;
        }
    }
    parents
}

/// The least common ancestor of two values in the tree so far; `pattern` becomes the loosest on the ways there.
fn ancestor(
    mut a: usize,
    mut b: usize,
    parents: &[Option<Parent>],
    depths: &[usize],
    pattern: &mut Pattern,
) -> Option<usize> {
    while a != b {
        let climb = |node: usize, pattern: &mut Pattern| {
            // A value without a parent is one that only opaque uses follow.
            let Some(parent) = parents[node] else {
                *pattern = Pattern::Opaque;
                return None;
            };
            *pattern = (*pattern).max(parent.pattern);
            Some(parent.at)
        };
        let (depth_a, depth_b) = (depths[a], depths[b]);
        if depth_a >= depth_b {
            a = climb(a, pattern)?;
        }
        if depth_b >= depth_a {
            b = climb(b, pattern)?;
        }
    }
    Some(a)
}

/// Groups as a forest: a value points to the one that it was joined to.
struct Groups {
    parents: Vec<usize>,
    patterns: Vec<Pattern>,
    sizes: Vec<usize>,
    /// Whether the group has an `OutEWiseFusable` value, of which it takes only one.
    anchored: Vec<bool>,
}

impl Groups {
    fn new(nodes: &[Node]) -> Self {
        Self {
            parents: (0..nodes.len()).collect(),
            patterns: nodes.iter().map(|node| node.pattern).collect(),
            sizes: vec![1; nodes.len()],
            anchored: nodes
                .iter()
                .map(|node| node.pattern == Pattern::OutEWiseFusable)
                .collect(),
        }
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    fn join_to_post_dominator(
        &mut self,
        nodes: &[Node],
        at: usize,
        parent: Option<Parent>,
        injective: bool,
        limits: Limits,
    ) {
        // The pattern of the value, with what was joined to it.
        let own = self.patterns[at];
        let Some(parent) = parent else {
            return;
        };
        if own == Pattern::Opaque || self.root(at) == self.root(parent.at) {
            return;
        }
        let between = between(nodes, at, parent.at);
        let count = self.sizes[self.root(parent.at)]
            + between
                .iter()
                .map(|&node| self.sizes[self.root(node)])
                .sum::<usize>();
        if count > limits.calls {
            return;
        }
        let pattern_of = |node: usize| self.patterns[self.root(node)];
        let inner_at_most = |limit: Pattern| {
            let inner = between.iter().filter(|&&node| node != at);
            inner.into_iter().all(|&node| pattern_of(node) <= limit)
        };
        let end = pattern_of(parent.at);
        let joins = match own {
            Pattern::OutEWiseFusable => {
                !injective
                    && parent.pattern == Pattern::ElemWise
                    && inner_at_most(Pattern::Broadcast)
                    && end <= Pattern::Broadcast
            }
            Pattern::ElemWise | Pattern::Broadcast => {
                (parent.pattern <= Pattern::Injective || parent.pattern == Pattern::CommReduce)
                    && inner_at_most(Pattern::Injective)
                    && end <= Pattern::OutEWiseFusable
            }
            Pattern::Injective => {
                injective && inner_at_most(Pattern::Injective) && end <= Pattern::Injective
            }
            Pattern::CommReduce | Pattern::Tuple | Pattern::Opaque => false,
        };
        if joins && self.arrays(nodes, &between, parent.at) <= limits.arrays {
            between
                .into_iter()
                .for_each(|node| self.join(node, parent.at));
        }
    }

    /// Joins a part of a weight to the value that alone uses it: the next part, or the product. TVM's MLC-LLM does so by patterns
    /// (`FuseDequantizeMatmulEwise`).
    fn join_to_user(&mut self, nodes: &[Node], at: usize, limits: Limits) {
        let &[user] = nodes[at].users.as_slice() else {
            return;
        };
        let (own, end) = (self.root(at), self.root(user));
        if own == end || self.patterns[own] > Pattern::Injective {
            return;
        }
        let calls = self.sizes[own] + self.sizes[end];
        let arrays = self.arrays(nodes, &[at], user);
        match calls <= limits.calls && arrays <= limits.arrays {
            true => self.join(at, user),
            false => log::debug!(
                "a weight is unpacked in a kernel of its own: with the product it is {calls} calls and {arrays} tensors"
            ),
        }
    }

    /// How many tensors the groups of these values take and give if they are one.
    fn arrays(&self, nodes: &[Node], between: &[usize], end: usize) -> usize {
        let joined: IndexSet<usize> = between
            .iter()
            .chain([&end])
            .map(|&at| self.root(at))
            .collect();
        let inside = |at: usize| at < nodes.len() && joined.contains(&self.root(at));
        let members = (0..nodes.len()).filter(|&at| inside(at));
        let (mut inputs, mut outputs) = (IndexSet::new(), 0);
        for at in members {
            inputs.extend(
                nodes[at]
                    .inputs
                    .iter()
                    .copied()
                    .filter(|&input| !inside(input)),
            );
            let given = nodes[at].escapes || nodes[at].users.iter().any(|&user| !inside(user));
            outputs += usize::from(given);
        }
        inputs.len() + outputs
    }

    fn join(&mut self, child: usize, parent: usize) {
        let (child, parent) = (self.root(child), self.root(parent));
        if child == parent {
            return;
        }
        self.parents[child] = parent;
        self.sizes[parent] += self.sizes[child];
        if self.anchored[child] {
            self.anchored[parent] = true;
            self.patterns[parent] = self.patterns[parent].max(self.patterns[child]);
        }
    }
}

/// The value and everything on the ways from it to the end, which is left out.
fn between(nodes: &[Node], at: usize, end: usize) -> Vec<usize> {
    let (mut found, mut next) = (IndexSet::from([at]), 0);
    while let Some(&node) = found.get_index(next) {
        next += 1;
        found.extend(nodes[node].users.iter().filter(|user| **user != end));
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Pattern::{CommReduce, ElemWise, Injective, Opaque, OutEWiseFusable};

    fn groups(nodes: &[(Pattern, &[usize])]) -> Vec<usize> {
        let last = nodes.len() - 1;
        let nodes: Vec<Node> = nodes
            .iter()
            .enumerate()
            .map(|(at, (pattern, users))| Node {
                pattern: *pattern,
                escapes: at == last,
                of_weight: false,
                users: users.to_vec(),
                inputs: vec![],
            })
            .collect();
        partition(&nodes, LIMITS)
    }

    const LIMITS: Limits = Limits {
        calls: 256,
        arrays: 16,
    };

    #[test]
    fn a_group_takes_no_more_tensors_than_a_kernel_binds() {
        // A chain of sums, each with one more tensor from outside.
        let count = 40;
        let node = |at: usize| Node {
            pattern: ElemWise,
            escapes: at + 1 == count,
            of_weight: false,
            users: if at + 1 < count { vec![at + 1] } else { vec![] },
            inputs: [at.checked_sub(1), Some(100 + at)]
                .into_iter()
                .flatten()
                .collect(),
        };
        let nodes: Vec<Node> = (0..count).map(node).collect();
        let roots = partition(&nodes, LIMITS);
        let mut sizes: indexmap::IndexMap<usize, usize> = indexmap::IndexMap::new();
        for root in roots {
            *sizes.entry(root).or_default() += 1;
        }
        assert!(sizes.len() <= 4, "{sizes:?}");
        // 15 tensors come in, one goes out.
        assert!(sizes.values().all(|size| *size <= 15), "{sizes:?}");
    }

    #[test]
    fn a_diamond_joins_where_its_ways_meet() {
        let conv = (OutEWiseFusable, &[1, 2][..]);
        let sides = [(ElemWise, &[3][..]), (ElemWise, &[3][..])];
        let end = (ElemWise, &[][..]);
        assert_eq!(groups(&[conv, sides[0], sides[1], end]), [3, 3, 3, 3]);
        let opaque = (Opaque, &[3][..]);
        assert_eq!(groups(&[conv, sides[0], opaque, end]), [0, 3, 2, 3]);
    }

    #[test]
    fn reductions_take_what_is_before_them_and_start_nothing() {
        let chain = [
            (ElemWise, &[1][..]),
            (CommReduce, &[2][..]),
            (ElemWise, &[][..]),
        ];
        assert_eq!(groups(&chain), [1, 1, 2]);
    }

    #[test]
    fn one_anchor_a_group() {
        // Two products that are added: the first takes the sum.
        let nodes = [
            (OutEWiseFusable, &[2][..]),
            (OutEWiseFusable, &[2][..]),
            (ElemWise, &[3][..]),
            (Injective, &[][..]),
        ];
        assert_eq!(groups(&nodes), [2, 1, 2, 3]);
    }
}
