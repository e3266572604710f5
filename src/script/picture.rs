//! A graph function as a picture: Graphviz text, and an SVG that needs no other program.
//!
//! Nodes are parameters, constants and bindings, edges are uses, labelled with the shape that flows. Dataflow blocks and branches
//! are frames around their bindings.

mod layout;
mod svg;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::ir::graph::{Arg, Body, Callee, Def, DpsCallee, Function, ValueId};
use crate::ir::{Module, ShapeInfo, StructInfo};

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Param,
    Constant,
    /// A call of a loop program or function of the module.
    Program,
    /// A call of an operator.
    Operator,
    /// A call of a packed function.
    Extern,
    /// A binding that computes nothing: a name, a tuple, a tuple's item, a cast, a branch, a closure.
    Other,
    Result,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Param,
        Self::Constant,
        Self::Program,
        Self::Operator,
        Self::Extern,
        Self::Other,
        Self::Result,
    ];

    /// Fill and border.
    fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Param => ("#dbeafe", "#3b82f6"),
            Self::Constant => ("#fef3c7", "#d97706"),
            Self::Program => ("#dcfce7", "#16a34a"),
            Self::Operator => ("#ffffff", "#475569"),
            Self::Extern => ("#ffe4e6", "#e11d48"),
            Self::Other => ("#f1f5f9", "#94a3b8"),
            Self::Result => ("#ede9fe", "#7c3aed"),
        }
    }

    /// What the legend says.
    fn legend(self) -> &'static str {
        match self {
            Self::Param => "parameter",
            Self::Constant => "constant",
            Self::Program => "function of the module",
            Self::Operator => "operator",
            Self::Extern => "packed function",
            Self::Other => "no computation",
            Self::Result => "result",
        }
    }
}

/// One box.
#[derive(Debug)]
struct Node {
    kind: Kind,
    /// What is computed.
    title: String,
    /// The name of the value and what is known of it.
    subtitle: String,
    /// The frame that it is in.
    frame: Option<usize>,
}

/// One use.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    /// The shape that flows.
    label: String,
}

/// A function as nodes and edges. Nodes other than parameters and constants are in program order.
#[derive(Debug, Default)]
struct Picture {
    name: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Names of the frames.
    frames: Vec<String>,
    /// For each node the number of the block that it is in; parameters and constants are in none.
    blocks: Vec<Option<usize>>,
}

/// The graph function `func` as Graphviz text; `None` if the module does not have it.
pub fn dot(module: &Module, func: &str) -> Option<String> {
    Some(Picture::of(module, module.function(func)?).dot())
}

/// The graph function `func` as an SVG; `None` if the module does not have it.
pub fn svg(module: &Module, func: &str) -> Option<String> {
    Some(svg::write(&Picture::of(module, module.function(func)?)))
}

/// Collects the picture of one function.
struct Collector<'m> {
    module: &'m Module,
    func: &'m Function,
    picture: Picture,
    /// The node of each value.
    nodes: HashMap<ValueId, usize>,
    block: usize,
}

impl Picture {
    fn of(module: &Module, func: &Function) -> Self {
        let mut collector = Collector {
            module,
            func,
            picture: Self {
                name: func.name.clone(),
                ..Self::default()
            },
            nodes: HashMap::new(),
            block: 0,
        };
        for id in &func.params {
            let value = &func.values[*id];
            let node = Node {
                kind: Kind::Param,
                title: value.name.clone(),
                subtitle: sinfo_text(&value.sinfo),
                frame: None,
            };
            let node = collector.add(node, None);
            collector.nodes.insert(*id, node);
        }
        collector.body(&func.body, None);
        let result = Node {
            kind: Kind::Result,
            title: "return".to_owned(),
            subtitle: sinfo_text(&func.ret),
            frame: None,
        };
        let block = collector.block;
        let node = collector.add(result, Some(block));
        collector.uses(&func.body.result, node);
        collector.picture
    }

