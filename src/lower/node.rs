//! `Node`: what a loop program is between its blocks being taken out and its indices made flat.

use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Place, ThreadAxis, Var};
use crate::kernel::Shuffle;
use crate::tensor::scalar::BinOp;

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Node {
    For {
        var: Var,
        min: Expr,
        extent: Expr,
        kind: LoopKind,
        body: Vec<Node>,
    },
    Store {
        buffer: Buffer,
        indices: Vec<Expr>,
        value: Expr,
        /// If it is not the thread's own value: whose.
        shuffle: Option<Shuffle>,
        /// The launch axes that a loop around the store is bound to.
        axes: AxisSet,
    },
    Let {
        var: Var,
        value: Expr,
        body: Vec<Node>,
    },
    If {
        cond: Expr,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    While {
        cond: Expr,
        body: Vec<Node>,
    },
    /// All threads of the workgroup wait for each other. Only code for the CPU has these, and only until its loops over threads
    /// are split.
    Barrier(Barrier),
    /// A call on fragments, which the threads of each subgroup make together.
    Fragment(FragmentNode),
}

/// A call on fragments. What it writes is its first tile.
#[derive(Clone, Debug)]
pub(super) struct FragmentNode {
    pub(super) kind: FragmentKind,
    pub(super) tiles: Vec<TileOf>,
    /// Rows and columns of all tiles.
    pub(super) extent: i64,
    /// The variables that run over the rows and columns of all tiles.
    pub(super) row: Var,
    pub(super) column: Var,
}

/// What a call on fragments does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FragmentKind {
    /// The tile becomes 0.
    Clear,
    /// A fragment becomes a copy of memory.
    Load,
    /// The first tile grows by the product of the others.
    MultiplyAdd,
    /// Memory becomes a copy of a fragment.
    Store,
}

/// A tile: a buffer and the indices of its elements, in terms of row and column.
#[derive(Clone, Debug)]
pub(super) struct TileOf {
    pub(super) buffer: Buffer,
    pub(super) indices: Vec<Expr>,
}

impl FragmentNode {
    /// The tiles that are read.
    pub(super) fn read(&self) -> &[TileOf] {
        match self.kind {
            FragmentKind::MultiplyAdd => &self.tiles,
            FragmentKind::Clear | FragmentKind::Load | FragmentKind::Store => &self.tiles[1..],
        }
    }
}

/// Why threads meet.
#[derive(Clone, Debug)]
pub(super) enum Barrier {
    /// The program says so, in this loop or block.
    Written(Option<Place>),
    /// A thread may read of this buffer what another one writes.
    Implied(Buffer),
}

impl Node {
    /// The statement lists directly inside.
    pub(super) fn nested(&self) -> Vec<&Vec<Self>> {
        match self {
            Self::Store {
                buffer: _,
                indices: _,
                value: _,
                shuffle: _,
                axes: _,
            }
            | Self::Fragment(_)
            | Self::Barrier(_) => vec![],
            Self::For {
                var: _,
                min: _,
                extent: _,
                kind: _,
                body,
            }
            | Self::Let {
                var: _,
                value: _,
                body,
            }
            | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// The statement lists directly inside, to be changed.
    pub(super) fn nested_mut(&mut self) -> Vec<&mut Vec<Self>> {
        match self {
            Self::Store {
                buffer: _,
                indices: _,
                value: _,
                shuffle: _,
                axes: _,
            }
            | Self::Fragment(_)
            | Self::Barrier(_) => vec![],
            Self::For {
                var: _,
                min: _,
                extent: _,
                kind: _,
                body,
            }
            | Self::Let {
                var: _,
                value: _,
                body,
            }
            | Self::While { cond: _, body } => vec![body],
            Self::If {
                cond: _,
                then,
                otherwise,
            } => vec![then, otherwise],
        }
    }

    /// Its own expressions, to be changed.
    pub(super) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Store {
                buffer: _,
                indices,
                value,
                shuffle: _,
                axes: _,
            } => indices.iter_mut().chain([value]).collect(),
            Self::For {
                var: _,
                min,
                extent,
                kind: _,
                body: _,
            } => vec![min, extent],
            Self::Let {
                var: _,
                value: e,
                body: _,
            }
            | Self::While { cond: e, body: _ }
            | Self::If {
                cond: e,
                then: _,
                otherwise: _,
            } => vec![e],
            Self::Fragment(node) => {
                let indices = node.tiles.iter_mut().map(|tile| &mut tile.indices);
                indices.flatten().collect()
            }
            Self::Barrier(_) => vec![],
        }
    }

