//! A layered drawing of boxes and links between them (Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical
//! system structures"), as the algorithm of dagre makes it: layers by network simplex, few crossings, straight long links.

use dugong::graphlib::{EdgeKey, Graph, GraphOptions};
use dugong::{EdgeLabel, GraphLabel, LabelPos, LayoutError, NodeLabel};
use serde::Serialize;

/// Between neighbours of a layer.
const GAP: f64 = 28.0;
/// Between neighbouring links of a layer.
const LINK_GAP: f64 = 14.0;
/// Between layers.
const LAYER_GAP: f64 = 46.0;

/// A box to place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Node {
    /// Pixels.
    pub width: f64,
    /// Pixels.
    pub height: f64,
    /// The frame around it, by its place among the frames.
    pub frame: Option<usize>,
}

/// A link from one box down to another, by their places among the boxes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// The box above.
    pub from: usize,
    /// The box below.
    pub to: usize,
    /// Width and height of the label, in pixels.
    pub label: Option<(f64, f64)>,
}

/// A frame to draw around boxes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The frame around this one; it comes before this one.
    pub parent: Option<usize>,
}

/// A rectangle; `x` and `y` are its corner at the top left.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Pixels.
    pub width: f64,
    /// Pixels.
    pub height: f64,
}

/// The way of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// From the box above down to the box below.
    pub points: Vec<(f64, f64)>,
    /// The centre of the label.
    pub label: Option<(f64, f64)>,
}

/// Where everything is. The drawing starts at (0, 0).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// Pixels.
    pub width: f64,
    /// Pixels.
    pub height: f64,
    /// The place of each box.
    pub nodes: Vec<Rect>,
    /// The way of each link.
    pub links: Vec<Route>,
    /// The place of each frame; `None` for one without boxes.
    pub frames: Vec<Option<Rect>>,
}

