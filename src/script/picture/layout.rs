//! A layered layout (after Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures"): nodes in
//! rows by the longest way to them, edges over several rows through points in between, rows ordered by the mean of their
//! neighbours.
//!
//! Blocks of bindings follow each other downwards, so at most one frame crosses a row, and what does not belong to it stands to
//! its right.

use super::Picture;

/// Pixels of a character of the monospaced font at the size of titles.
const CHAR: f64 = 7.3;
/// Height of a box.
pub(super) const HEIGHT: f64 = 44.0;
/// Between the bottom of one row and the top of the next.
const ROW_GAP: f64 = 62.0;
/// Between neighbours of a row.
const GAP: f64 = 30.0;
/// Between a frame and what is in it.
const PAD: f64 = 22.0;
/// Width that a line takes in a row.
const LINE: f64 = 14.0;
/// Rounds of ordering and placing: enough for pictures that a person can read.
const ROUNDS: usize = 12;

/// A point or box of a row: a node, or an edge on its way.
struct Item {
    /// The node, unless an edge passes here.
    node: Option<usize>,
    row: usize,
    width: f64,
    /// Centre.
    x: f64,
    /// The frame that it is inside of in this row.
    frame: Option<usize>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Layout {
    /// The box of each node.
    pub(super) nodes: Vec<Rect>,
    /// The points of each edge, from the source down.
    pub(super) edges: Vec<Vec<(f64, f64)>>,
    /// The rectangle of each frame, if it has nodes.
    pub(super) frames: Vec<Option<Rect>>,
}

pub(super) fn layout(picture: &Picture) -> Layout {
    let rows = rows(picture);
    let mut plan = Plan::new(picture, &rows);
    for round in 0..ROUNDS {
        plan.sweep(round % 2 == 0);
    }
    plan.place_outside();
    plan.finish(picture)
}

/// The row of each node.
fn rows(picture: &Picture) -> Vec<usize> {
    let mut rows = vec![0; picture.nodes.len()];
    // The first row is for parameters; each block starts below the one before.
    let (mut base, mut next, mut block) = (1, 1, None);
    for (at, of) in picture.blocks.iter().enumerate() {
        if of.is_none() {
            continue;
        }
        if *of != block {
            (block, base) = (*of, next);
        }
        let before = picture.edges.iter().filter(|e| e.to == at);
        let bound = before.filter(|e| picture.blocks[e.from].is_some());
        rows[at] = bound.map(|e| rows[e.from] + 1).fold(base, usize::max);
        next = next.max(rows[at] + 1);
    }
    for (at, of) in picture.blocks.iter().enumerate() {
        if of.is_none() {
            let uses = picture.edges.iter().filter(|e| e.from == at);
            let first = uses.map(|e| rows[e.to]).min().unwrap_or(1);
            rows[at] = first.saturating_sub(1);
        }
    }
    rows
}

struct Plan {
    items: Vec<Item>,
    /// Items of each row, from left to right.
    rows: Vec<Vec<usize>>,
    /// Neighbours above and below of each item.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// Items of each edge, from the source down.
    ways: Vec<Vec<usize>>,
    /// For each row the frame that crosses it.
    crossing: Vec<Option<usize>>,
}

impl Plan {
    fn new(picture: &Picture, node_rows: &[usize]) -> Self {
        let count = node_rows.iter().max().map_or(0, |row| row + 1);
        let mut crossing = vec![None; count];
        for frame in 0..picture.frames.len() {
            let members = picture.nodes.iter().zip(node_rows);
            let in_frame = members.filter(|(node, _)| node.frame == Some(frame));
            let spanned: Vec<usize> = in_frame.map(|(_, row)| *row).collect();
            if let (Some(&first), Some(&last)) = (spanned.iter().min(), spanned.iter().max()) {
                crossing[first..=last].fill(Some(frame));
            }
        }
        let mut plan = Self {
            items: vec![],
            rows: vec![vec![]; count],
            above: vec![],
            below: vec![],
            ways: vec![],
            crossing,
        };
        for (at, node) in picture.nodes.iter().enumerate() {
            let chars = node
                .title
                .chars()
                .count()
                .max(node.subtitle.chars().count());
            let width = chars as f64 * CHAR + 24.0;
            plan.push(Some(at), node_rows[at], width, node.frame);
        }
        for edge in &picture.edges {
            let mut way = vec![edge.from];
            let ends = [picture.nodes[edge.from].frame, picture.nodes[edge.to].frame];
            for row in node_rows[edge.from] + 1..node_rows[edge.to] {
                let frame = plan.crossing[row].filter(|f| ends.contains(&Some(*f)));
                // A constant reaches into a frame at the row of its use.
                let source_inside = picture.blocks[edge.from].is_some();
                let frame = frame.filter(|_| source_inside);
                // Lines beside a frame have room for their labels.
                let label = edge.label.chars().count() as f64 * CHAR;
                let width = if frame.is_some() {
                    LINE
                } else {
                    label.max(LINE)
                };
                way.push(plan.push(None, row, width, frame));
            }
            way.push(edge.to);
            for pair in way.windows(2) {
                plan.below[pair[0]].push(pair[1]);
                plan.above[pair[1]].push(pair[0]);
            }
            plan.ways.push(way);
        }
        for row in 0..count {
            plan.spread(row, &[]);
        }
        plan
    }

