//! The two graphs of a report: the nodes of the model, and the kernels that were made of them.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::data::{Drawing, Link, Node};
use crate::cli::error::CliError;
use crate::ir::graph::{Arg, Def, Function, ValueId};
use crate::ir::{Module, Origin};
use crate::script::picture::layered::DrawError;
use crate::script::picture::{self, Constants, Edge, Kind, Picture};

/// Longest text in a box; the rest is in its details.
const LONGEST: usize = 36;

/// A graph function as a picture whose boxes know where they come from.
struct Graph {
    picture: Picture,
    /// By box: the places in the model that it was made of.
    places: Vec<Vec<Origin>>,
}

impl Graph {
    fn of(module: &Module, function: &Function) -> Self {
        let mut picture =
            without_names(Picture::of(module, function, Constants::LeftOut), function);
        // Whether bindings are in a dataflow block is the compiler's business.
        picture.frames.clear();
        for node in &mut picture.nodes {
            node.frame = None;
        }
        let origin = |value: Option<ValueId>| match value {
            Some(value) => parts(&function.values[value].origin).to_vec(),
            None => vec![],
        };
        let places = picture
            .nodes
            .iter()
            .map(|node| origin(node.value))
            .collect();
        Self { picture, places }
    }

    /// One box for each place: what the importer made of a node of a model, or the parser of a line, is drawn as that node.
    fn by_place(self) -> Self {
        let mut boxes: IndexMap<Key, usize> = IndexMap::new();
        let mut merged = Self {
            picture: Picture::default(),
            places: vec![],
        };
        let mut at = vec![];
        for (index, (node, places)) in self.picture.nodes.into_iter().zip(self.places).enumerate() {
            let key = match places.is_empty() || node.kind == Kind::Param {
                true => Key::Own(index),
                false => Key::Places(places.clone()),
            };
            let target = *boxes.entry(key).or_insert_with(|| {
                merged.picture.nodes.push(node.clone());
                merged.places.push(places.clone());
                merged.places.len() - 1
            });
            // The last value is the one that others use.
            merged.picture.nodes[target] = node;
            at.push(target);
        }
        let mut seen = HashSet::new();
        for edge in self.picture.edges {
            let (from, to) = (at[edge.from], at[edge.to]);
            if from != to && seen.insert((from, to)) {
                merged.picture.edges.push(Edge { from, to, ..edge });
            }
        }
        merged.name_boxes();
        merged
    }

    /// Boxes of nodes of a model get the operator as their title, and the name of the node below.
    fn name_boxes(&mut self) {
        for (node, places) in self.picture.nodes.iter_mut().zip(&self.places) {
            if let [Origin::Node(place)] = places.as_slice() {
                let (name, operator) = named(place);
                node.title = operator.to_owned();
                node.subtitle = name.to_owned();
            }
        }
    }

    /// The boxes with these places, and what links them, as a graph of their own.
    fn part(&self, of: &[usize]) -> Self {
        let new: HashMap<usize, usize> =
            of.iter().enumerate().map(|(at, old)| (*old, at)).collect();
        let edge = |edge: &Edge| {
            Some(Edge {
                from: *new.get(&edge.from)?,
                to: *new.get(&edge.to)?,
                label: edge.label.clone(),
            })
        };
        Self {
            picture: Picture {
                name: self.picture.name.clone(),
                nodes: of
                    .iter()
                    .map(|at| self.picture.nodes[*at].clone())
                    .collect(),
                edges: self.picture.edges.iter().filter_map(edge).collect(),
                frames: vec![],
            },
            places: of.iter().map(|at| self.places[*at].clone()).collect(),
        }
    }

    fn draw(mut self) -> Result<Drawing, DrawError> {
        let full: Vec<(String, String)> = self.picture.nodes.iter_mut().map(shortened).collect();
        let layout = self.picture.lay_out()?;
        let mut nodes = vec![];
        for (at, (title, subtitle)) in full.into_iter().enumerate() {
            let rect = layout.nodes[at];
            nodes.push(Node {
                kind: self.picture.nodes[at].kind,
                title,
                subtitle,
                places: self.places[at].iter().map(ToString::to_string).collect(),
                x: tenths(rect.x),
                y: tenths(rect.y),
                width: tenths(rect.width),
                height: tenths(rect.height),
                program: None,
                sources: vec![at],
                inside: None,
            });
        }
        let links = self.picture.edges.iter().zip(&layout.links);
        Ok(Drawing {
            width: tenths(layout.width),
            height: tenths(layout.height),
            nodes,
            links: links
                .map(|(edge, route)| Link {
                    from: edge.from,
                    to: edge.to,
                    path: route.path(),
                    label: edge.label.clone(),
                    at: route.label.map(|(x, y)| (tenths(x), tenths(y))),
                })
                .collect(),
        })
    }
}