    /// Its own expressions.
    pub(super) fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Store {
                buffer: _,
                indices,
                value,
                shuffle: _,
                axes: _,
            } => indices.iter().chain([value]).collect(),
            Self::For {
                var: _,
                min,
                extent,
                kind: _,
                body: _,
            } => vec![min, extent],
            Self::Let {
                var: _,
                value: e,
                body: _,
            }
            | Self::While { cond: e, body: _ }
            | Self::If {
                cond: e,
                then: _,
                otherwise: _,
            } => vec![e],
            Self::Fragment(node) => node.tiles.iter().flat_map(|tile| &tile.indices).collect(),
            Self::Barrier(_) => vec![],
        }
    }
}

/// Calls `f` on every statement of the list, parents first.
pub(super) fn walk_nodes(nodes: &[Node], f: &mut dyn FnMut(&Node)) {
    for node in nodes {
        f(node);
        node.nested().into_iter().for_each(|n| walk_nodes(n, f));
    }
}

/// Applies `f` to every expression of the list.
pub(super) fn map_exprs(nodes: &mut [Node], f: &mut dyn FnMut(&Expr) -> Expr) {
    for node in nodes {
        for e in node.exprs_mut() {
            *e = f(e);
        }
        for inner in node.nested_mut() {
            map_exprs(inner, f);
        }
    }
}

/// The list with a variable replaced, and with the numbers in place of what is computed of numbers then.
pub(super) fn substitute_nodes(nodes: &[Node], var: &Var, value: &Expr) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    map_exprs(&mut nodes, &mut |e| {
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Var(v) if v == var => value.clone(),
            ExprKind::Binary(op, a, b) => folded(*op, a, b).unwrap_or_else(|| e.clone()),
            _ => e.clone(),
        })
    });
    nodes
}

/// A sum or product of two integers, or of an expression and what changes nothing. Indices are exact, so what does not fit their type stays.
fn folded(op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    match (op, a.as_int(), b.as_int()) {
        (BinOp::Add | BinOp::Sub, None, Some(0)) | (BinOp::Mul, None, Some(1)) => {
            return Some(a.clone());
        }
        (BinOp::Add, Some(0), None) | (BinOp::Mul, Some(1), None) => return Some(b.clone()),
        _ => {}
    }
    let (x, y) = (a.as_int()?, b.as_int()?);
    let value = match op {
        BinOp::Add => x.checked_add(y)?,
        BinOp::Sub => x.checked_sub(y)?,
        BinOp::Mul => x.checked_mul(y)?,
        _ => return None,
    };
    let (least, most) = a.dtype().scalar.int_range()?;
    (!a.dtype().is_vector() && (least..=most).contains(&value)).then(|| Expr::int(value, a.dtype()))
}

/// A set of launch axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct AxisSet(u16);

impl AxisSet {
    pub(super) fn with(self, axis: ThreadAxis) -> Self {
        Self(self.0 | 1 << axis as u16)
    }

    pub(super) fn has(self, axis: ThreadAxis) -> bool {
        self.0 & (1 << axis as u16) != 0
    }

    /// Every axis.
    pub(super) const ALL: Self = Self(u16::MAX);
}

/// The statements under a condition, unless it is known.
pub(super) fn branch(cond: Expr, then: Vec<Node>) -> Vec<Node> {
    match cond.as_bool() {
        Some(true) => then,
        Some(false) => vec![],
        None => vec![Node::If {
            cond,
            then,
            otherwise: vec![],
        }],
    }
}