/// Why boxes cannot be placed.
#[derive(Debug, thiserror::Error)]
#[error("the graph cannot be drawn")]
pub struct DrawError(#[from] LayoutError);

/// Places the boxes in layers, each above those that it links to.
///
/// # Errors
/// If the algorithm meets an invalid state.
///
/// # Panics
/// If a link or a frame names a box or a frame that is not there.
pub fn lay_out(nodes: &[Node], links: &[Link], frames: &[Frame]) -> Result<Layout, DrawError> {
    let mut graph: Graph<NodeLabel, EdgeLabel, GraphLabel> = Graph::new(GraphOptions {
        directed: true,
        multigraph: true,
        compound: !frames.is_empty(),
    });
    graph.set_graph(GraphLabel {
        nodesep: GAP,
        edgesep: LINK_GAP,
        ranksep: LAYER_GAP,
        ..GraphLabel::default()
    });
    for (at, node) in nodes.iter().enumerate() {
        let label = NodeLabel {
            width: node.width,
            height: node.height,
            ..NodeLabel::default()
        };
        graph.set_node(node_name(at), label);
    }
    let inhabited = inhabited(nodes, frames);
    for (at, frame) in frames.iter().enumerate().filter(|(at, _)| inhabited[*at]) {
        graph.set_node(frame_name(at), NodeLabel::default());
        if let Some(parent) = frame.parent {
            graph.set_parent(frame_name(at), frame_name(parent));
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        if let Some(frame) = node.frame {
            graph.set_parent(node_name(at), frame_name(frame));
        }
    }
    for (at, link) in links.iter().enumerate() {
        let (width, height) = link.label.unwrap_or_default();
        let label = EdgeLabel {
            width,
            height,
            labelpos: LabelPos::C,
            weight: 1.0,
            ..EdgeLabel::default()
        };
        let EdgeKey { v, w, name } = key(at, link);
        graph.set_edge_named(v, w, name, Some(label));
    }
    dugong::layout(&mut graph)?;
    Ok(read(&graph, nodes.len(), links, &inhabited))
}

/// Whether boxes are in a frame, or in one inside of it.
fn inhabited(nodes: &[Node], frames: &[Frame]) -> Vec<bool> {
    let mut inhabited = vec![false; frames.len()];
    for node in nodes {
        let mut around = node.frame;
        while let Some(frame) = around {
            inhabited[frame] = true;
            around = frames[frame].parent;
        }
    }
    inhabited
}

fn node_name(at: usize) -> String {
    format!("n{at}")
}

fn frame_name(at: usize) -> String {
    format!("f{at}")
}

fn key(at: usize, link: &Link) -> EdgeKey {
    EdgeKey {
        v: node_name(link.from),
        w: node_name(link.to),
        name: Some(at.to_string()),
    }
}

/// What the algorithm found.
fn read(
    graph: &Graph<NodeLabel, EdgeLabel, GraphLabel>,
    nodes: usize,
    links: &[Link],
    inhabited: &[bool],
) -> Layout {
    let rect = |name: &str| {
        let label = graph.node(name).expect("it was added");
        Rect {
            x: label.x.unwrap_or(0.0) - label.width / 2.0,
            y: label.y.unwrap_or(0.0) - label.height / 2.0,
            width: label.width,
            height: label.height,
        }
    };
    let route = |(at, link): (usize, &Link)| {
        let label = graph.edge_by_key(&key(at, link)).expect("it was added");
        Route {
            points: label.points.iter().map(|p| (p.x, p.y)).collect(),
            label: link.label.and_then(|_| Some((label.x?, label.y?))),
        }
    };
    let frames = inhabited.iter().enumerate();
    Layout {
        width: graph.graph().width,
        height: graph.graph().height,
        nodes: (0..nodes).map(|at| rect(&node_name(at))).collect(),
        links: links.iter().enumerate().map(route).collect(),
        frames: frames
            .map(|(at, there)| there.then(|| rect(&frame_name(at))))
            .collect(),
    }
}

impl Route {
    /// The way as the `d` of an SVG path: a smooth line that goes straight down at its ends.
    pub fn path(&self) -> String {
        use std::fmt::Write as _;

        let Some(((x, y), rest)) = self.points.split_first() else {
            return String::new();
        };
        let mut out = format!("M{x:.1} {y:.1}");
        let (mut px, mut py) = (*x, *y);
        for &(x, y) in rest {
            let middle = f64::midpoint(py, y);
            let _ = write!(out, "C{px:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}");
            (px, py) = (x, y);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Node = Node {
        width: 100.0,
        height: 40.0,
        frame: None,
    };

    fn link(from: usize, to: usize) -> Link {
        Link {
            from,
            to,
            label: None,
        }
    }

    /// A chain with a skip every sixth box.
    fn chain(count: usize) -> (Vec<Node>, Vec<Link>) {
        let mut links: Vec<Link> = (1..count).map(|at| link(at - 1, at)).collect();
        links.extend((6..count).step_by(6).map(|at| link(at - 5, at)));
        (vec![BOX; count], links)
    }

    #[test]
    fn links_go_down_and_boxes_do_not_overlap() {
        let (nodes, links) = chain(1000);
        let layout = lay_out(&nodes, &links, &[]).expect("it can be drawn");
        for (link, route) in links.iter().zip(&layout.links) {
            let (above, below) = (&layout.nodes[link.from], &layout.nodes[link.to]);
            assert!(above.y + above.height < below.y);
            assert!(route.points.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        }
        for (at, a) in layout.nodes.iter().enumerate() {
            for b in &layout.nodes[..at] {
                let apart = a.x + a.width <= b.x || b.x + b.width <= a.x;
                assert!(apart || a.y + a.height <= b.y || b.y + b.height <= a.y);
            }
        }
    }

    #[test]
    fn frames_are_around_their_boxes_and_no_others() {
        let (mut nodes, links) = chain(12);
        for node in &mut nodes[3..7] {
            node.frame = Some(1);
        }
        nodes[7].frame = Some(0);
        let outer = Frame { parent: None };
        let inner = Frame { parent: Some(0) };
        let layout = lay_out(&nodes, &links, &[outer, inner, outer]).expect("it can be drawn");
        let inside = |frame: usize, node: usize| {
            let (frame, node) = (layout.frames[frame].expect("inhabited"), layout.nodes[node]);
            let across = frame.x <= node.x && node.x + node.width <= frame.x + frame.width;
            across && frame.y <= node.y && node.y + node.height <= frame.y + frame.height
        };
        for node in 0..12 {
            assert_eq!(inside(0, node), (3..8).contains(&node), "outer, {node}");
            assert_eq!(inside(1, node), (3..7).contains(&node), "inner, {node}");
        }
        assert_eq!(layout.frames[2], None);
    }

    #[test]
    fn two_links_between_the_same_boxes_have_places_for_their_labels() {
        let label = Some((60.0, 12.0));
        let links = [Link {
            label,
            ..link(0, 1)
        }; 2];
        let layout = lay_out(&[BOX; 2], &links, &[]).expect("it can be drawn");
        let centres: Vec<_> = layout
            .links
            .iter()
            .map(|r| r.label.expect("placed"))
            .collect();
        assert!((centres[0].0 - centres[1].0).abs() >= 60.0, "{centres:?}");
    }
}