/// The picture without bindings that only give a value another name.
fn without_names(picture: Picture, function: &Function) -> Picture {
    let is_name = |node: &picture::Node| {
        let def = node.value.map(|value| &function.values[value].def);
        matches!(def, Some(Def::Arg(Arg::Value(_))))
    };
    // A name stands below what it names.
    let mut stands_for: Vec<usize> = (0..picture.nodes.len()).collect();
    for edge in &picture.edges {
        if is_name(&picture.nodes[edge.to]) {
            stands_for[edge.to] = stands_for[edge.from];
        }
    }
    let mut new = Picture {
        name: picture.name,
        frames: picture.frames,
        ..Picture::default()
    };
    let mut at = vec![0; picture.nodes.len()];
    for (index, node) in picture.nodes.into_iter().enumerate() {
        at[index] = match stands_for[index] == index {
            true => {
                new.nodes.push(node);
                new.nodes.len() - 1
            }
            false => at[stands_for[index]],
        };
    }
    for edge in picture.edges {
        let (from, to) = (at[edge.from], at[edge.to]);
        let edge = Edge { from, to, ..edge };
        if from != to && !new.edges.contains(&edge) {
            new.edges.push(edge);
        }
    }
    new
}

/// What makes boxes one.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Own(usize),
    Places(Vec<Origin>),
}

/// Both graphs, and where in the second one values are.
pub(super) struct Graphs {
    pub(super) model: Drawing,
    pub(super) kernels: Drawing,
    /// By value of the function that calls kernels: its box.
    pub(super) boxes: HashMap<ValueId, usize>,
}

/// The graphs of a function: as the module was read, and `fused`, as kernels. `programs` says which loop program a name is.
pub(super) fn graphs(
    module: &Module,
    fused: &Module,
    func: &str,
    programs: &IndexMap<String, usize>,
) -> Result<Graphs, CliError> {
    let function = |module: &Module| module.function(func).cloned();
    let (Some(written), Some(calls)) = (function(module), function(fused)) else {
        return Err(CliError::NoFunction {
            name: func.to_owned(),
            functions: fused.funcs.keys().cloned().collect(),
        });
    };
    let model = Graph::of(module, &written).by_place();
    let kernels = Graph::of(fused, &calls);
    let mut boxes = HashMap::new();
    let mut insides = vec![];
    for (at, (node, places)) in kernels
        .picture
        .nodes
        .iter()
        .zip(&kernels.places)
        .enumerate()
    {
        boxes.extend(node.value.map(|value| (value, at)));
        let callee = node
            .value
            .and_then(|value| calls.values[value].def.callee());
        let program = callee.and_then(|callee| programs.get(callee).copied());
        let made_of = |source: &&usize| model.places[**source].iter().any(|p| places.contains(p));
        let all: Vec<usize> = (0..model.places.len()).collect();
        let sources: Vec<usize> = all.iter().filter(made_of).copied().collect();
        let inside = match sources.len() > 1 && program.is_some() {
            true => Some(model.part(&sources).draw()?),
            false => None,
        };
        insides.push((program, sources, inside));
    }
    let mut kernels = kernels.draw()?;
    for (node, (program, sources, mut inside)) in kernels.nodes.iter_mut().zip(insides) {
        for node in inside.iter_mut().flat_map(|drawing| &mut drawing.nodes) {
            node.sources = node.sources.iter().map(|at| sources[*at]).collect();
        }
        (node.program, node.sources, node.inside) = (program, sources, inside);
    }
    Ok(Graphs {
        model: model.draw()?,
        kernels,
        boxes,
    })
}

/// The places that something was made of.
fn parts(origin: &Origin) -> &[Origin] {
    match origin {
        Origin::Unknown => &[],
        Origin::Line(..) | Origin::Node(_) => std::slice::from_ref(origin),
        Origin::Several(parts) => parts,
    }
}

/// Name and operator of a node, of a place such as ``node `conv1` (Conv)``.
fn named(place: &str) -> (&str, &str) {
    let (path, operator) = match place.strip_suffix(')').and_then(|p| p.rsplit_once(" (")) {
        Some((path, operator)) => (path, operator),
        None => (place, place),
    };
    let quoted = path.strip_suffix('`').and_then(|path| {
        let starts = ["node `", "the node that makes `"];
        let starts = starts
            .iter()
            .filter_map(|start| Some(path.rfind(start)? + start.len()));
        Some(&path[starts.max()?..])
    });
    (quoted.unwrap_or(path), operator)
}

/// Cuts what a box says to what fits, and gives back the whole.
fn shortened(node: &mut picture::Node) -> (String, String) {
    let cut = |text: &str| match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    };
    let whole = (node.title.clone(), node.subtitle.clone());
    (node.title, node.subtitle) = (cut(&whole.0), cut(&whole.1));
    whole
}

/// To a tenth of a pixel.
fn tenths(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_as_in_their_model() {
        assert_eq!(named("node `conv1` (Conv)"), ("conv1", "Conv"));
        let nested = "node `if1` (If) / then_branch / node `a (b)` (Add)";
        assert_eq!(named(nested), ("a (b)", "Add"));
        assert_eq!(named("the node that makes `y` (Relu)"), ("y", "Relu"));
        assert_eq!(
            named("a node without a name (Relu)"),
            ("a node without a name", "Relu")
        );
    }
}