    fn dot(&self) -> String {
        let mut out = format!("digraph {} {{\n", quoted(&self.name));
        out.push_str("    node [shape=box, style=\"filled,rounded\", fontname=\"monospace\"];\n");
        out.push_str("    edge [fontname=\"monospace\", fontsize=10];\n");
        let node = |at: usize, node: &Node, indent: &str| {
            let (fill, border) = node.kind.colours();
            let label = quoted(&format!("{}\n{}", node.title, node.subtitle));
            format!("{indent}n{at} [label={label}, fillcolor=\"{fill}\", color=\"{border}\"];\n")
        };
        for (frame, name) in self.frames.iter().enumerate() {
            let _ = writeln!(out, "    subgraph cluster_{frame} {{");
            let _ = writeln!(out, "        label={}; color=\"#94a3b8\";", quoted(name));
            for (at, n) in self.nodes.iter().enumerate() {
                if n.frame == Some(frame) {
                    out.push_str(&node(at, n, "        "));
                }
            }
            out.push_str("    }\n");
        }
        for (at, n) in self.nodes.iter().enumerate() {
            if n.frame.is_none() {
                out.push_str(&node(at, n, "    "));
            }
        }
        for edge in &self.edges {
            let (from, to, label) = (edge.from, edge.to, quoted(&edge.label));
            let _ = writeln!(out, "    n{from} -> n{to} [label={label}];");
        }
        out.push_str("}\n");
        out
    }
}

impl Collector<'_> {
    fn add(&mut self, node: Node, block: Option<usize>) -> usize {
        self.picture.nodes.push(node);
        self.picture.blocks.push(block);
        self.picture.nodes.len() - 1
    }

    fn body(&mut self, body: &Body, frame: Option<usize>) {
        for block in &body.blocks {
            self.block += 1;
            let frame = match &block.dataflow {
                Some(_) => Some(self.frame("dataflow".to_owned())),
                None => frame,
            };
            for id in &block.bindings {
                self.binding(*id, frame);
            }
        }
    }

    fn frame(&mut self, name: String) -> usize {
        self.picture.frames.push(name);
        self.picture.frames.len() - 1
    }

    fn binding(&mut self, id: ValueId, frame: Option<usize>) {
        let Some(value) = self.func.values.get(id) else {
            return;
        };
        if let Def::If {
            cond: _,
            then,
            otherwise,
        } = &value.def
        {
            for (side, body) in [("then", then), ("else", otherwise)] {
                if body.blocks.iter().any(|block| !block.bindings.is_empty()) {
                    let side = self.frame(format!("{}: {side}", value.name));
                    self.body(body, Some(side));
                }
            }
            self.block += 1;
        }
        let (kind, title) = self.describe(&value.def);
        let node = Node {
            kind,
            title,
            subtitle: format!("{}: {}", value.name, sinfo_text(&value.sinfo)),
            frame,
        };
        let block = self.block;
        let node = self.add(node, Some(block));
        self.nodes.insert(id, node);
        for arg in value.def.args() {
            self.uses(arg, node);
        }
        for body in value.def.bodies() {
            self.uses(&body.result, node);
        }
        match &value.def {
            Def::Call {
                callee: Callee::Value(callee),
                args: _,
                attrs: _,
                sinfo_args: _,
            } => self.uses(&Arg::Value(*callee), node),
            Def::Function(inner) => {
                for captured in captured(inner, 1) {
                    self.uses(&Arg::Value(captured), node);
                }
            }
            _ => {}
        }
    }

    /// What a binding computes.
    fn describe(&self, def: &Def) -> (Kind, String) {
        let of_module = |name: &str| match self.module.funcs.get(name) {
            Some(_) => Kind::Program,
            None => Kind::Extern,
        };
        match def {
            Def::Param => (Kind::Param, "parameter".to_owned()),
            Def::Arg(_) => (Kind::Other, "=".to_owned()),
            Def::TupleItem(_, index) => (Kind::Other, format!("item {index}")),
            Def::CallDps {
                callee: DpsCallee::Prim(name) | DpsCallee::Packed(name),
                args: _,
                tir_vars: _,
                inplace: _,
                out: _,
            } => (of_module(name), name.clone()),
            Def::Call {
                callee,
                args: _,
                attrs: _,
                sinfo_args: _,
            } => match callee {
                Callee::Op(op) => (Kind::Operator, op.name().to_owned()),
                Callee::Global(name) => (Kind::Program, name.clone()),
                Callee::Packed(name) | Callee::PurePacked(name) => (Kind::Extern, name.clone()),
                Callee::Value(id) => {
                    let name = self.func.values.get(*id).map_or("closure", |v| &v.name);
                    (Kind::Program, name.to_owned())
                }
            },
            Def::MatchCast(_, _) => (Kind::Other, "match_cast".to_owned()),
            Def::If {
                cond: _,
                then: _,
                otherwise: _,
            } => (Kind::Other, "if".to_owned()),
            Def::Function(_) => (Kind::Other, "closure".to_owned()),
        }
    }

    /// Edges from all values in an argument; constants get nodes of their own.
    fn uses(&mut self, arg: &Arg, to: usize) {
        let mut found = Vec::new();
        arg.walk(&mut |leaf| match leaf {
            Arg::Value(id) => {
                if let (Some(node), Some(value)) = (self.nodes.get(id), self.func.values.get(*id)) {
                    found.push((Ok(*node), shape_text(&value.sinfo)));
                }
            }
            Arg::Const(tensor) => {
                let dims: Vec<_> = tensor.shape().iter().map(ToString::to_string).collect();
                let shape = shape_of(&dims);
                let node = Node {
                    kind: Kind::Constant,
                    title: "constant".to_owned(),
                    subtitle: format!("{shape} {}", tensor.dtype()),
                    frame: None,
                };
                found.push((Err(node), shape));
            }
            Arg::Omitted(index) => {
                let node = Node {
                    kind: Kind::Constant,
                    title: "constant".to_owned(),
                    subtitle: format!("number {index}, left out"),
                    frame: None,
                };
                found.push((Err(node), String::new()));
            }
            Arg::Captured { depth: _, value: _ }
            | Arg::Tuple(_)
            | Arg::Shape(_)
            | Arg::Prim(_)
            | Arg::Str(_)
            | Arg::DType(_)
            | Arg::Global(_)
            | Arg::Extern(_) => {}
        });
        for (node, label) in found {
            let from = node.unwrap_or_else(|node| self.add(node, None));
            let edge = Edge { from, to, label };
            if !self.picture.edges.contains(&edge) {
                self.picture.edges.push(edge);
            }
        }
    }
}

