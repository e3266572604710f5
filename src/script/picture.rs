//! A graph function as a picture: Graphviz text, and an SVG that needs no other program.
//!
//! Nodes are parameters, constants and bindings, edges are uses, labelled with the shape that flows. Dataflow blocks and branches
//! are frames around their bindings. [`layered`] places them.

pub mod layered;
mod svg;

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::ir::graph::{Arg, Body, Callee, Def, DpsCallee, Function, ValueId};
use crate::ir::{Module, ShapeInfo, StructInfo};

use layered::{DrawError, Layout, Link};

/// Pixels of a character of the monospaced font at the size of titles.
const CHAR: f64 = 7.3;
/// Height of a box.
const HEIGHT: f64 = 44.0;
/// Pixels of a character of a label.
const LABEL_CHAR: f64 = 6.2;
/// Height of a label.
const LABEL_HEIGHT: f64 = 12.0;

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A parameter of the function.
    Param,
    /// A constant.
    Constant,
    /// A call of a loop program or function of the module.
    Program,
    /// A call of an operator.
    Operator,
    /// A call of a packed function.
    Extern,
    /// A binding that computes nothing: a name, a tuple, a tuple's item, a cast, a branch, a closure.
    Other,
    /// What the function gives back.
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

/// Whether constants have boxes of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constants {
    /// Each use of one.
    Shown,
    /// None.
    LeftOut,
}

/// One box.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it stands for.
    pub kind: Kind,
    /// The parameter or binding, if it stands for one.
    pub value: Option<ValueId>,
    /// What is computed.
    pub title: String,
    /// The name of the value and what is known of it.
    pub subtitle: String,
    /// The frame that it is in.
    pub frame: Option<usize>,
}

/// One use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node of what is used.
    pub from: usize,
    /// The node of the user.
    pub to: usize,
    /// The shape that flows.
    pub label: String,
}

/// A frame around the bindings of a dataflow block or of a branch.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What it says.
    pub name: String,
    /// The frame around this one; it comes before this one.
    pub parent: Option<usize>,
}

/// A function as nodes and edges. Nodes other than parameters and constants are in program order.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The function.
    pub name: String,
    /// Boxes.
    pub nodes: Vec<Node>,
    /// Links between them.
    pub edges: Vec<Edge>,
    /// Frames around them.
    pub frames: Vec<Frame>,
}

/// The graph function `func` as Graphviz text; `None` if the module does not have it.
pub fn dot(module: &Module, func: &str) -> Option<String> {
    Some(Picture::of(module, module.function(func)?, Constants::Shown).dot())
}

/// The graph function `func` as an SVG; `None` if the module does not have it.
///
/// # Errors
/// If the graph cannot be drawn.
pub fn svg(module: &Module, func: &str) -> Result<Option<String>, DrawError> {
    let function = module.function(func);
    let picture = function.map(|f| Picture::of(module, f, Constants::Shown));
    picture.as_ref().map(svg::write).transpose()
}

/// Collects the picture of one function.
struct Collector<'m> {
    module: &'m Module,
    func: &'m Function,
    constants: Constants,
    picture: Picture,
    /// The node of each value.
    nodes: HashMap<ValueId, usize>,
}

impl Picture {
    /// The picture of a function of the module.
    pub fn of(module: &Module, func: &Function, constants: Constants) -> Self {
        let mut collector = Collector {
            module,
            func,
            constants,
            picture: Self {
                name: func.name.clone(),
                ..Self::default()
            },
            nodes: HashMap::new(),
        };
        for id in &func.params {
            let value = &func.values[*id];
            let node = Node {
                kind: Kind::Param,
                value: Some(*id),
                title: value.name.clone(),
                subtitle: sinfo_text(&value.sinfo),
                frame: None,
            };
            let node = collector.add(node);
            collector.nodes.insert(*id, node);
        }
        collector.body(&func.body, None);
        let result = Node {
            kind: Kind::Result,
            value: None,
            title: "return".to_owned(),
            subtitle: sinfo_text(&func.ret),
            frame: None,
        };
        let node = collector.add(result);
        collector.uses(&func.body.result, node);
        collector.picture
    }

    /// Where the boxes of the picture are.
    ///
    /// # Errors
    /// If the graph cannot be drawn.
    pub fn lay_out(&self) -> Result<Layout, DrawError> {
        let box_of = |node: &Node| {
            let chars = node
                .title
                .chars()
                .count()
                .max(node.subtitle.chars().count());
            layered::Node {
                width: chars as f64 * CHAR + 24.0,
                height: HEIGHT,
                frame: node.frame,
            }
        };
        let link = |edge: &Edge| Link {
            from: edge.from,
            to: edge.to,
            label: (!edge.label.is_empty())
                .then(|| (edge.label.chars().count() as f64 * LABEL_CHAR, LABEL_HEIGHT)),
        };
        let frame = |frame: &Frame| layered::Frame {
            parent: frame.parent,
        };
        let nodes: Vec<_> = self.nodes.iter().map(box_of).collect();
        let links: Vec<_> = self.edges.iter().map(link).collect();
        let frames: Vec<_> = self.frames.iter().map(frame).collect();
        layered::lay_out(&nodes, &links, &frames)
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
        for (at, frame) in self.frames.iter().enumerate() {
            let _ = writeln!(out, "    subgraph cluster_{at} {{");
            let name = quoted(&frame.name);
            let _ = writeln!(out, "        label={name}; color=\"#94a3b8\";");
            for (index, n) in self.nodes.iter().enumerate() {
                if n.frame == Some(at) {
                    out.push_str(&node(index, n, "        "));
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
    fn add(&mut self, node: Node) -> usize {
        self.picture.nodes.push(node);
        self.picture.nodes.len() - 1
    }

    fn body(&mut self, body: &Body, frame: Option<usize>) {
        for block in &body.blocks {
            let frame = match &block.dataflow {
                Some(_) => Some(self.frame("dataflow".to_owned(), frame)),
                None => frame,
            };
            for id in &block.bindings {
                self.binding(*id, frame);
            }
        }
    }

    fn frame(&mut self, name: String, parent: Option<usize>) -> usize {
        self.picture.frames.push(Frame { name, parent });
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
                    let side = self.frame(format!("{}: {side}", value.name), frame);
                    self.body(body, Some(side));
                }
            }
        }
        let (kind, title) = self.describe(&value.def);
        let node = Node {
            kind,
            value: Some(id),
            title,
            subtitle: format!("{}: {}", value.name, sinfo_text(&value.sinfo)),
            frame,
        };
        let node = self.add(node);
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
                for captured in inner.captured(1) {
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
                    value: None,
                    title: "constant".to_owned(),
                    subtitle: format!("{shape} {}", tensor.dtype()),
                    frame: None,
                };
                found.push((Err(node), shape));
            }
            Arg::Omitted(index) => {
                let node = Node {
                    kind: Kind::Constant,
                    value: None,
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
        let shown = self.constants == Constants::Shown;
        for (node, label) in found.into_iter().filter(|(node, _)| shown || node.is_ok()) {
            let from = node.unwrap_or_else(|node| self.add(node));
            let edge = Edge { from, to, label };
            if !self.picture.edges.contains(&edge) {
                self.picture.edges.push(edge);
            }
        }
    }
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
