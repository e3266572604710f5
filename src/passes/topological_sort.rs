//! `topological_sort`: another order of the bindings of dataflow blocks (Relax: `TopologicalSort`).

use std::collections::{HashMap, HashSet, VecDeque};

use crate::ir::graph::{Arg, BindingBlock, Body, Callee, Def, Function, Value, ValueId};
use crate::ir::{Func, Module};
use crate::support::Id;

/// Which of the bindings that can be next is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// One that uses what was bound last.
    DepthFirst,
    /// One that could have been next for the longest time.
    BreadthFirst,
}

/// Where the search starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// At the parameters: values are bound as early as what they need lets them.
    Inputs,
    /// At the result: values are bound as late as those that need them let them.
    Outputs,
}

/// The module with the bindings of each dataflow block in the order in which a search through the graph of the function meets
/// them. Bindings that the search could take in any order keep theirs.
///
/// ```text
/// a = R.exp(x)                                   a = R.exp(x)
/// b = R.exp(y)             depth first,          c = R.tanh(a)
/// c = R.tanh(a)         from the inputs  →       b = R.exp(y)
/// d = R.tanh(b)                                  d = R.tanh(b)
/// ```
pub(super) fn topological_sort(module: &Module, order: Order, start: Start) -> Module {
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            sort_function(function, order, start);
        }
    }
    out
}

fn sort_function(function: &mut Function, order: Order, start: Start) {
    let graph = Graph::of(function, order);
    let sorted = |function: &Function, body: &mut Body| {
        let blocks = body.blocks.iter_mut().filter(|b| b.dataflow.is_some());
        blocks.for_each(|block| graph.sort(function, block, order, start));
    };
    for index in 0..function.values.bound() {
        let id = ValueId::from_index(index);
        let Some(value) = function.values.get_mut(id) else {
            continue;
        };
        match std::mem::replace(&mut value.def, Def::Param) {
            Def::If {
                cond,
                mut then,
                mut otherwise,
            } => {
                sorted(function, &mut then);
                sorted(function, &mut otherwise);
                function.values[id].def = Def::If {
                    cond,
                    then,
                    otherwise,
                };
            }
            Def::Function(mut inner) => {
                sort_function(&mut inner, order, start);
                function.values[id].def = Def::Function(inner);
            }
            def => value.def = def,
        }
    }
    let mut body = function.body.clone();
    sorted(function, &mut body);
    function.body = body;
}

/// A node: where the search from the inputs starts, where that from the outputs does, or a value, which its address names
/// because those of functions inside have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Inputs,
    Outputs,
    Value(usize),
}

impl Node {
    fn of(value: &Value) -> Self {
        Self::Value(std::ptr::from_ref(value) as usize)
    }
}

/// Who needs whom in a function, functions inside included.
#[derive(Default)]
struct Graph {
    /// Bindings in order.
    bound: Vec<Node>,
    users: HashMap<Node, VecDeque<Node>>,
    needs: HashMap<Node, VecDeque<Node>>,
}

impl Graph {
    fn of(function: &Function, order: Order) -> Self {
        let mut graph = Self::default();
        graph.function(&mut vec![], function, Node::Outputs);
        // What needs nothing hangs on the inputs, what nobody needs on the outputs.
        let bound = graph.bound.clone();
        let ends = |edges: &HashMap<Node, VecDeque<Node>>| -> Vec<Node> {
            let ends = bound.iter().filter(|node| !edges.contains_key(node));
            ends.copied().collect()
        };
        let (roots, unused) = (ends(&graph.needs), ends(&graph.users));
        for node in roots {
            graph.edge(Node::Inputs, node);
        }
        for node in unused.into_iter().rev() {
            graph
                .needs
                .entry(Node::Outputs)
                .or_default()
                .push_front(node);
            graph
                .users
                .entry(node)
                .or_default()
                .push_front(Node::Outputs);
        }
        if order == Order::DepthFirst {
            let reverse = |list: &mut VecDeque<Node>| list.make_contiguous().reverse();
            graph.users.values_mut().for_each(reverse);
        }
        graph
    }

    fn edge(&mut self, needed: Node, user: Node) {
        self.users.entry(needed).or_default().push_back(user);
        self.needs.entry(user).or_default().push_back(needed);
    }

    fn function<'f>(&mut self, frames: &mut Vec<&'f Function>, function: &'f Function, user: Node) {
        for param in &function.params {
            self.edge(Node::Inputs, Node::of(&function.values[*param]));
        }
        frames.push(function);
        self.body(frames, &function.body, user);
        frames.pop();
    }

    fn body<'f>(&mut self, frames: &mut Vec<&'f Function>, body: &'f Body, user: Node) {
        let function = frames[frames.len() - 1];
        for id in body.blocks.iter().flat_map(|block| &block.bindings) {
            let value = &function.values[*id];
            let node = Node::of(value);
            self.bound.push(node);
            if let Def::Call {
                callee: Callee::Value(closure),
                args: _,
                attrs: _,
                sinfo_args: _,
            } = &value.def
            {
                self.needed(frames, &Arg::Value(*closure), node);
            }
            for arg in value.def.args() {
                self.needed(frames, arg, node);
            }
            for branch in value.def.bodies() {
                self.body(frames, branch, node);
            }
            if let Def::Function(inner) = &value.def {
                self.function(frames, inner, node);
            }
        }
        self.needed(frames, &body.result, user);
    }

    fn needed(&mut self, frames: &[&Function], arg: &Arg, user: Node) {
        arg.walk(&mut |leaf| {
            let (depth, id) = match leaf {
                Arg::Value(id) => (0, *id),
                Arg::Captured { depth, value } => (*depth, *value),
                _ => return,
            };
            let frame = frames.len().checked_sub(depth + 1).map(|at| frames[at]);
            if let Some(value) = frame.and_then(|f| f.values.get(id)) {
                self.edge(Node::of(value), user);
            }
        });
    }

    fn sort(&self, function: &Function, block: &mut BindingBlock, order: Order, start: Start) {
        let nodes = block.bindings.iter();
        let mut left: HashMap<Node, ValueId> = nodes
            .map(|id| (Node::of(&function.values[*id]), *id))
            .collect();
        let (first, next, before) = match start {
            Start::Inputs => (Node::Inputs, &self.users, &self.needs),
            Start::Outputs => (Node::Outputs, &self.needs, &self.users),
        };
        let mut ready = VecDeque::from([first]);
        let mut visited = HashSet::new();
        let mut sorted = vec![];
        while let Some(node) = match order {
            Order::DepthFirst => ready.pop_back(),
            Order::BreadthFirst => ready.pop_front(),
        } {
            sorted.extend(left.remove(&node));
            visited.insert(node);
            for neighbour in next.get(&node).into_iter().flatten() {
                let mut needed = before.get(neighbour).into_iter().flatten();
                if !visited.contains(neighbour) && needed.all(|node| visited.contains(node)) {
                    ready.push_back(*neighbour);
                }
            }
        }
        if start == Start::Outputs {
            sorted.reverse();
        }
        // A closure that calls itself needs itself, and the search meets neither it nor its users.
        if left.is_empty() {
            block.bindings = sorted;
        }
    }
}