/// The values of the function `depth` functions out that a closure captures.
fn captured(func: &Function, depth: usize) -> Vec<ValueId> {
    let mut out = Vec::new();
    let mut leaf = |leaf: &Arg| {
        if let Arg::Captured { depth: d, value } = leaf
            && *d == depth
        {
            out.push(*value);
        }
    };
    func.body.result.walk(&mut leaf);
    for (_, value) in func.values.iter() {
        let results = value.def.bodies().into_iter().map(|body| &body.result);
        for arg in value.def.args().into_iter().chain(results) {
            arg.walk(&mut leaf);
        }
    }
    for (_, value) in func.values.iter() {
        if let Def::Function(inner) = &value.def {
            out.extend(captured(inner, depth + 1));
        }
    }
    out
}

fn shape_of(dims: &[String]) -> String {
    match dims {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// The shape alone.
fn shape_text(sinfo: &StructInfo) -> String {
    match sinfo {
        StructInfo::Tensor(info) => match &info.shape {
            ShapeInfo::Known(dims) => {
                let dims: Vec<_> = dims.iter().map(|dim| format!("{dim:#}")).collect();
                shape_of(&dims)
            }
            ShapeInfo::Ndim(n) => format!("ndim {n}"),
            ShapeInfo::Unknown => "any shape".to_owned(),
        },
        StructInfo::Object => "object".to_owned(),
        StructInfo::Prim { dtype, value: _ } => dtype.to_string(),
        StructInfo::Shape(_) => "shape".to_owned(),
        StructInfo::Tuple(items) => format!("{} items", items.len()),
        StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => "function".to_owned(),
    }
}

/// Shape and element type.
fn sinfo_text(sinfo: &StructInfo) -> String {
    let shape = shape_text(sinfo);
    match sinfo.as_tensor().and_then(|info| info.dtype) {
        Some(dtype) => format!("{shape} {dtype}"),
        None => shape,
    }
}

/// A Graphviz string.
fn quoted(text: &str) -> String {
    let text = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{text}\"")
}
