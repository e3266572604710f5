//! The order of nodes: each after the nodes whose results it needs.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::error::{Fault, Problem};
use super::proto::NodeProto;
use super::scope::Scope;
use super::value::Value;

/// The nodes, each after those whose results it needs, else in the order of the file, and the problems of this order. Nodes that need
/// themselves are left out, and their results are missing.
pub(super) fn ordered<'m>(
    nodes: &'m [NodeProto],
    scope: &mut Scope<'_, 'm>,
) -> (Vec<&'m NodeProto>, Vec<Problem>) {
    let mut problems = vec![];
    let mut makers: HashMap<&str, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            let given = scope.defines(name);
            if makers.insert(name, at).is_some() || given {
                problems.push(Problem {
                    place: scope.place_of(node),
                    operator: node.op_type.clone(),
                    fault: Fault::Twice(name.clone()),
                });
            }
        }
    }
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let needs: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| {
            let mut names = BTreeSet::new();
            names_in(node, &mut names);
            let makers = names.iter().filter_map(|name| makers.get(name));
            makers.copied().collect()
        })
        .collect();
    let mut state = vec![State::New; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut on_cycle = HashSet::new();
    for root in 0..nodes.len() {
        let mut stack = vec![(root, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                if state[at] != State::New {
                    continue;
                }
                state[at] = State::Open;
            }
            match needs[at].get(next) {
                Some(&before) => {
                    stack.push((at, next + 1));
                    if state[before] == State::Open {
                        on_cycle.insert(before);
                        let node = &nodes[before];
                        let by = scope.place_of(&nodes[at]);
                        problems.push(Problem {
                            place: scope.place_of(node),
                            operator: node.op_type.clone(),
                            fault: Fault::Cycle(by),
                        });
                    } else {
                        stack.push((before, 0));
                    }
                }
                None => {
                    state[at] = State::Done;
                    match on_cycle.contains(&at) {
                        true => nodes[at]
                            .output
                            .iter()
                            .for_each(|name| scope.define(name, Value::Missing)),
                        false => order.push(&nodes[at]),
                    }
                }
            }
        }
    }
    (order, problems)
}

/// Whether the node, or a graph inside of it, needs the name.
pub(super) fn needs(node: &NodeProto, name: &str) -> bool {
    let mut names = BTreeSet::new();
    names_in(node, &mut names);
    names.contains(name)
}

/// The names that a node needs, those that graphs inside of it need and do not make included.
fn names_in<'m>(node: &'m NodeProto, names: &mut BTreeSet<&'m str>) {
    names.extend(node.input.iter().map(String::as_str));
    let graphs = node.attribute.iter().filter_map(|a| a.g.as_deref());
    for graph in graphs {
        let mut inner = BTreeSet::new();
        graph
            .node
            .iter()
            .for_each(|node| names_in(node, &mut inner));
        let outputs = graph.output.iter();
        inner.extend(outputs.filter_map(|output| output.name.as_deref()));
        let made = graph.node.iter().flat_map(|node| &node.output);
        made.for_each(|name| {
            inner.remove(name.as_str());
        });
        let inputs = graph.input.iter();
        inputs
            .filter_map(|input| input.name.as_deref())
            .for_each(|name| {
                inner.remove(name);
            });
        names.extend(inner);
    }
}