    fn push(&mut self, node: Option<usize>, row: usize, width: f64, frame: Option<usize>) -> usize {
        let at = self.items.len();
        self.items.push(Item {
            node,
            row,
            width,
            x: 0.0,
            frame,
        });
        self.rows[row].push(at);
        self.above.push(vec![]);
        self.below.push(vec![]);
        at
    }

    /// Whether the item stands right of the frame that crosses its row.
    fn outside(&self, item: usize) -> bool {
        let item = &self.items[item];
        self.crossing[item.row].is_some() && item.frame.is_none()
    }

    /// Moves the items of each row towards their neighbours.
    fn sweep(&mut self, down: bool) {
        let count = self.rows.len();
        for step in 0..count {
            let row = if down { step } else { count - 1 - step };
            let wanted: Vec<(usize, f64)> = self.rows[row]
                .iter()
                .map(|&item| {
                    let near = if down {
                        &self.above[item]
                    } else {
                        &self.below[item]
                    };
                    let sum: f64 = near.iter().map(|&n| self.items[n].x).sum();
                    let mean = sum / near.len() as f64;
                    (
                        item,
                        if near.is_empty() {
                            self.items[item].x
                        } else {
                            mean
                        },
                    )
                })
                .collect();
            self.spread(row, &wanted);
        }
    }

    /// Orders the items of a row by where they want to be, and puts them there without overlaps, centred on the mean.
    fn spread(&mut self, row: usize, wanted: &[(usize, f64)]) {
        let mut order: Vec<(usize, f64)> = if wanted.is_empty() {
            self.rows[row].iter().map(|&item| (item, 0.0)).collect()
        } else {
            wanted.to_vec()
        };
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        self.rows[row] = order.iter().map(|(item, _)| *item).collect();
        let inside: Vec<_> = order
            .into_iter()
            .filter(|(item, _)| !self.outside(*item))
            .collect();
        let mut x = f64::NEG_INFINITY;
        for (item, want) in &inside {
            let half = self.items[*item].width / 2.0;
            let at = want.max(x + half);
            self.items[*item].x = at;
            x = at + half + GAP;
        }
        // What was pushed right is shared among all.
        let shift = inside.iter().map(|(item, want)| want - self.items[*item].x);
        let shift = shift.sum::<f64>() / inside.len().max(1) as f64;
        for (item, _) in &inside {
            self.items[*item].x += shift;
        }
    }

    /// Left and right end of a frame.
    fn extent(&self, frame: usize) -> Option<(f64, f64)> {
        let members = self.items.iter().filter(|item| item.frame == Some(frame));
        members.fold(None, |ends, item| {
            let (l, r) = (item.x - item.width / 2.0, item.x + item.width / 2.0);
            let (left, right) = ends.unwrap_or((l, r));
            Some((left.min(l), right.max(r)))
        })
    }

    /// Puts what is outside of a frame to the right of it.
    fn place_outside(&mut self) {
        for row in 0..self.rows.len() {
            let Some(right) = self.crossing[row].and_then(|f| self.extent(f)) else {
                continue;
            };
            let mut outside = self.rows[row].clone();
            outside.retain(|item| self.outside(*item));
            // Lines go straight down in the order in which they came; those that end first are nearest. New boxes follow.
            let key = |item: usize| match self.above[item].first() {
                Some(&above) if self.items[above].node.is_none() => (0, self.items[above].x, 0),
                Some(_) => (1, 0.0, self.length(item)),
                None => (2, 0.0, item),
            };
            outside.sort_by(|a, b| {
                let ((rank_a, x_a, a), (rank_b, x_b, b)) = (key(*a), key(*b));
                let rank = rank_a.cmp(&rank_b);
                rank.then(x_a.total_cmp(&x_b)).then(a.cmp(&b))
            });
            let mut x = right.1 + PAD + GAP;
            for item in outside {
                let half = self.items[item].width / 2.0;
                let above = self.above[item].first().map(|&above| &self.items[above]);
                let straight =
                    above.filter(|a| a.node.is_none() && self.items[item].node.is_none());
                let at = straight.map_or(x + half, |above| above.x.max(x + half));
                self.items[item].x = at;
                x = at + half + GAP;
            }
        }
    }

    /// Number of rows that the line through this item still crosses.
    fn length(&self, item: usize) -> usize {
        let mut at = item;
        let mut length = 0;
        while self.items[at].node.is_none() {
            at = self.below[at][0];
            length += 1;
        }
        length
    }

    fn top(row: usize) -> f64 {
        row as f64 * (HEIGHT + ROW_GAP)
    }

    fn finish(&self, picture: &Picture) -> Layout {
        let rect = |item: &Item| Rect {
            x: item.x - item.width / 2.0,
            y: Self::top(item.row),
            width: item.width,
            height: HEIGHT,
        };
        let nodes = self.items.iter().filter(|item| item.node.is_some());
        let frames = (0..picture.frames.len()).map(|frame| {
            let (left, right) = self.extent(frame)?;
            let mut rows = self.crossing.iter().enumerate();
            let first = rows.position(|(_, f)| *f == Some(frame))?;
            let count = self.crossing.iter().filter(|f| **f == Some(frame)).count();
            let top = Self::top(first) - PAD;
            let bottom = Self::top(first + count - 1) + HEIGHT + PAD;
            Some(Rect {
                x: left - PAD,
                y: top,
                width: right - left + 2.0 * PAD,
                height: bottom - top,
            })
        });
        Layout {
            nodes: nodes.map(rect).collect(),
            edges: self.ways.iter().map(|way| self.points(way)).collect(),
            frames: frames.collect(),
        }
    }

    /// The points of an edge: where it leaves its source, the middles of the rows on its way, its place among those that arrive.
    fn points(&self, way: &[usize]) -> Vec<(f64, f64)> {
        let (Some(&first), Some(&last)) = (way.first(), way.last()) else {
            return vec![];
        };
        let (source, target) = (&self.items[first], &self.items[last]);
        let mut points = vec![(source.x, Self::top(source.row) + HEIGHT)];
        for &item in &way[1..way.len() - 1] {
            let item = &self.items[item];
            points.push((item.x, Self::top(item.row)));
            points.push((item.x, Self::top(item.row) + HEIGHT));
        }
        let mut arriving = self.above[last].clone();
        arriving.sort_by(|a, b| self.items[*a].x.total_cmp(&self.items[*b].x));
        let from = way[way.len() - 2];
        let place = arriving.iter().position(|&item| item == from).unwrap_or(0);
        let step = (target.width - 16.0) / arriving.len() as f64;
        let x = target.x - target.width / 2.0 + 8.0 + step * (place as f64 + 0.5);
        points.push((x, Self::top(target.row)));
        points
    }
}
